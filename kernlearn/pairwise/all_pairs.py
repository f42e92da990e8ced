"""The batch problem over all pairs of unlike points, for comparison with online learners."""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Interval

from kernlearn.pairwise.base import LinearRanker, two_classes


class AllPairsSVM(LinearRanker):
    r"""Linear function of large AUC from all pairs of a positive and a negative point.

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

    _parameter_constraints: dict[str, list[Any]] = {
        "regularization": [Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
    }

    objective_: float
    n_iter_: int

    def __init__(
        self, regularization: float = 1e-3, *, tol: float = 1e-6, max_iter: int = 1000
    ) -> None:
        self.regularization = regularization
        self.tol = tol
        self.max_iter = max_iter

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Solve the problem.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels, numbers or strings, of two classes.

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
        self.classes_ = two_classes(labels)
        positive = self._codes(labels) == 1

        def objective(w: NDArray[np.float64]) -> tuple[Any, NDArray[np.float64]]:
            loss, slopes = _mean_loss(rows @ w, positive)
            return (
                loss + self.regularization / 2 * (w @ w),
                rows.T @ slopes + self.regularization * w,
            )

        start = np.zeros(self.n_features_in_)
        steepest = np.abs(objective(start)[1]).max()
        optimum = minimize(
            objective,
            start,
            jac=True,
            method="L-BFGS-B",
            options={
                "gtol": self.tol * steepest, "ftol": 0.0,
                "maxiter": self.max_iter, "maxfun": 20 * self.max_iter,
            },
        )  # fmt: skip
        if np.abs(optimum.jac).max() > self.tol * steepest and optimum.nit >= self.max_iter:
            warnings.warn(
                f"no solution to tol={self.tol:g} in max_iter={self.max_iter} iterations: raise "
                "one of them, or scale the features",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.objective_, self.n_iter_ = float(optimum.fun), int(optimum.nit)
        sums = np.array([np.asarray(rows[of].sum(axis=0)).ravel() for of in (~positive, positive)])
        self._set_linear(optimum.x, sums, np.bincount(positive, minlength=2))
        return self


def _mean_loss(
    scores: NDArray[Any], positive: NDArray[np.bool_]
) -> tuple[float, NDArray[np.float64]]:
    """Return the mean squared hinge over unlike pairs, and its derivative by each score."""
    # with thresholds 1 - p of the positives, pair (p, q) has a loss where q + (1 - p) > 0: for
    # each p, a suffix of the sorted q
    lower, upper = scores[~positive].astype(np.float64), 1 - scores[positive].astype(np.float64)
    up = _missing(upper, lower)
    down = _missing(lower, upper)
    n_pairs = len(lower) * len(upper)
    slopes = np.empty(len(scores))
    slopes[positive] = -2 * up / n_pairs
    slopes[~positive] = 2 * down / n_pairs
    return float(upper @ up + lower @ down) / n_pairs, slopes


def _missing(at: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of max(0, at + other) over the others, for each `at`."""
    others = np.sort(others)
    after = np.concatenate([np.cumsum(others[::-1])[::-1], [0.0]])
    first = np.searchsorted(others, -at, side="right")
    return at * (len(others) - first) + after[first]
