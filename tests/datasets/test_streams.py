from itertools import islice

import numpy as np
import pytest

from kernlearn.datasets import gaussian_stream, two_gaussians


@pytest.mark.parametrize("batch_size", [1, 7, 1024, 5000])
def test_batches_do_not_change_the_stream(batch_size):
    whole = two_gaussians(2500, 4, drift=0.5, random_state=3)
    X, y = map(
        np.concatenate,
        zip(
            *gaussian_stream(2500, 4, drift=0.5, batch_size=batch_size, random_state=3),
            strict=True,
        ),
    )
    np.testing.assert_array_equal(X, whole.data)
    np.testing.assert_array_equal(y, whole.target)


def test_a_longer_stream_begins_as_a_shorter_one():
    short, long = (two_gaussians(n, random_state=0).data for n in (10, 3000))
    np.testing.assert_array_equal(long[:10], short)


def test_it_is_endless_by_default():
    sizes = [len(y) for _, y in islice(gaussian_stream(batch_size=300, random_state=0), 50)]
    assert sizes == [300] * 50


def test_the_classes_are_normal_around_their_means():
    found = two_gaussians(20_000, 5, positive=0.3, separation=3.0, random_state=0)
    X, y = found.data, found.target
    assert y.mean() == pytest.approx(0.3, abs=0.015)
    gap = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    assert np.linalg.norm(gap) == pytest.approx(3, rel=0.03)
    np.testing.assert_allclose(np.cov(X[y == 1].T), np.eye(5), atol=0.06)


def test_drift_turns_the_means():
    angle = np.pi / 4  # in 1000 points
    X, y = next(gaussian_stream(8000, 3, drift=angle, batch_size=8000, random_state=0))
    signed = X * (2 * y - 1)[:, np.newaxis]
    start, quarter, half = (signed[i : i + 200].mean(axis=0) for i in (0, 1900, 3900))
    assert abs(start @ quarter) < 0.4
    assert start @ half < -0.5


@pytest.mark.parametrize("recurring", [False, True])
def test_jumps_turn_the_means_at_once(recurring):
    turned = {"jump": np.pi / 2, "period": 1500, "recurring": recurring}
    how = {"batch_size": 4500, "random_state": 0}
    X, y = next(gaussian_stream(4500, 3, separation=4.0, **turned, **how))
    still, _ = next(gaussian_stream(4500, 3, separation=4.0, **how))
    np.testing.assert_array_equal(X[:1500], still[:1500])  # the same draws
    signed = X * (2 * y - 1)[:, np.newaxis]
    first, second, third = (signed[i : i + 1500].mean(axis=0) for i in (0, 1500, 3000))
    assert abs(first @ second) < 0.3
    assert first @ third == pytest.approx(4 if recurring else -4, abs=0.3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_features": 1}, "'n_features' must be at least 2"),
        ({"positive": 1.0}, "'positive' must be a number"),
        ({"batch_size": 0}, "'batch_size' must be an int >= 1"),
        ({"n_samples": 0}, "'n_samples' must be an int >= 1"),
        ({"jump": -1}, "'jump' must be a finite number of 0 or more"),
        ({"period": 0}, "'period' must be an int >= 1"),
        ({"drift": -1}, "'drift' must be a finite number of 0 or more"),
    ],
)
def test_bad_parameters_are_refused_at_once(parameters, message):
    with pytest.raises(ValueError, match=message):
        gaussian_stream(**parameters)
