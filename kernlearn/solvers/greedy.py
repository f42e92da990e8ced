"""Sparse least squares by fully corrective forward greedy selection of columns."""

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import qr, solve_triangular
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_batches

Floats = np.ndarray

RULES = ("gradient", "correlation", "decrease")

_BLOCK_ROWS = 2048  # rows of float32 that are converted to float64 at a time
# Computing one column of the Gram matrix by reading all features takes as long as this many
# columns of the product that gives the whole matrix.
_COLUMNS_PER_PASS = 24
# Squared sine of the angle to the span of the chosen columns below which a column is skipped:
# the Gram matrix is accurate to about 1e-15.
_DEPENDENT = 1e-8
# Minimum of the squared sine and of the share of ‖y‖² left for which weights and losses are
# computed from the Gram matrix. On smooth kernels in up to 3 dimensions, weights are then
# accurate to 1e-8.
_ACCURATE = 1e-5
_UNCORRELATED = 1e-10  # cosine of the angle to the residual, relative to the targets
_TIE = 1e-10  # relative difference between equal columns due to rounding


@dataclass(frozen=True)
class GreedyPath:
    """Predictors with an increasing number of columns.

    Attributes
    ----------
    columns : ndarray of shape (n_chosen,)
        Indices of the columns in the order in which they were chosen.
    coef : ndarray of shape (n_chosen, n_chosen)
        Row k - 1 contains the weights of the first k columns, followed by zeros.
    losses : ndarray of shape (n_chosen,)
        Objective for each row of `coef`.
    n_iter : int
        Number of steps.
    gap : float
        Bound on the excess of the last loss over the minimum within the norm bound; NaN for
        `fully_corrective_path`.
    """

    columns: np.ndarray
    coef: Floats
    losses: Floats
    n_iter: int
    gap: float = math.nan

    def first(self, k: int) -> "GreedyPath":
        """Return the path with the first k columns."""
        return replace(
            self, columns=self.columns[:k], coef=self.coef[:k, :k], losses=self.losses[:k]
        )


def fully_corrective_path(
    features: np.ndarray,
    y: np.ndarray,
    n_columns: int,
    *,
    rule: str = "gradient",
    ridge: float = 0.0,
) -> GreedyPath:
    """Select columns one by one, each time solving least squares on all selected columns.

    For each k it minimises ‖y − F_S w‖² + ridge ‖w‖² over the k columns S selected so far, by a
    Cholesky factor of the Gram matrix that grows by one row per step, at a cost of
    n_features · k. Where columns are nearly dependent or the residual is small, the factor is
    computed again from the selected columns, by QR. Predictions are accurate to about 1e-9 ‖y‖.

    Parameters
    ----------
    features : ndarray of shape (n_samples, n_features)
        Finite numbers, converted to float64 in blocks of rows.
    y : ndarray of shape (n_samples,)
        Targets.
    n_columns : int
        Maximum number of columns. Fewer are selected where no other one helps: each is within
        an angle of 1e-4 of the span of those selected, or uncorrelated with the residual
        (|fᵀr| ≤ 1e-10 ‖f‖ ‖y‖).
    rule : {"gradient", "correlation", "decrease"}, default="gradient"
        Criterion for the next column, in terms of its product c with the residual: the largest
        |c|, as in line 4 of algorithm 6; the largest |c| divided by the column's norm, as in
        orthogonal matching pursuit on scaled columns; or the largest decrease of the objective.
        Ties, to a relative 1e-10, go to the first column.
    ridge : float, default=0.0
        Weight of the squared norm.

    Returns
    -------
    GreedyPath

    References
    ----------
    Shalev-Shwartz, Srebro & Zhang (2010), *Trading accuracy for sparsity in optimization
    problems with sparsity constraints*, algorithm 3. Kar (2013), sections 5.3.2.1 and 5.4.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.solvers.greedy import fully_corrective_path
    >>> F = np.array([[1.0, 0, 3], [0, 1, 0], [0, 1, 4]])
    >>> path = fully_corrective_path(F, np.array([0.0, 2, 2]), 3)
    >>> path.columns, path.losses.round(2)
    (array([2, 1]), array([5.44, 0.  ]))
    """
    return LeastSquares(features, y, n_columns).path(n_columns, rule=rule, ridge=ridge)


