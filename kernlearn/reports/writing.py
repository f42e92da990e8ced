"""All that is to be said of an experiment, and the summary of it that is kept in git."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from kernlearn.experiments.engine.environment import describe_environment
from kernlearn.experiments.engine.plan import Plan
from kernlearn.experiments.engine.supervised import chosen_by_mean
from kernlearn.experiments.store.results import Store, utc_now
from kernlearn.reports.claims import Decision, decide_claims
from kernlearn.reports.committed import summary_text
from kernlearn.reports.remarks import remarks, selections, tidy_runs
from kernlearn.reports.summary import summarise
from kernlearn.reports.tables import Table, build_tables
from kernlearn.reports.totals import Measured
from kernlearn.reports.verdicts import rules


@dataclass(frozen=True)
class Report:
    """All that is to be said of one experiment.

    Attributes
    ----------
    plan : Plan
    runs : pandas.DataFrame
        Every number of every split, from :func:`~kernlearn.reports.remarks.tidy_runs`.
    summary : pandas.DataFrame
        Every cell, from :func:`~kernlearn.reports.summary.summarise`.
    tables : list of Table
    claims : list of Decision
    remarks : list of str
    details : dict
        Versions, machine, date, counts, rules of verdicts and chosen parameters, JSON-ready.
    """

    plan: Plan
    runs: pd.DataFrame
    summary: pd.DataFrame
    tables: list[Table]
    claims: list[Decision]
    remarks: list[str]
    details: dict[str, Any]

    @property
    def measured(self) -> Measured:
        """What totals count of it."""
        return Measured(self.plan.experiment, self.summary, self.claims)

    @property
    def run_as(self) -> str:
        """The profile, and what was set on top of it."""
        return ", ".join([self.details["profile"], *self.details["settings"]])


def assemble(plan: Plan, store: Store) -> Report:
    """Put together what a store knows of a plan.

    Parameters
    ----------
    plan : Plan
    store : Store

    Returns
    -------
    Report
    """
    experiment = plan.experiment
    results = chosen_by_mean(plan, store.get(t.key for t in plan.trials))
    runs = tidy_runs(plan, results)
    summary = summarise(plan, runs)
    said = remarks(plan, results)
    claims = decide_claims(runs, experiment.config)
    details = {
        "experiment": experiment.name,
        "title": experiment.config.title,
        "source": experiment.config.source,
        "profile": experiment.profile,
        "settings": list(experiment.settings),
        "written": utc_now(),
        "trials": len(plan.trials),
        "done": sum(r.done for r in results.values()),
        "trial_seconds": round(sum(r.seconds for r in results.values()), 1),
        "measured": [pick(r.started for r in results.values()) for pick in (min, max) if results],
        "rules": rules(experiment.config),
        "claims": [asdict(c) for c in claims],
        "remarks": said,
        "selected": selections(plan, results),
        "measured_on": store.environments(r.run for r in results.values() if r.run is not None),
        "written_by": describe_environment()["packages"],
    }
    tables = build_tables(summary, experiment.config)
    return Report(plan, runs, summary, tables, claims, said, details)


def write_summary(report: Report, folder: Path) -> Path:
    """Write the measured summary: one row a cell as CSV, versions and machine as JSON.

    Parameters
    ----------
    report : Report
    folder : Path
        Such as ``results/measured``.

    Returns
    -------
    pathlib.Path
        The CSV file; the JSON file lies beside it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    csv = folder / f"{report.plan.experiment.name}.csv"
    csv.write_text(summary_text(report.summary, report.plan.experiment.config), encoding="utf-8")
    text = json.dumps(report.details, indent=1, ensure_ascii=False)
    csv.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
    return csv


def numbered(stem: str, count: int) -> list[str]:
    """Return names of files, with numbers if there are several."""
    return [stem] if count == 1 else [f"{stem}{i + 1}" for i in range(count)]
