"""Reports of experiments: from a store, from rows of any program, or from committed summaries."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, combinations, starmap
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from kernlearn.checks import counted, listed
from kernlearn.config.model import ExperimentConfig, LoadedExperiment
from kernlearn.config.plan import Plan, make_plan
from kernlearn.config.read import find_config, load_config, shipped_configs
from kernlearn.config.spec import LABELS, canonical
from kernlearn.config.trial import Trial
from kernlearn.datasets import catalogue
from kernlearn.exceptions import ConfigError, ReportError, SummaryError
from kernlearn.machine import describe_machine
from kernlearn.reports import claims as claimed
from kernlearn.reports import differences as compared
from kernlearn.reports import summary as frames
from kernlearn.reports import verdicts
from kernlearn.reports.tables import Table, build_tables, unmarked
from kernlearn.store import Row, Store, utc_now

_NUMBER = re.compile(r"\d[\d.]*(e[+-]?\d+)?")
# What is decided anew from the splits of a summary, with its columns.
_DECIDED = {
    "claims": claimed.COLUMNS,
    "differences": compared.COLUMNS,
    "chances": compared.CHANCES,
}


@dataclass(frozen=True)
class Report:
    """Results of one experiment.

    Attributes
    ----------
    experiment : LoadedExperiment
    splits : pandas.DataFrame
        Every number of every split; empty if the report was read from a summary.
    cells : pandas.DataFrame
        Every mean, from :func:`~kernlearn.reports.summarise`.
    claims : pandas.DataFrame
        The claims with their outcomes.
    differences : pandas.DataFrame
        The differences between methods that the paper's table shows.
    chances : pandas.DataFrame
        Counts beside those after exchanges of the methods, and of the data sets.
    details : dict
        Versions, machine, date, counts, remarks, and choices of parameters, JSON-ready.

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
    cells: pd.DataFrame
    claims: pd.DataFrame
    differences: pd.DataFrame
    chances: pd.DataFrame
    details: dict[str, Any]

    @property
    def remarks(self) -> list[str]:
        """Notes of the config, and what the results give cause to say."""
        config = self.experiment.config
        others = {f"{k} is not comparable": why for k, why in config.not_comparable.items()}
        notes = [f"{name}: {text}" for name, text in {**config.notes, **others}.items()]
        short = [
            f"{one['method']} {one['parameter']} ({one['end']}, {one['rising']} of "
            f"{one['choices']} choices)"
            for one in self.details["open_ends"]
        ]
        if short:
            notes.append(f"scores still rise where the list of values ends: {', '.join(short)}")
        return [*notes, *self.details["remarks"]]

    @cached_property
    def tables(self) -> list[Table]:
        """The tables, without marks of verdicts and best cells if the numbers are indicative."""
        tables = build_tables(self.cells, self.experiment.config)
        note = f"{self.run_as}, indicative"
        return [unmarked(table, note) if self.experiment.indicative else table for table in tables]

    @cached_property
    def counts(self) -> pd.DataFrame:
        """Counts of the verdicts on reported numbers: a row per kind, a column per verdict."""
        return verdicts.count_verdicts(self.cells, self.experiment.config)

    @property
    def run_as(self) -> str:
        """The profile, and the settings on top of it."""
        return ", ".join([self.details["profile"], *self.details["settings"]])


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
    results = frames.stored_rows(plan, store)
    known = [(trial, results[trial.key]) for trial in plan.trials if trial.key in results]
    started = [row.started for row in results.values()]
    machines = {canonical(row.machine): dict(row.machine) for row in results.values()}
    details = {
        "trials": len(plan.trials),
        "done": sum(row.done for _, row in known),
        "trial_seconds": round(sum(r.seconds for r in results.values()), 1),
        "measured": [min(started), max(started)] if started else [],
        "left_out": plan.left_out,
        "remarks": remarks(plan, known),
        "data": data_facts(plan, known),
        "selected": selections(known),
        "open_ends": open_ends(known),
        "measured_on": [*machines.values()],
    }
    n_splits = plan.experiment.config.protocol.splits
    return _report(plan.experiment, frames.splits_of(plan, results), details, n_splits)


