"""Moments and losses that need several passes, beside the same models in memory, on real data.

All rows of cod_rna and ijcnn1, three tenths of them to test on, H0/1 features of the degree-10
polynomial kernel. In memory the features of all rows are kept; scikit-learn's RidgeClassifierCV
and LogisticRegression, and `LinearSVM` for the hinges, take the same penalties. Each pass makes
them anew, from chunks.

It needs the data sets, see `kernlearn datasets`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks._measure import Row, once
from kernlearn.datasets import load, row_source
from kernlearn.features import RandomMaclaurin
from kernlearn.kernels import PolynomialKernel
from kernlearn.onepass import MultiPassClassifier, OnePassRidgeClassifier
from kernlearn.solvers import LinearSVM

D, C, CHUNK = 200, 1.0, 8192


def run() -> list[Row]:
    """Measure both data sets on one thread."""
    with threadpool_limits(1):
        return [row for name in ("cod_rna", "ijcnn1") for row in _data_set(name)]


def _data_set(name: str) -> Iterator[Row]:
    data = load(name)
    X, y = data.data, np.asarray(data.target)
    X = StandardScaler().fit_transform(X.toarray() if hasattr(X, "toarray") else X)
    X /= np.linalg.norm(X, axis=1).max()
    held = np.random.RandomState(0).permutation(len(y)) < 0.3 * len(y)
    rows, labels = X[~held], y[~held]

    def chunks() -> Iterator[tuple[Any, Any]]:
        for start in range(0, len(labels), CHUNK):
            yield rows[start : start + CHUNK], labels[start : start + CHUNK]

    feature_map = RandomMaclaurin(PolynomialKernel(10), D, h01=True, random_state=0)
    base = OnePassRidgeClassifier(feature_map).fit_map(*next(chunks()), classes=np.unique(y))
    Z = base.feature_map_.transform(X)
    alphas = base.partial_fit(row_source(chunks)).alphas_

    def compare(label: str, ours: Any, theirs: Any, fit: Callable[[], object]) -> Row:
        seconds = once(fit)
        other = once(lambda: theirs.fit(Z[~held], labels))
        here, there = ours.score(X[held], y[held]), theirs.score(Z[held], y[held])
        passes = getattr(ours, "n_passes_", 1)
        what = (
            f"{name}, {len(labels)} rows, {label}: accuracies {100 * here:.2f} and "
            f"{100 * there:.2f} % in memory, seconds / in memory {seconds / other:.2g}, "
            f"{passes} passes; difference in points"
        )
        return Row(what, seconds, 100 * abs(here - there), at_most=0.1)

    moments = OnePassRidgeClassifier(feature_map)
    yield compare(
        "squared error",
        moments,
        RidgeClassifierCV(alphas),
        lambda: moments.fit(row_source(chunks)).coef_,
    )
    for loss in ("squared_hinge", "logistic", "hinge"):
        model = MultiPassClassifier(feature_map, loss=loss, C=C)
        same = (
            LogisticRegression(C=C, max_iter=1000)
            if loss == "logistic"
            else LinearSVM(C=C, loss=loss)
        )
        yield compare(loss, model, same, lambda model=model: model.fit(row_source(chunks)))
