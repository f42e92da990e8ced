"""Base of the classifiers from moments: labels, scores and predictions."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from kernlearn.datasets.partitions import is_dask
from kernlearn.onepass.base import OnePassModel
from kernlearn.onepass.exact_sums import Floats
from kernlearn.sample_weights import places


class OnePassClassifier(ClassifierMixin, OnePassModel):
    """A linear classifier of features, from moments with an indicator of each class as target."""

    #: Whether the moments of each class are gathered.
    _by_class: Any = False

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array, Dask data frame} of shape \
                (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes one score, above 0 for ``classes_[1]``. For a Dask collection a lazy
            Dask array.
        """
        check_is_fitted(self)
        if is_dask(X):
            n_scores = len(self.intercept_)
            like = np.empty(0) if n_scores == 1 else np.empty((0, n_scores))
            return self._lazily("decision_function", X, like)
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array, Dask data frame} of shape \
                (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            For a Dask collection a lazy Dask array.
        """
        check_is_fitted(self)
        if is_dask(X):
            return self._lazily("predict", X, self.classes_[:0])
        scores = self.decision_function(X)
        codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes]

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes."""
        return self._moments.layout.classes  # type: ignore[return-value]

    @property
    def class_counts_(self) -> NDArray[np.int64]:
        """Number of rows of each class."""
        return self._all_sums().target_first.astype(np.int64)

    @property
    def class_means_(self) -> Floats:
        """Mean of the features of each class."""
        sums = self._all_sums()
        with np.errstate(invalid="ignore", divide="ignore"):
            means = (sums.cross / sums.target_first).T
        return means + self._moments.layout.features.centers

    def _all_sums(self) -> Any:
        return self._moments.sums(self._groups(range(self.n_folds)))

    def _check_targets(self, y: Any, *, reset: bool) -> NDArray[Any]:
        labels = column_or_1d(y, warn=True)
        if labels.dtype.kind == "f" and not np.isfinite(labels).all():
            raise ValueError("Input y contains NaN or infinity.")
        check_classification_targets(labels)
        return labels

    def _check_first(self, classes: Any) -> None:
        if classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")

    def _check_classes(self, classes: Any) -> None:
        if not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, "
                f"was: {self.classes_!r}"
            )

    def _layout_options(self, y: Any, classes: Any) -> dict[str, Any]:
        found = np.unique(y if classes is None else np.asarray(classes))
        if len(found) < 2:
            raise ValueError(
                f"there must be at least two classes, but there is one class: {found.tolist()}"
            )
        return {"classes": found, "by_class": bool(self._by_class)}

    def _multiples(self, y: NDArray[Any]) -> tuple[Floats, NDArray[np.intp]]:
        codes = places(self.classes_, y)
        wrong = self.classes_[codes] != y
        if wrong.any():
            raise ValueError(
                f"y contains the label {y[wrong][0].item()!r}, which is not one of the classes "
                f"{self.classes_.tolist()}; {int(wrong.sum())} of the {len(y)} rows of this chunk "
                "have such labels, and none of the chunk was added"
            )
        return np.eye(len(self.classes_))[codes], codes
