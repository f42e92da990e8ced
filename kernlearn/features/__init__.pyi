# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.features.compositional import CompositionalMaclaurin as CompositionalMaclaurin
from kernlearn.features.random_maclaurin import RandomMaclaurin as RandomMaclaurin
from kernlearn.features.svm import MaclaurinSVM as MaclaurinSVM

__all__ = [
    "CompositionalMaclaurin",
    "MaclaurinSVM",
    "RandomMaclaurin",
]
