"""Defaults of all estimators: scores beside tuned ones, seconds beside SVC's.

The data are those that scikit-learn brings along, standardised: iris, wine, breast_cancer and
digits for classes (breast_cancer alone where there may be two only), diabetes for numbers, in
five grades of equal size for ordinal regression and, with twenty made up queries, for ranking.
Scores are accuracies, R² and the mean NDCG of queries, on a third of the points; of fewer than
1000 points the means over all three thirds. Parameters are tuned by three-fold cross-validation on
the rest, never by these scores. Seconds are compared with those of SVC.
``python -m benchmarks.bench_defaults NAME ...`` measures some estimators only.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupShuffleSplit,
    KFold,
    ParameterGrid,
    StratifiedKFold,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from benchmarks._measure import Row, least_seconds
from kernlearn import features, landmarks, linear, pairwise, svm, voted
from kernlearn.kernels import NormalizedKernel, PolynomialKernel

_SPEED = 1000  # rows that seconds are measured on
_POINTS = 0.05  # allowed distance from the tuned score
_TIMES = 10.0  # allowed seconds, of SVC's

Numbers = Mapping[str, list[Any]]


@dataclass(frozen=True)
class Subject:
    """An estimator, the values that its parameters are tuned over, and its task."""

    make: type[BaseEstimator]
    grid: Numbers = field(default_factory=dict)
    task: str = "classes"
    then: BaseEstimator | None = None  # what follows a transformer


_C = [0.01, 0.1, 1, 10, 100]
_SIMILARITIES = ["gaussian", "laplacian", "manhattan"]
_KERNELS = ["linear", "cosine", "gaussian", "laplacian"]
_NORMALIZED = [NormalizedKernel(kernel) for kernel in _KERNELS]
SUBJECTS = [
    Subject(linear.LinearSVM, {"C": _C}),
    Subject(svm.KernelSVM, {"C": _C, "gamma": ["scale", 0.001, 0.01, 0.1]}),
    Subject(features.MaclaurinSVM, {"C": _C, "n_components": [100, 500], "h01": [False, True]}),
    Subject(
        landmarks.BBSClassifier,
        {"n_landmarks": [50, 100, 300], "similarity": _SIMILARITIES, "fit_intercept": [True]},
    ),
    Subject(landmarks.FTuneClassifier, {"n_landmarks": [50, 200], "similarity": _SIMILARITIES}),
    Subject(
        landmarks.DBoostClassifier,
        {"n_landmarks": [100, 300], "similarity": _SIMILARITIES, "pool_size": [300, 1000]},
    ),
    Subject(
        landmarks.SimilarityKNNClassifier,
        {"n_neighbors": [1, 3, 5, 9, 15], "similarity": _SIMILARITIES},
    ),
    Subject(
        landmarks.LandmarkKNNClassifier,
        {"n_landmarks": [50, 100, 300], "similarity": _SIMILARITIES},
    ),
    Subject(landmarks.SimilarityFeatureSVM, {"similarity": _SIMILARITIES}),
    Subject(
        landmarks.SpectrumSVM, {"similarity": _SIMILARITIES, "spectrum": ["clip", "flip", "shift"]}
    ),
    Subject(voted.VotedKernelClassifier, {"lam": [0, 1e-4, 1e-2], "beta": [1e-4, 1e-3, 1e-2]}),
    Subject(
        voted.L1SVMClassifier,
        {"kernel": ["gaussian", PolynomialKernel(degree=2)], "beta": [1e-4, 1e-3, 1e-2]},
    ),
    Subject(pairwise.MetricKNNClassifier, {"eta": [1e-3, 1e-2, 0.1], "n_neighbors": [1, 5, 9]}),
    Subject(pairwise.SimilaritySVM, {"eta": [1e-4, 1e-3, 1e-2, 0.1], "C": [0.1, 1, 10]}),
    Subject(pairwise.MultipleKernelSVM, {"kernels": [_KERNELS, _NORMALIZED], "C": [1, 10, 100]}),
    Subject(pairwise.OLP, {"eta": [0.01, 0.1, 1]}, "two classes"),
    Subject(
        pairwise.OAM,
        {"C": [1e-3, 1e-2, 0.1, 1], "variant": ["gradient", "sequential"]},
        "two classes",
    ),
    Subject(pairwise.AllPairsSVM, {"regularization": [1e-4, 1e-3, 1e-2, 0.1]}, "two classes"),
    Subject(
        landmarks.RegLand,
        {
            "similarity": _SIMILARITIES,
            "loss": ["squared_epsilon_insensitive"],
            "fit_intercept": [True],
            "C": [0.1, 1, 10, 100, 1000],
        },
        "numbers",
    ),
    Subject(
        landmarks.SparseRegLand,
        {
            "similarity": _SIMILARITIES,
            "n_landmarks": [5, 10, 20],
            "fit_intercept": [True],
            "ridge": [0.0, 0.1, 1.0],
        },
        "numbers",
    ),
    Subject(
        landmarks.KernelRegressor,
        {
            "similarity": ["gaussian", "manhattan", "euclidean"],
            "weights": ["exponential"],
            "bandwidth": [0.03, 0.1, 0.3, 1, 3],
        },
        "numbers",
    ),
    Subject(
        landmarks.ORLand,
        {"similarity": _SIMILARITIES, "thresholds": ["equispaced", "learned"]},
        "grades",
    ),
    Subject(landmarks.RankLand, {"similarity": _SIMILARITIES, "C": [0.1, 1, 10, 100]}, "queries"),
    Subject(
        features.RandomMaclaurin,
        {"n_components": [100, 500], "h01": [False, True]},
        then=LogisticRegression(max_iter=1000),
    ),
    Subject(
        features.CompositionalMaclaurin,
        {"n_components": [100, 500]},
        then=LogisticRegression(max_iter=1000),
    ),
    Subject(
        features.TensorSketch, {"n_components": [100, 500]}, then=LogisticRegression(max_iter=1000)
    ),
    Subject(
        landmarks.LandmarkEmbedding,
        {"n_landmarks": [50, 100, 300], "similarity": _SIMILARITIES},
        then=LogisticRegression(max_iter=1000),
    ),
    Subject(
        landmarks.PairEmbedding,
        {"n_landmarks": [50, 100], "similarity": _SIMILARITIES},
        then=LogisticRegression(max_iter=1000),
    ),
]


def run(names: list[str] | None = None) -> list[Row]:
    """Measure all estimators, or those named, on one thread."""
    rows = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for subject in SUBJECTS:
            name = subject.make.__name__
            if names and name not in names:
                continue
            seconds, times = _speed(subject)
            rows.append(Row(f"{name} / SVC, n = {_SPEED}", seconds, times, at_most=_TIMES))
            for data, default, tuned in _scores(subject):
                what = f"{name}, {data}: {default:.3f}, tuned {tuned:.3f}"
                rows.append(Row(what, seconds, tuned - default, at_most=_POINTS))
                print(rows[-1], file=sys.stderr)
    return rows


def _scores(subject: Subject) -> Iterator[tuple[str, float, float]]:
    """Yield data sets with the scores of the default and of tuned parameters."""
    for name, X, y, qid in _data(subject.task):
        if qid is not None:
            yield name, *_ranking_scores(subject, X, y, qid)
            continue
        step = subject.make.__name__.lower()
        grid = {f"{step}__{k}": v for k, v in subject.grid.items()}
        found = []
        for train, test in _folds(subject.task, X, y):
            default = _pipeline(subject).fit(X[train], y[train])
            search = GridSearchCV(_pipeline(subject), grid, cv=3, error_score=-np.inf)
            search.fit(X[train], y[train])
            found.append([model.score(X[test], y[test]) for model in (default, search)])
        yield name, *np.mean(found, axis=0)


def _folds(task: str, X: Any, y: Any) -> list[tuple[Any, Any]]:
    kind = KFold if task == "numbers" else StratifiedKFold
    folds = list(kind(3, shuffle=True, random_state=0).split(X, y))
    return folds if len(y) < 1000 else folds[:1]


def _ranking_scores(subject: Subject, X: Any, y: Any, qid: Any) -> tuple[float, float]:
    X = StandardScaler().fit_transform(X)
    train, test = next(GroupShuffleSplit(1, test_size=1 / 3, random_state=0).split(X, y, qid))
    inner, held = next(
        GroupShuffleSplit(1, test_size=1 / 3, random_state=0).split(X[train], groups=qid[train])
    )
    inner, held = train[inner], train[held]

    def score(values: Any, fitted: Any, scored: Any) -> float:
        model = _seeded(subject.make(**values)).fit(X[fitted], y[fitted], qid[fitted])
        return model.score(X[scored], y[scored], qid[scored])

    best = max(ParameterGrid(subject.grid), key=lambda values: score(values, inner, held))
    return score({}, train, test), score(best, train, test)


def _seeded(model: Any) -> Any:
    return model.set_params(random_state=0) if "random_state" in model.get_params() else model


def _pipeline(subject: Subject) -> Pipeline:
    steps = [StandardScaler(), _seeded(subject.make())]
    return make_pipeline(*steps, *([] if subject.then is None else [clone(subject.then)]))


@cache
def _data(task: str) -> list[tuple[str, Any, Any, Any]]:
    """Return the data sets of a task: name, points, targets and queries."""
    X, y = datasets.load_diabetes(return_X_y=True)
    if task == "numbers":
        return [("diabetes", X, y, None)]
    if task in ("grades", "queries"):
        grades = np.digitize(y, np.quantile(y, [0.2, 0.4, 0.6, 0.8]))
        qid = np.random.RandomState(0).permutation(len(y)) % 20 if task == "queries" else None
        return [(f"diabetes in {task}", X, grades, qid)]
    names = ["breast_cancer"]
    if task == "classes":
        names += ["iris", "wine", "digits"]
    return [(name, *getattr(datasets, f"load_{name}")(return_X_y=True), None) for name in names]


def _speed(subject: Subject) -> tuple[float, float]:
    """Return the seconds of a fit with the defaults, and their ratio to SVC's."""
    X, y = datasets.make_classification(_SPEED, 20, n_informative=5, flip_y=0.1, random_state=0)
    numbers = X[:, 0] * 3 + np.sin(X[:, 1]) + np.random.RandomState(0).normal(size=_SPEED)
    model = make_pipeline(_seeded(subject.make()))
    other = SVC()
    target: Any = numbers if subject.task == "numbers" else y
    if subject.task in ("grades", "queries"):
        target = np.digitize(numbers, np.quantile(numbers, [0.2, 0.4, 0.6, 0.8]))
    X = StandardScaler().fit_transform(X)
    # in turns, so that both see the same load of the machine
    seconds = [
        (least_seconds(lambda: other.fit(X, y), 2), least_seconds(lambda: model.fit(X, target)))
        for _ in range(3)
    ]
    theirs, ours = np.min(seconds, axis=0)
    return ours, ours / theirs


if __name__ == "__main__":
    for row in run(sys.argv[1:]):
        print(f"{row.what}: {row.seconds:.3f} s, {row.ratio:.3g} {'' if row.met else 'MISSED'}")
