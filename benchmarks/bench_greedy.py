"""Speed of a greedy path over a pool of landmarks, beside scikit-learn's matching pursuit.

The features are the Manhattan similarities of california_housing, all points to a pool of 500,
scaled to norm 1. Where the data set is not there, as many points are generated.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_friedman1
from sklearn.linear_model import OrthogonalMatchingPursuit
from sklearn.preprocessing import StandardScaler, normalize
from threadpoolctl import threadpool_limits

from benchmarks._measure import Row, once
from kernlearn.datasets import load
from kernlearn.exceptions import DataError
from kernlearn.kernels import ManhattanSimilarity
from kernlearn.landmarks.sparse import fully_corrective_path

Floats = NDArray[np.float64]

_N_ROWS = 20_000
_N_POOL = 500
_MOST = 50


def run() -> list[Row]:
    """Measure everything, on one thread."""
    with threadpool_limits(1):
        name, F, y = _problem()
        # in turn, so that both meet the same load
        times = [
            (once(lambda: fully_corrective_path(F, y, _MOST)), once(lambda: _pursuit(F, y, _MOST)))
            for _ in range(8)
        ]
        ours, single = np.min(times, axis=0).tolist()
        pursuits: list[OrthogonalMatchingPursuit] = []
        each = once(lambda: pursuits.extend(_pursuit(F, y, k) for k in range(1, _MOST + 1)))
        path = fully_corrective_path(F, y, _MOST)
    same = [
        set(np.flatnonzero(pursuit.coef_)) == set(path.columns[:k])
        for k, pursuit in enumerate(pursuits, start=1)
    ]
    apart = max(
        float(np.abs(F @ pursuit.coef_ - F[:, path.columns] @ weights).max())
        for pursuit, weights in zip(pursuits, path.coef, strict=True)
    )
    what = f"{name}, {_N_POOL} candidates, k = 1 to {_MOST}"
    return [
        Row(f"{what}: pursuit for each k / path", ours, each / ours, at_least=20),
        Row(f"{what}: path / one pursuit for k = {_MOST}", ours, ours / single, at_most=1),
        Row(f"{what}: share of k with the same support", ours, float(np.mean(same)), at_least=1),
        Row(f"{what}: greatest difference of predictions", ours, apart, at_most=1e-6),
    ]


def _problem() -> tuple[str, Floats, Floats]:
    try:
        found = load("california_housing")
        name, X, y = "california_housing", found.data, found.target
    except DataError:
        name = "generated"
        X, y = make_friedman1(_N_ROWS, 8, noise=1.0, random_state=0)
    rows = np.random.RandomState(0).permutation(len(X))[:_N_ROWS]
    X = StandardScaler().fit_transform(X[rows])
    similarities = ManhattanSimilarity()(X, X[:_N_POOL])
    return name, normalize(similarities, axis=0), y[rows] / np.abs(y).max()


def _pursuit(F: Floats, y: Floats, k: int) -> OrthogonalMatchingPursuit:
    return OrthogonalMatchingPursuit(n_nonzero_coefs=k, fit_intercept=False).fit(F, y)
