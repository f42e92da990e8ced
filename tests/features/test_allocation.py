"""Allocation of features to orders, against enumeration and search."""

import itertools

import numpy as np
import pytest

from kernlearn.features.maclaurin import PairMoments, allocate, order_sizes
from kernlearn.kernels import DotProductKernel, ExponentialKernel, PolynomialKernel


@pytest.mark.parametrize("order", [1, 2, 3])
def test_moments_by_enumeration(order):
    X = np.random.default_rng(0).normal(size=(4, 3))
    signs = np.array(list(itertools.product([-1, 1], repeat=3)))
    variances, squares = [], []
    for x, y in itertools.combinations(X, 2):
        estimates = (signs @ x) * (signs @ y)
        products = np.array([np.prod(c) for c in itertools.product(estimates, repeat=order)])
        assert products.mean() == pytest.approx((x @ y) ** order)
        variances.append(products.var())
        squares.append((products**2).mean())
    found = np.exp(PairMoments(X).logs(order))
    np.testing.assert_allclose(found, [np.mean(variances), np.mean(squares)], rtol=1e-10)
    factors = np.random.default_rng(1).normal(size=4)
    weights = [(a * b) ** 2 for a, b in itertools.combinations(factors, 2)]
    found = np.exp(PairMoments(X, factors=factors).logs(order))
    expected = [np.mean(np.multiply(weights, each)) for each in (variances, squares)]
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_complex_moments_by_enumeration(order):
    X = np.random.default_rng(0).normal(size=(4, 3))
    signs = np.array(list(itertools.product([1, 1j, -1, -1j], repeat=3)))
    variances, squares = [], []
    for x, y in itertools.combinations(X, 2):
        # the mean over all draws of the factors, which are independent
        estimates = (signs @ x) * (signs @ y).conj()
        assert estimates.mean() == pytest.approx(x @ y)
        square = ((abs(estimates) ** 2).mean() ** order + (estimates**2).mean() ** order) / 2
        assert square.imag == pytest.approx(0)
        squares.append(square.real)
        variances.append(square.real - (x @ y) ** (2 * order))
        if order == 2:
            products = np.multiply.outer(estimates, estimates).real
            assert (products**2).mean() == pytest.approx(square.real)
    found = np.exp(PairMoments(X, are_complex=True).logs(order))
    np.testing.assert_allclose(found, [np.mean(variances), np.mean(squares)], rtol=1e-10)


def test_points_on_an_axis_have_no_variance():
    found = PairMoments(np.array([[2.0, 0.0], [3.0, 0.0]]))
    assert found.logs(3)[0] == -np.inf
    assert np.exp(found.logs(3)[1]) == pytest.approx(6.0**6)
    found = PairMoments(np.array([[2.0, 0.0], [3.0, 0.0]]), are_complex=True)
    assert found.logs(3)[0] == -np.inf


def test_a_single_point_is_a_pair():
    assert len(PairMoments(np.ones((1, 2))).log_squares) == 1


def test_sizes_of_the_orders_of_a_kernel():
    X = np.random.default_rng(0).normal(size=(20, 5))
    moments = PairMoments(X)
    kernel = DotProductKernel([3.0, 2.0, 0.0, 0.5])
    log_variances, log_squares = order_sizes(kernel, moments, first=1)
    assert np.isneginf(log_squares[[0, 2]]).all()
    for order, coefficient in ((1, 2.0), (3, 0.5)):
        expected = 2 * np.log(coefficient) + np.array(moments.logs(order))
        found = log_variances[order], log_squares[order]
        np.testing.assert_allclose(found, expected)


def test_an_infinite_series_ends_where_nothing_is_left():
    X = np.random.default_rng(0).normal(size=(20, 5))
    log_squares = order_sizes(ExponentialKernel(1.0), PairMoments(X))[1]
    roots = np.exp((log_squares - log_squares.max()) / 2)
    assert 0 < roots[-1] < 1e-19


def test_no_order_is_an_error():
    with pytest.raises(ValueError, match="needs an order from 2 on"):
        order_sizes(PolynomialKernel(1), PairMoments(np.ones((3, 2))), first=2)


def variance(log_variances, counts):
    used = np.isfinite(log_variances)
    return float((np.exp(log_variances[used]) / counts[used]).sum())


def test_counts_are_the_best_of_all():
    sizes = (np.log([9.0, 4.0, 1.0, 0.4]), np.log([10.0, 6.0, 3.0, 1.0]))
    orders, logs = allocate(*sizes, 14, np.random.RandomState(0))
    counts = np.bincount(orders, minlength=4)
    np.testing.assert_allclose(np.exp(logs), 1 / np.sqrt(counts[orders]))
    best = min(
        variance(sizes[0], np.array(c))
        for c in itertools.product(range(1, 12), repeat=4)
        if sum(c) == 14
    )
    assert variance(sizes[0], counts) <= 1.01 * best


def test_what_is_exact_takes_one_feature():
    sizes = (np.array([-np.inf, 0.0, -np.inf]), np.array([0.0, 1.0, -np.inf]))
    orders, _ = allocate(*sizes, 10, np.random.RandomState(0))
    np.testing.assert_array_equal(np.bincount(orders), [1, 9])
    exact = (np.full(2, -np.inf), np.zeros(2))
    orders, logs = allocate(*exact, 5, np.random.RandomState(0))
    assert len(orders) == 5
    np.testing.assert_allclose([np.exp(2 * logs[orders == k]).sum() for k in (0, 1)], 1)


@pytest.mark.parametrize(
    "n_features", [2, 30, *(pytest.param(n, marks=pytest.mark.exhaustive) for n in (1, 5))]
)
def test_every_order_has_its_weight_in_expectation(n_features):
    log_variances = np.log([1e-9, 100.0, 25.0, 1.0, 0.01, 1e-6])
    log_variances[0] = -np.inf
    sizes = (log_variances, np.log([4.0, 150.0, 40.0, 2.0, 0.03, 1e-5]))
    rng, sums = np.random.RandomState(0), []
    for _ in range(4000):
        orders, logs = allocate(*sizes, n_features, rng)
        assert len(orders) == len(logs) == n_features
        sums.append(np.bincount(orders, np.exp(2 * logs), minlength=6))
    errors = np.std(sums, axis=0) / np.sqrt(len(sums))
    assert (np.abs(np.mean(sums, axis=0) - 1) <= 5 * errors + 1e-12).all()
