r"""Online learners of linear functions with large AUC, from a stream of points: OLP and OAM.

The loss of a pair of points is a convex function :math:`\varphi` of its margin :math:`Y(y,
y')\,h(x, x')`: Kar (2013), section 6.6. Its label Y is half the difference of the labels for a
linear function that ranks two classes (section 6.6.2). It is their product for a metric, a
similarity or a kernel (sections 6.6.3 and 6.6.4).

The policies of buffers are those of section 6.5.1. The first s points fill the s slots in order.
Then:

- FIFO ("fifo") keeps the last s points.
- RS ("rs", Vitter 1985, algorithm R) keeps a uniform sample of the past without replacement: point
  t enters with probability s/t, in the place of a random one. One number drawn from 0, …, t − 1
  names the slot, or none.
- RS-x ("rsx", algorithm 7) keeps in each slot a uniform sample of the past, independent of the
  other slots (theorem 6.12). At t = s + 1 every slot is drawn anew with replacement from the
  buffer and the incoming point, and from then on point t takes each slot with probability 1/t.
- RS-x² ("rsx2", algorithm 9) has the same law, and draws first how many slots point t takes: about
  one draw a step, where RS-x takes s.

Which points are kept depends on their numbers alone, never on the points: the theory needs this.
"""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import KW_ONLY, dataclass
from itertools import repeat
from numbers import Integral, Real
from sys import float_info
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target

from kernlearn import choice, validation
from kernlearn.choice import Fits
from kernlearn.kernels.base import to_dense
from kernlearn.linear.losses import LOSSES
from kernlearn.memory import row_blocks
from kernlearn.validation import Floats

Codes: TypeAlias = NDArray[np.int64]
Item: TypeAlias = Mapping[Hashable, Any]
Point: TypeAlias = dict[str, Any]

#: The policies, in the order of the numbers that `steps.draw_moves` has for them.
POLICIES = ("fifo", "rs", "rsx", "rsx2")
STREAM_PARAMETERS = {**validation.PARAMETERS, "buffer": [validation.StrOptions(set(POLICIES))]}

# Steps whose moves are drawn at once for points that come singly.
_AHEAD = 256


class Moves(NamedTuple):
    """The moves of a buffer over some steps.

    Those of step i are from ``starts[i]`` to ``starts[i + 1]``: ``slots[j]`` gets the point that
    was in slot ``sources[j]`` before the step, or the incoming point where that is -1. No step
    names a slot twice.
    """

    starts: Codes
    slots: Codes
    sources: Codes

    def of_step(self, i: int) -> tuple[Codes, Codes]:
        """Return the slots and the sources of one step."""
        moved = slice(self.starts[i], self.starts[i + 1])
        return self.slots[moved], self.sources[moved]

    def carry_out(self, i: int, contents: Codes, new: int) -> None:
        """Carry out those of one step in an array with a number for each slot."""
        slots, sources = self.of_step(i)
        contents[slots] = np.where(sources < 0, new, contents[sources])


class Buffer:
    """The moves of a buffer along a stream; the points are stored by the learner.

    Parameters
    ----------
    policy : {"fifo", "rs", "rsx", "rsx2"}
        Which points are kept.
    size : int
        Number of slots.
    random_state : numpy.random.RandomState
        Its next number is the seed.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.pairwise.learners import Buffer
    >>> moves = Buffer("rsx2", 3, np.random.RandomState(0)).moves(5)
    >>> [slots.tolist() for slots, _ in map(moves.of_step, range(5))]
    [[0], [1], [2], [0, 2], [2]]
    """

    def __init__(self, policy: str, size: int, random_state: np.random.RandomState) -> None:
        self.policy, self.size = POLICIES.index(policy), size
        self.rng = np.random.default_rng(random_state.randint(2**31 - 1))
        self._n_drawn = 0
        self._drawn = _NONE  # the moves that were drawn and not returned yet

    def moves(self, n_steps: int) -> Moves:
        """Return the moves of the next steps; they do not depend on how a stream is divided."""
        from kernlearn.pairwise.steps import draw_moves  # numba only where it is needed

        starts, slots, sources = self._drawn
        n_missing = n_steps - (len(starts) - 1)
        if n_missing > 0:
            n_new = max(n_missing, _AHEAD)
            new = draw_moves(self.policy, self.size, self._n_drawn + 1, n_new, self.rng)
            self._n_drawn += n_new
            begin, end = starts[0], starts[-1]
            starts = np.append(starts[:-1] - begin, new[0] + (end - begin))
            slots = np.append(slots[begin:], new[1])
            sources = np.append(sources[begin:], new[2])
        all_returned = n_steps == len(starts) - 1
        self._drawn = _NONE if all_returned else Moves(starts[n_steps:], slots, sources)
        return Moves(starts[: n_steps + 1], slots, sources)


