"""From results to frames: one of splits, and one of cells.

The *splits* have a row per number: ``experiment``, the labels ``dataset``, ``kernel``, ``method``
and the varied parameters, ``metric``, ``split``, ``value``, ``converged``, ``ratio`` and
``drift``. The ratio is that of test rows to training rows. The drift is how far the mean of the
cell moves between processors, as far as that was measured. The *cells* have a row per mean over
splits, beside the reported one. All that a report says is computed from these two and the config.
Whether the numbers come from a store, from a file of another program, or from a committed summary
does not matter.
"""

import io
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kernlearn.checks import suggestion
from kernlearn.config import names as metric_names
from kernlearn.config.model import ExperimentConfig, LoadedExperiment
from kernlearn.config.plan import Plan, planned_labels
from kernlearn.config.spec import LABELS, canonical, cell_name
from kernlearn.exceptions import ReportError, StoreError, SummaryError
from kernlearn.reports import verdicts
from kernlearn.reports.statistics import best_methods, median_interval
from kernlearn.store import Row, Store, chosen_by_mean

#: Columns that identify a cell.
KEY = ["experiment", *LABELS, "params", "metric"]
#: Columns of times: the median over the splits, and its confidence interval.
TIMES = ["median", "low", "high"]
#: Columns of a summary, in the order of the committed files.
COLUMNS = [*KEY, "mean", "std", "n_splits", "reported_mean", "reported_std", "verdict"]
_COUNTS = ("split", "n_train", "n_test")  # columns of rows of any program
#: Columns that a summary has where they are not 0 throughout.
MARKS: dict[str, Any] = {"not_converged": int, "drift": float}
#: Columns of the splits that are no labels.
NOT_LABELS = ("experiment", "metric", "split", "value", "converged", "ratio", "drift")

#: Metrics that only the reports of configs that name them show; the store has them in any case.
ON_REQUEST = frozenset(("selection_score", "comparisons", "fit_comparisons"))
#: Matches metrics that are shares of a whole, and so between 0 and 1.
is_share = re.compile(
    r"accuracy|auc|zero_one|(letor_)?(mean_)?ndcg(_10)?|balanced_accuracy|top_k_accuracy"
    r"|average_precision|(f1|jaccard|precision|recall|roc_auc)(_\w+)?"
).fullmatch
# One minus the probability of a median's interval, where there are splits enough.
_MEDIAN_LEVEL = 0.1
# What a spreadsheet computes, and what is a number, perhaps with its deviation or interval.
_COMPUTED = re.compile("'*[=+\\-@\t\r＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?( ?[±\[][\d.e +\-±,\]]*)?|[+-]?inf")


# ---- splits ----


def stored_rows(plan: Plan, store: Store) -> dict[str, Row]:
    """Return what a store has of a plan, by key; of a grid the point that is best over splits."""
    return chosen_by_mean(store.get(trial.key for trial in plan.trials))


def splits_of(
    plan: Plan, results: Mapping[str, Row], metrics: Collection[str] | None = None
) -> pd.DataFrame:
    """Return the numbers of a plan's finished trials.

    Parameters
    ----------
    plan : Plan
    results : mapping of str to Row
        By key; those of a grid chosen over all splits.
    metrics : collection of str, optional
        By default those of the task, without the ones that only some reports show.

    Returns
    -------
    pandas.DataFrame
        A row per trial and metric, in the order of the plan. A label that does not apply is None;
        ``converged`` is False if a solver stopped early. ``ratio`` is 0 for times, which
        overlapping splits do not share, and for independent draws. ``drift`` is 0 but for the
        full profile of a config with a file ``processors.csv`` beside it.
    """
    config = plan.experiment.config
    if metrics is None:
        hidden = ON_REQUEST - config.named_metrics
        metrics = [name for name in config.scope.task_metrics(config.task) if name not in hidden]
    labels = [*LABELS, *plan.axes]
    rows = [
        [
            plan.experiment.name,
            *map(trial.labels.get, labels),
            metric,
            trial.split,
            result.metrics[metric],
            result.info.get("converged", True),
            0.0
            if verdicts.is_cost(metric, config)
            else result.info.get("n_test", 0) / result.info.get("n_train", 1),
            0.0,
        ]
        for trial in plan.trials
        if (result := results.get(trial.key)) is not None and result.done
        for metric in metrics
        if metric in result.metrics
    ]
    splits = pd.DataFrame(rows, columns=["experiment", *labels, *NOT_LABELS[1:]])
    splits = plain_labels(splits, labels)
    path = plan.experiment.path.with_name("processors.csv")
    if path.is_file() and not plan.experiment.indicative:
        known = pd.read_csv(path, dtype=dict.fromkeys(KEY, str))
        drifts = dict(zip(label_rows(known, KEY), known["drift"], strict=True))
        cells = splits.assign(params=_parameters(splits, plan.axes))
        splits["drift"] = [drifts.get(cell, 0.0) for cell in label_rows(cells, KEY)]
    return splits


