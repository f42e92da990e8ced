"""Numbers in a page that come from the committed results.

A paragraph, list or table is followed by a comment that lists its measured numbers in their order,
each with its source::

    <!-- measured
    0.0219 = table5_1a; abalone; sigmoid; KR; -; mse
    -->

A source is one of

- ``experiment; data set; kernel; method; parameters; metric``: a mean, with ``-`` where there is
  none; then ``%`` for a share in per cent;
- ``experiment; method; parameters; metric; average``: the mean over the data sets in per cent;
  with ``behind``, how much better the best method of each is. Where a method has one cell for
  each data set there are no parameters, and where they need it the kernel stands before them.

What stands between ``<!-- printed -->``, ``<!-- answers -->``, ``<!-- chapters -->``,
``<!-- totals -->``, ``<!-- counts -->``, ``<!-- chances -->``, ``<!-- forks -->``,
``<!-- comparisons -->`` or ``<!-- unseen -->`` and ``<!-- end -->`` is made here. ``python
docs/marked_numbers.py`` writes all pages anew, and the pictures that examples of the gallery end
with.
"""

import ast
import json
import math
import re
import textwrap
from collections.abc import Iterable
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd

from kernlearn import datasets
from kernlearn.cli.output import show_report
from kernlearn.config import find_config
from kernlearn.reports import charts
from kernlearn.reports.answers import Sentence, concluded, papers
from kernlearn.reports.answers import totals as totals_of
from kernlearn.reports.report import Report, read_report, read_reports
from kernlearn.reports.verdicts import NOT_COMPARABLE, UNMEASURED

ROOT = Path(__file__).parents[1]
MEASURED = ROOT / "results" / "measured"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
MARKED = re.compile(r"((?:[^\n]+\n)+)\n?<!-- measured\n(.*?)-->", re.DOTALL)
#: The papers' tables and figures.
EXPERIMENTS = [k for paper in papers() for part in paper.chapters for k in part.experiments]
_SERIES = (
    "panel(panels['series'], {}, {}).configure_legend(orient='top', columns={}, columnPadding=16)"
)
#: Methods that compare items, and how the page names them.
_COMPARING = {
    "BBS": "BBS",
    "Nystroem": "Nyström features",
    "landmark k-NN": "landmark k-NN",
    "landmark k-NN, 10 refined": "the same, 10 compared again",
    "k-NN": "k-NN",
    "SVM, clipped": "`SpectrumSVM`",
}
#: What the page advises for as many comparisons.
_ADVISED = {20: "landmark k-NN, 10 refined", 110: "BBS", math.inf: "SVM, clipped"}
#: Pictures of pages: the example of the gallery that draws each, and another expression than the
#: last one of its program.
PICTURES = {
    MEASURED / "compared.svg": ("plot_comparisons", None),
    MEASURED / "compared_series.svg": ("plot_comparisons", _SERIES.format(520, 220, 4)),
    MEASURED / "compared_series_narrow.svg": ("plot_comparisons", _SERIES.format(250, 200, 2)),
    ROOT / "docs" / "static" / "one_pass.svg": ("plot_one_pass", None),
}


def rewritten(text: str) -> str:
    """Return a page with every measured number, sentence and table written anew."""
    for made in (printed, answers, chapters, totals, counts, chances, forks, comparisons, unseen):
        marks = rf"(<!-- {made.__name__} -->\n).*?(<!-- end -->)"
        text = re.sub(marks, lambda m, t=made: m[1] + t() + m[2], text, flags=re.DOTALL)
    return MARKED.sub(_measured_again, text)


def _measured_again(match: re.Match[str]) -> str:
    """Return a paragraph and its comment with the numbers as measured."""
    text, place, lines = match[1], 0, []
    for line in match[2].splitlines():
        old, _, source = line.partition(" = ")
        where = re.compile(rf"(?<![\w.]){re.escape(old)}(?!\w|\.\d)").search(text, place)
        assert where is not None, f"no {old} in: {text}"
        # a summary without splits is not committed: its numbers stay until it is measured again
        is_known = (MEASURED / f"{source.partition(';')[0].strip()}.json").is_file()
        new = _value(source, len(old.partition(".")[2])) if is_known else old
        text = text[: where.start()] + new + text[where.end() :]
        place = where.start() + len(new)
        lines.append(f"{new} = {source}\n")
    gap = match[0][len(match[1]) :].partition("<")[0]
    return f"{text}{gap}<!-- measured\n{''.join(lines)}-->"


