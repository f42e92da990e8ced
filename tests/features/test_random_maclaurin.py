import itertools
import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from kernlearn.features import RandomMaclaurin
from kernlearn.features.centering import AlongTheMean, AroundTheMean
from kernlearn.kernels import (
    DotProductKernel,
    ExponentialKernel,
    HomogeneousPolynomialKernel,
    PolynomialKernel,
    VovkKernel,
)
from kernlearn.theory.bounds import UniformAccuracy, maclaurin_n_components
from tests.checks import parametrize_with_checks

KERNELS = [PolynomialKernel(5), HomogeneousPolynomialKernel(3), ExponentialKernel(1.0)]


@parametrize_with_checks(
    [
        RandomMaclaurin(),
        RandomMaclaurin("exponential", n_components=7, h01=True, measure="support"),
        RandomMaclaurin(PolynomialKernel(4), truncation=2, block_rows=3),
        RandomMaclaurin(h01=True, measure="variance", center=True, projection="hadamard"),
        RandomMaclaurin(measure="variance", complex_to_real=True),
        RandomMaclaurin(
            PolynomialKernel(4),
            n_components=30,
            measure="variance",
            exact_orders="auto",
            complex_to_real="auto",
        ),
        RandomMaclaurin("exponential", n_components=7, exact_orders=2, center=True),
    ]
)
def test_conformance(estimator, check):
    check(estimator)


