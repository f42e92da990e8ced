"""Models for a grid of settings on the same training points."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ParameterGrid


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

    @property
    def n_support(self) -> NDArray[np.intp]:
        """Number of support vectors of each setting."""
        return np.array([int(np.sum(model.n_support_)) for model in self.models])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict labels by every classifier; shape (n_settings, n_samples)."""
        return np.array([model.predict(X) for model in self.models])


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
