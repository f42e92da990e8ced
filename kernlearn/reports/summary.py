"""Measured numbers of all splits, and their means compared with the reported ones."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from kernlearn.config import names as metric_names
from kernlearn.config.model import ExperimentConfig
from kernlearn.config.spec import LABELS
from kernlearn.datasets.escaping import csv_text
from kernlearn.engine.plan import Plan
from kernlearn.reports.export import parameters_of
from kernlearn.reports.significance import VALUES, best_methods, median_interval
from kernlearn.reports.verdicts import (
    BASELINE_BETTER,
    BETTER,
    NOT_COMPARABLE,
    NOT_RUN,
    Mean,
    verdict,
)
from kernlearn.store import Row

#: Columns that identify a cell of a summary.
KEY = ["experiment", *LABELS, "params", "metric"]

#: Columns of times: the median over the splits, and its confidence interval.
TIMES = ["median", "low", "high"]
#: One minus the probability of that interval, where there are splits enough.
MEDIAN_LEVEL = 0.1

#: Metrics that only the reports of configs that name them show; the store has them in any case.
ON_REQUEST = frozenset(("selection_score", "comparisons", "fit_comparisons"))

#: Columns of a summary, in the order of the committed files.
COLUMNS = [*KEY, "mean", "std", "n_splits", "reported_mean", "reported_std", "verdict"]


def tidy_runs(plan: Plan, results: Mapping[str, Row]) -> pd.DataFrame:
    """Return the numbers of a plan's finished trials, given their results by key.

    There is one row per trial and metric, in the order of the plan, with columns ``dataset``,
    ``kernel``, ``method``, the varied parameters, ``metric``, ``split``, ``value`` and
    ``converged``, which is False if a solver stopped early. A label that does not apply is None.
    """
    config = plan.experiment.config
    hidden = ON_REQUEST - config.named_metrics
    metrics = [name for name in config.scope.task_metrics(config.task) if name not in hidden]
    labels = [*LABELS, *plan.axes]
    rows = [
        [
            *map(trial.labels.get, labels),
            metric,
            trial.split,
            result.metrics[metric],
            result.info.get("converged", True),
        ]
        for trial in plan.trials
        if (result := results.get(trial.key)) is not None and result.done
        for metric in metrics
        if metric in result.metrics
    ]
    frame = pd.DataFrame(rows, columns=[*labels, *VALUES])
    frame[labels] = frame[labels].astype(object).where(frame[labels].notna(), None)
    return frame


def metric_rows(rows: pd.DataFrame, metric: str, config: ExperimentConfig) -> pd.DataFrame:
    """Return the rows of a metric among those of all runs, or of their means.

    A derived metric is computed: a baseline's value divided by that of each other method, where
    both have one. A summary divides means over the splits, as papers do: the ratio of total times
    is not dominated by a single fast split. A claim is tested on a sample, which takes one ratio
    per split. The mean of these can differ from the ratio of means.
    """
    if metric not in config.derived:
        return rows[rows["metric"] == metric]
    rule = config.derived[metric]
    value, place = "mean", ["dataset", "kernel"]
    if "split" in rows:
        value, place = "value", [*place, "split"]
    is_baseline = rows["method"] == rule.baseline
    above = rows[is_baseline & (rows["metric"] == (rule.baseline_metric or rule.ratio))]
    below = rows[~is_baseline & (rows["metric"] == rule.ratio) & (rows[value] > 0)]
    baselines = dict(zip(label_rows(above, place), above[value], strict=True))
    numerators = [baselines.get(labels, np.nan) for labels in label_rows(below, place)]
    ratios = np.array(numerators, dtype=float) / below[value]
    return below.assign(metric=metric, **{value: ratios})[ratios.notna()]


def summarise(plan: Plan, runs: pd.DataFrame) -> pd.DataFrame:
    """Average each cell over its splits and compare it with the reported number.

    Parameters
    ----------
    plan : Plan
    runs : pandas.DataFrame
        From ``tidy_runs``.

    Returns
    -------
    pandas.DataFrame
        One row per cell and metric: the columns of ``COLUMNS``, those of ``TIMES`` and
        ``best`` where the config asks for them, then one for each varied parameter. ``std`` is
        the standard deviation over the splits (with one degree of freedom removed);
        ``not_converged`` counts the splits in which a solver stopped early; ``verdict`` is one of
        ``kernlearn.reports.verdicts.VERDICTS``, or empty where no rule is given.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kernlearn.store import Store
    >>> from kernlearn.config import load_config
    >>> from kernlearn.engine import make_plan, run_plan
    >>> from kernlearn.reports import summarise
    >>> from kernlearn.reports.summary import tidy_runs
    >>> small = ["splits=1", "methods.ORLand.n_landmarks=[5]", "methods.ORLand.C=1"]
    >>> plan = make_plan(load_config("demo_ordinal", settings=small))
    >>> with TemporaryDirectory() as folder, Store(Path(folder) / "demo.sqlite") as store:
    ...     _ = run_plan(plan, store)
    ...     runs = tidy_runs(plan, store.get(trial.key for trial in plan.trials))
    >>> cells = summarise(plan, runs)
    >>> cells[cells.metric == "aae"][["kernel", "method", "n_splits"]]
           kernel  method  n_splits
    0   manhattan  ORLand         1
    9   manhattan      KR         1
    18   gaussian  ORLand         1
    27   gaussian      KR         1
    """
    config = plan.experiment.config
    labels = [*LABELS, *plan.axes]
    stopped = runs.assign(stopped=~runs["converged"].astype(bool))
    cells = stopped.groupby([*labels, "metric"], dropna=False, sort=False)
    measured = (
        cells.agg(
            mean=("value", "mean"),
            std=("value", "std"),
            n_splits=("value", "size"),
            not_converged=("stopped", "sum"),
        )
        .reset_index()
        .infer_objects()
    )
    if config.shows_times:
        # groups come in the same order
        medians = [_median(str(names[-1]), values) for names, values in cells["value"]]
        measured = measured.join(pd.DataFrame(medians, columns=TIMES, dtype=float))
    # of the numbers of a ratio of means
    unknown = dict.fromkeys(["std", *(TIMES if config.shows_times else [])], np.nan)
    derived = [metric_rows(measured, name, config).assign(**unknown) for name in config.derived]
    frame = pd.concat([measured, *derived], ignore_index=True)
    frame = with_reported(frame, config, labels)
    frame["verdict"] = judged(frame, config)
    frame["experiment"] = plan.experiment.name
    # without axes some versions of pandas give no records at all
    axes = frame[plan.axes].to_dict("records") or [{} for _ in range(len(frame))]
    frame["params"] = [
        parameters_of({str(k): _item(v) for k, v in row.items() if not pd.isna(v)}) for row in axes
    ]
    if config.best is not None:
        frame["best"] = _is_best(frame, runs, config)
    frame["not_converged"] = frame["not_converged"].fillna(0).astype(int)
    return _ordered(frame, plan)[[*summary_columns(config), "not_converged", *plan.axes]]


def reported_runs(summary: pd.DataFrame, axes: Iterable[str]) -> pd.DataFrame:
    """Return the reported numbers of a summary in the form of :func:`tidy_runs`, as one split."""
    rows = summary[summary["reported_mean"].notna()]
    rows = rows.assign(split=1, value=rows["reported_mean"].astype(float), converged=True)
    return rows[[*LABELS, *axes, *VALUES]]


def summary_text(summary: pd.DataFrame, config: ExperimentConfig) -> str:
    """Return a summary as CSV, numbers with six digits."""
    columns = summary_columns(config)
    columns += ["not_converged"] if summary["not_converged"].any() else []
    return csv_text(summary[columns], float_format="%.6g")


def summary_columns(config: ExperimentConfig) -> list[str]:
    """Return the columns of an experiment's committed summary."""
    times = TIMES if config.shows_times else []
    return [*COLUMNS, *times, *([] if config.best is None else ["best"])]


