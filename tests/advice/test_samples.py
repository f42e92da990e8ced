"""Splits, nested training parts and scaling."""

import numpy as np
import pytest
import scipy.sparse as sp

from kernlearn.advice.samples import make_problem
from kernlearn.exceptions import DataError


def problem(n=1000, classification=True, seed=0, **more):
    rng = np.random.default_rng(1)
    X = rng.normal(3, 2, size=(n, 4))
    y = (np.arange(n) % 10 == 0).astype(int) if classification else X[:, 0]
    return make_problem(X, y, classification=classification, seed=seed, **more)


@pytest.mark.parametrize("classification", [True, False])
def test_parts_are_apart_and_training_parts_nested(classification):
    made = problem(classification=classification)
    assert made.sizes == [66, 200, 600]
    for number in range(3):
        train, validation, test = made.split(number)
        assert sorted([*train, *validation, *test]) == list(range(1000))
        assert (len(train), len(validation), len(test)) == (600, 200, 200)
    small, large = (made.parts(size, 0) for size in made.sizes[1:])
    np.testing.assert_array_equal(small.y_train, large.y_train[:200])
    np.testing.assert_array_equal(small.y_test, large.y_test)
    assert set(made.split(0).test) != set(made.split(1).test)


def test_every_part_has_each_class_in_its_share():
    made = problem()
    for number in range(5):
        rows = made.split(number)
        for part in (rows.train[:200], rows.train, rows.validation, rows.test):
            assert abs(made.y[part].sum() - len(part) / 10) <= 1


def test_splits_depend_on_the_seed_alone():
    assert problem().split(2).test.tolist() == problem().split(2).test.tolist()
    assert problem().split(2).test.tolist() != problem(seed=1).split(2).test.tolist()


def test_parts_are_scaled_by_the_training_rows():
    parts = problem().parts(200, 0)
    np.testing.assert_allclose(parts.X_train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(parts.X_train.std(axis=0), 1)
    assert np.abs(parts.X_test.mean(axis=0)).max() > 1e-3
    X = sp.random(200, 30, density=0.1, format="csr", random_state=0)
    sparse = make_problem(X, np.arange(200) % 2, classification=True, seed=0)
    assert sparse.scaling == "max_norm"
    train = sparse.parts(sparse.sizes[-1], 0).X_train
    assert sp.issparse(train)
    assert np.sqrt(train.multiply(train).sum(axis=1)).max() == pytest.approx(1)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_width_is_the_root_of_the_mean_squared_distance(sparse):
    X = sp.random(100, 6, density=0.4, format="csr", random_state=0)
    X = X if sparse else X.toarray()
    made = make_problem(X, np.arange(100) % 2, classification=True, seed=0)
    scaled = made._scaler().fit_transform(X)
    scaled = scaled.toarray() if sparse else scaled
    distances = ((scaled[:, None] - scaled[None]) ** 2).sum(axis=2)
    assert made.facts.width == pytest.approx(np.sqrt(distances.mean()))


def test_many_rows_are_sampled_and_counted():
    X = np.arange(60_000.0)[:, None]
    made = make_problem(X, X[:, 0] % 2, classification=True, seed=0)
    assert made.X.shape == (50_000, 1)
    assert (made.n_rows, made.n_full, made.n_held_out) == (60_000, 48_000, 2000)
    assert made.sizes == [63, 189, 567, 1703, 5111, 15333, 46000]
    np.testing.assert_array_equal(made.y, made.X[:, 0] % 2)


def test_fewer_rows_of_wide_data_are_taken_unless_it_is_sparse():
    wide = np.zeros((500, 100_000), dtype=np.int8)
    y = np.arange(500) % 2
    made = make_problem(wide, y, classification=True, seed=0)
    assert made.X.shape[0] == 200
    sparse = make_problem(sp.csr_matrix(wide), y, classification=True, seed=0)
    assert sparse.X.shape[0] == 500


def test_numbers_have_mean_0_and_variance_1_and_the_reference_is_that_of_a_constant():
    numbers = problem(classification=False)
    assert numbers.y.mean() == pytest.approx(0)
    assert numbers.y.std() == pytest.approx(1)
    assert numbers.reference == 0
    assert problem().reference == 0.9


def test_what_cannot_be_advised_on_is_an_error():
    with pytest.raises(DataError, match="has 49 rows; advice takes at least 50"):
        problem(49)
    with pytest.raises(DataError, match="the same target in all rows"):
        make_problem(np.ones((60, 2)), np.zeros(60), classification=True, seed=0)
