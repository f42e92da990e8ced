"""Objective (1) of voted kernel regularization on a stack of Gram matrices."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

# Correlation of a column without a penalty that counts as 0, relative to its values; with a
# penalty, correlations are accurate up to rounding errors.
_FREE = 1e-8
_ROUNDING = 1e-14
_FEW = 0.4  # share of the rows below which a product is faster without the others


@dataclass(frozen=True)
class VotedProblem:
    r"""Minimise :math:`\frac1m \sum_i \max(0, 1 - y_i f(x_i)) + \sum_{k,j} Λ_k |α_{k,j}|`.

    Here :math:`f = \sum_{k,j} α_{k,j} K_k(\cdot, x_j)`. The paper's objective has :math:`y_i y_j
    α_{k,j}` instead of :math:`y_i α_{k,j}`, which only changes the sign of coefficients of
    negative points. There is no intercept, and the loss is a mean over the points.

    Parameters
    ----------
    grams : ndarray of shape (n_kernels, n_samples, n_points)
        Values :math:`K_k(x_i, x_j)`, of any sign, symmetric or not.
    y : ndarray of shape (n_samples,)
        1 and -1.
    penalties : ndarray of shape (n_kernels,)
        The :math:`Λ_k \ge 0`; a kernel with an infinite penalty is excluded.
    scales : ndarray of shape (n_kernels, n_points), default=None
        Largest absolute value of each column, 1 for zero columns; None computes them.

    References
    ----------
    Cortes, Goyal, Kuznetsov & Mohri (2015), equation (1).
    """

    grams: NDArray[np.float64]
    y: NDArray[np.float64]
    penalties: NDArray[np.float64]
    scales: NDArray[np.float64] = field(default=None, repr=False)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        if self.scales is None:
            largest = np.maximum(self.grams.max(axis=1), -self.grams.min(axis=1))
            # Zero columns are in no solution.
            object.__setattr__(self, "scales", np.where(largest > 0, largest, 1.0))

    @property
    def n_samples(self) -> int:
        """Number of points with a label."""
        return self.grams.shape[1]

    @property
    def n_points(self) -> int:
        """Number of points x_j that kernels are evaluated with."""
        return self.grams.shape[2]

    @property
    def allowed(self) -> NDArray[np.intp]:
        """Kernels with a finite penalty."""
        return np.flatnonzero(np.isfinite(self.penalties))

    def penalised(self, penalties: NDArray[np.float64]) -> VotedProblem:
        """Return the problem with other penalties."""
        return replace(self, penalties=penalties)

    def labelled(self, y: NDArray[np.float64]) -> VotedProblem:
        """Return the problem with other labels."""
        return replace(self, y=y)

    def column(self, place: int) -> NDArray[np.float64]:
        """Return y_i K_k(x_i, x_j) for all i; ``place`` is k · n_points + j."""
        kernel, point = divmod(place, self.n_points)
        return self.y * self.grams[kernel, :, point]

    def correlations(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Σ_i w_i y_i K_k(x_i, x_j), shape (n_kernels, n_points); 0 where not allowed."""
        signed = weights * self.y
        result = np.zeros((len(self.grams), self.n_points))
        used = np.flatnonzero(signed)
        few = len(used) < _FEW * len(signed)
        for kernel in self.allowed:
            gram = self.grams[kernel]
            result[kernel] = signed[used] @ gram[used] if few else signed @ gram
        return result

    def decision(self, solution: Solution) -> NDArray[np.float64]:
        """Return f at the points with a label."""
        values = np.zeros(self.n_samples)
        for k, j, coef in zip(solution.kernels, solution.points, solution.coef, strict=True):
            values += coef * self.grams[k, :, j]
        return values

    def objective(self, solution: Solution) -> float:
        """Return the value of the objective."""
        losses = np.maximum(0.0, 1.0 - self.y * self.decision(solution))
        penalty = self.penalties[solution.kernels] @ np.abs(solution.coef)
        return float(losses.mean() + penalty)

    def bound(
        self, weights: NDArray[np.float64], correlations: NDArray[np.float64] | None = None
    ) -> float:
        """Return a lower bound of the objective for dual weights m · u_i.

        The dual problem is to maximise Σ u_i over 0 ≤ u_i ≤ 1/m with
        |Σ_i u_i y_i K_k(x_i, x_j)| ≤ Λ_k. Any u in the box becomes feasible by scaling it down.
        `correlations` are those for the weights, if already computed.
        """
        weights = np.clip(weights, 0.0, 1.0)
        if correlations is None:
            correlations = self.correlations(weights)
        return float(weights.mean() / max(1.0, self.excess(correlations)))

    def excess(self, correlations: NDArray[np.float64]) -> float:
        """Return the largest ratio of a correlation to its penalty; at most 1 at a solution."""
        allowed = self.allowed
        if not len(allowed):
            return 0.0
        sizes = np.abs(correlations[allowed]) / self.n_samples
        scales = self.scales[allowed]
        penalties = self.penalties[allowed, None]
        # A 0 with rounding errors is not a violation.
        limits = np.where(penalties > 0, np.maximum(penalties, _ROUNDING * scales), _FREE * scales)
        ratios = sizes / limits
        return float(ratios.max())


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
        Rounds of column generation, sweeps of coordinate descent, or iterations of HiGHS.
    converged : bool
        Whether the gap between objective and bound is within the tolerance.
    """

    kernels: NDArray[np.intp]
    points: NDArray[np.intp]
    coef: NDArray[np.float64]
    objective: float = np.nan
    bound: float = -np.inf
    n_iter: int = 0
    converged: bool = True


def dual_excess(
    problem: VotedProblem, correlations: NDArray[np.float64], active: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the violation of the dual problem by each column, scaled to a largest value of 1.

    It is -inf for the active columns and those with an infinite penalty.
    """
    m = problem.n_samples
    excess = (np.abs(correlations) - m * problem.penalties[:, None]) / problem.scales
    excess = excess.ravel()
    excess[active] = -np.inf
    return excess


def solution_of(
    problem: VotedProblem,
    places: NDArray[np.intp],
    coef: NDArray[np.float64],
    weights: NDArray[np.float64],
    *,
    tol: float,
    n_iter: int,
) -> Solution:
    """Return the solution with coefficients at places k · n_points + j, and its dual bound.

    Coefficients that are negligible relative to the values of their column count as 0. The
    weights are the m · u_i of the dual problem.
    """
    kernels, points = np.divmod(places, problem.n_points)
    order = np.argsort(places)
    order = order[np.abs(coef * problem.scales[kernels, points])[order] > 1e-9]
    solution = Solution(kernels[order], points[order], coef[order])
    objective, bound = problem.objective(solution), problem.bound(weights)
    return replace(
        solution, objective=objective, bound=bound, n_iter=n_iter,
        converged=closed(objective, bound, tol),
    )  # fmt: skip


def closed(objective: float, bound: float, tol: float) -> bool:
    """Whether the gap between the objective and a lower bound is within the tolerance."""
    return objective - bound <= max(tol * objective, 1e-10)
