"""Pages that open from disk: one per experiment with its files, and an overview of all."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernlearn.datasets import catalogue
from kernlearn.exceptions import ReportError
from kernlearn.experiments.engine.spec import canonical
from kernlearn.experiments.store.results import utc_now
from kernlearn.reports import charts, conclusions
from kernlearn.reports.addresses import Taken, claim_addresses, slug
from kernlearn.reports.bibliography import cited
from kernlearn.reports.glossary import methods, names_in, terms
from kernlearn.reports.report import Report, Skipped
from kernlearn.reports.site.departing import deviations
from kernlearn.reports.site.environment import CLAIM_SIGNS, CONCLUSION_SIGNS, render
from kernlearn.reports.site.files import address, write_assets, write_downloads
from kernlearn.reports.site.layout import Shown, lay_out
from kernlearn.reports.site.tiles import COLUMNS, picture
from kernlearn.reports.tables import SYMBOLS
from kernlearn.reports.totals import NOT_JUDGED, SCORES, Totals, total
from kernlearn.reports.verdicts import NOT_RUN, VERDICTS
from kernlearn.resources import shipped

# Name of an experiment and address of its page.
_Link = tuple[str, str]


@dataclass(frozen=True)
class Written:
    """A page that was written: whether it has charts, and the addresses in it."""

    has_charts: bool
    addresses: frozenset[str]


def write_report(report: Report, folder: Path) -> Path:
    """Write the page of one experiment, with all its files, into a folder.

    Parameters
    ----------
    report : Report
    folder : Path
        Created if it does not exist. Gets ``report.html`` with ``assets/``; the summary's two
        files; ``splits.csv``; ``table.csv``, ``.md`` and ``.tex`` (numbered if there are
        several); and ``.svg`` and ``.pdf`` of every chart.

    Returns
    -------
    pathlib.Path
        ``report.html``, which opens from disk without network.

    Raises
    ------
    ReportError
        If something cannot be written.
    """
    page = folder / "report.html"
    with _writing(folder):
        written = _write_page(report, page, folder, folder / "assets")
        write_assets(folder / "assets", charts=written.has_charts)
    return page


def write_site(
    reports: Sequence[Report], folder: Path, *, skipped: Sequence[Skipped] = ()
) -> Path:
    """Write a static site of several experiments.

    Parameters
    ----------
    reports : sequence of Report
        Each experiment once.
    folder : Path
        Created if it does not exist. Gets ``index.html``, a page for each experiment,
        ``assets/`` and ``files/<experiment>/``. Other files in it are kept.
    skipped : sequence of Skipped
        Experiments that the overview lists as not shown.

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
    # the name of the overview is taken
    stems = [f"{name}_" if name.lower() == "index" else name for name in map(_name, reports)]
    pages = [folder / f"{stem}.html" for stem in stems]
    links = [(_name(r), address(page, index)) for r, page in zip(reports, pages, strict=True)]
    neighbours = zip([None, *links], [*links[1:], None], strict=False)
    with _writing(folder):
        written = [
            _write_page(report, page, folder / "files" / page.stem, assets, around)
            for report, page, around in zip(reports, pages, neighbours, strict=True)
        ]
        write_assets(assets, charts=any(page.has_charts for page in written))
        index.write_text(_overview(reports, links, written, skipped), encoding="utf-8")
    return index


def _write_page(
    report: Report,
    page: Path,
    files: Path,
    assets: Path,
    around: tuple[_Link | None, _Link | None] | None = None,
) -> Written:
    """Write the page of an experiment and its files.

    In a site ``around`` has the links to the previous and the following page.
    """
    config, taken = report.plan.experiment.config, Taken()
    note_ids = {name: f"note-{i + 1}-{slug(name)}" for i, name in enumerate(config.notes)}
    shown = [lay_out(t, config.title, note_ids, taken) for t in report.shown_tables if t.rows]
    figures = charts.figures(report)
    # what is only indicative is not held against the paper
    judged = not report.indicative
    departures = charts.departures(report) if judged else []
    deviating = deviations(report) if judged else []
    numbers = {
        chart.stem: [lay_out(table, chart.title, {}, taken) for table in chart.tables]
        for chart in figures
    }
    downloads = write_downloads(report, [*figures, *departures], files)
    claims = list(zip(claim_addresses(report.claims), report.claims, strict=True))
    text = render(
        "experiment.html",
        report=report,
        config=config,
        judged=judged,
        papers=cited(config.source),
        commands=_commands(report),
        totals=total([report.measured]).numbers.to_dict("records") if judged else [],
        claim_counts=Counter(claim.outcome for claim in report.claims),
        tables=shown,
        kinds=_kinds(shown),
        figures=figures,
        numbers=numbers,
        departures=departures,
        deviations=deviating,
        deviation_kinds=list(dict.fromkeys(d.cell.verdict for d in deviating)),
        claims=[("", "", place, claim) for place, claim in claims],
        conclusions=report.conclusions if judged else [],
        conclusion_kinds=_occurring(CONCLUSION_SIGNS, report.conclusions),
        chances=conclusions.in_words(report.conclusions, report.chances) if judged else [],
        claim_kinds=_occurring(CLAIM_SIGNS, report.claims),
        data=report.details["data"],
        methods=methods(config),
        terms=terms(_used_terms(report, _kinds(shown))),
        note_ids=note_ids,
        # the first remarks are the notes
        remarks=report.remarks[len(config.notes) :],
        downloads=[
            (title, [(f.name, address(f, page), f.stat().st_size) for f in files])
            for title, files in downloads
        ],
        source=report.plan.experiment.path.read_text(encoding="utf-8"),
        files=address(files, page),
        assets=address(assets, page),
        around=around,
        written=report.details["written"],
    )
    page.write_text(text, encoding="utf-8")
    places = {place for place, _ in claims} | {c.address for c in report.conclusions}
    return Written(bool(figures or departures), frozenset(taken.addresses | places))


