"""The ``kernlearn`` command in this process, as quickly as a function, or in one of its own."""

import contextlib
import io
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

from kernlearn import engine
from kernlearn.cli.app import main
from kernlearn.engine.executors import InProcess, make_executor

Finished = subprocess.CompletedProcess[str]


def environment(folder: Path, variables: dict[str, str]) -> dict[str, str]:
    """The variables of a process that knows no data sets but those of its folder."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("KERNLEARN_") and not name.lower().endswith("_proxy")
    }
    return {**kept, "KERNLEARN_CACHE": str(folder / "cache"), **variables}


def _executor(**options: object):
    """Run single trials in this process, which takes no time to start."""
    alone = all(value in (None, 1) for value in options.values())
    return InProcess() if alone else make_executor(**options)


def command(folder: Path, *arguments: object, code: int = 0, **variables: str) -> Finished:
    """Run the command in this process, with the streams of a process, to an exit code."""
    words = ["kernlearn", *map(str, arguments)]
    out, err, ended_with = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.chdir(folder),
        mock.patch.dict(os.environ, environment(folder, variables), clear=True),
        mock.patch.object(sys, "argv", words),
        mock.patch.object(engine, "make_executor", _executor),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as ended:
            ended_with = int(ended.code or 0)
    assert ended_with == code, out.getvalue() + err.getvalue()
    return Finished(words, code, out.getvalue(), err.getvalue())


@pytest.fixture
def kernlearn(tmp_path: Path):
    """A function that runs the command in ``tmp_path`` and returns a finished process."""

    def call(*arguments: object, code: int = 0, **variables: str) -> Finished:
        return command(tmp_path, *arguments, code=code, **variables)

    return call


@pytest.fixture
def kernlearn_process(tmp_path: Path):
    """The same in a process of its own, seconds slower: for what only a process shows."""

    def call(*arguments: object, **variables: str) -> Finished:
        return subprocess.run(
            [sys.executable, "-m", "kernlearn", *map(str, arguments)],
            cwd=tmp_path,
            env=environment(tmp_path, variables),
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    return call
