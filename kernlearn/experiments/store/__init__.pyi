# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.experiments.store import database as database
from kernlearn.experiments.store import doctor as doctor
from kernlearn.experiments.store import export as export
from kernlearn.experiments.store import maintenance as maintenance

__all__ = [
    "database",
    "doctor",
    "export",
    "maintenance",
]
