"""The pictures of the measured growth, from the committed numbers.

``python -m benchmarks.growth_figures`` draws them anew, and the tables of `docs/speed.md`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from benchmarks import pages
from kernlearn.reports.pictures import save_pictures
from kernlearn.reports.vega import data_of, whole

ROOT = Path(__file__).parents[1]
MEASURED = ROOT / "results" / "measured"
GROWTH, CHOICE = MEASURED / "growth.csv", MEASURED / "choice.csv"
PAGE = ROOT / "docs" / "speed.md"
#: What grows, as the axes name it.
SIZES = {
    "n": "points n",
    "D": "features D",
    "landmarks": "landmarks",
    "s": "buffered points s",
}
#: Panels: what grows, and whether for the methods on landmarks.
_PANELS = [("n", False), ("n", True), ("D", False), ("landmarks", True), ("s", False)]
_LINE = ["method", "step", "size"]
_LEVEL = 0.95


def slopes(growth: pd.DataFrame) -> pd.DataFrame:
    """Fit a straight line in logarithms to the upper half of the sizes of each line.

    Below it costs count that do not grow. A row has the labels of a line, its ``slope`` with
    the limits of its 95 % interval, ``low`` and ``high``, the ``intercept``, the smallest and
    the largest fitted size, ``first`` and ``last``, and the ``seconds`` at the last.
    """
    rows = []
    for labels, line in growth.groupby(_LINE, sort=False):
        upper = line[line["value"] >= np.sqrt(line["value"].min() * line["value"].max())]
        fitted = stats.linregress(np.log10(upper["value"]), np.log10(upper["seconds"]))
        half = stats.t.ppf((1 + _LEVEL) / 2, len(upper) - 2) * fitted.stderr
        rows.append(
            {
                **dict(zip(_LINE, labels, strict=True)),
                "slope": fitted.slope,
                "low": fitted.slope - half,
                "high": fitted.slope + half,
                "intercept": fitted.intercept,
                "first": upper["value"].min(),
                "last": upper["value"].max(),
                "seconds": upper["seconds"].iloc[-1],
            }
        )
    return pd.DataFrame(rows)


def growth_chart(growth: pd.DataFrame) -> dict[str, Any]:
    """Draw seconds against size with the fitted lines and their slopes.

    There is a panel for each size, and another for the methods on landmarks against points.
    """
    fitted = slopes(growth)
    fitted["line"] = fitted["method"] + ", " + fitted["step"]
    growth = growth.assign(line=growth["method"] + ", " + growth["step"])
    domain = list(dict.fromkeys(fitted["line"]))
    look = {
        "field": "line",
        "type": "nominal",
        "title": None,
        "scale": {"domain": domain, "scheme": "tableau20"},
    }
    shape = {**look, "scale": {"domain": domain}}
    of_landmarks = set(growth.loc[growth["size"] == "landmarks", "method"])
    panels = []
    for size, on_landmarks in _PANELS:
        lines = _part(fitted, size, of_landmarks, on_landmarks)
        title = SIZES[size] + (", methods on landmarks" if on_landmarks and size == "n" else "")
        x, y = _axis("value", title), _axis("seconds", "CPU seconds")
        points = _part(growth, size, of_landmarks, on_landmarks)[["line", "value", "seconds"]]
        tooltip = [{"field": name} for name in points.columns]
        ends = pd.DataFrame(
            [
                {
                    "line": one["line"],
                    "value": value,
                    "seconds": 10 ** (one["intercept"] + one["slope"] * np.log10(value)),
                    "text": f"{one['slope']:.2f}" if value == one["last"] else "",
                }
                for one in lines.to_dict("records")
                for value in (one["first"], one["last"])
            ]
        )
        layers = [
            {
                "data": data_of(points),
                "mark": {"type": "point", "filled": True, "opacity": 1, "size": 18},
                "encoding": {"x": x, "y": y, "color": look, "shape": shape, "tooltip": tooltip},
            },
            {
                "data": data_of(ends),
                "mark": {"type": "line", "strokeWidth": 1.5},
                "encoding": {"x": x, "y": y, "color": look},
            },
            {
                "data": data_of(ends),
                "mark": {"type": "text", "align": "left", "dx": 5, "fontSize": 9},
                "encoding": {"x": x, "y": y, "text": {"field": "text"}},
            },
        ]
        panels.append({"layer": layers, "width": 300, "height": 280})
    title = "Seconds against size; straight lines have the slope beside them"
    return whole({"title": title, "concat": panels, "columns": 3, "spacing": 24})


def _part(frame: pd.DataFrame, size: str, methods: set[str], inside: bool) -> pd.DataFrame:
    return frame[(frame["size"] == size) & (frame["method"].isin(methods) == inside)]


def choice_chart(choice: pd.DataFrame) -> dict[str, Any]:
    """Draw seconds and accuracy of the classifiers against the number of rows."""
    domain = list(dict.fromkeys(choice["method"]))
    look = {
        "field": "method",
        "type": "nominal",
        "title": None,
        "scale": {"domain": domain, "scheme": "tableau10"},
    }
    shape = {**look, "scale": {"domain": domain}}
    x = _axis("n", "rows n")
    accuracy = {
        "field": "accuracy",
        "type": "quantitative",
        "title": "accuracy",
        "scale": {"zero": False},
    }
    tooltip = [{"field": name} for name in ("method", "n", "seconds", "accuracy")]
    panels = []
    for y in (_axis("seconds", "CPU seconds of fit and predict"), accuracy):
        encoding = {"x": x, "y": y, "color": look}
        point = {"type": "point", "filled": True, "opacity": 1, "size": 30}
        layers = [
            {"mark": {"type": "line", "strokeWidth": 1.5}, "encoding": encoding},
            {"mark": point, "encoding": {**encoding, "shape": shape, "tooltip": tooltip}},
        ]
        panels.append({"layer": layers, "width": 330, "height": 300})
    title = "Seconds to fit and to predict 2000 points, and accuracy, against rows"
    return whole({"title": title, "data": data_of(choice), "hconcat": panels, "spacing": 24})


def _axis(field: str, title: str) -> dict[str, Any]:
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "scale": {"type": "log", "nice": False, "padding": 14},
        "axis": {"format": "~g" if field == "seconds" else "~s", "tickCount": 5},
    }


def slopes_table() -> str:
    """Return the slopes in Markdown."""
    heads = ["exponent", "95 % interval", "fitted from", "to", "seconds there"]
    lines = [
        f"| method | step | grows in | {' | '.join(heads)} |",
        "| --- | --- | --- |" + " ---: |" * len(heads),
    ]
    for one in slopes(pd.read_csv(GROWTH)).to_dict("records"):
        cells = [
            one["method"],
            one["step"],
            SIZES[one["size"]],
            f"{one['slope']:.2f}",
            f"{one['low']:.2f} to {one['high']:.2f}",
            f"{one['first']}",
            f"{one['last']}",
            f"{one['seconds']:.2g}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def choice_table() -> str:
    """Return seconds and accuracy of the classifiers at three numbers of rows, in Markdown."""
    choice = pd.read_csv(CHOICE)
    shown = [1000, 10000, int(choice["n"].max())]
    heads = [f"{what} at {n}" for n in shown for what in ("seconds", "accuracy")]
    lines = [f"| method | {' | '.join(heads)} |", "| --- |" + " ---: |" * len(heads)]
    for method, line in choice.groupby("method", sort=False):
        by_size = line.set_index("n")
        cells = []
        for n in shown:
            there = n in by_size.index
            cells += (
                [f"{by_size['seconds'][n]:.2g}", f"{by_size['accuracy'][n]:.3f}"]
                if there
                else ["·"] * 2
            )
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


TABLES = {"growth": slopes_table, "choice": choice_table}


def with_tables(text: str) -> str:
    """Return a text with every table between marks as the committed numbers have it."""
    return pages.with_tables(text, {name: table() for name, table in TABLES.items()})


def draw() -> None:
    """Draw the pictures, and write the tables of the page."""
    for file, chart in ((GROWTH, growth_chart), (CHOICE, choice_chart)):
        _, pdf = save_pictures(chart(pd.read_csv(file)), file.with_suffix(""))
        pdf.unlink()
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    draw()
