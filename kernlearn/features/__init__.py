"""Explicit feature maps, whose inner products are kernel values in expectation."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
