"""Values of slow functions of two points, kept so that no pair is computed twice in a process."""

import pickle
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.exceptions import SimilarityError
from kernlearn.validation import warn

_MOST_KNOWN = 2**25  # values, 256 MiB; with more, all are forgotten


class _Known:
    """Values of pairs by their names and points. Threads may share them, without a lock.

    Each point on the right has a place, which no other ever gets. For each name and point on the
    left there is a row of the values by place, NaN where they are not known.
    """

    def __init__(self) -> None:
        self.places: defaultdict[bytes, int] = defaultdict(count().__next__)
        self.rows: dict[tuple[Hashable, bytes], NDArray[Any]] = {}

    def size(self) -> int:
        return sum(map(len, [*self.rows.values()]))

    def value(self, name: Hashable, left: bytes, right: bytes) -> float:
        """Return the value of a pair, NaN if it is not known."""
        row, place = self.rows.get((name, left), ()), self.places.get(right, np.inf)
        return row[int(place)] if place < len(row) else np.nan


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
    name: Hashable,
    compare: Callable[[Any, Any], NDArray[Any]],
    X: Any,
    Y: Any,
    *,
    keep: bool = False,
    symmetric: bool = False,
) -> NDArray[Any]:
    """Return the values of all pairs, in such a block, or if they are kept, computing none twice.

    The `name` is all that determines a value, but for the points; None if they may not be kept.
    If `symmetric` a pair and its mirror image have one value, which is computed once, kept or not.
    """
    global _known
    keep = (keep or _is_knowing) and name is not None
    if not (keep or symmetric) or len(X) * len(Y) > _MOST_KNOWN:
        return compare(X, Y)
    name = name, symmetric  # of both orders, only one may have been computed
    try:
        left, right, _ = _digests(X), _digests(Y), hash(name)
    except Exception as error:
        problem = "the points cannot be pickled, or the function not hashed"
        warn(f"pairs are computed anew each time, as {problem}: {error}")
        return compare(X, Y)
    known = _known if keep else _Known()
    if known.size() + len(left) * (len(known.places) + len(right)) > _MOST_KNOWN:
        known = _known = _Known()
    lefts, rights = _firsts(left), _firsts(right)
    columns = np.array([known.places[point] for point in rights])
    n_places = 1 + max([*known.places.values()], default=-1)
    table = np.full((len(lefts), n_places), np.nan)
    groups: dict[Any, list[int]] = {}
    for row, (values, point) in enumerate(zip(table, lefts, strict=True)):
        before = known.rows.get((name, point), values)[: len(values)]
        values[: len(before)] = before
        # rows that lack the same values are compared together, unless one may give another's
        lack = np.isnan(values[columns]).tobytes()
        groups.setdefault(row if symmetric else lack, []).append(row)
    distinct, in_X, in_Y = [*lefts], [*lefts.values()], [*rights.values()]
    for group in groups.values():
        first = table[group[0]]
        lacks = np.flatnonzero(np.isnan(first[columns]))
        if symmetric:
            mirrored = [known.value(name, point, distinct[group[0]]) for point in rights]
            first[columns[lacks]] = np.array(mirrored)[lacks]
            lacks = np.flatnonzero(np.isnan(first[columns]))
        if len(lacks):
            i, j = [in_X[row] for row in group], [in_Y[column] for column in lacks]
            try:
                new = compare([X[row] for row in i], [Y[column] for column in j])
            except SimilarityError as error:
                raise error.at(i[error.left], j[error.right]) from error.__cause__
            table[np.ix_(np.array(group), columns[lacks])] = new
        known.rows.update(((name, distinct[row]), table[row].copy()) for row in group)
    row_of = {point: row for row, point in enumerate(distinct)}
    column_of = dict(zip(rights, columns, strict=True))
    return table[np.ix_([row_of[point] for point in left], [column_of[point] for point in right])]


def _digests(points: Any) -> list[bytes]:
    # these of NumPy are those of Python; others, such as np.uint8, compute otherwise
    alike = np.str_, np.bool_, np.float64, np.int64
    plain = (point.item() if isinstance(point, alike) else point for point in points)
    return [blake2b(pickle.dumps(point), digest_size=16).digest() for point in plain]


def _firsts(digests: list[bytes]) -> dict[bytes, int]:
    """Return distinct points with the places at which they come first."""
    return {digest: i for i, digest in reversed([*enumerate(digests)])}
