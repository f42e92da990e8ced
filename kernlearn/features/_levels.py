"""Features that are products of factors, worked out one level of factors at a time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

# Writes the factors of one level, for the rows at hand, into the array it is given.
WriteFactors = Callable[[int, np.ndarray], None]

# A block of rows of the result, which is read and written once a level, stays in cache.
BLOCK_BYTES = 2**20
_FEWEST_ROWS = 32


class LevelProduct:
    r"""Features :math:`Z_i = w_i \prod_{j \le N_i} V_{ij}`, sorted so that levels are columns.

    Features are sorted by degree, highest first, so that those with a factor at level k
    (the k-th factor of a product) are the leading columns, and a level is one product of
    matrices. The weight is spread evenly over a feature's factors: no intermediate product
    overflows where the feature itself does not.

    Parameters
    ----------
    degrees : ndarray of shape (n_features,)
        Number of factors N_i of each feature.
    log_weights : ndarray of shape (n_features,)
        log w_i; features with -inf are zero and get no factors.

    Attributes
    ----------
    degrees, log_weights : ndarrays of shape (n_features,)
        As given, sorted.
    slices : list of slice
        Columns of each level among all factors, which lie level by level.
    n_factors : int
        Number of factors of all features.
    factor_scales : ndarray of shape (n_factors,)
        What each factor is to be multiplied by.
    """

    def __init__(self, degrees: np.ndarray, log_weights: np.ndarray) -> None:
        n_factors = np.where(np.isfinite(log_weights), degrees, 0)
        order = np.lexsort((-log_weights, -n_factors))
        self.degrees, self.log_weights = degrees[order], log_weights[order]
        n_factors = n_factors[order]
        counts = [int(np.sum(n_factors > level)) for level in range(n_factors.max(initial=0))]
        ends = np.cumsum(counts, dtype=int).tolist()
        self.slices = [slice(end - count, end) for end, count in zip(ends, counts, strict=True)]
        self.n_factors = sum(counts)
        leading = [self.log_weights[:count] / n_factors[:count] for count in counts]
        self.factor_scales = np.exp(np.concatenate(leading)) if leading else np.empty(0)
        self._n_products = counts[0] if counts else 0
        self._n_repeated = counts[1] if len(counts) > 1 else 0
        self._constants = np.exp(self.log_weights[self._n_products :])

    def scratch(self, n_rows: int, dtype: np.dtype) -> np.ndarray:
        """Return room for the factors of one level, to be given to `write`."""
        return np.empty(n_rows * self._n_repeated, dtype=dtype)

    def write(self, write_factors: WriteFactors, out: np.ndarray, scratch: np.ndarray) -> None:
        """Write the features of some rows into `out` of shape (n_rows, n_features)."""
        out[:, self._n_products :] = self._constants
        for level, columns in enumerate(self.slices):
            products = out[:, : columns.stop - columns.start]
            if level == 0:
                write_factors(level, products)
                continue
            factors = scratch[: products.size].reshape(products.shape)
            write_factors(level, factors)
            np.multiply(products, factors, out=products)


def rows_in_block(row_bytes: int, block_bytes: int = BLOCK_BYTES) -> int:
    """Return how many rows of the result, of that size, make a block."""
    return max(block_bytes // row_bytes, _FEWEST_ROWS)
