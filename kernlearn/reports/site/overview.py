"""A site: a page for each experiment, and one over all of them."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernlearn import __version__
from kernlearn.experiments.keys import canonical
from kernlearn.experiments.store import utc_now
from kernlearn.reports.site.pages import Around, write_page
from kernlearn.reports.site.rendering import OUTCOMES, address, render, write_assets, writing
from kernlearn.reports.site.stored import Skipped
from kernlearn.reports.totals import SCORES, Totals, total
from kernlearn.reports.verdicts import VERDICTS
from kernlearn.reports.writing import Report


def write_site(
    reports: Sequence[Report], folder: Path, *, skipped: Sequence[Skipped] = ()
) -> Path:
    """Write a static site of several experiments.

    Parameters
    ----------
    reports : sequence of Report
        Each experiment once.
    folder : Path
        Made if it is not there. Gets ``index.html``, a page for each experiment, ``assets/``
        and ``files/<experiment>/``. Other files in it stay.
    skipped : sequence of Skipped
        What the overview names as not shown.

    Returns
    -------
    pathlib.Path
        ``index.html``, which opens from disk without network.

    Raises
    ------
    ReportError
        If something cannot be written.
    """
    reports = sorted(reports, key=_order)
    index, assets = folder / "index.html", folder / "assets"
    pages = [folder / f"{_file_name(report)}.html" for report in reports]
    links = [(_name(r), address(page, index)) for r, page in zip(reports, pages, strict=True)]
    drawn = False
    for i, (report, page) in enumerate(zip(reports, pages, strict=True)):
        around = Around(
            index.name,
            links[i - 1] if i > 0 else None,
            links[i + 1] if i + 1 < len(links) else None,
        )
        files = folder / "files" / page.stem
        drawn |= write_page(report, page, files=files, assets=assets, around=around)
    with writing(folder):
        write_assets(assets, charts=drawn)
        index.write_text(_overview(reports, links, skipped), encoding="utf-8")
    return index


def _name(report: Report) -> str:
    return report.plan.experiment.name


def _file_name(report: Report) -> str:
    # the overview's own name is taken
    name = _name(report)
    return name if name.lower() != "index" else f"{name}_"


def _order(report: Report) -> tuple[Any, ...]:
    """Sort by the paper's year, chapter and number; what has no place in a paper comes last."""
    source = report.plan.experiment.config.source
    number = re.search(r"(?:tables?|figures?|section) (\d+)(?:\.(\d+))?", source)
    place = [int(n or 0) for n in number.groups()] if number else [0, 0]
    year = re.search(r"\((\d{4})\)", source)
    return (number is None, year[1] if year else "", *place, _name(report))


def _overview(
    reports: Sequence[Report], links: Sequence[tuple[str, str]], skipped: Sequence[Skipped]
) -> str:
    totals = total(r.measured for r in reports)
    times = sorted(time for r in reports for time in r.details["measured"])
    claims = [
        (name, href, claim)
        for report, (name, href) in zip(reports, links, strict=True)
        for claim in report.claims
    ]
    return render(
        "overview.html",
        rows=[_row(r, href, totals) for r, (_, href) in zip(reports, links, strict=True)],
        overall=totals.overall().to_dict("records"),
        claims=claims,
        in_words=totals.in_words(),
        done=sum(r.details["done"] for r in reports),
        trials=sum(r.details["trials"] for r in reports),
        seconds=sum(r.details["trial_seconds"] for r in reports),
        first=times[0] if times else "",
        last=times[-1] if times else "",
        machines=_machines(reports),
        skipped=skipped,
        assets="assets",
        version=__version__,
        written=utc_now(),
    )


def _row(report: Report, href: str, totals: Totals) -> dict[str, Any]:
    name, details = _name(report), report.details
    numbers, claims = totals.numbers, totals.claims
    scores = numbers[(numbers["experiment"] == name) & (numbers["kind"] == SCORES)]
    outcomes = claims[claims["experiment"] == name]
    return {
        "name": name,
        "href": href,
        "title": details["title"],
        "source": details["source"],
        "profile": report.run_as,
        "done": details["done"],
        "trials": details["trials"],
        "seconds": details["trial_seconds"],
        "scores": {verdict: int(scores[verdict].sum()) for verdict in VERDICTS},
        "claims": {outcome: int(outcomes[outcome].sum()) for outcome in OUTCOMES},
    }


def _machines(reports: Sequence[Report]) -> list[tuple[dict[str, Any], list[str]]]:
    """Return each environment once, with the experiments that were measured in it."""
    found: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for report in reports:
        for machine in report.details["measured_on"]:
            found.setdefault(canonical(machine), (machine, []))[1].append(_name(report))
    return list(found.values())
