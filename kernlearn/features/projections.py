"""Products of projections of dense rows on random signs, by tables of signed sums."""

from math import prod

import numpy as np
from numpy.typing import NDArray

from kernlearn.features import base

Floats = NDArray[np.floating]

# Operations to fill a line of a table, in those of an addition from it.
_FILL = 3
# Tables of groups of more columns than that pay only while they stay in the first caches.
_USUAL_COLUMNS, _MOST_COLUMNS, _CACHE_LINES = 6, 8, 1024
# In tables of more lines, 16 MB, looking up takes longer than products of matrices by OpenBLAS:
# with float64 and float32 the two take the same time for 20 000 columns, tables 1.4 times for
# 60 000.
_MOST_LINES = 2**18


class SignProducts:
    """The products of the projections ⟨ω, x⟩ of dense rows, times the scales of the factors.

    A row's products do not depend on the other rows, or their number: sums and products are taken
    in the same order for each.

    Parameters
    ----------
    levels : LevelProduct
    omega : ndarray of shape (n_features, n_factors), int8
        Signs -1 and 1; for complex features two columns, the real and imaginary parts of 1, i, -1
        and -i.
    dtype : dtype
        Of rows and products.
    n_rows : int
        Most rows of a block.
    n_sets : {1, 2}
        2 if the points of the first factors may be others than those of further ones.
    """

    def __init__(
        self,
        levels: base.LevelProduct,
        omega: NDArray[np.int8],
        dtype: np.dtype,
        *,
        n_rows: int,
        n_sets: int = 1,
    ) -> None:
        from kernlearn.features.lines import LINE  # loads numba
        from kernlearn.features.sign_tables import TILE, find_places

        self._levels, width = levels, levels.width
        self._edges = groups_of(len(omega), levels.n_factors)
        n_groups = len(self._edges) - 1
        places = np.empty((levels.n_factors, n_groups), np.uint32)
        order = levels.places
        if width == 2:
            omega = _turned(omega)
            order = (2 * order[:, np.newaxis] + np.arange(2)).ravel()
        find_places(omega, order, self._edges, places)
        self._places = places.ravel()
        self._ends = (levels.ends * (width * n_groups)).astype(np.uint64)
        scales = levels.factor_scales[: width * (len(levels.ends) - 1) : width]
        self._scales = (scales / width).astype(dtype)
        self._lanes = LINE // dtype.itemsize
        n_lines = _n_lines(len(omega), n_groups)
        self._tables = _lines((n_sets, n_lines), self._lanes, dtype).reshape(n_sets, -1)
        self._tile = _lines((TILE,), self._lanes, dtype).ravel()
        shape = (n_sets, -(-n_rows // self._lanes), len(omega))
        self._points = _lines(shape, self._lanes, dtype)

    def write(self, first: Floats, later: Floats, out: Floats, at: int) -> None:
        """Write the products of some rows into the columns of `out` from a given one on.

        Parameters
        ----------
        first, later : ndarrays of shape (n_rows, n_features)
            The points of which the first and all further factors are.
        out : ndarray of shape (n_rows, n_columns)
            C-contiguous.
        at : int
            The first of the columns.
        """
        from kernlearn.features.sign_tables import write_products

        same = first is later
        n_blocks = -(-len(later) // self._lanes)
        sets = self._points[:, :n_blocks]
        for rows, points in zip((later,) if same else (later, first), sets, strict=False):
            self._into_lanes(rows, points)
        self._levels.write_constants(out[:, at:])
        write_products(
            sets[0 if same else 1],
            sets[0],
            same,
            self._edges,
            self._places,
            self._ends,
            self._scales,
            self._levels.width,
            self._tables,
            self._tile,
            out,
            at,
            len(out),
        )

    def _into_lanes(self, rows: Floats, points: Floats) -> None:
        n_whole, n_left = divmod(len(rows), self._lanes)
        whole = rows[: n_whole * self._lanes].reshape(n_whole, self._lanes, rows.shape[1])
        points[:n_whole] = whole.transpose(0, 2, 1)
        if n_left:
            points[n_whole, :, :n_left] = rows[-n_left:].T


def pays(n_columns: int, n_factors: int) -> bool:
    """Return whether tables are faster than products of matrices."""
    if not n_factors:
        return False
    n_groups = len(groups_of(n_columns, n_factors)) - 1
    return _n_lines(n_columns, n_groups) <= _MOST_LINES


def groups_of(n_columns: int, n_factors: int) -> NDArray[np.intp]:
    """Return where the groups of columns begin and end for which projections take least time.

    The more columns a group has, the fewer sums there are of its entries, and the more entries.
    """
    best, least = n_columns, float("inf")
    for most in range(1, _MOST_COLUMNS + 1):
        n_groups = -(-n_columns // most)
        n_lines = _n_lines(n_columns, n_groups)
        cost = n_groups * n_factors + _FILL * n_lines
        if cost < least and (most <= _USUAL_COLUMNS or n_lines <= _CACHE_LINES):
            best, least = n_groups, cost
    return np.arange(best + 1) * n_columns // best


def _n_lines(n_columns: int, n_groups: int) -> int:
    """Return the number of entries of the tables of groups that differ by a column at most."""
    size, n_larger = divmod(n_columns, n_groups)
    return (n_groups + n_larger) << size


def _turned(omega: NDArray[np.int8]) -> NDArray[np.int8]:
    """Return the real and imaginary parts of complex signs times 1 + i, which are -1 and 1."""
    turned = np.empty_like(omega)
    np.subtract(omega[:, 0::2], omega[:, 1::2], out=turned[:, 0::2])
    np.add(omega[:, 0::2], omega[:, 1::2], out=turned[:, 1::2])
    return turned


def _lines(shape: tuple[int, ...], lanes: int, dtype: np.dtype) -> Floats:
    """Return an array of zeros of lines that begin at lines of cache."""
    n_values = prod(shape) * lanes
    values = np.zeros(n_values + lanes, dtype)
    line = lanes * dtype.itemsize
    first = -values.ctypes.data % line // dtype.itemsize
    return values[first : first + n_values].reshape(*shape, lanes)
