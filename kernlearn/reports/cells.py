"""Cells: a row per mean over splits, beside the reported one."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from kernlearn.config import names as metric_names
from kernlearn.config.model import ExperimentConfig, LoadedExperiment
from kernlearn.config.plan import planned_labels
from kernlearn.config.values import LABELS
from kernlearn.exceptions import ReportError
from kernlearn.reports import verdicts
from kernlearn.reports.labels import (
    KEY,
    Values,
    label_groups,
    label_rows,
    parameters,
    plain_item,
    plain_labels,
    values_of,
)
from kernlearn.reports.rows import NOT_LABELS, check_deviations, checked_values, names_of
from kernlearn.reports.statistics import best_methods, median_interval

#: Columns of times: the median over the splits, and its confidence interval.
TIMES = ["median", "low", "high"]
#: Columns of cells.
COLUMNS = [*KEY, "mean", "std", "n_splits", "reported_mean", "reported_std", "verdict"]
#: Further columns: in how many splits a solver stopped early, and the drift of the mean.
MARKS = ("not_converged", "drift")
# One minus the probability of a median's interval, where there are splits enough.
_MEDIAN_LEVEL = 0.1


def metric_rows(rows: pd.DataFrame, metric: str, config: ExperimentConfig) -> pd.DataFrame:
    """Return the rows of a metric among splits or cells.

    A derived metric is computed: a baseline's value divided by that of each other method, where
    both have one. Cells divide means over the splits, as papers do: the ratio of total times is
    not dominated by a single fast split. A claim is tested on one ratio per split. Parameters of
    the data, and those of which the baseline has several values, are the same on both sides.
    """
    if metric not in config.derived:
        return rows[rows["metric"] == metric]
    rule = config.derived[metric]
    entries = [config.methods[rule.baseline], *config.datasets.values()]
    several = {k for one in entries for k, v in one.shown_parameters.items() if v.is_several}
    value, place = "mean", ["dataset", "kernel", *several.intersection(config.axes)]
    if "split" in rows:
        value, place = "value", [*place, "split"]
    is_baseline = rows["method"] == rule.baseline
    above = rows[is_baseline & (rows["metric"] == (rule.baseline_metric or rule.ratio))]
    below = rows[~is_baseline & (rows["metric"] == rule.ratio) & (rows[value] > 0)]
    baselines = dict(zip(label_rows(above, place), above[value], strict=True))
    numerators = [baselines.get(labels, np.nan) for labels in label_rows(below, place)]
    ratios = np.array(numerators, dtype=float) / below[value].to_numpy(dtype=float)
    return below.assign(metric=metric, **{value: ratios})[~np.isnan(ratios)]


def summarise(
    splits: pd.DataFrame, experiment: LoadedExperiment, tested: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Average each cell over its splits and compare it with the reported number.

    Parameters
    ----------
    splits : pandas.DataFrame
    experiment : LoadedExperiment
    tested : pandas.DataFrame, optional
        The splits of the cells that may be marked as best, with covariances as further splits; by
        default all splits.

    Returns
    -------
    pandas.DataFrame
        One row per cell and metric: the columns ``COLUMNS``, then the median of times with its
        interval and ``best`` where the config asks for them, ``not_converged`` (the number of
        splits in which a solver stopped early), ``drift`` (how far the mean moves between
        processors), and the varied parameters. ``std`` is the
        standard deviation over the splits (with one degree of freedom removed); ``verdict`` is
        one of ``kernlearn.reports.verdicts.VERDICTS``, or empty without a rule.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kernlearn.store import Store
    >>> from kernlearn.config import load_config
    >>> from kernlearn.engine import make_plan, run_plan
    >>> from kernlearn.reports import assemble, summarise
    >>> small = ["splits=1", "methods.ORLand.n_landmarks=[5]", "methods.ORLand.C=1"]
    >>> plan = make_plan(load_config("demo_ordinal", settings=small))
    >>> with TemporaryDirectory() as folder, Store(Path(folder) / "demo.sqlite") as store:
    ...     _ = run_plan(plan, store)
    ...     splits = assemble(plan, store).splits
    >>> cells = summarise(splits, plan.experiment)
    >>> cells[cells.metric == "aae"][["kernel", "method", "n_splits"]]
           kernel  method  n_splits
    0   manhattan  ORLand         1
    9   manhattan      KR         1
    18   gaussian  ORLand         1
    27   gaussian      KR         1
    """
    config, axes = experiment.config, [*experiment.config.axes]
    labels = [*LABELS, *axes]
    stopped = splits.assign(stopped=~splits["converged"].astype(bool))
    groups = stopped.groupby([*labels, "metric"], dropna=False, sort=False)
    measured = (
        groups.agg(
            mean=("value", "mean"),
            std=("value", "std"),
            n_splits=("value", "size"),
            not_converged=("stopped", "sum"),
            drift=("drift", "max"),
        )
        .reset_index()
        .infer_objects()
    )
    values = groups["value"].agg(list)
    medians = [_median(*one) for one in zip(measured["metric"], values, strict=True)]
    measured = measured.join(pd.DataFrame(medians, columns=TIMES, dtype=float))
    ratios = [
        metric_rows(measured, name, config).assign(**dict.fromkeys(["std", *TIMES], np.nan))
        for name in config.derived
    ]
    cells = with_reported(pd.concat([measured, *ratios], ignore_index=True), config)
    cells["verdict"] = verdicts.verdicts_of(cells, config)
    cells["experiment"] = experiment.name
    cells["params"] = parameters(cells, axes)
    if config.best is not None:
        cells["best"] = _are_best(cells, splits if tested is None else tested, config)
    cells["not_converged"] = cells["not_converged"].fillna(0).astype(int)
    cells["drift"] = cells["drift"].fillna(0.0)
    kernels = [*map(str, splits["kernel"]), *config.kernels]
    cells = _in_order(cells, kernels, config)
    return cells[[*cell_columns(config), *MARKS, *axes]]


