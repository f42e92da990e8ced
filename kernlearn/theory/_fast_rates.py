"""Excess risk of online learning from pairs, by strongly convex losses: Kar (2013), 6.4, 6.5."""

from __future__ import annotations

import math

import numpy as np
from scipy.optimize import minimize_scalar

from kernlearn.theory._hoeffding import check_count, check_positive
from kernlearn.theory._slow_rates import ExcessRiskBound, check_regret, check_stream


def fast_rate_bound(
    n: int,
    *,
    regret: float,
    lipschitz: float,
    strong_convexity: float,
    feature_norm: float = 1.0,
    loss_bound: float = 1.0,
    dimension_factor: float = 1.0,
    delta: float = 0.05,
    epsilon: float | None = None,
) -> ExcessRiskBound:
    r"""Bound the excess risk of learning with all earlier points, strongly convex (theorem 6.5).

    With :math:`r = (1 + \varepsilon) \mathfrak{R}_n + \frac{C}{\varepsilon \sigma}
    \sum_{t=2}^n \frac{1}{t-1}`, :math:`C = C_d^2 (4 (1 + \varepsilon) L R)^2 (32 +
    \log(2n/\delta))`, :math:`d = 4 (1 + \varepsilon)^2 L^2 / \sigma`, :math:`b = (1 +
    \varepsilon) B` and :math:`\Delta^2 = \log(8 \log(n) / \delta)`, section 6.12.3 has the
    excess risk at most

    .. math::

        \frac{1}{n-1} \bigl( r + 4 \sqrt{d r}\, \Delta + \max(16 d, 6 b)\, \Delta^2 \bigr).

    Parameters
    ----------
    n : int
        Length of the stream, at least 3.
    regret : float
        :math:`\mathfrak{R}_n`, a bound of the regret by the all-pairs penalties.
    lipschitz : float
        L, the Lipschitz constant of the losses: the larger one of that in the inner product
        with the features (theorem 6.4) and that in h (section 6.12.3).
    strong_convexity : float
        :math:`\sigma`, that of the regulariser.
    feature_norm : float, default=1.0
        R, the largest dual norm of the features of a pair.
    loss_bound : float, default=1.0
        B: losses are in [0, B].
    dimension_factor : float, default=1.0
        :math:`C_d`: 1 for norms such as the 2-norm, :math:`\sqrt{\log d}` for sparse ones.
    delta : float, default=0.05
        Allowed probability of failure, between 0 and 1.
    epsilon : float, default=None
        :math:`\varepsilon`, above 0 and at most 1; None takes the best one.

    Returns
    -------
    ExcessRiskBound
        `regret` is the regret a round; `complexity` the term with C; `confidence` what is left.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    The O() of the theorem hides all of this; 4, 16 and 32 are the constants of theorem 6.4 and
    6, 16 those of lemma 6.19. They are large: the bound is below B only on long streams. δ/2 is
    for the n - 1 events of theorem 6.4 and δ/2 for theorem 6.18, which needs it below 1/e. The
    thesis bounds the sum of 1/(t - 1) by log n; it is larger than that, and is taken as it is.

    References
    ----------
    Kar (2013), theorem 6.5 and section 6.12.3.

    Examples
    --------
    >>> from kernlearn.theory.pairwise_bounds import fast_rate_bound
    >>> bound = fast_rate_bound(10**6, regret=20.0, lipschitz=1.0, strong_convexity=1.0)
    >>> round(bound.total, 3)
    0.056
    """
    check_stream(n, delta)
    # n - 1 terms 1, 1/2, ...
    harmonic = float(np.sum(1 / np.arange(1, n)))
    return _bound(
        n, harmonic, check_regret(regret), lipschitz, strong_convexity, feature_norm,
        loss_bound, dimension_factor, delta, epsilon,
    )  # fmt: skip


