"""The overview of several experiments."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kernlearn.config.spec import canonical
from kernlearn.reports.addresses import claim_addresses
from kernlearn.reports.report import Report
from kernlearn.reports.site.environment import (
    CLAIM_SIGNS,
    CONCLUSION_SIGNS,
    Link,
    occurring,
    render,
)
from kernlearn.reports.site.pages import Written
from kernlearn.reports.site.tiles import COLUMNS, picture
from kernlearn.reports.stored import Skipped
from kernlearn.reports.tables import SYMBOLS
from kernlearn.reports.totals import NOT_JUDGED, SCORES, Totals, total
from kernlearn.reports.verdicts import NOT_RUN, VERDICTS
from kernlearn.store import utc_now


def overview(
    reports: Sequence[Report],
    links: Sequence[Link],
    written: Sequence[Written],
    skipped: Sequence[Skipped],
) -> str:
    """Return the page with the overview of some reports, whose pages have been written."""
    judged = [report for report in reports if not report.indicative]
    totals = total(report.measured for report in judged)
    linked = list(zip(reports, links, strict=True))
    # each environment once, with the experiments that were measured in it
    machines: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for report in reports:
        for machine in report.details["measured_on"]:
            machines.setdefault(canonical(machine), (machine, []))[1].append(
                report.plan.experiment.name
            )
    claims = [
        (name, href, place, claim)
        for report, (name, href) in linked
        if not report.indicative
        for place, claim in zip(claim_addresses(report.claims), report.claims, strict=True)
    ]
    pages = [(href, page.addresses) for (_, href), page in zip(links, written, strict=True)]
    return render(
        "overview.html",
        rows=[_row(report, href, totals) for report, (_, href) in linked],
        kinds=[verdict for verdict in VERDICTS if totals.numbers[verdict].sum()],
        meters=_meters(totals),
        overall=totals.overall().to_dict("records"),
        claims=claims,
        claim_kinds=occurring(CLAIM_SIGNS, [claim for *_, claim in claims]),
        beyond_chance=totals.beyond_chance(),
        picture=picture(reports, pages),
        columns=COLUMNS,
        machines=list(machines.values()),
        skipped=skipped,
        assets="assets",
        written=utc_now(),
    )


@dataclass(frozen=True)
class Meter:
    """A bar of counts by outcome: what is counted, in words, and the counts."""

    title: str
    of: str
    address: str
    counts: dict[str, int]
    signs: dict[str, str]


def _meters(totals: Totals) -> list[Meter]:
    """Return the bars of all reported scores, of the differences between methods and of claims."""
    found = []
    for row in totals.overall().to_dict("records"):
        if row["kind"] == SCORES:
            counts = {name: row[name] for name in (*VERDICTS, NOT_JUDGED) if row[name]}
            n = row["reported"] - counts.get(NOT_RUN, 0)
            of = f"{n} of {row['reported']} measured"
            signs = {**SYMBOLS, NOT_JUDGED: "·"}
            found.append(Meter("Reported scores", of, "#experiments", counts, signs))
    differences = totals.overall_conclusions()
    for title, counted, place, signs in (
        ("Differences between methods", differences, "#picture", CONCLUSION_SIGNS),
        ("Claims", totals.overall_claims(), "#claims", CLAIM_SIGNS),
    ):
        counts = {name: count for name, count in counted.items() if count}
        if counts:
            found.append(Meter(title, str(sum(counts.values())), place, counts, signs))
    return found


def _row(report: Report, href: str, totals: Totals) -> dict[str, Any]:
    numbers = totals.numbers[totals.numbers["experiment"] == report.plan.experiment.name]
    scores = numbers[numbers["kind"] == SCORES]
    outcomes = [] if report.indicative else [claim.outcome for claim in report.claims]
    return {
        **report.details,
        "href": href,
        "run_as": report.run_as,
        "indicative": report.indicative,
        "from_summary": report.from_summary,
        "scores": {verdict: int(scores[verdict].sum()) for verdict in VERDICTS},
        "outcomes": Counter(outcomes),
    }
