"""The page "Which method?", from the committed numbers of the experiments beside today's methods.

``python -m benchmarks.which_method`` draws its pictures anew, and writes its tables.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import pages
from kernlearn.reports.pictures import save_pictures
from kernlearn.reports.vega import data_of, whole

ROOT = Path(__file__).parents[1]
MEASURED = ROOT / "results" / "measured"
PAGE = ROOT / "docs" / "which_method.md"
KERNELS = "today_kernels"
_CONSTANTS = ("majority class", "mean")
#: A method is close to the best where it is within this much of it: a point, or 5 % of an MSE.
_CLOSE = {"accuracy": 0.01, "auc": 0.01, "error_percent": 1.0, "mse": 0.05}


@dataclass(frozen=True)
class Part:
    """An experiment of the page.

    Attributes
    ----------
    name : str
        Of the config, and of the table on the page.
    metric : str
    better : int
        1 where more is better, else -1.
    budget : str or None
        The parameter that methods are compared at equal values of.
    """

    name: str
    metric: str
    better: int
    budget: str | None = None

    @property
    def picture(self) -> str:
        """The name of its picture, without a suffix."""
        return self.name.replace("today", "which")

    def numbers(self) -> pd.DataFrame:
        """Return the means, a row per data set, method (with its kernel) and budget."""
        frame = pd.read_csv(MEASURED / f"{self.name}.csv")
        parameters = frame["params"].fillna("{}").map(json.loads)
        frame["budget"] = [p.get(self.budget, np.nan) for p in parameters]
        kernels = frame["kernel"].dropna().unique()
        if len(kernels) > 1:
            named = frame["kernel"].notna()
            frame.loc[named, "method"] += ", " + frame.loc[named, "kernel"]
        wide = frame.pivot_table(
            index=["method", "budget", "dataset"], columns="metric", values="mean", sort=False,
            dropna=False, aggfunc="first",
        ).dropna(how="all")  # fmt: skip
        return wide.reset_index()


PARTS = (
    Part("today_features", "accuracy", 1, "columns"),
    Part("today_landmarks", "accuracy", 1, "n_landmarks"),
    Part("today_regression", "mse", -1, "n_landmarks"),
    Part("today_online", "auc", 1, "buffer_size"),
    Part("today_sparse", "error_percent", -1, "n_landmarks"),
)


def behind(numbers: pd.DataFrame, part: Part) -> pd.Series[float]:
    """Return how far each row is behind the best of its data set; relative for an MSE."""
    best = (part.better * numbers[part.metric]).groupby(numbers["dataset"]).transform("max")
    gap = best - part.better * numbers[part.metric]
    return gap / best.abs() if part.metric == "mse" else gap


def standing(part: Part) -> pd.DataFrame:
    """Return a row per method and budget, over the data sets.

    The mean of the metric, the mean distance from the best, on how many data sets it is the best
    and close to it, the number of data sets, and geometric means of seconds.
    """
    numbers = part.numbers()
    numbers["behind"] = behind(numbers, part)
    rows = []
    for (method, budget), group in numbers.groupby(["method", "budget"], sort=False, dropna=False):
        seconds = {
            name: float(np.exp(np.log(group[name].clip(lower=1e-6)).mean()))
            for name in ("fit_seconds", "predict_seconds")
        }
        rows.append({
            "method": method, "budget": budget, "mean": group[part.metric].mean(),
            "behind": group["behind"].mean(), "best": int((group["behind"] == 0).sum()),
            "close": int((group["behind"] <= _CLOSE[part.metric]).sum()),
            "n": len(group), **seconds,
        })  # fmt: skip
    return pd.DataFrame(rows)


def table(part: Part) -> str:
    """Return the table of an experiment in Markdown."""
    found = standing(part)
    n = int(found["n"].max())
    percent = part.metric in ("accuracy", "auc")
    unit = "%" if part.metric == "mse" else "points"
    factor = 1.0 if part.metric == "error_percent" else 100.0
    budget = {"columns": "columns", "n_landmarks": "landmarks", "buffer_size": "buffer"}
    heads = [
        budget[part.budget or ""], f"mean {part.metric.replace('_', ' ')}",
        f"behind the best, {unit}", f"best or close, of {n}", "fit s", "predict s",
    ]  # fmt: skip
    lines = [f"| method | {' | '.join(heads)} |", "| --- |" + " ---: |" * len(heads)]
    for one in found.sort_values("behind", kind="stable").to_dict("records"):
        some = f" of {one['n']}" if one["n"] < n else ""
        mean = f"{100 * one['mean']:.1f} %" if percent else f"{one['mean']:.3g}"
        cells = [
            "" if np.isnan(one["budget"]) else f"{one['budget']:g}", mean,
            f"{factor * one['behind']:.1f}", f"{one['close']}{some}",
            f"{one['fit_seconds']:.2g}", f"{one['predict_seconds']:.2g}",
        ]  # fmt: skip
        lines.append(f"| {one['method']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def kernel_table() -> str:
    """Return the errors of feature maps as shares of those of H0/1, in Markdown."""
    frame = pd.read_csv(MEASURED / f"{KERNELS}.csv")
    frame = frame[frame["metric"] == "relative_gram_error"]
    wide = frame.pivot_table(
        index=["kernel", "method"], columns="dataset", values="mean", sort=False
    )
    datasets = [*wide.columns]
    lines = [f"| kernel | map | {' | '.join(datasets)} |",
             "| --- | --- |" + " ---: |" * len(datasets)]  # fmt: skip
    for kernel in wide.index.get_level_values("kernel").unique():
        rows = wide.loc[kernel]
        for method in rows.index:
            shares = rows.loc[method] / rows.loc["H0/1"]
            if method == "H0/1":
                cells = [f"{value:.3f}" for value in rows.loc[method]]
                lines.append(f"| {kernel} | H0/1, the error itself | {' | '.join(cells)} |")
            else:
                cells = ["·" if np.isnan(share) else f"{share:.2f}" for share in shares]
                lines.append(f"| {kernel} | {method} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def chart(part: Part) -> dict[str, Any]:
    """Draw how far methods are behind the best against their seconds to fit and to predict."""
    found = standing(part)
    # constants are far from all others; means over fewer data sets do not compare
    whole_rows = found["n"] == found["n"].max()
    found = found[whole_rows & ~found["method"].isin(_CONSTANTS)].copy()
    unit = "%" if part.metric == "mse" else "points"
    found["behind"] *= 1.0 if part.metric == "error_percent" else 100.0
    domain = list(dict.fromkeys(found["method"]))
    look = {
        "field": "method", "type": "nominal", "title": None,
        "scale": {"domain": domain, "scheme": "tableau20"},
    }  # fmt: skip
    shape = {**look, "scale": {"domain": domain}}
    y = {"field": "behind", "type": "quantitative", "title": f"behind the best, {unit}"}
    tooltip = [{"field": name} for name in ("method", "budget", "behind")]
    panels = []
    for step, title in (("fit_seconds", "seconds to fit"), ("predict_seconds", "to predict")):
        x = {
            "field": step, "type": "quantitative", "title": title,
            "scale": {"type": "log", "nice": False, "padding": 14},
            "axis": {"format": "~g", "tickCount": 5},
        }  # fmt: skip
        encoding = {"x": x, "y": y, "color": look}
        line = {**encoding, "order": {"field": "budget"}}
        mark = {"type": "point", "filled": True, "opacity": 1, "size": 40}
        layers = [
            {"mark": {"type": "line", "strokeWidth": 1.2}, "encoding": line},
            {"mark": mark, "encoding": {**encoding, "shape": shape, "tooltip": tooltip}},
        ]
        panels.append({"layer": layers, "width": 330, "height": 320})
    title = f"{part.name}: means over the data sets; lines join budgets"
    return whole({"title": title, "data": data_of(found), "hconcat": panels, "spacing": 24})


def measured() -> list[Part]:
    """Return the experiments that have been measured."""
    return [part for part in PARTS if (MEASURED / f"{part.name}.csv").is_file()]


def with_tables(text: str) -> str:
    """Return a text with every table between marks as the committed numbers have it."""
    tables = {part.name: table(part) for part in measured()}
    if (MEASURED / f"{KERNELS}.csv").is_file():
        tables[KERNELS] = kernel_table()
    return pages.with_tables(text, tables)


def draw() -> None:
    """Draw the pictures, and write the tables of the page."""
    for part in measured():
        _, pdf = save_pictures(chart(part), MEASURED / part.picture)
        pdf.unlink()
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    draw()
