import numpy as np
import pytest
from scipy import sparse
from scipy.special import gamma, jv
from sklearn.base import clone

from kernlearn.features import SphericalFeatures
from kernlearn.features.spectrum import Spectrum, mean_cosines
from kernlearn.kernels import (
    DotProductKernel,
    ExponentialKernel,
    HomogeneousPolynomialKernel,
    LinearKernel,
    PolynomialKernel,
    VovkKernel,
)
from tests.checks import parametrize_with_checks

#: The kernel (1 - z² / a²)^p of the paper for a = 4 and p = 10.
STEEP = DotProductKernel(8.0**-10 * PolynomialKernel(10, coef0=7.0).coefficients(10))


@parametrize_with_checks(
    [
        SphericalFeatures(),
        SphericalFeatures("exponential", n_components=7, block_rows=3, n_gaussians=3),
        SphericalFeatures(PolynomialKernel(4), spectrum="radii"),
    ]
)
def test_conformance(estimator, check):
    check(estimator)


@pytest.fixture
def X():
    X = np.random.default_rng(0).normal(size=(40, 5))
    X[np.abs(X) < 0.4] = 0
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("d", [2, 3, 4, 7, 30])
def test_mean_cosines_are_bessel_functions(d):
    radii, distances = np.array([0.5, 3.0, 20.0]), np.linspace(0.1, 2, 7)
    u = radii[:, None] * distances
    expected = gamma(d / 2) * (2 / u) ** (d / 2 - 1) * jv(d / 2 - 1, u)
    np.testing.assert_allclose(mean_cosines(d, radii, distances), expected, rtol=1e-9, atol=1e-12)


def test_mean_cosines_in_one_and_many_dimensions():
    radii, distances = np.array([0.0, 3.0]), np.array([0.0, 1.0, 2.0])
    line = mean_cosines(1, radii, distances)
    np.testing.assert_allclose(line, np.cos(np.outer(radii, distances)))
    # The first coordinate of a point of a large sphere is nearly normal.
    far = mean_cosines(10_000, 100 * radii, distances)
    np.testing.assert_allclose(far, np.exp(-(np.outer(radii, distances) ** 2) / 2), atol=1e-3)


def test_mean_cosines_are_means_of_cosines():
    d, radius = 6, 4.0
    w = np.random.default_rng(0).normal(size=(200_000, d))
    w *= radius / np.linalg.norm(w, axis=1, keepdims=True)
    for distance in (0.3, 1.1, 2.0):
        cosines = np.cos(distance * w[:, 0])
        error = cosines.std() / np.sqrt(len(cosines))
        expected = mean_cosines(d, np.array([radius]), np.array([distance]))[0, 0]
        assert abs(cosines.mean() - expected) < 4 * error


@pytest.mark.parametrize("spectrum", ["gaussians", "radii"])
@pytest.mark.parametrize(
    "kernel", [PolynomialKernel(3), STEEP, ExponentialKernel(0.7), HomogeneousPolynomialKernel(3)]
)
def test_features_estimate_the_approximation(kernel, spectrum, X):
    """Not the kernel: the bias is that of the spectrum, which is told apart from the noise."""
    model = SphericalFeatures(kernel, 100_000, spectrum=spectrum, random_state=0).fit(X)
    Z = model.transform(X[:5]) * np.sqrt(model.n_components)
    products = Z[:, None] * Z[None]  # one estimate for each feature
    error = products.std(axis=2, ddof=1) / np.sqrt(model.n_components)
    expected = model.approximation(X[:5] @ X[:5].T)
    assert (np.abs(products.mean(axis=2) - expected) < 4 * error + 1e-12).all()
    assert (error < 0.01 * kernel.function(1.0)).all()
    distance = np.abs(expected - kernel(X[:5])).max()
    assert distance <= model.approximation_error_ * (1 + 1e-3) + 1e-9


@pytest.mark.parametrize("spectrum", ["gaussians", "radii"])
@pytest.mark.parametrize("kernel", [PolynomialKernel(3), STEEP, LinearKernel()])
def test_the_error_is_the_largest(kernel, spectrum, X):
    model = SphericalFeatures(kernel, 10, spectrum=spectrum, random_state=0).fit(X)
    t = np.linspace(-1, 1, 1001)
    largest = np.abs(model.approximation(t) - kernel.function(t)).max()
    assert model.approximation_error_ == pytest.approx(largest, rel=0.02)
    mass = model.spectrum_.masses
    assert (mass > 0).all()
    if spectrum == "gaussians":
        assert model.approximation(1.0) == pytest.approx(float(kernel.function(1.0)), rel=1e-9)


def squared_error(model):
    """The integral of the squared error over distances, which is minimised."""
    z, weights = np.polynomial.legendre.leggauss(200)
    t = 1 - (z + 1) ** 2 / 2
    return weights @ (model.approximation(t) - model.kernel_.function(t)) ** 2


@pytest.mark.parametrize("kernel", [PolynomialKernel(3), STEEP])
def test_any_radii_fit_better_than_gaussians(kernel, X):
    radii = SphericalFeatures(kernel, 10, spectrum="radii", random_state=0).fit(X)
    gaussians = SphericalFeatures(kernel, 10, random_state=0).fit(X)
    one = SphericalFeatures(kernel, 10, n_gaussians=1, random_state=0).fit(X)
    scale = float(kernel.function(1.0)) ** 2
    errors = [squared_error(model) / scale for model in (radii, gaussians, one)]
    assert errors[0] <= errors[1] * 1.01 + 1e-9
    assert errors[1] <= errors[2] * 1.01 + 1e-9


