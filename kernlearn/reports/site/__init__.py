"""Reports as pages that open from disk: one per experiment, and an overview of a store."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__, {".stored": "Skipped stored_plans", "writing": "publish write_report write_site"}
)
