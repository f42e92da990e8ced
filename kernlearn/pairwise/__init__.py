"""Online learning with losses of pairs of points, in the memory of a small buffer."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
