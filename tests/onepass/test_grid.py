"""Rounding of features to multiples of units."""

import numpy as np
import pytest

from kernlearn.onepass.grid import Grid, multiples

RNG = np.random.default_rng(0)


def test_units_follow_spreads_and_centres_means():
    spreads = np.array([1e-9, 1.0, 3e8, 0.0, 1.0])
    means = np.array([0.0, -5.0, 1.0, 0.7, 1e9])
    Z = means + spreads * RNG.normal(size=(4000, 5))
    grid = Grid.of_sample(Z)
    assert (np.log2(grid.units) % 1 == 0).all()
    ratios = grid.units[:3] / spreads[:3]
    assert (ratios > 2.0**-18 * 0.9).all()
    assert (ratios < 2.0**-17 * 1.1).all()
    assert grid.centers[3] == 0.7
    assert 2.0**-28 <= grid.units[4] / 1e9 <= 2.0**-27
    out = np.empty_like(Z)
    assert not len(grid.round(Z, out))
    assert (out == np.rint(out)).all()
    assert not out[:, 3].any()
    assert (np.abs(grid.centers + out * grid.units - Z) <= 0.5001 * grid.units).all()


def test_whole_numbers_stay_exact():
    Z = RNG.integers(-50, 50, size=(1000, 3)).astype(float)
    grid = Grid.of_sample(Z)
    out = np.empty_like(Z)
    grid.round(Z, out)
    np.testing.assert_array_equal(out * grid.units + grid.centers, Z)


def test_rows_close_to_ties_are_found():
    Z = RNG.normal(size=(1000, 2))
    grid = Grid.of_sample(Z, np.full(2, 1e-16))
    rows = grid.centers + grid.units * np.array(
        [[0.5, 0], [0.25, 0], [7, -3.5 + 2.0**-22], [4, 1]]
    )
    np.testing.assert_array_equal(grid.round(rows, np.empty_like(rows)), [0, 2])
    noisy = Grid.of_sample(Z, np.full(2, 1e-9))
    assert (noisy.units >= 1e-9 * 2**12).all()
    assert (noisy.margins * noisy.units >= 64e-9 * 0.99).all()


def test_rows_close_to_ties_are_computed_alone():
    Z = RNG.normal(size=(100, 1))
    grid = Grid.of_sample(Z, np.full(1, 1e-16))
    rows = grid.centers + grid.units * np.array([[3.5], [0.1], [8.2]])
    calls = []

    def transform(X):
        calls.append(len(X))
        return X + (1e-3 * grid.units if len(X) == 1 else 0)

    out = np.empty((3, 1))
    multiples(grid, transform, rows, out, 2)
    assert calls == [2, 1, 1]
    assert out.ravel().tolist() == [4, 0, 8]
    calls.clear()
    multiples(grid, transform, rows, out, 2, depends_on_block=False)
    assert calls == [2, 1]


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e40])
def test_values_that_cannot_be_rounded(value):
    Z = RNG.normal(size=(100, 2))
    grid = Grid.of_sample(Z)
    Z[3, 1] = value
    with pytest.raises(ValueError, match=r"feature 1 is (nan|inf|1e\+40)"):
        grid.round(Z, np.empty_like(Z))


def test_samples_must_be_finite():
    with pytest.raises(ValueError, match="NaN or infinite values for its sample"):
        Grid.of_sample(np.array([[1.0], [np.nan]]))
