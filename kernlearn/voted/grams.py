"""Matrices of several kernels, which share inner products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.extmath import safe_sparse_dot

from kernlearn.kernels import (
    BaseDotProductKernel,
    HomogeneousPolynomialKernel,
    Kernel,
    PolynomialKernel,
)
from kernlearn.memory import require_memory, row_blocks


@dataclass(frozen=True)
class KernelFamily:
    """Fitted kernels and their training points.

    Attributes
    ----------
    kernels : tuple of Kernel, or None
        None if X consists of the precomputed matrices of all kernels side by side.
    points : ndarray or sparse matrix of shape (n_points, ...), or None
        The training points; None for precomputed matrices.
    n_points, n_kernels : int
    columns : ndarray of shape (n_points,), or None
        The columns of the points in a precomputed matrix.
    n_total : int
        Number of columns of a precomputed matrix.
    """

    kernels: tuple[Any, ...] | None
    points: Any
    n_points: int
    n_kernels: int
    columns: Any = None
    n_total: int = 0

    @classmethod
    def fitted(cls, kernels: Sequence[Kernel], X: Any, y: Any) -> KernelFamily:
        """Fit clones of the kernels that depend on data."""
        fitted = tuple(clone(k).fit(X, y) if k.data_dependent else k for k in kernels)
        return cls(fitted, X, X.shape[0], len(fitted))

    @classmethod
    def precomputed(cls, columns: NDArray[np.intp], n_total: int, n_kernels: int) -> KernelFamily:
        """Return the family of precomputed matrices side by side, restricted to some columns."""
        return cls(None, None, len(columns), n_kernels, columns, n_total)

    def grams(self, X: Any) -> NDArray[np.float64]:
        """Return all kernel matrices, of shape (n_kernels, n_samples, n_points)."""
        n = X.shape[0]
        require_memory(
            3 * 8 * self.n_kernels * n * self.n_points // 2, None,
            purpose=f"the matrices of {self.n_kernels} kernels between {n} and {self.n_points} "
            "points", advice="use fewer points or kernels",
        )  # fmt: skip
        if self.kernels is None:
            split = X.reshape(n, self.n_kernels, self.n_total).transpose(1, 0, 2)
            return np.ascontiguousarray(split[:, :, self.columns])
        grams = np.empty((self.n_kernels, n, self.n_points))
        for polynomials in self._polynomials():
            base = _inner(X, self.points) + _shift(self.kernels[polynomials[0]])
            reached, power = 0, None
            for k in polynomials:
                step = self.kernels[k].degree - reached
                grams[k] = 1.0 if power is None else power
                for _ in range(step):
                    grams[k] *= base
                reached, power = reached + step, grams[k]
        for k, kernel in enumerate(self.kernels):
            if not _is_polynomial(kernel):
                grams[k] = kernel(X, self.points)
            self._check(grams[k], k)
        return grams

    def sums(self, X: Any, coef: Sequence[Any]) -> NDArray[np.float64]:
        """Return Σ_k K_k(X, points) @ coef[k].T, of shape (n_samples, n_outputs).

        `coef` has one sparse array of shape (n_outputs, n_points) per kernel; only kernels and
        points with a coefficient are evaluated.
        """
        used = [(k, np.unique(c.indices), c) for k, c in enumerate(coef) if c.nnz]
        total = np.zeros((X.shape[0], coef[0].shape[0]))
        if not used:
            return total
        widest = max(len(points) for _, points, _ in used)
        for rows in row_blocks(X.shape[0], widest):
            for k, values, weights in self._blocks(X[rows], used):
                self._check(values, k)
                total[rows] += values @ weights
        return total

    def _blocks(self, X: Any, used: list[tuple[int, NDArray[np.intp], Any]]) -> Any:
        """Yield kernels, their values and weights, with inner products computed once."""
        if self.kernels is None:
            for k, points, c in used:
                at = k * self.n_total + self.columns[points]
                yield k, X[:, at], c[:, points].toarray().T
            return
        shared = [points for k, points, _ in used if _is_series(self.kernels[k])]
        everything = np.unique(np.concatenate(shared)) if shared else np.zeros(0, dtype=np.intp)
        inner = _inner(X, self.points[everything]) if shared else np.zeros((X.shape[0], 0))
        for k, points, c in used:
            kernel = self.kernels[k]
            if _is_series(kernel):
                values = kernel.function(inner[:, np.searchsorted(everything, points)])
            else:
                values = kernel(X, self.points[points])
            yield k, values, c[:, points].toarray().T

    def _polynomials(self) -> list[list[int]]:
        """Return groups of polynomial kernels with the same shift, sorted by degree."""
        kernels = self.kernels or ()
        groups: dict[float, list[int]] = {}
        for k in np.argsort([getattr(kernel, "degree", 0) or 0 for kernel in kernels]).tolist():
            if _is_polynomial(kernels[k]):
                groups.setdefault(_shift(kernels[k]), []).append(k)
        return list(groups.values())

    def _check(self, values: NDArray[Any], k: int) -> None:
        if not np.isfinite(values).all():
            name = f"matrix {k}" if self.kernels is None else repr(self.kernels[k])
            raise ValueError(
                f"'kernels' must give finite numbers, and {name} gave NaN or infinity"
            )


def _inner(X: Any, Y: Any) -> NDArray[np.float64]:
    return np.asarray(safe_sparse_dot(X, Y.T, dense_output=True), dtype=np.float64)


def _is_polynomial(kernel: Kernel) -> bool:
    # A subclass may compute something else.
    return type(kernel) in (PolynomialKernel, HomogeneousPolynomialKernel)


def _is_series(kernel: Kernel) -> bool:
    return isinstance(kernel, BaseDotProductKernel)


def _shift(kernel: Any) -> float:
    return float(kernel.coef0) if isinstance(kernel, PolynomialKernel) else 0.0
