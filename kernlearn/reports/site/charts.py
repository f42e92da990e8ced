"""The charts of a page: what is drawn, what it shows in words, and its numbers."""

from dataclasses import dataclass
from typing import Any

from kernlearn.experiments.config import FigureSpec, TableSpec
from kernlearn.reports.figures import build_chart, style
from kernlearn.reports.site.deviations import (
    describe_deviations,
    deviation_chart,
    judged_metrics,
)
from kernlearn.reports.site.rendering import slug
from kernlearn.reports.tables import Table, build_tables
from kernlearn.reports.writing import Report, numbered

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
