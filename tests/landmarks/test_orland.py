import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from kernlearn.kernels import GaussianKernel
from kernlearn.landmarks.ordinal import ORLand
from kernlearn.metrics import average_absolute_error
from tests.checks import parametrize_with_checks

RNG = np.random.RandomState(0)
X = RNG.normal(size=(90, 3))
VALUE = X[:, 0] - X[:, 1] ** 2 + 0.3 * RNG.normal(size=90)
# Grades with gaps, which the thresholds know nothing of.
Y = np.array([3, 4, 6, 9])[np.digitize(VALUE, [-1.5, -0.5, 0.3])]
NEW = np.random.RandomState(1).normal(size=(30, 3))
NEW_Y = np.array([3, 4, 6, 9])[np.digitize(NEW[:, 0] - NEW[:, 1] ** 2, [-1.5, -0.5, 0.3])]
NAMES = np.array(["low", "mid", "high", "top"])  # not the order of the alphabet
GRADED = np.digitize(X.sum(axis=1), np.quantile(X.sum(axis=1), [0.25, 0.5, 0.8]))
PRECISE = {"tol": 1e-10, "random_state": 0}


def manhattan(X, Y):
    return -np.array([[np.abs(x - y).sum() for y in Y] for x in X])


@parametrize_with_checks(
    [
        ORLand(),
        ORLand(10, thresholds="learned", selection="dselect", C=10),
        ORLand(10, constraints="implicit", thresholds="learned", loss="hinge", C=100),
        ORLand(10, constraints="implicit", similarity="manhattan", C=10),
        ORLand(4, double_dipping=False, thresholds="learned", loss="hinge", C=100),
        ORLand(5, similarity="precomputed", kind="distance", C=1),
    ]
)
@pytest.mark.filterwarnings("ignore:n_landmarks=:UserWarning")
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("constraints", ["explicit", "implicit"])
@pytest.mark.parametrize("given", [None, [-2.0, 0.5, 1.0]])
def test_is_the_slow_version(constraints, given):
    model = ORLand(
        8,
        similarity=manhattan,
        constraints=constraints,
        thresholds="equispaced" if given is None else given,
        margin=0.4,
        spacing=0.8,
        C=3.0,
        **PRECISE,
    ).fit(X, Y)
    thresholds = [-0.8, 0.0, 0.8] if given is None else given
    np.testing.assert_allclose(model.thresholds_, thresholds)
    landmarks = X[model.landmark_indices_]
    grades = sorted(set(Y))
    embedded = manhattan(X, landmarks) / np.sqrt(8)

    def objective(w):
        total = w @ w / 2
        for psi, y in zip(embedded, Y, strict=True):
            for step, threshold in enumerate(thresholds):
                place = grades.index(y)
                if constraints == "implicit" or step in (place - 1, place):
                    sign = 1 if place > step else -1
                    total += 3.0 * max(0, 0.4 - sign * (w @ psi - threshold)) ** 2
        return total

    slow = minimize(objective, np.zeros(8), options={"gtol": 1e-3})
    assert objective(model.coef_) <= slow.fun * (1 + 1e-9)
    np.testing.assert_allclose(model.coef_, slow.x, rtol=1e-2, atol=1e-2)
    values = manhattan(NEW, landmarks) @ model.coef_ / np.sqrt(8)
    np.testing.assert_allclose(model.real_value(NEW), values)
    predicted = [grades[sum(value >= threshold for threshold in thresholds)] for value in values]
    np.testing.assert_array_equal(model.predict(NEW), predicted)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("constraints", ["explicit", "implicit"])
@pytest.mark.parametrize("thresholds", ["equispaced", "learned"])
def test_learns_the_grades(loss, constraints, thresholds):
    model = ORLand(
        40, loss=loss, constraints=constraints, thresholds=thresholds, random_state=0
    ).fit(X, Y)
    constant = min(average_absolute_error(NEW_Y, np.full(30, grade)) for grade in set(Y))
    assert average_absolute_error(NEW_Y, model.predict(NEW)) < 0.6 * constant


