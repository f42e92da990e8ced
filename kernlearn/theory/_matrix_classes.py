"""Classes of similarities and metrics given by a matrix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kernlearn.theory._hoeffding import check_positive
from kernlearn.theory._pair_classes import (
    PairwiseClass,
    as_draw,
    largest_norm,
    logarithmic_factor,
)

NORMS = ("2,2", "2,1", "1,1", "S(1)")


class _MatrixClass(PairwiseClass):
    """What similarities and metrics have in common: the norms of the matrix."""

    table = "6.2"
    #: How much larger the norm of psi may be than the product of those of the points.
    _scale: float

    def __init__(self, norm: str = "2,2", radius: float = 1.0) -> None:
        if norm not in NORMS:
            raise ValueError(f"'norm' must be one of {', '.join(map(repr, NORMS))}, got {norm!r}")
        check_positive(radius=radius)
        self.norm = norm
        self.radius = float(radius)

    @property
    def name(self) -> str:
        """The ball of matrices."""
        return f"B_{self.norm}({self.radius:g})"

    def _measure(self, X: Any, y: ArrayLike | None) -> None:
        self.largest = largest_norm(X, 2)
        self.largest_entry = largest_norm(X, math.inf)

    def _bound(self, n: int, as_printed: bool) -> float:
        if self.norm == "2,2":
            root = 1 / math.sqrt(n)
        else:
            scale = 2.0 if self.norm == "1,1" else 1.0
            root = logarithmic_factor(self.n_features, n, as_printed, scale)
        left = self.largest_entry if self.norm == "1,1" else self.largest
        right = self.largest if self.norm in ("2,2", "S(1)") else self.largest_entry
        return self._scale * left * right * self.radius * root


class BilinearSimilarity(_MatrixClass):
    r"""Similarity learning: :math:`h(x, x') = x^\top W x'` with a bound on a norm of W.

    Parameters
    ----------
    norm : {"2,2", "2,1", "1,1", "S(1)"}, default="2,2"
        The norm of W: the 2-norms of the columns, then their 2-norm (Frobenius) or sum; the sum
        of all absolute entries; the sum of the singular values (trace norm).
    radius : float, default=1.0
        Its bound.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Notes
    -----
    Table 6.2, with :math:`a = \|X\|_2` and :math:`b = \|X\|_\infty`: :math:`a^2 \sqrt{1/n}`,
    :math:`ab \sqrt{e \log d / n}`, :math:`b^2 \sqrt{2 e \log d / n}` and
    :math:`a^2 \sqrt{e \log d / n}`. The last three are 0 for d = 1, where W is a number and the
    first bound holds for all norms; it is returned then unless printed ones are asked for. For
    :math:`d \ge 2` all hold for drawn points. As the sum :math:`x v^\top`,
    :math:`v = \frac{1}{n} \sum_\tau \varepsilon_\tau x_\tau`, has rank one, the supremum over
    the ball of the trace norm is that over the ball of the Frobenius norm: the logarithm in the
    last bound is not needed.

    The balls hold matrices that are not positive semi-definite too; those that are have a
    complexity that is no larger.

    References
    ----------
    Kar (2013), section 6.6.3 and table 6.2.

    Examples
    --------
    >>> from kernlearn.theory.rademacher import BilinearSimilarity
    >>> X = [[3.0, 4.0], [0.0, 1.0]]
    >>> BilinearSimilarity("2,2").fit(X).bound(100)
    2.5
    >>> BilinearSimilarity("1,1").supremum([3.0, 4.0], X, [1, 1])
    10.0
    """

    problem = "similarity"
    _scale = 1.0

    def supremum(self, x: ArrayLike, points: ArrayLike, signs: ArrayLike) -> float:
        x, points, signs = as_draw(x, points, signs)
        mean = signs @ points / len(signs)
        left = np.abs(x).max() if self.norm == "1,1" else np.linalg.norm(x)
        right = np.linalg.norm(mean) if self.norm in ("2,2", "S(1)") else np.abs(mean).max()
        return self.radius * float(left * right)


class MahalanobisMetric(_MatrixClass):
    r"""Metric learning: :math:`h(x, x') = (x - x')^\top W (x - x')` with a bound on a norm of W.

    Parameters
    ----------
    norm : {"2,2", "2,1", "1,1", "S(1)"}, default="2,2"
        The norm of W, as for :class:`BilinearSimilarity`.
    radius : float, default=1.0
        Its bound.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Notes
    -----
    Four times the bounds of table 6.2 (section 6.6.3), which are 0 for d = 1 and hold otherwise,
    as for :class:`BilinearSimilarity`.

    References
    ----------
    Kar (2013), section 6.6.3 and table 6.2.

    Examples
    --------
    >>> from kernlearn.theory.rademacher import MahalanobisMetric
    >>> X = [[3.0, 4.0], [0.0, 0.0]]
    >>> MahalanobisMetric("2,2").fit(X).bound(100)
    10.0
    >>> MahalanobisMetric("1,1").supremum([0.0, 0.0], X, [1, 1])
    8.0
    """

    problem = "metric"
    _scale = 4.0

    def supremum(self, x: ArrayLike, points: ArrayLike, signs: ArrayLike) -> float:
        x, points, signs = as_draw(x, points, signs)
        differences = x - points
        # symmetric: with signs it has no root
        mean = differences.T @ (signs[:, np.newaxis] * differences) / len(signs)
        return self.radius * _dual_norm(mean, self.norm)


def _dual_norm(matrix: NDArray[np.float64], norm: str) -> float:
    """Return the dual of a norm, of a symmetric matrix."""
    if norm == "2,2":
        return float(np.linalg.norm(matrix))
    if norm == "2,1":
        return float(np.linalg.norm(matrix, axis=0).max())
    if norm == "1,1":
        return float(np.abs(matrix).max())
    return float(np.abs(np.linalg.eigvalsh(matrix)).max())
