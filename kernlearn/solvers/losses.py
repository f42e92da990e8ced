"""Convex losses with two derivatives, for the Newton solvers."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats = NDArray[np.float64]


class Loss(Protocol):
    """A convex, continuously differentiable function of one number per term.

    Attributes
    ----------
    slack : float
        Relative change of a second derivative that the Hessian may ignore.
    steepest : float
        Largest second derivative.
    """

    slack: float
    steepest: float

    def value(self, t: Floats) -> float:
        """Return the sum of the losses."""
        ...

    def slope(self, t: Floats) -> Floats:
        """Return the first derivatives."""
        ...

    def curvature(self, t: Floats) -> Floats:
        """Return the second derivatives, or elements of the generalised ones at a kink."""
        ...


class SquaredHinge:
    """The squared hinge max(0, sign · (t − edge))², by default max(0, 1 − t)² of a margin t.

    The second derivative is 2 or 0, and the Hessian is kept exact.
    """

    slack = 0.0
    steepest = 2.0

    def __init__(self, edge: float = 1.0, sign: float = -1.0) -> None:
        self.edge = edge
        self.sign = sign

    def _excess(self, t: Floats) -> Floats:
        return np.maximum(0.0, self.sign * (t - self.edge))

    def value(self, t: Floats) -> float:
        excess = self._excess(t)
        return float(excess @ excess)

    def slope(self, t: Floats) -> Floats:
        return 2.0 * self.sign * self._excess(t)

    def curvature(self, t: Floats) -> Floats:
        return np.where(self.sign * (t - self.edge) > 0.0, 2.0, 0.0)


class Logistic:
    """The logistic loss log(1 + exp(−t)) of a margin t.

    All second derivatives change in each step. A Hessian within 10 % of the true one needs
    more steps, with linear convergence, but each costs a small part of a new product.
    """

    slack = 0.1
    steepest = 0.25

    def value(self, t: Floats) -> float:
        return float(np.logaddexp(0.0, -t).sum())

    def slope(self, t: Floats) -> Floats:
        return -expit(-t)

    def curvature(self, t: Floats) -> Floats:
        return expit(t) * expit(-t)


class SquaredEpsilonInsensitive:
    r"""The squared ε-insensitive loss max(0, \|t\| − ε)² of an error t."""

    slack = 0.0
    steepest = 2.0

    def __init__(self, epsilon: float) -> None:
        self.epsilon = epsilon

    def value(self, t: Floats) -> float:
        excess = np.maximum(0.0, np.abs(t) - self.epsilon)
        return float(excess @ excess)

    def slope(self, t: Floats) -> Floats:
        return 2.0 * (t - np.clip(t, -self.epsilon, self.epsilon))

    def curvature(self, t: Floats) -> Floats:
        return np.where(np.abs(t) > self.epsilon, 2.0, 0.0)


class SmoothedHinge:
    """The hinge max(0, t) with a parabola of some width at the kink: at most width / 2 less."""

    slack = 0.0

    def __init__(self, width: float) -> None:
        self.width = width
        self.steepest = 1.0 / width

    def value(self, t: Floats) -> float:
        inside = np.clip(t, 0.0, self.width)
        return float((inside * (t - 0.5 * inside)).sum() / self.width)

    def slope(self, t: Floats) -> Floats:
        return np.clip(t / self.width, 0.0, 1.0)

    def curvature(self, t: Floats) -> Floats:
        return np.where((t > 0.0) & (t < self.width), 1.0 / self.width, 0.0)


LOSSES: dict[str, Loss] = {"squared_hinge": SquaredHinge(), "logistic": Logistic()}
