# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.experiments.engine import plan as plan
from kernlearn.experiments.engine import selection as selection
from kernlearn.experiments.engine import spec as spec

__all__ = [
    "plan",
    "selection",
    "spec",
]
