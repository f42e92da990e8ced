"""Charts, as Vega-Lite for pages and pictures: figures, and deviations from reported numbers."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from kernlearn.config.model import ExperimentConfig, FigureSpec, TableSpec, Tolerance
from kernlearn.config.spec import LABELS
from kernlearn.reports.addresses import file_stems, slug
from kernlearn.reports.report import Report
from kernlearn.reports.summary import label_values, matching
from kernlearn.reports.tables import WORDS, Table, build_tables
from kernlearn.reports.vega import data_of, page_style, type_of, whole

_GREY = "#888888"
# Pixels: the size of a figure's panel, the height of a method's row, the width of its panel.
_WIDTH, _HEIGHT = 250, 190
_ROW, _ROW_WIDTH = 9, 300
# Column with the name of the panel of a row.
_PANEL = "panel"
# With at most so many whole numbers on an axis, nothing between them is marked.
_FEW = 3
_TOOLTIP = {
    "dataset": "",
    "kernel": "",
    "method": "",
    "mean": ".5g",
    "std": ".3g",
    "n_splits": "",
    "reported_mean": ".5g",
    "departs": "+.3g",
    "verdict": "",
}


@dataclass(frozen=True)
class Chart:
    """A chart that is drawn on a page and written as a picture.

    ``stem`` is the name of its files without suffix, ``description`` the text alternative,
    ``spec`` the Vega-Lite specification with the style of the pictures; ``tables`` are its
    numbers, unless the tables of the page include them.
    """

    stem: str
    title: str
    description: str
    spec: dict[str, Any]
    tables: list[Table]

    @property
    def page_spec(self) -> dict[str, Any]:
        """The specification with the style of the page, where the title is a heading."""
        spec = {k: v for k, v in self.spec.items() if k != "title"}
        return {**spec, "config": page_style()}


def figure(summary: pd.DataFrame, spec: FigureSpec, config: ExperimentConfig) -> dict[str, Any]:
    """Return one figure of an experiment as a Vega-Lite specification.

    It has for each metric its panels, ``per_row`` in a row; methods without the parameter on the
    x-axis are horizontal reference lines. Vertical bars are one standard deviation.
    """
    rows, summary = [], _drawn(summary, spec)
    for metric in spec.metrics:
        points = _points(summary[summary["metric"] == metric], spec)
        if not points.empty:
            rows.append(_panels(points, metric, spec, config))
    if not rows:
        raise ValueError("nothing measured yet for this figure")
    shared = {"color": "shared", "shape": "shared", "strokeDash": "shared"}
    chart = {"title": spec.title or config.title, "vconcat": rows, "spacing": 18}
    return whole({**chart, "resolve": {"scale": shared}})


def _drawn(summary: pd.DataFrame, spec: FigureSpec) -> pd.DataFrame:
    """Return the rows of the combinations that a figure is of."""
    if not spec.only:
        return summary
    parts = [matching(summary, one.keys(), one.values()) for one in spec.only]
    return summary.loc[summary.index.isin(pd.concat(parts).index)]


def _points(frame: pd.DataFrame, spec: FigureSpec) -> pd.DataFrame:
    """Return the plotted columns, in types that altair can serialise, and the ends of the bars."""
    columns = [spec.x, spec.color, *([spec.dash] if spec.dash else []), "mean", "std", "n_splits"]
    frame = _in_every_panel(frame[frame["mean"].notna()], spec.panels)
    points = frame[list(dict.fromkeys(columns))].copy()
    points[_PANEL] = [
        " · ".join(str(v) for v in values if not pd.isna(v))
        for values in frame[spec.panels].to_numpy(dtype=object)
    ]
    points[spec.x] = pd.to_numeric(points[spec.x])
    spread = points["std"].fillna(0)
    return points.assign(low=points["mean"] - spread, high=points["mean"] + spread)


def _in_every_panel(frame: pd.DataFrame, labels: list[str]) -> pd.DataFrame:
    """Repeat rows without one of the labels, such as a kernel, in every panel they fit."""
    groups = label_values(frame, labels)
    complete = [group for group in groups if None not in group]
    parts = []
    # complete groups first, which keeps the order of the panels
    for group in sorted(groups, key=lambda group: None in group):
        panels = [
            panel
            for panel in complete
            if all(value in (None, other) for value, other in zip(group, panel, strict=True))
        ]
        rows = matching(frame, labels, group)
        parts += [rows.assign(**dict(zip(labels, p, strict=True))) for p in panels or [group]]
    return pd.concat(parts) if parts else frame


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
    y = {
        "field": "mean",
        "type": "quantitative",
        "title": config.scope.label(metric),
        "axis": {"format": "~g", "tickCount": 4} if is_log else {},
        "scale": {"type": scale, **zero, "nice": False},
    }
    look = _look(points, spec, config)
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
    x = {
        "field": spec.x,
        "type": "quantitative",
        "title": WORDS.get(spec.x, spec.x),
        "axis": x_axis(points[spec.x], spec),
        "scale": {"type": spec.x_scale, "nice": False, "padding": 8},
    }
    dash = {"field": spec.dash, "type": "nominal", "title": spec.dash, "sort": None}
    tooltip = [
        {"field": c, "type": type_of(points[c])}
        | ({"format": ".4g"} if c in ("mean", "std") else {})
        for c in points.columns
        if c not in ("low", "high", _PANEL)
    ]
    color, has_x = {"color": look["color"]}, f"isValid(datum[{spec.x!r}])"
    base = {"x": x, **color}
    low = {"field": "low", "type": "quantitative", "title": y["title"]}
    point = {"type": "point", "filled": True, "opacity": 1, "size": 36}
    layers = [
        _layer(
            {"type": "line", "strokeWidth": 1.8},
            {**base, "y": y, **({"strokeDash": dash} if spec.dash else {})},
            has_x,
        ),
        _layer(
            {"type": "rule", "opacity": 0.5}, {**base, "y": low, "y2": {"field": "high"}}, has_x
        ),
        _layer(point, {**base, "y": y, "tooltip": tooltip, **look}, has_x),
    ]
    if points[spec.x].isna().any():
        rule = {"type": "rule", "strokeWidth": 1.5, "strokeDash": [6, 3]}
        layers.append(_layer(rule, {"y": y, **color, "tooltip": tooltip}, f"!{has_x}"))
    return {"data": data_of(points), "layer": layers, "width": _WIDTH, "height": _HEIGHT}


def _layer(mark: dict[str, Any], encoding: dict[str, Any], rows: str = "") -> dict[str, Any]:
    chosen = {"transform": [{"filter": rows}]} if rows else {}
    return {**chosen, "mark": mark, "encoding": encoding}


def x_axis(values: "pd.Series[float]", spec: FigureSpec) -> dict[str, Any]:
    """Return the axis of a panel.

    Ticks of a logarithmic one, or of few whole numbers, are where the points are.
    """
    found = sorted(values.dropna().unique().tolist())
    few = len(found) <= _FEW and all(value.is_integer() for value in map(float, found))
    if spec.x_scale != "log" and not few:
        return {"tickCount": 5}
    axis = {"values": found, "labelOverlap": "greedy"}
    return axis if spec.x_scale == "log" else {**axis, "format": "d"}


def _look(points: pd.DataFrame, spec: FigureSpec, config: ExperimentConfig) -> dict[str, Any]:
    """Return colours, and shapes so that colour is not the only sign; the same in every panel."""
    label = {"field": spec.color, "title": WORDS.get(spec.color, spec.color)}
    if pd.api.types.is_numeric_dtype(points[spec.color].infer_objects()):
        # both ends stay visible on paper and on a dark screen
        scale = {"scheme": {"name": "viridis", "extent": [0.1, 0.9]}}
        return {"color": {**label, "type": "ordinal", "scale": scale}}
    return _by_label(label, list(getattr(config, f"{spec.color}s", {})), set(points[spec.color]))


def _by_label(label: dict[str, Any], labels: list[str], there: set[Any]) -> dict[str, Any]:
    """Return colours and shapes of labels, which look the same in every chart of an experiment."""
    domain: dict[str, Any] = {}
    if labels:
        # the legend names only those of this chart
        shown = [one for one in labels if one in there]
        domain = {"scale": {"domain": labels}, "legend": {"values": shown}}
    encoded = {**label, "type": "nominal", **domain}
    return {"color": encoded, "shape": encoded}


def figures(report: Report) -> list[Chart]:
    """Draw the figures of an experiment's config for which there are numbers."""
    config = report.plan.experiment.config
    charts = []
    for stem, spec in zip(file_stems("figure", len(config.figures)), config.figures, strict=True):
        rows = _drawn(report.summary, spec)
        rows = rows[rows["metric"].isin(spec.metrics) & rows["mean"].notna()]
        if not rows.empty:
            drawn = figure(report.summary, spec, config)
            title = spec.title or _caption(spec, config)
            tables = _numbers(report, spec, title)
            charts.append(Chart(stem, title, _description(rows, spec, config), drawn, tables))
    return charts


