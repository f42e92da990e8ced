"""Pages that open from disk: one per experiment with its files, and an overview of all."""

import re
import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from kernlearn.datasets import catalogue
from kernlearn.experiments.engine.spec import canonical
from kernlearn.experiments.store.results import utc_now
from kernlearn.reports import tables
from kernlearn.reports.figures import save_pictures
from kernlearn.reports.report import Report, Skipped, write_summary
from kernlearn.reports.site import charts
from kernlearn.reports.site.rendering import address, numbered, render, slug, write_assets, writing
from kernlearn.reports.totals import OUTCOMES, SCORES, Totals, total
from kernlearn.reports.verdicts import BETTER, VERDICTS, WORSE
from kernlearn.resources import shipped

# Name of an experiment and address of its page.
_Link = tuple[str, str]


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
    has_charts = _write_page(report, page, files=folder, assets=folder / "assets")
    write_assets(folder / "assets", charts=has_charts)
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
    has_charts = False
    neighbours = zip([None, *links], [*links[1:], None], strict=False)
    for report, page, around in zip(reports, pages, neighbours, strict=True):
        files = folder / "files" / page.stem
        has_charts |= _write_page(report, page, files=files, assets=assets, around=around)
    write_assets(assets, charts=has_charts)
    with writing(folder):
        index.write_text(_overview(reports, links, skipped), encoding="utf-8")
    return index


def _write_page(
    report: Report,
    page: Path,
    *,
    files: Path,
    assets: Path,
    around: tuple[_Link | None, _Link | None] | None = None,
) -> bool:
    """Write the page of an experiment and its files; return whether it has charts.

    In a site ``around`` has the links to the previous and the following page.
    """
    experiment, config = report.plan.experiment, report.plan.experiment.config
    figures, departures = charts.figures(report), charts.departures(report)
    deviations = charts.deviations(report)
    with writing(files):
        downloads = _write_downloads(report, [*figures, *departures], files)
    note_ids = {name: f"note-{i + 1}-{slug(name)}" for i, name in enumerate(config.notes)}
    text = render(
        "experiment.html",
        experiment=experiment,
        config=config,
        commands=_commands(report),
        details=report.details,
        totals=total([report.measured]).numbers.to_dict("records"),
        claim_counts=Counter(claim.outcome for claim in report.claims),
        tables=[_shown(table, note_ids) for table in report.tables if table.rows],
        figures=figures,
        departures=departures,
        deviations=deviations,
        deviation_kinds=[v for v in (WORSE, BETTER) if v in {d.cell.verdict for d in deviations}],
        claims=[("", "", claim) for claim in report.claims],
        note_ids=note_ids,
        # the first remarks are the notes
        remarks=report.remarks[len(config.notes) :],
        downloads=[
            (title, [(f.name, address(f, page), f.stat().st_size) for f in files])
            for title, files in downloads
        ],
        source=experiment.path.read_text(encoding="utf-8"),
        files=address(files, page),
        assets=address(assets, page),
        around=around,
        written=report.details["written"],
    )
    with writing(page):
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
    return bool(figures or departures)


def _write_downloads(
    report: Report, drawn: Sequence[charts.Chart], folder: Path
) -> list[tuple[str, list[Path]]]:
    """Write the files of an experiment besides its page; return them with titles."""
    folder.mkdir(parents=True, exist_ok=True)
    summary = write_summary(report, folder)

    def path(stem: str, suffix: str) -> Path:
        # the sixth table of an experiment "table6" must not take the place of its summary
        return folder / f"{stem}{'_shown' if stem == summary.stem else ''}{suffix}"

    splits = path("splits", ".csv")
    report.runs.to_csv(splits, index=False)
    downloads = [
        ("All cells: means, standard deviations, reported numbers, verdicts", [summary]),
        ("Versions, machine, claims, selected parameters", [summary.with_suffix(".json")]),
        ("All splits, one row per number", [splits]),
    ]
    formats = {".csv": tables.to_csv, ".tex": tables.to_latex, ".md": tables.to_markdown}
    for stem, table in zip(numbered("table", len(report.tables)), report.tables, strict=True):
        files = [path(stem, suffix) for suffix in formats]
        for file in files:
            file.write_text(formats[file.suffix](table), encoding="utf-8")
        downloads.append((f"Table: {table.title}", files))
    pictures = [(f"Figure: {c.title}", save_pictures(c.spec, folder / c.stem)) for c in drawn]
    return [*downloads, *pictures]


def _shown(table: tables.Table, note_ids: dict[str, str]) -> dict[str, Any]:
    """Return a table with the notes on its labels, and the verdicts that occur in it."""
    labels = {label for row, _ in table.rows for label in row} | set(table.heads)
    named = {label: label.removesuffix(" (baseline)") for label in labels}
    notes = {label: note_ids[name] for label, name in named.items() if name in note_ids}
    occurring = {cell.verdict for _, cells in table.rows for cell in cells}
    return {"table": table, "notes": notes, "kinds": [v for v in VERDICTS if v in occurring]}


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
    reports: Sequence[Report], links: Sequence[_Link], skipped: Sequence[Skipped]
) -> str:
    totals = total(r.measured for r in reports)
    times = sorted(time for report in reports for time in report.details["measured"])
    linked = list(zip(reports, links, strict=True))
    details = [report.details for report in reports]
    # each environment once, with the experiments that were measured in it
    machines: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for report in reports:
        for machine in report.details["measured_on"]:
            _, names = machines.setdefault(canonical(machine), (machine, []))
            names.append(_name(report))
    return render(
        "overview.html",
        rows=[_row(report, href, totals) for report, (_, href) in linked],
        overall=totals.overall().to_dict("records"),
        claims=[(*link, claim) for report, link in linked for claim in report.claims],
        in_words=totals.in_words(),
        done=sum(d["done"] for d in details),
        trials=sum(d["trials"] for d in details),
        seconds=sum(d["trial_seconds"] for d in details),
        first=times[0] if times else "",
        last=times[-1] if times else "",
        machines=list(machines.values()),
        skipped=skipped,
        assets="assets",
        written=utc_now(),
    )


def _row(report: Report, href: str, totals: Totals) -> dict[str, Any]:
    name, numbers, claims = _name(report), totals.numbers, totals.claims
    scores = numbers[(numbers["experiment"] == name) & (numbers["kind"] == SCORES)]
    outcomes = claims[claims["experiment"] == name]
    return {
        **report.details,
        "href": href,
        "run_as": report.run_as,
        "scores": {verdict: int(scores[verdict].sum()) for verdict in VERDICTS},
        "outcomes": {outcome: int(outcomes[outcome].sum()) for outcome in OUTCOMES},
    }
