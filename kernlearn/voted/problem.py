"""Objective (1) of voted kernel regularization, and the Gram matrices that it is made of."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import safe_sparse_dot

from kernlearn.kernels import BaseDotProductKernel, HomogeneousPolynomialKernel, PolynomialKernel
from kernlearn.memory import require_memory, row_blocks
from kernlearn.model_selection import Indices

Floats = NDArray[np.float64]

# Correlation of a column without a penalty that counts as 0, relative to its values; with a
# penalty, correlations are accurate up to rounding errors.
_FREE = 1e-8
_ROUNDING = 1e-14
_FEW = 0.4  # share of the rows below which a product is faster without the others


@dataclass(frozen=True)
class VotedProblem:
    r"""Minimise :math:`\frac1m \sum_i \max(0, 1 - y_i f(x_i)) + \sum_{k,j} Λ_k |α_{k,j}|`.

    Here :math:`f = \sum_{k,j} α_{k,j} K_k(\cdot, x_j)`. In the paper's equation (1)
    :math:`y_i y_j α_{k,j}` replaces :math:`y_i α_{k,j}`, which only changes the sign of
    coefficients of negative points. There is no intercept, and the loss is a mean over the points.

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
    weights : ndarray of shape (n_samples,), default=None
        Factors s_i > 0 on the losses; None for ones. A loss s max(0, 1 - y f) is
        max(0, s - s y f): rows are multiplied by their weight, which is also their threshold.
    """

    grams: Floats
    y: Floats
    penalties: Floats
    scales: Floats = field(default=None, repr=False)  # type: ignore[arg-type]
    weights: Floats | None = None

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
    def limits(self) -> Floats:
        """The thresholds of the rows: their weights."""
        return np.ones(self.n_samples) if self.weights is None else self.weights

    @property
    def _signed(self) -> Floats:
        return self.y if self.weights is None else self.y * self.weights

    @property
    def allowed(self) -> Indices:
        """Kernels with a finite penalty."""
        return np.flatnonzero(np.isfinite(self.penalties))

    def costs(self, places: Indices) -> Floats:
        """Return m Λ_k relative to the scales of columns, at places k · n_points + j."""
        return self.n_samples * self.penalties[places // self.n_points] / self.scales.flat[places]

    def columns(self, places: Indices) -> Floats:
        """Return the y_i K_k(x_i, x_j) for all i, scaled to a largest value of 1, one per row."""
        kernels, points = np.divmod(places, self.n_points)
        scales = self.scales[kernels, points]
        return self._signed * self.grams[kernels, :, points] / scales[:, None]

    def correlations(self, weights: Floats) -> Floats:
        """Return Σ_i w_i s_i y_i K_k(x_i, x_j), (n_kernels, n_points); 0 where not allowed."""
        signed = weights * self._signed
        result = np.zeros((len(self.grams), self.n_points))
        used = np.flatnonzero(signed)
        few = len(used) < _FEW * len(signed)
        for kernel in self.allowed:
            gram = self.grams[kernel]
            result[kernel] = signed[used] @ gram[used] if few else signed @ gram
        return result

    def decision(self, solution: "Solution") -> Floats:
        """Return f at the points with a label."""
        values = np.zeros(self.n_samples)
        for k, j, coef in zip(solution.kernels, solution.points, solution.coef, strict=True):
            values += coef * self.grams[k, :, j]
        return values

    def objective(self, solution: "Solution") -> float:
        """Return the value of the objective."""
        losses = np.maximum(0.0, 1.0 - self.y * self.decision(solution))
        if self.weights is not None:
            losses *= self.weights
        penalty = self.penalties[solution.kernels] @ np.abs(solution.coef)
        return float(losses.mean() + penalty)

    def bound(self, weights: Floats, correlations: Floats) -> float:
        """Return a lower bound of the objective for dual weights m · u_i from 0 to 1.

        The dual problem is to maximise Σ u_i over 0 ≤ u_i ≤ 1/m with
        |Σ_i u_i y_i K_k(x_i, x_j)| ≤ Λ_k. Any u in the box becomes feasible by scaling it down.
        """
        allowed = self.allowed
        sizes = np.abs(correlations[allowed]) / self.n_samples
        scales, penalties = self.scales[allowed], self.penalties[allowed, None]
        # A 0 with rounding errors is not a violation.
        limits = np.where(penalties > 0, np.maximum(penalties, _ROUNDING * scales), _FREE * scales)
        total = weights if self.weights is None else weights * self.weights
        return float(total.mean() / (sizes / limits).max(initial=1.0))

    def violations(self, correlations: Floats, active: Indices) -> Floats:
        """Return the violation of the dual problem by each scaled column.

        It is -inf for the active columns and those with an infinite penalty.
        """
        excess = (np.abs(correlations) - self.n_samples * self.penalties[:, None]) / self.scales
        excess.flat[active] = -np.inf
        return excess.ravel()


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

    kernels: Indices
    points: Indices
    coef: Floats
    objective: float = np.nan
    bound: float = -np.inf
    n_iter: int = 0
    converged: bool = True


def solution_of(
    problem: VotedProblem, places: Indices, alpha: Floats, weights: Floats, tol: float, n_iter: int
) -> Solution:
    """Return the solution with coefficients of scaled columns, and its dual bound.

    Negligible coefficients count as 0. The weights are the m · u_i of the dual problem.
    """
    order = np.argsort(places)
    order = order[np.abs(alpha[order]) > 1e-9]
    kernels, points = np.divmod(places[order], problem.n_points)
    solution = Solution(kernels, points, alpha[order] / problem.scales[kernels, points])
    weights = np.clip(weights, 0.0, 1.0)
    objective = problem.objective(solution)
    bound = problem.bound(weights, problem.correlations(weights))
    return replace(
        solution,
        objective=objective,
        bound=bound,
        n_iter=n_iter,
        converged=closed(objective, bound, tol),
    )


def closed(objective: float, bound: float, tol: float) -> bool:
    """Whether the gap between the objective and a lower bound is within the tolerance."""
    return objective - bound <= max(tol * objective, 1e-10)


@dataclass(frozen=True)
class KernelFamily:
    """Fitted kernels and their training points.

    Attributes
    ----------
    kernels : tuple of Kernel, or None
        None if X consists of the precomputed matrices of all kernels side by side.
    points : ndarray or sparse matrix of shape (n_points, ...), or None
        The training points; None for precomputed matrices.
    n_points, n_kernels : int
    columns : ndarray of shape (n_points,), or None
        The columns of the points in a precomputed matrix.
    n_total : int
        Number of columns of a precomputed matrix.
    """

    kernels: tuple[Any, ...] | None
    points: Any
    n_points: int
    n_kernels: int
    columns: Any = None
    n_total: int = 0

    def grams(self, X: Any) -> Floats:
        """Return all kernel matrices, of shape (n_kernels, n_samples, n_points)."""
        n = X.shape[0]
        require_memory(
            3 * 8 * self.n_kernels * n * self.n_points // 2,
            None,
            purpose=f"the matrices of {self.n_kernels} kernels between {n} and {self.n_points} "
            "points",
            advice="use fewer points or kernels",
        )
        if self.kernels is None:
            split = X.reshape(n, self.n_kernels, self.n_total).transpose(1, 0, 2)
            return np.ascontiguousarray(split[:, :, self.columns])
        grams = np.empty((self.n_kernels, n, self.n_points))
        self._fill_polynomials(grams, X)
        for k, kernel in enumerate(self.kernels):
            if not _is_polynomial(kernel):
                grams[k] = kernel(X, self.points)
            self._check(grams[k], k)
        return grams

    def _fill_polynomials(self, grams: Floats, X: Any) -> None:
        """Compute the polynomials of the same shift from each other, in order of degree."""
        kernels = self.kernels or ()
        polynomials = [k for k, kernel in enumerate(kernels) if _is_polynomial(kernel)]
        polynomials.sort(key=lambda k: kernels[k].degree)
        for shift in {_shift(kernels[k]) for k in polynomials}:
            base = _inner(X, self.points) + shift
            reached, power = 0, np.float64(1.0)
            for k in polynomials:
                if _shift(kernels[k]) == shift:
                    grams[k] = power
                    for _ in range(kernels[k].degree - reached):
                        grams[k] *= base
                    reached, power = kernels[k].degree, grams[k]

    def sums(self, X: Any, coef: Sequence[Any]) -> Floats:
        """Return Σ_k K_k(X, points) @ coef[k].T, of shape (n_samples, n_outputs).

        `coef` has one sparse array of shape (n_outputs, n_points) per kernel; only kernels and
        points with a coefficient are evaluated, and inner products once.
        """
        used = [(k, np.unique(c.indices), c) for k, c in enumerate(coef) if c.nnz]
        total = np.zeros((X.shape[0], coef[0].shape[0]))
        if not used:
            return total
        kernels: Any = self.kernels or [None] * self.n_kernels
        shared = [points for k, points, _ in used if isinstance(kernels[k], BaseDotProductKernel)]
        everything: Any = np.unique(np.concatenate(shared)) if shared else []
        for rows in row_blocks(X.shape[0], max(len(points) for _, points, _ in used)):
            block = X[rows]
            inner: Any = shared and _inner(block, self.points[everything])
            for k, points, c in used:
                if kernels[k] is None:
                    values = block[:, k * self.n_total + self.columns[points]]
                elif isinstance(kernels[k], BaseDotProductKernel):
                    values = kernels[k].function(inner[:, np.searchsorted(everything, points)])
                else:
                    values = kernels[k](block, self.points[points])
                self._check(values, k)
                total[rows] += values @ c[:, points].toarray().T
        return total

    def _check(self, values: NDArray[Any], k: int) -> None:
        if not np.isfinite(values).all():
            name = f"matrix {k}" if self.kernels is None else repr(self.kernels[k])
            raise ValueError(
                f"'kernels' must give finite numbers, and {name} gave NaN or infinity"
            )


def _inner(X: Any, Y: Any) -> Floats:
    return np.asarray(safe_sparse_dot(X, Y.T, dense_output=True), dtype=np.float64)


def _is_polynomial(kernel: Any) -> bool:
    # A subclass may compute something else.
    return type(kernel) in (PolynomialKernel, HomogeneousPolynomialKernel)


def _shift(kernel: Any) -> float:
    return float(kernel.coef0) if isinstance(kernel, PolynomialKernel) else 0.0
