"""The files beside a page: tables, summaries, every split, pictures."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kernlearn.reports.figures import save_pictures
from kernlearn.reports.site.charts import Chart
from kernlearn.reports.table_formats import to_csv, to_latex, to_markdown
from kernlearn.reports.writing import Report, numbered, write_summary


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
