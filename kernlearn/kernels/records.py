"""Similarities of records and of sets."""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils import check_array, check_X_y, gen_batches
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted

from kernlearn.exceptions import SimilarityError
from kernlearn.kernels import base
from kernlearn.kernels.base import Kernel, MatrixLike, to_dense
from kernlearn.kernels.distances import map_squared_distances
from kernlearn.kernels.functions import CallableKernel, as_kernel
from kernlearn.validation import StrOptions

_BLOCK_ROWS = 1024


@dataclass(frozen=True)
class FittedPart:
    """A fitted similarity of some columns.

    Attributes
    ----------
    name : str
    kernel : Kernel
    columns : list of int
        Positions of the columns.
    alone : bool
        Whether the similarity compares the entries of a single column, and not rows.
    weight : float
    """

    name: str
    kernel: Kernel
    columns: list[int]
    alone: bool = False
    weight: float = 1.0

    def entries(self, table: NDArray[Any]) -> tuple[Any, NDArray[np.intp]]:
        """Return the entries of the points that have all of the part, and the rows of these."""
        block = table[:, self.columns]
        if block.dtype == object:
            rows = np.flatnonzero([not any(map(_is_missing, row)) for row in block])
        else:
            rows = np.flatnonzero(~np.isnan(block).any(axis=1))
        block = block[rows]
        if self.alone and self.kernel.compares in base.OBJECTS:
            return base.as_objects(block[:, 0]), rows
        if self.kernel.compares == "records" or block.dtype != object:
            return block, rows
        try:
            return block.astype(np.float64), rows
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{self.name!r} needs columns of numbers, got {block[0].tolist()}"
            ) from error


def _table(X: Any) -> Any:
    """Return a table as an array."""
    if hasattr(X, "columns"):
        # a view of numbers, which pandas makes without the copy, cannot be written to
        return X.to_numpy(dtype=object, na_value=np.nan, copy=True)
    table = to_dense(X)
    table = table if isinstance(table, np.ndarray) else np.asarray(table, dtype=object)
    if table.dtype.kind in "US":  # numpy.array(["a", 1]) makes the number a text
        raise ValueError("'X' is an array of texts: pass a data frame or an array of objects")
    if table.ndim != 2:
        raise ValueError(
            f"'X' must be a data frame or have a row for each point, got {table.ndim} dimension(s)"
        )
    return table


def _is_missing(value: Any) -> bool:
    """Whether an entry is None or NaN; an array with NaN is not missing."""
    return value is None or (np.ndim(value) == 0 and bool(np.asarray(value != value).all()))


class _MeanOfParts(Kernel):
    """Base of weighted means of the similarities of columns that both points have, else 0."""

    compares = "records"
    data_dependent = True

    _parts: list[FittedPart]
    _n_columns: int

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        check_is_fitted(self, "_parts", msg=base.NOT_FITTED)
        left = _table(X)
        right = left if Y is None else _table(Y)
        for table in (left, right):
            if table.shape[1] != self._n_columns:
                raise ValueError(
                    f"points must have {self._n_columns} columns, got {table.shape[1]}"
                )
        total, weights = np.zeros((2, left.shape[0], right.shape[0]))
        for part in self._parts:
            some, i = part.entries(left)
            others, j = (some, i) if right is left else part.entries(right)
            if not part.weight or not len(i) or not len(j):
                continue
            try:
                values = np.asarray(part.kernel(some, others), dtype=np.float64)
                base.check_values(values, some, others)
            except SimilarityError as error:
                problem = f"in the part {part.name!r} {error.problem}"
                places = int(i[error.left]), int(j[error.right])
                raise SimilarityError(problem, *places, error.shown) from error.__cause__
            present = np.ix_(i, j) if values.shape != total.shape else ...
            total[present] += part.weight * values
            weights[present] += part.weight
        return np.divide(total, weights, out=np.zeros_like(total), where=weights > 0)


