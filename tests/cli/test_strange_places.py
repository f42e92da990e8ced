"""Outputs that lack characters or are full, pipes in place of files, homes that nobody has."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kernlearn.cli import terminal
from kernlearn.reports.pictures import save_pictures
from kernlearn.reports.vega import whole

FULL = Path("/dev/full")
NAMES = ["a\x07b", "\x1b[31mred", "\uffff", "\U0001f600" * 60, "a\nb", "<svg onload=alert(1)>"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("± 0.5 – 3 × 4", "+- 0.5 - 3 x 4"),
        ("σ ≤ ½ · Müller", "sigma <= 1/2 . Muller"),
        ("⟨w, x⟩² ≈ √d", "<w, x>2 ~ sqrtd"),
        ("▁█ ✓ ▲ 東", "18 ok ^ ?"),
    ],
)
def test_symbols_have_a_form_in_ascii(text, expected):
    assert terminal.plain(text) == expected


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [("ascii", b"+- sigma"), ("latin-1", b"\xb1 sigma"), ("utf-8", "± σ".encode())],
)
def test_what_an_encoding_lacks_is_written_in_ascii(monkeypatch, encoding, expected):
    import typer

    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding))
    terminal.prepare_output()
    typer.echo("± σ", nl=False)
    sys.stdout.flush()
    assert written.getvalue() == expected


def test_commands_on_a_terminal_of_ascii(kernlearn_process):
    shown = kernlearn_process("datasets", "info", "iris", PYTHONIOENCODING="ascii")
    assert shown.returncode == 0
    assert shown.stdout.isascii()
    assert "virginica |" in shown.stdout


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [["--version"], ["list"]])
def test_a_full_output_is_one_line(arguments):
    with FULL.open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "kernlearn", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            check=False,
        )
    assert ended.returncode == 2
    assert ended.stderr == "kernlearn: the output cannot be written: No space left on device\n"


def test_an_output_that_is_closed(kernlearn_process):
    ended = subprocess.run(
        f"{sys.executable} -m kernlearn list >&-",
        shell=True,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize(
    "arguments",
    [
        ["report", "pipe.yaml"],
        ["validate", "pipe.yaml"],
        ["datasets", "info", "pipe.yaml"],
        ["rademacher", "pipe.yaml"],
        ["goodness", "pipe.csv"],
        ["init", "pipe.csv"],
        ["datasets", "add", "pipe.csv", "--name", "x"],
        ["runs", "--store", "pipe.sqlite"],
        ["merge", "pipe.sqlite", "other.sqlite"],
    ],
)
def test_a_named_pipe_is_no_file(kernlearn, tmp_path, arguments):
    for name in ("pipe.yaml", "pipe.csv", "pipe.sqlite"):
        os.mkfifo(tmp_path / name)
    ended = kernlearn(*arguments)
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("variable", ["KERNLEARN_DATA", "KERNLEARN_CACHE"])
def test_a_home_that_nobody_has(kernlearn, variable):
    ended = kernlearn("datasets", "list", **{variable: "~nosuchuser/data"})
    assert ended.returncode == 2
    assert "~nosuchuser/data: the home folder of '~nosuchuser' is not known" in ended.stderr


def test_what_the_system_refuses_is_one_line(kernlearn, small, tmp_path):
    (tmp_path / "taken").touch()
    ended = kernlearn("run", small, "--summary", "taken")
    assert (ended.returncode, ended.stderr) == (2, "kernlearn: taken: File exists\n")


@pytest.mark.parametrize("name", NAMES)
def test_pictures_of_names_that_the_chart_engine_cannot_draw(tmp_path, monkeypatch, name):
    monkeypatch.setenv("KERNLEARN_CACHE", str(tmp_path / "cache"))
    encoding = {
        "x": {"field": "x", "type": "quantitative"},
        "y": {"field": "name", "type": "nominal"},
        "color": {"field": "name", "type": "nominal", "legend": {"title": name}},
    }
    chart = {"data": {"values": [{"name": name, "x": 1}]}, "mark": "bar", "encoding": encoding}
    svg, pdf = save_pictures(whole({**chart, "title": name}), tmp_path / "chart")
    assert svg.read_text(encoding="utf-8").startswith("<svg")
    assert "<svg onload" not in svg.read_text(encoding="utf-8")
    assert pdf.read_bytes().startswith(b"%PDF")
