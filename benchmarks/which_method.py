"""The page "Which method?", from the committed numbers of the experiments beside today's methods.

``python -m benchmarks.which_method`` draws its pictures anew, and writes its tables.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import pages
from kernlearn.reports.pictures import save_pictures
from kernlearn.reports.rank_diagram import rank_diagram
from kernlearn.reports.rankings import Ranking
from kernlearn.reports.ranks import Ranks, rank_methods

ROOT = Path(__file__).parents[1]
MEASURED = ROOT / "results" / "measured"
PAGE = ROOT / "docs" / "which_method.md"
KERNELS = "today_kernels"
_CONSTANTS = ("majority class", "mean")
_BUDGETS = {"columns": "columns", "n_landmarks": "landmarks", "buffer_size": "buffer"}
# what a prediction compares a point with, where it is measured
_KEPT = ("n_similarities", "n_support")
_WITH = {
    "columns": "{:g} columns",
    "n_landmarks": "{:g} landmarks",
    "buffer_size": "a buffer of {:g}",
}
#: A method is close to the best where it is within a point of it. Targets have variance 1, so that
#: a mean squared error is 1 - R².
_CLOSE = {"accuracy": 0.01, "auc": 0.01, "error_percent": 1.0, "mse": 0.01}


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
    budget : str
        The parameter that methods are compared at equal values of.
    task : str
        What it is about, in words.
    papers : tuple of str
        The methods of the papers, and later forms of them in kernlearn, by how they begin.
    """

    name: str
    metric: str
    better: int
    budget: str
    task: str = ""
    papers: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """What a distance from the best is counted in."""
        return "points of R²" if self.metric == "mse" else "points"

    @property
    def factor(self) -> float:
        """Of a distance from the best, to be in that unit."""
        return 1.0 if self.metric == "error_percent" else 100.0

    def of_papers(self, method: str) -> bool:
        """Whether a method is one of the papers'."""
        return method.startswith(self.papers)

    def sizes(self) -> dict[str, tuple[int, int]]:
        """Return the numbers of rows and of features of the data sets."""
        stored = json.loads((MEASURED / f"{self.name}.json").read_text(encoding="utf-8"))
        found = {}
        for dataset, lines in stored["data"].items():
            card = re.search(r"(\d+) rows, (\d+) features", lines[0])
            assert card is not None, lines[0]
            samples = [m for line in lines[1:] if (m := re.search(r"sample of (\d+)", line))]
            rows = samples[0] if samples else card
            found[dataset] = int(rows[1]), int(card[2])
        return found

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
            index=["method", "budget", "dataset"],
            columns="metric",
            values="mean",
            sort=False,
            dropna=False,
            aggfunc="first",
        ).dropna(how="all")
        alike = frame[frame["metric"] == self.metric].set_index(["method", "budget", "dataset"])
        wide["alike"] = alike["best"].reindex(wide.index)
        return wide.reset_index()


PARTS = (
    Part(
        "today_features",
        "accuracy",
        1,
        "columns",
        "classes, features of a kernel",
        ("H0/1", "centred", "TensorSketch"),
    ),
    Part(
        "today_rows",
        "accuracy",
        1,
        "columns",
        "classes, many rows",
        ("H0/1", "BBS"),
    ),
    Part(
        "today_landmarks",
        "accuracy",
        1,
        "n_landmarks",
        "classes, similarities to landmarks",
        ("BBS", "FTUNE"),
    ),
    Part(
        "today_regression",
        "mse",
        -1,
        "n_landmarks",
        "numbers, similarities to landmarks",
        ("RegLand",),
    ),
    Part("today_online", "auc", 1, "buffer_size", "AUC in one pass", ("OLP", "OAM")),
    Part(
        "today_sparse",
        "error_percent",
        -1,
        "n_landmarks",
        "two classes, few support vectors",
        ("VKR",),
    ),
)


def behind(numbers: pd.DataFrame, part: Part) -> pd.Series[float]:
    """Return how far each row is behind the best of its data set."""
    best = (part.better * numbers[part.metric]).groupby(numbers["dataset"]).transform("max")
    return best - part.better * numbers[part.metric]


