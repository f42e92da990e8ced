"""Similarity of records: a weighted sum of similarities of their columns."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import check_is_fitted

from kernlearn.exceptions import SimilarityError
from kernlearn.kernels import CallableKernel, Kernel, as_kernel
from kernlearn.kernels.base import NOT_FITTED
from kernlearn.kernels.functions import as_points
from kernlearn.kernels.pairs import check_values


@dataclass(frozen=True)
class FittedPart:
    """A similarity of some columns, fitted.

    `columns` are their positions; of a single one, `alone`, the similarity gets the entries.
    """

    name: str
    kernel: Kernel
    columns: list[int]
    alone: bool
    weight: float


@dataclass(eq=False, repr=False)
class ColumnSimilarity(Kernel, _BaseComposition):
    r"""Weighted mean of similarities of columns, for records that mix types.

    .. math:: K(x, y) = \frac{\sum_k w_k K_k(x_k, y_k)}{\sum_k w_k} ,

    over the parts that no column of either point is missing of, NaN or None; 0 for two points that
    have no part in common.

    Parameters
    ----------
    similarities : list of (name, similarity, columns)
        The parts, as in scikit-learn's ColumnTransformer: a name, a similarity (its name, an
        object or a function), and columns: the position or, of a data frame, the name of one,
        whose entries are compared as they are (texts, sets, series, numbers); or a list of these,
        whose rows are compared.
    weights : array-like or dict, default=None
        The weights w, not negative, in the order of the parts or by their names; all 1 if None.

    Attributes
    ----------
    parts_ : list
        The similarities fitted to the training points, with their columns and weights.

    Notes
    -----
    Parts count as they are: similarities in [0, 1], and distances with ``turn="exponential"`` or
    "reciprocal", weigh alike.

    See Also
    --------
    kernlearn.kernels.GowerSimilarity : Numbers and nominal values alone.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernlearn.similarities import ColumnSimilarity, ScipyDistance
    >>> X = pd.DataFrame({"name": ["Ann", "Anne"], "age": [31.0, 41.0], "height": [1.7, 1.7]})
    >>> parts = [("name", "rapidfuzz.indel", "name"),
    ...          ("body", ScipyDistance("cityblock", turn="exponential"), ["age", "height"])]
    >>> ColumnSimilarity(parts, weights={"body": 2.0}).fit(X)(X).round(3)
    array([[1.   , 0.531],
           [0.531, 1.   ]])
    """

    similarities: Sequence[tuple[str, Any, Any]]
    _: KW_ONLY
    weights: Any = None

    mixed = True
    _parameter_constraints = {"similarities": [list, tuple]}

    @property
    def data_dependent(self) -> bool:
        return True

    @property
    def columnwise(self) -> bool:  # type: ignore[override]
        """Whether each value is computed from its two points alone."""
        return all(as_kernel(one, name).columnwise for name, one, _ in self.similarities)

    def fit(self, X: Any, y: object = None) -> Self:
        """Find the columns, and fit the similarities that learn from them.

        Parameters
        ----------
        X : data frame, or array-like of shape (n_samples, n_features)
            Training points.
        y : array-like, default=None
            Targets, for similarities that learn from them.

        Returns
        -------
        self : object
            Fitted similarity.

        Raises
        ------
        ValueError
            If a parameter is not valid, or a column is not there.
        """
        return self._fit(X, y, None)

    def fitted_to(self, X: Any, y: object = None, names: Sequence[str] | None = None) -> Kernel:
        return copy(self)._fit(X, y, names)

    def forget(self) -> None:
        for part in self.parts_:
            part.kernel.forget()

    def _fit(self, X: Any, y: Any, names: Sequence[str] | None) -> Self:
        self._validate_params()
        names = list(X.columns) if hasattr(X, "columns") else None if names is None else [*names]
        table = _table(X)
        weights = self._weights()
        self.parts_ = []
        for name, similarity, columns in self.similarities:
            alone = isinstance(columns, (str, int, np.integer))
            found = [
                _position(column, names, table.shape[1], name)
                for column in ([columns] if alone else columns)
            ]
            kernel = as_kernel(similarity, f"similarities: {name}")
            entries, present = _entries(table, found, alone, kernel)
            some = np.flatnonzero(present)
            if not len(some):
                raise ValueError(f"the columns of {name!r} are missing in all points")
            fitted = kernel.fitted_to(entries[some], None if y is None else np.asarray(y)[some])
            self.parts_.append(FittedPart(name, fitted, found, alone, weights[name]))
        self.fit_evaluations = sum(
            part.kernel.evaluations or part.kernel.fit_evaluations for part in self.parts_
        )
        return self

    def _weights(self) -> dict[str, float]:
        names = [name for name, _, _ in self.similarities]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"'similarities' must have parts of different names, got {names}")
        given = self.weights
        if isinstance(given, Mapping):
            if unknown := given.keys() - set(names):
                raise ValueError(f"'weights' names {sorted(unknown)}; the parts are {names}")
            values = [float(given.get(name, 1.0)) for name in names]
        else:
            values = [1.0] * len(names) if given is None else [float(w) for w in given]
        usable = len(values) == len(names) and np.isfinite(values).all() and min(values) >= 0
        if not usable or not any(values):
            raise ValueError(
                f"'weights' must hold a number >= 0 for each of {names}, one above 0, "
                f"got {given!r}"
            )
        return dict(zip(names, values, strict=True))

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        check_is_fitted(self, "parts_", msg=NOT_FITTED)
        left = _table(X)
        right = left if Y is None else _table(Y)
        total = np.zeros((left.shape[0], right.shape[0]))
        weights = np.zeros_like(total)
        for part in self.parts_:
            if not part.weight:
                continue
            a, rows = _entries(left, part.columns, part.alone, part.kernel)
            same = right is left
            b, columns = (
                (a, rows) if same else _entries(right, part.columns, part.alone, part.kernel)
            )
            i, j = np.flatnonzero(rows), np.flatnonzero(columns)
            if not len(i) or not len(j):
                continue
            some = a[i]
            others = some if same else b[j]
            try:
                values = np.asarray(part.kernel(some, others), dtype=np.float64)
                check_values(values, some, others)
            except SimilarityError as error:
                problem = f"in the part {part.name!r} {error.problem}"
                places = int(i[error.left]), int(j[error.right])
                raise SimilarityError(problem, *places, error.shown) from error.__cause__
            total[np.ix_(i, j)] += part.weight * values
            weights[np.ix_(i, j)] += part.weight
        return np.divide(total, weights, out=np.zeros_like(total), where=weights > 0)

    @property
    def _named(self) -> list[tuple[str, Any]]:
        return [(name, similarity) for name, similarity, _ in self.similarities]

    @_named.setter
    def _named(self, value: list[tuple[str, Any]]) -> None:
        columns = [columns for _, _, columns in self.similarities]
        self.similarities = [(*pair, where) for pair, where in zip(value, columns, strict=True)]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, with ``deep`` those of the parts too, as ``name__parameter``.

        Parameters
        ----------
        deep : bool, default=True

        Returns
        -------
        dict
        """
        return self._get_params("_named", deep=deep)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also of the parts, as ``name__parameter``.

        Parameters
        ----------
        **params
            Values by name.

        Returns
        -------
        self : object
        """
        self._set_params("_named", **params)
        return self


def _table(X: Any) -> Any:
    """Return a table as an array."""
    if hasattr(X, "columns"):
        return X.to_numpy(dtype=object)
    if sparse.issparse(X):
        return X.toarray()
    table = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
    if table.ndim != 2:
        raise ValueError(
            f"'X' must be a data frame or have a row for each point, got {table.ndim} dimension(s)"
        )
    return table


def _position(column: Any, names: list[str] | None, n_columns: int, part: str) -> int:
    if isinstance(column, str):
        if names is None or column not in names:
            have = "X has no names of columns" if names is None else f"X has {names}"
            raise ValueError(f"similarities: {part}: no column {column!r}; {have}")
        return names.index(column)
    if not -n_columns <= column < n_columns:
        raise ValueError(f"similarities: {part}: no column {column}; X has {n_columns}")
    return int(column) % n_columns


def _entries(
    table: NDArray[Any], columns: list[int], alone: bool, kernel: Kernel
) -> tuple[Any, NDArray[np.bool_]]:
    """Return the entries of a part, and which points have all of them."""
    block = table[:, columns]
    present = ~_missing(block)
    if alone and (kernel.structured or isinstance(kernel, CallableKernel)):
        return np.fromiter(block[:, 0], dtype=object, count=len(block)), present
    if kernel.mixed:
        return block, present
    if block.dtype == object:
        numbers = np.full(block.shape, np.nan)
        numbers[present] = _as_numbers(block[present])
        return numbers, present
    return block, present


def _missing(block: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which rows have a missing entry: NaN or None, but not an array with NaN."""
    if block.dtype != object:
        return np.isnan(block).any(axis=1)
    return np.array([any(_is_missing(entry) for entry in row) for row in block], dtype=bool)


def _is_missing(entry: Any) -> bool:
    return entry is None or (np.ndim(entry) == 0 and bool(np.asarray(entry != entry).all()))


def _as_numbers(block: NDArray[Any]) -> NDArray[np.float64]:
    try:
        return block.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"columns of numbers are needed, got {as_points(block[0])}") from error
