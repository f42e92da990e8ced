"""Rows of results: from a store, from another program, and from the committed files.

The *splits* have a row per number: ``experiment``, the labels ``dataset``, ``kernel``, ``method``
and the varied parameters, ``metric``, ``split``, ``value``, ``converged``, ``ratio``, ``drift``
and ``selected``. The ratio is that of test rows to training rows, or of groups. The drift is how
far the mean of the cell moves between processors, as far as that was measured. What was selected
are the parameters chosen on validation rows, as JSON. All that a report says is computed from the
splits and the config, wherever they come from.

A committed file has a row per trial, and a column per metric.
"""

import json
import os
import re
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pandas as pd

from kernlearn.checks import suggestion
from kernlearn.config import names as metric_names
from kernlearn.config.model import DEFAULT_PROFILE, ExperimentConfig, LoadedExperiment
from kernlearn.config.plan import Plan, planned_labels
from kernlearn.config.values import LABELS, canonical
from kernlearn.datasets import own_cards
from kernlearn.datasets.files import container, shipped
from kernlearn.exceptions import ReportError, StoreError, SummaryError, writing
from kernlearn.reports import verdicts
from kernlearn.reports.labels import (
    KEY,
    NOT_LABELS,
    label_rows,
    parameters,
    parameters_of,
    plain_labels,
)
from kernlearn.store import Row, Store, chosen_by_mean

#: Columns of an export: those of a cell, with split and value for its means.
EXPORTED = [*KEY, "split", "value", "n_train", "n_test", "key"]
_COUNTS = ("split", "n_train", "n_test")  # columns of rows of any program
#: How committed files are compressed, to the same bytes whenever they are written.
COMPRESSED: Any = {"method": "gzip", "mtime": 1}
# Significant digits of times in committed files.
_TIME_DIGITS = 6

#: Metrics that only the reports of configs that name them show; the store has them in any case.
ON_REQUEST = frozenset(("selection_score", "comparisons", "fit_comparisons"))


@dataclass(frozen=True)
class Details:
    """What is known of the rows of an experiment besides their numbers, JSON-ready.

    Attributes
    ----------
    profile : str
    settings : list of str
        Profile of the run, and settings of its command line as ``key=value``.
    trials, done : int
        Number of trials of the plan, and of those that succeeded.
    trial_seconds : float
        Wall time of all trials.
    measured : list of str
        When the first and the last of them began, UTC, ISO 8601.
    measured_on : list of dict
        Packages, commit and processor of each machine.
    left_out : list of str
        Data sets that are missing.
    remarks : list of str
        See :func:`~kernlearn.reports.report.remarks`.
    data : dict of str to list of str
        What reading each data set has done to it.
    open_ends : list of dict
        Lists of values at whose end scores still rise.
    versions : dict of str to int
        The version of each estimator, kernel and generator.
    reported : str
        Digest of the file with the paper's numbers.
    """

    profile: str
    settings: list[str]
    trials: int
    done: int
    trial_seconds: float = 0.0
    measured: list[str] = field(default_factory=list)
    measured_on: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)
    data: dict[str, list[str]] = field(default_factory=dict)
    open_ends: list[dict[str, Any]] = field(default_factory=list)
    versions: dict[str, int] = field(default_factory=dict)
    reported: str = ""


# ---- of a store ----


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
        overlapping splits do not share, and for independent draws. ``drift`` is 0 but for a
        config with a file ``processors.csv`` beside it.
    """
    config = plan.experiment.config
    if metrics is None:
        hidden = ON_REQUEST - config.named_metrics
        metrics = [name for name in config.scope.task_metrics(config.task) if name not in hidden]
    labels = [*LABELS, *config.axes]
    drawn = {k for k, entry in config.datasets.items() if entry.generator is not None}
    rows = [
        [
            plan.experiment.name,
            *map(trial.labels.get, labels),
            metric,
            trial.split,
            result.metrics[metric],
            result.info.get("converged", True),
            0.0
            if verdicts.is_cost(metric, config) or trial.labels["dataset"] in drawn
            else result.info.get(
                "ratio", result.info.get("n_test", 0) / result.info.get("n_train", 1)
            ),
            0.0,
            canonical(result.info["selected"]) if "selected" in result.info else None,
        ]
        for trial in plan.trials
        if (result := results.get(trial.key)) is not None and result.done
        for metric in metrics
        if metric in result.metrics
    ]
    splits = pd.DataFrame(rows, columns=["experiment", *labels, *NOT_LABELS[1:]])
    return _with_drifts(plain_labels(splits, labels), plan.experiment)


def _with_drifts(splits: pd.DataFrame, experiment: LoadedExperiment) -> pd.DataFrame:
    """Return splits with the drifts of their cells under this profile."""
    if (path := _drifts_path(experiment)) is None:
        return splits
    known = pd.read_csv(path, dtype=dict.fromkeys(KEY, str))
    known = known[known["profile"] == experiment.profile]
    params = parameters(splits, [*experiment.config.axes])
    cells = splits.drop(columns="drift").assign(params=params)
    drifts = cells.merge(known, how="left", on=KEY)["drift"].fillna(0.0)
    return splits.assign(drift=drifts.to_numpy())


def _drifts_path(experiment: LoadedExperiment) -> Path | None:
    """Return the file with the drifts of cells, in the config's folder or the one above."""
    paths = [folder / "processors.csv" for folder in experiment.path.resolve().parents[:2]]
    return next(filter(Path.is_file, paths), None)


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
            sizes = row.info.get("n_train"), row.info.get("n_test")
            rows.append([*labels, metric, row.spec["split"], value, *sizes, row.key])
    if unknown := [name for name in experiments if name not in there]:
        raise StoreError(
            f"{store.path}: nothing of experiment {', '.join(unknown)}; there are: "
            f"{', '.join(sorted(there)) or 'none'}"
        )
    return pd.DataFrame(rows, columns=EXPORTED)


