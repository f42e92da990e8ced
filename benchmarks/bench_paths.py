"""A list of ten values beside one value, for each estimator with a path: seconds, and the scores.

The path is consumed as the runner does: all values are fitted and evaluated on held-out rows. One
value is a fit and its evaluation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks._measure import Row, least_in_turns
from kernlearn.features import MaclaurinSVM
from kernlearn.landmarks import KernelRegressor, ORLand, RegLand, SparseRegLand
from kernlearn.pairwise import OAM, OLP, AllPairsSVM
from kernlearn.svm import KernelSVM
from kernlearn.voted import VotedKernelClassifier

_TEN = np.geomspace(1e-2, 1e2, 10).tolist()
_SEED = {"random_state": 0}


def run() -> list[Row]:
    """Measure everything, on one thread."""
    classes = _split(*make_classification(4000, 20, n_informative=10, random_state=0))
    numbers = _split(*make_regression(6000, 20, n_informative=10, noise=1.0, random_state=0))
    grades = _graded(numbers)
    few = _split(*make_classification(400, 10, n_informative=5, random_state=0))
    ridges = {"ridge": _TEN}
    cases: list[tuple[Any, Any, dict[str, list[float]], float]] = [
        (KernelSVM(), classes, {"C": _TEN}, 4),
        (MaclaurinSVM(n_components=500, **_SEED), classes, {"C": _TEN}, 3),
        (RegLand(300, **_SEED), numbers, {"C": _TEN}, 3),
        (ORLand(300, **_SEED), grades, {"C": _TEN}, 3),
        (SparseRegLand(100, pool_size=500, **_SEED), numbers, ridges, 3),
        (KernelRegressor("manhattan"), numbers, {"bandwidth": _TEN}, 3),
        (OLP(buffer_size=50, **_SEED), classes, {"eta": _TEN}, 3),
        (OAM(buffer_size=50, **_SEED), classes, {"C": _TEN}, 3),
        (AllPairsSVM(), classes, {"regularization": _TEN}, 3),
        (VotedKernelClassifier(**_SEED), few, {"beta": np.geomspace(1e-4, 1, 10).tolist()}, 3),
    ]
    with threadpool_limits(1):
        return [_compared(*case) for case in cases]


def _split(X: Any, y: Any) -> tuple[Any, ...]:
    X = StandardScaler().fit_transform(X)
    X /= np.linalg.norm(X, axis=1).max()
    if y.dtype.kind == "f":
        y = y / np.abs(y).max()
    n = len(y) * 4 // 5
    return X[:n], y[:n], X[n:]


def _graded(numbers: Any) -> tuple[Any, ...]:
    X, y, X_val = numbers
    return X, np.digitize(y, np.quantile(y, [0.2, 0.4, 0.6, 0.8])), X_val


def _compared(model: Any, data: Any, grid: dict[str, list[float]], at_most: float) -> Row:
    X, y, X_val = data
    ((name, values),) = grid.items()
    middle = clone(model).set_params(**{name: values[len(values) // 2]})

    def path() -> None:
        for fits in model.path(X, y, grid):
            fits.outputs("predict", X_val)

    def one() -> None:
        clone(middle).fit(X, y).predict(X_val)

    ten, single = least_in_turns(path, one, repeats=3)
    what = f"{type(model).__name__}: ten values of {name} / one value"
    return Row(what, ten, ten / single, at_most=at_most)
