"""Every cell of an experiment: measured mean and spread beside the reported number."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from kernlearn.experiments.config.model import Derived, ExperimentConfig
from kernlearn.experiments.engine.plan import Plan, wanted
from kernlearn.experiments.engine.spec import canonical
from kernlearn.reports.claim_tests import mark_best
from kernlearn.reports.verdicts import Mean, verdict
from kernlearn.resources import shipped

#: Columns of a summary, in the order of the committed files.
COLUMNS = [
    "experiment", "dataset", "kernel", "method", "params", "metric", "mean", "std", "n_splits",
    "reported_mean", "reported_std", "verdict",
]  # fmt: skip

_LABELS = ["dataset", "kernel", "method"]
_VALUES = {"metric", "mean", "std"}


def summarise(plan: Plan, runs: pd.DataFrame) -> pd.DataFrame:
    """Average each cell over its splits and set it beside what was reported.

    Parameters
    ----------
    plan : Plan
    runs : pandas.DataFrame
        From :func:`~kernlearn.reports.remarks.tidy_runs`.

    Returns
    -------
    pandas.DataFrame
        One row a cell and metric: the columns of :data:`COLUMNS`, ``best`` where the config
        asks for it, then one for each varied parameter. ``std`` is the standard deviation
        over the splits (one degree of freedom taken); ``verdict`` is one of
        :data:`~kernlearn.reports.verdicts.VERDICTS`, or empty where no rule is given.
    """
    config = plan.experiment.config
    rows = _measured(runs, plan.axes)
    rows += [row for name, rule in config.derived.items() for row in _derived(name, rule, rows)]
    frame = pd.DataFrame(rows, columns=[*_LABELS, *plan.axes, "metric", "mean", "std", "n_splits"])
    frame = _beside_reported(frame, config, plan.axes)
    frame["verdict"] = judged(frame, config)
    frame["experiment"] = plan.experiment.name
    frame["params"] = [
        canonical({k: _item(v) for k, v in zip(plan.axes, values, strict=True) if not _empty(v)})
        for values in frame[plan.axes].itertuples(index=False)
    ]
    if config.best is not None:
        frame = _with_best(frame, runs, config)
    return _ordered(frame, plan)[[*summary_columns(config), *plan.axes]]


def summary_columns(config: ExperimentConfig) -> list[str]:
    """Return the columns of an experiment's committed summary."""
    return COLUMNS if config.best is None else [*COLUMNS, "best"]


def judged(summary: pd.DataFrame, config: ExperimentConfig) -> list[str]:
    """Return the verdict of every row of a summary, by the rules of the config.

    Parameters
    ----------
    summary : pandas.DataFrame
        With ``metric`` and the means, deviations and ``n_splits``.
    config : ExperimentConfig

    Returns
    -------
    list of str
    """
    numbers = summary[["mean", "std", "n_splits", "reported_mean", "reported_std"]].astype(float)
    found = []
    for metric, row in zip(summary["metric"], numbers.itertuples(index=False), strict=True):
        mean, std, n_splits, reported, reported_std = row
        rule = config.verdict.get(metric)
        n_reported = (
            np.nan if rule is None or rule.reported_splits is None else rule.reported_splits
        )
        theirs = Mean(reported, reported_std, n_reported)
        found.append(verdict(Mean(mean, std, n_splits), theirs, rule, direction(metric, config)))
    return found


def direction(metric: str, config: ExperimentConfig) -> int:
    """Return 1 where more of a metric is better, -1 where less is, 0 where neither."""
    if metric in config.derived:
        return 1
    return config.scope.metrics[metric].better


def is_time(metric: str, config: ExperimentConfig) -> bool:
    """Whether a metric is a time or, as a speed-up is, a ratio of times."""
    rule = config.derived.get(metric)
    return (metric if rule is None else rule.ratio).endswith("_seconds")


def label_values(summary: pd.DataFrame, labels: list[str]) -> list[tuple[Any, ...]]:
    """Return the combinations of labels that occur, in order, None for a label not given."""
    if not labels:
        return [()]
    rows = summary[labels].astype(object).where(summary[labels].notna(), None)
    return list(dict.fromkeys(rows.itertuples(index=False, name=None)))


def matching(summary: pd.DataFrame, labels: Iterable[str], values: Iterable[Any]) -> pd.DataFrame:
    """Return the rows in which labels have the given values, None for not given."""
    for label, value in zip(labels, values, strict=True):
        column = summary[label]
        summary = summary[column.isna() if value is None else column == value]
    return summary