def write_archive(plan: Plan, store: Store, output: Path) -> int:
    """Write an experiment with what it needs to a zip file; return the number of its trials.

    Besides their rows, as a store, it has all files that the config names by their paths, those
    with the paper's numbers and with drifts, and the cards of published data. Published data
    are not in it.

    Parameters
    ----------
    plan : Plan
    store : Store
    output : Path
        A file that ends in ``.zip``.

    Raises
    ------
    StoreError
        If the store has nothing of the plan.
    ReportError
        If the config names an absolute path, or the file cannot be written.
    """
    experiment = plan.experiment
    rows = store.get(trial.key for trial in plan.trials)
    if not rows:
        raise StoreError(f"{store.path}: no results of {experiment.name}: run it first")
    files = _needed_files(experiment)
    config, *_ = files
    about = config, "--store", "store.sqlite", *run_options(experiment)
    commands = [shlex.join(["kernlearn", name, *about]) for name in ("plan", "report")]
    with writing(output, ReportError), TemporaryDirectory() as folder:
        with Store(Path(folder, "store.sqlite")) as copy:
            copy.put(*rows.values())
        output.parent.mkdir(parents=True, exist_ok=True)
        with ZipFile(output, "w", ZIP_DEFLATED, strict_timestamps=False) as archive:
            text = _README.format(experiment.config.title, *commands, config)
            archive.writestr("README.md", text)
            for name, path in {**files, copy.path.name: copy.path}.items():
                archive.write(path, name)
    return len(rows)


_README = """# {}

Install kernlearn and run, in this folder:

    {}
    {}

Data that are not here: `kernlearn datasets fetch --for {}` downloads what is published; put other
files into `datasets/`. Plug-ins are programs, which these commands execute: read them first.
"""


def _needed_files(experiment: LoadedExperiment) -> dict[str, Path]:
    """Return the files that an experiment needs by their names in an archive, the config first."""
    config, source = experiment.config, experiment.path.absolute()
    of_data = (one for entry in config.datasets.values() for one in (entry.file, entry.labels))
    named = [*config.plugins, *filter(None, of_data)]
    if absolute := [name for name in named if Path(name).is_absolute()]:
        raise ReportError(
            f"{experiment.path}: {absolute[0]} is nowhere else: name it relative to the config"
        )
    paths = [source, *(container(Path(os.path.normpath(source.parent / name))) for name in named)]
    root = os.path.commonpath([path.parent for path in paths])
    parts = [part for path in paths for part in (path, *path.rglob("*")) if part.is_file()]
    files = {path.relative_to(root).as_posix(): path for path in parts}
    folder = source.parent.relative_to(root)
    beside = filter(None, (config.reported_path, _drifts_path(experiment)))
    files |= {(folder / path.name).as_posix(): path for path in beside}
    cards = own_cards()
    for name in config.published.values():
        file = f"{name}.yaml"
        files[f"datasets/{file}"] = cards.get(name, shipped("datasets") / file)
    return files


def run_options(experiment: LoadedExperiment) -> list[str]:
    """Return the options of commands that give an experiment its profile and settings."""
    is_full = experiment.profile == DEFAULT_PROFILE
    options = [] if is_full else ["--profile", experiment.profile]
    return options + [part for setting in experiment.settings for part in ("-o", setting)]


