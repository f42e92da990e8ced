r"""The compiled steps of OLP on sparse rows, in time that grows with their numbers only.

The iterates are :math:`w_i = c_i v_i`: shrinking and projecting change the number c, a gradient
few entries of v. With :math:`A_i = c_1 + \dots + c_i` the sum of the iterates is
:math:`A_i v_i - u_i`, where each change d of v adds :math:`A_{i-1} d` to u.
"""

import math
from typing import Any, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kernlearn.pairwise.buffers import Moves
from kernlearn.pairwise.score_steps import observe
from kernlearn.pairwise.steps import list_members, loss_value, minus_derivative, next_slot

Array: TypeAlias = NDArray[Any]

# Below this, c is multiplied into v.
_SMALL = 1e-6
# Changes of v after which its norm is computed anew.
_OFTEN = 1024


@njit(cache=True)
def _longest(indptr: Array, rows: Array) -> int:  # pragma: no cover
    longest = 0
    for i in range(len(indptr) - 1):
        longest = max(longest, indptr[i + 1] - indptr[i])
    for slot in range(len(rows)):
        n = 0
        for k in range(rows.shape[1]):
            n += rows[slot, k] != 0.0
        longest = max(longest, n)
    return longest


@njit(cache=True)
def _add(
    place: int, value: float, v: Array, u: Array, past: float, squared: float
) -> float:  # pragma: no cover
    """Add to an entry of v, and return the new squared norm."""
    before = v[place]
    v[place] = before + value
    u[place] += past * value
    return squared + (v[place] - before) * (v[place] + before)


@njit(cache=True)
def olp_sparse_steps(
    data: Array,
    indices: Array,
    indptr: Array,
    codes: Array,
    moves: Moves,
    t: int,
    rows: Array,
    row_codes: Array,
    w: Array,
    total: Array,
    sums: Array,
    run: int,
    loss: int,
    eta: float,
    regularization: float,
    radius: float,
    norm: int,
    average: bool,
    link: Array,
    aware: int,
    chance: float,
    state: Array,
    draws: Array,
) -> int:  # pragma: no cover
    """Take the steps of :func:`steps.olp_steps` over the rows of a CSR matrix.

    The norm must be the 2-norm. Parameters and result are as there, and `rows` is dense.
    """
    starts, slots, sources = moves
    size = len(rows)
    width = _longest(indptr, rows)
    # the buffer as sparse rows
    columns = np.zeros((size, width), dtype=np.int64)
    values = np.zeros((size, width))
    lengths = np.zeros(size, dtype=np.int64)
    for slot in range(size):
        for k in range(rows.shape[1]):
            if rows[slot, k] != 0.0:
                columns[slot, lengths[slot]] = k
                values[slot, lengths[slot]] = rows[slot, k]
                lengths[slot] += 1
    members = np.empty((2, size), dtype=np.int64)
    n_members = np.zeros(2, dtype=np.int64)
    list_members(row_codes, members, n_members)
    strengths = np.empty(size)
    own_slot = np.zeros(1, dtype=np.int64)
    incoming = np.full(1, -1, dtype=np.int64)
    v, u = w, np.zeros(len(w))
    for k in range(len(w)):
        total[k] += run * w[k]
    scale, past = 1.0, 0.0
    squared = 0.0
    for k in range(len(w)):
        squared += v[k] * v[k]
    n_changes = 0
    for i in range(len(codes)):
        first, last = indptr[i], indptr[i + 1]
        code = codes[i]
        other = 1 - code
        n_others = n_members[other]
        sign = 1.0 if code == 1 else -1.0
        score = 0.0
        for p in range(first, last):
            score += data[p] * v[indices[p]]
        if len(link):
            known = scale * score
            if average:
                known = 0.0
                for p in range(first, last):
                    k = indices[p]
                    known += data[p] * (total[k] + past * v[k] - u[k])
                known = known / (t - 1) if t > 1 else 0.0
            observe(link, code, known)
        pull = 0.0
        mean_loss = 0.0
        for j in range(n_others):
            slot = members[other, j]
            theirs = 0.0
            for p in range(lengths[slot]):
                theirs += values[slot, p] * v[columns[slot, p]]
            margin = sign * scale * (score - theirs)
            strengths[j] = minus_derivative(loss, margin)
            pull += strengths[j]
            if aware >= 0:
                mean_loss += loss_value(loss, margin) / n_others
        if regularization > 0.0:
            scale *= 1.0 - 1.0 / t
        if scale < _SMALL:
            for k in range(len(v)):
                total[k] += past * v[k] - u[k]
                u[k] = 0.0
                v[k] *= scale
            squared *= scale * scale
            scale, past = 1.0, 0.0
        if pull != 0.0:
            rate = 1.0 / (regularization * t) if regularization > 0.0 else eta / math.sqrt(t)
            rate *= sign / (n_members[0] + n_members[1]) / scale
            for p in range(first, last):
                squared = _add(indices[p], rate * pull * data[p], v, u, past, squared)
            for j in range(n_others):
                if strengths[j] != 0.0:
                    slot = members[other, j]
                    for p in range(lengths[slot]):
                        value = -rate * strengths[j] * values[slot, p]
                        squared = _add(columns[slot, p], value, v, u, past, squared)
            n_changes += 1
            if n_changes % _OFTEN == 0:
                squared = 0.0
                for k in range(len(v)):
                    squared += v[k] * v[k]
            length = scale * math.sqrt(max(squared, 0.0))
            if length > radius:
                scale *= radius / length
        past += scale
        for p in range(first, last):
            sums[code, indices[p]] += data[p]
        if aware >= 0:
            if n_others == 0:
                mean_loss = loss_value(loss, 0.0)
            n_kept = n_members[0] + n_members[1]
            own_slot[0] = next_slot(
                aware, chance, code, mean_loss, row_codes, n_kept, state, draws[i]
            )
            n_taken = 1 if own_slot[0] >= 0 else 0
            taken, given = own_slot[:n_taken], incoming[:n_taken]
        else:
            taken, given = slots[starts[i] : starts[i + 1]], sources[starts[i] : starts[i + 1]]
        if len(taken):
            shuffled = given.max() >= 0
            old_columns = columns.copy() if shuffled else columns
            old_values = values.copy() if shuffled else values
            old_lengths = lengths.copy() if shuffled else lengths
            old_codes = row_codes.copy() if shuffled else row_codes
            for m in range(len(taken)):
                slot, source = taken[m], given[m]
                if source < 0:
                    row_codes[slot] = code
                    lengths[slot] = last - first
                    for p in range(first, last):
                        columns[slot, p - first] = indices[p]
                        values[slot, p - first] = data[p]
                else:
                    row_codes[slot] = old_codes[source]
                    lengths[slot] = old_lengths[source]
                    for p in range(lengths[slot]):
                        columns[slot, p] = old_columns[source, p]
                        values[slot, p] = old_values[source, p]
            list_members(row_codes, members, n_members)
        t += 1
    for k in range(len(v)):
        total[k] += past * v[k] - u[k]
        v[k] *= scale
    for slot in range(size):
        rows[slot] = 0.0
        for p in range(lengths[slot]):
            rows[slot, columns[slot, p]] = values[slot, p]
    return 0
