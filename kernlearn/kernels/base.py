"""Base class of kernels, and kernels from names, functions and fitted kernels."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass
from functools import reduce, wraps
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, gen_batches

from kernlearn.constraints import StrOptions
from kernlearn.kernels.registry import KERNELS

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
    columnwise : bool
        Whether each value is computed from its two points alone. Values by a matrix product
        depend in the last digit on the points evaluated together.
    """

    _parameter_constraints: dict[str, list[Any]] = {}
    structured: bool = False
    mixed: bool = False
    columnwise: bool = False
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


@dataclass(eq=False, repr=False)
class CallableKernel(Kernel):
    """A kernel from a function, of two matrices or of two points.

    Parameters
    ----------
    function : callable
        Function of (X, Y) that returns an array of shape (n_samples_x, n_samples_y), or of two
        points, rows of a matrix or objects, that returns a number. The latter is called once for
        each pair.
    takes : {"auto", "matrices", "points"}, default="auto"
        What the function takes. With "auto" it is given matrices; where it fails, or returns
        something else than a matrix of the right shape, and returns a number for two points, it
        is a function of two points.

    Examples
    --------
    >>> from kernlearn.kernels import CallableKernel
    >>> CallableKernel(lambda X, Y: X @ Y.T)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    >>> CallableKernel(lambda x, y: -abs(x - y).max())([[1.0, 2.0]], [[3.0, 4.0], [1.0, 1.0]])
    array([[-2., -1.]])
    """

    function: Callable[[Any, Any], ArrayLike]
    _: KW_ONLY
    takes: str = "auto"

    columnwise = True
    _compares_vectors = False
    _parameter_constraints = {
        "function": [callable],
        "takes": [StrOptions({"auto", "matrices", "points"})],
    }

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        self._validate_params()
        X = X if hasattr(X, "shape") else np.asarray(X)
        Y = X if Y is None else Y if hasattr(Y, "shape") else np.asarray(Y)
        if self.takes == "points":
            return self._of_points(X, Y)
        try:
            gram = np.asarray(self.function(X, Y))
        except Exception:
            if self.takes == "matrices" or not self._takes_points(X, Y):
                raise
            return self._of_points(X, Y)
        expected = (X.shape[0], Y.shape[0])
        by_chance = gram.shape == expected and self._by_chance(X, Y)
        if gram.shape == expected and not by_chance:
            return gram
        if by_chance or (self.takes == "auto" and gram.ndim != 2 and self._takes_points(X, Y)):
            return self._of_points(X, Y)
        raise ValueError(
            f"'function' returned an array of shape {gram.shape}; for these X and Y it must "
            f"be {expected}, one row per row of X and one column per row of Y, or the function "
            "must take two points and return a number"
        )

    def _of_points(self, X: Any, Y: Any) -> np.ndarray:
        left, right = _points(X), _points(Y)
        values = [[self.function(x, y) for y in right] for x in left]
        gram = np.asarray(values).reshape(len(left), len(right), -1)
        if gram.shape[2] != 1 or gram.dtype.kind not in "biuf":
            raise ValueError("'function' must return a number for two points")
        return gram[:, :, 0]

    def _takes_points(self, X: Any, Y: Any) -> bool:
        """Whether the function returns a number for two points."""
        try:
            value = np.asarray(self.function(_points(X[:1])[0], _points(Y[:1])[0]))
        except Exception:
            return False
        return value.ndim == 0 and value.dtype.kind in "biuf"

    def _by_chance(self, X: Any, Y: Any) -> bool:
        """Whether a function of points, such as x @ y, gives a matrix of the right shape."""
        if self.takes == "matrices" or len(Y.shape) != 2 or Y.shape[0] != Y.shape[1]:
            return False
        try:
            value = np.asarray(self.function(X[:1], Y[:1]))
        except Exception:
            return self._takes_points(X, Y)
        return value.shape != (1, 1) and self._takes_points(X, Y)


def _points(X: Any) -> list[Any]:
    """Return the points of a matrix or a sequence."""
    return list(X.toarray()) if sparse.issparse(X) else list(X)


def as_kernel(
    spec: str | Kernel | Callable[[Any, Any], ArrayLike], name: str = "kernel"
) -> Kernel:
    """Convert a name, a kernel or a function to a kernel.

    Parameters
    ----------
    spec : str, Kernel or callable
        A name in `KERNELS`, for that kernel with its default parameters; a kernel, which is
        returned unchanged; or a callable of two matrices or two points, see
        :class:`CallableKernel`. Kernels with a width
        ("exponential", "gaussian", "laplacian") estimate it by the mean distance of the points
        that they are fitted to.
    name : str, default="kernel"
        Name of the parameter, for error messages.

    Returns
    -------
    Kernel

    Raises
    ------
    ValueError
        If `spec` is an unknown name or none of the three.

    Examples
    --------
    >>> from kernlearn.kernels import as_kernel
    >>> as_kernel("polynomial")
    PolynomialKernel()
    """
    if isinstance(spec, Kernel):
        return spec
    # The coefficients of a dot-product kernel have no default.
    names = sorted(KERNELS.keys() - {"dot_product"})
    if isinstance(spec, str) and spec in names:
        return KERNELS[spec].load()()
    if callable(spec):
        return CallableKernel(spec)
    raise ValueError(
        f"{name!r} must be one of {', '.join(map(repr, names))}, a kernel object, or a function "
        f"of two matrices or two points, got {spec!r}"
    )


