"""Charts of a summary against a varied parameter, as Vega-Lite for pages and pictures."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from kernlearn.experiments.config.model import ExperimentConfig, FigureSpec
from kernlearn.reports.summary import label_values, matching

# The colours of Okabe and Ito can be told apart with any kind of colour vision.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

_WIDTH, _HEIGHT = 250, 190
# Column with the name of the panel of a row.
_PANEL = "panel"
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
    rows = []
    for metric in spec.metrics:
        points = _points(summary[summary["metric"] == metric], spec)
        if not points.empty:
            rows.append(_panels(points, metric, spec, config))
    if not rows:
        raise ValueError("nothing measured yet for this figure")
    return (
        alt.vconcat(*rows, spacing=18)
        .resolve_scale(color="shared", shape="shared", strokeDash="shared")
        .properties(title=spec.title or config.title)
        .configure(**style())
    )


def style() -> dict[str, Any]:
    """Return the style that all charts share, as a Vega-Lite configuration."""
    return {
        "axis": {"labelFontSize": 11, "titleFontSize": 12, "gridColor": "#e5e5e5"},
        "title": {"fontSize": 13, "anchor": "start"},
        "header": {"labelFontSize": 12, "labelFontWeight": "bold", "labelAnchor": "start"},
        "legend": {"symbolOpacity": 1},
        "view": {"stroke": "#bbbbbb"},
        "range": {"category": list(PALETTE)},
    }


def _points(frame: pd.DataFrame, spec: FigureSpec) -> pd.DataFrame:
    """Return the plotted columns, in types that altair can serialise, and the ends of the bars."""
    columns = [spec.x, spec.color, *([spec.dash] if spec.dash else []), "mean", "std", "n_splits"]
    frame = _in_every_panel(frame[frame["mean"].notna()], spec.panels)
    points = frame[list(dict.fromkeys(columns))].copy()
    points[_PANEL] = [
        " · ".join(str(v) for v in values if not pd.isna(v))
        for values in frame[spec.panels].itertuples(index=False)
    ]
    points[spec.x] = pd.to_numeric(points[spec.x])
    spread = points["std"].fillna(0)
    points["low"], points["high"] = points["mean"] - spread, points["mean"] + spread
    return points


def _in_every_panel(frame: pd.DataFrame, labels: list[str]) -> pd.DataFrame:
    """Repeat rows without one of the labels, such as a kernel, in every panel they fit."""
    groups = label_values(frame, labels)
    panels = [group for group in groups if None not in group]
    parts = []
    # complete groups first, which keeps the order of the panels
    for group in [*panels, *(group for group in groups if None in group)]:
        rows = matching(frame, labels, group)
        fitting = [
            panel
            for panel in panels
            if all(value in (None, of_panel) for value, of_panel in zip(group, panel, strict=True))
        ]
        parts += [rows.assign(**dict(zip(labels, p, strict=True))) for p in fitting] or [rows]
    return pd.concat(parts) if parts else frame


def _panels(points: pd.DataFrame, metric: str, spec: FigureSpec, config: ExperimentConfig) -> Any:
    name = config.scope.label(metric)
    scale = spec.y_scale if isinstance(spec.y_scale, str) else spec.y_scale.get(metric, "linear")
    is_log = scale == "log"
    if is_log:
        points = points.assign(low=points["low"].clip(lower=points["mean"] / 10))
    x = alt.X(
        f"{spec.x}:Q",
        title=_TITLES.get(spec.x, spec.x),
        scale=alt.Scale(type=spec.x_scale, nice=False, padding=8),
        axis=alt.Axis(tickCount=5),
    )
    y = alt.Y(
        "mean:Q",
        title=name,
        axis=alt.Axis(format="~g", tickCount=4) if is_log else alt.Axis(),
        # a logarithmic scale has no zero to leave out
        scale=alt.Scale(type=scale, zero=alt.Undefined if is_log else False, nice=False),
    )
    color, shape = _look(points, spec, config)
    dash = {}
    if spec.dash:
        dash["strokeDash"] = alt.StrokeDash(f"{spec.dash}:N", title=spec.dash, sort=None)
    tooltip = [
        alt.Tooltip(c, format=".4g") if c in ("mean", "std") else alt.Tooltip(c)
        for c in points.columns
        if c not in ("low", "high", _PANEL)
    ]
    # charts can be faceted only if all layers share their data
    base = alt.Chart().transform_filter(f"isValid(datum[{spec.x!r}])")
    bar = base.mark_rule(opacity=0.5)
    layers = [
        base.mark_line(strokeWidth=1.8).encode(x=x, y=y, color=color, **dash),
        bar.encode(x=x, y=alt.Y("low:Q", title=name), y2="high:Q", color=color),
        base.mark_point(filled=True, opacity=1, size=36).encode(
            x=x, y=y, color=color, tooltip=tooltip, **shape
        ),
    ]
    if points[spec.x].isna().any():
        rule = alt.Chart().transform_filter(f"!isValid(datum[{spec.x!r}])")
        rule = rule.mark_rule(strokeWidth=1.5, strokeDash=[6, 3])
        layers.append(rule.encode(y=y, color=color, tooltip=tooltip))
    chart = alt.layer(*layers, data=points).properties(width=_WIDTH, height=_HEIGHT)
    if not spec.panels:
        return chart
    names = list(dict.fromkeys(points[_PANEL]))
    by = alt.Facet(f"{_PANEL}:N", sort=names, title=None)
    faceted = chart.facet(facet=by, columns=spec.per_row, spacing=24)
    return faceted.resolve_scale(x="independent", y="independent")


def _look(
    points: pd.DataFrame, spec: FigureSpec, config: ExperimentConfig
) -> tuple[Any, dict[str, Any]]:
    """Return colours, and shapes so that colour is not the only sign; the same in every panel."""
    title = _TITLES.get(spec.color, spec.color)
    if pd.api.types.is_numeric_dtype(points[spec.color].infer_objects()):
        # both ends stay visible on paper and on a dark screen
        scale = alt.Scale(scheme={"name": "viridis", "extent": [0.1, 0.9]})
        return alt.Color(f"{spec.color}:O", title=title, scale=scale), {}
    labels = list(getattr(config, f"{spec.color}s", {}))
    domain: dict[str, Any] = {"scale": alt.Scale(domain=labels)} if labels else {}
    shape = alt.Shape(f"{spec.color}:N", title=title, **domain)
    return alt.Color(f"{spec.color}:N", title=title, **domain), {"shape": shape}


def save_pictures(chart: Mapping[str, Any], stem: Path) -> list[Path]:
    """Draw a Vega-Lite specification; return the SVG and PDF files, ``stem`` with suffixes."""
    import vl_convert

    files = [stem.with_suffix(suffix) for suffix in (".svg", ".pdf")]
    svg = vl_convert.vegalite_to_svg(json.dumps(chart), vl_version=vega_lite_version())
    files[0].write_text(svg, encoding="utf-8")
    files[1].write_bytes(vl_convert.svg_to_pdf(svg))
    return files


def vega_lite_version() -> str:
    """Return the version of Vega-Lite that charts are written for, such as ``"6.4"``."""
    return ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
