"""The compiled steps of OLP and OAM.

A step makes two passes over the buffered points of the other class: their scores, and the sum of
those whose pairs have a loss. Shapes: X (n_points, n_features) is dense, float64, in C order, and
`codes` (n_points,) the class of each point, 0 or 1; the rows of a buffer are (size, n_features),
their classes `row_codes` (size,) are -1 for an empty slot; `sums` (2, n_features) are those of
the points of each class. Functions write to the buffer, the weights and the sums.
"""

import math
from typing import Any, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kernlearn.pairwise.buffers import Moves
from kernlearn.pairwise.drift_buffers import compiled_choose_slot
from kernlearn.pairwise.score_steps import FAST, dot, mean_score, observe

Array: TypeAlias = NDArray[Any]

#: Codes of the norms of balls to project onto.
NORM_CODES = {"l2": 2, "l1": 1}


@njit(cache=True)
def loss_value(loss: int, margin: float) -> float:  # pragma: no cover
    """Return the loss of a margin, by the numbers of :func:`olp_steps`."""
    if loss == 0:
        return max(0.0, 1.0 - margin)
    if loss == 1:
        return max(0.0, 1.0 - margin) ** 2
    if loss == 2:
        return math.log1p(math.exp(-abs(margin))) + max(0.0, -margin)
    if loss == 3:
        return math.exp(-margin)
    return (1.0 - margin) ** 2


@njit(cache=True)
def minus_derivative(loss: int, margin: float) -> float:  # pragma: no cover
    """Return the negative slope of the loss at a margin, by the numbers of :func:`olp_steps`."""
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


@njit(cache=True, fastmath=FAST)
def project(w: Array, radius: float, norm: int) -> None:  # pragma: no cover
    """Project w onto a ball of one of `NORM_CODES`; the radius may be infinite."""
    if norm == 2:
        length = 0.0
        for k in range(len(w)):
            length += w[k] * w[k]
        length = math.sqrt(length)
        if length > radius:
            w *= radius / length
        return
    length = 0.0
    for k in range(len(w)):
        length += abs(w[k])
    if length <= radius:
        return
    # soft thresholding, at the level with which the sum is the radius
    largest = np.sort(np.abs(w))[::-1]
    above = -radius
    level = 0.0
    for k in range(len(w)):
        above += largest[k]
        if largest[k] * (k + 1) <= above:
            break
        level = above / (k + 1)
    for k in range(len(w)):
        left = abs(w[k]) - level
        w[k] = 0.0 if left <= 0 else math.copysign(left, w[k])


@njit(cache=True)
def move(
    rows: Array, row_codes: Array, x: Array, code: int, slots: Array, sources: Array
) -> None:  # pragma: no cover
    """Carry out the moves of one step, see :meth:`kernlearn.pairwise.Buffer.update`."""
    # a slot may take a point from another that moves itself
    shuffled = len(sources) > 0 and sources.max() >= 0
    old_rows = rows.copy() if shuffled else rows
    old_codes = row_codes.copy() if shuffled else row_codes
    for slot, source in zip(slots, sources):  # noqa: B905  (strict= is beyond Numba)
        # by loops: an assignment of arrays takes Numba a second to compile
        if source < 0:
            for k in range(rows.shape[1]):
                rows[slot, k] = x[k]
            row_codes[slot] = code
        else:
            for k in range(rows.shape[1]):
                rows[slot, k] = old_rows[source, k]
            row_codes[slot] = old_codes[source]


@njit(cache=True)
def list_members(row_codes: Array, members: Array, n_members: Array) -> None:  # pragma: no cover
    """List the slots of each class in `members` (2, size), and count them in `n_members` (2,)."""
    n_members[:] = 0
    for slot in range(len(row_codes)):
        code = row_codes[slot]
        if code >= 0:
            members[code, n_members[code]] = slot
            n_members[code] += 1


_choose_slot = compiled_choose_slot()


@njit(cache=True)
def next_slot(
    aware: int,
    chance: float,
    code: int,
    loss: float,
    row_codes: Array,
    n_kept: int,
    state: Array,
    draws: Array,
) -> int:  # pragma: no cover
    """Return the slot that a point takes in a stream-aware buffer, or -1; counts it in `state`."""
    state[code] += 1.0
    state[2] += loss
    if n_kept < len(row_codes):
        return n_kept
    return _choose_slot(aware, chance, code, loss, row_codes, state, draws)


