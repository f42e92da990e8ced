"""Estimators on strings, series, graphs and one's own objects, and errors that name the pair."""

import pickle
from collections import Counter

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from kernlearn.exceptions import SimilarityError
from kernlearn.kernels import CallableKernel, Kernel, as_kernel
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
    NystroemEmbedding(n_components=10, random_state=0),
]
OTHERS = [SimilarityKNNClassifier(n_neighbors=3), LandmarkEmbedding(10, random_state=0)]
# Points, their classes, and a similarity of them.
OBJECTS = {
    "strings": (*objects.strings(N), "rapidfuzz.jaro_winkler"),
    "series": (*objects.series(N), "aeon.msm"),
    "graphs": (*objects.networks(N), "grakel.shortest_path"),
}
OTHER_OBJECTS = {
    "unequal series": (*objects.series(N), "dynamic_time_warping"),
    "one's own": (*objects.graphs(N), CallableKernel(objects.degrees, kind="distance")),
    "a function": (*objects.graphs(N), objects.alike),
}
QUERIES = np.arange(N) // 6


def made(estimator, similarity, **params):
    name = "kernel" if "kernel" in estimator.get_params() else "similarity"
    return clone(estimator).set_params(**{name: similarity}, **params)


def targets(estimator, classes):
    numbers = np.unique(classes, return_inverse=True)[1]
    return classes if is_classifier(estimator) and not isinstance(estimator, ORLand) else numbers


def fit(estimator, points, classes, **extra):
    if isinstance(estimator, RankLand):
        extra["qid"] = QUERIES[: len(classes)]
    return estimator.fit(points, targets(estimator, classes), **extra)


def outcome(model, points):
    return np.asarray(getattr(model, "predict", getattr(model, "transform", None))(points))


def learner(estimator):
    """Return what has a score in cross-validation."""
    if hasattr(estimator, "transform"):
        return make_pipeline(estimator, LogisticRegression())
    return estimator


def pipeline(estimator, points, classes, similarity):
    whole = make_pipeline(FunctionTransformer(), learner(made(estimator, similarity)))
    # of two classes of the same size, which numbers of edges alone tell in part
    least = 0.1 if is_regressor(estimator) else 0.6
    for form in (list, as_array):
        scores = cross_val_score(
            whole, form(points), targets(estimator, classes), cv=3, error_score="raise"
        )
        assert scores.mean() > least


def copies(estimator, points, classes, similarity):
    """A clone is not fitted, and a pickle predicts the same, of points one by one too."""
    model = fit(made(estimator, similarity), points[:36], classes[:36])
    expected = outcome(model, points[36:])
    assert not hasattr(clone(model), "n_comparisons_")
    np.testing.assert_array_equal(
        outcome(pickle.loads(pickle.dumps(model)), points[36:]), expected
    )
    one_by_one = np.concatenate([outcome(model, points[i : i + 1]) for i in range(36, N)])
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(one_by_one, expected, rtol=1e-6, atol=1e-8)
    else:
        np.testing.assert_array_equal(one_by_one, expected)


def counted(estimator, points, classes, similarity):
    """Predictions make the comparisons that they say, with landmarks alone, and so does a fit."""
    kernel, made_pairs = as_kernel(similarity, "similarity"), Counter()

    def compare(x, y):
        made_pairs[id(x), id(y)] += 1
        return float(kernel(as_array([x]), as_array([y]))[0, 0])

    model = fit(
        made(estimator, CallableKernel(compare, takes="points")), points[:36], classes[:36]
    )
    assert model.n_fit_comparisons_ == made_pairs.total()
    assert made_pairs.total() - len(made_pairs) <= 25  # of a few points, to tell what they are
    made_pairs.clear()
    outcome(model, points[36:])
    assert made_pairs.total() == len(made_pairs) == 12 * model.n_comparisons_
    landmarks = {id(points[i]) for i in model.compared_indices_}
    assert {right for _, right in made_pairs} == landmarks


