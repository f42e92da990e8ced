import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes, load_iris
from sklearn.utils import Bunch

from kernlearn.config import load_config
from kernlearn.datasets import fingerprint, load
from kernlearn.engine import make_plan, run_plan
from kernlearn.engine.build import as_bunch, make_data
from kernlearn.exceptions import DataError
from kernlearn.plugins import RegisteredDataset
from kernlearn.store import Store

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
    data = as_bunch((X, y), numbers=False)
    assert data.target.tolist() == codes
    assert data.target_names.tolist() == names
    assert data.fingerprint == fingerprint(X, data.target_names[data.target])


def test_for_regression_numbers_stay_what_they_are():
    data = as_bunch((X, [3, 100, 7, 7]), numbers=True)
    assert data.target.tolist() == [3.0, 100.0, 7.0, 7.0]
    assert data.target.dtype == np.float64
    assert data.target_names.size == 0
    with pytest.raises(ValueError, match="numbers for regression, not text"):
        as_bunch((X, ["a", "b", "a", "b"]), numbers=True)


def test_what_scikit_learn_has_reads_as_what_load_has():
    own, known = as_bunch(load_iris(), numbers=False), load("iris")
    np.testing.assert_array_equal(own.data, known.data)
    np.testing.assert_array_equal(own.target, known.target)
    assert own.target_names.tolist() == known.target_names.tolist()
    assert own.fingerprint == known.fingerprint
    own = as_bunch(load_diabetes(), numbers=True)
    np.testing.assert_array_equal(own.target, load_diabetes().target)


def test_sparse_rows_frames_and_single_precision():
    data = as_bunch((sp.coo_matrix(X), None), numbers=False)
    assert data.data.format == "csr"
    assert data.target is None
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    assert as_bunch((frame, pd.Series(["u", "v"])), numbers=False).data.tolist() == [
        [1, 3],
        [2, 4],
    ]
    assert as_bunch((X.astype(np.float32), None), numbers=False).data.dtype == np.float32


def test_queries_and_folds_are_part_of_the_content():
    plain = {"data": X, "target": [0, 1, 2, 1], "note": "a sample"}
    one = as_bunch(plain, numbers=False)
    two = as_bunch({**plain, "query": [1, 1, 2, 2]}, numbers=False)
    three = as_bunch({**plain, "query": [1, 1, 2, 2], "fold": [0, 0, 1, 1]}, numbers=False)
    assert two["query"].tolist() == [1, 1, 2, 2]
    assert three["fold"].tolist() == [0, 0, 1, 1]
    assert len({one.fingerprint, two.fingerprint, three.fingerprint}) == 3
    assert one.note == "a sample"


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
        as_bunch(made, numbers=False)


def test_a_matrix_of_similarities_is_square():
    data = as_bunch((X[:2], None), numbers=False, similarity="distance")
    assert data.similarity == "distance"
    with pytest.raises(ValueError, match="must be square, not of shape"):
        as_bunch((X, None), numbers=False, similarity="similarity")


def test_an_error_in_a_data_set_names_it_and_the_line():
    def broken():
        raise KeyError("year")

    line = broken.__code__.co_firstlineno + 1
    data = RegisteredDataset("sales", broken, plugin="mine", file=__file__)
    with pytest.raises(DataError) as caught:
        make_data(data, False, {})
    text = f"data set 'sales' of mine: {__file__}:{line}: KeyError: 'year'"
    assert str(caught.value) == text


def test_a_loader_reads_its_file_again_from_the_folder_of_its_plugin(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import numpy as np\nfrom kernlearn.plugins import register_dataset\n"
        "@register_dataset()\ndef mine():\n    X = np.loadtxt('mine.txt')\n"
        "    return X, X[:, 0] > 5\n"
    )
    np.savetxt(tmp_path / "mine.txt", np.arange(40.0).reshape(20, 2) % 11)
    path = tmp_path / "c.yaml"
    path.write_text(
        "title: t\nplugins: [mine.py]\ndatasets: {mine: {}}\n"
        "methods: {D: {estimator: DummyClassifier}}\nmetrics: [accuracy]\nprotocol: {splits: 1}\n"
    )
    plan = make_plan(load_config(path))
    np.savetxt(tmp_path / "mine.txt", np.arange(40.0).reshape(20, 2) % 7)
    with Store(tmp_path / "s") as store:
        assert run_plan(plan, store).failed == 1
        (row,) = store.rows()
        assert "mine: not the data that the trial was planned for" in row.error
        again = make_plan(load_config(path))
        assert again.trials[0].key != plan.trials[0].key
        assert run_plan(again, store).done == 1
