"""Speed of paths of C on pair features of letter, beside scikit-learn's loop and LIBLINEAR.

The features are FTUNE's: clip(s·(K(x, x⁺) − K(x, x⁻)), −1, 1) for 300 pairs, a row of the class
and one of the rest. Where letter is not there, points as many in as many classes are generated.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from benchmarks._measure import Row, least_seconds, once
from kernlearn.datasets import load
from kernlearn.exceptions import DataError
from kernlearn.kernels import GaussianKernel
from kernlearn.linear.liblinear import Settings, _train, feature_rows
from kernlearn.linear.models import linear_paths

Floats = NDArray[np.float64]

_CS = (1.0, 10.0, 100.0, 1000.0)
_N_ROWS = 10_000
_N_PAIRS = 300


def run() -> list[Row]:
    """Measure everything, on one thread."""
    with threadpool_limits(1):
        name, points, codes = _points()
        y = np.where(codes == 3, 1, -1)
        differences = _differences(points, y)
        rows = []
        for slope in (1, 10, 1000):
            features = np.clip(slope * differences, -1, 1)
            rows += _beside_others(f"{name}, slope {slope}", features, y)
        return [*rows, _logistic(name, differences, y), _shared(name, differences, codes)]


def _points() -> tuple[str, Floats, NDArray[np.intp]]:
    try:
        found = load("letter")
        name, X, y = "letter", found.data, found.target
    except DataError:
        name = "generated"
        X, y = make_classification(
            2 * _N_ROWS, 16, n_informative=12, n_classes=26, n_clusters_per_class=1, random_state=0
        )
    train = np.random.RandomState(0).permutation(len(X))[:_N_ROWS]
    return (
        name,
        StandardScaler().fit_transform(X[train]),
        np.unique(y[train], return_inverse=True)[1],
    )


def _differences(X: Floats, y: NDArray[np.int_]) -> Floats:
    """Return K(x, x⁺) − K(x, x⁻) for all points and random pairs."""
    rng = np.random.RandomState(1)
    one, other = (X[rng.choice(np.flatnonzero(y == sign), _N_PAIRS)] for sign in (1, -1))
    kernel = GaussianKernel("mean_distance").fit(X)
    return kernel(X, one) - kernel(X, other)


def _beside_others(what: str, features: Floats, y: NDArray[np.int_]) -> list[Row]:
    """Time four values of C, and compare the objectives that are reached."""
    ours = least_seconds(lambda: linear_paths(features, [y], _CS, fit_intercept=True), 3)
    models = [LinearSVC(C=C) for C in _CS]
    loop = once(lambda: [model.fit(features, y) for model in models])

    def liblinear() -> None:
        # The tolerance is relative to the gradient at 0, which grows with C: with the same one the
        # start would be accepted unchanged.
        rows, start = feature_rows(features, constant=True), None
        for C in _CS:
            tol = 0.01 * _CS[0] / C
            told = Settings(C, tol, np.ones(2))
            start, _ = _train(rows, y < 0, features.shape[1] + 1, told, start)

    warm = once(liblinear)
    (coef,), (intercept,) = linear_paths(features, [y], _CS, fit_intercept=True)
    worst = max(
        _objective(w, b, features, y, C)
        / _objective(model.coef_[0], model.intercept_[0], features, y, C)
        for w, b, C, model in zip(coef, intercept, _CS, models, strict=True)
    )
    return [
        Row(f"{what}: LinearSVC loop / newton", ours, loop / ours, at_least=4),
        Row(f"{what}: LIBLINEAR warm / newton", ours, warm / ours, at_least=4),
        Row(f"{what}: newton's objective / LinearSVC's, worst C", ours, worst, at_most=1),
    ]


def _objective(w: Floats, b: float, features: Floats, y: NDArray[np.int_], C: float) -> float:
    short = np.maximum(0, 1 - y * (features @ w + b))
    return float(0.5 * (w @ w + b * b) + C * (short @ short))


def _logistic(name: str, differences: Floats, y: NDArray[np.int_]) -> Row:
    features = np.clip(10 * differences, -1, 1)
    ours = least_seconds(lambda: linear_paths(features, [y], _CS, loss="logistic"), 1)
    models = [LogisticRegression(C=C, solver="liblinear", fit_intercept=False) for C in _CS]
    theirs = once(lambda: [model.fit(features, y) for model in models])
    return Row(f"{name}, slope 10, logistic: LIBLINEAR / newton", ours, theirs / ours)


def _shared(name: str, differences: Floats, codes: NDArray[np.intp]) -> Row:
    Y = np.where(codes == np.arange(26)[:, np.newaxis], 1, -1)
    together = once(lambda: linear_paths(differences, Y, _CS))
    alone = once(lambda: [linear_paths(differences, [y], _CS) for y in Y])
    return Row(f"{name}, 26 problems: one by one / together", together, alone / together)
