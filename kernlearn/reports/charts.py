"""Charts, as Vega-Lite: figures of a config, and deviations from reported numbers."""

import json
import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from kernlearn.config.model import ExperimentConfig, FigureSpec
from kernlearn.reports.labels import label_groups, label_rows
from kernlearn.reports.tables import WORDS, group_title

if TYPE_CHECKING:
    from kernlearn.reports.report import Report

_TEMPLATES = Path(__file__).parent / "templates"
# Browsers turn the colours of paper around on a dark screen, and keep the hues.
_NIGHT = """<style>@media (prefers-color-scheme: dark) {
  svg { background: #15171a !important }
  svg > * { filter: invert(1) hue-rotate(180deg) }
}</style>"""
# Pixels: the size of a figure's panel, the height of a method's row, the width of its panel.
_WIDTH, _HEIGHT = 250, 190
_ROW, _ROW_WIDTH = 9, 420
# Column with the name of the panel of a row.
_PANEL = "panel"
_BAR = {"type": "rule", "opacity": 0.5}
_POINT = {"type": "point", "filled": True, "opacity": 1, "size": 36}
# Escapes of JSON. Control characters, which may stand in names, would abort the process.
_CONTROL = re.compile(r"\\(u00[01][0-9a-f]|.)")
# With at most so many whole numbers on an axis, nothing between them is marked.
_FEW = 3


@dataclass(frozen=True)
class Chart:
    """A chart: the name of its file without suffix, its title, text alternative and Vega-Lite."""

    stem: str
    title: str
    description: str
    spec: dict[str, Any]


def draw(charts: Iterable[Mapping[str, Any]]) -> list[str]:
    """Draw Vega-Lite specifications as SVG with the colours of the page that it is put into.

    In place of one that cannot be drawn there is a line that says so.
    """
    import vl_convert

    version = vl_convert.get_vegalite_versions()[-1]
    texts = [_CONTROL.sub(_without_control, json.dumps(chart)) for chart in charts]

    def drawn(text: str) -> str:
        try:
            return str(vl_convert.vegalite_to_svg(text, version))
        except ValueError as error:
            why = escape(" ".join(str(error).split())[:200])
            text = f'<text y="16" fill="currentColor">This chart cannot be drawn: {why}</text>'
            return f'<svg xmlns="http://www.w3.org/2000/svg" width="800" height="24">{text}</svg>'

    with ThreadPoolExecutor() as pool:
        return list(pool.map(drawn, texts))


def _without_control(escape: re.Match[str]) -> str:
    return "�" if escape[1] in "bf" or len(escape[1]) > 1 else escape[0]


def save(svg: str, path: Path) -> Path:
    """Write a drawn chart as a file, with the colours of paper, or of night on a dark screen."""
    style = (_TEMPLATES / "site.css").read_text(encoding="utf-8")
    for name, light in re.findall(r"--([\w-]+): light-dark\((#\w+)", style):
        svg = svg.replace(f"var(--{name})", light)
    svg = re.sub("<svg ([^>]*)>", rf'<svg style="background: #fff" \1>{_NIGHT}', svg, count=1)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(svg + "\n", encoding="utf-8")
    return path


def chart_of(chart: Mapping[str, Any]) -> dict[str, Any]:
    """Return a chart with the style that all share."""
    return {**chart, "config": json.loads((_TEMPLATES / "chart.json").read_text("utf-8"))}


def data_of(frame: pd.DataFrame) -> dict[str, Any]:
    """Return the rows of a frame as data of a chart; what is missing is null."""
    return {"values": frame.astype(object).where(frame.notna(), None).to_dict("records")}


def stems(name: str, count: int) -> list[str]:
    """Return names of files without suffix, with numbers if there are several."""
    return [name] if count == 1 else [f"{name}{i + 1}" for i in range(count)]


# ---- figures ----


def figures(report: "Report") -> list[Chart]:
    """Return the figures of an experiment's config for which there are numbers.

    Each has for each metric its panels, ``per_row`` in a row; methods without the parameter on
    the x-axis are horizontal reference lines. Vertical bars are one standard deviation.
    """
    config, cells, charts = report.experiment.config, report.cells, []
    cells = cells[cells["mean"].notna()]
    for stem, spec in zip(stems("figure", len(config.figures)), config.figures, strict=True):
        drawn = {spec.x, spec.color, spec.dash, "metric"}
        panels = [*spec.panels, *(k for k in config.several if k not in drawn)]
        spec = spec.model_copy(update={"panels": list(dict.fromkeys(panels))})
        of_metrics = [(name, cells[cells["metric"] == name]) for name in spec.metrics]
        points = {name: _points(rows, spec) for name, rows in of_metrics if len(rows)}
        if points:
            names = ", ".join(map(config.scope.label, spec.metrics))
            title = f"{names} against {WORDS.get(spec.x, spec.x.replace('_', ' '))}"
            colors = pd.concat(points.values())[spec.color].dropna().unique()
            text = f"Line chart: {title}; lines by {spec.color}: {', '.join(map(str, colors))}."
            rows = [_panels(frame, name, spec, config) for name, frame in points.items()]
            shared = {"color": "shared", "shape": "shared", "strokeDash": "shared"}
            chart = chart_of({"vconcat": rows, "spacing": 18, "resolve": {"scale": shared}})
            charts.append(Chart(stem, title, text, chart))
    return charts


