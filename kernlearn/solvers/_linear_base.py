"""What the linear classifier and the linear regressor share."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlearn.solvers._liblinear import DEFAULT_TOL, PRIMAL_SOLVERS, SOLVERS, Settings, solve
from kernlearn.solvers._nodes import feature_rows

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
