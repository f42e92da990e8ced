r"""Compiled pivots of the simplex method for hinge losses and 1-norm penalties.

The problem is to minimise, over a pool of columns :math:`a_j`,

.. math:: \sum_i \max(0, t_i - (A \alpha)_i) + \sum_j c_j |\alpha_j|.

There are no constraints on :math:`\alpha`, so every point is feasible, and a vertex consists of as
many columns with a coefficient as there are rows at the kink of their loss. These are few if the
solution is sparse; only the inverse of their square block is stored, not a basis of all rows. An
edge leaves a vertex by changing the coefficient of another column or by moving a row off its kink.
The objective is convex and piecewise linear along it, and one pivot goes to its minimum, past as
many kinks as it decreases over.
"""

import numpy as np
from numba import njit

from kernlearn.voted.problem import Floats
from kernlearn.voted.vertex import (
    ABOVE,
    BELOW,
    KINK,
    REFINEMENTS,
    Vertex,
    add_rows,
    first_rise,
    grow,
    refresh,
    shrink,
    steepest,
    swap_column,
    swap_row,
)

# Status of `pivot`.
OPTIMAL, STALLED, STUCK = 0, 1, 2

_REFRESH = 100  # steps after which the vertex is recomputed
_STALLS = 60  # refreshes without a lower objective after which to stop
_CANDIDATES = 8  # columns whose edges are compared by their slope per length
_NOISE = 1e-13  # correlations smaller than this per row are rounding errors
_TOLERANCE = 1e-9  # violation of the bounds of a multiplier, relative to them
_MAX_STEPS = 100_000
_SAFETY = 10.0  # factor on the observed rounding errors above which a movement counts


