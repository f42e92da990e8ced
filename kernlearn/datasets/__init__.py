"""Data sets: a catalogue of cards, readers of published file formats, generators.

A card (``datasets/<name>.yaml``) says where a data set is published, how its files read and what
they must contain. :func:`load` finds the files, checks them against the card and returns arrays.
"""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
