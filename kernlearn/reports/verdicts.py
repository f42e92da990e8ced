"""Verdicts: whether measured means are those that a paper reports.

Two means are a *match* if they differ by at most the tolerance that the config states for the
metric: the tolerance says which differences matter to a reader; of speed-ups it is a factor, which
no test widens. A greater difference is *better*
or *worse* only if it also lies outside Welch's interval of the difference. The larger of tolerance
and interval counts, not their sum, so that a precise measurement gets no more than the tolerance.
A wide interval shows that little is known, not that two numbers agree: the verdict is *undecided*.

A baseline of the paper that is better than reported does not reproduce the paper, it weakens what
the paper concludes: it is a verdict of its own, *baseline better*. Numbers that were measured on
other data than the paper's, as the config states, are *not comparable*; for optional data that
are nowhere to be had there is *no data*.
"""

from collections.abc import Collection, Mapping
from math import inf, isnan

import numpy as np
import pandas as pd

from kernlearn.config import names
from kernlearn.config.model import ExperimentConfig, Fork, Tolerance
from kernlearn.config.values import LABELS
from kernlearn.reports.statistics import Mean, welch

MATCH, UNDECIDED = "match", "undecided"
BETTER, BASELINE_BETTER, WORSE = "better", "baseline better", "worse"
NOT_COMPARABLE, NOT_RUN, NO_DATA = "not comparable", "not run", "no data"
#: Verdicts on numbers that were not measured.
UNMEASURED = (NOT_RUN, NO_DATA)

#: Verdict to symbol, so that colour is never the only sign.
SYMBOLS = {
    MATCH: "✓",
    UNDECIDED: "≈",
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
#: Kinds of numbers: accuracies, errors and support vectors; seconds and speed-ups; numbers of rows
#: and columns of data sets.
KINDS = SCORES, COSTS, SIZES = ("scores", "times", "sizes")


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
    if abs(difference) <= tolerated(tolerance, reported.value, measured.value):
        return MATCH
    level = tolerance.level
    if level is not None and abs(difference) <= welch(measured, reported).half_width(level):
        return UNDECIDED
    return BETTER if difference * better > 0 else WORSE


def tolerated(tolerance: Tolerance, reported: float, measured: float = inf) -> float:
    """Return the difference from a reported mean that the rule tolerates."""
    allowed, share = tolerance.absolute, tolerance.relative or 0.0
    if tolerance.factor is not None:
        share = tolerance.factor - 1 if measured > reported else 1 - 1 / tolerance.factor
    if allowed is None:
        allowed = share * abs(reported)
    # the last digit of a float must not decide between match and worse
    return allowed * (1 + 1e-9)


def verdicts_of(cells: pd.DataFrame, config: ExperimentConfig) -> list[str]:
    """Return the verdict on each row of a frame of cells, by the rules of the config."""
    absent = without_data(cells, config)
    verdicts = []
    for row in cells.to_dict("records"):
        rule = config.verdict.get(row["metric"])
        measured = Mean(row["mean"], row["std"], row["n_splits"])
        n_reported = (rule and rule.reported_splits) or np.nan
        std = row["std"] if isnan(row["reported_std"]) else row["reported_std"]
        reported = Mean(row["reported_mean"], std, n_reported)
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
    named = {name: one.optional for name, one in config.datasets.items() if name in names}
    kinds = ((NO_DATA, True), ("not measured", False))
    lines = ((what, [k for k, v in named.items() if v == optional]) for what, optional in kinds)
    return [f"{what}: {', '.join(listed)}" for what, listed in lines if listed]


def direction(metric: str, config: ExperimentConfig) -> int:
    """Return 1 where more of a metric is better, -1 where less is, 0 where neither."""
    rule = config.derived.get(metric)
    return -config.scope.better(rule.ratio) if rule else config.scope.better(metric)


def is_cost(metric: str, config: ExperimentConfig) -> bool:
    """Whether a metric is a time or, like a speed-up, a ratio of times."""
    rule = config.derived.get(metric)
    return names.is_time(metric if rule is None else rule.ratio)


def main_metric(config: ExperimentConfig) -> str | None:
    """Return the metric that methods are ranked by, None if of none more or less is better.

    This is the one that `select_by` names, or the first that the config marks, judges or shows, if
    possible no time.
    """
    asked = [config.protocol.select_by] if config.protocol.select_by else []
    asked += config.best.metrics if config.best else []
    usable = [m for m in (*asked, *config.verdict, *config.metrics) if direction(m, config)]
    return min(usable, key=lambda m: is_cost(m, config), default=None)


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
        amount = f"{share:g} % of the reported one" if unit is None else f"{unit:g}"
        amount = amount if rule.factor is None else f"a factor of {rule.factor:g}"
        text = f"{metric.replace('_', ' ')}: match if the two means differ by at most {amount}"
        if rule.level is not None:
            text += "; undecided if by more, but not significantly "
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
    there = [kind for kind in KINDS if kind in counts.index]
    counts = counts.reindex(index=there, columns=[*VERDICTS, NO_VERDICT], fill_value=0)
    counts.insert(0, "reported", counts.sum(axis="columns"))
    return counts


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
