"""Probabilities that are calibrated on held-out points."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import log_loss

from kernlearn.calibration import OrdinalCalibrator
from kernlearn.landmarks import (
    BBSClassifier,
    FTuneClassifier,
    ORLand,
    SimilarityFeatureSVM,
    SpectrumSVM,
)
from kernlearn.voted import L1SVMClassifier

X, Y = make_classification(
    900,
    6,
    n_informative=3,
    n_redundant=0,
    n_classes=3,
    n_clusters_per_class=1,
    flip_y=0.2,
    random_state=0,
)
LABELS = np.array(["a", "b", "c"])[Y]
CLASSIFIERS = [
    BBSClassifier(20, C=1.0, random_state=0),
    FTuneClassifier(10, C=(0.1, 1.0), transfers=5, random_state=0),
    SimilarityFeatureSVM(1.0, random_state=0),
    SpectrumSVM(C=1.0, random_state=0),
    L1SVMClassifier("gaussian", beta=0.03, random_state=0),
]


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("model", CLASSIFIERS)
def test_probabilities(model, method):
    train, test = slice(0, 450), slice(450, None)
    assert not hasattr(model, "predict_proba")
    model = clone(model).set_params(calibration=method)
    probabilities = model.fit(X[train], LABELS[train]).predict_proba(X[test])
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    shares = np.tile(np.bincount(Y[train]) / 450, (450, 1))
    if method == "sigmoid":  # isotonic ones may be 0
        assert log_loss(Y[test], probabilities) < 0.9 * log_loss(Y[test], shares)
    np.testing.assert_allclose(np.log(probabilities + 1e-300).argmax(1), probabilities.argmax(1))
    # of points that are predicted with a probability p, a share p is of the class
    likely = probabilities[:, 0] > 0.5
    assert abs((Y[test][likely] == 0).mean() - probabilities[likely, 0].mean()) < 0.15


def test_points_are_held_out_for_the_probabilities():
    model = BBSClassifier(20, C=1.0, random_state=0, validation_fraction=0.3)
    assert model.fit(X, Y).validation_scores_ is None
    assert model.set_params(calibration="sigmoid").fit(X, Y).validation_scores_ is not None
    y = Y.copy()
    y[0] = 3
    with pytest.raises(ValueError, match="none of 3: give X_val"):
        model.fit(X, y)
    model.fit(X[:100], Y[:100], X[100:], Y[100:])
    assert model.predict_proba(X[:3]).shape == (3, 3)


def test_two_classes_and_weights():
    y = (Y > 0).astype(int)
    model = BBSClassifier(20, C=1.0, calibration="sigmoid", random_state=0)
    plain = model.fit(X, y).predict_proba(X)
    assert np.corrcoef(plain[:, 1], model.decision_function(X))[0, 1] > 0.8
    heavy = model.fit(X, y, sample_weight=np.where(y == 0, 10.0, 1.0)).predict_proba(X)
    assert heavy[:, 0].mean() > plain[:, 0].mean() + 0.1


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_ordinal_probabilities_are_monotone(method):
    rng = np.random.RandomState(0)
    points = rng.uniform(size=(600, 1))
    grades = np.digitize(points.ravel() + 0.2 * rng.normal(size=600), [0.2, 0.5, 0.8])
    model = ORLand(20, C=10.0, calibration=method, random_state=0).fit(points[:300], grades[:300])
    new = points[300:]
    order = np.argsort(model.real_value(new))
    probabilities = model.predict_proba(new)[order]
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    above = 1 - probabilities.cumsum(axis=1)
    assert np.diff(above, axis=0).min() > -1e-12
    assert (probabilities >= 0).all()
    found = model.classes_[model.predict_proba(new).argmax(axis=1)]
    assert abs(found - grades[300:]).mean() < 0.6


def test_values_that_say_nothing_leave_the_shares():
    values, y = np.linspace(0, 1, 400), np.tile([3, 2, 1, 0], 100)
    falling = np.repeat([3, 2, 1, 0], 100)
    for grades in y, falling:
        model = OrdinalCalibrator(np.arange(4), "sigmoid").fit(values, grades, None)
        probabilities = model.predict_proba(np.array([0.0, 0.5, 1.0]))
        np.testing.assert_allclose(probabilities, 0.25, atol=0.02)


def test_settings_are_checked():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="'calibration' parameter"):
        BBSClassifier(calibration="platt").fit(X, y)
