"""``python -m kernlearn`` is the ``kernlearn`` command."""

from kernlearn.cli.app import main

main()