def printed() -> str:
    """Return what a run of table 3.1 prints: the answer, and the first lines of its table."""
    report, text = read_report(find_config("table3_1"), MEASURED), StringIO()
    with redirect_stdout(text), patch.dict("os.environ", COLUMNS="88"):
        show_report(report)
    lines = [line.rstrip() for line in text.getvalue().splitlines()]
    answer = lines[: next(i for i, line in enumerate(lines) if line.startswith("1. ["))]
    table = lines.index(report.tables[0].title)
    shown = [*answer, "...", *lines[table : table + 7]]
    return "\n".join(["```text", *filter(None, shown), "...", "```", ""])


def answers() -> str:
    """Return what the papers' experiments come to, a sentence on each line of a list."""
    known = {report.experiment.name: report for report in _reports()}
    found = [one for paper in papers() for one in concluded(paper.answer, known)]
    return _list(map(_in_words, found))


def chapters() -> str:
    """Return what each chapter's experiments come to."""
    known = {report.experiment.name: report for report in _reports()}
    rows = []
    for chapter in (one for paper in papers() for one in paper.chapters):
        words = " ".join(map(_in_words, concluded(chapter.answer, known)))
        rows.append([chapter.title, words, ", ".join(f"`{k}`" for k in chapter.experiments)])
    return _table(["chapter", "what came back", "experiments"], rows)


def _in_words(sentence: Sentence) -> str:
    changes = "; ".join(sentence.changes)
    return f"{sentence.says} (No longer so: {changes}.)" if changes else sentence.says


def totals() -> str:
    """Return what the numbers, differences and claims of the papers come to."""
    return _list(totals_of(_reports()).in_words())


def counts() -> str:
    """Return what counts most of these."""
    found = totals_of(_reports())
    n_scores, n = found.comparable()
    shown, smaller, reversed_ = (found.differences[k] for k in ("shown", "smaller", "reversed"))
    open_ = n - shown - smaller - reversed_
    holds, fails = found.claims["holds"], found.claims["fails"]
    n_claims = sum(found.claims.values())
    cells = pd.concat(one.cells for one in _reports() if one.experiment.is_counted)
    verdicts = cells.loc[cells["metric"] == "n_support", "verdict"]
    absent = (*UNMEASURED, NOT_COMPARABLE, "")
    n_support, n_alike = (~verdicts.isin(absent)).sum(), (verdicts == "match").sum()
    return _list(
        [
            f"Numbers: {found.scores['match'] - n_alike} of {n_scores - n_support} accuracies and "
            f"errors match, {n_alike} of {n_support} counts of support vectors.",
            f"Which method is better: {shown} of {n} differences are shown, {smaller} are less "
            f"than half as large, {reversed_} are reversed, {open_} are open.",
            f"What the papers say of them: {holds} of {n_claims} claims hold, {fails} fail, "
            f"{n_claims - holds - fails} are open.",
        ]
    )


def _list(sentences: Iterable[str]) -> str:
    lines = (textwrap.wrap(f"- {one}", 99, subsequent_indent="  ") for one in sentences)
    return "".join("\n".join(of_one) + "\n" for of_one in lines)