def _caption(spec: FigureSpec, config: ExperimentConfig) -> str:
    """Name a figure that has no title: the page has that of the experiment already."""
    names = ", ".join(map(config.scope.label, spec.metrics))
    text = f"{names} against {WORDS.get(spec.x, spec.x.replace('_', ' '))}"
    return text[0].upper() + text[1:]


def _description(rows: pd.DataFrame, spec: FigureSpec, config: ExperimentConfig) -> str:
    means = rows.groupby("metric")["mean"].agg(["min", "max"])
    ranges = [
        f"{config.scope.label(m)}, between {means['min'][m]:.3g} and {means['max'][m]:.3g}"
        for m in spec.metrics
        if m in means.index
    ]
    panels = [f"{rows[label].nunique()} values of {label}" for label in spec.panels]
    each = f"; a panel for each of {' and '.join(panels)}" if panels else ""
    lines = ", ".join(str(v) for v in rows[spec.color].dropna().unique())
    return (
        f"Line chart of {'; '.join(ranges)}, against {spec.x.replace('_', ' ')}{each}; "
        f"lines by {spec.color}: {lines}."
    )


def _numbers(report: Report, spec: FigureSpec, title: str) -> list[Table]:
    """Return a figure's numbers as tables, unless the tables of the page include them."""
    config = report.plan.experiment.config
    layout = config.table or TableSpec()
    if set(spec.metrics) <= set(layout.metrics or config.metrics):
        return []
    colors = [label for label in (spec.color, spec.dash) if label]
    own = TableSpec(rows=[*spec.panels, spec.x], columns=colors, metrics=spec.metrics)
    config = config.model_copy(update={"table": own, "title": title})
    return build_tables(_drawn(report.summary, spec), config)


