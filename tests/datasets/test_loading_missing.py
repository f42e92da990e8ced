import numpy as np
import pytest
from scipy import sparse

from kernlearn.datasets import fingerprint, load
from kernlearn.datasets.formats import Table
from kernlearn.datasets.missing import settle_missing
from kernlearn.exceptions import DataError

ROWS = "1,u,9\n?,v,8\n3,?,7\n?,?,6\n5,v,5\n"


@pytest.fixture
def card(make_card, folder):
    columns = {"columns": ["a", "b", "y"], "nominal": {"b": ["u", "v"]}, "missing": "?"}
    (folder / "f").write_text(ROWS)
    form = {"files": ["f"], "format": {"kind": "delimited", **columns}, "rows": 5}
    return make_card(form, task="regression")


def test_rows_are_left_out_and_counted(card, folder):
    for _ in range(2):  # read, then from the copy
        bunch = load(card, data_dir=folder)
        assert bunch.data.tolist() == [[1, 0], [5, 1]]
        assert bunch.target.tolist() == [9, 5]
        assert bunch.note == "3 of 5 rows with missing entries were left out."
        assert bunch.fingerprint == fingerprint([[1, 0], [5, 1]], [9, 5])


@pytest.mark.parametrize(("missing", "filled"), [("mean", 3), ("most_frequent", 1)])
def test_entries_are_filled_in_by_column(card, folder, missing, filled):
    bunch = load(card, data_dir=folder, missing=missing)
    # a nominal column has no mean: v is its most frequent value
    assert bunch.data.tolist() == [[1, 0], [filled, 1], [3, 1], [filled, 1], [5, 1]]
    assert bunch.note.startswith("4 entries in 3 of 5 rows are missing and were filled in by")
    assert load(card, data_dir=folder).data.shape == (2, 2)  # another copy


def test_filled_before_one_hot(card, folder):
    bunch = load(card, data_dir=folder, missing="mean", nominal="onehot")
    assert bunch.data[3].tolist() == [3, 0, 1]


def test_an_error_where_wanted(card, folder):
    with pytest.raises(DataError, match=r"f: 4 entries in 3 of 5 rows are missing; load with"):
        load(card, data_dir=folder, missing="error")


@pytest.mark.parametrize("missing", ["drop", "mean", "most_frequent", "error"])
def test_where_nothing_is_missing_nothing_happens(card, folder, missing):
    (folder / "f").write_text(ROWS.replace("?,?", "1,u").replace("?", "1", 1).replace("?", "u"))
    bunch = load(card, data_dir=folder, missing=missing)
    assert bunch.data.shape == (5, 2)
    assert bunch.note == ""


def test_the_cards_fingerprint_is_compared_where_it_can_be(card, folder):
    known = load(card, data_dir=folder).fingerprint
    form = card.forms[0].model_copy(update={"fingerprint": "0" * 64})
    other = card.model_copy(update={"forms": (form,)})
    assert known[:12] in load(other, data_dir=folder).note
    assert "differs" not in load(other, data_dir=folder, missing="mean").note


def test_nothing_to_keep_or_to_fill_in(card, folder):
    (folder / "f").write_text("?,u,1\n" * 5)
    with pytest.raises(DataError, match="5 of 5 rows are missing; no row is left"):
        load(card, data_dir=folder)
    with pytest.raises(DataError, match="the column a has no entries"):
        load(card, data_dir=folder, missing="mean")


@pytest.mark.parametrize("missing", ["drop", "mean", "most_frequent"])
def test_sparse_as_dense(missing):
    X = np.array([[0, 2, 0, 1], [np.nan, 0, 0, 0], [3, 0, np.nan, 1], [3, 0, 0, 0.0]])
    y, query = np.arange(4.0), np.arange(4)
    names = ("a", "b", "c", "d")
    dense, note_of_dense = settle_missing(Table(X, y, names, query=query), missing, "f")
    some, note = settle_missing(Table(sparse.csr_matrix(X), y, names, query=query), missing, "f")
    assert sparse.issparse(some.X)
    np.testing.assert_array_equal(some.X.toarray(), dense.X)
    np.testing.assert_array_equal(some.query, dense.query)
    assert note == note_of_dense
    assert len(dense.query) == len(dense.y) == len(dense.X) == (2 if missing == "drop" else 4)
