"""Linear support vector classifier and regressor."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, clone
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlearn.linear.liblinear import DEFAULT_TOL, Settings, feature_rows, solve
from kernlearn.linear.path import linear_paths, primal_path, regression_path
from kernlearn.memory import require_memory
from kernlearn.validation import (
    CLASS_WEIGHT,
    FRACTION,
    NOT_NEGATIVE,
    POSITIVE,
    StrOptions,
    check_weights,
    encode_labels,
    fit_context,
    without_zeros,
)

_POINTS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


class _LinearModel(BaseEstimator):
    """Base of the linear models."""

    def _linear(self: Any, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **_POINTS)
        return safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@dataclass(eq=False, repr=False)
class LinearSVM(ClassifierMixin, _LinearModel):
    """Linear support vector classifier, trained by LIBLINEAR [1]_.

    When to use it: many rows, sparse or wide data, and classes that a plane separates.

    With labels ±1 it minimises over w and b ::

        ½ ‖w‖² + ½ b² + C Σᵢ loss(yᵢ (⟨w, xᵢ⟩ + b))

    where the loss is max(0, 1 − t)² or max(0, 1 − t). More than two classes are separated one
    versus the rest.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses relative to the norm.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        The loss.
    tol : float, default=None
        Tolerance of the stopping criterion. LIBLINEAR compares the norm of the gradient with
        tol · min(n₊, n₋)/n times its norm at w = 0; None is its default, 0.01. For the hinge and
        with sample weights, it is the allowed excess of the objective over its minimum, relative
        to it; None is 1e-6 for the hinge, 1e-10 otherwise.
    fit_intercept : bool, default=True
        Whether to fit the intercept b.
    class_weight : dict, "balanced" or None, default=None
        Factor on C for each class; with more than two, only for the class that is separated
        from the rest.
    presolve : float, default=None
        Share of the rows, between 0 and 1, on which LIBLINEAR solves the problem first; the full
        problem starts from that solution and ends at the same tolerance. Often saves time on
        large data. Skipped if a class is missing in those rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        w, one row for two classes, in the dtype of X.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        b.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen in `fit`, if X has feature names.

    See Also
    --------
    LinearSVMRegressor : The same for real targets.
    kernlearn.svm.KernelSVM : The same with a kernel.

    Notes
    -----
    LIBLINEAR computes in double precision and stores 16 bytes per value. The hinge, and the
    squared hinge with sample weights, are minimised by Newton's method, which converges on
    features of any scale, but needs rows that are not sparse.

    References
    ----------
    .. [1] R.-E. Fan, K.-W. Chang, C.-J. Hsieh, X.-R. Wang, C.-J. Lin. LIBLINEAR: a library
       for large linear classification. JMLR 9, 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernlearn.linear import LinearSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> LinearSVM().fit(X, y).predict(X[::50])
    array([0, 1, 2])
    """

    C: float = 1.0
    _: KW_ONLY
    loss: str = "squared_hinge"
    tol: float | None = None
    fit_intercept: bool = True
    class_weight: Any = None
    presolve: float | None = None

    _parameter_constraints = {
        "C": [POSITIVE],
        "loss": [StrOptions({"squared_hinge", "hinge"})],
        "tol": [None, POSITIVE],
        "fit_intercept": ["boolean"],
        "class_weight": CLASS_WEIGHT,
        "presolve": [None, FRACTION],
    }

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Labels, numbers or strings.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C for each row, not negative; a row of weight 0 counts as absent.

        Returns
        -------
        LinearSVM
            Fitted estimator.

        Raises
        ------
        ValueError
            If y has a single class.
        ImportError
            If LIBLINEAR is needed and not installed.

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before it reached `tol`.
        """
        X, y = validate_data(self, X, y, **_POINTS)
        X, y, weights = without_zeros(X, y, check_weights(sample_weight, X))
        self.classes_, codes, class_weight = encode_labels(y, self.class_weight, weights)
        if len(self.classes_) == 2:
            # Code 0 is LIBLINEAR's positive class; scikit-learn's is the second label.
            codes, class_weight = 1 - codes, class_weight[::-1]
        if self.loss == "squared_hinge" and weights is None:
            self._fit_by_liblinear(X, codes, class_weight)
            return self
        positives = np.arange(len(self.classes_) if len(self.classes_) > 2 else 1)[:, np.newaxis]
        signs = np.where(codes == positives, 1.0, -1.0)
        factors = class_weight[codes]
        if len(self.classes_) > 2:
            factors = np.where(signs > 0, factors, 1.0)
        coef, intercept = linear_paths(
            _dense(X),
            signs,
            [self.C],
            loss=self.loss,
            tol=self.tol,
            fit_intercept=self.fit_intercept,
            weights=factors if weights is None else weights * factors,
        )
        self.coef_, self.intercept_ = coef[:, 0], intercept[:, 0]
        return self

    def _fit_by_liblinear(self, X: Any, codes: np.ndarray, class_weight: np.ndarray) -> None:
        n_features = X.shape[1]
        rows = feature_rows(X, constant=self.fit_intercept)
        settings = Settings(self.C, self.tol or DEFAULT_TOL, class_weight)
        weights = solve(rows, codes, n_features + int(self.fit_intercept), settings, self.presolve)
        self.coef_ = np.ascontiguousarray(weights[:, :n_features], dtype=X.dtype)
        intercept = weights[:, -1] if self.fit_intercept else np.zeros(len(weights))
        self.intercept_ = intercept.astype(X.dtype)

    def decision_function(self, X: ArrayLike) -> NDArray[np.floating]:
        """Return the signed distances from the separating hyperplanes, times ‖w‖.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, positive where ``classes_[1]`` is predicted.
        """
        scores = self._linear(X)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted labels.
        """
        scores = self.decision_function(X)
        codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes]


def fit_each(model: LinearSVM, X: Any, y: ArrayLike, Cs: Sequence[float]) -> list[LinearSVM]:
    """Fit a classifier for each of several values of C.

    On dense rows of two classes, with the squared hinge, all are trained at the same time, by
    LIBLINEAR's method on dense features: they are those of `fit` but for rounding, which the
    default tolerance amplifies where C is large.

    Parameters
    ----------
    model : LinearSVM
        Its other parameters hold for all.
    X, y
        As for `fit`.
    Cs : sequence of float

    Returns
    -------
    list of LinearSVM
    """
    models = [clone(model).set_params(C=C) for C in Cs]
    if not trained_together(model, X, y):
        return [one.fit(X, y) for one in models]
    labels = np.unique(y)
    X, y = validate_data(model, X, y, dtype=[np.float64, np.float32])
    signs = np.where(y == labels[1], 1.0, -1.0)
    path = primal_path(X, signs, Cs, tol=model.tol, presolve=model.presolve)
    for one, coef, intercept in zip(models, *path, strict=True):
        validate_data(one, X, skip_check_array=True)
        one.classes_, one.coef_ = labels, coef[np.newaxis]
        one.intercept_ = np.array([intercept])
    return models


def trained_together(model: LinearSVM, X: Any, y: ArrayLike) -> bool:
    """Whether :func:`fit_each` trains for all values of C at the same time."""
    plain = model.loss == "squared_hinge" and model.class_weight is None and model.fit_intercept
    return plain and not sparse.issparse(X) and len(np.unique(y)) == 2


@dataclass(eq=False, repr=False)
class LinearSVMRegressor(RegressorMixin, _LinearModel):
    """Linear support vector regression, by Newton's method [1]_.

    When to use it: many rows, and a target that is linear in the features up to outliers.

    It minimises over w and b ::

        ½ ‖w‖² + ½ b² + C Σᵢ loss(max(0, |yᵢ − ⟨w, xᵢ⟩ − b| − epsilon))

    where the loss is the square or the value itself.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses relative to the norm.
    loss : {"squared_epsilon_insensitive", "epsilon_insensitive"}, \
            default="squared_epsilon_insensitive"
        The loss.
    epsilon : float, default=0.1
        Half width of the tube without loss, in the unit of y.
    tol : float, default=None
        Allowed excess of the objective over its minimum, relative to it; None is 1e-10 for the
        squared loss, 1e-6 otherwise.
    fit_intercept : bool, default=True
        Whether to fit the intercept b.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        w, in the dtype of X.
    intercept_ : float
        b.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen in `fit`, if X has feature names.

    See Also
    --------
    LinearSVM : The same for classes.

    Notes
    -----
    The objective is that of LIBLINEAR's support vector regression [2]_. Rows that are sparse are
    made dense.

    References
    ----------
    .. [1] S. S. Keerthi, D. DeCoste. A modified finite Newton method for fast solution of large
       scale linear SVMs. JMLR 6, 2005.
    .. [2] C.-H. Ho, C.-J. Lin. Large-scale linear support vector regression. JMLR 13, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.linear import LinearSVMRegressor
    >>> X = np.arange(10.0).reshape(-1, 1)
    >>> model = LinearSVMRegressor(C=100, epsilon=0).fit(X, 2 * X.ravel() + 1)
    >>> model.coef_.round(2), round(float(model.intercept_), 2)
    (array([2.]), 1.0)
    """

    C: float = 1.0
    _: KW_ONLY
    loss: str = "squared_epsilon_insensitive"
    epsilon: float = 0.1
    tol: float | None = None
    fit_intercept: bool = True

    _parameter_constraints = {
        "C": [POSITIVE],
        "loss": [StrOptions({"squared_epsilon_insensitive", "epsilon_insensitive"})],
        "epsilon": [NOT_NEGATIVE],
        "tol": [None, POSITIVE],
        "fit_intercept": ["boolean"],
    }

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C for each row, not negative; a row of weight 0 counts as absent.

        Returns
        -------
        LinearSVMRegressor
            Fitted estimator.

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before it reached `tol`.
        """
        X, y = validate_data(self, X, y, y_numeric=True, **_POINTS)
        X, y, weights = without_zeros(X, y, check_weights(sample_weight, X))
        coef, intercept = regression_path(
            _dense(X),
            y,
            [self.C],
            loss=self.loss,
            epsilon=self.epsilon,
            tol=self.tol,
            fit_intercept=self.fit_intercept,
            weights=weights,
        )
        self.coef_, self.intercept_ = coef[0], intercept[0]
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.floating]:
        """Predict targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data.

        Returns
        -------
        ndarray of shape (n_samples,)
            ⟨w, x⟩ + b for each row x.
        """
        return self._linear(X)


def _dense(X: Any) -> np.ndarray:
    if not sparse.issparse(X):
        return X
    require_memory(
        16 * X.shape[0] * X.shape[1],
        purpose=f"{X.shape[0]} rows of {X.shape[1]} features that are not sparse",
        advice="all but the squared hinge without sample weights needs them: use fewer rows or "
        "features, or scikit-learn's LinearSVC or LinearSVR",
    )
    return X.toarray()
