"""The bilinear similarity of a matrix, as learners of similarities give it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics.pairwise import check_pairwise_arrays
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_array

from kernlearn.kernels._base import Kernel
from kernlearn.kernels._typing import MatrixLike


class BilinearSimilarity(Kernel):
    r"""The bilinear similarity :math:`x^\top W x'` of a matrix W.

    Positive semi-definite if W is; symmetric in x and x' if W is.

    Parameters
    ----------
    matrix : array-like of shape (n_features, n_features)
        The matrix W.

    References
    ----------
    Kar (2013), section 6.6.3, "linear kernel learning".

    Examples
    --------
    >>> from kernlearn.kernels import BilinearSimilarity
    >>> BilinearSimilarity([[1.0, 0.0], [0.0, -1.0]])([[2.0, 1.0]], [[3.0, 4.0]])
    array([[2.]])
    """

    _parameter_constraints: dict[str, list[Any]] = {"matrix": ["array-like"]}

    def __init__(self, matrix: ArrayLike) -> None:
        self.matrix = matrix

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        """Evaluate the similarity on all pairs of rows of `X` and `Y` (`X` if None).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples_x, n_features)
            Left points.
        Y : {array-like, sparse matrix} of shape (n_samples_y, n_features), default=None
            Right points.

        Returns
        -------
        ndarray of shape (n_samples_x, n_samples_y)
            The matrix, float32 if both are, else float64.

        Raises
        ------
        ValueError
            If the points are not valid, or `matrix` is not square, not finite, or of another
            size than the points.
        """
        self._validate_params()
        X, Y = check_pairwise_arrays(X, Y)
        matrix = check_array(self.matrix, dtype=X.dtype, input_name="matrix")
        if matrix.shape != (X.shape[1], X.shape[1]):
            raise ValueError(
                f"'matrix' must have a row and a column for each of the {X.shape[1]} features "
                f"of X, got shape {matrix.shape}"
            )
        return safe_sparse_dot(safe_sparse_dot(X, matrix), Y.T, dense_output=True)
