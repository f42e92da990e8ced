"""RegLand-Sp: regression with a few landmarks, chosen greedily from a pool."""

import warnings
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, check_memory

from kernlearn.constraints import (
    COUNT,
    FRACTION,
    MEMORY,
    NOT_NEGATIVE,
    POSITIVE,
    StrOptions,
    fit_context,
)
from kernlearn.landmarks.base import Floats, LandmarkedModel
from kernlearn.landmarks.growth import GROWTH, Candidate, check_growth, grow, growing_sizes
from kernlearn.landmarks.pool import Pool, draw_pool
from kernlearn.landmarks.similarity import Indices, KeptSimilarities
from kernlearn.model_selection import split_for_choice
from kernlearn.sample_weights import check_weights
from kernlearn.solvers.greedy import RULES, GreedyPath, LeastSquares, forward_greedy


@dataclass(eq=False, repr=False)
class SparseRegLand(RegressorMixin, LandmarkedModel):
    r"""Regression that is linear in the similarities to a few landmarks chosen from a pool.

    When to use it: as :class:`RegLand`, where predictions must be cheap or explained by a few
    points.

    The predictor is :math:`f(x) = b + \sum_j w_j K(x, l_j)`. The landmarks :math:`l_j` are chosen
    one by one from a pool of training points, by forward greedy selection for the best fit. A
    new point is compared with the chosen ones only. The similarity may be indefinite. This is
    the thesis' RegLand-Sp.

    The factor :math:`1/\sqrt d` of algorithm 5 is left out, as in the proof of theorem 5.8: a
    bound on the 1-norm of the weights then does not depend on the size of the pool.

    Parameters
    ----------
    n_landmarks : int or "auto", default=20
        Greatest number of landmarks chosen, the sparsity k. There are fewer if no further one
        improves the fit (duplicates never do), or, with a warning, if the pool is smaller.
        "auto" tries the first 5, 10, 20, and so on of those chosen, while validation points gain,
        as by :class:`BBSClassifier`.
    pool_size : int, default=200
        Number of candidates; all training points if there are fewer.
    max_comparisons : int, default=None
        Most landmarks that "auto" tries, and so most comparisons of a prediction; None is all.
        `fit` compares all training points with the pool.
    similarity, kind
        As for :class:`RegLand`.
    selection : {"random", "dselect", "kmeans++", "kmedoids", "leverage", "rpcholesky"}, \
            default="random"
        How the pool is chosen from the training points, as the landmarks by :class:`RegLand`.
    double_dipping : bool, default=True
        Whether training points in the pool are also trained on (appendix B).
    algorithm : {"fully_corrective", "forward_greedy"}, default="fully_corrective"
        "fully_corrective" minimises the squared loss over all weights after each new landmark,
        as in the thesis' experiments. "forward_greedy" is algorithm 6: small steps for the
        smoothed ε-insensitive loss, with the 1-norm of the weights bounded.
    rule : {"gradient", "correlation", "decrease"}, default="gradient"
        The next candidate, with "fully_corrective": the one whose similarities have the
        greatest absolute product with the residual; the same divided by their norm; or the one
        that lowers the loss most. Ties go to the first in the pool.
    ridge : float, default=0.1
        Weight of :math:`\|w\|^2` added to the sum of squared errors, with "fully_corrective".
    fit_intercept : bool or None, default=None
        Whether to fit b, with "fully_corrective" only, where None is True; the thesis has none.
    norm_bound : float, default=10.0
        With "forward_greedy", the greatest 1-norm of the weights, :math:`C_W`.
    epsilon : float, default=0.1
        With "forward_greedy", the error without loss, in the unit of y.
    tol : float, default=0.1
        With "forward_greedy", the excess of the mean loss over the least one that is accepted.
        The number of steps may grow with its inverse square, and the landmarks with it.
    beta : float or None, default=None
        With "forward_greedy", the smoothness of the loss; None is 1 / tol.
    max_iter : int, default=10000
        With "forward_greedy", the greatest number of steps.
    validation_fraction : float, default=0.2
        With "auto", the share of the training points that is held out for choosing, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points and the pool.
    memory : str, object with the joblib.Memory interface or None, default=None
        With "fully_corrective", remembers the similarities to the pool and their products, which
        ``n_landmarks``, ``rule`` and ``ridge`` do not change: as in scikit-learn's pipelines a
        folder, or an object with a method ``cache``.
    n_jobs, verbose
        As for :class:`BBSClassifier`.

    Attributes
    ----------
    landmark_indices_ : ndarray of shape (n_chosen,) or None
        Rows of the landmarks in the X passed to `fit`, in the order of choice; None where the
        pool was given.
    support_ : ndarray of shape (n_chosen,)
        Their indices in the pool.
    pool_indices_ : ndarray of shape (n_pool,) or None
        Rows of the pool in X; None where it was given.
    coef_ : ndarray of shape (n_chosen,) or (n_targets, n_chosen)
        Weights of the similarities. For several targets the landmarks are those of any of them,
        in the order of the pool, and the paths below are lists with an entry for each target.
    intercept_ : float or ndarray of shape (n_targets,)
        The b, 0 without one.
    coef_path_ : ndarray of shape (n_chosen, n_chosen)
        Row k - 1 has the weights with the first k landmarks, and zeros.
    intercept_path_ : ndarray of shape (n_chosen,)
        The corresponding intercepts.
    loss_path_ : ndarray of shape (n_chosen,)
        The corresponding objectives: the sum of squared errors and the penalty, or the mean
        smoothed loss.
    n_iter_ : int
        Number of steps.
    growth_ : tuple of TriedSize
        What ``n_landmarks="auto"`` tried.
    n_features_in_ : int
        Number of features, or of training points with ``similarity="precomputed"``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.

    See Also
    --------
    RegLand : The same with all landmarks, and support vector regression.

    References
    ----------
    Kar (2013), sections 5.3.2 and 5.4, algorithms 5 and 6. Shalev-Shwartz, Srebro & Zhang
    (2010), *Trading accuracy for sparsity in optimization problems with sparsity constraints*.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.landmarks import SparseRegLand
    >>> X = np.linspace(-3, 3, 200)[:, None]
    >>> y = np.sin(X).ravel()
    >>> model = SparseRegLand(8, similarity="manhattan", random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.99
    True
    >>> errors = [float(((f - y) ** 2).mean()) for f in model.staged_predict(X)]
    >>> errors[0] > 100 * errors[-1]
    True
    """

    n_landmarks: int | str = 20
    pool_size: int = 200
    _: KW_ONLY
    max_comparisons: int | None = None
    similarity: Any = "gaussian"
    kind: str = "similarity"
    selection: str = "random"
    double_dipping: bool = True
    algorithm: str = "fully_corrective"
    rule: str = "gradient"
    ridge: float = 0.1
    fit_intercept: bool | None = None
    norm_bound: float = 10.0
    epsilon: float = 0.1
    tol: float = 0.1
    beta: float | None = None
    max_iter: int = 10_000
    validation_fraction: float = 0.2
    random_state: Any = None
    memory: Any = None
    n_jobs: int | None = None
    verbose: Any = False

    _parameter_constraints = {
        **LandmarkedModel._parameter_constraints,
        **GROWTH,
        "validation_fraction": [FRACTION],
        "pool_size": [COUNT],
        "algorithm": [StrOptions({"fully_corrective", "forward_greedy"})],
        "rule": [StrOptions(set(RULES))],
        "ridge": [NOT_NEGATIVE],
        "fit_intercept": ["boolean", None],
        "norm_bound": [POSITIVE],
        "epsilon": [NOT_NEGATIVE],
        "tol": [POSITIVE],
        "beta": [POSITIVE, None],
        "max_iter": [COUNT],
        "memory": MEMORY,
    }
    _divides = False

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: np.typing.ArrayLike,
        landmarks: Any = None,
        sample_weight: np.typing.ArrayLike | None = None,
        X_val: Any = None,
        y_val: np.typing.ArrayLike | None = None,
    ) -> Self:
        """Choose landmarks and their weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points, as for :meth:`RegLand.fit`.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            Targets. For each of several, landmarks are chosen from the same pool.
        landmarks : {array-like, sparse matrix} of shape (n_pool, n_features), default=None
            Unlabelled points to take as the pool (algorithm 5, step 1), ignoring `pool_size`.
            None draws it from X.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on the squared errors, not negative, with "fully_corrective" only. A point of
            weight 0 counts as absent.
        X_val : {array-like, sparse matrix} of shape (n_val, n_features), default=None
            Points that "auto" chooses on by the mean squared error, not trained on. With
            ``similarity="precomputed"`` of shape (n_val, n_samples). None holds out a random
            share ``validation_fraction`` of X.
        y_val : array-like of shape (n_val,) or (n_val, n_targets), default=None
            Their targets.

        Returns
        -------
        self : object
            The fitted regressor.

        Raises
        ------
        ValueError
            If ``fit_intercept=True`` with "forward_greedy"; if y holds no numbers; if a pool
            is given with ``similarity="precomputed"``, or leaves no point to train on with
            ``double_dipping=False``; if a matrix is not square; if points or similarities are
            not finite.

        Warns
        -----
        UserWarning
            If `n_landmarks` is more than the size of the pool.
        ConvergenceWarning
            If `max_iter` steps were not enough.
        """
        if self.fit_intercept and self.algorithm == "forward_greedy":
            raise ValueError(
                "fit_intercept=True needs algorithm='fully_corrective': algorithm 6 has no "
                "intercept"
            )
        X, targets = self._check_training(X, y)
        given = check_weights(sample_weight, X)
        if given is not None and self.algorithm == "forward_greedy":
            raise ValueError("sample_weight needs algorithm='fully_corrective'")
        growing = check_growth(self.n_landmarks, self.max_comparisons)
        rng = check_random_state(self.random_state)
        codes = np.zeros(len(targets), dtype=np.intp)
        used, X_val, y_val, weights_val = split_for_choice(
            self, X, targets, X_val, y_val, codes, 2 if growing else 1, rng, given
        )
        n_samples = len(used)
        n_pool = min(self.pool_size, n_samples)
        if landmarks is None and not self.double_dipping and n_pool == n_samples:
            raise ValueError(
                f"double_dipping=False needs a pool_size below n_samples={n_samples}, so that "
                f"points are left to train on, got {self.pool_size}"
            )
        data = X, targets, used, given, landmarks, n_pool
        n_columns = None if isinstance(self.n_landmarks, str) else self.n_landmarks
        if self.memory is None:
            pool = draw_pool(self, *data, rng, n_columns)
        else:
            untuned = clone(self).set_params(
                n_landmarks=1,
                max_comparisons=None,
                rule="gradient",
                ridge=0.0,
                random_state=None,
                memory=None,
                n_jobs=None,
                verbose=False,
            )
            pool = check_memory(self.memory).cache(draw_pool)(untuned, *data, rng, None)
        n_candidates = pool.features.shape[1]
        if n_columns is not None and n_columns > n_candidates:
            warnings.warn(
                f"n_landmarks={n_columns} is more than the {n_candidates} candidates there are",
                UserWarning,
                stacklevel=2,
            )
        most = n_columns or min(n_candidates, self.max_comparisons or n_candidates)
        paths = [self._path(pool.features, problem, most) for problem in pool.problems]
        self.__dict__.pop("growth_", None)  # of an earlier fit
        if growing:
            paths = self._grow(pool, paths, X_val, y_val, weights_val)
        self._keep(pool, paths)
        return self

    def _grow(
        self,
        pool: Pool,
        paths: list[GreedyPath],
        X_val: Any,
        y_val: Any,
        weights: np.ndarray | None,
    ) -> list[GreedyPath]:
        """Return the paths up to the last landmarks that pay."""
        most = self.max_comparisons or len(pool.landmarks) * len(paths)
        if most < len(paths):
            raise ValueError(
                f"'max_comparisons' must be at least the {len(paths)} targets, got {most}"
            )
        validation = KeptSimilarities(pool.landmarks, X_val)
        true = np.asarray(y_val, dtype=np.float64).reshape(len(y_val), -1)

        def fit(size: int, before: Indices) -> Candidate:
            shorter = [path.first(size) for path in paths]
            support, coef, intercept = pool.last(shorter)
            values = np.zeros((len(true), 0)) if not len(support) else validation.columns(support)
            losses = ((true - (values @ coef.T + intercept)) ** 2).mean(axis=1)
            scores = -np.array([np.average(losses, weights=weights)])
            return Candidate(support, shorter, scores, losses)

        longest = max(len(path.columns) for path in paths)
        sizes = growing_sizes(max(longest, 1), most // len(paths))
        n_before = pool.features.size
        found, self.growth_ = grow(sizes, fit, weights, len(true), n_before)
        kept: list[GreedyPath] = found.model
        return kept

    def staged_predict(self, X: Any) -> Iterator[Floats]:
        """Predict targets with the first landmark, the first two, and so on.

        All similarities are computed once.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `predict`.

        Yields
        ------
        ndarray of shape (n_samples,)
            Nothing is yielded if no landmark was chosen.

        Raises
        ------
        ValueError
            If there are several targets, each of which has its own order of landmarks.
        """
        check_is_fitted(self)
        if self.coef_.ndim > 1:
            raise ValueError("staged_predict is for one target")
        similarities = self._embed(X)
        for k, (weights, intercept) in enumerate(
            zip(self.coef_path_, self.intercept_path_, strict=True), start=1
        ):
            yield similarities[:, :k] @ weights[:k] + intercept

    @property
    def _has_intercept(self) -> bool:
        return self.fit_intercept is not False and self.algorithm == "fully_corrective"

    def _keep(self, pool: Pool, paths: list[GreedyPath]) -> None:
        """Set the fitted attributes."""
        dtype, offsets = pool.features.dtype, np.atleast_1d(pool.y_mean)
        coefs = [path.coef.astype(dtype) for path in paths]
        intercepts = [
            (offset - path.coef @ pool.means[path.columns]).astype(dtype)
            for path, offset in zip(paths, offsets, strict=True)
        ]
        losses = [path.losses for path in paths]
        self.n_iter_ = max(path.n_iter for path in paths)
        self.support_, coef, intercept = pool.last(paths)
        self.coef_ = coef.astype(dtype)
        if pool.several:
            self.intercept_ = intercept
            self.coef_path_: Any = coefs
            self.intercept_path_: Any = intercepts
            self.loss_path_: Any = losses
        else:
            self.support_ = paths[0].columns  # in the order of choice
            self.coef_path_, self.intercept_path_ = coefs[0], intercepts[0]
            self.loss_path_ = losses[0]
            self.coef_ = self.coef_path_[-1] if len(self.support_) else np.zeros(0, dtype)
            self.intercept_ = float(intercept[0])
        self.scale_ = 1.0
        self._landmarks = pool.landmarks.take(self.support_)
        self.pool_indices_ = pool.indices
        self.landmark_indices_ = None if pool.indices is None else pool.indices[self.support_]

    def _path(self, features: Floats, problem: LeastSquares, n_landmarks: int) -> GreedyPath:
        if self.algorithm == "fully_corrective":
            return problem.path(n_landmarks, rule=self.rule, ridge=self.ridge)
        return forward_greedy(
            features,
            problem.y,
            norm_bound=self.norm_bound,
            tol=self.tol,
            epsilon=self.epsilon,
            beta=self.beta,
            max_columns=n_landmarks,
            max_iter=self.max_iter,
        )

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
