"""scikit-learn's checks of the estimators for data of any length."""

from kernlearn.onepass import (
    OnePassRankRLS,
    OnePassRidge,
    OnePassRidgeClassifier,
)
from tests.checks import parametrize_with_checks


@parametrize_with_checks(
    [
        OnePassRidge(),
        OnePassRidgeClassifier(),
        OnePassRidgeClassifier(class_weight="balanced"),
        OnePassRankRLS(),
    ]
)
def test_sklearn(estimator, check):
    check(estimator)