def report_rows(experiment: LoadedExperiment, frame: pd.DataFrame) -> Report:
    """Assemble the report of results of any program, against the config's reported numbers.

    Parameters
    ----------
    experiment : LoadedExperiment
    frame : pandas.DataFrame
        A row per number, with columns ``dataset``, ``method``, ``metric``, ``value``, ``split`` or
        ``repetition``, and, where they vary, ``kernel`` and parameters. Columns ``n_train`` and
        ``n_test`` give the rows of each split; without them the shares of the config's protocol
        count. A column ``unit`` with ``%`` says that a share is in per cent. Or the results of
        benchopt, of which the last row of each repetition counts.

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
    splits = frames.read_rows(experiment.config, frame, experiment.name)
    there, numbers = set(splits["dataset"]), [f"{len(splits)} numbers of another program"]
    columns = {str(column).removeprefix("objective_") for column in frame}
    if "ratio" not in columns and not {"n_train", "n_test"} <= columns:
        share = frames.protocol_ratio(experiment.config)
        numbers.append(
            f"without columns n_train and n_test, {share:.3g} test rows to a training row, as the "
            "protocol divides them"
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
    details = {
        "trials": int(splits.groupby([*LABELS, "split"], dropna=False).ngroups),
        "left_out": [name for name in experiment.config.datasets if name not in there],
        "remarks": numbers,
        "measured_on": [],
    }
    details["done"] = details["trials"]
    return _report(experiment, splits, details)


def _report(
    experiment: LoadedExperiment,
    splits: pd.DataFrame,
    details: Mapping[str, Any],
    n_splits: int = 1,
) -> Report:
    """Return the report of splits, with the details of where they come from.

    Of cells with fewer than `n_splits` no verdict is drawn, nor any difference or claim.
    """
    config = experiment.config
    cells = frames.summarise(splits, experiment, n_splits)
    lack = cells["n_splits"] < n_splits
    cells.loc[lack, "verdict"] = ""
    of_cell = splits.groupby([*LABELS, *config.axes, "metric"], dropna=False)["split"]
    whole = splits[of_cell.transform("size") >= n_splits]
    claims = claimed.decide_claims(whole, config, frames.reported_splits(cells, config.axes))

    def compare(sign: int) -> tuple[pd.DataFrame, pd.DataFrame, "pd.Series[str]"]:
        """Compare without what moves means between processors, or with it against and for each."""
        moved, means = (frame.assign(drift=sign * frame["drift"]) for frame in (whole, cells))
        of_means = pd.Series(verdicts.verdicts_of(means, config)).mask(lack, "")
        return *compared.compare_with_paper(moved, means[~lack], config), of_means

    differences, chances, _ = compare(0)
    notes = [f"{lack.sum()} means lack splits: no outcome rests on them"] if lack.any() else []
    if splits["drift"].any():
        pairs, others = differences["outcome"], [compare(sign) for sign in (1, -1)]
        n_claims = claims["numbers"].str.endswith(claimed.UNSTEADY).sum()
        of_pairs = np.any([pairs != other["outcome"] for other, _, _ in others], axis=0)
        of_means = np.any([cells["verdict"] != other for _, _, other in others], axis=0)
        places = {
            "verdict": frames.cell_names(cells[of_means], [*LABELS, *config.axes]),
            "difference": differences["cell"][of_pairs].tolist(),
        }
        parts = [
            f"{counted(len(k), kind)} of {listed(dict.fromkeys(k))}"
            for kind, k in places.items()
            if k
        ]
        parts += [counted(n_claims, "claim")] if n_claims else []
        otherwise = f"another one may decide otherwise: {'; '.join(parts)}"
        moving = cells[cells["drift"] > 0].groupby("metric", sort=False)["drift"].max()
        most = [f"{drift:.2g} ({config.scope.label(str(k))})" for k, drift in moving.items()]
        notes.append(
            f"{(cells['drift'] > 0).sum()} of {cells['mean'].notna().sum()} means move between "
            f"processors, by at most {', '.join(most)}; "
            f"{otherwise if parts else 'no outcome depends on it'}"
        )
    about = {
        "experiment": experiment.name,
        "title": config.title,
        "source": config.source,
        "profile": experiment.profile,
        "settings": list(experiment.settings),
        "written": utc_now(),
        "trial_seconds": 0.0,
        "measured": [],
        "data": {},
        "selected": [],
        "open_ends": [],
        **details,
        "remarks": [*dict.fromkeys([*details["remarks"], *notes])],
        "claims": claims.to_dict("records"),
        "differences": differences.to_dict("records"),
        "chances": chances.to_dict("records"),
        "written_by": describe_machine()["packages"],
    }
    return Report(experiment, splits, cells, claims, differences, chances, about)


def write_summary(report: Report, folder: Path, *, with_splits: bool = False) -> Path:
    """Write the measured summary: one row per cell as CSV, versions and machine as JSON.

    Parameters
    ----------
    report : Report
    folder : Path
        Such as ``results/measured``.
    with_splits : bool, default=False
        Write the numbers of all splits beside them, if they are of the full protocol. Claims and
        differences are decided from these then, and their outcomes are not in the JSON file.

    Returns
    -------
    pathlib.Path
        The CSV file; the JSON file has the same name but for the suffix.

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
    ...     head = path.read_text(encoding="utf-8").splitlines()[0]
    >>> path.name
    'demo_ordinal.csv'
    >>> head.split(",")[:5]
    ['experiment', 'dataset', 'kernel', 'method', 'params']
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{report.experiment.name}.csv"
    path.write_text(frames.summary_text(report.cells, report.experiment.config), encoding="utf-8")
    details, splits = report.details, _splits_path(folder / report.experiment.name)
    splits.unlink(missing_ok=True)
    if with_splits and not (report.splits.empty or report.experiment.indicative):
        details = {k: v for k, v in details.items() if k not in _DECIDED}
        splits.parent.mkdir(exist_ok=True)
        # the same bytes whenever it is written
        report.splits.to_csv(splits, index=False, compression={"method": "gzip", "mtime": 1})
    text = json.dumps(details, indent=1, ensure_ascii=False)
    path.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
    return path


