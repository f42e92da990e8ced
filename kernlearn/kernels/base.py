"""Base classes of kernels, and of distances that become similarities."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from numbers import Number
from reprlib import Repr
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils import gen_batches
from sklearn.utils.validation import check_is_fitted

from kernlearn.exceptions import SimilarityError
from kernlearn.validation import POSITIVE, StrOptions

#: An array-like or a scipy sparse matrix or array; scipy has no static types for the latter.
MatrixLike: TypeAlias = Any

#: Error of a kernel that is called before `fit`; `check_is_fitted` fills in its name.
NOT_FITTED = (
    "%(name)s learns from the points and is not fitted yet: call fit(X), or give its parameters "
    "as numbers, as scikit-learn's estimators need them; those of kernlearn fit it themselves"
)

_DIAGONAL_ROWS = 32  # rows in a block of which all pairs are evaluated for the diagonal
_SIGMA_POINTS = 64  # training points whose mean distance is σ


class Kernel(BaseEstimator, ABC):
    """Base class of kernels: functions of two points, evaluated on all pairs of rows.

    Parameters follow scikit-learn's conventions, so that ``get_params``, ``set_params``
    (``kernel__degree``), ``clone`` and ``repr`` work. A subclass needs only ``__call__``,
    and ``fit`` with ``data_dependent`` if a parameter is estimated from data. The value of a pair
    must not depend on the other points of a call.

    Attributes
    ----------
    structured : bool
        Whether points may be strings, sets or other objects instead of rows of a matrix.
    mixed : bool
        Whether rows of a matrix may hold texts and missing entries beside numbers.
    missing : bool
        Whether entries of a matrix of numbers may be missing, NaN.
    columnwise : bool
        Whether each value is the same to the last digit, whatever else is evaluated with it.
        Values by a matrix product are not.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.kernels import Kernel
    >>> class Overlap(Kernel):
    ...     '''The number of coordinates that two points have in common.'''
    ...
    ...     def __call__(self, X, Y=None):
    ...         Y = X if Y is None else Y
    ...         return (np.asarray(X)[:, None] == np.asarray(Y)[None]).sum(axis=2)
    >>> Overlap()([[1, 2, 3], [1, 2, 4]], [[1, 2, 4]]).tolist()
    [[2], [3]]
    """

    _parameter_constraints: dict[str, list[Any]] = {}
    structured: bool = False
    mixed: bool = False
    missing: bool = False
    columnwise: bool = False

    @property
    def data_dependent(self) -> bool:
        """Whether ``fit`` has to be called before the kernel can be evaluated."""
        return False

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Estimate the parameters that depend on data, if any.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points.
        y : None
            Ignored.

        Returns
        -------
        self : object
            Fitted kernel.

        Raises
        ------
        ValueError
            If a parameter is not valid, or cannot be estimated from these points.
        """
        self._validate_params()
        return self

    def fitted_to(
        self, X: MatrixLike, y: object = None, names: Sequence[str] | None = None
    ) -> "Kernel":
        """Return a copy that is fitted to points, or this kernel if it learns nothing from them.

        `names` are those of the columns of X, if these have any.
        """
        return clone(self).fit(X, y) if self.data_dependent else self

    @abstractmethod
    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        """Evaluate the kernel on all pairs of rows of `X` and `Y` (`X` if None).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples_x, n_features)
            Left points.
        Y : {array-like, sparse matrix} of shape (n_samples_y, n_features), default=None
            Right points.

        Returns
        -------
        ndarray of shape (n_samples_x, n_samples_y)
            Kernel matrix, float32 if both matrices are, otherwise float64.

        Raises
        ------
        ValueError
            If a parameter or the data are not valid.
        """


