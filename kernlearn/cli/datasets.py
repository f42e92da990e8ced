"""The ``kernlearn datasets`` command: what data there is, where, and whether it holds."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kernlearn.cli.terminal import make_console

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from kernlearn.datasets import Card, Fetched


app = typer.Typer(
    help="List, describe, fetch, verify and add data sets.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[NAME...]", help="Names in the catalogue, or card files (YAML)."),
]
DataDir = Annotated[
    Path | None, typer.Option(help="Folder with data, before KERNLEARN_DATA and ./datasets.")
]

_WIDEST = 100


@app.command("list")
def show_list(
    task: Annotated[str | None, typer.Option(help="Only data sets of this task.")] = None,
    missing: Annotated[bool, typer.Option("--missing", help="Only what is not found.")] = False,
    data_dir: DataDir = None,
) -> None:
    """List the data sets, their sizes, and where they were found."""
    from typing import get_args

    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from kernlearn.datasets import Card, locate
    from kernlearn.exceptions import DataError

    tasks = get_args(Card.model_fields["task"].annotation)
    if task is not None and task not in tasks:
        raise DataError(f"--task {task}: expected one of {', '.join(tasks)}")
    table = Table("name", "task", "rows x features", "classes", "found", box=SIMPLE_HEAD)
    for card in _known(data_dir):
        found = locate(card, data_dir)
        if (task and card.task != task) or (missing and found is not None):
            continue
        form = card.forms[0] if found is None else found.form
        rows = "?" if form.rows is None else str(form.rows)
        where = "missing" if found is None else _place(found.paths)
        if form.sample:
            where += " (a sample)"
        number = str(len(card.classes)) if card.classes else ""
        table.add_row(card.name, card.task, f"{rows} x {card.n_features}", number, where)
    make_console().print(table if table.row_count else "no such data sets")


@app.command()
def info(
    name: Annotated[str, typer.Argument(help="A name in the catalogue, or a card file (YAML).")],
    data_dir: DataDir = None,
) -> None:
    """Show what is known of a data set, what it holds, and a picture of it."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from kernlearn.datasets import describe

    console = make_console()
    card, folder = _card(name, data_dir)
    told = describe(card, data_dir=folder, width=min(console.width, _WIDEST) - 2)
    for fact, text in told.facts.items():
        _say(console, f"{fact:10} {text}")
    for note in told.notes:
        _say(console, f"{'note':10} {note}")
    if not told.found:
        _say(console, f"{'found':10} no; fetch it with: kernlearn datasets fetch {card.name}")
        return
    _say(console, f"{'found':10} {_place(told.paths)}")
    _say(console, f"{'loaded':10} {told.shape[0]} x {told.shape[1]}")
    if told.classes:
        total = sum(told.classes.values())
        table = Table("class", "rows", "share", box=SIMPLE_HEAD)
        for label, count in told.classes.items():
            table.add_row(label, str(count), f"{100 * count / total:.1f} %")
        console.print(table)
    ranges = ([told.target] if told.target else []) + list(told.features)
    if ranges:
        table = Table("column", "min", "max", "mean", "zeros", "missing", box=SIMPLE_HEAD)
        for r in ranges:
            numbers = (f"{value:.5g}" for value in (r.min, r.max, r.mean))
            table.add_row(r.name, *numbers, f"{100 * r.zeros:.1f} %", str(r.missing))
        console.print(table)
    for line in told.picture.splitlines():
        _say(console, line)


@app.command("fetch")
def fetch_some(
    names: Names = None,
    wanted_by: Annotated[
        list[str], typer.Option("--for", metavar="CONFIG", help="All data sets of a config.")
    ] = [],
    everything: Annotated[bool, typer.Option("--all", help="All of the catalogue.")] = False,
    into: Annotated[
        Path | None, typer.Option(help="Folder to fetch into, instead of the user's cache.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Fetch anew what is there.")] = False,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Seconds of silence that end an attempt.")
    ] = 30.0,
) -> None:
    """Fetch data sets from their publishers and compare them with their cards."""
    from kernlearn.datasets import catalogue, fetch
    from kernlearn.exceptions import DataError

    cards = [_card(name, None)[0] for name in names or []]
    cards += [_card(name, None)[0] for config in wanted_by for name in _named_by(config)]
    if everything:
        cards += catalogue().values()
    cards = list({card.name: card for card in cards}.values())
    if not cards and not wanted_by:
        raise DataError("nothing to fetch: give names, --for CONFIG or --all")
    console = make_console()
    with _Reporter(console, len(cards)) as reporter:
        try:
            fetch(
                cards, folder=into, force=force, timeout=timeout,
                progress=reporter.progress, on_done=reporter.done,
            )  # fmt: skip
        except KeyboardInterrupt:
            typer.echo("Stopped. What came is kept: fetch again to go on.", err=True)
            raise typer.Exit(130) from None


