"""Pickles of estimators know the version that wrote them."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from sklearn.exceptions import InconsistentVersionWarning

from kernlearn import versioned
from tests.conformance import CLASSES, X, estimators, made, outcome, targets


@pytest.mark.parametrize(("name", "kind"), estimators())
def test_estimators_know_their_version(name, kind):
    assert issubclass(kind, versioned.VersionedEstimator)
    assert made(kind).__getstate__()["_kernlearn_version"] == versioned.__version__


@pytest.mark.parametrize("name", ["solvers.LinearSVM", "pairwise.OLP", "features.RandomMaclaurin"])
def test_another_version_is_told(name, monkeypatch):
    kind = dict(estimators())[name]
    model = made(kind).fit(X, targets(made(kind)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same = pickle.loads(pickle.dumps(model))
        copy.deepcopy(model)
    assert vars(same).keys() == vars(model).keys()
    written = pickle.dumps(model)
    monkeypatch.setattr(versioned, "__version__", "9.0")
    said = rf"estimator {kind.__name__} from version 0.1.0 of kernlearn .* 9.0 of kernlearn"
    with pytest.warns(InconsistentVersionWarning, match=said):
        other = pickle.loads(written)
    np.testing.assert_array_equal(outcome(other, X), outcome(model, X))


def test_states_without_a_version_are_told():
    kind = dict(estimators())["solvers.LinearSVM"]
    model = made(kind).fit(X, CLASSES)
    state = {k: v for k, v in model.__getstate__().items() if k != "_kernlearn_version"}
    with pytest.warns(InconsistentVersionWarning, match="before 0.1.0 of kernlearn"):
        kind.__new__(kind).__setstate__(state)
