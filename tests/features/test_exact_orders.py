"""Exact orders of Maclaurin features: columns by enumeration, and the choice of the orders."""

import itertools
import math

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from kernlearn.features import MaclaurinSVM, RandomMaclaurin
from kernlearn.features.allocation import OrderSizes, log_variance, orders_that_pay
from kernlearn.features.exact_terms import ExactTerms, n_monomials
from kernlearn.kernels import (
    DotProductKernel,
    ExponentialKernel,
    HomogeneousPolynomialKernel,
    PolynomialKernel,
    VovkKernel,
)
from kernlearn.theory.bounds import UniformAccuracy

KERNELS = [
    PolynomialKernel(5),
    HomogeneousPolynomialKernel(4),
    ExponentialKernel(1.0),
    DotProductKernel([1.0, 0.0, 0.5, 0.0, 2.0]),
]
OPTIONS = [
    {},
    {"measure": "variance"},
    {"measure": "variance", "complex_to_real": True},
    {"measure": "support", "projection": "hadamard"},
    {"measure": "variance", "complex_to_real": True, "projection": "hadamard"},
]
CENTRED = [
    {"center": True},
    {"center": True, "measure": "variance", "complex_to_real": True},
    {"center": True, "measure": "variance", "projection": "hadamard"},
]


@pytest.fixture
def X():
    X = np.random.default_rng(0).normal(size=(40, 4))
    X[np.abs(X) < 0.4] = 0
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def slow_monomials(X, order):
    """The monomials of an order with the roots of multinomial coefficients, column by column."""
    columns = []
    for places in itertools.combinations_with_replacement(range(X.shape[1]), order):
        ways = math.factorial(order)
        for place in set(places):
            ways //= math.factorial(places.count(place))
        columns.append(math.sqrt(ways) * np.prod(X[:, list(places)], axis=1))
    return np.array(columns).T


def slow_exact(model, X):
    series, factor = model.truncated_kernel_, lambda order: 1.0
    if model.center:
        center = model._centering
        series, bases, X = center.series, center.bases(X), center.points(X)
        factor = lambda order: center.factors(bases, order)[:, np.newaxis]  # noqa: E731
    coefficients = series.coefficients(max(model.exact_orders_))
    parts = [
        math.sqrt(coefficients[n]) * factor(n) * slow_monomials(X, n) for n in model.exact_orders_
    ]
    return np.hstack(parts)


@pytest.mark.parametrize(
    ("convert", "dtype"),
    [
        (np.asarray, np.float64),
        (np.asfortranarray, np.float32),
        (sparse.csr_array, np.float64),
        (sparse.csr_array, np.float32),
    ],
)
@pytest.mark.parametrize("exact_orders", [2, 4])
@pytest.mark.parametrize("options", [*OPTIONS, *CENTRED])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_columns_by_enumeration(kernel, options, exact_orders, convert, dtype, X):
    if options.get("center") and isinstance(kernel, DotProductKernel):
        kernel = PolynomialKernel(3, coef0=0.5)
    X = (X + 0.2).astype(dtype)
    model = RandomMaclaurin(
        kernel, 20, exact_orders=exact_orders, block_rows=7, random_state=0, **options
    ).fit(convert(X))
    if not len(model.exact_orders_):
        assert repr(kernel) == "HomogeneousPolynomialKernel(degree=4)"
        return
    Z = model.transform(convert(X))
    assert Z.dtype == dtype
    expected = slow_exact(model, X.astype(np.float64))
    assert Z.shape[1] == expected.shape[1] + model.n_components_
    tolerance = 2e-5 if dtype == np.float32 else 1e-11
    found = Z[:, : expected.shape[1]]
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("options", [*OPTIONS, *CENTRED])
@pytest.mark.parametrize(
    "kernel",
    [PolynomialKernel(2), PolynomialKernel(3, coef0=0.3), HomogeneousPolynomialKernel(3)],
    ids=repr,
)
def test_with_all_orders_exact_the_estimate_is_the_kernel(kernel, options, X):
    model = RandomMaclaurin(kernel, 30, exact_orders=3, **options)
    Z = model.fit_transform(X)
    assert model.n_components_ == len(model.degrees_) == 0
    np.testing.assert_allclose(Z @ Z.T, kernel(X), rtol=1e-12, atol=1e-12)
    model.set_params(include_exact=True, n_components=1)  # no random feature needs a column
    np.testing.assert_allclose(model.fit_transform(X), Z, rtol=1e-12, atol=1e-12)


