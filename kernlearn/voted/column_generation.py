"""Linear programs of voted kernel regularization: by column generation, or whole by HiGHS."""

import warnings
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from kernlearn.voted import pivots
from kernlearn.voted.problem import Floats, Indices, Solution, VotedProblem, closed, solution_of
from kernlearn.voted.vertex import BELOW, Vertex, refresh

_ADDED = 50  # columns that a round adds
_KEPT = 200  # columns, besides those in use, with which a new problem starts
_PERTURBATION = 1e-8  # shift of the hinges, so that no two kinks coincide
_NEAR_ROUNDING = 1e-8  # share of the values: some problems with smaller penalties do not converge


def solve_program(problem: VotedProblem, *, tol: float = 1e-6) -> Solution:
    """Solve the linear program of section 5.1 with all its columns.

    It has 2 · n_kernels · n_points + n_samples variables and stores all their coefficients: for
    small problems, and for checking other solvers.
    """
    n_points = problem.n_points
    places = (problem.allowed[:, None] * n_points + np.arange(n_points)).ravel()
    columns, costs = problem.columns(places), problem.costs(places)
    # A column that costs more than it can gain stays 0; its cost would only spoil the scaling.
    useful = costs <= np.abs(columns).sum(axis=1)
    alpha, weights, n_iter = np.zeros(0), np.ones(problem.n_samples), 0
    if useful.any():
        alpha, weights, n_iter = restricted_program(columns[useful], costs[useful], problem.limits)
    return solution_of(problem, places[useful], alpha, weights, tol, n_iter)


