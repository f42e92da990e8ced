"""Whether the files of a report are as they would be written again."""

import json
from hashlib import sha256
from pathlib import Path

import kernlearn
from kernlearn.datasets.cache import Stamp, recall, remember, stamp
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
        report.summary.to_csv(),
        report.runs.to_csv(),
        report.plan.experiment.path.read_text(encoding="utf-8"),
        json.dumps(_code()),
    ]
    digest = sha256("\n".join(parts).encode()).hexdigest()
    # one note for each page, which the next state replaces
    place = stamp("report", [page], {})
    return Stamp(place.stem, f"{place.key} {digest}")


def _code() -> list[tuple[str, int, int]]:
    files = (p for p in Path(kernlearn.__file__).parent.rglob("*") if p.suffix != ".pyc")
    states = ((p.name, p.stat()) for p in sorted(files) if p.is_file())
    return [(name, state.st_size, state.st_mtime_ns) for name, state in states]
