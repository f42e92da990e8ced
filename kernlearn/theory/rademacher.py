r"""Rademacher complexities of pairwise classes: Kar (2013), section 6.6, tables 6.1 to 6.3.

The bounds as functions of the data, next to estimates of what they bound. Points are drawn from
the data with replacement, so that the data are the domain as well as the distribution.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from kernlearn.kernels import GaussianKernel
from kernlearn.theory.concentration import check_count
from kernlearn.theory.hypotheses import (
    NORMS,
    BilinearSimilarity,
    KernelAUC,
    KernelCombination,
    LinearAUC,
    MahalanobisMetric,
    PairwiseClass,
    check_points,
    usual_distance,
)

__all__ = [
    "BilinearSimilarity",
    "ComplexityEstimate",
    "KernelAUC",
    "KernelCombination",
    "LinearAUC",
    "MahalanobisMetric",
    "PairwiseClass",
    "RademacherRow",
    "default_classes",
    "rademacher_complexity",
    "rademacher_table",
]


@dataclass(frozen=True)
class ComplexityEstimate:
    """A complexity by simulation.

    Attributes
    ----------
    mean : float
        The mean of the suprema.
    standard_error : float
        Of the mean; NaN from one trial.
    suprema : ndarray of shape (n_trials,)
        The supremum of each trial.
    """

    mean: float
    standard_error: float
    suprema: NDArray[np.float64]


@dataclass(frozen=True)
class RademacherRow:
    """A row of tables 6.1 to 6.3, with an estimate beside it.

    Attributes
    ----------
    table : str
        "6.1", "6.2" or "6.3".
    problem : str
        What is learned.
    hypothesis_class : str
        The class, with its radius in brackets.
    printed : float
        The bound as the thesis prints it.
    bound : float
        The bound; other than `printed` where that does not hold.
    estimate, standard_error : float
        The complexity by simulation.
    """

    table: str
    problem: str
    hypothesis_class: str
    printed: float
    bound: float
    estimate: float
    standard_error: float

    @property
    def holds(self) -> bool:
        """Whether the estimate is not above the bound."""
        return self.estimate <= self.bound


def rademacher_complexity(
    hypothesis_class: PairwiseClass,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    n: int = 100,
    n_trials: int = 200,
    random_state: Any = None,
) -> ComplexityEstimate:
    r"""Estimate the complexity :math:`\mathcal{R}_n` of a class on the points of a data set.

    A trial draws :math:`z, z_1, \ldots, z_n` from the data with replacement, and signs; the
    supremum is then exact.

    Parameters
    ----------
    hypothesis_class : PairwiseClass
        The class; it is fitted to the data.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The points.
    y : array-like of shape (n_samples,), default=None
        Labels, for kernels that are fitted to them.
    n : int, default=100
        The number of pairs.
    n_trials : int, default=200
        The number of trials.
    random_state : int, RandomState instance or None, default=None
        Where the draws come from. They do not depend on the class.

    Returns
    -------
    ComplexityEstimate

    Raises
    ------
    ValueError
        If an argument is out of range or X is no matrix of finite numbers.

    References
    ----------
    Kar (2013), section 6.3.

    Examples
    --------
    >>> from kernlearn.theory.rademacher import LinearAUC, rademacher_complexity
    >>> X = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
    >>> auc = LinearAUC(q=2)
    >>> found = rademacher_complexity(auc, X, n=100, random_state=0)
    >>> 0.1 < found.mean < auc.bound(100)
    True
    """
    X = check_points(X)
    return _estimates([hypothesis_class.fit(X, y)], X, n, n_trials, random_state)[0]


def default_classes(X: ArrayLike, kernels: Sequence[Any] | None = None) -> list[PairwiseClass]:
    """Return the classes of tables 6.1 to 6.3, all of radius 1.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The points.
    kernels : sequence of str, Kernel or callable, default=None
        The base kernels of table 6.3. None takes Gaussian kernels of 1/4, 1/2, 1, 2 and 4 times
        the mean distance of the points (1 if that is 0).

    Returns
    -------
    list of PairwiseClass

    Raises
    ------
    ValueError
        If a kernel is none.

    Examples
    --------
    >>> from kernlearn.theory.rademacher import default_classes
    >>> [h.name for h in default_classes([[0.0], [2.0]])][:3]
    ['B_1(1)', 'B_1.333(1)', 'B_2(1)']
    """
    sigma = usual_distance(check_points(X))
    return [
        *(LinearAUC(q) for q in (1, 4 / 3, 2)),
        KernelAUC(GaussianKernel(sigma=sigma)),
        *(BilinearSimilarity(norm) for norm in NORMS),
        *(MahalanobisMetric(norm) for norm in NORMS),
        *(KernelCombination(kernels, constraint) for constraint in ("simplex", "sphere")),
    ]


def rademacher_table(
    X: ArrayLike,
    y: ArrayLike | None = None,
    kernels: Sequence[Any] | None = None,
    *,
    classes: Sequence[PairwiseClass] | None = None,
    n: int = 100,
    n_trials: int = 200,
    random_state: Any = None,
) -> list[RademacherRow]:
    """Put the bounds of tables 6.1 to 6.3 next to the complexities on a data set.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The points. Metric learning takes matrices of n_features by n_features.
    y : array-like of shape (n_samples,), default=None
        Labels, for kernels that are fitted to them.
    kernels : sequence of str, Kernel or callable, default=None
        The base kernels of table 6.3; see :func:`default_classes`.
    classes : sequence of PairwiseClass, default=None
        Other classes than :func:`default_classes`; leave out `kernels` then.
    n : int, default=100
        The number of pairs.
    n_trials : int, default=200
        The number of trials of the estimates, whose draws all classes share.
    random_state : int, RandomState instance or None, default=None
        Where the draws come from.

    Returns
    -------
    list of RademacherRow
        One a class.

    Raises
    ------
    ValueError
        If an argument is out of range or X is no matrix of finite numbers.

    References
    ----------
    Kar (2013), tables 6.1, 6.2 and 6.3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernlearn.theory.rademacher import rademacher_table
    >>> rows = rademacher_table(load_iris().data, n=50, random_state=0)
    >>> len(rows), all(row.holds for row in rows)
    (14, True)
    """
    if classes is not None and kernels is not None:
        raise ValueError("give 'kernels' or 'classes', not both")
    X = check_points(X)
    if classes is None:
        classes = default_classes(X, kernels)
    fitted = [hypothesis_class.fit(X, y) for hypothesis_class in classes]
    found = _estimates(fitted, X, n, n_trials, random_state)
    return [
        RademacherRow(
            h.table, h.problem, h.name, h.bound(n, as_printed=True), h.bound(n),
            estimate.mean, estimate.standard_error,
        )
        for h, estimate in zip(fitted, found, strict=True)
    ]  # fmt: skip


def _estimates(
    classes: Sequence[PairwiseClass], X: Any, n: int, n_trials: int, random_state: Any
) -> list[ComplexityEstimate]:
    check_count(n=n, n_trials=n_trials)
    rng = check_random_state(random_state)
    suprema = np.empty((len(classes), n_trials))
    for trial in range(n_trials):
        drawn = X[rng.randint(X.shape[0], size=n + 1)]
        rows = drawn.toarray() if sparse.issparse(drawn) else drawn
        signs = 2.0 * rng.randint(2, size=n) - 1
        for i, hypothesis_class in enumerate(classes):
            suprema[i, trial] = hypothesis_class.supremum(rows[0], rows[1:], signs)
    return [_summary(row) for row in suprema]


def _summary(suprema: NDArray[np.float64]) -> ComplexityEstimate:
    n = len(suprema)
    error = float(suprema.std(ddof=1)) / math.sqrt(n) if n > 1 else math.nan
    return ComplexityEstimate(float(suprema.mean()), error, suprema)
