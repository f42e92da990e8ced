"""The symmetric product of BLAS against products by NumPy."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from kernlearn.onepass.blas import add_products

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (1, 4), (50, 7), (7, 50)])
def test_products_are_added_on_and_above_the_diagonal(shape):
    rows = RNG.integers(-9, 10, size=shape).astype(float)
    before = np.asfortranarray(RNG.integers(-9, 10, size=(shape[1],) * 2).astype(float))
    sums = before.copy(order="F")
    add_products(rows, sums)
    expected = np.triu(before + rows.T @ rows) + np.tril(before, -1)
    np.testing.assert_array_equal(sums, expected)


def test_threads_add_at_once():
    rows = RNG.integers(-9, 10, size=(8, 300, 40)).astype(float)
    sums = [np.zeros((40, 40), order="F") for _ in rows]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add_products, rows, sums))
    for part, found in zip(rows, sums, strict=True):
        np.testing.assert_array_equal(found, np.triu(part.T @ part))


@pytest.mark.parametrize(
    ("rows", "sums", "said"),
    [
        (np.ones((4, 3)).T, np.zeros((4, 4), order="F"), "C-contiguous"),
        (np.ones((4, 3)), np.zeros((3, 3)), "Fortran"),
        (np.ones((4, 3), np.float32), np.zeros((3, 3), order="F"), "float32"),
        (np.ones((4, 3)), np.zeros((4, 4), order="F"), "not of shape"),
        (np.ones((0, 3)), np.zeros((3, 3), order="F"), "not of shape"),
    ],
)
def test_arrays_of_other_layouts_are_refused(rows, sums, said):
    with pytest.raises(ValueError, match=said):
        add_products(rows, sums)
