"""RegLand-Sp: regression with a few landmarks, chosen greedily from a pool."""

import math
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import gen_batches

from kernlearn import memory, validation
from kernlearn.landmarks.models import Head, LandmarkChoice
from kernlearn.landmarks.similarities import Reals
from kernlearn.landmarks.training import Grid, Training
from kernlearn.linear.losses import EpsilonInsensitive, SmoothedHinge
from kernlearn.validation import Floats

_BLOCK_ROWS = 2048  # rows of float32 that are converted to float64 at a time
# Squared sine of the angle to the span of the chosen columns below which a column is skipped:
# the Gram matrix is accurate to about 1e-15. The weights are then computed by QR.
_DEPENDENT, _ROUNDING = 1e-12, 1e-14
_MISSED = 0.01  # share of ‖y‖² that one skipped column would explain, to warn of
# Minimum of the squared sine and of the share of ‖y‖² left for which weights and losses are
# computed from the Gram matrix. On smooth kernels in up to 3 dimensions, weights are then
# accurate to 1e-8.
_ACCURATE = 1e-5
_UNCORRELATED = 1e-10  # cosine of the angle to the residual, relative to the targets
_TIE = 1e-10  # relative difference between equal columns due to rounding
# The parameters of algorithm 6.
_OF_STEPS = "norm_bound", "tol", "epsilon", "beta", "max_iter"


