"""Sequential minimal optimization of a two-class SVM on a kernel matrix, from any start."""

import warnings

import numpy as np
from numba import njit
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from kernlearn.solvers.libsvm import SupportVectors, most_iterations

Floats = NDArray[np.float64]

_SMALLEST = 1e-12  # curvature that stands for one that is not positive, as in LIBSVM
_NEVER = 1e300
_BLOCK = 256


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
    coefficients = np.zeros(len(labels)) if start is None else start.copy()
    errors = labels - gram @ coefficients
    lower, upper = np.minimum(labels * bounds, 0.0), np.maximum(labels * bounds, 0.0)
    limit = most_iterations(len(labels))
    diagonal = gram.diagonal().copy()
    n_iter = _minimize(gram, diagonal, lower, upper, tol, limit, coefficients, errors)
    if n_iter >= limit:
        warnings.warn(
            f"the solver stopped after {limit} iterations: scale the features, lower C or raise "
            "tol",
            ConvergenceWarning,
            stacklevel=2,
        )
    free = (coefficients > lower) & (coefficients < upper)
    if free.any():
        offset = errors[free].mean()
    else:
        offset = (errors[coefficients < upper].max() + errors[coefficients > lower].min()) / 2
    by_class = [np.flatnonzero((coefficients != 0) & (codes == code)) for code in (0, 1)]
    rows = np.concatenate(by_class)
    support = SupportVectors(
        indices=rows.astype(np.int32),
        n_by_class=np.array([len(each) for each in by_class], dtype=np.int32),
        coefficients=coefficients[np.newaxis, rows],
        rho=np.array([-offset]),
    )
    return support, coefficients


# values are finite, and the largest of some may be found in any order
@njit(cache=True, fastmath={"nnan", "nsz", "reassoc", "contract"})  # pragma: no cover
def _minimize(
    gram: Floats,
    diagonal: Floats,
    lower: Floats,
    upper: Floats,
    tol: float,
    limit: int,
    coefficients: Floats,
    errors: Floats,
) -> int:
    """Change coefficients b and errors y − K b in place; return the number of iterations.

    At the minimum no error of a row that can rise is above one of a row that can fall. An
    iteration moves the row that can rise with the greatest error, and the one that can fall by
    which the objective decreases most. Where the largest is, is looked up only in a block that
    has it: without a branch a block takes a few instructions.
    """
    n = len(errors)
    # added to the error of a row that cannot rise, or cannot fall
    no_rise = np.where(coefficients < upper, 0.0, -_NEVER)
    no_fall = np.where(coefficients > lower, 0.0, _NEVER)
    gains = np.empty(_BLOCK)
    rising = int(np.argmax(errors + no_rise))
    most, least = errors[rising] + no_rise[rising], (errors + no_fall).min()
    for iteration in range(limit):
        if most - least < tol:
            return iteration
        row, own = gram[rising], diagonal[rising]
        falling, best = -1, 0.0
        for first in range(0, n, _BLOCK):
            last, largest = min(first + _BLOCK, n), 0.0
            for k in range(first, last):
                gap = max(most - errors[k] - no_fall[k], 0.0)
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
        room = upper[rising] - coefficients[rising]
        space = coefficients[falling] - lower[falling]
        length = min((most - errors[falling]) / curvature, room, space)
        # what reaches a bound is at it exactly
        coefficients[rising] = upper[rising] if length == room else coefficients[rising] + length
        coefficients[falling] = (
            lower[falling] if length == space else coefficients[falling] - length
        )
        for k in (rising, falling):
            no_rise[k] = 0.0 if coefficients[k] < upper[k] else -_NEVER
            no_fall[k] = 0.0 if coefficients[k] > lower[k] else _NEVER
        other = gram[falling]
        rising, most, least = 0, -_NEVER, _NEVER
        for first in range(0, n, _BLOCK):
            last, largest = min(first + _BLOCK, n), -_NEVER
            for k in range(first, last):
                error = errors[k] - length * (row[k] - other[k])
                errors[k] = error
                largest = max(largest, error + no_rise[k])
                least = min(least, error + no_fall[k])
            if largest > most:
                most = largest
                for k in range(first, last):
                    if errors[k] + no_rise[k] == largest:
                        rising = k
                        break
    return limit
