"""Reports: frames, tables, figures and pages of results, and what they say of a paper."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