def test_the_default_thresholds_are_a_step_apart_about_zero():
    np.testing.assert_array_equal(ORLand().fit(X, Y).thresholds_, [-1.0, 0.0, 1.0])


def test_learned_thresholds_keep_the_spacing():
    # Grades that cannot be told apart pull all thresholds to one place.
    y = np.random.RandomState(3).randint(4, size=90)
    how = {"thresholds": "learned", "margin": 0.1, **PRECISE}
    spaced = ORLand(5, spacing=0.7, **how).fit(X, y).thresholds_
    assert np.diff(spaced).min() == pytest.approx(0.7)
    free = ORLand(5, spacing=0.0, **how).fit(X, y).thresholds_
    assert 0 <= np.diff(free).min() < 0.7


def test_reversed_grades_are_predicted_reversed():
    how = {"n_landmarks": 10, "C": 10, **PRECISE}
    model, reversed_ = ORLand(**how).fit(X, Y), ORLand(**how).fit(X, -Y)
    np.testing.assert_array_equal(reversed_.predict(NEW), -model.predict(NEW))


def test_decision_function_is_the_margin_by_hand():
    model = ORLand(10, random_state=0).fit(X, Y)
    values, decision = model.real_value(NEW), model.decision_function(NEW)
    edges = [-np.inf, -1.0, 0.0, 1.0, np.inf]
    by_hand = [[min(v - edges[i], edges[i + 1] - v) for i in range(4)] for v in values]
    np.testing.assert_allclose(decision, by_hand)
    np.testing.assert_array_equal(model.classes_[decision.argmax(axis=1)], model.predict(NEW))
    two = ORLand(10, thresholds=[0.25], random_state=0).fit(X, Y > 4)
    np.testing.assert_allclose(two.decision_function(NEW), two.real_value(NEW) - 0.25)


def test_a_value_on_a_threshold_has_the_upper_grade():
    model = ORLand(5, similarity=lambda X, Y: np.zeros((len(X), len(Y))), C=1).fit(X, Y)
    np.testing.assert_array_equal(model.real_value(NEW), 0)
    assert set(model.predict(NEW)) == {6}


@pytest.mark.parametrize("letters", [False, True])
def test_C_is_chosen_by_absolute_error(letters):
    y, y_val = (
        np.array(["", "", "", "c", "d", "", "e", "", "", "f"])[g] if letters else g
        for g in (Y, NEW_Y)
    )
    grades = {label: place for place, label in enumerate(sorted(set(y)))} if letters else None
    Cs = [100, 0.01, 1]
    model = ORLand(8, C=Cs, **PRECISE).fit(X, y, NEW, y_val)
    errors = []
    for C in sorted(Cs):
        alone = ORLand(8, C=C, **PRECISE).fit(X, y)
        predicted, true = alone.predict(NEW), y_val
        if letters:
            predicted, true = ([grades[label] for label in some] for some in (predicted, true))
        errors.append(average_absolute_error(true, predicted))
    np.testing.assert_allclose(-model.validation_scores_, errors)
    assert len(set(errors)) > 1
    assert sorted(Cs)[int(np.argmin(errors))] == model.C_


def test_points_kept_apart_are_not_trained_on():
    how = {"similarity": manhattan, "C": (1, 10), **PRECISE}
    model = ORLand(72, **how).fit(X, Y)
    # as many landmarks as points that are not kept apart: their rows
    kept = np.sort(model.landmark_indices_)
    apart = np.setdiff1d(np.arange(90), kept)
    assert len(apart) == 18
    again = ORLand(72, **how).fit(X[kept], Y[kept], X[apart], Y[apart])
    np.testing.assert_allclose(again.validation_scores_, model.validation_scores_)
    assert again.C_ == model.C_
    np.testing.assert_allclose(again.real_value(NEW), model.real_value(NEW), atol=1e-6)


