"""The public estimators, small instances of them, and scikit-learn's checks."""

from collections.abc import Iterator
from functools import partial
from importlib import import_module
from typing import Any

from sklearn.utils import estimator_checks

PACKAGES = ("linear", "svm", "features", "landmarks", "pairwise", "onepass", "voted")
_SMALL = {"n_landmarks": 8, "pool_size": 20, "n_components": 10, "random_state": 0}
_WEIGHTS = (
    "repeated rows are drawn as landmarks or held out apart from each other, and solvers stop at "
    "a tolerance: tests/test_sample_weights.py has the landmarks fixed and solvers converge"
)
#: Checks that set n_components to 1.
_ONE_COMPONENT = (
    "check_dont_overwrite_parameters",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_fit2d_1sample",
    "check_fit2d_1feature",
    "check_fit2d_predict1d",
)
_NO_INTERCEPT = "without an intercept not every matrix lets one class be predicted everywhere"


def estimators() -> Iterator[type]:
    """Yield the public estimators, package by package."""
    for package in PACKAGES:
        module = import_module(f"kernlearn.{package}")
        for name in module.__all__:
            value = getattr(module, name)
            if isinstance(value, type) and hasattr(value, "fit") and hasattr(value, "get_params"):
                yield value


def made(estimator: type) -> Any:
    """Return an estimator that is small enough for 30 points."""
    model = estimator()
    return model.set_params(**{k: v for k, v in _SMALL.items() if k in model.get_params()})


def expected_failures(estimator: Any) -> dict[str, str]:
    """Return the reason for each check that may fail, as for many estimators of scikit-learn."""
    kinds = ("dense", "sparse")
    failing = {f"check_sample_weight_equivalence_on_{kind}_data": _WEIGHTS for kind in kinds}
    if getattr(estimator, "similarity", None) == "precomputed":
        failing["check_class_weight_classifiers"] = _NO_INTERCEPT
    settings = estimator.get_params(deep=False)
    if "precomputed" in (settings.get("similarity"), settings.get("kernel")):
        failing["check_estimators_nan_inf"] = "its matrix is not square, which is said first"
    if settings.get("presolve") or settings.get("complexity") == "monte_carlo":
        failing["check_sample_weights_not_overwritten"] = "this setting takes no weights"
    if settings.get("complex_to_real"):
        failing |= dict.fromkeys(_ONE_COMPONENT, "a complex feature is two columns")
    return failing


parametrize_with_checks = partial(
    estimator_checks.parametrize_with_checks, expected_failed_checks=expected_failures
)
