"""OLP: online learning with pairwise losses, for the AUC."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from kernlearn.pairwise.base import OnlineRanker, Reservoir, new_reservoir
from kernlearn.pairwise.buffers import as_buffer
from kernlearn.pairwise.losses import (
    Exponential,
    Hinge,
    Logistic,
    PairwiseLoss,
    Squared,
    SquaredHinge,
    as_pairwise_loss,
)

# The numbers of the losses in steps.olp_steps.
_COMPILED: dict[type, int] = {
    Hinge: 0,
    SquaredHinge: 1,
    Logistic: 2,
    Exponential: 3,
    Squared: 4,
}


class OLP(OnlineRanker):
    r"""Online learning with a pairwise loss: a linear function of large AUC from a stream.

    Each point is paired with those in a buffer [1]_. With labels ±1 and the buffer B,
    point t changes the weights to

    .. math::

        w_t = \Pi\Bigl[w_{t-1} - \frac{\eta_t}{|B|} \sum_{(x, y) \in B} \nabla_w\,
              \varphi\bigl(\tfrac{y_t - y}{2} \langle w_{t-1}, x_t - x\rangle\bigr)\Bigr]

    and is then handed to the buffer. A pair of one class says nothing, but counts in |B|.

    Parameters
    ----------
    buffer_size : int, default=50
        How many points are kept (s).
    buffer : {"fifo", "rs", "rsx", "rsx2"}, Buffer or type of Buffer, default="rsx2"
        Which points are kept.
    eta : float, default=1.0
        Scale η of the steps :math:`\eta_t = \eta/\sqrt t`. Not used with a regularisation.
    radius : float or None, default=10.0
        Radius of the ball in which w is kept; None for no bound.
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
        How often `fit` goes over the data, in the order given. `partial_fit` goes once.
    random_state : int, RandomState instance or None, default=None
        Seed for the buffer.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second one is the positive class.
    coef_ : ndarray of shape (1, n_features)
        The weights, float64.
    intercept_ : ndarray of shape (1,)
        Makes the score 0 midway between the means of both classes seen so far. For
        `predict` only, the AUC does not know it. While one class has been seen only, the
        weights are 0 and the intercept ±1, so that this class is predicted.
    n_samples_seen_ : int
        Points of the stream so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.

    See Also
    --------
    OAM : The algorithms of Zhao et al. (2011), with a buffer a class.
    AllPairsSVM : The batch problem over all pairs.

    Notes
    -----
    Line 5 of algorithm 8 adds the gradient; a loss is minimised, so it is subtracted here. With
    y − y' in place of its half, as section 6.6.2 has it, the margin of the hinge would be ½.

    A step takes O(s · n_features) time, and memory is a buffer of dense rows and a block of
    8 MiB, however long the stream. Rows of a sparse X are made dense as they come. More than
    one pass is a longer stream in which points come again, to the buffer too.

    Kernels come in by a feature map in front: see the second example.

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

    _parameter_constraints: dict[str, list[Any]] = {
        **OnlineRanker._parameter_constraints,
        "eta": [Interval(Real, 0, None, closed="neither")],
        "radius": [Interval(Real, 0, None, closed="neither"), None],
        "loss": [str, PairwiseLoss, tuple, list],
        "norm": [StrOptions({"l1", "l2"})],
        "regularization": [Interval(Real, 0, None, closed="left")],
        "average": ["boolean"],
    }

    _reservoir: Reservoir
    _w: NDArray[np.float64]
    # Of the iterates that are not equal to the last one, and how many are equal to it.
    _total: NDArray[np.float64]
    _run: int

    def __init__(
        self,
        buffer_size: int = 50,
        *,
        buffer: Any = "rsx2",
        eta: float = 1.0,
        radius: float | None = 10.0,
        loss: Any = "hinge",
        norm: str = "l2",
        regularization: float = 0.0,
        average: bool = True,
        n_passes: int = 1,
        random_state: Any = None,
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

    def _start(self, n_features: int, rng: np.random.RandomState) -> None:
        policy = as_buffer(self.buffer, self.buffer_size)
        self._reservoir = new_reservoir(policy, n_features, rng)
        self._w = np.zeros(n_features)
        self._total = np.zeros(n_features)
        self._run = 0

    def _learn(self, X: NDArray[np.float64], codes: NDArray[np.int64]) -> None:
        from kernlearn.pairwise import steps  # numba only where it is needed

        kept = self._reservoir
        loss = as_pairwise_loss(self.loss)
        t = self.n_samples_seen_ + 1
        moves = kept.policy.updates(t, len(X), kept.n_kept, kept.rng)
        code = _COMPILED.get(type(loss))
        take_steps: Any = _own_loss_steps if code is None else steps.olp_steps
        self._run = take_steps(
            X, codes, moves.starts, moves.slots, moves.sources, t, kept.rows, kept.codes,
            self._w, self._total, self._class_sums, self._run, loss if code is None else code,
            float(self.eta), float(self.regularization),
            np.inf if self.radius is None else float(self.radius),
            steps.NORM_CODES[self.norm],
        )  # fmt: skip

    def _weights(self) -> NDArray[np.float64]:
        if self.average:
            return (self._total + self._run * self._w) / self.n_samples_seen_
        return self._w.copy()


def _own_loss_steps(
    X: NDArray[np.float64],
    codes: NDArray[np.int64],
    starts: NDArray[np.intp],
    slots: NDArray[np.intp],
    sources: NDArray[np.intp],
    t: int,
    rows: NDArray[np.float64],
    row_codes: NDArray[np.int64],
    w: NDArray[np.float64],
    total: NDArray[np.float64],
    sums: NDArray[np.float64],
    run: int,
    loss: PairwiseLoss,
    eta: float,
    regularization: float,
    radius: float,
    norm: int,
) -> int:
    """Take the steps of :func:`kernlearn.pairwise.steps.olp_steps` with a loss of the user's."""
    from kernlearn.pairwise import steps

    for i, (x, code) in enumerate(zip(X, codes, strict=True)):
        pairs = (2 * code - 1) * (x - rows[row_codes == 1 - code])
        slopes = loss.derivative(pairs @ w)
        total += run * w
        rate = 1 / (regularization * t) if regularization else eta / np.sqrt(t)
        if regularization:
            w *= 1 - 1 / t
        if len(pairs):
            w -= rate / np.count_nonzero(row_codes >= 0) * (slopes @ pairs)
            steps.project(w, radius, norm)
        run = 1
        sums[code] += x
        moved = slice(starts[i], starts[i + 1])
        steps.move(rows, row_codes, x, code, slots[moved], sources[moved])
        t += 1
    return run
