"""Similarities of strings, sets and sequences."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import check_pairwise_arrays
from sklearn.utils import check_array
from sklearn.utils.extmath import safe_sparse_dot

from kernlearn.constraints import WHOLE
from kernlearn.extras import needed_by
from kernlearn.kernels.base import Kernel


@dataclass(eq=False, repr=False)
class LevenshteinSimilarity(Kernel):
    r"""Similarity of strings by the edit distance.

    The Levenshtein distance d(x, y) is the minimum number of characters to insert, delete or
    replace to change x into y. The similarity is :math:`1 - d(x, y) / \max(|x|, |y|)`, 1 for two
    empty strings, or :math:`-d(x, y)`. It is indefinite.

    Parameters
    ----------
    normalize : bool, default=True
        Whether to divide by the length of the longer string.

    References
    ----------
    V. I. Levenshtein. Binary codes capable of correcting deletions, insertions and reversals.
    Soviet Physics Doklady 10, 1966. Distances are computed by RapidFuzz.

    Examples
    --------
    >>> from kernlearn.kernels import LevenshteinSimilarity
    >>> LevenshteinSimilarity()(["kitten"], ["kitten", "mitten", "dog"]).round(3)
    array([[1.   , 0.833, 0.   ]])
    """

    normalize: bool = True

    _parameter_constraints = {"normalize": ["boolean"]}
    structured = True
    columnwise = True

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        """Evaluate the similarity on all pairs of strings of `X` and `Y` (`X` if None)."""
        with needed_by(type(self).__name__):
            from rapidfuzz.distance import Levenshtein
            from rapidfuzz.process import cdist

        self._validate_params()
        left = _strings(X, "X")
        right = left if Y is None else _strings(Y, "Y")
        # The numbers of edits are exact; RapidFuzz's normalised distances are float32.
        distances = cdist(left, right, scorer=Levenshtein.distance, dtype=np.float64)
        if not self.normalize:
            return 0 - distances
        longer = np.maximum.outer([len(x) for x in left], [len(y) for y in right])
        return 1 - distances / np.maximum(longer, 1)


class JaccardSimilarity(Kernel):
    r"""Similarity of sets, :math:`|A \cap B| / |A \cup B|`, 1 for two empty sets.

    Positive semi-definite.

    References
    ----------
    P. Jaccard. The distribution of the flora in the alpine zone. New Phytologist 11, 1912.

    Examples
    --------
    >>> from kernlearn.kernels import JaccardSimilarity
    >>> JaccardSimilarity()([{"a", "b"}], [{"b", "c"}, {"a", "b"}, set()]).round(3)
    array([[0.333, 1.   , 0.   ]])
    """

    structured = True
    columnwise = True

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        """Evaluate the similarity on all pairs of sets of `X` and `Y` (`X` if None).

        Parameters
        ----------
        X : sequence of collections, or {ndarray, sparse matrix} of shape (n_samples_x, n_items)
            Left points: sets, lists or tuples of hashable items; or a matrix whose rows are 1
            where an item is in the set, otherwise 0.
        Y : of the same kind, default=None
            Right points.

        Returns
        -------
        ndarray of shape (n_samples_x, n_samples_y)
            Values in [0, 1], float32 if both matrices are, otherwise float64.

        Raises
        ------
        ValueError
            If a point is a string or not a collection, or a matrix has entries other than 0 and 1.
        """
        if hasattr(X, "shape") and len(X.shape) == 2:
            rows, columns = check_pairwise_arrays(X, Y)
            for name, matrix in (("X", rows), ("Y", columns)):
                entries = matrix.data if sparse.issparse(matrix) else matrix
                if not ((entries == 0) | (entries == 1)).all():
                    raise ValueError(f"'{name}' must contain only 0 and 1, or be a list of sets")
        else:
            rows, columns = _as_rows(X, X if Y is None else Y)
        shared = safe_sparse_dot(rows, columns.T, dense_output=True)
        sizes = (np.asarray(matrix.sum(axis=1)).ravel() for matrix in (rows, columns))
        union = np.add.outer(*sizes) - shared
        return np.divide(shared, union, out=np.ones_like(shared), where=union > 0)


@dataclass(eq=False, repr=False)
class DynamicTimeWarpingSimilarity(Kernel):
    r"""Similarity of sequences by dynamic time warping, the negated warping distance.

    The distance is the minimum sum of :math:`\|x_i - y_j\|_2` along a path of pairs (i, j) from
    the first to the last elements of both, which advances by one in the first sequence, the
    second or both at each step. The similarity is indefinite.

    Parameters
    ----------
    window : int, default=None
        Maximum of :math:`|i - j|` on a path (Sakoe-Chiba band), raised to the difference in
        length of the two sequences where that is larger; None for no maximum.

    References
    ----------
    H. Sakoe, S. Chiba. Dynamic programming algorithm optimization for spoken word recognition.
    IEEE Transactions on Acoustics, Speech, and Signal Processing 26, 1978.

    Examples
    --------
    >>> from kernlearn.kernels import DynamicTimeWarpingSimilarity
    >>> DynamicTimeWarpingSimilarity()([[0, 1, 5]], [[0, 0, 1, 1, 5], [0, 2]])
    array([[ 0., -4.]])
    """

    window: int | None = None

    _parameter_constraints = {"window": [WHOLE, None]}
    structured = True
    columnwise = True

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        """Evaluate the similarity on all pairs of sequences of `X` and `Y` (`X` if None).

        Parameters
        ----------
        X : sequence of array-like of shape (length,) or (length, n_dimensions)
            Left points, of any lengths; each row of a matrix is a sequence of numbers.
        Y : sequence of array-like, default=None
            Right points.

        Returns
        -------
        ndarray of shape (n_samples_x, n_samples_y)
            Non-positive values, float32 if all sequences are, otherwise float64.

        Raises
        ------
        ValueError
            If `window` or the data are not valid, a sequence is empty, or elements differ in
            their number of dimensions.
        """
        from kernlearn.kernels.warping import warping_distances

        self._validate_params()
        left, left_ends = _sequences(X, "X")
        right, right_ends = (left, left_ends) if Y is None else _sequences(Y, "Y")
        if left.shape[1] != right.shape[1]:
            raise ValueError(
                f"elements of 'X' have {left.shape[1]} dimensions and those of 'Y' "
                f"{right.shape[1]}; they must have the same number"
            )
        dtype = np.result_type(left, right)
        window = -1 if self.window is None else int(self.window)
        left, right = left.astype(dtype, copy=False), right.astype(dtype, copy=False)
        # 0 and not -0 for equal sequences
        return 0 - warping_distances(left, right, left_ends, right_ends, window)


def _strings(points: Any, name: str) -> list[str]:
    if isinstance(points, str):
        raise ValueError(f"'{name}' must be a sequence of strings, got the string {points!r}")
    strings = list(points)
    for point in strings:
        if not isinstance(point, str):
            raise ValueError(f"'{name}' must contain only strings, got {point!r}")
    return strings


def _as_rows(X: Any, Y: Any) -> tuple[sparse.csr_matrix, sparse.csr_matrix]:
    """Return sets as binary rows over all items."""
    left, right = _sets(X, "X"), _sets(Y, "Y")
    column_of = {item: j for j, item in enumerate(frozenset().union(*left, *right))}

    def rows(sets: list[frozenset[Any]]) -> sparse.csr_matrix:
        columns = [column_of[item] for points in sets for item in points]
        ends = np.cumsum([0, *map(len, sets)])
        shape = len(sets), max(len(column_of), 1)
        return sparse.csr_matrix((np.ones(len(columns)), columns, ends), shape)

    return rows(left), rows(right)


def _sets(points: Any, name: str) -> list[frozenset[Any]]:
    sets = []
    for point in points:
        if isinstance(point, (str, bytes)) or not isinstance(point, Iterable):
            raise ValueError(f"'{name}' must contain sets or other collections, got {point!r}")
        try:
            sets.append(frozenset(point))
        except TypeError as error:
            raise ValueError(f"'{name}' must contain sets of hashable items: {error}") from error
    return sets


def _sequences(points: Any, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the concatenated sequences, (total_length, n_dimensions), and their ends."""
    sequences = []
    for point in points:
        sequence = check_array(
            point, ensure_2d=False, dtype=[np.float64, np.float32], input_name=name
        )
        sequences.append(sequence.reshape(len(sequence), -1))
    widths = {sequence.shape[1] for sequence in sequences}
    if len(widths) != 1:
        raise ValueError(
            f"'{name}' must contain sequences whose elements have the same number of dimensions, "
            f"got {sorted(widths)}"
        )
    return np.concatenate(sequences), np.cumsum([len(sequence) for sequence in sequences])
