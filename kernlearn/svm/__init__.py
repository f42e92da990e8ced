"""Kernel support vector machines: LIBSVM, an interior-point method, and paths of parameters."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
