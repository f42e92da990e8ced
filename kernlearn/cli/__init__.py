"""The ``kernlearn`` command."""

from kernlearn.cli.app import main

__all__ = ["main"]
