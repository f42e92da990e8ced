"""Pages that open from disk: one per experiment with its files, and an overview of all."""

import os
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
import numpy as np
import pandas as pd

from kernlearn import __version__
from kernlearn.datasets import catalogue
from kernlearn.exceptions import ReportError
from kernlearn.experiments.engine.selection import duration
from kernlearn.experiments.engine.spec import LABELS, canonical
from kernlearn.experiments.store.results import utc_now
from kernlearn.reports import charts, conclusions, tables
from kernlearn.reports.charts import slug
from kernlearn.reports.overview import write_map
from kernlearn.reports.report import Report, Skipped, write_summary
from kernlearn.reports.significance import OUTCOMES
from kernlearn.reports.totals import SCORES, Totals, total
from kernlearn.reports.verdicts import BASELINE_BETTER, BETTER, VERDICTS, WORSE
from kernlearn.resources import shipped

_HERE = Path(__file__).parent
_SPREAD = " ± "
_ROUNDING = 1e-12
# Symbols, so that colour is never the only sign.
_OUTCOMES = dict(zip(OUTCOMES, "✓○↗↘✗–", strict=True))
_CONCLUSIONS = dict(zip(conclusions.OUTCOMES, "✓○✗–", strict=True))
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
    with _writing(folder):
        has_charts = _write_page(report, page, folder, folder / "assets")
        _write_assets(folder / "assets", charts=has_charts)
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
        has_charts = [
            _write_page(report, page, folder / "files" / page.stem, assets, around)
            for report, page, around in zip(reports, pages, neighbours, strict=True)
        ]
        drawn = write_map((report.measured for report in reports), folder / "files")
        _write_assets(assets, charts=any(has_charts) or drawn is not None)
        index.write_text(_overview(reports, links, skipped, drawn), encoding="utf-8")
    return index


def _write_page(
    report: Report,
    page: Path,
    files: Path,
    assets: Path,
    around: tuple[_Link | None, _Link | None] | None = None,
) -> bool:
    """Write the page of an experiment and its files; return whether it has charts.

    In a site ``around`` has the links to the previous and the following page.
    """
    config = report.plan.experiment.config
    figures, departures = charts.figures(report), charts.departures(report)
    deviating = deviations(report)
    downloads = _write_downloads(report, [*figures, *departures], files)
    note_ids = {name: f"note-{i + 1}-{slug(name)}" for i, name in enumerate(config.notes)}
    text = _render(
        "experiment.html",
        report=report,
        config=config,
        commands=_commands(report),
        totals=total([report.measured]).numbers.to_dict("records"),
        claim_counts=Counter(claim.outcome for claim in report.claims),
        tables=[_shown(table, note_ids) for table in report.tables if table.rows],
        figures=figures,
        departures=departures,
        deviations=deviating,
        deviation_kinds=list(dict.fromkeys(d.cell.verdict for d in deviating)),
        claims=[("", "", claim) for claim in report.claims],
        conclusions=report.conclusions,
        conclusion_kinds=list(dict.fromkeys(c.outcome for c in report.conclusions)),
        chances=conclusions.in_words(report.conclusions, report.chances),
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
    stems = charts.numbered("table", len(report.tables))
    for stem, table in zip(stems, report.shown_tables, strict=True):
        files = [path(stem, suffix) for suffix in formats]
        for file in files:
            file.write_text(formats[file.suffix](table), encoding="utf-8")
        downloads.append((f"Table: {table.title}", files))
    for chart in drawn:
        pictures = charts.save_pictures(chart.spec, folder / chart.stem)
        downloads.append((f"Figure: {chart.title}", pictures))
    return downloads


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
    reports: Sequence[Report],
    links: list[_Link],
    skipped: Sequence[Skipped],
    drawn: charts.Chart | None,
) -> str:
    totals = total(r.measured for r in reports)
    linked = list(zip(reports, links, strict=True))
    # each environment once, with the experiments that were measured in it
    machines: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for report in reports:
        for machine in report.details["measured_on"]:
            machines.setdefault(canonical(machine), (machine, []))[1].append(_name(report))
    return _render(
        "overview.html",
        rows=[_row(report, href, totals) for report, (_, href) in linked],
        overall=totals.overall().to_dict("records"),
        claims=[(*link, claim) for report, link in linked for claim in report.claims],
        in_words=totals.in_words(),
        machines=list(machines.values()),
        skipped=skipped,
        map=drawn,
        files="files",
        assets="assets",
        written=utc_now(),
    )


