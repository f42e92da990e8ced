"""The page "Series with landmarks", from the committed numbers of the experiment ``series``.

``python -m benchmarks.series`` draws its picture anew, and writes its tables. The files
``series_equivalence_N.csv`` are what ``kernlearn equivalence`` writes with N landmarks.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import pages
from kernlearn.reports.equivalence import CHOSEN, one_sided_tests
from kernlearn.reports.pictures import save_pictures

ROOT = Path(__file__).parents[1]
MEASURED = ROOT / "results" / "measured"
PAGE = ROOT / "docs" / "series.md"
BUDGETS = (10, 30, 100)
MARGIN, LEVEL, CONTROL = 0.01, 0.05, "1-NN"
_FIFTH = 5
_METRICS = ("accuracy", "comparisons", "comparison_seconds", "predict_seconds", "fit_seconds")
_CONSTANT = "majority"


def numbers() -> pd.DataFrame:
    """Return the means, a row per data set, method and number of landmarks."""
    frame = pd.read_csv(MEASURED / "series.csv")
    parameters = frame["params"].fillna("{}").map(json.loads)
    frame["landmarks"] = [p.get("n_landmarks", np.nan) for p in parameters]
    wide = frame.pivot_table(
        index=["method", "landmarks", "dataset"],
        columns="metric",
        values="mean",
        sort=False,
        dropna=False,
        aggfunc="first",
    ).dropna(how="all")
    found = wide.reset_index()
    best = found.groupby("dataset")["accuracy"].transform("max")
    return found.assign(behind=100 * (best - found["accuracy"]))


def standing() -> pd.DataFrame:
    """Return the means over the data sets, a row per method and number of landmarks."""
    groups = numbers().groupby(["method", "landmarks"], sort=False, dropna=False)
    return groups[[*_METRICS, "behind"]].mean().reset_index()


def table() -> str:
    """Return the methods in Markdown, those closest to the best first."""
    heads = [
        "landmarks",
        "mean accuracy",
        "behind the best, points",
        "comparisons",
        "their ms",
        "predict s",
        "fit s",
    ]
    lines = [f"| method | {' | '.join(heads)} |", "| --- |" + " ---: |" * len(heads)]
    for one in standing().sort_values("behind", kind="stable").to_dict("records"):
        cells = [
            _shown(one["landmarks"], "{:g}"),
            f"{100 * one['accuracy']:.1f} %",
            f"{one['behind']:.1f}",
            _shown(one["comparisons"], "{:.0f}"),
            _shown(1000 * one["comparison_seconds"], "{:.2g}"),
            f"{one['predict_seconds']:.2g}",
            f"{one['fit_seconds']:.2g}",
        ]
        lines.append(f"| {one['method']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _shown(value: float, form: str) -> str:
    return "" if np.isnan(value) else form.format(value)


def equivalence(landmarks: int) -> pd.DataFrame:
    """Return, a row per data set, how the method chosen on held-out rows differs from 1-NN."""
    frame = pd.read_csv(MEASURED / f"series_equivalence_{landmarks}.csv")
    return frame[frame["method"] == CHOSEN].set_index("dataset")


def _groups(landmarks: int) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield all data sets, those with a fifth of the comparisons, and the others."""
    frame = equivalence(landmarks)
    few = _FIFTH * frame["comparisons"] <= frame["control_comparisons"]
    yield "all", frame
    yield "a fifth of the comparisons or less", frame[few]
    yield "more than a fifth", frame[~few]


def equivalence_table() -> str:
    """Return the tests of equivalence in Markdown."""
    heads = [
        "data sets",
        "",
        "difference, points",
        "90 % interval",
        "p (worse)",
        "comparisons",
        "of 1-NN",
        "shown",
    ]
    lines = [
        f"| landmarks | {' | '.join(heads)} |",
        "| ---: | ---: | --- |" + " ---: |" * 5 + " --- |",
    ]
    for landmarks in BUDGETS:
        for name, frame in _groups(landmarks):
            compared = [f"{frame[c].mean():.0f}" for c in ("comparisons", "control_comparisons")]
            if len(frame) < 2:
                lines.append(f"| {landmarks} | {len(frame)} | {name} | | | | | | |")
                continue
            tests = one_sided_tests(list(frame["difference"]), list(frame["error"]), MARGIN, LEVEL)
            cells = [
                f"{100 * tests.difference:+.1f}",
                f"{100 * tests.low:+.1f} to {100 * tests.high:+.1f}",
                f"{tests.p_worse:.2g}",
                *compared,
                tests.verdict,
            ]
            lines.append(f"| {landmarks} | {len(frame)} | {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def datasets_table() -> str:
    """Return, in Markdown, each data set with 100 landmarks."""
    heads = [
        "training rows",
        "1-NN",
        "best landmark method",
        "difference, points",
        "standard error",
        "comparisons",
        "of 1-NN",
        "MiniRocket",
    ]
    lines = [f"| data set | {' | '.join(heads)} |", "| --- |" + " ---: |" * len(heads)]
    wide = numbers().query("landmarks.isna()", engine="python")
    accuracy = wide.pivot_table(index="dataset", columns="method", values="accuracy", sort=False)
    for dataset, row in equivalence(BUDGETS[-1]).iterrows():
        own = accuracy.loc[dataset]
        lines.append(
            f"| {dataset} | {row.n_train:.0f} | {100 * own[CONTROL]:.1f} % | "
            f"{100 * (own[CONTROL] + row.difference):.1f} % | {100 * row.difference:+.1f} | "
            f"{100 * row.error:.1f} | {row.comparisons:.0f} | {row.control_comparisons:.0f} | "
            f"{100 * own['MiniRocket']:.1f} % |"
        )
    return "\n".join(lines) + "\n"


def chart() -> dict[str, Any]:
    """Draw how far methods are behind the best against comparisons and seconds."""
    found = standing()
    found = found[found["method"] != _CONSTANT]
    costs = {
        "comparisons": "comparisons for a prediction",
        "predict_seconds": "seconds to predict the test part",
    }
    title = "series: means over the data sets; lines join numbers of landmarks"
    return pages.cost_chart(found, costs, "landmarks", "points", title)


def with_tables(text: str) -> str:
    """Return a text with every table between marks as the committed numbers have it."""
    tables = {
        "series": table(),
        "equivalence": equivalence_table(),
        "data sets": datasets_table(),
    }
    return pages.with_tables(text, tables)


def draw() -> None:
    """Draw the picture, and write the tables of the page."""
    _, pdf = save_pictures(chart(), MEASURED / "compared_series")
    pdf.unlink()
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    draw()
