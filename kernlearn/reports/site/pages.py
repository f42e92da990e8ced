"""The page of an experiment, with its files."""

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kernlearn.config.read import shipped_name
from kernlearn.datasets import catalogue
from kernlearn.reports import charts, conclusions
from kernlearn.reports.addresses import Taken, claim_addresses, slug
from kernlearn.reports.bibliography import cited
from kernlearn.reports.glossary import methods, names_in, terms
from kernlearn.reports.report import Report
from kernlearn.reports.site.departing import deviations
from kernlearn.reports.site.environment import (
    CLAIM_SIGNS,
    CONCLUSION_SIGNS,
    Link,
    occurring,
    render,
)
from kernlearn.reports.site.files import address, write_downloads
from kernlearn.reports.site.layout import Shown, lay_out
from kernlearn.reports.totals import total
from kernlearn.reports.verdicts import VERDICTS


@dataclass(frozen=True)
class Written:
    """A page that was written: whether it has charts, and the addresses in it."""

    has_charts: bool
    addresses: frozenset[str]


def write_page(
    report: Report,
    page: Path,
    files: Path,
    assets: Path,
    around: tuple[Link | None, Link | None] | None = None,
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
        conclusion_kinds=occurring(CONCLUSION_SIGNS, report.conclusions),
        chances=conclusions.in_words(report.conclusions, report.chances) if judged else [],
        claim_kinds=occurring(CLAIM_SIGNS, report.claims),
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
    name = shipped_name(path) or path.name
    published = [cards[d] for d in experiment.config.published.values() if d in cards]
    has_downloads = any(card.source.downloads for card in published)
    fetch = [["datasets", "fetch", "--for", name]] if has_downloads else []
    options = ["--profile", experiment.profile]
    options += [part for setting in experiment.settings for part in ("-o", setting)]
    options += ["--available"] if report.plan.left_out else []
    commands = [*fetch, ["run", name, *options], ["report", name, *options]]
    return [shlex.join(["kernlearn", *words]) for words in commands]
