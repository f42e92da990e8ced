"""Linear support vector regression, solved by the official LIBLINEAR."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from kernlearn.solvers._linear_base import LinearBase


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
