import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.utils import Bunch

from kernlearn.config.data import as_data, make_data
from kernlearn.datasets import fingerprint, load
from kernlearn.engine import Choice, run_plan
from kernlearn.exceptions import DataError
from kernlearn.plugins import Registered
from kernlearn.store import Store
from tests.engine.conftest import card

X = np.arange(8.0).reshape(4, 2)


@pytest.mark.parametrize(
    ("y", "codes", "names"),
    [
        (["b", "a", "b", "a"], [1, 0, 1, 0], ["a", "b"]),
        ([3, -1, 3, 10], [1, 0, 1, 2], ["-1", "3", "10"]),
        ([0.5, 2.0, 2.0, 0.5], [0, 1, 1, 0], ["0.5", "2"]),
        ([True, False, False, True], [1, 0, 0, 1], ["False", "True"]),
    ],
)
def test_distinct_values_are_classes_in_order(y, codes, names):
    data = as_data((X, y), numbers=False)
    assert data.target.tolist() == codes
    assert data.target_names.tolist() == names
    assert data.fingerprint == fingerprint(X, data.target_names[data.target])


def test_for_regression_numbers_stay_what_they_are():
    data = as_data((X, [3, 100, 7, 7]), numbers=True)
    np.testing.assert_array_equal(data.target, [3.0, 100.0, 7.0, 7.0], strict=True)
    assert data.target_names.size == 0
    with pytest.raises(ValueError, match="numbers"):
        as_data((X, ["a", "b", "a", "b"]), numbers=True)


def test_what_scikit_learn_has_reads_as_what_load_has():
    own, known = as_data(load_iris(), numbers=False), load("iris")
    np.testing.assert_array_equal(own.data, known.data)
    np.testing.assert_array_equal(own.target, known.target)
    assert own.target_names.tolist() == known.target_names.tolist()
    assert own.fingerprint == known.fingerprint


def test_sparse_rows_frames_and_single_precision():
    data = as_data((sp.coo_matrix(X), None), numbers=False)
    assert (data.data.format, data.target) == ("csr", None)
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    assert as_data((frame, pd.Series(["u", "v"])), numbers=False).data.tolist() == [[1, 3], [2, 4]]
    assert as_data((X.astype(np.float32), None), numbers=False).data.dtype == np.float32


def test_queries_and_folds_are_part_of_the_content():
    plain = {"data": X, "target": [0, 1, 2, 1], "note": "a sample"}
    more = [{}, {"query": [1, 1, 2, 2]}, {"query": [1, 1, 2, 2], "fold": [0, 0, 1, 1]}]
    data = [as_data(plain | one, numbers=False) for one in more]
    assert (data[2].query.tolist(), data[2].fold.tolist()) == ([1, 1, 2, 2], [0, 0, 1, 1])
    assert len({one.fingerprint for one in data}) == 3
    assert data[0].note == "a sample"


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (X, r"must return \(X, y\), or a Bunch with data and target, not a ndarray"),
        ((X, X, X), "not a tuple of 3"),
        ({"target": [1]}, "not a dict"),
        ((X, [1, 2]), r"one value for each of 4 rows of X, not shape \(2,\)"),
        ((X[0], None), "Expected 2D array"),
        ((X * np.nan, None), "NaN"),
        ((np.array([["a"]]), None), "could not convert string to float"),
        ((X, [1.0, np.nan, 2.0, 3.0]), "y has entries that are NaN"),
        (Bunch(data=X, target=[0, 1, 2, 3], target_names=["a"]), "must be codes 0 to 0"),
        (Bunch(data=X, target=[0, 1, 0, 1], query=[0.5, 1, 2, 3]), "query must be 4 whole"),
    ],
)
def test_what_is_no_data_is_refused(made, message):
    with pytest.raises((TypeError, ValueError), match=message):
        as_data(made, numbers=False)


def test_a_matrix_of_similarities_is_square():
    assert as_data((X[:2], None), numbers=False, similarity="distance").similarity == "distance"
    with pytest.raises(ValueError, match="square"):
        as_data((X, None), numbers=False, similarity="similarity")


def test_an_error_in_a_data_set_names_it_and_the_line():
    def broken():
        raise KeyError("year")

    line = broken.__code__.co_firstlineno + 1
    data = Registered("dataset", "sales", broken, plugin="mine", file=__file__)
    with pytest.raises(DataError) as caught:
        make_data(data, False, {})
    text = f"data set 'sales' of mine: {__file__}:{line}: KeyError: 'year'"
    assert str(caught.value) == text


PLUGIN = """\
import numpy as np
from kernlearn.plugins import register_dataset

@register_dataset()
def mine():
    X = np.loadtxt('mine.txt', delimiter=",")
    return X, X[:, 0] > 5

@register_dataset()
def drawn(random_state=None):
    X = np.loadtxt('mine.txt', delimiter=",")
    return X + np.random.default_rng(random_state).normal(size=X.shape), X[:, 0] > 5
"""
FORM = "{files: [mine.txt], format: {kind: delimited}, rows: 20, labels: ['0', '1']}"
CONFIG = """\
title: t
plugins: [mine.py]
datasets: {DATA}
methods: {D: {estimator: DummyClassifier}}
metrics: [accuracy]
protocol: {splits: 1}
"""


@pytest.mark.parametrize(
    ("data", "changed"),
    [
        ("mine: {}", "mine.txt"),
        ("mine: {generator: drawn}", "mine.txt"),
        ("mine: {generator: drawn}", "mine.py"),
        ("mine: {file: mine.txt}", "mine.txt"),
        ("mine: {file: mine_of_card.yaml}", "mine.txt"),
        ("mine: {name: mine_of_card}", "mine.txt"),
        ("mine: {name: mine_of_card}", "mine_of_card.yaml"),
    ],
)
def test_whatever_the_data_come_from_a_change_makes_other_trials(
    planned, tmp_path, monkeypatch, data, changed
):
    """In one process, as in a notebook, where data that was read is kept."""
    rows = "".join(f"{i % 11},{i % 2}\n" for i in range(20))
    files = {"mine.py": PLUGIN, "mine_of_card.yaml": card("mine_of_card", FORM), "mine.txt": rows}
    edits = {
        "mine.py": ("X + np", "X - np"),
        "mine_of_card.yaml": ("rows: 20, ", ""),
        "mine.txt": ("10,0", "7,0"),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    plan = planned(CONFIG, ("DATA", data))
    with Store(tmp_path / "s") as store:
        assert run_plan(plan, store).done == 1
        (tmp_path / changed).write_text(files[changed].replace(*edits[changed]))
        if data == "mine: {}":  # which is no trial of the plan
            (error,) = run_plan(plan, store, choice=Choice(force=True)).errors
            assert "mine: not the data that the trial was planned for" in error
        again = planned(CONFIG, ("DATA", data))
        assert again.trials[0].key != plan.trials[0].key
        assert run_plan(again, store).done == 1
