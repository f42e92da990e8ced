"""The engine: plans of trials, what a trial does, and who runs them."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