def plain_labels(frame: pd.DataFrame, labels: Iterable[str]) -> pd.DataFrame:
    """Return a frame whose labels are None where they do not apply, and whole numbers int."""
    columns = {
        label: pd.Series([_item(value) for value in frame[label]], frame.index, dtype=object)
        for label in labels
    }
    return frame.assign(**columns)


def _item(value: Any) -> Any:
    if pd.isna(value):
        return None
    value = value.item() if isinstance(value, np.generic) else value
    return int(value) if isinstance(value, float) and value.is_integer() else value


def reported_splits(cells: pd.DataFrame, axes: Iterable[str]) -> pd.DataFrame:
    """Return the reported numbers of cells in the form of splits, as one split."""
    rows = cells[cells["reported_mean"].notna()]
    values = rows["reported_mean"].astype(float)
    rows = rows.assign(split=1, value=values, converged=True, ratio=0.0, drift=0.0)
    return rows[["experiment", *LABELS, *axes, *NOT_LABELS[1:]]]


def read_rows(config: ExperimentConfig, frame: pd.DataFrame, name: str = "rows") -> pd.DataFrame:
    """Return results of any program as splits; see :func:`~kernlearn.reports.report_rows`.

    Raises
    ------
    ReportError
        If a column is missing, labels are those of no cell of the config, or a number occurs
        twice or is out of range.
    """
    if "solver_name" in frame:
        frame = _from_benchopt(frame, config)
    named = frame if "split" in frame else frame.rename(columns={"repetition": "split"})
    frame = named.reset_index(drop=True)
    needed = ["dataset", *(["kernel"] if config.kernels else []), "method", *NOT_LABELS[1:4]]
    if missing := [column for column in needed if column not in frame]:
        raise ReportError(
            f"{name}: the rows lack the column {', '.join(missing)}; they need "
            f"{', '.join(needed)} (or repetition for split), and the varied parameters"
        )
    numbers = {c: pd.to_numeric(frame[c], errors="coerce") for c in _COUNTS if c in frame}
    is_whole = (numbers["split"] >= 0) & (numbers["split"] % 1 == 0)
    _refuse(name, frame, "split", is_whole, "a whole number from 0")
    labels = [*LABELS, *config.axes]
    splits = _labelled(frame.reindex(columns=[*labels, *NOT_LABELS[1:]]), config, name)
    metrics = config.scope.task_metrics(config.task)
    if unknown := [one for one in map(str, splits["metric"]) if one not in metrics]:
        hint = suggestion(unknown[0], metrics)
        raise ReportError(f"{name}: no metric {unknown[0]!r}{hint}")
    is_ratio = pd.to_numeric(splits["ratio"], errors="coerce") >= 0
    _refuse(name, splits, "ratio", is_ratio | splits["ratio"].isna(), "0 or more")
    is_known = splits["converged"].isna() | splits["converged"].isin([True, False])
    _refuse(name, splits, "converged", is_known, "True or False")
    if len(numbers) == len(_COUNTS):
        _refuse(name, frame, "n_train", numbers["n_train"] > 0, "a number of rows")
        _refuse(name, frame, "n_test", numbers["n_test"] >= 0, "a number of rows")
        splits["ratio"] = numbers["n_test"] / numbers["n_train"]
    costs = {metric: verdicts.is_cost(metric, config) for metric in metrics}
    ratios = splits["ratio"].astype(float).fillna(protocol_ratio(config))
    splits = splits.assign(
        value=_numbers(frame, name),
        converged=[True if pd.isna(value) else bool(value) for value in splits["converged"]],
        ratio=ratios.mask(splits["metric"].map(costs).astype(bool), 0.0),
        drift=splits["drift"].astype(float).fillna(0.0),
    )
    splits.insert(0, "experiment", name)
    if (twice := splits.duplicated([*labels, "metric", "split"])).any():
        row = splits[twice].iloc[0]
        place = " ".join(str(row[c]) for c in (*labels, "metric") if pd.notna(row[c]))
        raise ReportError(
            f"{name}: {int(twice.sum())} numbers occur a second time, such as {place}, split "
            f"{row['split']}"
        )
    return splits


