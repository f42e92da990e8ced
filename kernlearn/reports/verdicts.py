r"""Two questions, their tests, and the verdicts on means.

*Does the mean of a paper come back on the same data?* The splits are the sample, and both sides
drew theirs independently: Welch's t-test over the splits. A verdict answers this question.

*Is a method better than another?* That asks about other data of the kind too. Splits of the same
data overlap, so their numbers are not independent, and a plain t-test calls one of two equal
methods better in four of ten tables. So the variance of a mean over J splits is taken as
:math:`(1/J + n_\mathrm{test}/n_\mathrm{train})\,s^2` (the corrected resampled t-test; Nadeau &
Bengio 2003, Inference for the generalization error, Machine Learning 52). Differences, claims,
bold, equivalence and ranks answer this question. Where several methods are compared without one
that was named before, p-values are adjusted for all pairs (Holm 1979).

Two means are a *match* if they differ by at most the tolerance that the config states for the
metric: the tolerance says which differences matter to a reader. A greater difference is *better*
or *worse* only if it also lies outside Welch's interval of the difference. The larger of tolerance
and interval counts, not their sum, so that a precise measurement gets no more than the tolerance.
A wide interval shows that little is known, not that two numbers agree. What relies on it is a
*match within spread*, which counts as no match. Beyond twice the tolerance a difference is better
or worse however wide the interval.

Where a solver stops early a mean also depends a little on the processor. How far each mean moves
between processors is its *drift*. Outcomes are decided without it, and again with every interval
and standard deviation greater by it, and smaller by it. Where these differ a page says that
another processor may decide otherwise.

A baseline of the paper that is better than reported does not reproduce the paper, it weakens what
the paper concludes: it is a verdict of its own, *baseline better*. Numbers that were measured on
other data than the paper's, as the config states, are *not comparable*; for optional data that
are nowhere to be had there is *no data*.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import inf, isnan, sqrt
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from kernlearn.config import names
from kernlearn.config.model import ExperimentConfig, Fork, Tolerance
from kernlearn.config.spec import LABELS

# ---- the two tests ----


@dataclass(frozen=True)
class Mean:
    """A mean over splits, its standard deviation and their number; NaN where not known."""

    value: float
    std: float = np.nan
    n_splits: float = np.nan
    drift: float = 0.0

    @property
    def variance(self) -> float:
        """The squared standard error; NaN if not known."""
        return self.std**2 / self.n_splits if self.n_splits > 1 else np.nan


class Estimate(NamedTuple):
    """A mean or a difference of means, with its standard error and degrees of freedom."""

    mean: float
    error: float
    degrees: float
    drift: float = 0.0

    def half_width(self, level: float) -> float:
        """Return half the width of the confidence interval of level ``1 - level``."""
        if not self.error:  # all values are the same: a sign test
            return self.drift if 0.5**self.degrees <= level else inf
        return _quantile(self.degrees, level) * self.error + self.drift

    def interval(self, level: float) -> tuple[float, float]:
        """Return the confidence interval of level ``1 - level``."""
        half = self.half_width(level)
        return self.mean - half, self.mean + half

    def tail(self, distance: float) -> float:
        """Return the probability that chance gives a mean which is larger by a distance."""
        from scipy.special import stdtr

        if not self.degrees:
            return 0.5
        if not self.error:
            same = 0.5 ** (self.degrees + 1)
            return 0.5 if not distance else same if distance > 0 else 1 - same
        return float(stdtr(self.degrees, -distance / self.error))

    def p_value(self) -> float:
        """Return the two-sided p-value of a mean of 0."""
        return min(2 * self.tail(max(abs(self.mean) - self.drift, 0.0)), 1.0)


@cache
def _quantile(degrees: float, level: float) -> float:
    """Return by how many standard errors the ends of an interval are from the mean."""
    from scipy.special import stdtrit

    return float(stdtrit(degrees, 1 - level / 2)) if degrees else inf


def resampled(values: Any, ratio: float, drift: float = 0.0) -> Estimate:
    """Return the mean of numbers over splits of the same data, by the corrected t-test.

    ``ratio`` is that of the number of test rows to the number of training rows; 0 for independent
    draws, which makes it Student's t-test. Of a single split nothing is known but the mean.
    """
    values = np.asarray(values, dtype=float)
    n = len(values)
    if n < 2:
        return Estimate(float(values[0]) if n else np.nan, inf, 0, drift)
    mean, std = float(values.mean()), float(values.std(ddof=1))
    if std <= 1e-12 * abs(mean):  # the last digit of a float is no spread
        std = 0.0
    if abs(mean) <= 1e-12 * std:  # nor is it a difference
        mean = 0.0
    # on another processor the numbers may scatter more, or less, by as much
    std = std**2 / (std - drift) if drift < 0 else std + drift
    return Estimate(mean, sqrt(1 / n + ratio) * std, n - 1, drift)


def welch(ours: Mean, theirs: Mean) -> Estimate:
    """Return the difference of two means over independent splits, by Welch's t-test.

    An unknown deviation of the second counts as none. If that of the first is unknown nothing is
    known of the difference but its value, and chance explains none of it.
    """
    difference = ours.value - theirs.value
    one, other = ours.variance, np.nan_to_num(theirs.variance)
    total = one + other
    if not total > 0:
        return Estimate(difference, 0.0, inf)
    weights = one**2 / (ours.n_splits - 1)
    if other > 0:
        weights += other**2 / (theirs.n_splits - 1)
    return Estimate(difference, sqrt(total), float(total**2 / weights))


def holm(p_values: Sequence[float]) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """Return p-values adjusted for their number (Holm 1979), in the same order."""
    values = np.asarray(p_values, dtype=float)
    order = values.argsort(kind="stable")
    adjusted = np.empty_like(values)
    steps = values[order] * np.arange(len(values), 0, -1)
    adjusted[order] = np.maximum.accumulate(steps).clip(max=1)
    return adjusted


def best_methods(
    values: pd.DataFrame, better: int, level: float, ratio: float, drift: float = 0.0
) -> list[str]:
    """Return the method with the best mean, and all that are not shown to be worse.

    The values are of one cell and metric, with a row per split and a column per method; ``better``
    is 1 where more is better, else -1. The best was picked from the data, so the p-values are
    adjusted for all pairs of methods.
    """
    signed = {str(method): better * values[method].to_numpy(dtype=float) for method in values}
    first = max(signed, key=lambda method: float(np.nanmean(signed[method])))
    tests = {}
    for one, other in combinations(signed, 2):
        differences = signed[one] - signed[other]
        tests[one, other] = resampled(differences[~np.isnan(differences)], ratio, drift)
    adjusted = holm([test.p_value() for test in tests.values()]).tolist()
    worse = set()
    for ((one, other), test), p in zip(tests.items(), adjusted, strict=True):
        ahead, behind = (one, other) if test.mean > 0 else (other, one)
        if ahead == first and p < level:
            worse.add(behind)
    return [first, *(method for method in signed if method not in {first, *worse})]


def median_interval(values: Any, level: float) -> tuple[float, float]:
    """Return the narrowest interval of the median between two values, by order statistics.

    Its level is ``1 - level`` or more; of so few values that none has it, it has all.
    """
    from scipy.special import bdtr

    ordered = np.sort(np.asarray(values, dtype=float))
    n = len(ordered)
    # the chance that the median is outside of all but k values on each side
    left_out = max(int((bdtr(np.arange(n // 2), n, 0.5) <= level / 2).sum()) - 1, 0)
    return float(ordered[left_out]), float(ordered[-1 - left_out])


# ---- verdicts ----

MATCH, WITHIN_SPREAD = "match", "match within spread"
BETTER, BASELINE_BETTER, WORSE = "better", "baseline better", "worse"
NOT_COMPARABLE, NOT_RUN, NO_DATA = "not comparable", "not run", "no data"
#: Verdicts on numbers that were not measured.
UNMEASURED = (NOT_RUN, NO_DATA)

#: Verdict to symbol, so that colour is never the only sign.
SYMBOLS = {
    MATCH: "✓",
    WITHIN_SPREAD: "≈",
    BETTER: "▲",
    BASELINE_BETTER: "△",
    WORSE: "▼",
    NOT_COMPARABLE: "≠",
    NOT_RUN: "–",
    NO_DATA: "·",
}
#: Every verdict that a rule can give.
VERDICTS = tuple(SYMBOLS)
#: Measured, but no rule applies: times of another machine.
NO_VERDICT = "without verdict"
#: Kinds of numbers: accuracies, errors and support vectors; seconds, memory and speed-ups; numbers
#: of rows and columns of data sets.
KINDS = SCORES, COSTS, SIZES = ("scores", "times", "sizes")

# Largest multiple of the tolerance that chance may explain.
_UP_TO = 2


def verdict(measured: Mean, reported: Mean, tolerance: Tolerance | None, better: int) -> str:
    """Return the verdict on a measured mean.

    ``better`` is 1 where more is better, -1 where less is, and 0 where any difference is worse.
    The verdict is one of :data:`VERDICTS`, or empty without a rule or a reported number, or if
    the rule has a test and the measured mean is that of a single split.
    """
    # of a single split no test can say whether chance explains a difference
    untested = tolerance is not None and tolerance.level is not None and measured.n_splits == 1
    if tolerance is None or isnan(reported.value) or untested:
        return ""
    if isnan(measured.value):
        return NOT_RUN
    difference = measured.value - reported.value
    allowed = within = tolerated(tolerance, reported.value)
    if abs(difference) + measured.drift <= allowed:
        return MATCH
    if tolerance.level is not None:
        explained = welch(measured, reported).half_width(tolerance.level)
        within = max(allowed, min(explained, _UP_TO * allowed))
    if abs(difference) - measured.drift <= within:
        return WITHIN_SPREAD
    return BETTER if difference * better > 0 else WORSE


def tolerated(tolerance: Tolerance, reported: float) -> float:
    """Return the difference from a reported mean that the rule tolerates."""
    allowed = tolerance.absolute
    if allowed is None:
        allowed = (tolerance.relative or 0.0) * abs(reported)
    # the last digit of a float must not decide between match and worse
    return allowed * (1 + 1e-9)


def verdicts_of(cells: pd.DataFrame, config: ExperimentConfig) -> list[str]:
    """Return the verdict on each row of a frame of cells, by the rules of the config.

    A column ``drift`` counts against a match, or for one where it is negative.
    """
    absent = without_data(cells, config)
    verdicts = []
    for row in cells.to_dict("records"):
        rule = config.verdict.get(row["metric"])
        measured = Mean(row["mean"], row["std"], row["n_splits"], row["drift"])
        n_reported = (rule and rule.reported_splits) or np.nan
        reported = Mean(row["reported_mean"], row["reported_std"], n_reported)
        one = verdict(measured, reported, rule, direction(row["metric"], config))
        if one == NOT_RUN:
            one = NO_DATA if row["dataset"] in absent else NOT_RUN
        elif one and row["dataset"] in config.not_comparable:
            one = NOT_COMPARABLE
        elif one == BETTER and config.proposed and row["method"] not in config.proposed:
            one = BASELINE_BETTER
        verdicts.append(one)
    return verdicts


def without_data(cells: pd.DataFrame, config: ExperimentConfig) -> set[str]:
    """Return the optional data sets on which nothing was measured: they may not be public."""
    measured = {*cells.loc[cells["mean"].notna(), "dataset"]}
    return {name for name, one in config.datasets.items() if one.optional} - measured


def missing_lines(names: Collection[str], config: ExperimentConfig) -> list[str]:
    """Return a line on data sets that are not public, and one on others without numbers."""
    optional = [name for name, one in config.datasets.items() if one.optional]
    absent = [name for name in config.datasets if name in names and name in optional]
    others = [name for name in config.datasets if name in names and name not in optional]
    lines = ((NO_DATA, absent), ("not measured", others))
    return [f"{what}: {', '.join(listed)}" for what, listed in lines if listed]


def direction(metric: str, config: ExperimentConfig) -> int:
    """Return 1 where more of a metric is better, -1 where less is, 0 where neither."""
    return 1 if metric in config.derived else config.scope.metrics[metric].better


def is_cost(metric: str, config: ExperimentConfig) -> bool:
    """Whether a metric is a time or memory or, like a speed-up, a ratio of such."""
    rule = config.derived.get(metric)
    return names.is_cost(metric if rule is None else rule.ratio)


def kind_of(metric: str, config: ExperimentConfig) -> str:
    """Return under which of :data:`KINDS` a metric is counted."""
    if config.task == "dataset_statistics":
        return SIZES
    return COSTS if is_cost(metric, config) else SCORES


def rules(config: ExperimentConfig) -> list[str]:
    """Return the rule of every metric that has one, in words.

    Examples
    --------
    >>> from kernlearn.config import load_config
    >>> rules(load_config("vkr_table2").config)[0]
    'n samples: match if the two means differ by at most 0; else better or worse'
    """
    texts = []
    for metric, rule in config.verdict.items():
        unit, share = rule.absolute, 100 * (rule.relative or 0)
        amounts = [
            f"{share * n:g} % of the reported one" if unit is None else f"{unit * n:g}"
            for n in (1, _UP_TO)
        ]
        text = f"{metric.replace('_', ' ')}: match if the two means differ by at most {amounts[0]}"
        if rule.level is not None:
            text += f"; match within spread if by at most {amounts[1]} and not significantly "
            text += f"(Welch's t-test over the splits, level {rule.level:g})"
        texts.append(f"{text}; else better or worse")
    return texts


def count_verdicts(cells: pd.DataFrame, config: ExperimentConfig) -> pd.DataFrame:
    """Count the verdicts on the reported numbers: a row per kind, a column per verdict.

    The columns are :data:`VERDICTS` and ``without verdict``; they add up to ``reported``.
    """
    reported = cells[cells["reported_mean"].notna()]
    absent = reported["dataset"].isin(without_data(cells, config))
    missing = absent.map({True: NO_DATA, False: NOT_RUN})
    verdicts = reported["verdict"].replace("", NO_VERDICT).mask(reported["mean"].isna(), missing)
    kinds = reported["metric"].map(lambda metric: kind_of(str(metric), config))
    counts = pd.crosstab(kinds, verdicts).rename_axis(index=None, columns=None)
    counts = counts.reindex([kind for kind in KINDS if kind in counts.index])
    counts = counts.reindex(columns=[*VERDICTS, NO_VERDICT], fill_value=0)
    counts.insert(0, "reported", counts.sum(axis="columns"))
    return counts


#: Name of the branch of a fork that the config takes.
CHOSEN = "as chosen"


def branches(fork: Fork) -> dict[str, list[str]]:
    """Return the settings of each branch of a fork by its name, those of the config first."""
    return {CHOSEN: [], **fork.alternatives}


def compare_branches(
    name: str, fork: Fork, config: ExperimentConfig, branches: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """Count the verdicts of each branch of a fork, over the reported scores that all measured.

    A paper leaves things open. Where one choice was made because it agrees with the paper's
    numbers, the number of agreements is in-sample, and a reader should see what each alternative
    gives.

    Parameters
    ----------
    name : str
        That of the experiment.
    fork : Fork
    config : ExperimentConfig
        Its rules decide in all branches.
    branches : mapping of str to pandas.DataFrame
        The cells of each branch, of the combinations that are compared.

    Returns
    -------
    pandas.DataFrame
        A row per branch: ``experiment``, ``choice``, ``reason``, ``branch``, ``numbers``, the
        verdicts, and ``deviation``, the median distance of the measured from the reported mean in
        units of the tolerance.
    """
    scores = [metric for metric in config.verdict if kind_of(metric, config) == SCORES]
    parts = [part.assign(branch=branch) for branch, part in branches.items()]
    cells = pd.concat(parts, ignore_index=True)
    both = cells["mean"].notna() & cells["reported_mean"].notna()
    cells = cells[both & cells["metric"].isin(scores)]
    place = [*LABELS, "params", "metric"]
    cells[place] = cells[place].fillna("")
    cells = cells[cells.groupby(place)["branch"].transform("nunique") == len(branches)]
    reported = zip(cells["metric"], cells["reported_mean"], strict=True)
    allowed = [tolerated(config.verdict[metric], number) for metric, number in reported]
    cells["deviation"] = (cells["mean"] - cells["reported_mean"]).abs().astype(float) / allowed
    measured = [one for one in VERDICTS if one not in UNMEASURED]
    counts = pd.crosstab(cells["branch"], cells["verdict"])
    counts = counts.reindex(index=[*branches], columns=measured, fill_value=0)
    counts.insert(0, "numbers", counts.sum(axis="columns"))
    counts["deviation"] = cells.groupby("branch")["deviation"].median()
    labels = {"experiment": name, "choice": fork.choice, "reason": fork.reason}
    counts = counts.rename_axis("branch").reset_index().assign(**labels)
    return counts[[*labels, *counts.columns.drop([*labels])]]
