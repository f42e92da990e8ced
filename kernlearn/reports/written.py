"""Whether the files of a report are as they would be written again, and what is kept of it."""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from kernlearn.config.spec import canonical
from kernlearn.datasets.cache import Stamp, recall, remember, stamp
from kernlearn.datasets.resources import shipped
from kernlearn.engine.machine import describe_machine
from kernlearn.engine.plan import Plan
from kernlearn.reports.claims import Decision
from kernlearn.reports.conclusions import Chance, Conclusion
from kernlearn.reports.judged import code
from kernlearn.reports.report import Report
from kernlearn.store import Store

_SHIPPED: tuple[Literal["datasets", "reported", "glossary"], ...] = (
    "datasets",
    "reported",
    "glossary",
)


@dataclass(frozen=True)
class Kept:
    """What an overview shows of a report whose page is written; all of it is plain values."""

    details: dict[str, Any]
    columns: list[str]
    rows: list[list[Any]]
    has_charts: bool
    addresses: list[str]

    @classmethod
    def of(cls, report: Report, has_charts: bool, addresses: Collection[str]) -> "Kept":
        """Return what is kept of a report."""
        summary = report.summary.astype(object)
        values = summary.where(report.summary.notna(), None).to_numpy().tolist()
        return cls(report.details, [*summary.columns], values, has_charts, sorted(addresses))

    def report(self, plan: Plan) -> Report:
        """Return the report, without runs and tables."""
        details = self.details
        claims = [Decision(**one) for one in details["claims"]]
        conclusions = [Conclusion(**one) for one in details["conclusions"]]
        chances = [Chance(**one) for one in details["chances"]]
        summary = pd.DataFrame(self.rows, columns=self.columns)
        remarks = details["remarks"]
        return Report(
            plan, pd.DataFrame(), summary, [], claims, conclusions, chances, remarks, details
        )


def is_written(plan: Plan, store: Store, page: Path) -> bool:
    """Whether the report of a plan was written to a page before and nothing has changed since."""
    return _recalled(plan, store, page) is not None


def note_written(plan: Plan, store: Store, page: Path) -> None:
    """Remember that the report of a plan has been written, with its files."""
    files = (file for file in page.parent.rglob("*") if file.is_file())
    remember(_state(plan, store, page), {"files": _names(files, page)})


def kept(plan: Plan, store: Store, page: Path, around: Any) -> Kept | None:
    """Return what was kept of a plan's report, if its page would be the same as before."""
    found = _recalled(plan, store, page, around)
    return None if found is None else Kept(**found["kept"])


def keep(
    report: Kept, plan: Plan, store: Store, page: Path, files: Iterable[Path], around: Any
) -> None:
    """Keep what an overview shows of a report, as long as its files stay as they are."""
    state = _state(plan, store, page, around)
    remember(state, {"files": _names(files, page), "kept": vars(report)})


def _recalled(plan: Plan, store: Store, page: Path, around: Any = None) -> Any:
    if not page.is_file():
        return None
    found = recall(_state(plan, store, page, around))
    if found is None or not all((page.parent / name).exists() for name in found["files"]):
        return None
    return found


def _names(files: Iterable[Path], page: Path) -> list[str]:
    return sorted(file.relative_to(page.parent).as_posix() for file in files)


def _state(plan: Plan, store: Store, page: Path, around: Any = None) -> Stamp:
    """Identify the page as it is, all that a report is made from, and the code that writes it."""
    experiment = plan.experiment
    plugins = [(plugin.name, plugin.state) for plugin in experiment.config.scope.plugins]
    rows = store.get(trial.key for trial in plan.trials).values()
    states = sorted([row.key, row.done, row.started, row.seconds] for row in rows)
    reported = experiment.config.reported_path
    parts = [
        experiment.name,
        experiment.profile,
        experiment.settings,
        experiment.path.read_text(encoding="utf-8"),
        plugins,
        reported and reported.read_text(encoding="utf-8"),
        [[trial.key, trial.split, canonical(trial.labels)] for trial in plan.trials],
        plan.left_out,
        plan.not_installed,
        [trial.source.prepared for trial in plan.trials if trial.source is not None],
        states,
        describe_machine()["packages"],
        _code(),
        around,
    ]
    digest = sha256(json.dumps(parts, default=str).encode()).hexdigest()
    # one note for each page, which the next state replaces
    place = stamp("report", [page], {})
    return Stamp(place.stem, f"{place.key} {digest}")


@cache
def _code() -> list[tuple[str, int, int]]:
    files = (p for kind in _SHIPPED for p in sorted(shipped(kind).rglob("*")) if p.is_file())
    states = ((p.name, p.stat()) for p in files)
    return [*code(), *((name, state.st_size, state.st_mtime_ns) for name, state in states)]
