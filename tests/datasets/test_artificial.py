"""Generators: the same for a seed, and distributed as they say."""

import numpy as np
import pytest

from kernlearn.datasets import (
    fingerprint,
    generators,
    indefinite_similarity,
    rings,
    two_gaussians,
    two_moons,
    unit_ball,
    waveform,
)


@pytest.mark.parametrize("name", generators())
def test_every_generator(name):
    make = generators()[name].load()
    made = make(n_samples=40, random_state=3)
    assert made.data.shape[0] == 40
    assert made.fingerprint == make(n_samples=40, random_state=3).fingerprint
    assert made.fingerprint == fingerprint(made.data, made.target)
    assert made.fingerprint != make(n_samples=40, random_state=4).fingerprint
    assert generators()[name].title.endswith(".")
    with pytest.raises(ValueError, match="n_samples"):
        make(n_samples=0)


def test_points_have_the_stated_distributions():
    X = unit_ball(4000, 3, random_state=0).data
    norms = np.linalg.norm(X, axis=1)
    assert norms.max() <= 1
    assert np.mean(norms <= 0.5) == pytest.approx(0.125, abs=0.02)
    assert waveform(3000, random_state=0).data.shape == (3000, 21)
    assert np.bincount(two_moons(100, random_state=0).target).tolist() == [50, 50]
    drawn = rings(200, noise=0.0, factor=0.3, random_state=0)
    np.testing.assert_allclose(np.linalg.norm(drawn.data[drawn.target == 1], axis=1), 0.3)
    drawn = two_gaussians(20_000, 4, positive=0.25, separation=3.0, random_state=0)
    assert drawn.target.mean() == pytest.approx(0.25, abs=0.01)
    np.testing.assert_array_equal(
        two_gaussians(1500, 4, positive=0.25, separation=3.0, random_state=0).data,
        drawn.data[:1500],
    )
    means = [drawn.data[drawn.target == code].mean(axis=0) for code in (0, 1)]
    assert np.linalg.norm(means[1] - means[0]) == pytest.approx(3, abs=0.1)


@pytest.mark.parametrize(("negative", "n_negative"), [(0.0, None), (0.3, None), (0.2, 5)])
def test_indefinite_similarities_have_the_stated_spectrum(negative, n_negative):
    drawn = indefinite_similarity(60, negative, n_negative, random_state=0)
    S = drawn.data
    values = np.linalg.eigvalsh(S)
    below = values < -1e-12
    np.testing.assert_array_equal(S, S.T)
    assert np.abs(S).max() == pytest.approx(1)
    assert -values[below].sum() / np.abs(values).sum() == pytest.approx(negative)
    assert n_negative is None or below.sum() == n_negative
    assert np.bincount(drawn.target).tolist() == [30, 30]
