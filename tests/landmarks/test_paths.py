"""Models of a path beside models that are fitted one by one."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ParameterGrid

from kernlearn.landmarks import FTuneClassifier, KernelRegressor, ORLand, RegLand, SparseRegLand

RNG = np.random.RandomState(0)
X = RNG.normal(size=(120, 3))
Y = X[:, 0] - X[:, 1] ** 2 + 0.3 * RNG.normal(size=120) + 5
GRADES = np.digitize(Y, [3.0, 4.5, 5.5])
TRAIN, TEST = slice(80), slice(80, None)


def manhattan(A, B):
    return -abs(A[:, None] - B[None]).sum(axis=2)


SETTINGS = {"similarity": manhattan, "random_state": 0}
PATHS = [
    (
        RegLand(12, C=3.0, epsilon=0.2, **SETTINGS),
        {"C": [10, 0.1, 1.0], "fit_intercept": [False, True]},
    ),
    (
        RegLand(12, loss="epsilon_insensitive", selection="dselect", C=3.0, **SETTINGS),
        {"epsilon": [0.5, 0.01], "C": [0.1, 10]},
    ),
    (RegLand(12, **SETTINGS), {"epsilon": [0.5, 0.01]}),  # each chooses its C
    (ORLand(9, thresholds="learned", tol=1e-10, **SETTINGS), {"C": [100, 1.0]}),
    (
        SparseRegLand(9, 30, **SETTINGS),
        {"ridge": [1e-3, 0.0, 2.0], "fit_intercept": [True, False], "n_landmarks": [9, 4]},
    ),
    (SparseRegLand(6, 20, **SETTINGS, algorithm="forward_greedy"), {"n_landmarks": [6, 2]}),
    (KernelRegressor(manhattan), {"bandwidth": [2.0, 0.1]}),
    (KernelRegressor(manhattan), {"bandwidth": ["tenth", "mean"]}),
    (FTuneClassifier(9, **SETTINGS), {"per_class": [False, True]}),
    (FTuneClassifier(9, C=1, transfers=5, fit_intercept=True, **SETTINGS), {"per_class": [True]}),
]


@pytest.mark.parametrize("form", ["vectors", "single", "matrix"])
@pytest.mark.parametrize(("model", "grid"), PATHS)
def test_a_path_is_its_single_fits(model, grid, form):
    points = X.astype(np.float32) if form == "single" else X
    if form == "matrix":
        points, model = manhattan(X, X[TRAIN]), clone(model).set_params(similarity="precomputed")
    is_classifier = isinstance(model, (ORLand, FTuneClassifier))
    y = GRADES if is_classifier else Y
    (fits,) = model.path(points[TRAIN], y[TRAIN], grid)
    assert all(fits.converged)
    key = lambda point: sorted(map(str, point.items()))  # noqa: E731
    assert sorted(map(key, fits.params)) == sorted(map(key, ParameterGrid(grid)))
    numbers = [point.get("C", 0) for point in fits.params]
    assert next(iter(grid)) != "C" or numbers == sorted(numbers)
    atol = 1e-3 if form == "single" else 1e-5
    methods = ["predict", *["decision_function"] * is_classifier]
    by_method = {method: fits.outputs(method, points[TEST]) for method in methods}
    for place, (point, one) in enumerate(zip(fits.params, fits.models, strict=True)):
        alone = clone(model).set_params(**point).fit(points[TRAIN], y[TRAIN])
        assert one.get_params()["similarity"] is model.similarity
        assert {name: one.get_params()[name] for name in point} == point
        assert set(vars(one)) == set(vars(alone))
        np.testing.assert_array_equal(one.compared_indices_, alone.compared_indices_)
        for method in methods:
            expected = getattr(alone, method)(points[TEST])
            np.testing.assert_allclose(getattr(one, method)(points[TEST]), expected, atol=atol)
            found = by_method[method][place]
            assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
            np.testing.assert_allclose(found, expected, atol=atol)


def test_both_choices_of_ftune_on_the_same_points():
    model, held_out = FTuneClassifier(9, **SETTINGS), {"X_val": X[TEST], "y_val": GRADES[TEST]}
    (fits,) = model.path(X[TRAIN], GRADES[TRAIN], {"per_class": [True, False]}, **held_out)
    for point, one in zip(fits.params, fits.models, strict=True):
        alone = clone(model).set_params(**point).fit(X[TRAIN], GRADES[TRAIN], **held_out)
        np.testing.assert_array_equal(one.validation_scores_, alone.validation_scores_)
        np.testing.assert_array_equal(one.decision_function(X), alone.decision_function(X))


def test_each_value_tells_whether_its_solver_converged(monkeypatch):
    monkeypatch.setattr("kernlearn.linear.models._MAX_STEPS", 3)
    tube = RegLand(9, random_state=0, loss="epsilon_insensitive")
    for model, y in [(ORLand(9, max_iter=3, random_state=0), GRADES), (tube, Y)]:
        with pytest.warns(ConvergenceWarning, match="did not converge in 3 steps"):
            (fits,) = model.path(X, y, {"C": [1e4, 1e-6]})
        assert fits.converged == [True, False]


def test_bad_values_of_a_path():
    for grid in ({"n_landmarks": [3]}, {"C": [-1.0]}, {"C": [0.0, 1.0]}):
        with pytest.raises(ValueError, match=r"n_landmarks|C"):
            list(RegLand().path(X, Y, grid))
