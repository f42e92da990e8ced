"""Kernels composed of other kernels, and estimators of other libraries on a kernel."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import reduce
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_array, get_tags
from sklearn.utils.metaestimators import available_if

from kernlearn.kernels.base import Kernel, MatrixLike, diagonal
from kernlearn.kernels.functions import as_kernel


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


def _inverse_root(diagonal: np.ndarray) -> np.ndarray:
    if (diagonal < 0).any():
        raise ValueError(
            f"'kernel' must not be negative for a point and itself to be normalized, got "
            f"{diagonal.min()}"
        )
    roots = np.sqrt(diagonal)
    return np.divide(1, roots, out=np.zeros_like(roots), where=roots > 0)


_PREFIX = "kernel__"


def _passed_on(name: str) -> Any:
    """Return a method of the estimator, which is there where the estimator has it."""

    def method(self: Any, X: Any) -> Any:
        return getattr(self.estimator_, name)(self._rows(X))

    method.__name__ = name
    return available_if(lambda self: hasattr(self.estimator, name))(method)


class OnKernel(BaseEstimator):
    """An estimator that takes a precomputed kernel matrix, on a kernel of kernlearn.

    The kernel is fitted to the points that the estimator is fitted to. Its parameters are those
    of the estimator and, after ``kernel__``, of the kernel.

    Parameters
    ----------
    estimator : estimator object
        With a parameter ``kernel`` that may be "precomputed".
    kernel : Kernel or other value
        Another value than a kernel is passed on as it is.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {}  # those of both parts

    def __init__(self, estimator: Any, kernel: Any) -> None:
        self.estimator = estimator
        self.kernel = kernel

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        own = {"estimator": self.estimator, "kernel": self.kernel}
        if not deep:
            return own
        inner = self.kernel.get_params() if isinstance(self.kernel, Kernel) else {}
        of_kernel = {f"{_PREFIX}{name}": value for name, value in inner.items()}
        return {**self.estimator.get_params(), **of_kernel, **own}

    def set_params(self, **params: Any) -> Self:
        for name in ("estimator", "kernel"):
            if name in params:
                setattr(self, name, params.pop(name))
        inner = {name: params.pop(name) for name in [*params] if name.startswith(_PREFIX)}
        if inner:
            self.kernel.set_params(**{k.removeprefix(_PREFIX): v for k, v in inner.items()})
        self.estimator.set_params(**params)
        return self

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the kernel, then the estimator on its matrix."""
        kernel = clone(self.kernel).fit(X, y) if isinstance(self.kernel, Kernel) else None
        self.kernel_, self.points_ = kernel, None if kernel is None else X
        value = self.kernel if kernel is None else "precomputed"
        self.estimator_ = clone(self.estimator).set_params(kernel=value)
        self.estimator_.fit(self._rows(X), y)
        return self

    def _rows(self, X: Any) -> Any:
        """Return the values of the kernel at points and the training points."""
        if self.kernel_ is None:
            return X
        return self.kernel_(X) if X is self.points_ else self.kernel_(X, self.points_)

    predict = _passed_on("predict")
    predict_proba = _passed_on("predict_proba")
    decision_function = _passed_on("decision_function")
    transform = _passed_on("transform")

    @property
    def classes_(self) -> Any:
        return self.estimator_.classes_

    @property
    def n_support_(self) -> Any:
        return self.estimator_.n_support_

    def _validate_params(self) -> None:
        """Check the parameters of both parts."""
        if isinstance(self.kernel, Kernel):
            self.kernel._validate_params()
            clone(self.estimator).set_params(kernel="precomputed")._validate_params()
        else:
            clone(self.estimator).set_params(kernel=self.kernel)._validate_params()

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)
