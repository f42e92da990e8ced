"""What of scikit-learn's tools and its surroundings works with each estimator, found by trying."""

import io
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import joblib
import numpy as np
import pandas as pd
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    StackingClassifier,
    StackingRegressor,
)
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, learning_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

import kernlearn.features
import kernlearn.landmarks
import kernlearn.linear
import kernlearn.onepass
import kernlearn.pairwise
import kernlearn.svm
import kernlearn.voted

PACKAGES = (
    kernlearn.linear,
    kernlearn.svm,
    kernlearn.features,
    kernlearn.landmarks,
    kernlearn.pairwise,
    kernlearn.onepass,
    kernlearn.voted,
)
WORKS, FAILS, NOT_MEANT = "yes", "NO", ""

RNG = np.random.RandomState(0)
X = RNG.normal(size=(60, 4))
NUMBERS = X[:, 0] + 0.3 * RNG.normal(size=60)
CLASSES = (NUMBERS > 0).astype(int)
NAMES = ["a", "b", "c", "d"]


def estimators() -> Iterator[tuple[str, type]]:
    """The public estimators, in the order of the packages."""
    for package in PACKAGES:
        for name in package.__all__:
            value = getattr(package, name)
            if isinstance(value, type) and hasattr(value, "fit") and hasattr(value, "get_params"):
                yield f"{package.__name__.removeprefix('kernlearn.')}.{name}", value


def made(estimator: type) -> Any:
    """Return an estimator that is small enough for 30 points."""
    small = {"n_landmarks": 8, "pool_size": 20, "n_components": 10, "random_state": 0}
    model = estimator()
    taken = {k: v for k, v in small.items() if k in model.get_params()}
    return model.set_params(**taken)


def transforms(model: Any) -> bool:
    return hasattr(model, "transform")


def learner(model: Any) -> Any:
    """Return the estimator, or a classifier on what it makes of the points."""
    return make_pipeline(model, LogisticRegression()) if transforms(model) else model


def targets(model: Any) -> np.ndarray:
    return NUMBERS if is_regressor(model) else CLASSES


def outcome(model: Any, points: Any) -> np.ndarray:
    if transforms(model):
        return np.asarray(model.transform(points))
    if hasattr(model, "predict"):
        return np.asarray(model.predict(points))
    return np.asarray(model.score(points, CLASSES))


def grid_search(model: Any) -> None:
    whole = learner(model)
    name, value = next(
        (k, v) for k, v in whole.get_params().items() if isinstance(v, (int, float, str, tuple))
    )
    search = GridSearchCV(whole, {name: [value]}, cv=2, error_score="raise")
    assert np.isfinite(search.fit(X, targets(model)).best_score_)


def calibrated(model: Any) -> None:
    wrapped = CalibratedClassifierCV(model, cv=2).fit(X, CLASSES)
    np.testing.assert_allclose(wrapped.predict_proba(X).sum(axis=1), 1)


def boosted(model: Any) -> None:
    boost = AdaBoostRegressor if is_regressor(model) else AdaBoostClassifier
    boost(model, n_estimators=3, random_state=0).fit(X, targets(model)).predict(X)


def stacked(model: Any) -> None:
    regression = is_regressor(model)
    stack: Any = StackingRegressor if regression else StackingClassifier
    final = Ridge() if regression else LogisticRegression()
    stack([("one", learner(model))], final, cv=2).fit(X, targets(model)).predict(X)


def importance(model: Any) -> None:
    y, fitted = targets(model), learner(model).fit(X, targets(model))
    found = permutation_importance(fitted, X, y, n_repeats=2, random_state=0)
    assert found.importances_mean.shape == (4,)


def curve(model: Any) -> None:
    sizes = {"train_sizes": [0.6, 1.0], "cv": 2, "error_score": "raise"}
    _, _, scores = learning_curve(learner(model), X, targets(model), **sizes)
    assert np.isfinite(scores).all()


def output(model: Any) -> None:
    frame = pd.DataFrame(X, columns=NAMES)
    mapped = model.set_output(transform="pandas").fit(frame, CLASSES).transform(frame)
    assert list(mapped.columns) == list(model.get_feature_names_out())


def with_joblib(model: Any) -> None:
    fitted, file = model.fit(X, targets(model)), io.BytesIO()
    joblib.dump(fitted, file)
    file.seek(0)
    np.testing.assert_array_equal(outcome(joblib.load(file), X), outcome(fitted, X))


