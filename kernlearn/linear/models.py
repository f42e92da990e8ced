"""Linear support vector classifier, and linear models for several values of C."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model._base import LinearClassifierMixin

from kernlearn import validation
from kernlearn.linear.liblinear import DEFAULT_TOL, Settings, feature_rows, first_part, solve
from kernlearn.linear.losses import (
    EpsilonInsensitive,
    Logistic,
    Loss,
    SmoothedHinge,
    SquaredHinge,
    Weights,
)
from kernlearn.linear.newton import PrimalNewton
from kernlearn.memory import require_memory

Path = tuple[np.ndarray, np.ndarray]

# Losses of a label by name, and the margin at which their arguments are 0.
_LOSSES: dict[str, tuple[Callable[[Weights], Loss], float]] = {
    "squared_hinge": (SquaredHinge, 1.0),
    "logistic": (Logistic, 0.0),
    "hinge": (partial(SmoothedHinge, 1.0), 1.0),
}
# Newton's method ends at the solution itself: on 10000 x 300 features and four values of C, 20 to
# 50 steps reach 1e-4, and at most four more reach this. A hinge needs some steps more for each
# digit.
_TOL = {**dict.fromkeys(_LOSSES, 1e-10), "squared_epsilon_insensitive": 1e-10}
_TOL |= {"hinge": 1e-6, "epsilon_insensitive": 1e-6}
_MAX_STEPS = 200


def linear_paths(
    features: ArrayLike,
    Y: ArrayLike,
    Cs: Sequence[float] | np.ndarray,
    *,
    loss: str = "squared_hinge",
    solver: str = "newton",
    tol: float | None = None,
    fit_intercept: bool = False,
    weights: np.ndarray | None = None,
) -> Path:
    """Train several binary classifiers on the same features, each for several values of C.

    Minimises LIBLINEAR's objective ½‖w‖² + C Σ sᵢ loss(yᵢ⟨w, xᵢ⟩) for weights sᵢ, where w includes
    the intercept. The Gram matrix of the features is computed once.

    Parameters
    ----------
    features : array-like of shape (n_samples, n_features)
        Dense; float32 gives coefficients in float32, computed in float64.
    Y : array-like of shape (n_problems, n_samples)
        Labels -1 and +1, both of them in each row.
    Cs : array-like of shape (n_values,)
        Ascending values of C.
    loss : {"squared_hinge", "logistic", "hinge"}, default="squared_hinge"
    solver : {"newton", "truncated_newton"}, default="newton"
        "newton" converges to the minimum, and starts from the solution for the previous C.
        "truncated_newton", for the squared hinge, is LIBLINEAR's method (``-s 2``) on dense
        features: up to rounding it stops where LIBLINEAR does, in a fraction of the time.
    tol : float or None, default=None
        For "newton", the allowed excess of the objective over its minimum, relative to it; by
        default 1e-10, for the hinge 1e-6. For "truncated_newton" LIBLINEAR's own tolerance, by
        default 0.01; with a large C the objective can then be far from the minimum.
    fit_intercept : bool, default=False
        Whether to add a constant feature of 1. As in LIBLINEAR, its weight is penalised.
    weights : ndarray of shape (n_samples,) or (n_problems, n_samples), default=None
        Factors above 0 on the losses, 1 by default.

    Returns
    -------
    coef : ndarray of shape (n_problems, n_values, n_features)
        In the order of `Cs`.
    intercept : ndarray of shape (n_problems, n_values)
        Zero without `fit_intercept`.

    Raises
    ------
    ValueError
        If the solver does not minimise the loss.

    Warns
    -----
    ConvergenceWarning
        If a solver stopped short of its tolerance.

    References
    ----------
    Keerthi & DeCoste, JMLR 6 (2005), for "newton"; Fan et al., LIBLINEAR, JMLR 9 (2008).

    Examples
    --------
    >>> from kernlearn.linear.models import linear_paths
    >>> X = [[1.0, 0.0], [0.0, 1.0]]
    >>> coef, intercept = linear_paths(X, [[1, -1], [-1, 1]], [1, 10])
    >>> coef.round(3)
    array([[[ 0.667, -0.667], [ 0.952, -0.952]], [[-0.667,  0.667], [-0.952,  0.952]]])
    """
    if solver == "truncated_newton" and loss != "squared_hinge":
        raise ValueError(
            f"solver='truncated_newton' needs loss='squared_hinge', but loss={loss!r}: use "
            "solver='newton'"
        )
    X, signs = _with_constant(features, fit_intercept), np.asarray(Y, dtype=np.float64)
    factors = [1.0] * len(signs) if weights is None else np.broadcast_to(weights, signs.shape)
    problems = zip(signs, factors, strict=True)
    if solver == "truncated_newton":
        truncated = _truncated(X, tol)
        paths = [truncated.path(y, Cs, of_rows) for y, of_rows in problems]
    else:
        newton = PrimalNewton(X, tol=tol or _TOL[loss], max_iter=_MAX_STEPS)
        weighted, edge = _LOSSES[loss]
        paths = [newton.path(weighted(of_rows), -y, Cs, -edge) for y, of_rows in problems]
    return _coef_and_intercept(np.array(paths), X.dtype, fit_intercept)


def regression_paths(
    features: ArrayLike,
    targets: ArrayLike,
    Cs: Sequence[float] | np.ndarray,
    epsilons: Iterable[float],
    *,
    loss: str = "squared_epsilon_insensitive",
    tol: float | None = None,
    fit_intercept: bool = False,
    weights: np.ndarray | None = None,
) -> list[tuple[np.ndarray, np.ndarray, list[bool]]]:
    r"""Train regressors for several values of ε and of C, to the minimum.

    Minimises LIBLINEAR's objective ½‖w‖² + C Σ sᵢ loss(max(0, \|⟨w, xᵢ⟩ − yᵢ\| − ε)) for weights
    sᵢ, where w includes the intercept, by Newton's method. One Gram matrix serves all.

    Parameters
    ----------
    features : array-like of shape (n_samples, n_features)
        Dense; float32 gives coefficients in float32, computed in float64.
    targets : array-like of shape (n_samples,)
    Cs : array-like of shape (n_values,)
        Ascending values of C.
    epsilons : iterable of float
        Half widths of the tube without loss.
    loss : {"squared_epsilon_insensitive", "epsilon_insensitive"}, \
            default="squared_epsilon_insensitive"
        The square of the excess of an error over ε, or the excess.
    tol : float or None, default=None
        Allowed excess of the objective over its minimum, relative to it; by default 1e-10, for
        the plain loss 1e-6.
    fit_intercept : bool, default=False
        Whether to add a constant: the mean of the targets, and the weight of a feature of 1, which
        is penalised as in LIBLINEAR. A shift of all targets shifts the predictions.
    weights : ndarray of shape (n_samples,), default=None
        Factors above 0 on the losses, 1 by default.

    Returns
    -------
    list of (coef, intercept, converged)
        For each ε, arrays of shape (n_values, n_features) and (n_values,), in the order of `Cs`,
        and whether the solver converged for each; intercepts are zero without `fit_intercept`.

    Warns
    -----
    ConvergenceWarning
        If the solver stopped short of its tolerance.

    Examples
    --------
    >>> from kernlearn.linear.models import regression_paths
    >>> [(coef, _, _)] = regression_paths([[1.0], [2.0]], [2.0, 4.0], [1000], [0.0])
    >>> coef.round(2)
    array([[2.]])
    """
    X, y = _with_constant(features, fit_intercept), np.asarray(targets, dtype=np.float64)
    centre = np.average(y, weights=weights) if fit_intercept else 0.0
    y = y - centre
    factors: Weights = 1.0 if weights is None else weights
    if loss == "squared_epsilon_insensitive":
        hinge: SquaredHinge | SmoothedHinge = SquaredHinge(factors)
    else:
        hinge = SmoothedHinge(max(1.0, float(np.abs(y).max())), factors)
    newton = PrimalNewton(X, tol=tol or _TOL[loss], max_iter=_MAX_STEPS)
    paths = []
    for epsilon in epsilons:
        path = newton.path(EpsilonInsensitive(epsilon, hinge), 1.0, Cs, y)
        coef, intercept = _coef_and_intercept(path, X.dtype, fit_intercept)
        paths.append((coef, intercept + X.dtype.type(centre), newton.converged))
    return paths


def _truncated(X: np.ndarray, tol: float | None) -> Any:
    from kernlearn.linear.truncated_newton import TruncatedNewton  # loads numba

    return TruncatedNewton(X, tol=DEFAULT_TOL if tol is None else tol)


def _with_constant(features: ArrayLike, fit_intercept: bool) -> np.ndarray:
    """Return the features as floats, with ones for an intercept."""
    X = np.asarray(features)
    X = X if X.dtype == np.float32 else X.astype(np.float64, copy=False)
    return np.column_stack((X, np.ones(len(X), dtype=X.dtype))) if fit_intercept else X


def _coef_and_intercept(weights: np.ndarray, dtype: Any, fit_intercept: bool) -> Path:
    """Split weights of shape (..., n_weights)."""
    if not fit_intercept:
        return weights.astype(dtype), np.zeros(weights.shape[:-1], dtype=dtype)
    return np.ascontiguousarray(weights[..., :-1], dtype=dtype), weights[..., -1].astype(dtype)


@dataclass(eq=False, repr=False)
class LinearSVM(
    validation.TakesSparse, validation.PredictsByScores, LinearClassifierMixin, BaseEstimator
):
    """Linear support vector classifier, trained by LIBLINEAR [1]_.

    When to use it: many rows, sparse or wide data, and classes that a plane separates.

    With labels ±1 it minimises over w and b ::

        ½ ‖w‖² + ½ b² + C Σᵢ loss(yᵢ (⟨w, xᵢ⟩ + b))

    where the loss is max(0, 1 − t)² or max(0, 1 − t). More than two classes are separated one
    versus the rest.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the training errors against the norm of the weights.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        The loss.
    tol : float, default=None
        Tolerance of the stopping criterion. LIBLINEAR compares the norm of the gradient with
        tol · min(n₊, n₋)/n times its norm at w = 0, where rows count by their weights; None is
        its default, 0.01. For the hinge it is the allowed excess of the objective over its
        minimum, relative to it; None is 1e-6.
    fit_intercept : bool, default=True
        Whether to fit the intercept b.
    class_weight : dict, "balanced" or None, default=None
        Factor on C for each class; with more than two, only for the class that is separated
        from the rest.
    presolve : float, default=None
        Share of the rows, between 0 and 1, on which LIBLINEAR solves the problem first; the full
        problem starts from that solution and ends at the same tolerance. Often saves time on
        large data. Skipped if a class is missing in those rows; refused where LIBLINEAR does not
        train, that is with the hinge and with sample weights that differ.

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
    kernlearn.svm.KernelSVM : The same with a kernel.

    Notes
    -----
    LIBLINEAR computes in double precision and stores 16 bytes per value. It takes no sample
    weights: where these differ, its method is carried out on dense features. The hinge is
    minimised by Newton's method, which converges on features of any scale. Both make sparse rows
    dense.

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
        **validation.PARAMETERS,
        "loss": [validation.StrOptions({"squared_hinge", "hinge"})],
        "tol": [None, validation.POSITIVE],
        "presolve": [None, validation.FRACTION],
    }

    @validation.fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
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
        X, y = validation.validate_data(self, X, y, **validation.POINTS)
        X, y, weights = validation.without_zeros(X, y, validation.check_weights(sample_weight, X))
        C, is_squared = self.C, self.loss == "squared_hinge"
        if weights is not None and np.ptp(weights) == 0:
            C, weights = C * weights[0], None
        self.classes_, codes, class_weight = validation.encode_labels(
            y, self.class_weight, weights
        )
        if is_squared and weights is None:
            if len(self.classes_) == 2:
                # Code 0 is LIBLINEAR's positive class; scikit-learn's is the second label.
                codes, class_weight = 1 - codes, class_weight[::-1]
            rows = feature_rows(X, constant=self.fit_intercept)
            settings = Settings(C, self.tol or DEFAULT_TOL, class_weight)
            n_weights = X.shape[1] + int(self.fit_intercept)
            solution = solve(rows, codes, n_weights, settings, self.presolve)
            parts = _coef_and_intercept(solution, X.dtype, self.fit_intercept)
            self.coef_, self.intercept_ = parts
            return self
        setting = "sample weights that differ" if is_squared else "loss='hinge'"
        validation.refuse_unused(self, ["presolve"], setting)
        signs = validation.one_against_all(codes, len(self.classes_))
        factors = class_weight[codes]
        if len(self.classes_) > 2:
            factors = np.where(signs > 0, factors, 1.0)
        coef, intercept = linear_paths(
            _dense(X),
            signs,
            [C],
            loss=self.loss,
            solver="truncated_newton" if is_squared else "newton",
            tol=self.tol,
            fit_intercept=self.fit_intercept,
            weights=factors if weights is None else weights * factors,
        )
        self.coef_, self.intercept_ = coef[:, 0], intercept[:, 0]
        return self


