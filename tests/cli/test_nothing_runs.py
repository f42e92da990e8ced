"""Python files run where the user names the config that names them, and nowhere else.

The first test needs nothing but the command, so that it can be tried on earlier versions of it.
"""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

CONFIG = """\
title: Of a stranger
datasets:
  moons: {generator: two_moons, n_samples: 60, noise: 0.2}
methods:
  SVM: {estimator: LinearSVM, C: [1, 2]}
protocol: {splits: 1}
metrics: [accuracy]
"""
#: Writes a file when it is executed, and registers something.
CODE = """\
from pathlib import Path
from kernlearn.plugins import register_metric
Path({written!r}).write_text("executed")

@register_metric("half", task="classification", better="higher")
def half(true, predicted):
    return 0.5
"""


def command(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "kernlearn", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "KERNLEARN_CACHE": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_a_store_executes_nothing(tmp_path: Path) -> None:
    """The experiment of a store is a path to a config, whose plug-in would write a file."""
    config, store, written = tmp_path / "evil.yaml", tmp_path / "s.sqlite", tmp_path / "written"
    config.write_text(CONFIG)
    out = command(tmp_path, "run", config, "--store", store)
    assert out.returncode == 0, out.stderr
    (tmp_path / "evil.py").write_text(CODE.format(written=str(written)))
    config.write_text(CONFIG + "plugins: [evil.py]\n")
    for name in (str(config.with_suffix("")), os.path.relpath(config.with_suffix(""), "/x/y")):
        with closing(sqlite3.connect(store)) as connection, connection:
            for table in ("run", "trial"):
                connection.execute(f"UPDATE {table} SET experiment = ?", (name,))
        out = command(tmp_path, "report", store, "--output", tmp_path / "site")
        assert not written.exists(), "a file was executed that only the store names"
        assert out.returncode == 2
        assert "Traceback" not in out.stderr


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A config of the user's own with a plug-in, and a store with its results."""
    (tmp_path / "mine.yaml").write_text(CONFIG + "plugins: [mine.py]\n")
    (tmp_path / "mine.py").write_text(CODE.format(written=str(tmp_path / "written")))
    return tmp_path / "mine.yaml"


def test_the_page_of_an_experiment_says_what_its_commands_execute(kernlearn, mine, tmp_path):
    assert kernlearn("run", "mine.yaml").returncode == 0
    page = (tmp_path / "results" / "runs" / "mine" / "report.html").read_text()
    assert page.count("names Python files, which these commands execute with all your rights") == 1
    (tmp_path / "plain.yaml").write_text(CONFIG)
    assert kernlearn("run", "plain.yaml").returncode == 0
    page = (tmp_path / "results" / "runs" / "plain" / "report.html").read_text()
    assert "names Python files" not in page


@pytest.mark.parametrize(
    "setting",
    [
        "plugins=[mine.py]",
        "plugins.0=mine.py",
        "datasets.moons.file=data.csv",
        "datasets.moons={file: data.csv}",
        "datasets={d: {file: data.csv}}",
        "datasets={d: [{file: data.csv}]}",
    ],
)
def test_the_settings_of_a_store_name_no_files(kernlearn, mine, tmp_path, setting):
    (tmp_path / "mine.yaml").write_text(CONFIG)
    assert kernlearn("run", "mine.yaml", "--no-report").returncode == 0
    store = "results/runs/store.sqlite"
    with closing(sqlite3.connect(tmp_path / store)) as connection, connection:
        connection.execute("UPDATE run SET settings = json_array(?)", (setting,))
    out = kernlearn("report", store, "--config", "mine.yaml")
    assert out.returncode == 2
    assert "its runs set `plugins` or `file`, files of code or data" in out.stderr
    assert not (tmp_path / "written").exists()