def _splits_path(summary: Path) -> Path:
    return summary.parent / "splits" / f"{summary.name}.csv.gz"


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
        If two configs have the same name, or the folder lacks the summary of one or has that of
        another config.
    SummaryError
        If the folder or a summary cannot be read.
    """
    if not folder.is_dir():
        raise SummaryError(f"{folder}: no such folder")
    head = ",".join(frames.KEY).encode()
    there = [p.stem for p in sorted(folder.glob("*.csv")) if p.read_bytes().startswith(head)]
    known = {path.stem: path for path in map(find_config, configs)} or shipped_configs()
    if configs and len(known) < len(configs):
        raise ReportError("two configs have the same name, by which their summaries are found")
    if configs and (lacking := sorted(known.keys() - {*there})):
        raise ReportError(
            f"{folder}: no summary of {', '.join(lacking)}; there are summaries of: "
            f"{', '.join(there) or 'none'}"
        )
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
    """Assemble the report of an experiment from its summary, without store and data.

    Verdicts are computed again by the rules of the config; so are claims and differences if the
    folder has the splits. Otherwise these were decided when the summary was written.

    Parameters
    ----------
    config : Path
    folder : Path
        Has the summary, two files that are named after the config.

    Returns
    -------
    Report

    Raises
    ------
    ReportError
        If the summary is of another config: it has other data sets, methods, parameters, metrics
        or reported numbers.
    SummaryError
        If it cannot be read.
    """
    name = config.stem
    cells, details = frames.read_summary(name, folder), frames.read_details(name, folder)
    needed = ["profile", "settings", "written", "trials", "done", "trial_seconds", "measured"]
    needed += ["measured_on", "left_out", "remarks", "data", "open_ends"]
    if missing := [key for key in needed if key not in details]:
        raise SummaryError(f"{folder / name}.json: has no {', '.join(missing)}")
    experiment = load_config(config, profile=details["profile"], settings=details["settings"])
    cells = _fitting(cells, experiment.config, folder)
    if (splits := _splits_path(folder / name)).is_file():
        rows = frames.read_rows(experiment.config, pd.read_csv(splits), name)
        return _report(experiment, rows, details, experiment.config.protocol.splits)
    decided = {k: pd.DataFrame(details.get(k, []), columns=c) for k, c in _DECIDED.items()}
    return Report(experiment, pd.DataFrame(), cells, **decided, details=details)


def _fitting(cells: pd.DataFrame, config: ExperimentConfig, folder: Path) -> pd.DataFrame:
    """Return the cells of a summary as those of a store, if they are of this config."""
    axes, known = [*config.axes], frames.names_of(config)
    cells, others = frames.parsed_labels(cells, axes)
    unknown = [f"the parameter {name}" for name in others]
    for column in ("dataset", "method", "metric"):
        unknown += [f"the {column} {k}" for k in cells[column].unique() if k not in known[column]]
    cells = cells.reindex(columns=[*frames.summary_columns(config), *frames.MARKS, *axes])
    if "best" in cells:
        cells["best"] = cells["best"].fillna(False).astype(bool)
    reported = ["reported_mean", "reported_std"]
    measured = cells[cells["n_splits"].notna()].drop(columns=reported)
    sides: list[set[Any]] = []
    for side in (cells, frames.with_reported(measured, config)):
        rows = side[side["reported_mean"].notna()].astype(object)
        rows[reported] = rows[reported].map("{:.6g}".format)
        sides.append({*frames.label_rows(rows, [*LABELS, *axes, "metric", *reported])})
    differing = sides[0] ^ sides[1]
    problem = f"not of {config.reported}: {len(differing)} reported numbers are others"
    if unknown:
        problem = f"of another config, which has {', '.join(unknown[:3])}"
    if unknown or differing:
        raise ReportError(
            f"its summary is {problem}; `kernlearn report --summary {folder}` writes it anew"
        )
    anew = pd.Series(verdicts.verdicts_of(cells.assign(drift=0.0), config), cells.index)
    cells["verdict"] = anew.mask(cells["verdict"] == "", "")  # of cells that lack splits
    return cells


# ---- from a store ----


def stored_plans(
    store: Store, *, profile: str | None = None, settings: Sequence[str] = ()
) -> tuple[list[Plan], list[Skipped]]:
    """Plan every experiment that a store has results of, with a config here or of kernlearn.

    Parameters
    ----------
    store : Store
    profile : str, optional
        Profile of all experiments; by default, for each the one with the most trials in the store.
    settings : sequence of str
        Settings of all experiments; by default those of the runs, chosen in the same way.

    Returns
    -------
    plans : list of Plan
    skipped : list of Skipped
        Experiments without a config, those of which the store has no trial that the present
        config plans, and profiles and settings of which all trials failed.
    """
    beside = {path.stem: path for path in Path().glob("*.yaml")}
    known, plans, skipped = {**beside, **shipped_configs()}, [], []
    for name, ended in store.experiments().items():
        # of equals the one with the fewest settings
        ways = sorted(ended, key=lambda way: (-ended[way][None], len(way[1])))
        ways = [way for way in ways if profile in (None, way[0])] or [(profile or "full", ())]
        failed = [way for way in ways if way in ended and not ended[way][None]]
        for way in failed:
            ((error, _),), n = ended[way].most_common(1), ended[way].total()
            called = ", ".join([name, way[0], *way[1]])
            skipped.append(Skipped(called, f"all {n} trials failed, such as by {error}"))
        if ways == failed:
            continue
        of_profile, more = ways[0]
        try:
            if name not in known:
                raise ConfigError(NO_CONFIG)
            loaded = load_config(known[name], profile=of_profile, settings=settings or more)
        except ConfigError as error:
            skipped.append(Skipped(name, str(error)))
            continue
        plan = make_plan(loaded, available=True)
        if store.states(trial.key for trial in plan.trials):
            plans.append(plan)
        else:
            reason = "it was run with an older config, other settings or another profile"
            if plan.left_out:
                reason = f"data not found here: {', '.join(plan.left_out)}"
            skipped.append(Skipped(name, f"the store has none of its trials; {reason}"))
    return plans, skipped


# ---- details ----


def remarks(plan: Plan, known: Sequence[tuple[Trial, Row]]) -> list[str]:
    """Collect the remarks on the trials of a plan that have a row.

    These are how lists are searched, omitted data sets, missing or failed trials, warnings,
    changed plug-ins and times measured under contention.
    """
    infos = [r.info for _, r in known if r.done]
    of_done = f"of {len(infos)} trials"
    notes = []
    if plan.experiment.config.protocol.search == "halving":
        notes.append("parameters are chosen by successive halving (search: halving)")
    if omitted := frames.reported_numbers(plan.experiment.config)[1]:
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
        notes.append(f"rows of a split, training + test: {', '.join(texts)}")
    alike: dict[str, list[str]] = defaultdict(list)  # but for their numbers
    for info in infos:
        kinds = {_NUMBER.sub("0", text): text for text in info.get("warnings", {})}
        for kind, text in kinds.items():
            alike[kind].append(text)
    for texts in alike.values():
        such = ", such as" if len({*texts}) > 1 else ""
        notes.append(f"{len(texts)} {of_done} issued a warning{such}: {texts[0]}")
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


def data_facts(plan: Plan, known: Sequence[tuple[Trial, Row]]) -> dict[str, list[str]]:
    """Return the facts on each data set of a plan: from its card and its trials."""
    # the same in all trials of a data set
    positive = {t.labels["dataset"]: r.info["positive"] for t, r in known if "positive" in r.info}
    facts, prepared = {}, plan.preparations
    for label, entry in plan.experiment.config.datasets.items():
        lines: list[str] = []
        if entry.file is not None:
            lines.append(f"file {entry.file}")
        elif entry.generator is not None:
            values = {k: ", ".join(map(str, v.candidates)) for k, v in entry.parameters.items()}
            parameters = "".join(f", {k} {text}" for k, text in values.items())
            lines.append(f"drawn by the generator {entry.generator}{parameters}")
        elif (card := catalogue().get(entry.name or label)) is not None:
            rows = f"{card.rows} rows, " if card.rows else ""
            lines += [f"{card.title}: {rows}{card.n_features} features", *card.notes]
        lines += prepared.get(label, ())
        if label in positive:
            lines.append(f"positive classes: {', '.join(map(str, positive[label]))}")
        if lines:
            facts[label] = lines
    return facts


def selections(known: Sequence[tuple[Trial, Row]]) -> list[dict[str, Any]]:
    """Return how often validation selected which parameters, for the labels of each cell."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for trial, row in known:
        if "selected" in row.info:
            counts[json.dumps(trial.labels)][canonical(row.info["selected"])] += 1
    return [
        {**json.loads(labels), "selected": dict(selected.most_common())}
        for labels, selected in counts.items()
    ]


