"""Values of slow distances that are kept while a method chooses its parameters."""

import pickle
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.exceptions import SimilarityError

_MOST_KNOWN = 2**25  # values, 256 MiB


class KnownPairs:
    """Values of pairs of points that were computed before, at most `_MOST_KNOWN`.

    When there are more, all are forgotten.
    """

    def __init__(self) -> None:
        self._tables: dict[Hashable, tuple[dict[bytes, int], NDArray[Any]]] = {}

    def values(
        self, name: Hashable, compare: Callable[[Any, Any], NDArray[Any]], X: Any, Y: Any
    ) -> NDArray[Any]:
        """Return the values of all pairs; `compare` is called for those that are not known."""
        try:
            left, right = (
                [blake2b(pickle.dumps(point), digest_size=16).digest() for point in points]
                for points in (X, Y)
            )
        except Exception:
            return compare(X, Y)  # of points that cannot be pickled
        size = sum(values.size for _, values in self._tables.values())
        places, known = self._tables.get(name, ({}, np.empty((0, 0))))
        n_points = len(places.keys() | {*left, *right})
        if n_points > len(known):
            most = max(n_points, 2 * len(known))
            if size - known.size + most**2 > _MOST_KNOWN:
                self._tables.clear()
                n_points = most = len({*left, *right})
                places, known = {}, np.empty((0, 0))
                if most**2 > _MOST_KNOWN:
                    return compare(X, Y)
            table = np.full((most, most), np.nan)
            table[: len(known), : len(known)] = known
            known = table
        rows, columns = (
            [places.setdefault(one, len(places)) for one in side] for side in (left, right)
        )
        self._tables[name] = places, known
        values = known[np.ix_(rows, columns)]
        missing = np.isnan(values)
        if missing.any():
            i = np.flatnonzero(missing.any(axis=1))
            j = np.flatnonzero(missing.any(axis=0))
            try:
                new = compare([X[k] for k in i], [Y[k] for k in j])
            except SimilarityError:
                return compare(X, Y)  # for the places of the pair among all
            places_of_new = np.ix_([rows[k] for k in i], [columns[k] for k in j])
            values[np.ix_(i, j)] = known[places_of_new] = new
        return values


_pairs = KnownPairs()
_known: KnownPairs | None = None


@contextmanager
def knowing_pairs() -> Iterator[None]:
    """Compute no pair twice in a block, nor one that an earlier block has computed."""
    global _known
    _known = _pairs
    try:
        yield
    finally:
        _known = None


def known_values(
    name: Hashable, compare: Callable[[Any, Any], NDArray[Any]], X: Any, Y: Any
) -> NDArray[Any]:
    """Return the values of all pairs, in such a block without those that are known.

    The `name` is all that determines a value, but for the points; None if they may not be kept.
    """
    if _known is None or name is None:
        return compare(X, Y)
    return _known.values(name, compare, X, Y)
