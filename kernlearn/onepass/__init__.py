"""Linear models of features from one pass over data of any length, by moments that are merged."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(
    __name__, {"moments": "Moments", "ridge": "OnePassRidge OnePassRidgeClassifier"}
)
