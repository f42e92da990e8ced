"""The files beside a page: style and scripts, tables, pictures and all splits."""

import os
from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from pathlib import Path
from urllib.parse import quote

from kernlearn.datasets.cache import recall, remember, stamp
from kernlearn.datasets.escaping import csv_text
from kernlearn.reports import charts, tables
from kernlearn.reports.addresses import file_stems
from kernlearn.reports.pictures import save_pictures
from kernlearn.reports.report import Report, write_summary
from kernlearn.reports.site.environment import HERE
from kernlearn.reports.vega import vega_lite_version


def write_downloads(
    report: Report, drawn: Sequence[charts.Chart], folder: Path
) -> list[tuple[str, list[Path]]]:
    """Write the files of an experiment besides its page; return them with titles."""
    folder.mkdir(parents=True, exist_ok=True)
    summary = write_summary(report, folder)

    def path(stem: str, suffix: str) -> Path:
        # the sixth table of an experiment "table6" must not take the place of its summary
        return folder / f"{stem}{'_shown' if stem == summary.stem else ''}{suffix}"

    downloads = [
        ("All cells: means, standard deviations, reported numbers, verdicts", [summary]),
        ("Versions, machine, claims, selected parameters", [summary.with_suffix(".json")]),
    ]
    if not report.from_summary:
        splits = path("splits", ".csv")
        splits.write_text(csv_text(report.runs), encoding="utf-8")
        downloads.append(("All splits, one row per number", [splits]))
    formats = {".csv": tables.to_csv, ".tex": tables.to_latex, ".md": tables.to_markdown}
    stems = file_stems("table", len(report.tables))
    for stem, table in zip(stems, report.shown_tables, strict=True):
        files = [path(stem, suffix) for suffix in formats]
        for file in files:
            file.write_text(formats[file.suffix](table), encoding="utf-8")
        downloads.append((f"Table: {table.title}", files))
    for chart in drawn:
        pictures = save_pictures(chart.spec, folder / chart.stem)
        downloads.append((f"Figure: {chart.title}", pictures))
    return downloads


def address(target: Path, page: Path) -> str:
    """Return the relative address by which a page links to a file."""
    return quote(Path(os.path.relpath(target, page.parent)).as_posix())


def write_assets(folder: Path, *, charts: bool) -> None:
    """Write style and scripts, with Vega if there are charts to draw."""
    folder.mkdir(parents=True, exist_ok=True)
    for asset in (HERE / "assets").iterdir():
        (folder / asset.name).write_bytes(asset.read_bytes())
    if charts:
        _write_vega(folder / "vega.js")


def _write_vega(file: Path) -> None:
    """Write Vega, unless the file has the same version of it already."""
    made_by = version("vl-convert-python")
    # the mark comes last, so that a file that was not written in full is written again
    mark = f"// Vega-Lite {vega_lite_version()}, bundled by vl-convert {made_by}\n"
    if not (file.is_file() and file.read_bytes().endswith(mark.encode())):
        file.write_text(_vega() + mark, encoding="utf-8")


@cache
def _vega() -> str:
    """Return Vega, Vega-Lite and vega-embed as one script that defines ``vegaEmbed``.

    Bundling takes seconds, so the script is remembered for this version.
    """
    import vl_convert

    versions = {"vega_lite": vega_lite_version(), "vl_convert": version("vl-convert-python")}
    mark = stamp("vega", [Path(vl_convert.__file__)], versions)
    if isinstance(known := recall(mark), str):
        return known
    bundle = vl_convert.javascript_bundle(
        "window.vegaEmbed = vegaEmbed;", vl_version=versions["vega_lite"]
    )
    # a function scope for its many short names
    script = f"(() => {{\n{bundle}\n}})();\n"
    remember(mark, script)
    return script
