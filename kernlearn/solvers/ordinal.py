"""Ordinal regression in the primal, with fixed or learned thresholds."""

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from kernlearn.solvers import newton
from kernlearn.solvers.newton import Floats
from kernlearn.solvers.weighted_gram import gram_blocks

_RIDGE = 1e-12  # added to the curvature of thresholds, relative to the largest one
_REACH = 1e4  # margins that thresholds may move in a step without curvature
_NARROWER = 0.1  # factor on the width of the smoothing from one stage to the next


@dataclass(frozen=True)
class Thresholds:
    """Thresholds start + basis @ p, where the last `n_bounded` variables p are at least 0."""

    start: Floats
    basis: Floats
    n_bounded: int = 0

    @classmethod
    def fixed(cls, values: np.typing.ArrayLike) -> Self:
        """Return fixed thresholds."""
        start = np.asarray(values, dtype=np.float64)
        return cls(start, np.empty((len(start), 0)))

    @classmethod
    def free(cls, n_thresholds: int) -> Self:
        """Return learned thresholds without constraints."""
        return cls(np.zeros(n_thresholds), np.eye(n_thresholds))

    @classmethod
    def spaced(cls, n_thresholds: int, spacing: float) -> Self:
        """Return learned thresholds in ascending order, at least `spacing` apart."""
        return cls(equispaced(n_thresholds, spacing), np.tri(n_thresholds), n_thresholds - 1)


def equispaced(n_thresholds: int, spacing: float) -> Floats:
    """Return equispaced thresholds, symmetric about 0."""
    return spacing * (np.arange(n_thresholds, dtype=np.float64) - 0.5 * (n_thresholds - 1))


def as_thresholds(spec: Any, n_thresholds: int, spacing: float, constraints: str) -> Thresholds:
    """Return the thresholds for the parameters of an estimator.

    `spec` is "equispaced", "learned" or an array of shape (n_thresholds,), and `spacing` the
    distance between equispaced thresholds or the minimum distance between learned ones, which are
    not constrained if `constraints` is "implicit".

    Raises
    ------
    ValueError
        If there are not `n_thresholds` ascending numbers, or the spacing of equispaced thresholds
        is 0.
    """
    if isinstance(spec, str):
        if spec == "learned":
            if constraints == "implicit":
                return Thresholds.free(n_thresholds)
            return Thresholds.spaced(n_thresholds, spacing)
        if spacing == 0:
            raise ValueError("'spacing' must be greater than 0 with thresholds='equispaced'")
        return Thresholds.fixed(equispaced(n_thresholds, spacing))
    values = check_array(spec, ensure_2d=False, dtype=np.float64, input_name="thresholds")
    if values.shape != (n_thresholds,) or (np.diff(values) <= 0).any():
        raise ValueError(
            f"'thresholds' must be {n_thresholds} ascending numbers for the "
            f"{n_thresholds + 1} grades of y, got {spec!r}"
        )
    return Thresholds.fixed(values)


class Solution(NamedTuple):
    """The minimum for one value of C, after `n_iter` Newton steps."""

    coef: Floats
    thresholds: Floats
    n_iter: int


