from itertools import product
from math import comb, pi, sqrt

import numpy as np
import pytest

from kernlearn.kernels import (
    ExponentialKernel,
    GaussianKernel,
    HomogeneousPolynomialKernel,
    LinearKernel,
    PolynomialKernel,
    VovkKernel,
)
from kernlearn.voted import (
    dimension_complexity,
    feature_dimension,
    local_complexity,
    monte_carlo_complexity,
    trace_complexity,
)


@pytest.fixture
def gram():
    X = np.random.RandomState(0).normal(size=(8, 3))
    return (X @ X.T + 1) ** 2


def exact(gram):
    """1/m E max_j |Σ σ_i K(x_i, x_j)| over all signs."""
    m = len(gram)
    largest = [
        max(abs(sum(s * gram[i, j] for i, s in enumerate(signs))) for j in range(gram.shape[1]))
        for signs in product([-1, 1], repeat=m)
    ]
    return np.mean(largest) / m


def test_lemma_3(gram):
    kappa = max(sqrt(gram[i, i]) for i in range(8))
    expected = kappa * sqrt(sum(gram[i, i] for i in range(8))) / 8
    assert trace_complexity(gram) == pytest.approx(expected)


def test_bounds_are_above_what_they_bound(gram):
    true = exact(gram)
    assert 0 < true <= trace_complexity(gram)
    kappa = sqrt(gram.diagonal().max())
    dimension = feature_dimension(PolynomialKernel(degree=2), 3)
    assert true <= dimension_complexity(kappa, dimension, 8)
    assert true <= local_complexity(gram, np.inf)


def test_monte_carlo_is_the_mean_over_signs(gram):
    assert monte_carlo_complexity(gram, n_draws=20000, random_state=0) == pytest.approx(
        exact(gram), rel=0.02
    )
    lopsided = np.random.RandomState(1).normal(size=(6, 9))
    assert monte_carlo_complexity(lopsided, n_draws=20000, random_state=0) == pytest.approx(
        exact(lopsided), rel=0.02
    )
    one, same, other = (monte_carlo_complexity(gram, random_state=s) for s in (0, 0, 1))
    assert one == same != other


def test_lemma_4():
    assert dimension_complexity(3.0, 16.0) == 36.0
    assert dimension_complexity(3.0, 16.0, 100) == pytest.approx(12 * 9 * sqrt(pi * 16 / 100))
    assert dimension_complexity(0.0, 16.0) == 0.0
    assert dimension_complexity(1.0, np.inf) == np.inf


@pytest.mark.parametrize("n_features", [1, 3, 34])
@pytest.mark.parametrize("degree", [1, 2, 10])
def test_dimension_is_the_number_of_monomials(n_features, degree):
    polynomial = PolynomialKernel(degree=degree)
    assert feature_dimension(polynomial, n_features) == comb(n_features + degree, degree)
    homogeneous = HomogeneousPolynomialKernel(degree=degree)
    expected = comb(n_features + degree - 1, degree)
    assert feature_dimension(homogeneous, n_features) == expected
    assert feature_dimension(PolynomialKernel(degree, coef0=0.0), n_features) == expected
    if n_features * degree < 12:  # the rank of enough points is the same number
        X = np.random.RandomState(0).normal(size=(80, n_features))
        assert np.linalg.matrix_rank(polynomial(X)) == feature_dimension(polynomial, n_features)


def test_dimension_of_other_kernels():
    assert feature_dimension(LinearKernel(), 5) == 5
    assert feature_dimension(VovkKernel(), 4) == np.inf
    assert feature_dimension(ExponentialKernel(), 4) == np.inf
    large = feature_dimension(PolynomialKernel(degree=150), 4)
    assert large == pytest.approx(comb(154, 4))
    assert feature_dimension(PolynomialKernel(degree=2000), 2000) == np.inf
    with pytest.raises(ValueError, match=r"GaussianKernel"):
        feature_dimension(GaussianKernel(), 4)


def test_local_complexity(gram):
    roots = np.sqrt(gram.diagonal())
    normalized, kappa = gram / np.outer(roots, roots), roots.max()
    for matrix, factor in ((normalized, 1.0), (gram, kappa)):
        eigenvalues = np.linalg.eigvalsh(matrix) / 8
        for radius in (1e-3, 0.1, 10.0):
            by_paper = sqrt(2 / 8 * sum(min(radius, factor**2 * e) for e in eigenvalues))
            assert local_complexity(matrix, radius) == pytest.approx(by_paper)
            # the other form of the paper: the least over θ
            tails = [t * radius + factor**2 * sum(eigenvalues[: 8 - t]) for t in range(9)]
            assert by_paper == pytest.approx(sqrt(2 / 8 * min(tails)))
    assert local_complexity(gram, np.inf) == pytest.approx(sqrt(2) * trace_complexity(gram))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: trace_complexity(np.ones((2, 3))), "square matrix"),
        (lambda: trace_complexity([[1.0, np.nan], [0, 1]]), "NaN"),
        (lambda: trace_complexity(np.diag([1.0, -2.0])), "-2 < 0"),
        (lambda: dimension_complexity(-1.0, 2), "'kappa'"),
        (lambda: dimension_complexity(1.0, np.nan), "'dimension'"),
        (lambda: dimension_complexity(1.0, 2, 0), "'n_samples'"),
        (lambda: local_complexity(np.eye(2), 0.0), "'radius'"),
        (lambda: local_complexity([[1.0, 0.5], [0.2, 1.0]], 1.0), "not symmetric"),
        (lambda: local_complexity([[1.0, 2.0], [2.0, 1.0]], 1.0), "eigenvalue -1"),
        (lambda: monte_carlo_complexity(np.eye(2), n_draws=0), "'n_draws'"),
    ],
)
def test_refuses(call, message):
    with pytest.raises(ValueError, match=message):
        call()
