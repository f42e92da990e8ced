"""Objective (1) of voted kernel regularization, and the kernels that it combines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import safe_sparse_dot

from kernlearn.kernels import PolynomialKernel
from kernlearn.memory import require_memory, row_blocks

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Correlation of a column without a penalty that counts as 0, relative to its values; with a
# penalty, correlations are accurate up to rounding errors.
_FREE = 1e-8
_ROUNDING = 1e-14
_FEW = 0.4  # share of the rows below which a product is faster without the others


@dataclass(frozen=True)
class Solution:
    """The nonzero coefficients of a classifier.

    Attributes
    ----------
    kernels, points : ndarray of shape (n_coefficients,), int
        Kernel and point of each, sorted by kernel, then point.
    coef : ndarray of shape (n_coefficients,)
        Coefficients of K_k(·, x_j).
    objective, bound : float
        The objective, and a lower bound of its minimum.
    n_iter : int
        Rounds of column generation.
    converged : bool
        Whether the gap between objective and bound is within the tolerance.
    """

    kernels: Indices
    points: Indices
    coef: Floats
    objective: float
    bound: float
    n_iter: int
    converged: bool


@dataclass(frozen=True)
class VotedProblem:
    r"""Minimise :math:`\frac1m \sum_i s_i \max(0, 1 - y_i f(x_i)) + \sum_{k,j} Λ_k |α_{k,j}|`.

    Here :math:`f = \sum_{k,j} α_{k,j} K_k(\cdot, x_j)`. In the paper's equation (1)
    :math:`y_i y_j α_{k,j}` replaces :math:`y_i α_{k,j}`, which only changes the sign of
    coefficients of negative points. There is no intercept, and the loss is a mean over the points.

    A column is the vector of all :math:`s_i y_i K_k(x_i, x_j)`, divided by the largest
    :math:`|K_k(x_i, x_j)|`, the scale. It is numbered k · n_points + j.

    Parameters
    ----------
    grams : ndarray of shape (n_kernels, n_samples, n_points)
        Values :math:`K_k(x_i, x_j)`, of any sign, symmetric or not.
    y : ndarray of shape (n_samples,)
        1 and -1.
    penalties : ndarray of shape (n_kernels,)
        The :math:`Λ_k \ge 0`; a kernel with an infinite penalty is excluded.
    weights : ndarray of shape (n_samples,), default=None
        The weights s_i > 0 of the losses; None for ones.
    scales : ndarray of shape (n_kernels, n_points), default=None
        Largest absolute value of each column, 1 for zero columns; None computes them.
    """

    grams: Floats
    y: Floats
    penalties: Floats
    weights: Any = None
    scales: Any = None

    def __post_init__(self) -> None:
        if self.weights is None:
            object.__setattr__(self, "weights", np.ones(len(self.y)))
        if self.scales is None:
            largest = np.maximum(self.grams.max(axis=1), -self.grams.min(axis=1))
            # Zero columns are in no solution.
            object.__setattr__(self, "scales", np.where(largest > 0, largest, 1.0))

    def costs(self, columns: Indices) -> Floats:
        """Return the penalties of columns, m Λ_k relative to their scales."""
        kernels = columns // self.scales.shape[1]
        return len(self.y) * self.penalties[kernels] / self.scales.flat[columns]

    def values(self, columns: Indices) -> Floats:
        """Return columns as the rows of an array."""
        kernels, points = np.divmod(columns, self.scales.shape[1])
        scales = self.scales[kernels, points]
        return self.y * self.weights * self.grams[kernels, :, points] / scales[:, None]

    def correlations(self, dual: Floats) -> Floats:
        """Return Σ_i u_i s_i y_i K_k(x_i, x_j) of shape (n_kernels, n_points).

        The dual variables u_i lie in [0, 1]. Kernels with an infinite penalty have zeros.
        """
        signed = dual * (self.y * self.weights)
        result = np.zeros(self.scales.shape)
        used = np.flatnonzero(signed)
        few = len(used) < _FEW * len(signed)
        for kernel in np.flatnonzero(np.isfinite(self.penalties)):
            gram = self.grams[kernel]
            result[kernel] = signed[used] @ gram[used] if few else signed @ gram
        return result

    def violations(self, correlations: Floats) -> Floats:
        """Return by how much each column violates the dual problem, negative if it does not."""
        costs = len(self.y) * self.penalties[:, None]
        return ((np.abs(correlations) - costs) / self.scales).ravel()

    def bound(self, dual: Floats, correlations: Floats) -> float:
        """Return a lower bound of the objective.

        The dual problem is to maximise Σ u_i s_i / m over 0 ≤ u_i ≤ 1 with
        |Σ_i u_i s_i y_i K_k(x_i, x_j)| ≤ m Λ_k. Any u in the box becomes feasible by scaling it
        down.
        """
        allowed = np.isfinite(self.penalties)
        sizes = np.abs(correlations[allowed]) / len(self.y)
        scales, penalties = self.scales[allowed], self.penalties[allowed, None]
        # A 0 with rounding errors is not a violation.
        limits = np.where(penalties > 0, np.maximum(penalties, _ROUNDING * scales), _FREE * scales)
        return float((dual * self.weights).mean() / (sizes / limits).max(initial=1.0))

    def objective(self, kernels: Indices, points: Indices, coef: Floats) -> float:
        """Return the value of the objective for some coefficients, the others being 0."""
        margins = self.y * (coef @ self.grams[kernels, :, points])
        losses = np.maximum(0.0, 1.0 - margins) * self.weights
        return float(losses.mean() + self.penalties[kernels] @ np.abs(coef))

    def solution(
        self, columns: Indices, alpha: Floats, dual: Floats, tol: float, n_iter: int
    ) -> Solution:
        """Return the solution with the coefficients of some columns, and its dual bound.

        Negligible coefficients count as 0.
        """
        order = np.argsort(columns)
        order = order[np.abs(alpha[order]) > 1e-9]
        kernels, points = np.divmod(columns[order], self.scales.shape[1])
        coef = alpha[order] / self.scales[kernels, points]
        objective = self.objective(kernels, points, coef)
        bound = self.bound(dual, self.correlations(dual))
        converged = closed(objective, bound, tol)
        return Solution(kernels, points, coef, objective, bound, n_iter, converged)


def closed(objective: float, bound: float, tol: float) -> bool:
    """Whether the gap between the objective and a lower bound is within the tolerance."""
    return objective - bound <= max(tol * objective, 1e-10)


@dataclass(frozen=True)
class Columns:
    """A matrix of several side by side, as a kernel whose points are its columns."""

    first: int

    def __call__(self, X: Any, columns: Indices) -> Floats:
        return np.asarray(X[:, self.first + columns], dtype=np.float64)


@dataclass(frozen=True)
class KernelFamily:
    """Fitted kernels and their training points."""

    kernels: tuple[Any, ...]
    points: Any

    def grams(self, X: Any) -> Floats:
        """Return all kernel matrices, of shape (n_kernels, n_samples, n_points).

        Polynomials with the same constant are computed from each other, in order of degree.
        """
        n_kernels, n_points = len(self.kernels), self.points.shape[0]
        require_memory(
            3 * 8 * n_kernels * X.shape[0] * n_points // 2,
            purpose=f"the matrices of {n_kernels} kernels on {n_points} points",
            advice="use fewer points or kernels",
        )
        grams = np.empty((n_kernels, X.shape[0], n_points))
        lower: dict[float, tuple[Any, int, Any]] = {}
        # A subclass may compute something else.
        degrees = [k.degree if type(k) is PolynomialKernel else 0 for k in self.kernels]
        for place in np.argsort(degrees, kind="stable"):
            kernel, degree = self.kernels[place], degrees[place]
            if not degree:
                grams[place] = _finite(kernel(X, self.points), kernel)
                continue
            if kernel.coef0 not in lower:
                inner = safe_sparse_dot(X, self.points.T, dense_output=True)
                lower[kernel.coef0] = inner + float(kernel.coef0), 0, 1.0
            base, reached, power = lower[kernel.coef0]
            grams[place] = power
            for _ in range(degree - reached):
                grams[place] *= base
            lower[kernel.coef0] = base, degree, _finite(grams[place], kernel)
        return grams

    def sums(self, X: Any, coef: Sequence[Any]) -> Floats:
        """Return Σ_k K_k(X, points) @ coef[k].T, of shape (n_samples, n_outputs).

        `coef` has one sparse array of shape (n_outputs, n_points) per kernel; only kernels and
        points with a coefficient are evaluated.
        """
        used = [(k, np.unique(c.indices)) for k, c in enumerate(coef) if c.nnz]
        total = np.zeros((X.shape[0], coef[0].shape[0]))
        widest = max((len(points) for _, points in used), default=1)
        for rows in row_blocks(X.shape[0], widest):
            for k, points in used:
                values = self.kernels[k](X[rows], self.points[points])
                total[rows] += _finite(values, self.kernels[k]) @ coef[k][:, points].toarray().T
        return total


def _finite(values: NDArray[Any], kernel: Any) -> NDArray[Any]:
    if not np.isfinite(values).all():
        raise ValueError(
            f"'kernels' must give finite numbers, and {kernel!r} gave NaN or infinity"
        )
    return values
