"""The compiled steps of OLP and OAM, and the draws of their buffers.

Models that differ in the numbers of their steps alone share the buffer, since what it keeps does
not depend on weights. A step takes two products of matrices for all of them: the scores of the
buffered points of the other class, and the sums of those whose pairs have a loss.

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
_OAM_HINGE = -1


@compiled()
def _repopulate(
    size: int, rng: np.random.Generator, slots: Array, sources: Array
) -> int:  # pragma: no cover
    """Draw each slot anew from the buffer and the incoming point."""
    n_moves = 0
    for slot in range(size):
        source = int(rng.random() * (size + 1))
        if source != slot:
            slots[n_moves] = slot
            sources[n_moves] = source if source < size else -1
            n_moves += 1
    return n_moves


@compiled()
def _rs(size: int, t: int, rng: np.random.Generator, slots: Array) -> int:  # pragma: no cover
    """Let point t take a slot with probability size/t."""
    slots[0] = int(rng.random() * t)
    return 1 if slots[0] < size else 0


@compiled()
def _rsx(size: int, t: int, rng: np.random.Generator, slots: Array) -> int:  # pragma: no cover
    """Let point t take each slot with probability 1/t."""
    n_moves = 0
    for slot in range(size):
        if rng.random() * t < 1.0:
            slots[n_moves] = slot
            n_moves += 1
    return n_moves


@compiled()
def _rsx2(size: int, t: int, rng: np.random.Generator, slots: Array) -> int:  # pragma: no cover
    """Draw how many slots point t takes, then which."""
    # the binomial by inversion: its mean is under 1
    p = 1.0 / t
    left = rng.random()
    # the chance of none is no less than 1 - size/t, which mostly settles it
    # (a float exponent, as Numba would round a whole one otherwise)
    chance = 1.0 if left < 1.0 - size * p else (1.0 - p) ** float(size)
    n_moves = 0
    while left >= chance and n_moves < size:
        left -= chance
        chance *= (size - n_moves) / (n_moves + 1) * p / (1.0 - p)
        n_moves += 1
    # Floyd's way to a random subset: one draw an element
    for i in range(n_moves):
        last = size - n_moves + i
        slot = int(rng.random() * (last + 1))
        slots[i] = last if slot in slots[:i] else slot
    return n_moves


@compiled()
def _step_moves(
    policy: int, size: int, t: int, rng: np.random.Generator, slots: Array, sources: Array
) -> int:  # pragma: no cover
    """Write the moves after point t, and return how many there are."""
    if t <= size or policy == 0:  # FIFO
        slots[0] = (t - 1) % size
        return 1
    if policy == 1:
        return _rs(size, t, rng, slots)
    if t == size + 1:
        return _repopulate(size, rng, slots, sources)
    return _rsx(size, t, rng, slots) if policy == 2 else _rsx2(size, t, rng, slots)


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
        end += _step_moves(policy, size, t + i, rng, slots[end:], sources[end:])
        starts[i + 1] = end
    return starts, slots[:end], sources[:end]


@compiled()
def _put(state: Any, slot: int, point: Array, code: int) -> None:  # pragma: no cover
    """Write a point of a class to a slot, and keep the points of each class contiguous."""
    rows, places, counts = state.rows, state.places, state.counts
    size = len(rows)
    place = places[0, slot]
    old = 0 if place < counts[3] else 1
    if place >= 0 and old != code:
        # the innermost point of the old class fills the gap
        counts[3 + old] -= 1
        last = counts[3] if old == 0 else size - 1 - counts[4]
        for k in range(rows.shape[1]):
            rows[place, k] = rows[last, k]
        places[1, place] = places[1, last]
        places[0, places[1, place]] = place
    if place < 0 or old != code:
        place = counts[3] if code == 0 else size - 1 - counts[4]
        counts[3 + code] += 1
        places[0, slot] = place
        places[1, place] = slot
    # by loops: an assignment of arrays takes Numba a second to compile
    for k in range(rows.shape[1]):
        rows[place, k] = point[k]


@compiled()
def _move(
    state: Any, x: Array, code: int, moves: Any, i: int, first: int
) -> None:  # pragma: no cover
    """Carry out the moves of step i, after which point x of a class has come.

    Slot 0 of the moves is slot `first` of the state.
    """
    starts, slots, sources = moves
    # a slot may take a point from another that moves itself
    shuffled = (sources[starts[i] : starts[i + 1]] >= 0).any()
    rows = state.rows.copy() if shuffled else state.rows
    places = state.places.copy() if shuffled else state.places
    n_negative = state.counts[3]
    for j in range(starts[i], starts[i + 1]):
        if sources[j] < 0:
            _put(state, first + slots[j], x, code)
        else:
            place = places[0, first + sources[j]]
            _put(state, first + slots[j], rows[place], 0 if place < n_negative else 1)


@compiled()
def _of_other_class(state: Any, code: int) -> Array:  # pragma: no cover
    """Return the buffered points of the other class than `code`."""
    if code == 1:
        return state.rows[: state.counts[3]]
    return state.rows[len(state.rows) - state.counts[4] :]


@compiled(fastmath=_FAST)
def _dot(w: Array, m: int, x: Array) -> float:  # pragma: no cover
    """Return the inner product of a row of a matrix and a vector."""
    # a view of the row would cost as much as a short product
    total = 0.0
    for k in range(len(x)):
        total += w[m, k] * x[k]
    return total


@compiled()
def _minus_derivative(loss: int, margin: float) -> float:  # pragma: no cover
    """Return the negative slope of a loss at a margin.

    The loss is a position in `linear.losses.LOSSES`, or that of OAM: a hinge that counts at 1 too.
    """
    if loss == 0:
        return 1.0 if margin < 1.0 else 0.0
    if loss == _OAM_HINGE:
        return 1.0 if margin <= 1.0 else 0.0
    if loss == 1:
        return 2.0 * (1.0 - margin) if margin < 1.0 else 0.0
    if loss == 2:
        return 1.0 / (1.0 + math.exp(margin))
    if loss == 3:
        return math.exp(-margin)
    return 2.0 * (1.0 - margin)


@compiled(fastmath=_FAST)
def _sum_pulls(
    x: Array,
    sign: float,
    others: Array,
    w: Array,
    loss: int,
    sums: Array,
    pulls: Array,
    work: Array,
) -> bool:  # pragma: no cover
    """Sum the points of the other class by the negative slopes of their pairs with x.

    Writes to `sums` (n_models,) the sums of the slopes, and to `pulls` (n_models, n_features)
    those of the points; `work` is scratch. Returns whether any slope is not 0.
    """
    n_models = len(w)
    sums[:] = 0.0
    pulls[:] = 0.0
    if pulls.size == 0 or len(others) == 0:
        return False
    scores = work[:n_models]
    slopes = work[n_models : (len(others) + 1) * n_models].reshape((len(others), n_models))
    if n_models == 1:  # BLAS would be called for little
        only = w[0]
        for j in range(len(others)):
            slopes[j, 0] = _dot(others, j, only)
    else:
        np.dot(others, w.T, slopes)
    active = False
    for m in range(n_models):
        scores[m] = _dot(w, m, x)
    for j in range(len(others)):
        for m in range(n_models):
            slope = _minus_derivative(loss, sign * (scores[m] - slopes[j, m]))
            active |= slope != 0.0
            sums[m] += slope
            slopes[j, m] = slope
    if active and n_models == 1:
        for j in range(len(others)):
            if slopes[j, 0] != 0.0:
                for k in range(len(x)):
                    pulls[0, k] += slopes[j, 0] * others[j, k]
    elif active:
        np.dot(slopes.T, others, pulls)
    return active


@compiled(fastmath=_FAST)
def olp_steps(
    X: Array, codes: Array, state: Any, moves: Any, loss: int, numbers: Array
) -> None:  # pragma: no cover
    """Take the steps of OLP (algorithm 8 of the thesis) over some points, for several models.

    `moves` are those of the buffer, `loss` is a position in `linear.losses.LOSSES`, and the
    numbers of each model (n_models, 3) are `eta`, `regularization` and `radius` of
    :class:`kernlearn.pairwise.OLP`, NaN for no bound.
    """
    w, total, counts = state.w, state.total, state.counts
    n_models, n_features = w.shape
    sums = np.empty(n_models)
    pulls = np.empty((n_models, n_features))
    work = np.empty((len(state.rows) + 1) * n_models)
    regularized = numbers[:, 1].max() > 0.0
    for i in range(len(X)):
        x = X[i]
        code = codes[i]
        counts[code] += 1
        t = counts[0] + counts[1]
        sign = 1.0 if code == 1 else -1.0
        others = _of_other_class(state, code)
        active = _sum_pulls(x, sign, others, w, loss, sums, pulls, work)
        if active or regularized:
            n_held = max(counts[3] + counts[4], 1)
            for m in range(n_models):
                eta, regularization, radius = numbers[m]
                shrink = 1.0 - 1.0 / t if regularization > 0.0 else 1.0
                rate = 1.0 / (regularization * t) if regularization > 0.0 else eta / math.sqrt(t)
                rate *= sign / n_held
                length = 0.0
                for k in range(n_features):
                    total[m, k] += counts[2] * w[m, k]
                    w[m, k] = shrink * w[m, k] + rate * (sums[m] * x[k] - pulls[m, k])
                    length += w[m, k] * w[m, k]
                length = math.sqrt(length)
                if length > radius:
                    for k in range(n_features):
                        w[m, k] *= radius / length
            counts[2] = 0
        counts[2] += 1
        for k in range(n_features):
            state.sums[code, k] += x[k]
        if moves.starts[i] < moves.starts[i + 1]:
            _move(state, x, code, moves, i, 0)


@compiled(fastmath=_FAST)
def _pass_others(
    x: Array, sign: float, others: Array, w: Array, weights: Array
) -> None:  # pragma: no cover
    """Take the steps of OAM_seq for a point x and weights C_t."""
    for j in range(len(others)):
        # those of the positive class lie backwards
        other = j if sign > 0 else len(others) - 1 - j
        length = -1.0
        for m in range(len(w)):
            product = 0.0
            for k in range(len(x)):
                product += w[m, k] * (x[k] - others[other, k])
            missing = 1.0 - sign * product
            if missing > 0.0:
                if length < 0.0:
                    length = 0.0
                    for k in range(len(x)):
                        length += (x[k] - others[other, k]) ** 2
                if length > 0.0:
                    rate = sign * min(weights[m], missing / length)
                    for k in range(len(x)):
                        w[m, k] += rate * (x[k] - others[other, k])


@compiled(fastmath=_FAST)
def oam_steps(
    X: Array, codes: Array, state: Any, moves: Any, C: Array, sequential: bool
) -> None:  # pragma: no cover
    """Take the steps of OAM over some points, for several models.

    `moves` are those of the buffers of both classes, one step for each point of the class. The
    first ``size // 2`` slots of the state are the buffer of the negative class. C (n_models, 1) is
    as in :class:`kernlearn.pairwise.OAM`, and `sequential` says whether it is OAM_seq.
    """
    w, total, counts = state.w, state.total, state.counts
    n_models, n_features = w.shape
    weights, sums = np.empty((2, n_models))
    pulls = np.empty((n_models, n_features))
    work = np.empty((len(state.rows) + 1) * n_models)
    step = np.zeros(2, dtype=np.int64)
    for i in range(len(X)):
        x = X[i]
        code = codes[i]
        sign = 1.0 if code == 1 else -1.0
        others = _of_other_class(state, code)
        for m in range(n_models):
            weights[m] = C[m, 0] * max(1.0, counts[1 - code] / max(len(others), 1))
        if sequential:
            _pass_others(x, sign, others, w, weights)
        elif _sum_pulls(x, sign, others, w, _OAM_HINGE, sums, pulls, work):
            for m in range(n_models):
                rate = sign * weights[m] / 2.0
                for k in range(n_features):
                    w[m, k] += rate * (sums[m] * x[k] - pulls[m, k])
        for m in range(n_models):
            for k in range(n_features):
                total[m, k] += w[m, k]
        for k in range(n_features):
            state.sums[code, k] += x[k]
        of_class = moves[0] if code == 0 else moves[1]
        if of_class.starts[step[code]] < of_class.starts[step[code] + 1]:
            _move(state, x, code, of_class, step[code], code * (len(state.rows) // 2))
        step[code] += 1
        counts[code] += 1
