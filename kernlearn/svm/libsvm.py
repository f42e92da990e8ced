"""Bridge to LIBSVM: its kernels, its training, and its own row-by-row prediction."""

import ctypes
import re
import warnings
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.ctypeslib import as_ctypes
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from kernlearn.kernels import as_kernel, dot_product
from kernlearn.kernels.registry import LIBSVM
from kernlearn.linear.liblinear import Binding, NodeRows, feature_rows, interruptible, load_binding
from kernlearn.memory import row_blocks

#: exp of twice as much, and its reciprocal, are finite.
LARGEST_EXPONENT = 300.0

_DOUBLES = ctypes.POINTER(ctypes.c_double)


@dataclass(frozen=True)
class SVMKernel:
    """One of LIBSVM's kernels: a function of (X, Y)."""

    kernel: str
    degree: int = 0
    gamma: float = 0.0
    coef0: float = 0.0

    def __call__(self, X: Any, Y: Any) -> np.ndarray:
        if self.kernel == "rbf":
            gram = euclidean_distances(X, Y, squared=True)
            gram *= -self.gamma
            return np.exp(gram, out=gram)
        gram = np.empty((X.shape[0], Y.shape[0]), dtype=np.result_type(X.dtype, Y.dtype))
        # a block stays in cache from its product to its last power
        for rows in row_blocks(*gram.shape, itemsize=gram.itemsize):
            gram[rows] = self._of_products(safe_sparse_dot(X[rows], Y.T, dense_output=True))
        return gram

    def _of_products(self, block: np.ndarray) -> np.ndarray:
        if self.kernel == "linear":
            return block
        block *= self.gamma
        block += self.coef0
        if self.kernel == "sigmoid":
            return np.tanh(block, out=block)
        return dot_product.power(block, self.degree)


def resolve_gamma(gamma: float | str, X: Any) -> float:
    """Return gamma; "scale" and "auto" as in scikit-learn."""
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1.0 / X.shape[1]
    variance = X.multiply(X).mean() - X.mean() ** 2 if sp.issparse(X) else X.var()
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


def resolve_kernel(
    kernel: Any, degree: int, gamma: float | str, coef0: float, X: Any, y: Any
) -> tuple[SVMKernel | None, Any]:
    """Return LIBSVM's kernel for a kernel, None if it has no such one, and the kernel fitted.

    The kernel is a name of one of LIBSVM's kernels, with the parameters that follow,
    "precomputed", or whatever :func:`~kernlearn.kernels.as_kernel` takes.
    """
    if isinstance(kernel, str) and kernel == "precomputed":
        return None, kernel
    if isinstance(kernel, str) and kernel in LIBSVM:
        return SVMKernel(kernel, degree, resolve_gamma(gamma, X), coef0), kernel
    fitted = as_kernel(kernel).fitted_to(X, y)
    # A subclass may compute something else.
    if type(fitted) is dot_product.PolynomialKernel:
        return SVMKernel("poly", fitted.degree, 1.0, float(fitted.coef0)), fitted
    if type(fitted) is dot_product.HomogeneousPolynomialKernel:
        return SVMKernel("poly", fitted.degree, 1.0, 0.0), fitted
    return None, fitted


def kernel_block(kernel: Any, X: Any, Y: Any) -> np.ndarray:
    """Evaluate a kernel that LIBSVM does not have, and check shape and values of the result."""
    block = kernel(X, Y)
    block = np.asarray(block.toarray() if sp.issparse(block) else block, dtype=np.float64)
    expected = (X.shape[0], Y.shape[0])
    if block.shape != expected:
        raise ValueError(
            f"kernel returned an array of shape {block.shape} where {expected} is needed: "
            "kernel(X, Y) must have one row for each row of X and one column for each row of Y"
        )
    if not np.isfinite(block).all():
        raise ValueError("kernel returned NaN or infinity: kernel(X, Y) must be finite")
    return block


