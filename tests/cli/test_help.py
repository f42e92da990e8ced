"""Help, errors and start of the command."""

import subprocess
import sys

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from kernlearn.cli.app import app

HEAVY = ["numba", "pandas", "altair", "sklearn", "scipy", "numpy", "pydantic", "pooch"]


def commands(group, path=()):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = dict(commands(get_command(app)))


@pytest.mark.parametrize("words", [(), ("datasets",), *COMMANDS], ids=" ".join)
def test_help_fits_a_screen(words):
    shown = CliRunner().invoke(app, [*words, "--help"], env={"COLUMNS": "80"}).output.splitlines()
    assert len(shown) <= 24
    assert max(map(len, shown)) <= 80


def test_every_option_says_what_it_does():
    for words, command in COMMANDS.items():
        for option in command.params:
            assert option.help, (words, option.name)


@pytest.mark.parametrize("words", [[], ["datasets"]])
def test_help_loads_nothing_heavy(words):
    code = (
        "import sys, kernlearn.cli.app, typer.testing\n"
        f"out = typer.testing.CliRunner().invoke(kernlearn.cli.app.app, {[*words, '--help']})\n"
        "assert out.exit_code == 0 and 'atasets' in out.output\n"
        f"print([m for m in {HEAVY} if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = [] if not words else ["pydantic"]  # by typer, for the options of a subcommand
    assert set(eval(out.stdout)) <= set(loaded)


def test_a_process_ends_with_one_line_and_exit_code_2(kernlearn_process):
    out = kernlearn_process("plan", "nonesuch")
    assert (out.returncode, out.stdout, "Traceback" in out.stderr) == (2, "", False)
    assert out.stderr.startswith("kernlearn: nonesuch: no such file")
    assert "Traceback" in kernlearn_process("--debug", "plan", "nonesuch").stderr


def test_version(kernlearn):
    from kernlearn import __version__

    assert kernlearn("--version").stdout == f"{__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("run small.yaml --timeout -1", "--timeout"),
        ("forks small.yaml --no-run", "no such store"),
        ("run small.yaml --only method=k", "did you mean 'K'?"),
        ("run small.yaml --only moons", "expected LABEL=VALUE"),
        ("run small.yaml other.yaml nonesuch", "nonesuch: no such file"),
        ("run small.yaml other.yaml nonesuch", "other.yaml:1:"),
        ("report", "no such store"),
        ("report --from nowhere", "nowhere"),
        ("report --from nowhere -o splits=1", "--from goes without"),
        ("plan small.yaml -o methods.k.C=1", "-o methods.k.C=1: methods.k: give an estimator"),
        ("report --store broken.db", "broken.db"),
        ("check small.yaml", "no such store"),
        ("plan small", "did you mean 'small.yaml'?"),
        ("export --output x.xml", "expected a name in .csv, .parquet or .zip"),
        ("export --output x.zip", "name one config with --experiment"),
        ("merge one", "at least one source"),
        ("compare small.yaml --store none", "none: no such store"),
        ("init none.csv", "none.csv"),
        ("datasets info nonesuch", "nonesuch"),
        ("datasets fetch", "nothing to fetch"),
        ("datasets add small.yaml --name x -o colour=red", "colour"),
    ],
)
def test_a_fault_is_one_message(kernlearn, small, tmp_path, arguments, words):
    (tmp_path / "other.yaml").write_text("title: 3\n")
    (tmp_path / "broken.db").write_text("not a store " * 100)
    out = kernlearn(*arguments.split(), code=2)
    assert words in out.stderr
    assert out.stdout == ""