class OrdinalProblem:
    """Support vector ordinal regression on explicit features, by Newton's method.

    Parameters
    ----------
    features : array-like of shape (n_samples, n_features)
    codes : array-like of shape (n_samples,)
        Grades 0, …, n_thresholds; not all need to occur.
    thresholds : Thresholds
    constraints : {"explicit", "implicit"}
        EXC or IMC: a point is compared with the thresholds next to its grade, or with all.
    margin : float
        Distance from a threshold below which there is a loss.
    weights : ndarray of shape (n_samples,), default=None
        A factor above 0 on the losses of each point.

    References
    ----------
    Chu & Keerthi (2007), *Support vector ordinal regression*, sections 2 and 3. Kar (2013),
    sections 5.3.3.2 and 5.3.3.3.
    """

    def __init__(
        self,
        features: np.typing.ArrayLike,
        codes: np.typing.ArrayLike,
        thresholds: Thresholds,
        *,
        constraints: str,
        margin: float,
        weights: Floats | None = None,
    ) -> None:
        self._X = np.ascontiguousarray(features, dtype=np.float64)
        self._thresholds = thresholds
        self._margin = margin
        steps = np.arange(len(thresholds.start))
        # The number of grades above each threshold: at least 1, or at most 0.
        above = np.asarray(codes)[:, np.newaxis] - steps
        near = (above == 0) | (above == 1)
        compared = near if constraints == "explicit" else np.ones_like(near)
        self._point, self._step = np.nonzero(compared)
        self._sign = np.where(above[compared] > 0, 1.0, -1.0)
        self._weights = None if weights is None else weights[self._point]

    def path(self, Cs: Iterable[float], *, loss: str, tol: float, max_iter: int) -> list[Solution]:
        """Minimise for each value of C, starting from the solution for the previous one.

        Parameters
        ----------
        Cs : iterable of float
            Best in ascending order.
        loss : {"squared_hinge", "hinge"}
        tol : float
            Allowed excess over the minimum, relative to the objective. For "squared_hinge" the
            excess is estimated by the decrease of the quadratic model. "hinge" is smoothed less
            and less, until the duality gap of the hinge itself, which bounds the excess, is as
            small.
        max_iter : int
            Maximum number of Newton steps for each value of C.

        Returns
        -------
        list of Solution

        Warns
        -----
        ConvergenceWarning
            If `max_iter` steps were not enough.
        """
        z = np.zeros(self._X.shape[1] + self._thresholds.basis.shape[1])
        path = []
        for C in Cs:
            if loss == "hinge":
                z, n_iter, converged = self._hinge(z, C, tol, max_iter)
            else:
                squared: newton.Loss = newton.SquaredHinge(edge=0.0, sign=1.0)
                if self._weights is not None:
                    squared = newton.WeightedSquaredHinge(self._weights, edge=0.0, sign=1.0)
                z, n_iter, converged = self._minimise(z, C, squared, tol, max_iter)
            if not converged:
                warnings.warn(
                    f"ordinal regression did not converge in {max_iter} steps at C={C:g}: "
                    "raise max_iter or tol, or lower C",
                    ConvergenceWarning,
                    stacklevel=2,
                )
            w, variables = self._split(z)
            # Free thresholds on which the loss does not depend may come out of order; sorting
            # them keeps the minimum.
            thresholds = self._thresholds.start + self._thresholds.basis @ variables
            path.append(Solution(w, np.sort(thresholds), n_iter))
        return path

    def _hinge(self, z: Floats, C: float, tol: float, max_iter: int) -> tuple[Floats, int, bool]:
        width = max(float(self._short(z).max()), self._margin)
        weights: Any = 1.0 if self._weights is None else self._weights
        n_iter = 0
        while True:
            loss = newton.SmoothedHinge(width)
            if self._weights is not None:
                loss = newton.WeightedSmoothedHinge(self._weights, width)
            z, steps, converged = self._minimise(z, C, loss, 0.1 * tol, max_iter - n_iter)
            n_iter += steps
            short = self._short(z)
            positive = np.maximum(0.0, short)
            # The slopes are dual variables of the hinge.
            gap = C * float((positive * (weights - loss.slope(short))).sum())
            w, _ = self._split(z)
            if gap <= tol * (0.5 * (w @ w) + C * (weights * positive).sum()) or not converged:
                return z, n_iter, converged
            width *= _NARROWER

    def _minimise(
        self, z: Floats, C: float, loss: newton.Loss, tol: float, max_iter: int
    ) -> tuple[Floats, int, bool]:
        """Run Newton's method from z; return the end, the steps made, and whether it converged."""
        for n_iter in range(1, max_iter + 1):
            w, _ = self._split(z)
            short = self._short(z)
            gradient = self._gradient(w, C * loss.slope(short))
            # A curvature that bounds steps of the thresholds and vanishes at the minimum.
            steepest = np.abs(self._split(gradient)[1]).max(initial=0.0)
            ridge = float(steepest) / (_REACH * self._margin)
            factor = self._factor(C * loss.curvature(short), ridge)
            step = self._model_minimum(z, gradient, factor) - z
            promised = -float(gradient @ step)
            change = self._short(step, change=True)
            w_step, _ = self._split(step)
            inner, square = float(w @ w_step), float(w_step @ w_step)
            length = newton.exact_step(loss, C, short, change, inner, square, full=True)
            z = z + length * step
            objective = 0.5 * float(w @ w) + C * loss.value(short)
            if promised <= tol * objective or (
                length * np.linalg.norm(step) <= newton.ROUNDING_STEP * np.linalg.norm(z)
            ):
                return z, n_iter, True
        return z, max_iter, False

    def _split(self, z: Floats) -> tuple[Floats, Floats]:
        n_features = self._X.shape[1]
        return z[:n_features], z[n_features:]

    def _short(self, z: Floats, *, change: bool = False) -> Floats:
        """Return the shortfall of each term from the margin, or its change by a step z."""
        w, variables = self._split(z)
        thresholds = self._thresholds.basis @ variables
        margin, start = (0.0, 0.0) if change else (self._margin, self._thresholds.start)
        distances = (self._X @ w)[self._point] - (start + thresholds)[self._step]
        return margin - self._sign * distances

    def _gradient(self, w: Floats, slope: Floats) -> Floats:
        pull = self._sign * slope
        by_point = np.bincount(self._point, pull, len(self._X))
        by_threshold = np.bincount(self._step, pull, len(self._thresholds.start))
        return np.concatenate([w - by_point @ self._X, by_threshold @ self._thresholds.basis])

    def _factor(self, curvature: Floats, ridge: float) -> Floats:
        """Return R with RᵀR the Hessian."""
        d, basis = self._X.shape[1], self._thresholds.basis
        hessian = np.zeros((d + basis.shape[1],) * 2)
        weights = np.bincount(self._point, curvature, len(self._X))
        rows = np.flatnonzero(weights)
        for part in gram_blocks(self._X, rows, weights[rows]):
            hessian[:d, :d] += part
        hessian.flat[: d * len(hessian) : len(hessian) + 1] += 1.0
        if basis.shape[1]:
            shape = (len(self._X), len(basis))
            shared = csr_array((curvature, (self._point, self._step)), shape=shape)
            hessian[:d, d:] = -(shared.T @ self._X).T @ basis
            hessian[d:, d:] = (basis.T * shared.sum(axis=0)) @ basis
            ridge += _RIDGE * hessian.diagonal().max()
            hessian.flat[d * len(hessian) + d :: len(hessian) + 1] += ridge
        return cholesky(hessian, check_finite=False)

    def _model_minimum(self, z: Floats, gradient: Floats, factor: Floats) -> Floats:
        """Minimise the quadratic model at z, with the last variables at least 0.

        The model is ½‖Rz − c‖² up to a constant. The free variables make their rows zero for any
        bounded ones, which are therefore the solution of their own least squares problem.
        """
        target = factor @ z - solve_triangular(factor, gradient, trans="T", check_finite=False)
        free = len(z) - self._thresholds.n_bounded
        result = np.empty_like(z)
        if free < len(z):
            result[free:], _ = nnls(factor[free:, free:], target[free:])
            target[:free] -= factor[:free, free:] @ result[free:]
        result[:free] = solve_triangular(factor[:free, :free], target[:free], check_finite=False)
        return result
