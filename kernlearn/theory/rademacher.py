r"""Rademacher complexities of pairwise classes: Kar (2013), section 6.6, tables 6.1 to 6.3.

The bounds as functions of the data, next to estimates of the complexities. Points are drawn from
the data with replacement, so that the data are the domain as well as the distribution.
"""

import math
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_random_state, gen_batches

from kernlearn.checks import check_count, check_positive
from kernlearn.kernels import GaussianKernel, Kernel, as_kernel, mean_distance
from kernlearn.theory.hypotheses import (
    NORMS,
    Array,
    BilinearSimilarity,
    LinearAUC,
    MahalanobisMetric,
    PairwiseClass,
    check_points,
)

__all__ = [
    "BilinearSimilarity",
    "ComplexityEstimate",
    "KernelAUC",
    "KernelCombination",
    "LinearAUC",
    "MahalanobisMetric",
    "RademacherRow",
    "default_classes",
    "rademacher_complexity",
    "rademacher_table",
]

# Widths of the default base kernels, as multiples of the mean distance.
_WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
# Rows and columns of a block of a Gram matrix: 8 MB of float64.
_BLOCK = 1024


@dataclass(frozen=True)
class ComplexityEstimate:
    """An estimate of a complexity by simulation.

    Attributes
    ----------
    mean, standard_error : float
        The mean of the suprema, and its standard error; NaN for one trial.
    suprema : ndarray of shape (n_trials,)
        The supremum of each trial.

    Examples
    --------
    >>> from kernlearn.theory.rademacher import LinearAUC, rademacher_complexity
    >>> estimate = rademacher_complexity(LinearAUC(), [[1.0], [-1.0]], n=50, random_state=0)
    >>> 0 < estimate.mean < 1
    True
    """

    mean: float
    standard_error: float
    suprema: NDArray[np.float64]


