"""Kernels from functions of two points or of two matrices, and from names."""

import math
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import gen_batches

from kernlearn.exceptions import SimilarityError
from kernlearn.kernels.base import (
    Kernel,
    TurnedSimilarity,
    not_finite,
    raised,
    shown,
)
from kernlearn.kernels.registry import KERNELS, kernel_of_name, library_of
from kernlearn.validation import N_JOBS, StrOptions

# Parts for each worker, and the most pairs of one with more rows: what an interruption waits for.
_PARTS, _MOST_PAIRS = 16, 256


@dataclass(eq=False, repr=False)
class CallableKernel(TurnedSimilarity):
    r"""A similarity or distance from a function of two points, or of two matrices.

    Parameters
    ----------
    function : callable
        Function of two points, rows of a matrix or objects, that returns a number; or of two
        matrices or arrays of objects, (X, Y), that returns an array of shape (n_samples_x,
        n_samples_y).
    takes : {"auto", "points", "matrices"}, default="auto"
        What the function takes. With "auto" it is called with a few rows; if it returns a matrix
        of the right shape it takes matrices, otherwise points.
    kind : {"similarity", "distance"}, default="similarity"
        What it returns. A distance is turned.
    turn : {"negative", "exponential", "reciprocal"}, default="negative"
        The similarity of points at distance d: -d, exp(-d / σ), or 1 / (1 + d).
    sigma : float or "auto", default="auto"
        The σ; "auto" is the mean distance of 64 training points.
    n_jobs : int, default=None
        Number of workers that call a function of points; None is 1, unless set by
        :func:`joblib.parallel_config`, -1 all cores. They are threads, unless set likewise.

    Attributes
    ----------
    sigma_ : float
        The σ used, set by `fit` with ``turn="exponential"``.

    Examples
    --------
    >>> from kernlearn.kernels import CallableKernel
    >>> CallableKernel(lambda X, Y: X @ Y.T)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    >>> CallableKernel(lambda x, y: -abs(x - y).max())([[1.0, 2.0]], [[3.0, 4.0], [1.0, 1.0]])
    array([[-2., -1.]])
    >>> CallableKernel(lambda a, b: len(a & b))([{1, 2}, {2, 3}, {4}])
    array([[2., 1., 0.],
           [1., 2., 0.],
           [0., 0., 1.]])
    """

    function: Callable[[Any, Any], ArrayLike]
    _: KW_ONLY
    takes: str = "auto"
    kind: str = "similarity"
    turn: str = "negative"
    sigma: Any = "auto"
    n_jobs: int | None = None

    any_points = True
    columnwise = True
    _parameter_constraints = {
        **TurnedSimilarity._parameter_constraints,
        "function": [callable],
        "takes": [StrOptions({"auto", "matrices", "points"})],
        "kind": [StrOptions({"similarity", "distance"})],
        "n_jobs": N_JOBS,
    }

    @property
    def is_distance(self) -> bool:
        return self.kind == "distance"

    def _compare(self, X: Any, Y: Any) -> NDArray[Any]:
        shape = X.shape[0], Y.shape[0]
        if 0 in shape:
            return np.zeros(shape)
        if self.takes == "points" or (self.takes == "auto" and not self._takes_matrices(X, Y)):
            return self._of_points(X, Y)
        gram = np.asarray(self.function(X, Y))
        if gram.shape != shape:
            raise ValueError(
                f"'function' returned an array of shape {gram.shape}; for these X and Y it must "
                f"be {shape}, one row per row of X and one column per row of Y"
            )
        return gram

    def _takes_matrices(self, X: Any, Y: Any) -> bool:
        """Whether the function returns a matrix for two matrices of few rows."""
        # other numbers of rows than of columns: x @ y of two points must not pass
        n_left, n_right = [n for n in (5, 2, 3) if (n,) != X.shape[1:]][:2]
        left, right = X[np.arange(n_left) % X.shape[0]], Y[np.arange(n_right) % Y.shape[0]]
        try:
            return np.shape(self.function(left, right)) == (n_left, n_right)
        except Exception:
            return False

    def _of_points(self, X: Any, Y: Any) -> NDArray[np.float64]:
        left = list(X.toarray() if sparse.issparse(X) else X)
        right = left if Y is X else list(Y.toarray() if sparse.issparse(Y) else Y)
        if (n_jobs := effective_n_jobs(self.n_jobs)) == 1:
            return _compare_pairs(self.function, left, right)
        size = max(min(len(left) // (_PARTS * n_jobs), _MOST_PAIRS // len(right)), 1)
        parts = Parallel(self.n_jobs, prefer="threads", batch_size=1)(
            delayed(_compare_pairs)(self.function, left[rows], right, rows.start)
            for rows in gen_batches(len(left), size)
        )
        return np.concatenate(parts)

    def __sklearn_clone__(self) -> Self:
        # a function, and what it holds, stays the same object
        return type(self)(**self.get_params(deep=False))


def _compare_pairs(
    function: Callable[[Any, Any], Any],
    left: Sequence[Any],
    right: Sequence[Any],
    first: int = 0,
) -> NDArray[np.float64]:
    """Return the values of a function for all pairs of points, one after the other.

    `first` is the place of the first point on the left, for errors.
    """
    values = np.empty((len(left), len(right)))
    for i, x in enumerate(left):
        for j, y in enumerate(right):
            try:
                result = function(x, y)
            except Exception as error:
                texts = shown(x), shown(y)
                raise SimilarityError(raised(error), first + i, j, texts) from error
            value = _as_number(result)
            if value is None or not math.isfinite(value):
                number = f"is {shown(result)}: 'function' must return a number for two points"
                problem = number if value is None else not_finite(value)
                texts = shown(x), shown(y)
                raise SimilarityError(problem, first + i, j, texts)
            values[i, j] = value
    return values


def _as_number(value: Any) -> float | None:
    """Return a number, or an array of one, as a float; None for anything else."""
    if isinstance(value, (bool, int, float)):
        return float(value)
    value = np.asarray(value)
    return float(value.reshape(())) if value.size == 1 and value.dtype.kind in "biuf" else None


def as_kernel(
    spec: str | Kernel | Callable[[Any, Any], ArrayLike], name: str = "kernel"
) -> Kernel:
    """Convert a name, a kernel or a function to a kernel.

    Parameters
    ----------
    spec : str, Kernel or callable
        One of :func:`names`, for that kernel with its default parameters; a kernel, which is
        returned unchanged; or a callable of two matrices or two points, see
        :class:`CallableKernel`.
    name : str, default="kernel"
        Name of the parameter, for error messages.

    Returns
    -------
    Kernel

    Raises
    ------
    ValueError
        If `spec` is an unknown name or none of the three.
    ImportError
        If the library of the name is not installed.

    Examples
    --------
    >>> from kernlearn.kernels import as_kernel
    >>> as_kernel("polynomial")
    PolynomialKernel()
    """
    if isinstance(spec, Kernel):
        return spec
    # the coefficients of a dot-product kernel have no default
    if isinstance(spec, str) and spec != "dot_product":
        if record := kernel_of_name(spec):
            kernel: Kernel = record.load()()
            return kernel
        library_of(spec)
    if callable(spec):
        return CallableKernel(spec)
    known = ", ".join(map(repr, sorted(KERNELS.keys() - {"dot_product"})))
    raise ValueError(
        f"{name!r} must be one of {known}, a dotted name such as 'scipy.canberra' "
        "(kernlearn.kernels.names() has all of them), a kernel object, or a function of two "
        f"matrices or two points, got {spec!r}"
    )
