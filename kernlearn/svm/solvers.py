"""Solvers of kernel SVMs: LIBSVM, its kernels and its prediction, and an interior-point method.

The interior-point method solves the dual problem of two classes where SMO is slow.
"""

import ctypes
import math
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.ctypeslib import as_ctypes
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, lapack
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from kernlearn.kernels import HomogeneousPolynomialKernel, PolynomialKernel, as_kernel
from kernlearn.kernels.base import to_dense
from kernlearn.kernels.distances import FAR, far_means, map_squared_distances, shifted
from kernlearn.kernels.dot_product import map_products, power
from kernlearn.kernels.registry import LIBSVM
from kernlearn.linear.liblinear import Binding, NodeRows, feature_rows, load_binding
from kernlearn.memory import cholesky, interruptible
from kernlearn.validation import Floats, Indices, warn

_DOUBLES = ctypes.POINTER(ctypes.c_double)
_LARGEST = float(np.finfo(np.float32).max)  # kernel value that LIBSVM, in single precision, keeps


@dataclass(frozen=True)
class SVMKernel:
    """One of LIBSVM's kernels: a function of (X, Y).

    A `centre` of points that are far from the origin is subtracted from them: the distances of
    "rbf" would lose its digits.
    """

    kernel: str
    degree: int = 0
    gamma: float = 0.0
    coef0: float = 0.0
    centre: NDArray[Any] | None = None

    def near(self, X: Any) -> Any:
        """Return points for LIBSVM, moved to the origin if they are far from it."""
        return X if self.centre is None else shifted(X, self.centre)

    def __call__(self, X: Any, Y: Any) -> np.ndarray:
        if self.kernel == "rbf":
            left = self.near(X)
            right = left if Y is X else self.near(Y)
            return map_squared_distances(left, right, -self.gamma, np.exp)
        if self.kernel == "linear":
            return safe_sparse_dot(X, Y.T, dense_output=True)
        return map_products(X, Y, lambda t: power(self.gamma * t + self.coef0, self.degree))


def resolve_gamma(gamma: float | str, X: Any) -> float:
    """Return gamma; "scale" and "auto" as in scikit-learn."""
    if not isinstance(gamma, str):
        return float(gamma)
    if gamma == "auto":
        return 1.0 / X.shape[1]
    if not sp.issparse(X):
        variance = X.var()
    else:  # without the difference of large numbers
        mean, n_entries = X.mean(), math.prod(X.shape)
        squares = ((X.data - mean) ** 2).sum() + (n_entries - X.nnz) * mean**2
        variance = squares / n_entries
    return 1.0 / (X.shape[1] * variance) if variance > 0 else 1.0


def resolve_kernel(
    kernel: Any, degree: int, gamma: float | str, coef0: float, X: Any, y: Any
) -> tuple[SVMKernel | None, Any]:
    """Return LIBSVM's kernel for a kernel, None if it has no such one, and the kernel fitted.

    The kernel is a name of one of LIBSVM's kernels, with the parameters that follow,
    "precomputed", or whatever :func:`~kernlearn.kernels.as_kernel` takes.
    """
    if kernel == "precomputed":
        return None, kernel
    if kernel in LIBSVM:
        centre = far_centre(X) if kernel == "rbf" else None
        return SVMKernel(kernel, degree, resolve_gamma(gamma, X), coef0, centre), kernel
    fitted = as_kernel(kernel).fitted_to(X, y)
    # A subclass may compute something else.
    if type(fitted) in (PolynomialKernel, HomogeneousPolynomialKernel):
        return SVMKernel("poly", fitted.degree, 1.0, float(fitted.coef0)), fitted
    return None, fitted


