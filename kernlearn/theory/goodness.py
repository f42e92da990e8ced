r"""Goodness of a similarity for a task: Kar (2013), section 4.2, chapter 5 and appendix A.

A similarity K, or a distance d compared as K = -d, is good if most points are more similar to
points of their class than to others. Three criteria measure this, here on a sample and with
each point compared with all others:

- Balcan & Blum (equation 4.1): the difference of mean similarities;
- Wang et al. (equation 4.2): the mean sign of differences of similarities, over all pairs;
- definition 4.1: the mean of a transfer function f of these differences.

For regression, ordinal regression and ranking a similarity is good if some weighted mean of
similarities has a small loss (definitions 5.2, 5.7, 5.14 and 5.18).
"""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from kernlearn.checks import check_positive
from kernlearn.extras import needed_by
from kernlearn.landmarks.transfer import Ramp, Sign, Transfer, TransferLike, as_transfer
from kernlearn.lazy import attach
from kernlearn.theory.criteria import Goodness, Sample, measure_criteria
from kernlearn.theory.supervised import linear_program

__getattr__, __dir__, __all__ = attach(
    "kernlearn.theory",
    {
        "assessment": "SimilarityAssessment assess_similarity",
        "comparison": "compare_similarities",
        "criteria": "Goodness",
        "goodness": "CRITERIA best_weights compare_criteria goodness goodness_table",
        "landmarks": (
            "SampleSizes landmarks_for_approximation landmarks_for_family landmarks_for_loss "
            "landmarks_for_margin ndcg_regret_bound ordinal_error_bounds ordinal_sample_sizes "
            "ramp_covering_number ranking_sample_sizes ranking_weight_bound "
            "regression_sample_sizes sparse_regression_sample_sizes"
        ),
        "ranked": "RankedSimilarity SimilarityComparison",
        "resampling": "SplitMean corrected_mean",
        "supervised": ("SupervisedGoodness ordinal_goodness ranking_goodness regression_goodness"),
    },
)

CRITERIA: dict[str, Transfer | None] = {
    "Balcan & Blum": None,
    "Wang et al.": Sign(),
    **{f"ramp {slope}": Ramp(slope) for slope in (1, 5, 10, 50, 100, 1000)},
}
"""Both earlier criteria, and the ramps of the thesis' experiments (section 4.3).

Examples
--------
>>> from kernlearn.theory.goodness import CRITERIA
>>> list(CRITERIA)[:3]
['Balcan & Blum', 'Wang et al.', 'ramp 1']
"""


def goodness(
    X: Any,
    y: Any,
    *,
    similarity: Any = "gaussian",
    kind: str = "similarity",
    transfer: "TransferLike | None" = None,
    weights: np.typing.ArrayLike | None = None,
    c_f: float | Literal["range"] = 1.0,
    max_references: int = 300,
    random_state: Any = None,
) -> Goodness:
    r"""Measure how good a similarity is on a sample.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Points; with ``similarity="precomputed"`` the matrix (n_samples, n_samples) whose row i
        compares point i with all of them, which need not be symmetric. For a user-defined
        callable also a sequence of any objects.
    y : array-like of shape (n_samples,)
        Classes, at least two and each at least twice.
    similarity : str, Kernel or callable, default="gaussian"
        The name of a kernel, a kernel, a function (X, Y) -> matrix, or "precomputed". Parameters
        that depend on data, such as a width, are estimated on `X`.
    kind : {"similarity", "distance"}, default="similarity"
        What `similarity` is; distances change their sign.
    transfer : Transfer, str, float or callable, default=None
        The function f of definition 4.1, see :func:`kernlearn.landmarks.as_transfer`; "sign"
        is the criterion of Wang et al. None is the one of Balcan & Blum. Identity, sign and
        ramps take :math:`O(n \log n)` per point for all of its pairs.
    weights : array-like of shape (n_samples,), default=None
        w(x) of each point; a pair (x', x'') has the weight w(x')w(x''), as in equation 4.2,
        except for Balcan & Blum, where x' has w(x') and x'' has w(x''). None is 1 for all.
    c_f : float or "range", default=1.0
        :math:`C_f` of equation 4.3. Appendix A has 1 for identity and sign, and so has the
        proof of theorem 4.2; with 2 the sign's :math:`\gamma` is that of equation A.1.
        "range" is the definition as printed, the supremum less the infimum of f over the
        values of K; this is 0, and an error, for the sign of a similarity above 0.
    max_references : int, default=300
        Other functions f are summed over all pairs of a stratified random sample of about this
        many points.
    random_state : int, RandomState instance or None, default=None
        Seed of that sample.

    Returns
    -------
    Goodness

    Raises
    ------
    ValueError
        If an argument is invalid, or a class has a single point.

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
    criteria = {repr(f): f}
    sample = Sample(similarity, kind).read_classes(X, y)
    return measure_criteria(sample, criteria, weights, c_f, max_references, random_state)[repr(f)]


def compare_criteria(
    X: Any,
    y: Any,
    criteria: "Mapping[str, TransferLike | None] | None" = None,
    *,
    similarity: Any = "gaussian",
    kind: str = "similarity",
    weights: np.typing.ArrayLike | None = None,
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
        Transfer functions by a name of your choice; None is :data:`CRITERIA`.
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
    The best ramp leaves fewest points below the margin:

    >>> from sklearn.datasets import load_wine
    >>> from kernlearn.theory.goodness import compare_criteria, goodness_table
    >>> X, y = load_wine(return_X_y=True)
    >>> results = compare_criteria(X, y, {"slope 1": 1, "slope 5": 5, "slope 50": 50})
    >>> goodness_table(results, gamma=0.2)["epsilon"].round(3).to_dict()
    {'slope 1': 0.404, 'slope 5': 0.352, 'slope 50': 0.391}
    """
    sample, functions = Sample(similarity, kind).read_classes(X, y), as_transfers(criteria)
    return measure_criteria(sample, functions, weights, c_f, max_references, random_state)


