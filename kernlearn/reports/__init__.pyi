# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.reports import export as export
from kernlearn.reports.chosen import chosen_part as chosen_part
from kernlearn.reports.report import Report as Report
from kernlearn.reports.report import assemble as assemble
from kernlearn.reports.report import write_summary as write_summary
from kernlearn.reports.site.writing import write_report as write_report
from kernlearn.reports.site.writing import write_site as write_site
from kernlearn.reports.summary import summarise as summarise
from kernlearn.reports.tables import build_tables as build_tables

__all__ = [
    "Report",
    "assemble",
    "build_tables",
    "chosen_part",
    "export",
    "summarise",
    "write_report",
    "write_site",
    "write_summary",
]
