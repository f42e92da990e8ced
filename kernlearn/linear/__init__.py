"""Linear models: the losses, the solvers that minimise them along a path of C, and LIBLINEAR."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
