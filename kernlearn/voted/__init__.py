"""Voted kernel regularization: sparse sums over many kernels, penalised by complexity."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
