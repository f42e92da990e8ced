# Written by `python -m tests.test_lazy` from the table in __init__.py.
from kernlearn.onepass.moments import Moments as Moments
from kernlearn.onepass.ridge import OnePassRidge as OnePassRidge
from kernlearn.onepass.ridge import OnePassRidgeClassifier as OnePassRidgeClassifier

__all__ = [
    "Moments",
    "OnePassRidge",
    "OnePassRidgeClassifier",
]
