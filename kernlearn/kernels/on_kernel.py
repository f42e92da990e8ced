"""Estimators of other libraries on kernels of kernlearn."""

from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if

from kernlearn.kernels.base import Kernel

_PREFIX = "kernel__"


def _has(method: str) -> Any:
    """Return what offers a method only where the estimator has it."""
    return available_if(lambda self: hasattr(self.estimator, method))


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

    @_has("predict")
    def predict(self, X: Any) -> Any:
        return self.estimator_.predict(self._rows(X))

    @_has("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        return self.estimator_.predict_proba(self._rows(X))

    @_has("decision_function")
    def decision_function(self, X: Any) -> Any:
        return self.estimator_.decision_function(self._rows(X))

    @_has("transform")
    def transform(self, X: Any) -> Any:
        return self.estimator_.transform(self._rows(X))

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
