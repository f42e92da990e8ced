"""The weights of least loss: linear programs and bounded least squares."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

_MAX_STEPS = 10000


def least_absolute(
    averages: NDArray[np.float64],
    target: NDArray[np.float64],
    epsilon: float,
    bound: float,
    tau: float,
) -> NDArray[np.float64]:
    """Minimise Σ [|averages @ v - target| - ε]₊ over |v| ≤ B / τ, mean |v| ≤ B."""
    n = len(target)
    at = sparse.eye_array(n)
    # Variables: positive and negative parts of v, what is forgiven, what is lacking or too much.
    sizes = (n, n, n, n, n)
    solution = linear_program(
        np.repeat([0, 0, 0, 1, 1], sizes),
        A_ub=blocks([[np.ones((1, n)), np.ones((1, n)), None, None, None]], sizes),
        b_ub=np.array([n * bound]),
        A_eq=blocks([[averages, -averages, at, at, -at]], sizes),
        b_eq=target,
        lower=np.repeat([0, 0, -epsilon, 0, 0], sizes),
        upper=np.repeat([bound / tau, bound / tau, epsilon, np.inf, np.inf], sizes),
    )
    return solution[:n] - solution[n : 2 * n]


def split_weights(
    v: NDArray[np.float64], bound: float, tau: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Write v = R w / τ with |w| ≤ B and R in [0, 1] of mean τ."""
    least = np.clip(np.abs(v) * (tau / bound), 0.0, 1.0)
    room, missing = 1 - least.mean(), tau - least.mean()
    choice = least + (1 - least) * (missing / room if missing > 0 else 0.0)
    weights = np.divide(tau * v, choice, out=np.zeros_like(v), where=choice > 0)
    return np.clip(weights, -bound, bound), choice


def blocks(rows: list[list[Any]], sizes: tuple[int, ...]) -> sparse.csr_array:
    """Stack blocks, None being zeros, also where a column of blocks has no other."""
    full = [
        [
            sparse.csr_array((next(b.shape[0] for b in row if b is not None), size))
            if block is None
            else sparse.csr_array(block)
            for block, size in zip(row, sizes, strict=True)
        ]
        for row in rows
    ]
    return sparse.csr_array(sparse.block_array(full))


def linear_program(
    costs: NDArray[Any], *, lower: NDArray[Any], upper: NDArray[Any], **constraints: Any
) -> NDArray[np.float64]:
    from scipy.optimize import linprog

    bounds = np.column_stack([lower, upper])
    result = linprog(costs, bounds=bounds, method="highs", **constraints)
    if not result.success:
        raise ValueError(f"no best weights were found: {result.message}")
    return np.clip(result.x, lower, upper)


def bounded_least_squares(
    averages: NDArray[np.float64], target: NDArray[np.float64], bound: float
) -> NDArray[np.float64]:
    """Minimise ‖averages @ w - target‖ over |w| ≤ B."""
    from scipy.optimize import lsq_linear

    # Gram matrices have tiny eigenvalues: "trf" stops far from the minimum, or never
    result = lsq_linear(averages, target, (-bound, bound), method="bvls", max_iter=_MAX_STEPS)
    if not result.success:
        warnings.warn(
            f"the best weights were not reached in {_MAX_STEPS} steps: {result.message}",
            ConvergenceWarning,
            stacklevel=3,
        )
    return result.x
