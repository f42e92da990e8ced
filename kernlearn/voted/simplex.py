r"""Objective (1) of voted kernel regularization, and column generation by a simplex method.

The problem of a round is to minimise, over a pool of columns :math:`a_j`,

.. math:: \sum_i \max(0, t_i - (A \alpha)_i) + \sum_j c_j |\alpha_j|.

There are no constraints on :math:`\alpha`, so every point is feasible. A vertex consists of as
many columns with a coefficient as there are rows at the kink of their loss. These are few if the
solution is sparse; only the inverse of their square block is stored, not a basis of all rows. An
edge leaves a vertex by changing the coefficient of another column or by moving a row off its kink.
The objective is convex and piecewise linear along it, and one pivot goes to its minimum, past as
many kinks as it decreases over.

Rounding errors may end the pivots with a gap, on data that nobody has scaled. HiGHS on the same
columns closes no more of them: 880 of 938 problems of random numbers and polynomials, and the
pivots 881.

Compiled functions copy arrays by loops: an assignment of one to another takes Numba a second to
compile, for the text of the error that different shapes would give.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from kernlearn.compiled import compiled
from kernlearn.validation import Floats, Indices, warn

# Correlation of a column without a penalty that counts as 0, relative to its values; with a
# penalty, correlations are accurate up to rounding errors.
_FREE = 1e-8
_ROUNDING = 1e-14
_FEW = 0.4  # share of the rows below which a product is faster without the others

_ADDED = 50  # columns that a round adds
_SPARE = 200  # columns, besides those in use, with which a new problem starts
_EQUAL = 1e-9  # relative gap within which a solution counts as that of other penalties too
_PERTURBATION = 1e-8  # shift of the hinges, so that no two kinks coincide

# States of a row relative to the kink of its loss.
ABOVE, BELOW, KINK = 0, 1, 2

_REFINEMENTS = 3  # iterative refinements; kernels of many degrees are nearly dependent
_REFRESH = 100  # steps after which the vertex is recomputed
_STALLS = 60  # refreshes without a lower objective after which to stop
_CANDIDATES = 8  # columns whose edges are compared by their slope per length
_NOISE = 1e-13  # correlations smaller than this per row are rounding errors
_TOLERANCE = 1e-9  # violation of the bounds of a multiplier, relative to them
_MAX_STEPS = 100_000
_SAFETY = 10.0  # factor on the observed rounding errors above which a movement counts


class SparseSolution(NamedTuple):
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

        The dual variables u_i lie in [0, 1]. They do not depend on the penalties.
        """
        signed = dual * (self.y * self.weights)
        result = np.zeros(self.scales.shape)
        used = np.flatnonzero(signed)
        few = len(used) < _FEW * len(signed)
        for kernel, gram in enumerate(self.grams):
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
        self, columns: Indices, alpha: Floats, bound: float, tol: float, n_iter: int
    ) -> SparseSolution:
        """Return the solution with the coefficients of some columns.

        Negligible coefficients count as 0.
        """
        order = np.argsort(columns)
        order = order[np.abs(alpha[order]) > 1e-9]
        kernels, points = np.divmod(columns[order], self.scales.shape[1])
        coef = alpha[order] / self.scales[kernels, points]
        objective = self.objective(kernels, points, coef)
        converged = closed(objective, bound, tol)
        return SparseSolution(kernels, points, coef, objective, bound, n_iter, converged)


def closed(objective: float, bound: float, tol: float) -> bool:
    """Whether the gap between the objective and a lower bound is within the tolerance."""
    return objective - bound <= max(tol * objective, 1e-10)


class Solved(NamedTuple):
    """A solved problem, from which others that differ in their penalties start.

    Attributes
    ----------
    columns, rows, signs : ndarray of shape (n_coefficients,)
        Its vertex: numbers of columns, rows at their kinks and signs of coefficients.
    solution : SparseSolution
    loss : float
        The mean loss.
    dual : ndarray of shape (n_samples,)
    correlations : ndarray of shape (n_kernels, n_points)
        Those of the dual variables.
    """

    columns: Indices
    rows: Indices
    signs: Floats
    solution: SparseSolution
    loss: float
    dual: Floats
    correlations: Floats

    def objective(self, penalties: Floats) -> float:
        """Return the objective of the solution for other penalties."""
        return self.loss + float(penalties[self.solution.kernels] @ np.abs(self.solution.coef))


