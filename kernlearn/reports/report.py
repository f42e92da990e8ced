"""Report of an experiment: assembled from plan and store; plans of all experiments in a store."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from kernlearn.exceptions import ConfigError, ReportError
from kernlearn.experiments.config.finding import shipped_configs
from kernlearn.experiments.config.loading import load_config, names_files
from kernlearn.experiments.engine.environment import describe_environment
from kernlearn.experiments.engine.plan import Plan, make_plan
from kernlearn.experiments.engine.spec import StoredDataset, canonical
from kernlearn.experiments.store.grids import chosen_by_mean
from kernlearn.experiments.store.results import Result, Store, utc_now
from kernlearn.reports.claims import Decision
from kernlearn.reports.conclusions import Chance, Conclusion
from kernlearn.reports.data_facts import data_facts
from kernlearn.reports.judged import judge
from kernlearn.reports.significance import median_interval
from kernlearn.reports.stream_facts import stream_remarks
from kernlearn.reports.summary import MEDIAN_LEVEL, summarise, summary_text, tidy_runs
from kernlearn.reports.tables import NOT_CONVERGED, Table, build_tables, unmarked
from kernlearn.reports.totals import Measured
from kernlearn.reports.verdicts import rules

# A profile, and the settings on top of it.
_Way = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Report:
    """Results of one experiment.

    Attributes
    ----------
    plan : Plan
    runs : pandas.DataFrame
        Every number of every split, from :func:`~kernlearn.reports.summary.tidy_runs`.
    summary : pandas.DataFrame
        Every cell, from :func:`~kernlearn.reports.summary.summarise`.
    tables : list of Table
    claims : list of Decision
    conclusions : list of Conclusion
        The differences between methods that the paper's table shows.
    chances : list of Chance
        Counts beside those after exchanges of the methods.
    remarks : list of str
    details : dict
        Versions, machine, date, counts, rules of verdicts and chosen parameters, JSON-ready.
    from_summary : bool
        Whether it was read from a summary, which has no runs.
    unknown : list of str
        What the summary, of an earlier version, does not say, in words.
    """

    plan: Plan
    runs: pd.DataFrame
    summary: pd.DataFrame
    tables: list[Table]
    claims: list[Decision]
    conclusions: list[Conclusion]
    chances: list[Chance]
    remarks: list[str]
    details: dict[str, Any]
    from_summary: bool = False
    unknown: list[str] = field(default_factory=list)

    @property
    def indicative(self) -> bool:
        """Whether the numbers are those of a profile, from which no verdict is drawn."""
        return self.plan.experiment.indicative

    @property
    def shown_tables(self) -> list[Table]:
        """The tables, without marks of verdicts and best cells if the numbers are indicative."""
        note = f"{self.details['profile']}, indicative"
        return [unmarked(table, note) if self.indicative else table for table in self.tables]

    @property
    def measured(self) -> Measured:
        """The part that totals are counted from."""
        return Measured(
            self.plan.experiment, self.summary, self.claims, self.conclusions, self.chances
        )

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
    """
    experiment = plan.experiment
    config = experiment.config
    results = chosen_by_mean(plan, store.get(t.key for t in plan.trials))
    runs = tidy_runs(plan, results)
    summary = summarise(plan, runs)
    notes = remarks(plan, results)
    claims, conclusions, chances = judge(plan, runs, summary)
    started = [result.started for result in results.values()]
    details = {
        "experiment": experiment.name,
        "title": config.title,
        "source": config.source,
        "profile": experiment.profile,
        "indicative": experiment.indicative,
        "settings": list(experiment.settings),
        "written": utc_now(),
        "trials": len(plan.trials),
        "done": sum(r.done for r in results.values()),
        "trial_seconds": round(sum(r.seconds for r in results.values()), 1),
        "measured": [min(started), max(started)] if started else [],
        "left_out": plan.left_out,
        "rules": rules(config),
        "claims": [asdict(c) for c in claims],
        "conclusions": [asdict(c) for c in conclusions],
        "chances": [asdict(c) for c in chances],
        "remarks": notes,
        "data": data_facts(plan, results),
        "selected": selections(plan, results),
        "seconds": _mean_seconds(plan, results),
        "measured_on": store.environments(r.run for r in results.values() if r.run is not None),
        "written_by": describe_environment()["packages"],
    }
    tables = build_tables(summary, config)
    return Report(plan, runs, summary, tables, claims, conclusions, chances, notes, details)


