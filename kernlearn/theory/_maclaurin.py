"""Theorem 3.10: how many random Maclaurin features are enough."""

from __future__ import annotations

import math

import numpy as np

from kernlearn.kernels import BaseDotProductKernel
from kernlearn.theory._hoeffding import (
    UniformAccuracy,
    check_count,
    check_positive,
    log_derivative,
    log_feature_scale,
    log_range,
    probability,
    smallest_n_components,
)


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