def as_transfers(
    criteria: "Mapping[str, TransferLike | None] | None",
) -> dict[str, Transfer | None]:
    """Return the transfer functions of criteria, by default those of :data:`CRITERIA`."""
    chosen = CRITERIA if criteria is None else criteria
    return {name: None if f is None else as_transfer(f) for name, f in chosen.items()}


def goodness_table(
    found: Mapping[str, Goodness], *, gamma: float = 0.1, epsilon: float = 0.1
) -> Any:
    r"""Tabulate criteria, to choose the transfer function that suits best.

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
        One row per criterion: `epsilon`, the share of points below margin `gamma` (definition
        4.1); `hinge_loss` at that margin (definition 4.6); `gamma`, the margin that all but
        the share `epsilon` have; `misplaced`, `error` and `mean_margin` of :class:`Goodness`.

    Raises
    ------
    ValueError
        If `gamma` or `epsilon` is out of range.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kernlearn.theory.goodness import compare_criteria, goodness_table
    >>> X, y = load_wine(return_X_y=True)
    >>> results = compare_criteria(X, y == 0, {"mean": None, "sign": "sign"})
    >>> goodness_table(results)["misplaced"].round(3).to_dict()
    {'mean': 0.084, 'sign': 0.079}
    """
    with needed_by("a table of criteria"):
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


def best_weights(
    X: Any, y: Any, *, gamma: float, similarity: Any = "gaussian", kind: str = "similarity"
) -> np.ndarray:
    r"""Return the weights with the smallest hinge loss for Balcan & Blum's criterion.

    They minimise the mean of :math:`[1 - m_w(x) / \gamma]_+` over
    :math:`w \in [-1, 1]^n`, where :math:`m_w(x)` is the margin of equation 4.1 with x left out:
    a linear program with 2n variables, solved by HiGHS. Minimising :math:`\varepsilon` itself
    would be a hard combinatorial problem (section 4.2.2).

    There are as many weights as points, so that the loss on these points is lower than on
    others: to judge a similarity, measure it on other points than the weights are fitted to.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Points, or the matrix of their similarities. Time grows with about the cube of their
        number: draw a sample of 1000 at most.
    y : array-like of shape (n_samples,)
        Two classes, each at least twice; of several, take one against the rest.
    gamma : float
        The margin :math:`\gamma > 0` below which a point has a loss.
    similarity, kind
        As in :func:`kernlearn.theory.goodness.goodness`.

    Returns
    -------
    ndarray of shape (n_samples,)
        The weights, between -1 and 1.

    Raises
    ------
    ValueError
        If an argument is invalid or there are more than two classes.

    References
    ----------
    Kar (2013), definition A.2 and section 4.2.2.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from kernlearn.theory.goodness import best_weights, goodness
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X, y = scale(X)[:80], y[:80]
    >>> w = best_weights(X, y, gamma=0.1)
    >>> plain, best = goodness(X, y), goodness(X, y, weights=w)
    >>> best.loss("hinge", gamma=0.1) < plain.loss("hinge", gamma=0.1)
    True
    """
    check_positive(gamma=gamma)
    sample = Sample(similarity, kind).read_classes(X, y)
    codes, n = sample.codes, len(sample.codes)
    if len(sample.classes) > 2:
        raise ValueError(
            f"'y' must have two classes, got {len(sample.classes)}: take one against the rest"
        )
    same = codes[:, None] == codes
    values = sample.gram()
    np.fill_diagonal(values, 0)
    n_same = same.sum(axis=1, keepdims=True) - 1
    margins = values * np.where(same, 1 / n_same, -1 / (n - 1 - n_same))
    # variables: the weights, then each point's loss; gamma * loss >= gamma - margins @ w
    solution = linear_program(
        np.repeat([0.0, 1.0], n),
        A_ub=np.hstack([-margins, -gamma * np.eye(n)]),
        b_ub=np.full(n, -gamma),
        lower=np.repeat([-1.0, 0.0], n),
        upper=np.repeat([1.0, np.inf], n),
    )
    return solution[:n]
