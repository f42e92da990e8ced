"""Kernels as LIBSVM knows them, and their evaluation by BLAS."""

from __future__ import annotations

import ctypes
import re
import warnings
from dataclasses import dataclass
from itertools import repeat
from typing import Any

import numpy as np
import scipy.sparse as sp
from libsvm import svm as official
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from kernlearn.solvers.nodes import NodeRows, PrintHook

#: LIBSVM's number of a kernel (``-t``) by scikit-learn's name.
KERNEL_NUMBERS = {"linear": 0, "poly": 1, "rbf": 2, "sigmoid": 3, "precomputed": 4}

# exp of twice as much is a number still, and so is its reciprocal.
_LARGEST_EXPONENT = 300.0


@dataclass(frozen=True)
class SVMKernel:
    """One of LIBSVM's kernels.

    Calling it with (X, Y) gives the kernel matrix, unless `name` is "precomputed".

    Parameters
    ----------
    name : {"linear", "poly", "rbf", "sigmoid", "precomputed"}
    degree : int, default=0
    gamma, coef0 : float, default=0.0
    """

    name: str
    degree: int = 0
    gamma: float = 0.0
    coef0: float = 0.0

    def __call__(self, X: Any, Y: Any) -> NDArray[np.float64]:
        if self.name == "rbf":
            gram = euclidean_distances(X, Y, squared=True)
            gram *= -self.gamma
            return np.exp(gram, out=gram)
        gram = safe_sparse_dot(X, Y.T, dense_output=True)
        if self.name == "linear":
            return gram
        gram *= self.gamma
        gram += self.coef0
        return np.tanh(gram, out=gram) if self.name == "sigmoid" else _power(gram, self.degree)


def resolve_gamma(gamma: float | str, X: Any) -> float:
    """Value of gamma; "scale" is 1 / (n_features · variance of all values), as in scikit-learn."""
    if not isinstance(gamma, str):
        return float(gamma)
    variance = X.multiply(X).mean() - X.mean() ** 2 if sp.issparse(X) else X.var()
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


def resolve_kernel(
    kernel: Any, degree: int, gamma: float | str, coef0: float, X: Any
) -> tuple[SVMKernel, Any]:
    """LIBSVM's view of a kernel, and the kernel fitted on X.

    Parameters
    ----------
    kernel : str or callable
        Name of one of LIBSVM's kernels, kernel object, or function (X, Y) -> matrix.
    degree, gamma, coef0
        Parameters of the named kernels.
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
        Training rows.

    Returns
    -------
    native : SVMKernel
        "precomputed" where LIBSVM has no such kernel itself.
    fitted : str or callable
        The name; a fitted clone of a kernel object; or the function itself.
    """
    if isinstance(kernel, str):
        if kernel == "precomputed":
            return SVMKernel("precomputed"), kernel
        return SVMKernel(kernel, degree, resolve_gamma(gamma, X), coef0), kernel
    fitted = clone(kernel) if hasattr(kernel, "get_params") else kernel
    if hasattr(fitted, "fit"):
        fitted = fitted.fit(X)
    return _as_polynomial(fitted) or SVMKernel("precomputed"), fitted


def _as_polynomial(kernel: Any) -> SVMKernel | None:
    """LIBSVM's polynomial in place of kernlearn's own polynomial kernels."""
    from kernlearn import kernels  # not needed, and not loaded, for named kernels

    # A subclass may compute something else.
    if type(kernel) is kernels.PolynomialKernel:
        return SVMKernel("poly", kernel.degree, 1.0, float(kernel.coef0))
    if type(kernel) is kernels.HomogeneousPolynomialKernel:
        return SVMKernel("poly", kernel.degree, 1.0, 0.0)
    return None


def as_scaled_gaussian(kernel: Any, *points: Any) -> SVMKernel | None:
    r"""LIBSVM's Gaussian kernel in which kernlearn's exponential kernel can be evaluated.

    :math:`\exp(\langle x, y \rangle / \sigma^2)` is
    :math:`e^{\gamma |x|^2} \exp(-\gamma |x - y|^2) e^{\gamma |y|^2}` with
    :math:`\gamma = 1 / 2 \sigma^2`.

    Parameters
    ----------
    kernel : object
        A fitted kernel of any kind.
    *points : {ndarray, sparse matrix}
        Rows at which it will be evaluated.

    Returns
    -------
    SVMKernel or None
        None for another kernel, and where the factors would leave the range of numbers.
    """
    from kernlearn import kernels

    if type(kernel) is not kernels.ExponentialKernel:
        return None
    gamma = 1 / (2 * kernel.sigma_**2)
    largest = max(gamma * row_norms(X, squared=True).max(initial=0.0) for X in points)
    return SVMKernel("rbf", gamma=gamma) if largest < _LARGEST_EXPONENT else None


