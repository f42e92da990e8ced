r"""Uniform convergence of random Maclaurin features: Kar (2013), theorems 3.10 and 3.14.

All bounds are for points with `n_features` coordinates in the 1-norm ball :math:`B_1(0, R)` of
the given `radius`, and for the normalised measure :math:`P[N = n] = (p - 1) p^{-(n+1)}`. The
thesis writes :math:`p^{-(n+1)}`, which is the same at p = 2; for other p the bounds on the
features are divided by p - 1 here, as the features are.

Every function raises a ValueError if a parameter is out of range, or if the kernel's series does
not converge where the bound needs it. All is computed in logarithms: constants may exceed the
largest float.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from kernlearn.checks import check_count, check_positive, check_share
from kernlearn.kernels import BaseDotProductKernel

_LOG_LARGEST = 63 * math.log(2)


class InnerMapConstants(NamedTuple):
    r"""The assumptions of theorem 3.14 on the inner kernel K and its scalar feature map W.

    Attributes
    ----------
    feature_bound : float
        :math:`C_W`, with :math:`\sup |W(x)| \le \sqrt{C_W}`.
    feature_lipschitz : float
        :math:`L_W \ge \sup E \|\nabla W(x)\|`.
    kernel_bound : float
        :math:`C_K \ge \sup |K(x, y)|`.
    kernel_lipschitz : float
        :math:`L_K \ge \sup \|\nabla_x K(x, y)\|`.

    Examples
    --------
    >>> from kernlearn.theory import InnerMapConstants
    >>> linear = InnerMapConstants(
    ...     feature_bound=1.0, feature_lipschitz=1.0, kernel_bound=1.0, kernel_lipschitz=1.0
    ... )
    >>> linear.kernel_bound
    1.0
    """

    feature_bound: float
    feature_lipschitz: float
    kernel_bound: float
    kernel_lipschitz: float


def maclaurin_n_components(
    kernel: BaseDotProductKernel,
    *,
    epsilon: float,
    delta: float,
    radius: float,
    n_features: int,
    p: float = 2.0,
) -> int:
    r"""Return the number D of random Maclaurin features that theorem 3.10 requires.

    Parameters
    ----------
    kernel : dot-product kernel
        The kernel, fitted if its parameters depend on data.
    epsilon : float
        Largest absolute error of a kernel value over the domain, above 0.
    delta : float
        Allowed probability of failure, between 0 and 1.
    radius : float
        R: the domain lies in the ball of this radius in the 1-norm.
    n_features : int
        Dimension d of the points.
    p : float, default=2.0
        Parameter of the measure on the orders, above 1.

    Returns
    -------
    int
        The smallest D for which the bound of :func:`maclaurin_failure_probability` is at most
        `delta`.

    Raises
    ------
    ValueError
        If :math:`p R^2` is not inside the kernel's radius of convergence, D exceeds
        :math:`2^{63} - 1`, or a parameter is out of range.

    Examples
    --------
    >>> from kernlearn.kernels import PolynomialKernel
    >>> from kernlearn.theory import maclaurin_n_components
    >>> kernel = PolynomialKernel(degree=2)
    >>> maclaurin_n_components(kernel, epsilon=0.5, delta=0.1, radius=0.5, n_features=2)
    16824
    """
    logs = _maclaurin_logs(kernel, epsilon, radius, n_features, p)
    return _smallest_n_components(*logs, epsilon, delta)


def maclaurin_failure_probability(
    kernel: BaseDotProductKernel,
    epsilon: float,
    n_components: int,
    *,
    radius: float,
    n_features: int | None = None,
    p: float = 2.0,
) -> float:
    r"""Bound the probability that a kernel value is off by more than `epsilon`.

    That of some value over the whole domain is, by theorem 3.10,

    .. math:: 2 (32 R L / \epsilon)^{2d} \exp(-D \epsilon^2 / (8 C^2)), \quad
              C = p f(p R^2), \quad L = R f'(R^2) + p^2 R \sqrt{d} f'(p R^2),

    at most 1, for `n_components` D features. The size :math:`32 R L / \epsilon` of the cover is
    taken as at least 1. Without `n_features` it is the probability at one fixed pair of points,
    :math:`2 \exp(-D \epsilon^2 / (8 C^2))` (section 3.4, after lemma 3.6).

    Examples
    --------
    >>> from kernlearn.kernels import PolynomialKernel
    >>> from kernlearn.theory import maclaurin_failure_probability
    >>> kernel = PolynomialKernel(degree=2)
    >>> for n in (10_000, 20_000):
    ...     everywhere = maclaurin_failure_probability(kernel, 0.5, n, radius=0.5, n_features=2)
    ...     at_a_pair = maclaurin_failure_probability(kernel, 0.5, n, radius=0.5)
    ...     print(f"{everywhere:.1e} {at_a_pair:.1e}")
    1.0e+00 4.0e-07
    7.4e-04 7.9e-14
    """
    logs = _maclaurin_logs(kernel, epsilon, radius, n_features, p)
    return _probability(*logs, epsilon, n_components)


def compositional_n_components(
    kernel: BaseDotProductKernel,
    constants: InnerMapConstants,
    *,
    epsilon: float,
    delta: float,
    radius: float,
    n_features: int,
    p: float = 2.0,
) -> int:
    r"""Return the number D of compositional Maclaurin features that theorem 3.14 requires.

    The smallest D for which the bound of :func:`compositional_failure_probability` is at most
    `delta`; a ValueError if it exceeds :math:`2^{63} - 1`.

    Examples
    --------
    >>> from kernlearn.kernels import PolynomialKernel
    >>> from kernlearn.theory import InnerMapConstants, compositional_n_components
    >>> kernel, constants = PolynomialKernel(degree=2), InnerMapConstants(1.0, 1.0, 1.0, 1.0)
    >>> wish = {"epsilon": 0.5, "delta": 0.1}
    >>> compositional_n_components(kernel, constants, **wish, radius=1.0, n_features=2)
    203082
    """
    logs = _compositional_logs(kernel, epsilon, constants, radius, n_features, p)
    return _smallest_n_components(*logs, epsilon, delta)


def compositional_failure_probability(
    kernel: BaseDotProductKernel,
    constants: InnerMapConstants,
    epsilon: float,
    n_components: int,
    *,
    radius: float,
    n_features: int,
    p: float = 2.0,
) -> float:
    r"""Bound the probability that some compositional kernel value is off by more than `epsilon`.

    .. math:: (32 R L_1 / \epsilon) \exp(-D \epsilon^2 / (8 C_1^2 d)), \quad C_1 = p f(p C_W),
              \quad L_1 = L_K f'(C_K) + L_W p^2 \sqrt{C_W} f'(p C_W),

    at most 1, for `epsilon` below :math:`8 R L_1` and the outer `kernel` f. This is the bound as
    theorem 3.14 states it. Its derivation counts the centres of the cover rather than their
    pairs, and would give d + 1 where the exponent has d.

    Examples
    --------
    >>> from kernlearn.kernels import PolynomialKernel
    >>> from kernlearn.theory import InnerMapConstants, compositional_failure_probability
    >>> constants = InnerMapConstants(1.0, 1.0, 1.0, 1.0)
    >>> kernel, where = PolynomialKernel(degree=2), {"radius": 1.0, "n_features": 2}
    >>> for n in (100_000, 1_000_000):
    ...     print(f"{compositional_failure_probability(kernel, constants, 0.5, n, **where):.1e}")
    1.0e+00
    2.0e-18
    """
    logs = _compositional_logs(kernel, epsilon, constants, radius, n_features, p)
    return _probability(*logs, epsilon, n_components)


def _maclaurin_logs(
    kernel: BaseDotProductKernel, epsilon: float, radius: float, n_features: int | None, p: float
) -> tuple[float, float]:
    """Return (log C, log of 2 times the squared size of the cover)."""
    check_positive(epsilon=epsilon, radius=radius)
    log_bound = _log_range(kernel, radius**2, "radius", p)
    if n_features is None:
        return log_bound, math.log(2)
    check_count(n_features=n_features)
    log_slope = np.logaddexp(
        _log(kernel.derivative, radius**2),
        _log_scale(p) + math.log(n_features) / 2 + _log(kernel.derivative, p * radius**2),
    )
    log_centres = math.log(32 * radius**2) + float(log_slope) - math.log(epsilon)
    return log_bound, math.log(2) + 2 * n_features * max(log_centres, 0.0)


def _compositional_logs(
    kernel: BaseDotProductKernel,
    epsilon: float,
    constants: InnerMapConstants,
    radius: float,
    n_features: int,
    p: float,
) -> tuple[float, float]:
    """Return (log of C_1 sqrt(d), log of 32 R L_1 / epsilon)."""
    check_positive(epsilon=epsilon, radius=radius, **constants._asdict())
    check_count(n_features=n_features)
    bound = constants.feature_bound
    log_bound = _log_range(kernel, bound, "feature_bound", p)
    _check_converges(kernel, constants.kernel_bound, "kernel_bound")
    inner = math.log(constants.kernel_lipschitz)
    outer = math.log(constants.feature_lipschitz) + _log_scale(p) + math.log(bound) / 2
    log_lipschitz = np.logaddexp(
        inner + _log(kernel.derivative, constants.kernel_bound),
        outer + _log(kernel.derivative, p * bound),
    )
    log_scale = math.log(radius) + float(log_lipschitz)
    if math.log(epsilon) >= math.log(8) + log_scale:
        raise ValueError(
            f"'epsilon' must be below 8 * radius * L_1 = {8 * math.exp(log_scale):.6g} for "
            f"theorem 3.14, got {epsilon!r}"
        )
    return log_bound + math.log(n_features) / 2, math.log(32) + log_scale - math.log(epsilon)


def _log_range(kernel: BaseDotProductKernel, square: float, argument: str, p: float) -> float:
    """Return the log of the bound p / (p - 1) f(p R^2) on a product of two features."""
    if not 1 < p < math.inf:
        raise ValueError(f"'p' must be a finite number above 1, got {p!r}")
    _check_converges(kernel, p * square, argument)
    return math.log(p) - math.log(p - 1) + _log(kernel.function, p * square)


def _log(function: Callable[[float], Any], t: float) -> float:
    """Return the log of a value; inf where that exceeds the largest float64."""
    with np.errstate(over="ignore", divide="ignore"):
        return float(np.log(function(t)))


def _log_scale(p: float) -> float:
    """Return the log of p^2 / (p - 1), the factor of f' in the slope of a feature."""
    return 2 * math.log(p) - math.log(p - 1)


