"""Linear functions that rank points of two classes: from a stream or from all pairs at once."""

import warnings
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import multiclass
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlearn.constraints import COUNT, POSITIVE, fit_context
from kernlearn.pairwise.buffers import Array
from kernlearn.pairwise.stream import at_least_two
from kernlearn.sample_weights import check_weights, without_zeros

_POINTS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


class LinearRanker(ClassifierMixin, BaseEstimator):
    """Labels, scores and predictions of a linear function for two classes."""

    classes_: NDArray[Any]
    n_features_in_: int

    def _validate(self, X: Any, y: Any, reset: bool) -> tuple[Any, NDArray[Any]]:
        X, y = validate_data(self, X, y, reset=reset, **_POINTS)
        multiclass.check_classification_targets(y)
        return X, y

    def _codes(self, y: NDArray[Any]) -> NDArray[np.int64]:
        known = np.isin(y, self.classes_)
        if not known.all():
            raise ValueError(
                f"y contains the label {y[~known][0].item()!r}, which is not one of the classes "
                f"{self.classes_.tolist()}"
            )
        return (y == self.classes_[1]).astype(np.int64)

    def decision_function(self, X: ArrayLike) -> Array:
        """Return the scores ⟨w, x⟩ + b, by which points are ranked.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples,)
            The higher, the more likely the class ``classes_[1]``. b has no influence on the
            AUC.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **_POINTS)
        return (safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_).ravel()

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class ``classes_[1]`` where the score is above 0, else ``classes_[0]``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(np.intp)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags


def linear_function(w: Array, sums: Array, counts: NDArray[Any]) -> tuple[Array, Array]:
    """Return weights as a row, and the intercept midway between the means of both classes."""
    coef = w.reshape(1, -1)
    if counts.all():
        return coef, -(coef @ (sums / counts[:, np.newaxis]).mean(axis=0))
    # no pair yet and w = 0: predict the one class
    return coef, np.where(counts[1:] > 0, 1.0, -1.0)


def two_classes(y: Any) -> NDArray[Any]:
    """Return the classes of labels; raise a ValueError unless there are two."""
    classes = at_least_two(y)
    if len(classes) > 2:
        raise ValueError(
            "Only binary classification is supported. The type of the target is "
            f"{multiclass.type_of_target(y)}, with {len(classes)} classes."
        )
    return classes


@dataclass(eq=False, repr=False)
class AllPairsSVM(LinearRanker):
    r"""Linear function of large AUC from all pairs of a positive and a negative point.

    When to use it: ranking two classes of data that fit into memory.

    It minimises

    .. math::

        \frac{\lambda}{2} \|w\|^2 + \frac{1}{n_+ n_-} \sum_{x \in X_+} \sum_{x' \in X_-}
        \max(0, 1 - \langle w, x - x'\rangle)^2,

    the objective of :class:`OLP` with the squared hinge and regularisation on a stream, except
    for the share of pairs of one class.

    Parameters
    ----------
    regularization : float, default=1e-3
        The λ.
    tol : float, default=1e-6
        Stop when no entry of the gradient is larger than `tol` times the largest one at w = 0.
    max_iter : int, default=1000
        Largest number of L-BFGS iterations.
    warm_start : bool, default=False
        Whether `fit` starts from the weights of the last fit, for instance along a path of
        `regularization`. The minimum is the same.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second one is the positive class.
    coef_ : ndarray of shape (1, n_features)
        The weights, float64.
    intercept_ : ndarray of shape (1,)
        Makes the score 0 midway between the means of both classes; only used by `predict`.
    objective_ : float
        The minimum.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has any.

    See Also
    --------
    OLP : Online, from a buffer.
    kernlearn.landmarks.RankLand : Ranking with similarities to landmarks.

    Notes
    -----
    Objective and gradient take O(n log n) time, and one product each with X and its transpose:
    the pairs with a loss are contiguous in the sorted scores.

    Examples
    --------
    >>> from kernlearn.pairwise import AllPairsSVM
    >>> model = AllPairsSVM(regularization=0.5).fit([[0.0], [1.0]], ["a", "b"])
    >>> model.coef_, model.intercept_
    (array([[0.8]]), array([-0.4]))
    """

    regularization: float = 1e-3
    _: KW_ONLY
    tol: float = 1e-6
    max_iter: int = 1000
    warm_start: bool = False

    _parameter_constraints = {
        "regularization": [POSITIVE],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
        "warm_start": ["boolean"],
    }

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the problem.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels, numbers or strings, of two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the points, not negative; that of a pair is their product. A point of
            weight 0 counts as absent.

        Returns
        -------
        AllPairsSVM
            The estimator itself.

        Raises
        ------
        ValueError
            If there are not two classes, or X contains NaN or infinity.

        Warns
        -----
        ConvergenceWarning
            If `max_iter` iterations were not enough.
        """
        rows, labels = self._validate(X, y, reset=True)
        rows, labels, weights = without_zeros(rows, labels, check_weights(sample_weight, rows))
        self.classes_ = two_classes(labels)
        positive = self._codes(labels) == 1

        def objective(w: Array) -> tuple[Any, Array]:
            loss, slopes = _mean_loss(rows @ w, positive, weights)
            value = loss + self.regularization / 2 * (w @ w)
            return value, rows.T @ slopes + self.regularization * w

        start = np.zeros(self.n_features_in_)
        gtol = self.tol * np.abs(objective(start)[1]).max()
        if self.warm_start and hasattr(self, "coef_") and self.coef_.shape[1] == len(start):
            start = self.coef_[0].copy()
        limits = {"maxiter": self.max_iter, "maxfun": 20 * self.max_iter}
        options = {"gtol": gtol, "ftol": 0.0, **limits}
        optimum = minimize(objective, start, jac=True, method="L-BFGS-B", options=options)
        if np.abs(optimum.jac).max() > gtol and optimum.nit >= self.max_iter:
            warnings.warn(
                f"no solution to tol={self.tol:g} in max_iter={self.max_iter} iterations: raise "
                "one of them, or scale the features",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.objective_, self.n_iter_ = float(optimum.fun), int(optimum.nit)
        if weights is None:
            of_class = [rows[of].sum(axis=0) for of in (~positive, positive)]
        else:
            of_class = [rows[of].T @ weights[of] for of in (~positive, positive)]
        sums = np.array([np.asarray(each).ravel() for each in of_class])
        counts = np.bincount(positive, weights, minlength=2)
        coef, intercept = linear_function(optimum.x, sums, counts)
        self.coef_: Array = coef
        self.intercept_: Array = intercept
        return self


def _mean_loss(
    scores: NDArray[Any], positive: NDArray[np.bool_], weights: Array | None = None
) -> tuple[float, NDArray[Any]]:
    """Return the mean squared hinge over unlike pairs, and its derivative by each score.

    The weight of a pair is the product of those of its points.
    """
    # with thresholds 1 - p of the positives, pair (p, q) has a loss where q + (1 - p) > 0: for
    # each p, a suffix of the sorted q
    lower, upper = scores[~positive].astype(np.float64), 1 - scores[positive].astype(np.float64)
    if weights is not None:
        of_lower, of_upper = weights[~positive], weights[positive]
        up = of_upper * _missing(upper, lower, of_lower)
        down = of_lower * _missing(lower, upper, of_upper)
        n_pairs: Any = of_lower.sum() * of_upper.sum()
    else:
        up, down = _missing(upper, lower), _missing(lower, upper)
        n_pairs = len(lower) * len(upper)
    slopes = np.empty(len(scores))
    slopes[positive] = -2 * up / n_pairs
    slopes[~positive] = 2 * down / n_pairs
    return float(upper @ up + lower @ down) / n_pairs, slopes


def _missing(at: Array, others: Array, weights: Array | None = None) -> Array:
    """Return the sum of weight · max(0, at + other) over the others, for each `at`."""
    if weights is not None:
        order = np.argsort(others)
        others, weights = others[order], weights[order]
        counts = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
        sums = np.append(np.cumsum((weights * others)[::-1])[::-1], 0.0)
        first = np.searchsorted(others, -at, side="right")
        return at * counts[first] + sums[first]
    others = np.sort(others)
    after = np.concatenate([np.cumsum(others[::-1])[::-1], [0.0]])
    first = np.searchsorted(others, -at, side="right")
    return at * (len(others) - first) + after[first]