def finite_buffer_fast_rate_bound(
    n: int,
    buffer_size: int,
    *,
    regret: float,
    lipschitz: float,
    strong_convexity: float,
    feature_norm: float = 1.0,
    loss_bound: float = 1.0,
    dimension_factor: float = 1.0,
    delta: float = 0.05,
    epsilon: float | None = None,
) -> ExcessRiskBound:
    r"""Bound the excess risk of learning with a buffer, strongly convex (theorem 6.9).

    As :func:`fast_rate_bound`, with :math:`\sum_t 1 / \min(t - 1, s)` for the sum of
    :math:`1 / (t - 1)`.

    Parameters
    ----------
    n : int
        Length of the stream, at least 3.
    buffer_size : int
        The s points of the buffer.
    regret : float
        :math:`\mathfrak{R}^{buf}_n`, a bound of the regret by the finite-buffer penalties.
    lipschitz, strong_convexity, feature_norm, loss_bound, dimension_factor, delta, epsilon
        As for :func:`fast_rate_bound`.

    Returns
    -------
    ExcessRiskBound
        As for :func:`fast_rate_bound`.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    As for theorem 6.6, the proof takes the points of the buffer to be different: FIFO and
    reservoir sampling, not RS-x. That s is below n / log n is not needed here.

    References
    ----------
    Kar (2013), theorem 6.9 and section 6.12.5.

    Examples
    --------
    >>> from kernlearn.theory.pairwise_bounds import finite_buffer_fast_rate_bound
    >>> loss = {"regret": 20.0, "lipschitz": 1.0, "strong_convexity": 1.0}
    >>> round(finite_buffer_fast_rate_bound(10**6, 10**5, **loss).total, 3)
    0.08
    """
    check_stream(n, delta)
    check_count(buffer_size=buffer_size)
    harmonic = float(np.sum(1 / np.minimum(np.arange(1, n), buffer_size)))
    return _bound(
        n, harmonic, check_regret(regret), lipschitz, strong_convexity, feature_norm,
        loss_bound, dimension_factor, delta, epsilon,
    )  # fmt: skip


def _bound(
    n: int,
    harmonic: float,
    regret: float,
    lipschitz: float,
    strong_convexity: float,
    feature_norm: float,
    loss_bound: float,
    dimension_factor: float,
    delta: float,
    epsilon: float | None,
) -> ExcessRiskBound:
    check_positive(
        lipschitz=lipschitz, strong_convexity=strong_convexity, feature_norm=feature_norm,
        loss_bound=loss_bound, dimension_factor=dimension_factor,
    )  # fmt: skip
    if n < 3:
        raise ValueError(f"'n' must be 3 or more, got {n!r}: theorem 6.18 needs it")
    if epsilon is not None and not 0 < epsilon <= 1:
        raise ValueError(f"'epsilon' must be None or a number in (0, 1], got {epsilon!r}")
    # a smaller probability of failure than asked for is no harm
    squared_delta = math.log(4 * math.log(n) / min(delta / 2, 0.36))
    constant = (4 * dimension_factor * lipschitz * feature_norm) ** 2
    constant *= (32 + math.log(2 * n / delta)) * harmonic / strong_convexity

    def parts(e: float) -> tuple[float, float]:
        rich = (1 + e) ** 2 * constant / e
        d, b = 4 * ((1 + e) * lipschitz) ** 2 / strong_convexity, (1 + e) * loss_bound
        # the sum bounds the excess, which is not negative, so neither is what lemma 6.19 takes
        r = max((1 + e) * regret + rich, 0.0)
        total = r + 4 * math.sqrt(d * r * squared_delta) + max(16 * d, 6 * b) * squared_delta
        return rich, total

    if epsilon is None:
        found = minimize_scalar(
            lambda log_e: parts(math.exp(log_e))[1], bounds=(-20.0, 0.0), method="bounded"
        )
        # the ends are not tried by the search
        epsilon = min((math.exp(found.x), 1.0), key=lambda e: parts(e)[1])
    rich, total = parts(epsilon)
    rounds = n - 1
    return ExcessRiskBound(regret / rounds, rich / rounds, (total - regret - rich) / rounds)
