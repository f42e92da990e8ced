import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from kernlearn.landmarks.ordinal import OrdinalProblem, Thresholds, as_thresholds, equispaced
from kernlearn.solvers.newton import SmoothedHinge, SquaredHinge

MARGIN = 0.7


def slow_loss(values, codes, thresholds, constraints, power=1):
    """Return Σ loss, point by point and threshold by threshold (definition 5.14)."""
    total = 0.0
    edges = [-np.inf, *thresholds, np.inf]
    for value, code in zip(values, codes, strict=True):
        if constraints == "explicit":
            total += max(0, edges[code] + MARGIN - value) ** power
            total += max(0, value - edges[code + 1] + MARGIN) ** power
            continue
        for step, threshold in enumerate(thresholds):
            distance = value - threshold if code > step else threshold - value
            total += max(0, MARGIN - distance) ** power
    return total


def slow_objective(w, thresholds, X, codes, C, constraints, power):
    return 0.5 * w @ w + C * slow_loss(X @ w, codes, thresholds, constraints, power)


def data(seed, n=40, d=4, n_grades=4):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, d))
    value = X @ rng.normal(size=d) + rng.normal(scale=0.7, size=n)
    return X, np.searchsorted(np.quantile(value, np.arange(1, n_grades) / n_grades), value)


def ways(n_thresholds):
    """Return thresholds of each kind."""
    given = np.cumsum(np.arange(1, n_thresholds + 1)) / 2 - 1
    return {
        "fixed": Thresholds.fixed(given),
        "free": Thresholds.free(n_thresholds),
        "spaced": Thresholds.spaced(n_thresholds, 1.9),
    }


def qp(X, codes, thresholds, C, constraints, power):
    """Minimise with a variable for each term: smooth, and all else linear constraints."""
    d, n_variables = X.shape[1], thresholds.basis.shape[1]
    rows, offsets = [], []
    for x, code in zip(X, codes, strict=True):
        for step in range(len(thresholds.start)):
            if constraints == "explicit" and step not in (code - 1, code):
                continue
            sign = 1 if code > step else -1
            # short + sign (⟨w, x⟩ − b) ≥ margin
            rows.append(sign * np.concatenate([x, -thresholds.basis[step]]))
            offsets.append(MARGIN + sign * thresholds.start[step])
    rows, offsets = np.array(rows), np.array(offsets)
    n_terms, size = len(rows), d + n_variables
    whole = np.hstack([rows, np.eye(n_terms)])

    def objective(v):
        w, short = v[:d], v[size:]
        return 0.5 * w @ w + C * (short**power).sum()

    def gradient(v):
        return np.concatenate([v[:d], np.zeros(n_variables), C * power * v[size:] ** (power - 1)])

    bounds = [(None, None)] * (size - thresholds.n_bounded) + [(0, None)] * (
        thresholds.n_bounded + n_terms
    )
    start = np.concatenate([np.zeros(size), np.maximum(0, offsets)])
    # It may end at the limits of rounding, which it calls a failure.
    return minimize(
        objective,
        start,
        jac=gradient,
        bounds=bounds,
        constraints={"type": "ineq", "fun": lambda v: whole @ v - offsets, "jac": lambda v: whole},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 1000},
    )


def solve(X, codes, thresholds, C, *, constraints, loss, margin=MARGIN, tol=1e-9):
    problem = OrdinalProblem(X, codes, thresholds, constraints=constraints, margin=margin)
    return problem.path([C], loss=loss, tol=tol, max_iter=2000)[0]


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


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("C", [0.05, 5.0])
@LOSSES
@PROBLEMS
def test_reaches_the_minimum(seed, C, loss, constraints, kind):
    X, codes = data(seed, n=24, d=3)
    if kind == "free" and constraints == "explicit":
        # without a constraint nothing but the data keeps two thresholds in their order
        codes = np.minimum(codes, 1)
    thresholds = ways(codes.max())[kind]
    power = 2 if loss == "squared_hinge" else 1
    found = solve(X, codes, thresholds, C, constraints=constraints, loss=loss)
    reached = slow_objective(found.coef, found.thresholds, X, codes, C, constraints, power)
    slow = qp(X, codes, thresholds, C, constraints, power)
    assert reached <= slow.fun * (1 + 1e-7)
    assert reached == pytest.approx(slow.fun, rel=1e-5)
    np.testing.assert_allclose(found.coef, slow.x[:3], rtol=1e-3, atol=1e-3)
    if kind == "spaced":
        assert np.diff(found.thresholds).min() >= 1.9 - 1e-12