@pytest.fixture
def X():
    X = np.random.default_rng(0).normal(size=(40, 5))
    X[np.abs(X) < 0.4] = 0
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def slow_transform(model, X):
    """Algorithm 1 feature by feature, factor by factor."""
    counts = np.where(np.isfinite(model.log_weights_), model.degrees_, 0)
    column = 0
    exact = []
    center = model._centering
    series = center.series if model.center else model.truncated_kernel_
    if model.center:
        bases, X = center.bases(X), center.points(X)
    a = series.coefficients(1)
    if model.h01 and (model.include_bias or model.center) and a[0] > 0:
        factors = center.factors(bases, 0) if model.center else np.ones(len(X))
        exact.append(np.sqrt(a[0]) * factors[:, np.newaxis])
    if model.h01 and a[1] > 0:
        factors = center.factors(bases, 1) if model.center else np.ones(len(X))
        exact.append(np.sqrt(a[1]) * X * factors[:, np.newaxis])
    omega = model.omega_
    if model.complex_to_real:
        omega = omega[:, 0::2] + 1j * omega[:, 1::2]
    Z = np.tile(np.exp(model.log_weights_), (len(X), 1)).astype(np.result_type(omega, float))
    for level in range(counts.max()):
        for i in np.flatnonzero(counts > level):
            for row, x in enumerate(X):
                Z[row, i] *= x @ omega[:, column]
            column += 1
    assert column == omega.shape[1]
    if model.center:
        for i, order in enumerate(model.degrees_):
            Z[:, i] *= center.factors(bases, order)
    if model.complex_to_real:
        Z = np.stack([Z.real, Z.imag], axis=2).reshape(len(X), -1)
    return np.hstack([*exact, Z])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("convert", [np.asarray, np.asfortranarray, sparse.csr_matrix])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"h01": True},
        {"h01": True, "include_bias": False},
        {"measure": "support", "p": 1.5},
        {"truncation": {0, 3}, "h01": True},
        {"truncation": 0},
        {"measure": "variance"},
        {"measure": "variance", "h01": True, "center": True},
        {"center": True, "projection": "hadamard"},
        {"projection": "hadamard", "h01": True},
        {"complex_to_real": True},
        {"complex_to_real": True, "h01": True, "center": True, "measure": "variance"},
        {"complex_to_real": True, "projection": "hadamard", "center": True},
    ],
)
@pytest.mark.parametrize("kernel", KERNELS)
def test_against_the_slow_version(kernel, options, convert, dtype, X):
    if options.get("truncation") == {0, 3} and "Homogeneous" in repr(kernel):
        options = {**options, "measure": "support"}
    X = X.astype(dtype)
    if options.get("center"):
        X += dtype(0.3)
    model = RandomMaclaurin(kernel, 60, random_state=3, block_rows=7, **options).fit(convert(X))
    Z = model.transform(convert(X))
    assert Z.dtype == dtype
    assert isinstance(Z, np.ndarray)
    tolerance = 2e-5 if dtype == np.float32 else 1e-11
    expected = slow_transform(model, X.astype(np.float64))
    np.testing.assert_allclose(Z, expected, rtol=tolerance, atol=tolerance)


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
    [{}, {"h01": True}, {"measure": "support", "p": 1.5}, {"truncation": [0, 2, 3]}],
)
@pytest.mark.parametrize("kernel", [*KERNELS[:1], *KERNELS[2:]])
def test_unbiased_in_relative_terms(kernel, options):
    x = np.array([[0.6, 0.8, 0.0], [0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])
    model = RandomMaclaurin(kernel, 400_000, random_state=1, **options)
    Z = model.fit_transform(x)
    np.testing.assert_allclose(Z @ Z.T, model.truncated_kernel_(x), rtol=0.06)


WAYS = [
    {"measure": "variance"},
    {"measure": "variance", "h01": True},
    {"measure": "variance", "h01": True, "center": True},
    {"center": True},
    {"projection": "hadamard", "h01": True},
    {"measure": "variance", "center": True, "projection": "hadamard"},
    {"complex_to_real": True},
    {"measure": "variance", "complex_to_real": True, "h01": True},
    {"measure": "variance", "complex_to_real": True, "projection": "hadamard"},
]


@pytest.mark.parametrize(
    ("kernel", "options"),
    # a kernel without a last order takes the same ways: one of them with all that it has
    [(PolynomialKernel(3), options) for options in WAYS]
    + [
        pytest.param(
            ExponentialKernel(1.0),
            options,
            marks=[] if options in (WAYS[2], WAYS[8]) else pytest.mark.exhaustive,
        )
        for options in WAYS
    ],
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


def test_allocation_and_centring_lower_the_error():
    X = np.random.default_rng(0).normal(0.5, 1.0, size=(60, 10))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    kernel = PolynomialKernel(8)
    gram = kernel(X)

    def error(**options):
        found = []
        for seed in range(20):
            Z = RandomMaclaurin(kernel, 300, h01=True, random_state=seed, **options)
            Z = Z.fit_transform(X)
            found.append(np.linalg.norm(Z @ Z.T - gram))
        return np.median(found)

    plain, allocated = error(), error(measure="variance")
    assert allocated < 0.85 * plain
    assert error(measure="variance", center=True) < 0.85 * allocated
    assert error(measure="variance", complex_to_real=True) < 0.85 * allocated


@pytest.mark.parametrize("options", [{}, {"include_bias": False}, {"complex_to_real": True}])
def test_exact_columns_may_be_among_the_components(options, X):
    model = RandomMaclaurin(PolynomialKernel(3), 40, h01=True, include_exact=True, **options)
    n_exact = 6 if options.get("include_bias", True) else 5
    assert model.fit_transform(X).shape == (40, 40)
    assert model.n_components_ == 40 - n_exact
    assert model.set_params(n_components=41).fit_transform(X).shape[1] in (40, 41)
    with pytest.raises(ValueError, match=f"no random features with the {n_exact} exact columns"):
        model.set_params(n_components=n_exact).fit(X)


@pytest.mark.parametrize("complex_to_real", [False, True])
def test_orthogonal_signs_do_no_harm(complex_to_real):
    # few large coordinates, for which columns of a block are far from independent
    X = np.random.default_rng(0).normal(size=(60, 57)) * 0.8 ** np.arange(57)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    kernel = HomogeneousPolynomialKernel(2)
    gram, errors = kernel(X), {}
    for projection in ("signs", "hadamard"):
        model = RandomMaclaurin(kernel, 256, measure="support", projection=projection)
        model.set_params(complex_to_real=complex_to_real)
        maps = (clone(model).set_params(random_state=seed).fit_transform(X) for seed in range(40))
        errors[projection] = np.median([np.linalg.norm(Z @ Z.T - gram) for Z in maps])
    assert errors["hadamard"] < 1.02 * errors["signs"]


def test_complex_features_are_pairs_of_columns(X):
    model = RandomMaclaurin(PolynomialKernel(3), 40, complex_to_real=True, random_state=0).fit(X)
    assert model.transform(X).shape == (40, 40)
    assert len(model.degrees_) == 20
    accuracy = UniformAccuracy(epsilon=0.9, delta=0.9)
    model = clone(model).set_params(kernel="homogeneous_polynomial", n_components=accuracy)
    assert model.set_params(truncation=1).fit(X[:, :1]).n_components_ % 2 == 0
    with pytest.raises(ValueError, match="'n_components' = 41 must be even"):
        model.set_params(n_components=41).fit(X)


def test_a_fast_transform_gives_the_same_features(X, monkeypatch):
    model = RandomMaclaurin(PolynomialKernel(4), 40, projection="hadamard", random_state=0)
    for center in (False, True):
        model.set_params(center=center).fit(X)
        slow = model.transform(X)
        monkeypatch.setattr("kernlearn.features.hadamard._COST", 0.0)
        np.testing.assert_allclose(model.transform(X), slow, atol=1e-12)
        np.testing.assert_allclose(model.transform(sparse.csr_array(X)), slow, atol=1e-12)
        monkeypatch.undo()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("projection", ["signs", "hadamard"])
@pytest.mark.parametrize("h01", [False, True])
@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_rows_may_be_scaled_first(kernel, h01, projection, dtype, X, monkeypatch):
    points = (X + 0.3).astype(dtype)
    model = RandomMaclaurin(
        kernel, 40, center=True, h01=h01, projection=projection, random_state=0
    )
    scaled = model.fit_transform(points)
    for kind in (AlongTheMean, AroundTheMean):
        monkeypatch.setattr(kind, "row_scales", lambda *arguments: None)
    tolerance = 2e-5 if dtype == np.float32 else 1e-12
    np.testing.assert_allclose(scaled, model.transform(points), rtol=tolerance, atol=tolerance)


def test_a_point_without_a_part_along_the_mean_is_not_scaled():
    X = np.array([[1.0, 0.0], [1.0, 0.5], [1.0, -0.5]])
    model = RandomMaclaurin(HomogeneousPolynomialKernel(4), 30, center=True, random_state=0).fit(X)
    points = np.array([[0.0, 1.0], [1e-90, 1.0], [0.5, 0.5]])
    np.testing.assert_allclose(
        model.transform(points), slow_transform(model, points), rtol=1e-11, atol=1e-13
    )


def test_h01_is_exact_in_orders_0_and_1(X):
    kernel = DotProductKernel([2.0, 1.0, 1.0])
    model = RandomMaclaurin(kernel, 10, h01=True, random_state=0).fit(X)
    Z = model.transform(X)
    assert Z.shape == (40, 1 + 5 + 10)
    np.testing.assert_allclose(Z[:, :6] @ Z[:, :6].T, 2 + X @ X.T, rtol=1e-12, atol=1e-12)
    assert model.degrees_.min() == 2
    without_bias = clone(model).set_params(include_bias=False).fit_transform(X)
    np.testing.assert_array_equal(without_bias, Z[:, 1:])


def test_h01_leaves_out_terms_that_the_kernel_lacks(X):
    model = RandomMaclaurin(HomogeneousPolynomialKernel(3), 10, h01=True, random_state=0)
    assert model.fit_transform(X).shape == (40, 10)
    only_linear = DotProductKernel([0.0, 1.0, 1.0])
    assert clone(model).set_params(kernel=only_linear).fit_transform(X).shape == (40, 15)
    assert clone(model).set_params(kernel="polynomial", truncation=[1, 2]).fit_transform(
        X
    ).shape == (40, 15)


def test_zero_features_of_the_thesis_measure(X):
    model = RandomMaclaurin(PolynomialKernel(1), 200, random_state=0).fit(X)
    zero = model.degrees_ > 1
    assert zero.any()
    assert not model.transform(X)[:, zero].any()
    assert model.omega_.shape[1] == (model.degrees_ == 1).sum()
    assert set(np.unique(model.omega_)) == {-1, 1}


@pytest.mark.parametrize("h01", [False, True])
def test_parts_make_the_whole(h01, X):
    model = RandomMaclaurin(PolynomialKernel(4), 50, h01=h01, random_state=0).fit(X)
    whole = model.transform(X)
    # A product of blocks of another height is rounded otherwise, relative to its factors.
    for block_rows in (1, 6, 100):
        model.set_params(block_rows=block_rows)
        blocks = list(model.transform_blocks(X))
        assert [rows.start for rows, _ in blocks] == list(range(0, 40, block_rows))
        np.testing.assert_allclose(
            np.vstack([Z for _, Z in blocks]), whole, rtol=1e-12, atol=1e-13
        )
    np.testing.assert_allclose(model.transform(X[5:9]), whole[5:9], rtol=1e-12, atol=1e-13)


def test_blocks_check_their_input_at_once(X):
    model = RandomMaclaurin(random_state=0).fit(X)
    with pytest.raises(ValueError, match="features"):
        model.transform_blocks(X[:, :2])


def test_randomness_is_the_seed_alone(X):
    model = RandomMaclaurin(PolynomialKernel(4), 80, random_state=5)
    Z = model.fit_transform(X)
    np.testing.assert_array_equal(Z, clone(model).fit_transform(X))
    np.testing.assert_array_equal(Z, clone(model).fit(X[::-1]).transform(X))
    other = clone(model).set_params(random_state=6).fit_transform(X)
    assert not np.allclose(Z, other)


def test_the_kernel_is_cloned_and_fitted(X):
    kernel = ExponentialKernel()
    model = RandomMaclaurin(kernel, 10, random_state=0).fit(X)
    assert not hasattr(kernel, "sigma_")
    assert model.kernel_.sigma_ > 0
    assert model.set_params(kernel__sigma=2.0).fit(X).kernel_.sigma_ == 2.0


def test_truncation_error(X):
    model = RandomMaclaurin(ExponentialKernel(1.0), 10, truncation=1e-3, random_state=0).fit(X)
    difference = np.abs(model.kernel_(X) - model.truncated_kernel_(X)).max()
    assert 0 < difference <= model.truncation_error_ * (1 + 1e-9) <= 1e-3
    assert RandomMaclaurin(random_state=0).fit(X).truncation_error_ == 0


def test_components_from_an_accuracy(X):
    wish = UniformAccuracy(epsilon=3.0, delta=0.1)
    X = 0.3 * X
    expected = maclaurin_n_components(
        PolynomialKernel(), wish, radius=np.abs(X).sum(axis=1).max(), n_features=5
    )
    model = RandomMaclaurin(n_components=wish, random_state=0).fit(X)
    assert model.n_components_ == expected
    as_dict = RandomMaclaurin(n_components={"epsilon": 3.0, "delta": 0.1}, random_state=0)
    assert as_dict.fit(sparse.csr_matrix(X)).n_components_ == expected
    error = np.abs(PolynomialKernel()(X) - model.transform(X) @ model.transform(X).T).max()
    assert error <= 3.0


def test_memory_is_a_block_whatever_the_rows():
    X = np.random.default_rng(0).normal(size=(20000, 20)) / 10
    model = RandomMaclaurin(PolynomialKernel(10), 200, random_state=0).fit(X)
    tracemalloc.start()
    Z = model.transform(X)
    extra = tracemalloc.get_traced_memory()[1] - Z.nbytes
    tracemalloc.stop()
    assert extra < 4 * 2**20


def test_names_and_frames(X):
    pytest.importorskip("pandas")
    model = RandomMaclaurin(n_components=3, h01=True, random_state=0).set_output(
        transform="pandas"
    )
    frame = model.fit_transform(X)
    assert list(frame.columns) == [f"randommaclaurin{i}" for i in range(9)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "gauss"}, "'kernel' must be one of"),
        ({"kernel": 3}, "'kernel' parameter"),
        ({"kernel": DotProductKernel([1.0, -1.0])}, "'series' has coefficient -1 at order 1"),
        ({"p": 1.0}, "'p' parameter"),
        ({"n_components": 0}, "'n_components' parameter"),
        ({"n_components": {"epsilon": 1.0}}, "'n_components' as a dict must have"),
        ({"n_components": {"epsilon": 1.0, "delta": 2.0}}, "'delta' must be"),
        ({"n_components": UniformAccuracy(1e-3, 0.1)}, "at most 10000000 can be had"),
        ({"measure": "uniform"}, "'measure' parameter"),
        ({"truncation": 1.0}, "'truncation' parameter"),
        ({"truncation": -1}, "'truncation' parameter"),
        ({"truncation": [-1]}, "'truncation' must be"),
        ({"kernel": PolynomialKernel(1), "h01": True, "measure": "support"}, "measure='support'"),
        ({"block_rows": 0}, "'block_rows' parameter"),
    ],
)
def test_bad_parameters(options, message, X):
    with pytest.raises(ValueError, match=message):
        RandomMaclaurin(**options).fit(X)


def test_points_beyond_the_radius_of_convergence(X):
    with pytest.raises(ValueError, match="converges below 1 only"):
        RandomMaclaurin(VovkKernel()).fit(1.01 * X)
    with pytest.raises(ValueError, match="radius of convergence"):
        RandomMaclaurin(VovkKernel(), truncation=0.1).fit(1.01 * X)
    model = RandomMaclaurin(VovkKernel(), truncation=3).fit(1.01 * X)
    assert model.truncation_error_ == np.inf


@pytest.mark.parametrize("n_samples", [1, 3, 1000])
@pytest.mark.parametrize("as_matrix", [np.asarray, sparse.csr_matrix])
def test_threads_change_nothing(n_samples, as_matrix):
    X = as_matrix(np.random.default_rng(0).normal(size=(n_samples, 7)) / 10)
    model = RandomMaclaurin(PolynomialKernel(4), 300, h01=True, random_state=0).fit(X)
    Z = model.transform(X)
    np.testing.assert_allclose(model.set_params(n_jobs=2).transform(X), Z, rtol=1e-13, atol=1e-16)
