"""Stores: what is put comes back or is refused, whatever happens to the file or the process."""

import os
import random
import sqlite3
from contextlib import suppress
from dataclasses import replace
from functools import partial

import pytest

from kernlearn import store as stores
from kernlearn.exceptions import StoreError
from kernlearn.store import Row, Store


def row(i=0, error=None, **metrics):
    labels, date = {"dataset": "d", "kernel": None, "method": "m"}, "2026-01-01T00:00:00+00:00"
    results = {"metrics": metrics or {"accuracy": 0.1 + i}, "info": {"note": "ü"}, "error": error}
    way = {"machine": {"cpu": "x"}, "profile": "quick", "settings": ("splits=1",)}
    return Row(f"key{i}", "demo", labels, {"split": i}, date, 1.5, **results, **way)


@pytest.fixture
def path(tmp_path):
    with Store(tmp_path / "new" / "s.sqlite") as store:
        store.put(*map(row, range(3)))
    return store.path


def test_rows_come_back(path):
    with Store(path, read_only=True) as store:
        assert store.get(["key1", "other"]) == {"key1": row(1)}
        assert store.states(["key1", "other"]) == {"key1": (True, 1.5, None)}
        assert store.rows() == [row(0), row(1), row(2)]
        assert store.experiments() == {"demo": {("quick", ("splits=1",)): {None: 3}}}
        with pytest.raises(StoreError, match="cannot be written"):
            store.put(row(4))


def test_a_further_column_is_left_alone(path):
    with sqlite3.connect(path) as connection:
        connection.execute("ALTER TABLE trial ADD COLUMN mine")
    with Store(path) as store:
        store.put(row(3))
        assert store.rows() == [*map(row, range(4))]


def test_a_failure_never_replaces_a_success(path):
    with Store(path) as store:
        store.put(row(0, error="E: no"))
        assert store.get(["key0"])["key0"].done
        store.put(row(5, error="E: no"))
        assert store.states(["key5"]) == {"key5": (False, 1.5, "E: no")}
        store.put(row(5))
        assert store.get(["key5"]) == {"key5": row(5)}
        store.put(row(0, accuracy=7.0))
        assert store.get(["key0"])["key0"].metrics == {"accuracy": 7.0}


@pytest.mark.parametrize("column", ["key", "experiment", "profile", "settings", "spec", "row"])
@pytest.mark.parametrize("value", [lambda text: text[:-1] + chr(ord(text[-1]) ^ 8), str.encode])
def test_a_changed_byte_is_refused_by_every_reader(path, column, value):
    with Store(path, read_only=True) as store, Store(path.with_name("other")) as other:
        with sqlite3.connect(path) as connection:
            (text,) = connection.execute(f"SELECT {column} FROM trial WHERE key='key1'").fetchone()
            changed = value(text)
            changed = changed[:-1] + b"\xff" if isinstance(changed, bytes) else changed
            connection.execute(f"UPDATE trial SET {column} = ? WHERE key = 'key1'", (changed,))
        for read in (store.rows, store.experiments, partial(other.merge, store)):
            with pytest.raises(StoreError, match=r"trial ke.* was changed"):
                read()
        for read in (store.get, store.states) if column != "key" else ():
            with pytest.raises(StoreError):
                read(["key1"])


N_FLIPS = int(os.environ.get("KERNLEARN_FLIPS", "40"))


def test_flipped_bytes_give_the_rows_as_they_were_or_an_error(path):
    """A byte may also be of a page that nothing uses; SQLite itself may find the file damaged."""
    content, moment, refused = path.read_bytes(), random.Random(2013), 0
    with Store(path, read_only=True) as store:
        rows = store.rows()
    stored = [i for i in range(len(content)) if content[i]]  # what is not empty
    for place in moment.sample(stored, N_FLIPS):
        changed = bytearray(content)
        changed[place] ^= 1 << moment.randrange(8)
        path.write_bytes(changed)
        try:
            with Store(path, read_only=True) as store:
                assert store.rows() == rows
        except StoreError:
            refused += 1
    assert refused > N_FLIPS / 2


@pytest.mark.parametrize("how", ["exchanged", "doubled"])
def test_pages_in_other_places_are_noticed(path, how):
    """Each row is as it was written, and some are gone or not found."""
    with Store(path) as store:
        notes = [{"note": "ü" * length} for length in (10, 900, 9000)] * 20
        store.put(*(replace(row(i), info=note) for i, note in enumerate(notes)))
        rows = store.rows()
    content, moment, size = path.read_bytes(), random.Random(2013), 4096
    pages = [content[i : i + size] for i in range(0, len(content), size)]
    leaves = [i for i, page in enumerate(pages) if page[0] == 10]  # which have the rows
    for a, b in (moment.sample(leaves, 2) for _ in range(30)):
        changed = [*pages]
        changed[a], changed[b] = pages[b], pages[a if how == "exchanged" else b]
        path.write_bytes(b"".join(changed))
        for read in (Store.rows, partial(Store.get, keys=[one.key for one in rows])):
            with suppress(StoreError), Store(path, read_only=True) as store:
                assert len(read(store)) == len(rows)


@pytest.mark.parametrize("how", ["deleted", "truncated", "replaced", "overwritten"])
def test_a_lost_store_is_noticed(path, how):
    other = path.with_name("other")
    with Store(path) as store, Store(other) as larger:
        larger.put(*(row(1000 + i) for i in range(200)))
        if how == "deleted":
            path.unlink()
        elif how == "truncated":
            os.truncate(path, 0)
        elif how == "replaced":
            other.replace(path)
        else:  # in place
            path.write_bytes(other.read_bytes())
        for use in (lambda: store.put(row(9)), lambda: store.get(["key0"]), store.rows):
            with pytest.raises(StoreError, match="are lost"):
                use()


def test_other_files_are_refused(tmp_path):
    (tmp_path / "text").write_bytes(b"no database at all, but long enough" * 40)
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty").touch()
    with sqlite3.connect(tmp_path / "other") as connection:
        connection.execute("CREATE TABLE a (b)")
    for name, message in (("text", "no ker"), ("folder", "cannot be op"), ("other", "no ker")):
        with pytest.raises(StoreError, match=message):
            Store(tmp_path / name)
    with Store(tmp_path / "empty", read_only=True) as empty:
        assert (empty.count("e"), empty.rows()) == (0, [])
    with pytest.raises(StoreError, match="no such store"):
        Store(tmp_path / "none", read_only=True)


def test_what_is_locked_is_not_lost(path, monkeypatch):
    monkeypatch.setattr(stores, "_BUSY", 0.01)
    with Store(path) as store, sqlite3.connect(path, isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        for use in (lambda: store.put(row(9)), store.rows, lambda: store.count("e")):
            with pytest.raises(StoreError, match="locked"):
                use()


def test_merge(path, tmp_path):
    with Store(tmp_path / "other") as other:
        another_time = row(0, accuracy=0.1, fit_seconds=5.0)
        other.put(another_time, row(1, accuracy=0.3), row(2, error="E: no"), row(3), row(4))
    with Store(path) as store:
        store.put(row(4, error="E: no"), row(0, accuracy=0.1, fit_seconds=1.0))
        with Store(tmp_path / "other", read_only=True) as other:
            summary = store.merge(other)
            assert [r.key for r in summary.conflicts] == ["key1"]
            assert (summary.added, summary.same) == (2, 2)
            assert store.merge(other).added == 0
        assert [r.done for r in store.rows()] == [True] * 5
        assert store.get(["key1"]) == {"key1": row(1)}
        with pytest.raises(StoreError, match="into itself"):
            store.merge(store)