@dataclass(eq=False, repr=False)
class SparseRegLand(RegressorMixin, LandmarkChoice):
    r"""Predict numbers from similarities to few landmarks, chosen from a pool (RegLand-Sp).

    When to use it: as :class:`RegLand`, where predictions must be cheap or explained by a few
    points.

    The predictor is :math:`f(x) = b + \sum_j w_j K(x, l_j)`. The landmarks :math:`l_j` are chosen
    one by one from a pool of training points, by forward greedy selection for the best fit. A
    new point is compared with the chosen ones only. The similarity may be indefinite. This is
    the thesis' RegLand-Sp.

    The factor :math:`1/\sqrt d` of algorithm 5 is left out, as in the proof of theorem 5.8. A
    bound on the 1-norm of the weights then does not depend on the size of the pool.

    Parameters
    ----------
    n_landmarks : int, default=20
        Greatest number of landmarks chosen, the sparsity k. There are fewer if no further one
        improves the fit (duplicates never do), or, with a warning, if the pool is smaller.
    pool_size : int, default=200
        Number of candidates; all training points if there are fewer.
    similarity, kind, selection
        As for :class:`RegLand`; `selection` is that of the pool.
    algorithm : {"fully_corrective", "forward_greedy"}, default="fully_corrective"
        "fully_corrective" minimises the squared loss over all weights after each new landmark,
        as in the thesis' experiments; the next one has the greatest absolute product with the
        residual. "forward_greedy" is algorithm 6: small steps for the smoothed ε-insensitive
        loss, with the 1-norm of the weights bounded.
    ridge : float or sequence of float, default=(1e-6, 1e-4, 0.01, 1)
        Weight of :math:`\|w\|^2` added to the sum of squared errors, with "fully_corrective". Of
        several the best on held-out points is chosen, by the mean squared error.
    fit_intercept : bool or None, default=None
        Whether to fit b, with "fully_corrective" only, where None is True; the thesis has none.
    norm_bound : float, default=10.0
        With "forward_greedy", the greatest 1-norm of the weights, :math:`C_W`.
    epsilon : float, default=0.1
        With "forward_greedy", the error without loss, in the unit of y.
    tol : float, default=0.1
        With "forward_greedy", the excess of the mean loss over the least one that is accepted.
        The number of steps may grow with its inverse square, and the landmarks with it.
    beta : float or None, default=None
        With "forward_greedy", the smoothness of the loss; None is 1 / tol.
    max_iter : int, default=10000
        With "forward_greedy", the greatest number of steps.
    validation_fraction : float or array of int, default=0.2
        Share of the training points, or the indices of those, held out for choosing `ridge`.
    scoring : str, callable or None, default=None
        As for :class:`RegLand`.
    refit : bool, default=True
        Whether landmarks of the pool and weights are then chosen again on all points.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points and the pool.

    Attributes
    ----------
    landmark_indices_ : ndarray of shape (n_chosen,) or None
        Rows of the landmarks in the X passed to `fit`, in the order of choice; None where the
        pool was given.
    support_ : ndarray of shape (n_chosen,)
        Their indices in the pool.
    pool_indices_ : ndarray of shape (n_pool,) or None
        Rows of the pool in X; None where it was given.
    coef_ : ndarray of shape (n_chosen,)
        Weights of the similarities.
    intercept_ : float
        The b, 0 without one.
    ridge_ : float
        The ridge chosen, with "fully_corrective".
    best_params_ : dict
        The same, by parameter name.
    grid_ : dict
        The values to choose from.
    validation_scores_ : ndarray of shape (n_ridges,) or None
        Minus the mean squared error on held-out points with each ridge, ascending; None without
        such points.
    loss_path_ : ndarray of shape (n_chosen,)
        The objective with the first landmark, the first two, and so on: the sum of squared errors
        and the penalty, or the mean smoothed loss.
    n_iter_ : int
        Number of steps.
    n_features_in_ : int
        Number of features, or of training points with ``similarity="precomputed"``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.

    See Also
    --------
    RegLand : The same with all landmarks, and support vector regression.

    References
    ----------
    Kar (2013), sections 5.3.2 and 5.4, algorithms 5 and 6. Shalev-Shwartz, Srebro & Zhang
    (2010), *Trading accuracy for sparsity in optimization problems with sparsity constraints*.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.landmarks import SparseRegLand
    >>> X = np.linspace(-3, 3, 200)[:, None]
    >>> y = np.sin(X).ravel()
    >>> model = SparseRegLand(8, similarity="manhattan", random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.99
    True
    """

    n_landmarks: int = 20
    pool_size: int = 200
    _: KW_ONLY
    algorithm: str = "fully_corrective"
    ridge: Any = (1e-6, 1e-4, 0.01, 1)
    fit_intercept: bool | None = None
    norm_bound: float = 10.0
    epsilon: float = 0.1
    tol: float = 0.1
    beta: float | None = None
    max_iter: int = 10_000

    _parameter_constraints = {
        **LandmarkChoice._parameter_constraints,
        "pool_size": [validation.COUNT],
        "algorithm": [validation.StrOptions({"fully_corrective", "forward_greedy"})],
        "ridge": [validation.NOT_NEGATIVE, "array-like"],
        "fit_intercept": ["boolean", None],
        "norm_bound": [validation.POSITIVE],
        "epsilon": [validation.NOT_NEGATIVE],
        "beta": [validation.POSITIVE, None],
    }
    path_parameters: ClassVar = ("ridge", "fit_intercept", "n_landmarks")
    _normalize = False

    def _grid(self) -> Grid:
        if self.algorithm != "fully_corrective":
            return {}
        return {"ridge": validation.candidate_values(self.ridge, "ridge", zero=True)}

    def _learn(self, data: Training) -> None:
        corrective = self.algorithm == "fully_corrective"
        unused = _OF_STEPS if corrective else ("ridge",) if np.any(self.ridge) else ()
        validation.refuse_unused(self, unused, f"algorithm={self.algorithm!r}")
        if self.fit_intercept and not corrective:
            raise ValueError(
                "fit_intercept=True needs algorithm='fully_corrective': algorithm 6 has no "
                "intercept"
            )
        if data.weights is not None and not corrective:
            raise ValueError("sample_weight needs algorithm='fully_corrective'")
        super()._learn(data)

    def _embed(self, data: Training, n_drawn: int | None = None) -> Reals:
        features = super()._embed(data, min(self.pool_size, len(data.y)))
        if (most := self._most(data)) > (n_pool := features.shape[1]):
            text = f"n_landmarks={most} is more than the {n_pool} candidates there are"
            data.once("warned", lambda: validation.warn(text))
        return features

    def _most(self, data: Training) -> int:
        """Return the greatest number of landmarks of this model, or of those of a path."""
        return max(data.path.get("n_landmarks", [self.n_landmarks]))

    def _train(self, features: Reals, data: Training, grid: Grid) -> list["Greedy"]:
        n_pool = features.shape[1]
        if self.algorithm == "forward_greedy":
            settings, converged = {name: getattr(self, name) for name in _OF_STEPS}, [True]
            with validation.noting_convergence(converged, 0):
                path = forward_greedy(features, data.y, max_columns=self.n_landmarks, **settings)
            return [Greedy(path.last, 0.0, converged[0], path=path, means=np.zeros(n_pool))]
        has_intercept = self.fit_intercept is not False
        in_path = bool(data.path) or len(self.grid_["ridge"]) > 1
        head = data.once("head", lambda: _Corrective(features, data.y, data.weights, in_path))
        *_, means, mean = head.centred if has_intercept else (np.zeros(n_pool), 0.0)
        trained = []
        for ridge in grid["ridge"].tolist():
            key = has_intercept, ridge
            path = data.once(key, partial(head.path, *key, self._most(data)))
            path = path.first(self.n_landmarks)
            trained.append(Greedy(path.last, np.float64(mean), path=path, means=means))
        return trained

    def _keep(self, head: "Greedy") -> Self:
        path, self._converged = head.path, head.converged
        self.support_, self.n_iter_, self.loss_path_ = path.columns, path.n_iter, path.losses
        self.coef_, self.intercept_ = head.coef.astype(self._dtype), float(head.intercept)
        if len(head.coef):
            intercept = head.intercept - head.coef @ head.means[path.columns]
            self.intercept_ = float(intercept.astype(self._dtype))
        self.pool_indices_ = self.landmark_indices_
        if self.pool_indices_ is not None:
            self.landmark_indices_ = self.pool_indices_[self.support_]
        self._set_landmarks(self._landmarks.take(self.support_))
        return self