@pytest.mark.parametrize("d", [1, 2, 5, 60, 800])
def test_a_gaussian_is_fitted_exactly(d):
    # On the sphere the exponential kernel is a Gaussian one, times a constant.
    X = np.eye(d)[:1]
    model = SphericalFeatures(ExponentialKernel(0.8), 10, random_state=0).fit(X)
    assert model.approximation_error_ < 2e-3 * np.exp(1 / 0.64)


def test_the_spectrum_is_sampled():
    spectrum = Spectrum(3, np.array([0.5, 2.0]), np.array([1.0, 3.0]))
    w = spectrum.sample(40_000, np.random.RandomState(0))
    norms = np.linalg.norm(w, axis=0)
    far = np.isclose(norms, 2.0)
    assert np.isclose(norms[~far], 0.5).all()
    assert abs(far.mean() - 0.75) < 4 * np.sqrt(0.75 * 0.25 / 40_000)
    directions = w / norms
    assert (np.abs(directions.mean(axis=1)) < 4 / np.sqrt(3 * 40_000)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("convert", [np.asarray, np.asfortranarray, sparse.csr_matrix])
def test_against_the_slow_version(convert, dtype, X):
    X = (3 * X).astype(dtype)
    model = SphericalFeatures(PolynomialKernel(5), 12, block_rows=7, random_state=0)
    Z = model.fit(convert(X)).transform(convert(X))
    assert Z.dtype == dtype
    expected = np.empty((40, 12))
    value = model.approximation(1.0)
    for i, j in np.ndindex(expected.shape):
        x = X[i].astype(float) / np.linalg.norm(X[i].astype(float))
        angle = x @ model.random_weights_[:, j] + model.random_offset_[j]
        expected[i, j] = np.sqrt(2 * value / 12) * np.cos(angle)
    tolerance = 1e-4 if dtype == np.float32 else 1e-10
    np.testing.assert_allclose(Z, expected, rtol=tolerance, atol=tolerance)


def test_points_of_other_lengths(X):
    strict = SphericalFeatures(normalize=False, random_state=0).fit(X)
    kind = SphericalFeatures(random_state=0).fit(2 * X)
    np.testing.assert_allclose(kind.transform(3 * X), strict.transform(X), rtol=1e-9, atol=1e-12)
    for points in (1.01 * X, sparse.csr_matrix(1.01 * X)):
        with pytest.raises(ValueError, match=r"row 0 of X has norm 1.01.*set normalize=True"):
            strict.transform(points)
        with pytest.raises(ValueError, match="points of norm 1"):
            clone(strict).fit(points)
    strict.transform((X * (1 + 1e-6)).astype(np.float32))


def test_a_point_of_norm_0_is_at_distance_1(X):
    model = SphericalFeatures(PolynomialKernel(3), 50_000, random_state=0).fit(X)
    Z = model.transform(np.vstack([np.zeros(5), X[:1]]))
    products = 50_000 * Z[0] * Z[1]
    error = products.std() / np.sqrt(50_000)
    assert abs(products.mean() - model.approximation(0.5)) < 4 * error


def test_kernels_without_any_slope(X):
    constant = SphericalFeatures(DotProductKernel([2.0]), 20_000, random_state=0).fit(X)
    assert constant.approximation_error_ == pytest.approx(0, abs=1e-12)
    Z = constant.transform(X[:2])
    products = 20_000 * Z[0] * Z[1]
    assert abs(products.mean() - 2) < 4 * products.std() / np.sqrt(20_000)
    nothing = SphericalFeatures(DotProductKernel([0.0]), 5, random_state=0).fit(X)
    assert not nothing.transform(X).any()
    assert nothing.approximation_error_ == 0


def test_the_kernel_of_normalised_points(X):
    model = SphericalFeatures(ExponentialKernel(), 10, random_state=0).fit(3 * X)
    assert model.kernel_.sigma_ == pytest.approx(ExponentialKernel().fit(X).sigma_)
    np.testing.assert_allclose(model.composed_kernel(5 * X), model.kernel_(X), rtol=1e-10)


@pytest.mark.parametrize("as_matrix", [np.asarray, sparse.csr_matrix])
def test_threads_and_blocks_change_nothing(as_matrix, X):
    model = SphericalFeatures(n_components=300, random_state=0).fit(X)
    Z = model.transform(as_matrix(X))
    np.testing.assert_allclose(model.set_params(n_jobs=2).transform(as_matrix(X)), Z, rtol=1e-9)
    parts = model.set_params(block_rows=7).transform_blocks(as_matrix(X))
    np.testing.assert_allclose(np.vstack([block for _, block in parts]), Z, rtol=1e-9, atol=1e-13)


def test_randomness_is_the_seed_alone(X):
    model = SphericalFeatures(random_state=5)
    Z = model.fit_transform(X)
    np.testing.assert_array_equal(Z, clone(model).fit_transform(X))
    assert not np.allclose(Z, clone(model).set_params(random_state=6).fit_transform(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "gauss"}, "'kernel' must be one of"),
        ({"kernel": VovkKernel()}, "not finite for all inner products from -1 to 1"),
        ({"kernel": ExponentialKernel(0.01)}, "not finite for all inner products from -1 to 1"),
        ({"n_components": 0}, "'n_components' parameter"),
        ({"n_gaussians": 0}, "'n_gaussians' parameter"),
        ({"spectrum": "lines"}, "'spectrum' parameter"),
        ({"normalize": "l2"}, "'normalize' parameter"),
        ({"block_rows": 0}, "'block_rows' parameter"),
    ],
)
def test_bad_parameters(options, message, X):
    with pytest.raises(ValueError, match=message):
        SphericalFeatures(**options).fit(X)


def test_inner_products_of_other_points(X):
    model = SphericalFeatures(random_state=0).fit(X)
    with pytest.raises(ValueError, match="from -1 to 1, got -2 to 0"):
        model.approximation([0.0, -2.0])
