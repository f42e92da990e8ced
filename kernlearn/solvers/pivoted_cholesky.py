"""Low-rank approximation of a positive semi-definite matrix by randomly pivoted Cholesky."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

Floats = NDArray[np.float64]

_BLOCK = 128  # pivots proposed at a time
_NOTHING = 1e-13  # share of the trace that rounding errors leave


def pivoted_cholesky(gram: Floats, rank: int, rng: np.random.Generator) -> Floats:
    """Approximate a matrix K by FᵀF, where F has few rows.

    Pivots are drawn one after the other, with probabilities proportional to the diagonal of what
    is not yet approximated. Many are proposed at a time, by the diagonal before, and rejected with
    the probability that makes this the same.

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
    Chen, Epperly, Tropp & Webber, Randomly pivoted Cholesky: practical approximation of a kernel
    matrix with few entry evaluations, CPAM 78 (2025). Epperly, Tropp & Webber, Embrace rejection:
    kernel matrix approximation by accelerated randomly pivoted Cholesky, 2024, algorithm 2.
    """
    left = gram.diagonal().copy()  # of the matrix less its approximation
    whole = left.sum()
    factor = np.empty((min(rank, len(gram)), len(gram)))
    k = 0
    while k < len(factor) and left.sum() > _NOTHING * whole:
        picks = rng.choice(len(gram), _BLOCK, p=left / left.sum())
        rows = gram[picks] - factor[:k, picks].T @ factor[:k]
        kept, lower = _accept(rows[:, picks], left[picks], rng)
        n_kept = min(len(kept), len(factor) - k)
        found = solve_triangular(lower[:n_kept, :n_kept], rows[kept[:n_kept]], lower=True)
        factor[k : k + n_kept] = found
        left = np.maximum(left - (found**2).sum(axis=0), 0.0)
        left[picks[kept[:n_kept]]] = 0.0
        k += n_kept
    return factor[:k]


def _accept(
    residual: Floats, proposed: Floats, rng: np.random.Generator
) -> tuple[NDArray[np.intp], Floats]:
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
