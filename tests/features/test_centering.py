"""Centred series against the kernels that they are written for."""

import numpy as np
import pytest
from scipy import sparse

from kernlearn.features.centering import centering
from kernlearn.kernels import (
    ExponentialKernel,
    HomogeneousPolynomialKernel,
    PolynomialKernel,
    VovkKernel,
)

KERNELS = [
    PolynomialKernel(1),
    PolynomialKernel(4),
    PolynomialKernel(3, coef0=2.5),
    PolynomialKernel(3, coef0=0.0),
    HomogeneousPolynomialKernel(4),
    ExponentialKernel(1.3),
]


@pytest.fixture
def X():
    X = np.random.default_rng(0).normal([0.5, -1.0, 0.0, 2.0], size=(30, 4))
    X[:, 2] = 0
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def series(center, X, n_orders):
    """The sum of bₙ gₙ(x) gₙ(y) ⟨x̃, ỹ⟩ⁿ over all pairs."""
    bases, points = (
        center.bases(X),
        center.points(np.asarray(X.todense()) if sparse.issparse(X) else X),
    )
    coefficients = center.series.coefficients(n_orders - 1)
    total = np.zeros((X.shape[0],) * 2)
    for n, coefficient in enumerate(coefficients):
        if coefficient:
            factors = center.factors(bases, n)
            total += coefficient * np.outer(factors, factors) * (points @ points.T) ** n
    return total


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_the_series_is_the_kernel(kernel, X):
    kernel = kernel.fit(X)
    n_orders = 30 if kernel.degree_max is None else kernel.degree_max + 1
    for points in (X, X - X.mean(axis=0), X[:1], np.zeros((2, 4))):
        found = series(centering(kernel, points), points, n_orders)
        np.testing.assert_allclose(found, kernel(points), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_projections_of_sparse_points(kernel, X):
    center = centering(kernel.fit(X), sparse.csr_array(X))
    dense = centering(kernel, X)
    directions = np.random.default_rng(1).normal(size=(4, 6))
    projection, shift = center.project(directions)
    np.testing.assert_allclose(X @ projection + shift, dense.points(X) @ directions, atol=1e-12)
    np.testing.assert_allclose(center.bases(sparse.csr_array(X)), dense.bases(X), atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_logarithms_of_factors(kernel, X):
    center = centering(kernel.fit(X), X)
    bases = center.bases(X)
    for order in range(1 + (kernel.degree_max or 5)):
        expected = np.log(np.abs(center.factors(bases, order)))
        np.testing.assert_allclose(center.log_factors(bases, order), expected, atol=1e-10)


def test_what_is_left_has_no_part_along_the_mean(X):
    points = centering(PolynomialKernel(2), X).points(X)
    along = np.append(1.0, X.mean(axis=0))
    # with the mean direction rotated to the first axis the rest has mean 0
    np.testing.assert_allclose(points.mean(axis=0), 0, atol=1e-12)
    assert (np.linalg.norm(points, axis=1) ** 2).mean() < 2 - (along @ along) + 1e-12


def test_other_kernels_are_refused(X):
    with pytest.raises(ValueError, match="center=True needs a polynomial or exponential kernel"):
        centering(VovkKernel(), X)
