"""Kernel matrices in row blocks, and as the precomputed kernel that LIBSVM trains on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import gen_batches
from sklearn.utils.extmath import row_norms

from kernlearn.memory import block_rows, require_memory
from kernlearn.solvers.libsvm import NativeModel, SupportVectors, SVMKernel
from kernlearn.solvers.nodes import (
    NODE,
    NodeRows,
    empty_gram_rows,
    feature_rows,
    fill_gram_rows,
    serial_rows,
)


def kernel_block(kernel: Any, X: Any, Y: Any) -> NDArray[np.float64]:
    """Evaluate a kernel that is not LIBSVM's own, and check what it returns.

    Raises
    ------
    ValueError
        If the result is not a finite matrix of shape (len(X), len(Y)).
    """
    block = kernel(X, Y)
    block = np.asarray(block.toarray() if sp.issparse(block) else block, dtype=np.float64)
    expected = (X.shape[0], Y.shape[0])
    if block.shape != expected:
        raise ValueError(
            f"kernel returned an array of shape {block.shape} where {expected} is needed: "
            "kernel(X, Y) must hold one row for each row of X and one column for each row of Y"
        )
    if not np.isfinite(block).all():
        raise ValueError("kernel returned NaN or infinity: kernel(X, Y) must be finite")
    return block


def gram_rows(X: Any, kernel: Any | None, cache_size: float, memory_limit: int | None) -> NodeRows:
    """LIBSVM's copy of the kernel matrix of the training rows, the only one that is made.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Training rows, or their kernel matrix if `kernel` is None.
    kernel : callable or None
    cache_size : float
        LIBSVM's cache, in units of 2²⁰ bytes.
    memory_limit : int or None
        Most bytes to use; None means what is available.

    Raises
    ------
    MemoryError
        If matrix, cache and one block need more.
    """
    n_rows = X.shape[0]
    n_block = min(n_rows, block_rows(n_rows))
    cache = min(int(cache_size * 2**20), 4 * n_rows**2)  # LIBSVM caches single precision
    block = 2 * 8 * n_rows * n_block  # and a temporary of its size
    require_memory(
        NODE.itemsize * n_rows * (n_rows + 2) + cache + block,
        memory_limit,
        purpose=f"the kernel matrix of {n_rows} rows",
        advice="use fewer rows, one of LIBSVM's own kernels ('linear', 'poly', 'rbf', "
        "'sigmoid'), or random features with LinearSVM",
    )
    rows = empty_gram_rows(n_rows, n_rows)
    for batch in gen_batches(n_rows, n_block):
        values = X[batch] if kernel is None else kernel_block(kernel, X[batch], X)
        fill_gram_rows(rows, batch, values)
    return rows


def pair_coefficients(
    dual_coef: NDArray[np.float64], n_by_class: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Unfold the coefficients of all pairs (0, 1), (0, 2), ..., (1, 2), ...

    Parameters
    ----------
    dual_coef : ndarray of shape (n_classes - 1, n_SV)
        As LIBSVM stores them: those of a vector of class i against class j are in row
        j - 1 if i < j and in row j otherwise.
    n_by_class : ndarray of shape (n_classes,)
        Number of support vectors of each class, in their order.

    Returns
    -------
    ndarray of shape (n_SV, n_pairs)
        Zero for the vectors of other classes.
    """
    ends = np.cumsum(n_by_class)
    members = [slice(end - n, end) for end, n in zip(ends, n_by_class, strict=True)]
    pairs = list(combinations(range(len(members)), 2))
    coefficients = np.zeros((dual_coef.shape[1], len(pairs)))
    for column, (i, j) in enumerate(pairs):
        coefficients[members[i], column] = dual_coef[j - 1, members[i]]
        coefficients[members[j], column] = dual_coef[i, members[j]]
    return coefficients


def count_votes(values: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Pairs that each class wins; a pair's first class wins if its value is positive.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_pairs)
    n_classes : int

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
    """
    first, second = _members(n_classes)
    return (values > 0) @ first + (values <= 0) @ second


def class_scores(values: NDArray[np.float64], n_classes: int) -> NDArray[np.float64]:
    """Votes, with ties broken by the sum of a class's decision values.

    The sums are brought into (-1/3, 1/3), so that they never outweigh a vote.

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_pairs)
    n_classes : int

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
    """
    first, second = _members(n_classes)
    sums = values @ (first - second)
    return count_votes(values, n_classes) + sums / (3 * (np.abs(sums) + 1))


def _members(n_classes: int) -> NDArray[np.float64]:
    """First and second class of each pair, as rows of the identity matrix."""
    pairs = np.array(list(combinations(range(n_classes), 2)))
    return np.eye(n_classes)[pairs.T]


def predict_built_in(
    kernel: SVMKernel, support_vectors: Any, support: SupportVectors, X: Any
) -> NDArray[np.intp]:
    """Class codes by one of LIBSVM's kernels.

    Parameters
    ----------
    kernel : SVMKernel
    support_vectors : {ndarray, sparse matrix} of shape (n_SV, n_features)
    support : SupportVectors
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    model = NativeModel(kernel, feature_rows(support_vectors), support)
    return model.predict(feature_rows(X))


def predict_as_gaussian(
    gaussian: SVMKernel, support_vectors: Any, support: SupportVectors, X: Any
) -> NDArray[np.intp]:
    """Class codes by the exponential kernel, evaluated as LIBSVM's Gaussian.

    The factors that tell the two apart, see `as_scaled_gaussian`, go into the coefficients
    of the support vectors and into the decision values.

    Parameters
    ----------
    gaussian : SVMKernel
    support_vectors : {ndarray, sparse matrix} of shape (n_SV, n_features)
    support : SupportVectors
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    scaled = replace(
        support,
        coefficients=support.coefficients * _factors(gaussian, support_vectors),
        rho=np.zeros_like(support.rho),
    )
    model = NativeModel(gaussian, feature_rows(support_vectors), scaled)
    values = model.decision_values(feature_rows(X))
    values *= _factors(gaussian, X)[:, np.newaxis]
    values -= support.rho
    return count_votes(values, len(support.n_by_class)).argmax(axis=1)


def predict_from_values(
    blocks: Iterable[NDArray[np.float64]], support: SupportVectors
) -> NDArray[np.intp]:
    """Class codes by a kernel that LIBSVM does not have.

    Parameters
    ----------
    blocks : iterable of ndarray of shape (n_rows, n_SV)
        Kernel values between the rows and the support vectors.
    support : SupportVectors

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    # Numbered anew from 1, the support vectors need only their own kernel values.
    n_support = len(support.indices)
    model = NativeModel(SVMKernel("precomputed"), serial_rows(n_support), support)
    codes = []
    for block in blocks:
        rows = empty_gram_rows(*block.shape)
        fill_gram_rows(rows, slice(0, len(block)), block)
        codes.append(model.predict(rows))
    return np.concatenate(codes)


def _factors(gaussian: SVMKernel, X: Any) -> NDArray[np.float64]:
    return np.exp(gaussian.gamma * row_norms(X, squared=True))
