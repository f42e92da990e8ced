"""Experiments: a YAML config is read, planned into trials, run, and kept in a store."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "config.finding": "find_config",
        "config.loading": "load_config",
        "config.model": "ExperimentConfig",
        "engine.plan": "Plan make_plan",
        "engine.runner": "run_plan",
        "engine.spec": "Trial",
        "store.results": "Store",
    },
)
