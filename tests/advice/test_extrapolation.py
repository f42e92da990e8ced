"""Scores and seconds at full size."""

import numpy as np
import pytest

from kernlearn.advice.extrapolation import Mean, mean_over_splits, score_at, seconds_at


def test_seconds_follow_a_power_of_the_rows():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(200):
        noisy = {
            n: list(1e-6 * n**1.7 * np.exp(0.1 * rng.normal(size=3))) for n in (300, 900, 2700)
        }
        found = seconds_at(noisy, 24_300)
        true = 1e-6 * 24_300**1.7 * np.exp(0.1 * rng.normal())
        assert found.low < found.value < found.high
        assert found.value == pytest.approx(1e-6 * 24_300**1.7, rel=0.6)
        covered += found.low <= true <= found.high
    assert covered >= 180


def test_seconds_at_small_sizes_do_not_count():
    # a fixed cost of a second, until it is small beside the rest
    sizes = [100, 300, 900, 2700, 8100, 24_300]
    costs = {n: [1 + 1e-6 * n**2] * 3 for n in sizes}
    found = seconds_at(costs, 72_900)
    assert found.low < 1 + 1e-6 * 72_900**2 < found.high
    assert found.value > 0.5 * 1e-6 * 72_900**2


def test_seconds_that_bend_upwards_are_within_the_interval():
    found = seconds_at({100: [1.0], 300: [1.0], 900: [9.0]}, 2700)
    assert found.high >= 81


def test_seconds_of_one_size_are_uncertain():
    found = seconds_at({100: [0.2, 0.3, 0.2]}, 1000)
    assert found == pytest.approx((2.0, 0.2 * 10**0.5, 20.0))


def test_scores_gain_half_as_much_each_time():
    score = Mean(0.8, 0.01)
    there = score_at(score, 0.04, 900, 900, 3)
    assert there == pytest.approx((0.8, 0.8 - 0.0196, 0.8 + 0.0196))
    found = score_at(score, 0.04, 900, 8100, 3)
    assert found.value == pytest.approx(0.8 + 0.02 + 0.01)
    assert found.low == pytest.approx(0.8 - 0.0196)
    assert found.high == pytest.approx(0.8 + 0.0196 + 0.08)
    # a loss by chance is no loss
    assert score_at(score, -0.04, 900, 8100, 3) == there
    assert score_at(Mean(0.99, 0.01), 0.2, 900, 8100, 3).high == 1
    assert score_at(score, None, 900, 8100, 3).high == 1
    # what has just begun to learn gains no more than the root of the rows allows
    found = score_at(Mean(0.8, 0.0), 0.5, 900, 3600, 2)
    assert found.value == pytest.approx(0.8 + 0.2 / 2)
    assert found.high == pytest.approx(0.8 + 0.2 * 3 / 4)


def test_the_error_of_a_mean_covers_splits_that_share_rows():
    rng = np.random.default_rng(0)
    n, n_test, covered = 500, 100, 0
    for _ in range(300):
        losses = rng.random(n) < 0.3
        splits = [losses[rng.permutation(n)[:n_test]].astype(float) for _ in range(5)]
        found = mean_over_splits(splits, n)
        low, high = found.interval
        covered += low <= 0.3 <= high
    assert covered >= 270


def test_the_error_of_one_split_is_that_of_its_rows():
    values = np.array([0.0, 1.0, 0.0, 1.0])
    assert mean_over_splits([values], 100) == pytest.approx((0.5, 0.25))