class TurnedSimilarity(Kernel):
    r"""Base of similarities that may be computed as distances.

    A distance d becomes the similarity :math:`-d` (``turn="negative"``),
    :math:`\exp(-d / \sigma)` ("exponential") or :math:`1 / (1 + d)` ("reciprocal"). A similarity
    stays as it is. With ``sigma="auto"`` σ is the mean distance over all pairs of 64 training
    points, evenly spaced among them, of all if there are no more.

    Attributes
    ----------
    sigma_ : float
        The σ used, set by `fit` with ``turn="exponential"``.
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "turn": [StrOptions({"negative", "exponential", "reciprocal"})],
        "sigma": [POSITIVE, StrOptions({"auto"})],
    }

    turn: str
    sigma: Any

    @property
    def is_distance(self) -> bool:
        """Whether what is computed is a distance, which is turned."""
        return True

    @abstractmethod
    def _compare(self, X: Any, Y: Any) -> NDArray[Any]:
        """Return the values of all pairs, of similarities or distances."""

    @property
    def _needs_sigma(self) -> bool:
        return self.is_distance and self.turn == "exponential" and self.sigma == "auto"

    @property
    def data_dependent(self) -> bool:
        return self._needs_sigma

    def fit(self, X: Any, y: object = None) -> Self:
        self._validate_params()
        if self._needs_sigma:
            self.sigma_ = self._mean_distance(self._indexed(X))
            if not self.sigma_ > 0:
                raise ValueError(
                    "sigma='auto' needs points that differ, all of these have distance 0: give "
                    "sigma as a number > 0"
                )
        return self

    def _mean_distance(self, X: Any) -> float:
        if (n := X.shape[0]) < 2:
            raise ValueError(f"sigma='auto' needs at least two points, got {n}")
        some = evenly_spaced(X, _SIGMA_POINTS)
        m, total = some.shape[0], 0.0
        for i in range(m - 1):
            one, rest = some[i : i + 1], some[i + 1 :]
            values = np.asarray(self._compare(one, rest), dtype=np.float64)
            check_values(values, one, rest)
            total += values.sum()
        return float(total / (m * (m - 1) / 2))

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        self._validate_params()
        X = self._indexed(X)
        return self.turned(self._compare(X, X if Y is None else self._indexed(Y)))

    def _indexed(self, X: Any) -> Any:
        return as_indexed(X, self.structured)

    def turned(self, values: NDArray[Any]) -> np.ndarray:
        """Turn the values of all pairs into similarities, if they are distances."""
        if not self.is_distance:
            return values
        if self.turn == "negative":
            return 0 - values  # 0 and not -0 for equal points
        if self.turn == "reciprocal":
            return 1 / (1 + values)
        if self.sigma == "auto":
            check_is_fitted(self, "sigma_", msg=NOT_FITTED)
        return np.exp(values / -(self.sigma_ if self.sigma == "auto" else float(self.sigma)))


def evenly_spaced(X: Any, n_points: int) -> Any:
    """Return at most `n_points` points, evenly spaced among all."""
    n = X.shape[0]
    return X if n <= n_points else X[np.arange(n_points) * n // n_points]


def from_arrow(X: Any) -> Any:
    """Return a table or an array of Arrow, which scikit-learn does not take, as one of pandas."""
    return X.to_pandas() if type(X).__module__.partition(".")[0] == "pyarrow" else X


def as_indexed(X: Any, objects: bool = False) -> Any:
    """Return points as an array, a sparse matrix or, of lists with `objects`, one of objects."""
    if isinstance(X, str):
        raise ValueError(f"'X' must be a sequence of points, got the string {X!r}")
    X = from_arrow(X)
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    if len(getattr(X, "shape", ())) == 3 or is_column_of_objects(X):
        return as_objects(X)
    if hasattr(X, "shape"):
        return X
    return as_objects(list(X)) if objects else as_points(X)


def as_objects(X: Any) -> np.ndarray:
    """Return points of any kind, or a single column of them, in a one-dimensional array."""
    if is_column_of_objects(X):
        X = np.asarray(X, dtype=object)[:, 0]
    if isinstance(X, np.ndarray) and X.ndim == 1:
        return X
    return np.fromiter(X, dtype=object, count=len(X))


def is_column_of_objects(X: Any) -> bool:
    """Whether X is a table of a single column that holds no numbers."""
    if getattr(X, "shape", ())[1:] != (1,) or sparse.issparse(X):
        return False
    return np.asarray(X).dtype.kind not in "biufc"


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
    return as_objects(points)


def diagonal(kernel: Callable[[Any, Any], np.ndarray], X: Any) -> np.ndarray:
    """Return K(x, x) for each row x, from all pairs of 32 rows at a time."""
    blocks = gen_batches(X.shape[0], _DIAGONAL_ROWS)
    return np.concatenate([np.asarray(kernel(X[rows], X[rows])).diagonal() for rows in blocks])


_LONGEST = 40  # characters of the representation of a point

_short = Repr()
_short.maxstring = _short.maxother = _short.maxlong = _LONGEST
_short.maxlist = _short.maxtuple = _short.maxset = _short.maxfrozenset = _short.maxdict = 4
_short.maxlevel = 2


def shown(point: Any) -> str:
    """Return a short representation of a point."""
    if sparse.issparse(point):
        return f"sparse row with {point.nnz} entries"
    if isinstance(point, np.ndarray) and point.ndim:
        if point.dtype.kind not in "biuf":
            return _short.repr(point.tolist())
        if point.ndim > 1:
            return f"array of shape {point.shape}"
        more = ", …" if point.size > 3 else ""
        return f"[{', '.join(f'{value:.4g}' for value in point[:3].tolist())}{more}]"
    if isinstance(point, np.generic):
        point = point.item()
    text = _short.repr(point)
    return str(point) if text.startswith("<") and len(str(point)) <= 2 * _LONGEST else text


def pair_error(problem: str, X: Any, Y: Any, left: int, right: int) -> SimilarityError:
    """Return the error of one pair of points."""
    points = ((X, left), (Y, right))
    texts = [shown(Z.iloc[i] if hasattr(Z, "iloc") else Z[i]) for Z, i in points]
    return SimilarityError(problem, left, right, (texts[0], texts[1]))


def raised(error: Exception) -> str:
    """Describe an error of a similarity."""
    text = f": {error}" if str(error) else ""
    return f"cannot be computed, {type(error).__name__}{text}"


def not_finite(value: float) -> str:
    """Say what is wrong with a value that is NaN or infinite."""
    return f"is {'NaN' if np.isnan(value) else 'infinite'}, it must be a finite number"


def first_wrong(values: np.ndarray) -> tuple[str, int, int] | None:
    """Return what is wrong with the first NaN or infinite value of a matrix, and its place."""
    finite = np.isfinite(values)
    if finite.all():
        return None
    left, right = (int(place) for place in np.argwhere(~finite)[0])
    n_wrong = finite.size - int(finite.sum())
    more = f" (and {n_wrong - 1} more)" if n_wrong > 1 else ""
    return f"{not_finite(values[left, right])}{more}", left, right


def check_values(values: np.ndarray, X: Any, Y: Any) -> None:
    """Refuse NaN and infinite values of pairs, with an error that names the first."""
    if wrong := first_wrong(values):
        problem, left, right = wrong
        raise pair_error(problem, X, Y, left, right)


def compare_pairs(
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
            value = as_number(result)
            if value is None or not math.isfinite(value):
                number = f"is {shown(result)}: 'function' must return a number for two points"
                problem = number if value is None else not_finite(value)
                texts = shown(x), shown(y)
                raise SimilarityError(problem, first + i, j, texts)
            values[i, j] = value
    return values


def as_number(value: Any) -> float | None:
    """Return a number, or an array of one, as a float; None for anything else."""
    if isinstance(value, (bool, int, float)):
        return float(value)
    value = np.asarray(value)
    return float(value.reshape(())) if value.size == 1 and value.dtype.kind in "biuf" else None
