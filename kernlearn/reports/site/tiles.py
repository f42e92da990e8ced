"""The picture on top of the overview: a tile for each number, difference and claim of a table."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from kernlearn.reports.addresses import claim_addresses, slug
from kernlearn.reports.overview import DIFFERENCES, LOOKS, NUMBERS, map_rows
from kernlearn.reports.report import Report
from kernlearn.reports.significance import OUTCOMES
from kernlearn.reports.site.environment import CLAIM_SIGNS

CLAIMS = "claims"
#: What the picture shows, a column each.
COLUMNS = (NUMBERS, DIFFERENCES, CLAIMS)


@dataclass(frozen=True)
class Tile:
    """One result: where it is, what it is about, its sign, and the class of its colour."""

    href: str
    title: str
    sign: str
    kind: str


@dataclass(frozen=True)
class Strip:
    """The tiles of one column of a row, sorted by outcome, and their counts in words."""

    counts: str
    tiles: list[Tile]


@dataclass(frozen=True)
class Line:
    """A row of the picture: an experiment, the address of its page, and its strips by column."""

    name: str
    title: str
    href: str
    strips: dict[str, Strip]


def picture(reports: Iterable[Report], pages: Sequence[tuple[str, Collection[str]]]) -> list[Line]:
    """Return the rows of the picture, of those experiments that have anything to show.

    Parameters
    ----------
    reports : iterable of Report
    pages : sequence of (str, collection of str)
        For each report the address of its page, and the addresses in that page.
    """
    lines = []
    for report, (href, there) in zip(reports, pages, strict=True):
        if report.indicative:
            continue
        strips = {}
        rows = map_rows([report.measured])
        for what in (NUMBERS, DIFFERENCES):
            part = rows[rows["what"] == what]
            found = zip(part["address"], part["name"], part["outcome"], strict=True)
            strips[what] = _strip(
                (f"{href}#{place}" if place in there else href, name, LOOKS[outcome][0], outcome)
                for place, name, outcome in found
            )
        if report.plan.experiment.config.variant_of is None:
            claims = zip(claim_addresses(report.claims), report.claims, strict=True)
            from_good_to_bad = sorted(claims, key=lambda pair: OUTCOMES.index(pair[1].outcome))
            strips[CLAIMS] = _strip(
                (f"{href}#{place}", claim.says, CLAIM_SIGNS[claim.outcome], claim.outcome)
                for place, claim in from_good_to_bad
            )
        strips = {what: strip for what, strip in strips.items() if strip.tiles}
        if strips:
            experiment = report.plan.experiment
            lines.append(Line(experiment.name, experiment.config.title, href, strips))
    return lines


def _strip(found: Iterable[tuple[str, str, str, str]]) -> Strip:
    tiles, outcomes = [], []
    for href, name, sign, outcome in found:
        tiles.append(Tile(href, f"{name}: {outcome}", sign, slug(outcome)))
        outcomes.append(outcome)
    counts = ", ".join(f"{n} {outcome}" for outcome, n in Counter(outcomes).items())
    return Strip(counts, tiles)
