"""Values of slow functions of two points, kept so that no pair is computed twice in a process."""

import pickle
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.exceptions import SimilarityError

_MOST_KNOWN = 2**25  # values, 256 MiB; with more, all are forgotten

# The place of each point on the right, and for each name and point on the left the values by
# place, NaN where they are not known.
_places: dict[bytes, int] = {}
_rows: dict[tuple[Hashable, bytes], NDArray[Any]] = {}
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
    If `symmetric` a pair and its mirror image have one value.
    """
    if not (_is_knowing or keep) or name is None or len(X) * len(Y) > _MOST_KNOWN:
        return compare(X, Y)
    try:
        left, right = (
            [blake2b(pickle.dumps(point), digest_size=16).digest() for point in points]
            for points in (X, Y)
        )
    except Exception:
        return compare(X, Y)  # of points that cannot be pickled
    if sum(map(len, _rows.values())) + len(left) * (len(_places) + len(right)) > _MOST_KNOWN:
        _places.clear()
        _rows.clear()
    # of equal points the first
    lefts, rights = (
        dict(zip(reversed(names), reversed(range(len(names))), strict=True))
        for names in (left, right)
    )
    columns = np.array([_places.setdefault(point, len(_places)) for point in rights])
    table = np.full((len(lefts), len(_places)), np.nan)
    groups: dict[Any, list[int]] = {}
    for row, (values, point) in enumerate(zip(table, lefts, strict=True)):
        known = _rows.get((name, point), values)
        values[: len(known)] = known
        # rows that lack the same values are compared together, unless one may give another's
        lack = np.isnan(values[columns]).tobytes()
        groups.setdefault(row if symmetric else lack, []).append(row)
    names, firsts, others = [*lefts], [*lefts.values()], [*rights.values()]
    for group in groups.values():
        if symmetric:
            _mirror(name, table[group[0]], names[group[0]], rights, columns)
        lacks = np.flatnonzero(np.isnan(table[group[0], columns]))
        if len(lacks):
            try:
                new = compare([X[firsts[row]] for row in group], [Y[others[j]] for j in lacks])
            except SimilarityError:
                return compare(X, Y)  # for the places of the pair among all
            table[np.ix_(np.array(group), columns[lacks])] = new
        _rows.update(((name, names[row]), table[row].copy()) for row in group)
    places = {point: row for row, point in enumerate(names)}
    return table[np.ix_([places[p] for p in left], [_places[p] for p in right])]


def _mirror(
    name: Hashable,
    row: NDArray[Any],
    point: bytes,
    others: Iterable[bytes],
    columns: Iterable[int],
) -> None:
    """Fill in what is known of the same pairs in the other order."""
    if (place := _places.get(point)) is None:
        return
    for other, column in zip(others, columns, strict=True):
        known = _rows.get((name, other))
        if np.isnan(row[column]) and known is not None and place < len(known):
            row[column] = known[place]
