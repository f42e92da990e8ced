"""The online learners for AUC, slow and obvious."""

import numpy as np

from kernlearn.pairwise.learners import Buffer

LOSSES = {
    "hinge": lambda m: np.where(m < 1, -1.0, 0.0),
    "squared_hinge": lambda m: np.where(m < 1, 2 * (m - 1), 0.0),
    "logistic": lambda m: -1 / (1 + np.exp(m)),
    "exponential": lambda m: -np.exp(-m),
    "squared": lambda m: 2 * (m - 1),
}


def buffers(policy, sizes, seed):
    """Return the next moves of buffers whose seeds are drawn one after the other."""
    rng = np.random.RandomState(seed)
    made = [Buffer(policy, size, rng) for size in sizes]
    return [lambda buffer=buffer: buffer.moves(1).of_step(0) for buffer in made]


def move(kept, point, slots, sources):
    """Return what a buffer holds after some moves."""
    after = dict(enumerate(kept))
    for slot, source in zip(slots, sources, strict=True):
        after[int(slot)] = point if source == -1 else kept[source]
    return [after[slot] for slot in range(len(after))]


def project(w, radius):
    length = np.linalg.norm(w)
    return w if radius is None or length <= radius else w * radius / length


def olp(X, y, policy, size, seed=0, eta=1.0, radius=10.0, loss="hinge", regularization=0.0):
    """Return w_1, ..., w_n; labels are -1 and 1."""
    (moves,) = buffers(policy, [size], seed)
    w, kept, iterates = np.zeros(X.shape[1]), [], []
    for t, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        gradient = regularization * w
        for other, other_label in kept:
            sign = (label - other_label) / 2
            slope = LOSSES[loss](sign * (w @ (x - other)))
            gradient = gradient + slope * sign * (x - other) / len(kept)
        rate = 1 / (regularization * t) if regularization else eta / np.sqrt(t)
        w = project(w - rate * gradient, radius)
        iterates.append(w)
        kept = move(kept, (x, label), *moves())
    return np.array(iterates)


def best_for_all_pairs(X, y, weights, regularization):
    """Return the w of least weighted squared loss, by least squares over all pairs."""
    rows, targets = [np.sqrt(regularization) * np.eye(X.shape[1])], [np.zeros(X.shape[1])]
    up, down = np.flatnonzero(y == 1), np.flatnonzero(y == -1)
    for i in up:
        for j in down:
            share = weights[i] * weights[j] / weights[up].sum() / weights[down].sum()
            rows.append(np.sqrt(share) * (X[i] - X[j])[np.newaxis])
            targets.append([np.sqrt(share)])
    return np.linalg.lstsq(np.vstack(rows), np.concatenate(targets), rcond=None)[0]


def oam(X, y, policy, sizes, seed=0, C=1.0, variant="gradient"):
    """Return w_1, ..., w_n; sizes and labels are of -1 and 1."""
    moves = dict(zip((-1, 1), buffers(policy, sizes, seed), strict=True))
    kept, seen = {-1: [], 1: []}, {-1: 0, 1: 0}
    w, iterates = np.zeros(X.shape[1]), []
    for x, label in zip(X, y, strict=True):
        others = kept[-label]
        weight = C * max(1, seen[-label] / max(1, len(others)))
        if variant == "gradient":
            frozen = w
            for other in others:
                if label * (frozen @ (x - other)) <= 1:
                    w = w + weight / 2 * label * (x - other)
        else:
            for other in others:
                loss = max(0, 1 - label * (w @ (x - other)))
                if loss and (x != other).any():
                    w = w + min(weight, loss / ((x - other) ** 2).sum()) * label * (x - other)
        iterates.append(w)
        seen[label] += 1
        kept[label] = move(kept[label], x, *moves[label]())
    return np.array(iterates)


def stream(n, d, seed=0, shift=0.7):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, 1, -1)
    return rng.standard_normal((n, d)) + shift * (y == 1)[:, np.newaxis] / np.sqrt(d), y
