"""Linear support vector classifier and regressor, trained by the official LIBLINEAR."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.utils.validation import validate_data

from kernlearn.constraints import CLASS_WEIGHT, NOT_NEGATIVE, StrOptions, fit_context
from kernlearn.sample_weights import check_weights, without_zeros
from kernlearn.solvers.labels import encode_labels
from kernlearn.solvers.liblinear import PRIMAL_SOLVERS, LinearBase, Settings, solver_number
from kernlearn.solvers.linear_path import primal_path
from kernlearn.solvers.weighted import classifier_paths, regressor_paths


@dataclass(eq=False, repr=False)
class LinearSVM(ClassifierMixin, LinearBase):
    """Linear support vector classifier, trained by LIBLINEAR [1]_.

    When to use it: many rows, sparse or wide data, and classes that a plane separates.

    With labels ±1 it minimises over w and b ::

        ½ ‖w‖² + ½ (b / intercept_scaling)² + C Σᵢ loss(yᵢ (⟨w, xᵢ⟩ + b))

    where the loss is max(0, 1 − t)² or max(0, 1 − t). More than two classes are separated one
    versus the rest.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses relative to the norm.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        The loss.
    solver : {"auto", "primal", "dual"}, default="auto"
        "primal" is a Newton method (LIBLINEAR's ``-s 2``, squared hinge only), "dual"
        coordinate descent (``-s 1``, or ``-s 3`` for the hinge); "auto" is the primal solver
        where the loss allows it.
    tol : float, default=None
        Tolerance of the stopping criterion; None is LIBLINEAR's default, 0.01 in the primal and
        0.1 in the dual. The primal solver compares the norm of the gradient with
        tol · min(n₊, n₋)/n times its norm at w = 0, the dual solver the largest violation of the
        optimality conditions with tol.
    fit_intercept : bool, default=True
        Whether to fit the intercept b.
    intercept_scaling : float, default=1.0
        Value of the constant feature whose weight gives b (LIBLINEAR's ``-B``); the larger,
        the less b is penalised.
    penalize_intercept : bool, default=True
        If False, b is not penalised at all (``-R``). Needs the primal solver and
        ``intercept_scaling=1``.
    class_weight : dict, "balanced" or None, default=None
        Factor on C for each class; with more than two, only for the class that is separated
        from the rest.
    presolve : float, default=None
        Share of the rows, between 0 and 1, on which the problem is solved first; the full
        problem starts from that solution and ends at the same tolerance. Often saves time on
        large data. Skipped if a class is missing in those rows. Needs the primal solver.
    random_state : int, RandomState instance or None, default=None
        Seed for the order in which the dual solvers visit the rows.

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
    KernelSVM : The same with a kernel.

    Notes
    -----
    LIBLINEAR computes in double precision and stores 16 bytes per value. With sample weights,
    which it does not have, the squared hinge is minimised by Newton's method on rows that are not
    sparse, whatever `solver` and `tol`, and the hinge by scikit-learn's LIBLINEAR. Two fits with
    the dual solvers do not run concurrently in two threads, because they share the random numbers
    of the C library.

    References
    ----------
    .. [1] R.-E. Fan, K.-W. Chang, C.-J. Hsieh, X.-R. Wang, C.-J. Lin. LIBLINEAR: a library
       for large linear classification. JMLR 9, 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernlearn.solvers import LinearSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> LinearSVM().fit(X, y).predict(X[::50])
    array([0, 1, 2])
    """

    C: float = 1.0
    _: KW_ONLY
    loss: str = "squared_hinge"
    solver: str = "auto"
    tol: float | None = None
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    penalize_intercept: bool = True
    class_weight: Any = None
    presolve: float | None = None
    random_state: Any = None

    _parameter_constraints = {
        **LinearBase._parameter_constraints,
        "loss": [StrOptions({"squared_hinge", "hinge"})],
        "class_weight": CLASS_WEIGHT,
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
            If y has a single class, or if a combination of parameters is not supported.

        Warns
        -----
        ConvergenceWarning
            If LIBLINEAR stopped before it reached `tol`.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        X, y, weights = without_zeros(X, y, check_weights(sample_weight, X))
        self.classes_, codes, weight = encode_labels(y, self.class_weight, weights)
        if len(self.classes_) == 2:
            # Code 0 is LIBLINEAR's positive class; scikit-learn's is the second label.
            codes, weight = 1 - codes, weight[::-1]
        self.coef_, self.intercept_ = self._solve(X, codes, weights, class_weight=weight)
        return self

    def _solve_weighted(
        self, X: Any, y: np.ndarray, weights: np.ndarray, told: Settings
    ) -> np.ndarray:
        assert told.class_weight is not None
        positives = np.arange(len(self.classes_) if len(self.classes_) > 2 else 1)[:, np.newaxis]
        signs = np.where(y == positives, 1.0, -1.0)
        factors = told.class_weight[y]
        if len(self.classes_) > 2:
            factors = np.where(signs > 0, factors, 1.0)
        return classifier_paths(
            X,
            signs,
            weights * factors,
            [self.C],
            loss=self.loss,
            bias=told.bias,
            tol=self._plain_tol(),
            seed=told.seed or 0,
        )[:, 0]

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


def trained_together(model: LinearSVM, X: Any, y: ArrayLike) -> bool:
    """Whether :func:`fit_each` trains for all values of C at the same time."""
    plain = model.class_weight is None and model.intercept_scaling == 1
    plain = plain and model.fit_intercept and model.penalize_intercept
    primal = solver_number(model.loss, model.solver) in PRIMAL_SOLVERS
    return plain and primal and not sparse.issparse(X) and len(np.unique(y)) == 2


def fit_each(model: LinearSVM, X: Any, y: ArrayLike, Cs: Sequence[float]) -> list[LinearSVM]:
    """Fit a classifier for each of several values of C.

    On dense rows of two classes, with the primal solver, all are trained at the same time, by
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


@dataclass(eq=False, repr=False)
class LinearSVMRegressor(RegressorMixin, LinearBase):
    """Linear support vector regression, trained by LIBLINEAR [1]_.

    When to use it: many rows, and a target that is linear in the features up to outliers.

    It minimises over w and b ::

        ½ ‖w‖² + ½ (b / intercept_scaling)² + C Σᵢ loss(max(0, |yᵢ − ⟨w, xᵢ⟩ − b| − epsilon))

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
    solver : {"auto", "primal", "dual"}, default="auto"
        "primal" is a Newton method (LIBLINEAR's ``-s 11``, squared loss only), "dual"
        coordinate descent (``-s 12``, or ``-s 13`` for the plain loss); "auto" is the primal
        solver where the loss allows it.
    tol : float, default=None
        Tolerance of the stopping criterion, relative to its value at w = 0: the norm of the
        gradient in the primal, the 1-norm of the violations of the optimality conditions in the
        dual. None is LIBLINEAR's default, 0.0001 in the primal and 0.1 in the dual.
    fit_intercept, intercept_scaling, penalize_intercept, presolve, random_state
        As for `LinearSVM`.

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

    References
    ----------
    .. [1] C.-H. Ho, C.-J. Lin. Large-scale linear support vector regression. JMLR 13, 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.solvers import LinearSVMRegressor
    >>> X = np.arange(10.0).reshape(-1, 1)
    >>> model = LinearSVMRegressor(C=100, epsilon=0).fit(X, 2 * X.ravel() + 1)
    >>> model.coef_.round(2), round(float(model.intercept_), 2)
    (array([2.]), 1.0)
    """

    C: float = 1.0
    _: KW_ONLY
    loss: str = "squared_epsilon_insensitive"
    epsilon: float = 0.1
    solver: str = "auto"
    tol: float | None = None
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    penalize_intercept: bool = True
    presolve: float | None = None
    random_state: Any = None

    _parameter_constraints = {
        **LinearBase._parameter_constraints,
        "loss": [StrOptions({"squared_epsilon_insensitive", "epsilon_insensitive"})],
        "epsilon": [NOT_NEGATIVE],
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

        Raises
        ------
        ValueError
            If a combination of parameters is not supported.

        Warns
        -----
        ConvergenceWarning
            If LIBLINEAR stopped before it reached `tol`.
        """
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], y_numeric=True
        )
        X, y, weights = without_zeros(X, y, check_weights(sample_weight, X))
        coef, intercept = self._solve(X, np.asarray(y), weights, epsilon=self.epsilon)
        self.coef_, self.intercept_ = coef[0], intercept[0]
        return self

    def _solve_weighted(
        self, X: Any, y: np.ndarray, weights: np.ndarray, told: Settings
    ) -> np.ndarray:
        return regressor_paths(
            X,
            y.astype(np.float64),
            weights,
            [self.C],
            loss=self.loss,
            epsilon=self.epsilon,
            bias=told.bias,
            tol=self._plain_tol(),
            seed=told.seed or 0,
        )

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
