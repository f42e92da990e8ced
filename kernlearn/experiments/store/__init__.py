"""Stores of results: the database, and export, examination, merging and maintenance."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, {"": "database doctor export maintenance"})