def restricted_program(
    columns: Floats, costs: Floats, limits: Floats
) -> tuple[Floats, Floats, int]:
    """Minimise Σ max(0, t_i - (A α)_i) + Σ c_j |α_j| for the columns of A and thresholds t.

    Return α, the dual solution in [0, 1], and the number of iterations.
    """
    from scipy.optimize import linprog

    n, m = columns.shape
    block = sparse.csc_array(-columns.T)
    # Variables: positive and negative parts of α, losses.
    constraints = sparse.hstack([block, -block, -sparse.eye_array(m)], format="csc")
    result = linprog(
        np.concatenate([costs, costs, np.ones(m)]),
        A_ub=constraints,
        b_ub=-limits,
        method="highs",
    )
    if not result.success:
        raise RuntimeError(f"HiGHS found no solution: {result.message}")
    weights = np.clip(-result.ineqlin.marginals, 0.0, 1.0)
    return result.x[:n] - result.x[n : 2 * n], weights, result.nit


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
    progress : callable, default=None
        Called in each round with its number, the number of columns, the objective and its bound.

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
        progress: Callable[[int, int, float, float], None] | None = None,
    ) -> None:
        self._problem = problem
        self._progress = progress
        self.tol = tol
        self.max_iter = max_iter
        self._reset()

    def _reset(self) -> None:
        """Go to the vertex at which all coefficients are 0."""
        m, capacity = self._problem.n_samples, 4 * _ADDED
        self._places = np.empty(0, dtype=np.intp)
        self._size = 0
        self.weights = np.ones(m)
        # Fractional parts of multiples of the golden ratio are evenly spread.
        spread = np.arange(m, dtype=np.float64) * 0.6180339887498949 % 1
        self._vertex = Vertex(
            pool=np.zeros((capacity, m)),
            turned=np.zeros((m, capacity)),
            thresholds=self._problem.limits * (1 + _PERTURBATION * spread),
            columns=np.zeros(m + 1, dtype=np.intp),
            rows=np.zeros(m + 1, dtype=np.intp),
            inverse=np.zeros((m + 1, m + 1)),
            alpha=np.zeros(capacity),
            signs=np.zeros(m + 1),
            slack=self._problem.limits.copy(),
            state=np.full(m, BELOW, dtype=np.int8),
            multipliers=self.weights,
        )

    def solve(self, penalties: Floats) -> Solution:
        """Solve the problem for penalties of shape (n_kernels,); warn if the gap is not closed."""
        problem = self._problem = replace(self._problem, penalties=penalties)
        in_use = self._places[self._vertex.columns[: self._size]] // problem.n_points
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
            bound = problem.bound(weights, correlations)
            if self._progress is not None:
                self._progress(n_iter, len(self._places), objective, bound)
            if closed(objective, bound, 0.5 * self.tol):
                break
            if not self._add(self._violated(correlations)):
                # Rounding errors keep the gap open: can HiGHS do better?
                if not by_pivots:
                    break
                by_pivots = False
        if by_pivots:
            self._settle()
        alpha = self._vertex.alpha[: len(self._places)]
        solution = solution_of(problem, self._places, alpha, self.weights, self.tol, n_iter)
        if not solution.converged:
            warnings.warn(
                f"column generation stopped after {n_iter} rounds at a gap of "
                f"{solution.objective - solution.bound:.3g} for an objective of "
                f"{solution.objective:.6g}" + self._advice(),
                ConvergenceWarning,
                stacklevel=3,
            )
        return solution

    def _advice(self) -> str:
        """Return an explanation if rounding errors are the cause."""
        problem = self._problem
        largest = problem.scales.max(axis=1)
        small = (problem.penalties > 0) & (problem.penalties < _NEAR_ROUNDING * largest)
        if not small.any():
            return ""
        k = int(np.argmax(small))
        return (
            f": kernel {k} has values of up to {largest[k]:.3g}, and its penalty of "
            f"{problem.penalties[k]:.3g} is near their rounding errors; scale the data"
        )

    def _objective(self) -> float:
        used = np.flatnonzero(self._vertex.alpha[: len(self._places)])
        alpha = self._vertex.alpha[used]
        losses = np.maximum(0.0, self._problem.limits - alpha @ self._vertex.pool[used])
        penalty = self._problem.costs(self._places[used]) @ np.abs(alpha)
        return float(losses.sum() + penalty) / self._problem.n_samples

    def _pivot(self) -> bool:
        """Solve the program on the pool's columns; False if rounding errors prevent it."""
        try:
            status, self._size = pivots.pivot(
                self._vertex, self._size, self._problem.costs(self._places)
            )
        except np.linalg.LinAlgError:  # a block has become singular
            return False
        # A stalled vertex is as good as rounding errors allow; the gap says how good.
        return status != pivots.STUCK

    def _settle(self) -> None:
        """Undo the perturbation: compute the same vertex for the unshifted hinges."""
        vertex = self._vertex
        before = vertex.alpha.copy(), self._objective()
        unshifted = vertex._replace(thresholds=self._problem.limits)
        if not refresh(unshifted, self._size) or self._objective() > before[1]:
            vertex.alpha[:] = before[0]

    def _by_program(self) -> bool:
        """Solve the program on the pool's columns by HiGHS; False if it finds no solution.

        The coefficients stay if its are worse, by rounding errors; its dual weights are taken.
        """
        n = len(self._places)
        alpha = self._vertex.alpha[:n]
        before = alpha.copy(), self._objective()
        self._size = 0
        self._vertex.state[:] = BELOW
        try:
            alpha[:], weights, _ = restricted_program(
                self._vertex.pool[:n], self._problem.costs(self._places), self._problem.limits
            )
        except RuntimeError:
            return False
        if self._objective() > before[1]:
            alpha[:] = before[0]
        self.weights[:] = weights
        return True

    def _violated(self, correlations: Floats) -> Indices:
        """Return the columns outside the pool that violate the dual problem most."""
        excess = self._problem.violations(correlations, self._places)
        columns = np.flatnonzero(excess > 1e-12 * self._problem.n_samples)
        if len(columns) > _ADDED:
            columns = columns[np.argpartition(-excess[columns], _ADDED)[:_ADDED]]
        return columns

    def _add(self, places: Indices) -> bool:
        """Add columns to the pool; False if there are none."""
        vertex = self._vertex
        n, total = len(self._places), len(self._places) + len(places)
        if total > len(vertex.alpha):
            more = 2 * (total - len(vertex.alpha))
            vertex = self._vertex = vertex._replace(
                pool=np.pad(vertex.pool, ((0, more), (0, 0))),
                turned=np.pad(vertex.turned, ((0, 0), (0, more))),
                alpha=np.pad(vertex.alpha, (0, more)),
            )
        vertex.pool[n:total] = self._problem.columns(places)
        vertex.turned[:, n:total] = vertex.pool[n:total].T
        vertex.alpha[n:total] = 0.0
        self._places = np.concatenate([self._places, places])
        return len(places) > 0

    def _forget(self) -> None:
        """Drop columns, except those of the vertex and the latest others."""
        vertex = self._vertex
        used = vertex.columns[: self._size]
        others = np.setdiff1d(np.arange(len(self._places)), used)
        if len(others) <= 2 * _KEPT:
            return
        keep = np.sort(np.concatenate([used, others[-_KEPT:]]))
        used[:] = np.searchsorted(keep, used)
        self._places = self._places[keep]
        for array in (vertex.pool, vertex.alpha, vertex.turned.T):
            array[: len(keep)] = array[keep]
