"""Reports of experiments: from a store, from rows of any program, or from committed summaries."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import chain, combinations, starmap
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from kernlearn.config.model import ExperimentConfig, LoadedExperiment, Protocol
from kernlearn.config.plan import Plan
from kernlearn.config.read import find_config, load_config, shipped_configs
from kernlearn.config.trial import Trial
from kernlearn.config.values import LABELS, canonical
from kernlearn.exceptions import ConfigError, ReportError, SummaryError
from kernlearn.reports import claims as claimed
from kernlearn.reports import differences as compared
from kernlearn.reports import rows as of_rows
from kernlearn.reports import verdicts
from kernlearn.reports.cells import reported_numbers, reported_splits, summarise
from kernlearn.reports.covariances import (
    as_splits,
    covariances_of,
    covariances_of_losses,
    losses_of,
    read_covariances,
    write_covariances,
)
from kernlearn.reports.tables import Table, build_tables
from kernlearn.store import Row, Store


@dataclass(frozen=True)
class Report:
    """Results of one experiment.

    Attributes
    ----------
    experiment : LoadedExperiment
    splits : pandas.DataFrame
        Every number of every split.
    covariances : pandas.DataFrame
        Those of the means over test rows, from ``kernlearn.reports.covariances``.
    cells : pandas.DataFrame
        Every mean, from :func:`~kernlearn.reports.summarise`.
    claims : pandas.DataFrame
        The claims with their outcomes.
    differences : pandas.DataFrame
        The differences between methods that the paper's table shows.
    chances : pandas.DataFrame
        Counts beside those after exchanges of the methods, and of the data sets.
    notes : list of str
        What the outcomes give cause to say.
    details : Details
        Profile, machines, dates, counts, remarks and data, JSON-ready.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kernlearn.store import Store
    >>> from kernlearn.config import load_config
    >>> from kernlearn.engine import make_plan, run_plan
    >>> from kernlearn.reports import assemble
    >>> small = ["splits=1", "methods.ORLand.n_landmarks=[5]", "methods.ORLand.C=1"]
    >>> plan = make_plan(load_config("demo_ordinal", settings=small))
    >>> with TemporaryDirectory() as folder, Store(Path(folder) / "demo.sqlite") as store:
    ...     _ = run_plan(plan, store)
    ...     report = assemble(plan, store)
    >>> len(report.cells), len(report.tables), report.claims.outcome.tolist()
    (36, 1, ['leans for'])
    >>> print(report.remarks[0][:62])
    KR: a mean over all training points, and so nearly every point
    """

    experiment: LoadedExperiment
    splits: pd.DataFrame
    covariances: pd.DataFrame
    cells: pd.DataFrame
    claims: pd.DataFrame
    differences: pd.DataFrame
    chances: pd.DataFrame
    notes: list[str]
    details: of_rows.Details

    @property
    def remarks(self) -> list[str]:
        """Notes of the config, and what the results give cause to say."""
        config = self.experiment.config
        others = {f"{k} is not comparable": why for k, why in config.not_comparable.items()}
        notes = [f"{name}: {text}" for name, text in {**config.notes, **others}.items()]
        ends = self.details.open_ends
        often = [one for one in ends if 3 * one["rising"] >= one["choices"]]
        by_method: dict[str, list[str]] = {}
        for one in often:
            text = f"{one['parameter']} {one['end']} ({one['rising']} of {one['choices']})"
            by_method.setdefault(one["method"], []).append(text)
        short = [f"{method} {', '.join(texts)}" for method, texts in by_method.items()]
        if rare := len(ends) - len(often):
            short.append(f"{rare} {'more ' if often else ''}in less than a third of the choices")
        if short:
            notes.append(f"scores still rise where lists of values end: {'; '.join(short)}")
        return list(dict.fromkeys([*notes, *self.details.remarks, *self.notes]))

    @cached_property
    def tables(self) -> list[Table]:
        """The tables, without marks of verdicts and best cells if the numbers are indicative."""
        cells, config = self.cells, self.experiment.config
        if not self.experiment.indicative:
            return build_tables(cells, config)
        cells = cells.drop(columns="best", errors="ignore").assign(verdict="")
        tables = build_tables(cells, config.model_copy(update={"best": None}))
        return [replace(one, title=f"{one.title} ({self.run_as}, indicative)") for one in tables]

    @cached_property
    def counts(self) -> pd.DataFrame:
        """Counts of the verdicts on reported numbers: a row per kind, a column per verdict."""
        return verdicts.count_verdicts(self.cells, self.experiment.config)

    @property
    def run_as(self) -> str:
        """The profile, and the settings on top of it."""
        return ", ".join([self.details.profile, *self.details.settings])


def assemble(plan: Plan, store: Store) -> Report:
    """Assemble the report of a plan from the results in a store.

    Parameters
    ----------
    plan : Plan
    store : Store

    Returns
    -------
    Report

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kernlearn.store import Store
    >>> from kernlearn.config import load_config
    >>> from kernlearn.engine import make_plan, run_plan
    >>> from kernlearn.reports import assemble
    >>> small = ["splits=1", "methods.ORLand.n_landmarks=[5]", "methods.ORLand.C=1"]
    >>> plan = make_plan(load_config("demo_ordinal", settings=small))
    >>> with TemporaryDirectory() as folder, Store(Path(folder) / "demo.sqlite") as store:
    ...     _ = run_plan(plan, store)
    ...     cells = assemble(plan, store).cells
    >>> cells[cells.metric == "aae"][["kernel", "method", "n_splits"]]
           kernel  method  n_splits
    0   manhattan  ORLand         1
    9   manhattan      KR         1
    18   gaussian  ORLand         1
    27   gaussian      KR         1
    """
    results = of_rows.stored_rows(plan, store)
    known = [(trial, results[trial.key]) for trial in plan.trials if trial.key in results]
    started = [row.started for row in results.values()]
    machines = {canonical(row.machine): dict(row.machine) for row in results.values()}
    details = of_rows.Details(
        profile=plan.experiment.profile,
        settings=list(plan.experiment.settings),
        trials=len(plan.trials),
        done=sum(row.done for _, row in known),
        trial_seconds=round(sum(r.seconds for r in results.values()), 1),
        measured=[min(started), max(started)] if started else [],
        measured_on=[*machines.values()],
        left_out=plan.left_out,
        remarks=remarks(plan, known),
        data=prepared_data(plan, known),
        open_ends=open_ends(known),
        versions=of_rows.versions_of(plan),
        reported=of_rows.reported_digest(plan.experiment.config),
    )
    splits, covariances = of_rows.splits_of(plan, results), covariances_of(plan, results)
    return _report(plan.experiment, splits, covariances, details)


def report_rows(experiment: LoadedExperiment, frame: pd.DataFrame) -> Report:
    """Assemble the report of results of any program, against the config's reported numbers.

    Parameters
    ----------
    experiment : LoadedExperiment
    frame : pandas.DataFrame
        A row per number, with columns ``dataset``, ``method``, ``metric``, ``value``, ``split`` or
        ``repetition``, and, where they vary, ``kernel`` and parameters. Columns ``n_train`` and
        ``n_test`` give the rows of each split; without them the shares of the config's protocol
        count. A column ``unit`` with ``%`` says that a share is in per cent. A column ``losses``
        has what each test row adds to the value, as numbers in a text: their mean is the value,
        and all methods have the same rows in the same order. Or the results of benchopt, of which
        the last row of each repetition counts.

    Returns
    -------
    Report

    Raises
    ------
    ReportError
        If a column is missing, a label is not in the config, or a number occurs twice.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernlearn.config import load_config
    >>> from kernlearn.reports import report_rows
    >>> rows = pd.DataFrame({
    ...     "dataset": "abalone", "method": "KR", "kernel": "manhattan", "metric": "mse",
    ...     "repetition": [0, 1, 2], "value": [0.015, 0.018, 0.018],
    ... })
    >>> report = report_rows(load_config("table5_1a"), rows)
    >>> report.cells.dropna(subset=["mean"])["verdict"].tolist()
    ['match']
    """
    splits = of_rows.read_rows(experiment.config, frame, experiment.name)
    covariances = covariances_of_losses(losses_of(frame, splits, experiment), experiment.config)
    there, numbers = set(splits["dataset"]), [f"{len(splits)} numbers of another program"]
    columns = {str(column).removeprefix("objective_") for column in frame}
    if "ratio" not in columns and not {"n_train", "n_test"} <= columns:
        share = of_rows.protocol_ratio(experiment.config)
        numbers.append(
            f"without columns n_train and n_test, {share:.3g} test rows to a training row, as the "
            "protocol divides them"
        )
    if covariances.empty:
        numbers.append(
            "without a column losses the corrected resampled t-test compares methods, which shows "
            "about half as many differences"
        )
    of_cell = splits.groupby([*LABELS, *experiment.config.axes, "metric"], dropna=False)["split"]
    if single := int((of_cell.size() == 1).sum()):
        numbers.append(f"{single} of {of_cell.ngroups} means are of a single split: no intervals")
    several = [set(of_cell.agg(frozenset)[name]) for name in there]
    if differ := sum(len(sets) > 1 for sets in several):
        pairs = [any(starmap(frozenset.isdisjoint, combinations(sets, 2))) for sets in several]
        numbers.append(
            f"{differ} of {len(there)} data sets have methods with different splits, which are "
            f"compared on those they share; on {sum(pairs) or 'none'} some share none"
        )
    trials = int(splits.groupby([*LABELS, "split"], dropna=False).ngroups)
    left_out = [name for name in experiment.config.datasets if name not in there]
    about = experiment.profile, list(experiment.settings), trials, trials
    details = of_rows.Details(*about, left_out=left_out, remarks=numbers)
    return _report(experiment, splits, covariances, details, least=1)


def _report(
    experiment: LoadedExperiment,
    splits: pd.DataFrame,
    covariances: pd.DataFrame,
    details: of_rows.Details,
    least: int | None = None,
) -> Report:
    """Return the report of splits, with the details of where they come from.

    Of cells with less than a `least` number of splits, by default that of the protocol, no verdict
    is drawn, nor any difference or claim.
    """
    config = experiment.config
    least = least or config.protocol.splits
    roots = as_splits(covariances, config, experiment.name)
    tested = pd.concat([splits, roots], ignore_index=True)
    labels = [tested[label] for label in (*LABELS, *config.axes, "metric")]
    of_cell = (tested["split"] >= 0).groupby(labels, dropna=False)
    whole = tested[of_cell.transform("sum") >= least]
    cells = summarise(splits, experiment, whole)
    lack = cells["n_splits"] < least
    cells.loc[lack, "verdict"] = ""
    claims = claimed.decide_claims(whole, config, reported_splits(cells, config.axes))
    differences, chances = compared.compare_with_paper(whole, cells[~lack], config)
    notes = [f"{lack.sum()} means lack splits: no outcome rests on them"] if lack.any() else []
    if (drifts := cells["drift"] > 0).any():
        moving = cells[drifts].groupby("metric", sort=False)["drift"].max()
        most = [f"{drift:.2g} ({config.scope.label(str(k))})" for k, drift in moving.items()]
        notes.append(
            f"{drifts.sum()} of {cells['mean'].notna().sum()} means move between processors, by "
            f"at most {', '.join(most)}; intervals are wider by as much"
        )
    notes += _other_units(cells, config)
    outcomes = cells, claims, differences, chances
    return Report(experiment, splits, covariances, *outcomes, notes, details)


def _other_units(cells: pd.DataFrame, config: ExperimentConfig) -> Iterator[str]:
    """Say of which scores the reported numbers are a hundredth of those measured, or 100 times."""
    ratios = (cells["mean"] / cells["reported_mean"]).replace(np.inf, np.nan).dropna()
    for metric, of_metric in ratios.groupby(cells["metric"], sort=False):
        factors = {"a hundredth": of_metric, "a hundred times": 1 / of_metric}
        is_score = verdicts.kind_of(str(metric), config) == verdicts.SCORES
        for factor, values in factors.items():
            if is_score and len(values) > 2 and values.between(50, 200).all():
                yield (
                    f"all {len(values)} reported numbers of {config.scope.label(str(metric))} are "
                    f"about {factor} of those measured: compare the units"
                )


def write_summary(report: Report, folder: Path) -> Path:
    """Write the splits as a compressed table, and what was measured as JSON.

    Means, verdicts, differences and claims are computed from these when they are read. Of other
    profiles than the full one there are neither times nor chosen parameters.

    Parameters
    ----------
    report : Report
    folder : Path
        Such as ``results/measured``.

    Returns
    -------
    pathlib.Path
        The table; the JSON file has the same name but for the suffix.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kernlearn.store import Store
    >>> from kernlearn.config import load_config
    >>> from kernlearn.engine import make_plan, run_plan
    >>> from kernlearn.reports import assemble, write_summary
    >>> small = ["splits=1", "methods.ORLand.n_landmarks=[5]", "methods.ORLand.C=1"]
    >>> plan = make_plan(load_config("demo_ordinal", settings=small))
    >>> with TemporaryDirectory() as folder, Store(Path(folder) / "demo.sqlite") as store:
    ...     _ = run_plan(plan, store)
    ...     path = write_summary(assemble(plan, store), Path(folder))
    ...     files = sorted(file.name for file in Path(folder).glob("demo_ordinal.*"))
    >>> path.name, files
    ('demo_ordinal.csv.gz', ['demo_ordinal.csv.gz', 'demo_ordinal.json'])
    """
    name = report.experiment.name
    path = of_rows.splits_path(name, folder)
    of_rows.write_splits(report.splits, report.experiment, path)
    if not report.experiment.indicative:
        write_covariances(report.covariances, name, folder)
    details = asdict(report.details)
    entries = (f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in details.items())
    text = ",\n".join(entries)
    (folder / f"{name}.json").write_text(f"{{\n{text}\n}}\n", encoding="utf-8")
    return path


# ---- from summaries ----


class Skipped(NamedTuple):
    """An experiment that is not shown, and the reason."""

    name: str
    reason: str


#: Why an experiment without a config is not shown.
NO_CONFIG = "kernlearn has no config of that name; `kernlearn report FILE` reports your own"


def read_reports(
    folder: Path, configs: Collection[str | Path] = ()
) -> tuple[list[Report], list[Skipped]]:
    """Assemble the report of every summary in a folder.

    Parameters
    ----------
    folder : Path
        Such as ``results/measured``.
    configs : collection of str or Path
        Configs by path or shipped name; by default the shipped config of each summary's name.

    Returns
    -------
    reports : list of Report
    skipped : list of Skipped
        Summaries without a config, or of another config than the present one.

    Raises
    ------
    ReportError
        If two configs have the same name, or the folder has the summary of another config.
    SummaryError
        If the folder or a summary cannot be read, or is not there.
    """
    if not folder.is_dir():
        raise SummaryError(f"{folder}: no such folder")
    there = sorted(path.stem for path in folder.glob("*.json"))
    known = {path.stem: path for path in map(find_config, configs)} or shipped_configs()
    if configs and len(known) < len(configs):
        raise ReportError("two configs have the same name, by which their summaries are found")
    reports, skipped = [], []
    for name in there if not configs else known:
        try:
            if name not in known:
                raise ConfigError(NO_CONFIG)
            reports.append(read_report(known[name], folder))
        except (ConfigError, ReportError) as error:
            if configs:
                raise
            skipped.append(Skipped(name, str(error)))
    return reports, skipped


def read_report(config: Path, folder: Path) -> Report:
    """Assemble the report of an experiment from its committed splits, without store and data.

    Parameters
    ----------
    config : Path
    folder : Path
        Has the two files that :func:`write_summary` wrote, named after the config.

    Returns
    -------
    Report

    Raises
    ------
    ReportError
        If the splits are of another config: of other data sets, methods, parameters or metrics.
    SummaryError
        If they cannot be read.
    """
    name = config.stem
    details = of_rows.read_details(name, folder)
    experiment = load_config(config, profile=details.profile, settings=details.settings)
    try:
        splits = of_rows.read_splits(experiment, of_rows.splits_path(name, folder))
    except ReportError as error:
        raise ReportError(
            f"{error}; `kernlearn report --summary {folder}` writes the numbers of this config"
        ) from None
    covariances = read_covariances(experiment.config, name, folder)
    return _report(experiment, splits, covariances, details)


# ---- what trials give cause to say ----

_NUMBER = re.compile(r"\d[\d.]*(e[+-]?\d+)?")


def remarks(plan: Plan, known: Sequence[tuple[Trial, Row]]) -> list[str]:
    """Collect the remarks on the trials of a plan that have a row.

    These are how lists are searched, omitted data sets, missing or failed trials, warnings,
    changed plug-ins and times measured under contention.
    """
    infos = [r.info for _, r in known if r.done]
    of_done = f"of {len(infos)} trials"
    notes = []
    selects = any(trial.spec.method.select for trial in plan.trials)
    if selects and (chosen_by := plan.experiment.config.select_by):
        notes.append(f"select goes by {plan.experiment.config.scope.label(chosen_by)}")
    if plan.experiment.config.protocol.search == "halving":
        notes.append("parameters are chosen by successive halving (search: halving)")
    if omitted := reported_numbers(plan.experiment.config)[1]:
        notes.append(omitted)
    if plan.left_out:
        notes.append(f"left out, not found: {', '.join(plan.left_out)}")
    first = {str(row.error): trial for trial, row in reversed(known) if not row.done}
    for error, n in Counter(str(row.error) for _, row in known if not row.done).items():
        more = f" and {n - 1} more" if n > 1 else ""
        notes.append(f"failed: {first[error]}{more}: {error}")
    if missing := len(plan.trials) - len(known):
        notes.append(f"{missing} of {len(plan.trials)} trials not run yet")
    sizes: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for trial, row in known:
        if "n_test" in row.info:
            sizes[trial.labels["dataset"]].append((row.info["n_train"], row.info["n_test"]))
    measured = {*plan.experiment.config.derived, *chain(*(row.metrics for _, row in known))}
    if infos and (others := [k for k in plan.experiment.config.metrics if k not in measured]):
        notes.append(f"no trial has measured {', '.join(others)}")
    if sizes:
        spans = {label: map(_span, zip(*of, strict=True)) for label, of in sizes.items()}
        texts = [f"{label} {' + '.join(parts)}" for label, parts in spans.items()]
        how = _how_split(plan.experiment.config.protocol)
        notes.append(f"{how}; rows to train + test: {', '.join(texts)}")
    alike: dict[str, list[str]] = defaultdict(list)  # but for their numbers
    for info in infos:
        kinds = {_NUMBER.sub("0", text): text for text in info.get("warnings", {})}
        for kind, text in kinds.items():
            alike[kind].append(text)
    for texts in alike.values():
        such = ", such as" if len({*texts}) > 1 else ""
        notes.append(f"{len(texts)} {of_done} issued a warning{such}: {texts[0]}")
    lacking: dict[tuple[str, str], int] = Counter(
        one for info in infos for one in info.get("not_measured", {}).items()
    )
    for (metric, why), n in lacking.items():
        if metric in plan.experiment.config.named_metrics:
            notes.append(f"{n} {of_done} have no {metric}: {why}")
    specs = {id(trial.spec): trial.spec for trial in plan.trials}.values()
    caches = any('"cache":true' in canonical(spec) for spec in specs)
    if caches and plan.experiment.config.shows_times:
        notes.append("times are without the values of pairs that were kept before (cache: true)")
    if early := sum(not info.get("converged", True) for info in infos):
        notes.append(f"!: a solver of {early} {of_done} stopped early; the means are marked !")
    notes += plugin_changes(plan, (row for _, row in known))
    contended = sum(bool(info.get("contended")) for info in infos)
    if contended and plan.experiment.config.shows_times:
        notes.append(
            f"times of {contended} {of_done} were measured while other processes used the "
            "same cores; accuracies are not affected"
        )
    return notes


def _how_split(protocol: Protocol) -> str:
    """Return the splits in words."""
    n, folds = protocol.splits, protocol.folds
    kind = f"{n} random splits" if folds is None else f"{n} of {folds} folds"
    if isinstance(folds, int) and n > folds:
        kind = f"{n // folds} times {folds} folds"
    elif folds == n or folds == "published":
        kind = f"{n} {'published ' if folds == 'published' else ''}folds"
    kind = f"{n} splits in time by {protocol.time}" if protocol.time else kind
    kind += ", stratified" if protocol.stratify else ""
    return kind + (f", groups by {protocol.groups}" if protocol.groups else "")


def _span(numbers: Collection[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low}" if low == high else f"{low}–{high}"


def plugin_changes(plan: Plan, rows: Iterable[Row]) -> list[str]:
    """Say which plug-ins have changed since the trials of rows were measured."""
    state = plan.experiment.config.scope.state
    done = [row for row in rows if row.done]
    plugins = [plugin for row in done for plugin in row.info.get("plugins", {}).items()]
    changed = Counter(name for name, measured in plugins if measured != state(name))
    return [
        f"{name} has changed since {count} of {len(done)} trials were measured: if this changes "
        "their numbers, raise `version` in it, or run again with --force"
        for name, count in changed.items()
    ]


def open_ends(known: Sequence[tuple[Trial, Row]]) -> list[dict[str, Any]]:
    """Return how often scores still rise at an end of a list of numbers, for each method."""
    chosen = Counter((t.labels["method"], p) for t, r in known for p in r.info.get("selected", {}))
    of_method = Counter(t.labels["method"] for t, r in known if r.done)
    ends = Counter(
        (trial.labels["method"], name, end)
        for trial, row in known
        for name, end in row.info.get("open_ends", {}).items()
    )
    return [
        # of a method that chooses for each class its trials
        {
            **dict(zip(("method", "parameter", "end"), place, strict=True)),
            "rising": rising,
            "choices": chosen[place[:2]] or of_method[place[0]],
        }
        for place, rising in ends.items()
    ]


def prepared_data(plan: Plan, known: Sequence[tuple[Trial, Row]]) -> dict[str, list[str]]:
    """Return what reading each data set of a plan has done to it, and its positive classes."""
    lines = {label: [*of_data] for label, of_data in plan.preparations.items()}
    # the same in all trials of a data set
    positive = {t.labels["dataset"]: r.info["positive"] for t, r in known if "positive" in r.info}
    for label, classes in positive.items():
        lines.setdefault(label, []).append(f"positive classes: {', '.join(map(str, classes))}")
    return lines
