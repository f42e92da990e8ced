"""Base class of kernels."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import gen_batches

_DIAGONAL_ROWS = 32  # rows in a block of which all pairs are evaluated for the diagonal

#: An array-like or a scipy sparse matrix or array; scipy has no static types for the latter.
MatrixLike: TypeAlias = Any


class Kernel(BaseEstimator, ABC):
    """Base class of kernels: functions of two points, evaluated on all pairs of rows.

    Parameters follow scikit-learn's conventions, so that ``get_params``, ``set_params``
    (``kernel__degree``), ``clone`` and ``repr`` work. A subclass needs only ``__call__``,
    and ``fit`` with ``data_dependent`` if a parameter is estimated from data.

    A kernel whose parameters do not depend on data may be passed to scikit-learn's estimators, as
    ``SVC(kernel=GaussianKernel(sigma=2.0))``. Those that call a kernel with two vectors instead of
    two matrices, such as ``KernelRidge``, get a number; :class:`GaussianProcessKernel` is faster
    there.

    Attributes
    ----------
    structured : bool
        Whether points may be strings, sets or other objects instead of rows of a matrix.
    mixed : bool
        Whether rows of a matrix may hold texts and missing entries beside numbers.
    missing : bool
        Whether entries of a matrix of numbers may be missing, NaN.
    columnwise : bool
        Whether each value is computed from its two points alone. Values by a matrix product
        depend in the last digit on the points evaluated together.
    evaluations : int or None
        Number of pairs compared since the kernel was fitted, of a kernel that counts them itself;
        None for one all of whose values count.
    fit_evaluations : int
        Number of pairs compared by `fit`, of a kernel that does not count itself.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.kernels import Kernel
    >>> class Overlap(Kernel):
    ...     '''The number of coordinates that two points have in common.'''
    ...
    ...     def __call__(self, X, Y=None):
    ...         Y = X if Y is None else Y
    ...         return (np.asarray(X)[:, None] == np.asarray(Y)[None]).sum(axis=2)
    >>> Overlap()([[1, 2, 3], [1, 2, 4]], [[1, 2, 4]]).tolist()
    [[2], [3]]
    """

    _parameter_constraints: dict[str, list[Any]] = {}
    structured: bool = False
    mixed: bool = False
    missing: bool = False
    columnwise: bool = False
    evaluations: int | None = None
    fit_evaluations: int = 0
    # whether two vectors of numbers are two points; for a user-defined function they are not
    _compares_vectors: bool = True

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__call__" in vars(cls):
            cls.__call__ = _of_vectors_too(cls.__call__)  # type: ignore[method-assign]

    @property
    def data_dependent(self) -> bool:
        """Whether ``fit`` has to be called before the kernel can be evaluated."""
        return False

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Estimate the parameters that depend on data, if any.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points.
        y : None
            Ignored.

        Returns
        -------
        self : object
            Fitted kernel.

        Raises
        ------
        ValueError
            If a parameter is not valid, or cannot be estimated from these points.
        """
        self._validate_params()
        return self

    def fitted_to(
        self, X: MatrixLike, y: object = None, names: Sequence[str] | None = None
    ) -> "Kernel":
        """Return a copy that is fitted to points, or this kernel if it learns nothing from them.

        `names` are those of the columns of X, if these have any.
        """
        return clone(self).fit(X, y) if self.data_dependent else self

    def forget(self) -> None:
        """Give up what is kept while an estimator is fitted."""

    @abstractmethod
    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        """Evaluate the kernel on all pairs of rows of `X` and `Y` (`X` if None).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples_x, n_features)
            Left points.
        Y : {array-like, sparse matrix} of shape (n_samples_y, n_features), default=None
            Right points.

        Returns
        -------
        ndarray of shape (n_samples_x, n_samples_y)
            Kernel matrix, float32 if both matrices are, otherwise float64.

        Raises
        ------
        ValueError
            If a parameter or the data are not valid.
        """


#: Of a kernel that is called before it has learnt from points; `check_is_fitted` has its name.
NOT_FITTED = (
    "%(name)s learns from the points and is not fitted yet: call fit(X), or give its parameters "
    "as numbers. Estimators of kernlearn fit it themselves; those of scikit-learn take it as "
    "GaussianProcessKernel(kernel.fit(X))"
)


def _of_vectors_too(call: Callable[..., np.ndarray]) -> Callable[..., Any]:
    """Let the ``__call__`` of a kernel return a number for two vectors of numbers."""

    @wraps(call)
    def compare(self: Kernel, X: Any, Y: Any = None) -> Any:
        if not (_is_vector(X) and _is_vector(Y) and self._compares_vectors) or self.structured:
            return call(self, X, Y)
        return call(self, X[np.newaxis], Y[np.newaxis])[0, 0]

    return compare


def _is_vector(points: Any) -> bool:
    return isinstance(points, np.ndarray) and points.ndim == 1 and points.dtype.kind in "biuf"


def diagonal(
    kernel: Callable[[Any, Any], np.ndarray], X: Any, n_rows: int | None = None
) -> np.ndarray:
    """Return K(x, x) for each row x, from all pairs of `n_rows` rows at a time, 32 if None."""
    blocks = gen_batches(X.shape[0], n_rows or _DIAGONAL_ROWS)
    return np.concatenate([np.asarray(kernel(X[rows], X[rows])).diagonal() for rows in blocks])
