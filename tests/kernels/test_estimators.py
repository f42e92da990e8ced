"""Estimators on strings, series, graphs and one's own objects."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from kernlearn.kernels import CallableKernel
from kernlearn.kernels.registry import LIBRARIES
from kernlearn.landmarks import (
    BBSClassifier,
    DBoostClassifier,
    FTuneClassifier,
    LandmarkEmbedding,
    LandmarkKNNClassifier,
    NystroemEmbedding,
    ORLand,
    RankLand,
    RegLand,
    SimilarityKNNClassifier,
    SparseRegLand,
)
from tests.kernels import objects

N = 48
ESTIMATORS = [
    BBSClassifier(10, C=10.0, random_state=0),
    FTuneClassifier(10, transfers=10, C=10.0, random_state=0),
    DBoostClassifier(10, random_state=0),
    LandmarkKNNClassifier(10, n_neighbors=3, random_state=0),
    ORLand(10, C=10.0, random_state=0),
    RegLand(10, C=10.0, random_state=0),
    SparseRegLand(8, pool_size=20, random_state=0),
    RankLand(10, random_state=0),
    NystroemEmbedding(n_components=10, selection="dselect", random_state=0),
    SimilarityKNNClassifier(n_neighbors=3),
    LandmarkEmbedding(10, selection="dselect", random_state=0),
]
# Points, their classes, and a similarity of them.
OBJECTS = {
    "strings": (*objects.strings(N), "rapidfuzz.jaro_winkler"),
    "series": (*objects.series(N), "aeon.msm"),
    "graphs": (*objects.networks(N), "grakel.shortest_path"),
    "unequal series": (*objects.series(N), "dynamic_time_warping"),
    "one's own": (*objects.graphs(N), CallableKernel(objects.degrees, kind="distance")),
    "a function": (*objects.graphs(N), objects.alike),
}


def cases():
    """Of each estimator two kinds of objects, in turns; all are exhaustive."""
    for i, estimator in enumerate(ESTIMATORS):
        for n, kind in enumerate(OBJECTS):
            marks = () if n % 3 == i % 3 else pytest.mark.exhaustive
            yield pytest.param(estimator, kind, id=f"{estimator}-{kind}", marks=marks)


def outcome(model, points):
    return np.asarray(getattr(model, "predict", getattr(model, "transform", None))(points))


@pytest.mark.parametrize(("estimator", "kind"), [*cases()])
def test_objects_in_pipelines_and_one_by_one(estimator, kind):
    points, classes, similarity = OBJECTS[kind]
    if isinstance(similarity, str) and (library := similarity.partition(".")[0]) in LIBRARIES:
        pytest.importorskip(library)
    name = "kernel" if "kernel" in estimator.get_params() else "similarity"
    model, extra = clone(estimator).set_params(**{name: similarity}), {}
    named = is_classifier(model) and not isinstance(model, ORLand)
    y = classes if named else np.unique(classes, return_inverse=True)[1]
    if isinstance(model, RankLand):  # steps of a pipeline take no queries
        extra = {"qid": np.arange(N) // 6}
    else:
        head = [LogisticRegression()] if hasattr(model, "transform") else []
        whole = make_pipeline(FunctionTransformer(), model, *head)
        # of two classes of the same size, which numbers of edges alone tell in part
        least = 0.1 if is_regressor(model) else 0.6
        for form in (list, objects.as_array):
            scores = cross_val_score(whole, form(points), y, cv=3, error_score="raise")
            assert scores.mean() > least
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(points, y[:-1], **extra)
    model.fit(points, y, **extra)
    expected = outcome(model, points[:12])
    one_by_one = np.concatenate([outcome(model, points[i : i + 1]) for i in range(12)])
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(one_by_one, expected, rtol=1e-6, atol=1e-8)
    else:
        np.testing.assert_array_equal(one_by_one, expected)
    other = np.zeros((3, 2)) if isinstance(points[0], str) else ["text", "other"]
    for wrong in ([None, *points[:2]], other):
        with pytest.raises((ValueError, TypeError)):
            outcome(model, wrong)
