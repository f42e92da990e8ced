"""Thresholds between grades: fixed or learned."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from kernlearn.solvers.losses import OrdinalLoss, OrdinalSquaredHinge, SmoothedHinge

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


_BLOCK_ROWS = 1024  # rows weighted at a time: they are in cache for the product that follows
_MAX_TRIALS = 60  # lengths tried along a step
_FLAT = 1e-3  # slope at which a step may end, relative to the one at its start
_STILL = 8 * np.finfo(np.float64).eps  # relative size of a step that rounding has made
_RIDGE = 1e-12  # added to the curvature of thresholds, relative to the greatest one
_REACH = 1e4  # margins that thresholds may go in a step without curvature
_NARROWER = 0.1  # factor on the width of the smoothing from one stage to the next


class Solution(NamedTuple):
    """The minimum for one value of C.

    Attributes
    ----------
    coef : ndarray of shape (n_features,)
    thresholds : ndarray of shape (n_thresholds,)
    n_iter : int
        Newton steps made.
    """

    coef: Floats
    thresholds: Floats
    n_iter: int


class OrdinalProblem:
    """Grades to be told apart by the features of points.

    Parameters
    ----------
    features : array-like of shape (n_samples, n_features)
    codes : array-like of shape (n_samples,)
        Grades 0, …, n_thresholds; not all need to occur.
    thresholds : Thresholds
    constraints : {"explicit", "implicit"}
        EXC or IMC: whether a point is compared with the thresholds next to its grade, or all.
    margin : float
        Distance from a threshold below which there is a loss.

    References
    ----------
    Chu & Keerthi (2007), *Support vector ordinal regression*, sections 2 and 3. Kar (2013),
    sections 5.3.3.2 and 5.3.3.3.
    """

    def __init__(
        self,
        features: ArrayLike,
        codes: ArrayLike,
        thresholds: Thresholds,
        *,
        constraints: str,
        margin: float,
    ) -> None:
        self._X = np.ascontiguousarray(features, dtype=np.float64)
        self._thresholds = thresholds
        self._margin = margin
        steps = np.arange(len(thresholds.start))
        # How many grades a point's is above each threshold: 1 or more, or 0 and less.
        above = np.asarray(codes)[:, np.newaxis] - steps
        near = (above == 0) | (above == 1)
        compared = near if constraints == "explicit" else np.ones_like(near)
        self._point, self._step = np.nonzero(compared)
        self._sign = np.where(above[compared] > 0, 1.0, -1.0)

    def path(self, Cs: Iterable[float], *, loss: str, tol: float, max_iter: int) -> list[Solution]:
        """Minimise for each value of C, from the solution for the one before.

        Parameters
        ----------
        Cs : iterable of float
            Best in ascending order.
        loss : {"squared_hinge", "hinge"}
        tol : float
            Excess over the minimum that is allowed, relative to the objective. For
            "squared_hinge" it is the decrease that the quadratic model promises at most. "hinge"
            is smoothed less and less, until the duality gap of the hinge itself, which bounds
            the excess, is as small.
        max_iter : int
            Greatest number of Newton steps for one value of C.

        Returns
        -------
        list of Solution

        Warns
        -----
        ConvergenceWarning
            If `max_iter` steps were not enough.
        """
        z = np.zeros(self._X.shape[1] + self._thresholds.basis.shape[1])
        solve = self._squared_hinge if loss == "squared_hinge" else self._hinge
        found = []
        for C in Cs:
            z, n_iter, converged = solve(z, C, tol, max_iter)
            if not converged:
                warnings.warn(
                    f"ordinal regression did not converge in {max_iter} steps at C={C:g}: "
                    "raise max_iter or tol, or lower C",
                    ConvergenceWarning,
                    stacklevel=2,
                )
            w, variables = self._split(z)
            # Where the loss does not depend on them, free ones need not be in their order, and
            # putting them there keeps the minimum.
            found.append(Solution(w, np.sort(self._thresholds.at(variables)), n_iter))
        return found

    def _squared_hinge(
        self, z: Floats, C: float, tol: float, max_iter: int
    ) -> tuple[Floats, int, bool]:
        return self._minimise(z, C, OrdinalSquaredHinge(), tol, max_iter)

    def _hinge(self, z: Floats, C: float, tol: float, max_iter: int) -> tuple[Floats, int, bool]:
        width = max(float(self._short(z).max()), self._margin)
        n_iter = 0
        while True:
            loss = SmoothedHinge(width)
            z, steps, converged = self._minimise(z, C, loss, 0.1 * tol, max_iter - n_iter)
            n_iter += steps
            short = self._short(z)
            positive = np.maximum(0.0, short)
            # The slopes are dual variables of the hinge: each term's part of the duality gap.
            gap = C * float((positive * (1.0 - loss.slope(short))).sum())
            w, _ = self._split(z)
            if gap <= tol * (0.5 * (w @ w) + C * positive.sum()) or not converged:
                return z, n_iter, converged
            width *= _NARROWER

    def _minimise(
        self, z: Floats, C: float, loss: OrdinalLoss, tol: float, max_iter: int
    ) -> tuple[Floats, int, bool]:
        """Newton's method from z; returns the minimum, the steps made, and whether it is one."""
        for n_iter in range(1, max_iter + 1):
            w, _ = self._split(z)
            short = self._short(z)
            gradient = self._gradient(w, C * loss.slope(short))
            factor = self._factor(C * loss.curvature(short), self._ridge(gradient))
            step = self._model_minimum(z, gradient, factor) - z
            promised = -float(gradient @ step)
            change = self._change(step)
            w_step, _ = self._split(step)
            length = _length(float(w @ w_step), float(w_step @ w_step), short, change, C, loss)
            z = z + length * step
            objective = 0.5 * float(w @ w) + C * loss.value(short)
            if promised <= tol * objective or (
                length * np.linalg.norm(step) <= _STILL * np.linalg.norm(z)
            ):
                return z, n_iter, True
        return z, max_iter, False

    def _split(self, z: Floats) -> tuple[Floats, Floats]:
        n_features = self._X.shape[1]
        return z[:n_features], z[n_features:]

    def _short(self, z: Floats) -> Floats:
        """Return by how much each term falls short of the margin."""
        w, variables = self._split(z)
        values, thresholds = self._X @ w, self._thresholds.at(variables)
        return self._margin - self._sign * (values[self._point] - thresholds[self._step])

    def _change(self, step: Floats) -> Floats:
        """Return by how much `_short` changes along a step."""
        w, variables = self._split(step)
        values, thresholds = self._X @ w, self._thresholds.basis @ variables
        return -self._sign * (values[self._point] - thresholds[self._step])

    def _gradient(self, w: Floats, slope: Floats) -> Floats:
        pull = self._sign * slope
        by_point = np.bincount(self._point, pull, len(self._X))
        by_threshold = np.bincount(self._step, pull, len(self._thresholds.start))
        return np.concatenate([w - by_point @ self._X, by_threshold @ self._thresholds.basis])

    def _ridge(self, gradient: Floats) -> float:
        """Return a curvature for directions without one.

        It holds a step of the thresholds to some margins, and vanishes at the minimum.
        """
        _, by_variable = self._split(gradient)
        return float(np.abs(by_variable).max(initial=0.0)) / (_REACH * self._margin)

    def _factor(self, curvature: Floats, ridge: float) -> Floats:
        """Return R with RᵀR the Hessian."""
        d, basis = self._X.shape[1], self._thresholds.basis
        hessian = np.zeros((d + basis.shape[1],) * 2)
        weights = np.bincount(self._point, curvature, len(self._X))
        hessian[:d, :d] = self._weighted_gram(weights)
        hessian.flat[: d * len(hessian) : len(hessian) + 1] += 1.0
        if basis.shape[1]:
            shape = (len(self._X), len(basis))
            shared = csr_array((curvature, (self._point, self._step)), shape=shape)
            hessian[:d, d:] = -(shared.T @ self._X).T @ basis
            hessian[d:, d:] = (basis.T * shared.sum(axis=0)) @ basis
            ridge += _RIDGE * hessian.diagonal().max()
            hessian.flat[d * len(hessian) + d :: len(hessian) + 1] += ridge
        return cholesky(hessian, check_finite=False)

    def _weighted_gram(self, weights: NDArray[Any]) -> Floats:
        rows = np.flatnonzero(weights)
        gram = np.zeros((self._X.shape[1],) * 2)
        for first in range(0, len(rows), _BLOCK_ROWS):
            batch = slice(first, first + _BLOCK_ROWS)
            # BLAS computes half of a product of a matrix with its own transpose.
            part = self._X[rows[batch]] * np.sqrt(weights[rows[batch], np.newaxis])
            gram += part.T @ part
        return gram

    def _model_minimum(self, z: Floats, gradient: Floats, factor: Floats) -> Floats:
        """Minimise the quadratic model at z, the last variables being at least 0.

        The model is ½‖Rz − c‖² up to a constant. Whatever the bounded variables are, the others
        make their rows zero, so that these are a least squares problem of their own.
        """
        target = factor @ z - solve_triangular(factor, gradient, trans="T", check_finite=False)
        free = len(z) - self._thresholds.n_bounded
        found = np.empty_like(z)
        if free < len(z):
            found[free:], _ = nnls(factor[free:, free:], target[free:])
            target[:free] -= factor[:free, free:] @ found[free:]
        found[:free] = solve_triangular(factor[:free, :free], target[:free], check_finite=False)
        return found


def _length(
    inner: float, square: float, short: Floats, change: Floats, C: float, loss: OrdinalLoss
) -> float:
    """Find where the objective is least along a step, not beyond its end.

    Newton's method for the zero of the derivative, kept between the last points on either side.
    `inner` is ⟨w, step⟩ and `square` is ‖step‖², of the part of w.
    """
    start = inner + C * float(loss.slope(short) @ change)
    below, above, length, last = 0.0, 1.0, 1.0, np.inf
    for _ in range(_MAX_TRIALS):
        there = short + length * change
        slope = inner + length * square + C * float(loss.slope(there) @ change)
        if abs(slope) <= _FLAT * abs(start) or (slope < 0 and length == 1.0):
            return length
        below, above = (below, length) if slope > 0 else (length, above)
        curvature = square + C * float(loss.curvature(there) @ (change * change))
        length = length - slope / curvature if curvature > 0 else below
        if not below < length < above or abs(slope) > 0.5 * last:
            length = 0.5 * (below + above)
        last = abs(slope)
    return below
