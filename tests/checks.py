"""scikit-learn's checks of estimators, with those that are expected to fail."""

from functools import partial
from typing import Any

from sklearn.utils import estimator_checks

_WEIGHTS = (
    "repeated rows are drawn as landmarks or held out apart from each other, and solvers stop at "
    "a tolerance: tests/test_sample_weights.py has the landmarks fixed and solvers converge"
)
_NO_INTERCEPT = "without an intercept not every matrix lets one class be predicted everywhere"


def expected_failures(estimator: Any) -> dict[str, str]:
    """Return the reason for each check that may fail, as for many estimators of scikit-learn."""
    kinds = ("dense", "sparse")
    failing = {f"check_sample_weight_equivalence_on_{kind}_data": _WEIGHTS for kind in kinds}
    if getattr(estimator, "similarity", None) == "precomputed":
        failing["check_class_weight_classifiers"] = _NO_INTERCEPT
    return failing


parametrize_with_checks = partial(
    estimator_checks.parametrize_with_checks, expected_failed_checks=expected_failures
)