class _OfFittedKernels(Kernel):
    """A kernel composed of kernels that are already fitted, which `sklearn.base.clone` keeps."""

    def __sklearn_clone__(self) -> Self:
        return type(self)(**deepcopy(self.get_params(deep=False)))


@dataclass(eq=False, repr=False)
class WeightedKernelSum(_OfFittedKernels):
    r"""The kernel :math:`\sum_i \mu_i K_i`, which is a Mercer kernel where all K_i are.

    Parameters
    ----------
    kernels : sequence of str, Kernel or callable
        The kernels K_i: names, objects or functions of two matrices. They are not fitted: one
        with a width that depends on data must be fitted before.
    weights : array-like of shape (n_kernels,)
        The weights μ, finite and not negative. A kernel of weight 0 is not evaluated.

    References
    ----------
    Kar (2013), section 6.6.4.

    Examples
    --------
    >>> from kernlearn.kernels import GaussianKernel, WeightedKernelSum
    >>> kernel = WeightedKernelSum(["linear", GaussianKernel(sigma=1.0)], [0.25, 0.75])
    >>> kernel([[1.0, 2.0]])
    array([[2.]])
    """

    kernels: Sequence[str | Kernel | Callable[[Any, Any], ArrayLike]]
    weights: ArrayLike

    _parameter_constraints = {"kernels": ["array-like"], "weights": ["array-like"]}

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        self._validate_params()
        kernels = [as_kernel(kernel, "kernels") for kernel in self.kernels]
        weights = check_array(
            self.weights, ensure_2d=False, dtype=np.float64, input_name="weights"
        )
        if not kernels or weights.shape != (len(kernels),):
            raise ValueError(
                f"'weights' must hold one number for each of the {len(kernels)} kernels (one at "
                f"least), got shape {weights.shape}"
            )
        if (weights < 0).any():
            raise ValueError(
                f"'weights' must not be negative, or the sum of Mercer kernels need not be one, "
                f"got {weights.min()}"
            )
        # If no weight is positive, one kernel is evaluated for shape and dtype.
        used = np.flatnonzero(weights) if weights.any() else [0]
        terms = (np.asarray(kernels[i](X, Y)) * float(weights[i]) for i in used)
        return reduce(np.add, terms)


@dataclass(eq=False, repr=False)
class NormalizedKernel(_OfFittedKernels):
    r"""The kernel :math:`K(x, x') / \sqrt{K(x, x) K(x', x')}`, with values in [-1, 1].

    A point with K(x, x) = 0 has similarity 0 to all points, including itself.

    Parameters
    ----------
    kernel : str, Kernel or callable
        A Mercer kernel K: a name, an object or a function of two matrices. It is not fitted: one
        with a width that depends on data must be fitted before.

    Examples
    --------
    >>> from kernlearn.kernels import NormalizedKernel, PolynomialKernel
    >>> NormalizedKernel(PolynomialKernel(degree=2))([[0.0, 1.0]], [[3.0, 4.0]]).round(6)
    array([[0.480769]])
    """

    kernel: str | Kernel | Callable[[Any, Any], ArrayLike]

    _parameter_constraints = {"kernel": [str, Kernel, callable]}

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        self._validate_params()
        kernel = as_kernel(self.kernel)
        X = X if hasattr(X, "shape") else np.asarray(X)
        if Y is not None and not hasattr(Y, "shape"):
            Y = np.asarray(Y)
        gram = np.asarray(kernel(X, Y))
        if Y is None:
            left = right = _inverse_root(gram.diagonal())
        else:
            left, right = (_inverse_root(diagonal(kernel, points)) for points in (X, Y))
        return gram * left[:, None] * right


def diagonal(kernel: Kernel, X: Any, n_rows: int | None = None) -> np.ndarray:
    """Return K(x, x) for each row x, from all pairs of `n_rows` rows at a time, 32 if None."""
    blocks = gen_batches(X.shape[0], n_rows or _DIAGONAL_ROWS)
    return np.concatenate([np.asarray(kernel(X[rows], X[rows])).diagonal() for rows in blocks])


def _inverse_root(diagonal: np.ndarray) -> np.ndarray:
    if (diagonal < 0).any():
        raise ValueError(
            f"'kernel' must not be negative for a point and itself to be normalized, got "
            f"{diagonal.min()}"
        )
    roots = np.sqrt(diagonal)
    return np.divide(1, roots, out=np.zeros_like(roots), where=roots > 0)