@dataclass(eq=False, repr=False)
class GowerSimilarity(_MeanOfParts):
    r"""Similarity of records whose attributes are numbers or nominal values, also with gaps.

    The mean over the attributes that both points have [1]_, of

    .. math:: s_k(x, y) = \max(0, 1 - |x_k - y_k| / R_k) \text{ or } [x_k = y_k] ,

    the first for numbers, where :math:`R_k` is the range of the attribute among the training
    points, and the second for nominal values. It is in [0, 1]; 0 for two points that have no
    attribute in common.

    Parameters
    ----------
    nominal : "auto" or array-like of int, default="auto"
        The positions of the nominal attributes. With "auto" those in which a training point has
        something else than a number, such as a text; codes of nominal values must be named.

    Attributes
    ----------
    nominal_ : list of int
        The positions of the nominal attributes.
    ranges_ : ndarray of shape (n_features,)
        The range R of each attribute; NaN for nominal ones.

    Notes
    -----
    NaN and None are missing entries. An attribute of numbers with the same value in all training
    points counts as equal where it is equal. Attributes with weights, or other similarities, are
    for :class:`ColumnSimilarity`.

    References
    ----------
    .. [1] J. C. Gower. A general coefficient of similarity and some of its properties.
       Biometrics 27(4), 1971.

    Examples
    --------
    >>> from kernlearn.kernels import GowerSimilarity
    >>> X = [["red", 10.0], ["red", 20.0], ["blue", 30.0]]
    >>> GowerSimilarity().fit(X)(X)
    array([[1.  , 0.75, 0.  ],
           [0.75, 1.  , 0.25],
           [0.  , 0.25, 1.  ]])
    """

    _: KW_ONLY
    nominal: str | Sequence[int] = "auto"

    columnwise = True
    _parameter_constraints = {"nominal": [StrOptions({"auto"}), "array-like"]}

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Find the nominal attributes and the ranges of the others.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training points; an array or list of rows, or a data frame.
        y : None
            Ignored.

        Returns
        -------
        self : object
            Fitted similarity.

        Raises
        ------
        ValueError
            If a parameter is not valid, or an attribute that is not nominal has something else
            than numbers.
        """
        self._validate_params()
        table = _table(X)
        n_features = self._n_columns = table.shape[1]
        if isinstance(self.nominal, str):
            self.nominal_ = [k for k in range(n_features) if not _are_numbers(table[:, k])]
        else:
            self.nominal_ = sorted({int(k) for k in self.nominal})
            if not set(self.nominal_) <= set(range(n_features)):
                raise ValueError(
                    f"'nominal' must be positions from 0 to {n_features - 1}, got {self.nominal!r}"
                )
        self.ranges_, self._parts = np.full(n_features, np.nan), []
        for k in range(n_features):
            equal, nominal = CallableKernel(_equal, takes="matrices"), k in self.nominal_
            part = FittedPart(f"attribute {k}", equal, [k], alone=nominal)
            if not nominal:
                values = part.entries(table)[0].astype(np.float64)
                self.ranges_[k] = np.ptp(values) if len(values) else 0.0
                within = partial(_within, scale=self.ranges_[k])
                part = replace(part, kernel=CallableKernel(within, takes="matrices"))
            self._parts.append(part)
        return self


def _are_numbers(column: np.ndarray) -> bool:
    if column.dtype.kind in "biuf":
        return True
    return all(_is_missing(value) or isinstance(value, Real) for value in column)


def _equal(X: Any, Y: Any) -> NDArray[np.float64]:
    codes: dict[Any, int] = {}
    a, b = (np.array([codes.setdefault(v, len(codes)) for v in values]) for values in (X, Y))
    return (a[:, np.newaxis] == b).astype(np.float64)


def _within(X: Any, Y: Any, scale: float) -> NDArray[np.float64]:
    distances = np.abs(X.astype(np.float64) - Y.T)
    return np.maximum(1 - distances / scale, 0) if scale > 0 else (distances == 0).astype(float)


class ValueDifferenceSimilarity(Kernel):
    r"""Similarity of nominal data by the value difference metric, learnt from labels.

    The distance between two values a and b of an attribute compares the class distributions of
    the training points that have them [1]_, [2]_,

    .. math:: \delta(a, b) = \sum_c (P(c \mid a) - P(c \mid b))^2 ,

    the distance d of two points is the unweighted sum over the attributes. The similarity is
    :math:`1 - d / m`, where m is the largest distance between two training points. Similarities
    of training points span [0, 1], and those of new points can be negative.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    categories_ : list of ndarray
        The values of each attribute.
    probabilities_ : list of ndarray of shape (n_values + 1, n_classes)
        P(c | a) of each attribute, one row per value; the last one is for values that did not
        occur in training.
    largest_distance_ : float
        The constant m.

    Notes
    -----
    For a value that did not occur in training, P(c | a) is the share of class c among all
    training points.

    The labels of the points passed to `fit` are part of the similarity: if these include test
    points, test errors are biased. This is so for the similarity matrix "voting" of [3]_, which
    is this similarity, fitted to all its 435 points.

    References
    ----------
    .. [1] C. Stanfill, D. Waltz. Toward memory-based reasoning. Communications of the ACM
       29(12), 1986.
    .. [2] D. R. Wilson, T. R. Martinez. Improved heterogeneous distance functions. JAIR 6,
       1997, equation 8.
    .. [3] Y. Chen, E. K. Garcia, M. R. Gupta, A. Rahimi, L. Cazzanti. Similarity-based
       classification: concepts and algorithms. JMLR 10, 2009.

    Examples
    --------
    >>> from kernlearn.kernels import ValueDifferenceSimilarity
    >>> X = [["red", "big"], ["red", "small"], ["blue", "big"], ["green", "big"]]
    >>> ValueDifferenceSimilarity().fit(X, [1, 1, 0, 0])(X[:1], X).round(3)
    array([[1.   , 0.692, 0.308, 0.308]])
    """

    compares = "records"

    data_dependent = True

    def fit(self, X: MatrixLike, y: Any = None) -> Self:
        """Estimate the class distribution of each value.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points; numbers or strings, which are only compared for equality. NaN is a
            value like any other.
        y : array-like of shape (n_samples,)
            Labels.

        Returns
        -------
        self : object
            Fitted similarity.

        Raises
        ------
        ValueError
            If `y` is None, or all training points are at distance 0.
        """
        if y is None:
            raise ValueError(
                "ValueDifferenceSimilarity learns from labels: 'y' must hold one per row of X, "
                "got None"
            )
        X, y = check_X_y(to_dense(X), y, dtype=None, ensure_all_finite="allow-nan")
        # Codes from the end of a table, whose last row is for unknown values, and the one before
        # for NaN if that occurs.
        self._encoder = OrdinalEncoder(
            dtype=np.intp,
            handle_unknown="use_encoded_value",
            unknown_value=-1,
            encoded_missing_value=-2,
        ).fit(X)
        self.categories_ = self._encoder.categories_
        self.classes_, labels = np.unique(y, return_inverse=True)
        self.probabilities_ = []
        for codes, values in zip(self._encoder.transform(X).T, self.categories_, strict=True):
            table = np.zeros((len(values) + 1, len(self.classes_)))
            np.add.at(table, (codes, labels), 1)
            table[-1] = table.sum(axis=0)
            self.probabilities_.append(table / table.sum(axis=1, keepdims=True))
        points = self._embed(X)
        self.largest_distance_ = max(
            -float(map_squared_distances(points[rows], points, -1.0).min())
            for rows in gen_batches(len(points), _BLOCK_ROWS)
        )
        if not self.largest_distance_ > 0:
            raise ValueError(
                "ValueDifferenceSimilarity needs attributes on which the class depends: all rows "
                "of X are at distance 0"
            )
        return self

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        check_is_fitted(self, "largest_distance_", msg=base.NOT_FITTED)
        left = self._embed(X)
        right = left if Y is None or Y is X else self._embed(Y)
        similarities = map_squared_distances(left, right, -1.0)
        similarities /= similarities.dtype.type(self.largest_distance_)
        similarities += 1
        return similarities

    def _embed(self, X: MatrixLike) -> np.ndarray:
        """Replace values by their P(c | a); the metric is the squared distance of these rows."""
        X = check_array(to_dense(X), dtype=None, ensure_all_finite="allow-nan")
        codes = self._encoder.transform(X)
        columns = [table[codes[:, k]] for k, table in enumerate(self.probabilities_)]
        return np.hstack(columns, dtype=np.float32 if X.dtype == np.float32 else np.float64)


class JaccardSimilarity(Kernel):
    r"""Similarity of sets, :math:`|A \cap B| / |A \cup B|`, 1 for two empty sets.

    Positive semi-definite. Points are sets, lists or tuples of hashable items; rows of zeros and
    ones are compared by "sklearn.jaccard".

    References
    ----------
    P. Jaccard. The distribution of the flora in the alpine zone. New Phytologist 11, 1912.

    Examples
    --------
    >>> from kernlearn.kernels import JaccardSimilarity
    >>> JaccardSimilarity()([{"a", "b"}], [{"b", "c"}, {"a", "b"}, set()]).round(3)
    array([[0.333, 1.   , 0.   ]])
    """

    compares = "objects"
    columnwise = True

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        left = _sets(X, "X")
        right = left if Y is None else _sets(Y, "Y")
        column_of = {item: j for j, item in enumerate(frozenset().union(*left, *right))}

        def rows(sets: list[frozenset[Any]]) -> Any:
            columns = [column_of[item] for one in sets for item in one]
            ends = np.cumsum([0, *map(len, sets)])
            shape = len(sets), max(len(column_of), 1)
            return sparse.csr_matrix((np.ones(len(columns)), columns, ends), shape)

        shared = safe_sparse_dot(rows(left), rows(right).T, dense_output=True)
        union = np.add.outer([len(one) for one in left], [len(one) for one in right]) - shared
        return np.divide(shared, union, out=np.ones_like(shared), where=union > 0)


def _sets(points: Any, name: str) -> list[frozenset[Any]]:
    base.refuse_vectors(points, name, "sets (rows of 0 and 1 are compared by 'sklearn.jaccard')")
    sets = []
    for point in base.as_indexed(points, objects=True):
        if isinstance(point, (str, bytes)) or not isinstance(point, Iterable):
            raise ValueError(f"'{name}' must contain sets or other collections, got {point!r}")
        try:
            sets.append(frozenset(point))
        except TypeError as error:
            raise ValueError(f"'{name}' must contain sets of hashable items: {error}") from error
    return sets


@dataclass(eq=False, repr=False)
class ColumnSimilarity(_MeanOfParts):
    r"""Weighted mean of similarities of columns, for records that mix types.

    .. math:: K(x, y) = \frac{\sum_k w_k K_k(x_k, y_k)}{\sum_k w_k} ,

    over the parts of which both points have all columns (NaN and None are missing). It is 0 for
    two points that have no part in common.

    Parameters
    ----------
    similarities : list of (name, similarity, columns)
        The parts, as in scikit-learn's ColumnTransformer: a name, a similarity (its name, an
        object or a function), and columns. One column, by its position or its name in a data
        frame, has its entries compared as they are (texts, sets, series, numbers). Of a list of
        columns the rows are compared.
    weights : dict, default=None
        The weights w of parts by their names, not negative; 1 for the others.

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
    GowerSimilarity : Numbers and nominal values alone.

    Examples
    --------
    >>> import pandas as pd
    >>> from kernlearn.kernels import ColumnSimilarity, named
    >>> X = pd.DataFrame({"name": ["Ann", "Anne"], "age": [31.0, 41.0], "height": [1.7, 1.7]})
    >>> parts = [("name", "rapidfuzz.indel", "name"),
    ...          ("body", named("scipy.cityblock", turn="exponential"), ["age", "height"])]
    >>> ColumnSimilarity(parts, weights={"body": 2.0}).fit(X)(X).round(3)
    array([[1.   , 0.531],
           [0.531, 1.   ]])
    """

    similarities: Sequence[tuple[str, Any, Any]]
    _: KW_ONLY
    weights: Mapping[str, float] | None = None

    _parameter_constraints = {"similarities": [list, tuple], "weights": [dict, None]}

    @property
    def columnwise(self) -> bool:  # type: ignore[override]
        """Whether each value is the same to the last digit, whatever else is evaluated."""
        return all(as_kernel(one, name).columnwise for name, one, _ in self.similarities)

    def fit(self, X: Any, y: Any = None, names: Sequence[str] | None = None) -> Self:
        """Find the columns, and fit the similarities that learn from them.

        Parameters
        ----------
        X : data frame, or array-like of shape (n_samples, n_features)
            Training points.
        y : array-like, default=None
            Targets, for similarities that learn from them.
        names : sequence of str, default=None
            Names of the columns of an array.

        Returns
        -------
        self : object
            Fitted similarity.

        Raises
        ------
        ValueError
            If a parameter is not valid, or a column is not there.
        """
        self._validate_params()
        if hasattr(X, "columns"):
            names = list(X.columns)
        table, weights = _table(X), self._checked_weights()
        self._n_columns, self._parts = table.shape[1], []
        for name, similarity, columns in self.similarities:
            alone = isinstance(columns, (str, int, np.integer))
            places = [
                _position(column, names, table.shape[1], name)
                for column in ([columns] if alone else columns)
            ]
            kernel = as_kernel(similarity, f"similarities: {name}")
            part = FittedPart(name, kernel, places, alone, weights[name])
            entries, rows = part.entries(table)
            if not len(rows):
                raise ValueError(f"the columns of {name!r} are missing in all points")
            fitted = kernel.fitted_to(entries, None if y is None else np.asarray(y)[rows])
            self._parts.append(replace(part, kernel=fitted))
        self.parts_ = self._parts
        return self

    def fitted_to(self, X: Any, y: Any = None, names: Any = None, kind: Any = None) -> Kernel:
        return copy(self).fit(X, y, names)

    def _checked_weights(self) -> dict[str, float]:
        names = [name for name, _, _ in self.similarities]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"'similarities' must have parts of different names, got {names}")
        weights = dict.fromkeys(names, 1.0) | dict(self.weights or {})
        if unknown := weights.keys() - set(names):
            raise ValueError(f"'weights' names {sorted(unknown)}; the parts are {names}")
        values = list(weights.values())
        if not np.isfinite(values).all() or min(values) < 0 or not any(values):
            raise ValueError(
                f"'weights' must be finite numbers >= 0, one above 0, got {self.weights!r}"
            )
        return weights


def _position(column: Any, names: Sequence[str] | None, n_columns: int, part: str) -> int:
    if isinstance(column, str):
        if names is None or column not in names:
            have = "X has no names of columns" if names is None else f"X has {list(names)}"
            raise ValueError(f"similarities: {part}: no column {column!r}; {have}")
        return list(names).index(column)
    if not -n_columns <= column < n_columns:
        raise ValueError(f"similarities: {part}: no column {column}; X has {n_columns}")
    return int(column) % n_columns