def errors(estimator, points, classes, similarity):
    model = made(estimator, similarity)
    if hasattr(model, "transform"):
        model.set_params(selection="dselect")  # looks at classes
    with pytest.raises(ValueError, match="inconsistent"):
        fit(model, points, classes[:-1])
    model = fit(made(estimator, similarity), points, classes)
    with pytest.raises((ValueError, TypeError)):
        outcome(model, [None, *points[:2]])
    other = np.zeros((3, 2)) if isinstance(points[0], str) else ["text", "other"]
    with pytest.raises((ValueError, TypeError)):
        outcome(model, other)


def as_array(points):
    return np.fromiter(points, dtype=object, count=len(points))


REQUIREMENTS = (pipeline, copies, counted, errors)
#: What is tried of other estimators and other objects too.
FIRST = (pipeline, copies, errors)


def cases():
    """Of each estimator and requirement one kind of objects, in turns; all are exhaustive."""
    for i, estimator in enumerate((*ESTIMATORS, *OTHERS)):
        for j, requirement in enumerate(REQUIREMENTS):
            if isinstance(estimator, RankLand) and requirement is pipeline:
                continue  # whose steps take no queries
            if requirement not in FIRST and estimator in OTHERS:
                continue
            kinds = [*OBJECTS, *(OTHER_OBJECTS if requirement in FIRST else ())]
            for n, kind in enumerate(kinds):
                marks = () if n == (i + j) % len(kinds) else pytest.mark.exhaustive
                name = f"{requirement.__name__}-{estimator}-{kind}"
                yield pytest.param(requirement, estimator, kind, id=name, marks=marks)


@pytest.mark.parametrize(("requirement", "estimator", "kind"), [*cases()])
def test_requirement(requirement, estimator, kind):
    points, classes, similarity = {**OBJECTS, **OTHER_OBJECTS}[kind]
    if isinstance(similarity, str) and (library := similarity.partition(".")[0]) in LIBRARIES:
        pytest.importorskip(library)
    requirement(estimator, points, classes, similarity)


WORDS = [f"{'ab'[i % 2]}{i}" for i in range(40)]
CODES = np.arange(40) % 2


def learn(similarity, X=WORDS):
    return BBSClassifier(40, similarity=similarity, C=1).fit(X, CODES)


def test_in_a_later_block_of_a_prediction(small_blocks):
    def compare(x, y):
        return np.nan if (x, y) == ("new", "b9") else float(x[0] == y[0]) + 0.01 * len(x)

    small_blocks()
    model = learn(compare)
    with pytest.raises(SimilarityError, match=r"X\[25\] \('new'\) and training X\[9\]"):
        model.predict([*WORDS[:25], "new", *WORDS[:3]])


class Wrong(Kernel):
    def __init__(self, value=np.nan):
        self.value = value

    def __call__(self, X, Y=None):
        values = np.asarray(X @ (X if Y is None else Y).T)
        return values[:, :-1] if self.value is None else np.where(values == 0, self.value, values)


VECTORS = np.eye(3)[np.arange(30) % 3] + 1.0 * (np.arange(30) >= 10)[:, None]


def test_a_kernel_of_vectors():
    with pytest.raises(SimilarityError, match=r"X\[\d\] \(\[.*\]\) and training X\[\d\].*NaN"):
        BBSClassifier(30, similarity=Wrong(), C=1).fit(VECTORS, CODES[:30])
    with pytest.raises(ValueError, match=r"shape \(30, 29\)"):
        BBSClassifier(30, similarity=Wrong(None), C=1).fit(VECTORS, CODES[:30])


def test_a_matrix():
    matrix = np.exp(-((np.arange(40)[:, None] - np.arange(40)) ** 2.0))
    broken = matrix.copy()
    broken[6:, 9:] = np.nan  # most of the pairs
    with pytest.raises(SimilarityError, match=r"X\[9\] and training X\[9\] is NaN"):
        learn("precomputed", broken)
    model, broken = learn("precomputed", matrix), matrix.copy()
    broken[6, 9] = -np.inf
    with pytest.raises(SimilarityError, match=r"X\[3\] and training X\[9\] is infinite"):
        model.predict(broken[3:])
