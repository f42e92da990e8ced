# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.reports.page import write_report as write_report
from kernlearn.reports.page import write_site as write_site
from kernlearn.reports.report import Report as Report
from kernlearn.reports.report import assemble as assemble
from kernlearn.reports.report import read_reports as read_reports
from kernlearn.reports.report import report_rows as report_rows
from kernlearn.reports.report import write_summary as write_summary
from kernlearn.reports.summary import summarise as summarise
from kernlearn.reports.tables import build_tables as build_tables

__all__ = [
    "Report",
    "assemble",
    "build_tables",
    "read_reports",
    "report_rows",
    "summarise",
    "write_report",
    "write_site",
    "write_summary",
]
