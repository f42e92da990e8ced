"""Estimators of other libraries on kernels of kernlearn."""

from copy import deepcopy
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.gaussian_process.kernels import Kernel as ProcessKernel
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from kernlearn.kernels import Kernel
from kernlearn.kernels.base import as_indexed, diagonal

_PREFIX = "kernel__"


class _AllPairs(ProcessKernel):
    """A fitted kernel that scikit-learn calls once for all pairs, and whose clones are fitted."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def __sklearn_clone__(self) -> Self:
        return type(self)(deepcopy(self.kernel))

    def __call__(self, X: Any, Y: Any = None, eval_gradient: bool = False) -> Any:
        gram = np.asarray(self.kernel(X, Y), dtype=np.float64)
        return (gram, np.empty((*gram.shape, 0))) if eval_gradient else gram

    def diag(self, X: Any) -> np.ndarray:
        values = diagonal(self.kernel, as_indexed(X, self.kernel.structured))
        return np.asarray(values, dtype=np.float64)

    def is_stationary(self) -> bool:
        return False

    @property
    def requires_vector_input(self) -> bool:
        return not self.kernel.structured


class OnKernel(BaseEstimator):
    """An estimator of another library whose kernel is one of kernlearn's.

    The kernel is fitted to the points that the estimator is fitted to. Its parameters are those of
    the estimator and, after ``kernel__``, of the kernel.

    Parameters
    ----------
    estimator : estimator object
        With a parameter ``kernel`` that may be callable.
    kernel : Kernel or other value
        Another value than a kernel is passed on as it is.
    """

    def __init__(self, estimator: Any, kernel: Any) -> None:
        self.estimator = estimator
        self.kernel = kernel

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        found = {"estimator": self.estimator, "kernel": self.kernel}
        if not deep:
            return found
        inner = self.kernel.get_params() if isinstance(self.kernel, Kernel) else {}
        found |= {f"{_PREFIX}{name}": value for name, value in inner.items()}
        return {**self.estimator.get_params(), **found}

    def set_params(self, **params: Any) -> Self:
        for name in ("estimator", "kernel"):
            if name in params:
                setattr(self, name, params.pop(name))
        inner = {name: value for name, value in params.items() if name.startswith(_PREFIX)}
        if inner:
            self.kernel.set_params(**{n.removeprefix(_PREFIX): v for n, v in inner.items()})
        self.estimator.set_params(**{n: v for n, v in params.items() if n not in inner})
        return self

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit the kernel, then the estimator with it."""
        self.estimator_ = self._with_kernel(
            clone(self.kernel).fit(X, y) if isinstance(self.kernel, Kernel) else self.kernel
        )
        self.estimator_.fit(X, y, **params)
        return self

    def _with_kernel(self, kernel: Any) -> Any:
        usable = _AllPairs(kernel) if isinstance(kernel, Kernel) else kernel
        return clone(self.estimator).set_params(kernel=usable)

    def __getattr__(self, name: str) -> Any:
        # methods for new points and fitted attributes; before `fit` those that it will have
        if name.startswith("__") or name in ("estimator", "estimator_", "fit_transform"):
            raise AttributeError(name)
        return getattr(self.__dict__.get("estimator_", self.estimator), name)

    def _validate_params(self) -> None:
        """Check the parameters of both parts."""
        if isinstance(self.kernel, Kernel):
            self.kernel._validate_params()
        validate_params(self._with_kernel(self.kernel))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)


def validate_params(estimator: Any) -> None:
    """Check the parameters of an estimator and of its parts, as far as they have constraints."""
    if isinstance(estimator, Pipeline):
        for _, step in estimator.steps:
            validate_params(step)
    # a user-defined estimator may declare no constraints
    elif hasattr(estimator, "_parameter_constraints") or isinstance(estimator, OnKernel):
        estimator._validate_params()
