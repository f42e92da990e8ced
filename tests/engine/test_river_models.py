"""Models of river against the loop that its documentation has."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification

from kernlearn.engine.river_models import RiverClassifier

pytest.importorskip("river")


@pytest.fixture
def points():
    return make_classification(200, 5, n_informative=3, random_state=0)


def logistic(l2: float = 0.01) -> RiverClassifier:
    return RiverClassifier(settings={"optimizer": {"class": "optim.SGD", "lr": 0.1}, "l2": l2})


def test_points_are_learnt_one_by_one_in_their_order(points):
    from river import linear_model, optim

    X, y = points
    model = linear_model.LogisticRegression(optimizer=optim.SGD(lr=0.1), l2=0.01)
    for x, label in zip(X.tolist(), y, strict=True):
        model.learn_one(dict(enumerate(x)), bool(label))
    expected = [model.predict_proba_one(dict(enumerate(x)))[True] for x in X.tolist()]
    found = clone(logistic()).fit(X, y)
    np.testing.assert_array_equal(found.predict_proba(X)[:, 1], expected)


def test_zeros_of_sparse_points_make_no_difference(points):
    X, y = points
    X[np.abs(X) < 0.5] = 0
    dense, of_sparse = logistic(0).fit(X, y), logistic(0).fit(sparse.csr_array(X), y)
    expected = dense.predict_proba(X)
    np.testing.assert_allclose(of_sparse.predict_proba(sparse.csr_array(X)), expected)


def test_labels_of_several_classes(points):
    X, _ = points
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    model = RiverClassifier("tree.HoeffdingTreeClassifier", {"grace_period": 20}).fit(X, y)
    assert list(model.classes_) == ["a", "b", "c"]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert model.score(X, y) > 0.5


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (RiverClassifier("linear_model.Nothing"), "river has no 'linear_model.Nothing'"),
        (RiverClassifier(settings={"depth": 3}), "'settings' of linear_model.LogisticRegression"),
    ],
)
def test_what_river_does_not_have(points, model, said):
    with pytest.raises(ValueError, match=said):
        model.fit(*points)
