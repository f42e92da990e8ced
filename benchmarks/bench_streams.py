"""Speed of learners from streams: an item at a time, beside river, and in arrays."""

from __future__ import annotations

import pickle
import resource
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks._measure import Row, least_cpu_seconds
from kernlearn.pairwise import OAM, OLP, AllPairsMoments

_MEGABYTE = 1024  # of ru_maxrss, which counts kilobytes

Items = list[dict[str, float]]


def run() -> list[Row]:
    """Measure on one thread, in seconds of processor time."""
    with threadpool_limits(1):
        return _items() + _beside_river() + _arrays() + _memory()


def _stream(n: int, d: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.3
    return rng.standard_normal((n, d)) + 0.5 * y[:, np.newaxis] / np.sqrt(d), y


def _as_items(X: NDArray[np.float64]) -> Items:
    names = [f"feature {i}" for i in range(X.shape[1])]
    return [dict(zip(names, row, strict=True)) for row in X.tolist()]


def _learning(model: Any, items: Items, labels: list[bool]) -> Callable[[], None]:
    def learn() -> None:
        for x, y in zip(items, labels, strict=True):
            model.learn_one(x, y)

    return learn


def _items() -> list[Row]:
    """Items a second, of learning alone and of prediction before it."""
    rows = []
    for d, size in ((5, 50), (20, 10), (20, 50), (20, 200), (100, 50), (500, 50)):
        X, y = _stream(5000, d)
        items, labels = _as_items(X), y.tolist()
        seconds = least_cpu_seconds(_learning(OLP(size, random_state=0), items, labels))
        least = 20_000 if (d, size) == (20, 50) else None
        what = f"OLP.learn_one, d = {d}, s = {size}: items a second"
        rows.append(Row(what, seconds, len(items) / seconds, at_least=least))
    X, y = _stream(5000, 20)
    items, labels = _as_items(X), y.tolist()
    for model in (OAM(50, C=1e-3, random_state=0), AllPairsMoments(half_life=1000.0)):
        seconds = least_cpu_seconds(_learning(model, items, labels))
        what = f"{type(model).__name__}: learn_one, d = 20: items a second"
        rows.append(Row(what, seconds, len(items) / seconds, at_least=20_000))
    model = OLP(50, random_state=0)

    def progressive() -> None:
        for x, label in zip(items, labels, strict=True):
            model.predict_one(x)
            model.learn_one(x, label)

    seconds = least_cpu_seconds(progressive)
    what = "OLP: predict_one, then learn_one, d = 20, s = 50: items a second"
    return [*rows, Row(what, seconds, len(items) / seconds, at_least=20_000)]


def _beside_river() -> list[Row]:
    """Compare with river's logistic regression on the same items, and with rows of arrays."""
    rows = []
    for d in (20, 100):
        X, y = _stream(3000, d)
        items, labels = _as_items(X), y.tolist()
        ours = _learning(OLP(50, random_state=0), items, labels)
        by_row = OLP(50, random_state=0).partial_fit(X[:1], y[:1], classes=[False, True])

        def one_by_one(model: OLP = by_row, X: Any = X, y: Any = y) -> None:
            for i in range(300):
                model.partial_fit(X[i : i + 1], y[i : i + 1])

        works = [ours, one_by_one]
        try:
            from river import linear_model
        except ImportError:
            pass
        else:
            works.append(_learning(linear_model.LogisticRegression(), items, labels))
        seconds, rowwise, *rivers = map(least_cpu_seconds, works)
        what = f"OLP.learn_one, d = {d}, s = 50"
        rows.append(Row(f"partial_fit row by row / {what}", seconds, 10 * rowwise / seconds))
        name = f"river's logistic regression / {what}"
        rows += [Row(name, seconds, other / seconds) for other in rivers]
    return rows


def _arrays() -> list[Row]:
    X, y = _stream(200_000, 20)
    rows = []
    for model, least in (
        (OLP(50, random_state=0), None),
        (AllPairsMoments(), 1e6),
        (AllPairsMoments(half_life=1000.0), 1e6),
    ):
        model.partial_fit(X[:10], y[:10], classes=[False, True])
        seconds = least_cpu_seconds(lambda model=model: model.partial_fit(X, y))
        half = getattr(model, "half_life", None)
        name = type(model).__name__ + (f", half-life {half:g}" if half else "")
        what = f"{name}.partial_fit, arrays, d = 20: points a second"
        rows.append(Row(what, seconds, len(X) / seconds, at_least=least))
    return rows


def _memory() -> list[Row]:
    X, y = _stream(10_000, 20)
    items, labels = _as_items(X), y.tolist()
    model = OLP(50, random_state=0)
    learn = _learning(model, items, labels)
    learn()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds = least_cpu_seconds(learn, repeats=30)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / _MEGABYTE
    size = len(pickle.dumps(model)) / 1000
    what = "OLP, 300000 items, d = 20, s = 50"
    return [
        Row(f"{what}: growth of peak memory, MB", seconds, grown, at_most=5),
        Row(f"{what}: the pickled model, kB", seconds, size),
    ]
