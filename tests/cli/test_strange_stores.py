"""Stores that may come from anyone: whatever is in them, commands give results or one line."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest

from kernlearn.config import load_config
from kernlearn.engine import make_plan
from kernlearn.store import Store
from tests.engine.damage import UNFIT, UNFIT_RUNS, loosen, put_value
from tests.engine.stores import begun, done, trial
from tests.reports.sites import plant

STORE = "results/runs/store.sqlite"
CONFIG = """\
title: Many trials
datasets:
  moons: {generator: two_moons, n_samples: 60, noise: 0.2}
methods:
  K: {estimator: KernelSVM, kernel: rbf}
  L: {estimator: LinearSVM}
protocol: {splits: SPLITS}
metrics: [accuracy]
"""
#: Every command that reads a store, and its exit codes.
COMMANDS = {
    "report many.yaml": (0,),
    "report results/runs/store.sqlite --config many.yaml --output site": (0,),
    "export": (0,),
    "export --format json": (0,),
    "export --output rows.parquet": (0,),
    "compare results/runs/store.sqlite sound.sqlite": (0,),
    "compare results/runs/store.sqlite#1 sound.sqlite": (0,),
    "plan many.yaml": (0,),
    "show many.yaml": (0,),
    "runs": (0,),
    "ranks many.yaml": (0, 2),
    "equivalence many.yaml --control K --margin 0.1": (0, 2),
    "check many.yaml --profile full --against summaries": (0, 1),
    "merge results/runs/store.sqlite merged.sqlite": (0, 1),
}


@pytest.fixture
def sound(tmp_path):
    """A store with results for each damage, and a copy of it."""
    config, path = tmp_path / "many.yaml", tmp_path / STORE
    config.write_text(CONFIG.replace("SPLITS", str(len(UNFIT) // 2 + 3)))
    with Store(path) as store:
        plan = plant(store, config)
        for one in plan.trials[:4]:  # superseded rows
            run = store.begin_run("many", "full", 1, {"cpu": "other"})
            store.put(run, one, done(one, accuracy=0.5, fit_seconds=1.0))
    shutil.copy(path, tmp_path / "sound.sqlite")
    return plan


def damage(path, keys):
    """Damage a trial by each unfit value, and a run by each; return what is to be said of them."""
    loosen(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        said = {}
        for key, (column, value, text) in zip(keys, UNFIT, strict=False):
            put_value(connection, "trial", column, value, ("key", key))
            said[f"trial {key}"] = text
        (last,) = connection.execute("SELECT max(id) FROM run").fetchone()
        row = ("2026-01-01T00:00:00+00:00", "many", "full", 1, "{}", "[]")
        for number, (column, value, text) in enumerate(UNFIT_RUNS, last + 1):
            connection.execute("INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?)", (number, *row))
            put_value(connection, "run", column, value, ("id", number))
            said[f"run {number}"] = text
    return said


def test_rows_that_do_not_fit_are_named_and_left_out(kernlearn, sound, tmp_path):
    assert kernlearn("report", "many.yaml", "--summary", "summaries").returncode == 0
    keys = [t.key for t in sound.trials]
    said = damage(tmp_path / STORE, keys)
    sound_keys = set(keys[len(UNFIT) :])
    with Store.existing(tmp_path / STORE) as store:
        assert {r.key for r in store.get(keys).values()} == sound_keys
        assert set(store.statuses(keys)) == sound_keys
        assert {t.trial.key for t in store.trials()} == sound_keys
        assert [r.number for r in store.runs()] == [1, 2, 3, 4, 5]
        assert store.left_out.keys() == said.keys()
        for name, reason in store.left_out.items():
            assert said[name] in reason
            assert len(reason) < 300
            assert reason.isprintable()
    for command, codes in COMMANDS.items():
        out = kernlearn(*command.split())
        assert "Traceback" not in out.stderr, (command, out.stderr)
        assert out.returncode in codes, (command, out.returncode, out.stderr)
        (line,) = [one for one in out.stderr.splitlines() if "not fit" in one]
        assert "rows do not fit and are left out: " in line
    # what is not there is run, and takes the place of what does not fit
    again = kernlearn("run", "many.yaml", "--no-report", "--allow-contention")
    assert again.returncode == 0, again.stderr
    assert f"{len(UNFIT)} trials to run" in again.stdout
    # and a merge leaves the rest behind
    kernlearn("merge", STORE, "clean.sqlite")
    assert kernlearn("runs", "--store", "clean.sqlite").stderr == ""


def test_keys_that_are_no_text_are_nothing(kernlearn, sound, tmp_path):
    loosen(tmp_path / STORE)
    with closing(sqlite3.connect(tmp_path / STORE)) as connection, connection:
        for i, value in enumerate((b"key", 7, None, "")):
            connection.execute(
                "UPDATE trial SET key = ? WHERE key = ?", (value, sound.trials[i].key)
            )
    for command, codes in COMMANDS.items():
        if not command.startswith("check"):
            assert kernlearn(*command.split()).returncode in codes


def made(path, script):
    Store(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)


STRANGE = {
    "view": ("CREATE VIEW v AS SELECT 1", "has a view v, which no kernlearn store has"),
    "trigger": (
        "CREATE TRIGGER trial AFTER INSERT ON run BEGIN DELETE FROM run; END",
        "has a trigger trial, which no kernlearn store has",
    ),
    "table": ("CREATE TABLE other (x)", "has a table other"),
    "index": ("CREATE INDEX i ON run (started)", "has a index i"),
    "virtual": ("CREATE VIRTUAL TABLE v USING fts5(x)", "has a"),
    "table as a view": (
        "DROP TABLE superseded; CREATE VIEW superseded AS SELECT * FROM trial",
        "has a view superseded",
    ),
    "no superseded": ("DROP TABLE superseded", "its table superseded has not the columns"),
    "column": ("ALTER TABLE trial ADD COLUMN more", "its table trial has not the columns"),
    "no column": ("ALTER TABLE run DROP COLUMN settings", "its table run has not the columns"),
    "no key": (
        "DROP TABLE run; CREATE TABLE run (id, started, experiment, profile, jobs, environment, "
        "settings)",
        "its table run has not the columns",
    ),
    "generated": (
        "ALTER TABLE trial ADD COLUMN more AS (length(key))",
        "its table trial has not the columns",
    ),
    "newer": ("PRAGMA user_version = 4", "written by a newer kernlearn (store version 4"),
    "negative": ("PRAGMA user_version = -1", "written by an older kernlearn"),
    "not ours": ("DROP TABLE trial", "not a kernlearn store"),
    "named to deceive": ('CREATE TABLE "\x1b[2J" (x)', r"has a table \x1b[2J"),
}


@pytest.mark.parametrize("what", STRANGE)
def test_files_that_are_no_stores_are_one_line(kernlearn, tmp_path, what):
    script, said = STRANGE[what]
    made(tmp_path / STORE, script)
    before = (tmp_path / STORE).read_bytes()
    (tmp_path / "many.yaml").write_text(CONFIG.replace("SPLITS", "2"))
    for command in (
        ["report", STORE],
        ["run", "many.yaml"],
        ["merge", "other", STORE],
        ["merge", STORE, "other"],
    ):
        Store(tmp_path / "other").close()
        out = kernlearn(*command)
        assert out.returncode == 2
        (line,) = out.stderr.splitlines()
        assert said in line
    assert (tmp_path / STORE).read_bytes() == before


def test_truncated_and_foreign_files_are_one_line(kernlearn, sound, tmp_path):
    whole = (tmp_path / STORE).read_bytes()
    contents = {"text": b"no store" * 400, "header": whole[:100], "zeros": bytes(8192)}
    contents |= {f"first {n}": whole[:n] for n in (1, 16, 4096, 8192, len(whole) - 4096)}
    for name, content in contents.items():
        (tmp_path / STORE).write_bytes(content)
        for command in (["report", STORE], ["export"], ["merge", STORE, "into"]):
            out = kernlearn(*command)
            assert "Traceback" not in out.stderr, (name, command, out.stderr)
            assert out.returncode in (1, 2), (name, command, out.stdout)
            assert len(out.stderr.splitlines()) <= 1


def test_a_name_is_no_option_and_no_path(kernlearn, tmp_path):
    """Labels and names that other programs would take for something are names here."""
    name = "../../../../etc/passwd"
    t = trial(name, experiment=name)
    with begun(tmp_path / STORE, experiment=name) as (_, put):
        put(t, done(t, accuracy=0.5))
    out = kernlearn("report", STORE)
    assert out.returncode == 2
    assert f"{name}: kernlearn has no config of that name" in out.stderr
    assert json.loads(kernlearn("export", "--format", "json").stdout)[0]["method"] == name
    assert not list(tmp_path.parent.rglob("passwd*"))


def test_a_plan_of_a_store_with_grids_of_several_sizes(kernlearn, tmp_path):
    config = tmp_path / "many.yaml"
    text = CONFIG.replace("SPLITS", "3, holdout: 0.2, select_by_mean: true")
    config.write_text(text.replace("kernel: rbf", "kernel: rbf, C: {select: [1, 2]}"))
    plan = make_plan(load_config(config))
    with begun(tmp_path / STORE, experiment="many") as (_, put):
        for one in plan.trials:
            put(one, done(one, accuracy=0.5))
    point = '{"parameters": {"C": 1}, "score": 1, "metrics": {"accuracy": 1}}'
    with closing(sqlite3.connect(tmp_path / STORE)) as connection, connection:
        for size, one in enumerate(plan.trials, 1):
            info = f'{{"grid": [{", ".join([point] * size)}]}}'
            connection.execute("UPDATE trial SET info = ? WHERE key = ?", (info, one.key))
    for command in ("report many.yaml", "export", "runs"):
        out = kernlearn(*command.split())
        assert out.returncode == 0, out.stderr
