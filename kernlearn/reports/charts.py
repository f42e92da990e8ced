"""Charts, as Vega-Lite for pages and pictures: figures, and deviations from reported numbers."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import altair as alt
import pandas as pd

from kernlearn.experiments.config.model import ExperimentConfig, FigureSpec, TableSpec, Tolerance
from kernlearn.experiments.engine.spec import LABELS
from kernlearn.reports.addresses import slug
from kernlearn.reports.report import Report
from kernlearn.reports.summary import label_values, matching
from kernlearn.reports.tables import WORDS, Table, build_tables

# The colours of Okabe and Ito can be told apart with any kind of colour vision.
_PALETTE = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
_GREY = "#888888"
# Pixels: the size of a figure's panel, the height of a method's row, the width of its panel.
_WIDTH, _HEIGHT = 250, 190
_ROW, _ROW_WIDTH = 9, 300
# Column with the name of the panel of a row.
_PANEL = "panel"
_TOOLTIP = {"dataset": "", "kernel": "", "method": "", "mean": ".5g", "std": ".3g", "n_splits": "",
            "reported_mean": ".5g", "departs": "+.3g", "verdict": ""}  # fmt: skip


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
        return {**spec, "config": _page_style()}


def style() -> dict[str, Any]:
    """Return the style that all charts share, as a Vega-Lite configuration."""
    return {
        "axis": {"labelFontSize": 11, "titleFontSize": 12, "gridColor": "#e5e5e5"},
        "title": {"fontSize": 13, "anchor": "start"},
        "header": {"labelFontSize": 12, "labelFontWeight": "bold", "labelAnchor": "start"},
        "legend": {"symbolOpacity": 1},
        "view": {"stroke": "#bbbbbb"},
        "range": {"category": _PALETTE},
    }


def _page_style() -> dict[str, Any]:
    """Return a configuration with the colours of the style sheet, light or dark."""
    text = {"labelColor": "var(--fg)", "titleColor": "var(--fg)", "titleFontWeight": 500}
    strong = {"domainColor": "var(--line-strong)", "tickColor": "var(--line-strong)"}
    looks: dict[str, dict[str, Any]] = {
        "axis": {**text, "gridColor": "var(--line)", **strong},
        "header": {"labelColor": "var(--fg)"},
        "legend": text,
        "title": {"color": "var(--fg)"},
        "view": {"stroke": "var(--line)"},
        "range": {"category": [f"var(--series-{i + 1})" for i in range(len(_PALETTE))]},
    }
    styles = {key: {**look, **looks[key]} for key, look in style().items()}
    return {"background": "transparent", "font": "system-ui, sans-serif", **styles}


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
    chart = alt.vconcat(*rows, spacing=18).properties(title=spec.title or config.title)
    chart = chart.resolve_scale(color="shared", shape="shared", strokeDash="shared")
    return chart.configure(**style())


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


def _panels(points: pd.DataFrame, metric: str, spec: FigureSpec, config: ExperimentConfig) -> Any:
    """Draw a metric: a panel for each value of the labels, each with ticks of its own."""
    name = config.scope.label(metric)
    scale = spec.y_scale if isinstance(spec.y_scale, str) else spec.y_scale.get(metric, "linear")
    is_log = scale == "log"
    if is_log:
        points = points.assign(low=points["low"].clip(lower=points["mean"] / 10))
    axis = alt.Axis(format="~g", tickCount=4) if is_log else alt.Axis()
    y = alt.Y("mean:Q", title=name, axis=axis)
    # a logarithmic scale has no zero to leave out
    y = y.scale(type=scale, zero=alt.Undefined if is_log else False, nice=False)
    look = _look(points, spec, config)
    panels = list(dict.fromkeys(points[_PANEL]))
    drawn = [_lines(points[points[_PANEL] == panel], y, name, look, spec) for panel in panels]
    if not spec.panels:
        return drawn[0]
    titles = [alt.Title(panel, fontSize=12, frame="group") for panel in panels]
    titled = [chart.properties(title=title) for chart, title in zip(drawn, titles, strict=True)]
    return alt.concat(*titled, columns=spec.per_row, spacing=24)


def _lines(
    points: pd.DataFrame, y: Any, name: str, look: tuple[Any, dict[str, Any]], spec: FigureSpec
) -> Any:
    """Draw the lines of one panel, with their bars and marks."""
    x = alt.X(f"{spec.x}:Q", title=WORDS.get(spec.x, spec.x), axis=_x_axis(points[spec.x], spec))
    x = x.scale(type=spec.x_scale, nice=False, padding=8)
    color, shape = look
    dash = {"strokeDash": alt.StrokeDash(f"{spec.dash}:N", title=spec.dash, sort=None)}
    tooltip = [
        alt.Tooltip(c, format=".4g") if c in ("mean", "std") else alt.Tooltip(c)
        for c in points.columns
        if c not in ("low", "high", _PANEL)
    ]
    base = alt.Chart().transform_filter(f"isValid(datum[{spec.x!r}])").encode(x=x, color=color)
    point = base.mark_point(filled=True, opacity=1, size=36)
    layers = [
        base.mark_line(strokeWidth=1.8).encode(y=y, **(dash if spec.dash else {})),
        base.mark_rule(opacity=0.5).encode(y=alt.Y("low:Q", title=name), y2="high:Q"),
        point.encode(y=y, tooltip=tooltip, **shape),
    ]
    if points[spec.x].isna().any():
        rule = alt.Chart().transform_filter(f"!isValid(datum[{spec.x!r}])")
        rule = rule.mark_rule(strokeWidth=1.5, strokeDash=[6, 3])
        layers.append(rule.encode(y=y, color=color, tooltip=tooltip))
    return alt.layer(*layers, data=points).properties(width=_WIDTH, height=_HEIGHT)


def _x_axis(values: "pd.Series[float]", spec: FigureSpec) -> Any:
    """Return the axis of a panel: ticks of a logarithmic one are where the points are."""
    if spec.x_scale != "log":
        return alt.Axis(tickCount=5)
    return alt.Axis(values=sorted(values.dropna().unique().tolist()), labelOverlap="greedy")


def _look(
    points: pd.DataFrame, spec: FigureSpec, config: ExperimentConfig
) -> tuple[Any, dict[str, Any]]:
    """Return colours, and shapes so that colour is not the only sign; the same in every panel."""
    title = WORDS.get(spec.color, spec.color)
    if pd.api.types.is_numeric_dtype(points[spec.color].infer_objects()):
        # both ends stay visible on paper and on a dark screen
        scale = alt.Scale(scheme={"name": "viridis", "extent": [0.1, 0.9]})
        return alt.Color(f"{spec.color}:O", title=title, scale=scale), {}
    labels = list(getattr(config, f"{spec.color}s", {}))
    # a label looks the same in every figure, but the legend names only those of this one
    shown = [label for label in labels if label in set(points[spec.color])]
    domain: dict[str, Any] = {}
    if labels:
        domain = {"scale": alt.Scale(domain=labels), "legend": alt.Legend(values=shown)}
    shape = alt.Shape(f"{spec.color}:N", title=title, **domain)
    return alt.Color(f"{spec.color}:N", title=title, **domain), {"shape": shape}


def figures(report: Report) -> list[Chart]:
    """Draw the figures of an experiment's config for which there are numbers."""
    config = report.plan.experiment.config
    charts = []
    for stem, spec in zip(numbered("figure", len(config.figures)), config.figures, strict=True):
        rows = report.summary[report.summary["metric"].isin(spec.metrics)]
        rows = rows[rows["mean"].notna()]
        if not rows.empty:
            drawn = build_chart(report.summary, spec, config).to_dict(validate=False)
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
    return build_tables(report.summary, config.model_copy(update={"table": own, "title": title}))


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
            _panel(matching(rows, panels, values), band, config, title).properties(
                title=" · ".join(map(_panel_title, panels, values))
            )
            for values in label_values(rows, panels)
        ]
        chart = alt.concat(*drawn, columns=4, spacing=24).properties(title=title)
        chart = chart.resolve_scale(color="shared", shape="shared").configure(**style())
        stem, text = f"deviations_{slug(metric)}", _departures_text(rows, name)
        charts.append(Chart(stem, title, text, chart.to_dict(validate=False), []))
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


