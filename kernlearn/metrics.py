"""The macro-averaged error of grades, and NDCG as the thesis and as LETOR 4.0 define it.

Grades are finite numbers, relevances also 0 or more. NDCG (normalised discounted cumulative gain)
takes the documents of all queries at once, and breaks ties between scores by the order of the
documents; a query without a relevant document counts 0. A ValueError if lengths differ, or weights
are negative or all 0.
"""

from collections.abc import Callable
from numbers import Integral
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import validation

from kernlearn.validation import Floats, Indices, check_weights

__all__ = ["letor_mean_ndcg", "letor_ndcg", "macro_average_absolute_error", "thesis_ndcg"]

Discount: TypeAlias = Callable[[Indices], Floats]


def macro_average_absolute_error(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Mean over the grades of the average absolute error of the points of each true grade.

    Every grade counts the same, however rare.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n_samples,)
        Grades: numbers.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the points within their grade, at least 0; None is equal weights. A grade
        whose points all have weight 0 does not count.

    Returns
    -------
    float
        0 for perfect predictions.

    References
    ----------
    Baccianella, Esuli & Sebastiani (2009), *Evaluation measures for ordinal regression*.

    Examples
    --------
    >>> from kernlearn.metrics import macro_average_absolute_error
    >>> macro_average_absolute_error([1, 1, 1, 2], [1, 1, 1, 1])
    0.5
    """
    true, predicted = _numbers(y_true, "y_true"), _numbers(y_pred, "y_pred")
    validation.check_consistent_length(true, predicted)
    weight = check_weights(sample_weight, true)
    weight = np.ones(len(true)) if weight is None else weight
    grades, codes = np.unique(true, return_inverse=True)
    total = np.bincount(codes, weight, len(grades))
    errors = np.bincount(codes, weight * np.abs(true - predicted), len(grades))
    counted = total > 0
    return float(np.mean(errors[counted] / total[counted]))


def _numbers(y: Any, name: str) -> Floats:
    """Return validated numbers as float64, which does not overflow."""
    y = validation.check_array(y, ensure_2d=False, dtype=np.float64, input_name=name)
    return validation.column_or_1d(y)


class RankedQueries(NamedTuple):
    """Relevances of the documents of several queries.

    Attributes
    ----------
    relevance : ndarray of shape (n_samples,), float64
    codes : ndarray of shape (n_samples,)
        The query of each document, 0 to n_queries - 1, in the order of their sorted ids.
    """

    relevance: Floats
    codes: Indices

    def gains(self) -> Floats:
        r"""Return :math:`2^r - 1`, divided by :math:`2^{r_{\max}}` of the query.

        Only ratios within a query are used, so that nothing overflows.
        """
        top = np.full(self.codes.max() + 1, -np.inf)
        np.maximum.at(top, self.codes, self.relevance)
        return np.exp2(self.relevance - top[self.codes]) - np.exp2(-top[self.codes])

    def order(self, scores: NDArray[Any]) -> tuple[Indices, Indices]:
        """Return documents sorted by query and descending score, and their positions from 1."""
        order = np.lexsort((-scores, self.codes))
        sizes = np.bincount(self.codes)
        first = np.repeat(np.cumsum(sizes) - sizes, sizes)
        return order, np.arange(1, len(order) + 1) - first

    def totals(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the sums within queries of values that are sorted by query."""
        return np.bincount(np.sort(self.codes), weights=values)

    def normalized_gains(self) -> Floats:
        r"""Return :math:`\eta(r) = G(r) / \|G(r)\|_D` of section 5.3.4.

        NaN for the documents of a query without a relevant one, where it is not defined.
        """
        gains = self.gains()
        order, positions = self.order(gains)
        norms = self.totals(gains[order] * thesis_discount(positions))
        norms[norms == 0] = np.nan
        return gains / norms[self.codes]


def check_queries(y: Any, qid: Any) -> RankedQueries:
    """Return validated relevances, 0 or more, and queries; `qid` None is a single query."""
    relevance = _numbers(validation.column_or_1d(y, warn=True), "y")
    if relevance.min() < 0:
        raise ValueError(f"y must contain relevances of 0 or more, got {relevance.min():g}")
    if qid is None:
        return RankedQueries(relevance, np.zeros(len(relevance), dtype=np.intp))
    qid = validation.column_or_1d(qid)
    validation.assert_all_finite(qid, input_name="qid")  # NaN would be one more query
    validation.check_consistent_length(relevance, qid)
    return RankedQueries(relevance, np.unique(qid, return_inverse=True)[1])


def thesis_discount(positions: Indices) -> Floats:
    """Return 1 / F(t) with F(t) = log(1 + t)."""
    return 1 / np.log1p(positions)


def _letor_discount(positions: Indices) -> Floats:
    return 1 / np.log2(np.maximum(positions, 2))