def far_centre(X: Any) -> NDArray[Any] | None:
    """Return the mean of points if it is far away relative to their spread, else None.

    Distances by norms, as LIBSVM computes them, lose the digits of the mean. Of sparse points it
    is that of the columns that are far away.
    """
    if sp.issparse(X):
        centre = far_means(X)
        return centre if centre.any() else None
    centre = X.mean(axis=0)
    return centre if centre @ centre > FAR * X.var(axis=0).sum() else None


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
    ValueError
        If values of the kernel overflow.

    Warns
    -----
    ConvergenceWarning
        If LIBSVM stopped at its maximum number of iterations.
    """
    binding = _official()
    module, library = binding.module, binding.library
    _refuse_overflow(kernel, X)
    # LIBSVM numbers classes by first appearance: in sorted rows its numbers are the codes.
    by_class = np.argsort(codes, kind="stable")
    rows = feature_rows(kernel.near(X)).take(by_class)
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
    pointer, output = binding.call(lambda: library.svm_train(problem, parameter), rows)
    model = module.toPyModel(pointer)  # frees the memory of C when it goes out of scope
    if reached_limit(output, np.bincount(codes)):
        warn(
            "LIBSVM stopped at its limit of iterations before it converged: scale the "
            "features, lower C, raise tol, or check that the kernel is positive semidefinite",
            ConvergenceWarning,
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


def _refuse_overflow(kernel: SVMKernel | None, X: Any) -> None:
    """Refuse values of a kernel, or a matrix X of them, that LIBSVM would take for infinite."""
    if kernel is None:
        largest = largest_value(X)
    else:
        farthest = X[[int(row_norms(X, squared=True).argmax())]]
        with np.errstate(over="ignore"):
            largest = float(kernel(farthest, farthest)[0, 0])
    _refuse_beyond(_LARGEST, largest)


def _refuse_beyond(limit: float, largest: float) -> None:
    if not largest <= limit:
        raise ValueError(
            f"values of the kernel overflow: they reach {largest:.3g}, and at most {limit:.3g} is "
            "possible; scale the features or lower the degree"
        )


def largest_value(gram: Floats) -> float:
    """Return the largest absolute value of a matrix, without a copy."""
    return max(float(gram.max()), -float(gram.min()))


def train_weighted(
    X: Any, codes: np.ndarray, kernel: SVMKernel | None, weights: np.ndarray, **options: float
) -> SupportVectors:
    """Train a C-SVC with a factor on C for each row, or on a kernel matrix X if `kernel` is None.

    By scikit-learn's LIBSVM: the official one has no weights, and reads a kernel matrix from a
    copy of twice its size. The arguments and the result are otherwise those of :func:`train`.
    """
    _refuse_overflow(kernel, X)
    own: Any = {"kernel": "precomputed"} if kernel is None else dict(vars(kernel))
    if (centre := own.pop("centre", None)) is not None:
        X = shifted(X, centre)
    model = SVC(**own, **options, max_iter=most_iterations(len(codes)))

    def fit() -> None:
        with config_context(assume_finite=True):
            model.fit(X, codes, sample_weight=weights)

    interruptible(fit)
    sign = -1 if len(model.classes_) == 2 else 1
    return SupportVectors(
        indices=model.support_.astype(np.int32),
        n_by_class=model.n_support_.astype(np.int32),
        coefficients=sign * to_dense(model.dual_coef_),
        rho=-sign * model.intercept_,
    )


def most_iterations(n_rows: int) -> int:
    """Return LIBSVM's maximum number of iterations for a problem of two classes."""
    return max(10_000_000, 100 * n_rows)


def reached_limit(output: str, n_by_class: np.ndarray) -> bool:
    """Whether LIBSVM's output says that a pair of classes stopped at its most iterations."""
    pairs, counts = combinations(n_by_class.tolist(), 2), re.findall(r"#iter = (\d+)", output)
    return any(int(n) >= most_iterations(sum(p)) for n, p in zip(counts, pairs, strict=False))


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


def _official() -> Binding:
    return load_binding("libsvm", "libsvm.svm", "svm_set_print_string_function")


def _parameter(module: Any, kernel: SVMKernel) -> ctypes.Structure:
    parameter = module.svm_parameter.__new__(module.svm_parameter)
    parameter.set_to_default_values()
    parameter.kernel_type = LIBSVM.index(kernel.kernel)
    parameter.degree, parameter.gamma, parameter.coef0 = kernel.degree, kernel.gamma, kernel.coef0
    return parameter