def with_skops(model: Any) -> None:
    from skops import io as skops

    fitted = model.fit(X, targets(model))
    data = skops.dumps(fitted)
    loaded = skops.loads(data, trusted=skops.get_untrusted_types(data=data))
    np.testing.assert_array_equal(outcome(loaded, X), outcome(fitted, X))


def framed(make: Callable[[Any], Any]) -> Callable[[Any], None]:
    def check(model: Any) -> None:
        frame = make({name: X[:, i] for i, name in enumerate(NAMES)})
        fitted = clone(model).fit(frame, targets(model))
        assert list(fitted.feature_names_in_) == NAMES
        expected = model.fit(X, targets(model))
        np.testing.assert_allclose(outcome(fitted, frame), outcome(expected, X), rtol=1e-6)

    return check


def with_polars(model: Any) -> None:
    import polars

    framed(polars.DataFrame)(model)


def _named_in_polars() -> bool:
    """Whether scikit-learn knows the columns of polars' frames; 1.7 does not those of polars 2."""
    if not find_spec("polars"):
        return False
    import polars

    frame = polars.DataFrame({"a": [0.0, 1.0]})
    return hasattr(StandardScaler().fit(frame), "feature_names_in_")


def _predicts(model: Any) -> bool:
    return hasattr(model, "predict")


def _always(model: Any) -> bool:
    return True


#: The checks, and what each needs of an estimator.
CHECKS: dict[str, tuple[Callable[[Any], None], Callable[[Any], bool]]] = {
    "GridSearchCV": (grid_search, _always),
    "CalibratedClassifierCV": (calibrated, is_classifier),
    "AdaBoost": (boosted, lambda m: is_regressor(m) or has_fit_parameter(m, "sample_weight")),
    "Stacking": (stacked, lambda m: transforms(m) or is_classifier(m) or is_regressor(m)),
    "permutation importance": (importance, _always),
    "learning curve": (curve, _always),
    "set_output": (output, transforms),
    "joblib": (with_joblib, _always),
    "skops": (with_skops, _always),
    "pandas": (framed(pd.DataFrame), _always),
    "polars": (with_polars, _always),
}


#: What estimators have besides fit, and how it is told.
FEATURES: dict[str, Callable[[Any], bool]] = {
    "sample_weight": lambda m: has_fit_parameter(m, "sample_weight"),
    "class_weight": lambda m: "class_weight" in m.get_params(),
    "decision_function": lambda m: hasattr(m, "decision_function"),
    "predict_proba": lambda m: hasattr(m, "predict_proba"),
    "several targets": lambda m: m.__sklearn_tags__().target_tags.multi_output,
    "sparse points": lambda m: m.__sklearn_tags__().input_tags.sparse,
    "partial_fit": lambda m: hasattr(m, "partial_fit"),
    "n_jobs": lambda m: "n_jobs" in m.get_params(),
    "warm_start": lambda m: "warm_start" in m.get_params(),
}


def available() -> list[str]:
    """The checks whose libraries are installed."""
    there = {"skops": find_spec("skops") is not None, "polars": _named_in_polars()}
    return [name for name in CHECKS if there.get(name, True)]


def row(estimator: type) -> dict[str, str]:
    """Return the cell of each available check."""
    cells = {}
    for name in available():
        check, meant = CHECKS[name]
        model = made(estimator)
        if not meant(model):
            cells[name] = NOT_MEANT
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                check(model)
                cells[name] = WORKS
            except Exception:
                cells[name] = FAILS
    return cells


def table() -> list[str]:
    """Return the lines of the table of checks."""
    return _lines(list(CHECKS), row)


def table_of_features() -> list[str]:
    """Return the lines of the table of what estimators have."""
    return _lines(list(FEATURES), _features)


def _features(estimator: type) -> dict[str, str]:
    model = estimator()
    return {name: WORKS if has(model) else NOT_MEANT for name, has in FEATURES.items()}


def _lines(columns: list[str], cells: Callable[[type], dict[str, str]]) -> list[str]:
    lines = ["| estimator | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
    for name, estimator in estimators():
        found = cells(estimator)
        lines.append(f"| {name} | " + " | ".join(found[column] for column in columns) + " |")
    return lines
