"""The public estimators, and small instances of them."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

PACKAGES = ("linear", "svm", "features", "landmarks", "pairwise", "onepass", "voted")
_SMALL = {"n_landmarks": 8, "pool_size": 20, "n_components": 10, "random_state": 0}


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
