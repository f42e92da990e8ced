"""Objective (1) of voted kernel regularization, and the complexities in its penalties.

Sections, lemmas and theorems are those of Cortes, Goyal, Kuznetsov & Mohri (2015). Complexities
are those of the families ±K(·, x').
"""

from dataclasses import dataclass
from math import comb, pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, check_random_state

from kernlearn.checks import check_count, check_nonnegative
from kernlearn.kernels import BaseDotProductKernel, Kernel

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

# Correlation of a column without a penalty that counts as 0, relative to its values; with a
# penalty, correlations are accurate up to rounding errors.
_FREE = 1e-8
_ROUNDING = 1e-14
_FEW = 0.4  # share of the rows below which a product is faster without the others
# Relative size of negative eigenvalues that are due to rounding.
_NEGATIVE = 1e-8


@dataclass(frozen=True)
class Solution:
    """The nonzero coefficients of a classifier.

    Attributes
    ----------
    kernels, points : ndarray of shape (n_coefficients,), int
        Kernel and point of each, sorted by kernel, then point.
    coef : ndarray of shape (n_coefficients,)
        Coefficients of K_k(·, x_j).
    objective, bound : float
        The objective, and a lower bound of its minimum.
    n_iter : int
        Rounds of column generation.
    converged : bool
        Whether the gap between objective and bound is within the tolerance.
    """

    kernels: Indices
    points: Indices
    coef: Floats
    objective: float
    bound: float
    n_iter: int
    converged: bool


@dataclass(frozen=True)
class VotedProblem:
    r"""Minimise :math:`\frac1m \sum_i s_i \max(0, 1 - y_i f(x_i)) + \sum_{k,j} Λ_k |α_{k,j}|`.

    Here :math:`f = \sum_{k,j} α_{k,j} K_k(\cdot, x_j)`. In the paper's equation (1)
    :math:`y_i y_j α_{k,j}` replaces :math:`y_i α_{k,j}`, which only changes the sign of
    coefficients of negative points. There is no intercept, and the loss is a mean over the points.

    A column is the vector of all :math:`s_i y_i K_k(x_i, x_j)`, divided by the largest
    :math:`|K_k(x_i, x_j)|`, the scale. It is numbered k · n_points + j.

    Parameters
    ----------
    grams : ndarray of shape (n_kernels, n_samples, n_points)
        Values :math:`K_k(x_i, x_j)`, of any sign, symmetric or not.
    y : ndarray of shape (n_samples,)
        1 and -1.
    penalties : ndarray of shape (n_kernels,)
        The :math:`Λ_k \ge 0`; a kernel with an infinite penalty is excluded.
    weights : ndarray of shape (n_samples,), default=None
        The weights s_i > 0 of the losses; None for ones.
    scales : ndarray of shape (n_kernels, n_points), default=None
        Largest absolute value of each column, 1 for zero columns; None computes them.
    """

    grams: Floats
    y: Floats
    penalties: Floats
    weights: Any = None
    scales: Any = None

    def __post_init__(self) -> None:
        if self.weights is None:
            object.__setattr__(self, "weights", np.ones(len(self.y)))
        if self.scales is None:
            largest = np.maximum(self.grams.max(axis=1), -self.grams.min(axis=1))
            # Zero columns are in no solution.
            object.__setattr__(self, "scales", np.where(largest > 0, largest, 1.0))

    def costs(self, columns: Indices) -> Floats:
        """Return the penalties of columns, m Λ_k relative to their scales."""
        kernels = columns // self.scales.shape[1]
        return len(self.y) * self.penalties[kernels] / self.scales.flat[columns]

    def values(self, columns: Indices) -> Floats:
        """Return columns as the rows of an array."""
        kernels, points = np.divmod(columns, self.scales.shape[1])
        scales = self.scales[kernels, points]
        return self.y * self.weights * self.grams[kernels, :, points] / scales[:, None]

    def correlations(self, dual: Floats) -> Floats:
        """Return Σ_i u_i s_i y_i K_k(x_i, x_j) of shape (n_kernels, n_points).

        The dual variables u_i lie in [0, 1]. Kernels with an infinite penalty have zeros.
        """
        signed = dual * (self.y * self.weights)
        result = np.zeros(self.scales.shape)
        used = np.flatnonzero(signed)
        few = len(used) < _FEW * len(signed)
        for kernel in np.flatnonzero(np.isfinite(self.penalties)):
            gram = self.grams[kernel]
            result[kernel] = signed[used] @ gram[used] if few else signed @ gram
        return result

    def violations(self, correlations: Floats) -> Floats:
        """Return by how much each column violates the dual problem, negative if it does not."""
        costs = len(self.y) * self.penalties[:, None]
        return ((np.abs(correlations) - costs) / self.scales).ravel()

    def bound(self, dual: Floats, correlations: Floats) -> float:
        """Return a lower bound of the objective.

        The dual problem is to maximise Σ u_i s_i / m over 0 ≤ u_i ≤ 1 with
        |Σ_i u_i s_i y_i K_k(x_i, x_j)| ≤ m Λ_k. Any u in the box becomes feasible by scaling it
        down.
        """
        allowed = np.isfinite(self.penalties)
        sizes = np.abs(correlations[allowed]) / len(self.y)
        scales, penalties = self.scales[allowed], self.penalties[allowed, None]
        # A 0 with rounding errors is not a violation.
        limits = np.where(penalties > 0, np.maximum(penalties, _ROUNDING * scales), _FREE * scales)
        return float((dual * self.weights).mean() / (sizes / limits).max(initial=1.0))

    def objective(self, kernels: Indices, points: Indices, coef: Floats) -> float:
        """Return the value of the objective for some coefficients, the others being 0."""
        margins = self.y * (coef @ self.grams[kernels, :, points])
        losses = np.maximum(0.0, 1.0 - margins) * self.weights
        return float(losses.mean() + self.penalties[kernels] @ np.abs(coef))

    def solution(
        self, columns: Indices, alpha: Floats, dual: Floats, tol: float, n_iter: int
    ) -> Solution:
        """Return the solution with the coefficients of some columns, and its dual bound.

        Negligible coefficients count as 0.
        """
        order = np.argsort(columns)
        order = order[np.abs(alpha[order]) > 1e-9]
        kernels, points = np.divmod(columns[order], self.scales.shape[1])
        coef = alpha[order] / self.scales[kernels, points]
        objective = self.objective(kernels, points, coef)
        bound = self.bound(dual, self.correlations(dual))
        converged = closed(objective, bound, tol)
        return Solution(kernels, points, coef, objective, bound, n_iter, converged)


