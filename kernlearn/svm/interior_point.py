"""The dual problem of the kernel SVM by an interior-point method, where SMO is slow."""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, lapack
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from kernlearn.svm.libsvm import SupportVectors

_SMO_ITERATIONS = 50_000  # of SMO, which solves easy problems sooner
_MAX_ITER = 80
_STEP = 0.995  # share of the step to the boundary
_MARGIN = 1e-3  # deviation of a margin that counts as none, as in LIBSVM
_COMPLEMENTARITY = 1e-8  # at the end
_NOISE = 1e-4  # a gap of rounding errors, where C is large: later steps still improve the solution
_GUESSES = 4  # solutions by SMO for smaller C
_NEAR = 4  # rows that join a working set for each that violates its solution

Floats = NDArray[np.float64]


class DualSolution(NamedTuple):
    """A binary classifier with decision function K (y α) + intercept.

    Attributes
    ----------
    alpha : ndarray of shape (n_samples,)
        From 0 to C.
    intercept : float
    gap : float
        Difference of the primal and the dual objective, relative to the primal one.
    """

    alpha: Floats
    intercept: float
    gap: float


def _objectives(Q: Floats, y: Floats, alpha: Floats, C: Floats) -> tuple[float, float, float]:
    """Return the primal objective with its best intercept, the dual one, and the intercept."""
    margins = Q @ alpha
    half_norm = 0.5 * float(alpha @ margins)
    # The losses are piecewise linear in the intercept b; y_i (1 - margin_i) are the kinks.
    kinks = y * (1 - margins)
    order = np.argsort(kinks, kind="stable")
    slopes = np.cumsum(C[order]) - C[y > 0].sum()
    b = float(kinks[order[np.searchsorted(slopes, 0.0).clip(max=len(y) - 1)]])
    losses = C @ np.maximum(0.0, 1 - margins - b * y)
    return half_norm + float(losses), float(alpha.sum()) - half_norm, b


def solve_dual(gram: Floats, y: Floats, C: Floats) -> DualSolution:
    r"""Maximise :math:`\sum_i α_i - ½ αᵀQα` over 0 ≤ α ≤ C with :math:`yᵀα = 0`.

    Q is the kernel matrix times y yᵀ. Mehrotra's predictor-corrector method [1]_: about 25
    iterations of O(n³), for any C. The losses of the primal problem are weighted by C.

    Parameters
    ----------
    gram : ndarray of shape (n_samples, n_samples)
        A positive semidefinite kernel matrix.
    y : ndarray of shape (n_samples,)
        Labels, -1 and 1.
    C : ndarray of shape (n_samples,)
        Weights of the losses.

    Returns
    -------
    DualSolution
        Its gap says how well the problem is solved.

    References
    ----------
    .. [1] S. Mehrotra. On the implementation of a primal-dual interior point method. SIAM Journal
       on Optimization 2, 1992.
    """
    Q = gram * np.outer(y, y)
    best = _follow_path(Q, y, C)
    # An α_i whose margin is beyond 1 should be 0: the least are, as long as no margin changes.
    margins = Q @ best.alpha + best.intercept * y
    unused = np.flatnonzero(margins > 1 + _MARGIN)
    unused = unused[np.argsort(best.alpha[unused], kind="stable")]
    change = np.cumsum(best.alpha[unused]) * np.abs(Q).max()
    best.alpha[unused[change <= 0.1 * _MARGIN]] = 0.0
    return best


