"""From a name or path to a card; folds, what is left out, dense matrices."""

import numpy as np
import pytest
from scipy import sparse

from kernlearn.datasets import load
from kernlearn.exceptions import DataError

LETOR = "".join(
    f"{i % 3} qid:{query} 1:{i / 7:.3f} 2:{query}\n" for query in range(1, 7) for i in range(4)
)


def ranking(make_card, folds):
    form = {
        "files": ["f"],
        "format": {"kind": "letor"},
        "rows": 24,
        "folds": folds,
        "labels": [0, 1, 2],
    }
    return make_card(form, task="ranking")


def test_the_folds_of_a_card_have_whole_queries(make_card, folder):
    (folder / "f").write_text(LETOR)
    assert (
        load(ranking(make_card, [8, 8, 8]), data_dir=folder).fold.tolist()
        == [0] * 8 + [1] * 8 + [2] * 8
    )
    for _ in range(2):  # also from the copy
        with pytest.raises(DataError, match=r"folds: the lengths 8, 6, 10 split query 4: its row"):
            load(ranking(make_card, [8, 6, 10]), data_dir=folder)


def test_two_folds_are_too_few(make_card):
    with pytest.raises(ValueError, match="folds: 2, expected at least 3"):
        ranking(make_card, [12, 12])


def test_features_of_a_card_are_left_out(make_card, folder):
    (folder / "f").write_text("1 1:2 3:4\n-1 2:1\n1 3:5\n")
    form = {"files": ["f"], "format": {"kind": "libsvm"}, "labels": [-1, 1]}
    card = make_card(form, n_features=3)
    expected = load(card, data_dir=folder).data[:, [0, 2]]
    for bunch in (
        load(card, data_dir=folder, drop=["x2"]),
        load(card, data_dir=folder, drop=[1]),
        load(make_card(form, n_features=3, drop=["x2"]), data_dir=folder),
    ):
        np.testing.assert_array_equal(bunch.data, expected)
        assert bunch.feature_names.tolist() == ["x1", "x3"]
        assert bunch.preparation.sentences == ["1 column is left out: x2"]
    with pytest.raises(DataError, match="no feature called 'x9'; its features: x1, x2, x3"):
        load(card, data_dir=folder, drop=["x9"])


def test_sparse_data_is_dense_where_wanted(make_card, folder):
    (folder / "f").write_text("".join(f"{i % 2} {i % 30 + 1}:1.5\n" for i in range(30)))
    form = {"files": ["f"], "format": {"kind": "libsvm"}, "labels": [0, 1]}
    card, always = make_card(form, n_features=30), make_card(form, n_features=30, dense=True)
    plain = load(card, data_dir=folder)
    assert sparse.issparse(plain.data)
    for bunch in (load(card, data_dir=folder, dense=True), load(always, data_dir=folder)):
        assert isinstance(bunch.data, np.ndarray)
        np.testing.assert_array_equal(bunch.data, plain.data.toarray())
        assert bunch.fingerprint == plain.fingerprint
    assert sparse.issparse(load(always, data_dir=folder, dense=False).data)


def test_a_card_says_what_is_done_with_missing_entries(make_card, folder):
    (folder / "f").write_text("1,?,a\n2,3,b\n?,4,a\n")
    form = {"files": ["f"], "format": {"kind": "delimited", "missing": "?"}, "labels": ["a", "b"]}
    card = make_card(form, missing="mean")
    assert load(card, data_dir=folder).data.tolist() == [[1, 3.5], [2, 3], [1.5, 4]]
    assert load(card, data_dir=folder, missing="drop").data.tolist() == [[2, 3]]
