"""A linear function that ranks points of two classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from numbers import Integral
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

from kernlearn.pairwise.buffers import Buffer


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
                f"y holds the label {y[~known][0].item()!r}, which is not one of the classes "
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
        else:  # no pair yet, and w is 0: for the one class
            self.intercept_ = np.where(counts[1:] > 0, 1.0, -1.0)

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the scores ⟨w, x⟩ + b, by which points are ranked.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

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
            The rows.

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
    """Return the classes of some labels, or raise a ValueError unless there are two."""
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


_MAX_SEED = 2**31 - 1
# Bytes of rows that are made dense and float64 at a time.
_BLOCK = 2**23


@dataclass
class Reservoir:
    """A buffer with the points in it.

    Attributes
    ----------
    policy : Buffer
        Says which points are kept.
    rng : numpy.random.Generator
        Where its randomness comes from.
    rows : ndarray of shape (size, n_features)
        The points; those of empty slots mean nothing.
    codes : ndarray of shape (size,)
        Their classes, 0 or 1, and -1 for an empty slot. The first slots are taken first.
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
        """How many slots are taken."""
        return int(np.count_nonzero(self.codes >= 0))


class OnlineRanker(LinearRanker):
    """A linear function for two classes, learned from a stream."""

    _parameter_constraints: dict[str, list[Any]] = {
        "buffer_size": [Interval(Integral, 1, None, closed="left")],
        "buffer": [str, type, Buffer],
        "n_passes": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    buffer_size: int
    buffer: Any
    n_passes: int
    random_state: Any
    n_samples_seen_: int
    _class_sums: NDArray[np.float64]
    _class_counts: NDArray[np.int64]

    @abstractmethod
    def _start(self, n_features: int, rng: np.random.RandomState) -> None:
        """Forget everything; what is random is seeded by `rng`."""

    @abstractmethod
    def _learn(self, X: NDArray[np.float64], codes: NDArray[np.int64]) -> None:
        """Learn from some points, and add them to the sums of their classes."""

    @abstractmethod
    def _weights(self) -> NDArray[np.float64]:
        """Return w, shape (n_features,)."""

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn anew, from rows in the order in which they are given.

        Nothing is shuffled: rows sorted by class make a stream from which little is learned.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels, numbers or strings, of two classes.

        Returns
        -------
        self
            The estimator itself.

        Raises
        ------
        ValueError
            If there are not two classes, X holds NaN or infinity, or the weights grow beyond
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
        """Go on learning, from the next rows of the stream, one or more.

        However a stream is cut into calls, the result is the same.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels; they may be of one class.
        classes : array-like of shape (2,), default=None
            Both labels. Needed in the first call.

        Returns
        -------
        self
            The estimator itself.

        Raises
        ------
        ValueError
            If `classes` is missing in the first call, is not of two labels or not those of
            before, if y holds another label, if X has another number of features than before,
            or NaN or infinity, in which cases what was learned before stays; or if the weights
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
        for rows, where in _dense_blocks(X):
            self._learn(rows, codes[where])
            self._class_counts += np.bincount(codes[where], minlength=2)
            self.n_samples_seen_ += len(rows)

    def _finish(self) -> Self:
        w = self._weights()
        if not np.isfinite(w).all():
            raise ValueError(
                f"the weights grew beyond all bounds within {self.n_samples_seen_} points: "
                "scale the features, or take smaller steps, a smaller radius or a loss that "
                "grows more slowly"
            )
        self._set_linear(w, self._class_sums, self._class_counts)
        return self


def new_reservoir(policy: Buffer, n_features: int, rng: np.random.RandomState) -> Reservoir:
    """Return an empty buffer whose randomness is seeded by the next number of `rng`."""
    return Reservoir(policy, np.random.default_rng(rng.randint(_MAX_SEED)), n_features)


def _dense_blocks(X: Any) -> Iterator[tuple[NDArray[np.float64], slice]]:
    n_rows = max(1, _BLOCK // (8 * X.shape[1]))
    for start in range(0, X.shape[0], n_rows):
        where = slice(start, min(start + n_rows, X.shape[0]))
        block = X[where]
        if sparse.issparse(block):
            block = block.toarray()
        yield np.ascontiguousarray(block, dtype=np.float64), where
