import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.kernel_approximation import PolynomialCountSketch, RBFSampler
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from kernlearn.features import CompositionalMaclaurin, RandomMaclaurin
from kernlearn.kernels import (
    DotProductKernel,
    ExponentialKernel,
    HomogeneousPolynomialKernel,
    PolynomialKernel,
)


@pytest.fixture
def X():
    return np.array([[0.6, 0.8, 0.0], [0.8, 0.6, 0.0], [0.48, 0.64, 0.6], [0.0, 0.6, 0.8]])


def identity():
    return FunctionTransformer(accept_sparse=True)


@pytest.mark.parametrize("outer", [PolynomialKernel(3), ExponentialKernel(1.2)])
def test_of_random_fourier_features(outer, X):
    inner = RBFSampler(gamma=0.4)
    model = CompositionalMaclaurin(outer, inner, 200_000, random_state=0)
    Z = model.fit_transform(X)
    assert not hasattr(inner, "random_weights_")
    assert model.columns_ == "iid"
    assert len(model.inner_maps_) == 1
    np.testing.assert_allclose(Z @ Z.T, outer.function(rbf_kernel(X, gamma=0.4)), rtol=0.05)


def test_of_random_maclaurin_features_whose_columns_are_sorted(X):
    outer, inner = PolynomialKernel(2), PolynomialKernel(1, coef0=0.5)
    Z = CompositionalMaclaurin(
        outer, RandomMaclaurin(inner, measure="support"), 400_000, random_state=0
    ).fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, outer.function(inner(X)), rtol=0.06)


def test_of_the_identity_has_the_features_of_algorithm_1(X):
    # Of the same degrees and signs they are the same, number by number.
    options = {"n_components": 50, "random_state": 3}
    plain = RandomMaclaurin(PolynomialKernel(4), **options).fit(X)
    model = CompositionalMaclaurin(PolynomialKernel(4), identity(), **options).fit(X)
    np.testing.assert_array_equal(model.degrees_, plain.degrees_)
    np.testing.assert_array_equal(model._signs, plain.omega_)
    np.testing.assert_allclose(model.transform(X), plain.transform(X), rtol=1e-12)


def test_of_a_random_map_with_dependent_columns(X):
    outer = HomogeneousPolynomialKernel(2)
    inner = RBFSampler(gamma=0.4, n_components=4)
    estimates = []
    for seed in range(8):
        model = CompositionalMaclaurin(
            outer, inner, 150, columns="dependent", measure="support", random_state=seed
        )
        Z = model.fit_transform(X)
        assert len(model.inner_maps_) == 2 * 150
        estimates.append(Z @ Z.T)
    exact = outer.function(rbf_kernel(X, gamma=0.4))
    error = np.std(estimates, axis=0) / np.sqrt(8)
    assert (np.abs(np.mean(estimates, axis=0) - exact) < 4 * error).all()
    np.testing.assert_allclose(np.mean(estimates, axis=0), exact, rtol=0.15)


@pytest.mark.parametrize("options", [{"h01": True}, {"complex_to_real": True}])
def test_columns_of_other_maclaurin_features_are_dependent(options, X):
    inner = RandomMaclaurin(PolynomialKernel(2), 4, **options)
    model = CompositionalMaclaurin(PolynomialKernel(2), inner, 5, random_state=0).fit(X)
    assert model.columns_ == "dependent"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("convert", [np.asarray, sparse.csr_matrix])
@pytest.mark.parametrize(
    ("inner", "columns"),
    [
        (RBFSampler(), "iid"),
        (identity(), "dependent"),
        (PolynomialCountSketch(n_components=8), "dependent"),
    ],
)
def test_against_the_slow_version(inner, columns, convert, dtype):
    X = np.random.default_rng(0).normal(size=(23, 4)).astype(dtype) / 2
    model = CompositionalMaclaurin(
        PolynomialKernel(4), inner, 40, columns=columns, random_state=0
    ).fit(convert(X))
    Z = model.transform(convert(X))
    assert Z.dtype == dtype
    counts = np.where(np.isfinite(model.log_weights_), model.degrees_, 0)
    expected = np.tile(np.exp(model.log_weights_), (23, 1))
    n_factors, column = counts.sum(), 0
    for level in range(counts.max()):
        for i in np.flatnonzero(counts > level):
            used = model.inner_maps_[column if len(model.inner_maps_) > 1 else 0]
            A = np.asarray(used.transform(X), dtype=np.float64)
            if columns == "iid":
                expected[:, i] *= np.sqrt(n_factors) * A[:, model._shuffled[column]]
            else:
                expected[:, i] *= A @ model._signs[:, column]
            column += 1
    tolerance = 2e-4 if dtype == np.float32 else 1e-10
    np.testing.assert_allclose(Z, expected, rtol=tolerance, atol=tolerance)


def test_every_map_has_a_seed_of_its_own(X):
    inner = make_pipeline(identity(), RBFSampler(n_components=3))
    model = CompositionalMaclaurin("polynomial", inner, 20, random_state=0).fit(X)
    seeds = [fitted.get_params()["rbfsampler__random_state"] for fitted in model.inner_maps_]
    assert model.columns_ == "dependent"
    assert len(set(seeds)) == len(seeds) == np.sum(model.degrees_[model.degrees_ <= 2])


def test_a_width_from_data_is_that_of_the_inner_features(X):
    model = CompositionalMaclaurin(ExponentialKernel(), identity(), 10, random_state=0).fit(X)
    assert model.kernel_.sigma_ == pytest.approx(ExponentialKernel().fit(X).sigma_)


def test_constants_need_no_factor(X):
    for inner in (RBFSampler(), identity(), PolynomialCountSketch()):
        model = CompositionalMaclaurin(DotProductKernel([2.0]), inner, 8, measure="support")
        np.testing.assert_allclose(model.fit_transform(X), np.sqrt(2 / 8))


class Twice(TransformerMixin, BaseEstimator):
    """A random map with two columns per component."""

    def __init__(self, n_components=2, random_state=None):
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.ones((X.shape[0], 2 * self.n_components))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"inner": identity(), "columns": "iid"}, "columns='iid' needs .* 'n_components'"),
        ({"inner": Twice(), "columns": "iid"}, "one column per component"),
        ({"kernel": "rbf"}, "no similarity"),
    ],
)
def test_bad_parameters(options, message, X):
    with pytest.raises(ValueError, match=message):
        CompositionalMaclaurin(**options).fit(X)


@pytest.mark.parametrize(
    ("inner", "gram"),
    [
        (None, lambda X: rbf_kernel(X, gamma=1.0)),
        (RBFSampler(gamma="scale"), lambda X: rbf_kernel(X, gamma=1 / (X.shape[1] * X.var()))),
        (RandomMaclaurin(PolynomialKernel(2)), PolynomialKernel(2)),
        (identity(), lambda X: X @ X.T),
    ],
)
def test_the_composed_kernel_is_that_of_known_inner_maps(inner, gram, X):
    outer = ExponentialKernel(1.2)
    model = CompositionalMaclaurin(outer, inner, 5, random_state=0).fit(X)
    np.testing.assert_allclose(model.composed_kernel(X), outer.function(gram(X)))


def test_the_composed_kernel_of_other_inner_maps_is_unknown(X):
    model = CompositionalMaclaurin(inner=PolynomialCountSketch(), random_state=0).fit(X)
    with pytest.raises(ValueError, match="estimates is not known"):
        model.composed_kernel(X)