def _row(report: Report, href: str, totals: Totals) -> dict[str, Any]:
    numbers = totals.numbers[totals.numbers["experiment"] == _name(report)]
    scores = numbers[numbers["kind"] == SCORES]
    return {
        **report.details,
        "href": href,
        "run_as": report.run_as,
        "scores": {verdict: int(scores[verdict].sum()) for verdict in VERDICTS},
        "outcomes": Counter(claim.outcome for claim in report.claims),
    }


@dataclass(frozen=True)
class Deviation:
    """A measured number that is better or worse than the reported one.

    ``place`` is its data set, kernel, method and parameters; ``notes`` are names of the config's
    notes that apply to it.
    """

    place: str
    metric: str
    cell: tables.Cell
    difference: str
    notes: list[str]


def deviations(report: Report) -> list[Deviation]:
    """List the numbers that are better or worse than reported, the worse first."""
    config, summary, found = report.plan.experiment.config, report.summary, []
    departing = pd.concat(
        [summary[summary["verdict"] == v] for v in (WORSE, BASELINE_BETTER, BETTER)]
    )
    for row in departing.to_dict("records"):
        metric, difference = row["metric"], row["mean"] - row["reported_mean"]
        labels = [row[label] for label in LABELS if isinstance(row[label], str)]
        given = {axis: row[axis] for axis in report.plan.axes if not pd.isna(row[axis])}
        varied = [f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in given.items()]
        # "exponential (sigma=1)" is a case of "exponential"
        named = [*labels, f"{row['kernel']}".partition(" (")[0]]
        size = tables.format_number(abs(difference), metric, config.scope)
        found.append(
            Deviation(
                " · ".join([*labels, *varied]),
                config.scope.label(metric),
                tables.make_cell(row, metric, config.scope),
                f"{'+' if difference > 0 else '−'}{size}",
                [key for key in config.notes if key in named],
            )
        )
    return found


def _render(template: str, **values: Any) -> str:
    """Return a page made from a template; all values are escaped."""
    return _environment().get_template(template).render(version=__version__, **values)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals |= {"symbols": tables.SYMBOLS, "not_converged": tables.NOT_CONVERGED,
                            "verdicts": VERDICTS, "outcomes": _OUTCOMES,
                            "conclusion_signs": _CONCLUSIONS}  # fmt: skip
    filters: dict[str, Callable[..., str]] = {
        "date": lambda text: text[:16].replace("T", " "),
        "duration": duration,
        "in_full": in_full,
        "mean": lambda cell: cell.measured.partition(_SPREAD)[0],
        "number": lambda value: repr(float(value)),
        "slug": slug,
        "std": std_text,
    }
    environment.filters |= filters
    return environment


def std_text(cell: tables.Cell) -> str:
    """Format a standard deviation with the digits of its mean; empty if there is none."""
    if np.isnan(cell.std):
        return ""
    # rounding errors of a number that does not vary
    std = 0.0 if cell.std < _ROUNDING * abs(cell.mean) else cell.std
    # tables show it with the mean where more is better
    return f"{std:.3f}" if _SPREAD in cell.measured else tables.format_number(std, cell.metric)


def in_full(cell: tables.Cell) -> str:
    """Describe a cell in full, numbers with six digits."""
    parts = []
    if not np.isnan(cell.mean):
        spread = "" if np.isnan(cell.std) else f" ± {cell.std:.6g}"
        splits = f" over {cell.n_splits} splits" if cell.n_splits > 1 else ""
        parts.append(f"measured {cell.mean:.6g}{spread}{splits}")
        if cell.not_converged:
            parts.append(f"the solver stopped early in {cell.not_converged} of them")
    if not np.isnan(cell.reported_mean):
        parts.append(f"reported {cell.reported_mean:.6g}")
    return "; ".join([*parts, cell.verdict] if cell.verdict else parts)


def address(target: Path, page: Path) -> str:
    """Return the relative address by which a page links to a file."""
    return quote(Path(os.path.relpath(target, page.parent)).as_posix())


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Raise a ReportError with one message in place of an OSError."""
    try:
        yield
    except OSError as error:
        place = error.filename or path
        raise ReportError(f"{place}: cannot be written: {error.strerror or error}") from None


def _write_assets(folder: Path, *, charts: bool) -> None:
    """Write style and scripts, with Vega if there are charts to draw."""
    folder.mkdir(parents=True, exist_ok=True)
    for asset in (_HERE / "assets").iterdir():
        (folder / asset.name).write_bytes(asset.read_bytes())
    if charts:
        (folder / "vega.js").write_text(_vega(), encoding="utf-8")


@cache
def _vega() -> str:
    """Return Vega, Vega-Lite and vega-embed as one script that defines ``vegaEmbed``."""
    import vl_convert

    version = charts.vega_lite_version()
    bundle = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=version)
    # a function scope for its many short names
    return f"(() => {{\n{bundle}\n}})();\n"
