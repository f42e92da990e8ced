"""Charts of a page: figures, and deviations of measured from reported numbers."""

from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

from kernlearn.experiments.config.model import ExperimentConfig, FigureSpec, TableSpec, Tolerance
from kernlearn.experiments.engine.spec import LABELS
from kernlearn.reports.figures import PALETTE, build_chart, style
from kernlearn.reports.report import Report
from kernlearn.reports.site.rendering import numbered, slug
from kernlearn.reports.summary import label_values, matching
from kernlearn.reports.tables import Cell, Table, build_tables, format_number, make_cell
from kernlearn.reports.verdicts import BETTER, WORSE

_TOOLTIP = {"dataset": "", "kernel": "", "method": "", "mean": ".5g", "std": ".3g", "n_splits": "",
            "reported_mean": ".5g", "departs": "+.3g", "verdict": ""}  # fmt: skip
# Pixels: the height of a method's row, and the width of a panel.
_ROW, _WIDTH = 9, 300
_GREY = "#888888"


@dataclass(frozen=True)
class Chart:
    """A chart that is drawn on a page and written as a picture.

    Attributes
    ----------
    stem : str
        Name of its files without suffix.
    title, description : str
        The description is the text alternative.
    spec : dict
        Vega-Lite specification, with the style of the pictures.
    tables : list of Table
        Its numbers, unless the tables of the page include them.
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
        "range": {"category": [f"var(--series-{i + 1})" for i in range(len(PALETTE))]},
    }
    styles = {key: {**look, **looks[key]} for key, look in style().items()}
    return {"background": "transparent", "font": "system-ui, sans-serif", **styles}


def figures(report: Report) -> list[Chart]:
    """Draw the figures of an experiment's config for which there are numbers."""
    config = report.plan.experiment.config
    charts = []
    for stem, spec in zip(numbered("figure", len(config.figures)), config.figures, strict=True):
        rows = report.summary[report.summary["metric"].isin(spec.metrics)]
        rows = rows[rows["mean"].notna()]
        if not rows.empty:
            drawn = build_chart(report.summary, spec, config).to_dict()
            title = spec.title or config.title
            tables = _numbers(report, spec, title)
            charts.append(Chart(stem, title, _description(rows, spec, config), drawn, tables))
    return charts


def _description(rows: pd.DataFrame, spec: FigureSpec, config: ExperimentConfig) -> str:
    parts = []
    for metric in spec.metrics:
        means = rows.loc[rows["metric"] == metric, "mean"]
        if len(means):
            name = config.scope.label(metric)
            parts.append(f"{name}, between {means.min():.3g} and {means.max():.3g}")
    panels = [f"{rows[label].nunique()} values of {label}" for label in spec.panels]
    each = f"; a panel for each of {' and '.join(panels)}" if panels else ""
    lines = ", ".join(str(v) for v in rows[spec.color].dropna().unique())
    return (
        f"Line chart of {'; '.join(parts)}, against {spec.x.replace('_', ' ')}{each}; "
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


@dataclass(frozen=True)
class Deviation:
    """A measured number that is better or worse than the reported one.

    ``place`` is its data set, kernel, method and parameters; ``notes`` are names of the config's
    notes that apply to it.
    """

    place: str
    metric: str
    cell: Cell
    difference: str
    notes: list[str]


def deviations(report: Report) -> list[Deviation]:
    """List the numbers that are better or worse than reported, the worse first."""
    summary, plan = report.summary, report.plan
    return [
        _deviation(row, plan.axes, plan.experiment.config)
        for verdict in (WORSE, BETTER)
        for row in summary[summary["verdict"] == verdict].to_dict("records")
    ]


def _deviation(row: dict[Any, Any], axes: list[str], config: ExperimentConfig) -> Deviation:
    metric, difference = row["metric"], row["mean"] - row["reported_mean"]
    labels = [row[label] for label in LABELS if isinstance(row[label], str)]
    given = {axis: row[axis] for axis in axes if not pd.isna(row[axis])}
    varied = [f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in given.items()]
    # "exponential (sigma=1)" is a case of "exponential"
    named = [*labels, f"{row['kernel']}".partition(" (")[0]]
    return Deviation(
        " · ".join([*labels, *varied]),
        config.scope.label(metric),
        make_cell(row, metric, config.scope),
        f"{'+' if difference > 0 else '−'}{format_number(abs(difference), metric, config.scope)}",
        [key for key in config.notes if key in named],
    )


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
        chart = (
            alt.concat(*drawn, columns=4, spacing=24)
            .resolve_scale(color="shared", shape="shared")
            .properties(title=title)
            .configure(**style())
        )
        text = _departures_text(rows, name)
        charts.append(Chart(f"deviations_{slug(metric)}", title, text, chart.to_dict(), []))
    return charts


def _departing(rows: pd.DataFrame, tolerance: Tolerance) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the numbers with their differences or ratios, and the band of the tolerance."""
    measured, reported, spread = rows["mean"], rows["reported_mean"], rows["std"].fillna(0)
    if tolerance.absolute is None:
        departs, spread, same, allowed = (
            measured / reported,
            spread / reported,
            1.0,
            tolerance.relative,
        )
    else:
        departs, same, allowed = measured - reported, 0.0, tolerance.absolute
    assert allowed is not None
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
    ).properties(width=_WIDTH, height=max(_ROW * len(methods) + 6, 20) * len(datasets))


def _departures_text(rows: pd.DataFrame, name: str) -> str:
    counts = ", ".join(f"{count} {v}" for v, count in rows["verdict"].value_counts().items())
    apart = (rows["mean"] - rows["reported_mean"]).abs().to_numpy()
    most = rows.iloc[int(apart.argmax())]
    place = " ".join(str(most[c]) for c in LABELS if isinstance(most[c], str))
    return (
        f"Dot plot of the distance of {len(rows)} measured {name} values from the reported "
        f"ones: {counts}. The greatest difference, {apart.max():.3g}, is that of {place}."
    )