def _labelled(splits: pd.DataFrame, config: ExperimentConfig, name: str) -> pd.DataFrame:
    """Return rows with labels of the config's cells; refuse those that are of no cell."""
    labels = ["dataset", "method", "kernel", *config.axes]
    cells = [tuple(map(one.get, labels)) for one in planned_labels(config)]
    known, rows = {tuple(map(str, cell)): cell for cell in cells}, []
    for i, values in enumerate(label_rows(plain_labels(splits, labels), labels), 1):
        row = tuple(map(str, values))
        if row in known:
            rows.append(known[row])
            continue
        at = next(n for n in range(len(row)) if all(row[: n + 1] != one[: n + 1] for one in known))
        fitting = {one[at]: cell[at] for one, cell in known.items() if one[:at] == row[:at]}
        named = [text for text, value in fitting.items() if value is not None]
        hint = suggestion(row[at], named) if named else "; leave it empty"
        where = f" for {row[1]} on {row[0]}" if at > 1 else ""
        what = "missing" if values[at] is None else row[at]
        raise ReportError(f"{name}: row {i}: {labels[at]} is {what}{where}{hint}")
    found = pd.DataFrame(rows, splits.index, labels, dtype=object)
    return splits.assign(**{label: found[label] for label in labels})


def names_of(config: ExperimentConfig) -> dict[str, Collection[Any]]:
    """Return the labels of a config that are names, and its metrics, in their order."""
    return {
        "dataset": config.datasets,
        "kernel": config.kernels,
        "method": config.methods,
        "metric": [*config.scope.metrics, *config.derived],
    }


def _numbers(
    frame: pd.DataFrame, name: str, per_cent_is: str = "for per cent, write % in a column unit"
) -> "pd.Series[float]":
    """Return the values of rows, shares in per cent divided by 100, if all are possible."""
    values = pd.to_numeric(frame["value"], errors="coerce").astype(float)
    metrics = frame["metric"].astype(str)
    of_share = metrics.map(lambda metric: is_share(str(metric)) is not None).astype(bool)
    if "unit" in frame:
        units = frame["unit"].fillna("")
        per_cent = (units == "%") & (of_share | (metrics == "error_percent"))
        _refuse(name, frame, "unit", (units == "") | per_cent, "% for a share, or nothing")
        values = values.mask((units == "%") & of_share, values / 100)
    names = {**metric_names.METRICS, **metric_names.SCORERS}
    known = {m: one.better < 1 and "regret" not in m for m, one in names.items()}
    no_less = of_share | metrics.map(known).fillna(False).astype(bool)
    low = no_less.map({True: 0.0, False: -np.inf})
    high = metrics.map({"error_percent": 100.0}).fillna(np.inf).mask(of_share, 1.0)
    high = high.mask(metrics.str.startswith("neg_"), 0.0)
    _refuse(name, frame, "value", values.abs() < np.inf, "a finite number (0.5, not 0,5)")
    wrong = ~values.between(low, high)
    if wrong.any():
        i = int(wrong.to_numpy().argmax())
        value = frame["value"].iloc[i]
        limits = f"between {low[i]:g} and {high[i]:g}" if high[i] < np.inf else "0 or more"
        advice = f"; {per_cent_is}" if of_share[i] else ""
        raise ReportError(f"{name}: row {i + 1}: {metrics[i]} is {value}, not {limits}{advice}")
    return values


def _refuse(
    name: str, frame: pd.DataFrame, column: str, fits: "pd.Series[bool]", expected: str
) -> None:
    """Refuse rows of which an entry does not fit, and name the first."""
    if not fits.all():
        i = int(fits.to_numpy().argmin())
        value = frame[column].iloc[i]
        raise ReportError(f"{name}: row {i + 1}: {column} is {value}, expected {expected}")


