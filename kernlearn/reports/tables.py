"""Tables in the layout of the paper, for terminal, page, Markdown, LaTeX and CSV."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import product
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from kernlearn.checks import listed
from kernlearn.config.model import ExperimentConfig, TableSpec
from kernlearn.config.names import BUILT_IN, Scope, is_time
from kernlearn.config.values import LABELS
from kernlearn.reports.labels import label_groups, label_rows, label_values
from kernlearn.reports.verdicts import SYMBOLS, missing_lines

#: Sign of a mean over splits in some of which a solver did not converge.
NOT_CONVERGED = "!"
#: Labels in words.
WORDS = {
    "buffer_size": "buffer size s",
    "n_components": "number of features D",
    "n_features": "dimension d",
    "n_landmarks": "number of landmarks",
    "n_samples": "number of points n",
}
_COUNTS = ("n_samples", "n_features", "n_similarities", "comparisons")
_HEADS = {"n_components": "D", "n_landmarks": "landmarks"}
_PLURALS = {"n_landmarks": "landmarks", "n_components": "features"}
# With more columns, methods and then other labels of columns are labels of rows instead.
_MOST_COLUMNS = 8
# What a spreadsheet computes, and what is a number, perhaps with its deviation or interval.
_COMPUTED = re.compile("'*[=+\\-@\t\r＝＋－＠]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?( ?[±\[][\d.e +\-±,\]]*)?|[+-]?inf")
# What LaTeX would take for something else, and signs that it lacks.
_LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
    | {"✓": r"$\checkmark$", "≈": r"$\approx$", "≠": r"$\neq$", "×": r"$\times$"}
    | {"▲": r"$\blacktriangle$", "△": r"$\triangle$", "▼": r"$\blacktriangledown$"}
    | {"·": r"$\cdot$", "±": r"$\pm$", "–": "--", "−": "$-$", "ᵀ": r"$^\top$"}
)


@dataclass(frozen=True)
class Cell:
    """A measured number and the reported one, as text, and the number that rows are sorted by.

    Where there is none the text is empty and the number NaN; ``spread`` is the standard deviation
    or interval as text; ``best`` tells whether it is the best or not significantly worse, where
    the config asks; ``not_converged`` counts the splits in which a solver stopped early.
    """

    mean: str = ""
    spread: str = ""
    reported: str = ""
    verdict: str = ""
    best: bool = False
    not_converged: int = 0
    value: float = np.nan
    metric: str = ""

    @property
    def measured(self) -> str:
        """The measured number with its spread."""
        return f"{self.mean} {self.spread}".rstrip()

    @property
    def symbol(self) -> str:
        """The symbol of the verdict on what was measured."""
        return SYMBOLS.get(self.verdict, "") if self.mean else ""

    def __str__(self) -> str:
        early = NOT_CONVERGED if self.not_converged else ""
        reported = f"({self.reported})" if self.reported else ""
        parts = [self.measured or "–", early, reported, self.symbol]
        return " ".join(filter(None, parts))


@dataclass(frozen=True)
class Table:
    """A table ready to be written in any format.

    ``row_heads`` are those of the label columns, ``heads`` those of the number columns. ``varied``
    says in words what these are values of, such as ``"buffer size s"``, where they do not speak
    for themselves. ``missing`` has a line on the data sets that have no row because nothing was
    measured on them, and one on those whose data are not public.
    """

    title: str
    row_heads: list[str]
    heads: list[str]
    rows: list[tuple[list[str], list[Cell]]]
    varied: str = ""
    missing: tuple[str, ...] = ()


def format_number(value: float, metric: str, scope: Scope = BUILT_IN) -> str:
    """Format a number with the digits that suit its metric."""
    if np.isnan(value):
        return ""
    if scope.better(metric) == 1 and not metric.startswith("neg_"):
        return f"{value:.3f}"
    if metric.endswith(_COUNTS) or 100 <= abs(value) < 1e6:
        return f"{value:.0f}"
    # a time below a tenth of a millisecond looks like the others of its column
    return f"{value:.7f}" if is_time(metric) and 0 < value < 1e-4 else f"{value:#.3g}"


def build_tables(cells: pd.DataFrame, config: ExperimentConfig) -> list[Table]:
    """Lay out cells in tables, as the config asks.

    What would have more than eight columns has a row for each method instead.

    Parameters
    ----------
    cells : pandas.DataFrame
        From :func:`~kernlearn.reports.summarise`.
    config : ExperimentConfig

    Returns
    -------
    list of Table
        One for each value of the labels under ``each``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from kernlearn.store import Store
    >>> from kernlearn.config import load_config
    >>> from kernlearn.engine import make_plan, run_plan
    >>> from kernlearn.reports import assemble, build_tables
    >>> small = ["splits=1", "methods.ORLand.n_landmarks=[5]", "methods.ORLand.C=1"]
    >>> plan = make_plan(load_config("demo_ordinal", settings=small))
    >>> with TemporaryDirectory() as folder, Store(Path(folder) / "demo.sqlite") as store:
    ...     _ = run_plan(plan, store)
    ...     cells = assemble(plan, store).cells
    >>> table = build_tables(cells, plan.experiment.config)[0]
    >>> table.title, table.row_heads, table.heads
    ('Ordinal regression with landmarks, in small', ['kernel', 'landmarks'], ['ORLand', 'KR'])
    >>> [heads for heads, cells in table.rows]
    [['manhattan', ''], ['manhattan', '5'], ['gaussian', ''], ['gaussian', '5']]
    """
    spec = config.layout
    metrics = spec.metrics or config.metrics
    rows = cells[cells["metric"].isin(metrics)]
    rows = rows[rows["mean"].notna() | rows["reported_mean"].notna()]
    # rows without the labels, such as baselines, belong in every table
    groups, parts, missing = label_groups(rows, spec.each), [], []
    for _, part in groups:
        measured = {*part.loc[part["mean"].notna(), "dataset"]}
        lacking = {*part["dataset"]} - measured if measured and "dataset" in spec.rows else {}
        missing.append((*missing_lines(lacking, config), *_undecided(part, config)))
        parts.append(part[~part["dataset"].isin(lacking)])
    in_rows, in_columns = _sides(parts, spec)
    names = [filter(None, map(group_title, spec.each, one)) for one, _ in groups]
    titles = [" — ".join([config.title, *labels]) for labels in names]
    return [
        replace(_lay_out(part, config, metrics, in_rows, in_columns), title=title, missing=lacks)
        for part, title, lacks in zip(parts, titles, missing, strict=True)
    ]


def _undecided(cells: pd.DataFrame, config: ExperimentConfig) -> list[str]:
    """Return a line on the places of bold cells in which no difference is shown."""
    if config.best is None:
        return []
    rows = cells[cells["metric"].isin(config.best.metrics) & cells["mean"].notna()]
    groups = [*label_groups(rows, config.best.within)]
    compared = [names for names, of in groups if of["method"].nunique() > 1]
    open_ = [names for names, of in groups if names in compared and not of["best"].any()]
    if not open_:
        return []
    shown = [" ".join(map(group_title, config.best.within, one)).strip() for one in open_]
    where = "any row" if len(open_) == len(compared) > 1 else listed(shown)
    return [f"no method is shown to be better than all others in {where}"]


def _sides(parts: list[pd.DataFrame], spec: TableSpec) -> tuple[list[str], list[str]]:
    """Return the labels of rows and of columns, so that no table is too wide."""
    in_rows, in_columns = list(spec.rows), [c for c in spec.columns if c != "metric"]

    def too_wide(labels: list[str]) -> bool:
        counts = (len({*label_rows(part, [*labels, "metric"])}) for part in parts)
        return max(counts, default=0) > _MOST_COLUMNS

    if in_columns and too_wide(in_columns) and not too_wide(in_rows):
        return in_columns, in_rows
    # methods first, so that those of a data set stand below each other
    for label in sorted(in_columns, key=lambda label: label != "method"):
        if too_wide(in_columns):
            in_columns.remove(label)
            in_rows.append(label)
    return in_rows, in_columns


def _lay_out(
    frame: pd.DataFrame,
    config: ExperimentConfig,
    metrics: list[str],
    in_rows: list[str],
    labels: list[str],
) -> Table:
    baselines = {label for label, entry in config.methods.items() if entry.baseline}
    # baselines come last
    values = sorted(_in_order(frame, labels, config), key=lambda c: bool(baselines & {*c}))
    filled = {*label_rows(frame, [*labels, "metric"])}
    columns = [(c, m) for c, m in product(values, metrics) if (*c, m) in filled]
    keys = label_rows(frame, [*in_rows, *labels, "metric"])
    # of several rows the first counts
    by_labels = dict(zip(keys[::-1], frame[::-1].to_dict("records"), strict=True))
    rows = []
    for names in _in_order(frame, in_rows, config):
        cells = [make_cell(by_labels.get((*names, *c, m)), m, config.scope) for c, m in columns]
        texts = [f"{_text(v)} (baseline)" if v in baselines else _text(v) for v in names]
        rows.append((texts, cells))
    heads = []
    for values, metric in columns:
        # a single metric needs no name
        name = [config.scope.label(metric)] if len(metrics) > 1 or not values else []
        mark = ["(baseline)"] if baselines & {*values} else []
        heads.append(" ".join(filter(None, [*map(_text, values), *name, *mark])))
    return Table(
        config.title,
        [_HEADS.get(r, r) for r in in_rows],
        heads,
        rows,
        " and ".join(WORDS.get(c, c.replace("_", " ")) for c in labels if c not in LABELS),
    )


def _in_order(
    frame: pd.DataFrame, labels: list[str], config: ExperimentConfig
) -> list[tuple[Any, ...]]:
    """Return the combinations of labels, sorted as the config or else the rows list each label.

    Numbers ascend, after rows without one; rows without a kernel come after those with one.
    """
    rows = label_values(frame, labels)
    listed = {"dataset": list(config.datasets), "method": list(config.methods)}
    orders = []
    for i, label in enumerate(labels):
        values = list(dict.fromkeys([*listed.get(label, []), *(row[i] for row in rows)]))
        if all(value is None or isinstance(value, Real) for value in values):
            values.sort(key=lambda value: -np.inf if value is None else value)
        if label == "kernel":
            values.sort(key=lambda value: value is None)
        orders.append(values)
    return sorted(rows, key=lambda row: [*map(list.index, orders, row)])


def group_title(label: str, value: Any) -> str:
    """Return a value of a label in words, such as ``30 landmarks``."""
    counted = isinstance(value, Real) and label in _PLURALS
    return f"{_text(value)} {_PLURALS[label]}" if counted else _text(value)


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


def make_cell(row: dict[Any, Any] | None, metric: str, scope: Scope = BUILT_IN) -> Cell:
    """Return the cell of a row of cells, an empty one for None.

    A time is the median with its interval, any other number the mean, with its standard deviation
    unless it is a count of comparisons or of data.
    """
    if row is None:
        return Cell(metric=metric)
    mean, std, reported, median, low, high, early = (
        row.get(name, np.nan)
        for name in ("mean", "std", "reported_mean", "median", "low", "high", "not_converged")
    )
    value, spread = (mean if np.isnan(median) else median), ""
    if not (np.isnan(low) or np.isnan(high)):
        spread = f"[{format_number(low, metric, scope)}–{format_number(high, metric, scope)}]"
    elif not np.isnan(std) and not metric.endswith(_COUNTS):
        spread = f"± {format_number(std, metric, scope)}"
    return Cell(
        format_number(value, metric, scope),
        spread if not np.isnan(value) else "",
        format_number(reported, metric, scope),
        row["verdict"],
        bool(row.get("best", False)),
        0 if np.isnan(early) else int(early),
        float(value),
        metric,
    )


def _texts(table: Table, escape: Callable[[str], str], bold: str) -> list[list[str]]:
    """Return the heads and the rows of a table, escaped, and what is best in bold."""
    rows = [
        [*map(escape, labels), *((bold if c.best else "%s") % escape(str(c)) for c in cells)]
        for labels, cells in table.rows
    ]
    return [[*map(escape, (*table.row_heads, *table.heads))], *rows]


def to_markdown(table: Table) -> str:
    """Return the table as Markdown."""
    heads, *rows = _texts(table, _markdown, "**%s**")
    rules = ["---"] * len(table.row_heads) + ["---:"] * len(table.heads)
    lines = [f"| {' | '.join(row)} |" for row in (heads, rules, *rows)]
    return "\n".join([f"**{_markdown(table.title)}**", "", *lines, ""])


def _markdown(text: str) -> str:
    """Return a text on one line that Markdown shows as it is."""
    return re.sub(r"([\\`*_<>|\[\]])", r"\\\1", " ".join(text.split()))


def to_latex(table: Table) -> str:
    """Return the table as LaTeX, for the booktabs package."""
    heads, *rows = _texts(table, lambda text: text.translate(_LATEX), r"\textbf{%s}")
    alignment = "l" * len(table.row_heads) + "r" * len(table.heads)
    style = pd.DataFrame(rows, columns=heads).style.hide(axis="index")
    comment = " ".join(table.title.split())  # a second line would be no comment
    return f"% {comment}\n{style.to_latex(hrules=True, column_format=alignment)}"


def to_csv(table: Table) -> str:
    """Return the table as CSV, measured and reported numbers in separate columns."""
    texts = {head: [row[i] for row, _ in table.rows] for i, head in enumerate(table.row_heads)}
    for i, head in enumerate(table.heads):
        cells = [row[i] for _, row in table.rows]
        texts[head] = [c.measured for c in cells]
        more = {
            "reported": [c.reported for c in cells],
            "verdict": [c.verdict for c in cells],
            "best": ["best" if c.best else "" for c in cells],
            "not converged": [str(c.not_converged or "") for c in cells],
        }
        texts |= {f"{head} {name}": column for name, column in more.items() if any(column)}
    return csv_text(pd.DataFrame(texts))


def guarded(value: Any) -> Any:
    """Return a text with an apostrophe before what a spreadsheet would compute.

    What it computes may run a program. Numbers, and texts of numbers, stay as they are.

    Examples
    --------
    >>> from kernlearn.reports.tables import guarded
    >>> [guarded(value) for value in ("=1+1", "-0.5", -0.5, "K")]
    ["'=1+1", '-0.5', -0.5, 'K']
    """
    if isinstance(value, str) and _COMPUTED.match(value) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def csv_text(frame: pd.DataFrame, **options: Any) -> str:
    """Return a table as CSV, its texts and heads guarded; options are those of ``to_csv``."""
    shown = frame.copy()
    for i, kind in enumerate(frame.dtypes):
        if kind.kind not in "biufc":
            values = [guarded(value) for value in frame.iloc[:, i]]
            # a column of objects stays one, so that its numbers are written as before
            shown.isetitem(i, pd.Series(values, dtype=object).to_numpy())
    shown.columns = [guarded(name) for name in frame.columns]
    return str(shown.to_csv(index=False, **options))
