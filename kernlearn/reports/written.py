"""Whether the files of a report are as they would be written again."""

import json
from hashlib import sha256
from pathlib import Path

from kernlearn.datasets.cache import Stamp, recall, remember, stamp
from kernlearn.reports.judged import code, digest
from kernlearn.reports.report import Report


def is_written(report: Report, page: Path) -> bool:
    """Whether a report was written to a page before and nothing of it has changed since."""
    if not page.is_file():
        return False
    files = recall(_state(report, page))
    return files is not None and all((page.parent / name).exists() for name in files)


def note_written(report: Report, page: Path) -> None:
    """Remember that a report has been written, with its files."""
    files = [p.relative_to(page.parent).as_posix() for p in page.parent.rglob("*") if p.is_file()]
    remember(_state(report, page), sorted(files))


def _state(report: Report, page: Path) -> Stamp:
    """Identify the page as it is, all that a report consists of, and the code that writes it."""
    details = {name: value for name, value in report.details.items() if name != "written"}
    parts = [
        json.dumps(details, sort_keys=True, default=str),
        digest([report.summary, report.runs]),
        report.plan.experiment.path.read_text(encoding="utf-8"),
        json.dumps(code()),
    ]
    state = sha256("\n".join(parts).encode()).hexdigest()
    # one note for each page, which the next state replaces
    place = stamp("report", [page], {})
    return Stamp(place.stem, f"{place.key} {state}")
