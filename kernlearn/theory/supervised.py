"""Goodness for regression, grades and ranking: the bounded weights with the smallest loss."""

import warnings
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from kernlearn.checks import check_fraction, check_nonnegative, check_positive
from kernlearn.metrics import RankedQueries, check_queries
from kernlearn.theory.criteria import Sample

Array: TypeAlias = NDArray[np.float64]

_MAX_STEPS = 10000


@dataclass(frozen=True, eq=False)
class SupervisedGoodness:
    r"""The best predictor with bounded weights on a sample.

    Attributes
    ----------
    loss : float
        :math:`\varepsilon_0`: its mean loss, the smallest for this bound.
    bound : float
        B, the largest absolute weight allowed.
    weights : ndarray of shape (n_samples,)
        w(x) of each point.
    predictions : ndarray of shape (n_samples,)
        f(x) of each point; NaN for documents of queries that were left out.
    losses : ndarray of shape (n_samples,) or (n_queries,)
        The loss of each point, or query, whose mean is `loss`.
    tau : float
        :math:`\tau` of definition 5.7, 1 where all points may be landmarks.
    choice : ndarray of shape (n_samples,)
        R(x): the probability with which each point is a landmark, of mean `tau`.
    thresholds : ndarray of shape (n_grades - 1,) or None
        :math:`b_2, \ldots, b_r`; only for grades.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.theory.goodness import regression_goodness
    >>> x = np.linspace(-3, 3, 60)
    >>> good = regression_goodness(x[:, None], np.sin(x), bound=4)
    >>> round(float(good.loss), 3)
    0.132
    """

    loss: float
    bound: float
    weights: NDArray[np.float64]
    predictions: NDArray[np.float64]
    losses: NDArray[np.float64]
    tau: float
    choice: NDArray[np.float64]
    thresholds: NDArray[np.float64] | None = None


def regression_goodness(
    X: Any,
    y: ArrayLike,
    *,
    bound: float,
    epsilon: float = 0.1,
    loss: str = "epsilon_insensitive",
    tau: float = 1.0,
    similarity: Any = "gaussian",
    kind: str = "similarity",
) -> SupervisedGoodness:
    r"""Return the smallest loss of a predictor with bounded weights, for regression.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Points, or the matrix of their similarities. Time grows with about the cube of their
        number: draw a sample of 500 at most.
    y : array-like of shape (n_samples,)
        Targets.
    bound : float
        The largest absolute weight B > 0.
    epsilon : float, default=0.1
        The insensitivity of the loss :math:`[|f - y| - \varepsilon]_+`, at least 0.
    loss : {"epsilon_insensitive", "squared"}, default="epsilon_insensitive"
        The loss; "squared" is :math:`(f - y)^2`.
    tau : float, default=1.0
        The share of points that are informative (definition 5.7), above 0 and at most 1, where
        1 is definition 5.2; only for the first loss.
    similarity, kind
        As in :func:`kernlearn.theory.goodness.goodness`.

    Returns
    -------
    SupervisedGoodness
        The similarity is (`loss`, `bound`, `tau`)-good on the sample.

    Raises
    ------
    ValueError
        If an argument is invalid.

    Notes
    -----
    Definition 5.7 has a choice function R with values 0 and 1, and finding the best one is a
    hard combinatorial problem. Here R may be a probability, as in the thesis' own proof of
    theorem 5.10. Then :math:`f(x) = \frac1{\tau n} \sum_j R_j w_j K(x, x_j)`, and the possible
    :math:`v_j = R_j w_j / \tau` are those with :math:`|v_j| \le B / \tau` and
    :math:`\frac1n \sum |v_j| \le B`: a linear program.

    References
    ----------
    Kar (2013), definitions 5.2 and 5.7, theorem 5.10.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.theory.goodness import regression_goodness
    >>> x = np.linspace(-3, 3, 60)
    >>> for bound in (1, 4, 16):
    ...     print(round(regression_goodness(x[:, None], np.sin(x), bound=bound).loss, 3))
    0.345
    0.132
    0.019
    """
    check_positive(bound=bound)
    check_fraction(tau=tau)
    check_nonnegative(epsilon=epsilon)
    if loss not in ("epsilon_insensitive", "squared"):
        raise ValueError(f"'loss' must be 'epsilon_insensitive' or 'squared', got {loss!r}")
    if loss == "squared" and tau != 1:
        raise ValueError("'tau' must be 1 for loss='squared'")
    target = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    averages = Sample(similarity, kind).read(X, target).gram() / len(target)
    if loss == "squared":
        v = _bounded_least_squares(averages, target, bound)
    else:
        v = _least_absolute(averages, target, epsilon, bound, tau)
    predictions = averages @ v
    errors = np.abs(predictions - target)
    losses = errors**2 if loss == "squared" else np.maximum(errors - epsilon, 0.0)
    weights, choice = _split_weights(v, bound, tau)
    return SupervisedGoodness(
        float(losses.mean()), float(bound), weights, predictions, losses, float(tau), choice
    )