@dataclass(eq=False)
class _Corrective:
    """The fully corrective method on the same columns, with an intercept or without."""

    features: Reals
    y: Reals
    weights: Floats | None
    in_path: bool

    @cached_property
    def centred(self) -> tuple[Reals, Reals, Reals, Any]:
        """Columns and targets less their means, and these."""
        columns, means = _centred(self.features, self.weights)
        targets, mean = _centred(self.y, self.weights)
        return columns, targets, means, mean

    @cached_property
    def triangle(self) -> Reals:
        """The triangular factor of centred columns and targets, by QR of blocks of rows."""
        columns, targets = self._weighted(*self.centred[:2])
        n_columns = columns.shape[1] + 1
        factor: Any = np.zeros((0, n_columns))
        for rows in gen_batches(len(columns), max(_BLOCK_ROWS, 4 * n_columns)):
            block = np.column_stack([columns[rows], targets[rows]])
            factor = np.linalg.qr(np.vstack([factor, block]), mode="r")
        return factor

    def path(self, has_intercept: bool, ridge: float, most: int) -> "GreedyPath":
        """Choose columns; the models of a path share the triangular factor."""
        if self.in_path and ridge:  # without a ridge nearly dependent columns amplify rounding
            rows = self.triangle
            if not has_intercept:
                *_, means, mean = self.centred
                total = len(self.y) if self.weights is None else self.weights.sum()
                rows = np.vstack([math.sqrt(total) * np.append(means, mean), rows])
            columns, targets = rows[:, :-1], rows[:, -1]
        else:
            data = self.centred[:2] if has_intercept else (self.features, self.y)
            columns, targets = self._weighted(*data)
        return fully_corrective_path(columns, targets, most, ridge=ridge)

    def _weighted(self, columns: Reals, targets: Reals) -> tuple[Reals, Reals]:
        """Return columns and targets times the roots of the weights."""
        if self.weights is None:
            return columns, targets
        roots = np.sqrt(self.weights)
        weighted = np.ascontiguousarray((columns.T * roots.astype(columns.dtype)).T)
        return weighted, targets * roots


def _centred(values: Reals, weights: np.ndarray | None = None) -> tuple[Reals, Any]:
    """Return values less their means, and these; constants become exactly zero."""
    first = values[0]
    values = values - first
    if weights is None:
        rest = values.mean(axis=0, dtype=np.float64).astype(values.dtype)
    else:
        rest = np.average(values, axis=0, weights=weights).astype(values.dtype)
    values -= rest
    means = first + rest
    farthest = np.maximum(values.max(axis=0), -values.min(axis=0))
    values *= farthest > 8 * np.finfo(values.dtype).eps * np.abs(means)
    return values, means


@dataclass(frozen=True, eq=False)
class Greedy(Head):
    """The last predictor of a path, whose columns are centred by `means`."""

    _: KW_ONLY
    path: "GreedyPath"
    means: Reals

    def values(self, features: Reals) -> Reals:
        return (features - self.means)[:, self.path.columns] @ self.coef + self.intercept


