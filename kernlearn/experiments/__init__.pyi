# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.experiments.config.finding import find_config as find_config
from kernlearn.experiments.config.loading import load_config as load_config
from kernlearn.experiments.config.model import ExperimentConfig as ExperimentConfig
from kernlearn.experiments.engine.plan import Plan as Plan
from kernlearn.experiments.engine.plan import make_plan as make_plan
from kernlearn.experiments.engine.runner import run_plan as run_plan
from kernlearn.experiments.engine.spec import Trial as Trial
from kernlearn.experiments.store.results import Store as Store

__all__ = [
    "ExperimentConfig",
    "Plan",
    "Store",
    "Trial",
    "find_config",
    "load_config",
    "make_plan",
    "run_plan",
]
