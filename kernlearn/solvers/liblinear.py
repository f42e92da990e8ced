"""Bridge to LIBLINEAR, and the base of the estimators that it trains."""

import ctypes
import threading
import warnings
from abc import abstractmethod
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.ctypeslib import as_ctypes
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

from kernlearn.constraints import FRACTION, POSITIVE, StrOptions
from kernlearn.solvers import substitutes
from kernlearn.solvers.bindings import Binding, official_binding
from kernlearn.solvers.nodes import NodeRows, feature_rows

_MAX_SEED = 2**31 - 1
# The dual solvers draw from C's rand(), one sequence per process: a fit is reproducible only if
# no other thread draws between its srand and its end.
_rand_lock = threading.Lock()

#: LIBLINEAR's number of a solver (``-s``) by loss and problem.
SOLVERS = {
    ("logistic", "primal"): 0,
    ("squared_hinge", "primal"): 2,
    ("squared_hinge", "dual"): 1,
    ("hinge", "dual"): 3,
    ("squared_epsilon_insensitive", "primal"): 11,
    ("squared_epsilon_insensitive", "dual"): 12,
    ("epsilon_insensitive", "dual"): 13,
}
PRIMAL_SOLVERS = (0, 2, 11)
#: LIBLINEAR's own stopping tolerance for each solver (``-e``).
DEFAULT_TOL = {0: 0.01, 1: 0.1, 2: 0.01, 3: 0.1, 11: 1e-4, 12: 0.1, 13: 0.1}

_ADVICE = {
    "Switching to use -s": "the dual solver did not converge in 300 iterations, and LIBLINEAR "
    "went on with the primal solver to a looser tolerance: choose solver='primal'",
    "reaching max number of iterations": "the dual solver did not converge in 300 iterations: "
    "scale the features, lower C, raise tol, or choose a squared loss with solver='primal'",
    "reaching max number of Newton iterations": "the primal solver did not converge in 1000 "
    "iterations: scale the features, lower C or raise tol",
    "line search fails": "the primal solver stopped at a failed line search, short of the "
    "tolerance: raise tol or scale the features",
}


def official() -> Binding | None:
    """Return the official binding, or None where it is not installed."""
    return official_binding("liblinear.liblinear", "liblinear", "set_print_string_function")


def solver_number(loss: str, solver: str = "auto") -> int:
    """Return LIBLINEAR's number; "auto" is the primal solver where the loss has one."""
    if solver == "auto":
        solver = "primal" if (loss, "primal") in SOLVERS else "dual"
    if (loss, solver) not in SOLVERS:
        raise ValueError(
            f"solver='primal' needs a squared loss, but loss={loss!r}: use solver='dual' or 'auto'"
        )
    return SOLVERS[loss, solver]


@dataclass(frozen=True)
class Settings:
    """LIBLINEAR's parameters.

    `solver` is one of the values of ``SOLVERS``, `epsilon` the half width of the tube without
    loss, `bias` the value of the bias feature at the end of the rows, `class_weight` the factor on
    C by class code (None for regression), and `seed` that of C's ``srand`` (None for the primal
    solvers, which draw nothing).
    """

    solver: int
    C: float
    tol: float
    epsilon: float = 0.1
    bias: float | None = None
    penalize_bias: bool = True
    class_weight: np.ndarray | None = None
    seed: int | None = None


def solve(
    rows: NodeRows,
    y: np.ndarray,
    n_weights: int,
    settings: Settings,
    presolve: float | None = None,
    start: np.ndarray | None = None,
) -> np.ndarray:
    """Train, optionally from a start or from the solution on evenly spaced rows.

    These are a share `presolve` of the rows; if a class is missing there, it is not used.
    `y` are class codes 0, 1, ... or targets, and `n_weights` is the number of features including
    the bias. The result has shape (n_problems, n_weights), with one problem for two classes or
    for regression, otherwise one per class. Weights for two classes are positive for class 0,
    independently of the order of the rows.

    Warns
    -----
    ConvergenceWarning
        If LIBLINEAR stopped before it reached the tolerance.
    RuntimeWarning
        If scikit-learn's edition trains because LIBLINEAR is not installed, once per process.
    """
    binding = official()
    if binding is None:
        return _substituted(rows, y, n_weights, settings)
    if settings.class_weight is not None:
        # Sorted by class: LIBLINEAR's first class is the one of the first row.
        by_class = np.argsort(y, kind="stable")
        rows, y = rows.take(by_class), y[by_class]
    if presolve is not None:
        part, factor = first_part(len(rows), presolve)
        weight = settings.class_weight
        if weight is None or len(np.unique(y[part])) == len(weight):
            scaled = replace(settings, C=settings.C * factor)
            start, _ = _train(binding, rows.take(part), y[part], n_weights, scaled, None)
    weights, output = _train(binding, rows, y, n_weights, settings, start)
    for text, advice in _ADVICE.items():
        if text in output:
            warnings.warn(advice, ConvergenceWarning, stacklevel=2)
            break
    return weights


def _substituted(rows: NodeRows, y: np.ndarray, n_weights: int, settings: Settings) -> np.ndarray:
    """Train by scikit-learn's edition; a start would only save time."""
    if not settings.penalize_bias:
        raise substitutes.refusal("penalize_intercept=False", "LIBLINEAR")
    substitutes.warn_once("LIBLINEAR")
    loss = next(loss for (loss, _), number in SOLVERS.items() if number == settings.solver)
    return substitutes.linear_weights(
        rows.matrix(n_weights),
        y,
        loss,
        dual=settings.solver not in PRIMAL_SOLVERS,
        C=settings.C,
        tol=settings.tol,
        epsilon=settings.epsilon,
        class_weight=settings.class_weight,
        seed=settings.seed or 0,
    )