def _check_converges(kernel: BaseDotProductKernel, t: float, argument: str) -> None:
    if t >= kernel.radius:
        raise ValueError(
            f"'{argument}' is too large for {kernel!r}: its series is needed at {t:.6g} and "
            f"converges below {kernel.radius:g} only; scale the data down or take a smaller p"
        )


def _smallest_n_components(
    log_range: float, log_cover: float, epsilon: float, delta: float
) -> int:
    """Return the smallest D for which `_probability` is at most delta."""
    check_share(delta=delta)
    needed = max(log_cover - math.log(delta), 0.0)
    log_d = math.log(8) + 2 * (log_range - math.log(epsilon))
    log_d += math.log(needed) if needed else -math.inf
    # not finite where a constant of the kernel, and with it D, exceeds the largest float64
    if not log_d < _LOG_LARGEST:
        raise ValueError(
            f"'epsilon' = {epsilon!r} asks for more than 2**63 - 1 features: it is too small for "
            "the values that this kernel takes on this domain; raise it or scale the data down"
        )
    return max(math.ceil(math.exp(log_d)), 1)


def _probability(log_range: float, log_cover: float, epsilon: float, n_components: int) -> float:
    """Return cover * exp(-D epsilon^2 / (8 range^2)), at most 1."""
    check_count(n_components=n_components)
    log_gain = math.log(n_components) - math.log(8) + 2 * (math.log(epsilon) - log_range)
    # e^700 is about the largest float64, and the bound is 0 long before
    return math.exp(min(log_cover - math.exp(min(log_gain, 700.0)), 0.0))
