"""Pages whose tables and charts are made from the committed numbers."""

import re
import textwrap
from collections.abc import Mapping
from typing import Any

import pandas as pd

from kernlearn.reports.vega import data_of, whole


def with_tables(text: str, tables: Mapping[str, str]) -> str:
    """Return a text with each table between the marks of its name and of the end."""
    for name, table in tables.items():
        marks = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
        text = re.sub(marks, lambda m, t=table: m[1] + t + m[2], text, flags=re.DOTALL)
    return text


def wrapped(text: str, indent: int = 0) -> str:
    """Return a paragraph in lines of at most 120 characters, all but the first indented."""
    lines = textwrap.wrap(text, 118 - indent, break_long_words=False, break_on_hyphens=False)
    return f"\n{' ' * indent}".join(lines) + ("" if indent else "\n")


def cost_chart(
    found: pd.DataFrame, costs: Mapping[str, str], size: str, unit: str, title: str
) -> dict[str, Any]:
    """Draw how far methods are behind the best against each of their costs.

    Parameters
    ----------
    found : DataFrame
        A row for each method and size, with the columns ``method``, ``behind``, those of `costs`
        and `size`.
    costs : mapping of str to str
        The titles of the axes by the columns of the costs, a panel for each.
    size : str
        The column by whose order lines join the points of a method.
    unit : str
        The unit of ``behind``.
    title : str
    """
    domain = list(dict.fromkeys(found["method"]))
    look = {
        "field": "method",
        "type": "nominal",
        "title": None,
        "scale": {"domain": domain, "scheme": "tableau20"},
    }
    shape = {**look, "scale": {"domain": domain}}
    y = {"field": "behind", "type": "quantitative", "title": f"behind the best, {unit}"}
    tooltip = [{"field": name} for name in ("method", size, "behind")]
    lacking, panels = found[list(costs)].isna().any(axis=None), []
    for cost, heading in costs.items():
        x = {
            "field": cost,
            "type": "quantitative",
            "title": heading,
            "scale": {"type": "log", "nice": False, "padding": 14},
            "axis": {"format": "~g", "tickCount": 5},
        }
        encoding = {"x": x, "y": y, "color": look}
        valid = {"filter": f"isValid(datum.{cost})"}
        mark = {"type": "point", "filled": True, "opacity": 1, "size": 40}
        panels.append(
            {
                **({"transform": [valid]} if lacking else {}),
                "layer": [
                    {
                        "mark": {"type": "line", "strokeWidth": 1.2},
                        "encoding": {**encoding, "order": {"field": size}},
                    },
                    {"mark": mark, "encoding": {**encoding, "shape": shape, "tooltip": tooltip}},
                ],
                "width": 330,
                "height": 320,
            }
        )
    return whole({"title": title, "data": data_of(found), "hconcat": panels, "spacing": 24})
