"""The console, and tables on it."""

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console
    from rich.table import Table

    from kernlearn.experiments.engine.plan import Plan
    from kernlearn.reports import Report

#: Width of an output that is not a terminal.
UNBOUNDED = 10_000


def make_console() -> "Console":
    """Return a console for tables and bars; without a terminal its lines are not broken."""
    from rich.console import Console

    console = Console()
    return console if console.is_terminal else Console(width=UNBOUNDED)


def make_table(*columns: str, left: int = 1) -> "Table":
    """Return an empty table in which all columns but the first `left` are numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(*columns[:left], box=SIMPLE_HEAD)
    for column in columns[left:]:
        table.add_column(column, justify="right")
    return table


def show_left_out(plan: "Plan") -> None:
    """Print which data sets and methods a plan leaves out, if any."""
    name = plan.experiment.name
    if plan.left_out:
        typer.echo(f"{name}: left out, not found: {', '.join(plan.left_out)}")
    if plan.not_installed:
        typer.echo(f"{name}: left out, not installed: {', '.join(plan.not_installed)}")


def show_report(report: "Report", page: "Path") -> None:
    """Print the tables, claims and remarks of an experiment and the path of its page."""
    _show_tables(report)
    for claim in report.claims:
        source = f" ({claim.section})" if claim.section else ""
        typer.echo(f"[{claim.outcome}] {claim.says}{source}: {claim.numbers}")
    for remark in report.remarks:
        typer.echo(f"- {remark}")
    typer.echo(f"Report: {page}")


def _show_tables(report: "Report") -> None:
    """Print tables, split into groups of columns where the terminal is narrow."""
    from kernlearn.reports.tables import columns, to_rich

    console = make_console()
    wide = console.options.update(max_width=UNBOUNDED)
    for table in report.tables:
        first = 0
        while first < len(table.heads):
            last = len(table.heads)
            while last > first + 1 and (
                console.measure(to_rich(columns(table, first, last)), options=wide).maximum
                > console.width
            ):
                last -= 1
            console.print(to_rich(columns(table, first, last)))
            first = last
