"""``python -m kernlearn`` is the ``kernlearn`` command."""

from kernlearn.cli import main

main()
