"""Compiled: products of sums of signed entries, the sums from tables ("four Russians").

The columns of a point are split into groups. A table holds the sums of the entries of a group for
all choices of their signs, so that a projection on a vector of signs is a sum of one entry of each
table (Arlazarov, Dinic, Kronrod & Faradžev, 1970, do this for Boolean matrices). Rows are taken a
line at a time, one in each lane, and entries of tables are lines.
"""

import numpy as np
from numba import njit

from kernlearn.features.lines import (
    LINE,
    Line,
    add,
    load,
    multiply,
    spread,
    store,
    store_transposed,
    subtract,
)

#: Columns that are computed, as lines, before they are written to rows.
TILE = 64


@njit(cache=True, nogil=True)  # pragma: no cover
def find_places(
    omega: np.ndarray, order: np.ndarray, edges: np.ndarray, places: np.ndarray
) -> None:
    """Write the places in the tables that the sums are of.

    Parameters
    ----------
    omega : ndarray of shape (n_features, n_factors), int8
        Signs.
    order : ndarray of shape (n_factors,), int
        Where the places of each factor shall be.
    edges : ndarray of shape (n_groups + 1,), int
        Where the groups begin and end.
    places : ndarray of shape (n_factors, n_groups), uint32
        In bytes from the beginning of the first table.
    """
    n_factors = omega.shape[1]
    found = np.empty(n_factors, np.uint32)
    at = 0
    for group in range(len(edges) - 1):
        found[:] = at
        size = LINE
        for i in range(edges[group], edges[group + 1]):
            for factor in range(n_factors):
                found[factor] += np.uint32(size) * np.uint32(omega[i, factor] > 0)
            size *= 2
        for factor in range(n_factors):
            places[order[factor], group] = found[factor]
        at += size


@njit(cache=True, nogil=True)  # pragma: no cover
def _fill_tables(
    points: np.ndarray, start: int, edges: np.ndarray, tables: np.ndarray, at: int
) -> None:
    """Write the tables of a line of rows, whose columns are lines of `points` from a place on."""
    for group in range(len(edges) - 1):
        entry = load(points, start + LINE * edges[group])
        nothing = subtract(entry, entry)
        store(tables, at, subtract(nothing, entry))
        store(tables, at + LINE, entry)
        size = 2 * LINE
        for column in range(edges[group] + 1, edges[group + 1]):
            entry = load(points, start + LINE * column)
            for place in range(at, at + size, LINE):
                found = load(tables, place)
                store(tables, place, subtract(found, entry))
                store(tables, place + size, add(found, entry))
            size *= 2
        at += size


@njit(inline="always")  # pragma: no cover
def _project(
    tables: np.ndarray, base: np.uint64, places: np.ndarray, first: np.uint64, last: np.uint64
) -> Line:
    """Return a projection of a line of rows, a sum of entries of all tables."""
    total = load(tables, base + np.uint64(places[first]))
    for k in range(first + np.uint64(1), last):
        total = add(total, load(tables, base + np.uint64(places[k])))
    return total


# Below places are unsigned, or checks for negative ones would take half of the time.


@njit(cache=True, nogil=True)  # pragma: no cover
def _fill_tile(
    tables: np.ndarray,
    shift: int,
    places: np.ndarray,
    n_groups: int,
    ends: np.ndarray,
    scales: np.ndarray,
    tile: np.ndarray,
) -> None:
    """Write products of some features, a line of rows each."""
    groups = np.uint64(n_groups)
    for feature in range(len(scales)):
        scale = spread(scales[feature])
        product = scale
        first, last = ends[feature], ends[feature + 1]
        base = np.uint64(shift)
        for k in range(first, last, groups):
            total = _project(tables, base, places, k, k + groups)
            if k == first:
                product = multiply(scale, total)
            else:
                product = multiply(multiply(product, scale), total)
            base = np.uint64(0)
        store(tile, feature * LINE, product)


