"""Means over all pairs of a point of the same class and one of the others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kernlearn.landmarks._transfer import Identity, Ramp, Sign, Transfer

# Differences that a transfer function is applied to at once: 1 MB of float64.
_TILE_ELEMENTS = 2**17


@dataclass(frozen=True)
class References:
    """The points that others are compared with.

    Attributes
    ----------
    indices : ndarray of shape (n_references,)
        Their rows in the sample.
    codes : ndarray of shape (n_references,)
        Their classes, 0, …, k - 1, each of them twice at least.
    weights : ndarray of shape (n_references,)
        What each of them counts.
    """

    indices: NDArray[np.intp]
    codes: NDArray[np.intp]
    weights: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.indices)

    @cached_property
    def members(self) -> NDArray[np.float64]:
        """Say which class each point is of, by a 1 in its column: (n_references, k)."""
        return np.eye(self.codes.max() + 1)[self.codes]


class Comparisons:
    """Some points, each compared with all references but itself.

    Parameters
    ----------
    values : ndarray of shape (n_points, n_references)
        Similarities.
    rows : ndarray of shape (n_points,)
        The points' rows in the sample.
    codes : ndarray of shape (n_points,)
        Their classes.
    references : References
        What they are compared with.
    """

    def __init__(
        self,
        values: NDArray[np.floating],
        rows: NDArray[np.intp],
        codes: NDArray[np.intp],
        references: References,
    ) -> None:
        self.values = values.astype(np.float64, copy=False)
        self.members = references.members
        own = rows[:, None] == references.indices
        self.weights = np.where(own, 0.0, references.weights)
        classes = np.arange(self.members.shape[1])
        is_own = codes[:, None] == classes
        self.sides = np.where(is_own, 1.0, -1.0)
        there = own.any(axis=1, keepdims=True)
        # How many others each class has, and how many are in none but it.
        self.inside = self.members.sum(axis=0) - (is_own & there)
        self.outside = len(references) - there - self.inside

    def mean_differences(self) -> NDArray[np.float64]:
        """Return, a class, E[wK | same] - E[wK | other] of Kar (2013), equation 4.1.

        Returns
        -------
        ndarray of shape (n_points, k)
        """
        weighted = self.weights * self.values
        sums = weighted @ self.members
        rest = weighted.sum(axis=1, keepdims=True) - sums
        return self.sides * (sums / self.inside - rest / self.outside)

    def pair_means(self, transfer: Transfer) -> NDArray[np.float64]:
        """Return, a class, E[w(x')w(x'') f(K(x, x') - K(x, x''))] of Kar (2013), equation 4.3.

        An antisymmetric function sums to zero over the pairs inside a class. The sum over the
        pairs (inside, outside) is therefore that over (inside, all), for every class at once.

        Parameters
        ----------
        transfer : Transfer
            The function f.

        Returns
        -------
        ndarray of shape (n_points, k)
        """
        if isinstance(transfer, Identity):
            sums = self._linear_sums()
        elif isinstance(transfer, Sign):
            sums = self._clipped_sums(0.0, 0.0)
        elif isinstance(transfer, Ramp):
            sums = self._clipped_sums(transfer.slope, 1 / transfer.slope)
        else:
            sums = self._plain_sums(transfer)
        return self.sides * ((sums * self.weights) @ self.members) / (self.inside * self.outside)

    @cached_property
    def _sorted(self) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
        order = np.argsort(self.values, axis=1)
        values = np.take_along_axis(self.values, order, axis=1)
        return order, values, np.take_along_axis(self.weights, order, axis=1)

    def _linear_sums(self) -> NDArray[np.float64]:
        # Without what is common to a row more digits are kept, and equal values give zero.
        values = self.values - self.values[:, :1]
        total = self.weights.sum(axis=1, keepdims=True)
        moment = np.einsum("ij,ij->i", self.weights, values)
        return total * values - moment[:, None]

    def _clipped_sums(self, slope: float, reach: float) -> NDArray[np.float64]:
        from kernlearn.theory._pair_loops import clipped_sums

        order, values, weights = self._sorted
        in_order, sums = np.empty_like(values), np.empty_like(values)
        clipped_sums(values, weights, slope, reach, in_order)
        np.put_along_axis(sums, order, in_order, axis=1)
        return sums

    def _plain_sums(self, transfer: Transfer) -> NDArray[np.float64]:
        sums = np.empty_like(self.values)
        step = max(1, _TILE_ELEMENTS // sums.shape[1])
        for row, weights, out in zip(self.values, self.weights, sums, strict=True):
            for start in range(0, len(row), step):
                part = slice(start, start + step)
                out[part] = transfer(row[part, None] - row) @ weights
        return sums


def stratified_sample(
    codes: NDArray[np.intp], size: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Draw points so that each class keeps its share, but two points at least if it has them.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Classes 0, …, k - 1.
    size : int
        How many points; a few less by rounding, more only for two a class; everything where
        there are no more.
    rng : RandomState
        The source of randomness.

    Returns
    -------
    ndarray of int
        Ascending indices.
    """
    if len(codes) <= size:
        return np.arange(len(codes))
    drawn = []
    for code, count in enumerate(np.bincount(codes)):
        share = min(count, max(2, size * count // len(codes)))
        drawn.append(rng.choice(np.flatnonzero(codes == code), share, replace=False))
    return np.sort(np.concatenate(drawn))
