"""Which frequencies of count sketches are computed from which sums, and when that pays."""

import numpy as np

#: Rows that are computed together, one for each lane of a few vector registers.
LANES = 64
# Lengths of the short transforms, the longest first.
_PARTS = (8, 4, 2, 1)

# Time of an FFT of length D in D·log2(D) of the operations of `prefers_sums`: 2.2 to 5 for d from
# 20 to 400, D from 100 to 4096 (`python -m benchmarks feature_maps` compares them). For D = 1000
# sums are faster up to about 200 columns, for odd D up to about 30.
_FFT_COST = 3.5
# More weights than that do not stay in cache.
_MOST_WEIGHTS = 2**21


def n_parts_of(n_components: int) -> int:
    """Return the length of the short transforms: the largest of 8, 4, 2, 1 that divides D."""
    return next(parts for parts in _PARTS if n_components % parts == 0)


def prefers_sums(hashes: np.ndarray, n_components: int) -> bool:
    """Tell whether transforms of sketches are faster from sums of their entries than by FFT.

    Sums take two multiplications and additions for each column and residue, and about 12 for
    each frequency.
    """
    n_factors, n_columns = hashes.shape
    parts = n_parts_of(n_components)
    n_residues = n_components // parts // 2 + 1
    if n_residues * n_factors * (n_columns + 2 * parts) > _MOST_WEIGHTS:
        return False
    sums = n_residues * (2 * (n_columns + 2 * parts) + 12 * parts)
    return sums < _FFT_COST * n_components * np.log2(n_components + 1)


class TransformPlan:
    """Transforms of count sketches of rows with few columns, as in `count_sketch`.

    Parameters
    ----------
    hashes, signs : ndarrays of shape (n_factors, n_columns)
        The cell and the sign of each column, for each factor.
    n_components : int
        Number D of cells.
    dtype : numpy dtype
        float32 or float64.

    Attributes
    ----------
    columns : ndarray of shape (n_entries,)
        Columns by factor and part; each part is filled up to a multiple of four by the number of
        columns.
    ends : ndarray of shape (n_factors, n_parts)
        Where the parts end.
    weights : ndarray of shape (n_residues, 2, n_entries)
        Real and imaginary parts of the entries' weights.
    places, scales : ndarrays of shape (n_residues, n_parts, 2)
        Features of the real and imaginary part of each frequency, -1 for none, and their factors.
    """

    def __init__(
        self, hashes: np.ndarray, signs: np.ndarray, n_components: int, dtype: np.dtype
    ) -> None:
        n_columns = hashes.shape[1]
        n_parts = n_parts_of(n_components)
        residues = np.arange(n_components // n_parts // 2 + 1)
        self.columns, self.ends = _group(hashes % n_parts, n_parts)
        used = self.columns < n_columns
        factor_of = np.repeat(np.arange(len(hashes)), np.diff(self.ends[:, -1], prepend=0))
        cells = np.where(used, hashes[factor_of, np.where(used, self.columns, 0)], 0)
        sign = np.where(used, signs[factor_of, np.where(used, self.columns, 0)], 0)
        roots = np.exp(-2j * np.pi * np.arange(n_components) / n_components)
        turned = sign * roots[residues[:, None] * cells % n_components]
        self.weights = np.stack([turned.real, turned.imag], axis=1).astype(dtype)
        self.places, scales = _places(n_components, n_parts)
        self.scales = scales.astype(dtype)


def _group(parts: np.ndarray, n_parts: int) -> tuple[np.ndarray, np.ndarray]:
    """Sort the columns of each factor by part; fill each part up to a multiple of four.

    Returns the columns, with the number of columns for those that fill up, and the ends of the
    parts, of shape (n_factors, n_parts).
    """
    n_factors, n_columns = parts.shape
    groups, sizes = [], []
    for factor in range(n_factors):
        for part in range(n_parts):
            members = np.flatnonzero(parts[factor] == part)
            groups.append(np.append(members, [n_columns] * (-len(members) % 4)))
            sizes.append(len(groups[-1]))
    columns = np.concatenate(groups) if groups else np.empty(0, np.intp)
    return columns.astype(np.intp), np.cumsum(sizes, dtype=np.intp).reshape(n_factors, n_parts)


def _places(n_components: int, n_parts: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns of real and imaginary parts at all frequencies computed, and scales.

    Frequency r + R·m for residue r and m < M; above D / 2 it is the conjugate of another.
    """
    D, R = n_components, n_components // n_parts
    residues = np.arange(R // 2 + 1)
    frequencies = residues[:, None] + R * np.arange(n_parts)
    above = 2 * frequencies > D
    kept = np.where(above, D - frequencies, frequencies)
    alone = (kept == 0) | (2 * kept == D)
    # For r = 0 and r = R / 2 the conjugates are of the same residue.
    twice = above & ((2 * residues % R == 0)[:, None])
    places = np.stack([np.where(kept == 0, 0, 2 * kept - 1), 2 * kept], axis=-1)
    places[alone, 1] = -1
    places[twice] = -1
    scale = np.sqrt(np.where(alone, 1 / D, 2 / D))
    return places, np.stack([scale, np.where(above, -1.0, 1.0) * scale], axis=-1)
