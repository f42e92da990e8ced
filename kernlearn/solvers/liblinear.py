"""The bridge to LIBLINEAR's ``train``: nodes in, plain arrays out."""

from __future__ import annotations

import ctypes
import threading
import warnings
from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np
from liblinear import liblinear as official
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from kernlearn.solvers.nodes import NodeRows, PrintHook

_library = official.liblinear
_hook = PrintHook(_library.set_print_string_function)
# The dual solvers draw from C's rand(), one sequence for the whole process: a fit can be
# repeated only if no other thread draws between its srand and its end.
_rand_lock = threading.Lock()

#: LIBLINEAR's number of a solver (``-s``) for a loss, in the primal or in the dual.
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

_COMPLAINTS = {
    "Switching to use -s": "the dual solver did not converge in 300 iterations, and LIBLINEAR "
    "went on with the primal solver to a looser tolerance: choose solver='primal'",
    "reaching max number of iterations": "the dual solver did not converge in 300 iterations: "
    "scale the features, lower C, raise tol, or choose a squared loss with solver='primal'",
    "reaching max number of Newton iterations": "the primal solver did not converge in 1000 "
    "iterations: scale the features, lower C or raise tol",
    "line search fails": "the primal solver stopped at a failed line search, short of the "
    "tolerance: raise tol or scale the features",
}


@dataclass(frozen=True)
class Settings:
    """What LIBLINEAR is told besides the data.

    Parameters
    ----------
    solver : int
        LIBLINEAR's number, one of the values of ``SOLVERS``.
    C, tol : float
    epsilon : float, default=0.1
        Half width of the tube that costs nothing, for regression.
    bias : float or None, default=None
        Value of the bias feature that the rows end with.
    penalize_bias : bool, default=True
    class_weight : ndarray of shape (n_classes,) or None, default=None
        Factor on C by class code; None for regression.
    seed : int or None, default=None
        Seed of C's ``srand``; None where nothing is drawn.
    """

    solver: int
    C: float
    tol: float
    epsilon: float = 0.1
    bias: float | None = None
    penalize_bias: bool = True
    class_weight: NDArray[np.float64] | None = None
    seed: int | None = None


def solve(
    rows: NodeRows,
    y: NDArray[np.float64],
    n_weights: int,
    settings: Settings,
    presolve: float | None = None,
) -> NDArray[np.float64]:
    """Train, if asked from the solution on a part of the rows.

    Rows are taken by class: class 0 is LIBLINEAR's first, so that a weight vector of two
    classes is positive for class 0 whatever the order of the rows.

    Parameters
    ----------
    rows : NodeRows
    y : ndarray of shape (n_rows,)
        Class codes 0, 1, ... or target values.
    n_weights : int
        Features and bias.
    settings : Settings
    presolve : float or None, default=None
        Share of the rows to solve first.

    Returns
    -------
    ndarray of shape (n_problems, n_weights)
        One problem for two classes or for regression, else one a class.

    Warns
    -----
    ConvergenceWarning
        If LIBLINEAR stopped before it reached the tolerance.
    """
    if settings.class_weight is not None:
        by_class = np.argsort(y, kind="stable")
        rows, y = rows.take(by_class), y[by_class]
    start = None
    if presolve is not None:
        start = _solve_part(rows, y, n_weights, settings, presolve)
    weights, output = _train(rows, y, n_weights, settings, start)
    _warn_of(output)
    return weights


