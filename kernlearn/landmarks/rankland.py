"""RankLand: ranking by a linear function of similarities to landmarks."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from kernlearn.constraints import FRACTION, POSITIVE, fit_context
from kernlearn.landmarks.base import Floats, LandmarkedModel, float_type
from kernlearn.landmarks.growth import (
    GROWTH,
    Candidate,
    check_growth,
    grow_landmarks,
    growing_sizes,
)
from kernlearn.landmarks.similarity import Indices
from kernlearn.metrics.grades import RankedQueries, check_queries, thesis_ndcg
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
    n_landmarks : int or "auto", default=50
        Number of landmarks d; all training points, with a warning, if there are fewer. "auto"
        tries 5, 10, 20, and so on, while the NDCG of held-out queries gains, as by
        :class:`BBSClassifier`; the model is then fitted on all queries.
    max_comparisons : int, default=None
        Most landmarks that "auto" tries, and so most comparisons of a prediction; None is all.
    similarity, kind, selection
        As for :class:`RegLand`.
    double_dipping : bool, default=True
        Whether landmarks are also trained on (appendix B).
    C : float or sequence of float, default=1.0
        Weight of the loss against the regularizer; of several the best by the mean NDCG of
        held-out queries, ties by the smaller C. The model is then fitted on all queries.
    validation_fraction : float, default=0.2
        Share of the queries with a relevant document that is held out for choosing C and the
        number of landmarks.
    random_state : int, RandomState instance or None, default=None
        Seed of the landmarks and the held-out queries.
    n_jobs, verbose
        As for :class:`BBSClassifier`.

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
    growth_ : tuple of TriedSize
        What ``n_landmarks="auto"`` tried.
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

    n_landmarks: int | str = 50
    _: KW_ONLY
    max_comparisons: int | None = None
    similarity: Any = "gaussian"
    kind: str = "similarity"
    selection: str = "random"
    double_dipping: bool = True
    C: Any = 1.0
    validation_fraction: float = 0.2
    random_state: Any = None
    n_jobs: int | None = None
    verbose: Any = False

    _parameter_constraints = {
        **LandmarkedModel._parameter_constraints,
        **GROWTH,
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
            If an argument is not valid, no document is relevant, or there are several C or
            ``n_landmarks="auto"`` but fewer than two queries with a relevant document.
        """
        Cs = candidate_values(self.C, "C")
        queries = check_queries(y, qid)
        eta = queries.normalized_gains()
        defined = ~np.isnan(eta)
        X, targets = self._check_training(X, np.where(defined, eta, 0.0))
        growing = check_growth(self.n_landmarks, self.max_comparisons) and landmarks is None
        self.__dict__.pop("growth_", None)  # of an earlier fit
        rng, everything = check_random_state(self.random_state), np.arange(len(eta))
        self.validation_scores_ = None
        if growing:
            features, rows, self.C_ = self._grow(X, targets, queries, defined, Cs, rng)
        else:
            n_drawn = 0 if isinstance(self.n_landmarks, str) else self.n_landmarks
            features, rows = self._embed_training(X, targets, everything, landmarks, rng, n_drawn)
        trained = defined[rows]
        if not trained.any():
            raise ValueError("y must hold a relevance above 0 among the documents trained on")
        features, rows = features[trained], rows[trained]
        eta = eta[rows]
        if not growing:
            self.C_ = float(Cs[0])
        if len(Cs) > 1 and not growing:
            relevance, codes = queries.relevance[rows], queries.codes[rows]
            held = np.isin(codes, self._held_out(codes, "C may be several numbers"))
            path = ridge_path(features[~held], eta[~held], Cs)
            self.validation_scores_ = np.array(
                [
                    # ignore a query whose relevant documents are landmarks, not trained on
                    thesis_ndcg(relevance[held], f, qid=codes[held], no_relevant=np.nan)
                    for f in (features[held] @ path.T).T
                ]
            )
            self.C_ = float(Cs[self.validation_scores_.argmax()])
        (self.coef_,) = ridge_path(features, eta, np.array([self.C_]))
        return self

    def _held_out(self, codes: Indices, what: str) -> Indices:
        """Return the queries that are held out, of the codes of those with a relevant document."""
        distinct = np.unique(codes)
        if len(distinct) < 2:
            raise ValueError(
                f"{what} only if there are two queries at least with a relevant document, got "
                f"{len(distinct)}: give one C and a number of landmarks"
            )
        rng = check_random_state(self.random_state)
        _, held_out = hold_out_at_random(len(distinct), self.validation_fraction, rng)
        return distinct[held_out]

    def _grow(
        self,
        X: Any,
        targets: np.ndarray,
        queries: RankedQueries,
        defined: np.ndarray,
        Cs: np.ndarray,
        rng: np.random.RandomState,
    ) -> tuple[Floats, Indices, float]:
        """Choose landmarks as long as held-out queries gain, and C.

        Return the embedding of the documents trained on, and their rows.
        """
        everything = np.arange(len(targets))
        candidates, similarities = self._similarities(X, targets, everything)
        held_out = self._held_out(queries.codes[defined], "n_landmarks='auto' is")
        held = np.flatnonzero(np.isin(queries.codes, held_out))
        kept = defined.copy()
        kept[held] = False
        relevance, codes = queries.relevance[held], queries.codes[held]

        def embedded(chosen: Indices, rows: Indices) -> Floats:
            scale = np.sqrt(len(chosen))
            values: Floats = similarities.columns(chosen, rows) / scale
            return values.astype(float_type(X), copy=False)

        def fit(chosen: Indices, _: Any) -> Candidate:
            rows = np.flatnonzero(kept)
            if not self.double_dipping:
                rows = np.setdiff1d(rows, chosen)
            path = ridge_path(embedded(chosen, rows), targets[rows], Cs)
            of_queries = np.array(
                [
                    thesis_ndcg(relevance, scores, qid=codes, per_query=True)
                    for scores in (embedded(chosen, held) @ path.T).T
                ]
            )
            scores = of_queries.mean(axis=1)
            best = int(scores.argmax())
            return Candidate(chosen, float(Cs[best]), scores, 1.0 - of_queries[best])

        sizes = growing_sizes(len(targets) - (not self.double_dipping), self.max_comparisons)
        groups = np.zeros(len(targets), dtype=np.intp)
        found, self.growth_ = grow_landmarks(
            candidates, similarities, groups, None, None, sizes, self.selection, rng, fit
        )
        self.validation_scores_ = found.scores
        values, rows = self._embedded(candidates, similarities, found.chosen, everything)
        features = np.ascontiguousarray(self._scaled(values), dtype=float_type(X))
        return features, rows, found.model

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
