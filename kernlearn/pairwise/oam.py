"""OAM: online AUC maximisation with a buffer for each class."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from kernlearn.pairwise.base import OnlineRanker, Reservoir, new_reservoir
from kernlearn.pairwise.buffers import as_buffer


class OAM(OnlineRanker):
    r"""Online AUC maximisation [1]_, the algorithms that OLP is held against in [2]_.

    Each class has a buffer of its own. Point t, with label :math:`y_t = \pm 1`, meets the buffer
    B of the other class, of which N points have been seen, with the weight
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
        How many points both buffers keep together (s), at least 2: half each, and with an odd
        number one more of the positive class. So memory is that of :class:`OLP` with the same
        s, where [1]_ names the size of each buffer.
    variant : {"gradient", "sequential"}, default="gradient"
        Which algorithm.
    C : float, default=1.0
        Scale of the steps, which do not shrink.
    buffer : {"rs", "fifo", "rsx", "rsx2"} or type of Buffer, default="rs"
        Which points are kept, of each class by itself.
    n_passes : int, default=1
        How often `fit` goes over the data, in the order given. `partial_fit` goes once.
    random_state : int, RandomState instance or None, default=None
        Seed for the buffers.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second one is the positive class.
    coef_ : ndarray of shape (1, n_features)
        The last weights, float64.
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
    OLP : One buffer, projections, and averaged weights.

    Notes
    -----
    A step takes O(s · n_features) time. Rows of a sparse X are made dense as they come.

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

    _parameter_constraints: dict[str, list[Any]] = {
        **OnlineRanker._parameter_constraints,
        "buffer_size": [Interval(Integral, 2, None, closed="left")],
        "buffer": [str, type],
        "variant": [StrOptions({"gradient", "sequential"})],
        "C": [Interval(Real, 0, None, closed="neither")],
    }

    # Of the negative and of the positive class.
    _reservoirs: tuple[Reservoir, Reservoir]
    _w: NDArray[np.float64]

    def __init__(
        self,
        buffer_size: int = 100,
        *,
        variant: str = "gradient",
        C: float = 1.0,
        buffer: Any = "rs",
        n_passes: int = 1,
        random_state: Any = None,
    ) -> None:
        self.buffer_size = buffer_size
        self.variant = variant
        self.C = C
        self.buffer = buffer
        self.n_passes = n_passes
        self.random_state = random_state

    def _start(self, n_features: int, rng: np.random.RandomState) -> None:
        half = self.buffer_size // 2
        negative, positive = (
            new_reservoir(as_buffer(self.buffer, size), n_features, rng)
            for size in (half, self.buffer_size - half)
        )
        self._reservoirs = negative, positive
        self._w = np.zeros(n_features)

    def _learn(self, X: NDArray[np.float64], codes: NDArray[np.int64]) -> None:
        from kernlearn.pairwise.steps import oam_steps

        n_kept = np.array([kept.n_kept for kept in self._reservoirs])
        n_new = np.bincount(codes, minlength=2)
        moves = [
            kept.policy.updates(int(n_seen) + 1, int(n), kept.n_kept, kept.rng)
            for kept, n_seen, n in zip(self._reservoirs, self._class_counts, n_new, strict=True)
        ]
        negative, positive = self._reservoirs
        oam_steps(
            X, codes, tuple((m.starts, m.slots, m.sources) for m in moves),
            (negative.rows, positive.rows), (negative.codes, positive.codes),
            self._class_counts.copy(), n_kept, self._w, self._class_sums, float(self.C),
            self.variant == "sequential",
        )  # fmt: skip

    def _weights(self) -> NDArray[np.float64]:
        return self._w.copy()