# ---- several experiments ----


@dataclass(frozen=True)
class Totals:
    """Counts over several experiments.

    Attributes
    ----------
    numbers : pandas.DataFrame
        A row for each kind of number, with the columns of :func:`count_verdicts`.
    differences, claims : dict of str to int
        By outcome. A sentence that several experiments test counts once, with its worst outcome.
    contradicted : int
        How many of these claims the paper's own numbers contradict.
    chances : pandas.DataFrame
        Matches, and differences shown, of each table beside those of exchanged methods and data
        sets.
    """

    numbers: pd.DataFrame
    differences: dict[str, int]
    claims: dict[str, int]
    contradicted: int
    chances: pd.DataFrame

    def in_short(self) -> str:
        """Return one sentence on how many scores, differences and claims come back."""
        parts, absent = [], [*verdicts.UNMEASURED, verdicts.NOT_COMPARABLE]
        if verdicts.SCORES in self.numbers.index:
            row = self.numbers.loc[verdicts.SCORES].astype(int)
            if n := row["reported"] - row[absent].sum():
                parts.append(f"{row['match']} of {n} reported scores match")
        if n := sum(self.differences.values()) - self.differences.get(verdicts.NO_DATA, 0):
            k, reversed_ = self.differences["shown"], self.differences["reversed"]
            parts.append(f"{k} of {n} differences are shown, {reversed_ or 'none'} reversed")
        if n := sum(self.claims.values()):
            parts.append(f"{counted(n, 'claim')}{_listed(self.claims)}")
        return f"{'; '.join(parts)}." if parts else ""

    def in_words(self) -> list[str]:
        """Return sentences on reported scores, differences and claims."""
        texts = []
        if verdicts.SCORES in self.numbers.index:
            row = self.numbers.loc[verdicts.SCORES].astype(int)
            n, measured = row["reported"], row["reported"] - row[[*verdicts.UNMEASURED]].sum()
            counts = _listed(row.drop("reported").to_dict())
            texts.append(f"Of {n} reported scores {measured} were measured{counts}.")
        texts += self._beyond_chance("match")
        if n := sum(self.differences.values()):
            texts.append(f"Of {n} differences between methods{_listed(self.differences)}.")
        texts += self._beyond_chance("shown")
        if n := sum(self.claims.values()):
            open_ = {name: k for name, k in self.claims.items() if name in claimed.OPEN}
            decided = {name: k for name, k in self.claims.items() if name not in open_}
            decided["undecided"] = sum(open_.values())
            means = ", ".join(f"{name} {k}" for name, k in open_.items() if k)
            text = f"Of {counted(n, 'claim')}{_listed(decided)}"
            text += f" ({means})" if means else ""
            if self.contradicted:
                text += f"; the papers' own numbers contradict {self.contradicted}"
            texts.append(f"{text}.")
        return texts

    def _beyond_chance(self, count: str) -> list[str]:
        """Say how many counts, one for each table and metric, are clearly less in other orders."""
        rows = self.chances[(self.chances["count"] == count) & compared.can_tell(self.chances)]
        parts = [
            f"{compared.beats_chance(of).sum()} of {len(of)} if {exchanged} are swapped"
            for exchanged, of in rows.groupby("exchanged", sort=False)
        ]
        what = "matches" if count == "match" else "shown differences"
        text = f"More than chance? Counts of {what} that clearly fall: {', '.join(parts)}."
        return [text] if parts else []


