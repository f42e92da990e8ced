"""OLP on sparse rows as they are."""

import numpy as np
import pytest
from scipy import sparse

from kernlearn.pairwise import OLP

SETTINGS = [
    {},
    {"buffer": "rsx", "average": False, "calibration": "sigmoid"},
    {"regularization": 0.1, "loss": "squared_hinge", "radius": 0.5},
    {"radius": 0.3, "eta": 2.0, "calibration": "sigmoid"},
    {"radius": None, "loss": "logistic", "buffer": "class_balanced"},
    {"loss": "squared", "eta": 0.1, "buffer": "loss_weighted", "calibration": "sigmoid"},
]


@pytest.fixture
def sparse_calls(monkeypatch):
    """The numbers of rows that were learned from as sparse ones."""
    calls = []
    learn = OLP._learn_rows

    def counted(self, X, codes):
        taken = learn(self, X, codes)
        calls.append(X.shape[0] * taken)
        return taken

    monkeypatch.setattr(OLP, "_learn_rows", counted)
    return calls


def data(n=300, d=400, seed=0):
    rng = np.random.default_rng(seed)
    X = sparse.random(n, d, 0.02, format="csr", random_state=seed)
    X.data = rng.standard_normal(len(X.data))
    return X, rng.random(n) < 0.4


@pytest.mark.parametrize("settings", SETTINGS, ids=repr)
def test_sparse_rows_are_dense_ones_up_to_rounding(settings, sparse_calls):
    X, y = data()
    model = OLP(10, random_state=0, **settings).fit(X, y)
    assert sparse_calls == [300]
    dense = OLP(10, random_state=0, **settings).fit(X.toarray(), y)
    np.testing.assert_allclose(model.coef_, dense.coef_, atol=1e-11)
    np.testing.assert_allclose(model.intercept_, dense.intercept_, atol=1e-11)
    np.testing.assert_allclose(model._link, dense._link, atol=1e-11)
    np.testing.assert_array_equal(model._reservoir.rows, dense._reservoir.rows)
    np.testing.assert_array_equal(model._reservoir.codes, dense._reservoir.codes)


@pytest.mark.parametrize("settings", SETTINGS, ids=repr)
def test_cuts_and_items_in_between_make_no_difference(settings, sparse_calls):
    X, y = data()
    whole = OLP(10, random_state=0, **settings).fit(X, y)
    cut = OLP(10, random_state=0, **settings)
    for start in range(0, 300, 60):
        rows = slice(start, start + 57)
        cut.partial_fit(X[rows], y[rows], classes=[False, True])
        for i in range(start + 57, start + 60):
            row = X[i]
            names = row.indices.tolist()
            cut.learn_one(dict(zip(names, row.data.tolist(), strict=True)), y[i])
    assert sparse_calls == [300, 57, 57, 57, 57, 57]
    np.testing.assert_allclose(cut.coef_, whole.coef_, atol=1e-11)


def test_weights_that_shrink_to_nothing_stay_exact():
    # steps 1/t make c small, and the first one makes it 0
    X, y = data(800, 60, seed=3)
    settings = {"regularization": 1e-3, "radius": 1e-4, "loss": "logistic", "random_state": 0}
    model, dense = OLP(5, **settings).fit(X, y), OLP(5, **settings).fit(X.toarray(), y)
    np.testing.assert_allclose(model.coef_, dense.coef_, atol=1e-11, rtol=1e-7)


def test_what_is_not_for_sparse_steps(sparse_calls):
    X, y = data()
    for settings in ({"norm": "l1"}, {"loss": (np.square, lambda m: 2 * m)}):
        OLP(5, **settings).fit(X, y)
    OLP(5).fit(sparse.csr_matrix(X.toarray()[:, :3] + 1.0), y)  # nothing is 0
    assert sparse_calls == [0, 0, 0]


def test_rows_with_doubled_places_and_none_at_all():
    X, y = data(50)
    doubled = sparse.csr_matrix(
        (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), X.shape
    )
    assert not doubled.has_canonical_format
    found = OLP(5, random_state=0).fit(doubled, y)
    assert doubled.nnz == 2 * X.nnz  # left as it was
    np.testing.assert_allclose(found.coef_, OLP(5, random_state=0).fit(X, y).coef_, atol=1e-12)
    empty = OLP(5, random_state=0).fit(sparse.csr_matrix((20, 30)), np.arange(20) % 2)
    np.testing.assert_array_equal(empty.coef_, np.zeros((1, 30)))