# -- interior-point method ------------------------------------------------------------------------

_SMO_ITERATIONS = 50_000  # of SMO, which solves easy problems sooner
_MAX_ITER = 80
_STEP = 0.995  # share of the step to the boundary
_MARGIN = 1e-3  # deviation of a margin that counts as none, as in LIBSVM
_COMPLEMENTARITY = 1e-8  # at the end
_NOISE = 1e-4  # a gap of rounding errors, where C is large: later steps still improve the solution
_GUESSES = 4  # solutions by SMO for smaller C
_NEAR = 4  # rows that join a working set for each that violates its solution


class DualSolution(NamedTuple):
    """A binary classifier with decision function K (y α) + intercept.

    Attributes
    ----------
    alpha : ndarray of shape (n_samples,)
        From 0 to C.
    intercept : float
    gap : float
        Difference of the primal and the dual objective, relative to the primal one; 0 for a
        solution by SMO, of which it is not known.
    """

    alpha: Floats
    intercept: float
    gap: float


def _objectives(Q: Floats, y: Floats, alpha: Floats, C: Floats) -> tuple[float, float, float]:
    """Return the primal objective with its best intercept, the dual one, and the intercept."""
    margins = Q @ alpha
    half_norm = 0.5 * float(alpha @ margins)
    # The losses are piecewise linear in the intercept b; y_i (1 - margin_i) are the kinks.
    kinks = y * (1 - margins)
    order = np.argsort(kinks, kind="stable")
    slopes = np.cumsum(C[order]) - C[y > 0].sum()
    b = float(kinks[order[np.searchsorted(slopes, 0.0).clip(max=len(y) - 1)]])
    losses = C @ np.maximum(0.0, 1 - margins - b * y)
    return half_norm + float(losses), float(alpha.sum()) - half_norm, b


def solve_dual(gram: Floats, y: Floats, C: Floats) -> DualSolution:
    r"""Maximise :math:`\sum_i α_i - ½ αᵀQα` over 0 ≤ α ≤ C with :math:`yᵀα = 0`.

    Q is the kernel matrix times y yᵀ. Mehrotra's predictor-corrector method [1]_: about 25
    iterations of O(n³), for any C. The losses of the primal problem are weighted by C.

    Parameters
    ----------
    gram : ndarray of shape (n_samples, n_samples)
        A positive semidefinite kernel matrix.
    y : ndarray of shape (n_samples,)
        Labels, -1 and 1.
    C : ndarray of shape (n_samples,)
        Weights of the losses.

    Returns
    -------
    DualSolution
        Its gap says how well the problem is solved.

    References
    ----------
    .. [1] S. Mehrotra. On the implementation of a primal-dual interior point method. SIAM Journal
       on Optimization 2, 1992.
    """
    Q = gram * np.outer(y, y)
    best = _follow_path(Q, y, C)
    # An α_i whose margin is beyond 1 should be 0: the least are, as long as no margin changes.
    margins = Q @ best.alpha + best.intercept * y
    unused = np.flatnonzero(margins > 1 + _MARGIN)
    unused = unused[np.argsort(best.alpha[unused], kind="stable")]
    change = np.cumsum(best.alpha[unused]) * np.abs(Q).max()
    best.alpha[unused[change <= 0.1 * _MARGIN]] = 0.0
    return best