def _listed(counts: Mapping[Any, int]) -> str:
    """Return counts in words, those on data that are not public in brackets."""
    absent = counts[verdicts.NO_DATA]
    named = [f"{name} {n}" for name, n in counts.items() if n and name != verdicts.NO_DATA]
    listed = ", ".join(named)
    return f"{f' ({absent} on data that are not public)' if absent else ''}: {listed or 'none'}"


def outcome(report: Report) -> str:
    """Return one sentence on what came out of an experiment; none if it is only indicative."""
    short, config = totals([report]).in_short(), report.experiment.config
    metric = verdicts.main_metric(config)
    if short or metric is None or report.experiment.indicative or "n_samples" in config.axes:
        return short
    cells = report.cells[(report.cells["metric"] == metric) & report.cells["mean"].notna()]
    data = frames.cell_names(cells, compared.data_labels(config))
    cells = cells.assign(name=compared.method_names(cells, config, " "), data=data)
    every = cells.pivot_table(index="name", columns="data", values="mean")
    means = every.dropna()
    better = verdicts.direction(metric, config)
    ranks = means.rank(ascending=better < 0).mean(axis=1)
    many = f", by average rank over {n} data sets" if (n := len(means.columns)) > 1 else ""
    many += " of methods that have all" if len(means) < len(every) else ""
    best = ", then ".join(listed(alike.index) for _, alike in [*ranks.groupby(ranks)][:2])
    # the means of one data set are ordered without a test
    which = "Best" if many else {1: "Highest mean", -1: "Lowest mean"}[better]
    return f"{which} {config.scope.label(metric)}{many}: {best}." if len(ranks) > 1 else ""