def _power(base: NDArray[np.float64], exponent: int) -> NDArray[np.float64]:
    """Integer power by repeated squaring, which overwrites `base`."""
    if exponent == 0:
        return np.ones_like(base)
    while exponent % 2 == 0:
        np.multiply(base, base, out=base)
        exponent //= 2
    result = base.copy()
    while exponent := exponent // 2:
        np.multiply(base, base, out=base)
        if exponent % 2:
            np.multiply(result, base, out=result)
    return result


_library = official.libsvm
_DOUBLES = ctypes.POINTER(ctypes.c_double)
_hook = PrintHook(_library.svm_set_print_string_function)
# A prototype of our own, on bare addresses: a call costs a third of the official one's.
_predict_row = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p)(
    ("svm_predict", _library)
)
_predict_row_values = ctypes.CFUNCTYPE(
    ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
)(("svm_predict_values", _library))


@dataclass(frozen=True)
class Settings:
    """What LIBSVM is told besides the data and the kernel.

    Parameters
    ----------
    C, tol : float
    cache_size : float
        In units of 2²⁰ bytes.
    shrinking : bool
    class_weight : ndarray of shape (n_classes,)
        Factor on C by class code.
    """

    C: float
    tol: float
    cache_size: float
    shrinking: bool
    class_weight: NDArray[np.float64]


@dataclass(frozen=True)
class SupportVectors:
    """A trained model, copied out of LIBSVM's memory.

    Parameters
    ----------
    indices : ndarray of shape (n_SV,)
        Training rows that are support vectors, by class.
    n_by_class : ndarray of shape (n_classes,)
    coefficients : ndarray of shape (n_classes - 1, n_SV)
        As LIBSVM stores them, see `pair_coefficients`.
    rho : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        Subtracted from the decision values of the pairs (0, 1), (0, 2), ..., (1, 2), ...
    """

    indices: NDArray[np.int32]
    n_by_class: NDArray[np.int32]
    coefficients: NDArray[np.float64]
    rho: NDArray[np.float64]


def train(
    rows: NodeRows, codes: NDArray[np.intp], kernel: SVMKernel, settings: Settings
) -> SupportVectors:
    """Train a C-SVC, one against one.

    Parameters
    ----------
    rows : NodeRows
    codes : ndarray of shape (n_rows,)
        Class codes 0, 1, ...; a decision value is positive for the first class of its pair.
    kernel : SVMKernel
    settings : Settings

    Returns
    -------
    SupportVectors

    Warns
    -----
    ConvergenceWarning
        If LIBSVM stopped at its limit of iterations.
    """
    # LIBSVM numbers classes by first appearance: sorted, its numbers are the codes.
    by_class = np.argsort(codes, kind="stable")
    rows = rows.take(by_class)
    y = codes[by_class].astype(np.float64)
    # The official constructors loop over the data and set the print hook: passed by.
    problem = official.svm_problem.__new__(official.svm_problem)
    problem.l = len(rows)
    problem.y = y.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    problem.x = rows.pointer(official.svm_node)
    parameter = _parameter(kernel, settings)
    error = _library.svm_check_parameter(problem, parameter)
    if error:
        raise ValueError(f"LIBSVM refuses its parameters: {error.decode()}")

    with _hook.capture() as heard:
        model = _library.svm_train(problem, parameter)
    try:
        found = _copy_out(model.contents, by_class)
    finally:
        _library.svm_free_and_destroy_model(ctypes.byref(model))
    if reached_limit("".join(heard), len(rows)):
        warnings.warn(
            "LIBSVM stopped at its limit of iterations before it converged: scale the "
            "features, lower C, raise tol, or check that the kernel is positive semidefinite",
            ConvergenceWarning,
            stacklevel=2,
        )
    return found