@app.command("verify")
def verify_some(names: Names = None, data_dir: DataDir = None) -> None:
    """Compare the data found with the cards; exit code 1 if something is not as it should be.

    That is what differs or is damaged and, among data sets that were named, what is missing.
    """
    from kernlearn.datasets import verify

    console = make_console()
    asked = [_card(name, data_dir) for name in names or []]
    asked = asked or [(card, data_dir) for card in _known(data_dir)]
    wrong = 0
    for card, folder in asked:
        (result,) = verify(card, data_dir=folder)
        wrong += result.state in ("differs", "damaged") or (
            result.state == "missing" and bool(names)
        )
        remark = f": {result.remark}" if result.remark else ""
        _say(console, f"{result.state:8} {result.name}{remark}")
    if wrong:
        raise typer.Exit(1)


@app.command("add")
def add_one(
    file: Annotated[
        Path, typer.Argument(help="CSV or other columns, LIBSVM, ARFF, NPZ or Parquet.")
    ],
    name: Annotated[str, typer.Option(help="Lower case, digits and underscores.")],
    target: Annotated[
        str | None, typer.Option(help="The target's column: a name, or a number from 0.")
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="classification, regression or ordinal.")
    ] = None,
    title: Annotated[str | None, typer.Option(help="The full name.")] = None,
    separator: Annotated[
        str | None, typer.Option(help="Between two columns; 'blanks' for any run of blanks.")
    ] = None,
    header: Annotated[
        bool | None, typer.Option("--header/--no-header", help="Whether line 1 names the columns.")
    ] = None,
    drop: Annotated[list[str], typer.Option(help="A column that is no feature.")] = [],
    folder: Annotated[Path, typer.Option(help="Where the card is written.")] = Path("datasets"),
    copy: Annotated[bool, typer.Option("--copy", help="Copy the file instead of a link.")] = False,
) -> None:
    """Write a card for a file of your own, and say what was guessed."""
    from kernlearn.datasets import add

    added = add(
        file, name=name, target=target, task=task, title=title, delimiter=separator,
        header=header, drop=drop, folder=folder, copy=copy,
    )  # fmt: skip
    console = make_console()
    for remark in added.remarks:
        _say(console, f"- {remark}")
    verb = "linked to from" if added.linked else "lies in"
    _say(console, f"{file} {verb} {added.file.parent}")
    _say(console, f"Card: {added.path}; correct it there if a guess is wrong")


def _known(data_dir: Path | None) -> "list[Card]":
    """Return the shipped cards and those that the user put beside data."""
    from kernlearn.datasets import catalogue, own_cards, read_card

    return [*catalogue().values(), *map(read_card, own_cards(data_dir).values())]


def _card(name: str, data_dir: Path | None) -> "tuple[Card, Path | None]":
    """Find a card by name or file, and the folder in which its data is looked for first."""
    from kernlearn.datasets import find_card, read_card

    if name.endswith((".yaml", ".yml")):
        return read_card(name), data_dir or Path(name).parent
    return find_card(name, data_dir), data_dir


def _named_by(config: str) -> list[str]:
    """Return the data sets of a config that are in the catalogue."""
    from kernlearn.experiments import load_config

    return [*load_config(config).config.published.values()]


def _say(console: "Console", text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def _place(paths: "tuple[Path, ...]") -> str:
    return str(paths[0].parent) if paths else "scikit-learn"


class _Reporter:
    """Progress of fetching: bars on a terminal, a line a data set anywhere."""

    def __init__(self, console: "Console", total: int) -> None:
        self.console, self._total, self._number = console, total, 0
        self._bars: Progress | None = None
        self._tasks: dict[tuple[str, str], Any] = {}

    def __enter__(self) -> "_Reporter":
        if self.console.is_terminal:
            from rich.progress import (
                BarColumn,
                DownloadColumn,
                Progress,
                TextColumn,
                TimeRemainingColumn,
                TransferSpeedColumn,
            )

            self._bars = Progress(
                TextColumn("{task.description}"), BarColumn(), DownloadColumn(),
                TransferSpeedColumn(), TimeRemainingColumn(),
                console=self.console, transient=True,
            )  # fmt: skip
            self._bars.start()
        return self

    def __exit__(self, *raised: object) -> None:
        if self._bars is not None:
            self._bars.stop()

    def progress(self, name: str, file: str, so_far: int, in_all: int | None) -> None:
        if self._bars is None:
            return
        key = (name, file)
        if key not in self._tasks:
            self._tasks[key] = self._bars.add_task(f"{name}: {file}")
        self._bars.update(self._tasks[key], completed=so_far, total=in_all)

    def done(self, result: "Fetched") -> None:
        from rich.filesize import decimal

        self._number += 1
        if self._bars is not None:
            for key in [key for key in self._tasks if key[0] == result.name]:
                self._bars.remove_task(self._tasks.pop(key))
        said = {"there": "there already", "carried": "needs no file", "failed": "FAILED"}
        state = said.get(result.state, f"fetched {decimal(result.n_bytes)}")
        # the reasons of failures come together at the end
        remark = f"; {result.remark}" if result.remark and result.state != "failed" else ""
        line = f"[{self._number}/{self._total}] {result.name}: {state}{remark}"
        _say(self.console, line)
