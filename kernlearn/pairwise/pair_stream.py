"""Base class of online learners of metrics, similarities and kernels: the loop over a stream."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from kernlearn.pairwise.base import (
    BUFFER_CONSTRAINTS,
    STEP_CONSTRAINTS,
    Reservoir,
    divergence,
    new_reservoir,
)
from kernlearn.pairwise.buffers import as_buffer
from kernlearn.pairwise.losses import PairwiseLoss, as_pairwise_loss, pair_labels

#: Points of the stream that are processed together with the buffer.
BLOCK_ROWS = 256


class OnlinePairLearner(ABC, BaseEstimator):
    r"""Base of learners of a function of two points, linear in weights kept in a convex set.

    Algorithm 8 of [1]_ with the pair labels :math:`y y'`, +1 for two points of one class and -1
    for others:

    .. math::

        w_t = \Pi\Bigl[w_{t-1} - \frac{\eta_t}{|B|} \sum_{z \in B}
              \nabla_w\, \ell(w_{t-1}, z_t, z)\Bigr]

    A subclass defines the set, by `_project`, the gradient and the fitted attributes.

    References
    ----------
    .. [1] Kar (2013), algorithm 8, sections 6.6.3 and 6.6.4.
    """

    _parameter_constraints: dict[str, list[Any]] = {**BUFFER_CONSTRAINTS, **STEP_CONSTRAINTS}

    classes_: NDArray[Any]
    n_samples_seen_: int
    _loss: PairwiseLoss
    _code_of: dict[Any, int]
    _kept: Reservoir
    _w: NDArray[np.float64]
    # sum of the iterates that are not equal to the last one, and number of those that are
    _total: NDArray[np.float64]
    _run: int

    def __init__(
        self,
        buffer_size: int,
        buffer: Any,
        eta: float,
        radius: float | None,
        loss: Any,
        norm: str,
        regularization: float,
        average: bool,
        n_passes: int,
        random_state: Any,
    ) -> None:
        self.buffer_size = buffer_size
        self.buffer = buffer
        self.eta = eta
        self.radius = radius
        self.loss = loss
        self.norm = norm
        self.regularization = regularization
        self.average = average
        self.n_passes = n_passes
        self.random_state = random_state

    @abstractmethod
    def _start(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        """Prepare for the first points and return the initial weights, not yet projected."""

    @abstractmethod
    def _project(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the nearest allowed weights."""

    @abstractmethod
    def _gradient(
        self, w: NDArray[Any], block: Any, i: int, others: NDArray[Any], signs: NDArray[Any]
    ) -> NDArray[Any] | None:
        """Return the gradient of the mean loss of a point's pairs; None where it is 0.

        `block` is the result of `_block`; point i of it is incoming, and paired with the points
        `others` of the buffer, with pair labels `signs` -1 and 1.
        """

    @abstractmethod
    def _publish(self, w: NDArray[np.float64]) -> None:
        """Set the fitted attributes."""

    def _block(self, points: NDArray[np.float64], n_old: int) -> Any:
        """Prepare the points of the buffer, the first `n_old`, and the incoming ones."""
        return points

    def _block_rows(self) -> int:
        """Return how many incoming points are prepared at once."""
        return BLOCK_ROWS

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn from scratch, from points in the given order.

        Nothing is shuffled: with rows sorted by class, the last class dominates.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The points.
        y : array-like of shape (n_samples,)
            Their labels, of at least two classes.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is invalid, y has one class only or does not consist of labels, X
            contains NaN or infinity, or the weights grow beyond all bounds.
        """
        X, y = self._validate(X, y, reset=True)
        classes = np.unique(y)
        if len(classes) < 2:
            raise ValueError(
                f"y must have at least two classes, but it has 1 class: {classes.item()!r}"
            )
        self._begin(X, y, classes)
        codes = self._encode(y)
        for _ in range(self.n_passes):
            self._feed(X, codes)
        self._publish(self._weights())
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: ArrayLike) -> Self:
        """Continue with the next points of the stream, one or more.

        Up to rounding, the result does not depend on how a stream is divided into calls.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The points.
        y : array-like of shape (n_samples,)
            Their labels. They may be of one class, and of classes not seen before.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is invalid, y does not consist of labels of the kind seen before, X has
            another number of features than before or contains NaN or infinity, all of which
            leave the estimator unchanged; or if the weights grow beyond all bounds.
        """
        first = not hasattr(self, "_kept")
        X, y = self._validate(X, y, reset=first)
        if first:
            self._begin(X, y, np.unique(y))
        elif (y.dtype.kind in "biuf") != (self.classes_.dtype.kind in "biuf"):
            raise ValueError(
                f"y must contain labels of the kind seen before ({self.classes_.dtype}), got "
                f"{y.dtype}"
            )
        else:
            self.classes_ = np.union1d(self.classes_, y)
        self._feed(X, self._encode(y))
        self._publish(self._weights())
        return self

    def _validate(self, X: Any, y: Any, reset: bool) -> tuple[Any, NDArray[Any]]:
        self._loss = as_pairwise_loss(self.loss)
        X, y = validate_data(self, X, y, dtype=np.float64, reset=reset)
        check_classification_targets(y)
        return X, y

    def _encode(self, y: NDArray[Any]) -> NDArray[np.int64]:
        """Return the numbers of labels, in the order of their first occurrence."""
        seen = self._code_of
        return np.array([seen.setdefault(label, len(seen)) for label in y.tolist()])

    def _begin(self, X: NDArray[np.float64], y: NDArray[Any], classes: NDArray[Any]) -> None:
        policy = as_buffer(self.buffer, self.buffer_size)
        self._w = self._project(self._start(X, y))
        self._total, self._run = np.zeros_like(self._w), 0
        self._code_of = {}
        self.classes_ = classes
        self.n_samples_seen_ = 0
        rng = check_random_state(self.random_state)
        self._kept = new_reservoir(policy, X.shape[1], rng)

    def _feed(self, X: NDArray[np.float64], codes: NDArray[np.int64]) -> None:
        for rows in gen_batches(len(X), self._block_rows()):
            with np.errstate(over="ignore", invalid="ignore"):
                self._learn(X[rows], codes[rows])

    def _learn(self, X: NDArray[np.float64], codes: NDArray[np.int64]) -> None:
        """Take a step for each of some points, and move the buffer."""
        kept = self._kept
        n_kept, size = kept.n_kept, kept.policy.size
        t = self.n_samples_seen_ + 1
        points = np.concatenate([kept.rows[:n_kept], X])
        labels = np.concatenate([kept.codes[:n_kept], codes])
        block, n_old = self._block(points, n_kept), n_kept
        moves = kept.policy.updates(t, len(X), n_kept, kept.rng)
        # the position in the block of the point in each slot; points move at the end only
        places = np.arange(size)
        for i in range(n_old, len(points)):
            others = places[:n_kept]
            self._step(block, i, others, pair_labels(labels[i], labels[others], "product"))
            moved = slice(moves.starts[i - n_old], moves.starts[i - n_old + 1])
            slots, sources = moves.slots[moved], moves.sources[moved]
            places[slots] = np.where(sources < 0, i, places[sources])
            n_kept = max(n_kept, int(slots.max(initial=-1)) + 1)
            self.n_samples_seen_ += 1
        kept.rows[:n_kept] = points[places[:n_kept]]
        kept.codes[:n_kept] = labels[places[:n_kept]]

    def _step(
        self, block: Any, i: int, others: NDArray[np.intp], signs: NDArray[np.float64]
    ) -> None:
        t = self.n_samples_seen_ + 1
        gradient = self._gradient(self._w, block, i, others, signs) if len(others) else None
        if gradient is None and not self.regularization:
            self._run += 1  # the weights are allowed already
            return
        self._total += self._run * self._w
        w = self._w
        if self.regularization:
            w = (1 - 1 / t) * w
        if gradient is not None:
            rate = 1 / (self.regularization * t) if self.regularization else self.eta / np.sqrt(t)
            w = w - rate * gradient
        if not np.isfinite(w).all():
            raise divergence(f"at point {t}")
        self._w = self._project(w)
        self._run = 1

    def _weights(self) -> NDArray[np.float64]:
        if self.average:
            return (self._total + self._run * self._w) / self.n_samples_seen_
        return self._w.copy()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