class GreedyPath(NamedTuple):
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
    """

    columns: np.ndarray
    coef: Reals
    losses: Reals
    n_iter: int

    @property
    def last(self) -> Reals:
        """The weights of all columns."""
        return self.coef[-1] if len(self.coef) else np.zeros(0)

    def first(self, n: int) -> "GreedyPath":
        """Return the path to `n` columns, if there are more, of a method of a step for each."""
        n = min(n, len(self.columns))
        return GreedyPath(self.columns[:n], self.coef[:n, :n], self.losses[:n], n)


def fully_corrective_path(
    features: np.ndarray, y: np.ndarray, n_columns: int, *, ridge: float = 0.0
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
        an angle of 1e-6 of the span of those selected, or uncorrelated with the residual
        (|fᵀr| ≤ 1e-10 ‖f‖ ‖y‖).
    ridge : float, default=0.0
        Weight of the squared norm.

    Returns
    -------
    GreedyPath
        The next column has the greatest absolute product with the residual (line 4 of algorithm
        6). Ties, to a relative 1e-10, go to the first column.

    References
    ----------
    Shalev-Shwartz, Srebro & Zhang (2010), *Trading accuracy for sparsity in optimization
    problems with sparsity constraints*, algorithm 3. Kar (2013), sections 5.3.2.1 and 5.4.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.landmarks.sparse import fully_corrective_path
    >>> F = np.array([[1.0, 0, 3], [0, 1, 0], [0, 1, 4]])
    >>> path = fully_corrective_path(F, np.array([0.0, 2, 2]), 3)
    >>> path.columns, path.losses.round(2)
    (array([2, 1]), array([5.44, 0.  ]))
    """
    y = np.asarray(y, dtype=np.float64)
    n_columns = min(n_columns, features.shape[1])
    columns, triangle, accurate = _choose(features, y, n_columns, ridge)
    n_chosen = len(columns)
    if not accurate:  # the QR factor of the chosen columns followed by the targets
        penalty = np.zeros((n_chosen if ridge else 0, n_chosen + 1))
        np.fill_diagonal(penalty, math.sqrt(ridge))
        rows = np.vstack([np.column_stack([features[:, columns], y]), penalty])
        factor: Any = partial(np.linalg.qr, rows, mode="r")
        triangle = memory.interruptible(factor, 2.0 * rows.size * (n_chosen + 1))
    coef, losses = np.zeros((n_chosen, n_chosen)), np.empty(n_chosen)
    for k in range(1, n_chosen + 1):
        coef[k - 1, :k] = solve_triangular(triangle[:k, :k], triangle[:k, -1])
        losses[k - 1] = triangle[k:, -1] @ triangle[k:, -1]
    return GreedyPath(columns, coef, losses, n_chosen)


def _choose(
    features: np.ndarray, y: Reals, n_columns: int, ridge: float
) -> tuple[np.ndarray, Reals, bool]:
    """Return the columns in order, the factor of their Gram matrix, and whether it is accurate.

    The last column of the factor, a triangle, are the projections of y on its directions.
    The penalty adds one entry to each column, the root of `ridge`, in a separate row: only the
    diagonal of the Gram matrix changes.
    """
    gram = np.zeros((features.shape[1],) * 2)
    products = np.zeros(len(gram))  # of the columns with the residual
    size = len(features) if features.dtype == np.float64 else _BLOCK_ROWS
    for rows in gen_batches(len(features), size):
        block = np.asarray(features[rows], dtype=np.float64)
        gram += memory.gram(block)
        products += block.T @ y[rows]
    squares = gram.diagonal() + ridge
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
            gains = products**2 / np.maximum(_ROUNDING * squares, left).clip(min=1e-300)
            if gains.max() > _MISSED * y_square:
                validation.warn(
                    f"{k} of {n_columns} landmarks are chosen, though others would improve the "
                    "fit: similarities to these are nearly multiples of theirs, which a row far "
                    "from all others can cause: remove it, or scale the features"
                )
            break
        scores[~useful] = -1.0
        j = int((scores >= scores.max() * (1 - _TIE)).argmax())
        smallest = min(smallest, left[j] / squares[j])
        row = factor[k]
        row[:] = gram[j]
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
    features, and :math:`\beta c^2` replaces β, as the proof needs where the thesis assumes entries
    of at most 1. And the w after the last step is returned instead of the one before.

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
    >>> from kernlearn.landmarks.sparse import forward_greedy
    >>> F = np.array([[1.0, 0, 0.5], [0, 1, 0], [0, 1, -1]])
    >>> path = forward_greedy(F, np.array([0.0, 1, 1]), norm_bound=1, tol=0.01)
    >>> path.columns, path.coef.round(2)
    (array([1]), array([[0.9]]))
    """
    F, y = np.asarray(features, dtype=np.float64), np.asarray(y, dtype=np.float64)
    beta = 1 / tol if beta is None else beta
    loss = EpsilonInsensitive(epsilon, SmoothedHinge(1 / beta))
    curvature = 4 * norm_bound**2 * beta * float(np.abs(F).max()) ** 2
    enough = 2 * curvature / tol
    last = math.ceil(min(enough, max_iter))
    w, errors = np.zeros(F.shape[1]), -y
    columns: list[int] = []
    weights, losses = [], []  # the last with one column, with two, and so on

    def keep() -> None:
        if columns:
            weights.append(w.copy())
            losses.append(loss.value(errors) / len(y))

    for n_iter in range(last + 1):
        theta = F.T @ loss.slope(errors) / len(y)
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
        validation.warn(
            f"max_iter={max_iter} steps leave a gap of {gap:.3g}, above tol={tol}: allow more, "
            "or a greater tol",
            ConvergenceWarning,
        )
    coef = np.reshape(weights, (-1, len(w)))[:, columns]
    return GreedyPath(np.array(columns, dtype=np.intp), coef, np.array(losses), n_iter)
