# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.reports.site.writing import publish as publish
from kernlearn.reports.site.writing import write_report as write_report
from kernlearn.reports.site.writing import write_site as write_site
from kernlearn.reports.stored import Skipped as Skipped
from kernlearn.reports.stored import stored_plans as stored_plans

__all__ = [
    "Skipped",
    "publish",
    "stored_plans",
    "write_report",
    "write_site",
]
