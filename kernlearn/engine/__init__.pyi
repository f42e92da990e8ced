# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.engine import run as run
from kernlearn.engine.executors import Executor as Executor
from kernlearn.engine.executors import make_executor as make_executor
from kernlearn.engine.plan import Plan as Plan
from kernlearn.engine.plan import chosen_by_mean as chosen_by_mean
from kernlearn.engine.plan import make_plan as make_plan
from kernlearn.engine.run import Choice as Choice
from kernlearn.engine.run import Interrupts as Interrupts
from kernlearn.engine.run import Listener as Listener
from kernlearn.engine.run import parse_only as parse_only
from kernlearn.engine.run import run_plan as run_plan
from kernlearn.engine.run import trial_states as trial_states
from kernlearn.engine.run import trials_to_run as trials_to_run

__all__ = [
    "Choice",
    "Executor",
    "Interrupts",
    "Listener",
    "Plan",
    "chosen_by_mean",
    "make_executor",
    "make_plan",
    "parse_only",
    "run",
    "run_plan",
    "trial_states",
    "trials_to_run",
]
