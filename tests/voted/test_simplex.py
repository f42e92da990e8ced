"""Column generation against the linear program as it is written, and conditions of optimality."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from kernlearn.voted import simplex
from kernlearn.voted.simplex import ColumnGeneration, VotedProblem


def make_problem(seed, m=20, n_kernels=3, kind="random", lam=0.01, beta=0.01):
    """A problem whose kernels are of a kind: random numbers, polynomials, indefinite."""
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(m, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(X[:, 0] + 0.4 * rng.normal(size=m) > 0, 1.0, -1.0)
    inner = X @ X.T
    grams = {
        "random": lambda k: rng.normal(size=(m, m)),
        "polynomial": lambda k: (inner + 1) ** (k + 1),
        "indefinite": lambda k: np.tanh((k + 1) * inner - 1),
    }[kind]
    grams = np.array([grams(k) for k in range(n_kernels)])
    return VotedProblem(grams, y, lam * (1.0 + np.arange(n_kernels)) + beta)


def solve(problem, **how):
    return ColumnGeneration(problem, **how).solve(problem.penalties)


def dense(problem, solution):
    coef = np.zeros(problem.grams.shape[::2])
    coef[solution.kernels, solution.points] = solution.coef
    return coef


def slow_objective(problem, coef):
    """Equation (1), where f(x_i) is the sum of y_j alpha_kj K_k(x_i, x_j)."""
    alpha = problem.y * coef
    f = sum(gram @ (problem.y * of) for gram, of in zip(problem.grams, alpha, strict=True))
    losses = problem.weights * np.maximum(0.0, 1 - problem.y * f)
    return losses.mean() + (problem.penalties[:, np.newaxis] * np.abs(alpha)).sum()


def slow_minimum(problem):
    """The linear program of section 5.1 as it is written, with dense constraints."""
    m, signs = len(problem.y), np.outer(problem.y, problem.y)
    columns = np.hstack([signs * gram for gram in problem.grams])
    constraints = np.hstack([-columns, columns, -np.eye(m)])
    costs = [*np.repeat(problem.penalties, m), *np.repeat(problem.penalties, m)]
    return linprog([*costs, *problem.weights / m], constraints, -np.ones(m)).fun


@pytest.mark.parametrize("kind", ["random", "polynomial", "indefinite"])
@pytest.mark.parametrize("penalties", [(0.1, 0.01), (1e-3, 1e-2), (0.0, 1e-3), (1e-4, 0.0)])
@pytest.mark.parametrize("weighted", [False, True])
def test_minimum_of_the_program_as_written(kind, penalties, weighted):
    for seed in range(2):
        problem = make_problem(seed, 15, 3, kind, *penalties)
        if weighted:
            problem = replace(problem, weights=np.random.RandomState(seed).uniform(0.1, 3, 15))
        solution = solve(problem)
        least = slow_minimum(problem)
        assert solution.objective == pytest.approx(least, rel=1e-5, abs=1e-9)
        assert slow_objective(problem, dense(problem, solution)) == pytest.approx(
            solution.objective
        )
        assert solution.converged
        assert solution.bound <= least * (1 + 1e-6) + 1e-9


def test_ten_polynomials_of_more_points():
    problem = make_problem(0, 60, 10, "polynomial", 1e-3, 1e-3)
    solution = solve(problem)
    assert solution.objective == pytest.approx(slow_minimum(problem), rel=1e-5)
    assert len(np.unique(solution.points)) < 40


def kkt_residuals(problem, solution, dual):
    """Violations of the conditions of optimality."""
    m = len(problem.y)
    slack = 1 - problem.y * np.einsum("kj,kij", dense(problem, solution), problem.grams)
    correlations = problem.correlations(dual) / m
    penalties = problem.penalties
    at = correlations[solution.kernels, solution.points]
    away = np.abs(at - penalties[solution.kernels] * np.sign(solution.coef))
    return {
        "box": float(np.maximum(-dual, dual - 1).max(initial=0.0)),
        "loss": float(np.where(slack > 0, (1 - dual) * slack, -dual * slack).mean()),
        "column": float((np.abs(correlations) - penalties[:, None]).max()),
        "coefficient": float(np.abs(solution.coef) @ away),
    }


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
    solution = generation.solve(problem.penalties)
    assert max(kkt_residuals(problem, solution, generation.dual).values()) <= 1e-7
    # a vertex has no more coefficients than points
    assert len(solution.coef) <= m


@pytest.mark.parametrize("kind", ["random", "polynomial"])
def test_any_order_of_penalties_gives_the_same(kind):
    """Starting from a neighbour's vertex changes nothing but the number of rounds."""
    problem = make_problem(3, 40, 4, kind)
    generation = ColumnGeneration(problem)
    for level in [10.0, 1e-2, 1e-4, 1.0, 1e-3, 1e-1, 1e-5, 1e-2]:
        penalties = level * np.array([1.0, 3.0, 0.5, 2.0])
        warm = generation.solve(penalties)
        cold = solve(replace(problem, penalties=penalties))
        assert warm.objective == pytest.approx(cold.objective, rel=2e-6)
    assert warm.n_iter < cold.n_iter


