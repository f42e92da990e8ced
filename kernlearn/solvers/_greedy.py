"""Sparse least squares by fully corrective forward greedy selection of columns."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular
from sklearn.utils import gen_batches

Floats = NDArray[np.float64]

RULES = ("gradient", "correlation", "decrease")

_BLOCK_ROWS = 2048  # of float32, turned into float64 at a time
# Reading all features once for a column of their Gram matrix takes as long as this many
# columns of the product that gives the whole of it.
_COLUMNS_A_PASS = 24
# Squared sine of the angle to the span of the columns chosen, from which on a column is passed
# over: the Gram matrix holds it to about 1e-15.
_DEPENDENT = 1e-8
# Least squared sine, and share of ‖y‖² that is left, with which weights and losses are taken from
# the Gram matrix. On smooth kernels in up to 3 dimensions weights are right to 1e-8 then.
_ACCURATE = 1e-5
# Cosine of the angle to the residual, as a share of the targets, that is taken for nothing.
_UNCORRELATED = 1e-10
_TIE = 1e-10  # relative difference that rounding makes between equal columns


@dataclass(frozen=True)
class GreedyPath:
    """Predictors with one column, two, and so on.

    Attributes
    ----------
    columns : ndarray of shape (n_chosen,)
        Numbers of the columns in the order in which they were chosen.
    coef : ndarray of shape (n_chosen, n_chosen)
        Row k - 1 holds the weights of the first k columns, and zeros.
    losses : ndarray of shape (n_chosen,)
        What is minimised, at each row of `coef`.
    n_iter : int
        Steps taken.
    gap : float
        Bound on the excess of the last loss over the least one within the bound on the norm;
        NaN for `fully_corrective_path`, which has no such bound.
    """

    columns: NDArray[np.intp]
    coef: Floats
    losses: Floats
    n_iter: int
    gap: float = math.nan


def fully_corrective_path(
    features: NDArray[np.floating],
    y: NDArray[Any],
    n_columns: int,
    *,
    rule: str = "gradient",
    ridge: float = 0.0,
) -> GreedyPath:
    """Choose columns one by one, each time solving least squares on all those chosen.

    At each k it minimises ‖y − F_S w‖² + ridge ‖w‖² over the k columns S chosen so far. The
    Gram matrix of the features is reduced by the chosen columns, a row of its Cholesky factor
    at a time, so that a step costs n_features · k. Where columns are close to dependent or the
    residual is small, the factor is made anew from the chosen columns, by QR. Predictions are
    right to about 1e-9 ‖y‖ either way.

    Parameters
    ----------
    features : ndarray of shape (n_samples, n_features)
        Finite numbers. Computed with in float64, a block of rows at a time.
    y : ndarray of shape (n_samples,)
        Targets.
    n_columns : int
        How many columns to choose. There are fewer where no further one helps: each is within
        an angle of 1e-4 of the span of those chosen, or has no correlation with the residual
        (|fᵀr| ≤ 1e-10 ‖f‖ ‖y‖), as when the residual is zero.
    rule : {"gradient", "correlation", "decrease"}, default="gradient"
        Which column is next, by its product c with the residual: the one of the greatest |c|,
        as in line 4 of algorithm 6; of the greatest |c| divided by the column's norm, as in
        orthogonal matching pursuit on scaled columns; or the one that lowers what is minimised
        most. Of equals, to a relative 1e-10, the first.
    ridge : float, default=0.0
        Weight of the squared norm.

    Returns
    -------
    GreedyPath

    Raises
    ------
    ValueError
        If shapes do not match, or a parameter is out of its range.

    References
    ----------
    Shalev-Shwartz, Srebro & Zhang (2010), *Trading accuracy for sparsity in optimization
    problems with sparsity constraints*, algorithm 3. Kar (2013), sections 5.3.2.1 and 5.4.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.solvers._greedy import fully_corrective_path
    >>> F = np.array([[1.0, 0, 3], [0, 1, 0], [0, 1, 4]])
    >>> path = fully_corrective_path(F, np.array([0.0, 2, 2]), 3)
    >>> path.columns, path.losses.round(2)
    (array([2, 1]), array([5.44, 0.  ]))
    """
    check_problem(features, y)
    if n_columns < 1:
        raise ValueError(f"'n_columns' must be at least 1, got {n_columns!r}")
    if rule not in RULES:
        raise ValueError(f"'rule' must be one of {', '.join(RULES)}, got {rule!r}")
    if not 0 <= ridge < math.inf:
        raise ValueError(f"'ridge' must be a finite number of at least 0, got {ridge!r}")
    targets = np.asarray(y, dtype=np.float64)
    columns, triangle, accurate = _choose(
        features, targets, min(n_columns, features.shape[1]), rule, ridge
    )
    if not accurate:
        triangle = _triangle(features[:, columns], targets, ridge)
    coef, losses = _weights(triangle)
    return GreedyPath(columns, coef, losses, len(columns))


def check_problem(features: NDArray[Any], y: NDArray[Any]) -> None:
    """Refuse features and targets that do not match, or without a number."""
    if features.ndim != 2 or y.shape != features.shape[:1] or not features.size:
        raise ValueError(
            "'features' must be a matrix with at least one row and one column, and 'y' hold a "
            f"number for each row, got shapes {features.shape} and {y.shape}"
        )


class _Gram:
    """Products of columns, all at once or a column at a time, whichever is less work."""

    def __init__(self, features: NDArray[np.floating], n_columns: int) -> None:
        self._features = features
        self._all: Floats | None = None
        if n_columns * _COLUMNS_A_PASS >= features.shape[1]:
            self._all = np.zeros((features.shape[1],) * 2)
            for _, block in _blocks(features):
                self._all += block.T @ block
            self.diagonal = self._all.diagonal().copy()
        else:
            self.diagonal = np.zeros(features.shape[1])
            for _, block in _blocks(features):
                self.diagonal += np.einsum("ij,ij->j", block, block)

    def column(self, j: int) -> Floats:
        """Return the products of all columns with the j-th."""
        if self._all is not None:
            return self._all[j]
        return _products(self._features, self._features[:, j].astype(np.float64))


def _blocks(features: NDArray[np.floating]) -> Iterator[tuple[slice, Floats]]:
    """Yield all rows in float64; some at a time if they have to be copied."""
    n_rows = len(features)
    for rows in gen_batches(n_rows, n_rows if features.dtype == np.float64 else _BLOCK_ROWS):
        yield rows, np.asarray(features[rows], dtype=np.float64)


def _products(features: NDArray[np.floating], vector: Floats) -> Floats:
    """Return the products of all columns with a vector."""
    found = np.zeros(features.shape[1])
    for rows, block in _blocks(features):
        found += block.T @ vector[rows]
    return found


def _choose(
    features: NDArray[np.floating], y: Floats, n_columns: int, rule: str, ridge: float
) -> tuple[NDArray[np.intp], Floats, bool]:
    """Return the columns in order, the triangle for `_weights`, and whether it is accurate.

    With the penalty the problem is least squares on columns that each have one more entry, the
    root of `ridge`, in a place of its own: only the diagonal of the Gram matrix changes.
    """
    gram = _Gram(features, n_columns)
    squares = gram.diagonal + ridge
    products = _products(features, y)  # of the columns with the residual
    left = squares.copy()  # squared distance of each column to the span of those chosen
    factor = np.empty((n_columns, len(squares)))
    projections = np.empty(n_columns)  # of y on what each column adds to the span
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
            lengths = gram.diagonal if rule == "correlation" else left
            scores[useful] /= np.sqrt(lengths[useful])
        scores[~useful] = -1.0
        j = int((scores >= scores.max() * (1 - _TIE)).argmax())
        smallest = min(smallest, left[j] / squares[j])
        row = factor[k]
        row[:] = gram.column(j)
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


def _triangle(chosen: NDArray[np.floating], y: Floats, ridge: float) -> Floats:
    """Return the QR factor of the chosen columns and, the last, the targets."""
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