_NONE = Moves(*(np.zeros(n, dtype=np.int64) for n in (1, 0, 0)))


# A row of codes for an item of either class.
_CODES = np.array([[0], [1]])


class StreamState(NamedTuple):
    """What OLP and OAM keep of a stream, for one model or for several that share a buffer.

    The points of the negative class are the first rows of the buffer, and those of the positive
    class the last ones, so that each are contiguous.
    """

    w: Floats  #: The iterates, shape (n_models, n_features).
    total: Floats  #: The sums of the iterates that are not counted as equal to w.
    sums: Floats  #: The sums of the points of each class, shape (2, n_features).
    rows: Floats  #: The points in the buffer, shape (size, n_features).
    places: Codes  #: The row of each slot, -1 for none, and the slot of each row, shape (2, size).
    #: The numbers of points of each class, of iterates equal to w, and of points of each class in
    #: the buffer, shape (5,).
    counts: Codes

    @classmethod
    def empty(cls, n_features: int, size: int, n_models: int = 1) -> "StreamState":
        """Return the state before the first point."""
        d, models = n_features, (n_models, n_features)
        places, counts = np.full((2, size), -1), np.zeros(5, dtype=np.int64)
        rows, sums = np.zeros((size, d)), np.zeros((2, d))
        return cls(np.zeros(models), np.zeros(models), sums, rows, places, counts)

    def means(self) -> Floats:
        """Return the means of both classes, shape (2, n_features)."""
        return self.sums / self.counts[:2, np.newaxis]

    def of_model(self, m: int) -> "StreamState":
        """Return a state of one of several models."""
        alone = self._replace(w=self.w[m : m + 1], total=self.total[m : m + 1])
        return StreamState._make(values.copy() for values in alone)

    def widened(self, n_features: int) -> "StreamState":
        """Return the state with further features, which all points so far lack."""
        wide = [widened(values, n_features) for values in self[:4]]
        return StreamState._make([*wide, self.places, self.counts])


def widened(values: Floats, n_columns: int) -> Floats:
    """Return an array with columns of zeros after those that it has."""
    return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, n_columns - values.shape[-1])])


def two_classes(y: Any) -> NDArray[Any]:
    """Return the classes of labels; raise a ValueError unless there are two."""
    classes = validation.at_least_two(y)
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{type_of_target(y)}, with {len(classes)} classes."
        )
    return classes


def linear_fits(points: list[Point], models: list[Any], converged: Sequence[bool] = ()) -> Fits:
    """Return linear models of two classes as a part of a path."""
    coef = np.concatenate([model.coef_ for model in models])
    intercept = np.concatenate([model.intercept_ for model in models])

    def scores(X: Any) -> Floats:
        X = validation.validate_data(models[0], X, reset=False, **validation.POINTS)
        return np.ascontiguousarray((X @ coef.T + intercept).T)

    return Fits(points, models, converged or [True] * len(models), scores)


