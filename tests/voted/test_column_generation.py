"""One objective, three solvers, and the conditions of optimality."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from kernlearn.voted import column_generation, pivots
from kernlearn.voted.column_generation import ColumnGeneration, solve_program
from kernlearn.voted.coordinate import descend
from kernlearn.voted.problem import Solution, VotedProblem
from tests.voted.conftest import make_problem


def by_columns(problem, **how):
    return ColumnGeneration(problem, **how).solve(problem.penalties)


SOLVERS = {"columns": by_columns, "lp": solve_program, "coordinates": descend}


def kkt_residuals(problem, solution, weights):
    """Violations of the conditions of optimality, for dual weights m · u_i."""
    m = problem.n_samples
    slack = 1 - problem.y * problem.decision(solution)
    correlations = problem.correlations(weights) / m
    penalties = problem.penalties
    at = correlations[solution.kernels, solution.points]
    away = np.abs(at - penalties[solution.kernels] * np.sign(solution.coef))
    allowed = problem.allowed
    above = np.abs(correlations[allowed]) - penalties[allowed, None]
    return {
        "box": float(np.maximum(-weights, weights - 1).max(initial=0.0)),
        "loss": float(np.where(slack > 0, (1 - weights) * slack, -weights * slack).mean()),
        "column": float(above.max(initial=0.0)),
        "coefficient": float(np.abs(solution.coef) @ away),
    }


def slow_objective(problem, coef):
    """Equation (1) by loops, with the y_j of the paper."""
    n_kernels, m, _ = problem.grams.shape
    total = 0.0
    for i in range(m):
        margin = 0.0
        for j in range(m):
            for k in range(n_kernels):
                alpha = problem.y[j] * coef[k, j]
                margin += problem.y[i] * problem.y[j] * alpha * problem.grams[k, i, j]
        total += max(0.0, 1 - margin) / m
    for j in range(m):
        for k in range(n_kernels):
            total += problem.penalties[k] * abs(problem.y[j] * coef[k, j])
    return total


def slow_minimum(problem):
    """The linear program of section 5.1 as it is written, with dense constraints."""
    n_kernels, m, _ = problem.grams.shape
    constraints = np.zeros((m, 2 * n_kernels * m + m))
    costs = np.zeros(2 * n_kernels * m + m)
    for i in range(m):
        for k in range(n_kernels):
            for j in range(m):
                place = k * m + j
                value = problem.y[i] * problem.y[j] * problem.grams[k, i, j]
                constraints[i, place], constraints[i, n_kernels * m + place] = -value, value
                costs[place] = costs[n_kernels * m + place] = problem.penalties[k]
        constraints[i, 2 * n_kernels * m + i] = -1
        costs[2 * n_kernels * m + i] = 1 / m
    return linprog(costs, constraints, -np.ones(m)).fun


def dense(problem, solution):
    coef = np.zeros(problem.grams.shape[::2])
    coef[solution.kernels, solution.points] = solution.coef
    return coef


@pytest.mark.parametrize("kind", ["random", "polynomial", "indefinite"])
@pytest.mark.parametrize("penalties", [(0.1, 0.01), (1e-3, 1e-2), (0.0, 1e-3), (1e-4, 0.0)])
@pytest.mark.parametrize("solver", SOLVERS)
def test_minimum_of_the_program_as_written(kind, penalties, solver):
    for seed in range(2):
        problem = make_problem(seed, 15, 3, kind, *penalties)
        found = SOLVERS[solver](problem)
        least = slow_minimum(problem)
        assert found.objective == pytest.approx(least, rel=1e-5, abs=1e-9)
        assert slow_objective(problem, dense(problem, found)) == pytest.approx(found.objective)
        assert found.converged
        assert found.bound <= least * (1 + 1e-6) + 1e-9


def test_ten_polynomials_of_more_points():
    problem = make_problem(0, 60, 10, "polynomial", 1e-3, 1e-3)
    columns, program, coordinates = (solve(problem) for solve in SOLVERS.values())
    assert columns.objective == pytest.approx(program.objective, rel=1e-5)
    assert coordinates.objective == pytest.approx(program.objective, rel=1e-5)
    assert len(np.unique(columns.points)) < 40


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10**6),
    m=st.integers(2, 30),
    n_kernels=st.integers(1, 4),
    kind=st.sampled_from(["random", "polynomial", "indefinite"]),
    lam=st.sampled_from([0.0, 1e-4, 1e-2, 1.0]),
    beta=st.sampled_from([1e-5, 1e-3, 1e-1, 10.0]),
)
def test_conditions_of_optimality(seed, m, n_kernels, kind, lam, beta):
    problem = make_problem(seed, m, n_kernels, kind, lam, beta)
    generation = ColumnGeneration(problem, tol=1e-9)
    found = generation.solve(problem.penalties)
    for violation in kkt_residuals(problem, found, generation.weights).values():
        assert violation <= 1e-7
    # a vertex has no more coefficients than points, and no step from it leads down
    assert len(found.coef) <= m
    rng = np.random.RandomState(seed)
    coef = dense(problem, found)
    for size in (1e-4, 1e-2, 1.0):
        step = size * rng.normal(size=coef.shape)
        kernels, points = np.indices(coef.shape).reshape(2, -1)
        moved = Solution(kernels, points, (coef + step).ravel())
        assert problem.objective(moved) >= found.objective - 1e-8


def test_conditions_tell_a_wrong_solution():
    problem = make_problem(0)
    generation = ColumnGeneration(problem)
    found = generation.solve(problem.penalties)
    wrong = Solution(found.kernels, found.points, 1.3 * found.coef)
    good = kkt_residuals(problem, found, generation.weights)
    bad = kkt_residuals(problem, wrong, generation.weights)
    assert bad["loss"] > 1e-3 > 1e4 * good["loss"]
    ones = kkt_residuals(problem, found, np.full(20, 1.5))
    assert ones["box"] == 0.5
    assert ones["column"] > 1e-2


@pytest.mark.parametrize("kind", ["random", "polynomial"])
def test_any_order_of_penalties_gives_the_same(kind):
    """Starting from a neighbour's vertex changes nothing but the way."""
    problem = make_problem(3, 40, 4, kind)
    generation = ColumnGeneration(problem)
    levels = [10.0, 1e-2, 1e-4, 1.0, 1e-3, 1e-1, 1e-5, 1e-2]
    for level in levels:
        penalties = level * np.array([1.0, 3.0, 0.5, 2.0])
        warm = generation.solve(penalties)
        cold = by_columns(replace(problem, penalties=penalties))
        assert warm.objective == pytest.approx(cold.objective, rel=2e-6)
    assert warm.n_iter < cold.n_iter