def closed(objective: float, bound: float, tol: float) -> bool:
    """Whether the gap between the objective and a lower bound is within the tolerance."""
    return objective - bound <= max(tol * objective, 1e-10)


# -- complexities ---------------------------------------------------------------------------------


def trace_complexity(gram: ArrayLike, *, sample_weight: Floats | None = None) -> float:
    r"""Return the bound of lemma 3: :math:`κ \sqrt{\operatorname{Tr} K} / m`.

    The supremum :math:`κ` of :math:`\sqrt{K(x, x)}` is taken as the maximum over the sample.

    Parameters
    ----------
    gram : array-like of shape (n_samples, n_samples)
        Matrix of a positive semi-definite kernel. For another kernel with a non-negative
        diagonal the number is computed, but is not a bound.
    sample_weight : ndarray of shape (n_samples,), default=None
        How many points each point counts as.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the matrix is not square or finite, or a value on its diagonal is negative.

    Examples
    --------
    >>> from kernlearn.voted import trace_complexity
    >>> trace_complexity([[1.0, 0.5], [0.5, 1.0]]).__round__(4)
    0.7071
    """
    values, kappa = _square(gram)
    diagonal = np.diag(values)
    weights = np.ones(len(values)) if sample_weight is None else sample_weight
    return kappa * sqrt((weights * diagonal).sum()) / float(weights.sum())


def dimension_complexity(kappa: float, dimension: float, n_samples: int | None = None) -> float:
    r"""Return :math:`κ^2 \sqrt{d}`, or the whole bound of lemma 4, :math:`12 κ^2 \sqrt{π d / m}`.

    Parameters
    ----------
    kappa : float
        The supremum of :math:`\sqrt{K(x, x)}`.
    dimension : float
        The dimension d of the feature space, see `feature_dimension`; may be infinite.
    n_samples : int, default=None
        Sample size m; None omits the factor :math:`12 \sqrt{π / m}`, as in section 5.3 for the
        penalties.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a number is negative or the sample size is not positive.

    Examples
    --------
    >>> from kernlearn.voted import dimension_complexity
    >>> dimension_complexity(1.0, 9)
    3.0
    """
    check_nonnegative(kappa=kappa)
    if not dimension >= 0:
        raise ValueError(f"'dimension' must be a number of 0 or more, got {dimension!r}")
    if n_samples is None:
        return kappa**2 * sqrt(dimension)
    check_count(n_samples=n_samples)
    return 12 * sqrt(pi / n_samples) * kappa**2 * sqrt(dimension)


