"""ORLand's solver against bounds by duality, and the estimator on it."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import lsq_linear
from sklearn.exceptions import ConvergenceWarning

from kernlearn.landmarks import ORLand
from kernlearn.landmarks.ordinal import OrdinalProblem, as_thresholds

MARGIN = 0.7
PROBLEMS = pytest.mark.parametrize(
    ("constraints", "kind"),
    [
        ("explicit", "fixed"),
        ("explicit", "free"),
        ("explicit", "spaced"),
        ("implicit", "fixed"),
        ("implicit", "free"),
    ],
)
LOSSES = pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])


def graded(seed, n=40, d=4, n_grades=4):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, d))
    value = X @ rng.normal(size=d) + rng.normal(scale=0.7, size=n)
    return X, np.searchsorted(np.quantile(value, np.arange(1, n_grades) / n_grades), value)


def thresholds_of(kind, n):
    spec = np.cumsum(np.arange(1, n + 1)) / 2 - 1 if kind == "fixed" else "learned"
    return as_thresholds(spec, n, "implicit" if kind == "free" else "explicit")


def terms(X, codes, n_thresholds, constraints, weights):
    """Return r and c of the terms c [margin − ⟨r, (w, b)⟩]₊, one after the other."""
    rows, factors = [], []
    for x, code, weight in zip(X, codes, weights, strict=True):
        for step in range(n_thresholds):
            if constraints == "implicit" or step in (code - 1, code):
                sign = 1 if code > step else -1
                rows.append(sign * np.concatenate([x, -np.eye(n_thresholds)[step]]))
                factors.append(weight)
    return np.array(rows), np.array(factors)


def dual_bound(found, rows, factors, thresholds, power):
    """Return a lower bound of the minimum, and how far the dual point is from a feasible one.

    The dual maximises ⟨m, offsets⟩ − ½‖Σ m r‖², for squares less Σ m² / 4c, over multipliers m of
    the terms whose sum is 0 along each free threshold, and at most 0 along one that is bounded.
    """
    n, d, n_bounded = len(rows), len(found.coef), thresholds.n_bounded
    of_w, of_thresholds = rows[:, :d], rows[:, d:] @ thresholds.basis
    offsets = MARGIN - rows[:, d:] @ thresholds.start
    short = MARGIN - rows @ np.concatenate([found.coef, found.thresholds])
    if power == 2:
        m = 2 * factors * np.maximum(0, short)
    else:  # at a kink any slope, and at a bound any force: those that fit best
        apart = np.linalg.lstsq(thresholds.basis, found.thresholds - thresholds.start)[0]
        forces = np.eye(d + len(apart))[:, d + len(apart) - n_bounded :]
        low, high = (factors * (short > edge) for edge in (1e-5, -1e-5))
        most = np.where(apart[len(apart) - n_bounded :] > 1e-6, 1e-12, np.inf)
        m = lsq_linear(
            np.hstack([np.hstack([of_w, of_thresholds]).T, forces]),
            np.concatenate([found.coef, np.zeros(len(apart))]),
            (np.append(low * (1 - 1e-12), np.zeros(n_bounded)), np.append(high + 1e-12, most)),
            tol=1e-14,
        ).x[:n]
    off = m @ of_thresholds
    off[: len(off) - n_bounded] = np.abs(off[: len(off) - n_bounded])
    bound = m @ offsets - np.square(m @ of_w).sum() / 2
    return bound - (power == 2) * (m**2 / factors / 4).sum(), off.max(initial=0) / m.sum()


def solve(X, codes, thresholds, C, *, constraints, loss, margin=MARGIN, tol=1e-9, weights=None):
    options = {"constraints": constraints, "margin": margin, "weights": weights}
    problem = OrdinalProblem(X, codes, thresholds, **options)
    return problem.path([C], loss=loss, tol=tol, max_iter=2000)[0]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("C", [0.05, 5.0])
@LOSSES
@PROBLEMS
def test_reaches_the_minimum(weighted, C, loss, constraints, kind):
    X, codes = graded(int(weighted), n=24, d=3)
    if kind == "free" and constraints == "explicit":
        # without a constraint nothing but the data keeps two thresholds in their order
        codes = np.minimum(codes, 1)
    elif kind == "spaced":  # with ties and a grade that is missing
        X, codes = X.round(), np.where(codes == 1, 2, codes)
    weights = np.arange(24) % 3 + 0.5 if weighted else np.ones(24)
    thresholds = thresholds_of(kind, codes.max())
    options = {"constraints": constraints, "loss": loss}
    found = solve(X, codes, thresholds, C, **options, weights=weights if weighted else None)
    rows, factors = terms(X, codes, codes.max(), constraints, C * weights)
    power = 2 if loss == "squared_hinge" else 1
    short = MARGIN - rows @ np.concatenate([found.coef, found.thresholds])
    reached = found.coef @ found.coef / 2 + (factors * np.maximum(0, short) ** power).sum()
    bound, off = dual_bound(found, rows, factors, thresholds, power)
    assert reached == pytest.approx(bound, rel=1e-5)
    assert off < 1e-5
    if kind == "spaced":
        assert np.diff(found.thresholds).min() >= 1 - 1e-12


@LOSSES
@PROBLEMS
def test_a_path_is_its_single_values(loss, constraints, kind):
    X, codes = graded(5, n_grades=2 if (constraints, kind) == ("explicit", "free") else 4)
    thresholds = thresholds_of(kind, codes.max())
    problem = OrdinalProblem(X, codes, thresholds, constraints=constraints, margin=MARGIN)
    Cs, how = [0.01, 1.0, 100.0], {"loss": loss, "tol": 1e-11, "max_iter": 2000}
    for C, found in zip(Cs, problem.path(Cs, **how), strict=True):
        (alone,) = problem.path([C], **how)
        np.testing.assert_allclose(found.coef, alone.coef, rtol=1e-3, atol=1e-5)
    with pytest.warns(ConvergenceWarning, match="1 steps at C=10"):
        (found,) = problem.path([10.0], loss=loss, tol=1e-12, max_iter=1)
    assert found.n_iter == 1


def test_thresholds():
    np.testing.assert_array_equal(as_thresholds("equispaced", 3, "implicit").start, [-1, 0, 1])
    for spec in ([1.0, 2.0], [1.0, 1.0, 2.0], [[1.0, 2.0, 3.0]], [1.0, np.nan, 2.0]):
        with pytest.raises(ValueError, match="thresholds"):
            as_thresholds(spec, 3, "explicit")


RNG = np.random.RandomState(0)
X = RNG.normal(size=(90, 3))
VALUE = X[:, 0] - X[:, 1] ** 2 + 0.3 * RNG.normal(size=90)
# Grades with gaps, which the thresholds know nothing of.
Y = np.array([3, 4, 6, 9])[np.digitize(VALUE, [-1.5, -0.5, 0.3])]
NEW = np.random.RandomState(1).normal(size=(30, 3))
NEW_Y = np.array([3, 4, 6, 9])[np.digitize(NEW[:, 0] - NEW[:, 1] ** 2, [-1.5, -0.5, 0.3])]
NAMES = np.array(["low", "mid", "high", "top"])  # not the order of the alphabet
CODES = np.searchsorted([3, 4, 6, 9], Y)


@pytest.mark.parametrize("constraints", ["explicit", "implicit"])
@pytest.mark.parametrize("thresholds", ["equispaced", [-2.0, 0.5, 1.0], "learned"])
def test_the_estimator_is_the_solver_on_the_embedding(constraints, thresholds):
    options = {"constraints": constraints, "thresholds": thresholds, "tol": 1e-10}
    model = ORLand(8, similarity="manhattan", margin=MARGIN, C=3.0, random_state=0, **options)
    model.fit(X, Y)
    landmarks = X[model.landmark_indices_]
    train, test = (-abs(A[:, None] - landmarks).sum(axis=2) / np.sqrt(8) for A in (X, NEW))
    spec = as_thresholds(thresholds, 3, constraints)
    found = solve(train, CODES, spec, 3.0, constraints=constraints, loss="squared_hinge")
    np.testing.assert_allclose(model.coef_, found.coef, rtol=1e-5)
    np.testing.assert_allclose(model.thresholds_, found.thresholds, rtol=1e-5)
    values = test @ model.coef_
    np.testing.assert_allclose(model.real_value(NEW), values)
    grades = [3, 4, 6, 9]
    predicted = [grades[sum(v >= b for b in model.thresholds_)] for v in values]
    np.testing.assert_array_equal(model.predict(NEW), predicted)
    edges = [-np.inf, *model.thresholds_, np.inf]
    margins = [[min(v - edges[i], edges[i + 1] - v) for i in range(4)] for v in values]
    np.testing.assert_allclose(model.decision_function(NEW), margins)
    nothing = ORLand(5, similarity=lambda A, B: np.zeros((len(A), len(B))), C=1).fit(X, Y)
    assert set(nothing.predict(NEW)) == {6}  # a value on a threshold has the upper grade
    two = ORLand(10, thresholds=[0.25], random_state=0).fit(X, Y > 4)
    np.testing.assert_allclose(two.decision_function(NEW), two.real_value(NEW) - 0.25)


def test_the_order_of_grades():
    options = {"C": (1, 10), "random_state": 0}
    codes = np.array([10, 1, 5, 7])  # an order of numbers, of which places count
    numbered = ORLand(8, **options).fit(X, CODES, X_val=NEW, y_val=CODES[:30])
    ordered = pd.Categorical(NAMES, NAMES, ordered=True)
    for y, categories in ((NAMES, NAMES), (codes, codes), (ordered, None)):
        given = y[CODES] if categories is not None else pd.Series(y[CODES])
        model = ORLand(8, categories=categories, **options)
        model.fit(X, given, X_val=NEW, y_val=np.asarray(y)[CODES[:30]])
        np.testing.assert_array_equal(model.validation_scores_, numbered.validation_scores_)
        np.testing.assert_array_equal(model.predict(NEW), np.asarray(y)[numbered.predict(NEW)])
    rows = CODES != 1  # grades to choose on may be among the categories, or other numbers
    with_order = ORLand(8, categories=NAMES, **options)
    with_order.fit(X[rows], NAMES[CODES[rows]], X_val=NEW, y_val=np.full(30, "mid"))
    assert with_order.classes_.tolist() == ["low", "high", "top"]
    places = np.array([NAMES.tolist().index(name) for name in with_order.predict(NEW)])
    assert -with_order.validation_scores_.max() == pytest.approx(np.abs(places - 1).mean())
    assert (
        -ORLand(8, **options).fit(X, Y, X_val=NEW, y_val=np.full(30, 7)).validation_scores_.max()
        >= 1
    )
    with (
        pytest.warns(UserWarning, match="high < low < top"),
        pytest.raises(ValueError, match="'mid' is not a grade of y"),
    ):
        ORLand(8, **options).fit(X[rows], NAMES[CODES[rows]], X_val=NEW, y_val=np.full(30, "mid"))
    with pytest.raises(ValueError, match="Pass codes"):
        ORLand(8).fit(X, CODES / 2)
    for categories in (NAMES[:3], [*NAMES, "low"]):
        with pytest.raises(ValueError, match="categories"):
            ORLand(8, categories=categories).fit(X, NAMES[CODES])


def test_a_grade_without_weight_is_absent():
    kept = CODES != 1
    model, fit = ORLand(C=10.0, tol=1e-10), {"landmarks": X[:8]}
    expected = model.fit(X[kept], CODES[kept], **fit).real_value(NEW)
    zeroed = model.fit(X, CODES, sample_weight=kept, **fit)
    assert zeroed.classes_.tolist() == [0, 2, 3]
    np.testing.assert_allclose(zeroed.real_value(NEW), expected, rtol=1e-6)
    with pytest.raises(ValueError, match="one class"):
        model.fit(X, CODES, sample_weight=~kept)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_penalties_below_rounding_error_are_none():
    rng = np.random.RandomState(0)
    X = rng.normal(size=(300, 3))
    y = np.digitize(X[:, 0] + 0.5 * rng.normal(size=300), [-0.5, 0.5])
    X, y = np.concatenate([X, X + 1e-9]), np.concatenate([y, y])
    model = ORLand(200, similarity="gaussian", C=1e16, max_iter=50, random_state=0)
    assert model.fit(X, y).score(X, y) > ORLand(200, C=1.0, random_state=0).fit(X, y).score(X, y)
