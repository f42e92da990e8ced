r"""Losses of linear models, with a weight for each row, 1 by default.

A loss is a sum over rows of a function of t. Hinges and the logistic loss increase with t: the
excess 1 − yᵢ⟨w, xᵢ⟩ of a label, or −yᵢ⟨w, xᵢ⟩ for the logistic loss. A loss of a target has its
error ⟨w, xᵢ⟩ − yᵢ. `value` is the sum, `slope` and `curvature` are the derivatives of its terms,
at a kink elements of the generalised ones. `steepest` is the largest curvature, and `slack` the
relative change of a curvature that the Hessian may ignore. The hinge is smoothed: `gap` is how
far the sum of losses without smoothing may be above its minimum for that reason, and `narrower`
the loss with less smoothing.
"""

from collections.abc import Callable
from typing import NamedTuple, Self, TypeAlias

import numpy as np
from scipy.special import expit

from kernlearn.validation import Floats

Weights: TypeAlias = float | Floats

_NARROWER = 0.1  # factor on the width of the smoothing


class _Smooth:
    """A loss that needs no smoothing."""

    #: Largest curvature without weights.
    _steepest: float

    def __init__(self, weights: Weights = 1.0) -> None:
        self._weights = weights
        self.steepest = self._steepest * float(np.max(weights))

    def gap(self, t: Floats) -> float:
        return 0.0

    def narrower(self) -> Self:
        return self


class SquaredHinge(_Smooth):
    """The squared hinge max(0, t)²."""

    slack, _steepest = 0.0, 2.0

    def value(self, t: Floats) -> float:
        positive = np.maximum(0.0, t)
        return float(positive @ (self._weights * positive))

    def slope(self, t: Floats) -> Floats:
        return 2.0 * self._weights * np.maximum(0.0, t)

    def curvature(self, t: Floats) -> Floats:
        return np.where(t > 0.0, 2.0 * self._weights, 0.0)


class Logistic(_Smooth):
    """The logistic loss log(1 + exp(t)).

    All curvatures change in each step. A Hessian within 10 % of the true one needs more steps,
    with linear convergence, but each costs a small part of a new product.
    """

    slack, _steepest = 0.1, 0.25

    def value(self, t: Floats) -> float:
        return float(np.sum(self._weights * np.logaddexp(0.0, t)))

    def slope(self, t: Floats) -> Floats:
        return self._weights * expit(t)

    def curvature(self, t: Floats) -> Floats:
        return self._weights * expit(t) * expit(-t)


class SmoothedHinge:
    """The hinge max(0, t), with a parabola at the kink.

    The parabola begins at the kink and is `width` wide; it takes at most width / 2 off the loss.
    """

    slack = 0.0

    def __init__(self, width: float, weights: Weights = 1.0) -> None:
        self._width, self._weights = width, weights
        self.steepest = float(np.max(weights, initial=0.0)) / width

    def value(self, t: Floats) -> float:
        inside = np.clip(t, 0.0, self._width)
        return float((self._weights * inside * (t - 0.5 * inside)).sum() / self._width)

    def slope(self, t: Floats) -> Floats:
        return self._weights * np.clip(t / self._width, 0.0, 1.0)

    def curvature(self, t: Floats) -> Floats:
        inside = (t > 0.0) & (t < self._width)
        return np.where(inside, self._weights / self._width, 0.0)

    def gap(self, t: Floats) -> float:
        # the slopes are dual variables of the hinge
        return float((np.maximum(0.0, t) * (self._weights - self.slope(t))).sum())

    def narrower(self) -> Self:
        return type(self)(self._width * _NARROWER, self._weights)


class EpsilonInsensitive:
    r"""A loss of an error t: a hinge of \|t\| − ε."""

    def __init__(self, epsilon: float, hinge: SquaredHinge | SmoothedHinge) -> None:
        self._epsilon, self._hinge = epsilon, hinge
        self.slack, self.steepest = hinge.slack, hinge.steepest

    def value(self, t: Floats) -> float:
        return self._hinge.value(np.abs(t) - self._epsilon)

    def slope(self, t: Floats) -> Floats:
        return np.sign(t) * self._hinge.slope(np.abs(t) - self._epsilon)

    def curvature(self, t: Floats) -> Floats:
        return self._hinge.curvature(np.abs(t) - self._epsilon)

    def gap(self, t: Floats) -> float:
        return self._hinge.gap(np.abs(t) - self._epsilon)

    def narrower(self) -> "EpsilonInsensitive":
        return EpsilonInsensitive(self._epsilon, self._hinge.narrower())


Loss: TypeAlias = SquaredHinge | Logistic | SmoothedHinge | EpsilonInsensitive


class MarginLoss(NamedTuple):
    """A loss and its derivative, both of an array of margins.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.linear.losses import LOSSES
    >>> hinge = LOSSES["hinge"]
    >>> hinge.value(np.array([-1.0, 0.5, 1.0])), hinge.derivative(np.array([-1.0, 0.5, 1.0]))
    (array([2. , 0.5, 0. ]), array([-1., -1.,  0.]))
    """

    value: Callable[[Floats], Floats]
    #: A subgradient where there is no derivative.
    derivative: Callable[[Floats], Floats]


#: The losses by name, in the order of the numbers in `pairwise.steps`.
LOSSES = {
    "hinge": MarginLoss(lambda m: np.maximum(1 - m, 0), lambda m: np.where(m < 1, -1.0, 0.0)),
    "squared_hinge": MarginLoss(
        lambda m: np.maximum(1 - m, 0) ** 2, lambda m: 2 * np.minimum(m - 1, 0)
    ),
    "logistic": MarginLoss(lambda m: np.logaddexp(0.0, -m), lambda m: -expit(-m)),
    "exponential": MarginLoss(lambda m: np.exp(-m), lambda m: -np.exp(-m)),
    "squared": MarginLoss(lambda m: (1 - m) ** 2, lambda m: 2 * (m - 1)),
}