def fit_each(
    model: LinearSVM, X: Any, y: Any, Cs: Sequence[float]
) -> tuple[list[LinearSVM], NDArray[np.bool_]]:
    """Fit a classifier for each of several values of C.

    On dense rows of two classes, with the squared hinge, all are trained at the same time, by
    LIBLINEAR's method on dense features. They are those of `fit` but for rounding, which the
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
    models : list of LinearSVM
    converged : ndarray of shape (n_values,)
        Whether the solver converged for each.
    """
    models = [clone(model).set_params(C=C) for C in Cs]
    labels, converged = np.unique(y), np.ones(len(models), dtype=bool)
    plain = model.loss == "squared_hinge" and model.class_weight is None and model.fit_intercept
    if not plain or sparse.issparse(X) or len(labels) != 2:
        for place, one in enumerate(models):
            with validation.noting_convergence(converged, place):
                one.fit(X, y)
        return models, converged
    X, y = validation.validate_data(model, X, y, dtype=[np.float64, np.float32])
    # by class, the second one first, as LIBLINEAR takes the rows
    order = np.argsort(y != labels[1], kind="stable")
    rows = np.column_stack((X[order], np.ones(len(order))))
    signs = np.where(y[order] == labels[1], 1.0, -1.0)
    values, starts = np.asarray(Cs, dtype=np.float64), None
    if model.presolve is not None:
        part, factor = first_part(len(signs), model.presolve)
        if np.ptp(signs[part]):
            starts = _truncated(rows[part], model.tol).path(signs[part], values * factor)
    solver = _truncated(rows, model.tol)
    weights = solver.path(signs, values, starts=starts)
    for one, coef, intercept in zip(
        models, *_coef_and_intercept(weights, X.dtype, True), strict=True
    ):
        validation.validate_data(one, X, skip_check_array=True)
        one.classes_, one.coef_ = labels, coef[np.newaxis]
        one.intercept_ = np.array([intercept])
    return models, solver.converged


def _dense(X: Any) -> np.ndarray:
    if not sparse.issparse(X):
        return X
    require_memory(
        16 * X.shape[0] * X.shape[1],
        purpose=f"{X.shape[0]} rows of {X.shape[1]} features that are not sparse",
        advice="all but the squared hinge without sample weights needs them: use fewer rows or "
        "features, or scikit-learn's LinearSVC",
    )
    return X.toarray()