@dataclass(frozen=True)
class RademacherRow:
    """A row of tables 6.1 to 6.3, with an estimate.

    Attributes
    ----------
    table, problem, hypothesis_class : str
        "6.1", "6.2" or "6.3"; what is learned; the class, with its radius in brackets.
    printed, bound : float
        The bound as the thesis prints it, and one that holds where that does not.
    estimate, standard_error : float
        The complexity by simulation.

    Examples
    --------
    >>> from kernlearn.theory.rademacher import LinearAUC, rademacher_table
    >>> row = rademacher_table([[1.0], [-1.0]], [LinearAUC()], n=50, n_trials=9, random_state=0)[0]
    >>> row.hypothesis_class, row.estimate < row.bound, row.holds
    ('B_1(1)', True, True)
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
        """Whether the estimate is at most the bound."""
        return self.estimate <= self.bound


class KernelAUC(PairwiseClass):
    r"""AUC maximisation with a kernel: :math:`h(x, x') = \langle w, \Phi(x) - \Phi(x') \rangle`.

    The bound is :math:`2 \kappa W / \sqrt{n}`, :math:`\kappa^2 = \max_x K(x, x)` (section 6.6.2).

    Parameters
    ----------
    kernel : str, Kernel or callable
        A positive semi-definite kernel; see :func:`kernlearn.kernels.as_kernel`. A copy is
        fitted to the data.
    radius : float, default=1.0
        The bound W on the norm of w in the kernel's space.

    Raises
    ------
    ValueError
        If a parameter is out of range; from `supremum` and `fit` if the kernel turns out not to
        be positive semi-definite.

    Examples
    --------
    >>> from kernlearn.theory.rademacher import KernelAUC
    >>> KernelAUC("gaussian").fit([[0.0], [1.0], [2.0]]).bound(100)
    0.2
    """

    table = "6.1"
    problem = "kernel AUC"

    def __init__(self, kernel: Any = "gaussian", radius: float = 1.0) -> None:
        self.kernel = as_kernel(kernel)
        check_positive(radius=radius)
        self.radius = float(radius)
        self.name = f"B_2({self.radius:g}), {type(self.kernel).__name__}"

    def _measure(self, X: Any, y: ArrayLike | None) -> None:
        self.fitted = clone(self.kernel).fit(X, y)
        rows = [X[part] for part in gen_batches(X.shape[0], 64)]
        diagonal = np.concatenate([np.diagonal(self.fitted(part)) for part in rows])
        self._refuse(diagonal.min() < 0)
        self.kappa = math.sqrt(float(diagonal.max()))

    def _bound(self, n: int, as_printed: bool) -> float:
        return 2 * self.kappa * self.radius / math.sqrt(n)

    def _supremum(self, x: Array, points: Array, signs: Array) -> float:
        # the weight of the point itself is the sum of the signs
        weights = np.append(-signs, signs.sum())
        gram = np.asarray(self.fitted(np.vstack([points, x])), dtype=np.float64)
        square = float(weights @ gram @ weights)
        self._refuse(square < -1e-8 * float(np.abs(weights) @ np.abs(gram) @ np.abs(weights)))
        return self.radius * math.sqrt(max(square, 0.0)) / len(signs)

    def _refuse(self, indefinite: bool) -> None:
        if indefinite:
            raise ValueError(
                f"{self.kernel!r} is not positive semi-definite on these points and has no space "
                "of weights: give another 'kernel'"
            )


class KernelCombination(PairwiseClass):
    r"""Two-stage multiple kernel learning: :math:`h(x, x') = \sum_i \mu_i K_i(x, x')`.

    With :math:`|K_i(x, x')| \le \kappa^2` on all pairs of points, table 6.3 (section 6.6.4) has
    :math:`\kappa^2 \sqrt{e \log p / n}` for the simplex and :math:`\kappa^2 \sqrt{p / n}` for the
    sphere. Both hold for all p: for one kernel, the simplex is one function, of complexity 0.

    Parameters
    ----------
    kernels : sequence of str, Kernel or callable, default=None
        The p base kernels. Copies are fitted to the data. None takes Gaussian kernels of 1/4,
        1/2, 1, 2 and 4 times the mean distance of the points (1 if that is 0).
    constraint : {"simplex", "sphere"}, default="simplex"
        :math:`\mu \ge 0` with :math:`\|\mu\|_1 = 1`, or with :math:`\|\mu\|_2 = 1`.

    Raises
    ------
    ValueError
        If there are no kernels, or `constraint` is neither.

    Examples
    --------
    >>> from kernlearn.kernels import GaussianKernel
    >>> from kernlearn.theory.rademacher import KernelCombination
    >>> widths = [GaussianKernel(sigma=s) for s in (0.5, 1.0, 2.0, 4.0)]
    >>> KernelCombination(widths, "sphere").fit([[0.0], [1.0]]).bound(100)
    0.2
    """

    table = "6.3"
    problem = "multiple kernels"

    def __init__(self, kernels: Sequence[Any] | None = None, constraint: str = "simplex") -> None:
        if constraint not in ("simplex", "sphere"):
            raise ValueError(f"'constraint' must be 'simplex' or 'sphere', got {constraint!r}")
        if kernels is not None and (isinstance(kernels, str) or not len(kernels)):
            raise ValueError(f"'kernels' must be a list of at least one kernel, got {kernels!r}")
        self.kernels = kernels and [as_kernel(kernel, "kernels") for kernel in kernels]
        self.constraint = constraint
        self.name = "Δ(1)" if constraint == "simplex" else "S_2(1)"

    def _measure(self, X: Any, y: ArrayLike | None) -> None:
        kernels: Sequence[Kernel] | None = self.kernels
        if kernels is None:
            kernels = [GaussianKernel(sigma=width * _usual_distance(X)) for width in _WIDTHS]
        self.fitted = [clone(kernel).fit(X, y) for kernel in kernels]
        parts = [X[rows] for rows in gen_batches(X.shape[0], _BLOCK)]
        self.squared_kappa = max(
            float(np.abs(kernel(A, B)).max())
            for kernel in self.fitted
            for A in parts
            for B in parts
        )

    def _bound(self, n: int, as_printed: bool) -> float:
        p = len(self.fitted)
        inside = math.e * math.log(p) if self.constraint == "simplex" else p
        return self.squared_kappa * math.sqrt(inside / n)

    def _supremum(self, x: Array, points: Array, signs: Array) -> float:
        values = [np.ravel(kernel(points, x[np.newaxis])) for kernel in self.fitted]
        means = np.array(values) @ signs / len(signs)
        largest = float(means.max())
        if self.constraint == "simplex" or largest <= 0:
            # with no positive mean, all weight is best put on the largest one
            return largest
        return float(np.linalg.norm(np.maximum(means, 0)))


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
    supremum is then exact (section 6.3).

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
        Seed of the draws, which do not depend on the class.

    Returns
    -------
    ComplexityEstimate

    Raises
    ------
    ValueError
        If an argument is out of range or X is no matrix of finite numbers.

    Examples
    --------
    >>> from kernlearn.theory.rademacher import LinearAUC, rademacher_complexity
    >>> X = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
    >>> auc = LinearAUC(q=2)
    >>> estimate = rademacher_complexity(auc, X, n=100, random_state=0)
    >>> 0.1 < estimate.mean < auc.bound(100)
    True
    """
    check_count(n=n, n_trials=n_trials)
    points, rng = check_points(X), check_random_state(random_state)
    hypothesis_class.fit(points, y)
    suprema = np.empty(n_trials)
    for trial in range(n_trials):
        drawn = points[rng.randint(points.shape[0], size=n + 1)]
        rows = drawn.toarray() if sparse.issparse(drawn) else drawn
        signs = 2.0 * rng.randint(2, size=n) - 1
        suprema[trial] = hypothesis_class.supremum(rows[0], rows[1:], signs)
    error = float(suprema.std(ddof=1)) / math.sqrt(n_trials) if n_trials > 1 else math.nan
    return ComplexityEstimate(float(suprema.mean()), error, suprema)