def cell_columns(config: ExperimentConfig) -> list[str]:
    """Return the columns of an experiment's cells, before marks and labels."""
    times = TIMES if config.shows_times else []
    return [*COLUMNS, *times, *([] if config.best is None else ["best"])]


def with_reported(cells: pd.DataFrame, config: ExperimentConfig) -> pd.DataFrame:
    """Return cells with the reported numbers, and a row for each of those not measured."""
    reported, _ = reported_numbers(config)
    if reported.empty:
        return cells.assign(reported_mean=np.nan, reported_std=np.nan)
    key = [c for c in reported.columns if not c.startswith("reported_")]
    merged = plain_labels(cells, key).merge(plain_labels(reported, key), on=key, how="outer")
    return plain_labels(merged, [*LABELS, *config.axes])


def reported_splits(cells: pd.DataFrame, axes: Iterable[str]) -> pd.DataFrame:
    """Return the reported numbers of cells in the form of splits, as one split."""
    rows = cells[cells["reported_mean"].notna()]
    values = rows["reported_mean"].astype(float)
    rows = rows.assign(split=1, value=values, converged=True, ratio=0.0, drift=0.0, selected=None)
    return rows[["experiment", *LABELS, *axes, *NOT_LABELS[1:]]]


def reported_numbers(config: ExperimentConfig) -> tuple[pd.DataFrame, str]:
    """Return the reported numbers of a config's cells, and say which it has no cells for."""
    if config.reported_path is None:
        return pd.DataFrame(), ""
    texts = dict.fromkeys((*LABELS, "metric"), str)
    numbers = pd.read_csv(config.reported_path, dtype=texts, keep_default_na=False, na_values="")
    checked_values(numbers.rename(columns={"mean": "value"}), str(config.reported), "85 % is 0.85")
    if "std" in numbers:
        check_deviations(numbers, str(config.reported))
    all_named, others = np.ones(len(numbers), dtype=bool), []
    cells = [*planned_labels(config)]
    kernels = [*config.kernels, *(cell.get("kernel") for cell in cells)]  # with varied parameters
    for label, names in {**names_of(config), "kernel": kernels}.items():
        if label in numbers:
            is_named = numbers[label].isin(list(names)) | numbers[label].isna()
            others += [f"{label} {name}" for name in numbers.loc[~is_named, label].unique()]
            all_named &= is_named.to_numpy()
    omitted = f"{len(numbers) - all_named.sum()} of {len(numbers)} reported numbers are not in the"
    omitted += f" config: {', '.join(others)}"
    numbers = numbers[all_named]
    rows = numbers.astype(object).to_dict("records")
    numbers = numbers[[config.wants({str(k): v for k, v in row.items()}) for row in rows]]
    numbers = numbers.rename(columns={"mean": "reported_mean", "std": "reported_std"})
    numbers["reported_std"] = numbers.get("reported_std", np.nan)
    labels = [label for label in (*LABELS, *config.axes) if label in numbers]
    places = [tuple(map(cell.get, labels)) for cell in cells]
    known = {tuple(map(_text, place)): place for place in places}
    found = [known.get(tuple(map(_text, row)), row) for row in label_rows(numbers, labels)]
    times = Counter(places)
    if several := [row for row in found if times[row] > 1]:
        row = " ".join(map(str, several[0]))
        raise ReportError(f"{config.reported}: {row}: several cells; add a column of what varies")
    numbers[labels] = pd.DataFrame(found, numbers.index, labels, dtype=object)
    return numbers, omitted if others else ""


