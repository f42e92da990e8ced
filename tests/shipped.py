"""The configs that come with kernlearn, and what some of them need."""

from kernlearn.lazy import is_installed

#: The packages that a config needs beside those that are always there.
NEEDED = {"series": ["aeon"], "objects": ["aeon", "grakel"]}


def can_be_read(name: str) -> bool:
    """Whether what a config needs is installed."""
    return all(map(is_installed, NEEDED.get(name, ())))
