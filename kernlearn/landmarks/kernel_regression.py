"""Kernel regression: the average of all training targets, weighted by similarity."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from kernlearn.landmarks.similarity import NumberTargets, float_type


class KernelRegressor(RegressorMixin, NumberTargets):
    r"""Kernel regression of Nadaraya and Watson with any similarity.

    The prediction is the average of all training targets, weighted by similarity,

    .. math:: f(x) = \frac{\sum_i K(x, x_i) \, y_i}{\sum_i K(x, x_i)}

    The similarity may be indefinite, and weights negative. Where all are, as for
    :math:`-\|x - x_i\|_1`, distant points have the largest weights in absolute value, and the
    prediction is worse than the mean of the targets, as in table 5.1 of [1]_;
    ``weights="exponential"`` turns a negated distance into a sensible weight.

    Parameters
    ----------
    similarity, kind
        As for :class:`RegLand`.
    weights : {"similarity", "exponential"}, default="similarity"
        The similarities K themselves, or exp(K / bandwidth), relative to the greatest of each
        point so that not all underflow.
    bandwidth : float or "mean", default=1.0
        Width of exponential weights, in the unit of the similarity. "mean" is the mean of
        \|K\| over the pairs of training points, for a distance the mean distance.
    zero_weights : {"mean", "nan", "raise"}, default="mean"
        The prediction where weights sum to 0 up to rounding: the mean of the training targets
        (as with equal weights), NaN, or a ValueError.

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
    >>> KernelRegressor("manhattan").fit(X, y).predict([[0.0]]).round(3)
    array([1.75])
    >>> KernelRegressor("manhattan", weights="exponential").fit(X, y).predict([[0.0]]).round(3)
    array([0.33])
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **NumberTargets._parameter_constraints,
        "weights": [StrOptions({"similarity", "exponential"})],
        "bandwidth": [Interval(Real, 0, None, closed="neither"), StrOptions({"mean"})],
        "zero_weights": [StrOptions({"mean", "nan", "raise"})],
    }

    def __init__(
        self,
        similarity: Any = "gaussian",
        *,
        kind: str = "similarity",
        weights: str = "similarity",
        bandwidth: float | str = 1.0,
        zero_weights: str = "mean",
    ) -> None:
        self.similarity = similarity
        self.kind = kind
        self.weights = weights
        self.bandwidth = bandwidth
        self.zero_weights = zero_weights

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Store the training points and their targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points, as for :meth:`RegLand.fit`.
        y : array-like of shape (n_samples,)
            Their targets.

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
        X, checked = self._check_training(X, y)
        self._landmarks = self._all_points(X, checked)
        targets = checked.astype(np.float64)
        self.target_mean_ = float(targets.mean())
        # Deviations from the mean: a constant target is predicted as it is, without rounding.
        self._targets = np.column_stack([targets - self.target_mean_, np.ones(len(targets))])
        if self.weights == "exponential":
            width = self._mean_size(X) if self.bandwidth == "mean" else self.bandwidth
            self.bandwidth_ = float(width)
        return self

    def predict(self, X: Any) -> NDArray[np.floating]:
        """Return the weighted average of the training targets for each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``similarity="precomputed"`` of shape (n_samples, n_training_points).

        Returns
        -------
        ndarray of shape (n_samples,)
            float32 if X is, else float64.

        Raises
        ------
        ValueError
            If weights sum to 0 and ``zero_weights="raise"``; if similarities are not finite.
        """
        check_is_fitted(self)
        X = self._check_points(X)
        predicted = np.empty(X.shape[0], dtype=float_type(X))
        empty = np.empty(X.shape[0], dtype=bool)
        for rows, weights in self._landmarks.blocks(X):
            if self.weights == "exponential":
                weights = _exponential(weights, self.bandwidth_)
            deviations, totals = (weights @ self._targets.astype(weights.dtype)).T
            empty[rows] = _is_rounding(totals, weights)
            totals[empty[rows]] = 1
            predicted[rows] = deviations / totals + self.target_mean_
        if empty.any():
            predicted[empty] = self._without_weights(int(empty.sum()))
        return predicted

    def _mean_size(self, X: Any) -> float:
        """Return the mean absolute similarity over pairs of training points, 1 if that is 0."""
        total, n_points = 0.0, X.shape[0]
        for rows, block in self._landmarks.blocks(X):
            sizes = np.abs(block)
            total += sizes.sum(dtype=np.float64) - np.trace(sizes[:, rows], dtype=np.float64)
        return total / max(n_points * (n_points - 1), 1) or 1.0

    def _without_weights(self, n_points: int) -> float:
        """Return the prediction for points whose weights sum to 0."""
        if self.zero_weights == "raise":
            raise ValueError(
                f"X holds {n_points} point(s) whose similarities to the training points sum to 0: "
                "use another similarity, or zero_weights='mean' or 'nan'"
            )
        return self.target_mean_ if self.zero_weights == "mean" else np.nan

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        # With the default width, or negative weights, the prediction is close to the mean.
        tags.regressor_tags.poor_score = True
        return tags


def _exponential(similarities: NDArray[np.floating], bandwidth: float) -> NDArray[np.floating]:
    """Return exp(K / bandwidth) over the greatest of each row."""
    weights = similarities - similarities.max(axis=1, keepdims=True)
    weights /= bandwidth
    return np.exp(weights, out=weights)


def _is_rounding(totals: NDArray[np.floating], weights: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Return which sums of rows of weights are 0 up to rounding."""
    limits = np.finfo(weights.dtype)
    error = np.sqrt(weights.shape[1]) * limits.eps * np.abs(weights).sum(axis=1)
    # subnormal numbers have few digits
    return np.abs(totals) <= np.maximum(error, limits.tiny / limits.eps)