def test_orders_that_the_kernel_lacks_take_no_columns(X):
    model = RandomMaclaurin(HomogeneousPolynomialKernel(3), 10, exact_orders=2).fit(X)
    assert model.transform(X).shape == (40, 10)
    assert model.degrees_.min() == 3
    model.set_params(exact_orders=3).fit(X)
    np.testing.assert_array_equal(model.exact_orders_, [3])
    assert model.transform(X).shape == (40, math.comb(6, 3))


def test_the_constant_may_be_left_to_the_intercept(X):
    model = RandomMaclaurin(PolynomialKernel(2), 10, exact_orders=2, include_bias=False)
    Z = model.fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T + 1, PolynomialKernel(2)(X), rtol=1e-12, atol=1e-12)
    model.set_params(kernel=DotProductKernel([1.0]), exact_orders=0)
    with pytest.raises(ValueError, match="no feature is left"):
        model.fit(X)


@pytest.mark.parametrize("options", [{}, *OPTIONS, {"p": 1.5, "include_exact": True}])
def test_h01_is_order_1(options, X):
    options = {"n_components": 30, "random_state": 0, **options}
    by_name = RandomMaclaurin(PolynomialKernel(6), h01=True, **options).fit(X)
    by_order = RandomMaclaurin(PolynomialKernel(6), exact_orders=1, **options).fit(X)
    np.testing.assert_array_equal(by_name.transform(X), by_order.transform(X))
    np.testing.assert_array_equal(by_name.exact_orders_, [0, 1])


@pytest.mark.parametrize(
    ("exact_orders", "options"),
    [
        (2, {}),
        (3, {"measure": "support", "projection": "hadamard"}),
        (2, {"measure": "variance", "center": True}),
        (3, {"measure": "variance", "complex_to_real": True}),
        ("auto", {"measure": "variance", "center": True, "complex_to_real": True}),
        ("auto", {"measure": "variance", "projection": "hadamard"}),
        ("auto", {"measure": "variance", "complex_to_real": "auto"}),
    ],
)
@pytest.mark.parametrize("kernel", [PolynomialKernel(5), ExponentialKernel(0.7)], ids=repr)
def test_unbiased_within_the_standard_error_over_draws(kernel, exact_orders, options, X):
    points, errors = X[:12] + 0.2, []
    model = RandomMaclaurin(kernel, 46, include_exact=True, exact_orders=exact_orders, **options)
    for seed in range(150):
        Z = model.set_params(random_state=seed).fit(points).transform(points[:3])
        errors.append(Z @ Z.T / kernel(points[:3]) - 1)
    assert np.std(errors) > 0
    standard = np.std(errors, axis=0) / np.sqrt(len(errors))
    assert (np.abs(np.mean(errors, axis=0)) <= 4 * standard + 1e-12).all()


def log_variance_of(model, X):
    """The estimate for the features of a model."""
    model = clone(model).set_params(random_state=0).fit(X)
    series = model._centering.series if model.center else model.kernel_
    return model._plan(series, X, np.random.RandomState(0)).log_variance


def squared_errors(model, X, gram, seeds=40):
    """The mean squared errors over pairs of different points, for each seed."""
    found = []
    for seed in range(seeds):
        Z = clone(model).set_params(random_state=seed).fit_transform(X)
        found.append(((Z @ Z.T - gram)[np.triu_indices(len(X), 1)] ** 2).mean())
    return np.array(found)


@pytest.mark.parametrize("complex_to_real", [False, True])
@pytest.mark.parametrize("center", [False, True])
def test_the_estimated_variance_is_the_error(center, complex_to_real, X):
    points, kernel = X + 0.2, PolynomialKernel(4)
    model = RandomMaclaurin(
        kernel, 30, measure="variance", center=center, complex_to_real=complex_to_real
    ).set_params(exact_orders="auto")
    estimated = np.exp(log_variance_of(model, points))
    errors = squared_errors(model, points, kernel(points), seeds=400)
    standard = errors.std() / np.sqrt(len(errors))
    assert standard < 0.15 * estimated
    assert abs(errors.mean() - estimated) < 4 * standard


