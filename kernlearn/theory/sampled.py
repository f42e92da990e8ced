"""Similarities of the points of a sample that grows; no pair of points is compared twice."""

import time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernlearn.theory.criteria import Array, Indices, Sample

# Seconds that a block of rows is to take: between blocks the time is looked at.
_BLOCK_SECONDS = 0.25
# Points of which all pairs are compared both ways, to see whether the order makes a difference.
_BOTH_WAYS = 30
# How far apart the values of (x, y) and (y, x) may be, relative to the greatest.
_SYMMETRIC = 1e-9


class SampledSimilarity:
    """A similarity of points in a given order, compared as far as was asked for.

    Parameters
    ----------
    similarity : str, Kernel, callable or "precomputed"
        As :func:`kernlearn.theory.goodness.goodness` takes it. It learns from all points what it
        has to, but not from their targets, which would tell those of test points.
    points : array-like, sparse matrix or sequence
        The points in their order; a square matrix for "precomputed".
    kind : {"similarity", "distance"}
    places : array-like of int
        Rows of the points in the user's data, for errors.

    Attributes
    ----------
    size : int
        The number of the first points of which all pairs have been compared.
    symmetric : bool or None
        Whether the first pairs are the same both ways, so that of others only one is compared;
        None before it is known.
    """

    def __init__(self, similarity: Any, points: Any, kind: str, places: ArrayLike) -> None:
        self.size = 0
        self.symmetric: bool | None = None
        sample = Sample(similarity, kind)
        self._places = np.asarray(places)
        self._points = sample.read_points(points, self._places)
        self._all = sample.landmarks
        self._values = np.empty((0, 0))
        self._rows_at_a_time = 1
        # comparisons and seconds
        self._blocks: list[tuple[int, float]] = []

    @property
    def compares(self) -> bool:
        """Whether there is anything to compare, and not a matrix of values."""
        return self._all.kernel is not None

    @property
    def n_comparisons(self) -> int:
        """Comparisons made; 0 for a precomputed matrix."""
        return sum(size for size, _ in self._blocks)

    @property
    def seconds_per_comparison(self) -> float:
        """The mean seconds of a comparison, in the larger half of the blocks; NaN without any.

        What a call takes besides its comparisons counts for less there.
        """
        blocks = sorted(self._blocks, reverse=True)[: (len(self._blocks) + 1) // 2]
        n = sum(size for size, _ in blocks)
        return sum(taken for _, taken in blocks) / n if n else float("nan")

    def warm_up(self) -> None:
        """Compare two points, so that what is imported or compiled at first takes no time later.

        It is not counted.
        """
        self._compare(np.arange(2), np.arange(2))

    def grow(self, size: int, until: float = float("inf")) -> bool:
        """Compare the first `size` points; return whether that was done before a time.

        `until` is a value of :func:`time.monotonic`. What was compared until then is kept.
        """
        if len(self._values) < size:
            values = np.empty((size, size))
            values[: self.size, : self.size] = self._values[: self.size, : self.size]
            self._values = values
        while self.size < size:
            if time.monotonic() > until:
                return False
            self._add(min(size, self.size + self._rows_at_a_time))
        return True

    def matrix(self, size: int) -> Array:
        """Return the similarities of the first `size` points, compared before."""
        return self._values[:size, :size]

    def _add(self, stop: int) -> None:
        """Compare some more points with each other and with those before."""
        start = self.size
        rows, before = np.arange(start, stop), np.arange(start)
        clock = time.perf_counter()
        values, n = self._compare(rows, np.arange(stop)), len(rows) * stop
        self._values[start:stop, :stop] = values
        if not self.symmetric and start:
            self._values[:start, start:stop] = self._compare(before, rows)
            n += start * len(rows)
        elif start:
            self._values[:start, start:stop] = values[:, :start].T
        taken = time.perf_counter() - clock
        self.size = stop
        if self.compares:
            self._blocks.append((n, taken))
        if self.symmetric is None and stop >= _BOTH_WAYS:
            found = self.matrix(stop)
            apart = np.abs(found - found.T).max()
            self.symmetric = bool(apart <= _SYMMETRIC * np.abs(found).max())
        grows = 2 if taken < _BLOCK_SECONDS / 2 else 1 if taken < _BLOCK_SECONDS else 0.5
        self._rows_at_a_time = max(int(self._rows_at_a_time * grows), 1)

    def _compare(self, rows: Indices, columns: Indices) -> Array:
        places = self._places[rows] if self.compares else None
        values = self._all.take(columns).compare(self._points, rows, places)
        return np.asarray(values, dtype=np.float64)
