"""Kernels made of functions, of names and of other kernels, and estimators on a kernel."""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass
from functools import partial, reduce
from typing import Any, ClassVar, Self

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_array, gen_batches, get_tags
from sklearn.utils.metaestimators import available_if

from kernlearn.exceptions import SimilarityError
from kernlearn.kernels import base
from kernlearn.kernels.base import Kernel, MatrixLike, to_dense
from kernlearn.kernels.distances import TurnedSimilarity
from kernlearn.kernels.known_pairs import known_values
from kernlearn.kernels.registry import named
from kernlearn.lazy import needed_by
from kernlearn.validation import N_JOBS, StrOptions, warn

# Parts for each worker, and the most pairs of one with more rows: what an interruption waits for.
_PARTS, _MOST_PAIRS = 16, 256
_FEW_PAIRS = 100  # up to so many in a call, no bar is shown


@dataclass(eq=False, repr=False)
class CallableKernel(TurnedSimilarity):
    r"""A similarity or distance from a function of two points, or of two matrices.

    Parameters
    ----------
    function : callable
        Function of two points, rows of a matrix or objects, that returns a number. Or of two
        matrices or arrays of objects, (X, Y), that returns an array of shape (n_samples_x,
        n_samples_y).
    takes : {"auto", "points", "matrices"}, default="auto"
        What the function takes. With "auto" it is called once with a few rows; if it returns a
        matrix of the right shape it takes matrices, otherwise points.
    kind : {"similarity", "distance"}, default="similarity"
        What it returns. A distance is turned.
    turn : {"negative", "exponential", "reciprocal"}, default="negative"
        The similarity of points at distance d: -d, exp(-d / σ), or 1 / (1 + d).
    sigma : float or "auto", default="auto"
        The σ of "exponential", in the unit of the distance; "auto" is the mean distance of 64
        training points.
    n_jobs : int, default=None
        Number of workers that call a function of points; None is 1, unless set by
        :func:`joblib.parallel_config`, -1 all cores. They are threads, unless
        ``joblib.parallel_config("loky")`` makes them processes.
    cache : bool, default=False
        Whether the values of a function of points are kept in this process, up to 256 MiB, for
        all objects with this function: fits, grid searches and predictions compute no pair of
        points twice. Points are distinguished by their content, as pickle writes it; what the
        function itself holds must not change.
    symmetric : bool, default=False
        Whether the function of points has the same value for both orders of two points, so that it
        is called for one of them: in each call, or with `cache` in all.
    verbose : bool, default=False
        Whether a bar shows how many pairs a function of points has compared, and the time left,
        each time that it is called for many. Pairs whose values are known count at the end.

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
    cache: bool = False
    symmetric: bool = False
    verbose: bool = False

    compares = "any"
    columnwise = True
    #: With ``takes="auto"`` what the function takes, once that was tried.
    tried = "auto"
    #: What determines its values, if these may be kept.
    known_as: ClassVar[Any] = None
    _parameter_constraints = {
        **TurnedSimilarity._parameter_constraints,
        "function": [callable],
        "takes": [StrOptions({"auto", "matrices", "points"})],
        "kind": [StrOptions({"similarity", "distance"})],
        "n_jobs": N_JOBS,
        "cache": ["boolean"],
        "symmetric": ["boolean"],
        "verbose": ["boolean"],
    }

    @property
    def is_distance(self) -> bool:
        return self.kind == "distance"

    def _compare(self, X: Any, Y: Any) -> NDArray[Any]:
        shape = X.shape[0], Y.shape[0]
        if 0 in shape:
            return np.zeros(shape)
        if self.takes == self.tried == "auto":
            self.tried = "matrices" if self._takes_matrices(X, Y) else "points"
        if "points" in (self.takes, self.tried):
            left = list(to_dense(X))
            right = left if Y is X else list(to_dense(Y))
            name = self.known_as or (("function", self.function) if self.cache else None)
            how = {"keep": self.cache, "symmetric": self.symmetric}
            with _bar(len(left) * len(right), self.verbose) as advance:
                compare = partial(self._of_lists, advance)
                return known_values(name, compare, left, right, **how)
        if self.cache or self.symmetric:
            warn(
                "'cache' and 'symmetric' have no effect: 'function' takes matrices, not two points"
            )
        gram = np.asarray(to_dense(self.function(X, Y)))
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

    def _of_lists(
        self, advance: Callable[[int], None] | None, left: list[Any], right: list[Any]
    ) -> NDArray[np.float64]:
        n_jobs = effective_n_jobs(self.n_jobs)
        if n_jobs == 1 and advance is None:
            return _compare_pairs(self.function, left, right)
        size = max(min(len(left) // (_PARTS * n_jobs), _MOST_PAIRS // len(right)), 1)
        parts, form = [], "list" if advance is None else "generator"
        for part in Parallel(self.n_jobs, prefer="threads", batch_size=1, return_as=form)(
            delayed(_compare_pairs)(self.function, left[rows], right, rows.start)
            for rows in gen_batches(len(left), size)
        ):
            parts.append(part)
            if advance is not None:
                advance(part.size)
        return np.concatenate(parts)

    def set_params(self, **params: Any) -> Self:
        self.tried = "auto"  # of the function before
        return super().set_params(**params)

    def __sklearn_clone__(self) -> Self:
        # a function, and what it holds, stays the same object
        return type(self)(**self.get_params(deep=False))


@contextmanager
def _bar(n_pairs: int, verbose: bool) -> Iterator[Callable[[int], None] | None]:
    """Show a bar of many pairs; what is returned takes how many more are done."""
    if not verbose or n_pairs < _FEW_PAIRS:
        yield None
        return
    with needed_by("verbose=True"):
        from rich import console, progress
    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=console.Console(stderr=True)) as bar:
        task = bar.add_task("pairs", total=n_pairs)
        yield partial(bar.advance, task)
        bar.update(task, completed=n_pairs)


def _compare_pairs(
    function: Callable[[Any, Any], Any], left: Sequence[Any], right: Sequence[Any], first: int = 0
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
                texts = base.shown(x), base.shown(y)
                raise SimilarityError(base.raised(error), first + i, j, texts) from error
            value = _as_number(result)
            if value is None or not math.isfinite(value):
                number = f"is {base.shown(result)}: 'function' must return a number for two points"
                problem = number if value is None else base.not_finite(value)
                raise SimilarityError(problem, first + i, j, (base.shown(x), base.shown(y)))
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
        return named(spec)
    if callable(spec):
        return CallableKernel(spec)
    raise ValueError(
        f"{name!r} must be one of the names of kernlearn.kernels.names(), a kernel object, or a "
        f"function of two matrices or two points, got {spec!r}"
    )


def is_precomputed(spec: Any) -> bool:
    """Tell whether a parameter stands for a matrix of kernel values."""
    return isinstance(spec, str) and spec == "precomputed"


def kernels_of(spec: Any, name: str = "kernel") -> list[Kernel] | None:
    """Return the kernel of a parameter, in a list; None for a precomputed matrix."""
    return None if is_precomputed(spec) else [as_kernel(spec, name)]


# -- kernels of kernels ---------------------------------------------------------------------------


class _OfKernels(Kernel):
    """A kernel composed of others. Those that are already fitted stay as they are, also in clones.

    It compares the points that all of them compare.
    """

    data_dependent = True
    _fitted: list[Kernel] | None = None

    @property
    @abstractmethod
    def _parts(self) -> list[Kernel]:
        """The kernels, those of `fit` after it."""

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        self._validate_params()
        self._fitted, self.n_fit_comparisons_ = None, 0  # of an earlier fit
        fitted = []
        for part in self._parts:
            if not any(name.endswith("_") for name in vars(part)):
                part = part.fitted_to(X, y)
                self.n_fit_comparisons_ += getattr(part, "n_fit_comparisons_", 0)
            fitted.append(part)
        self._fitted = fitted
        return self

    @property
    def compares(self) -> str:  # type: ignore[override]
        kinds = base.compared_by(self._parts)
        if not kinds <= base.OBJECTS:
            return "vectors"
        return "objects" if "objects" in kinds else "any"

    def __sklearn_clone__(self) -> Self:
        return type(self)(**deepcopy(self.get_params(deep=False)))


@dataclass(eq=False, repr=False)
class WeightedKernelSum(_OfKernels):
    r"""The kernel :math:`\sum_i \mu_i K_i`, which is a Mercer kernel where all K_i are.

    Parameters
    ----------
    kernels : sequence of str, Kernel or callable
        The kernels K_i: names, objects or functions. `fit` fits copies of those that learn from
        data, such as a width, and are not fitted yet.
    weights : array-like of shape (n_kernels,)
        The weights μ, finite and not negative. A kernel of weight 0 is not evaluated.

    References
    ----------
    Kar (2013), section 6.6.4.

    Examples
    --------
    >>> from kernlearn.kernels import GaussianKernel, WeightedKernelSum
    >>> kernel = WeightedKernelSum(["linear", GaussianKernel(sigma=1.0)], [0.25, 0.75])
    >>> kernel([[1.0, 2.0]])
    array([[2.]])
    """

    kernels: Sequence[str | Kernel | Callable[[Any, Any], ArrayLike]]
    weights: ArrayLike

    _parameter_constraints = {"kernels": ["array-like"], "weights": ["array-like"]}

    @property
    def _parts(self) -> list[Kernel]:
        return self._fitted or [as_kernel(kernel, "kernels") for kernel in self.kernels]

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        self._validate_params()
        kernels = self._parts
        weights = check_array(
            self.weights, ensure_2d=False, dtype=np.float64, input_name="weights"
        )
        if not kernels or weights.shape != (len(kernels),):
            raise ValueError(
                f"'weights' must hold one number for each of the {len(kernels)} kernels (one at "
                f"least), got shape {weights.shape}"
            )
        if (weights < 0).any():
            raise ValueError(
                f"'weights' must not be negative, or the sum of Mercer kernels need not be one, "
                f"got {weights.min()}"
            )
        # If no weight is positive, one kernel is evaluated for shape and dtype.
        used = np.flatnonzero(weights) if weights.any() else [0]
        terms = (np.asarray(kernels[i](X, Y)) * float(weights[i]) for i in used)
        return reduce(np.add, terms)


@dataclass(eq=False, repr=False)
class NormalizedKernel(_OfKernels):
    r"""The kernel :math:`K(x, x') / \sqrt{K(x, x) K(x', x')}`, with values in [-1, 1].

    A point with K(x, x) = 0 has similarity 0 to all points, including itself.

    Parameters
    ----------
    kernel : str, Kernel or callable
        A Mercer kernel K: a name, an object or a function. `fit` fits a copy, unless it is fitted.

    Examples
    --------
    >>> from kernlearn.kernels import NormalizedKernel, PolynomialKernel
    >>> NormalizedKernel(PolynomialKernel(degree=2))([[0.0, 1.0]], [[3.0, 4.0]]).round(6)
    array([[0.480769]])
    """

    kernel: str | Kernel | Callable[[Any, Any], ArrayLike]

    _parameter_constraints = {"kernel": [str, Kernel, callable]}

    @property
    def _parts(self) -> list[Kernel]:
        return self._fitted or [as_kernel(self.kernel)]

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        self._validate_params()
        (kernel,) = self._parts
        X, Y = (Z if Z is None else base.as_indexed(Z, self.compares == "objects") for Z in (X, Y))
        gram = np.asarray(kernel(X, Y))
        if Y is None:
            left = right = _inverse_root(gram.diagonal())
        else:
            left, right = (_inverse_root(base.diagonal(kernel, points)) for points in (X, Y))
        return gram * left[:, None] * right


def _inverse_root(diagonal: np.ndarray) -> np.ndarray:
    if (diagonal < 0).any():
        raise ValueError(
            f"'kernel' must not be negative for a point and itself to be normalized, got "
            f"{diagonal.min()}"
        )
    roots = np.sqrt(diagonal)
    return np.divide(1, roots, out=np.zeros_like(roots), where=roots > 0)


_PREFIX = "kernel__"


def _passed_on(name: str) -> Any:
    """Return a method of the estimator, which is there where the estimator has it."""

    def method(self: Any, X: Any) -> Any:
        return getattr(self.estimator_, name)(self._rows(X))

    method.__name__ = name
    return available_if(lambda self: hasattr(self.estimator, name))(method)


class OnKernel(BaseEstimator):
    """An estimator that takes a precomputed kernel matrix, on a kernel of kernlearn.

    The kernel is fitted to the points that the estimator is fitted to. Its parameters are those
    of the estimator and, after ``kernel__``, of the kernel.

    Parameters
    ----------
    estimator : estimator object
        With a parameter ``kernel`` that may be "precomputed".
    kernel : Kernel or other value
        Another value than a kernel is passed on as it is.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {}  # those of both parts

    def __init__(self, estimator: Any, kernel: Any) -> None:
        self.estimator = estimator
        self.kernel = kernel

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        own = {"estimator": self.estimator, "kernel": self.kernel}
        if not deep:
            return own
        inner = self.kernel.get_params() if isinstance(self.kernel, Kernel) else {}
        of_kernel = {f"{_PREFIX}{name}": value for name, value in inner.items()}
        return {**self.estimator.get_params(), **of_kernel, **own}

    def set_params(self, **params: Any) -> Self:
        for name in ("estimator", "kernel"):
            if name in params:
                setattr(self, name, params.pop(name))
        inner = {name: params.pop(name) for name in [*params] if name.startswith(_PREFIX)}
        if inner:
            self.kernel.set_params(**{k.removeprefix(_PREFIX): v for k, v in inner.items()})
        self.estimator.set_params(**params)
        return self

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the kernel, then the estimator on its matrix."""
        kernel = self.kernel.fitted_to(X, y) if isinstance(self.kernel, Kernel) else None
        self.kernel_, self.points_ = kernel, None if kernel is None else X
        self.estimator_ = self._inner().fit(self._rows(X), y)
        return self

    def _inner(self) -> Any:
        """Return the estimator that takes the values of the kernel, not fitted."""
        value = "precomputed" if isinstance(self.kernel, Kernel) else self.kernel
        return clone(self.estimator).set_params(kernel=value)

    def _rows(self, X: Any) -> Any:
        """Return the values of the kernel at points and the training points."""
        if self.kernel_ is None:
            return X
        return self.kernel_(X) if X is self.points_ else self.kernel_(X, self.points_)

    predict = _passed_on("predict")
    predict_proba = _passed_on("predict_proba")
    decision_function = _passed_on("decision_function")
    transform = _passed_on("transform")

    @property
    def classes_(self) -> Any:
        return self.estimator_.classes_

    @property
    def n_support_(self) -> Any:
        return self.estimator_.n_support_

    def _validate_params(self) -> None:
        """Check the parameters of both parts."""
        if isinstance(self.kernel, Kernel):
            self.kernel._validate_params()
        self._inner()._validate_params()

    def __sklearn_tags__(self) -> Any:
        return get_tags(self.estimator)
