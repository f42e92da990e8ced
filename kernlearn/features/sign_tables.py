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
    add,
    load,
    multiply,
    spread,
    store,
    store_transposed,
    subtract,
)

#: Lines of features that are computed before they are written as columns of rows.
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
    """Write products of some features, a line of rows each.

    Places are unsigned, or checks for negative ones would take half of the time.
    """
    to, one, line = np.uint64(0), np.uint64(1), np.uint64(LINE)
    groups = np.uint64(n_groups)
    for feature in range(len(scales)):
        scale = spread(scales[feature])
        product = scale
        first, last = ends[feature], ends[feature + 1]
        base = np.uint64(shift)
        for k in range(first, last, groups):
            total = load(tables, base + np.uint64(places[k]))
            for j in range(k + one, k + groups):
                total = add(total, load(tables, base + np.uint64(places[j])))
            if k == first:
                product = multiply(scale, total)
            else:
                product = multiply(multiply(product, scale), total)
            base = np.uint64(0)
        store(tile, to, product)
        to += line


@njit(cache=True, nogil=True)  # pragma: no cover
def write_products(
    first: np.ndarray,
    later: np.ndarray,
    same: bool,
    edges: np.ndarray,
    places: np.ndarray,
    ends: np.ndarray,
    scales: np.ndarray,
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
        Factor of each projection.
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
        for begin in range(0, len(scales), TILE):
            end = min(begin + TILE, len(scales))
            _fill_tile(
                tables, shift, places, n_groups, ends[begin : end + 1], scales[begin:end], tile
            )
            done = 0
            if n_lanes == lanes:
                done = (end - begin) // lanes * lanes
                for feature in range(0, done, lanes):
                    to = row * stride + (at + begin + feature) * size
                    store_transposed(tile, feature * LINE, out, to, stride)
            for lane in range(n_lanes):
                for feature in range(done, end - begin):
                    out[row + lane, at + begin + feature] = tile[feature * lanes + lane]
