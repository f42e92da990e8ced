"""Base classes of kernels, the forms of points, and the validation of points and values."""

from abc import ABC
from collections.abc import Callable, Mapping, Sequence, Set
from contextlib import suppress
from copy import copy
from numbers import Number
from reprlib import Repr
from typing import Any, Self, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.metrics.pairwise import check_pairwise_arrays
from sklearn.utils import gen_batches

from kernlearn.exceptions import SimilarityError
from kernlearn.validation import (
    is_half,
    looks_reversed,
    refuse_text,
    validate_data,
    warn,
    with_mirror_images,
)

#: An array-like or a scipy sparse matrix or array; scipy has no static types for the latter.
MatrixLike: TypeAlias = Any

#: Error of a kernel that is called before `fit`; `check_is_fitted` fills in its name.
NOT_FITTED = (
    "%(name)s learns from the points and is not fitted yet: call fit(X), or give its parameters "
    "as numbers, as scikit-learn's estimators need them; those of kernlearn fit it themselves"
)

#: What kernels of texts, sets and other objects compare.
OBJECTS = {"objects", "any"}

_FLOATS = (np.float64, np.float32)
_DIAGONAL_ROWS = 32  # rows in a block of which all pairs are evaluated for the diagonal
_TRIED_POINTS = 5  # that tell whether a kernel of the user is a distance


