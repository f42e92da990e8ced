"""Stores of results: the database, export and merging."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, {"": "database export merging"})
