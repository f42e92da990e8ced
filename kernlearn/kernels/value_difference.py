"""Similarity of nominal data by the value difference metric."""

from dataclasses import KW_ONLY, dataclass
from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils import check_array, check_X_y, gen_batches
from sklearn.utils._param_validation import Options
from sklearn.utils.validation import check_is_fitted

from kernlearn.constraints import StrOptions
from kernlearn.kernels.base import NOT_FITTED, Kernel, MatrixLike
from kernlearn.kernels.distances import map_manhattan_distances, map_squared_distances

_BLOCK_ROWS = 1024


@dataclass(eq=False, repr=False)
class ValueDifferenceSimilarity(Kernel):
    r"""Similarity of nominal data by the value difference metric, learnt from labels.

    The distance between two values a and b of an attribute compares the class distributions of
    the training points that have them [1]_, [2]_,

    .. math:: \delta(a, b) = \sum_c |P(c \mid a) - P(c \mid b)|^q ,

    the distance d of two points is the unweighted sum over the attributes, and the similarity is
    :math:`1 - d / m`.

    Parameters
    ----------
    q : {1, 2}, default=2
        The exponent.
    normalize : {"observed", "possible"}, default="observed"
        The constant m: the largest distance between two training points, so that the
        similarities of training points span [0, 1] and those of new points can be negative; or
        the largest possible distance, so that all similarities are in [0, 1].

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
    is this similarity with the defaults, fitted to all its 435 points.

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

    q: int = 2
    _: KW_ONLY
    normalize: Literal["observed", "possible"] = "observed"

    mixed = True
    _parameter_constraints = {
        "q": [Options(Integral, {1, 2})],
        "normalize": [StrOptions({"observed", "possible"})],
    }

    @property
    def data_dependent(self) -> bool:
        return True

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
            If `y` is None, a parameter is not valid, or all training points are at distance 0.
        """
        self._validate_params()
        if y is None:
            raise ValueError(
                "ValueDifferenceSimilarity learns from labels: 'y' must hold one per row of X, "
                "got None"
            )
        X, y = check_X_y(_dense(X), y, dtype=None, ensure_all_finite="allow-nan")
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
        if self.normalize == "observed":
            self.largest_distance_ = self._largest(self._embed(X))
        else:
            # The last row of a table is a mean of the others, and never the farthest.
            self.largest_distance_ = float(sum(map(self._largest, self.probabilities_)))
        if not self.largest_distance_ > 0:
            raise ValueError(
                "ValueDifferenceSimilarity needs attributes on which the class depends: all rows "
                "of X are at distance 0"
            )
        return self

    def __call__(self, X: MatrixLike, Y: MatrixLike | None = None) -> np.ndarray:
        check_is_fitted(self, "largest_distance_", msg=NOT_FITTED)
        left = self._embed(X)
        right = left if Y is None or Y is X else self._embed(Y)
        similarities = self._negated_distances(left, right)
        similarities /= similarities.dtype.type(self.largest_distance_)
        similarities += 1
        return similarities

    def _embed(self, X: MatrixLike) -> np.ndarray:
        """Replace every value by its P(c | a); distances of these rows are the metric's."""
        X = check_array(_dense(X), dtype=None, ensure_all_finite="allow-nan")
        codes = self._encoder.transform(X)
        columns = [table[codes[:, k]] for k, table in enumerate(self.probabilities_)]
        return np.hstack(columns, dtype=np.float32 if X.dtype == np.float32 else np.float64)

    def _negated_distances(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        map_distances = map_squared_distances if self.q == 2 else map_manhattan_distances
        return map_distances(left, right, -1.0)

    def _largest(self, points: np.ndarray) -> float:
        return max(
            -float(self._negated_distances(points[rows], points).min())
            for rows in gen_batches(len(points), _BLOCK_ROWS)
        )


def _dense(X: MatrixLike) -> Any:
    """Convert a sparse matrix to a dense one; the value 0 counts like any other."""
    return X.toarray() if sparse.issparse(X) else X