def chances() -> str:
    """Return the counts of each table, and the share of the orders that count as many."""
    heads = ["table", "match", "p, methods", "p, data", "shown", "smaller", "reversed"]
    heads += heads[2:4]
    rows = []
    for report in [one for one in _reports() if one.experiment.is_counted]:
        name, of_table = report.experiment.name, report.chances.to_dict("records")
        for metric in dict.fromkeys(one["metric"] for one in of_table):
            of_metric = report.differences[report.differences["metric"] == metric]
            cells = [f"{name}, {metric.replace('_', ' ')}"]
            for count in ("match", "shown"):
                of = {
                    c["exchanged"]: c
                    for c in of_table
                    if (c["metric"], c["count"]) == (metric, count)
                }
                first = next(iter(of.values()), {"found": 0, "of": 0})
                cells.append(f"{first['found']} of {first['of']}")
                if count == "shown":
                    outcomes = of_metric["outcome"]
                    cells += [str((outcomes == one).sum()) for one in ("smaller", "reversed")]
                swapped = ("methods", "data sets")
                cells += [_p_value(of.get(what)) if of else "none" for what in swapped]
            rows.append(cells)
    return _table(heads, rows)


def _p_value(chance: dict[str, Any] | None) -> str:
    """Return the p-value of an exchange, or how few orders there are."""
    if chance is None:
        return "one order"
    if chance["n_orders"] < 20:
        return f"{chance['n_orders']} orders"
    return f"{chance['p_value']:.2g}"


def forks() -> str:
    """Return the matches under each choice that agrees with reported numbers, and otherwise."""
    frame = pd.read_csv(MEASURED / "forks.csv")
    frame["matches"] = frame["match"].astype(str) + " of " + frame["numbers"].astype(str)
    rows = []
    for names, group in frame.groupby(["experiment", "choice"], sort=False):
        counts = dict(zip(group["branch"], group["matches"], strict=True))
        chosen = counts.pop("as chosen")
        others = "; ".join(f"{branch}: {n.partition(' ')[0]}" for branch, n in counts.items())
        rows.append([*names, chosen, others])
    return _table(["table", "choice", "match", "alternatives"], rows)


def comparisons() -> str:
    """Return how far methods that compare are behind, by classes and comparisons.

    A method has as many landmarks as the comparisons allow. It is behind the best method of each
    data set that makes no more; in brackets, on how many sets by more than two points.
    """
    costs = _costs("series", "objects")
    classes = costs["dataset"].map(lambda name: len(datasets.find_card(name).classes))
    costs["classes"] = pd.cut(classes, [1, 3, 9, 99], labels=["2 or 3", "6 to 9", "10 or more"])
    rows = []
    for label, group in costs.groupby("classes", observed=True):
        for most in (20, 50, 110, math.inf):
            values = _within(most, group)
            behind = 100 * (-values).add(values.max(axis=1), axis=0)
            behind = behind.reindex(columns=[*_COMPARING])
            texts = [
                f"{points.mean():.1f} ({(points > 2).sum()} of {len(points)})"
                if points.notna().all()
                else ""
                for _, points in behind.items()
            ]
            rows.append([f"{label}", "all" if most == math.inf else f"{most}", *texts])
    return _table(["classes", "comparisons", *_COMPARING.values()], rows)


def unseen() -> str:
    """Return the accuracy of what is advised, and of the best method of no more comparisons."""
    costs, rows, gaps = _costs("unseen"), [], list[float]()
    names = {k: name.replace("the same", "landmark k-NN") for k, name in _COMPARING.items()}
    for name, group in costs.groupby("dataset"):
        texts = []
        for most, method in _ADVISED.items():
            values = 100 * _within(most, group).loc[name]
            best, text = str(values.idxmax()), f"{values[method]:.1f}"
            text += "" if best == method else f" ({names[best]} {values[best]:.1f})"
            texts.append(text)
            gaps.append(values[best] - values[method])
        rows.append([f"`{name}`", *texts])
    heads = ["all" if most == math.inf else f"at most {most}" for most in _ADVISED]
    named = (f"{text}: {names[k]}" for text, k in zip(heads, _ADVISED.values(), strict=True))
    near = f"It is within two points in {sum(gap <= 2 for gap in gaps)} of {len(gaps)}.\n"
    return _table(["data", *named], rows) + "\n" + near


