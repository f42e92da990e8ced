"""Pairs of points: errors that name them, and values that are computed once."""

from collections.abc import Callable, Sequence
from reprlib import Repr
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernlearn.exceptions import SimilarityError

Floats: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.intp]

_LONGEST = 40  # characters of the representation of a point
# Values, beside the points, by which two points of these types are the same.
_BY_VALUE = (str, bytes, bool, int, float, complex, frozenset, type(None))

_short = Repr()
_short.maxstring = _short.maxother = _short.maxlong = _LONGEST
_short.maxlist = _short.maxtuple = _short.maxset = _short.maxfrozenset = _short.maxdict = 4
_short.maxlevel = 2


def shown(point: Any) -> str:
    """Return a short representation of a point."""
    if sparse.issparse(point):
        return f"sparse row with {point.nnz} entries"
    if isinstance(point, np.ndarray) and point.ndim:
        first = ", ".join(f"{value:.4g}" for value in _numbers(point)[:3])
        more = ", …" if point.size > 3 else ""
        if point.dtype.kind not in "biuf":
            return _short.repr(point.tolist())
        return f"[{first}{more}]" if point.ndim == 1 else f"array of shape {point.shape}"
    if isinstance(point, np.generic):
        point = point.item()
    text = _short.repr(point)
    return str(point) if text.startswith("<") and len(str(point)) <= 2 * _LONGEST else text


def _numbers(point: np.ndarray) -> list[float]:
    return [float(value) for value in point.ravel()[:3]] if point.dtype.kind in "biuf" else []


def point_of(points: Any, place: int) -> Any:
    """Return one of some points."""
    return points.iloc[place] if hasattr(points, "iloc") else points[place]


def pair_error(problem: str, X: Any, Y: Any, left: int, right: int) -> SimilarityError:
    """Return the error of one pair of points."""
    texts = shown(point_of(X, left)), shown(point_of(Y, right))
    return SimilarityError(problem, left, right, texts)


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
    if found := first_wrong(values):
        problem, left, right = found
        raise pair_error(problem, X, Y, left, right)


def as_number(value: Any) -> float | None:
    """Return a value of a function of two points as a float; None if it is no number."""
    if isinstance(value, (bool, int, float)):
        return float(value)
    value = np.asarray(value)
    return float(value.reshape(())) if value.size == 1 and value.dtype.kind in "biuf" else None


def compare_pair(function: Callable[[Any, Any], Any], x: Any, y: Any) -> tuple[Any, str]:
    """Return the value of one pair, and what is wrong with it, empty if nothing is."""
    try:
        result = function(x, y)
    except Exception as error:
        return error, raised(error)
    value = as_number(result)
    if value is None:
        return None, f"is {shown(result)}: 'function' must return a number for two points"
    if not np.isfinite(value):
        return None, not_finite(value)
    return value, ""


def compare_pairs(
    function: Callable[[Any, Any], Any], left: Any, right: Any, rows: Indices, columns: Indices
) -> Floats:
    """Return the values of some pairs of points, one after the other.

    `left` and `right` are sequences of points, or mappings of places to points.
    """
    values = np.empty(len(rows))
    for k, (i, j) in enumerate(zip(rows.tolist(), columns.tolist(), strict=True)):
        value, problem = compare_pair(function, left[i], right[j])
        if problem:
            cause = value if isinstance(value, Exception) else None
            raise pair_error(problem, left, right, i, j) from cause
        values[k] = value
    return values


#: Takes left and right points and the positions of pairs among them, returns their values.
Evaluate: TypeAlias = Callable[[Sequence[Any], Sequence[Any], Indices, Indices], Floats]


class PairMemo:
    """Values of pairs of points, each computed once.

    Strings, numbers and vectors are the same point where they are equal, other objects where they
    are the same object. Of each right point all values are in one array.

    Parameters
    ----------
    symmetric : bool
        Whether the value of (x, y) is that of (y, x) too.
    """

    def __init__(self, symmetric: bool) -> None:
        self._symmetric = symmetric
        self._places: dict[Any, int] = {}
        # keeps objects alive, so that no other one gets their identity
        self._points: list[Any] = []
        self._columns: dict[int, Floats] = {}

    def values(self, left: Sequence[Any], right: Sequence[Any], evaluate: Evaluate) -> Floats:
        """Return the values of all pairs; `evaluate` computes those that are new."""
        rows, columns = self._find(left), self._find(right)
        kept = [self._column(place) for place in columns.tolist()]
        known = np.array([column[rows] for column in kept]).T.reshape(len(left), len(right))
        if self._symmetric:
            for i, place in enumerate(rows.tolist()):
                if place in self._columns:
                    mirrored = self._column(place)[columns]
                    known[i] = np.where(np.isnan(known[i]), mirrored, known[i])
        missing = np.nonzero(np.isnan(known))
        if len(missing[0]):
            a, b = rows[missing[0]], columns[missing[1]]
            if self._symmetric:
                a, b = np.minimum(a, b), np.maximum(a, b)
            codes = a * len(self._points) + b
            _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
            order = np.argsort(first, kind="stable")
            chosen = first[order]
            new = np.empty(len(first))
            new[order] = evaluate(left, right, missing[0][chosen], missing[1][chosen])
            known[missing] = new[inverse]
            for j, column in enumerate(kept):
                column[rows] = known[:, j]
        return known

    def _find(self, points: Sequence[Any]) -> Indices:
        found = np.empty(len(points), dtype=np.intp)
        for i, point in enumerate(points):
            key = _key(point)
            place = self._places.setdefault(key, len(self._points))
            if place == len(self._points):
                self._points.append(point)
            found[i] = place
        return found

    def _column(self, place: int) -> Floats:
        """Return the values of all points found so far to one of them, NaN where unknown."""
        column = self._columns.get(place)
        n = len(self._points)
        if column is None or len(column) < n:
            longer = np.full(n if column is None else max(n, 2 * len(column)), np.nan)
            if column is not None:
                longer[: len(column)] = column
            self._columns[place] = column = longer
        return column


def _key(point: Any) -> Any:
    if isinstance(point, _BY_VALUE):
        return type(point), point
    if isinstance(point, np.ndarray) and point.dtype.kind in "biufUS":
        return point.shape, point.dtype.str, point.tobytes()
    return id(point)