def _kinds(shown: Sequence[Shown]) -> list[str]:
    """Return the verdicts that occur in tables, in their order."""
    return [verdict for verdict in VERDICTS if any(verdict in table.kinds for table in shown)]


def _occurring(signs: dict[str, str], judged: Sequence[Any]) -> list[str]:
    """Return the outcomes that occur, in their order."""
    found = {one.outcome for one in judged}
    return [outcome for outcome in signs if outcome in found]


def _used_terms(report: Report, kinds: Sequence[str]) -> set[str]:
    """Return the names of all terms that a page uses."""
    config = report.plan.experiment.config
    steps = [name for entry in config.methods.values() for _, name in entry.labelled_steps]
    labels = [*config.methods, *steps]
    names = {"cell", "split", *config.metrics, *(w for label in labels for w in names_in(label))}
    names |= {"landmark"} if "n_landmarks" in report.plan.axes else set()
    names |= {"buffer"} if "buffer_size" in report.plan.axes else set()
    names |= {"verdict"} if kinds else set()
    names |= {"claim"} if report.claims else set()
    names |= {"conclusion", "exchange"} if report.chances else set()
    names |= {"derived metric"} if config.derived else set()
    names |= {"profile"} if report.indicative else set()
    unfinished = any(cell.not_converged for t in report.tables for _, c in t.rows for cell in c)
    return names | ({"not converged"} if unfinished else set())


def _commands(report: Report) -> list[str]:
    """Return the commands that reproduce an experiment."""
    experiment = report.plan.experiment
    path, cards = experiment.path, catalogue()
    name = path.stem if path.parent == shipped("configs") else path.name
    published = [cards[d] for d in experiment.config.published.values() if d in cards]
    has_downloads = any(card.source.downloads for card in published)
    fetch = [["datasets", "fetch", "--for", name]] if has_downloads else []
    options = ["--profile", experiment.profile]
    options += [part for setting in experiment.settings for part in ("-o", setting)]
    options += ["--available"] if report.plan.left_out else []
    commands = [*fetch, ["run", name, *options], ["report", name, *options]]
    return [shlex.join(["kernlearn", *words]) for words in commands]


def _name(report: Report) -> str:
    return report.plan.experiment.name


def _order(report: Report) -> tuple[Any, ...]:
    """Sort by the paper's year, chapter and number; experiments without them come last."""
    source = report.plan.experiment.config.source
    number = re.search(r"(?:tables?|figures?|section) (\d+)(?:\.(\d+))?", source)
    place = [int(n or 0) for n in number.groups()] if number else [0, 0]
    year = re.search(r"\((\d{4})\)", source)
    return (number is None, year[1] if year else "", *place, _name(report))


def _overview(
    reports: Sequence[Report],
    links: list[_Link],
    written: Sequence[Written],
    skipped: Sequence[Skipped],
) -> str:
    judged = [report for report in reports if not report.indicative]
    totals = total(report.measured for report in judged)
    linked = list(zip(reports, links, strict=True))
    # each environment once, with the experiments that were measured in it
    machines: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for report in reports:
        for machine in report.details["measured_on"]:
            machines.setdefault(canonical(machine), (machine, []))[1].append(_name(report))
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
        claim_kinds=_occurring(CLAIM_SIGNS, [claim for *_, claim in claims]),
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
    numbers = totals.numbers[totals.numbers["experiment"] == _name(report)]
    scores = numbers[numbers["kind"] == SCORES]
    outcomes = [] if report.indicative else [claim.outcome for claim in report.claims]
    return {
        **report.details,
        "href": href,
        "run_as": report.run_as,
        "indicative": report.indicative,
        "scores": {verdict: int(scores[verdict].sum()) for verdict in VERDICTS},
        "outcomes": Counter(outcomes),
    }


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Raise a ReportError with one message in place of an OSError."""
    try:
        yield
    except OSError as error:
        place = error.filename or path
        raise ReportError(f"{place}: cannot be written: {error.strerror or error}") from None