@njit(cache=True, nogil=True)  # pragma: no cover
def _fill_complex_tile(
    tables: np.ndarray,
    shift: int,
    places: np.ndarray,
    n_groups: int,
    ends: np.ndarray,
    scales: np.ndarray,
    tile: np.ndarray,
) -> None:
    """Write products of some features, two lines each, the real and the imaginary parts.

    1, i, -1 and -i times 1 + i are two real signs r and s: a projection is that on r, and i times
    that on s, times (1 - i) / 2.
    """
    groups = np.uint64(n_groups)
    for feature in range(len(scales)):
        half = spread(scales[feature])
        real, imaginary = half, half
        first, last = ends[feature], ends[feature + 1]
        base = np.uint64(shift)
        for k in range(first, last, groups + groups):
            one = _project(tables, base, places, k, k + groups)
            two = _project(tables, base, places, k + groups, k + groups + groups)
            a, b = multiply(half, add(one, two)), multiply(half, subtract(two, one))
            if k == first:
                real, imaginary = a, b
            else:
                real, imaginary = (
                    subtract(multiply(real, a), multiply(imaginary, b)),
                    add(multiply(real, b), multiply(imaginary, a)),
                )
            base = np.uint64(0)
        store(tile, 2 * feature * LINE, real)
        store(tile, (2 * feature + 1) * LINE, imaginary)


@njit(cache=True, nogil=True)  # pragma: no cover
def write_products(
    first: np.ndarray,
    later: np.ndarray,
    same: bool,
    edges: np.ndarray,
    places: np.ndarray,
    ends: np.ndarray,
    scales: np.ndarray,
    width: int,
    tables: np.ndarray,
    tile: np.ndarray,
    out: np.ndarray,
    at: int,
    n_rows: int,
) -> None:
    """Write products of projections on signs, each times its scale.

    Parameters
    ----------
    first, later : ndarrays of shape (n_blocks, n_features, n_lanes)
        The points of which the first and all further factors are, a line of rows in each block.
    same : bool
        Whether these are the same.
    edges : ndarray of shape (n_groups + 1,), int
        Where the groups of columns begin and end.
    places : ndarray of shape (n_factors * n_groups,), uint32
        Of :func:`find_places`, for the factors of each product in turn.
    ends : ndarray of shape (n_products + 1,), uint64
        Where the places of each product begin and end.
    scales : ndarray of shape (n_products,)
        Factor of each projection, for complex ones the half of it.
    width : {1, 2}
        Columns of a product: 2 for complex ones, whose factors are two projections each.
    tables : ndarray of shape (n_sets, n_bytes_of_a_set / itemsize)
        Is overwritten: the tables of the later and, if those are others, of the first factors.
    tile : ndarray of TILE lines
        Is overwritten.
    out : ndarray of shape (n_rows, n_columns)
        C-contiguous.
    at : int
        The first column of the products.
    n_rows : int
        At most as many as there are lanes in all blocks.
    """
    n_groups, size, lanes = len(edges) - 1, out.itemsize, first.shape[2]
    shift = 0 if same else tables.shape[1] * size
    stride = out.shape[1] * size
    for block in range(len(first)):
        start = block * first.shape[1] * LINE
        _fill_tables(later, start, edges, tables, 0)
        if not same:
            _fill_tables(first, start, edges, tables, shift)
        row = block * lanes
        n_lanes = min(lanes, n_rows - row)
        for begin in range(0, len(scales), TILE // width):
            end = min(begin + TILE // width, len(scales))
            some_ends, some_scales = ends[begin : end + 1], scales[begin:end]
            if width == 2:
                _fill_complex_tile(tables, shift, places, n_groups, some_ends, some_scales, tile)
            else:
                _fill_tile(tables, shift, places, n_groups, some_ends, some_scales, tile)
            n_columns, column, done = (end - begin) * width, at + begin * width, 0
            if n_lanes == lanes:
                done = n_columns // lanes * lanes
                for k in range(0, done, lanes):
                    to = row * stride + (column + k) * size
                    store_transposed(tile, k * LINE, out, to, stride)
            for lane in range(n_lanes):
                for k in range(done, n_columns):
                    out[row + lane, column + k] = tile[k * lanes + lane]
