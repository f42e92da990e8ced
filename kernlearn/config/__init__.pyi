# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.config.model import ExperimentConfig as ExperimentConfig
from kernlearn.config.read import find_config as find_config
from kernlearn.config.read import load_config as load_config
from kernlearn.config.spec import Trial as Trial

__all__ = [
    "ExperimentConfig",
    "Trial",
    "find_config",
    "load_config",
]
