r"""Whether a similarity suits a task: Kar (2013), section 4.2, chapter 5 and appendix A.

A similarity K, or a distance d compared as K = -d, is good where most points are more similar to
points of their class than to others. Three criteria say it in numbers, here on a sample and with
each point compared with all others:

- Balcan & Blum (equation 4.1): the difference of mean similarities;
- Wang et al. (equation 4.2): the mean sign of differences of similarities, of all pairs;
- definition 4.1: the mean of a transfer function f of these differences.

For regression, ordinal regression and ranking a similarity is good where some weighted mean of
similarities has a small loss (definitions 5.2, 5.7, 5.14 and 5.18).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from numpy.typing import ArrayLike

from kernlearn.landmarks.transfer import Ramp, Sign, Transfer, TransferLike, as_transfer
from kernlearn.theory.comparisons import Goodness, Sample, best_weights, measure
from kernlearn.theory.landmarks import (
    SampleSizes,
    landmarks_for_approximation,
    landmarks_for_family,
    landmarks_for_loss,
    landmarks_for_margin,
    ndcg_regret_bound,
    ordinal_error_bounds,
    ordinal_sample_sizes,
    ramp_covering_number,
    ranking_sample_sizes,
    ranking_weight_bound,
    regression_sample_sizes,
    sparse_regression_sample_sizes,
)
from kernlearn.theory.supervised import (
    SupervisedGoodness,
    ordinal_goodness,
    ranking_goodness,
    regression_goodness,
)

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "CRITERIA",
    "Goodness",
    "SampleSizes",
    "SupervisedGoodness",
    "best_weights",
    "compare_criteria",
    "goodness",
    "goodness_table",
    "landmarks_for_approximation",
    "landmarks_for_family",
    "landmarks_for_loss",
    "landmarks_for_margin",
    "ndcg_regret_bound",
    "ordinal_error_bounds",
    "ordinal_goodness",
    "ordinal_sample_sizes",
    "ramp_covering_number",
    "ranking_goodness",
    "ranking_sample_sizes",
    "ranking_weight_bound",
    "regression_goodness",
    "regression_sample_sizes",
    "sparse_regression_sample_sizes",
]

#: Both earlier criteria, and the ramps of the thesis' experiments (section 4.3).
CRITERIA: dict[str, Transfer | None] = {
    "Balcan & Blum": None,
    "Wang et al.": Sign(),
    **{f"ramp {slope}": Ramp(slope) for slope in (1, 5, 10, 50, 100, 1000)},
}


def goodness(
    X: Any,
    y: Any,
    *,
    similarity: Any = "gaussian",
    kind: str = "similarity",
    transfer: TransferLike | None = None,
    weights: ArrayLike | None = None,
    c_f: float | Literal["range"] = 1.0,
    max_references: int = 300,
    random_state: Any = None,
) -> Goodness:
    r"""Measure how good a similarity is on a sample.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Points; with ``similarity="precomputed"`` the matrix (n_samples, n_samples) whose row i
        compares point i with all of them, which need not be symmetric. For a callable of one's
        own also a sequence of anything.
    y : array-like of shape (n_samples,)
        Classes, two at least and each twice at least.
    similarity : str, Kernel or callable, default="gaussian"
        The name of a kernel, a kernel, a function (X, Y) -> matrix, or "precomputed". What
        depends on data, such as a width, is worked out on `X`.
    kind : {"similarity", "distance"}, default="similarity"
        What `similarity` is; distances change their sign.
    transfer : Transfer, str, float or callable, default=None
        The function f of definition 4.1, see :func:`kernlearn.landmarks.as_transfer`; "sign"
        is the criterion of Wang et al. None is the one of Balcan & Blum. Identity, sign and
        ramps take :math:`O(n \log n)` a point for all of its pairs.
    weights : array-like of shape (n_samples,), default=None
        w(x) of each point; a pair (x', x'') has the weight w(x')w(x''), as in equation 4.2,
        but for Balcan & Blum, where it is w(x') and w(x''). None is 1 for all.
    c_f : float or "range", default=1.0
        :math:`C_f` of equation 4.3. Appendix A has 1 for identity and sign, and so has the
        proof of theorem 4.2; with 2 the sign's :math:`\gamma` is that of equation A.1.
        "range" is the definition as printed, the supremum less the infimum of f over the
        values of K; this is 0, and an error, for the sign of a similarity above 0.
    max_references : int, default=300
        Other functions f are summed over all pairs of a stratified random sample of so many
        points, about.
    random_state : int, RandomState instance or None, default=None
        Draws that sample.

    Returns
    -------
    Goodness
        The margins, and what follows from them.

    Raises
    ------
    ValueError
        If an argument is not valid, or a class has a single point.

    References
    ----------
    Kar (2013), definitions 4.1, 4.6, A.1 and A.2; Balcan & Blum (2006); Wang, Yang & Feng
    (2007).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kernlearn.theory.goodness import goodness
    >>> X, y = load_wine(return_X_y=True)
    >>> good = goodness(X, y == 0, transfer="sign")
    >>> round(good.misplaced, 3), round(good.epsilon(0.5), 3), round(good.gamma(0.1), 3)
    (0.079, 0.152, 0.036)
    """
    f = None if transfer is None else as_transfer(transfer)
    found = measure(
        Sample(similarity, kind).read(X, y),
        {repr(f): f},
        weights=weights,
        c_f=c_f,
        max_references=max_references,
        random_state=random_state,
    )
    return found[repr(f)]


def compare_criteria(
    X: Any,
    y: Any,
    criteria: Mapping[str, TransferLike | None] | None = None,
    *,
    similarity: Any = "gaussian",
    kind: str = "similarity",
    weights: ArrayLike | None = None,
    c_f: float | Literal["range"] = 1.0,
    max_references: int = 300,
    random_state: Any = None,
) -> dict[str, Goodness]:
    """Measure several criteria, with similarities computed once.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        As in :func:`goodness`.
    y : array-like of shape (n_samples,)
        Classes.
    criteria : mapping of str to transfer function or None, default=None
        What is measured, by a name of one's own; None is :data:`CRITERIA`.
    similarity, kind, weights, c_f, max_references, random_state
        As in :func:`goodness`.

    Returns
    -------
    dict of str to Goodness

    Raises
    ------
    ValueError
        As in :func:`goodness`.

    Examples
    --------
    Which ramp suits best? The one that leaves fewest points below the margin.

    >>> from sklearn.datasets import load_wine
    >>> from kernlearn.theory.goodness import compare_criteria, goodness_table
    >>> X, y = load_wine(return_X_y=True)
    >>> found = compare_criteria(X, y, {"slope 1": 1, "slope 5": 5, "slope 50": 50})
    >>> goodness_table(found, gamma=0.2)["epsilon"].round(3).to_dict()
    {'slope 1': 0.404, 'slope 5': 0.352, 'slope 50': 0.391}
    """
    chosen = CRITERIA if criteria is None else criteria
    return measure(
        Sample(similarity, kind).read(X, y),
        {name: None if f is None else as_transfer(f) for name, f in chosen.items()},
        weights=weights,
        c_f=c_f,
        max_references=max_references,
        random_state=random_state,
    )


def goodness_table(
    found: Mapping[str, Goodness], *, gamma: float = 0.1, epsilon: float = 0.1
) -> pd.DataFrame:
    r"""Put criteria side by side, to choose the transfer function that suits best.

    Parameters
    ----------
    found : mapping of str to Goodness
        From :func:`compare_criteria`.
    gamma : float, default=0.1
        The margin, above 0, for `epsilon` and `hinge_loss`.
    epsilon : float, default=0.1
        The share of points for `gamma`.

    Returns
    -------
    pandas.DataFrame
        A row a criterion: `epsilon`, the share of points below margin `gamma` (definition
        4.1); `hinge_loss` at that margin (definition 4.6); `gamma`, the margin that all but
        the share `epsilon` have; `misplaced`, `error` and `mean_margin` of :class:`Goodness`.

    Raises
    ------
    ValueError
        If `gamma` or `epsilon` is out of range.
    """
    import pandas as pd

    rows = {
        name: {
            "epsilon": good.epsilon(gamma),
            "hinge_loss": good.loss("hinge", gamma=gamma),
            "gamma": good.gamma(epsilon),
            "misplaced": good.misplaced,
            "error": good.error,
            "mean_margin": good.mean_margin,
        }
        for name, good in found.items()
    }
    return pd.DataFrame.from_dict(rows, orient="index")