def totals(reports: Iterable[Report]) -> Totals:
    """Count verdicts, differences and claims of several experiments.

    Variants, which measure the numbers of another experiment again, and what is indicative do not
    count.
    """
    reports = [report for report in reports if report.experiment.is_counted]
    counts = [report.counts for report in reports]
    numbers = pd.concat(counts).groupby(level=0).sum() if counts else pd.DataFrame()
    # a source is a paper with its year in brackets, and what of it
    tested = [r.claims.assign(paper=r.experiment.config.source.split(")")[0]) for r in reports]
    claims = pd.concat([pd.DataFrame(columns=["paper", *claimed.COLUMNS]), *tested])
    texts = claims["on_reported"].astype(str)
    claims = claims.assign(contradicted=texts.str.startswith(claimed.CONTRADICTED))
    sentences = claims.groupby(["paper", "section", "says"]).agg(
        outcome=("outcome", lambda outcomes: claimed.worst_outcome([*outcomes])),
        contradicted=("contradicted", "any"),
    )
    outcomes = Counter(o for r in reports for o in r.differences["outcome"])
    chances = [pd.DataFrame(columns=compared.CHANCES), *(r.chances for r in reports)]
    return Totals(
        numbers.reindex([kind for kind in verdicts.KINDS if kind in numbers.index]),
        {name: outcomes[name] for name in compared.OUTCOMES},
        {name: int((sentences["outcome"] == name).sum()) for name in claimed.OUTCOMES},
        int(sentences["contradicted"].sum()),
        pd.concat(chances, ignore_index=True),
    )
