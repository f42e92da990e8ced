"""Pages that open from disk, each a file of its own: of one experiment, or a site of several."""

import json
import re
import shlex
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
import pandas as pd

from kernlearn import __version__
from kernlearn.checks import duration
from kernlearn.config.model import ExperimentConfig, LoadedExperiment
from kernlearn.config.read import shipped_name
from kernlearn.config.values import LABELS, canonical
from kernlearn.datasets import catalogue
from kernlearn.exceptions import ReportError, writing
from kernlearn.reports import answers, charts, claims, differences, tables, verdicts
from kernlearn.reports.cells import cell_columns
from kernlearn.reports.labels import cell_names
from kernlearn.reports.report import Report, Skipped
from kernlearn.reports.rows import run_options
from kernlearn.store import utc_now

# Outcome of a number, a difference or a claim to symbol, so that colour is never the only sign.
_SIGNS = {
    **verdicts.SYMBOLS,
    **dict(zip(differences.OUTCOMES, "✓◐○✗–·", strict=True)),
    **dict(zip(claims.OUTCOMES, "✓○↗↘✗–·", strict=True)),
}


def write_report(report: Report, folder: Path) -> Path:
    """Write the page of one experiment, with all its files, into a folder.

    Parameters
    ----------
    report : Report
    folder : Path
        Created if it does not exist. Gets ``report.html``; ``cells.csv``, ``splits.csv`` and
        ``report.json``; ``table.csv``, ``.md`` and ``.tex`` (numbered if there are several); and
        an ``.svg`` of every chart.

    Returns
    -------
    pathlib.Path
        ``report.html``, which opens from disk without network.

    Raises
    ------
    ReportError
        If something cannot be written.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kernlearn.store import Store
    >>> from kernlearn.config import load_config
    >>> from kernlearn.engine import make_plan, run_plan
    >>> from kernlearn.reports import assemble, write_report
    >>> small = ["splits=1", "methods.ORLand.n_landmarks=[5]", "methods.ORLand.C=1"]
    >>> plan = make_plan(load_config("demo_ordinal", settings=small))
    >>> with TemporaryDirectory() as folder, Store(Path(folder) / "demo.sqlite") as store:
    ...     _ = run_plan(plan, store)
    ...     page = write_report(assemble(plan, store), Path(folder) / "report")
    ...     files = sorted(path.name for path in page.parent.glob("table.*"))
    >>> page.name, files
    ('report.html', ['table.csv', 'table.md', 'table.tex'])
    """
    page = folder / "report.html"
    with writing(folder, ReportError):
        _write_page(report, _drawn([report])[0], page, folder, "")
    return page


def write_site(
    reports: Iterable[Report], folder: Path, *, skipped: Sequence[Skipped] = ()
) -> Path:
    """Write a static site of several experiments.

    Parameters
    ----------
    reports : iterable of Report
        Each experiment once.
    folder : Path
        Created if it does not exist. Gets ``index.html``, a page for each experiment, and
        ``files/<experiment>/``. Other files in it stay.
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

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kernlearn.store import Store
    >>> from kernlearn.config import load_config
    >>> from kernlearn.engine import make_plan, run_plan
    >>> from kernlearn.reports import assemble, write_site
    >>> small = ["splits=1", "methods.ORLand.n_landmarks=[5]", "methods.ORLand.C=1"]
    >>> plan = make_plan(load_config("demo_ordinal", settings=small))
    >>> with TemporaryDirectory() as folder, Store(Path(folder) / "demo.sqlite") as store:
    ...     _ = run_plan(plan, store)
    ...     page = write_site([assemble(plan, store)], Path(folder) / "site")
    ...     files = sorted(path.name for path in page.parent.iterdir())
    >>> page.name, files
    ('index.html', ['demo_ordinal.html', 'files', 'index.html'])
    """
    reports = sorted(reports, key=lambda report: _order(report.experiment))
    with writing(folder, ReportError):
        folder.mkdir(parents=True, exist_ok=True)
        drawn = _drawn(reports)
        for report, pictures in zip(reports, drawn, strict=True):
            stem = _stem(report)
            files = folder / "files" / stem
            _write_page(report, pictures, folder / f"{stem}.html", files, f"files/{stem}/")
        index = folder / "index.html"
        index.write_text(_index(reports, drawn, skipped), encoding="utf-8")
    return index


def _stem(report: Report) -> str:
    name = report.experiment.name
    # the name of the overview is taken
    return f"{name}_" if name.lower() == "index" else name


_Drawn = list[tuple[charts.Chart, str]]


def _drawn(reports: Sequence[Report]) -> list[_Drawn]:
    """Draw the charts of pages."""
    pages = [[*charts.figures(report), *charts.deviations(report)] for report in reports]
    pictures = iter(charts.draw(chart.spec for of_page in pages for chart in of_page))
    return [[(chart, next(pictures)) for chart in of_page] for of_page in pages]


