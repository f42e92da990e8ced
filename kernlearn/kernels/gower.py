"""Gower's similarity of records that mix numbers and nominal values."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from kernlearn.constraints import StrOptions
from kernlearn.kernels.base import NOT_FITTED, Kernel, MatrixLike


@dataclass(eq=False, repr=False)
class GowerSimilarity(Kernel):
    r"""Similarity of records whose attributes are numbers or nominal values, also with gaps.

    The mean over the attributes that both points have [1]_,

    .. math:: K(x, y) = \frac{\sum_k w_k s_k(x_k, y_k)}{\sum_k w_k} , \quad
        s_k = \max(0, 1 - |x_k - y_k| / R_k) \text{ or } [x_k = y_k] ,

    with the first :math:`s_k` for numbers, where :math:`R_k` is the range of the attribute among
    the training points, and the second for nominal values. It is in [0, 1]; 0 for two points that
    have no attribute in common.

    Parameters
    ----------
    nominal : "auto" or array-like of int, default="auto"
        The positions of the nominal attributes. With "auto" those in which a training point has
        something else than a number, such as a text; codes of nominal values must be named.
    weights : array-like of shape (n_features,), default=None
        The weights w of the attributes, not negative; all 1 if None.

    Attributes
    ----------
    nominal_ : ndarray of int
        The positions of the nominal attributes.
    ranges_ : ndarray of shape (n_features,)
        The range R of each attribute; NaN for nominal ones.

    Notes
    -----
    NaN and None are missing entries. An attribute of numbers with the same value in all training
    points counts as equal where it is equal.

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
    weights: Any = None

    mixed = True
    columnwise = True
    _parameter_constraints = {
        "nominal": [StrOptions({"auto"}), "array-like"],
        "weights": ["array-like", None],
    }

    @property
    def data_dependent(self) -> bool:
        return True

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
            than finite numbers.
        """
        self._validate_params()
        X = _records(X)
        n_features = X.shape[1]
        if isinstance(self.nominal, str):
            nominal = [k for k in range(n_features) if not _are_numbers(X[:, k])]
        else:
            nominal = sorted({int(k) for k in self.nominal})
            if nominal and not -1 < nominal[0] <= nominal[-1] < n_features:
                raise ValueError(
                    f"'nominal' must be positions from 0 to {n_features - 1}, got {self.nominal!r}"
                )
        self.nominal_ = np.array(nominal, dtype=np.intp)
        weights = np.ones(n_features) if self.weights is None else np.asarray(self.weights, float)
        if weights.shape != (n_features,) or not (weights >= 0).all() or not weights.any():
            raise ValueError(
                f"'weights' must hold a number for each of {n_features} attributes, none negative "
                f"and one positive, got {self.weights!r}"
            )
        self._weights = weights
        self.ranges_ = np.full(n_features, np.nan)
        for k in self._numeric():
            values = _as_numbers(X[:, k], k)
            present = values[~np.isnan(values)]
            self.ranges_[k] = np.ptp(present) if len(present) else 0.0
        return self

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        check_is_fitted(self, "ranges_", msg=NOT_FITTED)
        left = _records(X)
        right = left if Y is None or Y is X else _records(Y)
        for points in (left, right):
            if points.shape[1] != len(self.ranges_):
                raise ValueError(
                    f"points must have {len(self.ranges_)} attributes, got {points.shape[1]}"
                )
        total = np.zeros((len(left), len(right)))
        weight = np.zeros_like(total)
        for k in np.flatnonzero(self._weights).tolist():
            compare = self._nominal if np.isnan(self.ranges_[k]) else self._numbers
            alike, present = compare(left[:, k], right[:, k], k)
            total += self._weights[k] * np.where(present, alike, 0.0)
            weight += self._weights[k] * present
        values = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
        return values.astype(np.float32) if left.dtype == right.dtype == np.float32 else values

    def _numeric(self) -> np.ndarray:
        return np.setdiff1d(np.arange(len(self._weights)), self.nominal_)

    def _numbers(self, left: Any, right: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        a, b = (_as_numbers(values, k)[:, np.newaxis] for values in (left, right))
        distances = np.abs(a - b.T)
        present = ~np.isnan(distances)
        scale = self.ranges_[k]
        alike = 1 - distances / scale if scale > 0 else (distances == 0).astype(float)
        return np.maximum(alike, 0.0), present

    def _nominal(self, left: Any, right: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        codes: dict[Any, int] = {}
        a, b = (
            np.array([-1 if _is_missing(v) else codes.setdefault(v, len(codes)) for v in values])
            for values in (left, right)
        )
        present = (a >= 0)[:, np.newaxis] & (b >= 0)
        return a[:, np.newaxis] == b, present


def _records(X: MatrixLike) -> np.ndarray:
    """Return a table of numbers, or of objects."""
    if sparse.issparse(X):
        X = X.toarray()
    if isinstance(X, (list, tuple)):  # an array of numbers and texts would be one of texts
        X = np.array([list(row) for row in X], dtype=object)
        if all(_are_numbers(column) for column in X.T):
            X = X.astype(np.float64)
    records: np.ndarray = check_array(X, dtype=None, ensure_all_finite="allow-nan")
    return records


def _is_missing(value: Any) -> bool:
    return value is None or value != value


def _are_numbers(column: np.ndarray) -> bool:
    if column.dtype.kind in "biuf":
        return True
    return all(_is_missing(value) or isinstance(value, Real) for value in column)


def _as_numbers(column: np.ndarray, k: int) -> np.ndarray:
    try:
        values: np.ndarray = column.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"attribute {k} must hold numbers, as it did in training; name nominal attributes in "
            "'nominal'"
        ) from None
    return values
