"""Misuses of the public names that a type checker must find, in ``make lint``; they never run.

A comment that ignores an error which is not there is an error.
"""

import numpy as np

import kernlearn.landmarks
from kernlearn.config import load_config
from kernlearn.engine import make_plan, run_plan
from kernlearn.features import RandomMaclaurin
from kernlearn.kernels import PolynomialKernel
from kernlearn.landmarks import BBSClassifier
from kernlearn.pairwise import stream_regret

X = np.zeros((4, 2))

RandomMaclaurin(PolynomialKernel(3), "many")  # pyright: ignore[reportArgumentType]
RandomMaclaurin(PolynomialKernel(3), 10, h0=True)  # pyright: ignore[reportCallIssue]
BBSClassifier(20, loss=3)  # pyright: ignore[reportArgumentType]
BBSClassifier(20, landmarks=3)  # pyright: ignore[reportCallIssue]
kernlearn.landmarks.BBSClassifer(20)  # pyright: ignore[reportAttributeAccessIssue]
BBSClassifier(20).fti(X, X)  # pyright: ignore[reportAttributeAccessIssue]
PolynomialKernel("three")  # pyright: ignore[reportArgumentType]
stream_regret(X, X, X, X)  # pyright: ignore[reportCallIssue]
load_config("quickstart", settings=3)  # pyright: ignore[reportArgumentType]
make_plan("quickstart")  # pyright: ignore[reportArgumentType]
run_plan(make_plan(load_config("quickstart")))  # pyright: ignore[reportCallIssue]
