"""Constraints of estimators' parameters, with what scikit-learn keeps private."""

from numbers import Integral, Real

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

COUNT = Interval(Integral, 1, None, closed="left")
WHOLE = Interval(Integral, 0, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
FINITE = Interval(Real, None, None, closed="neither")
FRACTION = Interval(Real, 0, 1, closed="neither")
MEMORY = [str, HasMethods(["cache"]), None]
CLASS_WEIGHT = [dict, StrOptions({"balanced"}), None]
N_JOBS = [Integral, None]
