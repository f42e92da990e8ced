"""The command ``ranks``."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from kernlearn import engine
from kernlearn import store as stores
from kernlearn.cli import options, terminal
from kernlearn.cli.outputs import Plot, check_picture, save_picture, table_text, write_text
from kernlearn.cli.report import StoreOrConfigs, is_store
from kernlearn.cli.run import Only
from kernlearn.exceptions import ReportError

_FORMATS = ("table", "csv", "json", "markdown", "latex")
_SUFFIXES = {".csv": "csv", ".json": "json", ".md": "markdown", ".tex": "latex"}


def ranks(
    what: StoreOrConfigs = None,
    metric: Annotated[
        list[str],
        Option(
            metavar="NAME",
            help="Metric to rank by. Can be repeated.",
            show_default="the first that is no time",
        ),
    ] = [],
    control: Annotated[
        str | None,
        Option(
            metavar="METHOD",
            help="Method that the others are compared with.",
            show_default="the best",
        ),
    ] = None,
    only: Only = [],
    reported: Annotated[
        bool, Option("--reported", help="Rank the numbers that the papers report.")
    ] = False,
    form: Annotated[
        str | None,
        Option(
            "--format",
            help=f"{', '.join(_FORMATS)}.",
            show_default="the suffix of the output file, else table",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        Option(help="File for the numbers.", show_default="standard output"),
    ] = None,
    plot: Plot = None,
    profile: Annotated[
        str | None, Option(help="'full', or a profile that the config defines.")
    ] = None,
    config: Annotated[
        list[Path],
        Option(metavar="FILE", help="With a STORE, a config of your own. Can be repeated."),
    ] = [],
    splits: options.Splits = None,
    option: options.Settings = [],
    data_dir: options.DataDir = None,
    store: options.StorePath = options.STORE,
) -> None:
    """Rank methods over data sets, and test whether they differ (Demšar 2006).

    On each data set the methods are ranked by their means over the splits. Friedman's test tells
    whether the average ranks differ at all; Holm's procedure compares each method with a control,
    Nemenyi's test all with each other. Kernels, and values of parameters that several methods
    vary, are ranked separately. Data sets where a method has no number are left out. --plot draws
    the critical-difference diagram.

    \b
    Examples:
      kernlearn ranks table4_2
      kernlearn ranks mine.yaml --metric accuracy --control SVM --plot ranks.svg
      kernlearn ranks results/runs/store.sqlite --format csv --output ranks.csv
      kernlearn ranks table4_2 --only n_landmarks=30 --reported
    """  # noqa: D301
    form = _form(form, output)
    check_picture(plot)
    from kernlearn.reports import rankings

    choice = engine.Choice(only=tuple(map(engine.parse_only, only)))
    names, is_whole = what or [], False
    if not names or is_store(names[0]):
        if len(names) > 1:
            raise ReportError(f"{names[0]}: a store stands alone; name configs and --store")
        store, is_whole = Path(names[0]) if names else store, True
    elif config:
        raise ReportError(f"--config {config[0]}: belongs to a store; name it without --config")
    found: list[rankings.Ranking] = []
    reasons: list[str] = []
    with options.opened_store(store) as opened:
        settings = options.with_splits(option, splits)
        for plan, numbers in _summaries(
            names, is_whole, opened, profile, settings, data_dir, config
        ):
            named: list[str | None] = [*metric] or [None]
            for name in named:
                wanted = rankings.Wanted(name, control, choice, reported)
                try:
                    found += rankings.rankings(
                        numbers, plan.axes, plan.experiment.config, _titled(plan), wanted
                    )
                except ReportError as error:
                    reasons.append(str(error))
    if reasons and (not is_whole or not found):
        raise ReportError("\n".join(reasons))
    for reason in reasons:
        typer.echo(f"kernlearn: not ranked: {reason}", err=True)
    _write(found, form, output)
    if plot is not None:
        from kernlearn.reports.rank_diagram import rank_diagram

        save_picture(rank_diagram(found), plot)


def _form(form: str | None, output: Path | None) -> str:
    if form is None:
        form = _SUFFIXES.get(output.suffix.lower(), "table") if output is not None else "table"
    if form not in _FORMATS:
        raise ReportError(f"--format {form}: expected one of {', '.join(_FORMATS)}")
    return form


def _summaries(
    names: list[str],
    is_whole: bool,
    store: "stores.Store",
    profile: str | None,
    settings: list[str],
    data_dir: Path | None,
    config: list[Path],
) -> Any:
    """Yield plans with the summaries of what the store has of them."""
    from kernlearn.reports.forks import summary_of
    from kernlearn.reports.stored import stored_plans

    if is_whole:
        plans, skipped = stored_plans(
            store, configs=config, profile=profile, settings=settings, data_dir=data_dir
        )
        for one in skipped:
            typer.echo(f"kernlearn: {one.name}: not ranked: {one.reason}", err=True)
        if not plans:
            raise ReportError(f"{store.path}: nothing to rank")
    else:
        loaded = options.load_experiments(names, profile or "full", None, settings, data_dir)
        plans = options.make_plans(loaded, data_dir, True)
    for plan in plans:
        yield plan, summary_of(plan, store)


def _titled(plan: "engine.Plan") -> str:
    """Return the name of an experiment, and its profile, whose numbers are indicative."""
    one = plan.experiment
    return f"{one.name} ({one.profile}, indicative)" if one.indicative else one.name


def _write(found: Any, form: str, output: Path | None) -> None:
    """Print the rankings, or write them to a file."""
    from kernlearn.reports.rankings import rank_table

    if form == "table" and output is None:
        for one in found:
            _show(one)
        return
    if form == "table":
        form = "markdown"
    frame = rank_table(found)
    if form in ("csv", "json"):
        text = table_text(frame, form)
    else:
        text = "\n".join(_listing(one, form) for one in found)
    if output is None:
        terminal.write_data(text)
    else:
        write_text(output, text, f"{len(frame)} rows")


def _cells(one: Any) -> list[tuple[str, str, str]]:
    """Return method, average rank and adjusted p-value, as text, the best first."""
    ranks = one.ranks
    return [
        (
            method,
            f"{average:.2f}",
            "control" if method == ranks.control else _p(ranks.holm[method]),
        )
        for method, average in ranks.average.items()
    ]


def _listing(one: Any, form: str) -> str:
    """Return a ranking as a table in Markdown or LaTeX, with what the tests say."""
    if form == "markdown":
        rows = [f"| {' | '.join(cells)} |" for cells in _cells(one)]
        head = ["| method | average rank | p (Holm) |", "| --- | ---: | ---: |"]
        return "\n".join([f"**{_heading(one)}**", "", *head, *rows, "", *_sentences(one), ""])
    escaped = str.maketrans({c: f"\\{c}" for c in "&%$#_{}"})
    rows = [" & ".join(c.translate(escaped) for c in cells) + r" \\" for cells in _cells(one)]
    notes = [f"% {line}" for line in [_heading(one), *_sentences(one)]]
    return "\n".join(
        [
            *notes,
            r"\begin{tabular}{lrr}",
            r"method & average rank & $p$ (Holm) \\ \hline",
            *rows,
            r"\end{tabular}",
            "",
        ]
    )


def _heading(one: Any) -> str:
    place = " · ".join(filter(None, [one.experiment, one.metric.replace("_", " "), one.place]))
    ranks = one.ranks
    return f"{place}: {len(ranks.average)} methods on {ranks.n_datasets} data sets"


def _show(one: Any) -> None:
    table = options.make_table("method", "average rank", "p (Holm)")
    for cells in _cells(one):
        table.add_row(*cells)
    terminal.write_heading(_heading(one))
    options.make_console().print(table)
    for line in _sentences(one):
        typer.echo(line)
    typer.echo("")


def _sentences(one: Any) -> list[str]:
    """Say what the tests say, what was left out, and what makes them less certain."""
    from kernlearn.reports.ranks import FEW_DATASETS

    ranks = one.ranks
    k, n = len(ranks.average), ranks.n_datasets
    said = "the methods differ" if ranks.differ else "no difference shown"
    lines = [
        f"Friedman's test: χ² = {ranks.chi_square:.3g}, F = {ranks.f_statistic:.3g} with {k - 1} "
        f"and {(k - 1) * (n - 1)} degrees of freedom (Iman & Davenport), p = "
        f"{_p(ranks.p_value)}: {said} (α = {ranks.level:g})."
    ]
    if ranks.differ:
        groups = [", ".join(group) for group in ranks.groups if len(group) > 1]
        lines.append(
            f"Nemenyi's test: average ranks differ if they are {ranks.critical_difference:.2f} "
            f"apart; not told apart: {'; '.join(groups) or 'none'}."
        )
        lines.append(f"p (Holm): adjusted, of the difference from {ranks.control}.")
    else:
        lines.append("The p-values of single methods say nothing then.")
    if ranks.left_out:
        of = n + len(ranks.left_out)
        each = [
            f"{name} (no number{'' if len(lack) == k else ' of ' + ', '.join(lack)})"
            for name, lack in ranks.left_out.items()
        ]
        lines.append(f"{len(each)} of {of} data sets left out: {'; '.join(each)}.")
    if one.absent:
        lines.append(f"Not ranked, without a number: {', '.join(one.absent)}.")
    if ranks.n_ties:
        lines.append(
            f"On {ranks.n_ties} of {n} data sets methods share a rank; Friedman's test is "
            "corrected for that."
        )
    if n < FEW_DATASETS:
        lines.append(
            f"Fewer than {FEW_DATASETS} data sets: only great differences are found, and p-values "
            "are rough."
        )
    return lines


def _p(value: float) -> str:
    return f"{value:.2g}" if value >= 1e-4 else f"{value:.0e}"