def _measured(runs: pd.DataFrame, axes: list[str]) -> list[dict[str, Any]]:
    cells = runs.groupby([*_LABELS, *axes, "metric"], dropna=False, sort=False)["value"]
    frame = cells.agg(mean="mean", std="std", n_splits="size").reset_index()
    frame[[*_LABELS, *axes]] = frame[[*_LABELS, *axes]].astype(object)
    rows = frame.where(frame.notna(), None).to_dict("records")
    return [{str(k): v for k, v in row.items()} for row in rows]


def _derived(name: str, rule: Derived, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Divide the baseline's mean by each method's, within a data set and kernel."""
    numerator = rule.baseline_metric or rule.ratio
    baselines = {
        (row["dataset"], row["kernel"]): row["mean"]
        for row in rows
        if row["method"] == rule.baseline and row["metric"] == numerator
    }
    return [
        {**row, "metric": name, "mean": baselines[place] / row["mean"], "std": np.nan}
        for row in rows
        if row["metric"] == rule.ratio
        and row["method"] != rule.baseline
        and (place := (row["dataset"], row["kernel"])) in baselines
        and row["mean"] > 0
    ]


def _with_best(frame: pd.DataFrame, runs: pd.DataFrame, config: ExperimentConfig) -> pd.DataFrame:
    better = {metric: direction(metric, config) for metric in frame["metric"].unique()}
    best = mark_best(runs, config, better)
    key = [c for c in best.columns if c != "best"]
    joined = _joinable(frame[key], key).merge(_joinable(best, key), on=key, how="left")
    return frame.assign(best=joined["best"].notna().to_numpy())


def _beside_reported(
    frame: pd.DataFrame, config: ExperimentConfig, axes: list[str]
) -> pd.DataFrame:
    if config.reported is None:
        return frame.assign(reported_mean=np.nan, reported_std=np.nan)
    reported = pd.read_csv(shipped("reported") / config.reported, dtype={"kernel": object})
    shared = [c for c in reported.columns if c not in _VALUES]
    in_config = reported["dataset"].isin(config.datasets) & reported["method"].isin(config.methods)
    if "kernel" in shared:
        in_config &= reported["kernel"].isin(config.kernels) | reported["kernel"].isna()
    # a config of one's own may do without a paper's speed-ups
    in_config &= reported["metric"].isin([*config.scope.metrics, *config.derived])
    if "std" not in reported:
        reported["std"] = np.nan
    rows = reported.astype(object).to_dict("records")
    in_config &= np.array([wanted(config, {str(k): v for k, v in row.items()}) for row in rows])
    reported = reported[in_config].rename(columns={"mean": "reported_mean", "std": "reported_std"})
    key = [*shared, "metric"]
    left, right = _joinable(frame, key), _joinable(reported, key)
    merged = left.merge(right, on=key, how="outer")
    for column in (*_LABELS, *axes):
        if column in merged:
            merged[column] = [None if v == "" else v for v in merged[column]]
    return merged


def _joinable(frame: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    """Make missing labels equal to each other, and whole numbers to whole numbers."""
    frame = frame.copy()
    for column in key:
        frame[column] = pd.Series(
            ["" if _empty(v) else _item(v) for v in frame[column]], index=frame.index, dtype=object
        )
    return frame


def _empty(value: Any) -> bool:
    return value is None or (isinstance(value, float) and np.isnan(value))


def _item(value: Any) -> Any:
    """Return a plain Python value, whole numbers as int."""
    value = value.item() if isinstance(value, np.generic) else value
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _ordered(frame: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Sort rows as the config lists data sets, kernels, methods and metrics."""
    config = plan.experiment.config
    planned = (str(t.labels["kernel"]) for t in plan.trials)
    kernels = list(dict.fromkeys([*planned, *config.kernels]))
    order = {
        "kernel": {k: i for i, k in enumerate(kernels)},
        "dataset": {k: i for i, k in enumerate(config.datasets)},
        "method": {k: i for i, k in enumerate(config.methods)},
        "metric": {k: i for i, k in enumerate([*config.scope.metrics, *config.derived])},
    }
    # a reported number may not say under which kernel: it stands with the first
    keys = pd.DataFrame(
        {
            c: [ranks.get(str(v), 0 if _empty(v) else -1) for v in frame[c]]
            for c, ranks in order.items()
        },
        index=frame.index,
    )
    for axis in plan.axes:
        keys[axis] = pd.to_numeric(frame[axis], errors="coerce").fillna(-1)
    by = ["kernel", "dataset", "method", *plan.axes, "metric"]
    return frame.loc[keys.sort_values(by, kind="stable").index].reset_index(drop=True)
