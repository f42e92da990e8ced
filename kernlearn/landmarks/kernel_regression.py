"""Regression by an average of targets, weighted by similarities: that of Nadaraya and Watson."""

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from kernlearn.constraints import POSITIVE, StrOptions, fit_context
from kernlearn.landmarks import base
from kernlearn.landmarks.similarity import Floats, is_rounding, mean_size
from kernlearn.sample_weights import check_weights


@dataclass(eq=False, repr=False)
class KernelRegressor(RegressorMixin, base.SimilarityEstimator):
    r"""Kernel regression of Nadaraya and Watson with any similarity.

    When to use it: regression by any similarity without training.

    The prediction is the average of all training targets, weighted by similarity,

    .. math:: f(x) = \frac{\sum_i K(x, x_i) \, y_i}{\sum_i K(x, x_i)}

    or, by default, by an exponential function of the similarity. The similarity may be
    indefinite, and weights negative. Where all are, as for :math:`-\|x - x_i\|_1` with
    ``weights="similarity"``, distant points have the largest weights in absolute value, and the
    prediction is worse than the mean of the targets, as in table 5.1 of [1]_; the exponential
    function turns a negated distance into a sensible weight.

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
    zero_weights : {"mean", "nan", "raise"}, default="mean"
        The prediction where weights sum to 0 up to rounding: the mean of the training targets
        (as with equal weights), NaN, or a ValueError.
    n_jobs, verbose
        As for :class:`BBSClassifier`.

    Attributes
    ----------
    target_mean_ : float or ndarray of shape (n_targets,)
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
    zero_weights: str = "mean"
    n_jobs: int | None = None
    verbose: Any = False

    _parameter_constraints = {
        **base.SimilarityEstimator._parameter_constraints,
        "weights": [StrOptions({"similarity", "exponential"})],
        "bandwidth": [POSITIVE, StrOptions({"mean", "tenth"})],
        "zero_weights": [StrOptions({"mean", "nan", "raise"})],
    }
    _numeric_targets = True

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: np.typing.ArrayLike,
        sample_weight: np.typing.ArrayLike | None = None,
    ) -> Self:
        """Store the training points and their targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points, as for :meth:`RegLand.fit`.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
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
        X, checked = self._check_training(X, y)
        given = check_weights(sample_weight, X)
        rows = None
        if given is not None:
            rows = np.flatnonzero(given)
            checked, given = checked[rows], given[rows]
            X = X if self._precomputed else X[rows]
        self._landmarks = self._all_points(X, checked, rows)
        if rows is not None and not self._precomputed:
            self._landmarks = replace(self._landmarks, indices=np.arange(len(rows)))
        targets = checked.astype(np.float64)
        self._one_target = targets.ndim == 1
        mean = np.average(targets, axis=0, weights=given)
        self.target_mean_ = float(mean) if self._one_target else mean
        # Deviations from the mean: a constant target is predicted as it is, without rounding.
        self._targets = np.column_stack([targets - self.target_mean_, np.ones(len(targets))])
        if given is not None:
            self._targets *= given[:, np.newaxis]
        if self.weights == "exponential":
            points = X if rows is None or not self._precomputed else X[rows]
            width = self.bandwidth
            if isinstance(width, str):
                share = 0.1 if width == "tenth" else 1.0
                width = share * mean_size(self._landmarks, points, given)
            self.bandwidth_ = float(width)
        return self

    def predict(self, X: Any) -> Floats:
        """Return the weighted average of the training targets for each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``similarity="precomputed"`` of shape (n_samples, n_training_points).

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
            float32 if X is, else float64.

        Raises
        ------
        ValueError
            If weights sum to 0 and ``zero_weights="raise"``; if similarities are not finite.
        """
        check_is_fitted(self)
        X = self._check_points(X)
        n_targets = self._targets.shape[1] - 1
        predicted = np.empty((X.shape[0], n_targets), dtype=base.float_type(X))
        empty = np.empty(X.shape[0], dtype=bool)
        for rows, weights in self._landmarks.blocks(X):
            if self.weights == "exponential":
                weights = weights - weights.max(axis=1, keepdims=True)
                weights /= self.bandwidth_
                np.exp(weights, out=weights)
            *deviations, totals = (weights @ self._targets.astype(weights.dtype)).T
            empty[rows] = is_rounding(totals, weights)
            totals[empty[rows]] = 1
            predicted[rows] = (np.array(deviations) / totals).T + self.target_mean_
        if empty.any():
            if self.zero_weights == "raise":
                raise ValueError(
                    f"X holds {empty.sum()} point(s) whose similarities to the training points "
                    "sum to 0: use another similarity, or zero_weights='mean' or 'nan'"
                )
            predicted[empty] = self.target_mean_ if self.zero_weights == "mean" else np.nan
        return predicted[:, 0] if self._one_target else predicted

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        # With the default width, or negative weights, the prediction is close to the mean.
        tags.regressor_tags.poor_score = True
        tags.target_tags.multi_output = True
        return tags
