"""What the commands that write a config share: its data set, its words, and the writing."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from kernlearn import experiments
from kernlearn.checks import whole_number
from kernlearn.cli import options
from kernlearn.exceptions import ConfigError
from kernlearn.experiments import engine
from kernlearn.replacing import replaced_file

Target = Annotated[
    str | None, Option(help="Column to predict, by name or number.", show_default="guessed")
]
Sheet = Annotated[
    str | None,
    Option(help="Sheet of an Excel file, by name or number.", show_default="the first"),
]
Points = Annotated[
    str | None,
    Option(help="Column whose texts are the points, to compare as strings, by name or number."),
]
Force = Annotated[bool, Option("--force", help="Replace an existing config.")]


def is_file(data: str) -> bool:
    """Whether a data set is given by a file, rather than by its name in the catalogue."""
    return not data.isidentifier() or Path(data).is_file()


def name_of(data: str) -> Any:
    """Return a data set as :func:`kernlearn.datasets.load` takes it: a name, or a path."""
    return Path(data) if is_file(data) else data


def column_of(target: str | None) -> int | str | None:
    """Return the column that an option names: a number is its position."""
    number = whole_number(target)
    return target if number is None else number


def label_of(data: str) -> str:
    """Return the label of a data set in a config."""
    return "".join(c if c.isalnum() else "_" for c in Path(data).name.partition(".")[0]) or "data"


def dataset_entry(data: str, config: Path, keys: Mapping[str, Any]) -> str:
    """Return the entry of a data set: its file as seen from the config, with keys, or its name."""
    if not is_file(data):
        entry = [f"name: {data}"]
    else:
        path = Path(os.path.relpath(data, config.parent)).as_posix()
        entry = [f"file: {quoted(path)}"]
    given = {key: quoted(value) for key, value in keys.items() if value is not None}
    return ", ".join([*entry, *(f"{key}: {value}" for key, value in given.items())])


def quoted(value: Any) -> str:
    """Return a value as YAML on one line, texts in quotes where they need them."""
    from kernlearn.yaml import dump_yaml

    return dump_yaml(value, default_flow_style=True, width=10_000).removesuffix("...\n").strip()


def exists_message(config: Path, option: str) -> str:
    """Say that a config exists, and what to do."""
    return f"{config}: exists; --force replaces it, {option} names another"


def write_config(
    config: Path, text: str, data_dir: Path | None, *, say_prepared: bool = True
) -> None:
    """Write a config once it is known to run, and say what it is and what comes next.

    With ``say_prepared`` also what is done to the data.
    """
    part = config.with_name(f"{config.stem}.part.yaml")
    try:
        end = replaced_file(config)
        config.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(text, encoding="utf-8")
        try:
            experiment = experiments.load_config(part, data_dir=data_dir)
            plan = experiments.make_plan(experiment, data_dir=data_dir)
            part.replace(end)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise ConfigError(f"{config}: cannot be written: {error.strerror or error}") from None
    seconds = engine.selection.Estimates.of(plan, None).total(plan.trials)
    time = "" if seconds is None else f", about {engine.selection.duration(seconds)}"
    if say_prepared:
        options.show_prepared([plan])
    typer.echo(f"{config}: {len(plan.trials)} trials{time}. It says:\n")
    typer.echo(text)
    typer.echo(
        f"`kernlearn show {config}` says what it means, `kernlearn run {config}` runs it; "
        f"`kernlearn list` has further methods and kernels."
    )