class ColumnGeneration:
    r"""Column generation for problems that differ in their penalties.

    The dual variables u of the program on some columns solve the whole program if |Σ_i u_i s_i y_i
    K_k(x_i, x_j)| ≤ m Λ_k for all k and j. Otherwise columns that violate this are added, the
    program is solved again from its last vertex, and so on. A vertex remains a vertex when
    penalties change, which only determine the edges along which the objective decreases. So each
    problem starts from the vertex of a solved one that has the least objective for its penalties.
    Where the dual variables of this one show that there is no lower one, nothing is left to do:
    many settings have the same solution, as that without coefficients, or one without losses.

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
    dual : ndarray of shape (n_samples,)
        Dual variables of the last solution.
    """

    def __init__(self, problem: VotedProblem, *, tol: float = 1e-6, max_iter: int = 1000) -> None:
        m, capacity = len(problem.y), 4 * _ADDED
        self._problem, self._tol, self._max_iter = problem, tol, max_iter
        # The pool's columns, and how many of them and of the rows are the vertex.
        self._pool, self._size = np.empty(0, dtype=np.intp), 0
        self.dual = np.ones(m)
        none, no_coef = np.empty(0, dtype=np.intp), np.empty(0)
        loss = float(problem.weights.mean())
        solution = SparseSolution(none, none, no_coef, loss, 0.0, 1, False)
        correlations = problem.correlations(self.dual)
        # The solved problems, and which of them the vertex is that of, None for no one.
        self._solved = [Solved(none, none, no_coef, solution, loss, np.ones(m), correlations)]
        self._place: int | None = 0
        # Fractional parts of multiples of the golden ratio are evenly spread.
        spread = np.arange(m, dtype=np.float64) * 0.6180339887498949 % 1
        self._vertex = Vertex(
            pool=np.zeros((capacity, m)),
            turned=np.zeros((m, capacity)),
            thresholds=problem.weights * (1 + _PERTURBATION * spread),
            columns=np.zeros(m + 1, dtype=np.intp),
            rows=np.zeros(m + 1, dtype=np.intp),
            inverse=np.zeros((m + 1, m + 1)),
            alpha=np.zeros(capacity),
            signs=np.zeros(m + 1),
            slack=problem.weights.copy(),
            state=np.full(m, BELOW, dtype=np.int8),
            multipliers=self.dual,
        )

    def solve(self, penalties: Floats) -> SparseSolution:
        """Solve the problem for penalties of shape (n_kernels,); warn if the gap is not closed."""
        problem = self._problem = replace(self._problem, penalties=penalties)
        objectives = np.array([solved.objective(penalties) for solved in self._solved])
        place = int(np.flatnonzero(objectives <= objectives.min() * (1 + _ROUNDING))[-1])
        start = self._solved[place]
        bound = problem.bound(start.dual, start.correlations)
        if closed(objectives[place], bound, min(self._tol, _EQUAL)):
            return start.solution._replace(
                objective=float(objectives[place]), bound=bound, n_iter=1, converged=True
            )
        if place != self._place:
            self._return_to(start)
        self._forget()
        dual, correlations = start.dual, start.correlations
        solved, n_iter = True, 0
        while n_iter < self._max_iter:
            n_iter += 1
            if len(self._pool):
                if not (solved := self._pivot()):
                    break
                dual = np.clip(self.dual, 0.0, 1.0)
                correlations = problem.correlations(dual)
                bound = problem.bound(dual, correlations)
                if closed(self._objective(), bound, 0.5 * self._tol):
                    break
            if not self._add(problem.violations(correlations)):
                break
        alpha = self._vertex.alpha[: len(self._pool)]
        if solved:
            # Undo the perturbation: compute the same vertex for the unshifted hinges.
            before = alpha.copy(), self._objective()
            unshifted = self._vertex._replace(thresholds=problem.weights)
            if not refresh(unshifted, self._size) or self._objective() > before[1]:
                alpha[:] = before[0]
        solution = problem.solution(self._pool, alpha, bound, self._tol, n_iter)
        self._place = None
        if solved:
            self._place = len(self._solved)
            self._keep(solution, dual, correlations)
        if not solution.converged:
            warn(
                f"column generation stopped after {n_iter} rounds at a relative gap of "
                f"{1 - solution.bound / solution.objective:.2g}; raise max_iter or scale the data",
                ConvergenceWarning,
            )
        return solution

    def _keep(self, solution: SparseSolution, dual: Floats, correlations: Floats) -> None:
        """Keep a solution and its vertex, from which others may start."""
        vertex, n = self._vertex, self._size
        columns = self._pool[vertex.columns[:n]]
        rows, signs = vertex.rows[:n].copy(), vertex.signs[:n].copy()
        penalties = self._problem.penalties[solution.kernels]
        loss = solution.objective - float(penalties @ np.abs(solution.coef))
        self._solved.append(Solved(columns, rows, signs, solution, loss, dual, correlations))

    def _return_to(self, solved: Solved) -> None:
        """Make the vertex that of a solved problem."""
        vertex, n = self._extend(np.setdiff1d(solved.columns, self._pool)), len(solved.columns)
        order = np.argsort(self._pool)
        vertex.columns[:n] = order[np.searchsorted(self._pool, solved.columns, sorter=order)]
        vertex.rows[:n], vertex.signs[:n], self._size = solved.rows, solved.signs, n
        vertex.state[:] = BELOW  # which rows are above follows from the coefficients
        vertex.state[solved.rows] = KINK

    def _objective(self) -> float:
        used = np.flatnonzero(self._vertex.alpha[: len(self._pool)])
        alpha = self._vertex.alpha[used]
        losses = np.maximum(0.0, self._problem.weights - alpha @ self._vertex.pool[used])
        penalty = self._problem.costs(self._pool[used]) @ np.abs(alpha)
        return float(losses.sum() + penalty) / len(losses)

    def _pivot(self) -> bool:
        """Solve the program on the pool's columns; False if rounding errors prevent it."""
        try:
            solved, self._size = pivot(self._vertex, self._size, self._problem.costs(self._pool))
        except np.linalg.LinAlgError:  # a block has become singular
            solved = False
        if not solved:  # the next problem begins without a vertex
            self._size = 0
            self._vertex.state[:] = BELOW
        return solved

    def _add(self, violations: Floats) -> bool:
        """Add the columns that violate the dual problem most; False if there are none."""
        violations[self._pool] = -np.inf
        columns = np.flatnonzero(violations > 1e-12 * len(self.dual))
        if len(columns) > _ADDED:
            columns = columns[np.argpartition(-violations[columns], _ADDED)[:_ADDED]]
        self._extend(columns)
        return len(columns) > 0

    def _extend(self, columns: Indices) -> "Vertex":
        """Add columns to the pool, and return the vertex, whose arrays may have been replaced."""
        n, total = len(self._pool), len(self._pool) + len(columns)
        if (more := 2 * (total - len(self._vertex.alpha))) > 0:
            self._vertex = self._vertex._replace(
                pool=np.pad(self._vertex.pool, ((0, more), (0, 0))),
                turned=np.pad(self._vertex.turned, ((0, 0), (0, more))),
                alpha=np.pad(self._vertex.alpha, (0, more)),
            )
        self._vertex.pool[n:total] = self._problem.values(columns)
        self._vertex.turned[:, n:total] = self._vertex.pool[n:total].T
        self._vertex.alpha[n:total] = 0.0
        self._pool = np.concatenate([self._pool, columns])
        return self._vertex

    def _forget(self) -> None:
        """Drop columns, except those of the vertex and the latest others."""
        vertex = self._vertex
        used = vertex.columns[: self._size]
        others = np.setdiff1d(np.arange(len(self._pool)), used)
        if len(others) <= 2 * _SPARE:
            return
        keep = np.sort(np.concatenate([used, others[-_SPARE:]]))
        used[:] = np.searchsorted(keep, used)
        self._pool = self._pool[keep]
        for array in (vertex.pool, vertex.alpha, vertex.turned.T):
            array[: len(keep)] = array[keep]


