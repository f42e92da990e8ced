"""Base classes of online learners: the loop over a stream, its buffer, and algorithm 8."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from kernlearn.constraints import COUNT, NOT_NEGATIVE, POSITIVE, fit_context
from kernlearn.pairwise import losses
from kernlearn.pairwise.buffer_names import BUFFER, as_buffer
from kernlearn.pairwise.buffers import Array, Indices
from kernlearn.pairwise.reservoirs import Reservoir

#: Points of the stream that are processed together with the buffer.
BLOCK_ROWS = 256


def at_least_two(y: Any) -> np.ndarray:
    """Return the classes of labels."""
    classes = np.unique(y)
    if len(classes) < 2:
        raise ValueError(
            f"there must be two classes, but there is one class: {classes.tolist()}; "
            "a stream that may start with one class is for partial_fit"
        )
    return classes


class StreamLearner(ABC, BaseEstimator):
    """A learner from points of a stream, which are paired with those in a buffer."""

    _parameter_constraints: dict[str, list[Any]] = {
        "buffer_size": [COUNT],
        "buffer": BUFFER,
        "n_passes": [COUNT],
        "random_state": ["random_state"],
    }

    buffer_size: int
    buffer: Any
    n_passes: int
    random_state: Any
    classes_: np.ndarray
    n_samples_seen_: int

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: np.typing.ArrayLike) -> Self:
        """Learn from scratch, from points in the given order.

        Nothing is shuffled: rows sorted by class make a stream from which little is learned.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The points.
        y : array-like of shape (n_samples,)
            Their labels, numbers or strings, of at least two classes; for OLP and OAM of two.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the number of classes is invalid, y does not consist of labels, X
            contains NaN or infinity, or the weights grow beyond all bounds.
        """
        X, y = self._validate(X, y, reset=True)
        self._begin(X, y, at_least_two(y))
        codes = self._codes(y)
        for _ in range(self.n_passes):
            self._feed(X, codes)
        return self._finish()

    @abstractmethod
    def _validate(self, X: Any, y: Any, reset: bool) -> tuple[Any, np.ndarray]: ...

    @abstractmethod
    def _codes(self, y: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def _begin(self, X: Any, y: np.ndarray, classes: np.ndarray) -> None: ...

    @abstractmethod
    def _feed(self, X: Any, codes: np.ndarray) -> None: ...

    @abstractmethod
    def _finish(self) -> Self: ...

    def _check_weights(self, w: Array, place: str) -> None:
        if not np.isfinite(w).all():
            raise ValueError(
                f"the weights grew beyond all bounds {place}: scale the features, or take "
                "smaller steps, a smaller radius or a loss that grows more slowly"
            )


class SteppingLearner(StreamLearner):
    """A learner with the steps of algorithm 8."""

    _parameter_constraints: dict[str, list[Any]] = {
        **StreamLearner._parameter_constraints,
        "eta": [POSITIVE],
        "radius": [POSITIVE, None],
        "loss": [str, losses.PairwiseLoss, tuple, list],
        "regularization": [NOT_NEGATIVE],
        "average": ["boolean"],
    }

    eta: float
    radius: float | None
    loss: Any
    norm: str
    regularization: float
    average: bool
    #: Whether the buffer may look at the points.
    _aware = False
    _reservoir: Reservoir
    _w: Array
    # sum of the iterates that are not equal to the last one, and number of those that are
    _total: Array
    _run: int

    def _restart(self, w: Array, n_features: int) -> None:
        """Start at weights w, with an empty buffer."""
        policy = as_buffer(self.buffer, self.buffer_size, aware=self._aware)
        rng = check_random_state(self.random_state)
        self._reservoir = Reservoir(policy, n_features, rng)
        self._w, self._total, self._run = w, np.zeros_like(w), 0

    @property
    def _radius(self) -> float:
        return np.inf if self.radius is None else float(self.radius)

    def _weights(self) -> Array:
        if self.average:
            return (self._total + self._run * self._w) / self.n_samples_seen_
        return self._w.copy()


class OnlinePairLearner(SteppingLearner):
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

    _loss: losses.PairwiseLoss
    _code_of: dict[Any, int]

    @abstractmethod
    def _start(self, X: Array, y: np.ndarray) -> Array:
        """Prepare for the first points and return the initial weights, not yet projected."""

    @abstractmethod
    def _project(self, w: Array) -> Array:
        """Return the nearest allowed weights."""

    @abstractmethod
    def _gradient(
        self, w: Array, block: Any, i: int, others: Indices, signs: Array
    ) -> Array | None:
        """Return the gradient of the mean loss of a point's pairs; None where it is 0.

        `block` is the result of `_block`; point i of it is incoming, and paired with the points
        `others` of the buffer, with pair labels `signs` -1 and 1.
        """

    @abstractmethod
    def _publish(self, w: Array) -> None:
        """Set the fitted attributes."""

    def _block(self, points: Array, n_old: int) -> Any:
        """Prepare the points of the buffer, the first `n_old`, and the incoming ones."""
        return points

    def _block_rows(self) -> int:
        """Return how many incoming points are prepared at once."""
        return BLOCK_ROWS

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: np.typing.ArrayLike) -> Self:
        """Continue with the next points of the stream, one or more.

        Up to rounding, the result does not depend on how a stream is divided into calls.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The points; sparse ones become dense in blocks of up to 256 rows.
        y : array-like of shape (n_samples,)
            Their labels. They may be of one class, and of classes not seen before.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter is invalid, y does not consist of labels of the kind seen before, X has
            another number of features than before or contains NaN or infinity, all of which
            leave the estimator unchanged; or if the weights grow beyond all bounds.
        """
        first = not hasattr(self, "_reservoir")
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
        self._feed(X, self._codes(y))
        return self._finish()

    def _validate(self, X: Any, y: Any, reset: bool) -> tuple[Any, np.ndarray]:
        self._loss = losses.as_pairwise_loss(self.loss)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=reset)
        check_classification_targets(y)
        return X, y

    def _codes(self, y: np.ndarray) -> np.ndarray:
        """Return the numbers of labels, in the order of their first occurrence."""
        seen = self._code_of
        return np.array([seen.setdefault(label, len(seen)) for label in y.tolist()])

    def _begin(self, X: Array, y: np.ndarray, classes: np.ndarray) -> None:
        self._restart(self._project(self._start(X, y)), X.shape[1])
        self._code_of = {}
        self.classes_ = classes
        self.n_samples_seen_ = 0

    def _feed(self, X: Array, codes: np.ndarray) -> None:
        for rows in gen_batches(X.shape[0], self._block_rows()):
            points = X[rows].toarray() if sparse.issparse(X) else X[rows]
            with np.errstate(over="ignore", invalid="ignore"):
                self._learn(points, codes[rows])

    def _learn(self, X: Array, codes: np.ndarray) -> None:
        """Take a step for each of some points, and move the buffer."""
        kept = self._reservoir
        n_old = n_kept = kept.n_kept
        points = np.concatenate([kept.rows[:n_kept], X])
        labels = np.concatenate([kept.codes[:n_kept], codes])
        block = self._block(points, n_old)
        moves = kept.moves(self.n_samples_seen_ + 1, len(X))
        # the position in the block of the point in each slot; points move at the end only
        places = np.arange(kept.policy.size)
        for i in range(n_old, len(points)):
            others = places[:n_kept]
            signs = losses.pair_labels(labels[i], labels[others], "product")
            self._step(block, i, others, signs)
            slots, sources = moves.of_step(i - n_old)
            places[slots] = np.where(sources < 0, i, places[sources])
            n_kept = max(n_kept, int(slots.max(initial=-1)) + 1)
            self.n_samples_seen_ += 1
        kept.rows[:n_kept] = points[places[:n_kept]]
        kept.codes[:n_kept] = labels[places[:n_kept]]

    def _step(self, block: Any, i: int, others: Indices, signs: Array) -> None:
        t, w = self.n_samples_seen_ + 1, self._w
        gradient = self._gradient(w, block, i, others, signs) if len(others) else None
        if gradient is None and not self.regularization:
            self._run += 1  # the weights are allowed already
            return
        self._total += self._run * w
        rate = self.eta / np.sqrt(t)
        if self.regularization:
            rate, w = 1 / (self.regularization * t), (1 - 1 / t) * w
        if gradient is not None:
            w = w - rate * gradient
        self._check_weights(w, f"at point {t}")
        self._w, self._run = self._project(w), 1

    def _finish(self) -> Self:
        self._publish(self._weights())
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags
