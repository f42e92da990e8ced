"""What loading drops, codes and fills in is said in counts."""

import numpy as np
import pytest

from kernlearn.datasets import Preparation, load, two_moons
from kernlearn.datasets.loading import known
from kernlearn.datasets.preparation import is_id_name, look_like_ids

RNG = np.random.RandomState(0)


def survey(n=400, n_missing=122):
    """Rows with an id, a city, and missing ages in some of them."""
    rows = [
        f"{1000 + i},{['Ulm', 'Bonn', 'Jena'][i % 3]},{'' if i < n_missing else 20 + i % 50},"
        f"{RNG.uniform():.4f},{'yes' if i % 2 else 'no'}"
        for i in range(n)
    ]
    return "id,city,age,income,label\n" + "\n".join(rows) + "\n"


@pytest.fixture
def file(folder):
    path = folder / "survey.csv"
    path.write_text(survey())
    return path


def test_what_was_done_is_said_in_counts(file):
    done = load(file, nominal="onehot").preparation
    assert done.rows == 400
    assert done.rows_dropped == 122
    assert done.one_hot == {"city": 3}
    assert done.id_like == {"id": "by its name"}
    assert done.sentences == [
        "122 of 400 rows with missing entries are left out",
        "1 nominal column is one-hot: city (3 values)",
        "1 column looks like an id and is kept, unless `drop` names it: id (by its name)",
    ]
    assert Preparation.from_plain(done.plain) == done


def test_it_is_known_without_reading_the_data_again(file, monkeypatch):
    expected = load(file, nominal="onehot").preparation
    assert load(file, nominal="onehot").preparation == expected  # from the copy
    assert known(file, nominal="onehot").preparation == expected
    assert known(file, nominal="ordinal") is None


def test_other_choices_are_said_too(file):
    done = load(file, missing="mean", drop=["id", "income"]).preparation
    assert done.sentences == [
        "122 missing entries in 122 of 400 rows are filled in by the column's mean",
        "2 columns are left out: id, income",
        "1 nominal column enters as codes 0, 1, 2, …: city (3 values)",
    ]


def test_where_nothing_is_done_nothing_is_said():
    for bunch in (load("wine"), two_moons(20, random_state=0)):
        assert bunch.preparation.sentences == []
        assert bunch.preparation.plain == {}


def test_a_symmetric_matrix_that_is_read_as_features(folder):
    S = RNG.uniform(size=(12, 12))
    S = S + S.T
    for name, X in (("symmetric", S), ("other", RNG.uniform(size=(12, 12)))):
        np.savez(folder / f"{name}.npz", X=X, y=np.arange(12) % 2)
    (said,) = load(folder / "symmetric.npz").preparation.sentences
    assert said.startswith("the features are a symmetric 12 x 12 matrix: if it compares the rows")
    assert load(folder / "other.npz").preparation.sentences == []


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("id", True),
        ("ID", True),
        ("customer_id", True),
        ("customerId", True),
        ("row", True),
        ("Unnamed: 0", True),
        ("user uuid", True),
        ("paid", False),
        ("valid", False),
        ("refractive index", False),
        ("width", False),
        ("grid", False),
    ],
)
def test_names_of_ids(name, expected):
    assert is_id_name(name) is expected


def test_numbers_of_rows_look_like_ids():
    n = 50
    columns = {
        "order": RNG.permutation(n) + 7,
        "year": 1990 + np.arange(n) % 20,
        "population": RNG.permutation(n) * 1000,
        "value": RNG.uniform(size=n),
    }
    X = np.column_stack([*columns.values()]).astype(float)
    assert look_like_ids(X, columns, ()) == {"order": "50 different whole numbers"}
    assert look_like_ids(X[:5], columns, ()) == {}
    assert look_like_ids(X, columns, ["order"]) == {}
