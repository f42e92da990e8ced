"""What the commands print: tables as wide as the terminal, reports, and the progress of a run."""

import os
import sys
import textwrap
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from kernlearn.checks import counted

#: Lines of a table on the terminal, unless all are asked for.
MOST_LINES = 40
#: Width of an output that is neither a terminal nor has a width in $COLUMNS.
UNBOUNDED = 10_000
# What the signs of a table mean, in the order of the legend.
_SIGNS = {
    "✓": "within the tolerance of the reported number",
    "≈": "further off, by no more than chance explains",
    "▲": "better than reported",
    "△": "a baseline that is better than reported",
    "▼": "worse than reported",
    "≠": "measured on other data",
    "±": "standard deviation over the splits",
    "!": "a solver stopped early",
}


def option(help: str, metavar: str | None = None, *names: str, **limits: Any) -> Any:
    """Return an option of a command whose help says what its default is, if that is needed."""
    return typer.Option(*names, metavar=metavar, help=help, show_default=False, **limits)


def make_console() -> Any:
    """Return a console as wide as the terminal, or as $COLUMNS says; names are no markup."""
    from rich.console import Console

    wide = None if sys.stdout.isatty() or "COLUMNS" in os.environ else UNBOUNDED
    return Console(file=sys.stdout, width=wide, markup=False, emoji=False, highlight=False)


def show_wrapped(text: str, indent: int) -> None:
    """Print a text on lines as wide as the terminal, all but the first indented."""
    width, indented = make_console().width, " " * indent
    typer.echo(textwrap.fill(text, width, subsequent_indent=indented, break_on_hyphens=False))


def show_facts(facts: Mapping[str, str], indent: str = "") -> None:
    """Print names and texts in two columns."""
    width = max(map(len, facts))
    for name, text in facts.items():
        show_wrapped(f"{indent}{name:{width}}  {text}", len(indent) + width + 2)