def standing(part: Part) -> pd.DataFrame:
    """Return a row per method and budget, over the data sets.

    The mean of the metric, the mean distance from the best, on how many data sets it is the best,
    close to it and not told apart from it by a paired t-test over the splits, the number of data
    sets, how many points a prediction compares with, and geometric means of seconds.
    """
    numbers = part.numbers()
    numbers["behind"] = behind(numbers, part)
    rows = []
    for (method, budget), group in numbers.groupby(["method", "budget"], sort=False, dropna=False):
        seconds = {
            name: float(np.exp(np.log(group[name].clip(lower=1e-6)).mean()))
            for name in ("fit_seconds", "predict_seconds")
        }
        kept = [
            group[name].dropna() for name in _KEPT if name in group and group[name].notna().any()
        ]
        rows.append(
            {
                "method": method,
                "budget": budget,
                "kept": float(kept[0].mean()) if kept else np.nan,
                "mean": group[part.metric].mean(),
                "behind": group["behind"].mean(),
                "best": int((group["behind"] == 0).sum()),
                "close": int((group["behind"] <= _CLOSE[part.metric]).sum()),
                "alike": int(group["alike"].eq(True).sum()),
                "n": len(group),
                **seconds,
            }
        )
    return pd.DataFrame(rows)


def table(part: Part) -> str:
    """Return the table of an experiment in Markdown."""
    found = standing(part)
    n = int(found["n"].max())
    percent = part.metric in ("accuracy", "auc")
    kept = found["kept"].notna().any()
    heads = [
        _BUDGETS[part.budget],
        *(["compared with"] if kept else []),
        f"mean {part.metric.replace('_', ' ')}",
        f"behind the best, {part.unit}",
        f"best or close, of {n}",
        "not told apart",
        "fit s",
        "predict s",
    ]
    lines = [f"| method | {' | '.join(heads)} |", "| --- |" + " ---: |" * len(heads)]
    for one in found.sort_values("behind", kind="stable").to_dict("records"):
        some = f" of {one['n']}" if one["n"] < n else ""
        mean = f"{100 * one['mean']:.1f} %" if percent else f"{one['mean']:.3g}"
        cells = [
            "" if np.isnan(one["budget"]) else f"{one['budget']:g}",
            *(["" if np.isnan(one["kept"]) else f"{one['kept']:.0f}"] if kept else []),
            mean,
            f"{part.factor * one['behind']:.1f}",
            f"{one['close']}{some}",
            f"{one['alike']}",
            f"{one['fit_seconds']:.2g}",
            f"{one['predict_seconds']:.2g}",
        ]
        lines.append(f"| {one['method']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def compared(part: Part) -> pd.DataFrame:
    """Return the standing of what has numbers of the most data sets, without constants.

    Means over fewer data sets do not compare, and constants are far from all others.
    """
    found = standing(part)
    return found[(found["n"] == found["n"].max()) & ~found["method"].isin(_CONSTANTS)]


def front(found: pd.DataFrame, seconds: str) -> pd.DataFrame:
    """Return the rows that nothing as fast is ahead of, the fastest first."""
    ordered = found.sort_values([seconds, "behind"], kind="stable")
    return ordered[ordered["behind"] < ordered["behind"].cummin().shift(fill_value=np.inf)]


def front_table(part: Part) -> str:
    """Return, in Markdown, what to take for the seconds that it may cost."""
    heads = ["to", "seconds", "take", _BUDGETS[part.budget], f"behind the best, {part.unit}"]
    lines = [f"| {' | '.join(heads)} |", "| --- | ---: | --- | ---: | ---: |"]
    found = compared(part)
    for seconds, what in (("predict_seconds", "predict"), ("fit_seconds", "fit")):
        for one in front(found, seconds).to_dict("records"):
            budget = "" if np.isnan(one["budget"]) else f"{one['budget']:g}"
            name = f"**{one['method']}**" if part.of_papers(one["method"]) else one["method"]
            lines.append(
                f"| {what} | {one[seconds]:.2g} | {name} | {budget} | "
                f"{part.factor * one['behind']:.1f} |"
            )
    return "\n".join(lines) + "\n"


def datasets_table(part: Part) -> str:
    """Return, in Markdown, the best of all and of the papers' methods on each data set."""
    numbers = part.numbers()
    numbers["behind"] = behind(numbers, part)
    heads = [
        "data set",
        "rows",
        "features",
        "the best",
        "of the papers' methods",
        f"it is behind, {part.unit}",
    ]
    lines = [f"| {' | '.join(heads)} |", "| --- | ---: | ---: | --- | --- | ---: |"]
    sizes = part.sizes()
    for dataset, group in numbers.groupby("dataset", sort=False):
        ordered = group.sort_values("behind", kind="stable")
        best = ordered.iloc[0]
        own = ordered[ordered["method"].map(part.of_papers)].iloc[0]
        rows, features = sizes[str(dataset)]
        lines.append(
            f"| {dataset} | {rows} | {features} | {_named(best, part)} | {_named(own, part)} | "
            f"{part.factor * own['behind']:.1f} |"
        )
    return "\n".join(lines) + "\n"


def _named(row: Any, part: Part) -> str:
    """Return the method of a row with its budget."""
    if np.isnan(row["budget"]):
        return str(row["method"])
    return f"{row['method']} ({_WITH[part.budget].format(row['budget'])})"


def ranked(part: Part) -> tuple[Ranks, list[str]]:
    """Rank the methods, those with a budget at the greatest one, over the data sets.

    Also return the methods that are left out, with numbers of fewer than half of the data sets.
    """
    numbers = part.numbers()
    numbers = numbers[~numbers["method"].isin(_CONSTANTS)]
    most = numbers["budget"].max()
    numbers = numbers[numbers["budget"].isna() | (numbers["budget"] == most)]
    scores = numbers.pivot_table(index="dataset", columns="method", values=part.metric, sort=False)
    few = scores.columns[scores.notna().mean() < 0.5]
    return rank_methods(scores.drop(columns=few), part.better), [str(name) for name in few]


def ranks_text(part: Part) -> str:
    """Say what the tests over the data sets tell."""
    found, few = ranked(part)
    budget = _WITH[part.budget].format(part.numbers()["budget"].max())
    n = f"{found.n_datasets} data sets"
    if found.left_out:
        lacks = (
            f"{name}, where {' and '.join(of)} has no number"
            for name, of in found.left_out.items()
        )
        n += f" (without {'; '.join(lacks)})"
    if few:
        n += f", of all methods but {', '.join(few)}, which has numbers of too few"
    said = (
        f"Over {n}, with {budget} where a method has a budget, Friedman's test "
        f"{'tells the methods apart' if found.differ else 'does not tell the methods apart'} "
        f"(p = {found.p_value:.2g})."
    )
    if found.differ:
        worse = [f"{name} ({p:.2g})" for name, p in found.holm.items() if p < found.level]
        own = [name for name in found.average if part.of_papers(name)]
        told = [name for name in own if found.holm.get(name, 1) < found.level]
        said += (
            f" By Holm's procedure these are behind the first, {found.control}: "
            f"{', '.join(worse) or 'none'}. Of the papers' methods, {len(told)} of {len(own)} are."
        )
    return pages.wrapped(said)


def sentence(part: Part) -> str:
    """Say in a sentence how the papers' methods stand."""
    found = compared(part).sort_values("behind", kind="stable")
    best = found.iloc[0]
    own = found[found["method"].map(part.of_papers)].iloc[0]

    def gap(row: Any) -> str:
        return f"{part.factor * row['behind']:.1f} {part.unit}"

    if own["method"] == best["method"]:
        others = found[~found["method"].map(part.of_papers)].iloc[0]
        return (
            f"{_named(own, part)} is the closest to the best of each data set, {gap(own)} behind "
            f"on average; of the others it is {_named(others, part)}, {gap(others)} behind."
        )
    return (
        f"{_named(best, part)} is the closest to the best of each data set, {gap(best)} behind on "
        f"average; of the papers' methods it is {_named(own, part)}, {gap(own)} behind; it takes "
        f"{_as_long(own['fit_seconds'] / best['fit_seconds'])} to fit and "
        f"{_as_long(own['predict_seconds'] / best['predict_seconds'])} to predict."
    )


def _as_long(ratio: float) -> str:
    shown = f"{ratio:.2g}"
    return "as long" if shown == "1" else f"{shown} times as long"


def sentences() -> str:
    """Return what the experiments amount to, a sentence for each."""
    lines = []
    for i, part in enumerate(measured(), 1):
        title = part.task[0].upper() + part.task[1:]
        lines.append(f"{i}. {pages.wrapped(f'**{title}**: {sentence(part)}', 3)}")
    return "\n".join(lines) + "\n"


def kernel_table() -> str:
    """Return errors and times of feature maps as shares of those of H0/1, in Markdown."""
    frame = pd.read_csv(MEASURED / f"{KERNELS}.csv")
    wide = _by_dataset(frame, "relative_gram_error", "mean")
    seconds = _by_dataset(frame, "transform_seconds", "median")
    datasets = [*wide.columns]
    lines = [
        f"| kernel | map | {' | '.join(datasets)} | time |",
        "| --- | --- |" + " ---: |" * (len(datasets) + 1),
    ]
    for kernel in wide.index.get_level_values("kernel").unique():
        rows = wide.loc[kernel]
        times = (seconds.loc[kernel] / seconds.loc[(kernel, "H0/1")]).median(axis=1)
        for method in rows.index:
            shares = rows.loc[method] / rows.loc["H0/1"]
            if method == "H0/1":
                cells = [f"{value:.3f}" for value in rows.loc[method]]
                lines.append(f"| {kernel} | H0/1, the error itself | {' | '.join(cells)} | 1 |")
            else:
                cells = ["·" if np.isnan(share) else f"{share:.2f}" for share in shares]
                cells.append(f"{times[method]:.2g}")
                lines.append(f"| {kernel} | {method} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _by_dataset(frame: pd.DataFrame, metric: str, value: str) -> pd.DataFrame:
    """Return a metric of the feature maps, a row for each kernel and map."""
    some = frame[frame["metric"] == metric]
    return some.pivot_table(
        index=["kernel", "method"], columns="dataset", values=value, sort=False
    )


def chart(part: Part) -> dict[str, Any]:
    """Draw how far methods are behind the best against their seconds to fit and to predict."""
    found = compared(part).copy()
    found["behind"] *= part.factor
    costs = {"fit_seconds": "seconds to fit", "predict_seconds": "to predict"}
    title = f"{part.name}: means over the data sets; lines join budgets"
    return pages.cost_chart(found, costs, "budget", part.unit, title)


def measured() -> list[Part]:
    """Return the experiments that have been measured."""
    return [part for part in PARTS if (MEASURED / f"{part.name}.csv").is_file()]


def with_tables(text: str) -> str:
    """Return a text with every table between marks as the committed numbers have it."""
    tables = {"sentences": sentences()}
    for part in measured():
        tables[part.name] = table(part)
        tables[f"{part.name}: seconds"] = front_table(part)
        tables[f"{part.name}: data sets"] = datasets_table(part)
        tables[f"{part.name}: ranks"] = ranks_text(part)
    if (MEASURED / f"{KERNELS}.csv").is_file():
        tables[KERNELS] = kernel_table()
    return pages.with_tables(text, tables)


def draw() -> None:
    """Draw the pictures, and write the tables of the page."""
    for part in measured():
        ranking = Ranking(part.name, part.metric, {}, ranked(part)[0])
        diagram = rank_diagram([ranking]).to_dict()
        for picture, name in ((chart(part), part.picture), (diagram, f"{part.picture}_ranks")):
            _, pdf = save_pictures(picture, MEASURED / name)
            pdf.unlink()
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    draw()
