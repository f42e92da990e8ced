"""The ``kernlearn datasets`` command: list, describe, fetch, verify and add data sets."""

from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from typer import Argument, Option

from kernlearn import config as configs
from kernlearn import datasets
from kernlearn.cli.options import DataDir, MaxMemory, check_choice, make_console, make_table
from kernlearn.exceptions import DataError

app = typer.Typer(
    help="List, describe, fetch, verify and add data sets.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Names = Annotated[
    list[str] | None,
    Argument(metavar="NAME", help="Names in the catalogue, or card files (YAML)."),
]

_WIDEST = 100


@app.command("list")
def show_list(
    task: Annotated[str | None, Option(help="List only data sets for this task.")] = None,
    missing: Annotated[
        bool, Option("--missing", help="List only data sets that are not found.")
    ] = False,
    data_dir: DataDir = None,
) -> None:
    """List the data sets, their sizes, and where they are found."""
    tasks = get_args(datasets.Card.model_fields["task"].annotation)
    if task is not None and task not in tasks:
        raise DataError(f"--task {task}: expected one of {', '.join(tasks)}")
    table = make_table("name", "task", "rows x features", "classes", "found", left=5)
    for card in _all_cards(data_dir):
        found = datasets.locate(card, data_dir)
        if (task and card.task != task) or (missing and found is not None):
            continue
        form = card.forms[0] if found is None else found.form
        rows = "?" if form.rows is None else str(form.rows)
        where = "missing" if found is None else _folder(found.paths)
        if form.sample:
            where += " (a sample)"
        number = str(len(card.classes)) if card.classes else ""
        table.add_row(card.name, card.task, f"{rows} x {card.n_features}", number, where)
    make_console().print(table if table.row_count else "no such data sets")


@app.command()
def info(
    name: Annotated[str, Argument(help="A name in the catalogue, or a card file (YAML).")],
    data_dir: DataDir = None,
    max_memory: MaxMemory = None,
) -> None:
    """Describe a data set: the facts on its card, its columns, and a small picture."""
    console = make_console()
    card, folder = _card(name, data_dir)
    about = datasets.describe(card, data_dir=folder, width=min(console.width, _WIDEST) - 2)
    for fact, text in about.facts.items():
        typer.echo(f"{fact:10} {text}")
    for note in about.notes:
        typer.echo(f"{'note':10} {note}")
    if not about.found:
        advice = f"get it from {card.source.name_and_page}"
        if card.source.downloads:
            advice = f"fetch it with: kernlearn datasets fetch {card.name}"
        elif card.source.page is None:
            advice = f"{about.facts['files']} is not where the card is, nor in --data-dir"
        typer.echo(f"{'found':10} no; {advice}")
        return
    typer.echo(f"{'found':10} {_folder(about.paths)}")
    size = (
        " x ".join(map(str, about.shape)) if len(about.shape) > 1 else f"{about.shape[0]} points"
    )
    typer.echo(f"{'loaded':10} {size}")
    for sentence in about.prepared:
        typer.echo(f"{'':10} {sentence}")
    if about.classes:
        total = sum(about.classes.values())
        table = make_table("class", "rows", "share", left=3)
        for label, count in about.classes.items():
            table.add_row(label, str(count), f"{100 * count / total:.1f} %")
        console.print(table)
    if columns := [*filter(None, [about.target]), *about.features]:
        table = make_table("column", "min", "max", "mean", "zeros", "missing", left=6)
        for c in columns:
            numbers = (f"{value:.5g}" for value in (c.min, c.max, c.mean))
            table.add_row(c.name, *numbers, f"{100 * c.zeros:.1f} %", str(c.missing))
        console.print(table)
    typer.echo(about.picture)