@pytest.mark.parametrize("degree", [3, 7, 10])
@pytest.mark.parametrize("n_features", [3, 8, 30])
def test_the_choice_is_as_good_as_all_others(n_features, degree):
    X = np.random.default_rng(0).normal(0.2, 1.0, size=(60, n_features))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    kernel = PolynomialKernel(degree)
    model = RandomMaclaurin(kernel, 500, measure="variance", include_exact=True)
    chosen = clone(model).set_params(exact_orders="auto", complex_to_real="auto", random_state=0)
    variances = {}
    for order, is_complex in itertools.product(range(degree + 1), [False, True]):
        one = clone(model).set_params(exact_orders=order, complex_to_real=is_complex)
        if sum(n_monomials(n_features, n) for n in range(order + 1)) + 2 <= 500:
            variances[order, is_complex] = log_variance_of(one, X)
    best = log_variance_of(chosen, X)
    assert best <= min(variances.values())
    # and so are the errors
    if best > -np.inf:
        order, is_complex = min(variances, key=variances.get)
        other = clone(model).set_params(exact_orders=order, complex_to_real=is_complex)
        gram = kernel(X)
        error = squared_errors(chosen, X, gram).mean()
        assert error < 1.05 * squared_errors(other, X, gram).mean()
        for is_complex in (False, True):
            other.set_params(exact_orders=1, complex_to_real=is_complex)
            assert error < 1.05 * squared_errors(other, X, gram).mean()


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("n_columns", [15, 40, 100, 400])
def test_the_choice_among_all_sets_of_orders(n_columns, width):
    rng = np.random.default_rng(n_columns)
    for _ in range(20):
        logs = rng.normal(size=7) * 2
        sizes = OrderSizes(np.append(-np.inf, logs[1:]), logs + 1)

        def columns(order):
            return n_monomials(3, order)

        def variance(orders, sizes=sizes):
            left = n_columns - sum(map(columns, orders))
            return log_variance(sizes.without(orders), left // width) if left >= 0 else np.inf

        sets = [
            {0, *orders} for k in range(7) for orders in itertools.combinations(range(1, 7), k)
        ]
        found = orders_that_pay(sizes, columns, n_columns, width=width, always={0})
        prefixes = [set(range(k)) for k in range(1, 8)]
        assert variance(found) <= min(map(variance, prefixes))
        # the greedy choice may miss the best set, but not by much
        assert variance(found) <= min(map(variance, sets)) + 0.4


def test_all_columns_are_among_the_components(X):
    model = RandomMaclaurin(PolynomialKernel(7), 60, measure="variance", exact_orders="auto")
    for options in ({}, {"h01": True}, {"complex_to_real": True}, {"include_bias": False}):
        Z = clone(model).set_params(**options).fit_transform(X)
        assert Z.shape[1] in (59, 60)
    model.set_params(complex_to_real="auto").fit(X)
    assert model.complex_to_real_ in (True, False)
    # with enough of them every order is exact
    Z = model.set_params(n_components=1000).fit_transform(X)
    assert Z.shape[1] == math.comb(11, 7)
    np.testing.assert_allclose(Z @ Z.T, PolynomialKernel(7)(X), rtol=1e-12, atol=1e-12)


def test_orders_of_a_kernel_with_a_radius(X):
    model = RandomMaclaurin(VovkKernel(), 60, measure="variance", exact_orders="auto")
    Z = model.fit_transform(0.5 * X)
    assert Z.shape == (40, 60)
    assert len(model.exact_orders_) > 2


def test_points_without_variance():
    X = np.random.default_rng(0).normal(size=(20, 1))
    model = RandomMaclaurin(PolynomialKernel(4), 10, measure="variance", exact_orders="auto")
    Z = model.set_params(complex_to_real="auto").fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, PolynomialKernel(4)(X), rtol=1e-8, atol=1e-12)


def test_more_columns_than_can_be_had():
    with pytest.raises(ValueError, match="exact orders up to 3 take 167668501 columns"):
        ExactTerms(range(4), np.ones(4), 1000, bias=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"exact_orders": -1}, "'exact_orders' parameter"),
        ({"exact_orders": "all"}, "'exact_orders' parameter"),
        ({"exact_orders": "auto"}, "exact_orders='auto' is for measure='variance'"),
        ({"complex_to_real": "auto"}, "complex_to_real='auto' is for measure='variance'"),
        ({"exact_orders": 0, "h01": True}, "h01=True makes order 1 exact"),
        ({"exact_orders": 2, "include_exact": True, "n_components": 15}, "no random features"),
        (
            {
                "exact_orders": "auto",
                "measure": "variance",
                "n_components": UniformAccuracy(3.0, 0.1),
            },
            "needs an int as 'n_components'",
        ),
    ],
)
def test_bad_parameters(options, message, X):
    with pytest.raises(ValueError, match=message):
        RandomMaclaurin(**{"kernel": PolynomialKernel(4), **options}).fit(X)


def test_the_classifier_takes_them(X):
    y = X[:, 0] > 0.1
    options = {"measure": "variance", "exact_orders": "auto", "complex_to_real": "auto"}
    model = MaclaurinSVM(PolynomialKernel(4), 50, random_state=0, **options).fit(X, y)
    features = RandomMaclaurin(
        PolynomialKernel(4), 50, include_bias=False, random_state=0, **options
    ).fit(X)
    np.testing.assert_array_equal(model.map_.transform(X), features.transform(X))
    assert model.map_.exact_orders_.max() > 1
    assert model.score(X, y) > 0.9
