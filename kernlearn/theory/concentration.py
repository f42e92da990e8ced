"""What the uniform convergence theorems share: cover * exp(-D epsilon^2 / (8 range^2)).

Everything is worked out in logarithms, since the constants may exceed any float.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np

from kernlearn.kernels import BaseDotProductKernel

_LOG_LARGEST = 63 * math.log(2)


@dataclass(frozen=True)
class UniformAccuracy:
    """A wish: all kernel values within `epsilon` with probability at least ``1 - delta``.

    Parameters
    ----------
    epsilon : float
        Largest absolute error of a kernel value over the domain, above 0.
    delta : float
        Allowed probability of failure, between 0 and 1.

    Raises
    ------
    ValueError
        If one of them is out of range.

    Examples
    --------
    >>> from kernlearn.theory.bounds import UniformAccuracy
    >>> UniformAccuracy(epsilon=0.1, delta=0.05)
    UniformAccuracy(epsilon=0.1, delta=0.05)
    """

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        check_positive(epsilon=self.epsilon)
        if not (isinstance(self.delta, Real) and 0 < self.delta < 1):
            raise ValueError(f"'delta' must be a number between 0 and 1, got {self.delta!r}")


def log_range(kernel: BaseDotProductKernel, squared_norm: float, argument: str, p: float) -> float:
    """Return the log of the bound p / (p - 1) f(p R^2) on a product of two features."""
    if not (isinstance(p, Real) and 1 < p < math.inf):
        raise ValueError(f"'p' must be a finite number above 1, got {p!r}")
    check_converges(kernel, p * squared_norm, argument)
    with np.errstate(over="ignore", divide="ignore"):
        log_value = float(np.log(kernel.function(p * squared_norm)))
    return math.log(p) - math.log(p - 1) + log_value


def log_derivative(kernel: BaseDotProductKernel, t: float) -> float:
    """Return log f'(t); inf where it exceeds the largest float64."""
    with np.errstate(over="ignore", divide="ignore"):
        return float(np.log(kernel.derivative(t)))


def log_feature_scale(p: float) -> float:
    """Return the log of p^2 / (p - 1), by which f' is multiplied in a feature's slope."""
    return 2 * math.log(p) - math.log(p - 1)


def smallest_n_components(log_range: float, log_cover: float, accuracy: UniformAccuracy) -> int:
    """Return the smallest D for which `probability` is at most delta."""
    needed = max(log_cover - math.log(accuracy.delta), 0.0)
    log_d = math.log(8) + 2 * (log_range - math.log(accuracy.epsilon))
    log_d += math.log(needed) if needed else -math.inf
    # Not finite: a constant of the kernel exceeds the largest float64, and so does D.
    if not log_d < _LOG_LARGEST:
        raise ValueError(
            f"{accuracy!r} asks for more than 2**63 - 1 features: 'epsilon' is too small for the "
            "values that this kernel takes on this domain; raise it or scale the data down"
        )
    return max(math.ceil(math.exp(log_d)), 1)


def probability(log_range: float, log_cover: float, epsilon: float, n_components: int) -> float:
    """Return cover * exp(-D epsilon^2 / (8 range^2)), at most 1."""
    check_count(n_components=n_components)
    log_gain = math.log(n_components) - math.log(8) + 2 * (math.log(epsilon) - log_range)
    # Past e^700 a gain overflows, and the bound has long been zero.
    return math.exp(min(log_cover - math.exp(min(log_gain, 700.0)), 0.0))


def check_converges(kernel: BaseDotProductKernel, t: float, argument: str) -> None:
    """Refuse an argument of f that lies outside the radius of convergence."""
    if t >= kernel.radius:
        raise ValueError(
            f"'{argument}' is too large for {kernel!r}: its series is needed at {t:.6g} and "
            f"converges below {kernel.radius:g} only; scale the data down or take a smaller p"
        )


def check_positive(**values: float) -> None:
    """Refuse anything but finite numbers above 0."""
    for name, value in values.items():
        if not (isinstance(value, Real) and 0 < value < math.inf):
            raise ValueError(f"'{name}' must be a finite number above 0, got {value!r}")


def check_count(**values: int) -> None:
    """Refuse anything but ints from 1 on."""
    for name, value in values.items():
        if not (isinstance(value, Integral) and value >= 1):
            raise ValueError(f"'{name}' must be an int >= 1, got {value!r}")
