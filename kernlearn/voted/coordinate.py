r"""Coordinate descent on smoothed hinges (appendix C).

Coordinate descent on the objective itself stops at kinks that are not the minimum, where only a
joint change of several coefficients is an improvement. Therefore each hinge is replaced by
:math:`\max_{0 \le w \le 1} (w s - \frac12 (w - v)^2)`, for the slack s and weights v near the
dual solution. This smooth function plus absolute values is minimised by coordinate descent; then
v becomes the maximising w, and the descent continues. These are the steps of the method of
multipliers on the linear program, which ends after finitely many of them.

As in appendix C, only nonzero coefficients are stored, with their columns, and the column with the
largest violation is found by a pass over all columns.
"""

import warnings

import numpy as np
from numba import njit
from sklearn.exceptions import ConvergenceWarning

from kernlearn.voted.problem import Floats, Solution, VotedProblem, closed, solution_of

_ADDED = 20  # columns that become active at a time
_SWEEPS = 20  # sweeps between two searches for violated columns
_LEAPS = 20  # Newton steps after them
_HALVINGS = 6  # maximum number of times that a Newton step is halved


@njit(cache=True)
def _sweep(
    columns: Floats,
    costs: Floats,
    alpha: Floats,
    slack: Floats,
    centre: Floats,
    n_sweeps: int,
    tol: float,
) -> int:  # pragma: no cover
    """Minimise over each active coefficient in turn; return the number of sweeps."""
    n_rows = len(slack)
    for sweep in range(n_sweeps):
        largest = 0.0
        for j in range(len(alpha)):
            column = columns[j]
            before = alpha[j]
            steepest = 0.0
            for i in range(n_rows):
                steepest += column[i] * column[i]
            # Newton steps on a convex, piecewise quadratic function, kept between its bounds.
            low, high = -np.inf, np.inf
            value = before
            for _ in range(30):
                gradient, curvature = 0.0, 0.0
                for i in range(n_rows):
                    weight = centre[i] + (slack[i] - (value - before) * column[i])
                    if weight >= 1.0:
                        gradient -= column[i]
                    elif weight > 0.0:
                        gradient -= weight * column[i]
                        curvature += column[i] * column[i]
                # The smallest subgradient says on which side the minimum is.
                if value > 0:
                    gradient += costs[j]
                elif value < 0:
                    gradient -= costs[j]
                else:
                    gradient = np.sign(gradient) * max(abs(gradient) - costs[j], 0.0)
                if abs(gradient) <= 1e-3 * tol:
                    break
                if gradient > 0:
                    high = value
                else:
                    low = value
                # With little curvature, a tenth of the largest possible one is safe.
                proposed = value - gradient / max(curvature, 0.1 * steepest)
                if value * proposed < 0:
                    proposed = 0.0  # the penalty has a kink there
                if proposed == value:
                    break
                if not low < proposed < high:
                    proposed = 0.5 * (low + high)
                value = proposed
            if value != before:
                alpha[j] = value
                for i in range(n_rows):
                    slack[i] -= (value - before) * column[i]
                largest = max(largest, abs(value - before))
        if largest <= tol:
            return sweep + 1
    return n_sweeps


