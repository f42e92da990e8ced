"""What estimators must do with objects: one function for each requirement.

``python -m tests.similarities.requirements`` prints which holds for which estimator and objects.
"""

import contextlib
import io
import pickle
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from kernlearn.kernels import as_kernel
from kernlearn.landmarks import (
    BBSClassifier,
    DBoostClassifier,
    FTuneClassifier,
    LandmarkEmbedding,
    LandmarkKNNClassifier,
    LandmarkKNNRegressor,
    NystroemEmbedding,
    ORLand,
    RankLand,
    RegLand,
    SimilarityKNNClassifier,
    SparseRegLand,
)
from kernlearn.similarities import FunctionSimilarity
from tests.similarities import objects

N = 48
ESTIMATORS = [
    BBSClassifier(10, C=10.0, random_state=0),
    FTuneClassifier(10, transfers=10, C=10.0, random_state=0),
    DBoostClassifier(10, random_state=0),
    LandmarkKNNClassifier(10, n_neighbors=3, random_state=0),
    ORLand(10, C=10.0, random_state=0),
    RegLand(10, C=10.0, random_state=0),
    SparseRegLand(8, pool_size=20, random_state=0),
    LandmarkKNNRegressor(10, n_neighbors=3, random_state=0),
    RankLand(10, random_state=0),
    NystroemEmbedding(n_components=10, random_state=0),
]
OTHERS = [
    SimilarityKNNClassifier(n_neighbors=3),
    LandmarkEmbedding(10, random_state=0),
]
# Points, their classes, and a similarity of them.
OBJECTS = {
    "strings": (*objects.strings(N), "rapidfuzz.jaro_winkler"),
    "series": (*objects.series(N), "aeon.msm"),
    "graphs": (*objects.networks(N), "grakel.shortest_path"),
}
OTHER_OBJECTS = {
    "unequal series": (*objects.series(N), "dynamic_time_warping"),
    "one's own": (*objects.graphs(N), FunctionSimilarity(objects.degrees, kind="distance")),
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


def number_of_landmarks(estimator):
    return "n_components" if isinstance(estimator, NystroemEmbedding) else "n_landmarks"


def pipeline(estimator, points, classes, similarity):
    whole = make_pipeline(FunctionTransformer(), learner(made(estimator, similarity)))
    # of two classes of the same size, which numbers of edges alone tell in part
    least = 0.1 if is_regressor(estimator) else 0.6
    for form in (list, as_array):
        scores = cross_val_score(
            whole, form(points), targets(estimator, classes), cv=3, error_score="raise"
        )
        assert scores.mean() > least


def grid_search(estimator, points, classes, similarity):
    name = number_of_landmarks(estimator)
    whole = learner(made(estimator, similarity))
    if whole is not estimator and hasattr(whole, "steps"):
        name = f"{whole.steps[0][0]}__{name}"
    extra = {"qid": QUERIES} if isinstance(estimator, RankLand) else {}
    scoring = None if not extra else lambda model, X, y: model.score(X, y)
    search = GridSearchCV(whole, {name: [3, 9]}, cv=2, scoring=scoring, error_score="raise")
    y = targets(estimator, classes)
    assert search.fit(as_array(points), y, **extra).best_params_[name] in (3, 9)


def copies(estimator, points, classes, similarity):
    """A clone is not fitted, and a pickle predicts the same; so does each container."""
    model = fit(made(estimator, similarity), points[:36], classes[:36])
    expected = outcome(model, points[36:])
    assert not hasattr(clone(model), "n_comparisons_")
    np.testing.assert_array_equal(
        outcome(pickle.loads(pickle.dumps(model)), points[36:]), expected
    )
    for form in (as_array, pd.Series, tuple):
        again = fit(clone(model), form(points[:36]), classes[:36])
        np.testing.assert_array_equal(outcome(again, form(points[36:])), expected)
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

    model = fit(made(estimator, FunctionSimilarity(compare)), points[:36], classes[:36])
    assert model.n_fit_comparisons_ == made_pairs.total() == len(made_pairs)
    made_pairs.clear()
    outcome(model, points[36:])
    assert made_pairs.total() == len(made_pairs) == 12 * model.n_comparisons_
    landmarks = {id(points[i]) for i in model.compared_indices_}
    assert {right for _, right in made_pairs} == landmarks


def matrices(estimator, points, classes, similarity):
    """A matrix gives what the objects give, at prediction also of the landmarks alone."""
    kernel = as_kernel(similarity, "similarity").fitted_to(as_array(points))
    matrix = np.asarray(kernel(as_array(points), as_array(points)))
    some = fit(made(estimator, similarity), points[:36], classes[:36])
    model = fit(made(estimator, "precomputed"), matrix[:36, :36], classes[:36])
    expected = outcome(some, points[36:])
    whole = outcome(model, matrix[36:, :36])
    alone = outcome(model, matrix[36:][:, model.compared_indices_])
    np.testing.assert_array_equal(alone, whole)
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(whole, expected, rtol=1e-5, atol=1e-6)
    else:
        np.testing.assert_array_equal(whole, expected)
    np.testing.assert_array_equal(model.compared_indices_, some.compared_indices_)
    broken = matrix[36:][:, model.compared_indices_].copy()
    broken[2, 1] = np.nan
    pair = rf"X\[2\] and training X\[{model.compared_indices_[1]}\] is NaN"
    with pytest.raises(ValueError, match=pair):
        outcome(model, broken)
    with pytest.raises(ValueError, match="features"):
        outcome(model, matrix[36:, : model.n_comparisons_ - 1])
    with pytest.raises(ValueError, match="square"):
        fit(made(estimator, "precomputed"), matrix[:36, :35], classes[:36])


def decisions(estimator, points, classes, similarity):
    model = fit(made(estimator, similarity), points[:36], classes[:36])
    values = model.decision_function(points[36:])
    codes = (values > 0).astype(int)
    if isinstance(estimator, ORLand):
        codes = (values >= 0).astype(int)
    np.testing.assert_array_equal(model.classes_[codes], model.predict(points[36:]))


def probabilities(estimator, points, classes, similarity):
    for calibration in ("sigmoid", "isotonic"):
        model = made(estimator, similarity, calibration=calibration)
        fit(model, points, classes)
        found = model.predict_proba(points[:9])
        assert found.shape == (9, 2)
        np.testing.assert_allclose(found.sum(axis=1), 1)
        assert (found >= 0).all()
        given = fit(
            clone(model),
            points[:30],
            classes[:30],
            X_val=points[30:],
            y_val=targets(estimator, classes)[30:],
        )
        assert given.predict_proba(points[:9]).shape == (9, 2)


def weights_of_classes(estimator, points, classes, similarity):
    """All weight on a class makes it the only one that is predicted."""
    y = targets(estimator, classes)
    first, second = np.unique(y).tolist()
    found = []
    for heavy, light in ((first, second), (second, first)):
        factors = {heavy: 1000.0, light: 0.001}
        model = fit(made(estimator, similarity, class_weight=factors), points, classes)
        found.append((model.predict(points) == heavy).mean())
    assert min(found) > 0.49
    balanced = fit(made(estimator, similarity, class_weight="balanced"), points, classes)
    assert (balanced.predict(points) == y).mean() > 0.7


def weights_of_points(estimator, points, classes, similarity):
    """Points of weight 0 are absent."""
    weights = np.ones(N)
    weights[36:] = 0
    wrong = np.array(classes)
    wrong[36:] = classes[0]
    model = made(estimator, similarity).fit(
        points, targets(estimator, wrong), sample_weight=weights
    )
    expected = fit(made(estimator, similarity), points[:36], classes[:36])
    np.testing.assert_array_equal(outcome(model, points), outcome(expected, points))


def workers(estimator, points, classes, similarity):
    """Workers change no number, of the similarity of a library or of a function."""
    for given in (similarity, lambda x, y: float(len(str(x)) == len(str(y)))):
        one, two = (
            fit(made(estimator, given, n_jobs=n), points[:36], classes[:36]) for n in (None, 2)
        )
        np.testing.assert_array_equal(outcome(one, points[36:]), outcome(two, points[36:]))


def progress(estimator, points, classes, similarity):
    """Comparisons made are shown in a fit and in a prediction, on the standard error alone."""
    said, printed = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(printed):
        model = fit(made(estimator, similarity, verbose=True), points[:36], classes[:36])
        in_fit = said.getvalue()
        outcome(model, points[36:])
    name = type(estimator).__name__
    assert f"{name}.fit" in in_fit
    # the bar ends at the whole number
    assert f"{model.n_fit_comparisons_}/?" in in_fit
    n_made = 12 * model.n_comparisons_
    assert f"{n_made}/{n_made}" in said.getvalue().removeprefix(in_fit)
    assert not printed.getvalue()


def selections(estimator, points, classes, similarity):
    choices = ["random", "stratified", "dselect", "kmedoids", "rpcholesky"]
    if not is_classifier(estimator) or isinstance(estimator, ORLand):
        choices.remove("stratified")
    for selection in choices:
        model = fit(made(estimator, similarity, selection=selection), points, classes)
        assert 0 < model.n_comparisons_ <= 20
        assert len(outcome(model, points[:5])) == 5


def adaptive_number(estimator, points, classes, similarity):
    """Within a budget of comparisons as many landmarks are taken as pay."""
    for most in (7, 12):
        given = {"n_landmarks": "auto", "max_comparisons": most}
        for selection in ("random", "kmedoids"):
            model = made(estimator, similarity, **given, selection=selection)
            fit(model, points, classes)
            assert 0 < model.n_comparisons_ <= most
            assert model.growth_[0].kept
            assert model.growth_[-1].n_landmarks <= most


def errors(estimator, points, classes, similarity):
    model = made(estimator, similarity)
    if hasattr(model, "transform"):
        model.set_params(selection="dselect")  # looks at classes
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        fit(model, points, classes[:-1])
    model = fit(made(estimator, similarity), points, classes)
    with pytest.raises((ValueError, TypeError)):
        outcome(model, [None, *points[:2]])
    other = np.zeros((3, 2)) if isinstance(points[0], str) else ["text", "other"]
    with pytest.raises((ValueError, TypeError)):
        outcome(model, other)


REQUIREMENTS = (
    pipeline,
    grid_search,
    copies,
    counted,
    matrices,
    decisions,
    probabilities,
    weights_of_classes,
    weights_of_points,
    workers,
    progress,
    selections,
    adaptive_number,
    errors,
)
#: What is tried of other estimators and other objects too.
FIRST = (pipeline, copies, errors)


def meant(requirement, estimator):
    """Whether an estimator is to have it."""
    if requirement is decisions and isinstance(estimator, LandmarkKNNClassifier):
        return False  # it has shares of votes
    if requirement in (decisions, probabilities, weights_of_classes):
        return is_classifier(estimator)
    if isinstance(estimator, RankLand):
        # steps of a pipeline take no queries, nor does a query have weights
        return requirement not in (pipeline, weights_of_points)
    if isinstance(estimator, NystroemEmbedding):
        # there is no loss, and no validation points to gain by more landmarks
        return requirement not in (weights_of_points, adaptive_number)
    return True


def as_array(points):
    return np.fromiter(points, dtype=object, count=len(points))


if __name__ == "__main__":
    import traceback
    import warnings

    warnings.simplefilter("ignore")
    print(f"{'':42}", *OBJECTS)
    for one in ESTIMATORS:
        for each in filter(lambda each: meant(each, one), REQUIREMENTS):
            cells = []
            for data in OBJECTS.values():
                try:
                    each(one, *data)
                    cells.append("yes   ")
                except Exception:
                    traceback.print_exc(limit=-3)
                    cells.append("NO    ")
            print(f"{type(one).__name__:22}{each.__name__:20}", *cells, flush=True)
