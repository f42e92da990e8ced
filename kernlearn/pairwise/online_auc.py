"""Online learners of linear functions with large AUC: OLP and OAM."""

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from kernlearn.constraints import POSITIVE, Interval, StrOptions
from kernlearn.pairwise import losses
from kernlearn.pairwise.buffer_names import as_buffer
from kernlearn.pairwise.buffers import Array
from kernlearn.pairwise.drift_buffers import N_DRAWS, AwareBuffer, KnownAwareBuffer
from kernlearn.pairwise.online_ranking import OnlineRanker, widened
from kernlearn.pairwise.reservoirs import Reservoir
from kernlearn.pairwise.stream import SteppingLearner

# The numbers of the losses in steps.olp_steps.
_COMPILED: dict[type, int] = {
    losses.Hinge: 0,
    losses.SquaredHinge: 1,
    losses.Logistic: 2,
    losses.Exponential: 3,
    losses.Squared: 4,
}
# Sparse rows are taken as they are if they have less than this share of numbers.
_DENSE = 0.2
_NO_DRAWS = np.zeros((0, N_DRAWS))


@dataclass(eq=False, repr=False)
class OLP(SteppingLearner, OnlineRanker):
    r"""Online learning with a pairwise loss: a linear function of large AUC from a stream.

    When to use it: ranking two classes, rare positives above all, from a stream of any length.

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
    buffer : {"fifo", "rs", "rsx", "rsx2", "time_biased", "class_balanced", "loss_weighted"}, \
            Buffer, type of Buffer or dict, default="rsx2"
        The policy of the buffer, see :func:`as_buffer`. It may look at the points, which
        "class_balanced", "loss_weighted" and any :class:`AwareBuffer` do; the theory is for those
        that do not.
    eta : float, default=1.0
        Scale η of the steps :math:`\eta_t = \eta/\sqrt t`. Not used with regularisation.
    radius : float or None, default=10.0
        Radius of the ball that contains w; None for no bound.
    loss : str, PairwiseLoss or pair of callables, default="hinge"
        The φ: "hinge", "squared_hinge", "logistic", "exponential", "squared", or a function
        and its derivative (see :class:`CallableLoss`), which is slower.
    norm : {"l2", "l1"}, default="l2"
        The norm of the ball; "l1" makes w sparse.
    regularization : float, default=0.0
        λ of a strongly convex regulariser λ/2 ‖w‖² in each loss, with which the steps are
        :math:`\eta_t = 1/(\lambda t)` (section 6.4).
    average : bool, default=True
        Whether the weights are the mean of :math:`w_1, \dots, w_n`, to which the theory
        applies, or :math:`w_n`.
    n_passes : int, default=1
        Passes of `fit` over the data, in the given order. `partial_fit` makes one.
    calibration : {"sigmoid"} or None, default=None
        Whether there are probabilities, see `predict_proba`; learning is the same.
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
    buffer_classes_ : ndarray
        The labels of the points in the buffer, slot by slot.
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
    rows, whatever the length of the stream. For sparse rows with few numbers a step of
    `partial_fit` and `fit` takes time in proportion to those in the buffer, unless the norm is
    "l1" or the loss or an aware buffer is user-defined; the weights are those of dense rows up to
    rounding. More than one pass is a longer stream in which points
    come again, also for the buffer.

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
    buffer: Any = "rsx2"
    eta: float = 1.0
    radius: float | None = 10.0
    loss: Any = "hinge"
    norm: str = "l2"
    regularization: float = 0.0
    average: bool = True
    n_passes: int = 1
    calibration: str | None = None
    random_state: Any = None

    _aware = True
    _parameter_constraints = {
        **OnlineRanker._parameter_constraints,
        **SteppingLearner._parameter_constraints,
        "norm": [StrOptions({"l1", "l2"})],
    }

    def _start(self, n_features: int) -> None:
        self._restart(np.zeros(n_features), n_features)

    def _learn(self, X: Array, codes: np.ndarray) -> None:
        from kernlearn.pairwise import steps  # numba only where it is needed

        loss = losses.as_pairwise_loss(self.loss)
        if not self._is_compiled(loss):
            self._learn_slowly(X, codes, loss)
            return
        self._run = steps.olp_steps(X, codes, *self._state(loss, len(X)))

    def _learn_rows(self, X: Any, codes: np.ndarray) -> bool:
        loss = losses.as_pairwise_loss(self.loss)
        n, d = X.shape
        pays = X.nnz + d < _DENSE * n * d
        if self.norm != "l2" or not pays or not self._is_compiled(loss):
            return False
        from kernlearn.pairwise.sparse_steps import olp_sparse_steps

        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        data = X.data.astype(np.float64, copy=False)
        # read-only or not, one compiled version
        numbers = [part.view() for part in (data, X.indices, X.indptr)]
        for part in numbers:
            part.flags.writeable = False
        steps: Any = olp_sparse_steps
        self._run = steps(*numbers, codes, *self._state(loss, n))
        return True

    def _is_compiled(self, loss: losses.PairwiseLoss) -> bool:
        kept = self._reservoir
        return type(loss) in _COMPILED and (
            not kept.aware or isinstance(kept.policy, KnownAwareBuffer)
        )

    def _state(self, loss: losses.PairwiseLoss, n_steps: int) -> tuple[Any, ...]:
        """Return the arguments of `steps.olp_steps` after the points and their classes."""
        from kernlearn.pairwise.steps import NORM_CODES

        kept, policy, t = self._reservoir, self._reservoir.policy, self.n_samples_seen_ + 1
        aware, chance, draws = -1, 0.0, _NO_DRAWS
        if isinstance(policy, KnownAwareBuffer):
            aware, chance, draws = policy.policy, policy.chance, kept.draws(n_steps)
        return (
            kept.moves(t, n_steps),
            t,
            kept.rows,
            kept.codes,
            self._w,
            self._total,
            self._class_sums,
            self._run,
            _COMPILED[type(loss)],
            float(self.eta),
            float(self.regularization),
            self._radius,
            NORM_CODES[self.norm],
            bool(self.average),
            self._link,
            aware,
            chance,
            kept.state,
            draws,
        )

    def _learn_slowly(self, X: Any, codes: Any, loss: losses.PairwiseLoss) -> None:
        """Take the steps of :func:`steps.olp_steps` with a user-defined loss or buffer."""
        from kernlearn.pairwise import steps
        from kernlearn.pairwise.score_steps import mean_score, observe

        kept, w, regularization = self._reservoir, self._w, float(self.regularization)
        norm = steps.NORM_CODES[self.norm]
        moves = kept.moves(self.n_samples_seen_ + 1, len(X))
        draws = kept.draws(len(X)) if kept.aware else _NO_DRAWS
        for i, (x, code) in enumerate(zip(X, codes, strict=True)):
            t = self.n_samples_seen_ + 1 + i
            if len(self._link):
                observe(self._link, code, mean_score(x, *self._mean_of_iterates(t - 1)))
            pairs = (2 * code - 1) * (x - kept.rows[kept.codes == 1 - code])
            margins = pairs @ w
            slopes = loss.derivative(margins)
            self._total += self._run * w
            rate = 1 / (regularization * t) if regularization else float(self.eta) / np.sqrt(t)
            if regularization:
                w *= 1 - 1 / t
            if len(pairs):
                w -= rate / kept.n_kept * (slopes @ pairs)
                steps.project(w, self._radius, norm)
            self._run = 1
            self._class_sums[code] += x
            if isinstance(kept.policy, AwareBuffer):
                value = float(loss.value(margins if len(margins) else np.zeros(1)).mean())
                kept.admit(kept.policy, t, x, code, value, draws[i])
            else:
                steps.move(kept.rows, kept.codes, x, code, *moves.of_step(i))

    def _mean_of_iterates(self, n_seen: int | None = None) -> tuple[Array, Array, float, float]:
        if not self.average:
            return self._w, self._w[:0], 1.0, 1.0
        n = self.n_samples_seen_ if n_seen is None else n_seen
        return self._w, self._total, float(self._run), float(n)

    def _latest(self) -> Array:
        return self._w

    def _widen(self, n_features: int) -> None:
        self._w, self._total = widened(self._w, n_features), widened(self._total, n_features)
        self._reservoir.rows = widened(self._reservoir.rows, n_features)

    @property
    def buffer_classes_(self) -> np.ndarray:
        """The labels of the points in the buffer."""
        codes = self._reservoir.codes
        return self.classes_[codes[codes >= 0]]


@dataclass(eq=False, repr=False)
class OAM(OnlineRanker):
    r"""Online AUC maximisation [1]_, the algorithms that OLP is compared with in [2]_.

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
    buffer : {"rs", "fifo", "rsx", "rsx2", "time_biased"}, type of Buffer or dict, default="rs"
        The policy of each buffer, which knows no more than the number of a point in its class;
        see :func:`as_buffer`.
    average : bool, default=False
        Whether the weights are the mean of :math:`w_1, \dots, w_n`, as OLP's are by default; the
        algorithms of [1]_ return :math:`w_n`.
    n_passes, calibration, random_state
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
    buffer: Any = "rs"
    average: bool = False
    n_passes: int = 1
    calibration: str | None = None
    random_state: Any = None

    _parameter_constraints = {
        **OnlineRanker._parameter_constraints,
        "buffer_size": [Interval(Integral, 2, None, closed="left")],
        "buffer": [str, type, dict],
        "variant": [StrOptions({"gradient", "sequential"})],
        "C": [POSITIVE],
        "average": ["boolean"],
    }

    def _start(self, n_features: int) -> None:
        rng, half = check_random_state(self.random_state), self.buffer_size // 2
        # of the negative and of the positive class
        self._reservoirs = [
            Reservoir(as_buffer(self.buffer, size), n_features, rng)
            for size in (half, self.buffer_size - half)
        ]
        self._w, self._w_sum = np.zeros(n_features), np.zeros(n_features)

    def _learn(self, X: Array, codes: np.ndarray) -> None:
        from kernlearn.pairwise.steps import oam_steps

        negative, positive = self._reservoirs
        n_positive = int(codes.sum())
        n_seen = self._class_counts.copy()
        moves = (
            negative.moves(int(n_seen[0]) + 1, len(codes) - n_positive),
            positive.moves(int(n_seen[1]) + 1, n_positive),
        )
        oam_steps(
            X,
            codes,
            moves,
            (negative.rows, positive.rows),
            (negative.codes, positive.codes),
            n_seen,
            np.array([negative.n_kept, positive.n_kept]),
            self._w,
            self._w_sum,
            self._class_sums,
            float(self.C),
            self.variant == "sequential",
            bool(self.average),
            self._link,
        )

    def _weights(self) -> Array:
        return self._w_sum / max(self.n_samples_seen_, 1) if self.average else self._w.copy()

    def _mean_of_iterates(self) -> tuple[Array, Array, float, float]:
        if not self.average:
            return self._w, self._w[:0], 1.0, 1.0
        return self._w, self._w_sum, 0.0, float(self.n_samples_seen_)

    def _latest(self) -> Array:
        return self._w

    def _widen(self, n_features: int) -> None:
        self._w, self._w_sum = widened(self._w, n_features), widened(self._w_sum, n_features)
        for kept in self._reservoirs:
            kept.rows = widened(kept.rows, n_features)
