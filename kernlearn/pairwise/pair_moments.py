"""The squared loss of all pairs, from the moments of both classes."""

from dataclasses import KW_ONLY, dataclass
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve

from kernlearn.constraints import NOT_NEGATIVE, POSITIVE
from kernlearn.memory import require_memory
from kernlearn.pairwise.buffers import Array
from kernlearn.pairwise.online_ranking import OnlineRanker, widened

# The weight of a class of which nothing has come for long.
_LEAST = 1e-100


@dataclass(eq=False, repr=False)
class AllPairsMoments(OnlineRanker):
    r"""Linear function of large AUC from the moments of both classes, of a stream of any length.

    When to use it: a stream with few features, above all one that changes (`half_life`).

    It minimises the squared loss of all pairs of a positive and a negative point so far,

    .. math::

        \lambda \|w\|^2 + \sum_{x \in X_+} \sum_{x' \in X_-} p_x p_{x'}
        (1 - \langle w, x - x'\rangle)^2,

    which depends on the pairs only by the means :math:`\mu_\pm` and the covariances
    :math:`\Sigma_\pm` of the classes: with :math:`\delta = \mu_+ - \mu_-` the minimum is at
    :math:`(\Sigma_+ + \Sigma_- + \delta\delta^\top + \lambda I)^{-1} \delta`, in the direction of
    linear discriminant analysis with equal priors. So no pair is left out, and no buffer is
    needed. The weights p of the points of a class sum to 1; with a half-life h that of point i at
    t is in proportion to :math:`2^{-(t - i)/h}`.

    Parameters
    ----------
    regularization : float, default=1e-3
        The λ. With 0 there may be no unique minimum, and the one of least norm is taken.
    half_life : float or None, default=None
        Number of points of the stream, of either class, after which a point has half the weight;
        None for equal weights.
    calibration : {"sigmoid"} or None, default=None
        Whether there are probabilities, see `predict_proba`.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second one is the positive class.
    coef_ : ndarray of shape (1, n_features)
        The weights, float64; solved for when they are first asked for.
    intercept_ : ndarray of shape (1,)
        Makes the score 0 midway between the (weighted) means of both classes.
    means_ : ndarray of shape (2, n_features)
        The (weighted) means of the classes.
    covariances_ : ndarray of shape (2, n_features, n_features)
        Their covariances, divided by the sum of the weights.
    n_samples_seen_, n_features_in_, feature_names_in_
        As of :class:`OLP`.

    See Also
    --------
    OLP : Other losses, and many features.
    AllPairsSVM : The squared hinge, in batch.
    kernlearn.onepass.OnePassRankRLS : Features of a map, a choice of penalty, and the same bits
        for any order of the points; nothing is forgotten.

    Notes
    -----
    A point takes O(n_features²) time, the weights O(n_features³) when they are asked for, and
    memory is O(n_features²). Rows are dense in blocks.

    References
    ----------
    W. Gao, R. Jin, S. Zhu, Z.-H. Zhou. One-pass AUC optimization. ICML 2013, where the same
    moments give gradient steps.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import roc_auc_score
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernlearn.pairwise import AllPairsMoments
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = AllPairsMoments().fit(X[:400], y[:400])
    >>> bool(roc_auc_score(y[400:], model.decision_function(X[400:])) > 0.98)
    True
    """

    regularization: float = 1e-3
    _: KW_ONLY
    half_life: float | None = None
    calibration: str | None = None

    _parameter_constraints = {
        "regularization": [NOT_NEGATIVE],
        "half_life": [POSITIVE, None],
        "calibration": OnlineRanker._parameter_constraints["calibration"],
    }
    n_passes = 1

    def _start(self, n_features: int) -> None:
        require_memory(
            16 * n_features**2,
            None,
            f"two covariances of {n_features} features",
            "take OLP, whose memory is that of its buffer",
        )
        self._masses = np.zeros(2)
        self.means_ = np.zeros((2, n_features))
        self.covariances_ = np.zeros((2, n_features, n_features))
        self._solution: Array | None = None

    def _learn(self, X: Array, codes: NDArray[np.int64]) -> None:
        self._solution = None
        n, seen = len(X), self._masses > 0
        decay = 1.0 if self.half_life is None else 0.5 ** (1.0 / self.half_life)
        self._masses[seen] = np.maximum(self._masses[seen] * decay**n, _LEAST)
        if n == 1:
            from kernlearn.pairwise.score_steps import add_to_moments

            code = int(codes[0])
            self._masses[code] += 1.0
            share = 1.0 / self._masses[code]
            add_to_moments(X[0], share, self.means_[code], self.covariances_[code])
            return
        for code in (0, 1):
            places = np.flatnonzero(codes == code)
            if not len(places):
                continue
            rows = X[places]
            weights = decay ** (n - 1.0 - places)
            mass = weights.sum()
            mean = weights @ rows / mass
            rows -= mean
            covariance = rows.T @ (weights[:, np.newaxis] * rows) / mass
            # the moments of both parts together
            self._masses[code] += mass
            share = mass / self._masses[code]
            shift = mean - self.means_[code]
            self.means_[code] += share * shift
            covariance += (1.0 - share) * np.outer(shift, shift)
            self.covariances_[code] += share * (covariance - self.covariances_[code])

    def _weights(self) -> Array:
        if self._solution is None:
            both = self._masses.all()
            self._solution = self._minimum() if both else np.zeros(self.means_.shape[1])
        return self._solution

    def _minimum(self) -> Array:
        difference = self.means_[1] - self.means_[0]
        matrix = self.covariances_.sum(axis=0) + np.outer(difference, difference)
        if not np.isfinite(matrix).all():
            return np.full(len(difference), np.nan)
        if not self.regularization:
            return np.asarray(np.linalg.lstsq(matrix, difference, rcond=None)[0])
        matrix[np.diag_indices_from(matrix)] += self.regularization
        return np.asarray(solve(matrix, difference, assume_a="pos", check_finite=False))

    def _mean_of_iterates(self) -> tuple[Array, Array, float, float]:
        w = self._weights()
        return w, w[:0], 1.0, 1.0

    def _latest(self) -> Array:
        return self.means_

    def _widen(self, n_features: int) -> None:
        self.means_ = widened(self.means_, n_features)
        wide = widened(self.covariances_, n_features)
        self.covariances_ = np.swapaxes(widened(np.swapaxes(wide, 1, 2), n_features), 1, 2).copy()
        self._solution = None

    def _function(self) -> tuple[Array, Array]:
        n = self.n_features_in_
        return self._weights()[np.newaxis, :n].copy(), np.array([self._intercept()])

    def _intercept(self) -> float:
        if self._masses.all():
            return -float(self._weights() @ self.means_.mean(axis=0))
        return super()._intercept()

    def _sigmoid(self) -> tuple[float, float]:
        """Return the slope and the offset, from the moments of the scores, which are known."""
        masses = self._masses
        odds = log((masses[1] + 0.5) / (masses[0] + 0.5))
        if not masses.all():
            return 0.0, odds
        w = self._weights()
        variances = np.einsum("i,cij,j->c", w, self.covariances_, w)
        variance = float(masses @ variances / masses.sum())
        distance = float(w @ (self.means_[1] - self.means_[0]))
        if variance <= 0.0 or distance <= 0.0:
            return 0.0, odds
        # a decision value of 0 is midway between the classes
        return distance / variance, odds