def departures(report: Report) -> list[Chart]:
    """Draw how far measured numbers are from the reported ones, one chart per judged metric.

    Each chart has a panel for each kernel and varied parameter, and a row for each data set.
    Where the tolerance is absolute it shows differences, else ratios; a band is as wide as the
    tolerance. Bars are one standard deviation of the measured splits.
    """
    config, summary = report.plan.experiment.config, report.summary
    both = summary[summary["mean"].notna() & summary["reported_mean"].notna()]
    charts = []
    for metric, tolerance in config.verdict.items():
        rows = both[both["metric"] == metric]
        if rows.empty:
            continue
        name = config.scope.label(metric)
        title = f"{name}, measured {'/' if tolerance.absolute is None else '−'} reported"
        rows, band = _departing(rows, tolerance)
        panels = _panel_labels(rows, report.plan.axes)
        drawn = [
            {
                "title": " · ".join(map(_panel_title, panels, values)),
                **_panel(matching(rows, panels, values), band, config, title),
            }
            for values in label_values(rows, panels)
        ]
        resolve = {"scale": {"color": "shared", "shape": "shared"}}
        chart = {"concat": drawn, "columns": 4, "spacing": 24, "title": title, "resolve": resolve}
        stem, text = f"deviations_{slug(metric)}", _departures_text(rows, name)
        charts.append(Chart(stem, title, text, whole(chart), []))
    return charts


