"""The files of a report: tables, figures, a page, and the summary that is kept in git."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from kernlearn.experiments.environment import describe_environment
from kernlearn.experiments.grid import chosen_by_mean
from kernlearn.experiments.plan import Plan
from kernlearn.experiments.store import Result, Store, utc_now
from kernlearn.reports.claims import Decision, decide_claims
from kernlearn.reports.remarks import remarks, selections
from kernlearn.reports.runs import tidy_runs
from kernlearn.reports.summary import direction, summarise, summary_columns
from kernlearn.reports.tables import Table, build_tables, to_csv, to_latex, to_markdown


@dataclass(frozen=True)
class Report:
    """All that is to be said of one experiment.

    Attributes
    ----------
    plan : Plan
    summary : pandas.DataFrame
        Every cell, from :func:`~kernlearn.reports.summary.summarise`.
    tables : list of Table
    claims : list of Decision
    remarks : list of str
    details : dict
        Versions, machine, date, counts and chosen parameters, JSON-ready.
    """

    plan: Plan
    summary: pd.DataFrame
    tables: list[Table]
    claims: list[Decision]
    remarks: list[str]
    details: dict[str, Any]


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
    summary = summarise(plan, results)
    said = remarks(plan, results)
    claims = _claims(plan, results)
    details = {
        "experiment": experiment.name,
        "title": experiment.config.title,
        "source": experiment.config.source,
        "profile": experiment.profile,
        "written": utc_now(),
        "trials": len(plan.trials),
        "done": sum(r.done for r in results.values()),
        "trial_seconds": round(sum(r.seconds for r in results.values()), 1),
        "claims": [asdict(c) for c in claims],
        "remarks": said,
        "selected": selections(plan, results),
        "measured_on": store.environments(r.run for r in results.values() if r.run is not None),
        "written_by": describe_environment()["packages"],
    }
    tables = build_tables(summary, experiment.config)
    return Report(plan, summary, tables, claims, said, details)


def _claims(plan: Plan, results: Mapping[str, Result]) -> list[Decision]:
    config = plan.experiment.config
    if not config.claims:
        return []
    better = {claim.check.metric: direction(claim.check.metric, config) for claim in config.claims}
    return decide_claims(tidy_runs(plan, results), config, better)


def write_report(report: Report, folder: Path) -> Path:
    """Write everything there is to see of one experiment.

    Parameters
    ----------
    report : Report
    folder : Path
        Made if it is not there. Gets ``table.csv``, ``table.md``, ``table.tex`` (numbered if
        there are several), ``figure.html``, ``.svg`` and ``.png``, the summary's two files,
        and ``report.html``.

    Returns
    -------
    pathlib.Path
        ``report.html``, which opens without network.
    """
    from kernlearn.reports.page import write_page

    folder.mkdir(parents=True, exist_ok=True)
    stems = _numbered("table", len(report.tables))
    for stem, table in zip(stems, report.tables, strict=True):
        (folder / f"{stem}.csv").write_text(to_csv(table), encoding="utf-8")
        (folder / f"{stem}.md").write_text(to_markdown(table), encoding="utf-8")
        (folder / f"{stem}.tex").write_text(to_latex(table), encoding="utf-8")
    write_summary(report, folder)
    return write_page(report, _charts(report, folder), folder)


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
    report.summary[summary_columns(report.plan.experiment.config)].to_csv(
        csv, index=False, float_format="%.6g"
    )
    text = json.dumps(report.details, indent=1, ensure_ascii=False)
    csv.with_suffix(".json").write_text(text + "\n", encoding="utf-8")
    return csv


def _charts(report: Report, folder: Path) -> list[Any]:
    config = report.plan.experiment.config
    if not config.figures:
        return []
    from kernlearn.reports.figures import build_chart, save_chart

    charts = []
    stems = _numbered("figure", len(config.figures))
    for stem, spec in zip(stems, config.figures, strict=True):
        shown = report.summary["metric"].isin(spec.metrics)
        if report.summary.loc[shown, "mean"].notna().any():
            charts.append(build_chart(report.summary, spec, config))
            save_chart(charts[-1], folder / stem)
    return charts


def _numbered(stem: str, count: int) -> list[str]:
    return [stem] if count == 1 else [f"{stem}{i + 1}" for i in range(count)]
