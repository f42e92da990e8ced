"""Kernel SVMs for a grid of settings on the same training points."""

import warnings
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ParameterGrid

from kernlearn.solvers.svm_training import Grams

if TYPE_CHECKING:
    from kernlearn.solvers.kernel_svm import KernelSVM

_BELOW = 1 - 1e-6  # share of C below which a coefficient is not at its bound


@dataclass(frozen=True)
class Setting:
    """One point of the grid."""

    params: dict[str, Any]


@dataclass(frozen=True)
class SVMPath:
    """Fitted classifiers of all points of a grid.

    Attributes
    ----------
    settings : list of Setting
        In the order of :class:`sklearn.model_selection.ParameterGrid`.
    models : list of KernelSVM
        The classifier of each setting.
    converged : ndarray of shape (n_settings,)
        Whether its solver converged.
    """

    settings: list[Setting]
    models: list["KernelSVM"]
    converged: NDArray[np.bool_]

    @property
    def n_support(self) -> NDArray[np.intp]:
        """Number of support vectors of each setting."""
        return np.array([int(model.n_support_.sum()) for model in self.models])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict labels by every classifier; shape (n_settings, n_samples)."""
        return np.array([model.predict(X) for model in self.models])


def follow_path(model: "KernelSVM", X: Any, y: ArrayLike) -> SVMPath:
    """Fit all combinations of the parameters that are lists.

    Each value of C starts anew, unless no coefficient is at the bound for a smaller C: then that
    solution is the one for any greater C.
    """
    lists = {
        name: list(values)
        for name, values in model.get_params(deep=False).items()
        if name != "class_weight" and isinstance(values, (list, tuple, np.ndarray))
    }
    points = list(ParameterGrid(lists))
    families: dict[str, list[int]] = {}
    for place, point in enumerate(points):
        rest = {name: value for name, value in point.items() if name != "C"}
        families.setdefault(repr(rest), []).append(place)
    fitted: list[Any] = [None] * len(points)
    converged = np.ones(len(points), dtype=bool)
    grams = Grams()
    for places in families.values():
        before = None
        for place in sorted(places, key=lambda i: points[i].get("C", 0.0)):
            if before is not None and converged[before] and _is_unbounded(fitted[before]):
                fitted[place] = copy(fitted[before]).set_params(**points[place])
                continue
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                fitted[place] = clone(model).set_params(**points[place])._fit(X, y, None, grams)
            for one in caught:
                converged[place] &= not issubclass(one.category, ConvergenceWarning)
                warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
            before = place
    return SVMPath([Setting(point) for point in points], fitted, converged)


def _is_unbounded(model: "KernelSVM") -> bool:
    """Whether all coefficients are below C, so that a greater C changes nothing."""
    return model.class_weight is None and bool(
        np.abs(model.dual_coef_).max(initial=0.0) < _BELOW * model.C
    )
