"""RankLand: ranking by a linear function of similarities to landmarks."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from kernlearn.constraints import FRACTION, POSITIVE, StrOptions, fit_context
from kernlearn.landmarks.base import LandmarkedModel
from kernlearn.landmarks.selection import BY_SIMILARITY
from kernlearn.landmarks.similarity import Floats, Indices
from kernlearn.metrics import check_queries, thesis_ndcg
from kernlearn.model_selection import candidate_values, hold_out_at_random


@dataclass(eq=False, repr=False)
class RankLand(LandmarkedModel):
    r"""Ranking by a linear score in the space of similarities to landmarks.

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
    n_landmarks : int, default=50
        Number of landmarks d; all training points, with a warning, if there are fewer.
    similarity, kind, selection
        As for :class:`RegLand`.
    C : float or sequence of float, default=1.0
        Weight of the loss against the regularizer; of several the best by the mean NDCG of
        held-out queries, ties by the smaller C. The model is then fitted on all queries.
    validation_fraction : float, default=0.2
        Share of the queries with a relevant document that is held out for choosing C.
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

    n_landmarks: int = 50
    _: KW_ONLY
    similarity: Any = "gaussian"
    kind: str = "similarity"
    selection: str = "random"
    C: Any = 1.0
    validation_fraction: float = 0.2
    random_state: Any = None

    _parameter_constraints = {
        **LandmarkedModel._parameter_constraints,
        "selection": [StrOptions({"random", *BY_SIMILARITY})],
        "C": [POSITIVE, "array-like"],
        "validation_fraction": [FRACTION],
    }

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, qid: Any = None, landmarks: Any = None) -> Self:
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
            If an argument is not valid, no document is relevant, or there are several C but
            fewer than two queries with a relevant document.
        """
        Cs = candidate_values(self.C, "C")
        queries = check_queries(y, qid)
        eta = queries.normalized_gains()
        defined = ~np.isnan(eta)
        X, targets = self._check_training(X, np.where(defined, eta, 0.0))
        rng, everything = check_random_state(self.random_state), np.arange(len(eta))
        features, _ = self._embed_training(
            X, targets, everything, landmarks, rng, self.n_landmarks
        )
        if not defined.any():
            raise ValueError("y must hold a relevance above 0 among the documents trained on")
        features, eta = features[defined], eta[defined]
        self.C_, self.validation_scores_ = float(Cs[0]), None
        if len(Cs) > 1:
            relevance, codes = queries.relevance[defined], queries.codes[defined]
            held = np.isin(codes, self._held_out(codes))
            path = ridge_path(features[~held], eta[~held], Cs)
            self.validation_scores_ = np.array(
                [
                    thesis_ndcg(relevance[held], scores, qid=codes[held])
                    for scores in (features[held] @ path.T).T
                ]
            )
            self.C_ = float(Cs[self.validation_scores_.argmax()])
        (self.coef_,) = ridge_path(features, eta, np.array([self.C_]))
        return self

    def _held_out(self, codes: Indices) -> Indices:
        """Return the queries that are held out, of the codes of those with a relevant document."""
        distinct = np.unique(codes)
        if len(distinct) < 2:
            raise ValueError(
                "C may be several numbers only if there are two queries at least with a relevant "
                f"document, got {len(distinct)}"
            )
        rng = check_random_state(self.random_state)
        _, held_out = hold_out_at_random(len(distinct), self.validation_fraction, rng)
        return distinct[held_out]

    def predict(self, X: Any) -> Floats:
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
        return self._products(X)

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


def ridge_path(features: Floats, targets: Floats, Cs: np.ndarray) -> Floats:
    r"""Return the minimisers of :math:`\frac12 \|w\|^2 + C \|\Psi w - \eta\|^2`, a row per C.

    They are :math:`(\Psi^\top \Psi + I / (2C))^{-1} \Psi^\top \eta`, of the type of `features`.
    """
    gram = (features.T @ features).astype(np.float64)
    moments = (features.T @ targets).astype(np.float64)
    values, vectors = np.linalg.eigh(gram)
    # negative eigenvalues are rounding errors
    shrunk = (vectors.T @ moments) / (np.maximum(values, 0.0) + 1 / (2 * Cs[:, None]))
    return (shrunk @ vectors.T).astype(features.dtype)
