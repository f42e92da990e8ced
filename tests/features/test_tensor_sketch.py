import itertools
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from kernlearn.features import CompositionalMaclaurin, RandomMaclaurin, TensorSketch
from kernlearn.kernels import (
    DotProductKernel,
    HomogeneousPolynomialKernel,
    LinearKernel,
    PolynomialKernel,
    VovkKernel,
)


@pytest.fixture
def X():
    X = np.random.default_rng(0).normal(size=(40, 5))
    X[np.abs(X) < 0.4] = 0
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def count_sketch(x, hashes, signs, n_cells):
    cells = np.zeros(n_cells)
    for value, cell, sign in zip(x, hashes, signs, strict=True):
        cells[cell] += sign * value
    return cells


def convolve(a, b):
    """The circular convolution, term by term."""
    result = np.zeros(len(a))
    for i, j in itertools.product(range(len(a)), repeat=2):
        result[(i + j) % len(a)] += a[i] * b[j]
    return result


def slow_sketch(model, x):
    """The sketch before its transform: a weighted sum of convolutions of count sketches."""
    weights = np.sqrt(model.truncated_kernel_.coefficients(len(model.hashes_)))
    product = np.zeros(model.n_components)
    product[0] = 1
    total = weights[0] * product
    for hashes, signs, weight in zip(model.hashes_, model.signs_, weights[1:], strict=True):
        product = convolve(product, count_sketch(x, hashes, signs, model.n_components))
        total = total + weight * product
    return total


def slow_features(model, X):
    """Frequency by frequency, sum by sum."""
    D = model.n_components
    Z = np.zeros((len(X), D))
    for i, x in enumerate(X):
        sketch = slow_sketch(model, x)
        for k in range(D // 2 + 1):
            angles = 2 * np.pi * k * np.arange(D) / D
            alone = k == 0 or 2 * k == D
            scale = np.sqrt((1 if alone else 2) / D)
            Z[i, max(2 * k - 1, 0)] = scale * np.sum(sketch * np.cos(angles))
            if not alone:
                Z[i, 2 * k] = -scale * np.sum(sketch * np.sin(angles))
    return Z


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("convert", [np.asarray, np.asfortranarray, sparse.csr_matrix])
@pytest.mark.parametrize("n_components", [1, 2, 3, 8, 9, 24])
def test_against_the_slow_version(n_components, convert, dtype, X):
    X = X.astype(dtype)
    model = TensorSketch(PolynomialKernel(4), n_components, random_state=0).fit(convert(X))
    Z = model.transform(convert(X))
    assert Z.dtype == dtype
    assert isinstance(Z, np.ndarray)
    tolerance = 2e-5 if dtype == np.float32 else 1e-11
    expected = slow_features(model, X[:3].astype(np.float64))
    np.testing.assert_allclose(Z[:3], expected, rtol=tolerance, atol=tolerance)
    last = slow_features(model, X[-1:].astype(np.float64))
    np.testing.assert_allclose(Z[-1:], last, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        (HomogeneousPolynomialKernel(3), {}),
        (PolynomialKernel(3, coef0=0.0), {}),
        (PolynomialKernel(5), {"truncation": 3}),
        (VovkKernel(), {"truncation": 4}),
        (LinearKernel(), {}),
        (DotProductKernel([0.0, 3.0, 1.0]), {}),
        (DotProductKernel([2.0]), {}),
    ],
)
def test_kernels_against_the_slow_version(kernel, options, X):
    X = 0.9 * X
    model = TensorSketch(kernel, 16, random_state=1, **options).fit(X)
    found = model.transform(X)[[0, 39]]
    np.testing.assert_allclose(found, slow_features(model, X[[0, 39]]), rtol=1e-11, atol=1e-12)


def test_expectation_by_enumeration():
    # All cells and signs of two columns and two factors.
    points = np.array([[0.8, -0.6], [0.3, 0.7]])
    kernel = PolynomialKernel(2, coef0=0.7)
    model = TensorSketch(kernel, 2, random_state=0).fit(points)
    assert model.hashes_.shape == (2, 2)
    total = np.zeros((2, 2))
    for drawn in itertools.product(itertools.product(range(2), [-1, 1]), repeat=4):
        drawn = np.array(drawn).reshape(2, 2, 2)
        model.hashes_, model.signs_ = drawn[..., 0], drawn[..., 1].astype(np.int8)
        Z = model.transform(points)
        total += Z @ Z.T / 4**4
    np.testing.assert_allclose(total, kernel(points), rtol=1e-10)


@pytest.mark.parametrize("n_components", [24, 27])
def test_parts_make_the_whole(n_components, X, monkeypatch):
    X = np.vstack([X] * 3)
    model = TensorSketch(PolynomialKernel(4), n_components, random_state=0).fit(X)
    whole = model.transform(X)
    monkeypatch.setattr(TensorSketch, "_block_bytes", 1)
    parts = list(model.transform_blocks(X))
    assert [part.start for part, _ in parts] == [0, 32, 64, 96]
    np.testing.assert_allclose(np.vstack([Z for _, Z in parts]), whole, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(model.transform(X[5:9]), whole[5:9], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("model", "blocks"),
    [(TensorSketch(PolynomialKernel(3), 64), 6), (RandomMaclaurin(PolynomialKernel(10), 200), 4)],
)
def test_memory_is_a_block_whatever_the_rows(model, blocks):
    X = np.random.default_rng(0).normal(size=(20000, 20)) / 10
    model = clone(model).set_params(random_state=0).fit(X)
    model.transform(X[:50])
    tracemalloc.start()
    Z = model.transform(X)
    extra = tracemalloc.get_traced_memory()[1] - Z.nbytes
    tracemalloc.stop()
    assert extra < blocks * 2**20


def test_kernels_without_end_need_a_truncation(X):
    with pytest.raises(ValueError, match=r"'truncation'"):
        TensorSketch("exponential").fit(X)


@pytest.mark.parametrize("estimator", [TensorSketch, RandomMaclaurin, CompositionalMaclaurin])
def test_features_that_overflow_are_refused(estimator):
    points = np.random.RandomState(0).normal(size=(20, 3)).astype(np.float32)
    model = estimator(n_components=200, random_state=0)
    if estimator is CompositionalMaclaurin:
        model.set_params(inner=RandomMaclaurin(LinearKernel()))
    model.fit(points)
    with pytest.raises(ValueError, match="features overflow"):
        model.transform(np.float32(1e37) * points)