def _write_page(report: Report, drawn: _Drawn, page: Path, files: Path, address: str) -> None:
    """Write the page of an experiment, and its files; ``address`` is that of their folder."""
    config = report.experiment.config
    downloads = _write_files(report, drawn, files)
    text = _render(
        "experiment.html",
        report=report,
        config=config,
        charts=drawn,
        signs_used=[v for v in verdicts.VERDICTS if v in {*report.cells["verdict"]}],
        answer=answers.answer(report),
        chances=differences.in_words(report.differences, report.chances),
        chosen=selections(report.splits, config.axes),
        data=data_facts(config, report.details.data),
        # the first remarks are the notes of the config
        remarks=report.remarks[len(config.notes) :],
        rules=verdicts.rules(config),
        command=_command(report),
        source=report.experiment.path.read_text(encoding="utf-8"),
        downloads=[(path.name, f"{address}{path.name}") for path in downloads],
        home="index.html" if address else "",
        written=utc_now(),
    )
    page.write_text(text, encoding="utf-8")


def _write_files(report: Report, drawn: _Drawn, folder: Path) -> list[Path]:
    """Write the files of an experiment besides its page."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = {k: getattr(report, k) for k in ("claims", "differences", "chances")}
    about = {
        "experiment": report.experiment.name,
        "title": report.experiment.config.title,
        "source": report.experiment.config.source,
        **asdict(report.details),
        "remarks": report.remarks,
        **{name: frame.to_dict("records") for name, frame in parts.items()},
    }
    texts = {
        "cells.csv": tables.csv_text(report.cells[cell_columns(report.experiment.config)]),
        "splits.csv": tables.csv_text(report.splits),
        "report.json": json.dumps(about, indent=1, ensure_ascii=False) + "\n",
    }
    formats = {"csv": tables.to_csv, "md": tables.to_markdown, "tex": tables.to_latex}
    for stem, table in zip(charts.stems("table", len(report.tables)), report.tables, strict=True):
        texts |= {f"{stem}.{suffix}": write(table) for suffix, write in formats.items()}
    files = []
    for name, text in texts.items():
        files.append(folder / name)
        files[-1].write_text(text, encoding="utf-8")
    return files + [charts.save(svg, folder / f"{c.stem}.svg") for c, svg in drawn]


def data_facts(
    config: ExperimentConfig, prepared: Mapping[str, Collection[str]]
) -> dict[str, list[str]]:
    """Return the facts on each data set of a config: from its card, and how it was prepared."""
    facts = {}
    for label, entry in config.datasets.items():
        lines: list[str] = []
        if entry.file is not None:
            lines.append(f"file {entry.file}")
        elif entry.generator is not None:
            values = {k: ", ".join(map(str, v.candidates)) for k, v in entry.parameters.items()}
            parameters = "".join(f", {k} {text}" for k, text in values.items())
            lines.append(f"drawn by the generator {entry.generator}{parameters}")
        elif (card := catalogue().get(entry.name or label)) is not None:
            rows = f"{card.rows} rows, " if card.rows else ""
            lines += [f"{card.title}: {rows}{card.n_features} features", *card.notes]
        if lines := [*lines, *prepared.get(label, ())]:
            facts[label] = lines
    return facts


def selections(splits: pd.DataFrame, axes: Iterable[str]) -> dict[str, Counter[str]]:
    """Return by the name of each cell how often validation selected which parameters."""
    labels = [*LABELS, *axes]
    trials = splits[splits["selected"].notna()].drop_duplicates([*labels, "split"])
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for name, selected in zip(cell_names(trials, labels, " · "), trials["selected"], strict=True):
        values = json.loads(selected).items()
        texts = [f"{k}={v if isinstance(v, str) else canonical(v)}" for k, v in values]
        counts[name][", ".join(texts)] += 1
    return counts


def _command(report: Report) -> str:
    """Return the command that reproduces an experiment."""
    path = report.experiment.path
    options = run_options(report.experiment)
    options += ["--available"] if report.details.left_out else []
    return shlex.join(["kernlearn", "run", shipped_name(path) or path.name, *options])


# Most experiments of an overview with their charts.
_FEW = 8


class Group(NamedTuple):
    """Experiments that belong together, with sentences on what they come to."""

    title: str
    sentences: list[answers.Sentence]
    reports: list[Report]


def grouped(reports: Iterable[Report]) -> list[Group]:
    """Return the experiments of each chapter, of each other paper, and those of no paper.

    Variants, and what is only indicative, are of no paper.
    """
    rest = sorted(reports, key=lambda report: _order(report.experiment))
    shipped = [one for one in rest if shipped_name(one.experiment.path)]
    known = {one.experiment.name: one for one in shipped if not one.experiment.indicative}
    groups = []
    for paper in answers.papers():
        for chapter in paper.chapters:
            of_chapter = [known[name] for name in chapter.experiments if name in known]
            if of_chapter:
                sentences = answers.concluded(chapter.answer, known)
                groups.append(Group(f"{paper.source}: {chapter.title}", sentences, of_chapter))
                rest = [one for one in rest if one not in of_chapter]
    others: dict[str, list[Report]] = {}
    for report in rest:
        config = report.experiment.config
        source = re.match(r".+? \(\d{4}\)(?=[,;]|$)", config.source)
        is_own = report.experiment.is_counted and (config.reported or config.claims)
        others.setdefault(source[0] if source and is_own else "", []).append(report)
    last = others.pop("", [])
    groups += [Group(title, [], of_paper) for title, of_paper in others.items()]
    return groups + ([Group("", [], last)] if last else [])


def _index(reports: Sequence[Report], drawn: list[_Drawn], skipped: Sequence[Skipped]) -> str:
    """Return the overview: answers, and for each experiment a tile for each result.

    Of few experiments it shows the claims and the first charts, too.
    """
    known = {report.experiment.name: report for report in reports}
    papers = [one for one in answers.papers() if known.keys() & one.experiments]
    return _render(
        "index.html",
        groups=grouped(reports),
        papers=[(one, answers.concluded(one.answer, known)) for one in papers],
        strips={report.experiment.name: _strips(report) for report in reports},
        few=[*zip(reports, drawn, strict=True)] if len(reports) <= _FEW else [],
        stem=_stem,
        longest=max((r.details.trial_seconds for r in reports), default=0),
        sentences=answers.totals(reports).in_words(),
        skipped=skipped,
        home="",
        written=utc_now(),
    )


def write_map(reports: Iterable[Report], path: Path) -> None:
    """Draw a tile for each reported score, each difference and each claim, if there are any.

    For narrow screens there is a second picture, whose name ends in ``_narrow``.
    """
    reports = sorted(reports, key=lambda report: report.experiment.name)
    strips = {report.experiment.name: _strips(report) for report in reports}
    tables = {name: strip for name, strip in strips.items() if strip}
    if tables:
        for narrow, name in ((False, path), (True, path.with_stem(f"{path.stem}_narrow"))):
            charts.save(_render("map.svg", tables=tables, narrow=narrow), name)


def _strips(report: Report) -> dict[str, list[tuple[str, str]]]:
    """Return the name and outcome of each reported score, difference and claim, best first.

    Variants, and what is only indicative, have none.
    """
    config, cells = report.experiment.config, report.cells
    if not report.experiment.is_counted:
        return {}
    scores = [one for one in config.verdict if verdicts.kind_of(one, config) == verdicts.SCORES]
    cells = cells[cells["metric"].isin(scores) & (cells["verdict"] != "")]
    places = cell_names(cells, ["dataset", "kernel", "method", *config.axes])
    names = [f"{one} {metric}" for one, metric in zip(places, cells["metric"], strict=True)]
    tiles = {
        "numbers": [*zip(names, cells["verdict"], strict=True)],
        "differences": [
            (f"{row.cell}: {row.ahead} ahead of {row.behind}", str(row.outcome))
            for row in report.differences.itertuples()
        ],
        "claims": [
            (str(row.says), str(row.outcome)) for row in report.claims.itertuples() if row.of_paper
        ],
    }
    absent = {*verdicts.UNMEASURED, claims.NOT_MEASURED}
    order = sorted(_SIGNS, key=absent.__contains__).index
    return {
        kind: sorted(of_kind, key=lambda tile: order(tile[1]))
        for kind, of_kind in tiles.items()
        if of_kind
    }


def _order(experiment: LoadedExperiment) -> tuple[Any, ...]:
    """Sort by the paper's year, chapter and number; experiments without them come last."""
    source = experiment.config.source
    number = re.search(r"(?:tables?|figures?|section) (\d+)(?:\.(\d+))?", source)
    place = [int(n or 0) for n in number.groups()] if number else [0, 0]
    year = re.search(r"\((\d{4})\)", source)
    return (number is None, year[1] if year else "", *place, experiment.name)


def _render(template: str, **values: Any) -> str:
    """Return a page made from a template; all values are escaped."""
    return _environment().get_template(template).render(version=__version__, **values)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("kernlearn.reports"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    filters: dict[str, Callable[..., str]] = {
        "date": lambda text: text[:16].replace("T", " "),
        "duration": duration,
        "figures": lambda value: f"{value:.3g}" if isfinite(value) else "–",
        # a name for classes: lower case, hyphens for all but letters and digits
        "slug": lambda text: re.sub(r"[\W_]+", "-", text.lower()).strip("-"),
    }
    environment.filters |= filters
    functions = {"outcome_of": answers.outcome, "answer_of": answers.answer}
    environment.globals |= {"signs": _SIGNS, **functions}
    return environment
