"""What configs can name: the commands ``list`` and ``datasets``."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument

from kernlearn import config as configs
from kernlearn import datasets
from kernlearn.checks import counted
from kernlearn.cli import output
from kernlearn.cli.output import option
from kernlearn.exceptions import DataError

app = typer.Typer(
    help="List, describe, fetch and add data sets.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)

_SHOWN = 20  # columns in the summary of `info`

Settings = Annotated[list[str], option("How to read it.", "KEY=VALUE", "-o", "--option")]


def show_names(
    what: Annotated[
        str | None,
        Argument(metavar="WHAT", help="What to describe, or a config whose plug-ins are added."),
    ] = None,
) -> None:
    """List the shipped configs, and the names that a config can use.

    WHAT is one of configs, datasets, generators, kernels, similarities, estimators,
    metrics: each is then described on a line.

    Example: kernlearn list estimators
    """
    from kernlearn.config import read
    from kernlearn.config.names import BUILT_IN
    from kernlearn.kernels.registry import LIBRARIES, OF_LIBRARIES
    from kernlearn.yaml import read_yaml

    described = "configs datasets generators kernels similarities estimators metrics"
    scope = BUILT_IN if what is None or what in described.split() else read.load_scope(what)
    cards: dict[str, Any] = {**datasets.catalogue(), **scope.datasets}
    sections = {
        "configs": {n: read_yaml(path)[0]["title"] for n, path in read.shipped_configs().items()},
        "datasets": {name: card.title for name, card in sorted(cards.items())},
        "generators": {name: one.title for name, one in sorted(scope.generators.items())},
        "kernels": {name: one.title for name, one in scope.kernels.items()},
        "similarities": {name: one.title for name, one in OF_LIBRARIES.items()},
        "estimators": {name: _titled(one) for name, one in scope.estimators.items()},
        "metrics": {
            name: f"{one.title or 'of scikit-learn'} ({', '.join(one.tasks)})"
            for name, one in scope.metrics.items()
        },
    }
    if what in sections:
        output.show_facts(sections[what])
        return
    own_metrics = [name for name, one in scope.metrics.items() if not one.scorer]
    shortened = {
        "metrics": [*own_metrics, "and the scorers of scikit-learn"],
        "similarities": [f"{k}.… ({len(one.kinds)})" for k, one in sorted(LIBRARIES.items())],
    }
    for title, names in {**sections, **shortened}.items():
        output.show_wrapped(f"{title}: {', '.join(names)}", 2)
    typer.echo("`kernlearn list estimators` describes them, and so for the others.")


def _titled(estimator: Any) -> str:
    """Return the title of an estimator, and the package to import it from."""
    package = "" if estimator.plugin else str(estimator.target).partition(":")[0]
    return f"{estimator.title} ({package})" if package else estimator.title


@app.command("list")
def show_list() -> None:
    """List the data sets, their sizes, and whether they are here."""
    rows = []
    own = [datasets.read_card(path) for path in datasets.own_cards().values()]
    for card in [*datasets.catalogue().values(), *own]:
        found = datasets.locate(card)
        form = card.forms[0] if found is None else found.form
        size = f"{'?' if form.rows is None else form.rows} x {card.n_features}"
        place = "missing" if found is None else "here" if found.paths else "scikit-learn"
        classes = str(len(card.classes)) if card.classes else ""
        rows.append([card.name, card.task, size, classes, place + ", a sample" * form.sample])
    output.show_table(["name", "task", "rows x features", "classes", "place"], rows, left=5)


@app.command()
def info(
    name: Annotated[str, Argument(metavar="NAME", help="A name of the catalogue, or a card.")],
) -> None:
    """Describe a data set, and check its content against its card."""
    import numpy as np
    import pandas as pd

    card, folder = _card(name)
    found = datasets.locate(card, folder)
    how = f"`kernlearn datasets fetch {card.name}`" if card.source.downloads else "see publisher"
    facts = {
        "name": card.name,
        "title": card.title,
        "task": card.task,
        "size": f"{card.rows or '?'} rows, {counted(card.n_features, 'feature')}",
        "classes": ", ".join(card.classes or ()),
        "publisher": card.source.name_and_page,
        "licence": card.licence,
        "citation": " ".join(card.citation.split()),
        "notes": "; ".join(card.notes),
        "place": f"missing; {how}" if found is None else found.place,
    }
    differs = False
    if found is not None:
        bunch, expected = datasets.load(found), found.form.fingerprint
        differs = expected not in (None, bunch.fingerprint)
        content = "differs from the card" if differs else "as on the card"
        facts["content"] = content if expected else "the card has no fingerprint"
        facts["loaded"] = " x ".join(map(str, bunch.data.shape))
        if card.rows is not None and len(bunch.target) < card.rows:
            facts["loaded"] += f", a part of {card.rows} rows"
        facts["prepared"] = "; ".join(bunch.preparation.sentences)
        if len(bunch.target_names):
            counts = np.bincount(bunch.target, minlength=len(bunch.target_names))
            rows_of = zip(bunch.target_names, counts, strict=True)
            facts["classes"] = ", ".join(f"{label} ({n} rows)" for label, n in rows_of)
    output.show_facts({fact: text for fact, text in facts.items() if text})
    if found is not None and bunch.data.ndim == 2 and card.similarity is None:
        X = bunch.data.toarray() if hasattr(bunch.data, "toarray") else bunch.data
        frame = pd.DataFrame(X, columns=bunch.feature_names)
        table = pd.DataFrame({"min": frame.min(), "max": frame.max(), "mean": frame.mean()})
        typer.echo(table.to_string(max_rows=_SHOWN, float_format="{:.5g}".format))
    if differs:
        raise typer.Exit(1)


@app.command()
def fetch(
    names: Annotated[list[str] | None, Argument(metavar="NAME", help="Names, or cards.")] = None,
    config: Annotated[list[str], option("All data sets of a config.", "CONFIG", "--for")] = [],
    folder: Annotated[Path | None, option("Folder, by default a cache.", "DIR", "--into")] = None,
    force: Annotated[bool, option("Fetch again what is here.", None, "--force")] = False,
) -> None:
    """Fetch data sets from their publishers, and check them."""
    cards = [_card(name)[0] for name in names or []]
    for one in config:
        cards += map(datasets.find_card, configs.load_config(one).config.published.values())
    if not cards and not config:
        raise DataError("nothing to fetch: name data sets, or --for CONFIG")
    failures = []
    for card in {card.name: card for card in cards}.values():
        try:
            found = datasets.fetch(card, folder=folder, force=force)
            unknown = found.paths and not found.form.fingerprint
            remark = "; its card has no fingerprint to compare it with" if unknown else ""
            typer.echo(f"{card.name}: {found.place}{remark}")
        except DataError as error:
            failures.append(str(error))
            typer.echo(f"{card.name}: FAILED")
    if failures:
        raise DataError("\n".join(failures))


@app.command()
def add(
    file: Annotated[Path, Argument(metavar="FILE", help="Such as CSV, Parquet, Excel or ARFF.")],
    name: Annotated[str, option("Name: lower case, digits and underscores.", "NAME")],
    target: Annotated[str | None, option("Column to predict: name or position.", "COLUMN")] = None,
    task: Annotated[str | None, option("classification, regression or ordinal.", "TASK")] = None,
    settings: Settings = [],
    folder: Annotated[Path, option("Where the card goes.", "DIR")] = Path("datasets"),
) -> None:
    """Write a card for your own data file, with a copy of its data.

    The keys of -o are those of a `file` in a config, such as drop, sheet, read_as.decimal.

    \b
    Examples:
      kernlearn datasets add survey.csv --name survey --target answer -o drop=id
      kernlearn datasets add wpbc.data --name wpbc -o read_as.header=false
    """  # noqa: D301
    options = reading_options(settings, "nominal", "dense", "labels")
    how = {"target": target, "task": task, "folder": folder, **options}
    try:
        bunch = datasets.add(file, name=name, **how)
    except DataError as error:
        raise DataError(error.as_options()) from None
    card = bunch.card
    for sentence in bunch.preparation.sentences:
        output.show_wrapped(f"- {sentence}", 2)
    size = f"{card.rows} rows, {counted(card.n_features, 'feature')}"
    classes = f", classes {', '.join(card.classes)}" if card.classes else ""
    output.show_wrapped(f"- the task is {card.task}: {size}{classes}", 2)
    typer.echo(f"Card: {folder / name}.yaml; correct it there if a guess is wrong")
    typer.echo(f"In a config: datasets: [{name}]")


def reading_options(settings: list[str], *without: str) -> dict[str, Any]:
    """Return how to read a file from KEY=VALUE, the values read as YAML.

    `without` are keys that it takes no part in.

    Raises
    ------
    DataError
        If one has no equals sign, or there is no such key.
    """
    from kernlearn.datasets.card import Reading
    from kernlearn.yaml import parse_scalar

    known = [k for k in Reading.model_fields if k not in ("target", "read_as", *without)]
    options: dict[str, Any] = {}
    for setting in settings:
        key, equals, value = setting.partition("=")
        if not equals:
            raise DataError(f"-o {setting}: expected KEY=VALUE, such as missing=mean")
        name = key.removeprefix("read_as.")
        if name == key and key not in known:
            raise DataError(f"-o {setting}: unknown key; allowed: {', '.join(known)}, read_as.KEY")
        # a comma or a point alone is no YAML
        content = value if name != key and len(value) == 1 else parse_scalar(value)
        (options if name == key else options.setdefault("read_as", {}))[name] = content
    return options


def _card(name: str) -> "tuple[datasets.Card, Path | None]":
    """Find a card by name or file, and the folder in which its data is looked for first."""
    if name.endswith((".yaml", ".yml")):
        return datasets.read_card(name), Path(name).parent
    return datasets.find_card(name), None
