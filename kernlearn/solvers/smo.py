"""Sequential minimal optimization of SVMs on a kernel matrix, from any start."""

import warnings
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from kernlearn.solvers.libsvm import SupportVectors, most_iterations

Floats = NDArray[np.float64]

_SMALLEST = 1e-12  # curvature that stands for one that is not positive, as in LIBSVM
_NEVER = 1e300
_BLOCK = 256
# Iterations between two looks at which rows may still move: as long as copying a matrix takes.
_BEFORE_SHRINKING = 2000
_MUCH_FEWER = 0.7  # share of the rows for which a copy of their matrix pays


def train(
    gram: Floats, codes: NDArray[np.intp], bounds: Floats, tol: float, start: Floats | None = None
) -> tuple[SupportVectors, Floats]:
    """Train a C-SVC of two classes, to LIBSVM's stopping rule.

    Parameters
    ----------
    gram : ndarray of shape (n_samples, n_samples)
    codes : ndarray of shape (n_samples,)
        Class codes 0 and 1.
    bounds : ndarray of shape (n_samples,)
        C of each row.
    tol : float
        Largest violation of the optimality conditions.
    start : ndarray of shape (n_samples,), default=None
        Coefficients to start from, within the bounds; by default zeros.

    Returns
    -------
    support : SupportVectors
    coefficients : ndarray of shape (n_samples,)
        y·α of all rows, positive for class 0: where a problem with greater bounds may start.

    Warns
    -----
    ConvergenceWarning
        If it stopped at LIBSVM's maximum number of iterations.

    References
    ----------
    Fan, Chen & Lin, Working set selection using second order information for training support
    vector machines, JMLR 6 (2005), WSS 2.
    """
    labels = np.where(codes == 0, 1.0, -1.0)
    lower, upper = np.minimum(labels * bounds, 0.0), np.maximum(labels * bounds, 0.0)
    coefficients, offset = _solve(gram, labels, lower, upper, 0.0, tol, start)
    by_class = [np.flatnonzero((coefficients != 0) & (codes == code)) for code in (0, 1)]
    rows = np.concatenate(by_class)
    support = SupportVectors(
        indices=rows.astype(np.int32),
        n_by_class=np.array([len(each) for each in by_class], dtype=np.int32),
        coefficients=coefficients[np.newaxis, rows],
        rho=np.array([-offset]),
    )
    return support, coefficients


def train_regression(
    gram: Floats, y: Floats, C: float, epsilon: float, tol: float, start: Floats | None = None
) -> tuple[Floats, float]:
    """Train an ε-SVR, to LIBSVM's stopping rule.

    Parameters
    ----------
    gram : ndarray of shape (n_samples, n_samples)
    y : ndarray of shape (n_samples,)
    C : float
    epsilon : float
        Size of an error that costs nothing.
    tol : float
        Largest violation of the optimality conditions.
    start : ndarray of shape (n_samples,), default=None
        Coefficients to start from, between -C and C; by default zeros.

    Returns
    -------
    coefficients : ndarray of shape (n_samples,)
        α − α* of all rows: where a problem with a greater C may start.
    intercept : float

    Warns
    -----
    ConvergenceWarning
        If it stopped at LIBSVM's maximum number of iterations.

    References
    ----------
    Fan, Chen & Lin, as for :func:`train`.
    """
    bounds = np.full(len(y), float(C))
    return _solve(gram, np.asarray(y, dtype=np.float64), -bounds, bounds, epsilon, tol, start)


def _solve(
    gram: Floats,
    targets: Floats,
    lower: Floats,
    upper: Floats,
    epsilon: float,
    tol: float,
    start: Floats | None,
) -> tuple[Floats, float]:
    """Minimise ½ bᵀKb − tᵀb + ε Σ|bᵢ| within bounds, where Σ bᵢ stays; return b and the offset."""
    errors = np.array(targets, dtype=np.float64)
    if start is not None:
        errors -= gram @ start
    coefficients = np.zeros(len(targets)) if start is None else start.copy()
    whole = _Part(gram, lower, upper, coefficients, errors, np.arange(len(targets)))
    part, limit = whole, most_iterations(len(targets))
    left = limit
    while left > 0:
        most = min(left, _BEFORE_SHRINKING)
        n_iter = part.minimize(epsilon, tol, most)
        left -= n_iter
        coefficients[part.rows] = part.coefficients
        if n_iter == most:
            part = part.shrunk(epsilon)
        elif part is whole:
            break
        else:
            # the others have changed too, and may have to move
            errors[:] = targets - gram @ coefficients
            part = whole
    if part is not whole:
        errors[:] = targets - gram @ coefficients
    if left <= 0:
        warnings.warn(
            f"the solver stopped after {limit} iterations: scale the features, lower C or raise "
            "tol",
            ConvergenceWarning,
            stacklevel=3,
        )
    free = (coefficients != 0) & (coefficients > lower) & (coefficients < upper)
    if free.any():
        return coefficients, float((errors - epsilon * np.sign(coefficients))[free].mean())
    rising, falling = whole.gains(epsilon)
    return coefficients, float(rising.max() + falling.min()) / 2


