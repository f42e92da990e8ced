"""Losses of ordinal regression, by how far a point falls short of a threshold's margin."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Loss(Protocol):
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


class SquaredHinge:
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