def test_huge_and_no_penalties():
    huge = solve(make_problem(0, lam=100.0, beta=100.0))
    assert not len(huge.coef)
    assert huge.objective == huge.bound == 1.0
    # kernels that separate all points leave no loss, those that cannot some
    free = solve(make_problem(0, kind="random", lam=0.0, beta=0.0))
    assert free.objective == pytest.approx(0.0, abs=1e-8)
    rng = np.random.RandomState(0)
    x = rng.normal(size=30)
    y = np.where(rng.normal(size=30) > 0, 1.0, -1.0)
    poor = VotedProblem(np.outer(x, x)[None], y, np.zeros(1))
    least = slow_minimum(poor)
    assert least > 0.5
    assert solve(poor).objective == pytest.approx(least, rel=1e-5)


def test_an_infinite_penalty_excludes_a_kernel():
    problem = make_problem(0, n_kernels=3)
    excluded = solve(replace(problem, penalties=np.array([np.inf, 0.02, 0.03])))
    without = solve(VotedProblem(problem.grams[1:], problem.y, np.array([0.02, 0.03])))
    assert excluded.objective == pytest.approx(without.objective, rel=1e-6)
    assert 0 not in excluded.kernels
    nothing = solve(replace(problem, penalties=np.full(3, np.inf)))
    assert (len(nothing.coef), nothing.objective) == (0, 1.0)


def test_kernels_of_wildly_different_scale():
    """Multiplying a kernel and its penalty divides its coefficients and changes nothing else."""
    problem = make_problem(2, 25, 3, "polynomial", 1e-3, 1e-3)
    factors = np.array([1e-9, 1.0, 1e9])
    scaled = VotedProblem(
        problem.grams * factors[:, None, None], problem.y, problem.penalties * factors
    )
    assert solve(scaled).objective == pytest.approx(solve(problem).objective, rel=1e-5)
    # with the same penalties a kernel of larger values is the cheaper one, and the rest unused
    unfair = problem.grams * np.array([1e-6, 1.0, 1e3])[:, None, None]
    assert set(solve(VotedProblem(unfair, problem.y, np.full(3, 0.1))).kernels) == {2}


def test_degenerate_problems():
    # each point twice: the same losses on average, and the same minimum
    problem = make_problem(4, 15, 2, "polynomial")
    twice = np.repeat(np.arange(15), 2)
    grams = problem.grams[:, twice][:, :, twice]
    doubled = VotedProblem(grams, problem.y[twice], problem.penalties)
    assert solve(doubled).objective == pytest.approx(solve(problem).objective, rel=1e-5)
    # duplicates that contradict each other
    same = solve(VotedProblem(np.ones((1, 4, 4)), np.array([1.0, -1, 1, 1]), np.array([0.01])))
    assert (same.objective, same.coef.sum()) == pytest.approx((0.51, 1.0), rel=1e-6)
    # kernels of zeros
    zeros = solve(VotedProblem(np.zeros((2, 5, 5)), np.array([1.0, -1, 1, 1, -1]), np.zeros(2)))
    assert (zeros.objective, len(zeros.coef)) == (1.0, 0)
    # labels that all agree
    alike = replace(make_problem(0, kind="polynomial"), y=np.ones(20))
    assert solve(alike).objective == pytest.approx(slow_minimum(alike), rel=1e-5)


@pytest.mark.parametrize("degree", [1, 2, 3, 10])
@pytest.mark.parametrize("beta", [1e-3, 1.0, 1e3])
def test_columns_that_differ_by_rounding_errors_alone(degree, beta):
    """Data that nobody scaled: the gap is closed, or the warning says what to do."""
    rng = np.random.RandomState(degree)
    X = rng.normal(loc=100, size=(60, 2))
    y = np.where(rng.normal(size=60) > 0, 1.0, -1.0)
    problem = VotedProblem((X @ X.T + 1)[None] ** degree, y, np.array([beta]))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        solution = solve(problem)
    assert len(solution.coef) <= (degree + 1) * (degree + 2) // 2  # the number of monomials
    assert solution.bound <= solution.objective <= 1.0
    assert solution.converged == (not caught)
    # with 30 other seeds: all converged from 1e-8 on, 27 of 30 at 1e-10, none at 1e-13
    assert solution.converged or beta < 1e-8 * problem.scales.max()


def singular(*_):
    raise np.linalg.LinAlgError


@pytest.mark.parametrize("failing", [singular, lambda *_: (False, 3)])
def test_pivots_that_fail_leave_a_gap_and_the_next_problem_begins_anew(failing, monkeypatch):
    problem = make_problem(5, 30, 3, "polynomial")
    generation, least, outcomes = ColumnGeneration(problem), slow_minimum(problem), []
    outcomes += [simplex.pivot, failing]
    monkeypatch.setattr(simplex, "pivot", lambda *given: outcomes.pop(0)(*given))
    with pytest.warns(ConvergenceWarning, match="stopped after 3 rounds"):
        stopped = generation.solve(problem.penalties)
    monkeypatch.undo()
    assert not stopped.converged
    assert stopped.bound <= least <= stopped.objective
    assert generation.solve(problem.penalties).objective == pytest.approx(least, rel=1e-5)


def test_warns_when_stopped_early():
    problem = make_problem(0, 40, 4, "random", 1e-4, 1e-4)
    with pytest.warns(ConvergenceWarning, match="stopped after 1 rounds"):
        solution = solve(problem, max_iter=1)
    assert not solution.converged
    assert solution.bound <= slow_minimum(problem) + 1e-9 <= solution.objective + 1e-8
