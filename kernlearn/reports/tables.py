"""A summary laid out as the paper's table."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby, product
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from kernlearn.experiments.config.model import ExperimentConfig, TableSpec
from kernlearn.experiments.scope import BUILT_IN, Scope
from kernlearn.reports.summary import label_values
from kernlearn.reports.verdicts import BETTER, MATCH, NOT_RUN, WITHIN_SPREAD, WORSE

if TYPE_CHECKING:
    from rich.table import Table as RichTable


#: Verdict to symbol, so that colour is never the only sign.
SYMBOLS = {MATCH: "✓", WITHIN_SPREAD: "≈", BETTER: "▲", WORSE: "▼", NOT_RUN: "–", "": ""}
_COUNTS = ("n_samples", "n_features")
_HEADS = {"n_components": "D", "n_landmarks": "landmarks"}
_PLURALS = {"n_landmarks": "landmarks", "n_components": "features"}


@dataclass(frozen=True)
class Cell:
    """One measured number and the reported one.

    Attributes
    ----------
    measured, reported : str
        As shown; empty where there is none.
    verdict : str
    best : bool
        Whether it is the best or not significantly worse, where the config asks.
    metric : str
    mean, std, reported_mean : float
        In full; NaN where there is none.
    n_splits : int
        How many splits the mean is over.
    """

    measured: str
    reported: str = ""
    verdict: str = ""
    best: bool = False
    metric: str = ""
    mean: float = np.nan
    std: float = np.nan
    reported_mean: float = np.nan
    n_splits: int = 0

    def __str__(self) -> str:
        shown = self.measured or "–"
        if self.reported:
            shown += f" ({self.reported})"
        return f"{shown} {SYMBOLS[self.verdict]}".rstrip() if self.measured else shown


@dataclass(frozen=True)
class Table:
    """A table ready to be written in any format.

    Attributes
    ----------
    title : str
    row_heads : list of str
        Heads of the label columns.
    heads : list of str
        Heads of the number columns.
    rows : list of (labels, cells)
    groups : list of str
        What stands over each number column: ``"baselines"`` or nothing.
    """

    title: str
    row_heads: list[str]
    heads: list[str]
    rows: list[tuple[list[str], list[Cell]]]
    groups: list[str]

    @property
    def spans(self) -> list[tuple[str, int]]:
        """Each heading over the columns with their number, from the left."""
        return [(name, len(list(run))) for name, run in groupby(self.groups)]

    @property
    def full_heads(self) -> list[str]:
        """Heads that can stand alone."""
        return [
            f"{head} (baseline)" if group else head
            for head, group in zip(self.heads, self.groups, strict=True)
        ]


def format_number(value: float, metric: str, scope: Scope = BUILT_IN) -> str:
    """Write a number with the digits that its metric deserves."""
    if np.isnan(value):
        return ""
    if scope.better(metric) == 1:
        return f"{value:.3f}"
    if abs(value) >= 100 or metric in _COUNTS:
        return f"{value:.0f}"
    return f"{value:#.3g}"


def build_tables(summary: pd.DataFrame, config: ExperimentConfig) -> list[Table]:
    """Lay a summary out as the config asks.

    Parameters
    ----------
    summary : pandas.DataFrame
        From :func:`~kernlearn.reports.summarise`.
    config : ExperimentConfig

    Returns
    -------
    list of Table
        One for each value of the labels under ``each``.
    """
    spec = config.table or TableSpec()
    metrics = spec.metrics or config.metrics
    shown = summary[summary["metric"].isin(metrics)]
    groups = label_values(shown, spec.each)
    # what does not have the labels at all, such as a baseline, belongs in every table
    named = [group for group in groups if None not in group] or groups
    return [
        _lay_out(_in_group(shown, spec.each, group), config, spec, metrics, group)
        for group in named
    ]


def _in_group(frame: pd.DataFrame, labels: list[str], values: tuple[Any, ...]) -> pd.DataFrame:
    for label, value in zip(labels, values, strict=True):
        frame = frame[frame[label].isna() | (frame[label] == value)]
    return frame


def _lay_out(
    frame: pd.DataFrame,
    config: ExperimentConfig,
    spec: TableSpec,
    metrics: list[str],
    group: tuple[Any, ...],
) -> Table:
    labels = [c for c in spec.columns if c != "metric"]
    baselines = {label for label, entry in config.methods.items() if entry.baseline}
    shown = _in_order(label_values(frame, labels), labels, config)
    # those under a heading of their own come last
    columns = list(product(sorted(shown, key=lambda c: bool(baselines & {*c})), metrics))
    by_labels = _by_labels(frame, [*spec.rows, *labels, "metric"])
    rows = []
    for values in _in_order(label_values(frame, spec.rows), spec.rows, config):
        cells = [_cell(by_labels.get((*values, *c, m)), m, config.scope) for c, m in columns]
        names = [f"{_text(v)} (baseline)" if v in baselines else _text(v) for v in values]
        rows.append((names, cells))
    # a column without a single number says nothing
    kept = [i for i in range(len(columns)) if any(c[i].measured or c[i].reported for _, c in rows)]
    title = config.title + "".join(
        f" — {_each(label, v)}" for label, v in zip(spec.each, group, strict=True)
    )
    return Table(
        title,
        [_HEADS.get(r, r) for r in spec.rows],
        [_head(*columns[i], single=len(metrics) == 1, scope=config.scope) for i in kept],
        [(names, [cells[i] for i in kept]) for names, cells in rows],
        ["baselines" if baselines & {*columns[i][0]} else "" for i in kept],
    )


def _by_labels(frame: pd.DataFrame, labels: list[str]) -> dict[tuple[Any, ...], dict[Any, Any]]:
    """Return the first row of each combination of labels."""
    keys = frame[labels].astype(object).where(frame[labels].notna(), None)
    found: dict[tuple[Any, ...], dict[Any, Any]] = {}
    for key, row in zip(keys.itertuples(index=False, name=None), frame.to_dict("records"),
                        strict=True):  # fmt: skip
        found.setdefault(key, row)
    return found


def _in_order(
    rows: list[tuple[Any, ...]], labels: list[str], config: ExperimentConfig
) -> list[tuple[Any, ...]]:
    """Sort rows by their first label, then the next, each as the config or else they list it.

    Numbers rise, what has none coming first.
    A method that meets no kernel so stands beside those that do, or where rows begin with the
    kernel after them.
    """
    listed = {"dataset": list(config.datasets), "method": list(config.methods)}
    ranks = []
    for i, label in enumerate(labels):
        values = dict.fromkeys([*listed.get(label, []), *(row[i] for row in rows)])
        if all(value is None or isinstance(value, Real) for value in values):
            numbers = sorted(value for value in values if value is not None)
            values = dict.fromkeys([None, *numbers])
        if label == "kernel" and None in values:
            values[None] = values.pop(None)
        ranks.append({value: rank for rank, value in enumerate(values)})
    return sorted(rows, key=lambda row: [r[value] for r, value in zip(ranks, row, strict=True)])


def _each(label: str, value: Any) -> str:
    """Name one of several tables; a number says nothing without its label."""
    counted = isinstance(value, Real) and label in _PLURALS
    return f"{_text(value)} {_PLURALS[label]}" if counted else _text(value)


def _head(labels: tuple[Any, ...], metric: str, *, single: bool, scope: Scope) -> str:
    name = scope.label(metric)
    if not labels:
        return name
    joined = " ".join(_text(v) for v in labels)
    return joined if single else f"{joined} {name}"


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _cell(row: dict[Any, Any] | None, metric: str, scope: Scope) -> Cell:
    if row is None:
        return Cell("")
    measured = format_number(row["mean"], metric, scope)
    if measured and not np.isnan(row["std"]) and scope.better(metric) == 1:
        measured += f" ± {row['std']:.3f}"
    reported = format_number(row["reported_mean"], metric, scope)
    n_splits = row.get("n_splits", np.nan)
    return Cell(
        measured,
        reported,
        row["verdict"],
        bool(row.get("best", False)),
        metric,
        row["mean"],
        row["std"],
        row["reported_mean"],
        0 if np.isnan(n_splits) else int(n_splits),
    )


_COLORS = {
    MATCH: "green",
    WITHIN_SPREAD: "green",
    BETTER: "cyan",
    WORSE: "yellow",
    NOT_RUN: "dim",
    "": "",
}
# Marks that LaTeX's escaping leaves alone, put in place of a command and its end.
_BOLD = (
    "\N{HEAVY LEFT-POINTING ANGLE BRACKET ORNAMENT}",
    "\N{HEAVY RIGHT-POINTING ANGLE BRACKET ORNAMENT}",
)


def columns(table: Table, first: int, last: int) -> Table:
    """Return the table with only some of its number columns."""
    rows = [(labels, cells[first:last]) for labels, cells in table.rows]
    part = slice(first, last)
    return replace(table, heads=table.heads[part], rows=rows, groups=table.groups[part])


def to_rich(table: Table) -> "RichTable":
    """Return the table for a terminal."""
    from rich.table import Table as RichTable
    from rich.text import Text

    shown = RichTable(title=table.title, title_justify="left", caption_justify="left")
    for head in table.row_heads:
        shown.add_column(head, no_wrap=True)
    for head in _two_lines(table):
        shown.add_column(head, justify="right", no_wrap=True)
    previous = None
    for labels, cells in table.rows:
        if previous is not None and previous != labels[0]:
            shown.add_section()
        first = "" if labels[0] == previous else labels[0]
        previous = labels[0]
        shown.add_row(first, *labels[1:], *(Text(str(c), style=_style(c)) for c in cells))
    return shown


def _two_lines(table: Table) -> list[str]:
    """Heads with the heading of their group above the first of it."""
    if not any(table.groups):
        return table.heads
    over = [name if i == 0 else "" for name, count in table.spans for i in range(count)]
    return [f"{name}\n{head}" for name, head in zip(over, table.heads, strict=True)]


def _style(cell: Cell) -> str:
    return f"bold {_COLORS[cell.verdict]}".strip() if cell.best else _COLORS[cell.verdict]


def to_markdown(table: Table) -> str:
    """Return the table as Markdown."""
    heads = [*table.row_heads, *table.full_heads]
    lines = [f"**{table.title}**", "", _pipes(heads)]
    lines.append(_pipes(["---"] * len(table.row_heads) + ["---:"] * len(table.heads)))
    lines += [
        _pipes([*labels, *(f"**{c}**" if c.best else str(c) for c in cells)])
        for labels, cells in table.rows
    ]
    return "\n".join(lines) + "\n"


def _pipes(texts: Iterable[str]) -> str:
    return "| " + " | ".join(t.replace("|", "\\|") for t in texts) + " |"


def to_latex(table: Table) -> str:
    """Return the table as LaTeX, for the booktabs package."""
    symbols = {
        "✓": r"$\checkmark$",
        "≈": r"$\approx$",
        "▲": r"$\blacktriangle$",
        "▼": r"$\blacktriangledown$",
    }
    frame = pd.DataFrame(
        [
            [*labels, *(f"{_BOLD[0]}{c}{_BOLD[1]}" if c.best else str(c) for c in cells)]
            for labels, cells in table.rows
        ],
        columns=[*table.row_heads, *table.full_heads],
    )
    text = frame.to_latex(
        index=False,
        escape=True,
        caption=None,
        column_format="l" * len(table.row_heads) + "r" * len(table.heads),
    )
    bold = {_BOLD[0]: r"\textbf{", _BOLD[1]: "}"}
    replaced = {
        **symbols,
        **bold,
        "±": r"$\pm$",
        "–": "--",
        "×": r"$\times$",
        "−": "$-$",
        "ᵀ": r"$^\top$",
    }
    for mark, command in replaced.items():
        text = text.replace(mark, command)
    return f"% {table.title}\n{text}"


def to_csv(table: Table) -> str:
    """Return the table as CSV, measured and reported in columns of their own."""
    heads = list(table.row_heads)
    for head in table.full_heads:
        heads += [head, f"{head} reported", f"{head} verdict", f"{head} best"]
    frame = pd.DataFrame(
        [[*labels, *(text for c in cells for text in _texts(c))] for labels, cells in table.rows],
        columns=heads,
    )
    empty = [
        c
        for c in frame.columns
        if c.endswith((" reported", " verdict", " best")) and not any(frame[c])
    ]
    return frame.drop(columns=empty).to_csv(index=False)


def _texts(cell: Cell) -> list[str]:
    return [cell.measured, cell.reported, cell.verdict, "best" if cell.best else ""]