@pytest.mark.parametrize("solver", SOLVERS)
def test_huge_penalties_give_zero(solver):
    found = SOLVERS[solver](make_problem(0, lam=100.0, beta=100.0))
    assert not len(found.coef)
    assert found.objective == found.bound == 1.0


@pytest.mark.parametrize("solver", SOLVERS)
def test_no_penalties(solver):
    """Kernels that can tell all points apart leave no loss, those that cannot some."""
    free = SOLVERS[solver](make_problem(0, kind="random", lam=0.0, beta=0.0))
    assert free.objective == pytest.approx(0.0, abs=1e-8)
    rng = np.random.RandomState(0)
    x = rng.normal(size=30)
    y = np.where(rng.normal(size=30) > 0, 1.0, -1.0)
    poor = VotedProblem(np.outer(x, x)[None], y, np.zeros(1))
    least = slow_minimum(poor)
    assert least > 0.5
    assert SOLVERS[solver](poor).objective == pytest.approx(least, rel=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_an_infinite_penalty_leaves_a_kernel_out(solver):
    problem = make_problem(0, n_kernels=3)
    left_out = replace(problem, penalties=np.array([np.inf, 0.02, 0.03]))
    without = VotedProblem(problem.grams[1:], problem.y, np.array([0.02, 0.03]))
    found, expected = SOLVERS[solver](left_out), SOLVERS[solver](without)
    assert found.objective == pytest.approx(expected.objective, rel=1e-6)
    assert 0 not in found.kernels
    nothing = SOLVERS[solver](replace(problem, penalties=np.full(3, np.inf)))
    assert not len(nothing.coef)
    assert nothing.objective == 1.0


def test_a_path_may_leave_a_kernel_out_halfway():
    problem = make_problem(0, n_kernels=3)
    generation = ColumnGeneration(problem)
    with_all = generation.solve(np.full(3, 0.01))
    penalties = np.array([np.inf, 0.01, 0.01])
    found = generation.solve(penalties)
    assert 0 in with_all.kernels
    assert 0 not in found.kernels
    expected = solve_program(replace(problem, penalties=penalties)).objective
    assert found.objective == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_kernels_of_wildly_different_scale(solver):
    """Multiplying a kernel and its penalty divides its coefficients and changes nothing else."""
    problem = make_problem(2, 25, 3, "polynomial", 1e-3, 1e-3)
    factors = np.array([1e-9, 1.0, 1e9])
    scaled = VotedProblem(
        problem.grams * factors[:, None, None], problem.y, problem.penalties * factors
    )
    found, expected = SOLVERS[solver](scaled), SOLVERS[solver](problem)
    assert found.objective == pytest.approx(expected.objective, rel=1e-5)
    # with the same penalties a kernel of larger values is the cheaper one, and the rest unused
    unfair = problem.grams * np.array([1e-6, 1.0, 1e3])[:, None, None]
    found = SOLVERS[solver](VotedProblem(unfair, problem.y, np.full(3, 0.1)))
    assert set(found.kernels) == {2}


@pytest.mark.parametrize("solver", SOLVERS)
def test_duplicated_points(solver):
    """Each point twice: the same losses on average, and the same minimum."""
    problem = make_problem(4, 15, 2, "polynomial")
    twice = np.repeat(np.arange(15), 2)
    doubled = VotedProblem(
        problem.grams[:, twice][:, :, twice], problem.y[twice], problem.penalties
    )
    found, expected = SOLVERS[solver](doubled), SOLVERS[solver](problem)
    assert found.objective == pytest.approx(expected.objective, rel=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_duplicated_points_that_contradict(solver):
    grams = np.ones((1, 4, 4))
    problem = VotedProblem(grams, np.array([1.0, -1.0, 1.0, 1.0]), np.array([0.01]))
    found = SOLVERS[solver](problem)
    assert found.objective == pytest.approx(0.51, rel=1e-6)
    assert found.coef.sum() == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_kernel_of_zeros(solver):
    problem = VotedProblem(np.zeros((2, 5, 5)), np.array([1.0, -1, 1, 1, -1]), np.zeros(2))
    found = SOLVERS[solver](problem)
    assert found.objective == 1.0
    assert not len(found.coef)


def test_points_of_one_kind_only():
    """Labels that all agree are no problem for the program (the estimators refuse them)."""
    problem = replace(make_problem(0, kind="polynomial"), y=np.ones(20))
    expected = slow_minimum(problem)
    for solve in SOLVERS.values():
        assert solve(problem).objective == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("degree", [1, 2, 3, 10])
@pytest.mark.parametrize("beta", [1e-3, 1.0, 1e3])
def test_columns_that_rounding_errors_alone_tell_apart(degree, beta):
    """Data that nobody scaled: the gap is closed, or the warning says what to do."""
    rng = np.random.RandomState(degree)
    X = rng.normal(loc=100, size=(60, 2))
    y = np.where(rng.normal(size=60) > 0, 1.0, -1.0)
    problem = VotedProblem((X @ X.T + 1)[None] ** degree, y, np.array([beta]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = by_columns(problem)
    assert len(found.coef) <= (degree + 1) * (degree + 2) // 2  # the number of monomials
    assert found.bound <= found.objective <= 1.0
    assert found.converged == (not caught)
    # with 30 other seeds: all converged from 1e-8 on, 27 of 30 at 1e-10, none at 1e-13
    assert found.converged or beta < 1e-8 * problem.scales.max()
    assert all("scale the data" in str(warning.message) for warning in caught)


def test_restricted_program_is_a_fallback(monkeypatch):
    """Where pivots fail HiGHS solves the program on the columns at hand."""
    problem = make_problem(5, 30, 3, "polynomial")
    expected = by_columns(problem)
    failing = ColumnGeneration(problem)
    monkeypatch.setattr(pivots, "pivot", lambda *_: (pivots.STUCK, 0))
    found = failing.solve(problem.penalties)
    assert found.objective == pytest.approx(expected.objective, rel=1e-5)
    assert found.converged


def test_the_fallback_mends_dual_weights_of_an_optimal_vertex(monkeypatch):
    """Rounding errors may spoil only the weights: HiGHS's coefficients are then no better."""
    problem = make_problem(5, 30, 3, "polynomial")
    expected = by_columns(problem)
    pivot, program = pivots.pivot, column_generation.restricted_program

    def spoiled(vertex, size, costs):
        outcome = pivot(vertex, size, costs)
        vertex.multipliers[:] = 1.0
        return outcome

    def worse(columns, costs, limits):
        alpha, weights, n_iter = program(columns, costs, limits)
        return alpha * (1 + 1e-4), weights, n_iter

    monkeypatch.setattr(pivots, "pivot", spoiled)
    monkeypatch.setattr(column_generation, "restricted_program", worse)
    found = ColumnGeneration(problem).solve(problem.penalties)
    assert found.objective == pytest.approx(expected.objective, rel=1e-6)
    assert found.converged


@pytest.mark.parametrize("solver", ["columns", "coordinates"])
def test_warns_when_stopped_early(solver):
    problem = make_problem(0, 40, 4, "random", 1e-4, 1e-4)
    with pytest.warns(ConvergenceWarning, match=r"stopped after 1 .* gap of"):
        found = SOLVERS[solver](problem, max_iter=1)
    assert not found.converged
    assert found.bound <= slow_minimum(problem) + 1e-9 <= found.objective + 1e-8


def test_plain_coordinate_descent_halts_before_the_minimum():
    """Why hinges are smoothed: here no coefficient alone can improve, both together can."""
    problem = VotedProblem(np.array([[[2.0, -1.0], [-1.0, 2.0]]]), np.ones(2), np.array([0.75]))

    def at(a, b):
        return Solution(np.zeros(2, int), np.arange(2), np.array([a, b]))

    here = problem.objective(at(1, 1))
    steps = np.linspace(-5, 5, 2001)
    assert min(problem.objective(at(1 + step, 1)) for step in steps) >= here
    assert min(problem.objective(at(1, 1 + step)) for step in steps) >= here
    assert problem.objective(at(0.5, 0.5)) < here - 0.2
    found = descend(problem, start=at(1.0, 1.0))
    assert found.objective == pytest.approx(slow_minimum(problem), rel=1e-6)
