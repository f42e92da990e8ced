import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kernlearn.features.base import LevelProduct


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