class StreamRanker(
    ABC, validation.PredictsByScores, validation.TakesSparse, LinearClassifierMixin, BaseEstimator
):
    """A linear function for two classes that is learned from a stream, of arrays or of items."""

    # what river asks of a model
    _supervised = True
    _multiclass = False

    classes_: NDArray[Any]
    n_features_in_: int
    average = False  # of those without this parameter
    path_parameters: ClassVar[tuple[str, ...]]
    _state: Any
    _buffers: Sequence[Buffer]

    @abstractmethod
    def _start(self, n_features: int, points: Sequence[Point]) -> None:
        """Begin the stream of each point of a path."""

    @abstractmethod
    def _learn(self, X: Floats, codes: Codes, points: Sequence[Point] = ({},)) -> None:
        """Learn from some points of the stream, for each point of a path."""

    def _weights(self) -> Floats:
        """Return the weights, not to be written to."""
        w, total, *_, counts = self._state
        return ((total + counts[2] * w) / self.n_samples_seen_ if self._averages else w)[0]

    @property
    def coef_(self) -> Floats:
        """The weights."""
        return self._weights()[np.newaxis].copy()

    @property
    def intercept_(self) -> Floats:
        """The intercept."""
        return np.array([self._intercept(self._weights())])

    def _intercept(self, w: Floats) -> float:
        negative, positive = self._state.counts[:2]
        if negative and positive:
            means = self._state.means()
            return -float(w @ (0.5 * (means[0] + means[1])))
        # no pair yet and w = 0: predict the one class
        return 1.0 if positive else -1.0 if negative else 0.0

    @property
    def n_samples_seen_(self) -> int:
        """Number of points of the stream so far."""
        return int(self._state.counts[:2].sum())

    @validation.fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from scratch, from points in the given order.

        Nothing is shuffled: rows sorted by class make a stream from which little is learned.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The points; sparse ones become dense in blocks.
        y : array-like of shape (n_samples,)
            Their labels, numbers or strings, of two classes.

        Returns
        -------
        self
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the number of classes is invalid, X contains NaN or infinity, or the
            weights grow beyond all bounds.
        """
        points, labels = validation.validate_labelled(self, X, y)
        self._begin(points.shape[1], two_classes(labels))
        self._feed(points, validation.label_codes(self.classes_, labels))
        return self

    def path(
        self, X: ArrayLike, y: ArrayLike, grid: Mapping[str, Sequence[Any]]
    ) -> Iterator[Fits]:
        """Fit the models of all combinations of some parameters in one pass over the stream.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The points; sparse ones become dense in blocks.
        y : array-like of shape (n_samples,)
            Their labels, numbers or strings, of two classes.
        grid : mapping of str to sequence
            Values of parameters named in `path_parameters`.

        Yields
        ------
        Fits
            All models, each equal to a fit of its own up to rounding.

        Raises
        ------
        ValueError
            As `fit`, or if there is no path of a parameter.
        """
        first = clone(self)
        rows, labels = validation.validate_labelled(first, X, y)
        points = choice.path_points(first, grid)
        first._begin(rows.shape[1], two_classes(labels), points)
        first._feed(rows, validation.label_codes(first.classes_, labels), points)
        models = []
        for m, point in enumerate(points):
            models.append(copy(first))
            alone = {"_state": first._state.of_model(m), "_buffers": deepcopy(first._buffers)}
            vars(models[m]).update(point, **alone)
            models[m]._settle()
        yield linear_fits(points, models)

    @validation.fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Continue with the next points of the stream, one or more.

        The result does not depend on how a stream is divided into calls.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The points; sparse ones become dense in blocks.
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
            If `classes` is missing in the first call, has not two labels, or others than before.
            If y contains another label. If X has another number of features than before, or NaN or
            infinity. All of these leave the estimator unchanged. If the weights grow beyond all
            bounds.
        """
        first = not hasattr(self, "classes_")
        points, labels = validation.validate_labelled(self, X, y, reset=first)
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        both = self.classes_ if classes is None else two_classes(np.asarray(classes))
        if not first and not np.array_equal(both, self.classes_):
            raise ValueError(
                f"classes={both.tolist()} is not the same as on the last call to partial_fit, "
                f"was: {self.classes_.tolist()}"
            )
        codes = validation.label_codes(both, labels)
        if first:
            self._begin(points.shape[1], both)
        self._feed(points, codes)
        return self

    def _begin(
        self, n_features: int, classes: NDArray[Any], points: Sequence[Point] = ({},)
    ) -> None:
        self._start(n_features, points)
        self._settle()
        self.classes_ = classes
        # the features of items, once one has come; whether items may bring further ones
        self._names: dict[Hashable, None] | None = None
        self._grows = False

    def _settle(self) -> None:
        """Store the parameters that the weights are computed with."""
        self._averages = self.average

    def _feed(self, X: Any, codes: Codes, points: Sequence[Point] = ({},)) -> None:
        self._settle()
        for part in row_blocks(*X.shape):
            rows = np.ascontiguousarray(to_dense(X[part]), dtype=np.float64).view()
            rows.flags.writeable = False  # one compiled version for all, read-only input too
            self._learn(rows, codes[part], points)
        self._check_finite(self._weights())

    def _numbers(self, points: Sequence[Point], *names: str) -> Floats:
        """Return a row of parameters for each point of a path, NaN for None."""
        rows = [{**vars(self), **point} for point in points]
        return np.array([[row[name] for name in names] for row in rows], dtype=np.float64)

    def _check_finite(self, values: Floats) -> None:
        if not np.isfinite(values).all():
            raise ValueError(
                f"the weights grew beyond all bounds within {self.n_samples_seen_} points: scale "
                "the features, or take smaller steps, a smaller radius or a loss that grows more "
                "slowly"
            )

    # -- items ----------------------------------------------------------------------------------

    def learn_one(self, x: Item, y: Any) -> None:
        """Continue with the next point of the stream, a dictionary of features.

        The same points in rows of an array, with the features in the order in which they first
        came, give the same model by `partial_fit`.

        Parameters
        ----------
        x : mapping
            Numbers by the names of features, in any order. A feature that x lacks is 0, as is one
            in the points before it first came. After `fit` or `partial_fit` the features are those
            of the arrays: their names, or the numbers of columns.
        y : bool, or a label
            Its label: True and False, or 1 and 0, unless `fit` or `partial_fit` has had others.

        Raises
        ------
        ValueError
            If a value is not a finite number, y is no label, or x has a feature that the arrays
            fitted before lack. All of these leave the estimator unchanged. If the weights grow
            beyond all bounds.
        """
        first = not hasattr(self, "classes_")
        classes = [False, True] if first else self.classes_.tolist()
        if y not in classes:
            raise ValueError(f"the label {y!r} is not one of the classes {classes}")
        names: dict[Hashable, None] = {} if first else self._item_names()
        new = [] if x.keys() <= names.keys() else [name for name in x if name not in names]
        if new and not (first or self._grows):
            raise ValueError(f"feature {new[0]!r} is not one of the {len(names)} features fitted")
        row = item_row(x, [*names, *new] if new else names)
        if first:
            self._validate_params()
            self._begin(0, np.array(classes))
            self._names, self._grows = names, True
        if new or first:
            names.update(dict.fromkeys(new))
            self._state = self._state.widened(len(names))
            self.n_features_in_ = len(names)
            self.__dict__.pop("feature_names_in_", None)
            if names and all(isinstance(name, str) for name in names):
                self.feature_names_in_ = np.array([*names], dtype=object)
        self._learn(row, _CODES[classes.index(y)])

    def score_one(self, x: Item) -> float:
        """Return the score of an item, as `decision_function` does of rows.

        Parameters
        ----------
        x : mapping
            As for `learn_one`; a feature that has not come yet has no weight.

        Returns
        -------
        float
            The higher, the more likely the second class; 0 before the first point.

        Raises
        ------
        ValueError
            If a value is not a finite number.
        """
        if not hasattr(self, "classes_"):
            return 0.0
        row, w = item_row(x, self._item_names())[0], self._weights()
        return float(w @ row) + self._intercept(w)

    def predict_one(self, x: Item) -> Any:
        """Return the label of an item, None before the first point; see :meth:`score_one`."""
        score = self.score_one(x)
        return self.classes_[int(score > 0)].item() if hasattr(self, "classes_") else None

    def _item_names(self) -> dict[Hashable, None]:
        """Return the features of items, in the order of columns."""
        if self._names is None:
            names = getattr(self, "feature_names_in_", range(self.n_features_in_))
            self._names = dict.fromkeys(names)
        return self._names


