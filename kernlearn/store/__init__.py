"""The store: an SQLite file with one row per finished trial."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, {"": "merging", "results": "Store"})