def _costs(*experiments: str) -> pd.DataFrame:
    """Return the accuracy of each method and number of landmarks, the fewest comparisons first."""
    columns = ["dataset", "method", "params", "metric"]
    cells = pd.concat(map(_summary, experiments)).set_index(columns)["mean"]
    costs = cells.unstack("metric").dropna(subset="comparisons").reset_index()
    return costs.sort_values("comparisons")


def _within(most: float, costs: pd.DataFrame) -> pd.DataFrame:
    """Return the accuracy by data set and method, with as many landmarks as `most` allows."""
    allowed = costs[costs["comparisons"] <= most].groupby(["dataset", "method"])
    return allowed["accuracy"].last().unstack("method")


def _table(heads: list[str], rows: list[list[str]]) -> str:
    return "".join(f"| {' | '.join(row)} |\n" for row in [heads, ["---"] * len(heads), *rows])


@cache
def _summary(experiment: str) -> pd.DataFrame:
    """Return the committed numbers of an experiment, their parameters as ``n_landmarks=30``."""
    frame = read_report(find_config(experiment), MEASURED).cells
    params = [" ".join(f"{k}={v}" for k, v in json.loads(p).items()) for p in frame["params"]]
    names = frame[["dataset", "kernel", "method"]].fillna("-")
    return frame.assign(**names, params=[text or "-" for text in params])


@cache
def _reports() -> list[Report]:
    return read_reports(MEASURED, EXPERIMENTS)[0]


def _value(fields: str, digits: int) -> str:
    """Return what a comment stands for, as text."""
    experiment, *names = (field.strip() for field in fields.split(";"))
    frame = _summary(experiment)
    if names[-1] in ("average", "behind"):
        return f"{_over_data_sets(frame, *names):.{digits}f}"
    cell = ("dataset", "kernel", "method", "params", "metric")
    for column, name in zip(cell, names[:5], strict=True):
        frame = frame[frame[column] == name]
    assert len(frame) == 1, f"{fields}: {len(frame)} cells"
    return f"{frame['mean'].item() * (100 if names[-1] == '%' else 1):.{digits}f}"


def _over_data_sets(frame: pd.DataFrame, method: str, *rest: str) -> float:
    """Return a method's mean over the data sets, or how far it is behind the best of each.

    An mse counts as a share of that of the mean: the result is in points of R².
    """
    *params, metric, what = rest
    frame = frame[frame["metric"] == metric].set_index("dataset")
    own = frame["method"] == method
    if params:
        labels = frame["kernel"] + " " + frame["params"]
        own &= (frame["params"] == params[0]) | (labels == params[0])
    values, cells = frame.loc[own, "mean"], frame["mean"].groupby("dataset")
    assert 0 < len(values) == values.index.nunique(), f"{method} {rest}: {len(values)} cells"
    if what == "behind":
        best = cells.min() if metric in ("mse", "error_percent") else cells.max()
        values = (best - values).abs()
    if metric == "mse":
        values /= frame.loc[frame["method"] == "mean", "mean"]
    return float(values.mean()) * (1 if metric in ("error_percent", "n_support") else 100)


def run_example(path: Path, expression: str | None = None) -> Any:
    """Run an example of the gallery; return the chart that it ends with, or an expression."""
    code, names = ast.parse(path.read_text(encoding="utf-8")), {"__name__": path.stem}
    last: Any = code.body.pop()
    exec(compile(code, str(path), "exec"), names)
    return eval(expression or compile(ast.Expression(last.value), str(path), "eval"), names)


def draw(example: str, expression: str | None = None) -> str:
    """Draw the chart of an example of the gallery in the style of reports."""
    chart = run_example(ROOT / "docs" / "gallery" / "methods" / f"{example}.py", expression)
    own, spec = chart.to_dict(), charts.chart_of(chart.to_dict())
    spec["config"]["legend"] |= own["config"].get("legend", {})
    return charts.draw([spec])[0]


if __name__ == "__main__":
    for picture, drawn_by in PICTURES.items():
        charts.save(draw(*drawn_by), picture)
    for page in PAGES:
        page.write_text(rewritten(page.read_text(encoding="utf-8")), encoding="utf-8")
