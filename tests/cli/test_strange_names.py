"""Names of others on terminals and pages: they are shown, and steer nothing."""

import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing

import pytest
from rich.table import Table as RichTable
from rich.text import Text

from kernlearn.datasets.escaping import visible, visible_output
from kernlearn.store import Store
from tests.engine.stores import begun, done, trial
from tests.reports.sites import plant

STORE = "results/runs/store.sqlite"
# clears the screen, sets the title, goes up, turns the direction, rings, and eight-bit controls
NAME = "a\x1b[2J\x1b]0;title\x07\x1b[1A\u202eb\x9b31m[red]x[/red]\r\u2028"
SHOWN = r"a\x1b[2J\x1b]0;title\x07\x1b[1A\u202eb\x9b31m[red]x[/red]\r\u2028"
STEERING = re.compile(
    "[^\n\t -~\xa0-\u200d\u2010-\u2027\u2030-\ud7ff\ue000-\uffff\U00010000-\U0010ffff]"
)


def test_controls_are_written_as_python_writes_them():
    assert visible_output(NAME) == visible(NAME) == SHOWN
    assert visible("a\nb\tc") == "a\\nb\\tc"
    assert visible_output("a\nb\tc") == "a\nb\tc"
    assert visible("\udcff") == "\\udcff"
    assert visible("Müller – 東 😀") == "Müller – 東 😀"


@pytest.fixture
def stores(tmp_path):
    """Two runs of an experiment in which everything has the name."""
    for value in (0.5, 0.6):
        with begun(tmp_path / STORE, experiment=NAME, cpu=f"{NAME}{value}") as (_, put):
            for split in range(3):
                t = trial(NAME, split, experiment=NAME)
                put(t, done(t, **{"accuracy": value + split / 100, NAME: 0.5}))
    return tmp_path / STORE


COMMANDS = [
    "runs",
    "compare 1 2",
    "compare 1 9",
    "export --experiment no",
    "report",
    "compare 1 2 --metric no",
    "ranks",
    "export --output rows.csv",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_names_are_seen_on_terminals(kernlearn, stores, command):
    out = kernlearn(*command.split())
    for text in (out.stdout, out.stderr):
        assert STEERING.findall(text) == []
    if command != "export --output rows.csv":
        assert r"a\x1b[2J" in out.stdout + out.stderr
    if command == "compare 1 2":
        assert SHOWN in out.stdout


def test_what_merge_says_of_names_is_seen(kernlearn, stores, tmp_path):
    with closing(sqlite3.connect(stores)) as connection, connection:
        connection.execute("UPDATE trial SET key = ? || key", (NAME,))
        connection.execute("UPDATE superseded SET metrics = ?", ('{"\\u001b[2J": "x"}',))
    with begun(tmp_path / "other", experiment=NAME) as (_, put):
        t = trial(NAME, experiment=NAME)
        put(t, done(t, accuracy=0.9))
    for source in (STORE, "other"):
        out = kernlearn("merge", source, "into")
        assert STEERING.findall(out.stdout + out.stderr) == []


def test_an_export_into_a_pipe_has_the_names_as_they_are(kernlearn, stores):
    text = kernlearn("export").stdout
    assert NAME.rstrip("\u2028") in text


@pytest.mark.skipif(sys.platform != "linux", reason="needs a pseudo-terminal")
def test_on_a_terminal_colours_work_and_names_do_nothing(tmp_path, stores):
    import pty

    for words in (["runs"], ["export"], ["list"]):
        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "kernlearn", *words]
        environment = {**os.environ, "TERM": "xterm", "COLUMNS": "300"}
        process = subprocess.Popen(
            command, stdout=theirs, stderr=theirs, cwd=tmp_path, env=environment
        )
        os.close(theirs)
        shown = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            shown += part
        os.close(ours)
        assert process.wait(60) == 0
        text = re.sub(r"\x1b\[[\d;]*m", "", shown.decode().replace("\r\n", "\n"))
        assert STEERING.findall(text) == []
        if words == ["list"]:
            assert b"\x1b[1mConfigs" in shown
        else:
            assert r"a\x1b[2J" in text


def test_tables_take_names_literally(capsys):
    from kernlearn.cli.options import make_console, make_table

    table = make_table("[red]head", NAME)
    table.add_row("[bold]x[/nothing]", Text(NAME, style="bold"))
    assert isinstance(table, RichTable)
    make_console().print(table)
    shown = capsys.readouterr().out
    assert "[red]head" in shown
    assert "[bold]x[/nothing]" in shown
    assert shown.count(SHOWN) == 1
    # rich leaves some out of its own texts
    assert SHOWN.replace(r"\x07", "").replace(r"\r", "") in shown


MARK = "<script>alert(1)</script><img src=x onerror=alert(2)>'\"&"


def test_text_of_a_store_is_text_on_pages(kernlearn, small, tmp_path):
    """Whatever a store tells stands on the pages with its brackets, in no script and no tag."""
    environment = {
        "cpu": MARK,
        "python": MARK,
        "system": MARK,
        "commit": MARK,
        "packages": {MARK: MARK},
        "threads": {MARK: MARK},
        "blas": [{"internal_api": MARK, "version": MARK}],
    }
    with Store(tmp_path / STORE) as store:
        plan = plant(store, small)
        run = store.begin_run(MARK, MARK, 1, environment, [MARK])
        info = {
            "positive": [MARK],
            "sample": MARK,
            "warnings": {MARK: 3},
            "selected": {MARK: MARK},
            "plugins": {MARK: MARK},
        }
        for t in plan.trials[:-1]:
            result = done(t, accuracy=0.5, fit_seconds=0.5, predict_seconds=0.5)
            store.put(run, t, type(result)(**{**vars(result), "info": info}))
        failure = {"status": "failed", "error": MARK, "metrics": {}}
        with store.transaction() as connection:
            connection.execute("DELETE FROM trial WHERE key = ?", (plan.trials[-1].key,))
        store.put(
            run,
            plan.trials[-1],
            type(result)(**{**vars(result), **failure, "key": plan.trials[-1].key}),
        )
    out = kernlearn("report", STORE, "--config", small, "--output", "site")
    assert out.returncode == 0, out.stderr
    assert kernlearn("report", small).returncode == 0
    pages = [*tmp_path.rglob("*.html")]
    assert len(pages) == 3
    for page in pages:
        text = page.read_text()
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert "&lt;script&gt;alert(1)" in text
