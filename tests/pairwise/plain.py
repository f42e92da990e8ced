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


VALUES = {
    "hinge": lambda m: max(0.0, 1 - m),
    "squared_hinge": lambda m: max(0.0, 1 - m) ** 2,
    "logistic": lambda m: np.log1p(np.exp(-m)),
    "exponential": lambda m: np.exp(-m),
    "squared": lambda m: (1 - m) ** 2,
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


def class_balanced(size, half_life=None):
    """Return a function from a buffer's labels, a label, what came so far and draws to a slot."""

    def slot(labels, label, past, draw):
        own = [i for i, other in enumerate(labels) if other == label]
        others = [i for i, other in enumerate(labels) if other != label]
        if len(others) >= len(own) + 2 or not own:
            return others[int(draw[0] * len(others))]
        if half_life is None:
            share = len(own) / sum(other == label for other, _ in past)
        else:
            share = min(1.0, len(own) * (1 - 2 ** (-1 / half_life)))
        return own[int(draw[0] / share * len(own))] if draw[0] < share else None

    return slot


def loss_weighted(size):
    def slot(labels, label, past, draw):
        total = sum(loss for _, loss in past)
        admitted = total > 0 and draw[0] < size * past[-1][1] / total
        return int(draw[1] * size) if admitted else None

    return slot


def olp_aware(X, y, size, slot_for, seed=0, eta=1.0, radius=10.0, loss="hinge"):
    """Return w_1, ..., w_n and the labels in the buffer; labels are -1 and 1."""
    (rng,) = generators(seed, 1)
    w, kept, past, iterates = np.zeros(X.shape[1]), [], [], []
    for t, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        draw = rng.random(2)
        pairs = [label * (x - other) for other, theirs in kept if theirs != label]
        losses = [VALUES[loss](w @ pair) for pair in pairs] or [VALUES[loss](0.0)]
        past.append((label, np.mean(losses)))
        gradient = sum((LOSSES[loss](w @ pair) * pair for pair in pairs), np.zeros(len(w)))
        w = project(w - eta / np.sqrt(t) * gradient / max(1, len(kept)), radius, 2)
        iterates.append(w)
        if len(kept) < size:
            kept.append((x, label))
        else:
            slot = slot_for([theirs for _, theirs in kept], label, past, draw)
            if slot is not None:
                kept[slot] = (x, label)
    return np.array(iterates), [theirs for _, theirs in kept]


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