@njit(cache=True, fastmath=FAST)
def olp_steps(
    X: Array,
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
    """Take the steps of OLP (algorithm 8 of the thesis) over some points.

    Parameters
    ----------
    moves : Moves
        Those of the buffer.
    t : int
        Number of the first point.
    w, total : ndarray of shape (n_features,)
        The iterate, and the sum of the earlier ones that are not equal to it.
    run : int
        Number of iterates that are equal to `w` and not in `total`.
    loss : int
        0 hinge, 1 squared hinge, 2 logistic, 3 exponential, 4 squared.
    eta, regularization, radius, norm, average
        As in :class:`kernlearn.pairwise.OLP`; the norm as one of `NORM_CODES`.
    link : ndarray of shape (2, 3) or (0, 3)
        What is known of the scores of each class, see :func:`observe`; empty if not asked for.
    aware, chance : int, float
        The policy of a stream-aware buffer, as of :func:`choose_slot`; -1 for one with `moves`.
    state, draws : ndarrays of shape (3,), (n_points, 2)
        As in :meth:`AwareBuffer.choose`.

    Returns
    -------
    int
        `run` after the last point.
    """
    starts, slots, sources = moves
    n_features = X.shape[1]
    pulls = np.empty(n_features)
    members = np.empty((2, len(rows)), dtype=np.int64)
    n_members = np.zeros(2, dtype=np.int64)
    own_slot = np.zeros(1, dtype=np.int64)
    incoming = np.full(1, -1, dtype=np.int64)
    list_members(row_codes, members, n_members)
    for i in range(len(X)):
        code = codes[i]
        n_others = n_members[1 - code]
        sign = 1.0 if code == 1 else -1.0
        pull = 0.0
        mean_loss = 0.0
        any_pull = False
        if len(link):
            if average:
                observe(link, code, mean_score(X[i], w, total, run, t - 1))
            else:
                observe(link, code, mean_score(X[i], w, total[:0], 1.0, 1.0))
        if n_others:
            score = dot(w, X, i)
            pulls[:] = 0.0
        for j in range(n_others):
            slot = members[1 - code, j]
            margin = sign * (score - dot(w, rows, slot))
            strength = minus_derivative(loss, margin)
            if aware >= 0:
                mean_loss += loss_value(loss, margin) / n_others
            if strength != 0.0:
                any_pull = True
                pull += strength
                for k in range(n_features):
                    pulls[k] += strength * rows[slot, k]
        if any_pull or regularization > 0.0:
            shrink = 1.0 - 1.0 / t if regularization > 0.0 else 1.0
            rate = 1.0 / (regularization * t) if regularization > 0.0 else eta / math.sqrt(t)
            if any_pull:
                rate *= sign / (n_members[0] + n_members[1])
                for k in range(n_features):
                    total[k] += run * w[k]
                    w[k] = shrink * w[k] + rate * (pull * X[i, k] - pulls[k])
                project(w, radius, norm)
            else:
                for k in range(n_features):
                    total[k] += run * w[k]
                    w[k] *= shrink
            run = 0
        run += 1
        for k in range(n_features):
            sums[code, k] += X[i, k]
        if aware >= 0:
            if n_others == 0:
                mean_loss = loss_value(loss, 0.0)
            n_kept = n_members[0] + n_members[1]
            own_slot[0] = next_slot(
                aware, chance, code, mean_loss, row_codes, n_kept, state, draws[i]
            )
            if own_slot[0] >= 0:
                move(rows, row_codes, X[i], code, own_slot, incoming)
                list_members(row_codes, members, n_members)
        else:
            start, end = starts[i], starts[i + 1]
            if start < end:
                move(rows, row_codes, X[i], code, slots[start:end], sources[start:end])
                list_members(row_codes, members, n_members)
        t += 1
    return run


@njit(cache=True, fastmath=FAST)
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
        if sign * (score - dot(w, others, j)) <= 1.0:
            n_active += 1
            for k in range(n_features):
                pulls[k] += others[j, k]
    if n_active:
        rate = sign * weight / 2.0
        for k in range(n_features):
            w[k] += rate * (n_active * x[k] - pulls[k])


@njit(cache=True)
def oam_steps(
    X: Array,
    codes: Array,
    moves: tuple[Moves, ...],
    rows: tuple[Array, Array],
    row_codes: tuple[Array, Array],
    n_seen: Array,
    n_kept: Array,
    w: Array,
    w_sum: Array,
    sums: Array,
    C: float,
    sequential: bool,
    average: bool,
    link: Array,
) -> None:  # pragma: no cover
    """Take the steps of OAM over some points.

    Parameters
    ----------
    moves : two Moves
        Those of each class's buffer, one step per point of the class.
    rows, row_codes : two ndarrays each
        The buffer of each class.
    n_seen, n_kept : ndarray of shape (2,), int
        Numbers of points of each class seen, and of its filled slots; written to.
    w, w_sum
        The weights, and their sum over the points seen; written to.
    C, sequential, average
        As in :class:`kernlearn.pairwise.OAM`; whether it is OAM_seq.
    link
        As in :func:`olp_steps`.
    """
    pulls = np.empty(X.shape[1])
    step = np.zeros(2, dtype=np.int64)
    for i in range(len(X)):
        x = X[i]
        code = codes[i]
        other = 1 - code
        if len(link):
            if average:
                observe(link, code, mean_score(x, w, w_sum, 0.0, n_seen[0] + n_seen[1]))
            else:
                observe(link, code, mean_score(x, w, w_sum[:0], 1.0, 1.0))
        if n_kept[other]:
            others = (rows[1] if code == 0 else rows[0])[: n_kept[other]]
            weight = C * max(1.0, n_seen[other] / n_kept[other])
            _oam_step(x, 1.0 if code == 1 else -1.0, others, weight, sequential, w, pulls)
        starts, slots, sources = moves[0] if code == 0 else moves[1]
        start, end = starts[step[code]], starts[step[code] + 1]
        if start < end:
            own_rows = rows[0] if code == 0 else rows[1]
            own_codes = row_codes[0] if code == 0 else row_codes[1]
            move(own_rows, own_codes, x, code, slots[start:end], sources[start:end])
            while n_kept[code] < len(own_codes) and own_codes[n_kept[code]] >= 0:
                n_kept[code] += 1
        for k in range(len(x)):
            sums[code, k] += x[k]
            w_sum[k] += w[k]
        step[code] += 1
        n_seen[code] += 1
