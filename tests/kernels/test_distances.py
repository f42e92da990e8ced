import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import pdist

from kernlearn.kernels import mean_distance


@pytest.mark.parametrize("convert", [np.asarray, np.asfortranarray, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("block_rows", [None, 1, 7, 50, 51, 1000])
def test_against_all_pairs(convert, dtype, block_rows):
    X = np.random.default_rng(0).normal(size=(51, 6)).astype(dtype)
    X[np.abs(X) < 0.5] = 0
    actual = mean_distance(convert(X), block_rows=block_rows)
    assert actual == pytest.approx(pdist(X).mean(), rel=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 20), st.floats(0.01, 100), st.floats(-1000, 1000), st.integers(0, 1000))
def test_shift_and_scale(n_samples, scale, shift, seed):
    X = np.random.default_rng(seed).normal(size=(n_samples, 3))
    assert mean_distance(scale * X + shift) == pytest.approx(scale * mean_distance(X), rel=1e-6)


def test_more_rows_than_a_tile():
    X = np.random.default_rng(0).normal(size=(1100, 3))
    assert mean_distance(X) == pytest.approx(pdist(X).mean(), rel=1e-12)


def test_wide_sparse_rows():
    X = sparse.random(40, 300_000, density=1e-4, format="csr", random_state=0)
    columns = np.unique(X.indices)
    expected = pdist(X[:, columns].toarray()).mean()
    assert mean_distance(X) == pytest.approx(expected, rel=1e-12)


def test_bad_input():
    with pytest.raises(ValueError, match="minimum of 2"):
        mean_distance([[1.0]])
    with pytest.raises(ValueError, match="NaN"):
        mean_distance([[1.0], [np.nan]])
    with pytest.raises(ValueError, match="'block_rows' must be"):
        mean_distance([[1.0], [2.0]], block_rows=0)
