# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.features.compositional import CompositionalMaclaurin as CompositionalMaclaurin
from kernlearn.features.maclaurin import MaclaurinSVM as MaclaurinSVM
from kernlearn.features.maclaurin import RandomMaclaurin as RandomMaclaurin
from kernlearn.features.tensor_sketch import TensorSketch as TensorSketch

__all__ = [
    "CompositionalMaclaurin",
    "MaclaurinSVM",
    "RandomMaclaurin",
    "TensorSketch",
]
