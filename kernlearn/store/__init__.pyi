# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.store import merging as merging
from kernlearn.store.results import Store as Store

__all__ = [
    "Store",
    "merging",
]
