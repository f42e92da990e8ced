"""The compiled steps of OLP and OAM, and the draws of their buffers.

A step makes two passes over the buffered points of the other class: their scores, and the sum of
those whose pairs have a loss.

Points X (n_points, n_features) are dense float64 in C order, and `codes` (n_points,) their
classes, 0 or 1; `moves` are :class:`~kernlearn.pairwise.learners.Moves`, and `state` is a
:class:`~kernlearn.pairwise.learners.StreamState`, to whose arrays the steps write.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.compiled import compiled

Array = NDArray[Any]

# Sums may be reordered (for vector instructions), no more: NaN and infinity are respected.
_FAST = {"reassoc", "contract", "nsz"}


@compiled()
def draw_moves(
    policy: int, size: int, t: int, n_steps: int, rng: np.random.Generator
) -> tuple[Array, Array, Array]:  # pragma: no cover
    """Draw the moves of a buffer after the points t, …, t + n_steps - 1 of a stream.

    Parameters
    ----------
    policy : int
        The position in `learners.POLICIES`.
    size : int
        Number of slots.
    t, n_steps : int
        The number of the first point, that of the stream being 1, and the number of points.
    rng : numpy.random.Generator
        Only uniform doubles are drawn from it.

    Returns
    -------
    starts, slots, sources : ndarrays
        The fields of :class:`~kernlearn.pairwise.learners.Moves`.
    """
    starts = np.zeros(n_steps + 1, dtype=np.int64)
    # a step mostly moves one slot, but may move all
    slots = np.empty(n_steps + 2 * size, dtype=np.int64)
    sources = np.full(n_steps + 2 * size, -1, dtype=np.int64)
    end = 0
    for i in range(n_steps):
        if end + size > len(slots):
            slots = np.append(slots, np.empty_like(slots))
            sources = np.append(sources, np.full_like(sources, -1))
        if t <= size:
            slots[end] = t - 1
            end += 1
        elif policy == 0:  # FIFO
            slots[end] = (t - 1) % size
            end += 1
        elif policy == 1:  # RS
            slot = int(rng.random() * t)
            if slot < size:
                slots[end] = slot
                end += 1
        elif t == size + 1:  # repopulation
            for slot in range(size):
                source = int(rng.random() * t)
                if source != slot:
                    slots[end] = slot
                    sources[end] = source if source < size else -1
                    end += 1
        elif policy == 2:  # RS-x
            for slot in range(size):
                if rng.random() * t < 1.0:
                    slots[end] = slot
                    end += 1
        else:  # RS-x², the binomial by inversion: its mean is under 1
            p = 1.0 / t
            left = rng.random()
            # the chance of none is no less than 1 - size/t, which mostly settles it
            # (a float exponent, as Numba would round a whole one otherwise)
            chance = 1.0 if left < 1.0 - size * p else (1.0 - p) ** float(size)
            n_taken = 0
            while left >= chance and n_taken < size:
                left -= chance
                chance *= (size - n_taken) / (n_taken + 1) * p / (1.0 - p)
                n_taken += 1
            # Floyd's way to a random subset: one draw an element
            for last in range(size - n_taken, size):
                slot = int(rng.random() * (last + 1))
                for taken in slots[end - (last - size + n_taken) : end]:
                    if taken == slot:
                        slot = last
                        break
                slots[end] = slot
                end += 1
        t += 1
        starts[i + 1] = end
    return starts, slots[:end], sources[:end]


@compiled()
def _move(
    rows: Array, row_codes: Array, x: Array, code: int, moves: Any, i: int
) -> None:  # pragma: no cover
    """Carry out the moves of step i, after which point x of a class has come."""
    starts, slots, sources = moves
    # a slot may take a point from another that moves itself
    shuffled = False
    for j in range(starts[i], starts[i + 1]):
        shuffled = shuffled or sources[j] >= 0
    old_rows = rows.copy() if shuffled else rows
    old_codes = row_codes.copy() if shuffled else row_codes
    for j in range(starts[i], starts[i + 1]):
        slot, source = slots[j], sources[j]
        # by loops: an assignment of arrays takes Numba a second to compile
        if source < 0:
            for k in range(rows.shape[1]):
                rows[slot, k] = x[k]
            row_codes[slot] = code
        else:
            for k in range(rows.shape[1]):
                rows[slot, k] = old_rows[source, k]
            row_codes[slot] = old_codes[source]


@compiled(fastmath=_FAST)
def _dot(w: Array, rows: Array, i: int) -> float:  # pragma: no cover
    """Return the inner product of a vector and a row of a matrix."""
    # a view of the row would cost as much as a short product
    total = 0.0
    for k in range(len(w)):
        total += w[k] * rows[i, k]
    return total


@compiled()
def _minus_derivative(loss: int, margin: float) -> float:  # pragma: no cover
    """Return the negative slope of a loss, a position in `linear.losses.LOSSES`, at a margin."""
    if loss == 0:
        return 1.0 if margin < 1.0 else 0.0
    if loss == 1:
        return 2.0 * (1.0 - margin) if margin < 1.0 else 0.0
    if loss == 2:
        if margin > 0:
            tail = math.exp(-margin)
            return tail / (1.0 + tail)
        return 1.0 / (1.0 + math.exp(margin))
    if loss == 3:
        return math.exp(-margin)
    return 2.0 * (1.0 - margin)


@compiled()
def _list_members(row_codes: Array, members: Array, n_members: Array) -> None:  # pragma: no cover
    """List the slots of each class in `members` (2, size), and count them in `n_members` (2,)."""
    n_members[:] = 0
    for slot in range(len(row_codes)):
        code = row_codes[slot]
        if code >= 0:
            members[code, n_members[code]] = slot
            n_members[code] += 1


@compiled(fastmath=_FAST)
def olp_steps(
    X: Array, codes: Array, state: Any, moves: Any, loss: int, numbers: tuple[float, float, float]
) -> None:  # pragma: no cover
    """Take the steps of OLP (algorithm 8 of the thesis) over some points.

    `moves` are those of the buffer, `loss` is a position in `linear.losses.LOSSES`, and the
    numbers are `eta`, `regularization` and `radius` of :class:`kernlearn.pairwise.OLP`, inf for no
    bound.
    """
    eta, regularization, radius = numbers
    w, total, sums, counts, rows, row_codes = state
    n_features = X.shape[1]
    pulls = np.empty(n_features)
    members = np.empty((2, len(rows)), dtype=np.int64)
    n_members = np.zeros(2, dtype=np.int64)
    _list_members(row_codes, members, n_members)
    for i in range(len(X)):
        code = codes[i]
        counts[code] += 1
        t = counts[0] + counts[1]
        sign = 1.0 if code == 1 else -1.0
        pull = 0.0
        any_pull = False
        if n_members[1 - code]:
            score = _dot(w, X, i)
        pulls[:] = 0.0
        for j in range(n_members[1 - code]):
            slot = members[1 - code, j]
            strength = _minus_derivative(loss, sign * (score - _dot(w, rows, slot)))
            if strength != 0.0:
                any_pull = True
                pull += strength
                for k in range(n_features):
                    pulls[k] += strength * rows[slot, k]
        if any_pull or regularization > 0.0:
            shrink = 1.0 - 1.0 / t if regularization > 0.0 else 1.0
            rate = 1.0 / (regularization * t) if regularization > 0.0 else eta / math.sqrt(t)
            rate *= sign / max(n_members[0] + n_members[1], 1)
            for k in range(n_features):
                total[k] += counts[2] * w[k]
                w[k] = shrink * w[k] + rate * (pull * X[i, k] - pulls[k])
            length = 0.0
            for k in range(n_features):
                length += w[k] * w[k]
            length = math.sqrt(length)
            if length > radius:
                w *= radius / length
            counts[2] = 0
        counts[2] += 1
        for k in range(n_features):
            sums[code, k] += X[i, k]
        if moves.starts[i] < moves.starts[i + 1]:
            _move(rows, row_codes, X[i], code, moves, i)
            _list_members(row_codes, members, n_members)


@compiled(fastmath=_FAST)
def _oam_step(
    x: Array, sign: float, others: Array, weight: float, sequential: bool, w: Array, pulls: Array
) -> None:  # pragma: no cover
    """Take the step of OAM for a point x of label `sign` and weight C_t; `pulls` is scratch."""
    n_features = len(x)
    if sequential:
        for j in range(len(others)):
            product = 0.0
            length = 0.0
            for k in range(n_features):
                difference = x[k] - others[j, k]
                product += w[k] * difference
                length += difference * difference
            missing = 1.0 - sign * product
            if missing > 0.0 and length > 0.0:
                rate = sign * min(weight, missing / length)
                for k in range(n_features):
                    w[k] += rate * (x[k] - others[j, k])
        return
    score = 0.0
    for k in range(n_features):
        score += w[k] * x[k]
    pulls[:] = 0.0
    n_active = 0
    for j in range(len(others)):
        if sign * (score - _dot(w, others, j)) <= 1.0:
            n_active += 1
            for k in range(n_features):
                pulls[k] += others[j, k]
    if n_active:
        rate = sign * weight / 2.0
        for k in range(n_features):
            w[k] += rate * (n_active * x[k] - pulls[k])


@compiled()
def oam_steps(
    X: Array, codes: Array, state: Any, moves: Any, C: float, sequential: bool
) -> None:  # pragma: no cover
    """Take the steps of OAM over some points.

    `moves` are those of the buffers of both classes, one step for each point of the class. The
    first ``size // 2`` rows of the state are the buffer of the negative class. C is as in
    :class:`kernlearn.pairwise.OAM`, and `sequential` says whether it is OAM_seq.
    """
    w, total, sums, counts, rows, row_codes = state
    half = len(rows) // 2
    pulls = np.empty(X.shape[1])
    step = np.zeros(2, dtype=np.int64)
    for i in range(len(X)):
        x = X[i]
        code = codes[i]
        n_others = counts[1 - code]
        # the slots of the other class that are filled
        others = rows[half:][:n_others] if code == 0 else rows[:half][:n_others]
        if n_others:
            weight = C * max(1.0, n_others / len(others))
            _oam_step(x, 1.0 if code == 1 else -1.0, others, weight, sequential, w, pulls)
        own_moves = moves[0] if code == 0 else moves[1]
        if own_moves.starts[step[code]] < own_moves.starts[step[code] + 1]:
            own = slice(0, half) if code == 0 else slice(half, len(rows))
            _move(rows[own], row_codes[own], x, code, own_moves, step[code])
        for k in range(len(x)):
            sums[code, k] += x[k]
            total[k] += w[k]
        step[code] += 1
        counts[code] += 1
