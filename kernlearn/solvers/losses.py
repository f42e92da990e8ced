"""Losses of a linear model, as functions of a margin, with their derivatives."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]


class Loss(Protocol):
    """A convex, once continuously differentiable function of the margin y⟨w, x⟩.

    Attributes
    ----------
    slack : float
        Relative change of a row's second derivative that the Hessian may ignore.
    steepest : float
        The greatest second derivative.
    """

    slack: float
    steepest: float

    def value(self, margins: Floats) -> float:
        """Sum of the losses."""
        ...

    def slope(self, margins: Floats) -> Floats:
        """First derivative by margin."""
        ...

    def curvature(self, margins: Floats) -> Floats:
        """Second derivative by margin, or a member of the generalised one."""
        ...


class SquaredHinge:
    """max(0, 1 − t)²: the second derivative is 2 or 0, and the Hessian is kept exact."""

    slack = 0.0
    steepest = 2.0

    def value(self, margins: Floats) -> float:
        """Sum of the losses."""
        short = np.maximum(0.0, 1.0 - margins)
        return float(short @ short)

    def slope(self, margins: Floats) -> Floats:
        """First derivative by margin."""
        return np.minimum(0.0, 2.0 * margins - 2.0)

    def curvature(self, margins: Floats) -> Floats:
        """Second derivative by margin."""
        return np.where(margins < 1.0, 2.0, 0.0)


class Logistic:
    """log(1 + exp(−t)).

    All second derivatives change in each step. A Hessian within 10 % of the true one makes
    more steps, linear in their convergence, but each costs a small part of a new product.
    """

    slack = 0.1
    steepest = 0.25

    def value(self, margins: Floats) -> float:
        """Sum of the losses."""
        return float(np.logaddexp(0.0, -margins).sum())

    def slope(self, margins: Floats) -> Floats:
        """First derivative by margin."""
        return -expit(-margins)

    def curvature(self, margins: Floats) -> Floats:
        """Second derivative by margin."""
        return expit(margins) * expit(-margins)


class SquaredEpsilonInsensitive:
    r"""max(0, \|t\| − ε)² of the error t: as for the squared hinge, the Hessian is kept exact.

    Parameters
    ----------
    epsilon : float
        Error that costs nothing.
    """

    slack = 0.0
    steepest = 2.0

    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon

    def value(self, margins: Floats) -> float:
        """Sum of the losses."""
        excess = np.maximum(0.0, np.abs(margins) - self.epsilon)
        return float(excess @ excess)

    def slope(self, margins: Floats) -> Floats:
        """First derivative by error."""
        return 2.0 * (margins - np.clip(margins, -self.epsilon, self.epsilon))

    def curvature(self, margins: Floats) -> Floats:
        """Second derivative by error."""
        return np.where(np.abs(margins) > self.epsilon, 2.0, 0.0)


LOSSES: dict[str, Loss] = {"squared_hinge": SquaredHinge(), "logistic": Logistic()}


class OrdinalLoss(Protocol):
    """A convex function of the amounts by which terms fall short of the margin."""

    def value(self, short: Floats) -> float:
        """Sum of the losses."""
        ...

    def slope(self, short: Floats) -> Floats:
        """First derivatives."""
        ...

    def curvature(self, short: Floats) -> Floats:
        """Second derivatives, or members of the generalised ones."""
        ...


class OrdinalSquaredHinge:
    """The square of what is positive."""

    def value(self, short: Floats) -> float:
        """Sum of the losses."""
        positive = np.maximum(0.0, short)
        return float(positive @ positive)

    def slope(self, short: Floats) -> Floats:
        """First derivatives."""
        return 2.0 * np.maximum(0.0, short)

    def curvature(self, short: Floats) -> Floats:
        """Second derivatives."""
        return np.where(short > 0.0, 2.0, 0.0)


class SmoothedHinge:
    """What is positive, with a parabola in place of the kink: up to width / 2 too small."""

    def __init__(self, width: float) -> None:
        self.width = width

    def value(self, short: Floats) -> float:
        """Sum of the losses."""
        inside = np.clip(short, 0.0, self.width)
        return float((inside * (short - 0.5 * inside)).sum() / self.width)

    def slope(self, short: Floats) -> Floats:
        """First derivatives."""
        return np.clip(short / self.width, 0.0, 1.0)

    def curvature(self, short: Floats) -> Floats:
        """Second derivatives."""
        return np.where((short > 0.0) & (short < self.width), 1.0 / self.width, 0.0)
