"""Reports as pages that open from disk: one an experiment, and an overview of all of a store."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "Skipped": "overview",
        "stored_plans": "overview",
        "write_report": "pages",
        "write_site": "overview",
    },
)
