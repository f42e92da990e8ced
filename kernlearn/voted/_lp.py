"""The whole problem as one linear program, by HiGHS (section 5.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from kernlearn.voted._problem import Solution, VotedProblem, solution_of


def solve_program(problem: VotedProblem, *, tol: float = 1e-6) -> Solution:
    """Solve the linear program of section 5.1 with all its columns.

    It has 2 · n_kernels · n_points + n_samples variables and holds all their coefficients, so
    that it is for small problems and for checking others.

    Parameters
    ----------
    problem : VotedProblem
    tol : float, default=1e-6
        Largest relative gap at which the solution counts as converged.

    Returns
    -------
    Solution

    Raises
    ------
    RuntimeError
        If HiGHS finds no solution.
    """
    allowed = problem.allowed
    m, n_points = problem.n_samples, problem.n_points
    places = (allowed[:, None] * n_points + np.arange(n_points)).ravel()
    scales = problem.scales.ravel()[places]
    columns = (
        problem.y[:, None] * problem.grams[allowed].transpose(1, 0, 2).reshape(m, -1) / scales
    )
    costs = m * np.repeat(problem.penalties[allowed], n_points) / scales
    # one that costs more than it can ever gain stays 0; its cost would only spoil the scaling
    useful = costs <= np.abs(columns).sum(axis=0)
    places, scales, columns, costs = (
        places[useful],
        scales[useful],
        columns[:, useful],
        costs[useful],
    )
    if not len(places):
        return solution_of(problem, places, np.zeros(0), np.ones(m), tol=tol, n_iter=0)
    result = _run(columns, costs)
    alpha = result.x[: len(places)] - result.x[len(places) : 2 * len(places)]
    weights = -result.ineqlin.marginals
    return solution_of(problem, places, alpha / scales, weights, tol=tol, n_iter=result.nit)


def restricted_program(
    columns: NDArray[np.float64], costs: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Minimise Σ max(0, 1 - (A α)_i) + Σ c_j |α_j|.

    Parameters
    ----------
    columns : ndarray of shape (n_rows, n_columns)
        A.
    costs : ndarray of shape (n_columns,)

    Returns
    -------
    alpha : ndarray of shape (n_columns,)
    weights : ndarray of shape (n_rows,)
        The dual solution, in [0, 1].
    """
    result = _run(columns, costs)
    n = len(costs)
    return result.x[:n] - result.x[n : 2 * n], np.clip(-result.ineqlin.marginals, 0.0, 1.0)


def _run(columns: NDArray[np.float64], costs: NDArray[np.float64]) -> Any:
    from scipy.optimize import linprog

    m = len(columns)
    block = sparse.csc_array(-columns)
    # Variables: positive and negative parts of α, losses.
    constraints = sparse.hstack([block, -block, -sparse.eye_array(m)], format="csc")
    result = linprog(
        np.concatenate([costs, costs, np.ones(m)]),
        A_ub=constraints, b_ub=-np.ones(m), method="highs",
    )  # fmt: skip
    if not result.success:
        raise RuntimeError(f"HiGHS found no solution: {result.message}")
    return result
