"""Quadratic functions of weights: their minima along a path of penalties, and their values."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh

from kernlearn.onepass.exact_sums import Floats


@dataclass(frozen=True)
class Quadratic:
    r"""Functions :math:`w^\top A w - 2 \langle b, w \rangle + c`, several with one A.

    Attributes
    ----------
    matrix : ndarray of shape (n_features, n_features)
        A, symmetric and positive semi-definite.
    linear : ndarray of shape (n_features, n_targets)
        The b of each function.
    constant : ndarray of shape (n_targets,)
        The c of each function.
    """

    matrix: Floats
    linear: Floats
    constant: Floats

    @property
    def largest(self) -> float:
        """The greatest eigenvalue of A."""
        at = len(self.matrix) - 1
        (value,) = eigh(self.matrix, eigvals_only=True, subset_by_index=[at, at])
        return max(float(value), 0.0)

    def minima(self, penalties: Floats) -> Floats:
        r"""Minimise the functions plus :math:`\alpha \|w\|^2` for several penalties.

        One eigendecomposition of A serves all penalties. Its eigenvalues below the rounding error
        of the greatest one count as 0; with penalty 0 the minimum is that of least norm.

        Parameters
        ----------
        penalties : ndarray of shape (n_penalties,)
            Not negative.

        Returns
        -------
        ndarray of shape (n_penalties, n_targets, n_features)
        """
        values, vectors = eigh(self.matrix)
        least = len(values) * np.finfo(np.float64).eps * max(float(values[-1]), 0.0)
        values = np.where(values > least, values, 0.0)
        inner = vectors.T @ self.linear
        divisors = values + np.asarray(penalties, dtype=np.float64)[:, np.newaxis]
        inverses = np.divide(1.0, divisors, out=np.zeros_like(divisors), where=divisors > 0)
        scaled = inverses[:, np.newaxis] * inner.T
        return scaled @ vectors.T

    def values(self, weights: Floats) -> Floats:
        """Return the values at weights of shape (n_penalties, n_targets, n_features)."""
        curved = np.einsum("atk,atk->at", weights @ self.matrix, weights)
        return curved - 2 * np.einsum("atk,kt->at", weights, self.linear) + self.constant


def penalty_path(largest: float, n_penalties: int = 31, smallest: float = 1e-10) -> Floats:
    """Return penalties from `smallest` to 1 times the largest eigenvalue, ascending."""
    return np.geomspace(smallest, 1, n_penalties) * (largest or 1.0)