class SupportVectors(NamedTuple):
    """A trained one-against-one classifier, copied out of LIBSVM's memory.

    Attributes
    ----------
    indices : ndarray of shape (n_SV,)
        Training rows that are support vectors, by class.
    n_by_class : ndarray of shape (n_classes,)
        Number of support vectors of each class.
    coefficients : ndarray of shape (n_classes - 1, n_SV)
        Those of a vector of class i against class j are in row j - 1 if i < j and in row j
        otherwise.
    rho : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        Subtracted from the decision values of the pairs (0, 1), (0, 2), ..., (1, 2), ...
    """

    indices: np.ndarray
    n_by_class: np.ndarray
    coefficients: np.ndarray
    rho: np.ndarray


def pair_coefficients(coefficients: np.ndarray, n_by_class: np.ndarray) -> np.ndarray:
    """Return the coefficients for each pair of classes, of shape (n_SV, n_pairs).

    They are zero for the vectors of other classes. The arguments are those of `SupportVectors`.
    """
    ends = np.cumsum(n_by_class)
    members = [slice(end - n, end) for end, n in zip(ends, n_by_class, strict=True)]
    pairs = list(combinations(range(len(members)), 2))
    unfolded = np.zeros((coefficients.shape[1], len(pairs)))
    for column, (i, j) in enumerate(pairs):
        unfolded[members[i], column] = coefficients[j - 1, members[i]]
        unfolded[members[j], column] = coefficients[i, members[j]]
    return unfolded