def protocol_ratio(config: ExperimentConfig) -> float:
    """Return the number of test rows to a training row by the shares of a protocol."""
    protocol = config.protocol
    if protocol.folds is not None:  # one fold is tested, one held out; five are published
        return 1 / ((5 if protocol.folds == "published" else protocol.folds) - 2)
    return max(1 - protocol.train - (protocol.holdout or 0), 0) / protocol.train


def _from_benchopt(frame: pd.DataFrame, config: ExperimentConfig) -> pd.DataFrame:
    """Return the last row of each repetition of a benchopt run, a row per metric."""
    settings = [str(c) for c in frame if str(c).startswith(("p_solver_", "p_dataset_"))]
    place = ["dataset_name", "solver_name", *settings, "idx_rep"]
    last = frame.sort_values("stop_val", kind="stable") if "stop_val" in frame else frame
    last = last.groupby(place, dropna=False, sort=False).tail(1)
    metrics = config.scope.task_metrics(config.task)
    values = {f"objective_{metric}": metric for metric in metrics} | {"time": "fit_seconds"}
    names = {"dataset_name": "dataset", "solver_name": "method", "idx_rep": "split"}
    names |= {f"objective_{name}": name for name in ("n_train", "n_test", "unit")}
    names |= {c: c.removeprefix("p_solver_").removeprefix("p_dataset_") for c in settings}
    measured = [column for column in values if column in last]
    rows = last.melt([c for c in {*place, *names} if c in last], measured, "metric", "value")
    rows = rows.dropna(subset=["value"]).rename(columns=names).replace({"metric": values})
    # names have the parameters behind them, in brackets
    return rows.assign(**{c: rows[c].str.partition("[")[0] for c in ("dataset", "method")})


# ---- cells ----


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
    splits: pd.DataFrame, experiment: LoadedExperiment, n_splits: int = 1
) -> pd.DataFrame:
    """Average each cell over its splits and compare it with the reported number.

    Parameters
    ----------
    splits : pandas.DataFrame
    experiment : LoadedExperiment
    n_splits : int
        How many splits a cell needs to be marked as best.

    Returns
    -------
    pandas.DataFrame
        One row per cell and metric: the columns of a summary, then the median of times with its
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
    # groups come in the same order
    medians = [_median(str(names[-1]), values) for names, values in groups["value"]]
    measured = measured.join(pd.DataFrame(medians, columns=TIMES, dtype=float))
    ratios = [
        metric_rows(measured, name, config).assign(**dict.fromkeys(["std", *TIMES], np.nan))
        for name in config.derived
    ]
    cells = with_reported(pd.concat([measured, *ratios], ignore_index=True), config)
    cells["verdict"] = verdicts.verdicts_of(cells.assign(drift=0.0), config)
    cells["experiment"] = experiment.name
    cells["params"] = _parameters(cells, axes)
    if config.best is not None:
        cells["best"] = _are_best(cells, splits, config, n_splits)
    cells["not_converged"] = cells["not_converged"].fillna(0).astype(int)
    cells["drift"] = cells["drift"].fillna(0.0)
    kernels = [*map(str, splits["kernel"]), *config.kernels]
    cells = _in_order(cells, kernels, config)
    return cells[[*summary_columns(config), *MARKS, *axes]]


def _parameters(frame: pd.DataFrame, axes: list[str]) -> list[str]:
    return [parameters_of(dict(zip(axes, row, strict=True))) for row in label_rows(frame, axes)]


def parameters_of(labels: Mapping[str, Any]) -> str:
    """Return the varied parameters among the labels of a cell as JSON with sorted keys."""
    return canonical({k: v for k, v in labels.items() if k not in LABELS and v is not None})


def summary_columns(config: ExperimentConfig) -> list[str]:
    """Return the columns of an experiment's committed summary."""
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


def reported_numbers(config: ExperimentConfig) -> tuple[pd.DataFrame, str]:
    """Return the reported numbers of a config's cells, and say which it has no cells for."""
    if config.reported_path is None:
        return pd.DataFrame(), ""
    texts = dict.fromkeys((*LABELS, "metric"), str)
    numbers = pd.read_csv(config.reported_path, dtype=texts, keep_default_na=False, na_values="")
    _numbers(numbers.rename(columns={"mean": "value"}), str(config.reported), "85 % is 0.85")
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
    return str(_item(label if pd.isna(number) else number))


