"""The page "Points of any kind", from the committed numbers of the experiments on objects.

``python -m benchmarks.objects`` draws its pictures anew, and writes its tables.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import pages
from kernlearn.reports.pictures import save_pictures
from kernlearn.reports.vega import data_of, whole

ROOT = Path(__file__).parents[1]
MEASURED = ROOT / "results" / "measured"
PAGE = ROOT / "docs" / "objects.md"
#: The experiments, with the methods that compare no points.
EXPERIMENTS = {
    "strings": ("n-grams",),
    "graphs": ("counts of subtrees", "statistics, boosting"),
}
_FEW = 40  # comparisons
_SECONDS = ("fit_cpu_seconds", "predict_cpu_seconds")
_INDEX = ["method", "n_landmarks", "dataset"]


def numbers(name: str) -> pd.DataFrame:
    """Return the means of an experiment, a row for each method, number of landmarks and data set.

    Methods that compare no points have 0 comparisons.
    """
    frame = pd.read_csv(MEASURED / f"{name}.csv")
    parameters = frame["params"].fillna("{}").map(json.loads)
    frame["n_landmarks"] = [p.get("n_landmarks", np.nan) for p in parameters]
    wide = frame.pivot_table(
        index=_INDEX, columns="metric", values="mean", sort=False, dropna=False, aggfunc="first"
    ).dropna(how="all")
    found = wide.reset_index()
    found.loc[found["method"].isin(EXPERIMENTS[name]), "comparisons"] = 0.0
    return found


def table(name: str) -> str:
    """Return the accuracies of an experiment in Markdown, the fewest comparisons first."""
    found = numbers(name)
    datasets = list(dict.fromkeys(found["dataset"]))
    best = found.groupby("dataset")["accuracy"].max()
    heads = ["landmarks", "comparisons", *datasets, "fit s", "predict s"]
    lines = [f"| method | {' | '.join(heads)} |", "| --- |" + " ---: |" * len(heads)]
    rows = []
    for (method, d), group in found.groupby(["method", "n_landmarks"], sort=False, dropna=False):
        of = group.set_index("dataset")
        cells = ["" if np.isnan(d) else f"{d:g}", f"{group['comparisons'].mean():.0f}"]
        for dataset in datasets:
            value = of["accuracy"].get(dataset, np.nan)
            text = "" if np.isnan(value) else f"{100 * value:.1f}"
            cells.append(f"**{text}**" if value == best[dataset] else text)
        means = (np.exp(np.log(group[s].clip(lower=1e-6)).mean()) for s in _SECONDS)
        cells += [f"{mean:.2g}" for mean in means]
        rows.append((group["comparisons"].mean(), f"| {method} | {' | '.join(cells)} |"))
    lines += [line for _, line in sorted(rows, key=lambda row: row[0])]
    return "\n".join(lines) + "\n"


def _shown(row: Any) -> str:
    landmarks = "" if np.isnan(row["n_landmarks"]) else f" ({row['n_landmarks']:g} landmarks)"
    return f"{row['method']}{landmarks}, {100 * row['accuracy']:.1f} %"


def sentences(name: str) -> str:
    """Say for each data set what is best, alone and with few comparisons."""
    found = numbers(name)
    lines = []
    for dataset, group in found.groupby("dataset", sort=False):
        ordered = group.sort_values("accuracy", ascending=False, kind="stable")
        few = ordered[ordered["comparisons"].between(1, _FEW)].iloc[0]
        nearest = group[group["method"] == "nearest neighbour"].iloc[0]
        without = ordered[ordered["comparisons"] == 0].iloc[0]
        said = (
            f"**{dataset}**: the best is {_shown(ordered.iloc[0])}, with "
            f"{ordered.iloc[0]['comparisons']:.0f} comparisons for a prediction. With at most "
            f"{_FEW} it is {_shown(few)}, with {few['comparisons']:.0f}. The nearest neighbour "
            f"has {100 * nearest['accuracy']:.1f} % with {nearest['comparisons']:.0f}; without "
            f"comparing points: {_shown(without)}."
        )
        lines.append(f"- {pages.wrapped(said, 2)}")
    return "\n".join(lines) + "\n"


def chart(name: str) -> dict[str, Any]:
    """Draw accuracies against the comparisons of a prediction and against its seconds."""
    found = numbers(name)
    domain = list(dict.fromkeys(found["method"]))
    color = {
        "field": "method",
        "type": "nominal",
        "title": None,
        "scale": {"domain": domain, "scheme": "tableau20"},
        "legend": {"columns": 3, "orient": "bottom"},
    }
    shape = {"field": "method", "type": "nominal", "title": None, "scale": {"domain": domain}}
    y = {
        "field": "accuracy",
        "type": "quantitative",
        "scale": {"zero": False},
        "axis": {"format": ".0%"},
        "title": None,
    }
    rows = []
    for x, title in (
        ("comparisons", "comparisons"),
        ("predict_cpu_seconds", "seconds to predict"),
    ):
        panels = []
        for dataset in dict.fromkeys(found["dataset"]):
            of = {"filter": {"field": "dataset", "equal": dataset}}
            some = {"filter": f"datum.{x} > 0"}
            at = {
                "field": x,
                "type": "quantitative",
                "title": title,
                "scale": {"type": "log", "nice": False, "padding": 10},
                "axis": {"format": "~g", "tickCount": 4},
            }
            encoding = {"x": at, "y": y, "color": color}
            layers = [
                {
                    "transform": [some],
                    "mark": {"type": "line", "strokeWidth": 1.2},
                    "encoding": {**encoding, "order": {"field": "n_landmarks"}},
                },
                {
                    "transform": [some],
                    "mark": {"type": "point", "filled": True, "opacity": 1, "size": 35},
                    "encoding": {**encoding, "shape": shape},
                },
            ]
            if x == "comparisons":  # a level for methods without
                layers.append(
                    {
                        "transform": [{"filter": "datum.comparisons == 0"}],
                        "mark": {"type": "rule", "strokeDash": [4, 3], "strokeWidth": 1.5},
                        "encoding": {"y": y, "color": color},
                    }
                )
            panels.append(
                {
                    "transform": [of],
                    "layer": layers,
                    "width": 170,
                    "height": 190,
                    "title": dataset,
                }
            )
        rows.append({"hconcat": panels, "spacing": 12})
    title = f"{name}: accuracy; lines join numbers of landmarks, dashes are without comparisons"
    return whole({"title": title, "data": data_of(found), "vconcat": rows, "spacing": 16})


def measured() -> list[str]:
    """Return the experiments that have been measured."""
    return [name for name in EXPERIMENTS if (MEASURED / f"{name}.csv").is_file()]


def with_tables(text: str) -> str:
    """Return a text with every table between marks as the committed numbers have it."""
    tables = {}
    for name in measured():
        tables[name] = table(name)
        tables[f"{name}: sentences"] = sentences(name)
    return pages.with_tables(text, tables)


def draw() -> None:
    """Draw the pictures, and write the tables of the page."""
    for name in measured():
        _, pdf = save_pictures(chart(name), MEASURED / f"compared_{name}")
        pdf.unlink()
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    draw()