class LeastSquares:
    """Least squares on a selection of columns, for several selections of the same columns.

    Parameters
    ----------
    features : ndarray of shape (n_samples, n_features)
        Finite numbers, converted to float64 in blocks of rows.
    y : ndarray of shape (n_samples,)
        Targets.
    n_columns : int or None, default=None
        How many columns will be selected, if that is done once: of few columns each product with
        all others is computed when it is needed, and not all products at first.
    """

    def __init__(self, features: np.ndarray, y: np.ndarray, n_columns: int | None = None) -> None:
        self.features = features
        self.y = np.asarray(y, dtype=np.float64)
        self.products = _products(features, self.y)
        few = n_columns is not None and n_columns * _COLUMNS_PER_PASS < features.shape[1]
        blocks = _blocks(features)
        self._gram: Any = None
        if few:
            self.squares: Any = sum(np.einsum("ij,ij->j", block, block) for _, block in blocks)
        else:
            self._gram = sum(block.T @ block for _, block in blocks)
            self.squares = self._gram.diagonal().copy()

    def gram_column(self, j: int) -> Floats:
        """Return the products of a column with all columns."""
        if self._gram is not None:
            return self._gram[j]
        return _products(self.features, self.features[:, j].astype(np.float64))

    def path(self, n_columns: int, *, rule: str = "gradient", ridge: float = 0.0) -> GreedyPath:
        """Select columns one by one, see :func:`fully_corrective_path`."""
        columns, triangle, accurate = _choose(
            self, min(n_columns, self.features.shape[1]), rule, ridge
        )
        if not accurate:
            triangle = _triangle(self.features[:, columns], self.y, ridge)
        coef, losses = _weights(triangle)
        return GreedyPath(columns, coef, losses, len(columns))


def _blocks(features: np.ndarray) -> Iterator[tuple[slice, Floats]]:
    """Yield all rows in float64, in blocks if they have to be converted."""
    n_rows = len(features)
    for rows in gen_batches(n_rows, n_rows if features.dtype == np.float64 else _BLOCK_ROWS):
        yield rows, np.asarray(features[rows], dtype=np.float64)


def _products(features: np.ndarray, vector: Floats) -> Floats:
    """Return the products of all columns with a vector."""
    products = np.zeros(features.shape[1])
    for rows, block in _blocks(features):
        products += block.T @ vector[rows]
    return products


def _choose(
    problem: LeastSquares, n_columns: int, rule: str, ridge: float
) -> tuple[np.ndarray, Floats, bool]:
    """Return the columns in order, the triangle for `_weights`, and whether it is accurate.

    The penalty adds one entry to each column, the root of `ridge`, in a separate row: only the
    diagonal of the Gram matrix changes.
    """
    norms, y = problem.squares, problem.y
    squares = norms + ridge
    products = problem.products.copy()  # of the columns with the residual
    left = squares.copy()  # squared distance of each column from the span of those chosen
    factor = np.empty((n_columns, len(squares)))
    projections = np.empty(n_columns)  # of y on the direction that each column adds
    y_square = float(y @ y)
    least = _UNCORRELATED * math.sqrt(y_square) * np.sqrt(squares)
    free = np.ones(len(squares), dtype=bool)
    columns: list[int] = []
    smallest = 1.0
    for k in range(n_columns):
        free &= left > _DEPENDENT * squares
        scores = np.abs(products)
        useful = free & (scores > least)
        if not useful.any():
            break
        if rule != "gradient":
            lengths = norms if rule == "correlation" else left
            scores[useful] /= np.sqrt(lengths[useful])
        scores[~useful] = -1.0
        j = int((scores >= scores.max() * (1 - _TIE)).argmax())
        smallest = min(smallest, left[j] / squares[j])
        row = factor[k]
        row[:] = problem.gram_column(j)
        row[j] += ridge
        row -= factor[:k, j] @ factor[:k]
        row /= math.sqrt(row[j])
        projections[k] = products[j] / row[j]
        products -= row * projections[k]
        left -= row**2
        free[j] = False
        columns.append(j)
    n_chosen = len(columns)
    triangle = np.zeros((n_chosen + 1, n_chosen + 1))
    triangle[:-1, :-1] = factor[:n_chosen, columns]
    triangle[:-1, -1] = projections[:n_chosen]
    rest = y_square - float(triangle[:, -1] @ triangle[:, -1])
    triangle[-1, -1] = math.sqrt(max(rest, 0.0))
    accurate = smallest > _ACCURATE and rest > _ACCURATE * y_square
    return np.array(columns, dtype=np.intp), triangle, accurate


