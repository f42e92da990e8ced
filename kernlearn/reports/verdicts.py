"""Verdicts: the rule by which a measured mean reproduces the reported one, and their counts.

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

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
import pandas as pd

from kernlearn.config import names
from kernlearn.config.model import ExperimentConfig, Fork, Tolerance
from kernlearn.config.spec import LABELS
from kernlearn.reports.tests import welch_half_width

MATCH, WITHIN_SPREAD = "match", "match within spread"
BETTER, BASELINE_BETTER, WORSE = "better", "baseline better", "worse"
NOT_COMPARABLE, NOT_RUN = "not comparable", "not run"

#: Verdict to symbol, so that colour is never the only sign.
SYMBOLS = {
    MATCH: "✓",
    WITHIN_SPREAD: "≈",
    BETTER: "▲",
    BASELINE_BETTER: "△",
    WORSE: "▼",
    NOT_COMPARABLE: "≠",
    NOT_RUN: "–",
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


@dataclass(frozen=True)
class Mean:
    """A mean over splits, its standard deviation and their number; NaN where not known."""

    value: float
    std: float = np.nan
    n_splits: float = np.nan

    @property
    def variance(self) -> float:
        """The squared standard error; NaN if not known."""
        return self.std**2 / self.n_splits if self.n_splits > 1 else np.nan


def verdict(measured: Mean, reported: Mean, tolerance: Tolerance | None, better: int) -> str:
    """Return the verdict on a measured mean.

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
    allowed = tolerance.absolute
    if allowed is None:
        allowed = (tolerance.relative or 0.0) * abs(reported)
    # the last digit of a float must not decide between match and worse
    return allowed * (1 + 1e-9)


def half_width(measured: Mean, reported: Mean, level: float) -> float:
    """Return half the width of the interval of a difference of means, by Welch's t-test.

    Where the paper gives no spread only that of the measured splits counts, as if the reported
    mean were exact.
    """
    variances = measured.variance, reported.variance
    return welch_half_width(variances, (measured.n_splits, reported.n_splits), level)


def verdicts_of(cells: pd.DataFrame, config: ExperimentConfig) -> list[str]:
    """Return the verdict on each row of a frame of cells, by the rules of the config."""
    numbers = cells[["mean", "std", "n_splits", "reported_mean", "reported_std"]]
    labels = cells[["dataset", "method", "metric"]].itertuples(index=False, name=None)
    verdicts = []
    for (dataset, method, metric), row in zip(
        labels, numbers.to_numpy(float).tolist(), strict=True
    ):
        rule = config.verdict.get(metric)
        n_reported = (rule and rule.reported_splits) or np.nan
        measured, reported = Mean(row[0], row[1], row[2]), Mean(row[3], row[4], n_reported)
        one = verdict(measured, reported, rule, direction(metric, config))
        if one not in ("", NOT_RUN) and dataset in config.not_comparable:
            one = NOT_COMPARABLE
        elif one == BETTER and config.proposed and method not in config.proposed:
            one = BASELINE_BETTER
        verdicts.append(one)
    return verdicts


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
    'n samples: match if the two are equal, else better or worse'
    """
    return [_rule(tolerance, metric) for metric, tolerance in config.verdict.items()]


def _rule(tolerance: Tolerance, metric: str) -> str:
    name = metric.replace("_", " ")
    if 0 in (tolerance.absolute, tolerance.relative):
        return f"{name}: match if the two are equal, else better or worse"

    def amount(times: float) -> str:
        if tolerance.absolute is not None:
            return f"{times * tolerance.absolute:g}"
        return f"{100 * times * (tolerance.relative or 0):g} % of the reported one"

    text = f"{name}: match if the two means differ by at most {amount(1)}"
    if tolerance.level is None:
        return f"{text}, else better or worse"
    test = "Student's t-test over the measured splits"
    if tolerance.reported_splits is not None:
        test = f"Welch's t-test over the measured and {tolerance.reported_splits} reported splits"
    return (
        f"{text}; match within spread if by at most {amount(_UP_TO)} and not "
        f"significantly ({test}, level {tolerance.level:g}); else better or worse"
    )


def count_verdicts(cells: pd.DataFrame, config: ExperimentConfig) -> pd.DataFrame:
    """Count the verdicts on the reported numbers: a row per kind, a column per verdict.

    The columns are :data:`VERDICTS` and ``without verdict``; they add up to ``reported``.
    """
    reported = cells[cells["reported_mean"].notna()]
    columns = (reported[name].tolist() for name in ("metric", "verdict", "mean"))
    counts = Counter(
        (kind_of(metric, config), NOT_RUN if isnan(mean) else one or NO_VERDICT)
        for metric, one, mean in zip(*columns, strict=True)
    )
    kinds = [kind for kind in KINDS if any(kind == of for of, _ in counts)]
    rows = [[counts[kind, name] for name in (*VERDICTS, NO_VERDICT)] for kind in kinds]
    frame = pd.DataFrame(rows, kinds, [*VERDICTS, NO_VERDICT], dtype=int)
    frame.insert(0, "reported", frame.sum(axis="columns"))
    return frame


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
        The cells of each branch.

    Returns
    -------
    pandas.DataFrame
        A row per branch: ``experiment``, ``choice``, ``reason``, ``branch``, ``numbers``, the
        verdicts, and ``deviation``, the median distance of the measured from the reported mean in
        units of the tolerance.
    """
    scores = [metric for metric in config.verdict if kind_of(metric, config) == SCORES]
    tables = {}
    for branch, cells in branches.items():
        both = cells["mean"].notna() & cells["reported_mean"].notna()
        cells = cells[both & cells["metric"].isin(scores)]
        if fork.only:
            records = cells.to_dict("records")
            compared = [any(_agrees(row, match) for match in fork.only) for row in records]
            cells = cells[np.array(compared, dtype=bool)]
        reported = zip(cells["metric"], cells["reported_mean"].astype(float), strict=True)
        allowed = [tolerated(config.verdict[metric], number) for metric, number in reported]
        away = (cells["mean"] - cells["reported_mean"]).abs().astype(float) / allowed
        places = cells[[*LABELS, "params", "metric"]].fillna("")
        tables[branch] = cells.assign(deviation=away).set_index([*map(places.get, places)])
    shared = set.intersection(*(set(table.index) for table in tables.values()))
    rows: list[dict[str, Any]] = []
    for branch, table in tables.items():
        of_all = table[np.array([place in shared for place in table.index], dtype=bool)]
        counts = of_all["verdict"].value_counts()
        verdicts = {one: int(counts.get(one, 0)) for one in VERDICTS if one != NOT_RUN}
        labels = {"experiment": name, "choice": fork.choice, "reason": fork.reason}
        row: dict[str, Any] = {**labels, "branch": branch, "numbers": len(of_all), **verdicts}
        row["deviation"] = of_all["deviation"].median()
        rows.append(row)
    return pd.DataFrame(rows)


def _agrees(row: Mapping[Any, Any], match: Mapping[Any, Any]) -> bool:
    return all(row[label] == value for label, value in match.items())
