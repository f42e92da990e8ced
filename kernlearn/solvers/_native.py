"""LIBSVM's own prediction, row by row: where it has the kernel, and where it is given values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import row_norms

from kernlearn.solvers._libsvm import NativeModel, SupportVectors
from kernlearn.solvers._nodes import empty_gram_rows, feature_rows, fill_gram_rows, serial_rows
from kernlearn.solvers._one_vs_one import count_votes
from kernlearn.solvers._svm_kernels import SVMKernel


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
