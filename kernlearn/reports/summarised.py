"""Reports that are assembled from committed summaries alone, without store and data."""

from collections.abc import Collection, Sequence
from pathlib import Path

import pandas as pd

from kernlearn.config.model import LoadedExperiment
from kernlearn.config.read import load_config, names_files, shipped_configs
from kernlearn.config.spec import LABELS
from kernlearn.datasets.escaping import visible
from kernlearn.engine.plan import Plan
from kernlearn.exceptions import ConfigError, ReportError, SummaryError
from kernlearn.reports.report import Report
from kernlearn.reports.stored import NO_CONFIG, Skipped, configs_by_name
from kernlearn.reports.summary import KEY, TIMES, judged, label_rows, with_reported
from kernlearn.reports.summary_details import Details, read_shown
from kernlearn.reports.summary_files import parse_parameters
from kernlearn.reports.summary_reading import read_cells
from kernlearn.reports.tables import build_tables
from kernlearn.reports.verdicts import rules


def summarised_reports(
    folder: Path, *, configs: Sequence[Path] = (), names: Collection[str] = ()
) -> tuple[list[Report], list[Skipped]]:
    """Assemble the report of every summary in a folder.

    Parameters
    ----------
    folder : Path
        Such as ``results/measured``, written by ``kernlearn report --summary``.
    configs : sequence of Path
        User-defined configs; for other experiments the shipped config of the same name is used.
        A summary names no config: it may come from anyone.
    names : collection of str
        Names of experiments; empty for all.

    Returns
    -------
    reports : list of Report
    skipped : list of Skipped
        Summaries without a config, or of another config than the present one.

    Raises
    ------
    ReportError
        If two configs have the same name, or the folder lacks the summary of one.
    SummaryError
        If the folder or a summary cannot be read, or has values that are none of a summary.
    """
    own = configs_by_name(configs)
    there = _summaries(folder)
    if lacking := sorted({*own, *names} - {*there}):
        listed = ", ".join(there) or "none"
        raise ReportError(
            f"{folder}: no summary of {', '.join(lacking)}; there are summaries of: {listed}"
        )
    reports, skipped, known = [], [], {**shipped_configs(), **own}
    for name in there:
        if names and name not in names:
            continue
        if name not in known:
            skipped.append(Skipped(name, NO_CONFIG))
            continue
        try:
            reports.append(summarised(known[name], folder))
        except ConfigError as error:
            if name in own:
                raise
            skipped.append(Skipped(name, str(error)))
        except ReportError as error:
            skipped.append(Skipped(name, str(error)))
    return reports, skipped


def summarised(config: Path, folder: Path) -> Report:
    """Assemble the report of an experiment from its summary.

    Means, deviations and times are those of the summary. Verdicts are computed again by the rules
    of the config; claims, which need the splits, were decided when the summary was written.

    Parameters
    ----------
    config : Path
    folder : Path
        Has the summary, two files that are named after the config.

    Returns
    -------
    Report
        Without runs.

    Raises
    ------
    ReportError
        If the summary is of another config: it has other data sets, methods, parameters, metrics
        or reported numbers.
    SummaryError
        If it cannot be read.
    """
    name = config.stem
    details, cells = read_shown(name, folder), read_cells(name, folder)
    settings = details.values["settings"]
    if any(map(names_files, settings)):
        raise ReportError(
            "its settings name files of code or data, which a summary may not: `plugins`, `file`"
        )
    experiment = load_config(config, profile=details.values["profile"], settings=settings)
    axes = [*experiment.config.axes]
    summary = _summary(cells, experiment, axes, folder)
    summary["verdict"] = judged(summary, experiment.config)
    plan = Plan(experiment, [], left_out=_left_out(details, summary, experiment), axes=axes)
    facts = {
        **details.values,
        "experiment": experiment.name,
        "title": experiment.config.title,
        "source": experiment.config.source,
        "indicative": experiment.indicative,
        "rules": rules(experiment.config),
    }
    if details.unknown:
        facts["unknown"] = details.unknown
    tables = build_tables(summary, experiment.config)
    return Report(
        plan,
        pd.DataFrame(),
        summary,
        tables,
        details.claims,
        details.conclusions,
        details.chances,
        _remarks(details, experiment),
        facts,
        from_summary=True,
        unknown=details.unknown,
    )


