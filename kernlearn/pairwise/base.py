"""Base classes of linear functions that rank points of two classes, and their buffers."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import (
    _check_partial_fit_first_call,
    check_classification_targets,
    type_of_target,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlearn.memory import row_blocks
from kernlearn.pairwise.buffers import Buffer
from kernlearn.pairwise.losses import PairwiseLoss

MAX_SEED = 2**31 - 1

#: Parameters of all learners with a buffer.
BUFFER_CONSTRAINTS: dict[str, list[Any]] = {
    "buffer_size": [Interval(Integral, 1, None, closed="left")],
    "buffer": [str, type, Buffer],
    "n_passes": [Interval(Integral, 1, None, closed="left")],
    "random_state": ["random_state"],
}
#: Parameters of the steps of algorithm 8.
STEP_CONSTRAINTS: dict[str, list[Any]] = {
    "eta": [Interval(Real, 0, None, closed="neither")],
    "radius": [Interval(Real, 0, None, closed="neither"), None],
    "loss": [str, PairwiseLoss, tuple, list],
    "regularization": [Interval(Real, 0, None, closed="left")],
    "average": ["boolean"],
}


class LinearRanker(ClassifierMixin, BaseEstimator):
    """Labels, scores and predictions of a linear function for two classes."""

    classes_: NDArray[Any]
    coef_: NDArray[np.float64]
    intercept_: NDArray[np.float64]
    n_features_in_: int

    def _validate(self, X: Any, y: Any, reset: bool) -> tuple[Any, NDArray[Any]]:
        X, y = validate_data(
            self, X, y, reset=reset, accept_sparse="csr", dtype=[np.float64, np.float32]
        )
        check_classification_targets(y)
        return X, y

    def _codes(self, y: NDArray[Any]) -> NDArray[np.int64]:
        known = np.isin(y, self.classes_)
        if not known.all():
            raise ValueError(
                f"y contains the label {y[~known][0].item()!r}, which is not one of the classes "
                f"{self.classes_.tolist()}"
            )
        return (y == self.classes_[1]).astype(np.int64)

    def _set_linear(
        self, w: NDArray[np.float64], sums: NDArray[np.float64], counts: NDArray[np.int64]
    ) -> None:
        """Set the weights, and the threshold midway between the means of both classes."""
        self.coef_ = w.reshape(1, -1)
        if counts.all():
            self.intercept_ = -(self.coef_ @ (sums / counts[:, np.newaxis]).mean(axis=0))
        else:  # no pair yet and w = 0: predict the one class
            self.intercept_ = np.where(counts[1:] > 0, 1.0, -1.0)

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the scores ⟨w, x⟩ + b, by which points are ranked.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples,)
            The higher, the more likely the class ``classes_[1]``. b has no influence on the
            AUC.
        """
        check_is_fitted(self)
        X = validate_data(
            self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32]
        )
        return (safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_).ravel()

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class ``classes_[1]`` where the score is above 0, else ``classes_[0]``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(np.intp)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags


def two_classes(y: Any) -> NDArray[Any]:
    """Return the classes of labels; raise a ValueError unless there are two."""
    classes = np.unique(y)
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(y)}, with {len(classes)} classes."
        )
    if len(classes) < 2:
        raise ValueError(
            f"there must be two classes, but there is one class: {classes.tolist()}; "
            "a stream that may start with one class is for partial_fit"
        )
    return classes


def divergence(place: str) -> ValueError:
    """Return the error for weights that are not finite."""
    return ValueError(
        f"the weights grew beyond all bounds {place}: scale the features, or take smaller steps, "
        "a smaller radius or a loss that grows more slowly"
    )


