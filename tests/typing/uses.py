"""Uses of the public names that type checkers must accept, in ``make lint``; they never run."""

from pathlib import Path
from typing import Any, assert_type

import numpy as np

from kernlearn.config import load_config
from kernlearn.datasets import RowSource, load, row_source
from kernlearn.engine import Plan, make_plan, run_plan
from kernlearn.features import RandomMaclaurin
from kernlearn.kernels import GaussianKernel, PolynomialKernel
from kernlearn.landmarks import BBSClassifier, FTuneClassifier, RegLand
from kernlearn.onepass import OnePassRidgeClassifier
from kernlearn.pairwise import OLP, StreamRegret, stream_regret
from kernlearn.store import Store
from kernlearn.voted import VotedKernelClassifier

X = np.zeros((4, 2))
y = np.array([0, 1, 0, 1])


def closeness(first: Any, second: Any) -> float:
    return -abs(float(first - second))


maclaurin = RandomMaclaurin(PolynomialKernel(3), 100, h01=True, random_state=0)
assert_type(maclaurin, RandomMaclaurin)
assert_type(maclaurin.fit(X), RandomMaclaurin)
bbs = BBSClassifier(20, similarity=closeness, random_state=np.random.RandomState(0))
assert_type(bbs.fit(X, y), BBSClassifier)
assert_type(FTuneClassifier(10).per_class, bool)
assert_type(FTuneClassifier(similarity=GaussianKernel(0.5)).fit(X, y), FTuneClassifier)
assert_type(RegLand(similarity="linear").fit(X, y), RegLand)
assert_type(VotedKernelClassifier().fit(X, y), VotedKernelClassifier)
assert_type(OLP(random_state=0).partial_fit(X, y), OLP)
assert_type(OnePassRidgeClassifier(maclaurin).partial_fit(X, y), OnePassRidgeClassifier)
assert_type(stream_regret(X, y, X[1:], X, radius=1.0), StreamRegret)
assert_type(row_source(X, y), RowSource)
assert_type(row_source(Path("rows.parquet"), target="label"), RowSource)
arrays = load("iris", data_dir=Path("data"))
plan = make_plan(load_config("quickstart", profile="quick", settings=["splits=3"]))
assert_type(plan, Plan)
with Store(Path("results.sqlite")) as store:
    run_plan(plan, store)