def reached_limit(output: str, n_rows: int) -> bool:
    """Whether LIBSVM's output tells of a problem stopped at the limit of iterations.

    The limit is that of a problem with all rows; with more than two classes each has fewer.
    """
    limit = max(10_000_000, 100 * n_rows)
    return any(int(n) >= limit for n in re.findall(r"#iter = (\d+)", output))


class NativeModel:
    """A model in LIBSVM's own memory layout, for LIBSVM's own prediction.

    Parameters
    ----------
    kernel : SVMKernel
    rows : NodeRows
        The support vectors; for a precomputed kernel their serial numbers.
    support : SupportVectors
    """

    def __init__(self, kernel: SVMKernel, rows: NodeRows, support: SupportVectors) -> None:
        n_classes = len(support.n_by_class)
        model = official.svm_model.__new__(official.svm_model)
        model.param.svm_type = official.svm_forms.C_SVC
        _set_kernel(model.param, kernel)
        model.nr_class = n_classes
        model.l = len(rows)
        model.SV = rows.pointer(official.svm_node)
        lines = [line.ctypes.data_as(_DOUBLES) for line in support.coefficients]
        model.sv_coef = (_DOUBLES * len(lines))(*lines)
        model.rho = support.rho.ctypes.data_as(_DOUBLES)
        model.label = (ctypes.c_int * n_classes)(*range(n_classes))
        model.nSV = support.n_by_class.ctypes.data_as(ctypes.POINTER(ctypes.c_int))
        self.model = model
        self._kept_alive = (rows, support)

    def predict(self, rows: NodeRows) -> NDArray[np.intp]:
        """Class code of each row, by one call of ``svm_predict`` a row."""
        address = ctypes.addressof(self.model)
        codes = map(_predict_row, repeat(address), rows.addresses.tolist())
        return np.fromiter(codes, dtype=np.float64, count=len(rows)).astype(np.intp)

    def decision_values(self, rows: NodeRows) -> NDArray[np.float64]:
        """Decision values of all pairs, by one call of ``svm_predict_values`` a row."""
        n_classes = self.model.nr_class
        values = np.empty((len(rows), n_classes * (n_classes - 1) // 2))
        address, first = ctypes.addressof(self.model), values.ctypes.data
        places = range(first, first + values.nbytes, values.strides[0])
        for row, place in zip(rows.addresses.tolist(), places, strict=True):
            _predict_row_values(address, row, place)
        return values


def _parameter(kernel: SVMKernel, settings: Settings) -> ctypes.Structure:
    parameter = official.svm_parameter.__new__(official.svm_parameter)
    parameter.set_to_default_values()
    _set_kernel(parameter, kernel)
    parameter.C = settings.C
    parameter.eps = settings.tol
    parameter.cache_size = settings.cache_size
    parameter.shrinking = int(settings.shrinking)
    n_classes = len(settings.class_weight)
    parameter.nr_weight = n_classes
    parameter.weight_label = (ctypes.c_int * n_classes)(*range(n_classes))
    parameter.weight = (ctypes.c_double * n_classes)(*settings.class_weight)
    return parameter


def _set_kernel(parameter: ctypes.Structure, kernel: SVMKernel) -> None:
    parameter.kernel_type = KERNEL_NUMBERS[kernel.name]
    parameter.degree = kernel.degree
    parameter.gamma = kernel.gamma
    parameter.coef0 = kernel.coef0


def _copy_out(model: ctypes.Structure, by_class: NDArray[np.intp]) -> SupportVectors:
    n_classes, n_support = model.nr_class, model.l
    n_pairs = n_classes * (n_classes - 1) // 2
    as_array = np.ctypeslib.as_array
    if n_support == 0:  # the C library then hands out null pointers
        indices = np.empty(0, np.int32)
        coefficients = np.empty((n_classes - 1, 0))
    else:
        # LIBSVM counts the rows from 1, in the order in which it was given them.
        indices = by_class[as_array(model.sv_indices, (n_support,)) - 1].astype(np.int32)
        lines = [as_array(model.sv_coef[i], (n_support,)) for i in range(n_classes - 1)]
        coefficients = np.stack(lines)
    return SupportVectors(
        indices=indices,
        n_by_class=as_array(model.nSV, (n_classes,)).astype(np.int32),
        coefficients=coefficients,
        rho=as_array(model.rho, (n_pairs,)).copy(),
    )
