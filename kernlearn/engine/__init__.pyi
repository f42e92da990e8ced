# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.engine import selection as selection
from kernlearn.engine.cluster import DaskExecutor as DaskExecutor
from kernlearn.engine.local import Executor as Executor
from kernlearn.engine.local import InProcess as InProcess
from kernlearn.engine.local import Limits as Limits
from kernlearn.engine.local import Processes as Processes
from kernlearn.engine.plan import Plan as Plan
from kernlearn.engine.plan import make_plan as make_plan
from kernlearn.engine.runner import make_executor as make_executor
from kernlearn.engine.runner import run_plan as run_plan

__all__ = [
    "DaskExecutor",
    "Executor",
    "InProcess",
    "Limits",
    "Plan",
    "Processes",
    "make_executor",
    "make_plan",
    "run_plan",
    "selection",
]