class Vertex(NamedTuple):
    """A pool of columns a_j, and a vertex: the columns with a coefficient, and as many rows.

    All arrays are changed in place.
    """

    pool: Floats  # the columns, one per row, of shape (capacity, n_rows)
    turned: Floats  # its transpose
    thresholds: Floats  # the t_i
    columns: Indices  # the columns of the vertex
    rows: Indices  # its rows, at the kink of their loss
    inverse: Floats  # of the block of these rows and columns
    alpha: Floats  # coefficients of the pool
    signs: Floats  # those of the vertex's coefficients, also of those that are 0
    slack: Floats  # t_i - (A α)_i
    state: np.ndarray  # of each row
    multipliers: Floats  # in [0, 1], at the end the dual solution


class Edge(NamedTuple):
    """An edge that leaves a vertex: a column enters, or a row leaves its kink."""

    entering: int  # the column, -1 for none
    inverted: Floats  # the inverse times that column
    leaving: int  # the row's place in the vertex, -1 for none
    sign: float  # of the column's coefficient, or of the row's excess over its kink
    slope: float  # of the objective


@compiled()
def pivot(vertex: Vertex, size: int, costs: Floats) -> tuple[bool, int]:  # pragma: no cover
    """Pivot until no column of the pool and no row decreases the objective.

    The first ``size`` columns and rows are the vertex, and ``costs`` are the c_j of the columns
    of the pool, which may have room for more. Return False if rounding errors prevent a solution,
    and the new size. A stalled vertex is as good as they allow; the gap says how good.
    """
    state, n_pool = vertex.state, len(costs)
    # columns in the vertex, or dependent on it, and rows that cannot leave
    barred, barred_row = np.zeros(n_pool, dtype=np.bool_), np.zeros(len(state), dtype=np.bool_)
    for column in vertex.columns[:size]:
        barred[column] = True
    full = np.zeros(n_pool)  # of each column the sum over the rows with a loss
    since, interval, stalls, lowest = _REFRESH, _REFRESH, 0, np.inf
    for _ in range(_MAX_STEPS):
        if since >= interval:
            if not refresh(vertex, size):
                return False, size
            # Rounding errors may cause cycling; they are smaller with a fresh inverse.
            value = objective(vertex, size, costs)
            if value < lowest * (1 - 1e-12):
                lowest, stalls, interval = value, 0, min(2 * interval, _REFRESH)
            else:
                stalls, interval = stalls + 1, max(interval // 2, 1)
                if stalls > _STALLS:
                    break
            full[:] = 0.0
            for i in range(len(state)):
                if state[i] == BELOW:
                    add(full, vertex.turned[i], 1.0, n_pool)
            since = 0
        since += 1

        at_kink, correlation = prices(vertex, size, costs, full, since == 1)
        edge = steepest_edge(vertex, size, costs, at_kink, correlation, barred, barred_row)
        if edge.entering < 0 and edge.leaving < 0:
            if since == 1:
                break
            since = _REFRESH  # check again with a fresh inverse
            continue

        moved, direction, noise = movements(vertex, size, edge)
        steps, gains, items = kinks(vertex, size, costs, moved, direction, noise)
        stop = first_rise(steps, gains, items, edge.slope)
        if stop < 0:
            if since > 1:
                since = _REFRESH  # rounding errors: try again with a fresh inverse
            elif edge.entering >= 0:
                barred[edge.entering] = True  # linearly dependent on the others
            else:
                barred_row[vertex.rows[edge.leaving]] = True
            continue

        length = steps[stop]
        cross(vertex, full, items, steps, length)
        for q in range(size):
            vertex.alpha[vertex.columns[q]] += length * direction[q]
        for i in range(len(state)):
            if state[i] != KINK:
                vertex.slack[i] -= length * moved[i]
        if edge.entering >= 0:
            vertex.alpha[edge.entering] = length * edge.sign
            barred[edge.entering] = True
        else:
            row = vertex.rows[edge.leaving]
            vertex.slack[row] = -length * moved[row]
            state[row] = ABOVE if edge.sign > 0 else BELOW
            if edge.sign < 0:
                add(full, vertex.turned[row], 1.0, n_pool)
        if stop < len(state):
            size = reach_kink(vertex, size, edge, full, stop)
        else:
            barred[vertex.columns[stop - len(state)]] = False
            size = drop_column(vertex, size, edge, stop - len(state))
    for i in range(len(state)):
        if state[i] != KINK:
            vertex.multipliers[i] = 1.0 if state[i] == BELOW else 0.0
    return True, size


@compiled()
def refresh(vertex: Vertex, size: int) -> bool:  # pragma: no cover
    """Recompute the vertex from its columns and rows; False if their block is singular."""
    pool, _, thresholds, columns, rows, inverse, alpha, signs, slack, state, _ = vertex
    block = np.empty((size, size))
    for r in range(size):
        for q in range(size):
            block[r, q] = pool[columns[q], rows[r]]
    if size:
        inverted = np.linalg.inv(block)
        if not np.isfinite(inverted).all():
            return False
        for q in range(size):
            for r in range(size):
                inverse[q, r] = inverted[q, r]
    coef, residual = np.zeros(size), np.empty(size)
    for _ in range(_REFINEMENTS):
        for r in range(size):
            residual[r] = thresholds[rows[r]]
            for q in range(size):
                residual[r] -= block[r, q] * coef[q]
        for q in range(size):
            for r in range(size):
                coef[q] += inverse[q, r] * residual[r]
    alpha[:] = 0.0
    for q in range(size):
        alpha[columns[q]] = coef[q]
        if coef[q] != 0.0:
            signs[q] = 1.0 if coef[q] > 0 else -1.0
    for i in range(len(slack)):
        slack[i] = thresholds[i]
    add_rows(slack, pool, columns, -coef, size, len(slack))
    for i in range(len(slack)):
        if state[i] != KINK:
            state[i] = BELOW if slack[i] > 0 else ABOVE
    for r in range(size):
        slack[rows[r]] = 0.0
    return True


@compiled()
def objective(vertex: Vertex, size: int, costs: Floats) -> float:  # pragma: no cover
    """Return the sum of the losses and of the costs of the coefficients."""
    value = 0.0
    for i in range(len(vertex.slack)):
        value += max(vertex.slack[i], 0.0)
    for column in vertex.columns[:size]:
        value += costs[column] * abs(vertex.alpha[column])
    return value


@compiled()
def prices(
    vertex: Vertex, size: int, costs: Floats, full: Floats, refine: bool
) -> tuple[Floats, Floats]:  # pragma: no cover
    """Return the multipliers of the rows at their kinks, and the correlations of all columns."""
    columns, rows, inverse = vertex.columns[:size], vertex.rows[:size], vertex.inverse
    wanted = costs[columns] * vertex.signs[:size] - full[columns]
    at_kink = np.zeros(size)
    combine(at_kink, wanted, inverse, size)
    if refine:
        for _ in range(_REFINEMENTS - 1):
            residual, correction = wanted.copy(), np.zeros(size)
            for q in range(size):
                for r in range(size):
                    residual[q] -= vertex.pool[columns[q], rows[r]] * at_kink[r]
            combine(correction, residual, inverse, size)
            at_kink += correction
    vertex.multipliers[rows] = at_kink
    correlation = full.copy()
    add_rows(correlation, vertex.turned, rows, at_kink, size, len(full))
    return at_kink, correlation


@compiled()
def steepest_edge(
    vertex: Vertex,
    size: int,
    costs: Floats,
    at_kink: Floats,
    correlation: Floats,
    barred: np.ndarray,
    barred_row: np.ndarray,
) -> Edge:  # pragma: no cover
    """Return the edge along which the objective decreases most per length."""
    lengths = np.full(size, 1e-300)
    for q in range(size):
        for r in range(size):
            lengths[r] += vertex.inverse[q, r] * vertex.inverse[q, r]
    leaving, steepest = -1, 0.0
    for r in range(size):
        outside = max(-at_kink[r], at_kink[r] - 1.0)
        if outside > _TOLERANCE and not barred_row[vertex.rows[r]]:
            gain = outside / np.sqrt(lengths[r])
            if gain > steepest:
                leaving, steepest = r, gain
    candidates, excesses = violating(correlation, costs, barred, len(vertex.slack))
    entering, inverted = steepest_column(vertex, size, candidates, excesses, steepest)
    if entering >= 0:
        sign = 1.0 if correlation[entering] > 0 else -1.0
        return Edge(entering, inverted, -1, sign, costs[entering] - abs(correlation[entering]))
    if leaving < 0:
        return Edge(-1, inverted, -1, 0.0, 0.0)
    value = at_kink[leaving]
    return Edge(-1, inverted, leaving, 1.0 if value < 0 else -1.0, min(value, 1.0 - value))


@compiled()
def violating(
    correlation: Floats, costs: Floats, barred: np.ndarray, n_rows: int
) -> tuple[Indices, Floats]:  # pragma: no cover
    """Return the columns with the greatest excess of the correlation over the cost, and that."""
    best, excesses = np.empty(_CANDIDATES, dtype=np.intp), np.empty(_CANDIDATES)
    count, least = 0, 0
    for j in range(len(costs)):
        excess = abs(correlation[j]) - costs[j]
        if barred[j] or excess <= _TOLERANCE * costs[j] + _NOISE * n_rows:
            continue
        if count < _CANDIDATES:
            least = count
            count += 1
        elif excess <= excesses[least]:
            continue
        best[least], excesses[least] = j, excess
        least = int(np.argmin(excesses[:count]))
    return best[:count], excesses[:count]


@compiled(fastmath={"reassoc", "contract"})
def steepest_column(
    vertex: Vertex, size: int, candidates: Indices, excesses: Floats, least: float
) -> tuple[int, Floats]:  # pragma: no cover
    """Return the column with the steepest edge, -1 if none is steeper than ``least``.

    The second result is the inverse times that column. Sums may be computed in any order: rounding
    errors only change the choice.
    """
    pool, rows, inverse = vertex.pool, vertex.rows, vertex.inverse
    at_kinks, movements = np.zeros((_CANDIDATES, size)), np.empty((_CANDIDATES, size))
    for c in range(len(candidates)):
        for r in range(size):
            at_kinks[c, r] = pool[candidates[c], rows[r]]
    # Four candidates at a time: the inverse is larger than a cache.
    for c in range(0, len(candidates), 4):
        k1, k2, k3, k4 = at_kinks[c], at_kinks[c + 1], at_kinks[c + 2], at_kinks[c + 3]
        for q in range(size):
            row = inverse[q]
            v1, v2, v3, v4 = 0.0, 0.0, 0.0, 0.0
            for r in range(size):
                value = row[r]
                v1 += value * k1[r]
                v2 += value * k2[r]
                v3 += value * k3[r]
                v4 += value * k4[r]
            movements[c, q], movements[c + 1, q] = v1, v2
            movements[c + 2, q], movements[c + 3, q] = v3, v4
    entering, chosen = -1, 0
    for c in range(len(candidates)):
        length = 1.0
        for q in range(size):
            length += movements[c, q] ** 2
        gain = excesses[c] / np.sqrt(length)
        if gain > least:
            entering, chosen, least = candidates[c], c, gain
    return entering, movements[chosen]


@compiled()
def movements(
    vertex: Vertex, size: int, edge: Edge
) -> tuple[Floats, Floats, float]:  # pragma: no cover
    """Return how rows and coefficients move along an edge, and what of it may be rounding."""
    moved, n_rows = np.zeros(len(vertex.slack)), len(vertex.slack)
    if edge.entering >= 0:
        direction = -edge.sign * edge.inverted
        add(moved, vertex.pool[edge.entering], edge.sign, n_rows)
    else:
        direction = edge.sign * vertex.inverse[:size, edge.leaving]
    add_rows(moved, vertex.pool, vertex.columns, direction, size, n_rows)
    # Rows at their kinks should not move, except the leaving one.
    noise = 1.0
    for q in range(size):
        noise += abs(direction[q])
    noise *= 1e-14
    for r in range(size):
        expected = edge.sign if r == edge.leaving else 0.0
        noise = max(noise, abs(moved[vertex.rows[r]] - expected))
    return moved, direction, noise * _SAFETY


@compiled()
def kinks(
    vertex: Vertex, size: int, costs: Floats, moved: Floats, direction: Floats, noise: float
) -> tuple[Floats, Floats, Indices]:  # pragma: no cover
    """Return the kinks on an edge: their steps, by how much the slope rises there, and which.

    Item i is that of the loss of row i, item n_rows + q that of the vertex's coefficient q.
    """
    _, _, _, columns, _, _, alpha, signs, slack, state, _ = vertex
    n_rows, count = len(slack), 0
    steps, gains = np.empty(n_rows + size), np.empty(n_rows + size)
    items = np.empty(n_rows + size, dtype=np.intp)
    for i in range(n_rows):
        below = state[i] == BELOW
        if state[i] != KINK and abs(moved[i]) > noise and below == (moved[i] > 0):
            steps[i] = max(slack[i] / moved[i], 0.0)
            gains[i] = abs(moved[i])
            items[count] = i
            count += 1
    for q in range(size):
        if direction[q] * signs[q] < 0 and abs(direction[q]) > 1e-9:
            item = n_rows + q
            steps[item] = max(-alpha[columns[q]] / direction[q], 0.0)
            gains[item] = 2 * costs[columns[q]] * abs(direction[q])
            items[count] = item
            count += 1
    return steps, gains, items[:count]


@compiled()
def first_rise(
    steps: Floats, gains: Floats, items: Indices, slope: float
) -> int:  # pragma: no cover
    """Return the item at whose step the slope stops being negative, -1 if there is none.

    The slope rises by the gain of each of the items at its step.
    """
    while len(items):
        reached = steps[items]
        cut = reached[len(items) // 2]
        below = items[reached < cut]
        if slope + gains[below].sum() >= 0:
            items = below
            continue
        at = items[reached == cut]
        slope += gains[below].sum() + gains[at].sum()
        if slope >= 0:  # the steepest of those at the same step is the best pivot
            return at[np.argmax(gains[at])]
        items = items[reached > cut]
    return -1


@compiled()
def cross(
    vertex: Vertex, full: Floats, items: Indices, steps: Floats, length: float
) -> None:  # pragma: no cover
    """Pass the kinks before the end of the step."""
    state = vertex.state
    for item in items:
        if steps[item] >= length:
            continue
        if item >= len(state):
            vertex.signs[item - len(state)] *= -1.0
        elif state[item] == BELOW:
            add(full, vertex.turned[item], -1.0, len(full))
            state[item] = ABOVE
        else:
            add(full, vertex.turned[item], 1.0, len(full))
            state[item] = BELOW


@compiled()
def reach_kink(
    vertex: Vertex, size: int, edge: Edge, full: Floats, row: int
) -> int:  # pragma: no cover
    """Put a row at its kink, for what leaves or enters along the edge, and return the size."""
    pool, turned, _, columns, rows, inverse, _, signs, slack, state, _ = vertex
    if state[row] == BELOW:
        add(full, turned[row], -1.0, len(full))
    state[row], slack[row] = KINK, 0.0
    values, inverted = np.empty(size), np.zeros(size)
    for q in range(size):
        values[q] = pool[columns[q], row]
    combine(inverted, values, inverse, size)
    if edge.leaving >= 0:
        swap_row(inverse, size, edge.leaving, inverted)
        rows[edge.leaving] = row
        return size
    corner = pool[edge.entering, row]
    for q in range(size):
        corner -= values[q] * edge.inverted[q]
    grow(inverse, size, edge.inverted, inverted, corner)
    columns[size], signs[size], rows[size] = edge.entering, edge.sign, row
    return size + 1


@compiled()
def drop_column(vertex: Vertex, size: int, edge: Edge, gone: int) -> int:  # pragma: no cover
    """Take a column out, for what leaves or enters along the edge, and return the size."""
    columns, rows, inverse, signs = vertex.columns, vertex.rows, vertex.inverse, vertex.signs
    vertex.alpha[columns[gone]] = 0.0
    if edge.entering >= 0:
        swap_column(inverse, size, gone, edge.inverted)
        columns[gone], signs[gone] = edge.entering, edge.sign
        return size
    shrink(inverse, size, gone, edge.leaving)
    last = size - 1
    columns[gone], signs[gone], rows[edge.leaving] = columns[last], signs[last], rows[last]
    return last


@compiled()
def grow(
    inverse: Floats, size: int, column: Floats, row: Floats, corner: float
) -> None:  # pragma: no cover
    """Border the block by a column (inverse times it) and a row (it times the inverse).

    ``corner`` is the element at their intersection minus row times inverse times column.
    """
    for q in range(size):
        add(inverse[q], row, column[q] / corner, size)
        inverse[q, size] = -column[q] / corner
        inverse[size, q] = -row[q] / corner
    inverse[size, size] = 1.0 / corner


@compiled()
def swap_row(inverse: Floats, size: int, gone: int, row: Floats) -> None:  # pragma: no cover
    """Replace a row by another, passed times the inverse; `row` is changed."""
    corner = row[gone]
    row[gone] -= 1.0
    for q in range(size):
        add(inverse[q], row, -(inverse[q, gone] / corner), size)


@compiled()
def swap_column(inverse: Floats, size: int, gone: int, column: Floats) -> None:  # pragma: no cover
    """Replace a column by another, passed as the inverse times it."""
    corner = column[gone]
    for r in range(size):
        inverse[gone, r] /= corner
    for q in range(size):
        if q != gone:
            add(inverse[q], inverse[gone], -column[q], size)


@compiled()
def shrink(inverse: Floats, size: int, column: int, row: int) -> None:  # pragma: no cover
    """Remove a column and a row from the block; the last ones take their places."""
    corner = inverse[column, row]
    for q in range(size):
        if q != column:
            add(inverse[q], inverse[column], -(inverse[q, row] / corner), size)
    last = size - 1
    for r in range(size):
        inverse[column, r] = inverse[last, r]
    for q in range(last):
        inverse[q, row] = inverse[q, last]


@compiled()
def add(total: Floats, row: Floats, factor: float, n: int) -> None:  # pragma: no cover
    """Add ``factor * row[:n]``."""
    for i in range(n):
        total[i] += factor * row[i]


@compiled()
def combine(total: Floats, factors: Floats, table: Floats, size: int) -> None:  # pragma: no cover
    """Add ``factors[:size] @ table[:size, :size]``."""
    for q in range(size):
        add(total, table[q], factors[q], size)


@compiled()
def add_rows(
    total: Floats, table: Floats, places: Indices, factors: Floats, count: int, n: int
) -> None:  # pragma: no cover
    """Add ``factors[q] * table[places[q], :n]`` for the first ``count`` places, four at a time."""
    whole = count - count % 4
    for q in range(0, whole, 4):
        a, b, c, d = factors[q], factors[q + 1], factors[q + 2], factors[q + 3]
        row_a, row_b = table[places[q]], table[places[q + 1]]
        row_c, row_d = table[places[q + 2]], table[places[q + 3]]
        for i in range(n):
            total[i] += (a * row_a[i] + b * row_b[i]) + (c * row_c[i] + d * row_d[i])
    for q in range(whole, count):
        add(total, table[places[q]], factors[q], n)