def train(
    X: Any,
    codes: np.ndarray,
    kernel: SVMKernel,
    class_weight: np.ndarray,
    *,
    C: float,
    tol: float,
    cache_size: float,
) -> SupportVectors:
    """Train a C-SVC, one against one, with one of LIBSVM's own kernels.

    `codes` are class codes 0, 1, ..., and a decision value is positive for the first class of its
    pair; `class_weight` is the factor on C by class code.

    Raises
    ------
    ImportError
        If LIBSVM is not installed.

    Warns
    -----
    ConvergenceWarning
        If LIBSVM stopped at its maximum number of iterations.
    """
    binding = _official()
    module, library = binding.module, binding.library
    # LIBSVM numbers classes by first appearance: in sorted rows its numbers are the codes.
    by_class = np.argsort(codes, kind="stable")
    rows = feature_rows(X).take(by_class)
    # The official constructors loop over the data and reset the print hook: not called.
    problem = module.svm_problem.__new__(module.svm_problem)
    problem.l = len(rows)
    problem.y = as_ctypes(codes[by_class].astype(np.float64))
    problem.x = rows.pointer(module.svm_node)
    parameter = _parameter(module, kernel)
    parameter.C, parameter.eps, parameter.cache_size = C, tol, cache_size
    n_classes = parameter.nr_weight = len(class_weight)
    parameter.weight_label = as_ctypes(np.arange(n_classes, dtype=np.int32))
    parameter.weight = as_ctypes(class_weight)
    error = library.svm_check_parameter(problem, parameter)
    if error:
        raise ValueError(f"LIBSVM refuses its parameters: {error.decode()}")

    pointer, output = binding.call(lambda: library.svm_train(problem, parameter), rows)
    model = module.toPyModel(pointer)  # frees the memory of C when it goes out of scope
    if reached_limit(output, len(rows)):
        warnings.warn(
            "LIBSVM stopped at its limit of iterations before it converged: scale the "
            "features, lower C, raise tol, or check that the kernel is positive semidefinite",
            ConvergenceWarning,
            stacklevel=2,
        )
    # LIBSVM counts the rows from 1, in the order in which they were passed.
    indices = np.array(model.get_sv_indices(), dtype=np.intp) - 1
    coefficients = [model.sv_coef[j][: model.l] for j in range(n_classes - 1)]
    return SupportVectors(
        indices=by_class[indices].astype(np.int32),
        n_by_class=np.array(model.nSV[:n_classes], dtype=np.int32),
        coefficients=np.array(coefficients),
        rho=np.array(model.rho[: n_classes * (n_classes - 1) // 2]),
    )


def train_weighted(
    X: Any,
    codes: np.ndarray,
    kernel: SVMKernel | None,
    weights: np.ndarray,
    *,
    C: float,
    tol: float,
    cache_size: float,
) -> SupportVectors:
    """Train a C-SVC with a factor on C for each row, or on a kernel matrix X if `kernel` is None.

    By scikit-learn's LIBSVM: the official one has no weights, and reads a kernel matrix from a
    copy of twice its size. The arguments and the result are otherwise those of :func:`train`.
    """
    from sklearn.svm import SVC

    options = {"kernel": "precomputed"} if kernel is None else asdict(kernel)
    options |= {"C": C, "tol": tol, "cache_size": cache_size}
    model = SVC(**options, max_iter=most_iterations(len(codes)))

    def fit() -> None:
        with config_context(assume_finite=True):
            model.fit(X, codes, sample_weight=weights)

    interruptible(fit)
    sign = -1 if len(model.classes_) == 2 else 1
    coefficients = model.dual_coef_
    if sp.issparse(coefficients):
        coefficients = coefficients.toarray()
    return SupportVectors(
        indices=model.support_.astype(np.int32),
        n_by_class=model.n_support_.astype(np.int32),
        coefficients=sign * coefficients,
        rho=-sign * model.intercept_,
    )


def most_iterations(n_rows: int) -> int:
    """Return LIBSVM's maximum number of iterations for a problem of two classes."""
    return max(10_000_000, 100 * n_rows)


def reached_limit(output: str, n_rows: int) -> bool:
    """Whether LIBSVM's output says that a problem stopped at the maximum number of iterations.

    The maximum is that of a problem with all rows; with more than two classes each has fewer.
    """
    limit = most_iterations(n_rows)
    return any(int(n) >= limit for n in re.findall(r"#iter = (\d+)", output))


def native_values(
    kernel: SVMKernel, vectors: NodeRows, support: SupportVectors, rows: NodeRows
) -> np.ndarray:
    """Return the decision values of all pairs of classes, by one call of LIBSVM per row.

    `vectors` are the support vectors.
    """
    binding = _official()
    module = binding.module
    # A prototype on bare addresses: a call takes a third of the time of the official one.
    predict_values = ctypes.CFUNCTYPE(
        ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p
    )(("svm_predict_values", binding.library))
    n_classes = len(support.n_by_class)
    model = module.svm_model()
    model.param = _parameter(module, kernel)
    model.nr_class, model.l = n_classes, len(vectors)
    model.SV = vectors.pointer(module.svm_node)
    lines = [line.ctypes.data_as(_DOUBLES) for line in support.coefficients]
    model.sv_coef = (_DOUBLES * len(lines))(*lines)
    model.rho = support.rho.ctypes.data_as(_DOUBLES)
    model.label = as_ctypes(np.arange(n_classes, dtype=np.int32))
    model.nSV = support.n_by_class.ctypes.data_as(ctypes.POINTER(ctypes.c_int))
    values = np.empty((len(rows), len(support.rho)))
    address, first = ctypes.addressof(model), values.ctypes.data
    places = range(first, first + values.nbytes, values.strides[0])
    for row, place in zip(rows.addresses.tolist(), places, strict=True):
        predict_values(address, row, place)
    return values


def as_scaled_gaussian(kernel: Any, points: Any) -> SVMKernel | None:
    r"""Return LIBSVM's Gaussian kernel by which the exponential kernel can be evaluated.

    :math:`\exp(\langle x, y \rangle / \sigma^2)` is
    :math:`e^{\gamma |x|^2} \exp(-\gamma |x - y|^2) e^{\gamma |y|^2}` with
    :math:`\gamma = 1 / 2 \sigma^2`. None for another kernel, and where the factors would
    overflow at some of the points.
    """
    if type(kernel) is not dot_product.ExponentialKernel:
        return None
    gamma = 1 / (2 * kernel.width() ** 2)
    within = (gamma * row_norms(points, squared=True) < LARGEST_EXPONENT).all()
    return SVMKernel("rbf", gamma=gamma) if within else None


def _official() -> Binding:
    return load_binding("libsvm", "libsvm.svm", "svm_set_print_string_function")


def _parameter(module: Any, kernel: SVMKernel) -> ctypes.Structure:
    parameter = module.svm_parameter.__new__(module.svm_parameter)
    parameter.set_to_default_values()
    parameter.kernel_type = LIBSVM.index(kernel.kernel)
    parameter.degree, parameter.gamma, parameter.coef0 = kernel.degree, kernel.gamma, kernel.coef0
    return parameter
