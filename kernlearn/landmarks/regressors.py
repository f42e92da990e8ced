"""Numeric targets: RegLand (algorithm 5), RankLand, and the average of Nadaraya and Watson."""

from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state

from kernlearn import choice, memory, validation
from kernlearn.landmarks.base import SimilarityEstimator
from kernlearn.landmarks.models import Head, LandmarkChoice, LandmarkModel
from kernlearn.landmarks.similarities import Landmarks, Reals
from kernlearn.landmarks.training import Grid, Training
from kernlearn.linear.models import regression_paths
from kernlearn.memory import row_blocks
from kernlearn.metrics import check_queries, thesis_ndcg


@dataclass(eq=False, repr=False)
class KernelRegressor(RegressorMixin, SimilarityEstimator):
    r"""Regression by a weighted mean of all training targets (Nadaraya & Watson), any similarity.

    When to use it: regression by any similarity without training.

    The prediction is the average of all training targets, weighted by similarity,

    .. math:: f(x) = \frac{\sum_i K(x, x_i) \, y_i}{\sum_i K(x, x_i)}

    or, by default, by an exponential function of the similarity. The similarity may be indefinite,
    and weights negative. Where all are, as for :math:`-\|x - x_i\|_1` with
    ``weights="similarity"``, distant points have the largest weights in absolute value. The
    prediction is then worse than the mean of the targets, as in table 5.1 of [1]_. The exponential
    function turns a negated distance into a sensible weight. Where weights sum to 0 up to rounding
    the mean of the training targets is predicted.

    Parameters
    ----------
    similarity, kind
        As for :class:`RegLand`.
    weights : {"exponential", "similarity"}, default="exponential"
        exp(K / bandwidth), relative to the greatest of each point so that not all underflow, or
        the similarities K themselves, as in [1]_.
    bandwidth : float, "tenth" or "mean", default="tenth"
        Width of exponential weights, in the unit of the similarity. "mean" is the mean of
        \|K\| over the pairs of training points, for a distance the mean distance, and "tenth"
        a tenth of it.

    Attributes
    ----------
    target_mean_ : float
        Mean of the training targets.
    bandwidth_ : float
        The width; only with ``weights="exponential"``.
    n_features_in_ : int
        Number of features, or of training points with ``similarity="precomputed"``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.

    See Also
    --------
    RegLand : Regression that is linear in the similarities to some training points.

    References
    ----------
    .. [1] Kar (2013), section 5.4, table 5.1.

    Examples
    --------
    >>> from kernlearn.landmarks import KernelRegressor
    >>> X, y = [[0.0], [1.0], [3.0]], [0.0, 1.0, 2.0]
    >>> KernelRegressor("manhattan", weights="similarity").fit(X, y).predict([[0.0]]).round(3)
    array([1.75])
    >>> KernelRegressor("manhattan", bandwidth=1.0).fit(X, y).predict([[0.0]]).round(3)
    array([0.33])
    """

    similarity: Any = "gaussian"
    _: KW_ONLY
    kind: str = "similarity"
    weights: str = "exponential"
    bandwidth: float | str = "tenth"

    _parameter_constraints = {
        **SimilarityEstimator._parameter_constraints,
        "weights": [validation.StrOptions({"similarity", "exponential"})],
        "bandwidth": [validation.POSITIVE, validation.StrOptions({"mean", "tenth"})],
    }
    path_parameters: ClassVar = ("bandwidth",)
    _numeric_targets = True

    @validation.fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Store the training points and their targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points, as for :meth:`RegLand.fit`.
        y : array-like of shape (n_samples,)
            Their targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on the similarities to the training points, not negative.

        Returns
        -------
        self : object
            The fitted regressor.

        Raises
        ------
        ValueError
            If y does not hold one finite number per point, points are not finite, or a matrix
            of similarities is not square.
        """
        return self._fit(X, y, sample_weight=sample_weight)

    def _learn(self, data: Training) -> None:
        landmarks, weights = data.candidates, data.weights
        self._set_landmarks(data.kept())
        self.target_mean_ = float(np.average(data.y, weights=weights))
        # Deviations from the mean: a constant target is predicted as it is, without rounding.
        self._targets = np.column_stack([data.y - self.target_mean_, np.ones(len(data.y))])
        if weights is not None:
            self._targets *= weights[:, np.newaxis] / weights.max()
        self.__dict__.pop("bandwidth_", None)  # of an earlier fit
        if self.weights == "exponential":
            width = self.bandwidth
            if isinstance(width, str):
                mean_size = partial(_mean_size, landmarks, data.similarities.X, weights)
                width = data.once("width", mean_size) * (0.1 if width == "tenth" else 1.0)
            self.bandwidth_ = float(width)

    def predict(self, X: Any) -> Reals:
        """Return the weighted average of the training targets for each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``similarity="precomputed"`` of shape (n_samples, n_training_points).

        Returns
        -------
        ndarray of shape (n_samples,)
            float32 if X is, else float64.
        """
        return self._values(X)

    def _scores(self, weights: Reals, dtype: Any) -> Reals:
        """Return the averages of the targets for points with these similarities."""
        if hasattr(self, "bandwidth_"):
            weights = weights - weights.max(axis=1, keepdims=True)
            weights /= self.bandwidth_
            np.exp(weights, out=weights)
        targets = self._targets.astype(weights.dtype)
        deviations, totals = (weights @ targets).T
        empty = _is_rounding(totals, weights, targets[:, 1])
        totals[empty] = 1
        averages = np.where(empty, 0.0, deviations / totals) + self.target_mean_
        return averages.astype(dtype)

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        # With the default width, or negative weights, the prediction is close to the mean.
        tags.regressor_tags.poor_score = True
        return tags


def _mean_size(landmarks: Landmarks, X: Any, weights: np.ndarray | None) -> float:
    """Return the mean absolute similarity over pairs of points, the landmarks, or 1 if that is 0.

    A point of weight w counts as w points; if there are weights below 1, as w / min w points.
    """
    weights = np.ones(X.shape[0]) if weights is None else weights
    single = min(weights.min(), 1.0) / weights.max()
    weights = weights / weights.max()
    total, n_points = 0.0, float(weights.sum())
    for rows in row_blocks(X.shape[0], X.shape[0]):
        sizes = np.abs(landmarks.compare(X[rows], places=landmarks.indices[rows]))
        # copies of a point are compared with each other, a copy with itself is not
        own = np.diagonal(sizes[:, rows])
        total += float(weights[rows] @ sizes @ weights - single * (weights[rows] @ own))
    return total / (n_points * (n_points - single)) if total > 0 else 1.0


def _is_rounding(totals: Reals, weights: Reals, of_columns: Reals) -> np.ndarray:
    """Return which weighted sums of the rows of a matrix are 0 up to rounding."""
    limits = np.finfo(weights.dtype)
    error = np.sqrt(weights.shape[1]) * limits.eps * (np.abs(weights) @ of_columns)
    # subnormal numbers have few digits
    return np.abs(totals) <= np.maximum(error, limits.tiny / limits.eps)


@dataclass(eq=False, repr=False)
class RegLand(RegressorMixin, LandmarkChoice):
    r"""Predict numbers from similarities to a few landmarks, by support vector regression.

    When to use it: regression with any similarity and few comparisons for each prediction; the
    first to try.

    Algorithm 5 of [1]_ with the ε-insensitive loss. A point is embedded as
    :math:`\Psi(x) = (K(x, l_1), \ldots, K(x, l_d)) / \sqrt d` for d landmarks. Its target is
    predicted as :math:`\langle w, \Psi(x) \rangle`. The similarity may be indefinite.

    The algorithm bounds :math:`\|w\|`; for each bound there is a C with the same solution of
    LIBLINEAR's :math:`\frac12 \|w\|^2 + C \sum_i \ell(x_i, y_i)`, as in the thesis' experiments.

    Parameters
    ----------
    n_landmarks : int, default=100
        Number of landmarks d; all training points, with a warning, if there are fewer.
    similarity : str, Kernel, callable or "precomputed", default="gaussian"
        The name of a kernel, a kernel, a function (X, Y) -> matrix, or "precomputed" if the
        matrices of similarities to the training points are passed as X. A width that depends
        on data is computed from the training points without the held-out ones.
    kind : {"similarity", "distance"}, default="similarity"
        A distance d is used as the similarity -d.
    selection : {"random", "dselect", "kmeans++", "leverage", "rpcholesky"}, default="random"
        How landmarks are chosen from the training points: uniformly; to be unlike each other
        (algorithm 3); or to span the kernel's feature space, as by :class:`BBSClassifier`.
    C : float or sequence of float, default=(0.1, 1, ..., 1e11)
        Weight of the losses against the norm; of several the best on the validation points is
        chosen, see `fit`. The default are the powers of ten.
    epsilon : float or sequence of float, default=0.0
        Error without loss, in the unit of y, which is not scaled: see
        `sklearn.compose.TransformedTargetRegressor`. Of several the best is chosen likewise.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, \
            default="squared_epsilon_insensitive"
        The excess of the error over epsilon, or its square. Both are minimised to convergence,
        for several C in one path.
    fit_intercept : bool, default=True
        Whether to add a constant to the prediction: the mean of the targets and a penalised
        correction of it. Algorithm 5 has none.
    validation_fraction : float or array of int, default=0.2
        Share of the training points, or the indices of those, held out for choosing, see `fit`.
    scoring : str, callable or None, default=None
        A scorer of scikit-learn, which the choice goes by; None for the mean squared error.
    refit : bool, default=True
        Whether the model is trained again on all points, as by :class:`BBSClassifier`.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points and the landmarks.

    Attributes
    ----------
    coef_ : ndarray of shape (n_landmarks,)
        Weights w.
    intercept_ : float
        0 without `fit_intercept`.
    landmark_indices_ : ndarray of shape (n_landmarks,) or None
        Rows of the landmarks in the X passed to `fit`; None where they were given.
    C_, epsilon_ : float
        The values chosen.
    best_params_ : dict
        The values chosen, by parameter name.
    grid_ : dict
        The values to choose from, by parameter, as the axes of `validation_scores_`.
    validation_scores_ : ndarray of shape (n_C, n_epsilon) or None
        Minus the mean squared error on the validation points, both parameters ascending; None
        without such points.
    scale_ : float
        The divisor of similarities, :math:`\sqrt d`.
    n_features_in_ : int
        Number of features, or of training points with ``similarity="precomputed"``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.

    See Also
    --------
    KernelRegressor : The weighted average of all training targets.

    References
    ----------
    .. [1] Kar (2013), algorithm 5, sections 5.3.1 and 5.4, appendix B.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.landmarks import RegLand
    >>> X = np.linspace(-3, 3, 200)[:, None]
    >>> y = np.sin(X).ravel()
    >>> model = RegLand(20, similarity="laplacian", C=10, epsilon=0.01, random_state=0)
    >>> model.fit(X, y).score(X, y) > 0.98
    True
    """

    _: KW_ONLY
    C: Any = tuple(10.0**power for power in range(-1, 12))
    epsilon: Any = 0.0
    loss: str = "squared_epsilon_insensitive"
    fit_intercept: bool = True

    _parameter_constraints = {
        **LandmarkChoice._parameter_constraints,
        "epsilon": [validation.NOT_NEGATIVE, "array-like"],
        "loss": [validation.StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
    }
    path_parameters: ClassVar = ("C", "epsilon", "fit_intercept")

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        # features as small as 1/√d give small weights on few points
        tags.regressor_tags.poor_score = True
        return tags

    def _grid(self) -> Grid:
        epsilons = validation.candidate_values(self.epsilon, "epsilon", zero=True)
        return {"C": validation.candidate_values(self.C, "C"), "epsilon": epsilons}

    def _train(self, features: Reals, data: Training, grid: Grid) -> list[Head]:
        (Cs, epsilons), targets = (values.tolist() for values in grid.values()), data.y
        if np.ptp(targets) > 0 and epsilons[0] > (spread := targets.std()):
            validation.warn(
                f"epsilon={epsilons[0]:g} exceeds the standard deviation of y, {spread:.3g}: "
                "little is learned, since smaller errors have no loss. Lower epsilon"
            )
        how: Any = {"loss": self.loss, "fit_intercept": self.fit_intercept}
        paths = regression_paths(features, targets, Cs, epsilons, weights=data.weights, **how)
        return [
            Head(coef[i], float(intercept[i]), converged[i])
            for i in range(len(Cs))
            for coef, intercept, converged in paths
        ]

    def _keep(self, head: Head) -> Self:
        self.coef_, self.intercept_, self._converged = head.coef, head.intercept, head.converged
        return self


@dataclass(eq=False, repr=False)
class RankLand(LandmarkModel):
    r"""Rank the documents of queries by a linear score on similarities to a few landmarks.

    When to use it: ranking the documents of queries, with any similarity.

    A document z of a query is embedded as
    :math:`\Psi(z) = (K(z, l_1), \ldots, K(z, l_d)) / \sqrt d` and scored by
    :math:`\langle w, \Psi(z) \rangle`. The weights are those of the least

    .. math:: \frac12 \|w\|^2 + C \sum_q \|f(z_q) - \eta(r_q)\|^2, \qquad
              \eta(r) = G(r) / \|G(r)\|_D, \quad G(r) = 2^r - 1,

    where :math:`z_q` and :math:`r_q` are the documents of query q and their relevances and
    :math:`\|G\|_D` is the greatest discounted sum of their gains. The loss bounds 1 - NDCG
    (theorem 5.20).

    Parameters
    ----------
    n_landmarks : int, default=100
        Number of landmarks d; all training points, with a warning, if there are fewer.
    similarity, kind, selection
        As for :class:`RegLand`.
    C : float or sequence of float, default=(1, 100, 1e4, 1e6, 1e8)
        Weight of the loss against the regularizer; of several the best by the mean NDCG of
        held-out queries, ties by the smaller C. The model is then fitted on all queries.
    validation_fraction : float, default=0.2
        Share of the queries with a relevant document, or of the documents of a single query, that
        is held out for choosing C.
    random_state : int, RandomState instance or None, default=None
        Seed of the landmarks and the held-out queries.

    Attributes
    ----------
    landmark_indices_ : ndarray of shape (n_landmarks,) or None
        Rows of the landmarks in the X passed to `fit`; None for points given to it.
    coef_ : ndarray of shape (n_landmarks,)
        The weights w.
    C_ : float
        The C chosen.
    best_params_ : dict
        The values chosen, by parameter name.
    grid_ : dict
        The values to choose from, by parameter, as the axes of `validation_scores_`.
    validation_scores_ : ndarray of shape (n_C,) or None
        Mean NDCG of the held-out queries with each C, ascending; None without such queries.
    scale_ : float
        The divisor of similarities, :math:`\sqrt d`.
    n_features_in_ : int
        Number of features, or of training points with ``similarity="precomputed"``.

    Notes
    -----
    For a query without a relevant document :math:`\eta` is 0 / 0: its documents may be
    landmarks but are not trained on. For a query of one relevant document
    :math:`\eta = \ln 2`. One eigendecomposition of :math:`\Psi^\top \Psi` serves all C.

    References
    ----------
    Kar (2013), section 5.3.4, algorithm 5 and theorem 5.20; Ravikumar, Tewari & Yang (2011).

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.landmarks import RankLand
    >>> rng = np.random.RandomState(0)
    >>> X, query = rng.normal(size=(600, 3)), np.repeat(np.arange(60), 10)
    >>> relevance = np.digitize(np.sin(X[:, 0]) + X[:, 1] ** 2, [1, 2])
    >>> model = RankLand(C=(1, 10, 100), random_state=0)
    >>> model = model.fit(X[:500], relevance[:500], query[:500])
    >>> model.score(X[500:], relevance[500:], query[500:]) > 0.9
    True
    """

    _: KW_ONLY
    C: Any = (1.0, 1e2, 1e4, 1e6, 1e8)
    validation_fraction: float = 0.2

    _parameter_constraints = {
        **LandmarkModel._parameter_constraints,
        "validation_fraction": [validation.FRACTION],
    }
    _numeric_targets = True

    @validation.fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, qid: Any = None, *, landmarks: Any = None) -> Self:
        """Learn to rank the documents of each query.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Documents of all queries, as for :meth:`RegLand.fit`.
        y : array-like of shape (n_samples,)
            Relevances, at least 0.
        qid : array-like of shape (n_samples,), default=None
            The query of each document, in any order; None for a single query.
        landmarks : {array-like, sparse matrix} of shape (d, n_features), default=None
            Points to take as landmarks, ignoring `n_landmarks`; None draws them from X.

        Returns
        -------
        self : object
            The fitted model.

        Raises
        ------
        ValueError
            If an argument is not valid, no document is relevant, or there are several C but a
            single document.
        """
        queries = check_queries(y, qid)
        eta = queries.normalized_gains()
        defined = ~np.isnan(eta)
        data = self._training(X, np.where(defined, eta, 0.0), landmarks=landmarks)
        features = self._embed(data)
        self.n_fit_comparisons_ = data.candidates.comparisons.count
        if not defined.any():
            raise ValueError("y must hold a relevance above 0 among the documents trained on")
        features, eta = features[defined], eta[defined]
        Cs, gains = validation.candidate_values(self.C, "C"), None
        if len(Cs) > 1:
            relevance, codes = queries.relevance[defined], queries.codes[defined]
            units = codes if len(np.unique(codes)) > 1 else np.arange(len(codes))
            distinct = np.unique(units)
            if len(distinct) < 2:
                raise ValueError("C must be a number for one sample: no document is held out")
            rng = check_random_state(self.random_state)
            _, places = choice.hold_out_at_random(len(distinct), self.validation_fraction, rng)
            held = np.isin(units, distinct[places])
            path = ridge_path(features[~held], eta[~held], Cs)
            scores = (features[held] @ path.T).T
            ndcg = [thesis_ndcg(relevance[held], each, qid=codes[held]) for each in scores]
            gains = np.array([ndcg])
        self.grid_ = {"C": Cs}
        self._set_best(gains)
        (self.coef_,) = ridge_path(features, eta, np.array([self.C_]))
        self._dtype = self.coef_.dtype
        return self

    def predict(self, X: Any) -> Reals:
        r"""Predict the score of each document; the greatest of a query ranks first.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``similarity="precomputed"`` of shape (n_samples, n_training_points).

        Returns
        -------
        ndarray of shape (n_samples,)
            Estimates of :math:`\eta`.
        """
        return self._values(X)

    def score(self, X: Any, y: Any, qid: Any = None) -> float:
        """Return the mean NDCG of the queries, as defined in the thesis.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `predict`.
        y : array-like of shape (n_samples,)
            Relevances, at least 0.
        qid : array-like of shape (n_samples,), default=None
            The query of each document; None for one query.

        Returns
        -------
        float
            See :func:`kernlearn.metrics.thesis_ndcg`.
        """
        return float(thesis_ndcg(y, self.predict(X), qid=qid))

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        return tags


def ridge_path(features: Reals, targets: Reals, Cs: np.ndarray) -> Reals:
    r"""Return the minimisers of :math:`\frac12 \|w\|^2 + C \|\Psi w - \eta\|^2`, a row per C.

    They are :math:`(\Psi^\top \Psi + I / (2C))^{-1} \Psi^\top \eta`, of the type of `features`.
    """
    gram = memory.gram(features).astype(np.float64)
    moments = (features.T @ targets).astype(np.float64)
    values, vectors = memory.interruptible(lambda: np.linalg.eigh(gram), 9.0 * len(gram) ** 3)
    # negative eigenvalues are rounding errors
    shrunk = (vectors.T @ moments) / (np.maximum(values, 0.0) + 1 / (2 * Cs[:, None]))
    return (shrunk @ vectors.T).astype(features.dtype)