def judged(summary: pd.DataFrame, config: ExperimentConfig) -> list[str]:
    """Return the verdict on each row of a summary, by the rules of the config."""
    columns = ["mean", "std", "n_splits", "reported_mean", "reported_std"]
    numbers = summary[columns].to_numpy(dtype=float).tolist()
    labels = summary[["dataset", "method", "metric"]].itertuples(index=False, name=None)
    verdicts = []
    for (dataset, method, metric), row in zip(labels, numbers, strict=True):
        rule = config.verdict.get(metric)
        n_reported = (rule and rule.reported_splits) or np.nan
        measured, reported = Mean(*row[:3]), Mean(row[3], row[4], n_reported)
        judgement = verdict(measured, reported, rule, direction(metric, config))
        if judgement not in ("", NOT_RUN) and dataset in config.not_comparable:
            judgement = NOT_COMPARABLE
        elif judgement == BETTER and config.proposed and method not in config.proposed:
            judgement = BASELINE_BETTER
        verdicts.append(judgement)
    return verdicts


def direction(metric: str, config: ExperimentConfig) -> int:
    """Return 1 where more of a metric is better, -1 where less is, 0 where neither."""
    return 1 if metric in config.derived else config.scope.metrics[metric].better


def is_cost(metric: str, config: ExperimentConfig) -> bool:
    """Whether a metric is a time or memory or, like a speed-up, a ratio of such."""
    rule = config.derived.get(metric)
    return metric_names.is_cost(metric if rule is None else rule.ratio)


def label_rows(frame: pd.DataFrame, labels: Iterable[str]) -> list[tuple[Any, ...]]:
    """Return the labels of each row, None for a label that does not apply."""
    columns = frame[list(labels)]
    rows = columns.astype(object).where(columns.notna(), None)
    return list(rows.itertuples(index=False, name=None))


