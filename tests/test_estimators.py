"""What docs/conformance.md says of all estimators: they work with scikit-learn's tools."""

import io
import re
from collections import Counter
from contextlib import suppress
from inspect import signature
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_diabetes
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kernlearn
from kernlearn.landmarks import KernelRegressor, RegLand, SparseRegLand
from kernlearn.lazy import stub_names
from tests.checks import estimators, made

ALL = list(estimators())
TRANSFORMERS = [one for one in ALL if hasattr(one, "transform")]
CLASSIFIERS = [one for one in ALL if is_classifier(one())]
RNG = np.random.RandomState(0)
X = RNG.normal(size=(60, 4))
NUMBERS = X[:, 0] + 0.3 * RNG.normal(size=60)
CLASSES = (NUMBERS > 0).astype(int)
FRAME = pd.DataFrame(X, columns=["a", "b", "c", "d"])
of_all = pytest.mark.parametrize("estimator", ALL)


def targets(model):
    return NUMBERS if is_regressor(model) else CLASSES


def outcome(model, points):
    if hasattr(model, "transform"):
        return np.asarray(model.transform(points))
    if hasattr(model, "predict"):
        return np.asarray(model.predict(points))
    learned = model.kernel_ if hasattr(model, "kernel_") else model.similarity_
    return np.asarray(learned(points, points))


@of_all
def test_the_docstring_says_when_to_use_it(estimator):
    assert re.search(r"^\s*When to use it: ", estimator.__doc__, re.MULTILINE)


@of_all
def test_fit_takes_weights_third_and_the_rest_by_name(estimator):
    """As scikit-learn's; the query of documents is third for ranking."""
    taken = list(signature(estimator.fit).parameters.values())[1:]
    by_place = [one.name for one in taken if one.kind is not one.KEYWORD_ONLY]
    assert by_place in (["X"], ["X", "y"], ["X", "y", "sample_weight"], ["X", "y", "qid"]), (
        by_place
    )


@of_all
def test_parameters_have_the_names_and_defaults_of_the_page(estimator):
    parameters = {k: one.default for k, one in signature(estimator).parameters.items()}
    assert not {"kernel", "similarity"} <= parameters.keys()
    assert not {"n_components", "n_landmarks"} <= parameters.keys()
    # of SparseRegLand it is the number that is left
    expected = 20 if estimator.__name__ == "SparseRegLand" else 100
    assert parameters.get("n_landmarks", expected) == expected
    lists = [v for v in parameters.values() if isinstance(v, tuple) and type(v[0]) is not str]
    assert lists == [tuple(sorted(values)) for values in lists]


def test_no_two_classes_have_one_name():
    stubs = Path(kernlearn.__file__).parent.glob("*/__init__.pyi")
    homes = [f"{module}.{name}" for stub in stubs for name, module in stub_names(stub).items()]
    names = Counter(home.rpartition(".")[2] for home in dict.fromkeys(homes))
    assert [name for name, n in names.items() if n > 1] == []


@of_all
@pytest.mark.filterwarnings("ignore")
def test_what_chooses_says_what_it_has_chosen(estimator):
    model = made(estimator)
    if not hasattr(model, "refit"):
        pytest.skip("takes a single value of each parameter")
    model.fit(X, targets(model))
    assert model.best_params_.keys() == model.grid_.keys()
    shape = tuple(map(len, model.grid_.values()))
    assert model.validation_scores_ is None or np.shape(model.validation_scores_) == shape


@pytest.mark.parametrize("estimator", [m for m in ALL if hasattr(m, "score") or m in TRANSFORMERS])
@pytest.mark.filterwarnings("ignore")
def test_grid_search(estimator):
    model = made(estimator)
    if hasattr(model, "transform"):
        model = make_pipeline(model, LogisticRegression())
    plain = (int, float, str, tuple)
    name, value = next((k, v) for k, v in model.get_params().items() if isinstance(v, plain))
    search = GridSearchCV(model, {name: [value]}, cv=2, error_score="raise")
    assert np.isfinite(search.fit(X, targets(model)).best_score_)