def label_rows(frame: pd.DataFrame, labels: Iterable[str]) -> list[tuple[Any, ...]]:
    """Return the labels of each row, None for a label that does not apply."""
    rows = frame[[*labels]].to_numpy(dtype=object, copy=True)
    rows[pd.isna(rows)] = None
    return [*map(tuple, rows.tolist())]


def cell_names(frame: pd.DataFrame, labels: Sequence[str], separator: str = " ") -> list[str]:
    """Return the name of each row by its labels."""
    return [cell_name(labels, row, separator) for row in label_rows(frame, labels)]


def label_values(frame: pd.DataFrame, labels: Iterable[str]) -> list[tuple[Any, ...]]:
    """Return the combinations of labels that occur, in order; a single one of no labels."""
    return list(dict.fromkeys(label_rows(frame, labels))) if labels else [()]


def label_groups(
    frame: pd.DataFrame, labels: Sequence[str]
) -> list[tuple[tuple[Any, ...], pd.DataFrame]]:
    """Return the rows of each combination of labels.

    Those that lack a label are in every group that they fit, or in one of their own.
    """
    named = [group for group in label_values(frame, labels) if None not in group]
    parts = [(group, matching(frame, labels, group)) for group in named]
    rest = frame.drop([i for _, part in parts for i in part.index])
    others = label_values(rest, labels) if len(rest) else []
    return parts + [(group, matching(rest, labels, group)) for group in others]


def matching(frame: pd.DataFrame, labels: Iterable[str], values: Iterable[Any]) -> pd.DataFrame:
    """Return the rows in which labels have these values, or do not apply."""
    for label, value in zip(labels, values, strict=True):
        frame = frame[frame[label].isna() | (frame[label] == value)]
    return frame


def _median(metric: str, values: pd.Series) -> tuple[float, float, float]:
    """Return the median of a time over the splits, and its interval if there are several."""
    if not metric_names.is_time(metric):
        return np.nan, np.nan, np.nan
    ends = median_interval(values, _MEDIAN_LEVEL) if len(values) > 1 else (np.nan, np.nan)
    return float(values.median()), *ends


def _are_best(
    cells: pd.DataFrame, splits: pd.DataFrame, config: ExperimentConfig, n_splits: int
) -> list[bool]:
    """Whether each cell is the best or not shown to be worse, among all but the baselines."""
    spec, labels = config.best, [*LABELS, *config.axes]
    assert spec is not None
    rows = splits[splits["metric"].isin(spec.metrics) & splits["method"].isin(config.compared)]
    rows = rows.assign(cell=[*map(str, label_rows(rows, labels))])
    rows = rows[rows.groupby(["cell", "metric"])["split"].transform("size") >= n_splits]
    best = set()
    for (*_, metric), place in rows.groupby([*spec.within, "metric"], dropna=False, sort=False):
        # a single method is not best among others
        if place["method"].nunique() > 1:
            values = place.pivot(index="split", columns="cell", values="value")
            better, ratio = verdicts.direction(str(metric), config), float(place["ratio"].mean())
            best |= {(metric, cell) for cell in best_methods(values, better, spec.level, ratio)}
    places = map(str, label_rows(plain_labels(cells, labels), labels))
    return [place in best for place in zip(cells["metric"], places, strict=True)]


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


# ---- summaries in files ----


def summary_text(cells: pd.DataFrame, config: ExperimentConfig) -> str:
    """Return cells as CSV, numbers with six digits."""
    columns = summary_columns(config)
    columns += [mark for mark in MARKS if cells[mark].any()]
    return csv_text(cells[columns], float_format="%.6g")


def read_summary(name: str, folder: Path) -> pd.DataFrame:
    """Read the committed summary of an experiment from a folder such as ``results/measured``.

    Numbers become floats, NaN where there is none; all else is text, empty where a label does not
    apply; ``best``, which only some summaries have, is a Boolean.

    Raises
    ------
    SummaryError
        If it cannot be read, or is no summary of the experiment.
    """
    path = folder / f"{name}.csv"
    if not path.is_file():
        there = ", ".join(sorted(p.stem for p in folder.glob("*.csv"))) or "none"
        raise SummaryError(f"{path}: no such file; summaries here: {there}")
    return parse_summary(_read(path), name, str(path))


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise SummaryError(f"{path}: cannot be read: {error}") from None


