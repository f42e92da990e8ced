"""What a report prints on a terminal: tables with counts and a legend, claims and remarks."""

from collections import Counter
from pathlib import Path
from typing import Any

import typer

from kernlearn import reports
from kernlearn.cli import options

# What the sign of each verdict means.
_MEANINGS = {
    "match": "within the tolerance of the reported number",
    "match within spread": "further off, but no more than chance explains",
    "better": "better than reported",
    "baseline better": "a baseline that is better than reported",
    "worse": "worse than reported",
    "not comparable": "measured on other data than the paper's",
    "not run": "no number yet",
}


def show_report(report: "reports.Report", page: Path) -> None:
    """Print the tables, claims and remarks of an experiment and the path of its page."""
    from kernlearn.reports.conclusions import in_words

    explained: set[str] = set()
    for table in report.shown_tables:
        _show_table(table)
        # heads that are numbers alone, such as 2, 5, 10, need a name
        named = f"columns: {table.varied}" if table.varied else ""
        for line in [named, counted(table, report), *legend(table, report, explained)]:
            if line:
                typer.echo(line)
    if report.indicative:
        typer.echo(
            f"Indicative: profile {report.details['profile']} is a smaller version of the "
            "experiment; no verdicts are drawn from it, and the full report is kept apart."
        )
    else:
        for text in in_words(report.conclusions, report.chances):
            typer.echo(text)
        for claim in report.claims:
            source = f" ({claim.section})" if claim.section else ""
            typer.echo(f"[{claim.outcome}] {claim.says}{source}: {claim.numbers}")
            if claim.on_reported:
                typer.echo(f"  {claim.on_reported}")
    for remark in report.remarks:
        typer.echo(f"- {remark}")
    typer.echo(f"Report: {page}")


def _show_table(table: Any) -> None:
    """Print a table, as many columns at a time as the terminal has room for."""
    from kernlearn.reports.tables import columns, to_rich

    console = options.make_console()
    wide = console.options.update(max_width=options.UNBOUNDED)
    first = 0
    while first < len(table.heads):
        last = len(table.heads)
        part = to_rich(columns(table, first, last))
        while last > first + 1 and console.measure(part, options=wide).maximum > console.width:
            last -= 1
            part = to_rich(columns(table, first, last))
        console.print(part)
        first = last


def counted(table: Any, report: "reports.Report") -> str:
    """Return the counts of a table's numbers, by verdict where there are any."""
    from kernlearn.reports.tables import SYMBOLS

    cells = [cell for _, row in table.rows for cell in row]
    measured = sum(bool(cell.measured) for cell in cells)
    text = f"{measured} of {len(cells)} numbers measured"
    verdicts = Counter(cell.verdict for cell in cells if cell.verdict)
    found = [f"{n} {SYMBOLS[v]} {v}" for v in _MEANINGS if (n := verdicts[v])]
    return f"{text}; {sum(verdicts.values())} reported: {', '.join(found)}" if found else text


def legend(table: Any, report: "reports.Report", explained: set[str]) -> list[str]:
    """Explain the signs that occur in a table and are not in ``explained``, and add them there."""
    from kernlearn.reports.tables import NOT_CONVERGED, SYMBOLS

    cells = [cell for _, row in table.rows for cell in row]
    shown = [cell for cell in cells if cell.measured]
    config = report.plan.experiment.config
    signs = {}
    if any(cell.reported for cell in shown):
        signs["(…)"] = "reported in the paper"
    occurring = {cell.verdict for cell in cells}
    # an arrow up beside a number that went down needs a word
    lower = sorted(
        {
            config.scope.label(c.metric)
            for c in shown
            if c.mean < c.reported_mean
            and c.verdict in ("better", "baseline better")
            and config.scope.better(c.metric) == -1
        }
    )
    for verdict, meaning in _MEANINGS.items():
        if verdict in occurring:
            down = verdict in ("better", "baseline better") and lower
            signs[SYMBOLS[verdict]] = meaning + (f": lower {', '.join(lower)}" if down else "")
    if "not run" not in occurring and len(shown) < len(cells):
        signs["–"] = "no number"
    if any("±" in cell.measured for cell in shown):
        signs["±"] = "standard deviation over the splits"
    if any(cell.not_converged for cell in shown):
        signs[NOT_CONVERGED] = "a solver stopped early in some splits"
    if any(cell.best for cell in shown) and config.best is not None:
        signs["bold"] = (
            f"the best of {', '.join(config.best.within)}, or not significantly worse (paired "
            f"t-test, level {config.best.level:g})"
        )
    new = {sign: text for sign, text in signs.items() if sign not in explained}
    explained.update(new)
    return [f"  {sign}  {text}" for sign, text in new.items()]
