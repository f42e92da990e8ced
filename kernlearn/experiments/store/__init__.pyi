# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.experiments.store import database as database
from kernlearn.experiments.store import export as export
from kernlearn.experiments.store import merging as merging

__all__ = [
    "database",
    "export",
    "merging",
]
