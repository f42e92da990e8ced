"""Reports: a plan and its store become summaries, tables, figures and pages."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Report": "writing",
        "assemble": "writing",
        "build_chart": "figures",
        "build_tables": "tables",
        "summarise": "summary",
        "write_report": "site.pages",
        "write_site": "site.overview",
        "write_summary": "writing",
    },
)
