"""Estimators with the defaults that they have in configs."""

from collections.abc import Callable
from inspect import signature
from typing import Any

from kernlearn.config.registry import ESTIMATORS


def as_in_configs(estimator: type) -> Callable[..., Any]:
    """Return a function that makes an estimator as a config does that names its arguments."""

    def make(*args: Any, **given: Any) -> Any:
        taken = list(signature(estimator).parameters)[: len(args)]
        pinned = ESTIMATORS[estimator.__name__].pinned
        return estimator(*args, **{k: v for k, v in pinned.items() if k not in taken} | given)

    return make
