"""Low-rank approximation of a positive semi-definite matrix by randomly pivoted Cholesky."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
#: Takes indices of rows, and of columns (all if None), and returns that part of the matrix.
Part: TypeAlias = Callable[[Indices, Indices | None], Floats]
Random: TypeAlias = np.random.Generator | np.random.RandomState

_BLOCK = 128  # pivots proposed at a time
_NOTHING = 1e-13  # share of the trace that rounding errors leave


def pivoted_cholesky(gram: Floats, rank: int, rng: np.random.Generator) -> Floats:
    """Approximate a matrix K by FᵀF, where F has few rows.

    Parameters
    ----------
    gram : ndarray of shape (n_samples, n_samples)
        Symmetric and positive semi-definite.
    rank : int
        Most rows of F.
    rng : Generator

    Returns
    -------
    ndarray of shape (n_rows, n_samples)
        F, with fewer rows than asked for if these suffice.

    References
    ----------
    As for :func:`draw_pivots`.
    """

    def part(rows: Indices, columns: Indices | None) -> Floats:
        return gram[rows] if columns is None else gram[rows[:, np.newaxis], columns]

    return draw_pivots(gram.diagonal(), part, rank, rng)[1]


def draw_pivots(
    diagonal: Floats,
    part: Part,
    rank: int,
    rng: Random,
    *,
    n_proposed: int = _BLOCK,
    nothing: float = _NOTHING,
) -> tuple[Indices, Floats]:
    """Draw the pivots of a Cholesky factor F of a matrix K ≈ FᵀF, of which parts are computed.

    Pivots are drawn one after the other, with probabilities proportional to the diagonal of what
    is not yet approximated. Many are proposed at a time, by the diagonal before, and rejected with
    the probability that makes this the same. The whole rows of K that are asked for are those of
    the pivots, and for each round of proposals the values among these.

    K should be positive semi-definite. If it is not, a negative diagonal, of K or of what is left,
    counts as 0: such a point is not drawn, and F has zeros there from then on.

    Parameters
    ----------
    diagonal : ndarray of shape (n_samples,)
        The diagonal of K.
    part : callable
        ``part(rows, columns)`` returns these rows and columns of K, ``part(rows, None)`` whole
        rows.
    rank : int
        Most rows of F.
    rng : Generator or RandomState
    n_proposed : int, default=128
        Pivots proposed at a time. It changes what is drawn, but no probability.
    nothing : float, default=1e-13
        Share of the trace that rounding errors leave.

    Returns
    -------
    pivots : ndarray of shape (n_rows,)
        Distinct indices, in the order in which they were drawn.
    factor : ndarray of shape (n_rows, n_samples)
        F, with fewer rows than asked for if these suffice.

    References
    ----------
    Chen, Epperly, Tropp & Webber, Randomly pivoted Cholesky: practical approximation of a kernel
    matrix with few entry evaluations, CPAM 78 (2025). Epperly, Tropp & Webber, Embrace rejection:
    kernel matrix approximation by accelerated randomly pivoted Cholesky, 2024, algorithm 2.
    """
    left = np.maximum(diagonal, 0.0)  # of the matrix less its approximation
    whole, n_samples = left.sum(), len(left)
    factor = np.empty((min(rank, n_samples), n_samples))
    pivots = np.empty(len(factor), dtype=np.intp)
    k = 0
    while k < len(factor) and left.sum() > nothing * whole:
        picks = rng.choice(n_samples, n_proposed, p=left / left.sum())
        among = part(picks, picks) - factor[:k, picks].T @ factor[:k, picks]
        kept, lower = _accept(among, left[picks], rng)
        kept = kept[: len(factor) - k]
        if not len(kept):  # what seemed to be left of these are rounding errors
            left[picks] = 0.0
            continue
        chosen, end = picks[kept], k + len(kept)
        rows = part(chosen, None) - factor[:k, chosen].T @ factor[:k]
        found = solve_triangular(lower[: len(kept), : len(kept)], rows, lower=True)
        found[:, left == 0] = 0.0
        factor[k:end], pivots[k:end] = found, chosen
        left = np.maximum(left - (found**2).sum(axis=0), 0.0)
        left[chosen] = 0.0
        k = end
    return pivots[:k], factor[:k]


def _accept(residual: Floats, proposed: Floats, rng: Random) -> tuple[Indices, Floats]:
    """Return which proposals are accepted, and the Cholesky factor of their residual.

    `residual` is that of the proposals, whose diagonal was `proposed` when they were drawn.
    """
    uniform = rng.random(len(proposed))
    kept: list[int] = []
    lower = np.zeros_like(residual)
    for i in range(len(residual)):
        if residual[i, i] > max(uniform[i], _NOTHING) * proposed[i]:
            column = residual[:, i] / np.sqrt(residual[i, i])
            residual = residual - np.outer(column, column)
            lower[:, len(kept)] = column
            kept.append(i)
    places = np.array(kept, dtype=np.intp)
    return places, np.tril(lower[places, : len(places)])
