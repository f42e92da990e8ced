"""Stores of results: the database, and export, merging and maintenance."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, {"": "database export maintenance"})
