"""Export and merge."""

import csv
import io
import json
import shutil
import sqlite3
from contextlib import closing

import pytest

from kernlearn.exceptions import StoreError
from kernlearn.reports.export import COLUMNS, export_file, export_text, tidy_rows
from kernlearn.store import Store, merging
from kernlearn.store.merging import merge
from tests.engine.stores import begun, done, failed, trial


def standing(path):
    """The metrics of every trial, by method and split."""
    with Store.existing(path) as store:
        return {
            (t.trial.labels["method"], t.trial.split): t.result.metrics or t.result.status
            for t in store.trials()
        }


# export


@pytest.fixture
def exported(tmp_path):
    with begun(tmp_path / "s") as (store, put):
        for t in (trial(split=1, b=2, a=0.1), trial(split=0, b=2, a=0.1), trial("x, \"y'")):
            put(t, done(t, accuracy=0.1 + 0.2 + t.split, fit_seconds=1e-9 / 3))
        put(trial("f"), failed(trial("f")))
        put(trial("n", experiment="other"), done(trial("n"), auc=float("nan")))
        yield store


def test_an_export_has_every_number_with_all_its_digits(exported, tmp_path):
    rows = list(tidy_rows(exported))
    assert all(tuple(row) == COLUMNS for row in rows)
    found = [(r["method"], r["split"], r["metric"], r["params"]) for r in rows]
    params = '{"a":0.1,"b":2}'
    assert found == [
        ("m", 0, "accuracy", params),
        ("m", 0, "fit_seconds", params),
        ("m", 1, "accuracy", params),
        ("m", 1, "fit_seconds", params),
        ("x, \"y'", 0, "accuracy", "{}"),
        ("x, \"y'", 0, "fit_seconds", "{}"),
        ("n", 0, "auc", "{}"),
    ]
    read = list(csv.DictReader(io.StringIO(export_text(rows, "csv"))))
    assert [r["method"] for r in read] == [r["method"] for r in rows]
    assert [float(r["value"]) for r in read[:6]] == [r["value"] for r in rows[:6]]
    assert read[0]["kernel"] == ""
    back = json.loads(export_text(rows, "json"))
    assert back[:6] == rows[:6]
    assert back[6]["value"] is None
    assert json.loads(export_text([], "json")) == []

    import pandas as pd

    assert export_file(rows, tmp_path / "new" / "rows.parquet", "parquet") == 7
    frame = pd.read_parquet(tmp_path / "new" / "rows.parquet")
    assert list(frame.columns) == list(COLUMNS)
    assert frame["value"].tolist()[:6] == [r["value"] for r in rows[:6]]
    assert frame["split"].tolist() == [r["split"] for r in rows]


def test_an_export_of_one_experiment(exported):
    assert [r["method"] for r in tidy_rows(exported, ["other"])] == ["n"]
    with pytest.raises(StoreError, match="nothing of experiment nix; there are: e, other"):
        list(tidy_rows(exported, ["nix"]))


def test_an_export_that_fails_leaves_the_old_file(exported, tmp_path):
    def rows():
        yield from tidy_rows(exported)
        raise RuntimeError

    file = tmp_path / "rows.csv"
    file.write_text("old")
    with pytest.raises(RuntimeError):
        export_file(rows(), file, "csv")
    with pytest.raises(StoreError, match="cannot be written"):
        export_file(tidy_rows(exported), file / "below.csv", "csv")
    assert file.read_text() == "old"
    assert not list(tmp_path.glob("*.part"))


# merge

EARLY, LATE = "2026-01-01T00:00:00+00:00", "2026-02-01T00:00:00+00:00"


@pytest.fixture
def two(tmp_path):
    """Stores with all that can meet: (destination, source)."""
    paths = tmp_path / "dest", tmp_path / "source"
    rows = {
        "alone": (None, 0.1),
        "redone": ("failed", 0.2),
        "broken": (0.3, "failed"),
        "same": (0.4, 0.4 + 1e-15),
        "conflict": (0.5, 0.6),
        "both failed": ("failed", "failed"),
        "own": (0.7, None),
        "first failed": (None, "failed"),
    }
    for i, path in enumerate(paths):
        with begun(path, cpu=path.name) as (_, put):
            for method, values in rows.items():
                t, value = trial(method), values[i]
                if value == "failed":
                    put(t, failed(t))
                elif value is not None:
                    put(t, done(t, (LATE, EARLY)[i], accuracy=value, fit_seconds=i + 1.0))
    return paths


