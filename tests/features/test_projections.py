"""Products of projections on random signs by tables, against explicit ones."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix

from kernlearn.features import RandomMaclaurin
from kernlearn.features.base import LevelProduct
from kernlearn.features.projections import SignProducts, groups_of, pays
from kernlearn.features.signs import complex_signs, real_signs
from kernlearn.kernels import ExponentialKernel, PolynomialKernel

DTYPES = [np.float64, np.float32]


def signs_and_levels(n_features, n_products, width, seed=0):
    random_state = np.random.RandomState(seed)
    degrees = random_state.geometric(0.4, n_products) - 1
    log_weights = random_state.normal(size=n_products) - degrees
    log_weights[::7] = -np.inf
    levels = LevelProduct(degrees, log_weights, width)
    shape = (n_features, levels.n_factors // width)
    if width == 2:
        return complex_signs(shape, random_state).reshape(n_features, -1), levels
    return real_signs(shape, random_state), levels


def of_features(levels, omega):
    """The vectors of signs of each feature's factors, complex ones if these are."""
    if levels.width == 2:
        omega = omega[:, 0::2] + 1j * omega[:, 1::2]
    starts = [(s.start // levels.width, s.stop // levels.width) for s in levels.slices]
    return [
        [omega[:, start + feature] for start, stop in starts if feature < stop - start]
        for feature in range(len(levels.degrees))
    ]


def as_columns(found, levels):
    """Features, or the real and the imaginary part of each."""
    if levels.width == 1:
        return found
    return np.stack([found.real, found.imag], axis=2).reshape(len(found), -1)


def explicit(levels, vectors, first, later):
    """Products of sums of signed entries, feature by feature."""
    kind = complex if levels.width == 2 else float
    found = np.tile(np.exp(levels.log_weights), (len(first), 1)).astype(kind)
    for feature, signs in enumerate(vectors):
        for level, omega in enumerate(signs):
            found[:, feature] *= ((later if level else first) * omega).sum(axis=1)
    return found


def in_the_same_order(levels, vectors, edges, X):
    """The same sums and products in the order of the tables, for each row alone."""
    one_by_one = np.tile(np.exp(levels.log_weights).astype(X.dtype), (len(X), 1))
    found = [one_by_one, np.zeros_like(one_by_one)]

    def project(x, signs):
        signed = x * signs.astype(x.dtype)
        total = None
        for a, b in pairwise(edges):
            entry = signed[a]
            for value in signed[a + 1 : b]:
                entry = entry + value
            total = entry if total is None else total + entry
        return total

    for feature, signs in enumerate(vectors):
        scale = levels.factor_scales[levels.width * feature : levels.width * feature + 1]
        scale = scale.astype(X.dtype)
        for level, omega in enumerate(signs):
            for row, x in enumerate(X):
                before = [part[row, feature] for part in found]
                if levels.width == 1:
                    total = project(x, omega)
                    found[0][row, feature] = (before[0] * scale if level else scale)[0] * total
                    continue
                turned = omega * (1 + 1j)
                one, two = project(x, turned.real), project(x, turned.imag)
                half = scale[0] / 2
                a, b = half * (one + two), half * (two - one)
                if level:
                    a, b = before[0] * a - before[1] * b, before[0] * b + before[1] * a
                found[0][row, feature], found[1][row, feature] = a, b
    return found[0] if levels.width == 1 else np.stack(found, axis=2).reshape(len(X), -1)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("n_rows", [1, 7, 16, 41])
@pytest.mark.parametrize(
    ("n_features", "n_products"), [(1, 1), (2, 300), (6, 64), (7, 130), (54, 200), (150, 77)]
)
def test_against_explicit_products(n_features, n_products, n_rows, width, dtype):
    omega, levels = signs_and_levels(n_features, n_products, width)
    vectors = of_features(levels, omega)
    first, later = np.random.default_rng(1).normal(size=(2, n_rows, n_features)).astype(dtype)
    products = SignProducts(levels, omega, np.dtype(dtype), n_rows=n_rows, n_sets=2)
    ones = [[np.ones(n_features) for _ in signs] for signs in vectors]
    rounding = (n_features + 8) * max(len(levels.slices), 1) * np.finfo(dtype).eps
    for one in (first, later):
        out = np.full((n_rows, n_products * width + 4), 7.0, dtype)
        products.write(one, later, out, 4)
        assert (out[:, :4] == 7).all()
        expected = explicit(levels, vectors, one.astype(float), later.astype(float))
        largest = explicit(levels, ones, np.abs(one), np.abs(later)).real.repeat(width, axis=1)
        assert (np.abs(out[:, 4:] - as_columns(expected, levels)) <= rounding * largest).all()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize(("n_features", "n_products"), [(3, 30), (23, 60), (60, 40)])
def test_every_bit_is_that_of_a_row_alone(n_features, n_products, width, dtype):
    omega, levels = signs_and_levels(n_features, n_products, width, seed=2)
    X = np.random.default_rng(1).normal(size=(19, n_features)).astype(dtype)
    out = np.empty((19, n_products * width), dtype)
    SignProducts(levels, omega, np.dtype(dtype), n_rows=19).write(X, X, out, 0)
    edges = groups_of(*omega.shape)
    assert_array_equal(out, in_the_same_order(levels, of_features(levels, omega), edges, X))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", [PolynomialKernel(10), ExponentialKernel(1.0)])
@pytest.mark.parametrize(
    "options", [{}, {"complex_to_real": True}, {"exact_orders": 2, "measure": "variance"}]
)
def test_features_of_a_row_do_not_depend_on_others(kernel, options, dtype):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 22))
    X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(dtype)
    model = RandomMaclaurin(kernel, 334, random_state=0, **options).fit(X)
    Z = model.transform(X)
    assert_array_equal(np.vstack([model.transform(X[i : i + 1]) for i in range(30)]), Z[:30])
    order = rng.permutation(len(X))
    assert_array_equal(model.transform(X[order]), Z[order])
    assert_array_equal(model.transform(np.asfortranarray(X)), Z)
    assert not model.depends_on_block(X)
    X.flags.writeable = False
    assert_array_equal(model.transform(X[::-1])[::-1], Z)
    for parameters in ({"block_rows": 1}, {"block_rows": 13}, {"n_jobs": 3}):
        assert_array_equal(model.set_params(**parameters).transform(X), Z)


