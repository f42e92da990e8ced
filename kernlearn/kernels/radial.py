"""Kernels that fall with the distance of two points."""

from __future__ import annotations

from typing import Literal

import numpy as np

from kernlearn.kernels.bandwidth import mean_distance, mean_manhattan_distance
from kernlearn.kernels.base import MatrixLike, WidthKernel
from kernlearn.kernels.distances import map_manhattan_distances, map_squared_distances


class GaussianKernel(WidthKernel):
    r"""The Gaussian kernel :math:`\exp(-\|x - y\|^2 / (2 \sigma^2))`.

    Parameters
    ----------
    sigma : float or "mean_distance", default="mean_distance"
        The width. "mean_distance" takes the mean Euclidean distance of the pairs of points
        given to `fit`, as in the thesis, section 4.3.2.

    Attributes
    ----------
    sigma_ : float
        The width in use, set by `fit`.

    References
    ----------
    Kar (2013), section 4.3.2.

    Examples
    --------
    >>> from kernlearn.kernels import GaussianKernel
    >>> GaussianKernel(sigma=5.0)([[0.0, 0.0]], [[0.0, 0.0], [3.0, 4.0]]).round(3)
    array([[1.   , 0.607]])
    """

    def __init__(self, sigma: float | Literal["mean_distance"] = "mean_distance") -> None:
        self.sigma = sigma

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        """Evaluate the kernel on all pairs of rows of `X` and `Y` (`X` if None).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples_x, n_features)
            Left points.
        Y : {array-like, sparse matrix} of shape (n_samples_y, n_features), default=None
            Right points.

        Returns
        -------
        ndarray of shape (n_samples_x, n_samples_y)
            The Gram matrix, float32 if both are, else float64.

        Raises
        ------
        ValueError
            If `sigma` or the data are not valid.
        """
        self._validate_params()
        return map_squared_distances(X, Y, -1 / (2 * self._width() ** 2), _exponential)

    def _mean_distance(self, X: MatrixLike) -> float:
        return mean_distance(X)


class LaplacianKernel(WidthKernel):
    r"""The Laplacian kernel :math:`\exp(-\|x - y\|_1 / \sigma)`.

    Parameters
    ----------
    sigma : float or "mean_distance", default="mean_distance"
        The width. "mean_distance" takes the mean Manhattan distance of the pairs of points
        given to `fit`.

    Attributes
    ----------
    sigma_ : float
        The width in use, set by `fit`.

    Examples
    --------
    >>> from kernlearn.kernels import LaplacianKernel
    >>> LaplacianKernel().fit([[0.0, 0.0], [3.0, 4.0]]).sigma_
    7.0
    """

    def __init__(self, sigma: float | Literal["mean_distance"] = "mean_distance") -> None:
        self.sigma = sigma

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        """Evaluate the kernel on all pairs of rows of `X` and `Y` (`X` if None).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples_x, n_features)
            Left points.
        Y : {array-like, sparse matrix} of shape (n_samples_y, n_features), default=None
            Right points.

        Returns
        -------
        ndarray of shape (n_samples_x, n_samples_y)
            The Gram matrix, float32 if both are, else float64.

        Raises
        ------
        ValueError
            If `sigma` or the data are not valid.
        """
        self._validate_params()
        factor = -1 / self._width()

        def fall(tile: np.ndarray) -> None:
            tile *= factor
            np.exp(tile, out=tile)

        return map_manhattan_distances(X, Y, fall)

    def _mean_distance(self, X: MatrixLike) -> float:
        return mean_manhattan_distance(X)


def _exponential(tile: np.ndarray) -> None:
    np.exp(tile, out=tile)
