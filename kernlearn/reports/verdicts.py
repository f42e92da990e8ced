"""Verdicts: the rule by which a measured mean reproduces the reported one, in code and in words.

Two means are a *match* if they differ by at most the tolerance that the config states for the
metric: the tolerance says which differences matter to a reader. A greater difference is *better*
or *worse* only if it is significant, so it also has to lie outside the interval of the difference
of the two means (Welch's t-test at ``level``, over the splits of both). The larger of tolerance
and interval counts, not their sum, so that a precise measurement gets no more than the tolerance.

A baseline of the paper that is better than reported does not reproduce the paper, it weakens what
the paper concludes: it is a verdict of its own, *baseline better*. Numbers that were measured on
other data than the paper's, as the config states, are *not comparable*.

A wide interval shows that little is known, not that two numbers agree. A verdict that relies on
it is therefore separate, *match within spread*, and counted separately; beyond twice the
tolerance a difference is better or worse however wide the interval.

The interval is that of the mean over splits of the *same* data, which both sides drew
independently, so the splits are the sample and need no correction for their overlap. The folds of
a cross-validation are not independent; for them the interval is approximate.
"""

from dataclasses import dataclass
from math import isnan, sqrt

import numpy as np

from kernlearn.config.model import ExperimentConfig, Tolerance

MATCH, WITHIN_SPREAD = "match", "match within spread"
BETTER, BASELINE_BETTER, WORSE = "better", "baseline better", "worse"
NOT_COMPARABLE, NOT_RUN = "not comparable", "not run"

#: Every verdict that a rule can give.
VERDICTS = (
    MATCH,
    WITHIN_SPREAD,
    BETTER,
    BASELINE_BETTER,
    WORSE,
    NOT_COMPARABLE,
    NOT_RUN,
)

# Largest multiple of the tolerance that chance may explain.
_UP_TO = 2


@dataclass(frozen=True)
class Mean:
    """A mean over splits.

    Attributes
    ----------
    value : float
        NaN where there is none.
    std : float
        Standard deviation over the splits, one degree of freedom taken; NaN if not known.
    n_splits : float
        NaN if not known.
    """

    value: float
    std: float = np.nan
    n_splits: float = np.nan

    @property
    def variance(self) -> float:
        """The squared standard error; NaN if not known."""
        return self.std**2 / self.n_splits if self.n_splits > 1 else np.nan


def verdict(measured: Mean, reported: Mean, tolerance: Tolerance | None, better: int) -> str:
    """Judge a measured mean against the reported one.

    ``better`` is 1 where more is better, -1 where less is, and 0 where any difference is worse.
    The verdict is one of :data:`VERDICTS`, or empty without a rule or a reported number.
    """
    if tolerance is None or isnan(reported.value):
        return ""
    if isnan(measured.value):
        return NOT_RUN
    difference = measured.value - reported.value
    allowed = tolerated(tolerance, reported.value)
    if abs(difference) <= allowed:
        return MATCH
    if tolerance.level is not None and abs(difference) <= min(
        half_width(measured, reported, tolerance.level), _UP_TO * allowed
    ):
        return WITHIN_SPREAD
    return BETTER if difference * better > 0 else WORSE


def tolerated(tolerance: Tolerance, reported: float) -> float:
    """Return the difference from a reported mean that the rule tolerates."""
    if tolerance.absolute is not None:
        allowed = tolerance.absolute
    else:
        assert tolerance.relative is not None
        allowed = tolerance.relative * abs(reported)
    # the last digit of a float must not decide between match and worse
    return allowed * (1 + 1e-9)


def half_width(measured: Mean, reported: Mean, level: float) -> float:
    """Return half the width of the interval of a difference of means, by Welch's t-test.

    Where the paper gives no spread only that of the measured splits counts, as if the reported
    mean were exact. With fewer than two measured splits nothing is known, and the result is 0.
    """
    from scipy.special import stdtrit

    ours, theirs = measured.variance, reported.variance
    theirs = 0.0 if isnan(theirs) else theirs
    total = ours + theirs
    if not total > 0:
        return 0.0
    weights = ours**2 / (measured.n_splits - 1)
    if theirs > 0:
        weights += theirs**2 / (reported.n_splits - 1)
    return float(stdtrit(total**2 / weights, 1 - level / 2) * sqrt(total))


def rule_text(tolerance: Tolerance, metric: str) -> str:
    """Describe in words when a measured mean of a metric reproduces the reported one.

    Examples
    --------
    >>> from kernlearn.config.model import Tolerance
    >>> rule_text(Tolerance(absolute=0.03), "accuracy")
    'accuracy: match if the two means differ by at most 0.03, else better or worse'
    """
    name = metric.replace("_", " ")
    if 0 in (tolerance.absolute, tolerance.relative):
        return f"{name}: match if the two are equal, else better or worse"
    text = f"{name}: match if the two means differ by at most {_amount(tolerance, 1)}"
    if tolerance.level is None:
        return f"{text}, else better or worse"
    if tolerance.reported_splits is None:
        test = "Student's t-test over the measured splits"
    else:
        test = f"Welch's t-test over the measured and {tolerance.reported_splits} reported splits"
    return (
        f"{text}; match within spread if by at most {_amount(tolerance, _UP_TO)} and not "
        f"significantly ({test}, level {tolerance.level:g}); else better or worse"
    )


def _amount(tolerance: Tolerance, times: float) -> str:
    if tolerance.absolute is not None:
        return f"{times * tolerance.absolute:g}"
    assert tolerance.relative is not None
    return f"{100 * times * tolerance.relative:g} % of the reported one"


def rules(config: ExperimentConfig) -> list[str]:
    """Return the rule of every judged metric of an experiment, in words."""
    return [rule_text(tolerance, metric) for metric, tolerance in config.verdict.items()]
