"""One HTML page of an experiment that opens from disk without network."""

from pathlib import Path
from typing import Any

import jinja2

from kernlearn.reports.tables import SYMBOLS
from kernlearn.reports.writing import Report

_TEMPLATES = Path(__file__).parent / "templates"


def write_page(report: Report, charts: list[Any], folder: Path) -> Path:
    """Write ``report.html`` into a folder and return its path.

    Parameters
    ----------
    report : Report
    charts : list of altair charts
    folder : Path
        An existing folder.
    """
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    script = ""
    if charts:
        import vl_convert

        script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    experiment = report.plan.experiment
    text = environment.get_template("report.html").render(
        experiment=experiment,
        config=experiment.config,
        report=report,
        details=report.details,
        # "</script>" inside a data string would end the script element early
        specs=[c.to_json(indent=None).replace("</", "<\\/") for c in charts],
        script=script,
        symbols=SYMBOLS,
        source=experiment.path.read_text(encoding="utf-8"),
    )
    page = folder / "report.html"
    page.write_text(text, encoding="utf-8")
    return page
