r"""Uniform convergence of random Maclaurin features: Kar (2013), theorems 3.10 and 3.14.

All bounds are for points in the 1-norm ball :math:`B_1(0, R)` and for the normalised measure
:math:`P[N = n] = (p - 1) p^{-(n+1)}`. The thesis writes :math:`p^{-(n+1)}`, which is the same at
p = 2; for other p the bounds on the features are divided by p - 1 here, as the features are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kernlearn.kernels import BaseDotProductKernel
from kernlearn.theory.concentration import (
    UniformAccuracy,
    check_converges,
    check_count,
    check_positive,
    log_derivative,
    log_feature_scale,
    log_range,
    probability,
    smallest_n_components,
)

__all__ = [
    "InnerMapConstants",
    "UniformAccuracy",
    "compositional_failure_probability",
    "compositional_n_components",
    "maclaurin_failure_probability",
    "maclaurin_n_components",
    "maclaurin_pointwise_failure_probability",
]


def maclaurin_n_components(
    kernel: BaseDotProductKernel,
    accuracy: UniformAccuracy,
    *,
    radius: float,
    n_features: int,
    p: float = 2.0,
) -> int:
    r"""Return the number D of random Maclaurin features that theorem 3.10 asks for.

    Parameters
    ----------
    kernel : dot-product kernel
        The kernel, fitted if it has to be.
    accuracy : UniformAccuracy
        What the features shall achieve on the whole domain.
    radius : float
        R: the domain lies in the ball of this radius in the 1-norm.
    n_features : int
        Dimension d of the points.
    p : float, default=2.0
        Parameter of the measure on the orders, above 1.

    Returns
    -------
    int
        The smallest D for which the bound is at most ``accuracy.delta``.

    Raises
    ------
    ValueError
        If :math:`p R^2` is not inside the kernel's radius of convergence, if D exceeds
        :math:`2^{63} - 1`, or if a parameter is out of range.

    References
    ----------
    Kar (2013), theorem 3.10.

    Examples
    --------
    >>> from kernlearn.kernels import PolynomialKernel
    >>> from kernlearn.theory.bounds import UniformAccuracy, maclaurin_n_components
    >>> wish = UniformAccuracy(epsilon=0.5, delta=0.1)
    >>> maclaurin_n_components(PolynomialKernel(degree=2), wish, radius=0.5, n_features=2)
    16824
    """
    log_bound, log_cover = _maclaurin_logs(kernel, accuracy.epsilon, radius, n_features, p)
    return smallest_n_components(log_bound, log_cover, accuracy)


def maclaurin_failure_probability(
    kernel: BaseDotProductKernel,
    epsilon: float,
    n_components: int,
    *,
    radius: float,
    n_features: int,
    p: float = 2.0,
) -> float:
    r"""Bound the probability that some kernel value is off by more than `epsilon`.

    .. math:: 2 (32 R L / \epsilon)^{2d} \exp(-D \epsilon^2 / (8 C^2)), \quad
              C = p f(p R^2), \quad L = R f'(R^2) + p^2 R \sqrt{d} f'(p R^2)

    The cover's size :math:`32 R L / \epsilon` is taken as at least 1.

    Parameters
    ----------
    kernel : dot-product kernel
        The kernel, fitted if it has to be.
    epsilon : float
        Absolute error of a kernel value.
    n_components : int
        Number D of features.
    radius : float
        R: the domain lies in the ball of this radius in the 1-norm.
    n_features : int
        Dimension d of the points.
    p : float, default=2.0
        Parameter of the measure on the orders, above 1.

    Returns
    -------
    float
        The bound, at most 1.

    Raises
    ------
    ValueError
        If :math:`p R^2` is not inside the kernel's radius of convergence or a parameter is out
        of range.

    References
    ----------
    Kar (2013), theorem 3.10.
    """
    log_bound, log_cover = _maclaurin_logs(kernel, epsilon, radius, n_features, p)
    return probability(log_bound, log_cover, epsilon, n_components)


def maclaurin_pointwise_failure_probability(
    kernel: BaseDotProductKernel,
    epsilon: float,
    n_components: int,
    *,
    radius: float,
    p: float = 2.0,
) -> float:
    r"""Bound the probability that the value at one given pair is off by more than `epsilon`.

    .. math:: 2 \exp(-D \epsilon^2 / (8 C^2)), \quad C = p f(p R^2)

    Parameters
    ----------
    kernel : dot-product kernel
        The kernel, fitted if it has to be.
    epsilon : float
        Absolute error of the kernel value.
    n_components : int
        Number D of features.
    radius : float
        R: both points lie in the ball of this radius in the 1-norm.
    p : float, default=2.0
        Parameter of the measure on the orders, above 1.

    Returns
    -------
    float
        The bound, at most 1.

    Raises
    ------
    ValueError
        If :math:`p R^2` is not inside the kernel's radius of convergence or a parameter is out
        of range.

    References
    ----------
    Kar (2013), section 3.4, after lemma 3.6.
    """
    check_positive(epsilon=epsilon, radius=radius)
    log_bound = log_range(kernel, radius**2, "radius", p)
    return probability(log_bound, math.log(2), epsilon, n_components)


def _maclaurin_logs(
    kernel: BaseDotProductKernel, epsilon: float, radius: float, n_features: int, p: float
) -> tuple[float, float]:
    """Return (log C, log of 2 times the squared size of the cover)."""
    check_positive(epsilon=epsilon, radius=radius)
    check_count(n_features=n_features)
    log_bound = log_range(kernel, radius**2, "radius", p)
    log_slope = np.logaddexp(
        log_derivative(kernel, radius**2),
        log_feature_scale(p) + math.log(n_features) / 2 + log_derivative(kernel, p * radius**2),
    )
    log_lipschitz = math.log(radius) + log_slope
    log_centres = math.log(32 * radius) + log_lipschitz - math.log(epsilon)
    return log_bound, math.log(2) + 2 * n_features * max(float(log_centres), 0.0)


@dataclass(frozen=True)
class InnerMapConstants:
    r"""The assumptions of theorem 3.14 on the inner kernel K and its scalar feature map W.

    Parameters
    ----------
    feature_bound : float
        :math:`C_W`, with :math:`\sup |W(x)| \le \sqrt{C_W}`.
    feature_lipschitz : float
        :math:`L_W \ge \sup E \|\nabla W(x)\|`.
    kernel_bound : float
        :math:`C_K \ge \sup |K(x, y)|`.
    kernel_lipschitz : float
        :math:`L_K \ge \sup \|\nabla_x K(x, y)\|`.

    Raises
    ------
    ValueError
        If one of them is not a positive number.
    """

    feature_bound: float
    feature_lipschitz: float
    kernel_bound: float
    kernel_lipschitz: float

    def __post_init__(self) -> None:
        check_positive(**vars(self))


def compositional_n_components(
    kernel: BaseDotProductKernel,
    accuracy: UniformAccuracy,
    constants: InnerMapConstants,
    *,
    radius: float,
    n_features: int,
    p: float = 2.0,
) -> int:
    """Return the number D of compositional Maclaurin features that theorem 3.14 asks for.

    Parameters
    ----------
    kernel : dot-product kernel
        The outer kernel, fitted if it has to be.
    accuracy : UniformAccuracy
        What the features shall achieve on the whole domain.
    constants : InnerMapConstants
        Bounds and Lipschitz constants of the inner kernel and its feature map.
    radius : float
        R: the domain lies in the ball of this radius in the 1-norm.
    n_features : int
        Dimension d of the points.
    p : float, default=2.0
        Parameter of the measure on the orders, above 1.

    Returns
    -------
    int
        The smallest D for which the bound is at most ``accuracy.delta``.

    Raises
    ------
    ValueError
        If :math:`p C_W` or :math:`C_K` is not inside the outer kernel's radius of convergence,
        if `epsilon` is not below :math:`8 R L_1`, if D exceeds :math:`2^{63} - 1`, or if a
        parameter is out of range.

    References
    ----------
    Kar (2013), theorem 3.14.
    """
    logs = _compositional_logs(kernel, accuracy.epsilon, constants, radius, n_features, p)
    return smallest_n_components(*logs, accuracy)


def compositional_failure_probability(
    kernel: BaseDotProductKernel,
    epsilon: float,
    n_components: int,
    constants: InnerMapConstants,
    *,
    radius: float,
    n_features: int,
    p: float = 2.0,
) -> float:
    r"""Bound the probability that some compositional kernel value is off by more than `epsilon`.

    .. math:: (32 R L_1 / \epsilon) \exp(-D \epsilon^2 / (8 C_1^2 d)), \quad C_1 = p f(p C_W),
              \quad L_1 = L_K f'(C_K) + L_W p^2 \sqrt{C_W} f'(p C_W)

    This is the bound as the theorem states it. Its derivation counts the centres of the cover
    rather than their pairs, and would give d + 1 where the exponent has d.

    Parameters
    ----------
    kernel : dot-product kernel
        The outer kernel, fitted if it has to be.
    epsilon : float
        Absolute error of a kernel value, below :math:`8 R L_1`.
    n_components : int
        Number D of features.
    constants : InnerMapConstants
        Bounds and Lipschitz constants of the inner kernel and its feature map.
    radius : float
        R: the domain lies in the ball of this radius in the 1-norm.
    n_features : int
        Dimension d of the points.
    p : float, default=2.0
        Parameter of the measure on the orders, above 1.

    Returns
    -------
    float
        The bound, at most 1.

    Raises
    ------
    ValueError
        As `compositional_n_components`.

    References
    ----------
    Kar (2013), theorem 3.14.
    """
    logs = _compositional_logs(kernel, epsilon, constants, radius, n_features, p)
    return probability(*logs, epsilon, n_components)


def _compositional_logs(
    kernel: BaseDotProductKernel,
    epsilon: float,
    constants: InnerMapConstants,
    radius: float,
    n_features: int,
    p: float,
) -> tuple[float, float]:
    """Return (log of C_1 sqrt(d), log of 32 R L_1 / epsilon)."""
    check_positive(epsilon=epsilon, radius=radius)
    check_count(n_features=n_features)
    bound = constants.feature_bound
    log_bound = log_range(kernel, bound, "feature_bound", p)
    check_converges(kernel, constants.kernel_bound, "kernel_bound")
    log_lipschitz = np.logaddexp(
        math.log(constants.kernel_lipschitz) + log_derivative(kernel, constants.kernel_bound),
        math.log(constants.feature_lipschitz)
        + log_feature_scale(p)
        + math.log(bound) / 2
        + log_derivative(kernel, p * bound),
    )
    log_scale = math.log(radius) + float(log_lipschitz)
    if math.log(epsilon) >= math.log(8) + log_scale:
        raise ValueError(
            f"'epsilon' must be below 8 * radius * L_1 = {8 * math.exp(log_scale):.6g} for "
            f"theorem 3.14, got {epsilon!r}"
        )
    log_cover = math.log(32) + log_scale - math.log(epsilon)
    return log_bound + math.log(n_features) / 2, log_cover
