"""Embeddings by similarities to landmarks, and the models of the thesis on them."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