def solve_path(
    rows: NodeRows,
    y: NDArray[np.float64],
    n_weights: int,
    settings: Settings,
    Cs: NDArray[np.float64],
    warm_start: bool = False,
) -> NDArray[np.float64]:
    """Train a classifier of two classes for several values of C.

    Parameters
    ----------
    rows : NodeRows
    y : ndarray of shape (n_rows,)
        Class codes 0 and 1; the weights are positive for class 0.
    n_weights : int
        Features and bias.
    settings : Settings
        All but C.
    Cs : ndarray of shape (n_values,)
        Ascending.
    warm_start : bool, default=False
        Whether to start a primal solver from the solution of the C before. LIBLINEAR compares
        the gradient with the one at 0, which grows with C: so that the start does not pass
        unchanged, the tolerance is multiplied by the least C over the present one.

    Returns
    -------
    ndarray of shape (n_values, n_weights)

    Warns
    -----
    ConvergenceWarning
        If LIBLINEAR stopped before it reached the tolerance.
    """
    by_class = np.argsort(y, kind="stable")
    rows, y = rows.take(by_class), y[by_class]
    found: list[NDArray[np.float64]] = []
    for C in Cs:
        told = replace(settings, C=C, tol=settings.tol * (Cs[0] / C if warm_start else 1.0))
        start = found[-1] if warm_start and found else None
        weights, output = _train(rows, y, n_weights, told, start)
        _warn_of(output)
        found.append(weights)
    return np.concatenate(found)


def _warn_of(output: str) -> None:
    """Warn if LIBLINEAR printed that it stopped short."""
    complaint = next((said for sign, said in _COMPLAINTS.items() if sign in output), None)
    if complaint is not None:
        warnings.warn(complaint, ConvergenceWarning, stacklevel=3)


def _solve_part(
    rows: NodeRows, y: NDArray[np.float64], n_weights: int, settings: Settings, share: float
) -> NDArray[np.float64] | None:
    """Solution on evenly spaced rows, or None if these lack a class."""
    n_part = int(np.ceil(share * len(rows)))
    part = np.arange(n_part) * len(rows) // n_part
    class_weight = settings.class_weight
    if class_weight is not None and len(np.unique(y[part])) < len(class_weight):
        return None
    # The sum of the losses has fewer terms: C makes up for them.
    scaled = replace(settings, C=settings.C * len(rows) / n_part)
    return _train(rows.take(part), y[part], n_weights, scaled, None)[0]


def _train(
    rows: NodeRows,
    y: NDArray[np.float64],
    n_weights: int,
    settings: Settings,
    start: NDArray[np.float64] | None,
) -> tuple[NDArray[np.float64], str]:
    """One call of LIBLINEAR's ``train``: the weights, and what it printed."""
    y = np.ascontiguousarray(y, dtype=np.float64)
    # The official constructors loop over the data and set the print hook: passed by.
    problem = official.problem.__new__(official.problem)
    problem.l, problem.n = len(rows), n_weights
    problem.bias = -1.0 if settings.bias is None else settings.bias
    problem.y = y.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    problem.x = rows.pointer(official.feature_node)
    parameter = _parameter(settings)
    if start is not None:
        parameter.init_sol = _doubles(start.T)
    error = _library.check_parameter(problem, parameter)
    if error:
        raise ValueError(f"LIBLINEAR refuses its parameters: {error.decode()}")

    with _hook.capture() as heard, nullcontext() if settings.seed is None else _rand_lock:
        if settings.seed is not None:
            _library.srand(ctypes.c_uint(settings.seed))
        model = _library.train(problem, parameter)
    try:
        found = model.contents
        n_problems = 1 if found.nr_class == 2 else found.nr_class
        flat = np.ctypeslib.as_array(found.w, (n_weights, n_problems))
        return flat.T.copy(), "".join(heard)
    finally:
        _library.free_and_destroy_model(ctypes.byref(model))


def _parameter(settings: Settings) -> ctypes.Structure:
    parameter = official.parameter.__new__(official.parameter)
    parameter.set_to_default_values()
    parameter.solver_type = settings.solver
    parameter.C = settings.C
    parameter.eps = settings.tol
    parameter.p = settings.epsilon
    parameter.regularize_bias = int(settings.penalize_bias)
    if settings.class_weight is not None:
        n_classes = len(settings.class_weight)
        parameter.nr_weight = n_classes
        parameter.weight_label = (ctypes.c_int * n_classes)(*range(n_classes))
        parameter.weight = _doubles(settings.class_weight)
    return parameter


def _doubles(values: NDArray[np.float64]) -> ctypes.Array[ctypes.c_double]:
    """Copy to a C array, which a structure keeps alive when it is assigned to a field."""
    return (ctypes.c_double * values.size).from_buffer_copy(values.tobytes())