def descend(
    problem: VotedProblem,
    *,
    tol: float = 1e-6,
    max_iter: int = 100_000,
    start: Solution | None = None,
) -> Solution:
    """Minimise the objective by coordinate descent, from the coefficients of `start` or from 0.

    `tol` is the largest gap to the dual bound, relative to the objective, and `max_iter` the
    maximum number of sweeps over the active coefficients.
    """
    m = problem.n_samples
    places, alpha = np.empty(0, dtype=np.intp), np.empty(0)
    if start is not None:
        allowed = np.isfinite(problem.penalties[start.kernels])
        places = (start.kernels * problem.n_points + start.points)[allowed]
        alpha = start.coef[allowed] * problem.scales.flat[places]
    columns = problem.columns(places)
    centre = np.ones(m)
    precision, spent = 1e-2, 0
    best: Solution | None = None
    while True:
        slack = problem.limits - alpha @ columns
        weights = np.clip(centre + slack, 0.0, 1.0)
        correlations = problem.correlations(weights)
        bound = problem.bound(weights, correlations)
        losses = np.maximum(slack, 0).sum()
        objective = float(losses + problem.costs(places) @ np.abs(alpha)) / m
        reached = closed(objective, bound, 0.5 * tol)
        if best is None or objective - bound < best.objective - best.bound or reached:
            best = solution_of(problem, places, alpha, weights, tol, spent)
        if reached or spent >= max_iter:
            break
        # Add violated columns, and drop those that are no longer needed.
        excess = problem.violations(correlations, places)
        violated = np.argpartition(-excess, min(_ADDED, len(excess) - 1))[:_ADDED]
        violated = violated[excess[violated] > precision]
        kept = np.flatnonzero(alpha)
        places = np.concatenate([places[kept], violated])
        alpha = np.concatenate([alpha[kept], np.zeros(len(violated))])
        columns = np.concatenate([columns[kept], problem.columns(violated)])
        costs = problem.costs(places)
        n_sweeps = min(_SWEEPS, max_iter - spent)
        sweeps = _sweep(columns, costs, alpha, slack, centre, n_sweeps, precision * 1e-3)
        spent += max(sweeps, 1)
        _leap(columns, costs, alpha, slack, centre)
        weights = np.clip(centre + slack, 0.0, 1.0)
        gains = columns @ weights
        residuals = np.where(
            alpha == 0,
            np.maximum(np.abs(gains) - costs, 0),
            np.abs(gains - costs * np.sign(alpha)),
        )
        if not len(violated) and residuals.max(initial=0.0) <= precision:
            # The smoothed problem is solved; continue with the next one.
            centre = weights
            precision = max(precision * 0.3, 1e-7)
    if not best.converged:
        warnings.warn(
            f"coordinate descent stopped after {spent} sweeps at a gap of "
            f"{best.objective - best.bound:.3g} for an objective of {best.objective:.6g}",
            ConvergenceWarning,
            stacklevel=3,
        )
    return best


def _leap(columns: Floats, costs: Floats, alpha: Floats, slack: Floats, centre: Floats) -> None:
    """Take joint Newton steps in all nonzero coefficients, as long as they keep their signs.

    Coordinate descent alone is slow where columns are nearly dependent.
    """

    def smoothed(alpha: Floats, slack: Floats) -> float:
        weights = np.clip(centre + slack, 0.0, 1.0)
        losses = weights * slack - (weights - centre) ** 2 / 2
        return float(losses.sum() + costs @ np.abs(alpha))

    value = smoothed(alpha, slack)
    for _ in range(_LEAPS):
        used = np.flatnonzero(alpha)
        if not len(used):
            return
        weights = centre + slack
        free = columns[np.ix_(used, np.flatnonzero((weights > 0) & (weights < 1)))]
        gradient = costs[used] * np.sign(alpha[used]) - columns[used] @ np.clip(weights, 0, 1)
        hessian = free @ free.T
        hessian.flat[:: len(used) + 1] += 1e-12 * max(1.0, float(np.trace(hessian)))
        direction = -np.linalg.solve(hessian, gradient)
        against = direction * alpha[used] < 0
        room = np.abs(alpha[used][against] / direction[against]).min(initial=np.inf)
        length, moved = min(1.0, float(room)), direction @ columns[used]
        for _ in range(_HALVINGS):
            proposed = alpha.copy()
            proposed[used] += length * direction
            if length == room:
                proposed[used[against][np.argmin(np.abs(proposed[used[against]]))]] = 0.0
            reached = smoothed(proposed, slack - length * moved)
            if reached <= value + 1e-13 * abs(value):
                break
            length /= 2
        else:
            return
        alpha[:] = proposed
        slack -= length * moved
        if np.abs(gradient).max() <= 1e-12:
            return
        value = reached
