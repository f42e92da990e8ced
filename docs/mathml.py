"""Formulas as MathML, which browsers draw without a script: pages need no network.

A formula that is not understood, or only in part, is a warning, and so an error of the build.
"""

import re
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging

_LOGGER = logging.getLogger(__name__)
# A function's name and what follows it, unless the name is the base of an index or a limit.
_APPLIED = re.compile(
    r"(?<!<msub>)(?<!<msup>)(?<!<msubsup>)(?<!<munder>)(?<!<mover>)(?<!<mfrac>)"
    r"(<mi>(?:log|ln|exp|max|min|sup|inf|cos|sin|tanh)</mi>)(?=<m(?!o))"
)


def mathml(latex: str, display: str) -> str:
    """Return a formula as MathML; raise a ValueError if a command of it is not known."""
    text = f"\\begin{{split}}{latex}\\end{{split}}" if "\\\\" in latex else latex
    found = _APPLIED.sub(r'\1<mspace width="0.17em"/>', convert(text, display=display))
    if unknown := re.findall(r"\\[A-Za-z]+", found):
        raise ValueError(f"{', '.join(unknown)} in {latex!r} has no form in MathML")
    return found


def _written(translator: Any, node: nodes.Element, display: str) -> str:
    try:
        return mathml(node.astext(), display)
    except Exception as error:  # whatever the converter raises, the formula is at fault
        _LOGGER.warning("formula: %s", error, location=node)
        return translator.encode(node.astext())


def visit_inline(translator: Any, node: nodes.Element) -> None:
    """Write a formula within text."""
    translator.body.append(_written(translator, node, "inline"))
    raise nodes.SkipNode


def visit_block(translator: Any, node: nodes.Element) -> None:
    """Write a formula of its own, with its number if it has one."""
    translator.body.append(translator.starttag(node, "div", CLASS="math"))
    if node["number"]:
        translator.body.append(f'<span class="eqno">({node["number"]})</span>')
    translator.body.append(_written(translator, node, "block"))
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register the renderer."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
