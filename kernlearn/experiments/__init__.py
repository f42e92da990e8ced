"""Experiments: a YAML config is read, planned into trials, run, and kept in a store."""

from kernlearn._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "ExperimentConfig": "config",
        "Plan": "plan",
        "Store": "store",
        "Trial": "plan",
        "find_config": "loading",
        "load_config": "loading",
        "make_plan": "plan",
        "missing_datasets": "plan",
        "run_plan": "runner",
    },
)
