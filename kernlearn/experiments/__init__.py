"""Experiments: a YAML config is read, planned into trials, run, and kept in a store."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "ExperimentConfig": "config.model",
        "Plan": "engine.plan",
        "Store": "store.results",
        "Trial": "engine.spec",
        "find_config": "config.loading",
        "load_config": "config.loading",
        "make_plan": "engine.plan",
        "missing_datasets": "engine.plan",
        "run_plan": "engine.runner",
    },
)
