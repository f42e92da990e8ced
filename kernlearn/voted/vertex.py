"""Compiled parts of the simplex method in `kernlearn.voted.pivots`: a vertex and its inverse.

Arrays are copied by loops: an assignment of one to another takes Numba a second to compile, for
the text of the error that different shapes would give.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from kernlearn.voted.problem import Floats, Indices

# States of a row relative to the kink of its loss.
ABOVE, BELOW, KINK = 0, 1, 2

REFINEMENTS = 3  # iterative refinements; kernels of many degrees are nearly dependent


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


@njit(cache=True)
def refresh(vertex: Vertex, size: int) -> bool:  # pragma: no cover
    """Recompute the vertex from its columns and rows; False if their block is singular."""
    pool, _, thresholds, columns, rows, inverse, alpha, signs, slack, state, _ = vertex
    block = np.empty((size, size))
    if size:
        for r in range(size):
            for q in range(size):
                block[r, q] = pool[columns[q], rows[r]]
        inverted = np.linalg.inv(block)
        if not np.isfinite(inverted).all():
            return False
        for q in range(size):
            for r in range(size):
                inverse[q, r] = inverted[q, r]
    alpha[:] = 0.0
    for i in range(len(slack)):
        slack[i] = thresholds[i]
    rest = np.empty(size)
    found_alpha = np.zeros(size)
    for _ in range(REFINEMENTS):
        for r in range(size):
            residual = thresholds[rows[r]]
            for q in range(size):
                residual -= block[r, q] * found_alpha[q]
            rest[r] = residual
        for q in range(size):
            for r in range(size):
                found_alpha[q] += inverse[q, r] * rest[r]
    for q in range(size):
        value = alpha[columns[q]] = found_alpha[q]
        if value != 0.0:
            signs[q] = 1.0 if value > 0 else -1.0
    add_rows(slack, pool, columns, -found_alpha, size, len(slack))
    for i in range(len(slack)):
        if state[i] != KINK:
            state[i] = BELOW if slack[i] > 0 else ABOVE
    for r in range(size):
        slack[rows[r]] = 0.0
    return True


@njit(cache=True)
def first_rise(
    steps: Floats, weights: Floats, order: Indices, count: int, slope: float
) -> int:  # pragma: no cover
    """Return the item at whose step the slope stops being negative, -1 if there is none.

    ``order[:count]`` is reordered.
    """
    low, high = 0, count
    while high - low > 1:
        middle = order[(low + high) // 2]
        cut = steps[middle]
        # Three parts: below the cut, at the cut, above the cut.
        i, j, k = low, low, high
        below, at = 0.0, 0.0
        while j < k:
            item = order[j]
            if steps[item] < cut:
                below += weights[item]
                order[i], order[j] = item, order[i]
                i += 1
                j += 1
            elif steps[item] > cut:
                k -= 1
                order[j], order[k] = order[k], item
            else:
                at += weights[item]
                j += 1
        if slope + below >= 0:
            high = i
        elif slope + below + at >= 0:
            # The steepest of those at the same step is the best pivot.
            best = order[i]
            for place in range(i, j):
                if weights[order[place]] > weights[best]:
                    best = order[place]
            return best
        else:
            slope += below + at
            low = j
    if low < high and slope + weights[order[low]] >= 0:
        return order[low]
    return -1


@njit(cache=True)
def grow(
    inverse: Floats, size: int, column: Floats, row: Floats, corner: float
) -> None:  # pragma: no cover
    """Border the block by a column (inverse times it) and a row (it times the inverse).

    ``corner`` is the element at their intersection minus row times inverse times column.
    """
    for q in range(size):
        factor = column[q] / corner
        for r in range(size):
            inverse[q, r] += factor * row[r]
        inverse[q, size] = -factor
    for r in range(size):
        inverse[size, r] = -row[r] / corner
    inverse[size, size] = 1.0 / corner


@njit(cache=True)
def swap_row(inverse: Floats, size: int, gone: int, row: Floats) -> None:  # pragma: no cover
    """Replace a row by another, passed times the inverse; `row` is changed."""
    corner = row[gone]
    row[gone] -= 1.0
    for q in range(size):
        factor = inverse[q, gone] / corner
        for r in range(size):
            inverse[q, r] -= factor * row[r]


@njit(cache=True)
def swap_column(inverse: Floats, size: int, gone: int, column: Floats) -> None:  # pragma: no cover
    """Replace a column by another, passed as the inverse times it."""
    corner = column[gone]
    for r in range(size):
        inverse[gone, r] /= corner
    for q in range(size):
        if q != gone:
            factor = column[q]
            for r in range(size):
                inverse[q, r] -= factor * inverse[gone, r]


@njit(cache=True)
def shrink(inverse: Floats, size: int, column: int, row: int) -> None:  # pragma: no cover
    """Remove a column and a row from the block; the last ones take their places."""
    corner = inverse[column, row]
    for q in range(size):
        if q != column:
            factor = inverse[q, row] / corner
            for r in range(size):
                inverse[q, r] -= factor * inverse[column, r]
    last = size - 1
    if column != last:
        for r in range(size):
            inverse[column, r] = inverse[last, r]
    if row != last:
        for q in range(last):
            inverse[q, row] = inverse[q, last]


@njit(cache=True)
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
        a, row_a = factors[q], table[places[q]]
        for i in range(n):
            total[i] += a * row_a[i]


@njit(cache=True, fastmath={"reassoc", "contract"})
def steepest(
    pool: Floats,
    rows: Indices,
    size: int,
    inverse: Floats,
    candidates: Indices,
    gains: Floats,
    least: float,
    found: Floats,
) -> int:  # pragma: no cover
    """Return the column with the steepest edge, -1 if none is steeper than ``least``.

    ``found`` becomes the inverse times that column. Sums may be computed in any order: rounding
    errors only change the choice.
    """
    n = len(candidates)
    if n == 0:
        return -1
    at_kinks, movements = np.zeros((8, size)), np.empty((8, size))
    entering = -1
    for start in range(0, n, 8):
        many = min(8, n - start)
        for c in range(many):
            column = pool[candidates[start + c]]
            for r in range(size):
                at_kinks[c, r] = column[rows[r]]
        # Four candidates at a time: the inverse is larger than a cache.
        for first in range(0, many, 4):
            one, two, three, four = (
                at_kinks[first],
                at_kinks[first + 1],
                at_kinks[first + 2],
                at_kinks[first + 3],
            )
            for q in range(size):
                row = inverse[q]
                v1, v2, v3, v4 = 0.0, 0.0, 0.0, 0.0
                for r in range(size):
                    value = row[r]
                    v1 += value * one[r]
                    v2 += value * two[r]
                    v3 += value * three[r]
                    v4 += value * four[r]
                movements[first, q] = v1
                movements[first + 1, q] = v2
                movements[first + 2, q] = v3
                movements[first + 3, q] = v4
        for c in range(many):
            length = 1.0
            for q in range(size):
                length += movements[c, q] ** 2
            gain = gains[start + c] / np.sqrt(length)
            if gain > least:
                least = gain
                entering = candidates[start + c]
                for q in range(size):
                    found[q] = movements[c, q]
    return entering