def _departing(rows: pd.DataFrame, tolerance: Tolerance) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the numbers with their differences or ratios, and the band of the tolerance."""
    spread, reported = rows["std"].fillna(0), rows["reported_mean"]
    departs, same, allowed = rows["mean"] - reported, 0.0, tolerance.absolute
    if allowed is None:
        departs, same, allowed = rows["mean"] / reported, 1.0, tolerance.relative or 0.0
        spread = spread / reported
    rows = rows.assign(departs=departs, low=departs - spread, high=departs + spread)
    return rows, pd.DataFrame({"low": [same - allowed], "high": [same + allowed], "same": [same]})


def _panel_labels(rows: pd.DataFrame, axes: list[str]) -> list[str]:
    """Return the labels without which several numbers would be drawn in the same place."""
    panels = ["kernel"] if rows["kernel"].nunique() > 1 else []
    for axis in axes:
        within = rows.groupby(["dataset", "method", *panels], dropna=False)[axis]
        if (within.nunique() > 1).any():
            panels.append(axis)
    return panels


def _panel_title(label: str, value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or "any"
    return f"{value:g} {label.removeprefix('n_')}"


def _panel(
    rows: pd.DataFrame, band: pd.DataFrame, config: ExperimentConfig, title: str
) -> dict[str, Any]:
    rows = rows[[*_TOOLTIP, "low", "high"]]
    datasets = [d for d in config.datasets if d in set(rows["dataset"])]
    methods = [m for m in config.methods if m in set(rows["method"])]
    look = _by_label({"field": "method", "title": "method"}, list(config.methods), set(methods))
    departs = {
        "field": "departs",
        "type": "quantitative",
        "title": title,
        "scale": {"zero": False, "nice": False, "padding": 6},
    }
    place = {"field": "dataset", "type": "nominal", "sort": datasets, "title": None}
    base = {
        "y": {**place, "axis": {"labelLimit": 260}},
        "yOffset": {"field": "method", "type": "nominal", "sort": methods},
        "color": look["color"],
    }
    tooltip = [
        {"field": c, "type": "quantitative", "format": digits}
        if digits
        else {"field": c, "type": "nominal"}
        for c, digits in _TOOLTIP.items()
    ]
    low, high = {"field": "low", "type": "quantitative"}, {"field": "high"}
    same = {"field": "same", "type": "quantitative"}
    point = {"type": "point", "filled": True, "opacity": 1, "size": 36}
    band_of = {"data": data_of(band)}
    shade = {"type": "rect", "opacity": 0.13, "color": _GREY}
    bars = {**base, "x": {**low, "title": title}, "x2": high}
    layers = [
        {**band_of, **_layer(shade, {"x": low, "x2": high})},
        {**band_of, **_layer({"type": "rule", "color": _GREY}, {"x": same})},
        _layer({"type": "rule", "opacity": 0.5}, bars),
        _layer(point, {**base, "x": departs, **look, "tooltip": tooltip}),
    ]
    height = max(_ROW * len(methods) + 6, 20) * len(datasets)
    return {"data": data_of(rows), "layer": layers, "width": _ROW_WIDTH, "height": height}


def _departures_text(rows: pd.DataFrame, name: str) -> str:
    counts = ", ".join(f"{count} {v}" for v, count in rows["verdict"].value_counts().items())
    apart = (rows["mean"] - rows["reported_mean"]).abs().to_numpy()
    most = rows.iloc[int(apart.argmax())]
    place = " ".join(str(most[c]) for c in LABELS if isinstance(most[c], str))
    return (
        f"Dot plot of the distance of {len(rows)} measured {name} values from the reported "
        f"ones: {counts}. The greatest difference, {apart.max():.3g}, is that of {place}."
    )