def test_grades_to_choose_on_may_be_new_numbers_but_not_new_letters():
    model = ORLand(8, C=[1, 10], random_state=0).fit(X, Y, NEW, np.full(30, 7))
    assert -model.validation_scores_.max() >= 1
    with pytest.raises(ValueError, match="'z' is not a grade of y"):
        ORLand(8, C=[1, 10]).fit(X, Y.astype(str), NEW, np.full(30, "z"))


@pytest.mark.parametrize("C", [10, (1, 10)])
@pytest.mark.parametrize("kind", ["similarity", "distance"])
@pytest.mark.parametrize("double_dipping", [True, False])
def test_a_matrix_is_as_good_as_points(C, kind, double_dipping):
    sign = -1 if kind == "distance" else 1
    how = {"C": C, "double_dipping": double_dipping, **PRECISE}
    model = ORLand(10, similarity=manhattan, **how).fit(X, Y)
    given = ORLand(10, similarity="precomputed", kind=kind, **how).fit(sign * manhattan(X, X), Y)
    np.testing.assert_array_equal(given.landmark_indices_, model.landmark_indices_)
    np.testing.assert_allclose(
        given.real_value(sign * manhattan(NEW, X)), model.real_value(NEW), rtol=1e-6
    )


def test_landmarks_apart_from_training_points():
    how = {"similarity": GaussianKernel(sigma=1.5), "C": 10, **PRECISE}
    apart = ORLand(10, double_dipping=False, **how).fit(X, Y)
    marks = apart.landmark_indices_
    rest = np.setdiff1d(np.arange(90), marks)
    given = ORLand(**how).fit(X[rest], Y[rest], landmarks=X[marks])
    assert given.landmark_indices_ is None
    np.testing.assert_allclose(given.coef_, apart.coef_)
    np.testing.assert_allclose(given.real_value(NEW), apart.real_value(NEW))


@pytest.mark.parametrize("constraints", ["explicit", "implicit"])
def test_a_grade_of_landmarks_only_keeps_its_place(constraints):
    y = np.digitize(X[:, 0], [-1, 0, 1])
    for seed in range(5):
        model = ORLand(
            3,
            double_dipping=False,
            thresholds="learned",
            constraints=constraints,
            C=1,
            random_state=seed,
        )
        marks = model.fit(X, y).landmark_indices_
        alone = y.copy()
        alone[marks] = 7
        graded = model.fit(X, alone)
        np.testing.assert_array_equal(graded.classes_, [0, 1, 2, 3, 7])
        assert np.isfinite(graded.thresholds_).all()
        assert (np.diff(graded.thresholds_) >= 0).all()


@pytest.mark.parametrize("container", [csr_array, np.asarray])
def test_sparse_points_and_single_precision(container):
    how = {"similarity": GaussianKernel(sigma=1.5), "C": 10, **PRECISE}
    model = ORLand(10, **how).fit(X, Y)
    found = ORLand(10, **how).fit(container(X.astype(np.float32)), Y)
    assert found.coef_.dtype == found.thresholds_.dtype == np.float32
    values = found.real_value(container(NEW.astype(np.float32)))
    assert values.dtype == np.float32
    np.testing.assert_allclose(values, model.real_value(NEW), atol=1e-3)


@pytest.mark.parametrize(
    ("parameters", "arguments", "says"),
    [
        ({}, (X, np.ones(90)), "at least two classes"),
        ({"C": []}, (X, Y), "'C' must be"),
        ({"C": [1, -1]}, (X, Y), "'C' must be"),
        ({"thresholds": [0.0, 1.0]}, (X, Y), "'thresholds' must be 3 ascending numbers"),
        ({"spacing": 0}, (X, Y), "'spacing' must be greater than 0"),
        ({"margin": 0}, (X, Y), "'margin' parameter"),
        ({}, (X, Y, NEW), "X_val and y_val must be given together"),
        ({}, (X, Y, NEW[:, :2], NEW_Y), "X_val: X has 2 features"),
        ({}, (X, Y, NEW, NEW_Y[:5]), "y_val must hold one value for each"),
        ({}, (X[:4], [3, 5, 1, 4]), "no class with two points"),
        ({"similarity": "precomputed"}, (X @ X.T, Y, None, None, NEW), "landmarks must be None"),
    ],
)
def test_bad_input_is_refused(parameters, arguments, says):
    with pytest.raises(ValueError, match=says):
        ORLand(10, **parameters).fit(*arguments)


