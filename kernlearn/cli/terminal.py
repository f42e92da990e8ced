"""The console that every command prints to."""

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import Console

    from kernlearn.experiments.engine.plan import Plan
    from kernlearn.experiments.scope import Scope
    from kernlearn.experiments.store.results import Store
    from kernlearn.reports import Report


#: Width of what is no terminal.
UNBOUNDED = 10_000


def say(console: "Console", text: str) -> None:
    """Print a text as it is: nothing in it is markup, and no line is broken."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def make_console() -> "Console":
    """Return a console; a pipe has no width of its own: there lines take what they need."""
    from rich.console import Console

    console = Console()
    return console if console.is_terminal else Console(width=UNBOUNDED)


console = make_console()


def show_left_out(plan: "Plan") -> None:
    """Print which data sets and methods a plan goes without, if any."""
    name = plan.experiment.name
    if plan.left_out:
        console.print(f"{name}: left out, not found: {', '.join(plan.left_out)}")
    if plan.not_installed:
        labels = ", ".join(plan.not_installed)
        console.print(f"{name}: left out, not installed: {labels}", markup=False)


def write_reports(
    plan: "Plan", store: "Store", output: "Path", summary: "Path | None"
) -> "tuple[Report, Path]":
    """Write an experiment's page and, where a folder for it is given, its summary."""
    from kernlearn.reports import assemble, write_report, write_summary

    report = assemble(plan, store)
    page = write_report(report, output / plan.experiment.name)
    if summary is not None:
        write_summary(report, summary)
    return report, page


def show_report(report: "Report", page: "Path") -> None:
    """Print an experiment's tables, claims and remarks, and where its page is."""
    _show_tables(report)
    for claim in report.claims:
        source = f" ({claim.section})" if claim.section else ""
        text = f"[{claim.outcome}] {claim.says}{source}: {claim.numbers}"
        console.print(text, markup=False, highlight=False, soft_wrap=True)
    for remark in report.remarks:
        console.print(f"- {remark}", markup=False, highlight=False, soft_wrap=True)
    console.print(f"Report: {page}", soft_wrap=True)


def _show_tables(report: "Report") -> None:
    """Print an experiment's tables, in parts where the terminal is narrow."""
    from kernlearn.reports.tables import columns, to_rich

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


def show_components(scope: "Scope") -> None:
    """Print the shipped configs and the names that a config can use, with their plug-ins."""
    from kernlearn.datasets import catalogue
    from kernlearn.experiments.config.yaml import read_yaml
    from kernlearn.experiments.registry import TASK_METRICS
    from kernlearn.resources import shipped

    configs = {p.stem: read_yaml(p)[0]["title"] for p in sorted(shipped("configs").glob("*.yaml"))}
    _section("Configs", configs)
    datasets = {**catalogue(), **scope.datasets}
    _section("Data sets", {n: _marked(d.title, d) for n, d in sorted(datasets.items())})
    generators = sorted(scope.generators.items())
    _section("Generators", {n: _marked(g.title, g) for n, g in generators})
    _section("Kernels", {n: _marked(c.summary, c) for n, c in scope.kernels.items()})
    _section("Estimators", {n: _marked(c.summary, c) for n, c in scope.estimators.items()})
    metrics = {
        task: ", ".join(_marked(name, scope.metrics[name]) for name in scope.task_metrics(task))
        for task in TASK_METRICS
    }
    _section("Metrics", metrics)
    for fault in scope.broken:
        typer.echo(f"kernlearn: {fault}", err=True)


def _marked(text: str, component: object) -> str:
    """Say which plug-in a component is from, if it is from one."""
    plugin = getattr(component, "plugin", "")
    return f"{text} ({plugin})".lstrip() if plugin else text


def _section(title: str, entries: dict[str, str]) -> None:
    console.print(f"[bold]{title}[/bold]")
    width = max(map(len, entries), default=0)
    for name, text in entries.items():
        console.print(f"  {name:{width}}  {text}", markup=False, highlight=False)
