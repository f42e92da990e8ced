"""Where measured numbers depart from the reported ones: listed with their notes, and drawn."""

from dataclasses import dataclass
from typing import Any

import altair as alt
import pandas as pd

from kernlearn.experiments.config.model import ExperimentConfig, FigureSpec, TableSpec, Tolerance
from kernlearn.reports.figures import build_chart, style
from kernlearn.reports.site.rendering import slug
from kernlearn.reports.summary import label_values, matching
from kernlearn.reports.tables import Table, build_tables, format_number
from kernlearn.reports.verdicts import BETTER, WORSE
from kernlearn.reports.writing import Report, numbered

_LABELS = ("dataset", "kernel", "method")
_DRAWN = [
    "dataset", "kernel", "method", "mean", "std", "n_splits", "reported_mean", "departs", "low",
    "high", "verdict",
]  # fmt: skip
_FORMATS = {"mean": ".5g", "std": ".3g", "reported_mean": ".5g", "departs": "+.3g"}
# Pixels: the height of a method's row, and the width of a panel.
_ROW, _WIDTH = 9, 300


@dataclass(frozen=True)
class Deviation:
    """A measured number that is better or worse than the reported one.

    Attributes
    ----------
    place : str
        Its data set, kernel, method and parameters.
    metric, measured, reported, difference : str
        As shown.
    mean, reported_mean : float
        In full.
    verdict : str
    notes : list of str
        Names of the config's notes on what it is a number of.
    """

    place: str
    metric: str
    measured: str
    reported: str
    difference: str
    mean: float
    reported_mean: float
    verdict: str
    notes: list[str]


def deviations(report: Report) -> list[Deviation]:
    """List the numbers that are not the reported ones, those that are worse first.

    Parameters
    ----------
    report : Report

    Returns
    -------
    list of Deviation
    """
    plan, summary = report.plan, report.summary
    rows = [
        row
        for verdict in (WORSE, BETTER)
        for row in summary[summary["verdict"] == verdict].to_dict("records")
    ]
    config = plan.experiment.config
    return [_deviation({str(k): v for k, v in row.items()}, plan.axes, config) for row in rows]


def _deviation(row: dict[str, Any], axes: list[str], config: ExperimentConfig) -> Deviation:
    metric, difference = row["metric"], row["mean"] - row["reported_mean"]
    named = [row[label] for label in _LABELS if isinstance(row[label], str)]
    varied = [f"{axis}={row[axis]:g}" if isinstance(row[axis], float) else f"{axis}={row[axis]}"
              for axis in axes if not pd.isna(row[axis])]  # fmt: skip
    return Deviation(
        " · ".join([*named, *varied]),
        config.scope.label(metric),
        format_number(row["mean"], metric, config.scope),
        format_number(row["reported_mean"], metric, config.scope),
        f"{'+' if difference > 0 else '−'}{format_number(abs(difference), metric, config.scope)}",
        row["mean"],
        row["reported_mean"],
        row["verdict"],
        # "exponential (sigma=1)" is a case of "exponential"
        [key for key in config.notes if key in named or f"{row['kernel']}".startswith(f"{key} (")],
    )


def judged_metrics(report: Report) -> list[str]:
    """Return the metrics with a rule of which there is a measured beside a reported number."""
    there = set(_both(report.summary)["metric"])
    return [metric for metric in report.plan.experiment.config.verdict if metric in there]


def _both(summary: pd.DataFrame) -> pd.DataFrame:
    return summary[summary["mean"].notna() & summary["reported_mean"].notna()]


def deviation_chart(report: Report, metric: str) -> Any:
    """Draw how far each measured number lies from the reported one.

    Parameters
    ----------
    report : Report
    metric : str
        One of :func:`judged_metrics`.

    Returns
    -------
    altair.ConcatChart
        A panel for each kernel and varied parameter, a row for each data set. Where the
        tolerance is absolute it is the difference that is shown, else the ratio; a band is as
        wide as the tolerance. Bars are one standard deviation of the measured splits.
    """
    config = report.plan.experiment.config
    shown, band = _departing(report.summary, metric, config.verdict[metric])
    panels = _panel_labels(shown, report.plan.axes)
    sign = "/" if config.verdict[metric].absolute is None else "−"
    title = f"{config.scope.label(metric)}, measured {sign} reported"
    drawn = [
        _panel(matching(shown, panels, values), band, config, title).properties(
            title=" · ".join(_said(name, v) for name, v in zip(panels, values, strict=True))
        )
        for values in label_values(shown, panels)
    ]
    return (
        alt.concat(*drawn, columns=4, spacing=24)
        .resolve_scale(color="shared", shape="shared")
        .properties(title=title)
        .configure(**style())
    )


