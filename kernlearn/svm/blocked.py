"""SMO on blocks of rows, for several values of C on one kernel matrix in single precision.

This module loads Numba.
"""

import numpy as np
from numpy.typing import NDArray

from kernlearn.compiled import compiled
from kernlearn.validation import Floats, Indices

_SIZE = 512  # rows of a working set, whose part of the matrix stays in cache
_SHARE = 0.1  # of the violation that may be left in a working set
_MOST = 8192
_STEPS = 20  # for each row of a working set, at most
_FLAT = 1e-12  # curvature that counts as this, as in LIBSVM
_FAST = {"reassoc", "contract", "nsz"}


class BlockedSMO:
    """The dual problem of a C-SVC of two classes, solved to LIBSVM's criterion.

    Least ½ αᵀQα − Σα over 0 ≤ α ≤ C with yᵀα = 0, where Q is the kernel matrix times y yᵀ. The
    rows that violate the optimality conditions most form a working set, on which SMO with
    second-order pairs [1]_ runs; then the gradient of all rows is brought up to date. LIBSVM's
    cache holds single precision too.

    Parameters
    ----------
    gram : ndarray of shape (n_samples, n_samples), float32
        Kernel matrix.
    y : ndarray of shape (n_samples,)
        Labels, -1 and 1.
    tol : float
        Largest violation of the optimality conditions, LIBSVM's ``-e``.

    References
    ----------
    .. [1] R.-E. Fan, P.-H. Chen, C.-J. Lin. Working set selection using second order information
       for training support vector machines. JMLR 6, 2005.
    """

    def __init__(self, gram: NDArray[np.float32], y: Floats, tol: float) -> None:
        self._gram, self._y, self._tol = gram, y, tol
        self._alpha = np.zeros(len(y))
        self._slopes = -y  # y times the gradient

    def solve(self, C: Floats, most_steps: int) -> tuple[Floats, float, bool]:
        """Solve the problem, from the solution for smaller bounds that came before.

        Parameters
        ----------
        C : ndarray of shape (n_samples,)
            The bounds, none of them less than in the call before.
        most_steps : int
            Steps of SMO at most.

        Returns
        -------
        alpha : ndarray of shape (n_samples,)
        rho : float
            Subtracted from the decision values.
        converged : bool
        """
        gram, y, alpha, slopes = self._gram, self._y, self._alpha, self._slopes
        work: Indices = np.zeros(0, dtype=np.intp)
        while True:
            can_rise = np.where(y > 0, alpha < C, alpha > 0)
            can_fall = np.where(y > 0, alpha > 0, alpha < C)
            up, low = np.where(can_rise, slopes, np.inf), np.where(can_fall, slopes, -np.inf)
            gap = low.max() - up.min()
            if gap < self._tol or most_steps <= 0:
                free = can_rise & can_fall
                rho = slopes[free].mean() if free.any() else (up.min() + low.max()) / 2
                return alpha.copy(), float(rho), bool(gap < self._tol)
            # half of a working set stays, and there is room for all rows between their bounds:
            # steps on parts of these would undo each other
            free = np.flatnonzero(can_rise & can_fall)
            size = min(max(_SIZE, 2 * len(free)), _MOST, len(y))
            n_new = size // 4 if len(work) else size // 2
            first = np.argpartition(up, n_new - 1)[:n_new]
            last = np.argpartition(-low, n_new - 1)[:n_new]
            new = np.union1d(first, last)
            kept = np.concatenate((np.setdiff1d(work, free), free))
            kept = kept[~np.isin(kept, new)]
            work = np.concatenate((kept[max(len(kept) + len(new) - size, 0) :], new))
            part, before = gram[np.ix_(work, work)], alpha[work]
            within = max(_SHARE * gap, 0.5 * self._tol)
            limit = min(_STEPS * size, most_steps)
            after, local = before.copy(), slopes[work]
            most_steps -= _smo(part, y[work], after, local, C[work], within, limit)
            _add_rows(gram, work, y[work] * (after - before), slopes)
            alpha[work] = after


@compiled(fastmath=_FAST)
def _add_rows(gram, rows, factors, sums):  # type: ignore[no-untyped-def]
    """Add multiples of rows of a matrix, by blocks of columns that stay in cache."""
    for start in range(0, len(sums), 2048):
        end = min(start + 2048, len(sums))
        for k in range(len(rows)):
            if factors[k] != 0.0:
                row, factor = gram[rows[k]], factors[k]
                for i in range(start, end):
                    sums[i] += factor * row[i]


@compiled(fastmath=_FAST)
def _smo(gram, y, alpha, slopes, C, tol, most_steps):  # type: ignore[no-untyped-def]
    """Run SMO on a small matrix, in place; return the number of steps."""
    n = len(y)
    # what is added to the slopes of rows that cannot rise, or fall: loops without branches
    no_rise, no_fall, gains, own = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    for t in range(n):
        own[t] = gram[t, t]
        no_rise[t] = 0.0 if (alpha[t] < C[t] if y[t] > 0 else alpha[t] > 0) else 1e200
        no_fall[t] = 0.0 if (alpha[t] > 0 if y[t] > 0 else alpha[t] < C[t]) else 1e200
    for step in range(most_steps):
        least, greatest = 1e300, -1e300
        for t in range(n):
            least = min(least, slopes[t] + no_rise[t])
            greatest = max(greatest, slopes[t] - no_fall[t])
        if greatest - least < tol:
            return step
        i = 0
        while slopes[i] + no_rise[i] != least:
            i += 1
        row, best = gram[i], 0.0
        for t in range(n):
            slope = max(slopes[t] - no_fall[t] - least, 0.0)
            gains[t] = slope * slope / max(own[i] + own[t] - 2.0 * row[t], _FLAT)
            best = max(best, gains[t])
        j = 0
        while gains[j] != best:
            j += 1
        length = (slopes[j] - least) / max(own[i] + own[j] - 2.0 * row[j], _FLAT)
        length = min(length, C[i] - alpha[i] if y[i] > 0 else alpha[i])
        length = min(length, alpha[j] if y[j] > 0 else C[j] - alpha[j])
        alpha[i] += y[i] * length
        alpha[j] -= y[j] * length
        for t in (i, j):  # exactly at the bounds
            if alpha[t] < 1e-14 * C[t]:
                alpha[t] = 0.0
            elif alpha[t] > (1 - 1e-14) * C[t]:
                alpha[t] = C[t]
            no_rise[t] = 0.0 if (alpha[t] < C[t] if y[t] > 0 else alpha[t] > 0) else 1e200
            no_fall[t] = 0.0 if (alpha[t] > 0 if y[t] > 0 else alpha[t] < C[t]) else 1e200
        other = gram[j]
        for t in range(n):
            slopes[t] += length * (row[t] - other[t])
    return most_steps
