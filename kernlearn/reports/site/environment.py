"""The templates of pages, with what they share."""

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from kernlearn import __version__
from kernlearn.engine.run import duration
from kernlearn.reports import conclusions, tables
from kernlearn.reports.addresses import slug
from kernlearn.reports.significance import OUTCOMES
from kernlearn.reports.site.formats import in_full, number_text, spread_text
from kernlearn.reports.verdicts import VERDICTS

HERE = Path(__file__).parent
# Symbols, so that colour is never the only sign.
CLAIM_SIGNS = dict(zip(OUTCOMES, "✓○↗↘✗–", strict=True))
CONCLUSION_SIGNS = dict(zip(conclusions.OUTCOMES, "✓○✗–", strict=True))


#: Name of an experiment and address of its page.
Link = tuple[str, str]


def occurring(signs: dict[str, str], judged: Sequence[Any]) -> list[str]:
    """Return the outcomes that occur, in their order."""
    found = {one.outcome for one in judged}
    return [outcome for outcome in signs if outcome in found]


def render(template: str, **values: Any) -> str:
    """Return a page made from a template; all values are escaped."""
    return _environment().get_template(template).render(version=__version__, **values)


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.globals |= {
        "symbols": tables.SYMBOLS,
        "not_converged": tables.NOT_CONVERGED,
        "verdicts": VERDICTS,
        "outcomes": CLAIM_SIGNS,
        "conclusion_signs": CONCLUSION_SIGNS,
    }
    filters: dict[str, Callable[..., str]] = {
        "date": lambda text: text[:16].replace("T", " "),
        "duration": duration,
        "in_full": in_full,
        "number": number_text,
        "plain": lambda value: repr(float(value)),
        "slug": slug,
        "spread": spread_text,
    }
    environment.filters |= filters
    return environment
