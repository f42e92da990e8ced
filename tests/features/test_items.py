"""Feature maps on dictionaries, one at a time."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from kernlearn.features import (
    CompositionalMaclaurin,
    PositiveFeatures,
    RandomMaclaurin,
    SphericalFeatures,
    TensorSketch,
)
from kernlearn.item_models import register_with_river
from kernlearn.pairwise import OLP

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 4)) / 2
X /= np.linalg.norm(X, axis=1)[:, np.newaxis]
NAMES = ["d", "a", "c", "b"]
MAPS = [
    RandomMaclaurin(n_components=20, random_state=0),
    RandomMaclaurin(n_components=20, h01=True, projection="hadamard", random_state=0),
    RandomMaclaurin(n_components=20, measure="variance", center=True, random_state=0),
    CompositionalMaclaurin(n_components=20, random_state=0),
    TensorSketch(n_components=20, random_state=0),
    SphericalFeatures(n_components=20, random_state=0),
    PositiveFeatures(n_components=20, random_state=0),
]


def item(row, names=NAMES):
    return dict(zip(names, row.tolist(), strict=True))


@pytest.mark.parametrize("features", MAPS, ids=repr)
def test_items_are_rows(features):
    features = clone(features).fit(pd.DataFrame(X, columns=NAMES))
    names = features.get_feature_names_out().tolist()
    rows = features.transform(pd.DataFrame(X, columns=NAMES))
    for row, expected in zip(X, rows, strict=True):
        found = features.transform_one(item(row))
        assert list(found) == names
        np.testing.assert_allclose(list(found.values()), expected, rtol=1e-12, atol=1e-14)
    turned = dict(reversed(item(X[0]).items()))
    assert features.transform_one(turned) == features.transform_one(item(X[0]))
    again = pickle.loads(pickle.dumps(features))
    assert again.transform_one(turned) == features.transform_one(turned)


def test_what_an_item_lacks_is_zero_and_what_is_unknown_is_refused():
    features = RandomMaclaurin(random_state=0).fit(X)
    found = features.transform_one({2: 0.5})
    np.testing.assert_allclose(list(found.values()), features.transform([[0, 0, 0.5, 0]])[0])
    with pytest.raises(ValueError, match="feature 'a' is not one of the 4 features"):
        features.transform_one({"a": 1.0})
    with pytest.raises(ValueError, match="feature 1 is nan, and must be finite"):
        features.transform_one({1: np.nan})
    features.fit(pd.DataFrame(X, columns=NAMES))  # columns have names from now on
    features.transform_one({"a": 1.0})
    with pytest.raises(ValueError, match="feature 2 is not one of"):
        features.transform_one({2: 0.5})


def test_the_first_item_fits_a_map():
    features = RandomMaclaurin(n_components=15, random_state=0)
    with pytest.raises(NotFittedError):
        features.transform_one(item(X[0]))
    for row in X[:3]:
        assert features.learn_one(item(row)) is None
    expected = RandomMaclaurin(n_components=15, random_state=0).fit(X[:1])
    assert features.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(features.omega_, expected.omega_)
    found = features.transform_one(item(X[5]))
    np.testing.assert_allclose(list(found.values()), expected.transform(X[[5]])[0])
    with pytest.raises(ValueError, match="feature 'new' is not one of"):
        features.transform_one({"new": 1.0})
    with pytest.raises(ValueError, match="feature 'a' is 'x', and must be a number"):
        RandomMaclaurin().learn_one({"a": "x"})


def test_a_pipeline_of_river():
    pytest.importorskip("river")
    from river import compose, evaluate, metrics

    register_with_river()
    rng = np.random.default_rng(1)
    points = rng.standard_normal((1500, 4)) / 2
    labels = points[:, 0] * points[:, 1] > 0
    first = pd.DataFrame(points[:20], columns=NAMES)
    features = RandomMaclaurin("polynomial", n_components=100, random_state=0).fit(first)
    stream = [(item(row), bool(label)) for row, label in zip(points, labels, strict=True)]
    mapped = compose.Pipeline(features, OLP(eta=10.0, random_state=0))
    accuracies = [
        evaluate.progressive_val_score(stream, model, metrics.Accuracy()).get()
        for model in (mapped, OLP(random_state=0))
    ]
    assert accuracies[0] > 0.75  # the kernel sees products
    assert accuracies[1] < 0.6
    assert mapped["OLP"].n_features_in_ == len(features.get_feature_names_out())
