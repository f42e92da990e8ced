"""Reader for LETOR's text: LIBSVM's with a relevance for a label and a query id."""

from collections.abc import Sequence
from pathlib import Path

from kernlearn.datasets._formats import Letor
from kernlearn.datasets._libsvm import read_sparse
from kernlearn.datasets._readers import Expected, Table


def read_letor(paths: Sequence[Path], options: Letor, expected: Expected) -> Table:
    """Read LETOR files and put their rows together.

    Parameters
    ----------
    paths : sequence of pathlib.Path
        The files.
    options : Letor
        How they read.
    expected : Expected
        What they must hold.

    Returns
    -------
    Table
        With the query ids.

    Raises
    ------
    DataError
        If a file is damaged; the message names the line.
    """
    return read_sparse(paths, expected, lowest=1, queries=True)
