"""Sparse regression with a smooth insensitive loss and a bounded 1-norm (algorithm 6)."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from kernlearn.solvers._greedy import Floats, GreedyPath, check_problem


def forward_greedy(
    features: NDArray[np.floating],
    y: NDArray[Any],
    *,
    norm_bound: float,
    tol: float,
    epsilon: float = 0.1,
    beta: float | None = None,
    max_columns: int | None = None,
    max_iter: int = 10_000,
) -> GreedyPath:
    r"""Algorithm 6: a sparse predictor of bounded 1-norm with a smooth insensitive loss.

    It minimises the mean of :math:`\tilde\ell_\beta(\langle w, x_i\rangle, y_i)` over
    :math:`\|w\|_1 \le C_W` and stops within `tol` of the minimum: when the gap δ is at most
    `tol`, or after :math:`\lceil 8 C_W^2 \beta c^2 / tol \rceil` steps, which are enough. For
    :math:`\beta = 1/tol` and c = 1 that is the number of the thesis.

    What differs from the print: c is the greatest absolute entry of the features, and
    :math:`\beta c^2` stands for β, which the proof needs where the thesis takes entries to be at
    most 1; the w after the last step is returned, where the print returns the one before it.

    Parameters
    ----------
    features : ndarray of shape (n_samples, n_features)
        Finite numbers, computed with in float64.
    y : ndarray of shape (n_samples,)
        Targets.
    norm_bound : float
        Greatest 1-norm C_W of the weights.
    tol : float
        Error ε that is accepted in the mean loss.
    epsilon : float, default=0.1
        Error of a prediction that costs nothing, in the unit of y.
    beta : float or None, default=None
        Smoothness of the loss, which is within 1 / (2 beta) of the ε-insensitive one; None is
        1 / tol.
    max_columns : int or None, default=None
        Greatest number of columns: the algorithm ends before a step that adds one more.
    max_iter : int, default=10000
        Greatest number of steps.

    Returns
    -------
    GreedyPath
        Row k - 1 of ``coef`` is the last w with no more than k columns.

    Raises
    ------
    ValueError
        If shapes do not match.

    Warns
    -----
    ConvergenceWarning
        If `max_iter` steps were too few.

    References
    ----------
    Shalev-Shwartz, Srebro & Zhang (2010), theorem 2.4. Kar (2013), algorithm 6 and section
    5.3.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.solvers._bounded_greedy import forward_greedy
    >>> F = np.array([[1.0, 0, 0.5], [0, 1, 0], [0, 1, -1]])
    >>> path = forward_greedy(F, np.array([0.0, 1, 1]), norm_bound=1, tol=0.01)
    >>> path.columns, path.coef.round(2)
    (array([1]), array([[0.9]]))
    """
    check_problem(features, y)
    F, y = np.asarray(features, dtype=np.float64), np.asarray(y, dtype=np.float64)
    beta = 1 / tol if beta is None else beta
    curvature = 4 * norm_bound**2 * beta * float(np.abs(F).max()) ** 2
    enough = 2 * curvature / tol
    last = math.ceil(min(enough, max_iter))
    w, errors = np.zeros(F.shape[1]), -y
    columns: list[int] = []
    stages: list[tuple[Floats, float]] = []

    def keep() -> None:
        if columns:
            stages.append((w[columns], float(insensitive_loss(errors, epsilon, beta).mean())))

    for n_iter in range(last + 1):
        theta = F.T @ _slope(errors, epsilon, beta) / len(y)
        j = int(np.abs(theta).argmax())
        gap = float(theta @ w) + norm_bound * abs(theta[j])
        if gap <= tol or n_iter == last or (j not in columns and len(columns) == max_columns):
            break
        if j not in columns:
            keep()
            columns.append(j)
        eta = min(1.0, gap / curvature)
        target = -math.copysign(norm_bound, theta[j])
        w *= 1 - eta
        w[j] += eta * target
        errors = (1 - eta) * errors + eta * (target * F[:, j] - y)
    keep()
    if gap > tol and n_iter == max_iter < enough:
        warnings.warn(
            f"max_iter={max_iter} steps leave a gap of {gap:.3g}, above tol={tol}: allow more, "
            "or a greater tol",
            ConvergenceWarning,
            stacklevel=2,
        )
    coef = np.zeros((len(columns),) * 2)
    for row, (weights, _) in zip(coef, stages, strict=True):
        row[: len(weights)] = weights
    losses = np.array([loss for _, loss in stages])
    return GreedyPath(np.array(columns, dtype=np.intp), coef, losses, n_iter, gap)


def insensitive_loss(errors: Floats, epsilon: float, beta: float) -> Floats:
    r"""Return the smoothed ε-insensitive loss :math:`\tilde\ell_\beta` of section 5.3.2.1.

    Parameters
    ----------
    errors : ndarray
        Predictions less targets.
    epsilon : float
        Absolute error that costs nothing.
    beta : float
        Its second derivative where it is not straight.

    Returns
    -------
    ndarray
        Of the shape of `errors`.
    """
    excess = np.maximum(np.abs(errors) - epsilon, 0.0)
    curved = np.minimum(excess, 1 / beta)
    return beta * curved * (excess - curved / 2)


def _slope(errors: Floats, epsilon: float, beta: float) -> Floats:
    """Return the derivative of that loss."""
    excess = np.maximum(np.abs(errors) - epsilon, 0.0)
    return np.sign(errors) * np.minimum(beta * excess, 1.0)
