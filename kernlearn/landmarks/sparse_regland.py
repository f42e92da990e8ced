"""RegLand-Sp: regression with a few landmarks, chosen greedily from a pool."""

import warnings
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin, _fit_context, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, check_memory

from kernlearn.constraints import COUNT, MEMORY, NOT_NEGATIVE, POSITIVE, StrOptions
from kernlearn.landmarks.base import Floats, LandmarkedModel
from kernlearn.landmarks.similarity import Indices, Landmarks
from kernlearn.sample_weights import check_weights, taken, weighted_rows
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
    n_landmarks : int, default=20
        Greatest number of landmarks chosen, the sparsity k. There are fewer if no further one
        improves the fit (duplicates never do), or, with a warning, if the pool is smaller.
    pool_size : int, default=200
        Number of candidates; all training points if there are fewer.
    similarity, kind
        As for :class:`RegLand`.
    selection : {"random", "dselect", "kmeans++", "kmedoids", "leverage", "rpcholesky"}, \
            default="random"
        How the pool is chosen from the training points: uniformly; to be unlike each other
        (algorithm 3); such that each point has one nearby; or to span the kernel's feature space,
        as by :class:`BBSClassifier`.
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
    random_state : int, RandomState instance or None, default=None
        Seed of the pool.
    memory : str, object with the joblib.Memory interface or None, default=None
        With "fully_corrective", remembers the similarities to the pool and their products, which
        depend neither on ``n_landmarks`` nor on ``rule`` nor on ``ridge``: as in scikit-learn's
        pipelines a folder, or an object with a method ``cache``.

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

    n_landmarks: int = 20
    pool_size: int = 200
    _: KW_ONLY
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
    random_state: Any = None
    memory: Any = None

    _parameter_constraints = {
        **LandmarkedModel._parameter_constraints,
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

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: np.typing.ArrayLike,
        landmarks: Any = None,
        sample_weight: np.typing.ArrayLike | None = None,
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
        used = weighted_rows(given, X.shape[0])
        n_samples = len(used)
        n_pool = min(self.pool_size, n_samples)
        if landmarks is None and not self.double_dipping and n_pool == n_samples:
            raise ValueError(
                f"double_dipping=False needs a pool_size below n_samples={n_samples}, so that "
                f"points are left to train on, got {self.pool_size}"
            )
        rng = check_random_state(self.random_state)
        data = X, targets, used, given, landmarks, n_pool
        if self.memory is None:
            pool = _draw_pool(self, *data, rng, self.n_landmarks)
        else:
            untuned = clone(self).set_params(
                n_landmarks=1, rule="gradient", ridge=0.0, random_state=None, memory=None
            )
            pool = check_memory(self.memory).cache(_draw_pool)(untuned, *data, rng, None)
        if self.n_landmarks > pool.features.shape[1]:
            warnings.warn(
                f"n_landmarks={self.n_landmarks} is more than the {pool.features.shape[1]} "
                "candidates to choose from",
                UserWarning,
                stacklevel=2,
            )
        self._learn(pool)
        return self

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

    def _learn(self, pool: "_Pool") -> None:
        """Choose landmarks by the training points' similarities to the pool."""
        dtype = pool.features.dtype
        paths = [self._path(pool.features, problem) for problem in pool.problems]
        offsets = np.atleast_1d(pool.y_mean)
        coefs = [path.coef.astype(dtype) for path in paths]
        intercepts = [
            (offset - path.coef @ pool.means[path.columns]).astype(dtype)
            for path, offset in zip(paths, offsets, strict=True)
        ]
        last = [
            float(each[-1]) if len(each) else float(offset)
            for each, offset in zip(intercepts, offsets, strict=True)
        ]
        losses = [path.losses for path in paths]
        self.n_iter_ = max(path.n_iter for path in paths)
        if pool.several:
            self.support_ = np.unique(np.concatenate([path.columns for path in paths]))
            self.coef_ = np.zeros((len(paths), len(self.support_)), dtype)
            for row, coef, path in zip(self.coef_, coefs, paths, strict=True):
                row[np.searchsorted(self.support_, path.columns)] = coef[-1:].ravel()
            self.intercept_ = np.array(last)
            self.coef_path_: Any = coefs
            self.intercept_path_: Any = intercepts
            self.loss_path_: Any = losses
        else:
            self.support_ = paths[0].columns
            self.coef_path_, self.intercept_path_ = coefs[0], intercepts[0]
            self.loss_path_ = losses[0]
            self.coef_ = self.coef_path_[-1] if len(self.support_) else np.zeros(0, dtype)
            self.intercept_ = last[0]
        self.scale_ = 1.0
        self._landmarks = pool.landmarks.take(self.support_)
        self.pool_indices_ = pool.indices
        self.landmark_indices_ = None if pool.indices is None else pool.indices[self.support_]

    def _path(self, features: Floats, problem: LeastSquares) -> GreedyPath:
        if self.algorithm == "fully_corrective":
            return problem.path(self.n_landmarks, rule=self.rule, ridge=self.ridge)
        return forward_greedy(
            features, problem.y, norm_bound=self.norm_bound, tol=self.tol,
            epsilon=self.epsilon, beta=self.beta, max_columns=self.n_landmarks,
            max_iter=self.max_iter,
        )  # fmt: skip

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


@dataclass(frozen=True)
class _Pool:
    """Candidates for landmarks, and the training points' similarities to them."""

    landmarks: Landmarks
    indices: Indices | None
    features: Floats
    means: Floats  # of the features, subtracted from them, if there is an intercept
    y_mean: Any  # a number, or one for each target
    problems: list[LeastSquares]  # one for each target

    @property
    def several(self) -> bool:
        """Whether the targets are a matrix."""
        return np.ndim(self.y_mean) > 0


def _draw_pool(
    model: SparseRegLand, X: Any, y: np.ndarray, rows: Indices, given: np.ndarray | None,
    landmarks: Any, n_pool: int, rng: Any, n_columns: int | None,
) -> _Pool:  # fmt: skip
    """Draw the pool, or take the points given, and compare the training points with it."""
    features, rows = model._embed_training(X, y, rows, landmarks, rng, n_pool)
    targets, given = y[rows].astype(np.float64), taken(given, rows)
    means: Floats = np.zeros(features.shape[1])
    y_mean: Any = np.zeros(y.shape[1:])
    if model._has_intercept:
        means, y_mean = _centre(features, given), _centre(targets, given)
    if given is not None:  # weighted squares are squares of rows times the roots
        roots = np.sqrt(given)
        features = np.ascontiguousarray((features.T * roots.astype(features.dtype)).T)
        targets = (targets.T * roots).T
    columns = targets.T if targets.ndim > 1 else [targets]
    problems = [LeastSquares(features, column, n_columns) for column in columns]
    return _Pool(model._landmarks, model.landmark_indices_, features, means, y_mean, problems)


def _centre(values: Floats, weights: np.ndarray | None) -> Floats:
    """Subtract means in place, and return them; constants become exactly zero."""
    first = values[0].copy()
    values -= first
    if weights is None:
        rest = values.mean(axis=0, dtype=np.float64).astype(values.dtype)
    else:
        rest = np.average(values, axis=0, weights=weights).astype(values.dtype)
    values -= rest
    means = first + rest
    farthest = np.maximum(values.max(axis=0), -values.min(axis=0))
    values *= farthest > 8 * np.finfo(values.dtype).eps * np.abs(means)
    return means