@LOSSES
@pytest.mark.parametrize(
    ("constraints", "kind"), [("explicit", "spaced"), ("implicit", "free"), ("implicit", "fixed")]
)
def test_reaches_the_minimum_with_ties_and_a_missing_grade(loss, constraints, kind):
    X, codes = data(3, n=12, d=2)
    X, codes = np.vstack([X, X, X]).round(), np.tile(np.where(codes == 1, 2, codes), 3)
    thresholds = ways(3)[kind]
    power = 2 if loss == "squared_hinge" else 1
    found = solve(X, codes, thresholds, 1.0, constraints=constraints, loss=loss)
    reached = slow_objective(found.coef, found.thresholds, X, codes, 1.0, constraints, power)
    slow = qp(X, codes, thresholds, 1.0, constraints, power)
    assert reached <= slow.fun * (1 + 1e-7)
    assert reached == pytest.approx(slow.fun, rel=1e-5)


@LOSSES
@pytest.mark.parametrize("kind", ["fixed", "learned"])
def test_both_formulations_are_one_for_two_grades(loss, kind):
    X, codes = data(0, n_grades=2)
    ways = {"fixed": (Thresholds.fixed([0.3]),) * 2}
    ways["learned"] = (Thresholds.spaced(1, 1.0), Thresholds.free(1))
    explicit, implicit = (
        solve(X, codes, thresholds, 2.0, constraints=constraints, loss=loss, tol=1e-12)
        for constraints, thresholds in zip(("explicit", "implicit"), ways[kind], strict=True)
    )
    np.testing.assert_allclose(explicit.coef, implicit.coef, rtol=1e-6)
    np.testing.assert_allclose(explicit.thresholds, implicit.thresholds, rtol=1e-6)


@LOSSES
def test_two_grades_are_a_support_vector_machine(loss):
    X, codes = data(1, n_grades=2)
    found = solve(
        X, codes, Thresholds.fixed([0.0]), 0.7, constraints="explicit", loss=loss, margin=1.0
    )
    machine = LinearSVC(
        C=0.7, loss=loss, dual="auto", fit_intercept=False, tol=1e-8, max_iter=10**6
    )
    np.testing.assert_allclose(found.coef, machine.fit(X, codes).coef_[0], rtol=1e-4)


@LOSSES
@pytest.mark.parametrize("constraints", ["explicit", "implicit"])
@pytest.mark.parametrize("spec", ["equispaced", "learned"])
def test_reversed_grades_reverse_the_sign(loss, constraints, spec):
    X, codes = data(2)
    thresholds = as_thresholds(spec, 3, 1.0, constraints)
    how = {"constraints": constraints, "loss": loss, "tol": 1e-12}
    found = solve(X, codes, thresholds, 1.0, **how)
    reversed_ = solve(X, 3 - codes, thresholds, 1.0, **how)
    np.testing.assert_allclose(reversed_.coef, -found.coef, rtol=1e-4)
    if loss == "squared_hinge" or spec == "equispaced":
        # the hinge may leave a learned threshold some room
        np.testing.assert_allclose(reversed_.thresholds, -found.thresholds[::-1], atol=1e-4)


@LOSSES
def test_margin_and_spacing_set_the_scale(loss):
    X, codes = data(4)
    C = 0.3
    once = solve(
        X, codes, Thresholds.spaced(3, 1.0), C, constraints="explicit", loss=loss, margin=0.5
    )
    # ½‖2w‖² is four times as much; so is the square of a doubled hinge, itself twice.
    doubled = solve(
        X,
        codes,
        Thresholds.spaced(3, 2.0),
        C if loss == "squared_hinge" else 2 * C,
        constraints="explicit",
        loss=loss,
        margin=1.0,
    )
    np.testing.assert_allclose(doubled.coef, 2 * once.coef, rtol=1e-4)
    np.testing.assert_allclose(doubled.thresholds, 2 * once.thresholds, rtol=1e-4)