def feature_dimension(kernel: Kernel, n_features: int) -> float:
    r"""Return the dimension of a dot-product kernel's feature space: equation (3).

    A term :math:`a_n t^n` has :math:`\binom{N+n-1}{n}` monomials; for :math:`(t + r)^k`, r > 0,
    their sum is :math:`\binom{N+k}{k}`.

    Parameters
    ----------
    kernel : Kernel
        A dot-product kernel.
    n_features : int
        The dimension N of the data.

    Returns
    -------
    float
        Infinite for an infinite series, and above the largest float64.

    Raises
    ------
    ValueError
        If the kernel is not a dot-product kernel.

    Examples
    --------
    >>> from kernlearn.kernels import PolynomialKernel
    >>> from kernlearn.voted import feature_dimension
    >>> feature_dimension(PolynomialKernel(degree=2), 3)
    10.0
    """
    if not isinstance(kernel, BaseDotProductKernel):
        raise ValueError(
            f"the dimension of lemma 4 is that of a polynomial's feature space, and {kernel!r} is "
            "not a power series in the inner product; choose another complexity"
        )
    if kernel.degree_max is None:
        return np.inf
    orders = np.flatnonzero(np.isfinite(kernel.log_coefficients(kernel.degree_max)))
    total = sum(comb(n_features + int(n) - 1, int(n)) for n in orders)
    return float(total) if total < 2**1023 else np.inf


def local_complexity(gram: ArrayLike, radius: Any) -> Any:
    r"""Bound the local Rademacher complexity by :math:`\sqrt{(2/m) \sum_j \min(s, κ^2 λ_j)}`.

    The :math:`λ_j` are the eigenvalues of K / m, and :math:`κ` is the largest
    :math:`\sqrt{K(x, x)}` of the sample. The paper states the bound for functions of norm 1, i.e.
    κ = 1, as for normalised kernels; :math:`±K(·, x')` has a norm of at most κ.

    Parameters
    ----------
    gram : array-like of shape (n_samples, n_samples)
        Matrix of a positive semi-definite kernel.
    radius : float or array-like of shape (n_radii,)
        The bound s on :math:`E[h^2]`; infinite gives :math:`\sqrt 2` times lemma 3.

    Returns
    -------
    float or ndarray of shape (n_radii,)

    Raises
    ------
    ValueError
        If the matrix is not square, finite, symmetric and positive semi-definite, or a radius
        is not positive.

    References
    ----------
    Section 5.3 and objective (2); Mendelson (2003).

    Examples
    --------
    >>> from kernlearn.voted import local_complexity
    >>> float(local_complexity([[1.0, 0.0], [0.0, 1.0]], radius=0.125))
    0.5
    """
    radii = np.asarray(radius, dtype=np.float64)
    if not (radii > 0).all():
        raise ValueError(f"'radius' must be a number > 0, got {radius!r}")
    values, kappa = _square(gram)
    atol = 1e-10 * np.abs(values).max()
    symmetric = np.allclose(values, values.T, rtol=1e-7, atol=atol)
    eigenvalues = np.linalg.eigvalsh(values) / len(values)
    if not symmetric or eigenvalues[0] < -_NEGATIVE * max(eigenvalues[-1], -eigenvalues[0]):
        problem = f"has the eigenvalue {eigenvalues[0] * len(values):.6g}"
        raise ValueError(
            "the local complexity is for positive semi-definite kernels, and the matrix "
            f"{problem if symmetric else 'is not symmetric'}; use 'monte_carlo' or an array"
        )
    squared = kappa**2 * np.maximum(eigenvalues, 0.0)
    return np.sqrt(2 / len(values) * np.minimum(radii[..., None], squared).sum(axis=-1))


def monte_carlo_complexity(
    gram: ArrayLike, *, n_draws: int = 100, random_state: Any = None
) -> float:
    r"""Estimate :math:`\frac1m E_σ \max_j |\sum_i σ_i K(x_i, x_j)|` by drawing signs.

    It is the empirical Rademacher complexity of the functions that objective (1) combines, those
    of the sample; for points x' outside the sample it is a lower bound.

    Parameters
    ----------
    gram : array-like of shape (n_samples, n_points)
        Values K(x_i, x_j) of any kernel.
    n_draws : int, default=100
        Number of sign vectors.
    random_state : int, RandomState instance or None, default=None
        Seed of the signs.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the matrix is not finite or the number of draws is not positive.

    Examples
    --------
    >>> from kernlearn.voted import monte_carlo_complexity
    >>> monte_carlo_complexity([[1.0, 0.0], [0.0, 1.0]], random_state=0)
    0.5
    """
    check_count(n_draws=n_draws)
    values: Floats = check_array(gram, dtype=np.float64, input_name="gram")
    signs = 2.0 * check_random_state(random_state).randint(2, size=(n_draws, len(values))) - 1.0
    return float(np.abs(signs @ values).max(axis=1).mean()) / len(values)


def _square(gram: ArrayLike) -> tuple[Floats, float]:
    """Return a square matrix, and the root of its largest diagonal value."""
    values: Floats = check_array(gram, dtype=np.float64, input_name="gram")
    if values.shape[0] != values.shape[1]:
        raise ValueError(f"'gram' must be a square matrix, got shape {values.shape}")
    diagonal = np.diag(values)
    if diagonal.min() < 0:
        raise ValueError(
            f"a positive semi-definite kernel has no K(x, x) = {diagonal.min():.6g} < 0, and this "
            "complexity is for such kernels; use 'monte_carlo' or an array"
        )
    return values, sqrt(diagonal.max())
