"""The files beside a page: tables, summaries, every split, pictures."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernlearn import __version__
from kernlearn.datasets import catalogue
from kernlearn.reports.figures import save_pictures
from kernlearn.reports.site.charts import Chart, departures, deviations, figures
from kernlearn.reports.site.rendering import OUTCOMES, address, render, slug, write_assets, writing
from kernlearn.reports.tables import Table, to_csv, to_latex, to_markdown
from kernlearn.reports.totals import total
from kernlearn.reports.verdicts import BETTER, VERDICTS, WORSE
from kernlearn.reports.writing import Report, numbered, write_summary
from kernlearn.resources import shipped


@dataclass(frozen=True)
class Download:
    """What can be had, in one or more forms.

    Attributes
    ----------
    what : str
    files : list of pathlib.Path
    """

    what: str
    files: list[Path]


def write_downloads(report: Report, charts: Sequence[Chart], folder: Path) -> list[Download]:
    """Write everything of an experiment that is not a page.

    Parameters
    ----------
    report : Report
    charts : sequence of Chart
    folder : Path
        Made if it is not there. Gets the summary's two files, ``splits.csv``, ``table.csv``,
        ``.md`` and ``.tex`` (numbered if there are several), and of every chart ``.svg`` and
        ``.pdf``. What would have the summary's name has another.

    Returns
    -------
    list of Download
    """
    folder.mkdir(parents=True, exist_ok=True)
    summary = write_summary(report, folder)
    splits = folder / f"{_other('splits', summary.stem)}.csv"
    report.runs.to_csv(splits, index=False)
    details = summary.with_suffix(".json")
    found = [
        Download("Every cell: means, deviations, reported numbers and verdicts", [summary]),
        Download("Versions, machine, claims and chosen parameters", [details]),
        Download("Every split, one row a number", [splits]),
    ]
    stems = numbered("table", len(report.tables))
    for stem, table in zip(stems, report.tables, strict=True):
        texts = {".csv": to_csv(table), ".tex": to_latex(table), ".md": to_markdown(table)}
        files = [folder / f"{_other(stem, summary.stem)}{suffix}" for suffix in texts]
        for file, text in zip(files, texts.values(), strict=True):
            file.write_text(text, encoding="utf-8")
        found.append(Download(f"Table: {table.title}", files))
    return [
        *found,
        *(Download(f"Figure: {c.title}", save_pictures(c.spec, folder / c.stem)) for c in charts),
    ]


def _other(stem: str, taken: str) -> str:
    """Return a name that is not taken: the sixth table of ``table6`` is not its summary."""
    return f"{stem}_shown" if stem == taken else stem


@dataclass(frozen=True)
class Around:
    """Where the pages lie that a page of a site leads to.

    Attributes
    ----------
    overview : str
        Address of the overview.
    previous, following : tuple of (name, address) or None
    """

    overview: str
    previous: tuple[str, str] | None = None
    following: tuple[str, str] | None = None


@dataclass(frozen=True)
class _ShownTable:
    table: Table
    notes: dict[str, str]
    kinds: list[str]


def write_report(report: Report, folder: Path) -> Path:
    """Write everything there is to see of one experiment into a folder of its own.

    Parameters
    ----------
    report : Report
    folder : Path
        Made if it is not there. Gets ``report.html`` with ``assets/``, and beside it the files
        of :func:`~kernlearn.reports.site.pages.write_downloads`.

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
    drawn = write_page(report, page, files=folder, assets=folder / "assets")
    with writing(folder):
        write_assets(folder / "assets", charts=drawn)
    return page


def write_page(
    report: Report, page: Path, *, files: Path, assets: Path, around: Around | None = None
) -> bool:
    """Write the page of an experiment, and its files.

    Parameters
    ----------
    report : Report
    page : Path
    files : Path
        Folder for tables, summaries and pictures.
    assets : Path
        Where style and scripts are to lie; they are not written here.
    around : Around, optional
        For a page that is one of a site.

    Returns
    -------
    bool
        Whether the page has charts, for which the assets need Vega.

    Raises
    ------
    ReportError
        If something cannot be written.
    """
    experiment, config = report.plan.experiment, report.plan.experiment.config
    drawn, apart = figures(report), departures(report)
    with writing(files):
        downloads = write_downloads(report, [*drawn, *apart], files)
    found = deviations(report)
    counts = total([report.measured])
    note_ids = {name: f"note-{i + 1}-{slug(name)}" for i, name in enumerate(config.notes)}
    given_claims = [claim.outcome for claim in report.claims]
    text = render(
        "experiment.html",
        experiment=experiment,
        config=config,
        commands=_commands(report),
        report=report,
        details=report.details,
        totals=counts.numbers.to_dict("records"),
        claim_counts=[(name, n) for name in OUTCOMES if (n := given_claims.count(name))],
        judged=bool(config.verdict),
        tables=[_shown(table, note_ids) for table in report.tables if table.rows],
        figures=drawn,
        departures=apart,
        charts=bool(drawn or apart),
        deviations=found,
        deviation_kinds=[v for v in (WORSE, BETTER) if v in {d.verdict for d in found}],
        claims=[("", "", claim) for claim in report.claims],
        note_ids=note_ids,
        # the first remarks are the notes
        remarks=report.remarks[len(config.notes) :],
        downloads=_linked(downloads, page),
        source=experiment.path.read_text(encoding="utf-8"),
        files=address(files, page),
        assets=address(assets, page),
        around=around,
        version=__version__,
        written=report.details["written"],
    )
    with writing(page):
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(text, encoding="utf-8")
    return bool(drawn or apart)


def _shown(table: Table, note_ids: dict[str, str]) -> _ShownTable:
    """Add to a table the notes on its labels, and the verdicts that occur in it."""
    labels = {label for row, _ in table.rows for label in row} | set(table.heads)
    named = {label: label.removesuffix(" (baseline)") for label in labels}
    notes = {label: note_ids[name] for label, name in named.items() if name in note_ids}
    occur = {cell.verdict for _, cells in table.rows for cell in cells}
    return _ShownTable(table, notes, [verdict for verdict in VERDICTS if verdict in occur])


def _commands(report: Report) -> list[str]:
    """Return what to type to have these numbers."""
    experiment = report.plan.experiment
    path, cards = experiment.path, catalogue()
    name = path.stem if path.parent == shipped("configs") else path.name
    served = any(
        cards[d].source.downloads for d in experiment.config.published.values() if d in cards
    )
    fetch = [["datasets", "fetch", "--for", name]] if served else []
    options = ["--profile", experiment.profile]
    options += [part for setting in experiment.settings for part in ("-o", setting)]
    options += ["--available"] if report.plan.left_out else []
    asked = [*fetch, ["run", name, *options], ["report", name, *options]]
    return [shlex.join(["kernlearn", *words]) for words in asked]


def _linked(downloads: Sequence[Download], page: Path) -> list[dict[str, Any]]:
    return [
        {
            "what": download.what,
            "files": [(f.name, address(f, page), f.stat().st_size) for f in download.files],
        }
        for download in downloads
    ]