def show_table(
    heads: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    left: int = 1,
    title: str = "",
    most: int | None = None,
) -> None:
    """Print a table, as many columns at a time as there is room for, on at most `most` lines.

    The first `left` columns name a row and are repeated; the others hold numbers, as text or as
    ``rich.text.Text``. A row that starts like the one above it does not repeat its first name.
    """
    from rich.box import SIMPLE_HEAD
    from rich.cells import cell_len
    from rich.table import Table

    console = make_console()
    if title:
        console.print(title, style="bold", soft_wrap=True)
    columns = zip(heads, *rows, strict=True)
    widths = [3 + max(cell_len(str(text)) for text in column) for column in columns]
    named, parts, end = sum(widths[:left]) + 1, list[list[int]](), console.width
    for i in range(left, len(heads)):
        if not parts or end + widths[i] > console.width:
            parts.append([])
            end = named
        parts[-1].append(i)
        end += widths[i]
    heights = (len(parts) or 1) * len(rows)
    n_shown = len(rows) if most is None or heights <= most else max(most // (len(parts) or 1), 1)
    for part in parts or [[]]:
        table = Table(box=SIMPLE_HEAD)
        for head in heads[:left]:
            table.add_column(head, no_wrap=named < console.width // 2, overflow="fold")
        for i in part:
            table.add_column(heads[i], justify="right", no_wrap=True)
        previous = None
        for row in rows[:n_shown]:
            name = "" if left > 1 and row[0] == previous else str(row[0])
            table.add_row(name, *map(str, row[1:left]), *(row[i] for i in part))
            previous = row[0]
        console.print(table)
    if n_shown < len(rows):
        typer.echo(
            f"{len(rows) - n_shown} more rows: on the page, and by `kernlearn report CONFIG --all`"
        )


def write_text(path: Path, text: str, content: str) -> None:
    """Write a text file, whose folder is created, and print what it holds.

    On a full disk an existing file stays as it is.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.new")
    try:
        new.write_text(text, encoding="utf-8")
        new.replace(path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise OSError(error.errno, error.strerror, str(path)) from None
    show_wrapped(f"{path}: {content}", 2)


def show_report(report: Any, most: int | None = MOST_LINES) -> None:
    """Print the answer and the claims of a report, its tables with their signs, and remarks.

    A table has at most `most` lines.
    """
    from rich.text import Text

    from kernlearn.reports.answers import answer
    from kernlearn.reports.differences import in_words

    for sentence in answer(report):
        changes = f" (No longer so: {'; '.join(sentence.changes)}.)" if sentence.changes else ""
        show_wrapped(f"{sentence.says}{changes}", 0)
    if report.experiment.indicative:
        changes = ", ".join(report.experiment.changes)
        show_wrapped(f"Indicative, without verdicts: {changes} is not the full protocol", 2)
    else:
        for n, claim in enumerate(report.claims.itertuples(), 1):
            but = f"; but {claim.caveat}" if claim.caveat else ""
            show_wrapped(f"{n}. [{claim.outcome}] {claim.says}: {claim.numbers}{but}", 2)
        if len(report.claims):
            typer.echo("Differences are positive where the method named first is better.")
    for table in report.tables:
        rows = [
            [*labels, *(Text(str(cell), style="bold" if cell.best else "") for cell in cells)]
            for labels, cells in table.rows
        ]
        heads = [*table.row_heads, *table.heads]
        show_table(heads, rows, left=len(table.row_heads), title=table.title, most=most)
        metrics = {cell.metric for _, cells in table.rows for cell in cells if cell.metric}
        shown = ", ".join(report.experiment.config.scope.label(name) for name in metrics)
        if len(metrics) == 1 and shown not in heads:
            typer.echo(f"numbers: {shown}")
        if table.varied:
            typer.echo(f"columns: {table.varied}")
        for line in table.missing:
            typer.echo(line)
    every = [cell for table in report.tables for _, cells in table.rows for cell in cells]
    signs = {s: text for s, text in _SIGNS.items() if any(s in str(cell) for cell in every)}
    if any(cell.reported for cell in every):
        signs["(…)"] = "reported"
    if any(cell.best for cell in every) and make_console().is_terminal:
        signs["bold"] = "from the best down to the first that is shown to be worse"
    for sign, text in signs.items():
        typer.echo(f"  {sign}  {text}")
    if not report.experiment.indicative:
        for text in in_words(report.differences, report.chances):
            show_wrapped(text, 2)
    for remark in report.remarks:
        show_wrapped(f"- {remark}", 2)


def show_comparison(
    result: Any, title: str, control: str | None, margin: float | None, level: Collection[str] = ()
) -> None:
    """Print methods compared with a control, or with the best of them.

    `result` is a :class:`kernlearn.reports.ranks.Comparison`; the title says of what numbers, and
    `level` are the baselines that no method exceeds.
    """
    places = result.datasets["dataset"].unique()
    many = len(places) > 1
    where = f"{len(places)} data sets" if many else places[0]
    if result.families < len(places):
        where += f", {result.families} after those of a family count once"
    typer.echo(f"{title} on {where}")
    percent = 95 if margin is None else 90
    p_head = "p (Holm)" if margin is None else f"p (worse by {margin:g})"
    means = ["mean", "rank"] if many else ["mean"]
    heads = ["method", *means, "difference", f"{percent} % interval", p_head, "outcome"]
    rows = []
    for method, row in result.table.iterrows():
        texts = [str(method), *(f"{row[key]:.4g}" for key in means)]
        if method == result.control:
            rows.append([*texts, "", "", "", "control" if control else "best"])
        else:
            rows.append([*texts, *_difference(row), f"{row['p']:.2g}", row["outcome"]])
    show_table(heads, rows)
    if many and len(rows) == 2:
        each = result.datasets.to_dict("records")
        show_table(
            ["data set", "difference", f"{percent} % interval", "splits"],
            [[row["dataset"], *_difference(row), str(row["n_splits"])] for row in each],
        )
    if result.left_out:
        typer.echo(f"left out, without numbers of all methods: {', '.join(result.left_out)}")
    if result.friedman == result.friedman:
        typer.echo(f"Friedman's test of the ranks: p = {result.friedman:.2g}")
    outcomes, few = result.table["outcome"].dropna(), ""
    n_splits = int(result.datasets["n_splits"].max())
    if many and result.least_p >= 0.05:
        few = f"{where}: the least p-value is {result.least_p:g}"
    elif not many and n_splits < 3:
        few = counted(n_splits, "split")
    if few and set(outcomes) == {"not shown"}:
        typer.echo(f"Cannot say which is best: too few for a test, {few}")
    elif control is None:
        near = (outcomes != "worse").sum()
        others = f"{near} of {len(rows) - 1} others are not shown to be worse"
        typer.echo(f"Best: {result.control}; {others}")
        for baseline in level:
            typer.echo(f"No method is shown to be better than the baseline {baseline}")
        if not many and n_splits < 3:
            typer.echo(f"{counted(n_splits, 'split')} are few: take these p-values as rough")
    test = "median, Wilcoxon signed-rank test" if many else f"mean, {result.test}"
    typer.echo(f"Differences from {result.control}: {test}, level 5 %; intervals not adjusted")


def _difference(row: Any) -> list[str]:
    known = abs(row["low"]) < float("inf")
    interval = f"{row['low']:+.3g} to {row['high']:+.3g}" if known else "unknown"
    return [f"{row['difference']:+.3g}", interval]


class Progress:
    """Progress of a run: a bar on a terminal, elsewhere a line for each trial."""

    def run_planned(self, plan: Any, trials: list[Any], known: Mapping[str, Any]) -> None:
        """Print how many trials will run."""
        self._name, self._total = plan.experiment.name, len(trials)
        self._metrics = plan.experiment.config.metrics
        self._done, chosen = 0, {trial.key for trial in trials}
        skipped = [state.done for key, state in known.items() if key not in chosen]
        text = f"{self._name}: {self._total} trials to run, {skipped.count(True)} in the store"
        if failed := skipped.count(False):
            text += f", {failed} failed before (--retry-failed runs them again)"
        typer.echo(text)

    def run_started(self, slots: int) -> None:
        """Start the bar."""
        from rich import progress

        console = make_console()
        self._bar = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            progress.TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task(self._name, total=self._total)
        self._bar.start()

    def trial_done(self, trial: Any, row: Any) -> None:
        """Show the numbers of a trial, or why it failed."""
        self._done += 1
        numbers = [f"{k} {row.metrics[k]:.4g}" for k in self._metrics if k in row.metrics]
        outcome = ", ".join(numbers[:3]) if row.done else f"FAILED: {row.error}"
        text = f"[{self._done}/{self._total}] {trial}: {outcome}"
        if not self._bar.console.is_terminal:
            typer.echo(text)
        elif not row.done:
            self._bar.console.print(text, style="red")
        self._bar.update(self._task, completed=self._done)

    def run_ended(self) -> None:
        """Stop the bar."""
        self._bar.stop()