@of_all
@pytest.mark.parametrize("library", ["joblib", "skops"])
@pytest.mark.filterwarnings("ignore")
def test_what_is_saved_predicts_the_same(estimator, library):
    model = made(estimator)
    fitted, file = model.fit(X, targets(model)), io.BytesIO()
    if library == "joblib":
        joblib.dump(fitted, file)
        loaded = joblib.load(io.BytesIO(file.getvalue()))
    else:
        skops = pytest.importorskip("skops.io")
        data = skops.dumps(fitted)
        loaded = skops.loads(data, trusted=skops.get_untrusted_types(data=data))
    np.testing.assert_array_equal(outcome(loaded, X), outcome(fitted, X))


@of_all
@pytest.mark.filterwarnings("ignore")
def test_data_frames(estimator):
    model = made(estimator)
    fitted = clone(model).fit(FRAME, targets(model))
    assert list(fitted.feature_names_in_) == list(FRAME)
    expected = outcome(model.fit(X, targets(model)), X)
    np.testing.assert_allclose(outcome(fitted, FRAME), expected, rtol=1e-6)


@pytest.mark.parametrize("estimator", [m for m in ALL if is_regressor(m()) or m in CLASSIFIERS])
@pytest.mark.parametrize("missing", [None, np.nan])
def test_missing_targets_are_refused(estimator, missing):
    y = targets(made(estimator)).astype(object)
    y[3] = missing
    with pytest.raises(ValueError, match=r"NaN|[Uu]nknown label type"):
        made(estimator).fit(X, y)


@of_all
@pytest.mark.parametrize("rows", ["rows.csv", Path("rows.csv"), b"rows.csv"])
def test_a_path_is_refused(estimator, rows):
    with pytest.raises(ValueError, match="load` reads files"):
        made(estimator).fit(rows, CLASSES)


@pytest.mark.parametrize("estimator", CLASSIFIERS)
def test_one_class_is_refused(estimator):
    with pytest.raises(ValueError, match="there is one class: 'a'"):
        made(estimator).fit(X, np.full(len(X), "a"))


@of_all
@pytest.mark.parametrize(("size", "flow"), [(1e160, "overflow"), (1e-160, "underflow")])
def test_numbers_whose_squares_are_none_are_refused(estimator, size, flow):
    model = made(estimator)
    cases = [(size * X, targets(model)), (X, size * NUMBERS)]
    for points, y in cases[: 1 + is_regressor(model)]:
        with pytest.raises(ValueError, match=f"squares {flow}"):
            clone(model).fit(points, y)


@pytest.mark.parametrize(
    "estimator", [m for m in ALL if m in TRANSFORMERS or hasattr(m, "predict")]
)
@pytest.mark.filterwarnings("ignore")
def test_large_numbers_in_single_precision_are_refused_or_have_finite_outcomes(estimator):
    model, points = made(estimator), np.float32(1e37) * X.astype(np.float32)
    with suppress(ValueError):
        assert np.isfinite(outcome(model.fit(points, targets(model)), points)).all()


@pytest.mark.parametrize("estimator", CLASSIFIERS)
@pytest.mark.filterwarnings("ignore")
def test_calibration(estimator):
    wrapped = CalibratedClassifierCV(made(estimator), cv=2).fit(X, CLASSES)
    np.testing.assert_allclose(wrapped.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("model", [RegLand(), SparseRegLand(), KernelRegressor()])
def test_defaults_of_regression(model):
    """R² on diabetes; -1.31, 0.27 and 0.12 with the defaults of the papers' experiments."""
    points, y = load_diabetes(return_X_y=True)
    points = StandardScaler().fit_transform(points)
    if "random_state" in model.get_params():
        model = clone(model).set_params(random_state=0)
    assert cross_val_score(model, points, y, cv=3).mean() > 0.35


WEIGHTED = [one for one in CLASSIFIERS if "class_weight" in signature(one).parameters]


@pytest.mark.parametrize("weight", [-1.0, 0.0, np.nan])
@pytest.mark.parametrize("estimator", WEIGHTED)
def test_weights_of_classes_are_above_0(estimator, weight):
    model = made(estimator).set_params(class_weight={0: weight, 1: 2.0})
    with pytest.raises(ValueError, match="class_weight"):
        model.fit(X, CLASSES)
