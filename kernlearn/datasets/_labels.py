"""Class labels: one spelling for each, whatever the file format."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def canonical_label(label: Any) -> str:
    """Spell a label so that ``+1``, ``1``, ``1.0`` and the number 1 read alike.

    Parameters
    ----------
    label : str or number
        A label as found.

    Returns
    -------
    str
        A number's shortest decimal form, other text without blanks around it.
    """
    text = str(label).strip()
    try:
        value = float(text)
    except ValueError:
        return text
    if not np.isfinite(value):
        return text
    return str(int(value)) if value == int(value) else repr(value)


def canonical_labels(y: ArrayLike) -> NDArray[np.str_]:
    """Spell every label of an array as :func:`canonical_label` does.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels, text or numbers.

    Returns
    -------
    ndarray of str, shape (n_samples,)
    """
    labels = np.asarray(y)
    if labels.dtype.kind == "b":
        labels = labels.astype(int)
    elif labels.dtype.kind == "f":
        labels = labels.astype(np.float64)  # the shortest form of a float32 is another number
    distinct, positions = np.unique(labels, return_inverse=True)
    spelt = np.array([canonical_label(label) for label in distinct], dtype=np.str_)
    return spelt[positions.reshape(-1)]


def coder(values: Sequence[str]) -> Callable[[str], float]:
    """Make the function that gives a value's position among the known ones.

    Parameters
    ----------
    values : sequence of str
        The known values, in order.

    Returns
    -------
    callable
        From text to float; ValueError for a value that is not known.
    """
    codes = {canonical_label(value): float(code) for code, value in enumerate(values)}
    expected = f"one of {', '.join(values)}"

    @lru_cache(maxsize=1024)
    def code(text: str) -> float:
        try:
            return codes[canonical_label(text)]
        except KeyError:
            raise ValueError(expected) from None

    return code
