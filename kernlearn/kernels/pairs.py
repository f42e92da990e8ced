"""Errors that name the pair of points whose similarity is wrong."""

import math
from collections.abc import Callable, Sequence
from reprlib import Repr
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernlearn.exceptions import SimilarityError

_LONGEST = 40  # characters of the representation of a point

_short = Repr()
_short.maxstring = _short.maxother = _short.maxlong = _LONGEST
_short.maxlist = _short.maxtuple = _short.maxset = _short.maxfrozenset = _short.maxdict = 4
_short.maxlevel = 2


def shown(point: Any) -> str:
    """Return a short representation of a point."""
    if sparse.issparse(point):
        return f"sparse row with {point.nnz} entries"
    if isinstance(point, np.ndarray) and point.ndim:
        if point.dtype.kind not in "biuf":
            return _short.repr(point.tolist())
        if point.ndim > 1:
            return f"array of shape {point.shape}"
        more = ", …" if point.size > 3 else ""
        return f"[{', '.join(f'{value:.4g}' for value in point[:3].tolist())}{more}]"
    if isinstance(point, np.generic):
        point = point.item()
    text = _short.repr(point)
    return str(point) if text.startswith("<") and len(str(point)) <= 2 * _LONGEST else text


def pair_error(problem: str, X: Any, Y: Any, left: int, right: int) -> SimilarityError:
    """Return the error of one pair of points."""
    points = ((X, left), (Y, right))
    texts = [shown(Z.iloc[i] if hasattr(Z, "iloc") else Z[i]) for Z, i in points]
    return SimilarityError(problem, left, right, (texts[0], texts[1]))


def raised(error: Exception) -> str:
    """Describe an error of a similarity."""
    text = f": {error}" if str(error) else ""
    return f"cannot be computed, {type(error).__name__}{text}"


def not_finite(value: float) -> str:
    """Say what is wrong with a value that is NaN or infinite."""
    return f"is {'NaN' if np.isnan(value) else 'infinite'}, it must be a finite number"


def first_wrong(values: np.ndarray) -> tuple[str, int, int] | None:
    """Return what is wrong with the first NaN or infinite value of a matrix, and its place."""
    finite = np.isfinite(values)
    if finite.all():
        return None
    left, right = (int(place) for place in np.argwhere(~finite)[0])
    n_wrong = finite.size - int(finite.sum())
    more = f" (and {n_wrong - 1} more)" if n_wrong > 1 else ""
    return f"{not_finite(values[left, right])}{more}", left, right


def check_values(values: np.ndarray, X: Any, Y: Any) -> None:
    """Refuse NaN and infinite values of pairs, with an error that names the first."""
    if wrong := first_wrong(values):
        problem, left, right = wrong
        raise pair_error(problem, X, Y, left, right)


def compare_pairs(
    function: Callable[[Any, Any], Any],
    left: Sequence[Any],
    right: Sequence[Any],
    first: int = 0,
) -> NDArray[np.float64]:
    """Return the values of a function for all pairs of points, one after the other.

    `first` is the place of the first point on the left, for errors.
    """
    values = np.empty((len(left), len(right)))
    for i, x in enumerate(left):
        for j, y in enumerate(right):
            try:
                result = function(x, y)
            except Exception as error:
                texts = shown(x), shown(y)
                raise SimilarityError(raised(error), first + i, j, texts) from error
            value = as_number(result)
            if value is None or not math.isfinite(value):
                number = f"is {shown(result)}: 'function' must return a number for two points"
                problem = number if value is None else not_finite(value)
                texts = shown(x), shown(y)
                raise SimilarityError(problem, first + i, j, texts)
            values[i, j] = value
    return values


def as_number(value: Any) -> float | None:
    """Return a number, or an array of one, as a float; None for anything else."""
    if isinstance(value, (bool, int, float)):
        return float(value)
    value = np.asarray(value)
    return float(value.reshape(())) if value.size == 1 and value.dtype.kind in "biuf" else None
