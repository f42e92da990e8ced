"""Random Maclaurin features against slow versions, enumeration, and the kernels they estimate."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from kernlearn.features import RandomMaclaurin
from kernlearn.features.base import Products
from kernlearn.features.maclaurin import centering, draw_orders
from kernlearn.features.sign_tables import groups_of
from kernlearn.kernels import (
    DotProductKernel,
    ExponentialKernel,
    HomogeneousPolynomialKernel,
    PolynomialKernel,
    VovkKernel,
)

KERNELS = [PolynomialKernel(5), HomogeneousPolynomialKernel(3), ExponentialKernel(1.0)]


@pytest.fixture
def X():
    X = np.random.default_rng(0).normal(size=(150, 5))
    X[np.abs(X) < 0.4] = 0
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def slow_transform(model, X):
    """Algorithm 1 feature by feature, factor by factor."""
    counts = np.where(np.isfinite(model.log_weights_), model.degrees_, 0)
    series, factors, exact = model.truncated_kernel_, np.ones(len(X)), []
    if model.center:
        center = centering(model.kernel_, FITTED[id(model)])
        series, (X, factors) = center.series, center.split(X)
    a = series.coefficients(1)
    if model.h01 and (model.include_bias or model.center) and a[0] > 0:
        exact.append(np.full((len(X), 1), np.sqrt(a[0])))
    if model.h01 and a[1] > 0:
        exact.append(np.sqrt(a[1]) * X)
    omega = model.omega_
    if model.complex_to_real:
        omega = omega[:, 0::2] + 1j * omega[:, 1::2]
    Z = np.tile(np.exp(model.log_weights_), (len(X), 1)).astype(np.result_type(omega, float))
    column = 0
    for level in range(counts.max()):
        for i in np.flatnonzero(counts > level):
            Z[:, i] *= X @ omega[:, column]
            column += 1
    assert column == omega.shape[1]
    if model.complex_to_real:
        Z = np.stack([Z.real, Z.imag], axis=2).reshape(len(X), -1)
    return np.hstack([*exact, Z]) * factors[:, np.newaxis]


#: What centred models were fitted on.
FITTED = {}


@pytest.mark.parametrize(
    ("convert", "dtype"),
    [
        (np.asarray, np.float64),
        (np.asarray, np.float32),
        (np.asfortranarray, np.float64),
        (sparse.csr_matrix, np.float32),
    ],
)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"h01": True},
        {"h01": True, "include_bias": False},
        {"measure": "support", "p": 1.5},
        {"truncation": 3, "h01": True},
        {"truncation": 0},
        {"measure": "variance"},
        {"measure": "variance", "h01": True, "center": True},
        {"center": True},
        {"complex_to_real": True},
        {"complex_to_real": True, "h01": True, "center": True, "measure": "variance"},
    ],
)
@pytest.mark.parametrize("kernel", KERNELS)
def test_against_the_slow_version(kernel, options, convert, dtype, X, monkeypatch):
    monkeypatch.setattr(RandomMaclaurin, "_block_bytes", 1)
    X = X.astype(dtype)
    if options.get("center"):
        X += dtype(0.3)
    model = RandomMaclaurin(kernel, 60, random_state=3, **options).fit(convert(X))
    FITTED[id(model)] = X
    Z = model.transform(convert(X))
    assert Z.dtype == dtype
    assert isinstance(Z, np.ndarray)
    tolerance = 2e-5 if dtype == np.float32 else 1e-11
    expected = slow_transform(model, X.astype(np.float64))
    assert_allclose(Z, expected, rtol=tolerance, atol=tolerance)
    parts = list(model.transform_blocks(convert(X)))
    assert [rows.start for rows, _ in parts] == [0, 64, 128]
    assert_array_equal(np.vstack([part for _, part in parts]), Z)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("options", [{}, {"complex_to_real": True}])
@pytest.mark.parametrize("n_rows", [1, 70])
@pytest.mark.parametrize("d", [1, 6, 7, 25, 150])
def test_tables_against_products_of_matrices(d, n_rows, options, dtype):
    X = np.random.default_rng(d).normal(size=(n_rows, d)).astype(dtype) / np.sqrt(d)
    model = RandomMaclaurin(PolynomialKernel(6), 334, p=1.5, random_state=0, **options).fit(X)
    by_matrices = model.transform(sparse.csr_array(X))
    tolerance = 200 * np.finfo(dtype).eps * np.abs(by_matrices).max()
    assert_allclose(model.transform(X), by_matrices, rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("options", [{}, {"complex_to_real": True, "h01": True}])
def test_features_of_a_row_do_not_depend_on_others(options, dtype):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(300, 22)) / 5).astype(dtype)
    model = RandomMaclaurin(PolynomialKernel(10), 334, random_state=0, **options).fit(X)
    Z = model.transform(X)
    assert_array_equal(np.vstack([model.transform(X[i : i + 1]) for i in range(30)]), Z[:30])
    order = rng.permutation(len(X))
    assert_array_equal(model.transform(X[order]), Z[order])
    X.flags.writeable = False
    assert_array_equal(model.transform(X[::-1])[::-1], Z)


def test_more_columns_than_tables_have(X, monkeypatch):
    model = RandomMaclaurin(n_components=50, random_state=0).fit(X)
    expected = model.transform(X)
    monkeypatch.setattr("kernlearn.features.sign_tables.MOST_LINES", 3)
    assert_allclose(model.transform(X), expected, rtol=1e-12, atol=1e-12)


def test_groups_cover_all_columns():
    for n_columns, n_factors in itertools.product([1, 5, 6, 7, 784, 5000], [0, 1, 50, 10**6]):
        edges, n_lines = groups_of(n_columns, n_factors)
        sizes = np.diff(edges)
        assert (edges[0], edges[-1]) == (0, n_columns)
        assert 1 <= sizes.min() <= sizes.max() <= 8
        assert n_lines == np.sum(2**sizes) <= max(64 * np.ceil(n_columns / 6), 1024)


def test_no_product_leaves_the_range_unless_its_feature_does():
    X = np.full((3, 4), 1000.0, np.float32)
    model = RandomMaclaurin(ExponentialKernel(1000.0), 500, p=1.05, random_state=0).fit(X)
    assert model.degrees_.max() > 60  # 4000 ** 60 is 10 ** 216
    Z = model.transform(X)
    assert np.isfinite(Z).all()
    assert_allclose(Z, model.transform(X.astype(np.float64)), rtol=1e-4)


def mean_over_signs(x, y, n):
    """E of the product of n projections of x and of y, over all random signs."""
    signs = list(itertools.product([-1, 1], repeat=len(x)))
    values = [
        np.prod([(np.array(w) @ x) * (np.array(w) @ y) for w in drawn])
        for drawn in itertools.product(signs, repeat=n)
    ]
    return np.mean(values)


@pytest.mark.parametrize(
    ("h01", "measure", "p"),
    [
        (False, "geometric", 2.0),
        (False, "geometric", 1.4),
        (False, "support", 2.0),
        (True, "geometric", 3.0),
        (True, "support", 2.0),
    ],
)
@pytest.mark.parametrize("kernel", [PolynomialKernel(5), HomogeneousPolynomialKernel(4)])
def test_expectation_by_enumeration(kernel, h01, measure, p):
    x, y = np.array([0.8, -0.6]), np.array([0.3, 0.7])
    first = 2 if h01 else 0
    model = RandomMaclaurin(kernel, 20000, p=p, h01=h01, measure=measure, random_state=0).fit([x])
    coefficients = kernel.coefficients(5)
    probabilities = (p - 1) * p ** -(np.arange(6.0) + 1 - first)
    probabilities[:first] = 0
    if measure == "support":
        probabilities[coefficients == 0] = 0
        probabilities /= probabilities.sum()
    expectation = (np.sum(coefficients[:2] * [1, x @ y])) if h01 else 0.0
    for n in np.flatnonzero(probabilities):
        squared_weights = np.exp(2 * model.log_weights_[model.degrees_ == n])
        assert np.ptp(squared_weights) == 0
        one_feature = squared_weights[0] * mean_over_signs(x, y, n)
        expectation += 20000 * probabilities[n] * one_feature
    assert expectation == pytest.approx(float(kernel.function(x @ y)), rel=1e-10)


@pytest.mark.parametrize(
    "options",
    [
        {"measure": "variance", "h01": True, "center": True},
        {"measure": "variance", "complex_to_real": True, "h01": True},
        *(
            pytest.param(options, marks=pytest.mark.exhaustive)
            for options in ({"measure": "variance"}, {"center": True}, {"complex_to_real": True})
        ),
    ],
)
@pytest.mark.parametrize(
    "kernel",
    [PolynomialKernel(3), pytest.param(ExponentialKernel(1.0), marks=pytest.mark.exhaustive)],
)
def test_unbiased_within_the_standard_error_over_draws(kernel, options, X):
    points = X[:12] + 0.2
    errors = []
    for seed in range(300):
        model = RandomMaclaurin(kernel, 26, random_state=seed, **options).fit(points)
        Z = model.transform(points[:3])
        errors.append(Z @ Z.T / kernel(points[:3]) - 1)
    standard = np.std(errors, axis=0) / np.sqrt(len(errors))
    assert (np.abs(np.mean(errors, axis=0)) <= 4 * standard + 1e-12).all()


# -- columns --------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"include_bias": False}, {"complex_to_real": True}])
def test_exact_columns_may_be_among_the_components(options, X):
    model = RandomMaclaurin(PolynomialKernel(3), 40, h01=True, include_exact=True, **options)
    n_exact = 6 if options.get("include_bias", True) else 5
    assert model.fit_transform(X).shape == (150, 40)
    assert model.set_params(n_components=41).fit_transform(X).shape[1] in (40, 41)
    with pytest.raises(ValueError, match=f"no random features with the {n_exact} exact columns"):
        model.set_params(n_components=n_exact).fit(X)


# -- fitting --------------------------------------------------------------------------------------


def test_the_kernel_is_cloned_and_fitted(X):
    kernel = ExponentialKernel()
    model = RandomMaclaurin(kernel, 10, random_state=0).fit(X)
    assert not hasattr(kernel, "sigma_")
    assert model.kernel_.sigma_ > 0
    assert model.set_params(kernel__sigma=2.0).fit(X).kernel_.sigma_ == 2.0


def test_truncation_error(X):
    model = RandomMaclaurin(ExponentialKernel(1.0), 10, truncation=4, random_state=0).fit(X)
    difference = np.abs(model.kernel_(X) - model.truncated_kernel_(X)).max()
    assert 0 < difference <= model.truncation_error_ * (1 + 1e-9)
    assert model.truncation_error_ == pytest.approx(np.e - (2 + 1 / 2 + 1 / 6 + 1 / 24))
    assert RandomMaclaurin(random_state=0).fit(X).truncation_error_ == 0


def test_points_beyond_the_radius_of_convergence(X):
    in_parts = sparse.csr_array(([0.6, 0.6], [0, 0], [0, 2]), (1, 1))
    for points in (1.01 * X, in_parts):
        with pytest.raises(ValueError, match="converges below 1 only"):
            RandomMaclaurin(VovkKernel()).fit(points)
    model = RandomMaclaurin(VovkKernel(), truncation=3).fit(1.01 * X)
    assert model.truncation_error_ == np.inf


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "gauss"}, "no similarity"),
        ({"kernel": DotProductKernel([1.0, -1.0])}, "'series' has coefficient -1 at order 1"),
        ({"p": 1.0}, "'p' parameter"),
        ({"truncation": 1, "center": True}, "truncation=1 has no meaning"),
        ({"complex_to_real": True, "n_components": 41}, "'n_components' = 41"),
        ({"kernel": VovkKernel(), "center": True}, "center=True needs a polynomial or"),
        ({"kernel": PolynomialKernel(1), "h01": True, "measure": "support"}, "measure='support'"),
    ],
)
def test_bad_parameters(options, message, X):
    with pytest.raises(ValueError, match=message):
        RandomMaclaurin(**options).fit(0.9 * X)


# -- centred series -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kernel",
    [
        PolynomialKernel(1),
        PolynomialKernel(4),
        PolynomialKernel(3, coef0=2.5),
        PolynomialKernel(3, coef0=0.0),
        HomogeneousPolynomialKernel(4),
        ExponentialKernel(1.3),
    ],
    ids=repr,
)
def test_the_centred_series_is_the_kernel(kernel):
    X = np.random.default_rng(0).normal([0.5, -1.0, 0.0, 2.0], size=(30, 4))
    X[:, 2] = 0
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    kernel = kernel.fit(X)
    for points in (X, X - X.mean(axis=0), X[:1], np.zeros((2, 4))):
        for fitted in (points, sparse.csr_array(points)):
            center = centering(kernel, fitted)
            split, factors = center.split(points)
            found = np.outer(factors, factors) * center.series(split)
            assert_allclose(found, kernel(points), rtol=1e-10, atol=1e-12)


def test_points_without_a_part_along_the_mean():
    X = np.array([[1.0, 0.0], [1.0, 0.5], [1.0, -0.5]])
    kernel = HomogeneousPolynomialKernel(4)
    points = np.array([[0.0, 1.0], [1e-90, 1.0], [0.5, 0.5]])
    Z = RandomMaclaurin(kernel, 200_000, p=1.2, center=True, random_state=0)
    for dtype in (np.float64, np.float32):
        found = Z.fit(X).transform(points.astype(dtype))
        assert_allclose(found @ found.T, kernel(points), rtol=0.1)


# -- products of factors --------------------------------------------------------------------------


def test_weights_that_only_their_root_can_hold():
    products = Products(np.array([1000]), np.array([1500.0]))
    Z = np.empty((1, 1))
    products.write(0.25 * products.factor_scales[np.newaxis], Z)
    assert_allclose(Z, np.exp(1500 + 1000 * np.log(0.25)), rtol=1e-9)


# -- orders ---------------------------------------------------------------------------------------


def draw(kernel, n_features=200_000, **options):
    """Orders, and the logarithms of their weights for a single feature."""
    options = {"p": 2.0, "measure": "geometric", **options}
    orders, logs = draw_orders(kernel, n_features, np.random.RandomState(0), **options)
    return orders, logs + np.log(n_features) / 2


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
        assert_allclose(np.exp(log_weights[orders == n]), expected, rtol=1e-10)


@pytest.mark.parametrize(
    ("kernel", "support"),
    [
        (PolynomialKernel(3), [0, 1, 2, 3]),
        (HomogeneousPolynomialKernel(300), [300]),
        (DotProductKernel([0.0, 1.0, 0.0, 2.0]), [1, 3]),
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
        assert_allclose(log_weights[orders == n], expected, rtol=1e-10, atol=1e-12)
