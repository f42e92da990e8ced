"""Values of slow distances that are kept while a method chooses its parameters."""

import pickle
from collections.abc import Callable, Hashable, Iterator
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
    name: Hashable, compare: Callable[[Any, Any], NDArray[Any]], X: Any, Y: Any
) -> NDArray[Any]:
    """Return the values of all pairs, in such a block without those that are known.

    The `name` is all that determines a value, but for the points; None if they may not be kept.
    """
    if not _is_knowing or name is None or len(X) * len(Y) > _MOST_KNOWN:
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
    columns = [_places.setdefault(point, len(_places)) for point in right]
    table = np.full((len(left), len(_places)), np.nan)
    for row, point in zip(table, left, strict=True):
        known = _rows.get((name, point), row)
        row[: len(known)] = known
    missing = np.isnan(table[:, columns])
    if missing.any():
        i, j = np.flatnonzero(missing.any(axis=1)), np.flatnonzero(missing.any(axis=0))
        try:
            new = compare([X[k] for k in i], [Y[k] for k in j])
        except SimilarityError:
            return compare(X, Y)  # for the places of the pair among all
        table[np.ix_(i, np.array(columns)[j])] = new
    _rows.update(((name, point), row.copy()) for point, row in zip(left, table, strict=True))
    return table[:, columns]