def write_summary(report: Report, folder: Path) -> Path:
    """Write the measured summary: one row per cell as CSV, versions and machine as JSON.

    Parameters
    ----------
    report : Report
    folder : Path
        Such as ``results/measured``.

    Returns
    -------
    pathlib.Path
        The CSV file; the JSON file has the same name but for the suffix.
    """
    folder.mkdir(parents=True, exist_ok=True)
    csv = folder / f"{report.plan.experiment.name}.csv"
    csv.write_text(summary_text(report.summary, report.plan.experiment.config), encoding="utf-8")
    text = json.dumps(report.details, indent=1, ensure_ascii=False)
    csv.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
    return csv


def remarks(plan: Plan, results: Mapping[str, Result]) -> list[str]:
    """Collect the remarks on a plan's results.

    These are the config's notes, merged classes, subsampled data, omitted data sets, missing or
    failed trials, warnings, changed plug-ins and times measured under contention.
    """
    config = plan.experiment.config
    found = [(t, results[t.key]) for t in plan.trials if t.key in results]
    done = [(t.labels["dataset"], r.info) for t, r in found if r.done]
    of_done = f"of {len(done)} trials"
    notes = [f"{name}: {text}" for name, text in config.notes.items()]
    classes = {name: info["positive"] for name, info in done if "positive" in info}
    notes += [f"{name}: positive classes {', '.join(p)}" for name, p in classes.items()]
    samples = {name: info["sample"] for name, info in done if "sample" in info}
    notes += [f"{name}: {note}" for name, note in samples.items()]
    notes += stream_remarks(done)
    if plan.left_out:
        notes.append(f"left out, not found: {', '.join(plan.left_out)}")
    if plan.stored:
        notes.append(f"data not found here, results from the store: {', '.join(plan.stored)}")
    notes += [f"failed: {t}: {r.error}" for t, r in found if not r.done]
    if missing := len(plan.trials) - len(found):
        notes.append(f"{missing} of {len(plan.trials)} trials not run yet")
    warned = Counter(text for _, info in done for text in info.get("warnings", {}))
    notes += [f"{count} {of_done} issued a warning: {text}" for text, count in warned.items()]
    if early := sum(not info.get("converged", True) for _, info in done):
        notes.append(
            f"{NOT_CONVERGED}: the solver of {early} {of_done} stopped before it converged; their "
            f"means are marked {NOT_CONVERGED}"
        )
    splits = len({t.split for t, r in found if r.done})
    if config.shows_times and splits > 1:
        covered = median_interval(range(splits), MEDIAN_LEVEL)[2]
        notes.append(
            f"times are medians over {splits} splits, with the interval that holds the median "
            f"with a probability of {covered:.1%} in brackets; speed-ups divide mean times"
        )
    if shared := sum(bool(info.get("shared")) for _, info in done):
        notes.append(
            f"{shared} {of_done} took over training from others on the same data and split; "
            "their times in the store leave it out"
        )
    plugins = [plugin for _, info in done for plugin in info.get("plugins", {}).items()]
    changed = Counter(name for name, state in plugins if state != config.scope.state(name))
    notes += [
        f"{name} has changed since {count} {of_done} were measured: if this changes their "
        "numbers, raise `version` in it, or run again with --force all"
        for name, count in changed.items()
    ]
    if contended := sum(bool(info.get("contended")) for _, info in done):
        notes.append(
            f"times of {contended} {of_done} were measured while other processes used the "
            "same cores; accuracies are not affected"
        )
    return notes


def selections(plan: Plan, results: Mapping[str, Result]) -> list[dict[str, Any]]:
    """Return how often validation selected which parameters, for the labels of each cell."""
    labels: dict[str, Mapping[str, Any]] = {}
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for trial in plan.trials:
        result = results.get(trial.key)
        if result is not None and result.done and "selected" in result.info:
            cell = canonical(trial.labels)
            labels[cell] = trial.labels
            counts[cell][canonical(result.info["selected"])] += 1
    return [{**labels[cell], "selected": dict(c.most_common())} for cell, c in counts.items()]


