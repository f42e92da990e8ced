# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.reports.report import Skipped as Skipped
from kernlearn.reports.report import stored_plans as stored_plans
from kernlearn.reports.site.writing import publish as publish
from kernlearn.reports.site.writing import write_report as write_report
from kernlearn.reports.site.writing import write_site as write_site

__all__ = [
    "Skipped",
    "publish",
    "stored_plans",
    "write_report",
    "write_site",
]