def _follow_path(Q: Floats, y: Floats, C: Floats) -> DualSolution:
    """Follow the central path, as far as rounding errors let it."""
    n = len(y)
    largest = max(float(np.diag(Q).max()), 1e-300)
    at = _Point(np.minimum(0.5 * C, 1 / largest), 0.0, np.ones(n), np.ones(n))
    best = DualSolution(np.zeros(n), 0.0, np.inf)
    for _ in range(_MAX_ITER):
        alpha, b, lower, upper = at
        room = C - alpha
        primal, dual, intercept = _objectives(Q, y, alpha, C)
        gap = abs(primal - dual) / abs(primal)
        if gap <= max(best.gap, _NOISE) and abs(float(y @ alpha)) <= 1e-9 * alpha.sum():
            best = DualSolution(alpha, intercept, gap)
        mean = float(alpha @ lower + room @ upper) / (2 * n)
        # coefficients that should be 0 are then too small to change a margin
        if gap < 1e-3 and n * largest * mean <= _COMPLEMENTARITY:
            break
        try:
            direction = _direction(Q, y, C, at)
        except LinAlgError:  # singular by rounding errors
            break
        # Predictor: towards the solution. Corrector: centred, with the terms of second order.
        step, _, low, high = direction(-alpha * lower, -room * upper)
        reach = min(_reach(alpha, step), _reach(room, -step))
        dual_reach = min(_reach(lower, low), _reach(upper, high))
        ahead = (alpha + reach * step) @ (lower + dual_reach * low)
        ahead += (room - reach * step) @ (upper + dual_reach * high)
        centre = mean * (float(ahead) / (2 * n * mean)) ** 3
        step, turn, low, high = direction(
            centre - alpha * lower - step * low, centre - room * upper + step * high
        )
        pairs = (alpha, step), (room, -step), (lower, low), (upper, high)
        length = _STEP * min(_reach(v, d) for v, d in pairs)
        if not np.isfinite(length):
            break
        at = _Point(
            alpha + length * step, b + length * turn, lower + length * low, upper + length * high
        )
    return best


class _Point(NamedTuple):
    """A point of the path, or a step: α, the intercept, and the multipliers of the bounds."""

    alpha: Floats
    intercept: float
    lower: Floats
    upper: Floats


def _direction(Q: Floats, y: Floats, C: Floats, at: _Point) -> Callable[[Floats, Floats], _Point]:
    """Return the Newton step as a function of the wanted changes of the complementarities."""
    alpha, b, lower, upper = at
    room = C - alpha
    residual = Q @ alpha - 1 + b * y - lower + upper
    with np.errstate(all="ignore"):
        diagonal = lower / alpha + upper / room
    system = Q.copy(order="F")
    system.flat[:: len(y) + 1] += diagonal
    if not np.isfinite(diagonal).all():
        raise LinAlgError("the system is not finite")
    factor = cholesky(system)

    def solve(right: Floats) -> Floats:
        solution, _ = lapack.dpotrs(factor, right, lower=1)
        rest = right - (Q @ solution + diagonal * solution)
        return solution + lapack.dpotrs(factor, rest, lower=1)[0]

    of_y = solve(y)

    def direction(low: Floats, high: Floats) -> _Point:
        plain = solve(low / alpha - high / room - residual)
        turn = float(y @ plain + float(y @ alpha)) / float(y @ of_y)
        step = plain - turn * of_y
        return _Point(step, turn, (low - lower * step) / alpha, (high + upper * step) / room)

    return direction


def _reach(values: Floats, direction: Floats) -> float:
    """Return the largest step, up to 1, that keeps the values positive."""
    falling = direction < 0
    return min(1.0, float((-values[falling] / direction[falling]).min(initial=np.inf)))