def _follow_path(Q: Floats, y: Floats, C: Floats) -> DualSolution:
    """Follow the central path, as far as rounding errors let it."""
    n = len(y)
    largest = max(float(np.diag(Q).max()), 1e-300)
    at = _Point(np.minimum(0.5 * C, 1 / largest), 0.0, np.ones(n), np.ones(n))
    best = DualSolution(np.zeros(n), 0.0, np.inf)
    for _ in range(_MAX_ITER):
        alpha, b, lower, upper = at
        room = C - alpha
        primal, dual, intercept = _objectives(Q, y, alpha, C)
        gap = abs(primal - dual) / abs(primal)
        if gap <= max(best.gap, _NOISE) and abs(float(y @ alpha)) <= 1e-9 * alpha.sum():
            best = DualSolution(alpha, intercept, gap)
        mean = float(alpha @ lower + room @ upper) / (2 * n)
        # coefficients that should be 0 are then too small to change a margin
        if gap < 1e-3 and n * largest * mean <= _COMPLEMENTARITY:
            break
        try:
            direction = _direction(Q, y, C, at)
        except LinAlgError:  # singular by rounding errors
            break
        # Predictor: towards the solution. Corrector: centred, with the terms of second order.
        step, _, low, high = direction(-alpha * lower, -room * upper)
        reach = min(_reach(alpha, step), _reach(room, -step))
        dual_reach = min(_reach(lower, low), _reach(upper, high))
        ahead = (alpha + reach * step) @ (lower + dual_reach * low)
        ahead += (room - reach * step) @ (upper + dual_reach * high)
        centre = mean * (float(ahead) / (2 * n * mean)) ** 3
        step, turn, low, high = direction(
            centre - alpha * lower - step * low, centre - room * upper + step * high
        )
        pairs = (alpha, step), (room, -step), (lower, low), (upper, high)
        length = _STEP * min(_reach(v, d) for v, d in pairs)
        if not np.isfinite(length):
            break
        at = _Point(
            alpha + length * step, b + length * turn, lower + length * low, upper + length * high
        )
    return best


class _Point(NamedTuple):
    """A point of the path, or a step: α, the intercept, and the multipliers of the bounds."""

    alpha: Floats
    intercept: float
    lower: Floats
    upper: Floats


def _direction(Q: Floats, y: Floats, C: Floats, at: _Point) -> Callable[[Floats, Floats], _Point]:
    """Return the Newton step as a function of the wanted changes of the complementarities."""
    alpha, b, lower, upper = at
    room = C - alpha
    residual = Q @ alpha - 1 + b * y - lower + upper
    with np.errstate(all="ignore"):
        diagonal = lower / alpha + upper / room
    system = Q.copy(order="F")
    system.flat[:: len(y) + 1] += diagonal
    # LAPACK itself: for a hundred rows SciPy's checks take longer
    factor, fault = lapack.dpotrf(system, lower=1, overwrite_a=1, clean=0)
    if fault or not np.isfinite(diagonal).all():
        raise LinAlgError("the system is not positive definite")

    def solve(right: Floats) -> Floats:
        solution, _ = lapack.dpotrs(factor, right, lower=1)
        rest = right - (Q @ solution + diagonal * solution)
        return solution + lapack.dpotrs(factor, rest, lower=1)[0]

    of_y = solve(y)

    def direction(low: Floats, high: Floats) -> _Point:
        plain = solve(low / alpha - high / room - residual)
        turn = float(y @ plain + float(y @ alpha)) / float(y @ of_y)
        step = plain - turn * of_y
        return _Point(step, turn, (low - lower * step) / alpha, (high + upper * step) / room)

    return direction


def _reach(values: Floats, direction: Floats) -> float:
    """Return the largest step, up to 1, that keeps the values positive."""
    falling = direction < 0
    return min(1.0, float((-values[falling] / direction[falling]).min(initial=np.inf)))