def _points(frame: pd.DataFrame, spec: FigureSpec) -> pd.DataFrame:
    """Return the plotted columns, the panel, and the ends of the bars.

    Rows without one of the labels of panels, such as a kernel, are in every panel that they fit.
    """
    parts = []
    for panel, rows in label_groups(frame, spec.panels):
        named = dict(zip(spec.panels, panel, strict=True))
        title = " · ".join(str(label) for label in panel if label is not None)
        parts.append(rows.assign(**named, **{_PANEL: title}))
    columns = [spec.x, spec.color, *([spec.dash] if spec.dash else []), "mean", "std", _PANEL]
    points = pd.concat(parts)[list(dict.fromkeys(columns))]
    points[spec.x] = pd.to_numeric(points[spec.x])
    if points[spec.color].dtype == object:  # what has no colour would not be drawn
        points[spec.color] = points[spec.color].fillna(f"no {spec.color}")
    spread = points["std"].fillna(0)
    return points.assign(low=points["mean"] - spread, high=points["mean"] + spread)


def _panels(
    points: pd.DataFrame, metric: str, spec: FigureSpec, config: ExperimentConfig
) -> dict[str, Any]:
    """Draw a metric: a panel for each value of the labels, each with ticks of its own."""
    scale = spec.y_scale if isinstance(spec.y_scale, str) else spec.y_scale.get(metric, "linear")
    is_log = scale == "log"
    if is_log:
        points = points.assign(low=points["low"].clip(lower=points["mean"] / 10))
    # a logarithmic scale has no zero to leave out
    zero = {} if is_log else {"zero": False}
    axis = {"format": "~g", "tickCount": 4} if is_log else {}
    scales = {"type": scale, **zero, "nice": False}
    y = _number("mean", config.scope.label(metric), axis=axis, scale=scales)
    look = _look(points[spec.color], spec.color, config)
    panels = list(dict.fromkeys(points[_PANEL]))
    drawn = [_lines(points[points[_PANEL] == panel], y, look, spec) for panel in panels]
    if not spec.panels:
        return drawn[0]
    titles = [{"text": panel, "fontSize": 12, "frame": "group"} for panel in panels]
    titled = [{"title": title, **chart} for title, chart in zip(titles, drawn, strict=True)]
    return {"concat": titled, "columns": spec.per_row, "spacing": 24}


def _lines(
    points: pd.DataFrame, y: dict[str, Any], look: dict[str, Any], spec: FigureSpec
) -> dict[str, Any]:
    """Draw the lines of one panel, with their bars and marks."""
    ticks = sorted(points[spec.x].dropna().unique().tolist())
    few = len(ticks) <= _FEW and all(float(value).is_integer() for value in ticks)
    # ticks of a logarithmic axis, or of few whole numbers, are where the points are
    axis: dict[str, Any] = {"tickCount": 5}
    if spec.x_scale == "log" or few:
        axis = {"values": ticks, "labelOverlap": "greedy"} | ({"format": "d"} if few else {})
    scales = {"type": spec.x_scale, "nice": False, "padding": 8}
    x = _number(spec.x, WORDS.get(spec.x, spec.x), axis=axis, scale=scales)
    dash = {"field": spec.dash, "type": "nominal", "title": spec.dash, "sort": None}
    has_x = f"isValid(datum[{spec.x!r}])"
    base = {"x": x, "color": look["color"]}
    low, high = _number("low", y["title"]), {"field": "high"}
    dashes = {"strokeDash": dash} if spec.dash else {}
    if points["mean"].nunique() == 1:  # the only tick would be rounded to a whole number
        y = {**y, "axis": {**y["axis"], "format": ".3~g"}}
    layers = [
        _layer({"type": "line", "strokeWidth": 1.8}, {**base, "y": y, **dashes}, has_x),
        _layer(_BAR, {**base, "y": low, "y2": high}, has_x),
        _layer(_POINT, {**base, "y": y, **look}, has_x),
    ]
    if points[spec.x].isna().any():
        rule = {"type": "rule", "strokeWidth": 1.5, "strokeDash": [6, 3]}
        layers.append(_layer(rule, {"y": y, "color": look["color"]}, f"!{has_x}"))
    return {"data": data_of(points), "layer": layers, "width": _WIDTH, "height": _HEIGHT}


