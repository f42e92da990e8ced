"""Learning bounds of voted kernels: Cortes, Goyal, Kuznetsov & Mohri (2015), theorems 1 and 2."""

from dataclasses import dataclass
from math import ceil, inf, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kernlearn.checks import check_positive, check_share


@dataclass(frozen=True)
class VotedBound:
    """The terms of theorem 1, or of theorem 2.

    Attributes
    ----------
    margin_error : float
        Share of the sample with a margin of at most ρ; for theorem 2 times K / (K - 1).
    complexity : float
        4/ρ · Σ α_t r_t; for theorem 2 it is 6K/ρ · Σ α_t r_t.
    deviation : float
        The terms that depend only on ρ, the number of kernels, the sample size and δ (and K).
    rho : float
        The margin, of the normalised function.

    Examples
    --------
    >>> from kernlearn.theory import VotedBound
    >>> bound = VotedBound(margin_error=0.05, complexity=0.125, deviation=0.25, rho=0.5)
    >>> bound.total
    0.425
    """

    margin_error: float
    complexity: float
    deviation: float
    rho: float

    @property
    def total(self) -> float:
        """The bound on the error, vacuous above 1."""
        return self.margin_error + self.complexity + self.deviation


def voted_bound(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    complexities: ArrayLike,
    ranges: ArrayLike,
    rho: float | None = None,
    delta: float = 0.05,
    K: float | None = None,
) -> VotedBound:
    r"""Bound the error of a fitted binary classifier by theorem 1, or by theorem 2.

    With probability :math:`1 - δ` over the sample

    .. math:: R(f) \le \hat R_{S,ρ}(f) + \frac4ρ \sum_t α_t r_t + \frac2ρ \sqrt{\frac{\log p}{m}}
        + \sqrt{\left\lceil \frac4{ρ^2} \log \frac{ρ^2 m}{\log p} \right\rceil \frac{\log p}{m}
        + \frac{\log(2/δ)}{2m}}

    (theorem 1), and for any K > 1

    .. math:: R(f) \le \frac{K}{K - 1} \hat R_{S,ρ}(f) + \frac{6K}{ρ} \sum_t α_t r_t
        + \frac{40K}{ρ^2} \frac{\log p}{m} + 5K \frac{\log(2/δ)}{m}
        + 5K \left\lceil \frac8{ρ^2} \log \frac{ρ^2 (1 + \frac{K}{K-1}) m}{40 K \log p}
        \right\rceil \frac{\log p}{m}

    (theorem 2, of local complexities: its deviation falls as log m / m), for all convex
    combinations f of functions with values in [-1, 1]. The functions of the classifier are
    divided by their ranges, and f by the sum of its new coefficients, which does not change its
    sign.

    Parameters
    ----------
    model : VotedKernelClassifier or L1SVMClassifier
        Fitted binary classifier with at least one coefficient.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The sample on which the classifier was trained.
    y : array-like of shape (n_samples,)
        Labels.
    complexities : array-like of shape (n_kernels,)
        Bounds :math:`r_k` on the Rademacher complexities :math:`R_m(H_k)` over the distribution;
        those of a sample (``complexities_``) are estimates of them.
    ranges : array-like of shape (n_kernels,)
        Maxima of :math:`|K_k|`; :math:`κ_k^2` for positive semi-definite kernels.
    rho : float, default=None
        The margin ρ, chosen independently of the sample. None takes one over the sum of
        coefficients, the margin below which there is a hinge loss; a margin chosen on the sample
        adds a term of order :math:`\sqrt{\log\log(2/ρ)/m}`, which the paper does not state and
        which is not included.
    delta : float, default=0.05
        Probability δ that the bound fails.
    K : float, default=None
        None gives theorem 1, a number above 1 theorem 2.

    Returns
    -------
    VotedBound

    Raises
    ------
    ValueError
        If the classifier has more than two classes or no coefficient, or a number is not valid.

    Notes
    -----
    One kernel counts as two (p = 2): the theorem needs log p > 0, and a family may be listed
    twice. A negative argument of the ceiling counts as 0; the bound is then far above 1.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.theory import voted_bound
    >>> from kernlearn.voted import L1SVMClassifier
    >>> X, y = np.array([[1.0], [-1.0]] * 500), np.array([1, 0] * 500)
    >>> model = L1SVMClassifier("linear", beta=0.1).fit(X, y)
    >>> bound = voted_bound(model, X, y, complexities=[0.03], ranges=[1.0], rho=0.9)
    >>> bound.margin_error, round(bound.total, 2)
    (0.0, 0.35)
    """
    if len(model.classes_) != 2:
        raise ValueError(f"the theorems are for two classes, not for {len(model.classes_)}")
    check_share(delta=delta)
    if K is not None and not 1 < K < inf:
        raise ValueError(f"'K' must be a finite number above 1, or None, got {K!r}")
    sums = np.array([np.abs(c.data).sum() for c in model.coef_])
    r, sizes = (np.asarray(values, dtype=np.float64) for values in (complexities, ranges))
    for name, values in (("complexities", r), ("ranges", sizes)):
        if values.shape != sums.shape or not np.all(values >= 0):
            raise ValueError(
                f"'{name}' must hold a number of 0 or more for each of the {len(sums)} kernels"
            )
    used = sums > 0
    norm = float(sums[used] @ sizes[used])
    if norm == 0:
        raise ValueError("the classifier has no coefficient: its function is 0 everywhere")
    rho = 1 / norm if rho is None else rho
    check_positive(rho=rho)
    margins = np.where(np.asarray(y) == model.classes_[1], 1, -1) * model.decision_function(X)
    # A margin of ρ counts as an error, also if rounding makes it slightly larger.
    margin_error = float(np.mean(margins <= rho * norm * (1 + 1e-9)))
    complexity = float(sums[used] @ r[used]) / norm / rho
    m, log_p = len(margins), log(max(len(sums), 2))
    if K is None:
        rounds = max(ceil(4 / rho**2 * log(rho**2 * m / log_p)), 0)
        deviation = sqrt(rounds * log_p / m + log(2 / delta) / (2 * m))
        deviation += 2 / rho * sqrt(log_p / m)
        return VotedBound(margin_error, 4 * complexity, deviation, float(rho))
    weight = K / (K - 1)
    rounds = max(ceil(8 / rho**2 * log(rho**2 * (1 + weight) * m / (40 * K * log_p))), 0)
    deviation = (40 * K / rho**2 * log_p + 5 * K * log(2 / delta) + 5 * K * rounds * log_p) / m
    return VotedBound(weight * margin_error, 6 * K * complexity, deviation, float(rho))