@LOSSES
@PROBLEMS
def test_a_path_is_its_single_values(loss, constraints, kind):
    X, codes = data(5, n_grades=2 if (constraints, kind) == ("explicit", "free") else 4)
    problem = OrdinalProblem(
        X, codes, ways(codes.max())[kind], constraints=constraints, margin=MARGIN
    )
    Cs = [0.01, 1.0, 100.0]
    how = {"loss": loss, "tol": 1e-11, "max_iter": 2000}
    for C, found in zip(Cs, problem.path(Cs, **how), strict=True):
        (alone,) = problem.path([C], **how)
        np.testing.assert_allclose(found.coef, alone.coef, rtol=1e-3, atol=1e-5)
        assert found.n_iter >= 1


@LOSSES
def test_points_without_loss_leave_the_rest_alone(loss):
    # Far apart, the grades touch no margin: the least w that does so is the solution.
    X, codes = np.array([[-1.0], [0.0], [1.0]]), np.array([0, 1, 2])
    found = solve(
        X, codes, Thresholds.fixed([-2.0, 2.0]), 1e6, constraints="implicit", loss=loss, margin=1
    )
    np.testing.assert_allclose(found.coef, [3.0], rtol=1e-5)


def test_too_few_steps_are_warned_of():
    X, codes = data(6)
    problem = OrdinalProblem(X, codes, Thresholds.free(3), constraints="implicit", margin=MARGIN)
    for loss in ("squared_hinge", "hinge"):
        with pytest.warns(ConvergenceWarning, match="did not converge in 1 steps at C=10"):
            (found,) = problem.path([10.0], loss=loss, tol=1e-6, max_iter=1)
        assert found.n_iter == 1


@pytest.mark.parametrize(
    "loss", [SquaredHinge(edge=0.0, sign=1.0), SmoothedHinge(0.5)], ids=["squared", "hinge"]
)
def test_derivatives_of_losses(loss):
    short, h = np.array([-1.3, -0.2, 0.11, 0.3, 0.44, 0.7, 2.0]), 1e-6
    slope = [
        (loss.value(np.array([t + h])) - loss.value(np.array([t - h]))) / (2 * h) for t in short
    ]
    np.testing.assert_allclose(loss.slope(short), slope, atol=1e-8)
    curvature = (loss.slope(short + h) - loss.slope(short - h)) / (2 * h)
    np.testing.assert_allclose(loss.curvature(short), curvature, atol=1e-8)


def test_the_smoothed_hinge_is_a_little_less():
    short = np.linspace(-1, 2, 301)
    below = np.array([max(t, 0) - SmoothedHinge(0.4).value(np.array([t])) for t in short])
    assert below.min() >= -1e-15
    assert below.max() == pytest.approx(0.2)


def test_equispaced_by_hand():
    np.testing.assert_array_equal(equispaced(1, 3.0), [0.0])
    np.testing.assert_array_equal(equispaced(4, 2.0), [-3.0, -1.0, 1.0, 3.0])


@pytest.mark.parametrize(
    ("spec", "spacing", "says"),
    [
        ("equispaced", 0.0, "'spacing' must be greater than 0"),
        ([1.0, 2.0], 1.0, "'thresholds' must be 3 ascending numbers for the 4 grades"),
        ([1.0, 1.0, 2.0], 1.0, "'thresholds' must be 3 ascending numbers"),
        ([[1.0, 2.0, 3.0]], 1.0, "'thresholds' must be 3 ascending numbers"),
        ([1.0, np.nan, 2.0], 1.0, "thresholds contains NaN"),
    ],
)
def test_bad_thresholds_are_refused(spec, spacing, says):
    with pytest.raises(ValueError, match=says):
        as_thresholds(spec, 3, spacing, "explicit")
