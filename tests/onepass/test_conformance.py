"""scikit-learn's checks of the estimators for data of any length."""

from kernlearn.onepass import (
    MultiPassClassifier,
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
        MultiPassClassifier(),
        MultiPassClassifier(loss="hinge", sample_rows=20),
        MultiPassClassifier(loss="logistic", C=[1.0, 10.0], class_weight="balanced"),
    ]
)
def test_sklearn(estimator, check):
    check(estimator)
