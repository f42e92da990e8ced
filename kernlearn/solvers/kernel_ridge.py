"""Kernel ridge regression on a kernel matrix, for several penalties at once."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve, eigh

from kernlearn.solvers.pivoted_cholesky import pivoted_cholesky

Floats = NDArray[np.float64]

_DIRECT = 1500  # rows up to which a factor for each penalty takes no longer
_RANK = 1000  # of the preconditioner
_MOST_STEPS = 300
_ENOUGH = 1e-11  # norm of the residuals, relative to that of the targets
_SEED = 0  # the preconditioner decides how many steps it takes, not where they lead


def ridge_path(gram: Floats, y: Floats, penalties: Sequence[float]) -> Floats:
    """Solve (K + αI) c = y for several penalties α.

    For many rows by conjugate gradients, which read K once per step for all penalties, with a
    preconditioner of rank 1000 at most. A penalty for which they do not converge, or any penalty
    for few rows, by a Cholesky factor of its own.

    Parameters
    ----------
    gram : ndarray of shape (n_samples, n_samples)
        Symmetric and positive semi-definite.
    y : ndarray of shape (n_samples,)
    penalties : sequence of float
        Above 0.

    Returns
    -------
    ndarray of shape (n_penalties, n_samples)

    Raises
    ------
    scipy.linalg.LinAlgError
        If K + αI is not positive definite.

    References
    ----------
    Díaz, Epperly, Frangella, Tropp & Webber, Robust, randomized preconditioning for kernel ridge
    regression, 2023 (arXiv:2304.12465), algorithm 1 with randomly pivoted Cholesky.
    """
    found = np.zeros((len(penalties), len(y)))
    left = list(range(len(penalties)))
    if len(y) > _DIRECT:
        left = _conjugate_gradients(gram, y, np.asarray(penalties, dtype=np.float64), found)
    for k in left:
        shifted = gram.copy()
        shifted.flat[:: len(y) + 1] += penalties[k]
        factor = cho_factor(shifted, lower=True, overwrite_a=True, check_finite=False)
        found[k] = cho_solve(factor, y, check_finite=False)
    return found


def _conjugate_gradients(gram: Floats, y: Floats, penalties: Floats, found: Floats) -> list[int]:
    """Write the solutions, and return the places of those that did not converge."""
    factor = pivoted_cholesky(gram, min(_RANK, len(y) // 4), np.random.default_rng(_SEED))
    values, vectors = eigh(factor @ factor.T)
    kept = values > values[-1] * 1e-14
    # FᵀF = Uᵀ diag(values) U, with orthonormal rows of U
    values, basis = values[kept], (vectors[:, kept] / np.sqrt(values[kept])).T @ factor
    enough = _ENOUGH * np.linalg.norm(y)
    left = np.arange(len(penalties))
    residuals = np.tile(y, (len(left), 1))
    directions = np.zeros_like(residuals)
    products = np.ones(len(left))
    for _ in range(_MOST_STEPS):
        going = np.linalg.norm(residuals, axis=1) > enough
        left, residuals, directions = left[going], residuals[going], directions[going]
        products = products[going]
        if not len(left):
            break
        alphas = penalties[left, np.newaxis]
        inner = residuals @ basis.T
        scaled = residuals / alphas + (inner / (values + alphas) - inner / alphas) @ basis
        before, products = products, np.einsum("ij,ij->i", residuals, scaled)
        directions = scaled + (products / before)[:, np.newaxis] * directions
        curved = directions @ gram + alphas * directions
        lengths = products / np.einsum("ij,ij->i", directions, curved)
        found[left] += lengths[:, np.newaxis] * directions
        residuals = residuals - lengths[:, np.newaxis] * curved
    return left.tolist()
