"""Objective (1) of voted kernel regularization on a stack of Gram matrices."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

# A column without a penalty fits where its correlation is this small, relative to its values;
# with one, correlations are known to rounding errors.
_FREE = 1e-8
_ROUNDING = 1e-14
# Share of the rows below which the others are worth leaving out of a product.
_FEW = 0.4


@dataclass(frozen=True)
class VotedProblem:
    r"""Minimise :math:`\frac1m \sum_i \max(0, 1 - y_i f(x_i)) + \sum_{k,j} Λ_k |α_{k,j}|`.

    Here :math:`f = \sum_{k,j} α_{k,j} K_k(\cdot, x_j)`. The paper's objective has :math:`y_i y_j
    α_{k,j}` in place of :math:`y_i α_{k,j}`; that only changes the sign of coefficients of
    negative points. There is no intercept, and the loss is a mean over the points.

    Parameters
    ----------
    grams : ndarray of shape (n_kernels, n_samples, n_points)
        Values :math:`K_k(x_i, x_j)`, of any sign, symmetric or not.
    y : ndarray of shape (n_samples,)
        1 and -1.
    penalties : ndarray of shape (n_kernels,)
        The :math:`Λ_k \ge 0`; a kernel with an infinite one is left out.
    scales : ndarray of shape (n_kernels, n_points), default=None
        Largest absolute value of each column, 1 for one of zeros; None computes them.

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
            # a column of zeros is like any other, and stays out of every solution
            object.__setattr__(self, "scales", np.where(largest > 0, largest, 1.0))

    @property
    def n_samples(self) -> int:
        """Number of points with a label."""
        return self.grams.shape[1]

    @property
    def n_points(self) -> int:
        """Number of points that kernels compare with."""
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
        """Return y_i K_k(x_i, x_j) of all i; ``place`` is k · n_points + j."""
        kernel, point = divmod(place, self.n_points)
        return self.y * self.grams[kernel, :, point]

    def correlations(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return Σ_i w_i y_i K_k(x_i, x_j), shape (n_kernels, n_points); 0 where not allowed."""
        signed = weights * self.y
        found = np.zeros((len(self.grams), self.n_points))
        used = np.flatnonzero(signed)
        few = len(used) < _FEW * len(signed)
        for kernel in self.allowed:
            gram = self.grams[kernel]
            found[kernel] = signed[used] @ gram[used] if few else signed @ gram
        return found

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
        """Return a value that the objective is nowhere below.

        The dual problem is to maximise Σ u_i over 0 ≤ u_i ≤ 1/m with
        |Σ_i u_i y_i K_k(x_i, x_j)| ≤ Λ_k. Any u in the box becomes feasible when it shrinks.

        Parameters
        ----------
        weights : ndarray of shape (n_samples,)
            The m · u_i, brought into [0, 1] if they are not.
        correlations : ndarray of shape (n_kernels, n_points), default=None
            What `correlations` gives for them, if it is known.
        """
        weights = np.clip(weights, 0.0, 1.0)
        if correlations is None:
            correlations = self.correlations(weights)
        return float(weights.mean() / max(1.0, self.excess(correlations)))

    def excess(self, correlations: NDArray[np.float64]) -> float:
        """Return the largest ratio of a correlation to its penalty; 1 at most at a solution."""
        allowed = self.allowed
        if not len(allowed):
            return 0.0
        sizes = np.abs(correlations[allowed]) / self.n_samples
        scales = self.scales[allowed]
        penalties = self.penalties[allowed, None]
        # what rounding makes of a 0 must not count as a violation
        limits = np.where(penalties > 0, np.maximum(penalties, _ROUNDING * scales), _FREE * scales)
        ratios = sizes / limits
        return float(ratios.max())


@dataclass(frozen=True)
class Solution:
    """The coefficients that are not 0.

    Attributes
    ----------
    kernels, points : ndarray of shape (n_coefficients,), int
        What each belongs to, ordered by kernel, then point.
    coef : ndarray of shape (n_coefficients,)
        Coefficients of K_k(·, x_j).
    objective : float
        The value reached.
    bound : float
        The least value is not below this.
    n_iter : int
        Rounds of column generation, sweeps of coordinate descent, iterations of HiGHS.
    converged : bool
        Whether the gap between the two is within the tolerance.
    """

    kernels: NDArray[np.intp]
    points: NDArray[np.intp]
    coef: NDArray[np.float64]
    objective: float = np.nan
    bound: float = -np.inf
    n_iter: int = 0
    converged: bool = True

    @property
    def support(self) -> NDArray[np.intp]:
        """Points with a coefficient for some kernel."""
        return np.unique(self.points)


def solution_of(
    problem: VotedProblem,
    places: NDArray[np.intp],
    coef: NDArray[np.float64],
    weights: NDArray[np.float64],
    *,
    tol: float,
    n_iter: int,
) -> Solution:
    """Make a solution of coefficients and dual weights, and find how good it is.

    Parameters
    ----------
    problem : VotedProblem
    places : ndarray of shape (n_coefficients,)
        The k · n_points + j of each coefficient.
    coef : ndarray of shape (n_coefficients,)
        What is nothing beside the largest of a column's values counts as 0.
    weights : ndarray of shape (n_samples,)
        Dual weights m · u_i.
    tol : float
        Largest relative gap of a solution that has converged.
    n_iter : int
    """
    kernels, points = np.divmod(places, problem.n_points)
    order = np.argsort(places)
    order = order[np.abs(coef * problem.scales[kernels, points])[order] > 1e-9]
    found = Solution(kernels[order], points[order], coef[order])
    objective, bound = problem.objective(found), problem.bound(weights)
    return replace(
        found, objective=objective, bound=bound, n_iter=n_iter,
        converged=closed(objective, bound, tol),
    )  # fmt: skip


def closed(objective: float, bound: float, tol: float) -> bool:
    """Tell whether the gap between the objective and a lower bound is within the tolerance."""
    return objective - bound <= max(tol * objective, 1e-10)


def kkt_residuals(problem: VotedProblem, solution: Solution, weights: NDArray[np.float64]) -> dict:
    """Return by how much the conditions of optimality are violated.

    Parameters
    ----------
    problem : VotedProblem
    solution : Solution
    weights : ndarray of shape (n_samples,)
        Dual weights m · u_i.

    Returns
    -------
    dict of str to float
        ``"box"``: weights outside [0, 1]. ``"loss"``: Σ of weights that are not 1 times loss, and
        not 0 times room, over m. ``"column"``: the largest correlation above its penalty.
        ``"coefficient"``: Σ of |α| times what its correlation is away from ±Λ.
    """
    m = problem.n_samples
    slack = 1 - problem.y * problem.decision(solution)
    correlations = problem.correlations(weights) / m
    penalties = problem.penalties
    at = correlations[solution.kernels, solution.points]
    away = np.abs(at - penalties[solution.kernels] * np.sign(solution.coef))
    allowed = problem.allowed
    above = np.abs(correlations[allowed]) - penalties[allowed, None]
    return {
        "box": float(np.maximum(-weights, weights - 1).max(initial=0.0)),
        "loss": float(np.where(slack > 0, (1 - weights) * slack, -weights * slack).mean()),
        "column": float(above.max(initial=0.0)),
        "coefficient": float(np.abs(solution.coef) @ away),
    }
