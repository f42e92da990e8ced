"""Speed of the online learners for AUC, beside the same updates written in NumPy."""

from __future__ import annotations

import resource
from time import perf_counter

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from benchmarks._measure import Row, least_seconds, once
from kernlearn.pairwise import OAM, OLP
from kernlearn.pairwise.learners import Buffer

_MEGABYTE = 1024  # of ru_maxrss, which counts kilobytes


def run() -> list[Row]:
    """Measure on one thread."""
    with threadpool_limits(1):
        return _beside_numpy() + _growth() + _long_stream()


def _stream(n: int, d: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(n) < 0.3, 1, -1)
    X = rng.standard_normal((n, d)) + 0.5 * (y == 1)[:, np.newaxis] / np.sqrt(d)
    return X / np.linalg.norm(X, axis=1).max(), y


def _beside_numpy() -> list[Row]:
    rows = []
    X, y = _stream(20000, 123)
    for size, target in ((200, 20), (10, 30)):
        ours = OLP(size, radius=10.0, random_state=0)
        fit = least_seconds(lambda ours=ours: ours.fit(X, y), repeats=3)
        weights = {}

        def plain(size: int = size, weights: dict[str, NDArray[np.float64]] = weights) -> None:
            weights["numpy"] = _olp_in_numpy(X, y, size, 1.0, 10.0)

        peer = once(plain)
        what = f"OLP.fit, 20000 points, d = 123, s = {size}"
        rows.append(Row(f"NumPy loop / {what}", fit, peer / fit, at_least=target))
        difference = np.abs(ours.coef_[0] - weights["numpy"]).max()
        rows.append(Row(f"{what}: largest difference", fit, difference, at_most=1e-8))
        for variant in ("gradient", "sequential"):
            model = OAM(size, variant=variant, C=1e-2, random_state=0)
            seconds = least_seconds(lambda model=model: model.fit(X, y), repeats=3)
            rows.append(Row(f"OAM ({variant}) / {what}", seconds, seconds / fit))
    return rows


def _growth() -> list[Row]:
    """Seconds a step over s·d, from the smallest to the largest; 1 is linear growth."""
    rows = []
    for what, sizes in (
        ("s", [(100, 100), (200, 100), (400, 100)]),
        ("d", [(100, 100), (100, 200), (100, 400)]),
    ):
        costs = []
        for size, d in sizes:
            X, y = _stream(10000, d)
            fit = least_seconds(
                lambda X=X, y=y, size=size: OLP(size, random_state=0).fit(X, y), repeats=3
            )
            costs.append(fit / (len(X) * size * d))
        label = f"OLP.fit: cost of a step over s·d, {what} of 400 / {what} of 100"
        rows.append(Row(label, fit, costs[-1] / costs[0], at_most=1.25))
    return rows


def _long_stream() -> list[Row]:
    """Ten million points, made as they are learned from."""
    X, y = _stream(100_000, 20)
    model = OLP(100, random_state=0).partial_fit(X, y, classes=[-1, 1])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = perf_counter()
    for _ in range(100):
        model.partial_fit(X, y)
    seconds = perf_counter() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / _MEGABYTE
    what = "OLP, 10 million points, d = 20, s = 100"
    return [
        Row(f"{what}: microseconds a step", seconds, seconds / 10),
        Row(f"{what}: growth of peak memory, MB", seconds, grown, at_most=10),
    ]


def _olp_in_numpy(
    X: NDArray[np.float64], y: NDArray[np.int64], size: int, eta: float, radius: float
) -> NDArray[np.float64]:
    """Return the mean of OLP's iterates for the hinge loss, a 2-norm ball and RS-x²."""
    n, d = X.shape
    # as the estimator seeds its buffer from random_state=0
    moves = Buffer("rsx2", size, check_random_state(0)).moves(n)
    rows, labels, n_kept = np.zeros((size, d)), np.zeros(size), 0
    w, total = np.zeros(d), np.zeros(d)
    for t, (x, label) in enumerate(zip(X, y, strict=True), start=1):
        if n_kept:
            signs = (label - labels[:n_kept]) / 2
            pairs = signs[:, np.newaxis] * (x - rows[:n_kept])
            w = w + eta / np.sqrt(t) / n_kept * ((pairs @ w < 1) @ pairs)
            w *= min(1.0, radius / max(np.linalg.norm(w), 1e-300))
        total += w
        slots, sources = moves.of_step(t - 1)
        if len(slots):
            kept, kept_labels = rows.copy(), labels.copy()
            new = sources == -1
            rows[slots[new]], labels[slots[new]] = x, label
            rows[slots[~new]] = kept[sources[~new]]
            labels[slots[~new]] = kept_labels[sources[~new]]
            n_kept = min(n_kept + 1, size)
    return total / n
