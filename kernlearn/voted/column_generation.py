"""Linear programs of voted kernel regularization: by column generation, or whole by HiGHS."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from kernlearn.voted.problem import Solution, VotedProblem, closed, dual_excess, solution_of

_ADDED = 50  # columns that a round adds
_KEPT = 200  # columns, besides those in use, with which a new problem starts
_PERTURBATION = 1e-8  # shift of the hinges, so that no two kinks coincide
_TOLERANCE = 1e-9
_MAX_STEPS = 100_000


def solve_program(problem: VotedProblem, *, tol: float = 1e-6) -> Solution:
    """Solve the linear program of section 5.1 with all its columns.

    It has 2 · n_kernels · n_points + n_samples variables and stores all their coefficients: for
    small problems, and for checking other solvers.
    """
    allowed = problem.allowed
    m, n_points = problem.n_samples, problem.n_points
    places = (allowed[:, None] * n_points + np.arange(n_points)).ravel()
    scales = problem.scales.ravel()[places]
    columns = (
        problem.y[:, None] * problem.grams[allowed].transpose(1, 0, 2).reshape(m, -1) / scales
    )
    costs = m * np.repeat(problem.penalties[allowed], n_points) / scales
    # A column that costs more than it can gain stays 0; its cost would only spoil the scaling.
    useful = costs <= np.abs(columns).sum(axis=0)
    places, scales, costs = places[useful], scales[useful], costs[useful]
    columns = columns[:, useful]
    if not len(places):
        return solution_of(problem, places, np.zeros(0), np.ones(m), tol=tol, n_iter=0)
    result = _run(columns, costs)
    alpha = result.x[: len(places)] - result.x[len(places) : 2 * len(places)]
    weights = -result.ineqlin.marginals
    return solution_of(problem, places, alpha / scales, weights, tol=tol, n_iter=result.nit)


def restricted_program(
    columns: NDArray[np.float64], costs: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Minimise Σ max(0, 1 - (A α)_i) + Σ c_j |α_j|; return α and the dual solution in [0, 1]."""
    result = _run(columns, costs)
    n = len(costs)
    return result.x[:n] - result.x[n : 2 * n], np.clip(-result.ineqlin.marginals, 0.0, 1.0)


def _run(columns: NDArray[np.float64], costs: NDArray[np.float64]) -> Any:
    from scipy.optimize import linprog

    m = len(columns)
    block = sparse.csc_array(-columns)
    # Variables: positive and negative parts of α, losses.
    constraints = sparse.hstack([block, -block, -sparse.eye_array(m)], format="csc")
    result = linprog(
        np.concatenate([costs, costs, np.ones(m)]),
        A_ub=constraints, b_ub=-np.ones(m), method="highs",
    )  # fmt: skip
    if not result.success:
        raise RuntimeError(f"HiGHS found no solution: {result.message}")
    return result


