"""The compiled steps of OAM."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kernlearn.pairwise._steps import FAST, dot, move


@njit(cache=True, fastmath=FAST)
def _oam_step(
    x: NDArray[Any],
    sign: float,
    others: NDArray[Any],
    weight: float,
    sequential: bool,
    w: NDArray[Any],
    pulls: NDArray[Any],
) -> None:  # pragma: no cover
    """Take the step of OAM_gra or OAM_seq for one point.

    Parameters
    ----------
    x : ndarray of shape (n_features,)
        The point.
    sign : float
        Its label, 1 or -1.
    others : ndarray of shape (n_others, n_features)
        The buffered points of the other class.
    weight : float
        C_t.
    sequential : bool
        Whether it is OAM_seq.
    w : ndarray of shape (n_features,)
        The iterate, written to.
    pulls : ndarray of shape (n_features,)
        Scratch.
    """
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
    X: NDArray[Any],
    codes: NDArray[Any],
    moves: tuple[tuple[NDArray[Any], NDArray[Any], NDArray[Any]], ...],
    rows: tuple[NDArray[Any], NDArray[Any]],
    row_codes: tuple[NDArray[Any], NDArray[Any]],
    n_seen: NDArray[Any],
    n_kept: NDArray[Any],
    w: NDArray[Any],
    sums: NDArray[Any],
    C: float,
    sequential: bool,
) -> None:  # pragma: no cover
    """Take the steps of OAM over some points.

    Parameters
    ----------
    X : ndarray of shape (n_points, n_features)
        Dense, float64, C order.
    codes : ndarray of shape (n_points,), int
        Class of each, 0 or 1.
    moves : two tuples of three ndarrays
        Starts, slots and sources of the moves of each class's buffer, a step a point of the
        class.
    rows, row_codes : two ndarrays of shape (size, n_features), (size,)
        The buffer of each class, and whether a slot is taken (its class) or not (-1); written
        to.
    n_seen, n_kept : ndarray of shape (2,), int
        How many points of each class have been seen, and how many of its slots are taken;
        written to.
    w : ndarray of shape (n_features,)
        The iterate, written to.
    sums : ndarray of shape (2, n_features)
        The sum of the points of each class, written to.
    C : float
        As in :class:`kernlearn.pairwise.OAM`.
    sequential : bool
        Whether it is OAM_seq.
    """
    pulls = np.empty(X.shape[1])
    step = np.zeros(2, dtype=np.int64)
    for i in range(len(X)):
        x = X[i]
        code = codes[i]
        other = 1 - code
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
        step[code] += 1
        n_seen[code] += 1
