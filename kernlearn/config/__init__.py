"""Configs: YAML files of experiments, read into a checked model, and the names they may use."""

from kernlearn.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
