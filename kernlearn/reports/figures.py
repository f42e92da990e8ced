"""A summary drawn against a varied parameter: one specification for HTML, SVG and PNG."""

from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from kernlearn.experiments.config import ExperimentConfig, FigureSpec
from kernlearn.experiments.registry import METRICS
from kernlearn.reports.summary import label_values, matching

_WIDTH, _HEIGHT = 250, 190
_TITLES = {
    "buffer_size": "buffer size s",
    "n_components": "number of features D",
    "n_features": "d",
    "n_landmarks": "number of landmarks",
}


def build_chart(summary: pd.DataFrame, spec: FigureSpec, config: ExperimentConfig) -> Any:
    """Draw one figure of an experiment.

    Parameters
    ----------
    summary : pandas.DataFrame
        From :func:`~kernlearn.reports.summarise`.
    spec : FigureSpec
    config : ExperimentConfig

    Returns
    -------
    altair.VConcatChart
        For each metric its panels, ``per_row`` in a row; methods without the parameter on the
        x-axis are horizontal reference lines. Vertical bars are one standard deviation.
    """
    panels = [
        (values, matching(summary, spec.panels, values))
        for values in label_values(summary, spec.panels)
    ]
    rows = []
    for metric in spec.metrics:
        charts = []
        for labels, frame in panels:
            shown = _tidy(frame[frame["metric"] == metric], spec)
            if not shown.empty:
                title = " · ".join(str(v) for v in labels if v is not None)
                charts.append(_panel(shown, metric, spec, config, title))
        if charts:
            rows.append(alt.concat(*charts, columns=spec.per_row, spacing=24))
    if not rows:
        raise ValueError("nothing measured yet for this figure")
    return (
        alt.vconcat(*rows, spacing=18)
        .resolve_scale(color="shared", strokeDash="shared")
        .properties(title=spec.title or config.title)
        .configure_axis(labelFontSize=11, titleFontSize=12, gridColor="#e5e5e5")
        .configure_title(fontSize=13, anchor="start")
        .configure_view(stroke="#bbbbbb")
    )


def _tidy(frame: pd.DataFrame, spec: FigureSpec) -> pd.DataFrame:
    """Keep the plotted columns, with what altair can serialise and the bars' ends."""
    columns = [spec.x, spec.color, *([spec.dash] if spec.dash else []), "mean", "std", "n_splits"]
    shown = frame[frame["mean"].notna()][list(dict.fromkeys(columns))].copy()
    shown[spec.x] = pd.to_numeric(shown[spec.x])
    spread = shown["std"].fillna(0)
    shown["low"], shown["high"] = shown["mean"] - spread, shown["mean"] + spread
    return shown


def _panel(
    shown: pd.DataFrame, metric: str, spec: FigureSpec, config: ExperimentConfig, title: str
) -> Any:
    name = METRICS[metric].label if metric in METRICS else metric.replace("_", " ")
    scale = spec.y_scale if isinstance(spec.y_scale, str) else spec.y_scale.get(metric, "linear")
    if scale == "log":
        shown = shown.assign(low=shown["low"].clip(lower=shown["mean"] / 10))
    x = alt.X(
        f"{spec.x}:Q",
        title=_TITLES.get(spec.x, spec.x),
        scale=alt.Scale(type=spec.x_scale, nice=False, padding=8),
        axis=alt.Axis(tickCount=5),
    )
    axis = alt.Axis(format="~g", tickCount=4) if scale == "log" else alt.Axis()
    y = alt.Y("mean:Q", title=name, axis=axis, scale=alt.Scale(type=scale, zero=False, nice=False))
    look = {"color": _color(shown, spec, config)}
    if spec.dash:
        look["strokeDash"] = alt.StrokeDash(f"{spec.dash}:N", title=spec.dash, sort=None)
    tooltip = [
        alt.Tooltip(c, format=".4g") if c in ("mean", "std") else alt.Tooltip(c)
        for c in shown.columns
        if c not in ("low", "high")
    ]
    curves, lines = shown[shown[spec.x].notna()], shown[shown[spec.x].isna()]
    base = alt.Chart(curves)
    layers = [
        base.mark_line(strokeWidth=1.8).encode(x=x, y=y, **look),
        base.mark_rule(opacity=0.5).encode(
            x=x, y=alt.Y("low:Q", title=name), y2="high:Q", color=look["color"]
        ),
        base.mark_point(filled=True, size=28).encode(
            x=x, y=y, color=look["color"], tooltip=tooltip
        ),
    ]
    if not lines.empty:
        rule = alt.Chart(lines).mark_rule(strokeWidth=1.5, strokeDash=[6, 3])
        layers.append(rule.encode(y=y, color=look["color"], tooltip=tooltip))
    return alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT, title=title)


def _color(shown: pd.DataFrame, spec: FigureSpec, config: ExperimentConfig) -> Any:
    title = _TITLES.get(spec.color, spec.color)
    if pd.api.types.is_numeric_dtype(shown[spec.color].infer_objects()):
        return alt.Color(f"{spec.color}:O", title=title, scale=alt.Scale(scheme="viridis"))
    # Okabe and Ito's colours are told apart with any kind of sight.
    palette = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
    domain = list(getattr(config, f"{spec.color}s", {})) or None
    scale = alt.Scale(domain=domain, range=palette) if domain else alt.Scale(range=palette)
    return alt.Color(f"{spec.color}:N", title=title, scale=scale)


def save_chart(chart: Any, stem: Path) -> list[Path]:
    """Write a chart as HTML that needs no network, SVG and PNG; return the files."""
    files = [stem.with_suffix(suffix) for suffix in (".html", ".svg", ".png")]
    chart.save(files[0], inline=True)
    chart.save(files[1])
    chart.save(files[2], ppi=150)
    return files
