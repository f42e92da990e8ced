"""How well a kernel agrees with labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_consistent_length, column_or_1d, gen_batches

from kernlearn.kernels import as_kernel
from kernlearn.pairwise._losses import pair_labels

# Elements of the Gram matrix that are evaluated at once: 8 MB of float64.
_BLOCK_ELEMENTS = 2**20


def kernel_target_alignment(kernel: Any, X: Any, y: ArrayLike) -> float:
    r"""Return the cosine of the angle between a Gram matrix and the labels' one.

    That is :math:`\langle K, Y \rangle_F / (\|K\|_F \|Y\|_F)`. Y is +1 for two points of a
    class and -1 for others; for two classes it is :math:`y y^\top` with labels ±1.

    Parameters
    ----------
    kernel : str, Kernel or callable
        A kernel, evaluated as it is; one with a width that depends on data must be fitted.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The points.
    y : array-like of shape (n_samples,)
        Their labels.

    Returns
    -------
    float
        In [-1, 1]; 0 for a kernel that is 0 everywhere.

    Raises
    ------
    ValueError
        If X and y do not match or the kernel does not take the points.

    References
    ----------
    N. Cristianini, J. Shawe-Taylor, A. Elisseeff, J. Kandola (2001), "On kernel-target
    alignment".

    Examples
    --------
    >>> from kernlearn.pairwise import kernel_target_alignment
    >>> kernel_target_alignment("linear", [[1.0], [1.0], [-1.0]], ["a", "a", "b"])
    1.0
    """
    kernel = as_kernel(kernel)
    X = X if hasattr(X, "shape") else np.asarray(X)
    labels = column_or_1d(y)
    check_consistent_length(X, labels)
    inner = squares = 0.0
    for rows in gen_batches(len(labels), max(1, _BLOCK_ELEMENTS // len(labels))):
        gram = np.asarray(kernel(X[rows], X), dtype=np.float64)
        inner += float(np.vdot(gram, pair_labels(labels[rows, None], labels, "product")))
        squares += float(np.vdot(gram, gram))
    return inner / (float(np.sqrt(squares)) * len(labels)) if squares else 0.0
