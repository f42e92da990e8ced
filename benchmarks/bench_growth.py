"""How seconds grow with the number of points, features, landmarks and buffered points.

``python -m benchmarks growth`` writes ``growth.csv`` and ``choice.csv`` to `results/measured`, and
the pictures of both. Seconds are the least CPU time of some runs, on one thread.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from time import process_time
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from benchmarks._measure import Row
from benchmarks.growth_figures import CHOICE, GROWTH, draw, slopes
from kernlearn.features import MaclaurinSVM, RandomMaclaurin
from kernlearn.kernels import GaussianKernel, PolynomialKernel
from kernlearn.landmarks import (
    BBSClassifier,
    DBoostClassifier,
    FTuneClassifier,
    ORLand,
    RegLand,
)
from kernlearn.pairwise import OAM, OLP
from kernlearn.svm import KernelSVM
from kernlearn.voted import VotedKernelClassifier

#: CPU seconds of a run after which no larger size is measured.
_LONGEST = 1.5
_N_TEST = 2000

Work = Callable[[], object]


@dataclass(frozen=True)
class Line:
    """A method and step, and what a run at a size does.

    ``sizes`` are the decades of the least and of the largest one.
    """

    method: str
    step: str
    size: str
    sizes: tuple[float, float]
    prepare: Callable[[int], Work]


def run() -> list[Row]:
    """Measure everything, write the numbers and the pictures, and return the slopes."""
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        growth = pd.DataFrame([row for line in _lines() for row in _measured(line)])
        choice = pd.DataFrame(_choice())
    growth.to_csv(GROWTH, index=False, float_format="%.4g")
    choice.to_csv(CHOICE, index=False, float_format="%.4g")
    draw()
    rows = []
    for one in slopes(pd.read_csv(GROWTH)).to_dict("records"):
        what = (
            f"{one['method']}, {one['step']}: exponent of {one['size']}, "
            f"{one['low']:.2f} to {one['high']:.2f}"
        )
        rows.append(Row(what, one["seconds"], one["slope"]))
    return rows


def _lines() -> list[Line]:
    """Return the lines: of each family of methods, in each size that its cost depends on."""
    lines = [
        Line("RandomMaclaurin", "transform", "n", (2, 5), lambda n: _transform(n, 200)),
        Line("RandomMaclaurin", "transform", "D", (1, 4), lambda D: _transform(1000, D)),
        Line("MaclaurinSVM", "fit", "n", (2, 5), lambda n: _fit(MaclaurinSVM(), n)),
        Line("MaclaurinSVM", "predict", "n", (2, 5), lambda n: _predict(MaclaurinSVM(), n)),
        Line(
            "MaclaurinSVM",
            "fit",
            "D",
            (0.5, 3.5),
            lambda D: _fit(MaclaurinSVM(n_components=D), 1000),
        ),
    ]
    for make in (BBSClassifier, FTuneClassifier, DBoostClassifier):
        lines += [
            Line(make.__name__, "fit", "n", (1.5, 4.5), lambda n, make=make: _fit(make(20), n)),
            Line(
                make.__name__,
                "fit",
                "landmarks",
                (0.5, 3.5),
                lambda s, make=make: _fit(make(s, **_whole_pool(make)), 4000),
            ),
        ]
    for make, targets in ((RegLand, _numbers), (ORLand, _grades)):
        lines += [
            Line(
                make.__name__,
                "fit",
                "n",
                (1.5, 4.5),
                lambda n, make=make, y=targets: _fit(make(20), n, y()),
            ),
            Line(
                make.__name__,
                "fit",
                "landmarks",
                (0.5, 3.5),
                lambda s, make=make, y=targets: _fit(make(s), 4000, y()),
            ),
        ]
    for make in (OLP, OAM):
        lines += [
            Line(make.__name__, "fit", "n", (3, 6), lambda n, make=make: _stream(make(50), n)),
            Line(
                make.__name__, "fit", "s", (0.5, 3.5), lambda s, make=make: _stream(make(s), 10000)
            ),
        ]
    return [
        *lines,
        Line(
            "BBSClassifier",
            "fit, width given",
            "n",
            (2, 5),
            lambda n: _fit(BBSClassifier(20, similarity=GaussianKernel(sigma=6.0)), n),
        ),
        Line(
            "VotedKernelClassifier", "fit", "n", (1, 4), lambda n: _fit(VotedKernelClassifier(), n)
        ),
        Line("KernelSVM", "fit", "n", (1.5, 4.5), lambda n: _fit(KernelSVM(), n)),
        Line("KernelSVM", "predict", "n", (2, 5), lambda n: _predict(KernelSVM(), n)),
    ]


def _measured(line: Line) -> Iterator[dict[str, Any]]:
    """Measure a line at four sizes a decade, as far as runs are short enough."""
    first, last = line.sizes
    # what is compiled or imported at the first run is no part of it
    line.prepare(round(10**first))()
    for exponent in np.arange(first, last + 0.01, 0.25):
        size = round(10**exponent)
        seconds, n_runs = _seconds(line.prepare(size))
        row = {
            "method": line.method,
            "step": line.step,
            "size": line.size,
            "value": size,
            "seconds": seconds,
            "runs": n_runs,
        }
        print(row, file=sys.stderr)
        yield row
        if seconds > _LONGEST:
            return


def _seconds(work: Work, enough: float = 0.3) -> tuple[float, int]:
    """Return the least CPU time of three to twenty runs, or of a second of them; and how many."""
    times: list[float] = []
    while not times or len(times) < (3 if sum(times) >= enough else 20):
        start = process_time()
        work()
        times.append(process_time() - start)
        # the first run may touch memory that the process has never had
        if sum(times) > 1:
            break
    return min(times), len(times)


def _whole_pool(make: type) -> dict[str, Any]:
    # otherwise the pool bounds the number of landmarks
    return {"pool_size": None} if make is DBoostClassifier else {}


def _transform(n: int, n_components: int) -> Work:
    X = _points()[0][:n]
    model = RandomMaclaurin(n_components=n_components, random_state=0).fit(X)
    return lambda: model.transform(X)


def _fit(model: Any, n: int, y: Any = None) -> Work:
    X, labels = _points()
    y = labels if y is None else y
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return lambda: model.fit(X[:n], y[:n])


def _predict(model: Any, n: int) -> Work:
    """Predict n points with a model of a thousand."""
    _fit(model, 1000)()
    X = _points()[0][:n]
    return lambda: model.predict(X)


def _stream(model: Any, n: int) -> Work:
    X, y = _long_stream()
    model.set_params(random_state=0)
    return lambda: model.fit(X[:n], y[:n])


@cache
def _points() -> tuple[Any, Any]:
    return _generated(100_000)


@cache
def _long_stream() -> tuple[Any, Any]:
    return _generated(1_000_000)


def _generated(n: int) -> tuple[Any, Any]:
    """Return points of two classes that no line separates, of mean 0 and variance 1."""
    X, y = make_classification(
        n,
        20,
        n_informative=4,
        n_redundant=0,
        n_clusters_per_class=3,
        class_sep=2,
        flip_y=0.02,
        random_state=0,
    )
    return StandardScaler().fit_transform(X), y


@cache
def _numbers() -> Any:
    X, _ = _points()
    return X[:, 0] * 3 + np.sin(X[:, 1]) + np.random.default_rng(0).normal(size=len(X))


@cache
def _grades() -> Any:
    y = _numbers()
    return np.digitize(y, np.quantile(y, [0.2, 0.4, 0.6, 0.8]))


def _choice() -> Iterator[dict[str, Any]]:
    """Measure the classifiers that one chooses among: seconds and accuracy against rows."""
    X, y = _points()
    held_X, held_y = X[-_N_TEST:], y[-_N_TEST:]
    for name, model in _classifiers().items():
        model.fit(X[:100], y[:100]).predict(held_X)
        for exponent in np.arange(2, 4.76, 0.25):
            n = round(10**exponent)

            def work(model: Any = model, n: int = n) -> None:
                model.fit(X[:n], y[:n])
                model.predict(held_X)

            seconds, n_runs = _seconds(work)
            row = {
                "method": name,
                "n": n,
                "seconds": seconds,
                "runs": n_runs,
                "accuracy": model.score(held_X, held_y),
            }
            print(row, file=sys.stderr)
            yield row
            if seconds > _LONGEST:
                break


def _classifiers() -> dict[str, Any]:
    """Return the classifiers with their defaults; Maclaurin features of points of norm 1."""
    maclaurin = {"kernel": PolynomialKernel(3), "n_components": 500, "random_state": 0}
    return {
        "KernelSVM": KernelSVM(),
        "SVC (scikit-learn)": SVC(),
        "MaclaurinSVM, RF": make_pipeline(Normalizer(), MaclaurinSVM(**maclaurin)),
        "MaclaurinSVM, H0/1": make_pipeline(Normalizer(), MaclaurinSVM(h01=True, **maclaurin)),
        "BBSClassifier": BBSClassifier(random_state=0),
        "FTuneClassifier": FTuneClassifier(random_state=0),
        "DBoostClassifier": DBoostClassifier(random_state=0),
        "VotedKernelClassifier": VotedKernelClassifier(random_state=0),
        "LinearSVC (scikit-learn)": LinearSVC(),
    }