def item_row(x: Item, names: Collection[Hashable]) -> Floats:
    """Return the values of features of an item as a row, 0 for those that it lacks."""
    try:
        # unlike NumPy's arrays it reads no numbers in texts
        row = np.array(array("d", map(x.get, names, repeat(0.0))), ndmin=2)
    except (TypeError, ValueError, OverflowError):
        row = np.array([[np.nan]])
    if not np.isfinite(row).all():
        wrong = next(
            name
            for name in x
            if not (isinstance(x[name], Real) and abs(x[name]) <= float_info.max)
        )
        raise ValueError(f"feature {wrong!r} is {x[wrong]!r}, and must be a finite number")
    row.flags.writeable = False
    return row


@dataclass(eq=False, repr=False)
class OLP(StreamRanker):
    r"""Rank two classes from a stream: a linear function of large AUC, by a pairwise loss (OLP).

    When to use it: ranking two classes from a stream, with few points kept. Where d² numbers fit
    into memory, try :class:`AllPairsMoments` first, which has no steps to choose.

    Each point is paired with those in a buffer [1]_. With labels ±1 and the buffer B,
    point t updates the weights to

    .. math::

        w_t = \Pi\Bigl[w_{t-1} - \frac{\eta_t}{|B|} \sum_{(x, y) \in B} \nabla_w\,
              \varphi\bigl(\tfrac{y_t - y}{2} \langle w_{t-1}, x_t - x\rangle\bigr)\Bigr]

    and is then offered to the buffer. A pair of one class has no gradient, but counts in
    the size of B.

    Parameters
    ----------
    buffer_size : int, default=50
        Number s of points in the buffer.
    buffer : {"fifo", "rs", "rsx", "rsx2"}, default="rsx2"
        Which points are kept. "fifo" keeps the last ones, "rs" a uniform sample of the past
        without replacement. "rsx" keeps in each slot a uniform sample of the past, independent of
        the other slots, as the theory has it; "rsx2" does so with fewer draws.
    eta : float, default=1.0
        Scale η of the steps :math:`\eta_t = \eta/\sqrt t`; not with `regularization`.
    radius : float or None, default=10.0
        Radius of the ball that contains w; None for no bound.
    loss : {"hinge", "squared_hinge", "logistic", "exponential", "squared"}, default="hinge"
        The φ.
    regularization : float, default=0.0
        λ of a strongly convex regulariser λ/2 ‖w‖² in each loss, with which the steps are
        :math:`\eta_t = 1/(\lambda t)` (section 6.4).
    average : bool, default=True
        Whether the weights are the mean of :math:`w_1, \dots, w_n`, to which the theory
        applies, or :math:`w_n`.
    random_state : int, RandomState instance or None, default=None
        Seed for the buffer.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second one is the positive class.
    coef_ : ndarray of shape (1, n_features)
        The weights, float64.
    intercept_ : ndarray of shape (1,)
        Makes the score 0 midway between the means of both classes seen so far. For `predict`
        only, the AUC does not depend on it. As long as only one class has been seen, the weights
        are 0 and the intercept ±1, so that this class is predicted.
    n_samples_seen_ : int
        Number of points of the stream so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has any.

    See Also
    --------
    OAM : The algorithms of Zhao et al. (2011), with one buffer per class.
    AllPairsSVM : The batch problem over all pairs.

    Notes
    -----
    Line 5 of algorithm 8 adds the gradient; a loss is minimised, so it is subtracted here. With
    y − y' instead of its half, as section 6.6.2 has it, the margin of the hinge would be ½.

    A step takes O(s · n_features) time, and memory is that of the buffer and a block of dense
    rows, whatever the length of the stream. Another pass over the same points by `partial_fit` is
    a longer stream in which they come again, also for the buffer.

    For kernels, use a feature map in a pipeline: see the second example.

    References
    ----------
    .. [1] Kar (2013), algorithm 8 and theorem 6.13.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import roc_auc_score
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernlearn.pairwise import OLP
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = OLP(buffer_size=10, random_state=0).fit(X[:400], y[:400])
    >>> bool(roc_auc_score(y[400:], model.decision_function(X[400:])) > 0.98)
    True

    >>> from sklearn.pipeline import make_pipeline
    >>> from kernlearn.features import RandomMaclaurin
    >>> features = RandomMaclaurin(n_components=200, random_state=0)
    >>> model = make_pipeline(features, OLP(random_state=0)).fit(X[:400] / 20, y[:400])
    >>> bool(roc_auc_score(y[400:], model.decision_function(X[400:] / 20)) > 0.95)
    True
    """

    buffer_size: int = 50
    _: KW_ONLY
    buffer: str = "rsx2"
    eta: float = 1.0
    radius: float | None = 10.0
    loss: str = "hinge"
    regularization: float = 0.0
    average: bool = True
    random_state: Any = None

    path_parameters = ("eta", "radius", "regularization")
    _parameter_constraints = {
        **STREAM_PARAMETERS,
        "loss": [validation.StrOptions(set(LOSSES))],
        "regularization": [validation.NOT_NEGATIVE],
    }

    def _start(self, n_features: int, points: Sequence[Point]) -> None:
        eta, regularization = self._numbers(points, "eta", "regularization").T
        if ((eta != type(self).eta) & (regularization > 0)).any():
            raise ValueError(
                "eta has no meaning with a regularization λ above 0, with which steps are 1/(λt): "
                "leave it out"
            )
        rng = check_random_state(self.random_state)
        self._buffers = [Buffer(self.buffer, self.buffer_size, rng)]
        self._state = StreamState.empty(n_features, self.buffer_size, len(points))

    def _learn(self, X: Floats, codes: Codes, points: Sequence[Point] = ({},)) -> None:
        from kernlearn.pairwise.steps import olp_steps  # numba only where it is needed

        numbers = self._numbers(points, "eta", "regularization", "radius")
        moves = self._buffers[0].moves(len(codes))
        olp_steps(X, codes, self._state, moves, [*LOSSES].index(self.loss), numbers)
        self._check_finite(self._state.w)


