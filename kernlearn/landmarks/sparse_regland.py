"""RegLand-Sp: regression with a few landmarks, chosen greedily from a pool."""

import warnings
from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin, _fit_context, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_memory

from kernlearn.constraints import COUNT, MEMORY, NOT_NEGATIVE, POSITIVE, StrOptions
from kernlearn.landmarks.base import Floats, LandmarkedModel
from kernlearn.landmarks.similarity import Indices, Landmarks
from kernlearn.solvers.greedy import RULES, LeastSquares, forward_greedy


@dataclass(eq=False, repr=False)
class SparseRegLand(RegressorMixin, LandmarkedModel):
    r"""Regression that is linear in the similarities to a few landmarks chosen from a pool.

    The predictor is :math:`f(x) = b + \sum_j w_j K(x, l_j)`. The landmarks :math:`l_j` are chosen
    one by one from a pool of training points, by forward greedy selection for the best fit. A
    new point is compared with the chosen ones only. The similarity may be indefinite. This is
    the thesis' RegLand-Sp.

    The factor :math:`1/\sqrt d` of algorithm 5 is left out, as in the proof of theorem 5.8: a
    bound on the 1-norm of the weights then does not depend on the size of the pool.

    Parameters
    ----------
    n_landmarks : int, default=50
        Greatest number of landmarks chosen, the sparsity k. There are fewer if no further one
        improves the fit (duplicates never do), or, with a warning, if the pool is smaller.
    pool_size : int, default=500
        Number of candidates; all training points if there are fewer.
    similarity, kind
        As for :class:`RegLand`.
    selection : {"random", "dselect"}, default="random"
        How the pool is chosen from the training points: uniformly, or to be unlike each other
        (algorithm 3).
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
    ridge : float, default=0.0
        Weight of :math:`\|w\|^2` added to the sum of squared errors, with "fully_corrective".
    fit_intercept : bool, default=False
        Whether to fit b, with "fully_corrective" only; the thesis has none.
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
    coef_ : ndarray of shape (n_chosen,)
        Weights of the similarities.
    intercept_ : float
        0 without `fit_intercept`.
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
    >>> errors = [float(((f - y) ** 2).mean().round(3)) for f in model.staged_predict(X)]
    >>> errors[0], errors[-1]
    (0.432, 0.001)
    """

    n_landmarks: int = 50
    pool_size: int = 500
    _: KW_ONLY
    similarity: Any = "gaussian"
    kind: str = "similarity"
    selection: str = "random"
    double_dipping: bool = True
    algorithm: str = "fully_corrective"
    rule: str = "gradient"
    ridge: float = 0.0
    fit_intercept: bool = False
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
        "fit_intercept": ["boolean"],
        "norm_bound": [POSITIVE],
        "epsilon": [NOT_NEGATIVE],
        "tol": [POSITIVE],
        "beta": [POSITIVE, None],
        "max_iter": [COUNT],
        "memory": MEMORY,
    }
    _divides = False

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: np.typing.ArrayLike, landmarks: Any = None) -> Self:
        """Choose landmarks and their weights.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points, as for :meth:`RegLand.fit`.
        y : array-like of shape (n_samples,)
            Targets.
        landmarks : {array-like, sparse matrix} of shape (n_pool, n_features), default=None
            Unlabelled points to take as the pool (algorithm 5, step 1), ignoring `pool_size`.
            None draws it from X.

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
        n_samples = X.shape[0]
        n_pool = min(self.pool_size, n_samples)
        if landmarks is None and not self.double_dipping and n_pool == n_samples:
            raise ValueError(
                f"double_dipping=False needs a pool_size below n_samples={n_samples}, so that "
                f"points are left to train on, got {self.pool_size}"
            )
        rng, data = check_random_state(self.random_state), (X, targets, landmarks, n_pool)
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
        """
        similarities = self._embed(X)
        for k, (weights, intercept) in enumerate(
            zip(self.coef_path_, self.intercept_path_, strict=True), start=1
        ):
            yield similarities[:, :k] @ weights[:k] + intercept

    def _learn(self, pool: "_Pool") -> None:
        """Choose landmarks by the training points' similarities to the pool."""
        if self.algorithm == "fully_corrective":
            path = pool.problem.path(self.n_landmarks, rule=self.rule, ridge=self.ridge)
        else:
            path = forward_greedy(
                pool.features, pool.problem.y, norm_bound=self.norm_bound, tol=self.tol,
                epsilon=self.epsilon, beta=self.beta, max_columns=self.n_landmarks,
                max_iter=self.max_iter,
            )  # fmt: skip
        dtype = pool.features.dtype
        self.support_ = path.columns
        self.coef_path_ = path.coef.astype(dtype)
        shift = pool.y_mean - path.coef @ pool.means[path.columns]
        self.intercept_path_ = shift.astype(dtype)
        self.loss_path_, self.n_iter_ = path.losses, path.n_iter
        self.coef_ = self.coef_path_[-1] if len(path.columns) else np.zeros(0, dtype)
        self.intercept_ = float(self.intercept_path_[-1]) if len(path.columns) else pool.y_mean
        self.scale_ = 1.0
        self._landmarks = pool.landmarks.take(path.columns)
        self.pool_indices_ = pool.indices
        self.landmark_indices_ = None if pool.indices is None else pool.indices[path.columns]


@dataclass(frozen=True)
class _Pool:
    """Candidates for landmarks, and the training points' similarities to them."""

    landmarks: Landmarks
    indices: Indices | None
    features: Floats
    means: Floats  # of the features, subtracted from them, if there is an intercept
    y_mean: float
    problem: LeastSquares


def _draw_pool(
    model: SparseRegLand, X: Any, y: np.ndarray, landmarks: Any, n_pool: int, rng: Any,
    n_columns: int | None,
) -> _Pool:  # fmt: skip
    """Draw the pool, or take the points given, and compare the training points with it."""
    features, rows = model._embed_training(X, y, np.arange(X.shape[0]), landmarks, rng, n_pool)
    targets = y[rows].astype(np.float64)
    means: Floats = np.zeros(features.shape[1])
    y_mean = 0.0
    if model.fit_intercept:
        means, y_mean = _centre(features), float(_centre(targets))
    problem = LeastSquares(features, targets, n_columns)
    return _Pool(model._landmarks, model.landmark_indices_, features, means, y_mean, problem)


def _centre(values: Floats) -> Floats:
    """Subtract means in place, and return them; constants become exactly zero."""
    first = values[0].copy()
    values -= first
    rest = values.mean(axis=0, dtype=np.float64).astype(values.dtype)
    values -= rest
    means = first + rest
    farthest = np.maximum(values.max(axis=0), -values.min(axis=0))
    values *= farthest > 8 * np.finfo(values.dtype).eps * np.abs(means)
    return means