def train_by_interior_point(
    gram: Floats, codes: Indices, C: Floats, *, tol: float, last: DualSolution | None = None
) -> tuple[SupportVectors, DualSolution | None]:
    """Train a C-SVC of two classes on a kernel matrix, by SMO if it converges soon.

    Parameters
    ----------
    gram : ndarray of shape (n_samples, n_samples)
    codes : ndarray of shape (n_samples,)
        Class codes 0 and 1; a decision value is positive for class 0.
    C : ndarray of shape (n_samples,)
        Weights of the losses.
    tol : float
        Allowed gap between the primal and dual objective, relative to the primal one; for SMO
        its own tolerance.
    last : DualSolution, default=None
        The solution for a smaller C for which SMO did not converge: it is not tried again then.

    Returns
    -------
    support : SupportVectors
    solution : DualSolution or None
        The solution, unless it is SMO's.

    Warns
    -----
    ConvergenceWarning
        If the gap of the interior-point method stayed above `tol`.
    """
    y = np.where(codes == 0, 1.0, -1.0)
    # SMO keeps single precision: a scaled matrix has the same solution for an inversely scaled C
    largest = largest_value(gram)
    _refuse_beyond(float(np.finfo(np.float64).max), largest)
    scale = max(largest / _LARGEST, 1.0)
    if scale > 1:
        gram, C = gram / scale, C * scale
        last = last and last._replace(alpha=last.alpha * scale)
    solution = _solve(gram, y, C, tol, last)
    solution = solution._replace(alpha=solution.alpha / scale)
    if solution.gap > tol:
        warn(
            f"the interior-point method stopped at a relative gap of {solution.gap:.3g}: scale "
            "the features, lower C, or check that the kernel is positive semidefinite",
            ConvergenceWarning,
        )
    used = np.flatnonzero(solution.alpha)
    indices = used[np.argsort(codes[used], kind="stable")]
    support = SupportVectors(
        indices=indices.astype(np.int32),
        n_by_class=np.bincount(codes[indices], minlength=2).astype(np.int32),
        coefficients=(y * solution.alpha)[np.newaxis, indices],
        rho=np.array([-solution.intercept]),
    )
    return support, solution if solution.gap else None


def _solve(
    gram: Floats, y: Floats, C: Floats, tol: float, last: DualSolution | None
) -> DualSolution:
    """Return the solution of SMO if it converges soon, else that of the interior-point method."""
    if last is not None:
        return solve_by_working_sets(gram, y, C, last)
    guess, converged = _by_smo(gram, y, C, tol)
    if converged:
        return guess
    smaller = C
    for _ in range(_GUESSES):
        if converged or 2 * np.count_nonzero(guess.alpha) <= len(y):
            break
        # far from the solution most rows have a coefficient: those for a smaller C tell more
        smaller = smaller / 100
        guess, converged = _by_smo(gram, y, smaller, tol)
    return solve_by_working_sets(gram, y, C, guess)


def _by_smo(gram: Floats, y: Floats, C: Floats, tol: float) -> tuple[DualSolution, bool]:
    """Return a solution of SMO, and whether it converged."""
    smo = SVC(C=1.0, kernel="precomputed", tol=tol, max_iter=_SMO_ITERATIONS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        interruptible(partial(smo.fit, gram, y, sample_weight=C))
    alpha = np.zeros(len(y))
    alpha[smo.support_] = np.abs(smo.dual_coef_[0])
    solution = DualSolution(alpha, float(smo.intercept_[0]), 0.0)
    return solution, bool(smo.n_iter_.max() < _SMO_ITERATIONS)


def solve_by_working_sets(gram: Floats, y: Floats, C: Floats, guess: DualSolution) -> DualSolution:
    """Solve the dual problem on a growing part of the rows, until the others satisfy it.

    The solution is that of :func:`solve_dual` on all rows, which costs O(n³); it has few support
    vectors, and most of these are those of an approximate solution.
    """
    outside = guess.alpha == 0
    margins = y * (gram @ (y * guess.alpha) + guess.intercept)
    n_more = int(np.count_nonzero(~outside)) // 4
    while True:
        order = np.flatnonzero(outside)[np.argsort(margins[outside], kind="stable")]
        outside[order[: max(n_more, 1)]] = False
        rows = np.flatnonzero(~outside)
        solution = solve_dual(gram[np.ix_(rows, rows)], y[rows], C[rows])
        signed = y[rows] * solution.alpha
        margins = y * (gram[:, rows] @ signed + solution.intercept)
        n_violating = int(np.count_nonzero(margins[outside] < 1))
        if not n_violating:
            alpha = np.zeros(len(y))
            alpha[rows] = solution.alpha
            return DualSolution(alpha, solution.intercept, solution.gap)
        # with rows that nearly violate it, and as many again at most: a bad start does not end
        # with all rows
        n_more = min(_NEAR * n_violating, len(rows))