def label_values(frame: pd.DataFrame, labels: Iterable[str]) -> list[tuple[Any, ...]]:
    """Return the combinations of labels that occur, in order; a single one of no labels."""
    return list(dict.fromkeys(label_rows(frame, labels))) if labels else [()]


def matching(summary: pd.DataFrame, labels: Iterable[str], values: Iterable[Any]) -> pd.DataFrame:
    """Return the rows in which labels have the given values, None where one does not apply."""
    for label, value in zip(labels, values, strict=True):
        column = summary[label]
        summary = summary[column.isna() if value is None else column == value]
    return summary


def _median(metric: str, values: pd.Series) -> tuple[float, float, float]:
    """Return the median of a time over the splits, and its interval if there are several."""
    if not metric_names.is_time(metric):
        return np.nan, np.nan, np.nan
    low, high, _ = median_interval(values, MEDIAN_LEVEL)
    ends = (low, high) if len(values) > 1 else (np.nan, np.nan)
    return float(values.median()), *ends


def _is_best(frame: pd.DataFrame, runs: pd.DataFrame, config: ExperimentConfig) -> list[bool]:
    """Whether each cell is the best or not significantly worse, among all but the baselines."""
    spec = config.best
    assert spec is not None
    compared = runs[runs["metric"].isin(spec.metrics) & runs["method"].isin(config.compared)]
    labels = [*spec.within, "metric"]
    rows = _joinable(compared, spec.within).groupby([*labels, "split", "method"], sort=False)
    best = set()
    for names, cell in rows["value"].mean().unstack().groupby(labels, sort=False):
        measured = cell.dropna(axis="columns", how="all")
        # a single method is not best among others
        if measured.shape[1] > 1:
            better = direction(str(names[-1]), config)
            best |= {(*names, m) for m in best_methods(measured, better, spec.level)}
    cells = _joinable(frame, spec.within)[[*labels, "method"]].itertuples(index=False, name=None)
    return [cell in best for cell in cells]


def with_reported(
    frame: pd.DataFrame, config: ExperimentConfig, labels: list[str]
) -> pd.DataFrame:
    """Return cells with the reported numbers, and a row for each of those not measured."""
    if config.reported_path is None:
        return frame.assign(reported_mean=np.nan, reported_std=np.nan)
    reported = pd.read_csv(config.reported_path, dtype={"kernel": object})
    key = [c for c in reported.columns if c not in ("mean", "std")]
    # a user-defined config may omit a paper's speed-ups
    listed: dict[str, list[Any]] = {
        "dataset": [*config.datasets],
        "kernel": [*config.kernels, np.nan],
        "method": [*config.methods],
        "metric": [*config.scope.metrics, *config.derived],
    }
    for label in listed.keys() & key:
        reported = reported[reported[label].isin(listed[label])]
    rows = reported.astype(object).to_dict("records")
    in_config = [config.wants({str(k): v for k, v in row.items()}) for row in rows]
    reported = reported[np.array(in_config, dtype=bool)]
    reported = reported.rename(columns={"mean": "reported_mean", "std": "reported_std"})
    if "reported_std" not in reported:
        reported["reported_std"] = np.nan
    merged = _joinable(frame, key).merge(_joinable(reported, key), on=key, how="outer")
    for label in labels:
        merged[label] = [None if v == "" else v for v in merged[label]]
    return merged


def _joinable(frame: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    """Make missing labels equal to each other, and whole numbers to whole numbers."""
    columns = {c: ["" if pd.isna(v) else _item(v) for v in frame[c]] for c in key}
    series = {c: pd.Series(v, index=frame.index, dtype=object) for c, v in columns.items()}
    return frame.assign(**series)


def _item(value: Any) -> Any:
    """Return a plain Python value, whole numbers as int."""
    value = value.item() if isinstance(value, np.generic) else value
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _ordered(frame: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """Sort rows as the config lists kernels, data sets, methods and metrics."""
    config = plan.experiment.config
    kernels = [str(trial.labels["kernel"]) for trial in plan.trials]
    listed: dict[str, Iterable[str]] = {
        "kernel": dict.fromkeys([*kernels, *config.kernels]),
        "dataset": config.datasets,
        "method": config.methods,
        "metric": [*config.scope.metrics, *config.derived],
    }
    keys = pd.DataFrame(index=frame.index)
    for column, values in listed.items():
        ranks = {value: rank for rank, value in enumerate(values)}
        # a reported number without a kernel belongs to the first
        keys[column] = [0 if pd.isna(v) else ranks.get(str(v), -1) for v in frame[column]]
    for axis in plan.axes:
        keys[axis] = pd.to_numeric(frame[axis], errors="coerce").fillna(-1)
    by = ["kernel", "dataset", "method", *plan.axes, "metric"]
    return frame.loc[keys.sort_values(by, kind="stable").index].reset_index(drop=True)
