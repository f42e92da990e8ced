"""Linear models with a weight for each row, which the official LIBLINEAR does not have.

Squared losses and the logistic one are minimised by Newton's method, the plain ones by
scikit-learn's edition of LIBLINEAR. A constant feature, whose weight is penalised, is the last.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.svm import LinearSVC, LinearSVR

from kernlearn.memory import require_memory
from kernlearn.solvers import newton

Floats = NDArray[np.float64]

#: Excess of the objective over its minimum, relative to it, that Newton's method leaves.
NEWTON_TOL = 1e-10
_MAX_STEPS = 200


def with_bias(X: Any, bias: float | None) -> Floats:
    """Return dense rows, with a constant feature unless `bias` is None."""
    if sparse.issparse(X):
        require_memory(
            16 * X.shape[0] * X.shape[1],
            None,
            purpose=f"{X.shape[0]} rows of {X.shape[1]} features that are not sparse",
            advice="weights of rows need them: use fewer rows or features, or the hinge loss",
        )
        X = X.toarray()
    X = np.asarray(X, dtype=np.float64)
    return X if bias is None else np.column_stack([X, np.full(len(X), bias)])


def classifier_paths(
    X: Any,
    signs: Floats,
    weights: Floats,
    Cs: Iterable[float],
    *,
    loss: str,
    bias: float | None,
    tol: float | None = None,
    seed: int = 0,
) -> Floats:
    """Minimise ½‖w‖² + C Σ sᵢ loss(yᵢ⟨w, xᵢ⟩) for several problems and values of C.

    `signs` are labels -1 and +1, (n_problems, n_samples), and `weights` the sᵢ, of the same shape
    or (n_samples,). `tol` is that of the solver, by default 1e-10 for Newton's method and 1e-4 for
    the hinge. Returns weights of shape (n_problems, n_values, n_weights).
    """
    weights = np.broadcast_to(weights, signs.shape)
    Cs = list(Cs)
    if loss == "hinge":
        return np.array(
            [
                [_hinge(X, y, s, C, bias=bias, tol=tol, seed=seed) for C in Cs]
                for y, s in zip(signs, weights, strict=True)
            ]
        )
    rows, tol = with_bias(X, bias), NEWTON_TOL if tol is None else tol
    paths = []
    for y, s in zip(signs, weights, strict=True):
        roots = np.sqrt(s)
        if loss == "logistic":
            solver = newton.PrimalNewton(
                rows, newton.WeightedLogistic(s), tol=tol, max_iter=_MAX_STEPS
            )
        else:  # s max(0, 1 - t)² is max(0, √s - √s t)²
            solver = newton.PrimalNewton(
                rows * roots[:, None],
                newton.SquaredHinge(edge=roots),
                tol=tol,
                max_iter=_MAX_STEPS,
            )
        paths.append(solver.path(y, Cs))
    return np.array(paths)


def _hinge(
    X: Any, y: Floats, s: Floats, C: float, *, bias: float | None, tol: float | None, seed: int
) -> Floats:
    model = LinearSVC(
        C=C,
        loss="hinge",
        tol=tol or 1e-4,
        fit_intercept=bias is not None,
        intercept_scaling=bias or 1.0,
        random_state=seed,
        max_iter=10_000,
    ).fit(X, y, sample_weight=s)
    return _joined(model.coef_.ravel(), model.intercept_, bias)


def _joined(coef: Floats, intercept: Any, bias: float | None) -> Floats:
    return coef if bias is None else np.append(coef, np.ravel(intercept)[0] / bias)


def regressor_paths(
    X: Any,
    targets: Floats,
    weights: Floats,
    Cs: Iterable[float],
    *,
    loss: str,
    epsilon: float,
    bias: float | None,
    tol: float | None = None,
    seed: int = 0,
) -> Floats:
    r"""Minimise ½‖w‖² + C Σ sᵢ loss(max(0, \|⟨w, xᵢ⟩ − yᵢ\| − ε)) for several values of C.

    The arguments are those of :func:`classifier_paths`, with targets for labels. Returns weights
    of shape (n_values, n_weights).
    """
    if loss == "squared_epsilon_insensitive":
        roots = np.sqrt(weights)
        rows = with_bias(X, bias) * roots[:, None]
        solver = newton.PrimalNewton(
            rows,
            newton.SquaredEpsilonInsensitive(epsilon * roots),
            tol=NEWTON_TOL if tol is None else tol,
            max_iter=_MAX_STEPS,
        )
        return solver.path(1.0, Cs, targets * roots)
    found = []
    for C in Cs:
        model = LinearSVR(
            C=C,
            epsilon=epsilon,
            tol=tol or 1e-4,
            fit_intercept=bias is not None,
            intercept_scaling=bias or 1.0,
            random_state=seed,
            max_iter=10_000,
        ).fit(X, targets, sample_weight=weights)
        found.append(_joined(model.coef_, model.intercept_, bias))
    return np.array(found)
