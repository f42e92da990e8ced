# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.features.compositional import CompositionalMaclaurin as CompositionalMaclaurin
from kernlearn.features.positive import PositiveFeatures as PositiveFeatures
from kernlearn.features.random_maclaurin import RandomMaclaurin as RandomMaclaurin
from kernlearn.features.spherical import SphericalFeatures as SphericalFeatures
from kernlearn.features.svm import MaclaurinSVM as MaclaurinSVM
from kernlearn.features.tensor_sketch import TensorSketch as TensorSketch

__all__ = [
    "CompositionalMaclaurin",
    "MaclaurinSVM",
    "PositiveFeatures",
    "RandomMaclaurin",
    "SphericalFeatures",
    "TensorSketch",
]
