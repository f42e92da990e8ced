"""The engine: plans of trials, their selection and running, and what a trial does."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, {"": "plan selection spec"})
