"""Kernels and similarities of the distance: Gaussian, Laplacian, Manhattan and Euclidean."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from kernlearn.kernels.base import Kernel, MatrixLike, WidthKernel
from kernlearn.kernels.distances import (
    map_manhattan_distances,
    map_squared_distances,
    mean_distance,
    mean_manhattan_distance,
    negate,
)


class GaussianKernel(WidthKernel):
    r"""The Gaussian kernel :math:`\exp(-\|x - y\|^2 / (2 \sigma^2))`.

    Parameters
    ----------
    sigma : float or "mean_distance", default="mean_distance"
        The width. "mean_distance" is the mean Euclidean distance between the points passed to
        `fit`, as in the thesis, section 4.3.2.

    Attributes
    ----------
    sigma_ : float
        The width used, set by `fit`.

    References
    ----------
    Kar (2013), section 4.3.2.

    Examples
    --------
    >>> from kernlearn.kernels import GaussianKernel
    >>> GaussianKernel(sigma=5.0)([[0.0, 0.0]], [[0.0, 0.0], [3.0, 4.0]]).round(3)
    array([[1.   , 0.607]])
    """

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        self._validate_params()
        return map_squared_distances(X, Y, -1 / (2 * self._width() ** 2), _exponential)

    def _mean_distance(self, X: MatrixLike) -> float:
        return mean_distance(X)


class LaplacianKernel(WidthKernel):
    r"""The Laplacian kernel :math:`\exp(-\|x - y\|_1 / \sigma)`.

    Parameters
    ----------
    sigma : float or "mean_distance", default="mean_distance"
        The width. "mean_distance" is the mean Manhattan distance between the points passed to
        `fit`.

    Attributes
    ----------
    sigma_ : float
        The width used, set by `fit`.

    Examples
    --------
    >>> from kernlearn.kernels import LaplacianKernel
    >>> LaplacianKernel().fit([[0.0, 0.0], [3.0, 4.0]]).sigma_
    7.0
    """

    columnwise = True

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        self._validate_params()
        return map_manhattan_distances(X, Y, partial(_exponential, factor=-1 / self._width()))

    def _mean_distance(self, X: MatrixLike) -> float:
        return mean_manhattan_distance(X)


class ManhattanSimilarity(Kernel):
    r"""The negated Manhattan distance :math:`-\|x - y\|_1`.

    References
    ----------
    Kar (2013), section 5.4.

    Examples
    --------
    >>> from kernlearn.kernels import ManhattanSimilarity
    >>> ManhattanSimilarity()([[0.0, 0.0]], [[3.0, 4.0]])
    array([[-7.]])
    """

    columnwise = True

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        return map_manhattan_distances(X, Y, negate)


class EuclideanSimilarity(Kernel):
    r"""The negated Euclidean distance, squared or not.

    Parameters
    ----------
    squared : bool, default=True
        If True, the similarity is :math:`-\|x - y\|^2`, otherwise :math:`-\|x - y\|`.

    Examples
    --------
    >>> from kernlearn.kernels import EuclideanSimilarity
    >>> EuclideanSimilarity()([[0.0, 0.0], [3.0, 4.0]])
    array([[  0., -25.],
           [-25.,   0.]])
    """

    _parameter_constraints: dict[str, list[Any]] = {"squared": ["boolean"]}

    def __init__(self, squared: bool = True) -> None:
        self.squared = squared

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        self._validate_params()
        return map_squared_distances(X, Y, -1.0, None if self.squared else _negated_root)


def _exponential(tile: np.ndarray, factor: float = 1.0) -> None:
    if factor != 1.0:
        tile *= factor
    np.exp(tile, out=tile)


def _negated_root(tile: np.ndarray) -> None:
    """Map -t² to -t in place."""
    negate(tile)
    np.sqrt(tile, out=tile)
    negate(tile)