def ordinal_goodness(
    X: Any,
    y: ArrayLike,
    *,
    bound: float,
    margin: float = 1.0,
    spacing: float = 0.0,
    similarity: Any = "gaussian",
    kind: str = "similarity",
) -> SupervisedGoodness:
    r"""Return the smallest margin loss of a predictor with bounded weights, for grades.

    The loss of a point of grade i is :math:`[\gamma - f(x) + b_i]_+ + [\gamma - b_{i+1} +
    f(x)]_+` with the best thresholds :math:`b_2 \le \ldots \le b_r`,
    :math:`b_1 = -\infty` and :math:`b_{r+1} = \infty`.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        As in :func:`regression_goodness`.
    y : array-like of shape (n_samples,)
        Grades of any sortable kind, at least two.
    bound : float
        The largest absolute weight B > 0.
    margin : float, default=1.0
        :math:`\gamma > 0`.
    spacing : float, default=0.0
        The smallest distance :math:`\Delta` of two thresholds that theorem 5.16 needs.
    similarity, kind
        As in :func:`regression_goodness`.

    Returns
    -------
    SupervisedGoodness
        With thresholds.

    Raises
    ------
    ValueError
        If an argument is invalid.

    References
    ----------
    Kar (2013), definition 5.14.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.theory.goodness import ordinal_goodness
    >>> x = np.linspace(-3, 3, 60)
    >>> good = ordinal_goodness(x[:, None], np.digitize(x, [-1, 1]), bound=4, margin=0.5)
    >>> round(good.loss, 3), good.thresholds.shape
    (0.126, (2,))
    """
    check_positive(bound=bound, margin=margin)
    check_nonnegative(spacing=spacing)
    grades, codes = np.unique(np.asarray(y), return_inverse=True)
    if len(grades) < 2:
        raise ValueError(f"'y' must have at least two grades, got {len(grades)}")
    n, n_thresholds = len(codes), len(grades) - 1
    averages = Sample(similarity, kind).read(X, codes).gram() / n
    at = sparse.eye_array(n, format="csr")
    bars = sparse.eye_array(n_thresholds, format="csr")
    above, below = np.flatnonzero(codes > 0), np.flatnonzero(codes < n_thresholds)
    # variables: weights, predictions, thresholds, losses to the left and to the right
    rows = [
        [None, -at[above], bars[codes[above] - 1], -at[above], None],
        [None, at[below], -bars[codes[below]], None, -at[below]],
    ]
    limits = [np.full(len(above) + len(below), -margin)]
    if n_thresholds > 1:
        rows.append([None, None, bars[:-1] - bars[1:], None, None])
        limits.append(np.full(n_thresholds - 1, -spacing))
    sizes = (n, n, n_thresholds, n, n)
    solution = linear_program(
        np.repeat([0, 0, 0, 1, 1], sizes),
        A_ub=_blocks(rows, sizes),
        b_ub=np.concatenate(limits),
        A_eq=_blocks([[averages, -at, None, None, None]], sizes),
        b_eq=np.zeros(n),
        lower=np.repeat([-bound, -np.inf, -np.inf, 0, 0], sizes),
        upper=np.repeat([bound, np.inf, np.inf, np.inf, np.inf], sizes),
    )
    weights, _, thresholds, _, _ = np.split(solution, np.cumsum(sizes)[:-1])
    predictions = averages @ weights
    ends = np.concatenate([[-np.inf], thresholds, [np.inf]])
    losses = np.maximum(margin - predictions + ends[codes], 0)
    losses += np.maximum(margin - ends[codes + 1] + predictions, 0)
    loss = float(losses.mean())
    return SupervisedGoodness(
        loss, float(bound), weights, predictions, losses, 1.0, np.ones(n), thresholds
    )


