"""The file of a store: versions, concurrent processes, and faults of the disk."""

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from kernlearn.engine.environment import _commit, describe_environment
from kernlearn.exceptions import StoreError
from kernlearn.store.results import Store
from tests.engine.stores import begun, done, failed, trial

EARLIER = """
CREATE TABLE run (
    id INTEGER PRIMARY KEY, started TEXT NOT NULL, experiment TEXT NOT NULL,
    profile TEXT NOT NULL, jobs INTEGER NOT NULL, environment TEXT NOT NULL
);
CREATE TABLE trial (
    key TEXT PRIMARY KEY, run INTEGER NOT NULL REFERENCES run (id), experiment TEXT NOT NULL,
    labels TEXT NOT NULL, spec TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('done', 'failed')), started TEXT NOT NULL,
    seconds REAL NOT NULL, metrics TEXT NOT NULL, info TEXT NOT NULL, error TEXT, traceback TEXT
) WITHOUT ROWID;
CREATE TABLE superseded (
    key TEXT NOT NULL, run INTEGER NOT NULL REFERENCES run (id), experiment TEXT NOT NULL,
    labels TEXT NOT NULL, spec TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('done', 'failed')), started TEXT NOT NULL,
    seconds REAL NOT NULL, metrics TEXT NOT NULL, info TEXT NOT NULL, error TEXT, traceback TEXT,
    PRIMARY KEY (key, run)
) WITHOUT ROWID;
ALTER TABLE run ADD COLUMN settings TEXT NOT NULL DEFAULT '[]';
INSERT INTO run (started, experiment, profile, jobs, environment)
    VALUES ('2026-01-01T00:00:00+00:00', 'e', 'full', 1, '{"cpu": "x"}');
PRAGMA user_version=3;
"""


def test_a_store_with_the_tables_of_an_earlier_kernlearn_opens(tmp_path):
    path = tmp_path / "s"
    with sqlite3.connect(path) as connection:
        connection.executescript(EARLIER)
    connection.close()
    with begun(path) as (store, put):
        put(trial(), done(trial(), accuracy=0.5))
        store.begin_run("e", "full", 1, {}, ["splits=2", 'methods.K.name="a=b"'])
    with Store.existing(path) as store:
        assert store.environments([1]) == [{"cpu": "x"}]
        settings = [r.settings for r in store.runs()]
        assert settings == [(), (), ("splits=2", 'methods.K.name="a=b"')]
        assert store.get([trial().key])[trial().key].metrics == {"accuracy": 0.5}


def test_an_empty_file_is_an_empty_store(tmp_path):
    path = tmp_path / "s"
    path.touch()
    with Store.existing(path) as store:
        assert store.runs() == []
    assert path.read_bytes() == b""
    with begun(path) as (_, put):
        put(trial(), done(trial(), accuracy=0.5))


def test_somebody_elses_tables_are_refused_whatever_their_version(tmp_path):
    other = tmp_path / "other"
    with sqlite3.connect(other) as connection:
        connection.executescript("CREATE TABLE theirs (x); PRAGMA user_version=1;")
    for opener in (Store, Store.existing):
        with pytest.raises(StoreError, match="not a kernlearn store"):
            opener(other)
    with sqlite3.connect(other) as connection:
        names = connection.execute("SELECT name FROM sqlite_master").fetchall()
    connection.close()
    assert names == [("theirs",)]


def test_what_another_run_replaces_is_kept_beside(tmp_path):
    path, t = tmp_path / "s", trial()
    for value in (0.1, 0.2, 0.3):
        with begun(path) as (store, put):
            put(t, done(t, accuracy=value))
            put(t, done(t, accuracy=value + 1))
            put(t, failed(t))
    with Store.existing(path) as store:
        assert store.get([t.key])[t.key].metrics == {"accuracy": 1.3}
        values = {
            r.number: [s.result.metrics["accuracy"] for s in store.trials(r.number)]
            for r in store.runs()
        }
        assert values == {1: [1.1], 2: [1.2], 3: [1.3]}


def test_a_store_to_read_is_not_written(tmp_path):
    with begun(tmp_path / "s") as (_, put):
        put(trial(), done(trial(), accuracy=0.5))
    before = (tmp_path / "s").read_bytes()
    with (
        Store.existing(tmp_path / "s") as store,
        pytest.raises(StoreError, match="cannot be written"),
    ):
        store.begin_run("e", "full", 1, {})
    assert (tmp_path / "s").read_bytes() == before
    assert list(tmp_path.iterdir()) == [tmp_path / "s"]


WRITER = """
import sys
from pathlib import Path
from kernlearn.store.results import Store
from tests.engine.stores import done, trial

with Store(Path(sys.argv[1])) as store:
    run = store.begin_run("e", "full", 1, {})
    for i in range(60):
        for method in ("both", sys.argv[2]):
            t = trial(method, i)
            store.put(run, t, done(t, accuracy=i / 100))
"""


