"""Estimators on strings, series and graphs, in lists and arrays, with scikit-learn's tools."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from kernlearn.kernels.libraries import LIBRARIES
from kernlearn.landmarks import (
    BBSClassifier,
    DBoostClassifier,
    FTuneClassifier,
    LandmarkEmbedding,
    NystroemEmbedding,
    ORLand,
    RankLand,
    RegLand,
    SimilarityKNNClassifier,
    SparseRegLand,
)
from kernlearn.similarities import FunctionSimilarity
from tests.similarities import objects

# Points, their classes, and a similarity of them.
KINDS = {
    "strings": (*objects.strings(), "rapidfuzz.jaro_winkler"),
    "unequal series": (*objects.series(), "dynamic_time_warping"),
    "series": (*objects.series(), "aeon.msm"),
    "graphs": (*objects.networks(), "grakel.weisfeiler_lehman"),
    "one's own": (*objects.graphs(), FunctionSimilarity(objects.degrees, kind="distance")),
    "a function": (*objects.graphs(), objects.alike),
}
CLASSIFIERS = [
    BBSClassifier(15, random_state=0),
    BBSClassifier(15, selection="dselect", calibration="sigmoid", random_state=0),
    FTuneClassifier(15, transfers=(1, 10), random_state=0),
    DBoostClassifier(10, random_state=0),
    SimilarityKNNClassifier(n_neighbors=3),
]
OTHERS = [
    RegLand(15, random_state=0), SparseRegLand(10, random_state=0), ORLand(15, random_state=0),
    RankLand(15, random_state=0), NystroemEmbedding(n_components=15, random_state=0),
    LandmarkEmbedding(15, random_state=0),
]  # fmt: skip
EVERY = [*CLASSIFIERS, *OTHERS]


@pytest.fixture(params=KINDS)
def data(request):
    points, classes, similarity = KINDS[request.param]
    if isinstance(similarity, str) and (library := LIBRARIES.get(similarity.partition(".")[0])):
        pytest.importorskip(library.module)
    if points is None:
        pytest.skip("networkx is not installed")
    return points, classes, similarity


def with_similarity(estimator, similarity):
    name = "kernel" if "kernel" in estimator.get_params() else "similarity"
    return clone(estimator).set_params(**{name: similarity})


def targets(estimator, classes):
    return classes if is_classifier(estimator) else np.unique(classes, return_inverse=True)[1]


def fitted(estimator, points, classes):
    extra = {"qid": np.arange(len(points)) // 5} if isinstance(estimator, RankLand) else {}
    return clone(estimator).fit(points, targets(estimator, classes), **extra)


def used(model, points):
    return getattr(model, "predict", getattr(model, "transform", None))(points)


def as_array(points):
    return np.fromiter(points, dtype=object, count=len(points))


@pytest.mark.parametrize("estimator", EVERY, ids=repr)
def test_learns_copies_and_predicts(data, estimator):
    points, classes, similarity = data
    estimator = with_similarity(estimator, similarity)
    half, rest = points[:40], points[40:]
    model = fitted(estimator, half, classes[:40])
    predicted = used(model, rest)
    assert len(predicted) == 20
    # any container, a copy, all at once or one by one
    for container in (as_array, pd.Series, tuple):
        again = fitted(estimator, container(half), classes[:40])
        np.testing.assert_array_equal(used(again, container(rest)), predicted)
    np.testing.assert_array_equal(used(pickle.loads(pickle.dumps(model)), rest), predicted)
    one_by_one = np.concatenate([used(model, rest[i : i + 1]) for i in range(20)])
    if predicted.dtype.kind == "f":
        np.testing.assert_allclose(one_by_one, predicted, rtol=1e-6, atol=1e-8)
    else:
        np.testing.assert_array_equal(one_by_one, predicted)
    assert 0 < model.n_comparisons_ <= 40
    if not isinstance(estimator, SimilarityKNNClassifier):
        assert model.n_fit_comparisons_ >= 40
    unfitted = clone(model)
    assert not hasattr(unfitted, "n_comparisons_")
    with pytest.raises(NotFittedError):
        used(unfitted, rest)


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=repr)
def test_tells_the_classes_in_scikit_learns_tools(data, estimator):
    points, classes, similarity = data
    estimator = with_similarity(estimator, similarity)
    assert cross_val_score(estimator, points, classes, cv=3).mean() > 0.7
    piped = make_pipeline(FunctionTransformer(), estimator)
    assert cross_val_score(piped, as_array(points), classes, cv=3).mean() > 0.7
    name = "n_neighbors" if hasattr(estimator, "n_neighbors") else "n_landmarks"
    search = GridSearchCV(estimator, {name: [2, 9]}, cv=3).fit(points, classes)
    assert search.score(points, classes) > 0.7


def test_embeddings_feed_a_linear_model(data):
    points, classes, similarity = data
    for embedding in (NystroemEmbedding(n_components=15), LandmarkEmbedding(15)):
        features = with_similarity(embedding, similarity).set_params(random_state=0)
        model = make_pipeline(features, LogisticRegression())
        assert cross_val_score(model, points, classes, cv=3).mean() > 0.7


def test_parameters_of_a_similarity_are_chosen():
    points, classes = objects.strings()
    from kernlearn.similarities import RapidFuzzSimilarity

    similarity = RapidFuzzSimilarity("jaro_winkler")
    model = BBSClassifier(15, similarity=similarity, C=1, random_state=0)
    grid = {"similarity__prefix_weight": [0.0, 0.2], "similarity__measure": [
        "normalized_similarity", "distance"]}  # fmt: skip
    search = GridSearchCV(model, grid, cv=3).fit(points, classes)
    assert search.best_params_.keys() == grid.keys()
    assert search.score(points, classes) > 0.7


@pytest.mark.parametrize("estimator", EVERY, ids=repr)
def test_bad_input(data, estimator):
    points, classes, similarity = data
    estimator = with_similarity(estimator, similarity)
    if isinstance(estimator, (NystroemEmbedding, LandmarkEmbedding)):
        estimator.set_params(selection="stratified")  # looks at classes
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        fitted(estimator, points, classes[:-1])
    model = fitted(with_similarity(estimator, similarity), points, classes)
    with pytest.raises((ValueError, TypeError)):
        used(model, [None, *points[:2]])
    with pytest.raises((ValueError, TypeError)):
        used(model, np.zeros((3, 2)) if isinstance(points[0], str) else ["text", "other"])