def ranking_goodness(
    X: Any,
    y: ArrayLike,
    *,
    bound: float,
    qid: ArrayLike | None = None,
    similarity: Any = "gaussian",
    kind: str = "similarity",
) -> SupervisedGoodness:
    r"""Return the smallest squared loss of a predictor with bounded weights, for ranking.

    The loss of a query is :math:`\|f - \eta(r)\|_2^2`, where :math:`f_i = E_z w(z) K(z_i, z)`
    and z is a random document of a random query. :math:`\eta` is not defined for queries
    without a relevant document: these are left out.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Documents with their queries, as in :func:`regression_goodness`.
    y : array-like of shape (n_samples,)
        Relevances, 0 or more.
    bound : float
        The largest absolute weight B > 0.
    qid : array-like of shape (n_samples,), default=None
        The query of each document; None for one query.
    similarity, kind
        As in :func:`regression_goodness`.

    Returns
    -------
    SupervisedGoodness
        With the losses of the queries in the order of ``np.unique(qid)``.

    Raises
    ------
    ValueError
        If an argument is invalid or no document is relevant.

    References
    ----------
    Kar (2013), definition 5.18.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.theory.goodness import ranking_goodness
    >>> x, query = np.tile(np.linspace(-1, 1, 10), 4), np.repeat(np.arange(4), 10)
    >>> round(ranking_goodness(x[:, None], x > 0, qid=query, bound=4).loss, 3)
    0.014
    """
    check_positive(bound=bound)
    queries = check_queries(y, qid)
    eta = queries.normalized_gains()
    kept = np.flatnonzero(~np.isnan(eta))
    if not len(kept):
        raise ValueError("'y' must contain a relevance above 0")
    values = Sample(similarity, kind).read(X, queries.relevance).gram()
    left = RankedQueries(eta[kept], np.unique(queries.codes[kept], return_inverse=True)[1])
    shares = 1 / (left.n_queries * np.bincount(left.codes)[left.codes])
    averages = values[np.ix_(kept, kept)] * shares
    weights, predictions = np.zeros(len(eta)), np.full(len(eta), np.nan)
    weights[kept] = _bounded_least_squares(averages, eta[kept], bound)
    predictions[kept] = averages @ weights[kept]
    losses = np.zeros(left.n_queries)
    np.add.at(losses, left.codes, (predictions[kept] - eta[kept]) ** 2)
    choice = np.ones(len(eta))
    return SupervisedGoodness(
        float(losses.mean()), float(bound), weights, predictions, losses, 1.0, choice
    )


def _least_absolute(
    averages: Array, target: Array, epsilon: float, bound: float, tau: float
) -> Array:
    """Minimise Σ [|averages @ v - target| - ε]₊ over |v| ≤ B / τ, mean |v| ≤ B."""
    n = len(target)
    at = sparse.eye_array(n)
    # variables: positive and negative parts of v, the tolerated part of the error, the excess
    sizes = (n, n, n, n, n)
    solution = linear_program(
        np.repeat([0, 0, 0, 1, 1], sizes),
        A_ub=_blocks([[np.ones((1, n)), np.ones((1, n)), None, None, None]], sizes),
        b_ub=np.array([n * bound]),
        A_eq=_blocks([[averages, -averages, at, at, -at]], sizes),
        b_eq=target,
        lower=np.repeat([0, 0, -epsilon, 0, 0], sizes),
        upper=np.repeat([bound / tau, bound / tau, epsilon, np.inf, np.inf], sizes),
    )
    return solution[:n] - solution[n : 2 * n]


def _split_weights(v: Array, bound: float, tau: float) -> tuple[Array, Array]:
    """Write v = R w / τ with |w| ≤ B and R in [0, 1] of mean τ."""
    least = np.clip(np.abs(v) * (tau / bound), 0.0, 1.0)
    room, missing = 1 - least.mean(), tau - least.mean()
    choice = least + (1 - least) * (missing / room if missing > 0 else 0.0)
    weights = np.divide(tau * v, choice, out=np.zeros_like(v), where=choice > 0)
    return np.clip(weights, -bound, bound), choice


def _blocks(rows: list[list[Any]], sizes: tuple[int, ...]) -> sparse.csr_array:
    """Stack blocks, None being zeros, also where a column of blocks has no other."""
    # a first row of blocks without rows has the sizes of all columns
    none = [sparse.csr_array((0, size)) for size in sizes]
    return sparse.csr_array(sparse.block_array([none, *rows]))


def linear_program(
    costs: NDArray[Any], *, lower: NDArray[Any], upper: NDArray[Any], **constraints: Any
) -> Array:
    """Return the solution of a linear program, by HiGHS."""
    from scipy.optimize import linprog

    bounds = np.column_stack([lower, upper])
    result = linprog(costs, bounds=bounds, method="highs", **constraints)
    if not result.success:
        raise ValueError(f"no best weights were found: {result.message}")
    return np.clip(result.x, lower, upper)


def _bounded_least_squares(averages: Array, target: Array, bound: float) -> Array:
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
