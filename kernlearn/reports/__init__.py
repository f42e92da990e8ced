"""Reports: a plan and its store become summaries, tables, figures and a page."""

from kernlearn._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Report": "writing",
        "assemble": "writing",
        "build_chart": "figures",
        "build_tables": "tables",
        "summarise": "summary",
        "write_report": "writing",
        "write_summary": "writing",
    },
)