def thesis_ndcg(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    k: int | None = None,
    per_query: bool = False,
) -> Any:
    r"""NDCG of section 5.3.4: gains :math:`2^r - 1`, discounts :math:`1 / \log(1 + t)`.

    This is :math:`-\ell_{\mathrm{NDCG}}(s, r)`: 1 for a perfect order.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Relevances, 0 or more.
    y_score : array-like of shape (n_samples,)
        Scores; documents are sorted in descending order, with ties in the given order.
    qid : array-like of shape (n_samples,), default=None
        The query of each document; None for one query.
    k : int, default=None
        Number of first positions that count, also in the best order; None for all, as in the
        thesis.
    per_query : bool, default=False
        Whether to return one value per query.

    Returns
    -------
    float or ndarray of shape (n_queries,)
        The mean over the queries, or one value each in the order of ``np.unique(qid)``.

    Raises
    ------
    ValueError
        If an argument is invalid.

    References
    ----------
    Kar (2013), section 5.3.4; Järvelin & Kekäläinen (2000).

    Examples
    --------
    >>> from kernlearn.metrics import thesis_ndcg
    >>> thesis_ndcg([2, 0, 1, 1], [0.1, 0.3, 0.2, 0.9], qid=[7, 7, 7, 8], per_query=True)
    array([0.586..., 1.        ])
    """
    queries, scores = _check(y_true, y_score, qid, k)
    return _mean(_ndcg(queries, scores, thesis_discount, k), per_query)


def letor_ndcg(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    k: int | None = None,
    per_query: bool = False,
) -> Any:
    r"""NDCG@k of LETOR 4.0's evaluation script.

    Gains are :math:`2^r - 1`, discounts 1 at positions 1 and 2 and :math:`1 / \log_2 t` at
    t > 2.

    Parameters
    ----------
    y_true, y_score, qid, per_query
        As for :func:`thesis_ndcg`.
    k : int, default=None
        Number of first positions that count; None for all. As in the script, **a query with
        fewer than k documents counts 0**: on MQ2008, where many have fewer than 10, NDCG@10 is
        about half of that of other tools.

    Returns
    -------
    float or ndarray of shape (n_queries,)
        As for :func:`thesis_ndcg`.

    References
    ----------
    Qin & Liu (2013), *Introducing LETOR 4.0 datasets*, and Eval-Score-4.0.pl there.

    Examples
    --------
    >>> from kernlearn.metrics import letor_ndcg
    >>> letor_ndcg([2, 0, 1, 1], [0.1, 0.3, 0.2, 0.9], qid=[7, 7, 7, 8], k=2, per_query=True)
    array([0.25, 0.  ])
    """
    queries, scores = _check(y_true, y_score, qid, k)
    values = _ndcg(queries, scores, _letor_discount, k)
    if k is not None:
        values[np.bincount(queries.codes) < k] = 0.0
    return _mean(values, per_query)


def letor_mean_ndcg(
    y_true: ArrayLike, y_score: ArrayLike, *, qid: ArrayLike | None = None, per_query: bool = False
) -> Any:
    """MeanNDCG of LETOR 4.0: the mean of a query's NDCG@1, NDCG@2, ... to its last document.

    Parameters
    ----------
    y_true, y_score, qid, per_query
        As for :func:`letor_ndcg`.

    Returns
    -------
    float or ndarray of shape (n_queries,)
        As for :func:`thesis_ndcg`.

    References
    ----------
    Qin & Liu (2013), *Introducing LETOR 4.0 datasets*, and Eval-Score-4.0.pl there.

    Examples
    --------
    >>> from kernlearn.metrics import letor_mean_ndcg
    >>> letor_mean_ndcg([1, 0], [0.1, 0.2])
    0.5
    """
    queries, scores = _check(y_true, y_score, qid, None)
    gains = queries.gains()
    reached = _running_gain(queries, gains, scores)
    best = _running_gain(queries, gains, gains)
    ratios = queries.totals(_share(reached, best)) / np.bincount(queries.codes)
    return _mean(ratios, per_query)


def _check(y_true: Any, y_score: Any, qid: Any, k: int | None) -> tuple[RankedQueries, Floats]:
    queries = check_queries(y_true, qid)
    scores = _numbers(y_score, "y_score")
    validation.check_consistent_length(queries.relevance, scores)
    if k is not None and not (isinstance(k, Integral) and k >= 1):
        raise ValueError(f"'k' must be an int >= 1 or None, got {k!r}")
    return queries, scores


def _ndcg(queries: RankedQueries, scores: Floats, discount: Discount, k: int | None) -> Floats:
    """Return one value per query."""
    gains = queries.gains()
    totals = []
    for by in (scores, gains):
        order, positions = queries.order(by)
        counted = positions <= (len(positions) if k is None else k)
        totals.append(queries.totals(gains[order] * np.where(counted, discount(positions), 0.0)))
    return _share(*totals)


def _share(reached: Floats, best: Floats) -> Floats:
    """Return the gain as a share of the best one, 0 without a relevant document."""
    return np.divide(reached, best, out=np.zeros_like(best), where=best > 0)


def _running_gain(queries: RankedQueries, gains: Floats, by: Floats) -> Floats:
    """Return the cumulative gain at each position of each query."""
    order, positions = queries.order(by)
    running = np.cumsum(gains[order] * _letor_discount(positions))
    starts = np.flatnonzero(positions == 1)
    before = np.concatenate([[0.0], running[starts[1:] - 1]])
    return running - np.repeat(before, np.diff(starts, append=len(running)))


def _mean(values: Floats, per_query: bool) -> Any:
    return values if per_query else float(values.mean())