def test_two_processes_make_and_write_one_store(tmp_path):
    command = [sys.executable, "-c", WRITER, str(tmp_path / "s")]
    started = [subprocess.Popen([*command, name]) for name in ("one", "other")]
    assert [process.wait(timeout=120) for process in started] == [0, 0]
    with Store.existing(tmp_path / "s") as store:
        found = [(t.trial.labels["method"], t.trial.split) for t in store.trials()]
        assert sorted(found) == sorted((m, i) for m in ("both", "one", "other") for i in range(60))
        assert [len(list(store.trials(r.number))) for r in store.runs()] == [120, 120]


def test_many_open_a_new_store_at_once(tmp_path):
    def open_it(i):
        with begun(tmp_path / "s", experiment=str(i)):
            pass

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(open_it, range(24)))
    with Store.existing(tmp_path / "s") as store:
        assert len(store.runs()) == 24


def test_one_that_stays_locked_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("kernlearn.store.database._BUSY_SECONDS", 0.1)
    path = tmp_path / "s"
    with Store(path) as holder, Store(path) as other:
        with holder.transaction(), pytest.raises(StoreError, match="another process"):
            other.begin_run("e", "full", 1, {})
        assert other.begin_run("e", "full", 1, {}) == 1


@pytest.fixture
def small_disk(tmp_path):
    """A disk of its own with one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = (
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(folder)],
            capture_output=True,
            check=False,
        )
        if sys.platform == "linux"
        else None
    )
    if mounted is None or mounted.returncode:
        pytest.skip("a small disk is mounted, for which the user must be root on Linux")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_told_and_what_was_finished_stays(small_disk):
    path = small_disk / "s"
    finished = []
    with begun(path) as (_, put):
        put(trial(split=20_000), done(trial(split=20_000), accuracy=1.0))
        (small_disk / "filler").write_bytes(b"x" * 600_000)

        def fill():
            for i in range(10_000):
                t = trial(split=i)
                put(t, done(t, accuracy=i))
                finished.append(t.key)

        with pytest.raises(StoreError, match="disk is full"):
            fill()
        assert finished
        (small_disk / "filler").unlink()
        with Store.existing(path) as reader:
            assert set(finished) <= set(reader.get(finished))
        # and there is room again
        put(trial("later"), done(trial("later"), accuracy=1.0))
    with Store.existing(path) as reader:
        assert len(list(reader.trials())) == len(finished) + 2
        assert [*reader.connection.execute("PRAGMA integrity_check").fetchone()] == ["ok"]


def test_a_read_only_disk_can_be_read_and_is_told(small_disk):
    path = small_disk / "s"
    with begun(path) as (_, put):
        put(trial(), done(trial(), accuracy=0.5))
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with Store.existing(path) as store:
        assert [t.result.metrics for t in store.trials()] == [{"accuracy": 0.5}]
    with (
        pytest.raises(StoreError, match=r"read-only|cannot be written"),
        Store(path) as store,
    ):
        store.begin_run("e", "full", 1, {})
    with pytest.raises(StoreError, match="new/s: cannot be opened"):
        Store(small_disk / "new" / "s")


def test_results_that_a_run_writes_do_not_change_its_code(tmp_path):
    def git(*words):
        named = ["-c", "user.name=n", "-c", "user.email=e"]
        subprocess.run(["git", *named, *words], cwd=tmp_path, check=True, capture_output=True)

    assert _commit(tmp_path) == {}
    git("init")
    (tmp_path / "code.py").write_text("x = 1\n")
    git("add", ".")
    git("commit", "-m", "m")
    clean = _commit(tmp_path)
    assert len(clean["commit"]) == 40
    assert clean["dirty"] is False
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "measured.csv").write_text("1\n")
    assert _commit(tmp_path) == clean
    (tmp_path / "code.py").write_text("x = 2\n")
    assert _commit(tmp_path) == {**clean, "dirty": True}


def test_the_environment_says_what_a_number_hangs_on_and_names_nobody():
    found = describe_environment()
    assert {"numpy", "scipy", "scikit-learn", "kernlearn"} <= set(found["packages"])
    assert found["cpu"]
    assert found["usable_cores"] >= 1
    assert isinstance(found["threads"], dict)
    assert all(lib["num_threads"] >= 1 for lib in found["blas"])
    assert any(lib["user_api"] == "blas" for lib in found["blas"])
    if "commit" in found:
        assert len(found["commit"]) == 40
        assert found["dirty"] in (True, False)
    assert set(found) <= {
        "python",
        "packages",
        "system",
        "cpu",
        "cores",
        "usable_cores",
        "memory_bytes",
        "blas",
        "threads",
        "commit",
        "dirty",
    }