def _text(label: Any) -> str:
    """Return a label as text; a column with numbers and texts has both as texts."""
    number = pd.to_numeric(label, errors="coerce")
    return str(plain_item(label if pd.isna(number) else number))


def _median(metric: str, values: list[float]) -> tuple[float, float, float]:
    """Return the median of a time over the splits, and its interval if there are several."""
    if not metric_names.is_time(metric):
        return np.nan, np.nan, np.nan
    ends = median_interval(values, _MEDIAN_LEVEL) if len(values) > 1 else (np.nan, np.nan)
    return float(np.median(values)), *ends


def _are_best(cells: pd.DataFrame, tested: pd.DataFrame, config: ExperimentConfig) -> list[bool]:
    """Whether each cell is the best of its place, or not shown to be worse; see `BestSpec`."""
    spec, labels = config.best, [*LABELS, *config.axes]
    assert spec is not None
    places: dict[tuple[Any, ...], list[bool]] = {}
    for metric in spec.metrics:
        better = verdicts.direction(metric, config)
        values = values_of(tested[tested["metric"] == metric])
        rows = pd.DataFrame(values.keys, columns=values.names, dtype=object)
        for _, place in label_groups(rows, spec.within):
            of_place = values.where(rows.index.isin(place.index))
            best = _best_of_place(of_place, better, spec.level)
            for row, key in enumerate(of_place.keys):
                places.setdefault((metric, key), []).append(row in best)
    keys = label_rows(plain_labels(cells, labels), labels)
    return [all(places.get(key, [False])) for key in zip(cells["metric"], keys, strict=True)]


def _best_of_place(place: Values, better: int, level: float) -> list[int]:
    """Return the best row of each method that is not shown to be worse; none if none is shown."""
    means = np.nanmean(place.numbers[:, place.is_split], axis=1)
    firsts: dict[str, int] = {}
    for row in np.argsort(-better * means, kind="stable").tolist():
        firsts.setdefault(place.column("method")[row], row)
    values = pd.DataFrame(place.numbers[[*firsts.values()]].T, place.splits, [*firsts])
    drift = 2 * float(place.drift[[*firsts.values()]].max())  # of a difference of two methods
    best = best_methods(values, better, level, float(place.ratio.mean()), drift)
    return [firsts[method] for method in best] if len(best) < len(firsts) else []


def _in_order(
    cells: pd.DataFrame, kernels: Iterable[str], config: ExperimentConfig
) -> pd.DataFrame:
    """Sort rows as the config lists kernels, data sets, methods and metrics."""
    listed = {**names_of(config), "kernel": dict.fromkeys(kernels)}

    def rank(column: "pd.Series[Any]") -> "pd.Series[Any]":
        if column.name not in listed:
            return pd.to_numeric(column, errors="coerce").fillna(-1)
        ranks = {value: rank for rank, value in enumerate(listed[str(column.name)])}
        # a reported number without a kernel belongs to the first
        return column.astype(str).map(ranks).fillna(0)

    by = ["kernel", "dataset", "method", *config.axes, "metric"]
    return cells.sort_values(by, key=rank, kind="stable", ignore_index=True)
