"""Kernel SVMs for a grid of settings on the same training points."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ParameterGrid

from kernlearn.solvers.libsvm import pair_coefficients
from kernlearn.solvers.svm_training import Grams

if TYPE_CHECKING:
    from kernlearn.solvers.kernel_svm import KernelSVM

_BELOW = 1 - 1e-6  # share of C below which a coefficient is not at its bound


@dataclass(frozen=True)
class Setting:
    """One point of the grid."""

    params: dict[str, Any]


@dataclass(frozen=True)
class ModelPath:
    """Fitted classifiers of all points of a grid.

    Attributes
    ----------
    settings : list of Setting
        In the order of :class:`sklearn.model_selection.ParameterGrid`.
    models : list of estimator
        The classifier of each setting.
    converged : ndarray of shape (n_settings,)
        Whether its solver converged.
    """

    settings: list[Setting]
    models: list[Any]
    converged: NDArray[np.bool_]


class SVMPath(ModelPath):
    """Fitted kernel SVMs of all points of a grid; see :class:`ModelPath`."""

    @property
    def n_support(self) -> NDArray[np.intp]:
        """Number of support vectors of each setting."""
        return np.array([int(model.n_support_.sum()) for model in self.models])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict labels by every classifier; shape (n_settings, n_samples).

        Each kernel is evaluated once, with the support vectors of all classifiers that have it.
        """
        families: dict[str, list[int]] = {}
        for place, model in enumerate(self.models):
            kernel = repr((model._native_kernel, model.kernel_))
            families.setdefault(kernel, []).append(place)
        labels: list[Any] = [None] * len(self.models)
        for places in families.values():
            models = [self.models[place] for place in places]
            for place, values in zip(places, _pair_values(models, X), strict=True):
                labels[place] = self.models[place]._decide(values)
        return np.array(labels)


def _pair_values(models: list["KernelSVM"], X: Any) -> list[NDArray[np.float64]]:
    """Return the decision values of each of the classifiers, which have the same kernel."""
    first = models[0]
    X = first._check_rows(X)
    together, places = np.unique(
        np.concatenate([model.support_ for model in models]), return_index=True
    )
    vectors = None
    if not first._precomputed:
        stack = sparse.vstack if sparse.issparse(X) else np.concatenate
        vectors = stack([model.support_vectors_ for model in models])[places]
    coefficients = [pair_coefficients(model.dual_coef_, model.n_support_) for model in models]
    columns = [np.searchsorted(together, model.support_) for model in models]
    values = [np.empty((X.shape[0], c.shape[1])) for c in coefficients]
    for batch, block in first._blocks(X, together, vectors):
        for found, used, of_model in zip(values, columns, coefficients, strict=True):
            found[batch] = block[:, used] @ of_model
    return [found + model.intercept_ for found, model in zip(values, models, strict=True)]


@contextmanager
def noting_convergence(converged: NDArray[np.bool_], places: Any) -> Iterator[None]:
    """Note at some places if a solver in the block does not converge; warnings are given again."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for one in caught:
        if issubclass(one.category, ConvergenceWarning):
            converged[places] = False
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)


def families_of(model: Any) -> tuple[list[dict[str, Any]], list[list[int]]]:
    """Return all combinations of the parameters that are lists, and which differ in C alone.

    Those in the model's `path_excludes` are single values, even if these are lists.

    Returns
    -------
    points : list of dict
        In the order of :class:`sklearn.model_selection.ParameterGrid`.
    families : list of list of int
        Places of points that differ in C alone.
    """
    lists = {
        name: list(values)
        for name, values in model.get_params(deep=False).items()
        if name not in model.path_excludes and isinstance(values, (list, tuple, np.ndarray))
    }
    points = list(ParameterGrid(lists))
    families: dict[str, list[int]] = {}
    for place, point in enumerate(points):
        rest = {name: value for name, value in point.items() if name != "C"}
        families.setdefault(repr(rest), []).append(place)
    return points, list(families.values())


def follow_path(model: "KernelSVM", X: Any, y: ArrayLike) -> SVMPath:
    """Fit all combinations of the parameters that are lists.

    If no coefficient is at the bound for some C, its solution is the one for any greater C.
    """
    points, families = families_of(model)
    fitted: list[Any] = [None] * len(points)
    converged = np.ones(len(points), dtype=bool)
    grams = Grams()
    for places in families:
        before = None
        for place in sorted(places, key=lambda i: points[i].get("C", 0.0)):
            if before is not None and converged[before] and _is_unbounded(fitted[before]):
                fitted[place] = copy(fitted[before]).set_params(**points[place])
                continue
            with noting_convergence(converged, place):
                fitted[place] = clone(model).set_params(**points[place])._fit(X, y, None, grams)
            before = place
    return SVMPath([Setting(point) for point in points], fitted, converged)


def _is_unbounded(model: "KernelSVM") -> bool:
    """Whether all coefficients are below C, so that a greater C changes nothing."""
    return model.class_weight is None and bool(
        np.abs(model.dual_coef_).max(initial=0.0) < _BELOW * model.C
    )
