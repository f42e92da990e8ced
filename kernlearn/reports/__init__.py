"""Reports: summaries, tables, figures and pages of the results in a store."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "": "export",
        "chosen": "chosen_part",
        "report": "Report assemble write_summary",
        "site.writing": "write_report write_site",
        "summary": "summarise",
        "tables": "build_tables",
    },
)
