"""The guarantees of the papers as numbers: feature counts, goodness, complexities, regret."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