def _triangle(chosen: np.ndarray, y: Floats, ridge: float) -> Floats:
    """Return the QR factor of the chosen columns followed by the targets."""
    n_chosen = chosen.shape[1]
    penalty = np.zeros((n_chosen if ridge else 0, n_chosen + 1))
    np.fill_diagonal(penalty, math.sqrt(ridge))
    rows = np.vstack([np.column_stack([chosen, y]), penalty])
    return qr(rows, mode="r", overwrite_a=True, check_finite=False)[0][: n_chosen + 1]


def _weights(triangle: Floats) -> tuple[Floats, Floats]:
    """Solve least squares for the first column, the first two, and so on, by one factor."""
    n_chosen = triangle.shape[1] - 1
    coef, losses = np.zeros((n_chosen, n_chosen)), np.empty(n_chosen)
    for k in range(1, n_chosen + 1):
        coef[k - 1, :k] = solve_triangular(triangle[:k, :k], triangle[:k, -1])
        losses[k - 1] = triangle[k:, -1] @ triangle[k:, -1]
    return coef, losses


def forward_greedy(
    features: np.ndarray,
    y: np.ndarray,
    *,
    norm_bound: float,
    tol: float,
    epsilon: float = 0.1,
    beta: float | None = None,
    max_columns: int | None = None,
    max_iter: int = 10_000,
) -> GreedyPath:
    r"""Fit a sparse predictor of bounded 1-norm with a smooth ε-insensitive loss: algorithm 6.

    It minimises the mean of :math:`\tilde\ell_\beta(\langle w, x_i\rangle, y_i)` over
    :math:`\|w\|_1 \le C_W` and stops within `tol` of the minimum: when the gap δ is at most
    `tol`, or after :math:`\lceil 8 C_W^2 \beta c^2 / tol \rceil` steps, which suffice. For
    :math:`\beta = 1/tol` and c = 1 this is the number of the thesis.

    It differs from the printed algorithm in two points: c is the largest absolute entry of the
    features, and :math:`\beta c^2` replaces β, as the proof needs where the thesis assumes
    entries of at most 1; and the w after the last step is returned instead of the one before.

    Parameters
    ----------
    features : ndarray of shape (n_samples, n_features)
        Finite numbers, converted to float64.
    y : ndarray of shape (n_samples,)
        Targets.
    norm_bound : float
        Maximum 1-norm C_W of the weights.
    tol : float
        Allowed excess ε of the mean loss over its minimum.
    epsilon : float, default=0.1
        Half width of the tube without loss, in the unit of y.
    beta : float or None, default=None
        Smoothness of the loss, which is within 1 / (2 beta) of the ε-insensitive one; None is
        1 / tol.
    max_columns : int or None, default=None
        Maximum number of columns: the algorithm ends before a step that would add another.
    max_iter : int, default=10000
        Maximum number of steps.

    Returns
    -------
    GreedyPath
        Row k - 1 of ``coef`` is the last w with at most k columns.

    Warns
    -----
    ConvergenceWarning
        If the gap is above `tol` after `max_iter` steps.

    References
    ----------
    Shalev-Shwartz, Srebro & Zhang (2010), theorem 2.4. Kar (2013), algorithm 6 and section
    5.3.2.1.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.solvers.greedy import forward_greedy
    >>> F = np.array([[1.0, 0, 0.5], [0, 1, 0], [0, 1, -1]])
    >>> path = forward_greedy(F, np.array([0.0, 1, 1]), norm_bound=1, tol=0.01)
    >>> path.columns, path.coef.round(2)
    (array([1]), array([[0.9]]))
    """
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

    `errors` are predictions minus targets; `beta` is the second derivative near ±`epsilon`.
    """
    excess = np.maximum(np.abs(errors) - epsilon, 0.0)
    curved = np.minimum(excess, 1 / beta)
    return beta * curved * (excess - curved / 2)


def _slope(errors: Floats, epsilon: float, beta: float) -> Floats:
    """Return the derivative of `insensitive_loss`."""
    excess = np.maximum(np.abs(errors) - epsilon, 0.0)
    return np.sign(errors) * np.minimum(beta * excess, 1.0)
