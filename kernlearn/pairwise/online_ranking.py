"""Base of linear functions for two classes that are learned from a stream."""

from abc import abstractmethod
from collections.abc import Hashable
from math import exp, log
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import multiclass
from sklearn.utils.metaestimators import available_if

from kernlearn.constraints import StrOptions, fit_context
from kernlearn.item_models import ItemClassifier
from kernlearn.items import ItemFeatures, column_names, name_columns
from kernlearn.memory import row_blocks
from kernlearn.pairwise.buffers import Array
from kernlearn.pairwise.ranking import LinearRanker, linear_function, two_classes
from kernlearn.pairwise.stream import StreamLearner


def _calibrates(model: Any) -> bool:
    if model.calibration is None:
        raise AttributeError("probabilities need calibration='sigmoid'")
    return True


class OnlineRanker(ItemClassifier, LinearRanker, StreamLearner):
    """A linear function for two classes, learned from a stream."""

    _parameter_constraints: dict[str, list[Any]] = {
        **StreamLearner._parameter_constraints,
        "calibration": [StrOptions({"sigmoid"}), None],
    }

    calibration: str | None
    _class_sums: Array
    _class_counts: NDArray[np.int64]
    #: What is known of the scores of each class, see `score_steps.observe`.
    _link: Array
    _linear: tuple[Array, Array] | None

    @abstractmethod
    def _start(self, n_features: int) -> None:
        """Reset the weights and the buffers."""

    @abstractmethod
    def _learn(self, X: Array, codes: NDArray[np.int64]) -> None:
        """Learn from some points, and add them to the sums of their classes."""

    def _learn_rows(self, X: Any, codes: NDArray[np.int64]) -> bool:
        """Learn from sparse rows as they are, and return True; or return False."""
        return False

    @abstractmethod
    def _weights(self) -> Array: ...

    @abstractmethod
    def _mean_of_iterates(self) -> tuple[Array, Array, float, float]:
        """Return the weights as ``w, others, run, n``, see `score_steps.mean_score`."""

    @abstractmethod
    def _latest(self) -> Array:
        """Return numbers that are finite as long as the weights are."""

    @abstractmethod
    def _widen(self, n_features: int) -> None:
        """Give all arrays by feature another number of columns; new ones are 0."""

    @property
    def coef_(self) -> Array:
        """The weights."""
        return self._published()[0]

    @property
    def intercept_(self) -> Array:
        """The intercept."""
        return self._published()[1]

    def _published(self) -> tuple[Array, Array]:
        if not hasattr(self, "_class_sums"):
            name = type(self).__name__
            raise AttributeError(f"{name!r} has no coef_ and intercept_ before it is fitted")
        if self._linear is None:  # as items have come since
            self._linear = self._function()
        return self._linear

    def _function(self) -> tuple[Array, Array]:
        n = self.n_features_in_
        return linear_function(self._weights()[:n], self._class_sums[:, :n], self._class_counts)

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Continue with the next points of the stream, one or more.

        The result does not depend on how a stream is divided into calls, for sparse rows up to
        rounding.

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
        multiclass._check_partial_fit_first_call(self, classes)
        try:
            codes = self._codes(y)
            if first:
                self._begin(X, y, self.classes_)
        except ValueError:
            if first:
                del self.classes_
            raise
        if self._class_sums.shape[1] > self.n_features_in_:  # items left room for further ones
            self._set_width(self.n_features_in_)
        self._feed(X, codes)
        return self._finish()

    def _begin(self, X: Any, y: NDArray[Any], classes: NDArray[Any]) -> None:
        self._begin_stream(X.shape[1], classes)

    def _begin_stream(self, n_features: int, classes: NDArray[Any]) -> None:
        self.__dict__.pop("_items", None)
        self.classes_ = two_classes(classes)
        self._start(n_features)
        self.n_samples_seen_ = 0
        self._class_sums = np.zeros((2, n_features))
        self._class_counts = np.zeros(2, dtype=np.int64)
        self._link = np.zeros((0 if self.calibration is None else 2, 3))
        self._linear = None

    def _feed(self, X: Any, codes: NDArray[np.int64]) -> None:
        if sparse.issparse(X) and self._learn_rows(X, codes):
            self._count(codes)
            return
        for part in row_blocks(*X.shape):
            rows = X[part].toarray() if sparse.issparse(X) else X[part]
            rows = np.ascontiguousarray(rows, dtype=np.float64).view()
            rows.flags.writeable = False  # one compiled version for all, read-only input too
            self._learn(rows, codes[part])
            self._count(codes[part])

    def _count(self, codes: NDArray[np.int64]) -> None:
        self._class_counts += np.bincount(codes, minlength=2)
        self.n_samples_seen_ += len(codes)

    def _finish(self) -> Self:
        self._linear = None
        self._check_weights(self.coef_, f"within {self.n_samples_seen_} points")
        return self

    # -- items ----------------------------------------------------------------------------------

    @fit_context(prefer_skip_nested_validation=True)
    def declare(
        self,
        features: Any = None,
        classes: Any = (False, True),
    ) -> Self:
        """See :meth:`ItemClassifier.declare`."""
        return super().declare(features, classes)

    declare.__doc__ = ItemClassifier.declare.__doc__

    def _start_items(self, names: list[Hashable], classes: NDArray[Any]) -> None:
        two_classes(classes)
        items = ItemFeatures(names)
        self._begin_stream(items.capacity, classes)
        self._items = items
        self._set_codes()
        name_columns(self, items)

    def _fixed_names(self) -> list[Hashable]:
        return column_names(self)

    def _set_width(self, n_features: int) -> None:
        self._class_sums = widened(self._class_sums, n_features)
        self._widen(n_features)
        if "_items" in self.__dict__:
            self._items.set_capacity(n_features)

    def _learn_item(self, point: Array, code: int) -> None:
        from kernlearn.pairwise.score_steps import finite

        if not finite(point):
            names = self._items.columns
            wrong = {name: point[0, i] for name, i in names.items() if not finite(point[:, i])}
            self._items.check(wrong)
        if len(self._items.columns) != self.n_features_in_:
            name_columns(self, self._items)
            if point.shape[1] != self._class_sums.shape[1]:
                self._class_sums = widened(self._class_sums, point.shape[1])
                self._widen(point.shape[1])
        self._learn(point, _CODES[code])
        self._class_counts[code] += 1
        self.n_samples_seen_ += 1
        self._linear = None
        if not finite(self._latest()):
            self._check_weights(self._weights(), f"within {self.n_samples_seen_} points")

    def _score_item(self, point: Array) -> float:
        from kernlearn.pairwise.score_steps import mean_score

        return float(mean_score(point[0], *self._mean_of_iterates())) + self._intercept()

    def _intercept(self) -> float:
        """Return the intercept without the weights of all features being made."""
        from kernlearn.pairwise.score_steps import middle

        counts = self._class_counts
        if counts[0] and counts[1]:
            return -float(middle(*self._mean_of_iterates(), self._class_sums, counts))
        return 0.0 if self.n_samples_seen_ == 0 else 1.0 if counts[1] else -1.0

    # -- probabilities --------------------------------------------------------------------------

    def _sigmoid(self) -> tuple[float, float]:
        """Return the slope and the offset of the log-odds as a function of the decision value."""
        counts = self._class_counts
        odds = log((counts[1] + 0.5) / (counts[0] + 0.5))
        if not counts.all():
            return 0.0, odds
        (_, low, low_variance), (_, high, high_variance) = self._link.tolist()
        variance = (counts[0] * low_variance + counts[1] * high_variance) / counts.sum()
        if variance <= 0.0 or high <= low:
            return 0.0, odds
        slope = (high - low) / variance
        # decision values are scores plus the intercept
        centre = (high + low) / 2 + self._intercept()
        return slope, odds - slope * centre

    def _probability_of(self, score: float) -> float:
        slope, offset = self._sigmoid()
        exponent = min(max(slope * score + offset, -700.0), 700.0)
        return 1.0 / (1.0 + exp(-exponent))

    @available_if(_calibrates)
    def predict_proba(self, X: ArrayLike) -> Array:
        r"""Return the probabilities of the classes.

        Available with ``calibration="sigmoid"``: with the share of a class so far as its prior
        probability, and its scores taken as normal with one variance for both classes, the
        probability is a logistic function of the score. Means and variance are those of scores
        that points had before they were learned from, later ones with more weight.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Rows sum to 1. The greater one need not be that of the predicted class, as `predict`
            cuts midway between the classes, however rare one of them is.
        """
        from scipy.special import expit

        slope, offset = self._calibrated_scores()
        exponent = slope * self.decision_function(X) + offset
        return np.column_stack([expit(-exponent), expit(exponent)])

    def _calibrated_scores(self) -> tuple[float, float]:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
        return self._sigmoid()

    @available_if(_calibrates)
    def predict_proba_one(self, x: Any) -> dict[Any, float]:
        """Return the probabilities of both labels for an item; see :meth:`predict_proba`.

        Parameters
        ----------
        x : mapping
            As for `learn_one`.

        Returns
        -------
        dict
            By label; empty before the first point.
        """
        return self._predict_proba_one(x)


_CODES = np.array([[0], [1]])


def widened(values: Array, n_columns: int) -> Array:
    """Return an array with another number of columns: further ones are 0."""
    made = np.zeros((*values.shape[:-1], n_columns))
    n_common = min(values.shape[-1], n_columns)
    made[..., :n_common] = values[..., :n_common]
    return made
