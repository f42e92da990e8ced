import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernlearn.landmarks.transfer import Ramp
from kernlearn.theory.goodness import (
    landmarks_for_family,
    landmarks_for_loss,
    landmarks_for_margin,
    ramp_covering_number,
)


def test_numbers_of_landmarks_by_hand():
    # 8 / 0.04 ln(2 / 0.005) = 200 ln 400 = 1198.29
    assert landmarks_for_margin(0.2, epsilon=0.1, delta=0.05) == 1199
    # 16 * 9 * 4 / 0.01 ln(4 * 3 / 0.005) = 57600 ln 2400 = 448309.9...
    expected = 57600 * math.log(2400)
    found = landmarks_for_loss(epsilon=0.1, delta=0.05, lipschitz=2, bound=3)
    assert found == math.ceil(expected)
    # 64 / 0.01 ln(16 * 6 / 0.005) = 6400 ln 19200
    expected = 6400 * math.log(19200)
    assert landmarks_for_family(6, epsilon=0.1, delta=0.05) == math.ceil(expected)
    assert landmarks_for_loss(epsilon=100, delta=0.9) == 1


@given(
    gamma=st.floats(1e-3, 2), epsilon=st.floats(1e-3, 0.9), delta=st.floats(1e-9, 0.9)
)  # fmt: skip
def test_theorem_4_2_inverts_its_tail_bound(gamma, epsilon, delta):
    d = landmarks_for_margin(gamma, epsilon=epsilon, delta=delta)
    assert 2 * math.exp(-(gamma**2) * d / 8) <= epsilon * delta * (1 + 1e-9)
    assert 2 * math.exp(-(gamma**2) * (d - 1) / 8) >= epsilon * delta * (1 - 1e-9)


@given(radius=st.floats(0.01, 0.9), slope_max=st.floats(1, 1000))
def test_ramp_covering_number_is_the_smallest(radius, slope_max):
    size = ramp_covering_number(radius, slope_max=slope_max)
    t = np.concatenate([np.linspace(0, 2, 50), 1 / np.geomspace(1, slope_max, 200)])
    # a net of that size: centres of equal parts of the logarithm of the slopes
    ends = np.linspace(0, math.log(slope_max), size + 1)
    centres = np.exp((ends[1:] + ends[:-1]) / 2)
    slopes = np.geomspace(1, slope_max, 37)
    nearest = centres[abs(np.log(slopes[:, None] / centres)).argmin(axis=1)]
    distances = [abs(Ramp(s)(t) - Ramp(c)(t)).max() for s, c in zip(slopes, nearest, strict=True)]
    assert max(distances) <= radius + 1e-9
    # one ramp covers no more than this of the logarithm, so that size - 1 do not do
    covered = -2 * math.log1p(-radius)
    assert (size - 1) * covered <= math.log(slope_max) * (1 + 1e-9)
    steeper = 1.01 / (1 - radius)
    assert abs(Ramp(steeper)(t) - Ramp(1)(t)).max() <= 1 - 1 / steeper
    assert (Ramp(steeper)(1 / steeper) - Ramp(1)(1 / steeper)) > radius


def test_numbers_of_landmarks_refuse():
    with pytest.raises(ValueError, match="'gamma' must be a finite number above 0, got 0"):
        landmarks_for_margin(0, epsilon=0.1, delta=0.1)
    with pytest.raises(ValueError, match="'epsilon' must be a number between 0 and 1, got 1"):
        landmarks_for_margin(0.1, epsilon=1, delta=0.1)
    with pytest.raises(ValueError, match="'delta' must be a number between 0 and 1, got 0"):
        landmarks_for_loss(epsilon=0.1, delta=0)
    with pytest.raises(ValueError, match="'bound' must be a finite number above 0, got inf"):
        landmarks_for_loss(epsilon=0.1, delta=0.1, bound=math.inf)
    with pytest.raises(ValueError, match=r"'covering_number' must be a whole number >= 1, got 0"):
        landmarks_for_family(0, epsilon=0.1, delta=0.1)
    with pytest.raises(ValueError, match=r"'slope_max' must be at least 'slope_min' = 2, got 1"):
        ramp_covering_number(0.1, slope_max=1, slope_min=2)
    with pytest.raises(ValueError, match="exceeds the largest float"):
        landmarks_for_margin(1e-200, epsilon=0.1, delta=0.1)
    assert ramp_covering_number(1.0, slope_max=1e6) == 1
