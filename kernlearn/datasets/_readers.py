"""The readers, one a file format, by the format's name in a card."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Expected(NamedTuple):
    """What a card promises of a file, so that a reader can name the line that breaks it.

    Attributes
    ----------
    n_features : int
        The number of feature columns.
    classes : tuple of str or None
        The labels; None where the target is a number.
    """

    n_features: int
    classes: tuple[str, ...] | None


class Table(NamedTuple):
    """What a reader returns.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        Float64; a nominal column holds its values' positions in the published order.
    y : ndarray of shape (n_samples,)
        Float64; the labels' positions in ``Expected.classes``, or numbers.
    feature_names : tuple of str
        One a column; x1, x2, … where the file names none.
    nominal : mapping of str to tuple of str
        The values of each nominal column, in the published order.
    query : ndarray of int, shape (n_samples,), or None
        The query of each row, for ranking.
    """

    X: Any
    y: NDArray[np.float64]
    feature_names: tuple[str, ...]
    nominal: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    query: NDArray[np.int64] | None = None


Reader = Callable[[Sequence[Path], Any, Expected], Table]

# A new format is a model in _formats, a module with its reader, and a line here.
_READERS: dict[str, str] = {
    "delimited": "_delimited:read_delimited",
    "libsvm": "_libsvm:read_libsvm",
    "letor": "_letor:read_letor",
    "arff": "_arff:read_arff",
    "matlab": "_matlab:read_matlab",
    "npz": "_arrays:read_npz",
    "parquet": "_arrays:read_parquet",
    "sklearn": "_carried:read_carried",
}


def reader(kind: str) -> Reader:
    """Return the reader of a format.

    Parameters
    ----------
    kind : str
        The format's name.

    Returns
    -------
    callable
        (paths, options, expected) → Table.
    """
    module, _, function = _READERS[kind].partition(":")
    found: Reader = getattr(import_module(f"kernlearn.datasets.{module}"), function)
    return found


def default_names(n_features: int) -> tuple[str, ...]:
    """Name features that have no names: x1, x2, and so on.

    Parameters
    ----------
    n_features : int
        How many.

    Returns
    -------
    tuple of str
    """
    return tuple(f"x{number}" for number in range(1, n_features + 1))
