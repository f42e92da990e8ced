"""Speed of DBOOST, beside scikit-learn's AdaBoost with stumps on the same differences."""

from __future__ import annotations

from time import perf_counter

import numpy as np
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from benchmarks._measure import Row, least_seconds, once
from kernlearn.config.model import Protocol
from kernlearn.datasets import catalogue, load, locate
from kernlearn.engine.preparation import prepare
from kernlearn.kernels import GaussianKernel
from kernlearn.landmarks import DBoostClassifier

_ROUNDS = 30
_PROTOCOL = Protocol(
    train=0.5,
    scale=["zscore"],
    max_train=None,
    max_test=None,
    validation=0.2,
    seed=2013,
    threads=1,
)


def run() -> list[Row]:
    """Measure on one thread."""
    with threadpool_limits(1):
        return _beside_scikit_learn() + _letter()


def _beside_scikit_learn() -> list[Row]:
    X, y = make_classification(4000, 20, n_informative=15, random_state=0)
    kernel = GaussianKernel().fit(X)
    rng = np.random.RandomState(0)
    positive, negative = (X[rng.choice(np.flatnonzero(y == c), 300)] for c in (1, 0))
    ours = DBoostClassifier(_ROUNDS, pool_size=300, random_state=0)
    theirs = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=1), n_estimators=_ROUNDS, random_state=0
    )

    def features() -> np.ndarray:
        return kernel(X, positive) - kernel(X, negative)

    fit = least_seconds(lambda: ours.fit(X, y), repeats=3)
    peer = once(lambda: theirs.fit(features(), y))
    accuracies = ours.score(X, y), theirs.score(features(), y)
    what = f"DBoostClassifier.fit, 4000 points, 300 pairs, {_ROUNDS} rounds"
    return [
        Row(f"scikit-learn AdaBoost, stumps / {what}", fit, peer / fit, at_least=10),
        Row(
            f"{what}: training accuracy less scikit-learn's",
            fit,
            accuracies[0] - accuracies[1],
            at_least=-0.01,
        ),
    ]


def _letter() -> list[Row]:
    if locate(catalogue()["letter"]) is None:
        print("dboost: letter left out, not found (set KERNLEARN_DATA)")
        return []
    data = load("letter")
    parts = prepare(data, np.asarray(data.target), _PROTOCOL, 0)
    rows = []
    for n_landmarks in (30, 300):
        model = DBoostClassifier(n_landmarks, pool_size=300, random_state=0)
        start = perf_counter()
        model.fit(parts.train.X, parts.train.y)
        fit = perf_counter() - start
        predict = once(lambda model=model: model.predict(parts.test.X))
        what = f"letter, pool of 300, {n_landmarks} rounds"
        rows.append(Row(f"{what}: fit, seconds", fit, fit, at_most=40))
        rows.append(Row(f"{what}: predict / fit", predict, predict / fit))
    return rows