def versions_of(plan: Plan) -> dict[str, int]:
    """Return the version of each estimator, kernel, generator and data set of a plug-in."""
    versions = dict[str, int]()
    for trial in {id(trial.spec): trial for trial in plan.trials}.values():
        spec, entry = trial.spec, trial.spec.dataset.entry
        steps = spec.method.steps or [{"name": spec.method.name, "version": spec.method.version}]
        versions |= {f"estimator {step['name']}": step["version"] for step in steps}
        if spec.kernel is not None:
            versions[f"kernel {spec.kernel.name}"] = spec.kernel.version
        if spec.dataset.version is not None:
            kind = "dataset" if entry.generator is None else "generator"
            name = entry.generator or entry.name or trial.labels["dataset"]
            versions[f"{kind} {name}"] = spec.dataset.version
    return versions


def reported_digest(config: ExperimentConfig) -> str:
    """Return a digest of the paper's numbers, empty without any."""
    path = config.reported_path
    return "" if path is None else sha256(path.read_bytes()).hexdigest()[:16]


# ---- of another program ----


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
    defaults = {"converged": True, "ratio": protocol_ratio(config), "drift": 0.0}
    splits = splits.astype(dict.fromkeys(defaults, object)).fillna(defaults)
    is_ratio = pd.to_numeric(splits["ratio"], errors="coerce") >= 0
    _refuse(name, splits, "ratio", is_ratio, "0 or more")
    _refuse(name, splits, "converged", splits["converged"].isin([True, False]), "True or False")
    if len(numbers) == len(_COUNTS):
        _refuse(name, frame, "n_train", numbers["n_train"] > 0, "a number of rows")
        _refuse(name, frame, "n_test", numbers["n_test"] >= 0, "a number of rows")
        splits["ratio"] = numbers["n_test"] / numbers["n_train"]
    costs = {metric: verdicts.is_cost(metric, config) for metric in metrics}
    splits = splits.astype({"converged": bool, "ratio": float, "drift": float}).assign(
        value=checked_values(frame, name),
        ratio=lambda rows: rows["ratio"].mask(rows["metric"].map(costs).astype(bool), 0.0),
        selected=splits["selected"].astype(object).where(splits["selected"].notna(), None),
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
    known, found = {tuple(map(str, cell)): cell for cell in cells}, {}
    given = label_rows(plain_labels(splits, labels), labels)
    for values in dict.fromkeys(given):
        row = tuple(map(str, values))
        if row in known:
            found[values] = known[row]
            continue
        i = given.index(values) + 1
        at = next(n for n in range(len(row)) if all(row[: n + 1] != one[: n + 1] for one in known))
        fitting = {one[at]: cell[at] for one, cell in known.items() if one[:at] == row[:at]}
        named = [text for text, value in fitting.items() if value is not None]
        hint = suggestion(row[at], named) if named else "; leave it empty"
        where = f" for {row[1]} on {row[0]}" if at > 1 else ""
        what = "missing" if values[at] is None else row[at]
        raise ReportError(f"{name}: row {i}: {labels[at]} is {what}{where}{hint}")
    rows = pd.DataFrame([found[values] for values in given], splits.index, labels, dtype=object)
    return splits.assign(**{label: rows[label] for label in labels})


def names_of(config: ExperimentConfig) -> dict[str, Collection[Any]]:
    """Return the labels of a config that are names, and its metrics, in their order."""
    return {
        "dataset": config.datasets,
        "kernel": config.kernels,
        "method": config.methods,
        "metric": [*config.scope.metrics, *config.derived],
    }


def checked_values(
    frame: pd.DataFrame, name: str, per_cent_is: str = "for per cent, write % in a column unit"
) -> "pd.Series[float]":
    """Return the values of rows, shares in per cent divided by 100, if all are possible."""
    values = pd.to_numeric(frame["value"], errors="coerce").astype(float)
    metrics = frame["metric"].astype(str)
    known = {metric: metric_names.limits(str(metric)) for metric in metrics.unique()}
    low, high = (metrics.map({k: pair[end] for k, pair in known.items()}) for end in (0, 1))
    of_share = (low == 0) & (high == 1)
    if "unit" in frame:
        units = frame["unit"].fillna("")
        per_cent = (units == "%") & (of_share | (metrics == "error_percent"))
        _refuse(name, frame, "unit", (units == "") | per_cent, "% for a share, or nothing")
        values = values.mask((units == "%") & of_share, values / 100)
    _refuse(name, frame, "value", values.abs() < np.inf, "a finite number (0.5, not 0,5)")
    wrong = ~values.between(low, high)
    if wrong.any():
        i = int(wrong.to_numpy().argmax())
        value = frame["value"].iloc[i]
        limits = f"between {low[i]:g} and {high[i]:g}" if high[i] < np.inf else "0 or more"
        advice = f"; {per_cent_is}" if of_share[i] else ""
        raise ReportError(f"{name}: row {i + 1}: {metrics[i]} is {value}, not {limits}{advice}")
    return values


def check_deviations(frame: pd.DataFrame, name: str) -> None:
    """Refuse reported standard deviations ``std`` that shares with a ``mean`` cannot have."""
    is_share = np.array([metric_names.limits(str(m)) == (0, 1) for m in frame["metric"]])
    # that of two numbers, with their mean as far from 0 and 1 as rounding allows
    mean = frame["mean"].where(is_share).clip(0.005, 0.995)
    possible = ~(frame["std"] > np.sqrt(2 * mean * (1 - mean)))
    _refuse(name, frame, "std", possible, "less for a share (1.5 % is 0.015)")


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
    # as files of early versions have it
    frame = frame.rename(columns=lambda name: re.sub(r"^(p_)?data_", r"\1dataset_", str(name)))
    frame = frame if "idx_rep" in frame else frame.assign(idx_rep=0)
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


# ---- committed ----


def splits_path(name: str, folder: Path) -> Path:
    """Return where the committed splits of an experiment are."""
    return folder / f"{name}.csv.gz"


def write_splits(splits: pd.DataFrame, experiment: LoadedExperiment, path: Path) -> None:
    """Write splits as a table with a row per trial, the same bytes whenever it is written.

    Of other profiles than the full one it has what :mod:`~kernlearn.reports.check` compares.
    """
    config = experiment.config
    trial = [*LABELS, *config.axes, "split"]
    trials = splits.groupby(trial, dropna=False, sort=False)
    splits = splits.assign(trial=trials.ngroup())
    facts = splits.groupby("trial").agg(
        {**dict.fromkeys(trial, "first"), "ratio": "max", "converged": "all", "selected": "first"}
    )
    metrics = [*dict.fromkeys(splits["metric"])]
    values = splits.pivot(index="trial", columns="metric", values="value")[metrics]
    costs = [metric for metric in metrics if verdicts.is_cost(metric, config)]
    for metric in costs:
        values[metric] = values[metric].map(f"{{:.{_TIME_DIGITS}g}}".format).astype(float)
    if experiment.indicative:
        values, facts = values.drop(columns=costs), facts.drop(columns="selected")
    path.parent.mkdir(parents=True, exist_ok=True)
    facts.join(values).to_csv(path, index=False, compression=COMPRESSED)


def read_splits(experiment: LoadedExperiment, path: Path) -> pd.DataFrame:
    """Read the splits that :func:`write_splits` wrote.

    Raises
    ------
    SummaryError
        If the file cannot be read.
    ReportError
        If it is of another config.
    """
    config, table = experiment.config, read_table(path, [*LABELS, "selected"])
    kept = [c for c in table if c in {*LABELS, *config.axes, "split", *NOT_LABELS[4:]}]
    metrics = [c for c in table if c not in kept]
    rows = table.melt(kept, metrics, "metric", "value", ignore_index=False)
    rows = rows.dropna(subset=["value"]).sort_index(kind="stable")
    return _with_drifts(read_rows(config, rows, experiment.name), experiment)


def read_table(path: Path, texts: Iterable[str], columns: Any = None) -> pd.DataFrame:
    """Read a committed table, of whose columns some have texts, or some of its columns."""
    how: Any = {"keep_default_na": False, "na_values": "", "float_precision": "round_trip"}
    try:
        return pd.read_csv(path, dtype=dict.fromkeys(texts, str), usecols=columns, **how)
    except (OSError, ValueError, EOFError) as error:
        raise SummaryError(f"{path}: cannot be read: {error}") from None


def read_details(name: str, folder: Path) -> Details:
    """Read what is committed beside the splits: profile, machines, remarks and the like.

    Raises
    ------
    SummaryError
        If the file cannot be read, or has other entries.
    """
    path = folder / f"{name}.json"
    if not path.is_file():
        there = ", ".join(sorted(p.stem for p in folder.glob("*.json"))) or "none"
        splits = splits_path(name, folder).name
        beside = f", though {splits} is there: get it back from version control"
        lost = beside if splits_path(name, folder).is_file() else ""
        raise SummaryError(f"{path}: no such file{lost}; summaries here: {there}")
    try:
        details = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SummaryError(f"{path}: cannot be read: {error}") from None
    names = [field.name for field in fields(Details)]
    if not isinstance(details, dict) or not {*names[:4]} <= details.keys() <= {*names}:
        raise SummaryError(f"{path}: expected a JSON object of {', '.join(names)}")
    return Details(**details)
