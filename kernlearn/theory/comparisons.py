"""Comparison of points with all others of a sample: means of differences of similarities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from kernlearn.landmarks.base import SimilarityEstimator
from kernlearn.landmarks.similarity import Landmarks
from kernlearn.landmarks.transfer import Identity, Ramp, Sign, Transfer
from kernlearn.memory import row_blocks

# Differences that a transfer function is applied to at once: 1 MB of float64.
_TILE_ELEMENTS = 2**17
# Similarities in memory at once, with about ten times as much for temporaries.
_BLOCK_BYTES = 2**23


class Sample(SimilarityEstimator):
    """Reader of a sample with a similarity: validates both, and fits the similarity."""

    def __init__(self, similarity: Any, kind: str) -> None:
        self.similarity = similarity
        self.kind = kind

    def read(self, X: Any, y: Any) -> tuple[Any, NDArray[Any], Landmarks]:
        """Return the validated points and targets, and all points as landmarks."""
        self._validate_params()
        X, y = self._check_training(X, y)
        return X, y, self._all_points(X, y)

    def gram(self, X: Any, y: Any) -> NDArray[np.float64]:
        """Return the similarities of all points to all."""
        X, _, landmarks = self.read(X, y)
        return landmarks.compare(X).astype(np.float64)

    def read_classes(self, X: Any, y: Any) -> ClassSample:
        """Return a sample of at least two classes, each with at least two points."""
        X, y, landmarks = self.read(X, y)
        check_classification_targets(y)
        classes, codes = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"'y' must have at least two classes, got {len(classes)}")
        for label, count in zip(classes, np.bincount(codes), strict=True):
            if count < 2:
                raise ValueError(
                    f"'y' has one point of class {label!s}; each class needs at least two, since "
                    "a point is compared with others of its class"
                )
        return ClassSample(X, codes, classes, landmarks)


@dataclass(frozen=True, eq=False)
class ClassSample:
    """Points with classes, and the similarity between them.

    Attributes
    ----------
    points : {ndarray, sparse matrix} of shape (n_samples, n_features)
    codes : ndarray of shape (n_samples,)
        The class of each point, an index into `classes`.
    classes : ndarray of shape (n_classes,)
    landmarks : Landmarks
        All points as landmarks.
    """

    points: Any
    codes: NDArray[np.intp]
    classes: NDArray[Any]
    landmarks: Landmarks

    def gram(self) -> NDArray[np.floating]:
        """Return the similarities of all points to all."""
        return self.landmarks.compare(self.points)

    def blocks(self) -> Iterator[tuple[NDArray[np.intp], NDArray[np.floating]]]:
        """Yield rows of the sample and their similarities to all points."""
        n = len(self.codes)
        for rows in row_blocks(n, n, block_bytes=_BLOCK_BYTES):
            yield np.arange(rows.start, rows.stop), self.landmarks.compare(self.points[rows])


def stratified_sample(
    codes: NDArray[np.intp], size: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Draw about `size` points, with the share of each class kept; return ascending indices.

    Each class keeps at least two points if it has them, so that there may be more than `size`.
    """
    if len(codes) <= size:
        return np.arange(len(codes))
    drawn = []
    for code, count in enumerate(np.bincount(codes)):
        share = min(count, max(2, size * count // len(codes)))
        drawn.append(rng.choice(np.flatnonzero(codes == code), share, replace=False))
    return np.sort(np.concatenate(drawn))


@dataclass(frozen=True)
class References:
    """The points that others are compared with.

    Attributes
    ----------
    indices : ndarray of shape (n_references,)
        Their rows in the sample.
    codes : ndarray of shape (n_references,)
        Their classes, 0, …, k - 1, each at least twice.
    weights : ndarray of shape (n_references,)
    """

    indices: NDArray[np.intp]
    codes: NDArray[np.intp]
    weights: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.indices)

    @cached_property
    def members(self) -> NDArray[np.float64]:
        """The class of each point, one-hot encoded: (n_references, k)."""
        return np.eye(self.codes.max() + 1)[self.codes]


class Comparisons:
    """Some points, each compared with all references except itself.

    Parameters
    ----------
    values : ndarray of shape (n_points, n_references)
        Similarities.
    rows : ndarray of shape (n_points,)
        The points' rows in the sample.
    codes : ndarray of shape (n_points,)
        Their classes.
    references : References
        The points that they are compared with.
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
        is_own = codes[:, None] == np.arange(self.members.shape[1])
        self.sides = np.where(is_own, 1.0, -1.0)
        present = own.any(axis=1, keepdims=True)
        # numbers of other points inside and outside each class
        self.inside = self.members.sum(axis=0) - (is_own & present)
        self.outside = len(references) - present - self.inside

    def mean_differences(self) -> NDArray[np.float64]:
        """Return E[wK | same] - E[wK | other], equation 4.1, per point and class."""
        weighted = self.weights * self.values
        sums = weighted @ self.members
        rest = weighted.sum(axis=1, keepdims=True) - sums
        return self.sides * (sums / self.inside - rest / self.outside)

    def pair_means(self, transfer: Transfer) -> NDArray[np.float64]:
        """Return E[w(x')w(x'') f(K(x, x') - K(x, x''))], equation 4.3, per point and class.

        An antisymmetric function sums to zero over the pairs inside a class. The sum over the
        pairs (inside, outside) is therefore that over (inside, all), for every class at once.
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
        # without what is common to a row more digits are kept, and equal values give zero
        values = self.values - self.values[:, :1]
        total = self.weights.sum(axis=1, keepdims=True)
        moment = np.einsum("ij,ij->i", self.weights, values)
        return total * values - moment[:, None]

    def _clipped_sums(self, slope: float, reach: float) -> NDArray[np.float64]:
        order, values, weights = self._sorted
        in_order, sums = np.empty_like(values), np.empty_like(values)
        _compiled_clipped_sums()(values, weights, slope, reach, in_order)
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


@lru_cache(maxsize=1)
def _compiled_clipped_sums() -> Any:
    from numba import njit

    return njit(cache=True, nogil=True)(_sum_clipped)


def _sum_clipped(
    values: NDArray[np.float64],
    weights: NDArray[np.float64],
    slope: float,
    reach: float,
    sums: NDArray[np.float64],
) -> None:
    """Set `sums` to the weighted sums of clipped differences of each number and all of its row.

    The rows of `values` ascend. A difference t within the reach counts slope * t, one beyond it
    its sign: slope s and reach 1/s are a ramp, 0 and 0 the sign.
    """
    n_rows, n = values.shape
    for r in range(n_rows):
        total = 0.0
        for j in range(n):
            total += weights[r, j]
        low = high = 0
        # moments about the smallest number keep more digits, and those of equal numbers are 0
        least = values[r, 0]
        # weight, and weight times value, of all numbers below the window, and up to its end
        weight_low = weight_high = moment_low = moment_high = 0.0
        for i in range(n):
            value = values[r, i]
            while values[r, low] < value - reach:
                weight_low += weights[r, low]
                moment_low += weights[r, low] * (values[r, low] - least)
                low += 1
            while high < n and values[r, high] <= value + reach:
                weight_high += weights[r, high]
                moment_high += weights[r, high] * (values[r, high] - least)
                high += 1
            inside = (value - least) * (weight_high - weight_low)
            inside -= moment_high - moment_low
            sums[r, i] = weight_low - (total - weight_high) + slope * inside
