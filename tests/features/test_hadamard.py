"""Structured signs against their matrix."""

import numpy as np
import pytest

from kernlearn.features.hadamard import ComplexHadamardSigns, HadamardSigns, pay


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", [0, 1, 5, 64, 130])
@pytest.mark.parametrize("n_features", [1, 2, 3, 8, 54])
def test_the_transform_is_the_product_with_the_matrix(n_features, n_columns, dtype):
    rng = np.random.default_rng(0)
    signs = HadamardSigns.draw(n_features, n_columns, np.random.RandomState(1))
    matrix = signs.matrix()
    assert matrix.shape == (n_features, n_columns)
    assert np.isin(matrix, [-1, 1]).all()
    X, scales = rng.normal(size=(7, n_features)).astype(dtype), rng.random(n_columns).astype(dtype)
    out = np.full((7, n_columns), np.nan, dtype)
    signs.times(X, scales, out)
    np.testing.assert_allclose(
        out, X @ matrix * scales, atol=1e-5 if dtype == np.float32 else 1e-12
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_columns", [0, 2, 64, 130])
@pytest.mark.parametrize("n_features", [1, 3, 54])
def test_the_complex_transform_is_the_product_with_the_matrix(n_features, n_columns, dtype):
    rng = np.random.default_rng(0)
    signs = ComplexHadamardSigns.draw(n_features, n_columns, np.random.RandomState(1))
    matrix = signs.matrix()
    assert matrix.shape == (n_features, n_columns)
    real, imaginary = matrix[:, 0::2], matrix[:, 1::2]
    np.testing.assert_array_equal(np.abs(real) + np.abs(imaginary), 1)
    X, scales = rng.normal(size=(7, n_features)).astype(dtype), rng.random(n_columns).astype(dtype)
    out = np.full((7, n_columns), np.nan, dtype)
    signs.times(X, scales, out)
    np.testing.assert_allclose(
        out, X @ matrix * scales, atol=1e-5 if dtype == np.float32 else 1e-12
    )


def test_complex_columns_of_a_block_are_orthogonal():
    matrix = ComplexHadamardSigns.draw(32, 64, np.random.RandomState(0)).matrix()
    columns = matrix[:, 0::2] + 1j * matrix[:, 1::2]
    np.testing.assert_array_equal(columns.conj().T @ columns, 32 * np.eye(32))


def test_columns_of_a_block_are_orthogonal():
    matrix = HadamardSigns.draw(32, 70, np.random.RandomState(0)).matrix().astype(float)
    for block in (matrix[:, :32], matrix[:, 32:64], matrix[:, 64:]):
        np.testing.assert_array_equal(block.T @ block, 32 * np.eye(block.shape[1]))
    assert np.abs(matrix[:, :32].T @ matrix[:, 32:64]).max() < 32


def test_every_column_alone_is_uniform_over_signs():
    counts = np.zeros((3, 8), dtype=int)
    for seed in range(4000):
        matrix = HadamardSigns.draw(3, 3, np.random.RandomState(seed)).matrix()
        counts[range(3), (matrix > 0).T @ [4, 2, 1]] += 1
    # 500 each, with a standard deviation of 21
    assert np.abs(counts - 500).max() < 5 * 21


def test_the_transform_pays_for_many_features_and_columns():
    def pays(n_features, n_columns, dtype=np.float64):
        signs = HadamardSigns.draw(n_features, n_columns, np.random.RandomState(0))
        return pay([signs], np.dtype(dtype))

    assert pays(512, 1000)
    assert pays(1024, 1000, np.float32)
    assert not pays(200, 1000)
    assert not pays(512, 1000, np.float32)
    assert not pays(512, 5)  # most of the block is not used
    assert not pays(512, 0)
