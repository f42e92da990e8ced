"""What configs can name: the commands ``list`` and ``datasets``."""

import textwrap
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from shutil import get_terminal_size
from typing import Annotated, Any

import typer
from typer import Argument

from kernlearn import config as configs
from kernlearn import datasets
from kernlearn.cli import output
from kernlearn.cli.output import option
from kernlearn.exceptions import DataError

app = typer.Typer(
    help="List, describe, fetch and add data sets.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)

Reading = Annotated[
    list[str], option("How to read it; repeatable.", "KEY=VALUE", "-o", "--option")
]


def show_names(
    what: Annotated[
        str | None,
        Argument(metavar="WHAT", help="What to describe, or a config whose plug-ins are added."),
    ] = None,
) -> None:
    """List the shipped configs, and the names that a config can use.

    WHAT is one of configs, datasets, generators, streams, kernels, similarities, estimators,
    metrics: each is then described on a line.

    Example: kernlearn list estimators
    """
    from kernlearn.config import read
    from kernlearn.config.names import BUILT_IN
    from kernlearn.datasets.artificial import STREAMS
    from kernlearn.kernels.registry import LIBRARIES, library_names
    from kernlearn.yaml import read_yaml

    described = "configs datasets generators streams kernels similarities estimators metrics"
    scope = BUILT_IN if what is None or what in described.split() else read.load_scope(what)
    cards: dict[str, Any] = {**datasets.catalogue(), **scope.datasets}
    sections = {
        "configs": {n: read_yaml(path)[0]["title"] for n, path in read.shipped_configs().items()},
        "datasets": {name: card.title for name, card in sorted(cards.items())},
        "generators": {name: one.title for name, one in sorted(scope.generators.items())},
        "streams": {name: one.title for name, one in STREAMS.items()},
        "kernels": {name: one.title for name, one in scope.kernels.items()},
        "similarities": {name: scope.kernel(name).title for name in library_names()},
        "estimators": {name: one.title for name, one in scope.estimators.items()},
        "metrics": {
            name: f"{one.title or 'of scikit-learn'} ({', '.join(one.tasks)})"
            for name, one in scope.metrics.items()
        },
    }
    if what in sections:
        width = max(map(len, sections[what]))
        for name, text in sections[what].items():
            typer.echo(f"{name:{width}}  {text}")
        return
    for title, entries in sections.items():
        names = [name for name in entries if title != "metrics" or not scope.metrics[name].scorer]
        more = " and the scorers of scikit-learn" if title == "metrics" else ""
        if title == "similarities":
            names = [f"{name}.… ({len(one.kinds)})" for name, one in sorted(LIBRARIES.items())]
        text = f"{title}: {', '.join(names)}{more}"
        typer.echo(textwrap.fill(text, get_terminal_size().columns, subsequent_indent="  "))
    typer.echo("`kernlearn list estimators` describes them, and so for the others.")


@app.command("list")
def show_list(
    missing: Annotated[bool, option("Only those that are not here.", None, "--missing")] = False,
) -> None:
    """List the data sets, their sizes, and whether they are here."""
    rows = []
    cards = [*datasets.catalogue().values()]
    cards += [datasets.read_card(path) for path in datasets.own_cards().values()]
    for card in cards:
        found = datasets.locate(card)
        if missing and found is not None:
            continue
        form = card.forms[0] if found is None else found.form
        size = f"{'?' if form.rows is None else form.rows} x {card.n_features}"
        where = "missing" if found is None else "here" if found.paths else "scikit-learn"
        if form.sample:
            where += ", a sample"
        classes = str(len(card.classes)) if card.classes else ""
        rows.append([card.name, card.task, size, classes, where])
    output.show_table(["name", "task", "rows x features", "classes", "place"], rows, left=5)


@app.command()
def info(
    name: Annotated[str, Argument(help="A name in the catalogue, or a card (YAML).")],
) -> None:
    """Describe a data set: its card, its columns, and whether its content is as it should be."""
    card, folder = _card(name)
    about = datasets.describe(card, data_dir=folder)
    for fact, text in about.facts.items():
        typer.echo(f"{fact:10} {text}")
    for note in about.notes:
        typer.echo(f"{'note':10} {note}")
    if not about.found:
        advice = f"get it from {card.source.name_and_page}"
        if card.source.downloads:
            advice = f"`kernlearn datasets fetch {card.name}` gets it"
        typer.echo(f"{'place':10} missing; {advice}")
        return
    state = datasets.verify(card, data_dir=folder)
    typer.echo(f"{'place':10} {_folder(about.paths)}")
    typer.echo(f"{'content':10} {state.state}{f': {state.remark}' if state.remark else ''}")
    typer.echo(f"{'shape':10} {' x '.join(map(str, about.shape))}")
    for sentence in about.prepared:
        typer.echo(f"{'':10} {sentence}")
    if about.classes:
        total = sum(about.classes.values())
        rows = [[label, str(n), f"{n / total:.1%}"] for label, n in about.classes.items()]
        output.show_table(["class", "rows", "share"], rows)
    if columns := [*filter(None, [about.target]), *about.features]:
        rows = [
            [
                one.name,
                *(f"{value:.5g}" for value in (one.min, one.max, one.mean)),
                f"{one.zeros:.1%}",
                str(one.missing),
            ]
            for one in columns
        ]
        output.show_table(["column", "min", "max", "mean", "zeros", "missing"], rows)
    if state.state in ("differs", "damaged"):
        raise typer.Exit(1)


@app.command()
def fetch(
    names: Annotated[
        list[str] | None, Argument(metavar="[NAME...]", help="Names in the catalogue, or cards.")
    ] = None,
    config: Annotated[list[str], option("All data sets of a config.", "CONFIG", "--for")] = [],
    everything: Annotated[bool, option("The whole catalogue.", None, "--all")] = False,
    folder: Annotated[Path | None, option("Folder, by default a cache.", "DIR", "--into")] = None,
    force: Annotated[bool, option("Fetch again what is here.", None, "--force")] = False,
) -> None:
    """Fetch data sets from their publishers, and compare them with their cards."""
    cards = [_card(name)[0] for name in names or []]
    for one in config:
        published = configs.load_config(one).config.published.values()
        cards += [_card(name)[0] for name in published]
    if everything:
        cards += datasets.catalogue().values()
    cards = list({card.name: card for card in cards}.values())
    if not cards and not config:
        raise DataError("nothing to fetch: name data sets, --for CONFIG or --all")

    def show(result: Any) -> None:
        states = {"there": "is here already", "carried": "needs no file", "failed": "FAILED"}
        state = states.get(result.state, f"fetched, {result.n_bytes} bytes")
        typer.echo(f"{result.name}: {state}{f'; {result.remark}' if result.remark else ''}")

    datasets.fetch(cards, folder=folder, force=force, on_done=show)


@app.command()
def add(
    file: Annotated[Path, Argument(help="A data file, such as CSV, Parquet, Excel or ARFF.")],
    name: Annotated[str, option("Name: lower case, digits and underscores.", "NAME")],
    target: Annotated[str | None, option("Column to predict: name or position.", "COLUMN")] = None,
    task: Annotated[str | None, option("classification, regression or ordinal.", "TASK")] = None,
    settings: Reading = [],
    folder: Annotated[Path, option("Where the card goes.", "DIR")] = Path("datasets"),
) -> None:
    """Write a card for your own data file, and report how it was read.

    The keys of -o are those of a `file` in a config, such as drop, sheet, read_as.decimal.

    \b
    Examples:
      kernlearn datasets add survey.csv --name survey --target answer -o drop=id
      kernlearn datasets add wpbc.data --name wpbc -o read_as.header=false
    """  # noqa: D301
    added = datasets.add(
        file,
        name=name,
        target=target,
        task=task,
        folder=folder,
        **reading_options(settings, datasets.add),
    )
    for remark in added.remarks:
        typer.echo(f"- {remark}")
    typer.echo(f"Data: {added.file}{f', a link to {file}' if added.linked else ''}")
    typer.echo(f"Card: {added.path}; correct it there if a guess is wrong")
    typer.echo(f"In a config: datasets: [{name}]")


def reading_options(settings: list[str], reader: Callable[..., Any]) -> dict[str, Any]:
    """Return the arguments of a function from KEY=VALUE, the values read as YAML.

    Raises
    ------
    DataError
        If one has no equals sign, or the function has no such argument.
    """
    from kernlearn.yaml import parse_scalar

    hidden = ("file", "name", "folder", "target", "task", "data_dir", "hashed")
    known = [key for key in signature(reader).parameters if key not in hidden]
    options: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise DataError(f"-o {setting}: expected KEY=VALUE, such as missing=mean")
        if key.startswith("read_as."):  # a comma or a point alone is no YAML
            how = value if len(value) == 1 else parse_scalar(value)
            options.setdefault("read_as", {})[key.removeprefix("read_as.")] = how
            continue
        if key.strip() not in known:
            raise DataError(f"-o {setting}: unknown key; there are {', '.join(known)}")
        content = parse_scalar(value)
        several = key.strip() in ("drop", "grades") and not isinstance(content, list)
        options[key.strip()] = [content] if several else content
    return options


def _card(name: str) -> "tuple[datasets.Card, Path | None]":
    """Find a card by name or file, and the folder in which its data is looked for first."""
    if name.endswith((".yaml", ".yml")):
        return datasets.read_card(name), Path(name).parent
    return datasets.find_card(name), None


def _folder(paths: "tuple[Path, ...]") -> str:
    return str(paths[0].parent) if paths else "scikit-learn"
