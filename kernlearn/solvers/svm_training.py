"""Training of a C-SVC with any kernel: by LIBSVM, on a kernel matrix or by an interior point."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.memory import allowed_memory, require_memory
from kernlearn.solvers import libsvm, nodes

if TYPE_CHECKING:
    from kernlearn.solvers.interior_point import DualSolution

Floats = NDArray[np.float64]

#: The parameters of an estimator that :func:`solve` takes.
OPTIONS = ("solver", "C", "tol", "shrinking", "cache_size", "memory_limit")

_GRAM = libsvm.SVMKernel("precomputed")


@dataclass(frozen=True)
class Problem:
    """Training points with their classes, weights and kernel.

    `codes` are class codes, `class_weight` the factor on C of each, and `weights` those of rows or
    None. `native` is LIBSVM's kernel, "precomputed" for any other `kernel`, a function of (X, Y);
    without a kernel X is the kernel matrix.
    """

    X: Any
    codes: NDArray[np.intp]
    class_weight: Floats
    weights: Floats | None
    native: libsvm.SVMKernel
    kernel: Any

    def gram(self) -> Floats:
        """Compute the kernel matrix."""
        return self.X if self.kernel is None else compare(self.native, self.kernel, self.X, self.X)

    @property
    def row_weights(self) -> Floats:
        """The factor on C of each row."""
        of_classes = self.class_weight[self.codes]
        return of_classes if self.weights is None else self.weights * of_classes


class Grams:
    """The last kernel matrix, for problems that differ in C alone, which ascends.

    `last` are solutions of the interior-point method for the last C, `coefficients` those of
    sequential minimal optimization.
    """

    def __init__(self) -> None:
        self._kernel = ""
        self._gram: Floats | None = None
        self.last: dict[int, DualSolution] = {}
        self.coefficients: Floats | None = None

    def of(self, problem: Problem, memory_limit: int | None) -> Floats | None:
        """Return the kernel matrix of a problem, or None if it is too large."""
        kernel = repr((problem.native, problem.kernel))
        if kernel != self._kernel:
            self._kernel, self._gram, self.last, self.coefficients = kernel, None, {}, None
            n = len(problem.codes)
            # the matrix, a temporary of its size, and LIBSVM's cache
            if 2 * 8 * n**2 + 4 * n**2 <= allowed_memory(memory_limit):
                self._gram = problem.gram()
        return self._gram


def compare(native: libsvm.SVMKernel, kernel: Any, X: Any, Y: Any) -> Floats:
    """Evaluate a kernel between two sets of points, by LIBSVM's formula where it has one."""
    return libsvm.kernel_block(kernel, X, Y) if native.name == "precomputed" else native(X, Y)


def solve(
    problem: Problem,
    *,
    solver: str,
    C: float,
    tol: float,
    shrinking: bool,
    cache_size: float,
    memory_limit: int | None,
    grams: Grams | None = None,
) -> libsvm.SupportVectors:
    """Train a C-SVC by a solver of :class:`kernlearn.solvers.KernelSVM`, whose options it takes.

    `grams` keeps the kernel matrix for other problems on the same points.
    """
    gram = None if grams is None else grams.of(problem, memory_limit)
    codes, class_weight = problem.codes, problem.class_weight
    if solver == "interior_point":
        from kernlearn.solvers import interior_point  # imports scikit-learn's SVC

        if gram is None:
            n = len(codes)
            require_memory(
                5 * 8 * n**2,
                memory_limit,
                purpose=f"the kernel matrix of {n} rows and its factor",
                advice="use fewer rows, or solver='libsvm'",
            )
            gram = problem.gram()
        return interior_point.train(
            gram,
            codes,
            class_weight,
            C=C,
            tol=tol,
            sample_weight=problem.weights,
            last=None if grams is None else grams.last,
        )
    options = {"C": C, "cache_size": cache_size, "shrinking": shrinking}
    native = problem.native
    other = None if native.name != "precomputed" else problem.kernel
    if grams is not None and gram is not None and len(class_weight) == 2:
        from kernlearn.solvers import smo  # loads numba

        support, grams.coefficients = smo.train(
            gram, codes, C * problem.row_weights, tol, grams.coefficients
        )
        return support
    if gram is not None:
        return libsvm.train_weighted(
            gram,
            codes,
            _GRAM,
            problem.row_weights,
            None,
            memory_limit,
            **options,
            tol=tol,
            max_iter=libsvm.most_iterations(len(codes)),
        )
    if problem.weights is not None:
        return libsvm.train_weighted(
            problem.X, codes, native, problem.row_weights, other, memory_limit, **options, tol=tol
        )
    if native.name == "precomputed":
        rows = libsvm.gram_rows(problem.X, other, cache_size, memory_limit)
    else:
        rows = nodes.feature_rows(problem.X)
    return libsvm.train(rows, codes, native, class_weight, **options, eps=tol)
