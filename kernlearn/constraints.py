"""Constraints of estimators' parameters, with what scikit-learn keeps private."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, TypeVar, cast

from sklearn.base import _fit_context
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

Method = TypeVar("Method", bound=Callable[..., Any])

COUNT = Interval(Integral, 1, None, closed="left")
WHOLE = Interval(Integral, 0, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
FINITE = Interval(Real, None, None, closed="neither")
FRACTION = Interval(Real, 0, 1, closed="neither")
MEMORY = [str, HasMethods(["cache"]), None]
CLASS_WEIGHT = [dict, StrOptions({"balanced"}), None]
N_JOBS = [Integral, None]


def fit_context(*, prefer_skip_nested_validation: bool) -> Callable[[Method], Method]:
    """Check the parameters before a method fits, as scikit-learn does; its type stays as it is."""
    return cast(
        Callable[[Method], Method],
        _fit_context(prefer_skip_nested_validation=prefer_skip_nested_validation),
    )