def train(
    gram: Floats,
    codes: NDArray[np.intp],
    C: Floats,
    *,
    tol: float,
    last: DualSolution | None = None,
) -> tuple[SupportVectors, DualSolution | None]:
    """Train a C-SVC of two classes on a kernel matrix, by SMO if it converges soon.

    Parameters
    ----------
    gram : ndarray of shape (n_samples, n_samples)
    codes : ndarray of shape (n_samples,)
        Class codes 0 and 1; a decision value is positive for class 0.
    C : ndarray of shape (n_samples,)
        Weights of the losses.
    tol : float
        Allowed gap between the primal and dual objective, relative to the primal one.
    last : DualSolution, default=None
        The solution for a smaller C for which SMO did not converge: it is not tried again then.

    Returns
    -------
    support : SupportVectors
    solution : DualSolution or None
        The solution, unless it is SMO's.

    Warns
    -----
    ConvergenceWarning
        If the gap stayed above `tol`.
    """
    y = np.where(codes == 0, 1.0, -1.0)
    solution, by_smo = _solve(gram, y, C, tol, last)
    if solution.gap > tol:
        warnings.warn(
            f"the interior-point method stopped at a relative gap of {solution.gap:.3g}: scale "
            "the features, lower C, or check that the kernel is positive semidefinite",
            ConvergenceWarning,
            stacklevel=2,
        )
    used = np.flatnonzero(solution.alpha)
    indices = used[np.argsort(codes[used], kind="stable")]
    support = SupportVectors(
        indices=indices.astype(np.int32),
        n_by_class=np.bincount(codes[indices], minlength=2).astype(np.int32),
        coefficients=(y * solution.alpha)[np.newaxis, indices],
        rho=np.array([-solution.intercept]),
    )
    return support, None if by_smo else solution


def _solve(
    gram: Floats, y: Floats, C: Floats, tol: float, last: DualSolution | None
) -> tuple[DualSolution, bool]:
    """Return a solution, and whether it is that of SMO."""
    if last is not None:
        return solve_by_working_sets(gram, y, C, last), False
    guess, converged = _by_smo(gram, y, C, tol)
    if converged:
        return guess, True
    smaller = C
    for _ in range(_GUESSES):
        if converged or 2 * np.count_nonzero(guess.alpha) <= len(y):
            break
        # far from the solution most rows have a coefficient: those for a smaller C tell more
        smaller = smaller / 100
        guess, converged = _by_smo(gram, y, smaller, tol)
    return solve_by_working_sets(gram, y, C, guess), False


def _by_smo(gram: Floats, y: Floats, C: Floats, tol: float) -> tuple[DualSolution, bool]:
    """Return a solution of SMO, and whether it converged."""
    smo = SVC(C=1.0, kernel="precomputed", tol=tol, max_iter=_SMO_ITERATIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        smo.fit(gram, y, sample_weight=C)
    alpha = np.zeros(len(y))
    alpha[smo.support_] = np.abs(smo.dual_coef_[0])
    solution = DualSolution(alpha, float(smo.intercept_[0]), 0.0)
    return solution, bool(smo.n_iter_.max() < _SMO_ITERATIONS)


def solve_by_working_sets(gram: Floats, y: Floats, C: Floats, guess: DualSolution) -> DualSolution:
    """Solve the dual problem on a growing part of the rows, until the others satisfy it.

    The solution is that of :func:`solve_dual` on all rows, which costs O(n³); it has few support
    vectors, and most of these are those of an approximate solution.
    """
    outside = guess.alpha == 0
    margins = y * (gram @ (y * guess.alpha) + guess.intercept)
    n_more = int(np.count_nonzero(~outside)) // 4
    while True:
        order = np.flatnonzero(outside)[np.argsort(margins[outside], kind="stable")]
        outside[order[: max(n_more, 1)]] = False
        rows = np.flatnonzero(~outside)
        solution = solve_dual(gram[np.ix_(rows, rows)], y[rows], C[rows])
        signed = y[rows] * solution.alpha
        margins = y * (gram[:, rows] @ signed + solution.intercept)
        n_violating = int(np.count_nonzero(margins[outside] < 1))
        if not n_violating:
            alpha = np.zeros(len(y))
            alpha[rows] = solution.alpha
            return DualSolution(alpha, solution.intercept, solution.gap)
        # with rows that nearly violate it, and as many again at most: a bad start does not end
        # with all rows
        n_more = min(_NEAR * n_violating, len(rows))
