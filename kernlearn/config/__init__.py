"""Configs: YAML files of experiments, read into a checked model; the names that they may use."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "finding": "find_config",
        "loading": "load_config",
        "model": "ExperimentConfig",
        "spec": "Trial",
    },
)
