"""A summary drawn against a varied parameter: one specification for pages and pictures."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from kernlearn.experiments.config.model import ExperimentConfig, FigureSpec
from kernlearn.reports.summary import label_values, matching

# Okabe and Ito's colours are told apart with any kind of sight.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")

_WIDTH, _HEIGHT = 250, 190
# Column with the name of the panel that a row belongs to.
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
        shown = _tidy(summary[summary["metric"] == metric], spec)
        if not shown.empty:
            rows.append(_panels(shown, metric, spec, config))
    if not rows:
        raise ValueError("nothing measured yet for this figure")
    return (
        alt.vconcat(*rows, spacing=18)
        .resolve_scale(color="shared", shape="shared", strokeDash="shared")
        .properties(title=spec.title or config.title)
        .configure(**style())
    )


def style() -> dict[str, Any]:
    """Return the look that all charts share, as a Vega-Lite configuration."""
    return {
        "axis": {"labelFontSize": 11, "titleFontSize": 12, "gridColor": "#e5e5e5"},
        "title": {"fontSize": 13, "anchor": "start"},
        "header": {"labelFontSize": 12, "labelFontWeight": "bold", "labelAnchor": "start"},
        "legend": {"symbolOpacity": 1},
        "view": {"stroke": "#bbbbbb"},
        "range": {"category": list(PALETTE)},
    }


def _tidy(frame: pd.DataFrame, spec: FigureSpec) -> pd.DataFrame:
    """Keep the plotted columns, with what altair can serialise and the bars' ends."""
    columns = [spec.x, spec.color, *([spec.dash] if spec.dash else []), "mean", "std", "n_splits"]
    frame = _in_every_panel(frame[frame["mean"].notna()], spec.panels)
    shown = frame[list(dict.fromkeys(columns))].copy()
    shown[_PANEL] = [
        " · ".join(str(v) for v in values if not pd.isna(v))
        for values in frame[spec.panels].itertuples(index=False)
    ]
    shown[spec.x] = pd.to_numeric(shown[spec.x])
    spread = shown["std"].fillna(0)
    shown["low"], shown["high"] = shown["mean"] - spread, shown["mean"] + spread
    return shown


def _in_every_panel(frame: pd.DataFrame, labels: list[str]) -> pd.DataFrame:
    """Repeat what has no value of a panel's label, such as a kernel, in every panel it fits."""
    groups = label_values(frame, labels)
    whole = [group for group in groups if None not in group]
    parts = []
    # those first, so that panels stand in their order
    for group in [*whole, *(group for group in groups if None in group)]:
        rows = matching(frame, labels, group)
        fitting = [
            panel
            for panel in whole
            if all(own in (None, its) for own, its in zip(group, panel, strict=True))
        ]
        parts += [rows.assign(**dict(zip(labels, p, strict=True))) for p in fitting] or [rows]
    return pd.concat(parts) if parts else frame


def _panels(shown: pd.DataFrame, metric: str, spec: FigureSpec, config: ExperimentConfig) -> Any:
    name = config.scope.label(metric)
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
    # a logarithm has no zero to leave out
    zero = alt.Undefined if scale == "log" else False
    y = alt.Y("mean:Q", title=name, axis=axis, scale=alt.Scale(type=scale, zero=zero, nice=False))
    look = {"color": _color(shown, spec, config)}
    if spec.dash:
        look["strokeDash"] = alt.StrokeDash(f"{spec.dash}:N", title=spec.dash, sort=None)
    # colour is not the only sign
    shape = {} if _is_number(shown[spec.color]) else {"shape": _shape(spec, config)}
    tooltip = [
        alt.Tooltip(c, format=".4g") if c in ("mean", "std") else alt.Tooltip(c)
        for c in shown.columns
        if c not in ("low", "high", _PANEL)
    ]
    # one set of rows for all layers: only so can they be cut into panels
    base = alt.Chart().transform_filter(f"isValid(datum[{spec.x!r}])")
    layers = [
        base.mark_line(strokeWidth=1.8).encode(x=x, y=y, **look),
        base.mark_rule(opacity=0.5).encode(
            x=x, y=alt.Y("low:Q", title=name), y2="high:Q", color=look["color"]
        ),
        base.mark_point(filled=True, opacity=1, size=36).encode(
            x=x, y=y, color=look["color"], tooltip=tooltip, **shape
        ),
    ]
    if shown[spec.x].isna().any():
        rule = alt.Chart().transform_filter(f"!isValid(datum[{spec.x!r}])")
        rule = rule.mark_rule(strokeWidth=1.5, strokeDash=[6, 3])
        layers.append(rule.encode(y=y, color=look["color"], tooltip=tooltip))
    drawn = alt.layer(*layers, data=shown).properties(width=_WIDTH, height=_HEIGHT)
    if not spec.panels:
        return drawn
    names = list(dict.fromkeys(shown[_PANEL]))
    by = alt.Facet(f"{_PANEL}:N", sort=names, title=None)
    faceted = drawn.facet(facet=by, columns=spec.per_row, spacing=24)
    return faceted.resolve_scale(x="independent", y="independent")


def _color(shown: pd.DataFrame, spec: FigureSpec, config: ExperimentConfig) -> Any:
    title = _TITLES.get(spec.color, spec.color)
    if _is_number(shown[spec.color]):
        # neither end is lost on paper or on a dark screen
        scale = alt.Scale(scheme={"name": "viridis", "extent": [0.1, 0.9]})
        return alt.Color(f"{spec.color}:O", title=title, scale=scale)
    return alt.Color(f"{spec.color}:N", title=title, **_domain(spec, config))


def _shape(spec: FigureSpec, config: ExperimentConfig) -> Any:
    title = _TITLES.get(spec.color, spec.color)
    return alt.Shape(f"{spec.color}:N", title=title, **_domain(spec, config))


def _domain(spec: FigureSpec, config: ExperimentConfig) -> dict[str, Any]:
    """Return the scale on which a label has the same look in every panel."""
    labels = list(getattr(config, f"{spec.color}s", {}))
    return {"scale": alt.Scale(domain=labels)} if labels else {}


def _is_number(column: pd.Series) -> bool:
    return pd.api.types.is_numeric_dtype(column.infer_objects())


def save_pictures(chart: Mapping[str, Any], stem: Path) -> list[Path]:
    """Draw a chart and write it as SVG and PDF.

    Parameters
    ----------
    chart : mapping
        A Vega-Lite specification, as a chart's ``to_dict()`` gives it.
    stem : Path
        The files' path without suffix.

    Returns
    -------
    list of pathlib.Path
        Both files.
    """
    import vl_convert

    files = [stem.with_suffix(suffix) for suffix in (".svg", ".pdf")]
    svg = vl_convert.vegalite_to_svg(json.dumps(chart), vl_version=vega_lite_version())
    files[0].write_text(svg, encoding="utf-8")
    files[1].write_bytes(vl_convert.svg_to_pdf(svg))
    return files


def vega_lite_version() -> str:
    """Return the version of Vega-Lite that charts are written for, such as ``"6.4"``."""
    return ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
