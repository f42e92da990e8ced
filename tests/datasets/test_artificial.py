import numpy as np
import pytest

from kernlearn.datasets import fingerprint, generators, load, rings, two_moons, unit_ball, waveform

NAMES = [name for name, one in generators().items() if one.points == "vectors"]


def test_the_registry():
    assert NAMES == [
        "indefinite_similarity",
        "rings",
        "two_gaussians",
        "two_moons",
        "unit_ball",
        "waveform",
    ]
    ball = generators()["unit_ball"]
    assert dict(ball.parameters) == {"n_samples": 100, "n_features": 50, "random_state": None}
    assert ball.title.startswith("Draw points uniformly from the unit ball")


@pytest.mark.parametrize("name", NAMES)
def test_data_comes_as_from_load(name):
    bunch = generators()[name](n_samples=30, random_state=3)
    assert bunch.keys() - {"similarity"} == load("iris").keys() - {"similarity", "query"}
    assert bunch.data.dtype == np.float64
    assert bunch.data.shape == (30, len(bunch.feature_names))
    assert bunch.fingerprint == fingerprint(bunch.data, bunch.target)
    if name != "unit_ball":
        assert bunch.target.dtype == np.int64
        assert set(bunch.target_names[bunch.target]) == set(bunch.target_names)


@pytest.mark.parametrize("name", NAMES)
def test_the_seed_decides(name):
    make = generators()[name]
    prints = [make(n_samples=9, random_state=seed).fingerprint for seed in (0, 0, 1)]
    assert prints[0] == prints[1] != prints[2]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [0, -1, 2.5, "3", True, None])
def test_bad_numbers_of_points(name, value):
    with pytest.raises(ValueError, match="'n_samples' must be an int >= 1, got"):
        generators()[name](n_samples=value)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("unit_ball", {"n_features": 0}, "'n_features' must be an int >= 1, got 0"),
        ("unit_ball", {"noise": 1}, "unit_ball has no parameter noise; allowed: n_samples, n_f"),
        ("rings", {"factor": 1}, "'factor' must be a number from 0 to below 1, got 1"),
        ("rings", {"noise": -0.1}, "'noise' must be a finite number of 0 or more, got -0.1"),
        ("two_moons", {"noise": float("nan")}, "'noise' must be a finite number .* got nan"),
        ("two_moons", {"noise": "much"}, "'noise' must be a finite number .* got 'much'"),
    ],
)
def test_other_bad_parameters(name, parameters, message):
    with pytest.raises(ValueError, match=message):
        generators()[name](**parameters)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_the_ball_is_filled_evenly(d):
    n = 20000
    X = unit_ball(n_samples=n, n_features=d, random_state=0).data
    radii = np.sort(np.linalg.norm(X, axis=1))
    assert radii[-1] <= 1
    # Kolmogorov-Smirnov against P[radius < r] = r^d, at a level of about 1e-4
    assert np.abs(radii**d - np.arange(1, n + 1) / n).max() < 2.23 / np.sqrt(n)
    # by symmetry the mean is 0 and the covariance E[r²]/d = 1/(d + 2) on the diagonal
    five_sigma = 5 / np.sqrt(n)
    assert np.abs(X.mean(axis=0)).max() < five_sigma
    assert np.abs(X.T @ X / n - np.eye(d) / (d + 2)).max() < five_sigma


def slow_wave(number, t):
    centre = {1: 11, 2: 15, 3: 7}[number]
    return max(6 - abs(t - centre), 0)


def test_waves_have_breimans_moments():
    bunch = waveform(n_samples=30000, random_state=1)
    for label, (i, j) in enumerate([(1, 2), (1, 3), (2, 3)]):
        X = bunch.data[bunch.target == label]
        first, second = (np.array([slow_wave(k, t) for t in range(1, 22)]) for k in (i, j))
        five_sigma = 5 / np.sqrt(len(X))
        assert abs(len(X) / 30000 - 1 / 3) < five_sigma
        # u has mean 1/2 and variance 1/12; the noise has variance 1
        variance = 1 + (first - second) ** 2 / 12
        assert (np.abs(X.mean(axis=0) - (first + second) / 2) < five_sigma * variance**0.5).all()
        assert (np.abs(X.var(axis=0) / variance - 1) < five_sigma * np.sqrt(2)).all()
        outer = np.outer(first - second, first - second) / 12 + np.eye(21)
        assert np.abs(np.cov(X.T) - outer).max() < 2 * five_sigma * outer.max()


def test_moons_and_rings_without_noise_lie_on_their_curves():
    moons = two_moons(n_samples=40, noise=0, random_state=0)
    centres = np.where(moons.target[:, np.newaxis] == 0, [0, 0], [1, 0.5])
    np.testing.assert_allclose(np.linalg.norm(moons.data - centres, axis=1), 1)
    circles = rings(n_samples=40, noise=0, factor=0.3, random_state=0)
    expected = np.where(circles.target == 0, 1, 0.3)
    np.testing.assert_allclose(np.linalg.norm(circles.data, axis=1), expected)