def _summaries(folder: Path) -> list[str]:
    """Return the names of the experiments whose summaries lie in a folder."""
    try:
        files = sorted(path for path in folder.iterdir() if path.suffix == ".csv")
        return [path.stem for path in files if path.is_file() and _is_summary(path)]
    except OSError as error:
        raise SummaryError(f"{folder}: cannot be read: {error.strerror or error}") from None


def _is_summary(path: Path) -> bool:
    """Tell a summary from other tables of results."""
    with path.open("rb") as file:
        return file.readline(1000).startswith(",".join(KEY).encode())


def _summary(
    cells: pd.DataFrame, experiment: LoadedExperiment, axes: list[str], folder: Path
) -> pd.DataFrame:
    """Return the cells with their labels as columns, in the form of ``summarise``."""
    config = experiment.config
    kernels = tuple(config.kernels)
    allowed = {
        "data set": ("dataset", lambda v: v in config.datasets),
        "method": ("method", lambda v: v in config.methods),
        "kernel": ("kernel", lambda v: not v or v.startswith(kernels)),
        "metric": ("metric", lambda v: v in config.scope.metrics or v in config.derived),
    }
    unknown = [
        f"{what} {visible(value[:80])}"
        for what, (column, fits) in allowed.items()
        for value in dict.fromkeys(cells[column])
        if not fits(value)
    ]
    parameters = [parse_parameters(text) for text in cells["params"]]
    names = dict.fromkeys(name for one in parameters for name in one)
    unknown += [f"parameter {visible(name[:80])}" for name in names if name not in axes]
    if unknown:
        raise ReportError(
            f"its summary is of another config, which has the {', the '.join(unknown[:3])}; "
            f"`kernlearn report --summary {folder}` writes it anew"
        )
    labels = {axis: [one.get(axis) for one in parameters] for axis in axes}
    for label in LABELS:
        labels[label] = [value or None for value in cells[label]]
    columns = {k: pd.Series(v, cells.index, dtype=object) for k, v in labels.items()}
    columns |= {axis: columns[axis].infer_objects() for axis in axes}
    # all that is measured is in the config, but the experiment may have grown
    shown = [name for name in cells if name not in TIMES or config.shows_times]
    summary = cells.assign(**columns)[[*shown, *axes]]
    _check_reported(summary, experiment, [*LABELS, *axes], folder)
    return summary


def _check_reported(
    summary: pd.DataFrame, experiment: LoadedExperiment, labels: list[str], folder: Path
) -> None:
    """Refuse a summary whose reported numbers are not those of the paper as they are now."""
    numbers = ["reported_mean", "reported_std"]
    measured = summary[summary["n_splits"].notna()].drop(columns=numbers)
    now = with_reported(measured, experiment.config, labels)

    def reported(frame: pd.DataFrame) -> set[tuple[object, ...]]:
        rows = frame[frame["reported_mean"].notna()]
        texts = rows[numbers].map("{:.6g}".format).itertuples(index=False, name=None)
        places = label_rows(rows, [*labels, "metric"])
        return {(*place, *text) for place, text in zip(places, texts, strict=True)}

    if differing := reported(summary) ^ reported(now):
        raise ReportError(
            f"{len(differing)} reported numbers of its summary are not those of "
            f"{experiment.config.reported}; `kernlearn report --summary {folder}` writes it anew"
        )


def _left_out(details: Details, summary: pd.DataFrame, experiment: LoadedExperiment) -> list[str]:
    """Return the data sets that were left out; where this is not said, those without numbers."""
    if "left_out" in details.values:
        return [str(name) for name in details.values["left_out"]]
    measured = set(summary["dataset"][summary["n_splits"].notna()])
    return [label for label in experiment.config.datasets if label not in measured]


def _remarks(details: Details, experiment: LoadedExperiment) -> list[str]:
    """Return the notes of the config, then what was remarked when the summary was written."""
    notes = experiment.config.notes
    remarks, names = [*details.values["remarks"]], [*notes]
    # the notes of that time came first
    while remarks and (of := [name for name in names if remarks[0].startswith(f"{name}: ")]):
        names.remove(of[0])
        remarks.pop(0)
    return [*(f"{name}: {text}" for name, text in notes.items()), *remarks]