@dataclass(frozen=True)
class _Part:
    """Some rows of a problem, whose other coefficients stay."""

    gram: Floats
    lower: Floats
    upper: Floats
    coefficients: Floats
    errors: Floats
    rows: NDArray[np.intp]

    def minimize(self, epsilon: float, tol: float, limit: int) -> int:
        """Change the coefficients and errors in place; return the number of iterations."""
        return int(
            _minimize(
                self.gram,
                self.gram.diagonal().copy(),
                self.lower,
                self.upper,
                epsilon,
                tol,
                limit,
                self.coefficients,
                self.errors,
            )
        )

    def gains(self, epsilon: float) -> tuple[Floats, Floats]:
        """Return what a row gains as it rises, and loses as it falls; ∓inf where it cannot."""
        coefficients, errors = self.coefficients, self.errors
        rising = errors + np.where(coefficients < 0, epsilon, -epsilon)
        falling = errors + np.where(coefficients > 0, -epsilon, epsilon)
        rising[coefficients >= self.upper], falling[coefficients <= self.lower] = -np.inf, np.inf
        return rising, falling

    def shrunk(self, epsilon: float) -> "_Part":
        """Return the rows that may still move, if they are much fewer (LIBSVM's shrinking).

        A row that can only rise will not, while its error is below those of all that can fall;
        nor will one that can only fall, while its error is above those of all that can rise.
        """
        rising, falling = self.gains(epsilon)
        left = np.flatnonzero((rising > falling.min()) | (falling < rising.max()))
        if len(left) > _MUCH_FEWER * len(self.rows):
            return self
        return _Part(
            self.gram[np.ix_(left, left)],
            self.lower[left],
            self.upper[left],
            self.coefficients[left],
            self.errors[left],
            self.rows[left],
        )


# values are finite, and the largest of some may be found in any order
@njit(cache=True, fastmath={"nnan", "nsz", "reassoc", "contract"})  # pragma: no cover
def _minimize(
    gram: Floats,
    diagonal: Floats,
    lower: Floats,
    upper: Floats,
    epsilon: float,
    tol: float,
    limit: int,
    coefficients: Floats,
    errors: Floats,
) -> int:
    """Change coefficients b and errors t − K b in place; return the number of iterations.

    Each coefficient pays ε|b|: its error, less ε where |b| would grow, or plus ε where it would
    shrink, is what the objective gains. At the minimum no such error of a row that can rise is
    above one of a row that can fall. An iteration moves the row that can rise with the greatest
    error, and the one that can fall by which the objective decreases most; no coefficient changes
    its sign in one iteration. Where the largest is, is looked up only in a block that has it:
    without a branch a block takes a few instructions.
    """
    n = len(errors)
    # added to the error of a row that rises, or falls; out of reach where it cannot
    to_rise, to_fall = np.empty(n), np.empty(n)
    for k in range(n):
        to_rise[k] = _rising(coefficients[k], upper[k], epsilon)
        to_fall[k] = _falling(coefficients[k], lower[k], epsilon)
    gains = np.empty(_BLOCK)
    rising = int(np.argmax(errors + to_rise))
    most, least = errors[rising] + to_rise[rising], (errors + to_fall).min()
    for iteration in range(limit):
        if most - least < tol:
            return iteration
        row, own = gram[rising], diagonal[rising]
        falling, best = -1, 0.0
        for first in range(0, n, _BLOCK):
            last, largest = min(first + _BLOCK, n), 0.0
            for k in range(first, last):
                gap = max(most - errors[k] - to_fall[k], 0.0)
                curvature = max(own + diagonal[k] - 2.0 * row[k], _SMALLEST)
                gain = gap * gap / curvature
                gains[k - first] = gain
                largest = max(largest, gain)
            if largest > best:
                best = largest
                for k in range(first, last):
                    if gains[k - first] == largest:
                        falling = k
                        break
        if falling < 0:
            return iteration
        curvature = max(own + diagonal[falling] - 2.0 * row[falling], _SMALLEST)
        highest = 0.0 if coefficients[rising] < 0.0 else upper[rising]
        lowest = 0.0 if coefficients[falling] > 0.0 else lower[falling]
        room, space = highest - coefficients[rising], coefficients[falling] - lowest
        gap = most - errors[falling] - to_fall[falling]
        length = min(gap / curvature, room, space)
        # what reaches a bound is at it exactly
        coefficients[rising] = highest if length == room else coefficients[rising] + length
        coefficients[falling] = lowest if length == space else coefficients[falling] - length
        for k in (rising, falling):
            to_rise[k] = _rising(coefficients[k], upper[k], epsilon)
            to_fall[k] = _falling(coefficients[k], lower[k], epsilon)
        other = gram[falling]
        rising, most, least = 0, -_NEVER, _NEVER
        for first in range(0, n, _BLOCK):
            last, largest = min(first + _BLOCK, n), -_NEVER
            for k in range(first, last):
                error = errors[k] - length * (row[k] - other[k])
                errors[k] = error
                largest = max(largest, error + to_rise[k])
                least = min(least, error + to_fall[k])
            if largest > most:
                most = largest
                for k in range(first, last):
                    if errors[k] + to_rise[k] == largest:
                        rising = k
                        break
    return limit


@njit(cache=True)  # pragma: no cover
def _rising(coefficient: float, upper: float, epsilon: float) -> float:
    if coefficient >= upper:
        return -_NEVER
    return epsilon if coefficient < 0.0 else -epsilon


@njit(cache=True)  # pragma: no cover
def _falling(coefficient: float, lower: float, epsilon: float) -> float:
    if coefficient <= lower:
        return _NEVER
    return -epsilon if coefficient > 0.0 else epsilon