def _number(field: str, title: str, **more: Any) -> dict[str, Any]:
    return {"field": field, "type": "quantitative", "title": title, **more}


def _layer(mark: dict[str, Any], encoding: dict[str, Any], rows: str = "") -> dict[str, Any]:
    chosen = {"transform": [{"filter": rows}]} if rows else {}
    return {**chosen, "mark": mark, "encoding": encoding}


def _look(values: "pd.Series[Any]", label: str, config: ExperimentConfig) -> dict[str, Any]:
    """Return colours, and shapes so that colour is not the only sign; the same in every chart."""
    named = {"field": label, "title": WORDS.get(label, label)}
    if pd.api.types.is_numeric_dtype(values.infer_objects()):
        # both ends stay visible on paper and on a dark screen
        scale = {"scheme": {"name": "viridis", "extent": [0.1, 0.9]}}
        return {"color": {**named, "type": "ordinal", "scale": scale}}
    listed = list(getattr(config, f"{label}s", {}))
    # a kernel with varied parameters has their values behind its name
    listed += [one for one in values.dropna().unique() if listed and one not in listed]
    # the legend names only those of this chart
    there = [one for one in listed if one in set(values)]
    domain = {"scale": {"domain": listed}, "legend": {"values": there}} if listed else {}
    encoded = {**named, "type": "nominal", **domain}
    return {"color": encoded, "shape": encoded}


# ---- deviations ----


def deviations(report: "Report") -> list[Chart]:
    """Return how far measured numbers are from the reported ones, a chart per metric with a rule.

    Methods stand below each other. Where the tolerance is absolute they are differences, else
    ratios; a band is as wide as the tolerance. Bars are one standard deviation over the splits.
    What is only indicative is not held against the paper.
    """
    config, cells, charts = report.experiment.config, report.cells, []
    both = cells[cells["mean"].notna() & cells["reported_mean"].notna()]
    rules = {} if report.experiment.indicative else config.verdict
    for metric, tolerance in rules.items():
        if tolerance.factor is not None:
            continue
        rows, same, allowed = both[both["metric"] == metric], 0.0, tolerance.absolute
        units = pd.Series(1.0, rows.index)
        if allowed is None:
            rows, same, allowed = rows[rows["reported_mean"] > 0], 1.0, tolerance.relative or 0.0
            units = rows["reported_mean"]
        if rows.empty:
            continue
        departs = (rows["mean"] - rows["reported_mean"]) / units + same
        spread = rows["std"].fillna(0) / units
        # what all methods have; sizes of some stand in the table
        labels = [c for c in ("dataset", "kernel", *config.axes) if rows[c].notna().all()]
        labels = [c for c in labels if c == "dataset" or rows[c].nunique() > 1]
        places = [" ".join(map(group_title, labels, one)) for one in label_rows(rows, labels)]
        points = rows[["method"]].assign(row=places, departs=departs)
        points = points.assign(low=departs - spread, high=departs + spread)
        band = pd.DataFrame({"low": [same - allowed], "high": [same + allowed], "same": [same]})
        title = f"{config.scope.label(metric)}, measured {'/' if same else '−'} reported"
        counts = ", ".join(f"{n} {v}" for v, n in rows["verdict"].value_counts().items())
        text = f"Dot plot of {len(rows)} measured numbers beside the reported ones: {counts}."
        spec = _dots(points, band, title, _look(rows["method"], "method", config))
        charts.append(Chart(f"deviations_{metric}", title, text, spec))
    return charts


def _dots(
    points: pd.DataFrame, band: pd.DataFrame, title: str, look: dict[str, Any]
) -> dict[str, Any]:
    def x(field: str) -> dict[str, Any]:
        return _number(field, title, scale={"zero": False, "nice": False}, axis={"tickCount": 6})

    axis = {"labelLimit": 320, "title": None}
    row = {
        "y": {"field": "row", "type": "nominal", "sort": None, "axis": axis},
        "yOffset": {"field": "method", "type": "nominal", "sort": None},
    }
    ends, grey = {"x": x("low"), "x2": {"field": "high"}}, {"color": "var(--muted)"}
    shade = _layer({"type": "rect", "opacity": 0.13, **grey}, ends)
    same = _layer({"type": "rule", **grey}, {"x": x("same")})
    layers = [
        {"data": data_of(band), "layer": [shade, same]},
        _layer(_BAR, {**row, **ends, "color": look["color"]}),
        _layer(_POINT, {**row, "x": x("departs"), **look}),
    ]
    size = {"width": _ROW_WIDTH, "height": {"step": _ROW, "for": "offset"}}
    # the page's font may be wider than the one that labels are measured with
    padding = {"left": 30, "right": 5, "top": 5, "bottom": 5}
    return chart_of({"data": data_of(points), "layer": layers, "padding": padding, **size})