def test_merging(two):
    dest, source = two
    before = source.read_bytes()
    summary = merge(source, dest)
    assert source.read_bytes() == before
    assert (summary.added, summary.completed, summary.same, summary.failed) == (2, 1, 1, 2)
    assert summary.runs == 1
    (conflict,) = summary.conflicts
    assert conflict.labels["method"] == "conflict"
    assert conflict.metrics == {"accuracy": (0.5, 0.6)}
    found = standing(dest)
    numbers = {m: v if v == "failed" else v["accuracy"] for (m, _), v in found.items()}
    assert numbers == {
        "alone": 0.1,
        "redone": 0.2,
        "broken": 0.3,
        "same": 0.4 + 1e-15,
        "conflict": 0.5,
        "both failed": "failed",
        "own": 0.7,
        "first failed": "failed",
    }
    with Store.existing(dest) as store:
        assert [r.environment["cpu"] for r in store.runs()] == ["dest", "source"]
        # what does not stand is kept with its run
        of_run = {
            r.number: {
                t.trial.labels["method"]: t.result.metrics.get("accuracy")
                for t in store.trials(r.number)
                if t.result.done
            }
            for r in store.runs()
        }
        assert (of_run[1]["conflict"], of_run[2]["conflict"]) == (0.5, 0.6)
        assert (of_run[1]["same"], of_run[2]["same"]) == (0.4, 0.4 + 1e-15)


def test_merging_again_changes_nothing(two):
    dest, source = two

    def all_rows():
        with sqlite3.connect(dest) as connection:
            return [
                connection.execute(f"SELECT * FROM {table}").fetchall()
                for table in ("run", "trial", "superseded")
            ]

    merge(source, dest)
    first = all_rows()
    again = merge(source, dest)
    assert (again.added, again.completed, again.runs, len(again.conflicts)) == (0, 0, 0, 1)
    assert all_rows() == first


def test_a_source_goes_in_whole_or_not_at_all(two, monkeypatch):
    dest, source = two
    before = standing(dest)

    def ended(*_):
        raise StoreError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(merging, "_supersede", ended)  # the last step
        with pytest.raises(StoreError, match="the disk is full"):
            merge(source, dest)
    assert standing(dest) == before
    with Store.existing(dest) as store:
        assert len(store.runs()) == 1
    with pytest.raises(StoreError, match="into itself"):
        merge(dest, dest)


def test_trials_without_their_run_are_left_out(two):
    dest, source = two
    with sqlite3.connect(source) as connection:
        connection.execute("UPDATE trial SET run = 9 WHERE labels LIKE '%alone%'")
    connection.close()
    summary = merge(source, dest)
    assert (summary.added, summary.completed, summary.same) == (1, 1, 1)
    ((row, reason),) = summary.left_out.items()
    assert row == f"trial {trial('alone').key}"
    assert reason == "of run 9, which is not there or does not fit"
    assert ("alone", 0) not in standing(dest)


@pytest.mark.parametrize("number", ["0", "0 - id", "(1 << 62) + id"])
def test_merging_where_the_runs_have_numbers_that_fit_no_trial(two, number):
    """Found by `make fuzz`: the run was recognised, and its number taken."""
    _, source = two
    damaged = source.with_name("damaged")
    shutil.copy(source, damaged)
    with closing(sqlite3.connect(damaged)) as connection, connection:
        connection.execute(f"UPDATE run SET id = {number} WHERE id = 1")
    summary = merge(source, damaged)
    assert summary.left_out == {}
    assert standing(damaged) == standing(source)


def test_merging_into_nothing_makes_a_store(two, tmp_path):
    _, source = two
    assert merge(source, tmp_path / "made").added == 7
    assert standing(tmp_path / "made") == standing(source)


def test_a_store_whose_tables_are_no_text_is_damaged(two):
    """Found by `make fuzz`: the message of SQLite was no text either."""
    _, source = two
    content = bytearray(source.read_bytes())
    content[content.index(b"CREATE TABLE trial") + 7] = 0x80
    source.write_bytes(content)
    with pytest.raises(StoreError, match="cannot be opened: the file is damaged"):
        Store.existing(source)
