"""Reports: frames, tables, figures and pages of results, and what they say of a paper."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "page": "write_report write_site",
        "report": "Report assemble read_reports report_rows write_summary",
        "summary": "summarise",
        "tables": "build_tables",
    },
)