@njit(cache=True)
def pivot(vertex: Vertex, size: int, costs: Floats) -> tuple[int, int]:  # pragma: no cover
    """Pivot until no column of the pool and no row decreases the objective.

    The first ``size`` columns and rows are the vertex, and ``costs`` are the c_j of the columns
    of the pool, which may have room for more. Return the status and the new size.
    """
    pool, turned, _, columns, rows, inverse, alpha, signs, slack, state, multipliers = vertex
    n_rows, n_pool = len(slack), len(costs)
    in_basis = np.full(n_pool, -1, dtype=np.intp)
    for q in range(size):
        in_basis[columns[q]] = q
    if not refresh(vertex, size):
        return STUCK, size
    barred, barred_row = np.zeros(n_pool, dtype=np.bool_), np.zeros(n_rows, dtype=np.bool_)
    full, correlation = np.zeros(n_pool), np.empty(n_pool)  # full: sums over rows with loss
    moved, direction, entering_column = (
        np.empty(n_rows),
        np.empty(n_rows + 1),
        np.empty(n_rows + 1),
    )
    rhs, at_kink, lengths = np.empty(n_rows + 1), np.empty(n_rows + 1), np.empty(n_rows + 1)
    correction = np.empty(n_rows + 1)
    steps, weights = np.empty(2 * n_rows + 1), np.empty(2 * n_rows + 1)
    order = np.empty(2 * n_rows + 1, dtype=np.intp)
    best, gains = np.empty(_CANDIDATES, dtype=np.intp), np.empty(_CANDIDATES)
    status, least = STALLED, 0
    since = _REFRESH  # sums of the first vertex are not computed yet
    interval, stalls, lowest = _REFRESH, 0, np.inf
    for n_steps in range(_MAX_STEPS):
        if since >= interval:
            if n_steps and not refresh(vertex, size):
                return STUCK, size
            # Rounding errors may cause cycling; they are smaller with a fresh inverse.
            value = 0.0
            for i in range(n_rows):
                value += max(slack[i], 0.0)
            for q in range(size):
                value += costs[columns[q]] * abs(alpha[columns[q]])
            if value < lowest * (1 - 1e-12):
                lowest = value
                stalls = 0
                interval = min(2 * interval, _REFRESH)
            else:
                stalls += 1
                interval = max(interval // 2, 1)
                if stalls > _STALLS:
                    break
            full[:] = 0.0
            for i in range(n_rows):
                if state[i] == BELOW:
                    for j in range(n_pool):
                        full[j] += turned[i, j]
            since = 0
        since += 1

        # Multipliers of the rows at their kinks, and correlations of all columns.
        for q in range(size):
            rhs[q] = costs[columns[q]] * signs[q] - full[columns[q]]
        for j in range(n_pool):
            correlation[j] = full[j]
        at_kink[:size] = 0.0
        lengths[:size] = 1e-300
        for q in range(size):
            factor, row = rhs[q], inverse[q]
            for r in range(size):
                at_kink[r] += factor * row[r]
                lengths[r] += row[r] * row[r]
        if since == 1:
            for _ in range(REFINEMENTS - 1):
                correction[:size] = 0.0
                for q in range(size):
                    residual = rhs[q]
                    for r in range(size):
                        residual -= pool[columns[q], rows[r]] * at_kink[r]
                    for r in range(size):
                        correction[r] += residual * inverse[q, r]
                for r in range(size):
                    at_kink[r] += correction[r]
        worst, leaving_row, side = 0.0, -1, 0.0
        for r in range(size):
            value = at_kink[r]
            multipliers[rows[r]] = value
            outside = max(-value, value - 1.0)
            if outside > _TOLERANCE and not barred_row[rows[r]]:
                gain = outside / np.sqrt(lengths[r])
                if gain > worst:
                    worst, leaving_row, side = gain, r, (1.0 if value < 0 else -1.0)
        add_rows(correlation, turned, rows, at_kink, size, n_pool)
        n_best = 0
        for j in range(n_pool):
            if in_basis[j] < 0 and not barred[j]:
                excess = abs(correlation[j]) - costs[j]
                if excess > _TOLERANCE * costs[j] + _NOISE * n_rows:
                    if n_best < _CANDIDATES:
                        best[n_best] = j
                        gains[n_best] = excess
                        n_best += 1
                    elif excess > gains[least]:
                        best[least] = j
                        gains[least] = excess
                    else:
                        continue
                    least = int(np.argmin(gains[:n_best]))
        sign = 0.0
        entering = steepest(
            pool, rows, size, inverse, best[:n_best], gains, worst, entering_column
        )
        if entering >= 0:
            sign = 1.0 if correlation[entering] > 0 else -1.0
        elif leaving_row < 0:
            if since > 1:
                since = _REFRESH  # check again with a fresh inverse
                continue
            status = OPTIMAL
            break

        # The edge: movements of coefficients and rows, and the slope of the objective.
        if entering >= 0:
            slope = costs[entering] - abs(correlation[entering])
            for q in range(size):
                direction[q] = -sign * entering_column[q]
            for i in range(n_rows):
                moved[i] = sign * pool[entering, i]
        else:
            value = multipliers[rows[leaving_row]]
            slope = min(value, 1.0 - value)
            for q in range(size):
                direction[q] = side * inverse[q, leaving_row]
            moved[:] = 0.0
        add_rows(moved, pool, columns, direction, size, n_rows)

        # Rows at their kinks should not move, except the leaving one: their movement is the size
        # of the rounding errors.
        noise = 1.0
        for q in range(size):
            noise += abs(direction[q])
        noise *= 1e-14
        for r in range(size):
            off = moved[rows[r]]
            if entering < 0 and r == leaving_row:
                off -= side
            noise = max(noise, abs(off))
        noise *= _SAFETY
        count = 0
        for i in range(n_rows):
            below = state[i] == BELOW
            if state[i] != KINK and abs(moved[i]) > noise and below == (moved[i] > 0):
                steps[i] = max(slack[i] / moved[i], 0.0)
                weights[i] = abs(moved[i])
                order[count] = i
                count += 1
        for q in range(size):
            if direction[q] * signs[q] < 0 and abs(direction[q]) > 1e-9:
                item = n_rows + q
                steps[item] = max(-alpha[columns[q]] / direction[q], 0.0)
                weights[item] = 2 * costs[columns[q]] * abs(direction[q])
                order[count] = item
                count += 1
        stop = first_rise(steps, weights, order, count, slope)
        if stop < 0:
            if since > 1:
                since = _REFRESH  # rounding errors: try again with a fresh inverse
            elif entering >= 0:
                barred[entering] = True  # linearly dependent on the columns in use
            else:
                barred_row[rows[leaving_row]] = True
            continue
        length = steps[stop]

        # Move to the end of the step.
        for place in range(count):
            item = order[place]
            if steps[item] >= length:
                continue
            if item < n_rows:
                change = -1.0 if state[item] == BELOW else 1.0
                state[item] = ABOVE if state[item] == BELOW else BELOW
                for j in range(n_pool):
                    full[j] += change * turned[item, j]
            else:
                signs[item - n_rows] *= -1.0
        for q in range(size):
            alpha[columns[q]] += length * direction[q]
        for i in range(n_rows):
            if state[i] != KINK:
                slack[i] -= length * moved[i]
        if entering >= 0:
            alpha[entering] = length * sign
        else:
            e = rows[leaving_row]
            slack[e] = -length * moved[e]
            state[e] = ABOVE if side > 0 else BELOW
            if side < 0:
                for j in range(n_pool):
                    full[j] += turned[e, j]

        # The inverse of the new block.
        if stop < n_rows:
            if state[stop] == BELOW:
                for j in range(n_pool):
                    full[j] -= turned[stop, j]
            state[stop] = KINK
            slack[stop] = 0.0
            rhs[:size] = 0.0  # the stopping row, times the inverse
            for q in range(size):
                value = pool[columns[q], stop]
                for r in range(size):
                    rhs[r] += value * inverse[q, r]
            if entering >= 0:
                corner = pool[entering, stop]
                for q in range(size):
                    corner -= pool[columns[q], stop] * entering_column[q]
                grow(inverse, size, entering_column, rhs, corner)
                columns[size] = entering
                in_basis[entering] = size
                signs[size] = sign
                rows[size] = stop
                size += 1
            else:
                swap_row(inverse, size, leaving_row, rhs)
                rows[leaving_row] = stop
        else:
            gone = stop - n_rows
            alpha[columns[gone]] = 0.0
            in_basis[columns[gone]] = -1
            if entering >= 0:
                swap_column(inverse, size, gone, entering_column)
                columns[gone] = entering
                in_basis[entering] = gone
                signs[gone] = sign
            else:
                shrink(inverse, size, gone, leaving_row)
                size -= 1
                if gone != size:
                    columns[gone] = columns[size]
                    signs[gone] = signs[size]
                    in_basis[columns[gone]] = gone
                rows[leaving_row] = rows[size]
    for i in range(n_rows):
        if state[i] != KINK:
            multipliers[i] = 1.0 if state[i] == BELOW else 0.0
    return status, size
