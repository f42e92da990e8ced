"""Linear SVMs on random features for a grid of settings on the same training points."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from kernlearn.solvers import LinearSVM
from kernlearn.solvers.linear_svm import fit_each, trained_together
from kernlearn.solvers.svm_path import ModelPath, Setting, families_of, noting_convergence

if TYPE_CHECKING:
    from kernlearn.features.svm import MaclaurinSVM


class MaclaurinPath(ModelPath):
    """Fitted Maclaurin SVMs of all points of a grid; see :class:`ModelPath`.

    Those that differ in C alone have the same feature map.
    """

    @property
    def n_support(self) -> NDArray[np.intp]:
        """Number of weights of each setting, which are all used."""
        return np.array([model.svm_.coef_.size for model in self.models])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict labels by every classifier; shape (n_settings, n_samples).

        The features of a block of rows are computed once for all with the same map.
        """
        by_map: dict[int, list[int]] = {}
        for place, model in enumerate(self.models):
            by_map.setdefault(id(model.map_), []).append(place)
        predicted: list[Any] = [None] * len(self.models)
        X = validate_data(
            self.models[0], X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )
        for places in by_map.values():
            found: list[list[Any]] = [[] for _ in places]
            for _, features in self.models[places[0]].map_.transform_blocks(X):
                for labels, place in zip(found, places, strict=True):
                    labels.append(self.models[place].svm_.predict(features))
            for labels, place in zip(found, places, strict=True):
                predicted[place] = np.concatenate(labels)
        return np.array(predicted)


def follow_path(model: "MaclaurinSVM", X: Any, y: ArrayLike) -> MaclaurinPath:
    """Fit all combinations of the parameters that are lists.

    Those that differ in C alone have the same features; each is trained from its own start.
    """
    points, families = families_of(model)
    fitted: list[Any] = [None] * len(points)
    converged = np.ones(len(points), dtype=bool)
    for places in families:
        first = clone(model).set_params(**points[places[0]])
        rows, labels = validate_data(
            first, X, y, accept_sparse="csr", dtype=[np.float64, np.float32]
        )
        feature_map, svm = first.parts()
        features = feature_map.fit_transform(rows)
        together = trained_together(svm, features, labels)
        for some in [places] if together else [[place] for place in places]:
            with noting_convergence(converged, some):
                svms = fit_each(svm, features, labels, [points[i].get("C", model.C) for i in some])
            for place, one in zip(some, svms, strict=True):
                fitted[place] = _fitted(model, points[place], X, feature_map, one)
    return MaclaurinPath([Setting(point) for point in points], fitted, converged)


def _fitted(
    model: "MaclaurinSVM", point: dict[str, Any], X: Any, feature_map: Any, svm: LinearSVM
) -> "MaclaurinSVM":
    one = clone(model).set_params(**point)
    validate_data(one, X, skip_check_array=True)
    one.map_, one.svm_, one.classes_ = feature_map, svm, svm.classes_
    return one
