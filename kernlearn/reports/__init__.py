"""Reports: summaries, tables, figures and pages of the results in a store."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Report": "report",
        "assemble": "report",
        "build_chart": "figures",
        "build_tables": "tables",
        "summarise": "summary",
        "write_report": "site.pages",
        "write_site": "site.pages",
        "write_summary": "report",
    },
)
