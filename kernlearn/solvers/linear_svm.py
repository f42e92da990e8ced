"""What the linear classifier and the linear regressor share."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlearn.solvers.labels import encode_labels
from kernlearn.solvers.liblinear import DEFAULT_TOL, PRIMAL_SOLVERS, SOLVERS, Settings, solve
from kernlearn.solvers.nodes import feature_rows

_MAX_SEED = 2**31 - 1


class LinearBase(BaseEstimator):
    """Parameters, the call of LIBLINEAR, and the linear function."""

    _parameter_constraints: dict[str, list[Any]] = {
        "C": [Interval(Real, 0, None, closed="neither")],
        "solver": [StrOptions({"auto", "primal", "dual"})],
        "tol": [None, Interval(Real, 0, None, closed="neither")],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "penalize_intercept": ["boolean"],
        "presolve": [None, Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state"],
    }

    C: float
    loss: str
    solver: str
    tol: float | None
    fit_intercept: bool
    intercept_scaling: float
    penalize_intercept: bool
    presolve: float | None
    random_state: Any
    coef_: NDArray[np.floating]
    intercept_: Any

    def _solve(
        self,
        X: Any,
        y: NDArray[Any],
        epsilon: float = 0.1,
        class_weight: NDArray[np.float64] | None = None,
    ) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
        """Coefficients of shape (n_problems, n_features) and intercepts, in the type of X."""
        solver = self._solver_number()
        free_intercept = self.fit_intercept and not self.penalize_intercept
        self._check_combination(solver, free_intercept)
        draws = solver not in PRIMAL_SOLVERS
        settings = Settings(
            solver=solver,
            C=self.C,
            tol=DEFAULT_TOL[solver] if self.tol is None else self.tol,
            epsilon=epsilon,
            bias=self.intercept_scaling if self.fit_intercept else None,
            penalize_bias=not free_intercept,
            class_weight=class_weight,
            seed=check_random_state(self.random_state).randint(_MAX_SEED) if draws else None,
        )
        n_features = X.shape[1]
        weights = solve(
            feature_rows(X, settings.bias),
            y,
            n_features + int(self.fit_intercept),
            settings,
            self.presolve,
        )
        if self.fit_intercept:
            intercept = weights[:, -1] * self.intercept_scaling
        else:
            intercept = np.zeros(len(weights))
        coef = np.ascontiguousarray(weights[:, :n_features], dtype=X.dtype)
        return coef, intercept.astype(X.dtype)

    def _solver_number(self) -> int:
        if self.solver == "auto":
            primal = SOLVERS.get((self.loss, "primal"))
            return SOLVERS[self.loss, "dual"] if primal is None else primal
        try:
            return SOLVERS[self.loss, self.solver]
        except KeyError:
            raise ValueError(
                f"solver='primal' needs a squared loss, but loss={self.loss!r}: "
                "use solver='dual' or 'auto'"
            ) from None

    def _check_combination(self, solver: int, free_intercept: bool) -> None:
        if free_intercept and solver not in PRIMAL_SOLVERS:
            raise ValueError(
                "penalize_intercept=False needs the primal solver: use a squared loss "
                "with solver='primal' or 'auto'"
            )
        if free_intercept and self.intercept_scaling != 1:
            raise ValueError(
                "penalize_intercept=False needs intercept_scaling=1, "
                f"but intercept_scaling={self.intercept_scaling!r}"
            )
        if self.presolve is not None and solver not in PRIMAL_SOLVERS:
            raise ValueError(
                f"presolve={self.presolve!r} needs the primal solver: use a squared loss "
                "with solver='primal' or 'auto', or presolve=None"
            )

    def _linear(self, X: Any) -> NDArray[np.floating]:
        check_is_fitted(self)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )
        return safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class LinearSVM(ClassifierMixin, LinearBase):
    """Linear support vector classifier, trained by LIBLINEAR [1]_.

    With labels ±1 it minimises over w and b ::

        ½ ‖w‖² + ½ (b / intercept_scaling)² + C Σᵢ loss(yᵢ (⟨w, xᵢ⟩ + b))

    where the loss is max(0, 1 − t)² or max(0, 1 − t). More than two classes are solved one
    against the rest.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses against the norm.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        The loss.
    solver : {"auto", "primal", "dual"}, default="auto"
        "primal" is a Newton method (LIBLINEAR's ``-s 2``, squared hinge only), "dual"
        coordinate descent (``-s 1``, or ``-s 3`` for the hinge). "auto" takes the primal
        one where there is one.
    tol : float, default=None
        Where to stop; None is LIBLINEAR's own choice, 0.01 in the primal and 0.1 in the
        dual. In the primal: once the gradient's norm falls below tol · min(n₊, n₋)/n times
        its norm at w = 0. In the dual: once the largest violation of the optimality
        conditions falls below tol.
    fit_intercept : bool, default=True
        Whether there is a b.
    intercept_scaling : float, default=1.0
        Value of the constant feature whose weight gives b (LIBLINEAR's ``-B``); the larger,
        the less b is penalised.
    penalize_intercept : bool, default=True
        If False, b is not penalised at all (``-R``). Needs the primal solver and
        ``intercept_scaling=1``.
    class_weight : dict, "balanced" or None, default=None
        Factor on C for each class. With more than two classes, on the class that stands
        against the rest only.
    presolve : float, default=None
        A share of the rows, between 0 and 1, on which the problem is solved first; the full
        problem starts from there and ends at the same tolerance. Often saves time on large
        data. Skipped if those rows lack a class. Needs the primal solver.
    random_state : int, RandomState instance or None, default=None
        Seed for the order in which the dual solvers visit the rows. The primal solver draws
        nothing.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        w, one row for two classes, in the floating type of X.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        b.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.

    See Also
    --------
    LinearSVMRegressor : The same for real targets.
    KernelSVM : The same with a kernel.

    Notes
    -----
    LIBLINEAR computes in double precision and stores 16 bytes a value. It knows no weights
    of single samples. Two fits with the dual solvers do not run at the same time in two
    threads, because they share the random numbers of the C library.

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

    _parameter_constraints: dict[str, list[Any]] = {
        **LinearBase._parameter_constraints,
        "loss": [StrOptions({"squared_hinge", "hinge"})],
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "squared_hinge",
        solver: str = "auto",
        tol: float | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        penalize_intercept: bool = True,
        class_weight: Any = None,
        presolve: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.solver = solver
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.penalize_intercept = penalize_intercept
        self.class_weight = class_weight
        self.presolve = presolve
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on labelled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels, numbers or strings.

        Returns
        -------
        LinearSVM
            The estimator itself.

        Raises
        ------
        ValueError
            If y has a single class, or if parameters do not go together.

        Warns
        -----
        ConvergenceWarning
            If LIBLINEAR stopped before it reached `tol`.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32])
        self.classes_, codes, weight = encode_labels(y, self.class_weight)
        if len(self.classes_) == 2:
            # Code 0 is LIBLINEAR's positive class; scikit-learn's is the second label.
            codes, weight = 1 - codes, weight[::-1]
        self.coef_, self.intercept_ = self._solve(X, codes, class_weight=weight)
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.floating]:
        """Signed distances from the separating planes, times ‖w‖.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, positive where the second one of `classes_` is predicted.
        """
        scores = self._linear(X)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Most likely labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels out of `classes_`.
        """
        scores = self.decision_function(X)
        codes = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes]


class LinearSVMRegressor(RegressorMixin, LinearBase):
    """Linear support vector regression, trained by LIBLINEAR [1]_.

    It minimises over w and b ::

        ½ ‖w‖² + ½ (b / intercept_scaling)² + C Σᵢ loss(max(0, |yᵢ − ⟨w, xᵢ⟩ − b| − epsilon))

    where the loss is the square or the value itself.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the losses against the norm.
    loss : {"squared_epsilon_insensitive", "epsilon_insensitive"}, \
            default="squared_epsilon_insensitive"
        The loss.
    epsilon : float, default=0.1
        Error that costs nothing, in the unit of y.
    solver : {"auto", "primal", "dual"}, default="auto"
        "primal" is a Newton method (LIBLINEAR's ``-s 11``, squared loss only), "dual"
        coordinate descent (``-s 12``, or ``-s 13`` for the plain loss). "auto" takes the
        primal one where there is one.
    tol : float, default=None
        Where to stop; None is LIBLINEAR's own choice, 0.0001 in the primal and 0.1 in the
        dual. In the primal: once the gradient's norm falls below tol times its norm at
        w = 0. In the dual: the same for the violation of the optimality conditions, in
        the 1-norm.
    fit_intercept : bool, default=True
        Whether there is a b.
    intercept_scaling : float, default=1.0
        Value of the constant feature whose weight gives b (LIBLINEAR's ``-B``); the larger,
        the less b is penalised.
    penalize_intercept : bool, default=True
        If False, b is not penalised at all (``-R``). Needs the primal solver and
        ``intercept_scaling=1``.
    presolve : float, default=None
        A share of the rows, between 0 and 1, on which the problem is solved first; the full
        problem starts from there and ends at the same tolerance. Needs the primal solver.
    random_state : int, RandomState instance or None, default=None
        Seed for the order in which the dual solvers visit the rows. The primal solver draws
        nothing.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        w, in the floating type of X.
    intercept_ : float
        b.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.

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

    _parameter_constraints: dict[str, list[Any]] = {
        **LinearBase._parameter_constraints,
        "loss": [StrOptions({"squared_epsilon_insensitive", "epsilon_insensitive"})],
        "epsilon": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "squared_epsilon_insensitive",
        epsilon: float = 0.1,
        solver: str = "auto",
        tol: float | None = None,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        penalize_intercept: bool = True,
        presolve: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.loss = loss
        self.epsilon = epsilon
        self.solver = solver
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.penalize_intercept = penalize_intercept
        self.presolve = presolve
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on rows with real targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their targets.

        Returns
        -------
        LinearSVMRegressor
            The estimator itself.

        Raises
        ------
        ValueError
            If parameters do not go together.

        Warns
        -----
        ConvergenceWarning
            If LIBLINEAR stopped before it reached `tol`.
        """
        X, y = validate_data(
            self, X, y, accept_sparse="csr", dtype=[np.float64, np.float32], y_numeric=True
        )
        coef, intercept = self._solve(X, np.asarray(y), epsilon=self.epsilon)
        self.coef_, self.intercept_ = coef[0], intercept[0]
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.floating]:
        """Predicted targets.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            ⟨w, x⟩ + b for each row x.
        """
        return self._linear(X)
