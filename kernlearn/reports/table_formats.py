"""A table written for terminal, Markdown, LaTeX and CSV."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from kernlearn.reports.tables import Cell, Table
from kernlearn.reports.verdicts import BETTER, MATCH, NOT_RUN, WITHIN_SPREAD, WORSE

if TYPE_CHECKING:
    from rich.table import Table as RichTable

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