def parse_summary(text: str, name: str, source: str) -> pd.DataFrame:
    """Return the cells of the CSV that :func:`summary_text` writes; messages name the source."""
    texts = dict.fromkeys((*KEY, "verdict"), str)
    try:
        frame = pd.read_csv(io.StringIO(text), dtype=texts, keep_default_na=False, na_values="")
        frame[[*texts]] = frame[[*texts]].fillna("").map(unguarded)
        numbers = [*COLUMNS[len(KEY) : -1], *frame.columns.intersection(TIMES)]
        frame[numbers] = frame[numbers].astype(float)
    except (ValueError, KeyError) as error:
        raise SummaryError(f"{source}: not a summary: {error}") from None
    for mark, kind in MARKS.items():
        frame[mark] = frame.get(mark, pd.Series(0, frame.index)).fillna(0).astype(kind)
    if (twice := frame.duplicated(KEY)).any():
        raise SummaryError(
            f"{source}:{int(twice.to_numpy().argmax()) + 2}: this cell occurs a second time"
        )
    if others := sorted({*frame["experiment"]} - {name}):
        raise SummaryError(f"{source}: expected numbers of {name}, not of {', '.join(others)}")
    return frame


def parsed_labels(cells: pd.DataFrame, axes: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return the cells of a summary with a column per axis, and the parameters that are none.

    A label that does not apply is None, as in the cells of :func:`summarise`.
    """
    try:
        parameters = [json.loads(text or "{}") for text in cells["params"]]
        names = dict.fromkeys(name for one in parameters for name in one)
    except (ValueError, TypeError) as error:
        raise SummaryError(f"a summary's params are no JSON object: {error}") from None
    columns: dict[str, Any] = {label: cells[label].mask(cells[label] == "") for label in LABELS}
    columns |= {axis: [one.get(axis) for one in parameters] for axis in axes}
    others = [name for name in names if name not in axes]
    return plain_labels(cells.assign(**columns), [*LABELS, *axes]), others


def read_details(name: str, folder: Path) -> dict[str, Any]:
    """Read the details of a committed summary: profile, versions, claims; empty without file."""
    path = folder / f"{name}.json"
    try:
        details = json.loads(_read(path)) if path.is_file() else {}
    except ValueError as error:
        raise SummaryError(f"{path}: cannot be read: {error}") from None
    if not isinstance(details, dict):
        raise SummaryError(f"{path}: no details of a summary")
    return details


# ---- a summary against a baseline ----

#: Columns of a check.
CHECKED = [*KEY, "baseline", "measured", "difference", "allowed", "std_baseline", "std_measured"]
CHECKED += ["n_baseline", "n_measured", "outcome"]
SAME, DRIFTED, TIMED, LEFT_OUT = "same", "within drift", "timed", "left out"
MOVED, MISSING, NEW = "moved", "missing", "new"
OTHER_SPLITS, OTHER_SPREAD = "other splits", "other spread"
#: Outcomes that fail a check.
FAILURES = (MOVED, MISSING, NEW, OTHER_SPLITS, OTHER_SPREAD)
#: All outcomes, in the order in which they are reported.
OUTCOMES = (SAME, DRIFTED, TIMED, LEFT_OUT, *FAILURES)
# How far a mean may move where that was not measured between processors: in points, as a share of
# errors and the like, and in standard deviations. Quick profiles run with the instructions of
# another processor moved accuracies by at most 0.015, where other parameters were chosen on one of
# the splits; most accuracies did not move, or by less than 0.005.
_POINTS, _OF_ERROR, _SPREAD = 0.02, 0.02, 0.5


def check_plan(plan: Plan, store: Store, folder: Path) -> pd.DataFrame:
    """Compare the results of a plan in a store with its baseline, as in :func:`compare_summaries`.

    The folder is one written by ``kernlearn run --summary``, such as ``results/baseline``. It is
    a SummaryError if it has no baseline of the same profile, and a StoreError if the store has no
    results of the plan.
    """
    experiment = plan.experiment
    baseline = read_summary(experiment.name, folder)
    profile = read_details(experiment.name, folder).get("profile", experiment.profile)
    if profile != experiment.profile:
        raise SummaryError(
            f"{folder / experiment.name}.csv: measured under profile {profile!r}, not "
            f"{experiment.profile!r}: check with --profile {profile}"
        )
    results = stored_rows(plan, store)
    if not any(result.done for result in results.values()):
        raise StoreError(
            f"{store.path}: no results of {experiment.name} under profile "
            f"{experiment.profile!r}; `kernlearn run {experiment.path} --profile "
            f"{experiment.profile}` measures it"
        )
    # written and parsed like the baseline, so that both have the same digits
    cells = summarise(splits_of(plan, results), experiment)
    text = summary_text(cells, experiment.config)
    measured = parse_summary(text, experiment.name, experiment.name)
    left_out = {*plan.left_out, *plan.not_installed}
    return compare_summaries(measured, baseline, experiment.config, left_out)


def compare_summaries(
    measured: pd.DataFrame,
    baseline: pd.DataFrame,
    config: ExperimentConfig,
    left_out: Collection[str] = (),
) -> pd.DataFrame:
    """Compare two parsed summaries of an experiment, cell by cell.

    A mean has *moved* if its distance from the baseline exceeds the drift allowed for its metric.
    The same trials give the same numbers on the same machine, but another processor adds in
    another order. Where parameters are chosen on a validation part, the last digit can decide
    between two of them. The allowance is computed from the baseline alone, so that a noisy run
    does not excuse itself.

    Cells without a mean are ignored; those of data sets and methods in ``left_out``, which are not
    available here, do not fail. The result has one row per cell in the order of the baseline, with
    the columns :data:`CHECKED`. ``allowed`` is NaN where nothing is compared. ``outcome`` is
    ``same`` to six digits, ``within drift``, ``moved``, ``timed`` (a time, present),
    ``missing`` (not measured), ``new`` (not in the baseline), ``other splits`` (another number of
    them), ``other spread`` or ``left out``. The spread is another one if the standard deviation
    differs by more than 1 % where the mean is the same, else by more than the drift allowed.
    """
    before, now = (frame[frame["mean"].notna()].set_index(KEY) for frame in (baseline, measured))
    cells = pd.DataFrame(index=before.index.union(now.index, sort=False))
    for prefix, column in {"": "mean", "std_": "std", "n_": "n_splits"}.items():
        cells[f"{prefix}baseline"], cells[f"{prefix}measured"] = before[column], now[column]
    new, missing = cells["baseline"].isna(), cells["measured"].isna()
    metrics = cells.index.get_level_values("metric")
    # where nothing was measured on other processors nothing is known
    known = before["drift"] if before["drift"].any() else before["drift"] * np.nan
    drifts = known.reindex(cells.index)
    sides = zip(cells["baseline"], cells["std_baseline"], drifts, metrics, strict=True)
    allowed = pd.Series([_allowed(*side, config) for side in sides], cells.index, dtype=float)
    cells["allowed"] = allowed.mask(new | missing)
    cells["difference"] = cells["measured"] - cells["baseline"]
    is_same = cells["measured"] == cells["baseline"]
    stds = cells[["std_baseline", "std_measured"]].fillna(0)
    tolerated = cells["allowed"].mask(is_same, 0.01 * stds["std_baseline"] + 1e-9)
    is_left_out = cells.index.to_frame()[["dataset", "method"]].isin({*left_out}).any(axis=1)
    outcomes = {
        NEW: new,
        LEFT_OUT: missing & is_left_out,
        MISSING: missing,
        OTHER_SPLITS: cells["n_baseline"] != cells["n_measured"],
        TIMED: cells["allowed"].isna(),
        MOVED: cells["difference"].abs() > cells["allowed"],
        OTHER_SPREAD: stds.diff(axis="columns")["std_measured"].abs() > tolerated,
        SAME: is_same,
    }
    cells["outcome"] = np.select([*outcomes.values()], [*outcomes], DRIFTED)
    return cells.reset_index()[CHECKED]


def _allowed(
    mean: float, std: float, measured: float, metric: str, config: ExperimentConfig
) -> float:
    """Return how far a mean may be from the baseline's, NaN for costs.

    This is twice what was measured between processors, as far as it was measured. Else it is the
    larger of half a standard deviation and two points (0.02 of an accuracy and the like, 2 of an
    error in per cent) or, for metrics that are not between 0 and 1, 2 %; zero for numbers of rows
    and columns.
    """
    if verdicts.is_cost(metric, config):
        return np.nan
    known = config.scope.metrics.get(metric)
    better = known.better if known else -1
    if metric in config.drift:
        return config.drift[metric]
    if np.isinf(mean) or not better:
        return 0.0
    if not np.isnan(measured):
        return 2 * measured + 1e-6 * abs(mean)
    is_error = better < 0 or metric.startswith("neg_")
    points = _OF_ERROR * abs(mean) if is_error else _POINTS
    points = 100 * _POINTS if metric == "error_percent" else points
    # both sides are rounded to six digits
    return max(points, _SPREAD * float(np.nan_to_num(std))) * (1 + 1e-9)


def failure_text(row: "pd.Series[Any]") -> str:
    """Name a cell that fails a check, and say how."""
    params = [f"{name}={value}" for name, value in json.loads(row["params"] or "{}").items()]
    parts = [row["dataset"], row["kernel"], row["method"], *params, row["metric"]]
    prefix = {OTHER_SPLITS: "n_", OTHER_SPREAD: "std_"}.get(row["outcome"], "")
    before, now = (row[f"{prefix}{side}"] for side in ("baseline", "measured"))
    text = f"{before:g} in the baseline, {now:g} measured".replace("nan", "not")
    if row["outcome"] == MOVED:
        text += f": {row['difference']:+.3g}, allowed {row['allowed']:.3g}"
    return f"{row['outcome']}: {' · '.join(filter(None, parts))}: {text}"


# ---- every number of a store ----

#: Columns of an export: those of a summary, with split and value for its means.
EXPORTED = [*KEY, "split", "value", "n_train", "n_test", "key"]


def stored_splits(store: Store, experiments: Sequence[str] = ()) -> pd.DataFrame:
    """Return every number of a store, a row per finished trial and metric.

    A trial that measured a grid of settings has the numbers of the one that is chosen over all
    splits, as in reports.

    Parameters
    ----------
    store : Store
    experiments : sequence of str
        Names of experiments; empty for all.

    Returns
    -------
    pandas.DataFrame
        With the columns :data:`EXPORTED`.

    Raises
    ------
    StoreError
        If the store has no trials of a named experiment.
    """
    rows, stored = [], chosen_by_mean({row.key: row for row in store.rows()})
    there = {row.experiment for row in stored.values()}
    for row in stored.values():
        if not row.done or (experiments and row.experiment not in experiments):
            continue
        labels = [row.experiment, *map(row.labels.get, LABELS), parameters_of(row.labels)]
        for metric, value in row.metrics.items():
            sizes = map(row.info.get, _COUNTS[1:])
            rows.append([*labels, metric, row.spec["split"], value, *sizes, row.key])
    if unknown := [name for name in experiments if name not in there]:
        raise StoreError(
            f"{store.path}: nothing of experiment {', '.join(unknown)}; there are: "
            f"{', '.join(sorted(there)) or 'none'}"
        )
    return pd.DataFrame(rows, columns=EXPORTED)


# ---- CSV ----


def guarded(value: Any) -> Any:
    """Return a text with an apostrophe before what a spreadsheet would compute.

    What it computes may run a program. Numbers, and texts of numbers, stay as they are.

    Examples
    --------
    >>> from kernlearn.reports.summary import guarded
    >>> [guarded(value) for value in ("=1+1", "-0.5", -0.5, "K")]
    ["'=1+1", '-0.5', -0.5, 'K']
    """
    if isinstance(value, str) and _COMPUTED.match(value) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def unguarded(text: str) -> str:
    """Return the text that :func:`guarded` made another one of."""
    return text[1:] if text[:1] == "'" and _COMPUTED.match(text) else text


def csv_text(frame: pd.DataFrame, **options: Any) -> str:
    """Return a table as CSV, its texts and heads guarded; options are those of ``to_csv``."""
    shown = frame.copy()
    for i, kind in enumerate(frame.dtypes):
        if kind.kind not in "biufc":
            values = [guarded(value) for value in frame.iloc[:, i]]
            # a column of objects stays one, so that its numbers are written as before
            shown.isetitem(i, pd.Series(values, dtype=object).to_numpy())
    shown.columns = [guarded(name) for name in frame.columns]
    return str(shown.to_csv(index=False, **options))
