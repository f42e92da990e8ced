"""What all pages share: templates and their words, scripts and style, addresses."""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2
import numpy as np

from kernlearn.exceptions import ReportError
from kernlearn.experiments.engine.environment import duration
from kernlearn.reports.tables import SYMBOLS, Cell, format_number

_HERE = Path(__file__).parent
_SPREAD = " ± "
_ROUNDING = 1e-12

#: Outcome of a claim to symbol, so that colour is never the only sign.
OUTCOMES = {"holds": "✓", "fails": "✗", "undecided": "?"}


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals |= {"symbols": SYMBOLS, "outcomes": OUTCOMES}
    filters: dict[str, Callable[..., str]] = {
        "bytes": _bytes,
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


def render(template: str, **values: Any) -> str:
    """Return a page made from a template; all that goes into it is escaped."""
    return _environment().get_template(template).render(**values)


def slug(text: str) -> str:
    """Return a name for ids and classes: lower case, a hyphen for all but letters and digits."""
    return re.sub(r"[\W_]+", "-", text.lower()).strip("-")


def std_text(cell: Cell) -> str:
    """Write a standard deviation with the digits of its mean; nothing where there is none."""
    if np.isnan(cell.std):
        return ""
    # what rounding left of a number that does not vary
    std = 0.0 if cell.std < _ROUNDING * abs(cell.mean) else cell.std
    # the table shows it with the mean where more is better
    return f"{std:.3f}" if _SPREAD in cell.measured else format_number(std, cell.metric)


def in_full(cell: Cell) -> str:
    """Say all that is known of a cell, numbers with six digits."""
    said = []
    if not np.isnan(cell.mean):
        spread = "" if np.isnan(cell.std) else f" ± {cell.std:.6g}"
        splits = f" over {cell.n_splits} splits" if cell.n_splits > 1 else ""
        said.append(f"measured {cell.mean:.6g}{spread}{splits}")
    if not np.isnan(cell.reported_mean):
        said.append(f"reported {cell.reported_mean:.6g}")
    return "; ".join([*said, cell.verdict] if cell.verdict else said)


def _bytes(count: int) -> str:
    return f"{count} B" if count < 1000 else (
        f"{count / 1e3:.0f} kB" if count < 1e6 else f"{count / 1e6:.1f} MB"
    )  # fmt: skip


def address(target: Path, page: Path) -> str:
    """Return the relative address of a file as a page links to it."""
    return quote(Path(os.path.relpath(target, page.parent)).as_posix())


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Make a path that cannot be written one message.

    Raises
    ------
    ReportError
        Instead of an OSError.
    """
    try:
        yield
    except OSError as error:
        place = error.filename or path
        raise ReportError(f"{place}: cannot be written: {error.strerror or error}") from None


def write_assets(folder: Path, *, charts: bool) -> None:
    """Write style and scripts, with Vega if there are charts to draw."""
    folder.mkdir(parents=True, exist_ok=True)
    for asset in sorted((_HERE / "assets").iterdir()):
        (folder / asset.name).write_bytes(asset.read_bytes())
    if charts:
        (folder / "vega.js").write_text(_vega(), encoding="utf-8")


@cache
def _vega() -> str:
    """Return Vega, Vega-Lite and vega-embed as one script that defines ``vegaEmbed``."""
    import vl_convert

    from kernlearn.reports.figures import vega_lite_version

    bundle = vl_convert.javascript_bundle(
        "window.vegaEmbed = vegaEmbed;", vl_version=vega_lite_version()
    )
    # its many short names stay its own
    return f"(() => {{\n{bundle}\n}})();\n"