def default_classes(X: ArrayLike, kernels: Sequence[Any] | None = None) -> list[PairwiseClass]:
    """Return the classes of tables 6.1 to 6.3, all of radius 1.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The points.
    kernels : sequence of str, Kernel or callable, default=None
        The base kernels of table 6.3; see :class:`KernelCombination`.

    Returns
    -------
    list of PairwiseClass

    Examples
    --------
    >>> from kernlearn.theory.rademacher import default_classes
    >>> [h.name for h in default_classes([[0.0], [2.0]])][:3]
    ['B_1(1)', 'B_1.333(1)', 'B_2(1)']
    """
    sigma = _usual_distance(check_points(X))
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
    """Tabulate the bounds of tables 6.1 to 6.3 and the complexities on a data set.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The points. Metric learning takes matrices of n_features by n_features.
    y, n, n_trials, random_state
        As for :func:`rademacher_complexity`; all classes share the draws.
    kernels : sequence of str, Kernel or callable, default=None
        The base kernels of table 6.3; see :func:`default_classes`.
    classes : sequence of PairwiseClass, default=None
        Classes to use instead of :func:`default_classes`, without `kernels`.

    Returns
    -------
    list of RademacherRow
        One per class.

    Raises
    ------
    ValueError
        If an argument is out of range or X is no matrix of finite numbers.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernlearn.theory.rademacher import rademacher_table
    >>> rows = rademacher_table(load_iris().data, n=50, n_trials=20, random_state=0)
    >>> len(rows), all(row.holds for row in rows)
    (14, True)
    """
    if classes is not None and kernels is not None:
        raise ValueError("give 'kernels' or 'classes', not both")
    X, rng = check_points(X), check_random_state(random_state)
    rows = []
    for h in default_classes(X, kernels) if classes is None else classes:
        # a copy, so that all classes share the draws
        estimate = rademacher_complexity(
            h, X, y, n=n, n_trials=n_trials, random_state=deepcopy(rng)
        )
        numbers = h.bound(n, as_printed=True), h.bound(n), estimate.mean, estimate.standard_error
        rows.append(RademacherRow(h.table, h.problem, h.name, *numbers))
    return rows


def _usual_distance(X: Any) -> float:
    """Return the mean distance of points; 1 if that is 0."""
    return (mean_distance(X) if X.shape[0] > 1 else 0.0) or 1.0
