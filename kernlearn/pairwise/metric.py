"""Online learning of a Mahalanobis metric from labelled points."""

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any

import numpy as np
from scipy.linalg import eigh
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlearn.constraints import COUNT, StrOptions
from kernlearn.pairwise.buffers import Array, Indices
from kernlearn.pairwise.projections import project_psd, project_trace_norm
from kernlearn.pairwise.stream import OnlinePairLearner


@dataclass(eq=False, repr=False)
class OnlineMetricLearner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, OnlinePairLearner):
    r"""A Mahalanobis metric from a stream: points of one class close, others apart.

    When to use it: distances that should see only what tells classes apart, from a stream.

    The squared distance :math:`d_M^2(x, x') = (x - x')^\top M (x - x')` of a positive
    semi-definite M is learned with the loss of [1]_

    .. math:: \ell(M, z, z') = \varphi\bigl(y y' (1 - d_M^2(x, x'))\bigr)

    of pairs of a point with those in a buffer; :math:`y y'` is +1 for points of one class and -1
    for others. `transform` maps points such that their Euclidean distance is the learned one.

    Parameters
    ----------
    n_components : int, "rank" or None, default=None
        Number of coordinates that `transform` returns, those of the largest eigenvalues of M:
        all n_features for None (those of eigenvalue 0 are 0), and for "rank" those with an
        eigenvalue above rounding, at least one.
    eta : float, default=0.1
        Scale η of the steps :math:`\eta_t = \eta/\sqrt t`, in the unit of M / distance²: see
        the notes. Not used with regularisation.
    radius : float or None, default=None
        Radius of the ball that contains M; None for no bound.
    norm : {"l2", "trace_norm"}, default="l2"
        The norm of the ball, Frobenius or trace norm; the latter favours a low rank.
    buffer_size, buffer, loss, regularization, average, n_passes, random_state
        As in :class:`OLP`, for M.

    Attributes
    ----------
    metric_ : ndarray of shape (n_features, n_features)
        The matrix M, float64.
    components_ : ndarray of shape (n_components, n_features)
        :math:`L^\top` of :math:`M = L L^\top`, rows by descending eigenvalue; the largest entry
        of a row is positive. With fewer components than the rank, of M without the rest.
    classes_ : ndarray of shape (n_classes,)
        The labels seen.
    n_samples_seen_, n_features_in_, feature_names_in_
        As of :class:`OLP`.

    Notes
    -----
    The loss as printed has :math:`M_W^2` where :math:`M_W` is already the quadratic form. Squared
    once more it would be neither linear in W, as the analysis below it needs, nor convex for
    points of two classes; the quadratic form itself is meant, as in Jin et al. (2009).

    The initial M is 0, and grows only by pairs of two classes: for one class M stays 0, and all
    points are mapped to 0. `fit` refuses data of one class, `partial_fit` does not.

    A step takes O(s · n_features²) time, and O(n_features³) if a pair has a loss, as M is then
    projected. Every step is projected, as the regret bounds assume. A gradient is as large as a
    squared distance, so that features must be scaled and `eta` has to decrease with the square of
    their number: for standardised features, 30 / n_features² is a reasonable start.

    References
    ----------
    .. [1] Kar (2013), section 6.6.3 and algorithm 8, after R. Jin, S. Wang, Y. Zhou (2009),
       "Regularized distance metric learning: theory and algorithm".

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.pairwise import OnlineMetricLearner
    >>> rng = np.random.RandomState(0)
    >>> X = rng.uniform(-1, 1, size=(200, 2))
    >>> y = X[:, 0] > 0
    >>> model = OnlineMetricLearner(n_components=1, random_state=0).fit(X, y)
    >>> model.transform(X).shape
    (200, 1)
    >>> bool(model.metric_[0, 0] > 5 * model.metric_[1, 1])
    True
    """

    n_components: int | str | None = None
    _: KW_ONLY
    buffer_size: int = 50
    buffer: Any = "rsx2"
    eta: float = 0.1
    radius: float | None = None
    loss: Any = "hinge"
    norm: str = "l2"
    regularization: float = 0.0
    average: bool = True
    n_passes: int = 1
    random_state: Any = None

    _parameter_constraints = {
        **OnlinePairLearner._parameter_constraints,
        "n_components": [COUNT, StrOptions({"rank"}), None],
        "norm": [StrOptions({"l2", "trace_norm"})],
    }

    def transform(self, X: Any) -> np.ndarray:
        r"""Map points such that their Euclidean distance is the learned one.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            :math:`X L`, float32 if X is, else float64.

        Raises
        ------
        ValueError
            If X has another number of features or contains NaN or infinity.
        """
        check_is_fitted(self)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )
        return np.asarray(X @ self.components_.T.astype(X.dtype, copy=False))

    def _start(self, X: Array, y: np.ndarray) -> Array:
        n_features = X.shape[1]
        if isinstance(self.n_components, Integral) and self.n_components > n_features:
            raise ValueError(
                f"'n_components' must be at most the number of features, {n_features}, got "
                f"{self.n_components}"
            )
        return np.zeros((n_features, n_features))

    def _project(self, w: Array) -> Array:
        if self.norm == "trace_norm":
            return project_trace_norm(w, self._radius, positive_semidefinite=True)
        return project_psd(w, self._radius)

    def _gradient(
        self, w: Array, block: Any, i: int, others: Indices, signs: Array
    ) -> Array | None:
        differences = block[i] - block[others]
        distances = np.einsum("ij,ij->i", differences @ w, differences)
        slopes = -signs * self._loss.derivative(signs * (1 - distances)) / len(others)
        active = slopes != 0
        differences = differences[active]
        return (differences.T * slopes[active]) @ differences if active.any() else None

    def _publish(self, w: Array) -> None:
        self.metric_ = (w + w.T) / 2
        values, vectors = eigh(self.metric_)
        values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1]
        n: Any = self.n_components
        if n is None:
            n = len(values)
        elif n == "rank":
            threshold = values[0] * len(values) * np.finfo(np.float64).eps
            n = max(1, np.count_nonzero(values > threshold))
        components = (vectors[:, :n] * np.sqrt(values[:n])).T
        largest = np.abs(components).argmax(axis=1)
        components[components[np.arange(n), largest] < 0] *= -1
        self.components_ = components

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