def first_part(n_rows: int, share: float) -> tuple[np.ndarray, float]:
    """Return evenly spaced rows to solve first, and the factor on C for them.

    The sum of the losses has fewer terms there, which a larger C compensates.
    """
    n_part = int(np.ceil(share * n_rows))
    return np.arange(n_part) * n_rows // n_part, n_rows / n_part


def _train(
    binding: Binding,
    rows: NodeRows,
    y: np.ndarray,
    n_weights: int,
    settings: Settings,
    start: np.ndarray | None,
) -> tuple[np.ndarray, str]:
    """Call LIBLINEAR's ``train``; return the weights and the output that it printed."""
    official, library, hook = binding
    # The official constructors loop over the data and reset the print hook: not called.
    problem = official.problem.__new__(official.problem)
    problem.l, problem.n = len(rows), n_weights
    problem.bias = -1.0 if settings.bias is None else settings.bias
    problem.y = _doubles(y)
    problem.x = rows.pointer(official.feature_node)
    parameter = official.parameter.__new__(official.parameter)
    parameter.set_to_default_values()
    parameter.solver_type, parameter.C = settings.solver, settings.C
    parameter.eps, parameter.p = settings.tol, settings.epsilon
    parameter.regularize_bias = int(settings.penalize_bias)
    if settings.class_weight is not None:
        parameter.nr_weight = len(settings.class_weight)
        parameter.weight_label = as_ctypes(np.arange(parameter.nr_weight, dtype=np.int32))
        parameter.weight = _doubles(settings.class_weight)
    if start is not None:
        parameter.init_sol = _doubles(start.T)
    error = library.check_parameter(problem, parameter)
    if error:
        raise ValueError(f"LIBLINEAR refuses its parameters: {error.decode()}")

    with hook.capture() as output, nullcontext() if settings.seed is None else _rand_lock:
        if settings.seed is not None:
            library.srand(ctypes.c_uint(settings.seed))
        model = library.train(problem, parameter)
    try:
        n_classes = model.contents.nr_class
        n_problems = 1 if n_classes == 2 else n_classes
        flat = np.ctypeslib.as_array(model.contents.w, (n_weights, n_problems))
        return flat.T.copy(), "".join(output)
    finally:
        library.free_and_destroy_model(ctypes.byref(model))


def _doubles(values: np.ndarray) -> Any:
    """Return a C array, kept alive by the structure that it is assigned to."""
    return as_ctypes(np.array(values, dtype=np.float64).ravel())


class LinearBase(BaseEstimator):
    """Base of the linear estimators that LIBLINEAR trains."""

    _parameter_constraints: dict[str, list[Any]] = {
        "C": [POSITIVE],
        "solver": [StrOptions({"auto", "primal", "dual"})],
        "tol": [None, POSITIVE],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [POSITIVE],
        "penalize_intercept": ["boolean"],
        "presolve": [None, FRACTION],
        "random_state": ["random_state"],
    }

    def _solve(
        self: Any, X: Any, y: np.ndarray, weights: np.ndarray | None = None, **settings: Any
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return coefficients, (n_problems, n_features), and intercepts in the dtype of X."""
        solver = solver_number(self.loss, self.solver)
        free_intercept = self.fit_intercept and not self.penalize_intercept
        if free_intercept and weights is not None:
            raise ValueError("penalize_intercept=False takes no sample_weight")
        draws = solver not in PRIMAL_SOLVERS
        if draws and (free_intercept or self.presolve is not None):
            option = (
                "penalize_intercept=False" if free_intercept else f"presolve={self.presolve!r}"
            )
            raise ValueError(
                f"{option} needs the primal solver: use a squared loss with solver='primal' or "
                "'auto'"
            )
        if free_intercept and self.intercept_scaling != 1:
            raise ValueError(
                "penalize_intercept=False needs intercept_scaling=1, "
                f"but intercept_scaling={self.intercept_scaling!r}"
            )
        bias = self.intercept_scaling if self.fit_intercept else None
        told = Settings(
            solver=solver,
            C=self.C,
            tol=DEFAULT_TOL[solver] if self.tol is None else self.tol,
            bias=bias,
            penalize_bias=not free_intercept,
            seed=check_random_state(self.random_state).randint(_MAX_SEED) if draws else None,
            **settings,
        )
        n_features = X.shape[1]
        n_weights = n_features + int(self.fit_intercept)
        if weights is None:
            found = solve(feature_rows(X, bias), y, n_weights, told, self.presolve)
        else:
            found = self._solve_weighted(X, y, weights, told)
        intercept = np.zeros(len(found))
        if self.fit_intercept:
            intercept = found[:, -1] * self.intercept_scaling
        coef = np.ascontiguousarray(found[:, :n_features], dtype=X.dtype)
        return coef, intercept.astype(X.dtype)

    def _plain_tol(self: Any) -> float | None:
        """Return the tolerance of a plain loss; squared ones are solved exactly."""
        return None if "squared" in self.loss else self.tol

    @abstractmethod
    def _solve_weighted(
        self, X: Any, y: np.ndarray, weights: np.ndarray, told: Settings
    ) -> np.ndarray:
        """Return the weights of all features, (n_problems, n_weights), for weighted rows."""

    def _linear(self: Any, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False
        )
        return safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