class ColumnGeneration:
    r"""Column generation for problems that differ in their penalties, each from the last vertex.

    The dual weights u of the program on some columns solve the whole program if
    |Σ_i u_i y_i K_k(x_i, x_j)| ≤ Λ_k for all k and j; otherwise columns that violate this are
    added, the program is solved again from its last vertex, and so on. A vertex remains a vertex
    when penalties change, which only determine the edges along which the objective decreases.

    Parameters
    ----------
    problem : VotedProblem
        Its penalties are not used.
    tol : float, default=1e-6
        Largest gap to the dual bound, relative to the objective.
    max_iter : int, default=1000
        Maximum number of rounds per problem.

    Attributes
    ----------
    weights : ndarray of shape (n_samples,)
        Dual weights m · u_i of the last solution.
    """

    def __init__(
        self,
        problem: VotedProblem,
        *,
        tol: float = 1e-6,
        max_iter: int = 1000,
    ) -> None:
        self._problem = problem
        self.tol = tol
        self.max_iter = max_iter
        self._reset()

    def _reset(self) -> None:
        """Go to the vertex at which all coefficients are 0."""
        m = self._problem.n_samples
        self._capacity = 4 * _ADDED
        self._places = np.empty(0, dtype=np.intp)
        self._pool = np.zeros((self._capacity, m))
        self._turned = np.zeros((m, self._capacity))
        self._alpha = np.zeros(self._capacity)
        self._size = 0
        self._columns, self._rows = np.zeros((2, m + 1), dtype=np.intp)
        self._signs = np.zeros(m + 1)
        self._inverse = np.zeros((m + 1, m + 1))
        self._slack = np.ones(m)
        self._state = np.ones(m, dtype=np.int8)
        self.weights = np.ones(m)
        # Fractional parts of multiples of the golden ratio are evenly spread.
        spread = np.arange(m, dtype=np.float64) * 0.6180339887498949 % 1
        self._thresholds: NDArray[np.float64] = 1 + _PERTURBATION * spread

    def solve(self, penalties: NDArray[np.float64]) -> Solution:
        """Solve the problem for penalties of shape (n_kernels,); warn if the gap is not closed."""
        problem = self._problem = self._problem.penalised(penalties)
        in_use = self._places[self._columns[: self._size]] // problem.n_points
        if not np.isfinite(penalties[in_use]).all():
            self._reset()
        self._forget()
        by_pivots, n_iter = True, 0
        while n_iter < self.max_iter:
            n_iter += 1
            if len(self._places):
                by_pivots = by_pivots and self._pivot()
                if not by_pivots and not self._by_program():
                    break
            weights = np.clip(self.weights, 0.0, 1.0)
            correlations = problem.correlations(weights)
            objective = self._objective()
            if closed(objective, problem.bound(weights, correlations), 0.5 * self.tol):
                break
            if not self._add(self._violated(correlations)):
                # Rounding errors keep the gap open: can HiGHS do better?
                if not by_pivots:
                    break
                by_pivots = False
        if by_pivots:
            self._settle()
        used = np.flatnonzero(self._alpha[: len(self._places)])
        places = self._places[used]
        coef = self._alpha[used] / problem.scales.ravel()[places]
        solution = solution_of(problem, places, coef, self.weights, tol=self.tol, n_iter=n_iter)
        if not solution.converged:
            gap, objective = solution.objective - solution.bound, solution.objective
            warnings.warn(
                f"column generation stopped after {n_iter} rounds at a gap of {gap:.3g} for an "
                f"objective of {objective:.6g}" + self._advice(),
                ConvergenceWarning,
                stacklevel=3,
            )
        return solution

    def _advice(self) -> str:
        """Return an explanation if rounding errors are the cause."""
        problem = self._problem
        largest = problem.scales.max(axis=1)
        small = (problem.penalties > 0) & (problem.penalties < 1e-11 * largest)
        if not small.any():
            return ""
        k = int(np.argmax(small))
        return (
            f": kernel {k} has values of up to {largest[k]:.3g}, and its penalty of "
            f"{problem.penalties[k]:.3g} is below their rounding errors; scale the data"
        )

    def _costs(self) -> NDArray[np.float64]:
        """Return the penalties of the pool's columns, whose largest values are 1."""
        problem = self._problem
        penalties = problem.penalties[self._places // problem.n_points]
        return problem.n_samples * penalties / problem.scales.ravel()[self._places]

    def _objective(self) -> float:
        n = len(self._places)
        alpha = self._alpha[:n]
        used = np.flatnonzero(alpha)
        losses = np.maximum(0.0, 1.0 - alpha[used] @ self._pool[used])
        penalty = self._costs()[used] @ np.abs(alpha[used])
        return float(losses.sum() + penalty) / self._problem.n_samples

    def _pivot(self) -> bool:
        """Solve the program on the pool's columns; False if rounding errors prevent it."""
        from kernlearn.voted import pivots  # compiled

        n = len(self._places)
        try:
            status, self._size, _ = pivots.pivot(
                self._pool, self._turned, self._costs(), n, self._thresholds, self._columns,
                self._rows, self._size, self._inverse, self._alpha, self._signs, self._slack,
                self._state, self.weights, _TOLERANCE, _MAX_STEPS,
            )  # fmt: skip
        except np.linalg.LinAlgError:  # a block has become singular
            status = pivots.STUCK
        # A stalled vertex is as good as rounding errors allow; the gap says how good.
        return status != pivots.STUCK

    def _settle(self) -> None:
        """Undo the perturbation: compute the same vertex for the unshifted hinges."""
        from kernlearn.voted import vertex  # compiled

        before = self._alpha.copy(), self._objective()
        regular = vertex.refresh(
            self._pool, np.ones_like(self._thresholds), self._columns, self._rows, self._size,
            self._inverse, self._alpha, self._signs, self._slack, self._state,
        )  # fmt: skip
        if not regular or self._objective() > before[1]:
            self._alpha[:] = before[0]

    def _by_program(self) -> bool:
        """Solve the program on the pool's columns by HiGHS; False if that is no improvement."""
        n = len(self._places)
        before = self._alpha[:n].copy(), self._objective()
        self._size = 0
        self._state[:] = 1
        try:
            self._alpha[:n], weights = restricted_program(self._pool[:n].T, self._costs())
        except RuntimeError:
            return False
        if self._objective() > before[1]:
            self._alpha[:n] = before[0]
            return False
        self.weights = weights
        return True

    def _violated(self, correlations: NDArray[np.float64]) -> NDArray[np.intp]:
        """Return the columns outside the pool that violate the dual problem most."""
        excess = dual_excess(self._problem, correlations, self._places)
        columns = np.flatnonzero(excess > 1e-12 * self._problem.n_samples)
        if len(columns) > _ADDED:
            columns = columns[np.argpartition(-excess[columns], _ADDED)[:_ADDED]]
        return columns

    def _add(self, places: NDArray[np.intp]) -> bool:
        """Add columns to the pool; False if there are none."""
        n, total = len(self._places), len(self._places) + len(places)
        if total > self._capacity:
            more = 2 * total - self._capacity
            self._pool = np.concatenate([self._pool, np.zeros((more, self._pool.shape[1]))])
            self._turned = np.hstack([self._turned, np.zeros((self._turned.shape[0], more))])
            self._alpha = np.concatenate([self._alpha, np.zeros(more)])
            self._capacity += more
        scales = self._problem.scales.ravel()
        for at, place in enumerate(places, start=n):
            self._pool[at] = self._problem.column(int(place)) / scales[place]
        self._turned[:, n:total] = self._pool[n:total].T
        self._alpha[n:total] = 0.0
        self._places = np.concatenate([self._places, places])
        return len(places) > 0

    def _forget(self) -> None:
        """Drop columns, except those of the vertex and the latest others."""
        n = len(self._places)
        used = self._columns[: self._size]
        others = np.setdiff1d(np.arange(n), used)
        if len(others) <= 2 * _KEPT:
            return
        keep = np.sort(np.concatenate([used, others[-_KEPT:]]))
        self._columns[: self._size] = np.searchsorted(keep, used)
        self._places = self._places[keep]
        for array in (self._pool, self._alpha):
            array[: len(keep)] = array[keep]
        self._turned[:, : len(keep)] = self._turned[:, keep]
