"""Theorem 1 for a fitted classifier."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from kernlearn.voted.base import VotedClassifier


@dataclass(frozen=True)
class VotedBound:
    """The terms of theorem 1.

    Attributes
    ----------
    margin_error : float
        Share of the sample with a margin of ρ at most.
    complexity : float
        4/ρ · Σ α_t r_t.
    deviation : float
        What depends on ρ, the number of kernels, the sample size and δ only.
    rho : float
        The margin, of the normalised function.
    """

    margin_error: float
    complexity: float
    deviation: float
    rho: float

    @property
    def total(self) -> float:
        """The bound on the error; above 1 it says nothing."""
        return self.margin_error + self.complexity + self.deviation


def voted_bound(
    model: VotedClassifier,
    X: Any,
    y: ArrayLike,
    *,
    complexities: ArrayLike,
    ranges: ArrayLike,
    rho: float | None = None,
    delta: float = 0.05,
) -> VotedBound:
    r"""Evaluate theorem 1: a bound on the error of a fitted classifier of two classes.

    With probability :math:`1 - δ` over the sample

    .. math:: R(f) \le \hat R_{S,ρ}(f) + \frac4ρ \sum_t α_t r_t + \frac2ρ \sqrt{\frac{\log p}{m}}
        + \sqrt{\Big\lceil \frac4{ρ^2} \log \frac{ρ^2 m}{\log p} \Big\rceil \frac{\log p}{m}
        + \frac{\log(2/δ)}{2m}}

    for all convex combinations f of functions with values in [-1, 1]. A classifier's functions
    are divided by their ranges, and f by the sum of what are then its coefficients, which
    changes no sign.

    Parameters
    ----------
    model : VotedKernelClassifier or L1SVMClassifier
        Of two classes, with a coefficient at least.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The sample, which is what the classifier was trained on.
    y : array-like of shape (n_samples,)
        Its labels.
    complexities : array-like of shape (n_kernels,)
        Bounds :math:`r_k` on the Rademacher complexities :math:`R_m(H_k)`. The theorem is about
        those over the distribution; what a sample gives (``complexities_``) estimates them.
    ranges : array-like of shape (n_kernels,)
        The largest values of :math:`|K_k|`; :math:`κ_k^2` if kernels are positive semi-definite.
    rho : float, default=None
        The margin ρ, fixed before the sample is seen. None takes one over the sum of
        coefficients, the margin at which the hinge loss of the classifier begins; chosen on the
        sample, it costs a term of order :math:`\sqrt{\log\log(2/ρ)/m}` that the paper does not
        spell out and that is not added.
    delta : float, default=0.05
        The probability δ of failure.

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
    twice. A negative number under the ceiling counts as 0; the bound is far above 1 there.

    References
    ----------
    Cortes, Goyal, Kuznetsov & Mohri (2015), theorem 1 and appendix B.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.voted import L1SVMClassifier, voted_bound
    >>> X, y = np.array([[1.0], [-1.0]] * 500), np.array([1, 0] * 500)
    >>> model = L1SVMClassifier("linear", beta=0.1).fit(X, y)
    >>> found = voted_bound(model, X, y, complexities=[0.03], ranges=[1.0], rho=0.9)
    >>> found.margin_error, found.total.__round__(2)
    (0.0, 0.35)
    """
    check_is_fitted(model)
    if len(model.classes_) != 2:
        raise ValueError(
            f"theorem 1 is for two classes, and the classifier has {len(model.classes_)}"
        )
    n_kernels = len(model.coef_)
    r, sizes = (
        _numbers(given, name, n_kernels)
        for given, name in ((complexities, "complexities"), (ranges, "ranges"))
    )
    if not 0 < delta < 1:
        raise ValueError(f"'delta' must lie between 0 and 1, got {delta!r}")
    sums = np.array([np.abs(c.data).sum() for c in model.coef_])
    used = sums > 0
    norm = float(sums[used] @ sizes[used])
    if norm == 0:
        raise ValueError("the classifier has no coefficient: its function is 0 everywhere")
    if rho is None:
        rho = 1 / norm
    elif not 0 < rho < np.inf:
        raise ValueError(f"'rho' must be a finite number > 0, got {rho!r}")
    sign = np.where(np.asarray(y) == model.classes_[1], 1, -1)
    values = model.decision_function(X)
    m = len(values)
    # a margin of ρ counts as an error, also where rounding takes it a little above
    at_most = rho * norm * (1 + 1e-9)
    log_p = log(max(n_kernels, 2))
    rounds = max(ceil(4 / rho**2 * log(rho**2 * m / log_p)), 0)
    return VotedBound(
        margin_error=float(np.mean(sign * values <= at_most)),
        complexity=4 / rho * float(sums[used] @ r[used]) / norm,
        deviation=2 / rho * sqrt(log_p / m) + sqrt(rounds * log_p / m + log(2 / delta) / (2 * m)),
        rho=float(rho),
    )


def _numbers(given: ArrayLike, name: str, n_kernels: int) -> np.ndarray:
    values = np.asarray(given, dtype=np.float64)
    if values.shape != (n_kernels,) or not np.all(values >= 0):
        raise ValueError(
            f"'{name}' must hold one number >= 0 for each of the {n_kernels} kernels, got "
            f"{given!r}"
        )
    return values