@app.command("fetch")
def fetch_some(
    names: Names = None,
    wanted_by: Annotated[
        list[str], Option("--for", metavar="CONFIG", help="Fetch all data sets of a config.")
    ] = [],
    everything: Annotated[bool, Option("--all", help="Fetch the whole catalogue.")] = False,
    into: Annotated[
        Path | None, Option(help="Folder to fetch into instead of the user's cache.")
    ] = None,
    force: Annotated[
        bool, Option("--force", help="Fetch again what is already available.")
    ] = False,
    timeout: Annotated[
        float, Option(min=0.1, help="Seconds without an answer that end an attempt.")
    ] = 30.0,
    max_memory: MaxMemory = None,
) -> None:
    """Fetch data sets from their publishers and compare them with their cards."""
    cards = [_card(name, None)[0] for name in names or []]
    for config in wanted_by:
        published = configs.load_config(config).config.published.values()
        cards += [_card(name, None)[0] for name in published]
    if everything:
        cards += datasets.catalogue().values()
    cards = list({card.name: card for card in cards}.values())
    if not cards and not wanted_by:
        raise DataError("nothing to fetch: give names, --for CONFIG or --all")
    reporter = _Reporter(len(cards))
    with reporter.bars:
        try:
            datasets.fetch(
                cards,
                folder=into,
                force=force,
                timeout=timeout,
                progress=reporter.progress,
                on_done=reporter.done,
            )
        except KeyboardInterrupt:
            typer.echo("Stopped. Complete data sets are kept; fetch again for the rest.", err=True)
            raise typer.Exit(130) from None


@app.command("verify")
def verify_some(
    names: Names = None, data_dir: DataDir = None, max_memory: MaxMemory = None
) -> None:
    """Compare data sets with their cards.

    The exit code is 1 if a data set differs or is damaged, or a named one is missing.
    """
    wanted = [_card(name, data_dir) for name in names or []]
    wanted = wanted or [(card, data_dir) for card in _all_cards(data_dir)]
    faults = {"differs", "damaged", *(["missing"] if names else [])}
    failed = False
    for card, folder in wanted:
        (result,) = datasets.verify(card, data_dir=folder)
        failed |= result.state in faults
        remark = f": {result.remark}" if result.remark else ""
        typer.echo(f"{result.state:8} {result.name}{remark}")
    if failed:
        raise typer.Exit(1)


_ADD_EXAMPLES = """Examples:

kernlearn datasets add survey.csv --name survey --target answer --drop id

kernlearn datasets add wpbc.data --name wpbc --no-header --target 1 --drop 0 --missing mean

kernlearn datasets add wine.xlsx --name my_wine --sheet 2019 --grades bad,fair,good

kernlearn datasets add proteins.csv --name proteins --task similarity --labels families.txt

Then name it in a config, `datasets: [survey]`, and run that."""


