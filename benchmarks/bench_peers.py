"""Default fits beside scikit-learn's nearest estimator: seconds and memory at two sizes.

Transformers fit and transform.

Each fit runs in a process of its own, on one thread, in processor time. Memory is what the process
grows by, at its peak. Where a ratio may be above 2, the case says why.
"""

import subprocess
import sys
from typing import NamedTuple

from benchmarks._measure import Row

_MOST = 2.0
_NOISE = 2.0**22  # bytes that are not worth a ratio

_SETUP = """
import warnings
from pathlib import Path
from time import process_time
import numpy as np
from threadpoolctl import threadpool_limits
threadpool_limits(1)
warnings.simplefilter("ignore")
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import *
from sklearn.discriminant_analysis import *
from sklearn.kernel_approximation import *
from sklearn.kernel_ridge import *
from sklearn.linear_model import *
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, ShuffleSplit
from sklearn.neighbors import *
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import *
from kernlearn.features import *
from kernlearn.landmarks import *
from kernlearn.linear import *
from kernlearn.onepass import *
from kernlearn.pairwise import *
from kernlearn.svm import *
from kernlearn.voted import *


def choose(model, **grid):
    named = {f"{model.steps[-1][0]}__{name}": values for name, values in grid.items()}
    return GridSearchCV(model, named, cv=ShuffleSplit(1, test_size=0.2, random_state=0))


def status(name):
    text = Path("/proc/self/status").read_text()
    return 1024 * int(text.partition(name + ":")[2].split()[0])


def fit(n):
    if task == "numbers":
        X, y = make_regression(n, 20, noise=1.0, random_state=0)
        y /= y.std()
    else:
        X, y = make_classification(n, 20, n_informative=10, random_state=0)
    if task == "grades":
        y = y * 2
    if task == "matrix":
        X = rbf_kernel(X)
    if task == "unit":
        X /= np.linalg.norm(X, axis=1).max()
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak
    before, start = status("VmRSS"), process_time()
    getattr(model, "fit_transform", model.fit)(X, y)
    return process_time() - start, status("VmHWM") - before


C = [1, 10, 100, 1000]
"""
_FITS = """
fit(300)
runs = [fit(n)]
runs += [fit(n) for _ in range(4 if runs[0][0] < 2 else 0)]
print(min(seconds for seconds, _ in runs), max(size for _, size in runs))
"""


class Case(NamedTuple):
    """An estimator with its peer; `why` a ratio may be above 2."""

    ours: str
    peer: str
    task: str = "classes"
    sizes: tuple[int, ...] = (2000, 20_000)
    why: str = ""


_GRID = "choose(make_pipeline(Nystroem(n_components={}), {}), C=C{})"
_WIDTH = "the width is the mean distance of 2000 points: 8 ms, whatever there is to fit"
_CASES = (
    Case("LinearSVM()", "LinearSVC()"),
    Case("LinearSVM(loss='hinge')", "LinearSVC(loss='hinge', max_iter=100_000)"),
    Case("KernelSVM()", "SVC()"),
    Case("KernelSVM('precomputed')", "SVC(kernel='precomputed')", "matrix", (2000, 8000)),
    Case("NystroemEmbedding()", "Nystroem()", why=_WIDTH),
    Case("LandmarkEmbedding()", "Nystroem()", why=_WIDTH),
    Case("PairEmbedding()", "Nystroem()", why=f"{_WIDTH}; 100 pairs are up to 200 landmarks"),
    Case("RandomMaclaurin()", "PolynomialCountSketch(coef0=1)", "unit"),
    Case("TensorSketch()", "PolynomialCountSketch(coef0=1)", "unit"),
    Case(
        "MaclaurinSVM()",
        "make_pipeline(PolynomialCountSketch(coef0=1, n_components=200), LinearSVC())",
        "unit",
    ),
    Case("BBSClassifier()", _GRID.format(100, "LinearSVC()", "")),
    Case("FTuneClassifier()", _GRID.format(100, "LinearSVC()", " * 6")),
    Case(
        "DBoostClassifier()",
        "AdaBoostClassifier(n_estimators=100)",
        why="it keeps the similarities to a pool of 300 pairs",
    ),
    Case(
        "LandmarkKNNClassifier(n_neighbors=5)",
        "make_pipeline(Nystroem(), KNeighborsClassifier())",
        why=_WIDTH,
    ),
    Case("SimilarityKNNClassifier()", "KNeighborsClassifier(algorithm='brute')", why=_WIDTH),
    Case("SimilarityFeatureSVM()", _GRID.format(1600, "LinearSVC()", "[:3]"), sizes=(2000,)),
    Case(
        "SpectrumSVM()",
        "choose(make_pipeline(FunctionTransformer(), SVC()), C=C[:3])",
        sizes=(2000,),
        why="the spectrum of the matrix takes n³ steps",
    ),
    Case("RegLand()", _GRID.format(50, "LinearSVR()", ""), "numbers"),
    Case(
        "SparseRegLand()",
        "make_pipeline(Nystroem(n_components=200), OrthogonalMatchingPursuit(n_nonzero_coefs=20))",
        "numbers",
    ),
    Case("RankLand()", "make_pipeline(Nystroem(n_components=50), Ridge())", "grades", why=_WIDTH),
    Case("KernelRegressor()", "KernelRidge(kernel='rbf')", "numbers", (2000,)),
    Case("OnePassRidge()", "RidgeCV(np.geomspace(1e-10, 1, 31))", "numbers"),
    Case("OnePassRidgeClassifier()", "RidgeClassifierCV(np.geomspace(1e-10, 1, 31))"),
    Case("AllPairsMoments()", "LinearDiscriminantAnalysis()"),
    Case("AllPairsSVM()", "LinearSVC()", why="the loss is that of all pairs"),
    Case("OLP()", "SGDClassifier()"),
    Case("OAM()", "SGDClassifier()"),
    Case(
        "MetricKNNClassifier()",
        "make_pipeline(NeighborhoodComponentsAnalysis(), KNeighborsClassifier())",
        sizes=(2000,),
    ),
    Case(
        "SimilaritySVM()", "SVC(kernel='linear')", "unit", (2000,), "a similarity is learned first"
    ),
    Case(
        "MultipleKernelSVM()", "SVC()", "unit", (2000,), "the weights of kernels are learned first"
    ),
    Case("VotedKernelClassifier()", "SVC()", "unit", (2000,), "it holds three kernel matrices"),
    Case(
        "L1SVMClassifier()",
        "make_pipeline(Nystroem(n_components=2000), LinearSVC(penalty='l1', C=1))",
        "unit",
        (2000,),
    ),
)


def _measured(model: str, task: str, n: int) -> tuple[float, float]:
    """Return the least processor seconds of some fits, and the bytes of the largest."""
    code = f"{_SETUP}\nn, task, model = {n}, {task!r}, {model}\n{_FITS}"
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    seconds, size = map(float, output.split())
    return seconds, max(size, _NOISE)


def run() -> list[Row]:
    """Measure all cases."""
    rows = []
    for case in _CASES:
        for n in case.sizes:
            ours, peer = (_measured(model, case.task, n) for model in (case.ours, case.peer))
            what = f"{case.ours} / {case.peer}, {n} rows{': ' if case.why else ''}{case.why}"
            most = None if case.why else _MOST
            rows.append(Row(f"{what}, seconds", ours[0], ours[0] / peer[0], at_most=most))
            rows.append(Row(f"{what}, memory", ours[0], ours[1] / peer[1], at_most=most))
    return rows
