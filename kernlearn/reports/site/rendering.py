"""Parts common to all pages: templates and their filters, scripts and style, addresses."""

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

from kernlearn import __version__
from kernlearn.exceptions import ReportError
from kernlearn.experiments.engine.environment import duration
from kernlearn.reports.significance import FAILS, HOLDS, UNDECIDED
from kernlearn.reports.tables import SYMBOLS, Cell, format_number
from kernlearn.reports.verdicts import VERDICTS

_HERE = Path(__file__).parent
_SPREAD = " ± "
_ROUNDING = 1e-12

#: Outcome of a claim to symbol, so that colour is never the only sign.
OUTCOMES = {HOLDS: "✓", FAILS: "✗", UNDECIDED: "?"}


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals |= {"symbols": SYMBOLS, "verdicts": VERDICTS, "outcomes": OUTCOMES}
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
    """Return a page made from a template; all values are escaped."""
    return _environment().get_template(template).render(version=__version__, **values)


def slug(text: str) -> str:
    """Return a name for ids and classes: lower case, hyphens for all but letters and digits."""
    return re.sub(r"[\W_]+", "-", text.lower()).strip("-")


def numbered(stem: str, count: int) -> list[str]:
    """Return names of files, with numbers if there are several."""
    return [stem] if count == 1 else [f"{stem}{i + 1}" for i in range(count)]


def std_text(cell: Cell) -> str:
    """Format a standard deviation with the digits of its mean; empty if there is none."""
    if np.isnan(cell.std):
        return ""
    # rounding errors of a number that does not vary
    std = 0.0 if cell.std < _ROUNDING * abs(cell.mean) else cell.std
    # tables show it with the mean where more is better
    return f"{std:.3f}" if _SPREAD in cell.measured else format_number(std, cell.metric)


def in_full(cell: Cell) -> str:
    """Describe a cell in full, numbers with six digits."""
    parts = []
    if not np.isnan(cell.mean):
        spread = "" if np.isnan(cell.std) else f" ± {cell.std:.6g}"
        splits = f" over {cell.n_splits} splits" if cell.n_splits > 1 else ""
        parts.append(f"measured {cell.mean:.6g}{spread}{splits}")
    if not np.isnan(cell.reported_mean):
        parts.append(f"reported {cell.reported_mean:.6g}")
    return "; ".join([*parts, cell.verdict] if cell.verdict else parts)


def _bytes(count: int) -> str:
    if count < 1000:
        return f"{count} B"
    return f"{count / 1e3:.0f} kB" if count < 1e6 else f"{count / 1e6:.1f} MB"


def address(target: Path, page: Path) -> str:
    """Return the relative address by which a page links to a file."""
    return quote(Path(os.path.relpath(target, page.parent)).as_posix())


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise a ReportError with one message in place of an OSError."""
    try:
        yield
    except OSError as error:
        place = error.filename or path
        raise ReportError(f"{place}: cannot be written: {error.strerror or error}") from None


def write_assets(folder: Path, *, charts: bool) -> None:
    """Write style and scripts, with Vega if there are charts to draw."""
    with writing(folder):
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
    # a function scope for its many short names
    return f"(() => {{\n{bundle}\n}})();\n"
