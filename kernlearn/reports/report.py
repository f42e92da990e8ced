"""Report of an experiment, assembled from plan and store."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from kernlearn.config.spec import canonical
from kernlearn.engine.machine import describe_machine
from kernlearn.engine.plan import Plan, chosen_by_mean
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
from kernlearn.store import Row, Store, utc_now


@dataclass(frozen=True)
class Report:
    """Results of one experiment.

    Attributes
    ----------
    plan : Plan
    runs : pandas.DataFrame
        Every number of every split, from ``kernlearn.reports.summary.tidy_runs``.
    summary : pandas.DataFrame
        Every cell, from :func:`~kernlearn.reports.summarise`.
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
    >>> len(report.summary), len(report.tables), [claim.outcome for claim in report.claims]
    (36, 1, ['leans for'])
    >>> print(report.remarks[0][:62])
    KR: a mean over all training points, and so nearly every point
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
    >>> report.summary[report.summary.metric == "aae"][["kernel", "method", "n_splits"]]
           kernel  method  n_splits
    0   manhattan  ORLand         1
    9   manhattan      KR         1
    18   gaussian  ORLand         1
    27   gaussian      KR         1
    """
    experiment = plan.experiment
    config = experiment.config
    results = chosen_by_mean(store.get(t.key for t in plan.trials))
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
        "measured_on": [*{canonical(r.machine): r.machine for r in results.values()}.values()],
        "written_by": describe_machine()["packages"],
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
    csv = folder / f"{report.plan.experiment.name}.csv"
    csv.write_text(summary_text(report.summary, report.plan.experiment.config), encoding="utf-8")
    text = json.dumps(report.details, indent=1, ensure_ascii=False)
    csv.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
    return csv


def remarks(plan: Plan, results: Mapping[str, Row]) -> list[str]:
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


def selections(plan: Plan, results: Mapping[str, Row]) -> list[dict[str, Any]]:
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


def _mean_seconds(plan: Plan, results: Mapping[str, Row]) -> dict[str, float]:
    """Return the mean seconds of the trials of each cell, by its labels (JSON)."""
    seconds: dict[str, list[float]] = defaultdict(list)
    for trial in plan.trials:
        if (result := results.get(trial.key)) is not None and result.done:
            seconds[canonical(trial.labels)].append(result.seconds)
    return {cell: round(sum(each) / len(each), 4) for cell, each in seconds.items()}