def _departing(
    summary: pd.DataFrame, metric: str, tolerance: Tolerance
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the numbers with their differences or ratios, and the tolerance around none."""
    shown = _both(summary[summary["metric"] == metric])
    measured, reported, spread = (shown[c] for c in ("mean", "reported_mean", "std"))
    spread = spread.fillna(0)
    if tolerance.absolute is None:
        departs, spread, same = measured / reported, spread / reported, 1.0
    else:
        departs, same = measured - reported, 0.0
    allowed = tolerance.relative if tolerance.absolute is None else tolerance.absolute
    assert allowed is not None
    shown = shown.assign(departs=departs, low=departs - spread, high=departs + spread)
    band = pd.DataFrame({"low": [same - allowed], "high": [same + allowed], "same": [same]})
    return shown, band


def _panel_labels(shown: pd.DataFrame, axes: list[str]) -> list[str]:
    """Return the labels without which several numbers would lie in the same place."""
    panels = ["kernel"] if shown["kernel"].nunique() > 1 else []
    for axis in axes:
        within = shown.groupby(["dataset", "method", *panels], dropna=False)[axis]
        if (within.nunique() > 1).any():
            panels.append(axis)
    return panels


def _said(label: str, value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or "any"
    return f"{value:g} {label.removeprefix('n_')}"


def _panel(shown: pd.DataFrame, band: pd.DataFrame, config: ExperimentConfig, title: str) -> Any:
    rows = shown[_DRAWN].astype(object).where(shown[_DRAWN].notna(), None)
    datasets = [d for d in config.datasets if d in set(rows["dataset"])]
    methods = [m for m in config.methods if m in set(rows["method"])]
    # a method looks here as it does in the figures
    scale, legend = alt.Scale(domain=list(config.methods)), alt.Legend(values=methods)
    color = alt.Color("method:N", scale=scale, legend=legend, title="method")
    shape = alt.Shape("method:N", scale=scale, legend=legend, title="method")
    x = alt.X("departs:Q", title=title, scale=alt.Scale(zero=False, nice=False, padding=6))
    tooltip = [
        alt.Tooltip(f"{c}:Q", format=_FORMATS[c]) if c in _FORMATS else alt.Tooltip(f"{c}:N")
        for c in _DRAWN
        if c not in ("low", "high")
    ]
    tolerance = alt.Chart(band)
    base = alt.Chart(rows).encode(
        y=alt.Y("dataset:N", sort=datasets, title=None, axis=alt.Axis(labelLimit=260)),
        yOffset=alt.YOffset("method:N", sort=methods),
        color=color,
    )
    return alt.layer(
        tolerance.mark_rect(opacity=0.13, color="#888888").encode(x="low:Q", x2="high:Q"),
        tolerance.mark_rule(color="#888888").encode(x="same:Q"),
        base.mark_rule(opacity=0.5).encode(x=alt.X("low:Q", title=title), x2="high:Q"),
        base.mark_point(filled=True, opacity=1, size=36).encode(x=x, shape=shape, tooltip=tooltip),
    ).properties(width=_WIDTH, height=max(_ROW * len(methods) + 6, 20) * len(datasets))


def describe_deviations(report: Report, metric: str) -> str:
    """Say in words what :func:`deviation_chart` shows."""
    shown = _both(report.summary[report.summary["metric"] == metric])
    name = report.plan.experiment.config.scope.label(metric)
    counts = shown["verdict"].value_counts()
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    apart = (shown["mean"] - shown["reported_mean"]).abs().to_numpy()
    most = shown.iloc[int(apart.argmax())]
    place = " ".join(str(most[c]) for c in _LABELS if isinstance(most[c], str))
    return (
        f"Dot plot of how far each of {len(shown)} measured {name} values lies from the "
        f"reported one: {told}. The greatest difference, "
        f"{apart.max():.3g}, is that of {place}."
    )


# As the style sheet has them.
_FONT = "system-ui, sans-serif"
_N_COLORS = 7


@dataclass(frozen=True)
class Chart:
    """A chart that a page draws and that is written as a picture.

    Attributes
    ----------
    stem : str
        Name of its files without suffix.
    title, description : str
        The description is for readers who do not see it.
    spec : dict
        Vega-Lite specification, with the look of the pictures.
    tables : list of Table
        Its numbers, where the tables of the page do not have them.
    """

    stem: str
    title: str
    description: str
    spec: dict[str, Any]
    tables: list[Table]

    @property
    def page_spec(self) -> dict[str, Any]:
        """The specification with the look of the page, whose heading is the title."""
        spec = {k: v for k, v in self.spec.items() if k != "title"}
        return {**spec, "config": _page_style()}


def _page_style() -> dict[str, Any]:
    """Return a configuration whose colours are those of the style sheet, light or dark."""
    text = {"labelColor": "var(--fg)", "titleColor": "var(--fg)", "titleFontWeight": 500}
    looks = {
        "background": "transparent",
        "font": _FONT,
        "axis": {
            **text, "gridColor": "var(--line)", "domainColor": "var(--line-strong)",
            "tickColor": "var(--line-strong)",
        },
        "header": {"labelColor": "var(--fg)"},
        "legend": text,
        "title": {"color": "var(--fg)"},
        "view": {"stroke": "var(--line)"},
        "range": {"category": [f"var(--series-{i + 1})" for i in range(_N_COLORS)]},
    }  # fmt: skip
    shared = style()
    return {
        key: {**shared[key], **look} if isinstance(look, dict) and key in shared else look
        for key, look in looks.items()
    }


def figures(report: Report) -> list[Chart]:
    """Draw the figures that an experiment's config asks for, of which there are numbers.

    Parameters
    ----------
    report : Report

    Returns
    -------
    list of Chart
    """
    config = report.plan.experiment.config
    stems = numbered("figure", len(config.figures))
    charts = []
    for stem, spec in zip(stems, config.figures, strict=True):
        shown = report.summary[report.summary["metric"].isin(spec.metrics)]
        if shown["mean"].notna().any():
            drawn = build_chart(report.summary, spec, config).to_dict()
            title = spec.title or config.title
            charts.append(Chart(stem, title, _described(report, spec), drawn,
                                _numbers(report, spec, title)))  # fmt: skip
    return charts


def departures(report: Report) -> list[Chart]:
    """Draw how far measured numbers lie from the reported ones, a chart a metric.

    Parameters
    ----------
    report : Report

    Returns
    -------
    list of Chart
    """
    return [
        Chart(
            f"deviations_{slug(metric)}",
            str(drawn["title"]),
            describe_deviations(report, metric),
            drawn,
            [],
        )
        for metric in judged_metrics(report)
        for drawn in [deviation_chart(report, metric).to_dict()]
    ]


def _described(report: Report, spec: FigureSpec) -> str:
    summary, scope = report.summary, report.plan.experiment.config.scope
    parts = []
    for metric in spec.metrics:
        means = summary.loc[summary["metric"] == metric, "mean"].dropna()
        if len(means):
            name = scope.label(metric)
            parts.append(f"{name}, between {means.min():.3g} and {means.max():.3g}")
    shown = summary[summary["metric"].isin(spec.metrics) & summary["mean"].notna()]
    panels = [
        f"{shown[label].nunique()} values of {label}" for label in spec.panels if label in shown
    ]
    each = f"; a panel for each of {' and '.join(panels)}" if panels else ""
    lines = ", ".join(str(v) for v in shown[spec.color].dropna().unique())
    return (
        f"Line chart of {'; '.join(parts)}, against {spec.x.replace('_', ' ')}{each}; "
        f"lines by {spec.color}: {lines}."
    )


def _numbers(report: Report, spec: FigureSpec, title: str) -> list[Table]:
    """Lay out a figure's numbers, unless the tables of the page have them."""
    config = report.plan.experiment.config
    layout = config.table or TableSpec()
    if set(spec.metrics) <= set(layout.metrics or config.metrics):
        return []
    colors = [label for label in (spec.color, spec.dash) if label]
    own = TableSpec(rows=[*spec.panels, spec.x], columns=colors, metrics=spec.metrics)
    shown = config.model_copy(update={"table": own, "title": title})
    return build_tables(report.summary, shown)
