"""The online learners for AUC, slow and obvious."""

import numpy as np
from sklearn.utils import check_random_state

LOSSES = {
    "hinge": lambda m: np.where(m < 1, -1.0, 0.0),
    "squared_hinge": lambda m: np.where(m < 1, 2 * (m - 1), 0.0),
    "logistic": lambda m: -1 / (1 + np.exp(m)),
    "exponential": lambda m: -np.exp(-m),
    "squared": lambda m: 2 * (m - 1),
}


def generators(seed, n):
    seeds = check_random_state(seed)
    return [np.random.default_rng(seeds.randint(2**31 - 1)) for _ in range(n)]


def move(kept, point, slots, sources):
    """Return what a buffer holds after some moves."""
    after = dict(enumerate(kept))
    for slot, source in zip(slots, sources, strict=True):
        after[int(slot)] = point if source == -1 else kept[source]
    return [after[slot] for slot in range(len(after))]


def project(w, radius, norm):
    if np.linalg.norm(w, norm) <= radius:
        return w
    if norm == 2:
        return w * radius / np.linalg.norm(w)
    low, high = 0.0, np.abs(w).max()
    for _ in range(200):
        level = (low + high) / 2
        if np.maximum(np.abs(w) - level, 0).sum() > radius:
            low = level
        else:
            high = level
    return np.sign(w) * np.maximum(np.abs(w) - level, 0)


def olp(X, y, policy, seed=0, eta=1.0, radius=10.0, loss="hinge", norm="l2", regularization=0.0):
    """Return w_1, ..., w_n; labels are -1 and 1."""
    (rng,) = generators(seed, 1)
    w, kept, iterates = np.zeros(X.shape[1]), [], []
    for t, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        gradient = regularization * w
        for other, other_label in kept:
            sign = (label - other_label) / 2
            slope = LOSSES[loss](sign * (w @ (x - other)))
            gradient = gradient + slope * sign * (x - other) / len(kept)
        rate = 1 / (regularization * t) if regularization else eta / np.sqrt(t)
        w = project(w - rate * gradient, np.inf if radius is None else radius, int(norm[1]))
        iterates.append(w)
        kept = move(kept, (x, label), *policy.update(t, len(kept), rng))
    return np.array(iterates)


def oam(X, y, policies, seed=0, C=1.0, variant="gradient"):
    """Return w_1, ..., w_n; policies and labels are of -1 and 1."""
    rngs = dict(zip((-1, 1), generators(seed, 2), strict=True))
    policies = dict(zip((-1, 1), policies, strict=True))
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
        moves = policies[label].update(seen[label], len(kept[label]), rngs[label])
        kept[label] = move(kept[label], x, *moves)
    return np.array(iterates)


def stream(n, d, seed=0, shift=0.7):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, 1, -1)
    return rng.standard_normal((n, d)) + shift * (y == 1)[:, np.newaxis] / np.sqrt(d), y