def test_needs_fitting():
    for method in ("predict", "real_value", "decision_function"):
        with pytest.raises(NotFittedError):
            getattr(ORLand(), method)(X)


@pytest.mark.parametrize("calibration", [None, "sigmoid", "isotonic"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("class_weight", [None, "balanced", [1.0, 2.0, 0.5, 3.0]])
def test_names_with_an_order_are_as_good_as_numbers(calibration, weighted, class_weight):
    fit = {"landmarks": X[:8]}
    if weighted:
        fit["sample_weight"] = np.arange(len(X)) % 4 + 0.5
    weights = [class_weight, class_weight]
    if isinstance(class_weight, list):
        weights = [dict(zip(keys, class_weight, strict=True)) for keys in (NAMES, range(4))]
    options = {"C": (1, 10), "calibration": calibration, "validation_fraction": 0.4}
    named, numbered = (
        ORLand(class_weight=w, categories=c, random_state=0, **options).fit(X, y, **fit)
        for w, c, y in zip(weights, (NAMES, None), (NAMES[GRADED], GRADED), strict=True)
    )
    assert named.classes_.tolist() == NAMES.tolist()
    np.testing.assert_array_equal(named.validation_scores_, numbered.validation_scores_)
    np.testing.assert_array_equal(named.predict(NEW), NAMES[numbered.predict(NEW)])
    if calibration is not None:
        found = named.predict_proba(NEW)
        np.testing.assert_allclose(found, numbered.predict_proba(NEW))
        np.testing.assert_allclose(found.sum(axis=1), 1)
        above = 1 - found[np.argsort(named.real_value(NEW))].cumsum(axis=1)
        assert np.diff(above, axis=0).min() > -1e-12


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_grade_to_choose_on_may_be_one_of_the_categories_that_y_lacks(class_weight):
    rows, options = GRADED != 1, {"C": (1, 10), "class_weight": class_weight}
    given = X[rows], NAMES[GRADED[rows]], NEW, NAMES[[1] * 30]
    with (
        pytest.warns(UserWarning, match="high < low < top"),
        pytest.raises(ValueError, match=r"'mid' is not a grade of y.*'categories'"),
    ):
        ORLand(8, **options).fit(*given)
    model = ORLand(8, categories=NAMES, random_state=0, **options).fit(*given)
    assert model.classes_.tolist() == ["low", "high", "top"]
    places = np.array([NAMES.tolist().index(name) for name in model.predict(NEW)])
    assert -model.validation_scores_.max() == pytest.approx(np.abs(places - 1).mean())


def test_places_count_where_an_order_of_numbers_is_given():
    codes = np.array([10, 1, 5, 7])
    given, plain = (
        ORLand(8, C=(1, 10), categories=c, random_state=0).fit(X, y, NEW, y[:30])
        for c, y in ((codes, codes[GRADED]), (None, GRADED))
    )
    np.testing.assert_array_equal(given.validation_scores_, plain.validation_scores_)
    np.testing.assert_array_equal(given.predict(NEW), codes[plain.predict(NEW)])


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_grade_without_weight_is_absent(class_weight):
    kept = GRADED != 1
    model = ORLand(C=10.0, class_weight=class_weight)
    fit = {"landmarks": X[:8]}
    zeroed = clone(model).fit(X, GRADED, sample_weight=kept, **fit)
    absent = clone(model).fit(X[kept], GRADED[kept], **fit)
    assert zeroed.classes_.tolist() == absent.classes_.tolist() == [0, 2, 3]
    np.testing.assert_allclose(zeroed.real_value(NEW), absent.real_value(NEW), rtol=1e-6)
    with pytest.raises(ValueError, match="have one class: 1"):
        model.fit(X, GRADED, sample_weight=~kept)
