"""Values of slow functions of two points, kept so that no pair is computed twice in a process."""

import pickle
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.exceptions import SimilarityError
from kernlearn.validation import Floats, Indices, warn

_MOST_KNOWN = 2**25  # values, 256 MiB; with more, all are forgotten


class _Known:
    """Values of functions of two points. Threads may share them, without a lock.

    Each point on the right has a place, which no other ever gets. For each function and point on
    the left there is a row of the values by place, NaN where they are not known.
    """

    def __init__(self) -> None:
        self._places: defaultdict[bytes, int] = defaultdict(count().__next__)
        self._rows: dict[tuple[Hashable, bytes], Floats] = {}

    def size(self, n_left: int = 0, n_right: int = 0) -> int:
        """Return the number of values, at most, with those of so many more points."""
        return sum(map(len, [*self._rows.values()])) + n_left * (len(self._places) + n_right)

    def places(self, rights: Sequence[bytes]) -> Indices:
        return np.array([self._places[right] for right in rights], dtype=np.intp)

    def values(self, function: Hashable, left: bytes, places: Indices) -> Floats:
        """Return the values of a point with those at some places, NaN if they are not known."""
        row = self._rows.get((function, left), np.empty(0))
        return np.append(row, np.nan).take(places, mode="clip")

    def value(self, function: Hashable, left: bytes, right: bytes) -> float:
        """Return the value of a pair, NaN if it is not known."""
        row = self._rows.get((function, left), ())
        place = self._places.get(right, len(row))
        return row[place] if place < len(row) else np.nan

    def keep(self, function: Hashable, left: bytes, places: Indices, values: Floats) -> None:
        before = self._rows.get((function, left), np.empty(0))
        row = np.full(max(len(before), 1 + places.max(initial=-1)), np.nan)
        row[: len(before)] = before
        row[places] = values
        self._rows[function, left] = row


_known = _Known()
_is_knowing = False


@contextmanager
def knowing_pairs() -> Iterator[None]:
    """Compute no pair twice in a block, nor one that an earlier block has computed."""
    global _is_knowing
    _is_knowing = True
    try:
        yield
    finally:
        _is_knowing = False


def known_values(
    function: Hashable,
    compare: Callable[[Any, Any], NDArray[Any]],
    X: Any,
    Y: Any,
    *,
    keep: bool = False,
    symmetric: bool = False,
) -> NDArray[Any]:
    """Return the values of all pairs, in such a block, or if they are kept, computing none twice.

    The `function` is all that determines a value, but for the points, such as its name and
    parameters; None if values may not be kept.
    If `symmetric` a pair and its mirror image have one value, which is computed once, kept or not.
    """
    global _known
    keep = (keep or _is_knowing) and function is not None
    if not (keep or symmetric) or len(X) * len(Y) > _MOST_KNOWN:
        return compare(X, Y)
    function = function, symmetric  # of both orders, only one may have been computed
    try:
        (lefts, in_X, rows), (rights, in_Y, columns) = _distinct(X), _distinct(Y)
        hash(function)
    except Exception as error:
        problem = "the points cannot be pickled, or the function not hashed"
        warn(f"pairs are computed anew each time, as {problem}: {error}")
        return compare(X, Y)
    if keep and _known.size(len(X), len(Y)) > _MOST_KNOWN:
        _known = _Known()
    known = _known if keep else _Known()
    places = known.places(rights)
    table = np.empty((len(lefts), len(rights)))
    groups: dict[Any, list[int]] = {}
    for row, left in enumerate(lefts):
        table[row] = known.values(function, left, places)
        # rows that lack the same values are compared together, unless one may give another's
        if (lack := np.isnan(table[row])).any():
            groups.setdefault(row if symmetric else lack.tobytes(), []).append(row)
    for group in groups.values():
        first, left = table[group[0]], lefts[group[0]]
        if symmetric:
            lacks = np.flatnonzero(np.isnan(first))
            first[lacks] = [known.value(function, rights[column], left) for column in lacks]
        lacks = np.flatnonzero(np.isnan(first))
        if len(lacks):
            i, j = [in_X[row] for row in group], [in_Y[column] for column in lacks]
            try:
                values = compare([X[row] for row in i], [Y[column] for column in j])
            except SimilarityError as error:
                raise error.at(i[error.left], j[error.right]) from error.__cause__
            table[np.ix_(np.array(group), lacks)] = values
        for row in group:
            known.keep(function, lefts[row], places, table[row])
    return table[np.ix_(rows, columns)]


def _distinct(points: Any) -> tuple[list[bytes], list[int], list[int]]:
    """Return digests of distinct points, where these come first, and which each point is."""
    # these of NumPy are those of Python; others, such as np.uint8, compute otherwise
    alike = np.str_, np.bool_, np.float64, np.int64
    plain = (point.item() if isinstance(point, alike) else point for point in points)
    digests = [blake2b(pickle.dumps(point), digest_size=16).digest() for point in plain]
    firsts = {digest: i for i, digest in reversed([*enumerate(digests)])}
    order = {digest: place for place, digest in enumerate(firsts)}
    return [*firsts], [*firsts.values()], [order[digest] for digest in digests]