@dataclass
class Reservoir:
    """A buffer policy with the points that it keeps.

    Attributes
    ----------
    policy : Buffer
    rng : numpy.random.Generator
        The source of the policy's randomness.
    rows : ndarray of shape (size, n_features)
        The points; undefined for empty slots.
    codes : ndarray of shape (size,)
        Their classes, and -1 for an empty slot. Slots are filled in order.
    """

    policy: Buffer
    rng: np.random.Generator
    n_features: int
    rows: NDArray[np.float64] = field(init=False)
    codes: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        self.rows = np.zeros((self.policy.size, self.n_features))
        self.codes = np.full(self.policy.size, -1, dtype=np.int64)

    @property
    def n_kept(self) -> int:
        """The number of filled slots."""
        return int(np.count_nonzero(self.codes >= 0))


def new_reservoir(policy: Buffer, n_features: int, rng: np.random.RandomState) -> Reservoir:
    """Return an empty buffer whose randomness is seeded by the next number of `rng`."""
    return Reservoir(policy, np.random.default_rng(rng.randint(MAX_SEED)), n_features)


class OnlineRanker(LinearRanker):
    """A linear function for two classes, learned from a stream."""

    _parameter_constraints: dict[str, list[Any]] = BUFFER_CONSTRAINTS

    buffer_size: int
    buffer: Any
    n_passes: int
    random_state: Any
    n_samples_seen_: int
    _class_sums: NDArray[np.float64]
    _class_counts: NDArray[np.int64]

    @abstractmethod
    def _start(self, n_features: int, rng: np.random.RandomState) -> None:
        """Reset; seeds are drawn from `rng`."""

    @abstractmethod
    def _learn(self, X: NDArray[np.float64], codes: NDArray[np.int64]) -> None:
        """Learn from some points, and add them to the sums of their classes."""

    @abstractmethod
    def _weights(self) -> NDArray[np.float64]:
        """Return w, shape (n_features,)."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from scratch, from points in the given order.

        Nothing is shuffled: rows sorted by class make a stream from which little is learned.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The points.
        y : array-like of shape (n_samples,)
            Their labels, numbers or strings, of two classes.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If there are not two classes, X contains NaN or infinity, or the weights grow beyond
            all bounds.
        """
        X, y = self._validate(X, y, reset=True)
        self.classes_ = two_classes(y)
        self._begin()
        codes = self._codes(y)
        for _ in range(self.n_passes):
            self._feed(X, codes)
        return self._finish()

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Continue with the next points of the stream, one or more.

        The result does not depend on how a stream is divided into calls.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The points.
        y : array-like of shape (n_samples,)
            Their labels; they may be of one class.
        classes : array-like of shape (2,), default=None
            Both labels. Required in the first call.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If `classes` is missing in the first call, is not of two labels or not those of
            before, if y contains another label, if X has another number of features than before,
            or NaN or infinity, all of which leave the estimator unchanged; or if the weights
            grow beyond all bounds.
        """
        first = not hasattr(self, "_class_sums")
        X, y = self._validate(X, y, reset=first)
        if classes is not None:
            classes = two_classes(np.asarray(classes))
        _check_partial_fit_first_call(self, classes)
        try:
            codes = self._codes(y)
            if first:
                self._begin()
        except ValueError:
            if first:
                del self.classes_
            raise
        self._feed(X, codes)
        return self._finish()

    def _begin(self) -> None:
        self._start(self.n_features_in_, check_random_state(self.random_state))
        self.n_samples_seen_ = 0
        self._class_sums = np.zeros((2, self.n_features_in_))
        self._class_counts = np.zeros(2, dtype=np.int64)

    def _feed(self, X: Any, codes: NDArray[np.int64]) -> None:
        for part in row_blocks(*X.shape):
            rows = X[part].toarray() if sparse.issparse(X) else X[part]
            rows = np.ascontiguousarray(rows, dtype=np.float64).view()
            rows.flags.writeable = False  # one compiled version for all, read-only input too
            self._learn(rows, codes[part])
            self._class_counts += np.bincount(codes[part], minlength=2)
            self.n_samples_seen_ += len(rows)

    def _finish(self) -> Self:
        w = self._weights()
        if not np.isfinite(w).all():
            raise divergence(f"within {self.n_samples_seen_} points")
        self._set_linear(w, self._class_sums, self._class_counts)
        return self
