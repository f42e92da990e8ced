"""Products of projections on random signs, by tables of signed sums, compiled.

The columns of a point are split into groups. A table holds the sums of the entries of a group for
all choices of their signs. A projection on a vector of signs is then a sum of one entry of each
table (Arlazarov, Dinic, Kronrod & Faradžev, 1970, do this for Boolean matrices). An entry is a
line: the sums of several rows, which are computed together.

Every row has the same sums and products in the same order, so that its features depend neither
on the other rows nor on their number.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from kernlearn.compiled import compiled
from kernlearn.features.base import Products

#: Rows that are computed together. Loops over a number that is known when they are compiled become
#: vector instructions and no others, if it is at least 32.
LANES = 64
# Operations to fill a line of a table, in those of an addition from it.
_FILL = 3
# Larger groups pay only while their tables have few lines.
_USUAL_COLUMNS, _MOST_COLUMNS, _FEW_LINES = 6, 8, 1024
#: With more lines, 16 MB and about 3000 columns, products of matrices are as fast.
MOST_LINES = 2**15
_TILE = 64  # columns that are computed, as lines, before they are written to rows


class Tables(NamedTuple):
    """What the products of some rows are computed by, and in.

    Attributes
    ----------
    edges : ndarray of shape (n_groups + 1,), int
        Where the groups of columns begin and end.
    places : ndarray of shape (n_factors, n_places), uint32
        The entries of the tables that the projection of each factor is the sum of, feature by
        feature: a multiple of four, for each of which there is one loop. Unsigned, as negative
        ones would have to be looked for.
    ends : ndarray of shape (n_products + 1,), int
        Where the factors of each product begin and end.
    scales : ndarray of shape (n_products,)
        Factor of each projection.
    lines, tile, spare : ndarrays of shape (n_lines, LANES), (_TILE, LANES), (2, LANES)
        The entries of all tables, and room for what is computed: overwritten.
    """

    edges: NDArray[np.intp]
    places: NDArray[np.uint32]
    ends: NDArray[np.intp]
    scales: NDArray[np.floating]
    lines: NDArray[np.floating]
    tile: NDArray[np.floating]
    spare: NDArray[np.floating]


class SignProducts:
    """The products of the projections ⟨ω, x⟩ of dense rows, times the scales of the factors.

    Tables take 0.4 to 0.7 of the time of products by OpenBLAS for 20 to 1000 columns.

    Parameters
    ----------
    products : Products
        Which factors each feature has.
    omega : ndarray of shape (n_features, n_factors), int8
        Signs -1 and 1; for complex features two columns, the real and imaginary parts of 1, i, -1
        and -i.
    edges : ndarray of shape (n_groups + 1,), int
        Where the groups of columns begin and end.
    dtype : dtype
        Of rows and products.
    """

    def __init__(
        self, products: Products, omega: NDArray[np.int8], edges: NDArray[np.intp], dtype: np.dtype
    ) -> None:
        self._products, width = products, products.width
        positive, order = omega > 0, products.places
        if width == 2:
            # the real and imaginary parts of the signs times 1 + i, which are -1 and 1
            real, imaginary = omega[:, 0::2], omega[:, 1::2]
            positive[:, 0::2], positive[:, 1::2] = real > imaginary, real + imaginary > 0
            order = (2 * order[:, np.newaxis] + np.arange(2)).ravel()
        n_lines, n_groups = 0, len(edges) - 1
        places = np.empty((omega.shape[1], n_groups + -n_groups % 4), np.uint32)
        for group, (start, end) in enumerate(pairwise(edges.tolist())):
            weights = 2.0 ** np.arange(end - start)
            places[order, group] = n_lines + weights @ positive[start:end]
            n_lines += 1 << (end - start)
        # further entries are 0, which make the groups a multiple of four
        places[:, n_groups:] = n_lines
        n_lines += 1
        scales = products.factor_scales[: width * (len(products.ends) - 1) : width]
        scales = (scales / width).astype(dtype)
        # lines that begin at lines of cache are loaded in half of the time
        values = np.zeros((n_lines + _TILE + 2) * LANES + 64, dtype)
        first = -values.ctypes.data % 64 // dtype.itemsize
        lines = values[first : first + (n_lines + _TILE + 2) * LANES].reshape(-1, LANES)
        parts = lines[:n_lines], lines[n_lines:-2], lines[-2:]
        self._tables = Tables(edges, places, products.ends * width, scales, *parts)

    def write(self, X: NDArray[np.floating], out: NDArray[np.floating], at: int) -> None:
        """Write the products of some rows into the columns of `out` from `at` on."""
        self._products.write_constants(out[:, at:])
        write = _write_complex if self._products.width == 2 else _write_real
        # compiled once for each dtype, whatever the layout
        write(np.require(X, requirements=["C", "W"]), self._tables, out, at)


def groups_of(n_columns: int, n_factors: int) -> tuple[NDArray[np.intp], int]:
    """Return where the groups of columns begin and end for which projections take least time.

    The more columns a group has, the fewer sums there are of its entries, and the more entries;
    their number is returned as well.
    """
    best, least = (n_columns, n_columns << 1), float("inf")
    for most in range(1, _MOST_COLUMNS + 1):
        n_groups = -(-n_columns // most)
        size, n_larger = divmod(n_columns, n_groups)
        n_lines = (n_groups + n_larger) << size
        cost = n_groups * n_factors + _FILL * n_lines
        if cost < least and (most <= _USUAL_COLUMNS or n_lines <= _FEW_LINES):
            best, least = (n_groups, n_lines), cost
    return np.arange(best[0] + 1) * n_columns // best[0], best[1]


@njit(inline="always")  # pragma: no cover
def _fill_tables(X: np.ndarray, edges: np.ndarray, point: np.ndarray, tables: np.ndarray) -> None:
    """Write the tables of some rows, at most as many as a line has."""
    base = np.uint64(0)
    for group in range(len(edges) - 1):
        size = np.uint64(1)
        tables[base] = 0
        for column in range(edges[group], edges[group + 1]):
            for lane in range(len(X)):
                point[lane] = X[lane, column]
            for i in range(size):
                entry, other = tables[base + i], tables[base + i + size]
                for lane in range(LANES):
                    value = entry[lane]
                    entry[lane] = value - point[lane]
                    other[lane] = value + point[lane]
            size += size
        base += size


@njit(inline="always")  # pragma: no cover
def _project(tables: np.ndarray, places: np.ndarray, total: np.ndarray) -> None:
    """Write a projection of a line of rows, a sum of entries of all tables."""
    one, two, three, four = (
        tables[places[0]],
        tables[places[1]],
        tables[places[2]],
        tables[places[3]],
    )
    for lane in range(LANES):
        total[lane] = one[lane] + two[lane] + three[lane] + four[lane]
    for group in range(4, len(places), 4):
        one, two = tables[places[group]], tables[places[group + 1]]
        three, four = tables[places[group + 2]], tables[places[group + 3]]
        for lane in range(LANES):
            total[lane] = total[lane] + one[lane] + two[lane] + three[lane] + four[lane]


@compiled(nogil=True)  # pragma: no cover
def _write_real(X: np.ndarray, by: Tables, out: np.ndarray, at: int) -> None:
    """Write products of projections on signs, each times its scale, into columns from `at` on."""
    edges, places, ends, scales, tables, tile, spare = by
    total = spare[0]
    for start in range(0, len(X), LANES):
        rows = X[start : start + LANES]
        _fill_tables(rows, edges, total, tables)
        for begin in range(0, len(scales), _TILE):
            n_features = min(_TILE, len(scales) - begin)
            for i in range(n_features):
                scale, product = scales[begin + i], tile[i]
                first = ends[begin + i]
                for factor in range(first, ends[begin + i + 1]):
                    _project(tables, places[factor], total)
                    for lane in range(LANES):
                        before = scale if factor == first else product[lane] * scale
                        product[lane] = before * total[lane]
            columns = slice(at + begin, at + begin + n_features)
            out[start : start + len(rows), columns] = tile[:n_features, : len(rows)].T


@compiled(nogil=True)  # pragma: no cover
def _write_complex(X: np.ndarray, by: Tables, out: np.ndarray, at: int) -> None:
    """As `_write_real` for complex signs: two columns of `out` are real and imaginary parts.

    1, i, -1 and -i times 1 + i are two real signs r and s: a projection is that on r, and i times
    that on s, times (1 - i) / 2. The scales hold the half.
    """
    edges, places, ends, scales, tables, tile, spare = by
    one, two = spare[0], spare[1]
    for start in range(0, len(X), LANES):
        rows = X[start : start + LANES]
        _fill_tables(rows, edges, one, tables)
        for begin in range(0, len(scales), _TILE // 2):
            n_features = min(_TILE // 2, len(scales) - begin)
            for i in range(n_features):
                scale, real, imaginary = scales[begin + i], tile[2 * i], tile[2 * i + 1]
                first = ends[begin + i]
                for factor in range(first, ends[begin + i + 1], 2):
                    _project(tables, places[factor], one)
                    _project(tables, places[factor + 1], two)
                    for lane in range(LANES):
                        a = scale * (one[lane] + two[lane])
                        b = scale * (two[lane] - one[lane])
                        u, v = real[lane], imaginary[lane]
                        real[lane] = a if factor == first else u * a - v * b
                        imaginary[lane] = b if factor == first else u * b + v * a
            columns = slice(at + 2 * begin, at + 2 * (begin + n_features))
            out[start : start + len(rows), columns] = tile[: 2 * n_features, : len(rows)].T