def _mean_seconds(plan: Plan, results: Mapping[str, Result]) -> dict[str, float]:
    """Return the mean seconds of the trials of each cell, by its labels (JSON)."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for trial in plan.trials:
        if (result := results.get(trial.key)) is not None and result.done:
            seconds[canonical(trial.labels)].append(result.seconds)
    return {cell: round(sum(each) / len(each), 4) for cell, each in seconds.items()}


@dataclass(frozen=True)
class Skipped:
    """An experiment with results in a store that is not shown, and the reason."""

    name: str
    reason: str


def stored_plans(
    store: Store,
    *,
    configs: Sequence[Path] = (),
    profile: str | None = None,
    settings: Sequence[str] = (),
    data_dir: Path | None = None,
) -> tuple[list[Plan], list[Skipped]]:
    """Plan every experiment that a store has runs of.

    Parameters
    ----------
    store : Store
    configs : sequence of Path
        User-defined configs; for other experiments the shipped config of the same name is used.
        A store says what it contains, and may come from anyone: it names no other config, and
        its runs' settings name no plug-ins and no files of data.
    profile : str, optional
        Profile of all experiments; by default, for each the profile of its runs with the most
        trials in the store.
    settings : sequence of str
        Settings of all experiments, as for :func:`~kernlearn.experiments.load_config`; by
        default those of the runs, chosen in the same way.
    data_dir : Path, optional
        Where data is searched first. Data sets that are not found are described by the
        trials in the store, or else omitted.

    Returns
    -------
    plans : list of Plan
    skipped : list of Skipped
        Experiments without a config or whose config has changed, and those without results
        under their profile.

    Raises
    ------
    ConfigError
        If a user-defined config cannot be read.
    ReportError
        If two of them have the same name, or the store has no run of one.
    """
    ran: dict[str, dict[_Way, None]] = {}
    for run in reversed(store.runs()):
        ran.setdefault(run.experiment, {})[run.profile, run.settings] = None
    own: dict[str, Path] = {}
    for path in configs:
        name = path.stem
        if name in own:
            raise ReportError(
                f"{path}: an experiment is named after its file, and {own[name]} has the same name"
            )
        if name not in ran:
            there = ", ".join(sorted(ran)) or "none"
            raise ReportError(f"{store.path}: no run of {name}; there are runs of: {there}")
        own[name] = path
    coming = shipped_configs()
    plans, skipped, datasets = [], [], store.datasets()
    for name, found in reversed(ran.items()):
        ways = list(found)
        if profile is not None:
            ways = [way for way in ways if way[0] == profile] or [(profile, ())]
        if settings:
            ways = list(dict.fromkeys((way[0], tuple(settings)) for way in ways))
        if not settings:
            ways = [way for way in ways if not any(map(names_files, way[1]))]
        if not ways:
            reason = (
                "its runs set `plugins` or `file`, files of code or data that a store may not "
                "name; give the same setting by --option"
            )
            skipped.append(Skipped(name, reason))
            continue
        config = own.get(name) or coming.get(name)
        if config is None:
            reason = "kernlearn has no config of that name; --config FILE gives one"
            skipped.append(Skipped(name, reason))
            continue
        try:
            plan, n_trials = _fullest(store, config, ways, data_dir, datasets)
        except ConfigError as error:
            if name in own:
                raise
            skipped.append(Skipped(name, str(error)))
            continue
        if n_trials:
            plans.append(plan)
        else:
            reason = "it was run with an older config, other settings (--option) or --profile"
            if plan.left_out:
                reason = f"data not found here: {', '.join(plan.left_out)}"
            none = f"the store has none of its trials under profile {plan.experiment.profile}"
            skipped.append(Skipped(name, f"{none}; {reason}"))
    return plans, skipped


def _fullest(
    store: Store,
    path: Path,
    ways: Sequence[_Way],
    data_dir: Path | None,
    datasets: Mapping[str, Sequence[StoredDataset]],
) -> tuple[Plan, int]:
    """Return the plan with the most trials in the store, and their number.

    Of equals the one with the fewest settings, such as the experiment itself beside alternatives
    to its choices; then the latest.
    """
    plans, fault = [], None
    for profile, settings in ways:
        try:
            loaded = load_config(path, profile=profile, settings=settings, data_dir=data_dir)
        except ConfigError as error:
            # settings of an earlier run may not fit the present config
            fault = fault or error
        else:
            plan = make_plan(loaded, data_dir=data_dir, available=True, stored=datasets)
            plans.append((plan, len(store.statuses(trial.key for trial in plan.trials))))
    if fault and not plans:
        raise fault
    return max(plans, key=lambda plan: (plan[1], -len(plan[0].experiment.settings)))
