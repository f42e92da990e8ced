"""Thresholds between grades: fixed or learned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Thresholds:
    """Thresholds as start + basis @ p, where the last of the p are at least 0.

    Attributes
    ----------
    start : ndarray of shape (n_thresholds,)
    basis : ndarray of shape (n_thresholds, n_variables)
    n_bounded : int
        How many of the variables p, the last, are at least 0.
    """

    start: Floats
    basis: Floats
    n_bounded: int = 0

    @classmethod
    def fixed(cls, values: ArrayLike) -> Thresholds:
        """Return thresholds that stay where they are."""
        start = np.asarray(values, dtype=np.float64)
        return cls(start, np.empty((len(start), 0)))

    @classmethod
    def free(cls, n_thresholds: int) -> Thresholds:
        """Return learned thresholds without a constraint."""
        return cls(np.zeros(n_thresholds), np.eye(n_thresholds))

    @classmethod
    def spaced(cls, n_thresholds: int, spacing: float) -> Thresholds:
        """Return learned thresholds that are at least `spacing` apart, in their order."""
        start = equispaced(n_thresholds, spacing)
        return cls(start, np.tri(n_thresholds), n_thresholds - 1)

    def at(self, variables: Floats) -> Floats:
        """Return the thresholds for values of the variables."""
        return self.start + self.basis @ variables


def equispaced(n_thresholds: int, spacing: float) -> Floats:
    """Return thresholds that are equally far apart, symmetric about 0."""
    return spacing * (np.arange(n_thresholds, dtype=np.float64) - 0.5 * (n_thresholds - 1))


def as_thresholds(spec: Any, n_thresholds: int, spacing: float, constraints: str) -> Thresholds:
    """Return the thresholds that an estimator's parameter asks for.

    Parameters
    ----------
    spec : {"equispaced", "learned"} or array-like of shape (n_thresholds,)
    n_thresholds : int
    spacing : float
        Distance of those that are equispaced, and the least one of those learned.
    constraints : {"explicit", "implicit"}
        Whether learned thresholds are constrained at all.

    Returns
    -------
    Thresholds

    Raises
    ------
    ValueError
        If numbers are not ascending or not as many, or thresholds are equispaced by 0.
    """
    if isinstance(spec, str):
        if spec == "learned":
            if constraints == "implicit":
                return Thresholds.free(n_thresholds)
            return Thresholds.spaced(n_thresholds, spacing)
        if spacing == 0:
            raise ValueError("'spacing' must be greater than 0 with thresholds='equispaced'")
        return Thresholds.fixed(equispaced(n_thresholds, spacing))
    given = check_array(spec, ensure_2d=False, dtype=np.float64, input_name="thresholds")
    if given.shape != (n_thresholds,) or (np.diff(given) <= 0).any():
        raise ValueError(
            f"'thresholds' must be {n_thresholds} ascending numbers for the "
            f"{n_thresholds + 1} grades of y, got {spec!r}"
        )
    return Thresholds.fixed(given)
