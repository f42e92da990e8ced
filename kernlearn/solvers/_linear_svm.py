"""Linear support vector classifier, solved by the official LIBLINEAR."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import validate_data

from kernlearn.solvers._labels import encode_labels
from kernlearn.solvers._linear_base import LinearBase


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