@app.command("add", epilog=_ADD_EXAMPLES)
def add_one(
    file: Annotated[
        Path,
        Argument(
            help="A file: text in columns (CSV), LIBSVM, ARFF, NPZ, Parquet, Excel, Stata (.dta) "
            "or MATLAB (.mat)."
        ),
    ],
    name: Annotated[str, Option(help="Name of the data set: lower case, digits and underscores.")],
    target: Annotated[
        str | None,
        Option(help="The column to predict: a name, or a position from 0 (-1 is the last)."),
    ] = None,
    task: Annotated[
        str | None,
        Option(help="classification, regression, ordinal, or similarity for a square matrix."),
    ] = None,
    title: Annotated[str | None, Option(help="Full name of the data set.")] = None,
    separator: Annotated[
        str | None, Option(help="Separator of columns; 'blanks' for any run of blanks.")
    ] = None,
    header: Annotated[
        bool | None, Option("--header/--no-header", help="Whether line 1 names the columns.")
    ] = None,
    drop: Annotated[
        list[str], Option(help="A column that is no feature: name or position. Can be repeated.")
    ] = [],
    grades: Annotated[
        str | None, Option(metavar="A,B,...", help="The labels in their order.")
    ] = None,
    missing: Annotated[
        str | None,
        Option(help="drop, mean, most_frequent or error: what is done with missing entries."),
    ] = None,
    sheet: Annotated[
        str | None, Option(help="Sheet of an Excel file, by name or position from 0.")
    ] = None,
    labels: Annotated[
        Path | None, Option(help="For a matrix without labels: a file with one per line.")
    ] = None,
    matrix: Annotated[
        str | None, Option(help="similarity or distance: what the entries of a matrix are.")
    ] = None,
    points: Annotated[
        str | None, Option(help="The column whose texts are the points, to compare as strings.")
    ] = None,
    folder: Annotated[Path, Option(help="Folder to write the card to.")] = Path("datasets"),
    copy: Annotated[bool, Option("--copy", help="Copy the file instead of linking.")] = False,
    max_memory: MaxMemory = None,
) -> None:
    """Write a card for your own data file, and report how it was read."""
    check_choice("missing", missing, ("drop", "mean", "most_frequent", "error"))
    check_choice("matrix", matrix, ("similarity", "distance"))
    given: dict[str, Any] = {"missing": missing, "matrix": matrix, "points": points}
    added = datasets.add(
        file,
        name=name,
        target=target,
        task=task,
        title=title,
        delimiter=separator,
        header=header,
        drop=drop,
        sheet=sheet,
        labels=labels,
        folder=folder,
        copy=copy,
        grades=None if grades is None else [grade.strip() for grade in grades.split(",")],
        **given,
    )
    for remark in added.remarks:
        typer.echo(f"- {remark}")
    how = f", a link to {file}, which must stay where it is" if added.linked else ""
    how = f", with {file} and {labels}" if labels is not None else how
    typer.echo(f"Data: {added.file}{how}")
    typer.echo(f"Card: {added.path}; correct it there if a guess is wrong")
    typer.echo(f"In a config: datasets: [{name}]")


def _all_cards(data_dir: Path | None) -> "list[datasets.Card]":
    """Return the shipped cards and those of the user next to data."""
    return [
        *datasets.catalogue().values(),
        *map(datasets.read_card, datasets.own_cards(data_dir).values()),
    ]


def _card(name: str, data_dir: Path | None) -> "tuple[datasets.Card, Path | None]":
    """Find a card by name or file, and the folder in which its data is looked for first."""
    if name.endswith((".yaml", ".yml")):
        return datasets.read_card(name), data_dir or Path(name).parent
    return datasets.find_card(name, data_dir), data_dir


def _folder(paths: "tuple[Path, ...]") -> str:
    return str(paths[0].parent) if paths else "scikit-learn"


class _Reporter:
    """Progress of fetching: bars on a terminal, and a line per data set anywhere."""

    def __init__(self, total: int) -> None:
        from rich import progress

        self._total, self._number = total, 0
        console = make_console()
        self.bars = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.DownloadColumn(),
            progress.TransferSpeedColumn(),
            progress.TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._tasks: dict[tuple[str, str], Any] = {}

    def progress(self, name: str, file: str, so_far: int, total: int | None) -> None:
        """Update the bar of a file."""
        key = (name, file)
        if key not in self._tasks:
            self._tasks[key] = self.bars.add_task(f"{name}: {file}")
        self.bars.update(self._tasks[key], completed=so_far, total=total)

    def done(self, result: "datasets.Fetched") -> None:
        """Print the result for a data set, and remove its bars."""
        from rich.filesize import decimal

        self._number += 1
        for key in [key for key in self._tasks if key[0] == result.name]:
            self.bars.remove_task(self._tasks.pop(key))
        states = {"there": "available already", "carried": "needs no file", "failed": "FAILED"}
        state = states.get(result.state, f"fetched {decimal(result.n_bytes)}")
        # the reasons of failures are printed together at the end
        remark = f"; {result.remark}" if result.remark and result.state != "failed" else ""
        line = f"[{self._number}/{self._total}] {result.name}: {state}{remark}"
        self.bars.console.print(line, markup=False, highlight=False, soft_wrap=True)