class Kernel(BaseEstimator, ABC):
    """Base class of kernels: functions of two points, evaluated on all pairs of rows.

    Parameters follow scikit-learn's conventions, so that ``get_params``, ``set_params``
    (``kernel__degree``), ``clone`` and ``repr`` work. A subclass needs only ``__call__``,
    or ``values`` for validated rows of numbers, and ``fit`` with ``data_dependent`` if a parameter
    is estimated from data. The value of a pair must not depend on the other points of a call.

    Attributes
    ----------
    compares : str
        What points are: "vectors", rows of a matrix of numbers; "gaps" if entries of it may be
        missing, NaN; "records" if it may hold texts and missing entries beside numbers; "objects"
        such as strings and sets; or "any", rows of a matrix as well as objects, as for functions.
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
    compares: str = "vectors"
    columnwise: bool = False

    @property
    def data_dependent(self) -> bool:
        """Whether ``fit`` has to be called before the kernel can be evaluated."""
        return False

    @property
    def is_distance(self) -> bool:
        """Whether it computes distances, and turns them into similarities."""
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

    def fitted_to(self, X: Any, y: Any = None, names: Any = None, kind: Any = None) -> "Kernel":
        """Return a copy that is fitted to points, and that later changes leave as it is.

        A kernel of the user compares a few points, to warn of distances taken as similarities.
        `names` are those of the columns of X, if these have any; `kind` is what the estimator
        takes the values for, None if it has no such parameter.
        """
        kernel = clone(self).fit(X, y) if self.data_dependent else copy(self)
        if type(kernel).__call__ is Kernel.__call__:  # which `compared` does not call
            kernel._validate_params()
        is_own = self.__module__.startswith("kernlearn.") and self.compares != "any"
        if is_own and kind != "distance":
            return kernel
        values = np.zeros((0, 0))
        with suppress(Exception):  # the comparisons to come say what is wrong
            some = evenly_spaced(as_indexed(X, self.compares == "objects"), _TRIED_POINTS)
            values = compared(kernel, some, some)
        kernel.n_fit_comparisons_ = getattr(kernel, "n_fit_comparisons_", 0) + values.size
        if values.size:
            _warn_of_direction("the similarity", values, kind)
        return kernel

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
        self._validate_params()
        return self.values(*check_pairwise_arrays(X, Y))

    def values(self, X: Any, Y: Any) -> np.ndarray:
        """Evaluate the kernel on rows of numbers that are validated already."""
        raise NotImplementedError(f"{type(self).__name__} defines neither __call__ nor values")


def evenly_spaced(X: Any, n_points: int) -> Any:
    """Return at most `n_points` points, evenly spaced among all."""
    n = X.shape[0]
    return X if n <= n_points else X[np.arange(n_points) * n // n_points]


def _held(X: Any) -> Any:
    """Return what holds points, Arrow's as pandas'; refuse a single text, and nothing."""
    refuse_text(X)
    if isinstance(X, (Mapping, Set)) and not hasattr(X, "shape"):
        raise ValueError(f"X must be a sequence of points, got a {type(X).__name__}: pass a list")
    if isinstance(X, (list, tuple)) and not X:
        raise ValueError("X holds no points (0 samples), and a minimum of 1 is required")
    # scikit-learn takes no tables and arrays of Arrow
    return X.to_pandas() if type(X).__module__.partition(".")[0] == "pyarrow" else X


def as_indexed(X: Any, objects: bool = False) -> Any:
    """Return points as an array, a sparse matrix or, of lists with `objects`, one of objects."""
    X = X if isinstance(X, (list, tuple)) else _held(X)
    X = X.to_numpy() if hasattr(X, "to_numpy") else X
    if len(getattr(X, "shape", ())) == 3 or is_column_of_objects(X):
        return as_objects(X)
    if hasattr(X, "shape"):
        return X
    if not objects:
        return as_points(X)
    _refuse_columns(X)
    return as_objects(list(X))


def _refuse_columns(points: Any) -> None:
    """Refuse lists of one text each: a table of one column, or sequences of one token."""
    if (
        isinstance(points, list)
        and len(points) > 1
        and all(isinstance(p, list) and len(p) == 1 and isinstance(p[0], str) for p in points)
    ):
        raise ValueError(
            f"each point of X is a list of one text, such as {shown(points[0])}: pass the texts "
            "themselves, [text, …], or tuples for sequences and sets of one text"
        )


def as_objects(X: Any) -> np.ndarray:
    """Return points of any kind, or a single column of them, in a one-dimensional array."""
    if is_column_of_objects(X):
        X = np.asarray(X, dtype=object)[:, 0]
    if isinstance(X, np.ndarray) and X.ndim == 1:
        return X
    X = X.to_numpy() if hasattr(X, "columns") else X
    return np.fromiter(X, dtype=object, count=len(X))


def is_column_of_objects(X: Any) -> bool:
    """Whether X is a table of a single column that holds no numbers."""
    if getattr(X, "shape", ())[1:] != (1,) or sparse.issparse(X):
        return False
    return np.asarray(X).dtype.kind not in "biufc"


def to_dense(X: Any) -> Any:
    """Convert a sparse matrix to an array; others stay as they are."""
    return X.toarray() if sparse.issparse(X) else X


def summed(X: Any) -> Any:
    """Return sparse rows with a single entry for each feature; others stay as they are.

    Norms, as scikit-learn computes them, would add the squares of several.
    """
    if not getattr(X, "has_canonical_format", True):
        X = X.copy()
        X.sum_duplicates()
    return X


def as_points(X: Any) -> np.ndarray:
    """Return rows of numbers of one length as a matrix, and other points as objects."""
    points = list(X)
    if points and isinstance(points[0], (list, tuple, Number, np.ndarray)):
        with suppress(ValueError):  # rows of different lengths
            matrix = np.asarray(points)
            if matrix.dtype.kind in "biufc" and matrix.ndim <= 2:
                return matrix
    return as_objects(points)


def diagonal(kernel: Callable[[Any, Any], np.ndarray], X: Any) -> np.ndarray:
    """Return K(x, x) for each row x, from all pairs of 32 rows at a time."""
    blocks = gen_batches(X.shape[0], _DIAGONAL_ROWS)
    return np.concatenate([np.asarray(kernel(X[rows], X[rows])).diagonal() for rows in blocks])


_short = Repr()
_short.maxstring = _short.maxother = 80
_short.maxlist = _short.maxtuple = _short.maxset = _short.maxfrozenset = _short.maxdict = 4
_short.maxlevel = 2


def shown(point: Any) -> str:
    """Return a short representation of a point."""
    if sparse.issparse(point):
        return f"sparse row with {point.nnz} entries"
    if isinstance(point, np.ndarray) and point.ndim > 1:
        return f"array of shape {point.shape}"
    if isinstance(point, np.ndarray) and point.ndim and point.dtype.kind in "fiu":
        return np.array2string(point, 1000, 4, separator=", ", threshold=4, edgeitems=2)
    return _short.repr(point.tolist() if isinstance(point, (np.ndarray, np.generic)) else point)


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


def first_wrong(values: np.ndarray) -> tuple[str, int, int]:
    """Return what is wrong with the first NaN or infinite value of a matrix, and its place."""
    finite = np.isfinite(values)
    left, right = (int(place) for place in np.argwhere(~finite)[0])
    n_wrong = finite.size - int(finite.sum())
    more = f" (and {n_wrong - 1} more)" if n_wrong > 1 else ""
    return f"{not_finite(values[left, right])}{more}", left, right


def check_values(values: np.ndarray, X: Any, Y: Any) -> None:
    """Refuse NaN and infinite values of pairs, with an error that names the first."""
    if not np.isfinite(values).all():
        problem, left, right = first_wrong(values)
        raise pair_error(problem, X, Y, left, right)


def compared(kernel: Any, X: Any, Y: Any) -> np.ndarray:
    """Evaluate a kernel on all pairs of points of an estimator, which it has validated.

    Refuse what is no matrix of finite numbers.
    """
    is_validating = type(kernel).__call__ is Kernel.__call__
    values = np.asarray(to_dense(kernel.values(X, Y) if is_validating else kernel(X, Y)))
    if values.dtype.kind != "f":  # counts and other whole numbers
        values = values.astype(np.float64)
    if values.shape != (expected := (X.shape[0], Y.shape[0])):
        raise ValueError(
            f"a kernel gave an array of shape {values.shape}, it must be {expected}: one row for "
            "each point of X and one column for each of Y"
        )
    check_values(values, X, Y)
    return values


def check_matrix(values: np.ndarray, places: Any = None) -> None:
    """Refuse similarities to training points, all or those of some places, that are not finite."""
    if not np.isfinite(values).all():
        problem, left, right = first_wrong(values)
        right = right if places is None else int(places[right])
        raise SimilarityError(problem, left, right, ("", ""), ("X", "training X"))


def refuse_vectors(points: Any, name: str, expected: str) -> None:
    """Refuse a matrix of real numbers, whose rows are no sequences or sets of items."""
    if isinstance(points, np.ndarray) and points.ndim == 2 and points.dtype.kind in "bf":
        raise ValueError(f"'{name}' must hold {expected}, not vectors of numbers")


def check_training(
    model: Any,
    X: Any,
    y: Any,
    kernels: Sequence[Kernel] | None,
    *,
    numeric: bool = False,
    several: bool = False,
    gaps: bool = False,
    dtypes: Sequence[Any] = _FLOATS,
) -> tuple[Any, Any]:
    """Validate the training points of an estimator, and their targets.

    Parameters
    ----------
    model : estimator
        ``n_features_in_`` and ``feature_names_in_`` are set on it.
    X : {array-like, sparse matrix} of shape (n_samples, n_features) or sequence of objects
    y : array-like of shape (n_samples,) or None
    kernels : sequence of Kernel or None
        The kernels that compare the points; None for a precomputed matrix.
    numeric : bool, default=False
        Whether targets must be numbers.
    several : bool, default=False
        Whether a precomputed matrix may be several square ones side by side.
    gaps : bool, default=False
        Whether pairs of a precomputed matrix may be missing, also in the other order.
    dtypes : sequence of dtype, default=(float64, float32)
        Types that a matrix may have; others are converted to the first.

    Returns
    -------
    X : ndarray, sparse matrix or ndarray of objects
    y : ndarray or None
    """
    X = _held(X)
    if kernels is None and hasattr(X, "iloc"):
        _refuse_other_order(X)
    objects = _objects(X, kernels)
    if objects is not None:
        _refuse_columns(X)
        X = np.zeros((len(objects), 1))  # only the number of objects is left to check
    options: dict[str, Any] = {"reset": True, "gaps": not several, "y": y}
    if y is None:
        X = check_points(model, X, kernels, dtypes, **options)
    else:
        X, y = check_points(model, X, kernels, dtypes, y_numeric=numeric, **options)
        if numeric and y.dtype.kind not in "biuf":
            raise ValueError(f"y must hold numbers, got an array of type {y.dtype}")
    if kernels is None:
        X = _training_matrix(model, X, several, gaps)
    model._takes_objects = objects is not None
    return X if objects is None else objects, y


def _training_matrix(model: Any, X: np.ndarray, several: bool, gaps: bool) -> np.ndarray:
    """Refuse what is no precomputed matrix of training points; fill pairs from mirror images."""
    n = X.shape[0]
    if X.shape[1] % n or (X.shape[1] > n and not several):
        raise ValueError(
            "'precomputed' needs a square matrix for training, one row and one column per "
            f"training point, got shape {X.shape}"
        )
    if lacks := not several and np.isnan(X).any():
        X, n_taken = with_mirror_images(X)
        if n_taken:
            way = "taken from X.T, as np.where(np.isnan(X), X.T, X) does before X is split"
            warn(f"{n_taken} of {X.size} similarities in X are missing: {way}")
    check_matrix(np.where(np.isnan(X), 0.0, X) if lacks and gaps else X)
    for first in range(0, X.shape[1], n):
        _warn_of_matrix(model, X[:, first : first + n])
    return X


def _refuse_other_order(frame: Any) -> None:
    """Refuse a square frame whose rows and columns name the same points in different orders."""
    rows, columns = frame.index.tolist(), frame.columns.tolist()
    if rows != columns and set(rows) == set(columns):
        raise ValueError(
            "the rows of X name the same points as its columns, but in another order: pass "
            "X.loc[X.columns]"
        )


def _warn_of_direction(what: str, values: np.ndarray, kind: str | None) -> None:
    """Warn if similarities look like distances, or distances like similarities.

    `values` are those of points with each other; `kind` is what they are taken for, None if the
    estimator has no such parameter.
    """
    # a few rows tell first: all of a large matrix are read only if need be
    some = evenly_spaced(np.arange(len(values)), _DIAGONAL_ROWS)
    if not all(looks_reversed(part, kind) for part in (values[np.ix_(some, some)], values)):
        return
    pair = ("distance", "similarity")
    right, taken = pair[::-1] if kind == "distance" else pair
    advice = f"Pass kind={right!r}" if kind else "Turn it into a similarity, as by exp(-d)"
    text = f"{what} looks like a {right}, by its values for points and themselves"
    text += f", but is taken as a {taken}. {advice}"
    warn(text)


def _warn_of_matrix(model: Any, matrix: np.ndarray) -> None:
    """Warn of distances taken as similarities or the reverse, and of half a matrix.

    In half a matrix one of the two values of each pair is 0, also in another order of the points.
    """
    kind = model.get_params(deep=False).get("kind")
    _warn_of_direction("X", matrix, kind)
    if kind == "distance" and (n := np.count_nonzero(matrix < 0)):
        warn(
            f"{n} of {matrix.size} distances in X are negative: NaN stands for one that is missing"
        )
    if is_half(matrix):
        warn(
            "one of the two values of each pair is 0: X looks like half a matrix. Pass X + X.T "
            "with the diagonal counted once"
        )


def is_symmetric(matrix: np.ndarray) -> bool:
    """Whether mirrored entries of a square matrix are close, without another of its size."""
    blocks = gen_batches(len(matrix), 256)
    return all(np.allclose(matrix[rows], matrix[:, rows].T) for rows in blocks)


def check_points(
    model: Any,
    X: Any,
    kernels: Sequence[Kernel] | None,
    dtypes: Sequence[Any] = _FLOATS,
    *,
    gaps: bool = False,
    **options: Any,
) -> Any:
    """Validate points that a fitted estimator compares with its training points.

    The parameters are those of :func:`check_training`, and further ones of `validate_data`. With
    `gaps` a precomputed matrix may hold anything.
    """
    X, options = _held(X), {"reset": False, **options, "dtype": list(dtypes)}
    if (objects := _objects(X, kernels, None if options["reset"] else model)) is not None:
        return objects
    is_matrix = kernels is None
    options |= {"ensure_all_finite": False} if is_matrix else {"accept_sparse": "csr"}
    kinds = compared_by(kernels)
    if kinds and kinds <= {"gaps", "records"}:
        options["ensure_all_finite"] = "allow-nan"
    if kinds == {"records"} and _holds_texts(X):
        options |= {"accept_sparse": False, "dtype": object}
    try:
        points = validate_data(model, summed(X), **options)
    except (TypeError, ValueError) as error:
        is_table, text = not is_matrix and not hasattr(X, "tocsr"), str(error)
        if is_table and "float" in text and "infinity" not in text:
            raise type(error)(
                f"{error}. Pass texts and other objects as a list or a single column of them, and "
                "records as a data frame to a similarity of records, such as 'gower'"
            ) from error
        raise
    if is_matrix and not gaps:
        check_matrix(points[0] if isinstance(points, tuple) else points)
    return points


def compared_by(kernels: Sequence[Kernel] | None) -> set[str]:
    """Return what kernels compare; nothing for a precomputed matrix."""
    return {kernel.compares for kernel in kernels or ()}


def _holds_texts(X: Any) -> bool:
    """Tell whether a table has entries that are no numbers."""
    if hasattr(X, "dtypes"):  # a data frame
        return any(getattr(kind, "kind", "O") not in "biuf" for kind in X.dtypes)
    if hasattr(X, "dtype"):
        return X.dtype.kind in "OUS" and X.ndim == 2
    rows = X if isinstance(X, (list, tuple)) else ()
    return any(isinstance(v, str) for row in rows if isinstance(row, (list, tuple)) for v in row)


def _objects(X: Any, kernels: Sequence[Kernel] | None, fitted: Any = None) -> Any:
    """Return texts and other objects as an array, if the kernels compare these; else None.

    Functions compare what the model was `fitted` to: points of any length, or rows of a matrix.
    Missing objects are refused, which only functions may compare.
    """
    kinds, is_list = compared_by(kernels), isinstance(X, (list, tuple))
    if not (kinds and kinds <= OBJECTS and (is_list or hasattr(X, "shape"))):
        return None
    structured = "objects" in kinds
    if getattr(fitted, "_takes_objects", False):
        points = as_objects(X)
    elif is_list and fitted is not None and not structured:
        return None  # lists of numbers of one length are the rows of a matrix
    else:
        points = as_indexed(X, structured)
    if points.ndim != 1 or not (structured or points.dtype.kind in "OUST"):
        return None
    gaps = [i for i, x in enumerate(points) if x is None or (isinstance(x, float) and x != x)]
    if gaps and "any" not in kinds:
        raise ValueError(f"X[{gaps[0]}] is missing, of {len(gaps)} such points: leave them out")
    return points
