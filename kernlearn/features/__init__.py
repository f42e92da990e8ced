"""Explicit feature maps, whose inner products are kernel values in expectation."""

from kernlearn._lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__,
    {
        "CompositionalMaclaurin": "_compositional",
        "MaclaurinSVM": "_svm",
        "RandomMaclaurin": "_random_maclaurin",
    },
)
