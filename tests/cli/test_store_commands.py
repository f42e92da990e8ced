"""``kernlearn export``, ``merge`` and ``compare``."""

import json
import sqlite3
from dataclasses import replace

import pytest

from tests.engine.stores import begun, done, trial

STORE = "results/runs/store.sqlite"


@pytest.fixture
def store(tmp_path):
    """A store with two runs of which the second is better."""
    path = tmp_path / STORE
    for gain in (0.0, 0.1):
        with begun(path, cpu=f"cpu {gain}") as (_, put):
            for split in range(3):
                t = trial(split=split)
                put(t, done(t, accuracy=0.5 + gain + 0.01 * split * (1 + gain), n_support=7.0))
    return path


def test_export_to_a_pipe_and_to_files(kernlearn, store, tmp_path):
    out = kernlearn("export")
    assert out.returncode == 0, out.stderr
    lines = out.stdout.splitlines()
    assert lines[0] == "experiment,dataset,kernel,method,params,metric,split,value,key,run"
    assert len(lines) == 7
    assert lines[1].startswith("e,d,,m,{},accuracy,0,0.6,")
    assert len(json.loads(kernlearn("export", "--format", "json").stdout)) == 6
    for name in ("rows.csv", "rows.json", "rows.parquet"):
        assert kernlearn("export", "-o", name).stdout == f"{name}: 6 rows\n"
    assert (tmp_path / "rows.csv").read_text() == out.stdout
    assert (tmp_path / "rows.parquet").read_bytes().startswith(b"PAR1")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["export", "--format", "xml"], "--format xml: expected one of csv, json, parquet"),
        (["export", "--format", "parquet"], "name a file with --output"),
        (["export", "--experiment", "x"], "nothing of experiment x; there are: e"),
        (["export", "--store", "none"], "none: no such store"),
        (["merge", "one"], "at least one source"),
        (["merge", STORE, STORE], "into itself"),
        (["compare", "1", "9"], "no run 9; there are:"),
        (["compare", "1", "2", "--metric", "x"], "there are: accuracy, n_support"),
    ],
)
def test_a_fault_is_one_message(kernlearn, store, arguments, said):
    out = kernlearn(*arguments)
    assert out.returncode == 2
    assert said in out.stderr
    assert "Traceback" not in out.stderr
    assert out.stdout == ""


def test_merge_tells_conflicts(kernlearn, store):
    first = kernlearn("merge", STORE, "all.sqlite")
    assert first.returncode == 0, first.stderr
    assert "3 trials added" in first.stdout
    with begun(store) as (_, put):
        put(trial(), done(trial(), accuracy=0.1, n_support=7.0))
    again = kernlearn("merge", STORE, "all.sqlite")
    assert again.returncode == 1
    assert "2 the same, 0 failed ones skipped, 1 in conflict; 1 runs" in again.stdout
    assert "conflict, kept the destination's: e " in again.stdout
    assert again.stdout.endswith("accuracy 0.6 / 0.1\n")


def test_compare_two_runs(kernlearn, store, tmp_path):
    out = kernlearn("compare", "1", f"{STORE}#2", "-o", "cells.csv")
    assert out.returncode == 0, out.stderr
    assert "A: 1: 3 trials of runs 1 (" in out.stdout
    assert "differs: cpu: cpu 0.0 / cpu 0.1" in out.stdout
    accuracy, support = (
        next(line for line in out.stdout.splitlines() if f" {name} " in line)
        for name in ("accuracy", "n_support")
    )
    assert "0.101*" in accuracy
    assert "3 paired   B better" in accuracy
    assert support.split()[-1] == "same"
    assert "2 cells: 1 B better, 1 same" in out.stdout
    assert (tmp_path / "cells.csv").read_text().count("\n") == 3
    assert "n_support" not in kernlearn("compare", "1", "2", "--changed").stdout


@pytest.fixture
def grids(tmp_path):
    """A store with trials whose numbers are those of a grid; the second point is chosen."""
    path = tmp_path / STORE
    with begun(path) as (_, put):
        for split in range(2):
            t = trial(split=split)
            points = [
                {"parameters": {"C": c}, "score": c, "metrics": {"accuracy": c + split / 8}}
                for c in (0.25, 0.5)
            ]
            put(t, replace(done(t), info={"grid": points}))
    return path


def test_trials_of_a_grid_are_exported_and_compared(kernlearn, grids, tmp_path):
    rows = kernlearn("export").stdout.splitlines()[1:]
    assert [row.split(",")[5:8] for row in rows] == [
        ["accuracy", "0", "0.5"],
        ["accuracy", "1", "0.625"],
    ]
    out = kernlearn("compare", "1", "1")
    assert "1 cells: 1 same" in out.stdout
    # a copy with another number in the setting that is not chosen is a conflict
    assert kernlearn("merge", STORE, "all.sqlite").returncode == 0
    with sqlite3.connect(grids) as connection:
        connection.execute("UPDATE trial SET info = replace(info, '0.25}', '0.125}'), seconds = 9")
    connection.close()
    merged = kernlearn("merge", STORE, "all.sqlite")
    assert merged.returncode == 1, merged.stdout
    assert 'accuracy at {"C":0.25} 0.25 / ' in merged.stdout


def test_nothing_shared_is_said_not_listed(kernlearn, tmp_path):
    path = tmp_path / STORE
    for method in ("one", "two"):
        with begun(path) as (_, put):
            t = trial(method)
            put(t, done(t, accuracy=0.5, n_support=7.0))
    out = kernlearn("compare", "1", "2")
    assert out.returncode == 0, out.stderr
    assert "No cell is on both sides: A has e (profile full) on d; B has e" in out.stdout
    assert "accuracy" not in out.stdout
