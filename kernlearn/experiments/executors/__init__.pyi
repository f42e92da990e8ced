# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.experiments.engine.runner import make_executor as make_executor
from kernlearn.experiments.executors.cluster import DaskExecutor as DaskExecutor
from kernlearn.experiments.executors.local import Executor as Executor
from kernlearn.experiments.executors.local import InProcess as InProcess
from kernlearn.experiments.executors.local import Limits as Limits
from kernlearn.experiments.executors.local import Processes as Processes

__all__ = [
    "DaskExecutor",
    "Executor",
    "InProcess",
    "Limits",
    "Processes",
    "make_executor",
]
