"""Kernels from functions of two matrices or of two points."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass
from numbers import Number
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from kernlearn.constraints import StrOptions
from kernlearn.kernels.base import Kernel, MatrixLike
from kernlearn.kernels.pairs import Floats, Indices, PairMemo, as_number, compare_pairs


@dataclass(eq=False, repr=False)
class CallableKernel(Kernel):
    """A kernel from a function, of two matrices or of two points.

    Parameters
    ----------
    function : callable
        Function of (X, Y) that returns an array of shape (n_samples_x, n_samples_y), or of two
        points, rows of a matrix or objects, that returns a number. The latter is called once for
        each pair.
    takes : {"auto", "matrices", "points"}, default="auto"
        What the function takes. With "auto" it is given matrices; where it fails, or returns
        something else than a matrix of the right shape, and returns a number for two points, it
        is a function of two points. Objects other than vectors are given to it two at a time
        first.

    Notes
    -----
    While an estimator is fitted, no pair of points is given to a function of two points twice,
    except where "auto" has to find out what the function takes.

    Examples
    --------
    >>> from kernlearn.kernels import CallableKernel
    >>> CallableKernel(lambda X, Y: X @ Y.T)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    >>> CallableKernel(lambda x, y: -abs(x - y).max())([[1.0, 2.0]], [[3.0, 4.0], [1.0, 1.0]])
    array([[-2., -1.]])
    """

    function: Callable[[Any, Any], ArrayLike]
    _: KW_ONLY
    takes: str = "auto"

    columnwise = True
    _compares_vectors = False
    _symmetric = False
    _parameter_constraints = {
        "function": [callable],
        "takes": [StrOptions({"auto", "matrices", "points"})],
    }
    # while an estimator is fitted: what the function takes, and the values so far
    _found = ""
    _memo = cast("PairMemo | None", None)
    evaluations = 0

    def fitted_to(
        self, X: MatrixLike, y: object = None, names: Sequence[str] | None = None
    ) -> Kernel:
        """Return a copy that remembers the values of pairs until it is told to forget them."""
        self._validate_params()
        made = copy(self)
        made.evaluations, made._memo = 0, PairMemo(self._symmetric)
        made._found = made._find(X) if self.takes == "auto" else self.takes
        return made

    def forget(self) -> None:
        self._memo = None

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        self._validate_params()
        X = X if hasattr(X, "shape") else as_points(X)
        Y = X if Y is None else Y if hasattr(Y, "shape") else as_points(Y)
        takes = self._found or self.takes
        if takes == "points":
            return self._of_points(X, Y)
        try:
            gram = np.asarray(self.function(X, Y))
        except Exception:
            if takes == "matrices" or not self._takes_points(X, Y):
                raise
            return self._of_points(X, Y)
        expected = (X.shape[0], Y.shape[0])
        by_chance = gram.shape == expected and self._by_chance(X, Y, takes)
        if gram.shape == expected and not by_chance:
            self.evaluations += gram.size
            return gram
        if by_chance or (takes == "auto" and gram.ndim != 2 and self._takes_points(X, Y)):
            return self._of_points(X, Y)
        raise ValueError(
            f"'function' returned an array of shape {gram.shape}; for these X and Y it must "
            f"be {expected}, one row per row of X and one column per row of Y, or the function "
            "must take two points and return a number"
        )

    def _of_points(self, X: Any, Y: Any) -> np.ndarray:
        left = _points(X)
        right = left if Y is X else _points(Y)
        memo = self._memo or (PairMemo(True) if self._symmetric else None)
        if memo is not None:
            return memo.values(left, right, self._counted)
        rows, columns = np.divmod(np.arange(len(left) * len(right)), max(len(right), 1))
        return self._counted(left, right, rows, columns).reshape(len(left), len(right))

    def _counted(
        self, left: Sequence[Any], right: Sequence[Any], rows: Indices, columns: Indices
    ) -> Floats:
        values = self._evaluate(left, right, rows, columns)
        self.evaluations += len(rows)
        return values

    def _evaluate(
        self, left: Sequence[Any], right: Sequence[Any], rows: Indices, columns: Indices
    ) -> Floats:
        """Return the values of some pairs of points."""
        return compare_pairs(self.function, left, right, rows, columns)

    def _find(self, X: Any) -> str:
        """Return what the function takes, from the first two objects; "auto" for vectors."""
        if getattr(X, "ndim", 2) != 1 or len(X) < 2:
            return "auto"
        number = None
        try:
            value: Any = self.function(X[0], X[1])
            number = None if np.ndim(value) else as_number(value)
        except Exception:
            # it may be one of matrices
            number = None
        if number is not None:
            # one comparison that need not be made again
            one = np.array([number])
            assert self._memo is not None
            self._memo.values(X[:1], X[1:2], lambda *pair: one)
            self.evaluations += 1
            return "points"
        try:
            if np.shape(self.function(X[:2], X[:1])) == (2, 1):
                self.evaluations += 2
                return "matrices"
        except Exception:
            # of which kind the function is, is not known: the error will name the pair
            return "points"
        return "auto"

    def _takes_points(self, X: Any, Y: Any) -> bool:
        """Whether the function returns a number for two points."""
        try:
            value = np.asarray(self.function(_points(X[:1])[0], _points(Y[:1])[0]))
        except Exception:
            return False
        return value.ndim == 0 and value.dtype.kind in "biuf"

    def _by_chance(self, X: Any, Y: Any, takes: str) -> bool:
        """Whether a function of points, such as x @ y, gives a matrix of the right shape."""
        if takes == "matrices" or len(Y.shape) != 2 or Y.shape[0] != Y.shape[1]:
            return False
        try:
            value = np.asarray(self.function(X[:1], Y[:1]))
        except Exception:
            return self._takes_points(X, Y)
        return value.shape != (1, 1) and self._takes_points(X, Y)

    def __sklearn_clone__(self) -> Self:
        # a function, and what it holds, stays the same object
        return type(self)(**self.get_params(deep=False))

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {key: v for key, v in state.items() if key not in ("_memo", "evaluations")}


def as_points(X: Any) -> np.ndarray:
    """Return rows of numbers as a matrix, and other points as an array of objects."""
    points = list(X)
    if points and isinstance(points[0], (list, tuple, str, bytes, Number, np.ndarray)):
        try:
            matrix = np.asarray(points)
        except ValueError:  # rows of different lengths
            matrix = np.empty(0, dtype=object)
        if matrix.dtype.kind != "O" and matrix.ndim <= 2:
            return matrix
    return np.fromiter(points, dtype=object, count=len(points))


def _points(X: Any) -> list[Any]:
    """Return the points of a matrix or a sequence."""
    return list(X.toarray()) if sparse.issparse(X) else list(X)
