"""Count sketches and the products of their Fourier transforms, with compiled inner loops.

The transform of a count sketch of a row with d entries is wanted at D frequencies, and d is often
far below D. With D = M·R, frequency r + R·m (r < R, m < M) is

    Σ_h c_h e^{-2πi h (r + R m) / D} = Σ_b e^{-2πi b m / M} Σ_{h ≡ b mod M} c_h e^{-2πi h r / D},

for a residue r the transform of length M of M sums with d terms altogether: the first step of an
FFT, which for few entries takes the place of all further ones. As c is real, the residues up to
R / 2 are enough. Sums, transform and product with the other factors stay in registers and the
first cache, for several rows at a time.
"""

import numpy as np
from numba import njit

from kernlearn.features.transform_plan import LANES

_FUSED = {"contract"}  # products may be added without being rounded before
_TILE = 16  # entries of a row: two or more lines of cache


@njit(cache=True, nogil=True, fastmath=_FUSED)  # pragma: no cover
def multiply_transforms(
    points: np.ndarray,
    columns: np.ndarray,
    ends: np.ndarray,
    weights: np.ndarray,
    constants: np.ndarray,
    half_root: float,
    places: np.ndarray,
    scales: np.ndarray,
    found: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write c_0 + F_1 (c_1 + F_2 (c_2 + ...)) for transforms F_p of count sketches of rows.

    Parameters
    ----------
    points : ndarray of shape (n_blocks, n_columns + 1, LANES)
        For each block of rows the columns, the last of zeros.
    columns : ndarray of shape (n_entries,), int
        Columns by factor and part; each part has a multiple of four, filled up with zeros.
    ends : ndarray of shape (n_factors, n_parts), int
        Where the parts end.
    weights : ndarray of shape (n_residues, 2, n_entries)
        Real and imaginary parts of the entries' weights.
    constants : ndarray of shape (n_factors + 1,)
        c_0, c_1, ...
    half_root : float
        √½ in the dtype of the points.
    places : ndarray of shape (n_residues, n_parts, 2), int
        Columns of the result for the real and imaginary part of each frequency; -1 for none.
    scales : ndarray of shape (n_residues, n_parts, 2)
        Factors of these.
    found : ndarray of shape (n_frequencies, LANES)
        Is overwritten: the result of a block of rows, which is written row by row at last. Written
        frequency by frequency into rows of `out` it would take as long as all the rest.
    out : ndarray of shape (n_rows, n_frequencies)
    """
    n_factors, n_parts = ends.shape
    n_residues = len(places)
    sums = np.empty((2, 2 * LANES * n_parts), points.dtype)
    products = np.empty((2, 2 * LANES * n_parts), points.dtype)
    for block in range(len(points)):
        for residue in range(0, n_residues, 2):
            # two residues at a time, for which points are loaded once
            last_residue = min(residue + 1, n_residues - 1)
            one, two = weights[residue], weights[last_residue]
            for part in range(n_parts):
                at = 2 * LANES * part
                products[:, at : at + LANES] = constants[n_factors]
                products[:, at + LANES : at + 2 * LANES] = 0
            for factor in range(n_factors - 1, -1, -1):
                first = ends[factor - 1, n_parts - 1] if factor > 0 else 0
                for part in range(n_parts):
                    last = ends[factor, part]
                    some = slice(2 * LANES * part, 2 * LANES * (part + 1))
                    _add_entries(
                        points[block], columns, first, last, one, two, sums[0, some], sums[1, some]
                    )
                    first = last
                for k in range(2):
                    if n_parts == 8:
                        _multiply_8(sums[k], products[k], constants[factor], half_root)
                    elif n_parts == 4:
                        _multiply_4(sums[k], products[k], constants[factor])
                    elif n_parts == 2:
                        _multiply_2(sums[k], products[k], constants[factor])
                    else:
                        _multiply_1(sums[k], products[k], constants[factor])
            for k in range(last_residue - residue + 1):
                for part in range(n_parts):
                    for half in range(2):
                        place = places[residue + k, part, half]
                        scale = scales[residue + k, part, half]
                        if place >= 0:
                            at, target = 2 * LANES * part + LANES * half, found[place]
                            source = products[k]
                            for lane in range(LANES):
                                target[lane] = scale * source[at + lane]
        _transpose(found, out[block * LANES : (block + 1) * LANES])


@njit(cache=True, nogil=True)  # pragma: no cover
def _transpose(found: np.ndarray, out: np.ndarray) -> None:
    """Write the leading columns of `found` as rows, some entries of each row at a time."""
    for first in range(0, len(found), _TILE):
        last = min(first + _TILE, len(found))
        for row in range(len(out)):
            target = out[row]
            for place in range(first, last):
                target[place] = found[place, row]


@njit(cache=True, nogil=True, fastmath=_FUSED)  # pragma: no cover
def _add_entries(
    points: np.ndarray,
    columns: np.ndarray,
    first: int,
    last: int,
    one: np.ndarray,
    two: np.ndarray,
    sums_1: np.ndarray,
    sums_2: np.ndarray,
) -> None:
    """Write the sums of some columns times the weights `one` and `two` of two residues.

    LANES real parts come first, then the imaginary ones.
    """
    if first == last:
        sums_1[:] = 0
        sums_2[:] = 0
    r, i = one[0], one[1]
    s, t = two[0], two[1]
    for e in range(first, last, 4):
        # rows of their own, as an index of any sign would keep the loop from being vectorised
        row_a, row_b = points[columns[e]], points[columns[e + 1]]
        row_c, row_d = points[columns[e + 2]], points[columns[e + 3]]
        r_a, r_b, r_c, r_d = r[e], r[e + 1], r[e + 2], r[e + 3]
        i_a, i_b, i_c, i_d = i[e], i[e + 1], i[e + 2], i[e + 3]
        s_a, s_b, s_c, s_d = s[e], s[e + 1], s[e + 2], s[e + 3]
        t_a, t_b, t_c, t_d = t[e], t[e + 1], t[e + 2], t[e + 3]
        if e == first:  # faster than to set the sums to 0 before
            for lane in range(LANES):
                a, b, c, d = row_a[lane], row_b[lane], row_c[lane], row_d[lane]
                sums_1[lane] = r_a * a + r_b * b + r_c * c + r_d * d
                sums_1[LANES + lane] = i_a * a + i_b * b + i_c * c + i_d * d
                sums_2[lane] = s_a * a + s_b * b + s_c * c + s_d * d
                sums_2[LANES + lane] = t_a * a + t_b * b + t_c * c + t_d * d
        else:
            for lane in range(LANES):
                a, b, c, d = row_a[lane], row_b[lane], row_c[lane], row_d[lane]
                sums_1[lane] += r_a * a + r_b * b + r_c * c + r_d * d
                sums_1[LANES + lane] += i_a * a + i_b * b + i_c * c + i_d * d
                sums_2[lane] += s_a * a + s_b * b + s_c * c + s_d * d
                sums_2[LANES + lane] += t_a * a + t_b * b + t_c * c + t_d * d


@njit(inline="always")  # pragma: no cover
def _multiply(
    products: np.ndarray, at: int, real: float, imaginary: float, constant: float
) -> None:
    """Replace a product by `constant` plus its value times a complex number."""
    before, turned = products[at], products[at + LANES]
    products[at] = constant + real * before - imaginary * turned
    products[at + LANES] = real * turned + imaginary * before


@njit(cache=True, nogil=True, fastmath=_FUSED)  # pragma: no cover
def _multiply_1(sums: np.ndarray, products: np.ndarray, constant: float) -> None:
    for lane in range(LANES):
        _multiply(products, lane, sums[lane], sums[lane + LANES], constant)


@njit(cache=True, nogil=True, fastmath=_FUSED)  # pragma: no cover
def _multiply_2(sums: np.ndarray, products: np.ndarray, constant: float) -> None:
    for lane in range(LANES):
        r0, i0 = sums[lane], sums[lane + LANES]
        r1, i1 = sums[lane + 2 * LANES], sums[lane + 3 * LANES]
        _multiply(products, lane, r0 + r1, i0 + i1, constant)
        _multiply(products, lane + 2 * LANES, r0 - r1, i0 - i1, constant)


@njit(cache=True, nogil=True, fastmath=_FUSED)  # pragma: no cover
def _multiply_4(sums: np.ndarray, products: np.ndarray, constant: float) -> None:
    for lane in range(LANES):
        a, b, c, d = lane, lane + 2 * LANES, lane + 4 * LANES, lane + 6 * LANES
        # sums and differences of terms that are half a turn apart
        p_r, p_i = sums[a] + sums[c], sums[a + LANES] + sums[c + LANES]
        m_r, m_i = sums[a] - sums[c], sums[a + LANES] - sums[c + LANES]
        q_r, q_i = sums[b] + sums[d], sums[b + LANES] + sums[d + LANES]
        n_r, n_i = sums[b] - sums[d], sums[b + LANES] - sums[d + LANES]
        _multiply(products, a, p_r + q_r, p_i + q_i, constant)
        _multiply(products, b, m_r + n_i, m_i - n_r, constant)
        _multiply(products, c, p_r - q_r, p_i - q_i, constant)
        _multiply(products, d, m_r - n_i, m_i + n_r, constant)


@njit(cache=True, nogil=True, fastmath=_FUSED)  # pragma: no cover
def _multiply_8(sums: np.ndarray, products: np.ndarray, constant: float, root: float) -> None:
    for lane in range(LANES):
        a, b, c, d = lane, lane + 2 * LANES, lane + 4 * LANES, lane + 6 * LANES
        e, f, g, h = lane + 8 * LANES, lane + 10 * LANES, lane + 12 * LANES, lane + 14 * LANES
        # the transform of the even terms
        p_r, p_i = sums[a] + sums[e], sums[a + LANES] + sums[e + LANES]
        m_r, m_i = sums[a] - sums[e], sums[a + LANES] - sums[e + LANES]
        q_r, q_i = sums[c] + sums[g], sums[c + LANES] + sums[g + LANES]
        n_r, n_i = sums[c] - sums[g], sums[c + LANES] - sums[g + LANES]
        even0_r, even0_i, even2_r, even2_i = p_r + q_r, p_i + q_i, p_r - q_r, p_i - q_i
        even1_r, even1_i, even3_r, even3_i = m_r + n_i, m_i - n_r, m_r - n_i, m_i + n_r
        # the transform of the odd terms, turned by 0, 1, 2 and 3 eighths
        p_r, p_i = sums[b] + sums[f], sums[b + LANES] + sums[f + LANES]
        m_r, m_i = sums[b] - sums[f], sums[b + LANES] - sums[f + LANES]
        q_r, q_i = sums[d] + sums[h], sums[d + LANES] + sums[h + LANES]
        n_r, n_i = sums[d] - sums[h], sums[d + LANES] - sums[h + LANES]
        odd0_r, odd0_i, odd2_r, odd2_i = p_r + q_r, p_i + q_i, p_i - q_i, q_r - p_r
        u_r, u_i, v_r, v_i = m_r + n_i, m_i - n_r, m_r - n_i, m_i + n_r
        odd1_r, odd1_i = root * (u_r + u_i), root * (u_i - u_r)
        odd3_r, odd3_i = root * (v_i - v_r), -root * (v_r + v_i)
        _multiply(products, a, even0_r + odd0_r, even0_i + odd0_i, constant)
        _multiply(products, b, even1_r + odd1_r, even1_i + odd1_i, constant)
        _multiply(products, c, even2_r + odd2_r, even2_i + odd2_i, constant)
        _multiply(products, d, even3_r + odd3_r, even3_i + odd3_i, constant)
        _multiply(products, e, even0_r - odd0_r, even0_i - odd0_i, constant)
        _multiply(products, f, even1_r - odd1_r, even1_i - odd1_i, constant)
        _multiply(products, g, even2_r - odd2_r, even2_i - odd2_i, constant)
        _multiply(products, h, even3_r - odd3_r, even3_i - odd3_i, constant)


@njit(cache=True, nogil=True)  # pragma: no cover
def sketch_dense(X: np.ndarray, hashes: np.ndarray, signs: np.ndarray, out: np.ndarray) -> None:
    """Write the count sketches of rows: entry h(j) is the sum of s(j) x_j."""
    out[:] = 0
    for i in range(len(X)):
        for j in range(X.shape[1]):
            out[i, hashes[j]] += signs[j] * X[i, j]


@njit(cache=True, nogil=True)  # pragma: no cover
def sketch_sparse(
    data: np.ndarray,
    indices: np.ndarray,
    starts: np.ndarray,
    hashes: np.ndarray,
    signs: np.ndarray,
    out: np.ndarray,
) -> None:
    """Write the count sketches of rows of a matrix in CSR format."""
    out[:] = 0
    for i in range(len(starts) - 1):
        for k in range(starts[i], starts[i + 1]):
            out[i, hashes[indices[k]]] += signs[indices[k]] * data[k]