@dataclass(eq=False, repr=False)
class OAM(StreamRanker):
    r"""Rank two classes from a stream: online AUC maximisation [1]_, the rival of OLP in [2]_.

    When to use it: as :class:`OLP`; the method that it is compared with.

    Each class has its own buffer. Point t, with label :math:`y_t = \pm 1`, is paired with the
    buffer B of the other class, of which N points have been seen, with the weight
    :math:`C_t = C \max(1, N/|B|)`. "gradient" (OAM_gra) moves to

    .. math::

        w_t = w_{t-1} + \frac{C_t}{2}\, y_t \sum_{x \in B}
              1[y_t \langle w_{t-1}, x_t - x\rangle \le 1]\,(x_t - x),

    and "sequential" (OAM_seq) makes a passive-aggressive step for each x of B in turn,

    .. math::

        w \leftarrow w + \min\Bigl(C_t, \frac{\max(0, 1 - y_t \langle w, x_t - x\rangle)}
              {\|x_t - x\|^2}\Bigr)\, y_t\, (x_t - x).

    Parameters
    ----------
    buffer_size : int, default=100
        Number s of points in both buffers together, at least 2: half each, and with an odd
        number one more of the positive class. So memory is that of :class:`OLP` with the same
        s; in [1]_ it is the size of each buffer.
    variant : {"gradient", "sequential"}, default="gradient"
        The algorithm.
    C : float, default=1.0
        Scale of the steps, which do not shrink.
    buffer : {"fifo", "rs", "rsx", "rsx2"}, default="rs"
        Which points of a class are kept, as in :class:`OLP`.
    average : bool, default=False
        Whether the weights are the mean of :math:`w_1, \dots, w_n`, as OLP's are by default; the
        algorithms of [1]_ return :math:`w_n`.
    random_state
        As in :class:`OLP`.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        The weights, float64.
    classes_, intercept_, n_samples_seen_, n_features_in_, feature_names_in_
        As of :class:`OLP`.

    See Also
    --------
    OLP : One buffer and projections.

    Notes
    -----
    A step takes O(s · n_features) time.

    References
    ----------
    .. [1] P. Zhao, S. C. H. Hoi, R. Jin, T. Yang. Online AUC maximization. ICML 2011.
    .. [2] Kar (2013), section 6.8.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import roc_auc_score
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernlearn.pairwise import OAM
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = OAM(buffer_size=10, C=1e-3, random_state=0).fit(X[:400], y[:400])
    >>> bool(roc_auc_score(y[400:], model.decision_function(X[400:])) > 0.98)
    True
    """

    buffer_size: int = 100
    _: KW_ONLY
    variant: str = "gradient"
    C: float = 1.0
    buffer: str = "rs"
    average: bool = False
    random_state: Any = None

    path_parameters = ("C",)
    _parameter_constraints = {
        **STREAM_PARAMETERS,
        "buffer_size": [validation.Interval(Integral, 2, None, closed="left")],
        "variant": [validation.StrOptions({"gradient", "sequential"})],
    }

    def _start(self, n_features: int, points: Sequence[Point]) -> None:
        rng, half = check_random_state(self.random_state), self.buffer_size // 2
        # of the negative and of the positive class
        sizes = half, self.buffer_size - half
        self._buffers = [Buffer(self.buffer, size, rng) for size in sizes]
        self._state = StreamState.empty(n_features, self.buffer_size, len(points))

    def _learn(self, X: Floats, codes: Codes, points: Sequence[Point] = ({},)) -> None:
        from kernlearn.pairwise.steps import oam_steps  # numba only where it is needed

        n_points = np.bincount(codes, minlength=2).tolist()
        moves = tuple(buffer.moves(n) for buffer, n in zip(self._buffers, n_points, strict=True))
        Cs = self._numbers(points, "C")
        oam_steps(X, codes, self._state, moves, Cs, self.variant == "sequential")
        self._check_finite(self._state.w)
