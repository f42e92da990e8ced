"""The critical-difference diagram of average ranks (Demšar 2006, figure 1)."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from kernlearn.reports.rankings import Ranking
from kernlearn.reports.vega import style

# Pixels: the axis, the height of a line of text, and the room for names on both sides.
_WIDTH, _LINE = 420, 17
_BAR = "#000000"


def rank_diagram(found: Sequence[Ranking]) -> Any:
    """Draw average ranks on an axis, the best on the left, one diagram below the other.

    Thick lines join methods that are not told apart: by Nemenyi's test, or all of them where
    Friedman's test shows no difference. The line above the axis is as long as the critical
    difference.

    Parameters
    ----------
    found : sequence of Ranking

    Returns
    -------
    altair.VConcatChart
    """
    charts = [_diagram(one) for one in found]
    look = {**style(), "view": {"stroke": None}}
    return alt.vconcat(*charts, spacing=30).configure(**look)


def _diagram(one: Ranking) -> Any:
    ranks = one.ranks
    k = len(ranks.average)
    # methods of the better half are named on the left, the others on the right
    half = (k + 1) // 2
    groups = [group for group in ranks.groups if len(group) > 1]
    below = 0.5 + 0.55 * len(groups)
    rows = []
    for i, (method, rank) in enumerate(ranks.average.items()):
        left = i < half
        line = below + 1 + (i if left else k - 1 - i)
        rows.append(
            {
                "method": method,
                "rank": rank,
                "line": line,
                "axis": 0.0,
                "left": left,
                "end": 1.0 if left else float(k),
                "text": f"{method}  {rank:.2f}" if left else f"{rank:.2f}  {method}",
            }
        )
    names = pd.DataFrame(rows)
    bars = pd.DataFrame(
        [
            {
                "low": ranks.average[g[0]] - 0.03,
                "high": ranks.average[g[-1]] + 0.03,
                "line": 0.5 + 0.55 * i,
                "methods": ", ".join(g),
            }
            for i, g in enumerate(groups)
        ],
        columns=["low", "high", "line", "methods"],
    )
    width = ranks.critical_difference
    measure = pd.DataFrame(
        {
            "low": [1.0],
            "high": [1 + width],
            "line": [-2.2],
            "text": [f"critical difference {width:.2f}"],
        }
    )
    ends = pd.DataFrame({"rank": [1.0, 1 + width], "low": [-2.4] * 2, "line": [-2.0] * 2})
    highest = max([*names["line"], 1.0]) + 0.6
    scale = alt.Scale(domain=[1, k], nice=False, zero=False)
    axis = alt.Axis(
        orient="top",
        values=list(range(1, k + 1)),
        format="d",
        title=None,
        grid=False,
        offset=0,
        domainColor=_BAR,
        tickColor=_BAR,
    )

    def x(column: str) -> Any:
        return alt.X(f"{column}:Q", scale=scale, axis=axis, title=None)

    upright: dict[str, Any] = {
        "axis": None,
        "title": None,
        "scale": alt.Scale(domain=[0, highest], reverse=True, nice=False),
    }
    y = alt.Y("line:Q", **upright)
    tooltip = [alt.Tooltip("method:N"), alt.Tooltip("rank:Q", format=".3f", title="average rank")]
    base = alt.Chart(names)
    layers = [
        base.mark_rule(strokeWidth=1).encode(
            x=x("rank"), y=alt.Y("axis:Q", **upright), y2="line:Q"
        ),
        base.mark_rule(strokeWidth=1).encode(x=x("rank"), x2="end:Q", y=y),
    ]
    for left in (True, False):
        side = alt.Chart(names[names["left"] == left])
        layers.append(
            side.mark_text(
                align="right" if left else "left",
                dx=-6 if left else 6,
                fontSize=12,
                baseline="middle",
            ).encode(x=x("end"), y=y, text="text:N", tooltip=tooltip)
        )
    rule = alt.Chart(measure)
    layers += [
        rule.mark_rule(strokeWidth=1.5).encode(x=x("low"), x2="high:Q", y=y),
        rule.mark_text(align="left", baseline="bottom", dy=-5, fontSize=11).encode(
            x=x("low"), y=y, text="text:N"
        ),
        alt.Chart(ends)
        .mark_rule(strokeWidth=1.5)
        .encode(x=x("rank"), y=alt.Y("low:Q", **upright), y2="line:Q"),
    ]
    if groups:
        layers.append(
            alt.Chart(bars)
            .mark_rule(strokeWidth=4, color=_BAR, strokeCap="butt")
            .encode(x=x("low"), x2="high:Q", y=y, tooltip=["methods:N"])
        )
    title = " · ".join(filter(None, [one.experiment, one.metric.replace("_", " "), one.place]))
    differ = "methods differ" if ranks.differ else "no difference shown"
    subtitle = (
        f"average ranks on {ranks.n_datasets} data sets; Friedman's test: {differ}, "
        f"p = {ranks.p_value:.2g}"
    )
    heading = alt.Title(title, subtitle=subtitle, anchor="start", offset=22)
    return alt.layer(*layers).properties(width=_WIDTH, height=int(_LINE * highest), title=heading)
