"""What an open record of an experiment holds: its files as texts, and facts about them."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from kernlearn.config.spec import canonical
from kernlearn.datasets import catalogue
from kernlearn.datasets.escaping import csv_text
from kernlearn.engine.plan import Plan
from kernlearn.reports.badge import badge, badge_words
from kernlearn.reports.export import export_text, tidy_rows
from kernlearn.reports.report import Report, assemble
from kernlearn.reports.summary import summary_text
from kernlearn.store import Row, Store

# Of a row of a summary that has a reported number.
_VERDICT_COLUMNS = [
    "dataset",
    "kernel",
    "method",
    "params",
    "metric",
    "mean",
    "std",
    "n_splits",
    "reported_mean",
    "reported_std",
    "verdict",
]


@dataclass(frozen=True)
class Execution:
    """A run of an experiment: what the record says of it."""

    number: int
    command: str
    started: str
    ended: str
    done: int
    failed: int
    environment: dict[str, Any]


@dataclass(frozen=True)
class Content:
    """The content of a record.

    Attributes
    ----------
    report : Report
    texts : dict of str to str
        The files by name.
    titles : dict of str to str
        What each file is, in words.
    data : list of dict
        A data set each: label, name, fingerprint, source and licence, as far as they are known.
    executions : list of Execution
    date : str
        When the last trial ended, which is the date of the record.
    """

    report: Report
    texts: dict[str, str]
    titles: dict[str, str]
    data: list[dict[str, Any]]
    executions: list[Execution]
    date: str

    @property
    def config_name(self) -> str:
        """The file of the config."""
        return f"{self.report.plan.experiment.name}.yaml"


def gather(plan: Plan, store: Store) -> Content:
    """Gather what a store has of an experiment.

    Rows of trials are those of its plan and all others that were measured under its name.
    """
    experiment, config = plan.experiment, plan.experiment.config
    name, keys = experiment.name, {trial.key for trial in plan.trials}
    rows = [row for row in store.rows() if row.experiment == name or row.key in keys]
    executions = _executions(rows)
    date = max((one.ended for one in executions), default="1970-01-01T00:00:00+00:00")
    report = assemble(plan, store)
    report.details["written"] = date
    data = _data(plan)
    runs = [row for row in tidy_rows(store) if row["experiment"] == name or row["key"] in keys]
    judged = report.summary[report.summary["reported_mean"].notna()]
    environment = [
        {"run": one.number, "started": one.started, "environment": one.environment}
        for one in executions
    ]
    files = {
        f"{name}.yaml": (
            experiment.path.read_text(encoding="utf-8"),
            "The configuration: data sets, methods, protocol, reported numbers and claims",
        ),
        "numbers.csv": (export_text(runs, "csv"), "All numbers, a row for each split and metric"),
        f"summary/{name}.csv": (
            summary_text(report.summary, config),
            "Means, standard deviations, reported numbers and verdicts, a row for each cell",
        ),
        f"summary/{name}.json": (
            _json(report.details),
            "Counts, rules, claims, differences, remarks, data and machine",
        ),
        "verdicts.csv": (
            csv_text(judged[_VERDICT_COLUMNS], float_format="%.6g"),
            "The reported numbers, with the measured ones and the verdicts",
        ),
        "claims.json": (_json([asdict(claim) for claim in report.claims]), "The claims, decided"),
        "data.json": (
            _json(data),
            "The data sets, which are not part of the record: fingerprints and sources",
        ),
        "environment.json": (_json(environment), "Python, packages and processor of each run"),
        "badge.svg": (badge(report), "A badge"),
    }
    if config.reported_path is not None:
        files[config.reported_path.name] = (
            config.reported_path.read_text(encoding="utf-8"),
            "The numbers that the paper reports",
        )
    files["README.md"] = (_readme(report, files), "What is in the record")
    texts = {file: text for file, (text, _) in files.items()}
    titles = {file: title for file, (_, title) in files.items()}
    return Content(report, texts, titles, data, executions, date)


def _json(value: Any) -> str:
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _executions(rows: Iterable[Row]) -> list[Execution]:
    """Return the runs that measured any of the trials: those in the same way and place."""
    runs: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        runs[canonical([row.experiment, row.profile, row.settings, row.machine])].append(row)
    found = []
    for number, of_run in enumerate(runs.values(), 1):
        first = of_run[0]
        settings = "".join(f" -o {setting}" for setting in first.settings)
        done = sum(row.done for row in of_run)
        found.append(
            Execution(
                number,
                f"kernlearn run {first.experiment} --profile {first.profile}{settings}",
                min(row.started for row in of_run),
                max(map(_end, of_run)),
                done,
                len(of_run) - done,
                first.machine,
            )
        )
    return found


def _end(row: Row) -> str:
    """Return when a trial ended, to the second."""
    ended = datetime.fromisoformat(row.started) + timedelta(seconds=row.seconds)
    return ended.isoformat(timespec="seconds")


def _data(plan: Plan) -> list[dict[str, Any]]:
    """Describe the data sets of a plan, without their rows."""
    cards, found = catalogue(), []
    for label, entry in plan.experiment.config.datasets.items():
        specs = [t.spec.dataset for t in plan.trials if t.labels["dataset"] == label]
        one: dict[str, Any] = {"label": label}
        if not specs:
            one["left_out"] = "not found where it was measured"
        else:
            what = {k: v for k, v in asdict(specs[0]).items() if v is not None}
            fingerprints = {s.fingerprint for s in specs if s.fingerprint is not None}
            one |= {"read_as": what, "sha256": sorted(fingerprints)}
        card = cards.get(entry.name or "") if entry.file is None else None
        if card is not None:
            one |= {
                "title": card.title,
                "publisher": card.source.publisher,
                "licence": card.licence,
                "citation": card.citation,
                "downloads": dict(card.source.downloads),
                **({"page": card.source.page} if card.source.page else {}),
            }
        found.append(one)
    return found


def _readme(report: Report, files: Mapping[str, tuple[str, str]]) -> str:
    """Say for people what is in the record."""
    config, name = report.plan.experiment.config, report.plan.experiment.name
    left, right, _ = badge_words(report)
    rows = [f"| `{file}` | {title} |" for file, (_, title) in files.items()]
    lines = [
        f"# {config.title}",
        "",
        f"![{left}: {right}](badge.svg)",
        "",
        f"A record of the experiment `{name}` in the form of a Workflow Run RO-Crate."
        + (f" Source: {config.source}." if config.source else ""),
        "",
        "| file | content |",
        "| --- | --- |",
        *rows,
        "",
        f"The data sets are not part of it. `kernlearn run {name}.yaml` measures them again.",
        "",
    ]
    if files_of_data := [e.file for e in config.datasets.values() if e.file is not None]:
        lines += [
            f"The data are in files, which it needs beside the configuration: "
            f"{', '.join(files_of_data)}.",
            "",
        ]
    if config.plugins:
        lines += [
            f"The configuration names Python files, which are not part of it: "
            f"{', '.join(config.plugins)}.",
            "",
        ]
    return "\n".join(lines)
