import json
import sqlite3

import pytest

from kernlearn.config.spec import DatasetSpec, StoredDataset, Trial, canonical
from kernlearn.exceptions import StoreError
from kernlearn.store.database import SCHEMA_VERSION
from kernlearn.store.results import Result, Store
from kernlearn.store.rows import UnfitError, trial_of
from tests.engine.stores import STARTED, spec_of


def trial(key="a"):
    return Trial(key, "e", {"dataset": "d", "kernel": None, "method": "m"}, spec_of())


def result(key="a", status="done", **metrics):
    return Result(key, status, STARTED, 1.5, metrics=metrics)


def test_what_is_put_is_got(tmp_path):
    path = tmp_path / "new" / "store.sqlite"
    with Store(path) as store:
        run = store.begin_run("e", "full", 1, {"cpu": "x"})
        store.put(run, trial("a"), result("a", accuracy=0.1 + 0.2))
        store.put(
            run,
            trial("b"),
            Result("b", "failed", STARTED, 0.1, error="E: x", traceback="T"),
        )
    with Store(path) as store:
        found = store.get(["a", "b", "c"])
        assert set(found) == {"a", "b"}
        assert found["a"].metrics == {"accuracy": 0.1 + 0.2}
        assert found["a"].done
        assert not found["b"].done
        assert found["b"].error == "E: x"
        assert store.environments([run]) == [{"cpu": "x"}]


def test_a_failure_never_replaces_a_success(tmp_path):
    with Store(tmp_path / "s") as store:
        run = store.begin_run("e", "full", 1, {})
        store.put(run, trial(), result(status="failed"))
        store.put(run, trial(), result(accuracy=0.5))
        store.put(run, trial(), result(status="failed"))
        assert store.get(["a"])["a"].metrics == {"accuracy": 0.5}
        store.put(run, trial(), result(accuracy=0.6))
        assert store.get(["a"])["a"].metrics == {"accuracy": 0.6}


def test_files_that_are_no_store_are_refused_unharmed(tmp_path):
    text = tmp_path / "text"
    text.write_text("not a database, and long enough to have a header of its own" * 20)
    with pytest.raises(StoreError, match="text: cannot be opened"):
        Store(text)
    assert text.read_text().startswith("not a database")

    other = tmp_path / "other"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    with pytest.raises(StoreError, match="not a kernlearn store"):
        Store(other)

    for change, age in ((1, "a newer"), (-1, "an older")):
        path = tmp_path / age
        Store(path).close()
        with sqlite3.connect(path) as connection:
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION + change}")
        before = path.read_bytes()
        for opener in (Store, Store.existing):
            with pytest.raises(StoreError, match=f"written by {age} kernlearn"):
                opener(path)
        assert path.read_bytes() == before

    with pytest.raises(StoreError, match="cannot be opened"):
        Store(tmp_path)
    with pytest.raises(StoreError, match="no such store"):
        Store.existing(tmp_path / "none")


def test_data_sets_are_told_with_what_was_measured_on_them(tmp_path):
    """The latest of a name first; data without a name, from a generator, is told by its config."""
    how = {"nominal": "ordinal", "binarize": None}
    dropped, filled = (DatasetSpec(name="d", fingerprint=f, **how) for f in ("dropped", "filled"))
    with Store(tmp_path / "s") as store:
        for i, (experiment, what) in enumerate(
            [("first", filled), ("first", dropped), ("second", dropped), ("third", filled)]
        ):
            run = store.begin_run(experiment, "full", 1, {})
            one = Trial(str(i), experiment, {"dataset": "d"}, spec_of(dataset=what, split=i))
            store.put(run, one, result(one.key, accuracy=1.0))
        drawn = spec_of(dataset=DatasetSpec(generator="g", parameters={}, **how))
        made = Trial("g", "third", {"dataset": "g"}, drawn)
        store.put(run, made, result("g", accuracy=1.0))
        assert store.datasets() == {
            "d": [
                StoredDataset(filled, frozenset({"first", "third"})),
                StoredDataset(dropped, frozenset({"first", "second"})),
            ]
        }


def row_of(spec):
    """A row of a trial with a text as its specification."""
    one = trial()
    texts = {"labels": canonical(one.labels), "metrics": "{}", "info": "{}", "spec": spec}
    return {**vars(result()), "run": 1, "experiment": "e", **texts}


def test_specifications_of_a_cell_are_read_once_and_as_each_would_be():
    like = canonical(spec_of(a=[1, {"split": 3}]))
    for split in (0, 1, 12, 10**8):
        text = like.replace('"split":0', f'"split":{split}')
        spaced = json.dumps(json.loads(text), indent=1)  # is read as a whole
        assert trial_of(row_of(text)).trial == trial_of(row_of(spaced)).trial
        assert trial_of(row_of(text)).trial.split == split
    first, second = (trial_of(row_of(like.replace(":0,", f":{n},"))).trial.spec for n in (1, 2))
    assert first.method is second.method


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"split":0', '"split":-1'),
        ('"split":0', '"split":01'),
        ('"split":0', '"split":3000000000'),
        ('"split":0', '"split":1.5'),
        ('"split":0,', '"split":0,"split":"x",'),
        ('"split":0,', ""),
        ('"train":0.6', '"train":"much"'),
        ('"version":1}', '"version":1,"more":1}'),
        ('{"dataset"', '{"dataset":{"split":1,"task":"","version":1}'),
    ],
)
def test_specifications_that_do_not_fit_are_refused(old, new):
    text = canonical(spec_of())
    assert text.count(old) >= 1
    assert trial_of(row_of(text))
    for _ in range(2):  # also when they are known
        with pytest.raises(UnfitError):
            trial_of(row_of(new.join(text.rsplit(old, 1))))