def _panel(rows: pd.DataFrame, band: pd.DataFrame, config: ExperimentConfig, title: str) -> Any:
    rows = rows[[*_TOOLTIP, "low", "high"]]
    rows = rows.astype(object).where(rows.notna(), None)
    datasets = [d for d in config.datasets if d in set(rows["dataset"])]
    methods = [m for m in config.methods if m in set(rows["method"])]
    # methods look as in the figures
    scale, legend = alt.Scale(domain=list(config.methods)), alt.Legend(values=methods)
    look: dict[str, Any] = {"scale": scale, "legend": legend, "title": "method"}
    x = alt.X("departs:Q", title=title, scale=alt.Scale(zero=False, nice=False, padding=6))
    tooltip = [
        alt.Tooltip(f"{c}:Q", format=digits) if digits else alt.Tooltip(f"{c}:N")
        for c, digits in _TOOLTIP.items()
    ]
    tolerance = alt.Chart(band)
    base = alt.Chart(rows).encode(
        y=alt.Y("dataset:N", sort=datasets, title=None, axis=alt.Axis(labelLimit=260)),
        yOffset=alt.YOffset("method:N", sort=methods),
        color=alt.Color("method:N", **look),
    )
    point = base.mark_point(filled=True, opacity=1, size=36)
    return alt.layer(
        tolerance.mark_rect(opacity=0.13, color=_GREY).encode(x="low:Q", x2="high:Q"),
        tolerance.mark_rule(color=_GREY).encode(x="same:Q"),
        base.mark_rule(opacity=0.5).encode(x=alt.X("low:Q", title=title), x2="high:Q"),
        point.encode(x=x, shape=alt.Shape("method:N", **look), tooltip=tooltip),
    ).properties(width=_ROW_WIDTH, height=max(_ROW * len(methods) + 6, 20) * len(datasets))


