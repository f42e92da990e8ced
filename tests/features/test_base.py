import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernlearn.features.base import LevelProduct
from kernlearn.features.orders import residual, sample_orders, truncate
from kernlearn.kernels import (
    DotProductKernel,
    ExponentialKernel,
    HomogeneousPolynomialKernel,
    PolynomialKernel,
    VovkKernel,
)


@given(
    st.lists(st.tuples(st.integers(0, 6), st.floats(-3, 3) | st.just(-np.inf)), min_size=1),
    st.integers(1, 5),
)
def test_products_factor_by_factor(features, n_rows):
    degrees = np.array([degree for degree, _ in features])
    levels = LevelProduct(degrees, np.array([weight for _, weight in features]))
    factors = np.random.default_rng(0).normal(size=(n_rows, levels.n_factors))

    def write_factors(level, out):
        columns = levels.slices[level]
        out[...] = factors[:, columns] * levels.factor_scales[columns]

    Z = np.full((n_rows, degrees.size), np.nan)
    levels.write(write_factors, Z, levels.scratch(n_rows, Z.dtype))
    for i, (degree, weight) in enumerate(zip(levels.degrees, levels.log_weights, strict=True)):
        expected = np.full(n_rows, np.exp(weight))
        if np.isfinite(weight):
            for columns in levels.slices[:degree]:
                expected = expected * factors[:, columns.start + i]
        np.testing.assert_allclose(Z[:, i], expected, rtol=1e-10)


@given(st.lists(st.tuples(st.integers(0, 6), st.floats(-3, 3) | st.just(-np.inf)), min_size=1))
def test_features_are_sorted_and_none_is_lost(features):
    levels = LevelProduct(np.array([n for n, _ in features]), np.array([w for _, w in features]))
    assert sorted(zip(levels.degrees, levels.log_weights, strict=True)) == sorted(features)
    n_factors = np.where(np.isfinite(levels.log_weights), levels.degrees, 0)
    assert (np.diff(n_factors) <= 0).all()
    assert levels.n_factors == n_factors.sum()


def test_weights_that_only_their_root_can_hold():
    levels = LevelProduct(np.array([1000]), np.array([1500.0]))
    Z = np.empty((1, 1))
    write = lambda level, out: out.fill(0.25 * levels.factor_scales[level])  # noqa: E731
    levels.write(write, Z, levels.scratch(1, Z.dtype))
    np.testing.assert_allclose(Z, np.exp(1500 + 1000 * np.log(0.25)), rtol=1e-9)


def draw(kernel, n_features=200_000, seed=0, **options):
    options = {"p": 2.0, "measure": "geometric", **options}
    return sample_orders(kernel, n_features, np.random.RandomState(seed), **options)


@pytest.mark.parametrize("first", [0, 2])
@pytest.mark.parametrize("p", [1.3, 2.0, 5.0])
def test_geometric_measure(p, first):
    kernel = ExponentialKernel(1.0)
    orders, log_weights = draw(kernel, p=p, first=first)
    assert orders.min() == first
    for n in range(first, first + 4):
        probability = (p - 1) * p ** -(n + 1 - first)
        assert np.mean(orders == n) == pytest.approx(probability, abs=0.005)
        expected = np.sqrt(kernel.coefficients(n)[n] / probability)
        np.testing.assert_allclose(np.exp(log_weights[orders == n]), expected, rtol=1e-10)


def test_the_thesis_weights_at_p_2():
    orders, log_weights = draw(VovkKernel())
    np.testing.assert_allclose(2 * log_weights, (orders + 1) * np.log(2), rtol=1e-12)


def test_orders_without_a_coefficient():
    orders, log_weights = draw(PolynomialKernel(2))
    np.testing.assert_array_equal(np.isfinite(log_weights), orders <= 2)
    assert (orders > 2).any()


@pytest.mark.parametrize(
    ("kernel", "support"),
    [
        (PolynomialKernel(3), [0, 1, 2, 3]),
        (HomogeneousPolynomialKernel(300), [300]),
        (DotProductKernel([0.0, 1.0, 0.0, 2.0]), [1, 3]),
        (VovkKernel(), range(60)),
    ],
)
def test_support_measure(kernel, support):
    orders, log_weights = draw(kernel, measure="support")
    support = np.array(support)
    assert set(orders) <= set(support)
    assert np.isfinite(log_weights).all()
    probabilities = 2.0 ** -(support - support[0])
    probabilities /= probabilities.sum()
    for n, probability in list(zip(support, probabilities, strict=True))[:3]:
        assert np.mean(orders == n) == pytest.approx(probability, abs=0.005)
        expected = (kernel.log_coefficients(n)[n] - np.log(probability)) / 2
        np.testing.assert_allclose(log_weights[orders == n], expected, rtol=1e-10, atol=1e-12)


def test_support_without_any_order():
    with pytest.raises(ValueError, match="measure='support' needs an order from 2"):
        draw(PolynomialKernel(1), measure="support", first=2)


def test_truncation_keeps_what_it_names():
    kernel = PolynomialKernel(4)
    assert truncate(kernel, None, 1.0) is kernel
    np.testing.assert_allclose(truncate(kernel, 2, 1.0).coefficients(4), [1, 4, 6, 0, 0])
    np.testing.assert_allclose(truncate(kernel, {1, 3}, 1.0).coefficients(4), [0, 4, 0, 4, 0])
    np.testing.assert_allclose(truncate(kernel, range(2), 1.0).coefficients(4), [1, 4, 0, 0, 0])


@pytest.mark.parametrize("kernel", [ExponentialKernel(1.0), VovkKernel(), PolynomialKernel(30)])
@pytest.mark.parametrize("epsilon", [0.5, 1e-3, 1e-8])
def test_truncation_at_a_residual_is_the_shortest(kernel, epsilon):
    squared_norm = 0.9
    truncated = truncate(kernel, epsilon, squared_norm)
    terms = kernel.coefficients(2000) * squared_norm ** np.arange(2001)
    tails = terms[::-1].cumsum()[::-1]
    k = truncated.degree_max
    assert tails[k + 1] <= epsilon * (1 + 1e-6)
    assert tails[k] > epsilon
    error = residual(kernel, truncated, squared_norm)
    assert error == pytest.approx(tails[k + 1], rel=1e-5, abs=1e-13 * tails[0])


def test_residuals_without_a_series():
    kernel = VovkKernel()
    assert residual(kernel, kernel, 3.0) == 0
    assert residual(kernel, truncate(kernel, 5, 3.0), 3.0) == np.inf
    polynomial = PolynomialKernel(4)
    assert residual(polynomial, truncate(polynomial, 4, 3.0), 3.0) == 0


def test_a_residual_out_of_reach():
    with pytest.raises(ValueError, match="would keep more than"):
        truncate(VovkKernel(), 1e-9, 1 - 1e-8)


@pytest.mark.parametrize("bad", [[], {-1}, [0.5], [[1]], "3", {"a"}])
def test_bad_truncation(bad):
    with pytest.raises(ValueError, match="'truncation' must be None, an int >= 0"):
        truncate(PolynomialKernel(), bad, 1.0)