def test_no_product_leaves_the_range_unless_its_feature_does():
    X = np.full((3, 4), 1000.0, np.float32)
    model = RandomMaclaurin(ExponentialKernel(1000.0), 500, p=1.05, random_state=0).fit(X)
    assert model.degrees_.max() > 60  # 4000 ** 60 is 10 ** 216
    Z = model.transform(X)
    assert np.isfinite(Z).all()
    assert_allclose(Z, model.transform(X.astype(np.float64)), rtol=1e-4)


@pytest.mark.parametrize("n_columns", [1, 2, 5, 6, 7, 48, 54, 123, 784, 5000])
@pytest.mark.parametrize("n_factors", [1, 50, 3000, 10**6])
def test_groups_cover_all_columns(n_columns, n_factors):
    edges = groups_of(n_columns, n_factors)
    sizes = np.diff(edges)
    assert edges[0] == 0
    assert edges[-1] == n_columns
    assert sizes.min() >= 1
    assert sizes.max() <= min(sizes.min() + 1, 8)
    assert np.sum(2**sizes) <= 64 * np.ceil(n_columns / 6) or np.sum(2**sizes) <= 1024


def test_groups_are_smaller_for_fewer_factors():
    assert len(groups_of(54, 20)) > len(groups_of(54, 600)) > len(groups_of(54, 3000))


def test_tables_do_not_outgrow_the_caches():
    assert pays(20_000, 3000)
    assert not pays(60_000, 3000)
    assert not pays(8, 0)


def test_more_columns_than_tables_have(monkeypatch):
    X = np.random.default_rng(0).normal(size=(30, 9))
    model = RandomMaclaurin(n_components=50, random_state=0).fit(X)
    expected = model.transform(X)
    monkeypatch.setattr("kernlearn.features.projections._MOST_LINES", 3)
    assert_allclose(model.transform(X), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("options", [{"center": True}, {"projection": "hadamard"}, {}])
def test_other_projections_may_depend_on_the_block(options):
    X = np.random.default_rng(0).normal(size=(30, 500)) / 50
    model = RandomMaclaurin(PolynomialKernel(3), 2000, random_state=0, **options).fit(X)
    assert model.depends_on_block(X) == bool(options)
    assert model.depends_on_block(csr_matrix(X))