def _departures_text(rows: pd.DataFrame, name: str) -> str:
    counts = ", ".join(f"{count} {v}" for v, count in rows["verdict"].value_counts().items())
    apart = (rows["mean"] - rows["reported_mean"]).abs().to_numpy()
    most = rows.iloc[int(apart.argmax())]
    place = " ".join(str(most[c]) for c in LABELS if isinstance(most[c], str))
    return (
        f"Dot plot of the distance of {len(rows)} measured {name} values from the reported "
        f"ones: {counts}. The greatest difference, {apart.max():.3g}, is that of {place}."
    )


def numbered(stem: str, count: int) -> list[str]:
    """Return names of files, with numbers if there are several."""
    return [stem] if count == 1 else [f"{stem}{i + 1}" for i in range(count)]


def save_pictures(chart: Mapping[str, Any], stem: Path) -> list[Path]:
    """Draw a Vega-Lite specification; return the SVG and PDF files, ``stem`` with suffixes.

    Files that show the same specification are left as they are.
    """
    import vl_convert

    files = [stem.with_suffix(suffix) for suffix in (".svg", ".pdf")]
    text = json.dumps(chart)
    made_from = f"{text} {version('vl-convert-python')}".encode()
    mark = f"<!-- {hashlib.sha256(made_from).hexdigest()} -->\n"
    if files[1].is_file() and _ends_with(files[0], mark):
        return files
    svg = vl_convert.vegalite_to_svg(text, vl_version=vega_lite_version())
    # the mark comes last, so that files that were not written in full are drawn again
    files[1].write_bytes(vl_convert.svg_to_pdf(svg))
    files[0].write_text(f"{svg}\n{mark}", encoding="utf-8")
    return files


def _ends_with(file: Path, text: str) -> bool:
    return file.is_file() and file.read_text(encoding="utf-8").endswith(text)


def vega_lite_version() -> str:
    """Return the version of Vega-Lite that charts are written for, such as ``"6.4"``."""
    return ".".join(alt.SCHEMA_VERSION.lstrip("v").split(".")[:2])
