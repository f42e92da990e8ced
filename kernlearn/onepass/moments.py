"""Means and centred second moments of rows, in blocks and merged; folds of rows by a hash."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]


class Moments:
    r"""Sum of weights, mean, and centred second moments of the rows of a stream.

    Rows are added in blocks, and the moments of two parts are merged by [1]_

    .. math::

        S = S_1 + S_2 + \frac{W_1 W_2}{W_1 + W_2} (\mu_2 - \mu_1)(\mu_2 - \mu_1)^\top,

    with sums of weights W, means μ, and :math:`S_i = \sum_j w_j (x_j - \mu_i)(x_j - \mu_i)^\top`.
    Means are computed as differences from values of the first block, so that columns may be far
    from 0: nothing is lost but the digits that the entries themselves lack.

    Parameters
    ----------
    n_columns : int

    Attributes
    ----------
    weight : float
        Sum of the weights; the number of rows without weights.
    scatter : ndarray of shape (n_columns, n_columns)
        Sum of the weighted products of centred rows.

    References
    ----------
    .. [1] T. F. Chan, G. H. Golub, R. J. LeVeque. Algorithms for computing the sample variance:
       analysis and recommendations. The American Statistician 37 (1983).

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.onepass import Moments
    >>> X = np.array([[1.0, 2.0], [3.0, 2.0], [8.0, 5.0]])
    >>> moments = Moments(2).update(X[:2]).merge(Moments(2).update(X[2:]))
    >>> moments.weight, moments.mean.tolist(), moments.scatter.tolist()
    (3.0, [4.0, 3.0], [[26.0, 12.0], [12.0, 6.0]])
    """

    def __init__(self, n_columns: int) -> None:
        self.weight = 0.0
        self.scatter = np.zeros((n_columns, n_columns))
        self._origin = np.zeros(n_columns)
        self._offset = np.zeros(n_columns)

    @property
    def mean(self) -> Floats:
        """Mean of the rows, of shape (n_columns,)."""
        return self._origin + self._offset

    def mean_from(self, other: "Moments") -> Floats:
        """Return the mean minus that of `other`, more exactly than by `mean`."""
        return (self._origin - other._origin) + (self._offset - other._offset)

    @np.errstate(invalid="ignore")  # which raises an error
    def update(self, rows: Floats, weights: Floats | None = None) -> Self:
        """Add a block of rows.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_columns), float64
        weights : ndarray of shape (n_rows,), default=None
            Not negative; None is 1 for each row.

        Returns
        -------
        self : Moments

        Raises
        ------
        ValueError
            If an entry is not finite; nothing is added.
        """
        total = float(len(rows) if weights is None else np.sum(weights))
        if not total:
            return self
        origin = self._origin if self.weight else _central(rows[:64])
        rows = rows - origin
        offset = rows.mean(axis=0) if weights is None else weights @ rows / total
        if not np.isfinite(offset).all():
            raise ValueError(f"column {int(np.isfinite(offset).argmin())} is not finite")
        rows -= offset
        if weights is not None:
            rows *= np.sqrt(weights)[:, np.newaxis]
        varying = np.flatnonzero(rows.any(axis=0))
        if 10 * len(varying) < 9 * rows.shape[1]:  # of some maps half the features are constant
            rows = rows[:, varying]
            self.scatter[np.ix_(varying, varying)] += rows.T @ rows
        else:
            self.scatter += rows.T @ rows
        self._origin = origin
        self._move(total, offset - self._offset)
        return self

    def merge(self, other: "Moments") -> Self:
        """Add the rows of other moments, which stay as they are.

        Returns
        -------
        self : Moments
        """
        if other.weight:
            if not self.weight:
                self._origin = other._origin
            self.scatter += other.scatter
            self._move(other.weight, other.mean_from(self))
        return self

    def _move(self, weight: float, shift: Floats) -> None:
        """Count rows of some weight whose mean is away by `shift`."""
        share = weight / (self.weight + weight)
        self.scatter += (self.weight * share) * np.outer(shift, shift)
        self._offset = self._offset + share * shift
        self.weight += weight


def merged(parts: Sequence[Moments]) -> Moments:
    """Return the moments of several parts together, which stay as they are."""
    whole = Moments(len(parts[0].scatter))
    for part in parts:
        whole.merge(part)
    return whole


def _central(rows: Floats) -> Floats:
    """Return for each column its entry nearest to the mean: for a constant one exactly that."""
    nearest = np.abs(rows - rows.mean(axis=0)).argmin(axis=0)
    return rows[nearest, np.arange(rows.shape[1])]


def row_hashes(X: Any, seed: int = 0) -> NDArray[np.uint64]:
    r"""Return a hash of each row, from the bits of its entries as float64.

    The high bits of :math:`\sum_j c_j x_j \bmod 2^{64}`, over the 32-bit halves x of the entries
    with random c, are strongly universal; they are mixed afterwards as by SplitMix64. A row has
    the same hash in an array or a sparse matrix, as float32 or float64.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
    seed : int, default=0

    Returns
    -------
    ndarray of shape (n_samples,), uint64

    References
    ----------
    D. Lemire, O. Kaser. Strongly universal string hashing is fast. The Computer Journal 57
    (2014), section 3.
    """
    seeds = np.random.SeedSequence(seed)
    factors = seeds.generate_state(2 * X.shape[1] + 1, np.uint64).astype(np.uint64)
    hashes = np.zeros(X.shape[0], dtype=np.uint64)
    if sparse.issparse(X):
        X = X.tocsr(copy=not X.has_canonical_format)
        X.sum_duplicates()
        for part, of_part in zip(_halves(X.data).T, (factors[1::2], factors[2::2]), strict=True):
            hashes += sparse.csr_matrix((part, X.indices, X.indptr), X.shape) @ of_part
    else:
        for start in range(0, X.shape[0], 4096):  # what is computed of these stays in cache
            rows = slice(start, start + 4096)
            hashes[rows] = _halves(X[rows]).reshape(-1, 2 * X.shape[1]) @ factors[1:]
    hashes += factors[0]
    z = (hashes >> np.uint64(32) | hashes << np.uint64(32)) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)


def _halves(values: Any) -> NDArray[np.uint64]:
    """Return both halves of the bits of each number, of shape (n_values, 2)."""
    whole = np.ascontiguousarray(values, dtype="<f8") + 0.0  # makes one zero of -0.0 and 0.0
    return whole.view("<u4").astype(np.uint64).reshape(-1, 2)


def fold_of(hashes: NDArray[np.uint64], n_folds: int) -> NDArray[np.intp]:
    """Return the fold of each row, from 0 to `n_folds` - 1."""
    return ((hashes >> np.uint64(32)) * np.uint64(n_folds) >> np.uint64(32)).astype(np.intp)
