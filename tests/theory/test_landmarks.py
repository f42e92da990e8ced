import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernlearn.landmarks import Ramp
from kernlearn.metrics import thesis_ndcg
from kernlearn.theory import (
    landmarks_for_approximation,
    landmarks_for_family,
    landmarks_for_loss,
    landmarks_for_margin,
    ndcg_regret_bound,
    ordinal_error_bounds,
    ordinal_sample_sizes,
    ramp_covering_number,
    ranking_sample_sizes,
    ranking_weight_bound,
    regression_sample_sizes,
    sparse_regression_sample_sizes,
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


@given(gamma=st.floats(1e-3, 2), epsilon=st.floats(1e-3, 0.9), delta=st.floats(1e-9, 0.9))
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


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: landmarks_for_margin(0, epsilon=0.1, delta=0.1), "gamma"),
        (lambda: ramp_covering_number(0.1, slope_max=1, slope_min=2), "slope_max"),
        (lambda: sparse_regression_sample_sizes(1.0, tau=2, epsilon=0.1, delta=0.1), "tau"),
        (lambda: ranking_sample_sizes(1.0, n_documents=0, epsilon=0.1, delta=0.1), "n_documents"),
    ],
)
def test_bad_arguments(call, name):
    with pytest.raises(ValueError, match=f"'{name}' must be"):
        call()


def test_extreme_arguments():
    with pytest.raises(ValueError, match="largest float"):
        landmarks_for_margin(1e-200, epsilon=0.1, delta=0.1)
    assert ramp_covering_number(1.0, slope_max=1e6) == 1


WISHES = {
    "bound": st.floats(0.1, 10),
    "epsilon": st.floats(0.01, 2),
    "delta": st.floats(1e-6, 0.9),
}


@given(**WISHES)
def test_sample_sizes_keep_their_bounds(bound, epsilon, delta):
    log_term = math.log(2 / delta)
    for sizes, factor in ((regression_sample_sizes, 32), (ordinal_sample_sizes, 64)):
        found = sizes(bound, epsilon=epsilon, delta=delta)

        def excess(d, n, factor=factor):
            return factor * bound * math.sqrt(log_term / d) + 3 * bound * math.sqrt(log_term / n)

        d, n = found.n_landmarks, found.n_samples
        assert excess(d, n) <= epsilon * (1 + 1e-9)
        assert d == 1 or n == 1 or excess(d - 1, n - 1) >= epsilon * (1 - 1e-9)
        assert found.n_selected is None


@given(**WISHES, tau=st.floats(0.01, 1))
def test_sample_sizes_of_the_sparse_model(bound, epsilon, delta, tau):
    found = sparse_regression_sample_sizes(bound, tau=tau, epsilon=epsilon, delta=delta)
    d, n, k = found.n_landmarks, found.n_samples, found.n_selected
    log_term = math.log(3 / delta)
    terms = [
        32 * bound * math.sqrt(log_term / (tau * d)),
        math.sqrt(18 * bound**2 / k),
        2 * bound * math.sqrt(2 * math.log(2 * d) / n) + 2 * bound * math.sqrt(log_term / 2 / n),
    ]
    assert sum(terms) <= epsilon * (1 + 1e-9)
    for term, size in zip(terms, (d, k, n), strict=True):
        assert size == 1 or term * math.sqrt(size / (size - 1)) >= epsilon / 3 * (1 - 1e-9)


def test_sample_sizes_of_ranking_by_hand():
    found = ranking_sample_sizes(2.0, n_documents=3, epsilon=0.5, delta=0.1)
    assert found.n_landmarks == math.ceil((2 * 64 * 4 * 9 / 0.5) ** 2 * math.log(20))
    assert found.n_samples == math.ceil((2 * 3 * 4 / 0.5) ** 2 * math.log(20))


def test_lemma_5_22_by_hand():
    # accuracy 1/4, δ' = min(0.2, 1/8): 32 ln(2 · 64)
    found = landmarks_for_approximation(1.0, epsilon=0.5, delta=0.2)
    assert found == math.ceil(32 * math.log(128))


def test_theorem_5_21_by_hand():
    # C = 1 / (2 · 0.3 · 0.64), 2mC = 4 / 0.192
    found = ranking_weight_bound(0.8, n_documents=4, epsilon=0.3)
    assert found == pytest.approx(4 / 0.192 * (1 + math.sqrt(4 / 0.192)))


@given(
    f=st.lists(st.floats(-3, 3), min_size=1, max_size=8),
    grades=st.lists(st.integers(0, 3), min_size=8, max_size=8),
    gaps=st.lists(st.floats(0.2, 2), min_size=2, max_size=2),
    margin=st.floats(0.1, 2),
)
def test_errors_of_grades_are_within_their_bounds(f, grades, gaps, margin):
    f, grades = np.array(f), np.array(grades[: len(f)])
    thresholds = np.cumsum([-1, *gaps])
    ends = np.concatenate([[-np.inf], thresholds, [np.inf]])
    losses = np.maximum(margin - f + ends[grades], 0)
    losses += np.maximum(margin - ends[grades + 1] + f, 0)
    errors = np.abs(np.searchsorted(thresholds, f, side="right") - grades)
    zero_one, absolute = ordinal_error_bounds(
        losses.mean(), margin=margin, spacing=np.diff(thresholds).min()
    )
    assert (errors > 0).mean() <= zero_one * (1 + 1e-9)
    assert errors.mean() <= absolute * (1 + 1e-9)


def test_where_the_printed_theorem_5_16_does_not_hold():
    # half of the points lie on the wrong side of a threshold at 0, right at it, others far off
    loss = 0.5 * 0.1  # margin 0.1
    share, _ = ordinal_error_bounds(loss, margin=0.1, spacing=1, as_printed=True)
    assert share == 0.05 < 0.5 == ordinal_error_bounds(loss, margin=0.1, spacing=1)[0]
    # a tenth is wrong by one grade at a loss of 1, thresholds are 0.1 apart
    _, absolute = ordinal_error_bounds(0.1, margin=1, spacing=0.1, as_printed=True)
    assert absolute < 0 < 0.1 < ordinal_error_bounds(0.1, margin=1, spacing=0.1)[1]
    # for thresholds as far apart as the margin, both are the same
    printed = ordinal_error_bounds(0.3, margin=2, spacing=2, as_printed=True)
    np.testing.assert_allclose(printed, ordinal_error_bounds(0.3, margin=2, spacing=2))


@given(
    r=st.lists(st.integers(0, 4), min_size=1, max_size=8).filter(any),
    seed=st.integers(0, 2**32 - 1),
    noise=st.floats(0, 1),
)
def test_ndcg_is_within_the_bound_of_theorem_5_20(r, seed, noise):
    gains = 2.0 ** np.array(r) - 1
    eta = gains / (np.sort(gains)[::-1] / np.log(np.arange(2, len(r) + 2))).sum()
    s = eta + noise * np.random.RandomState(seed).normal(size=len(r))
    bound = ndcg_regret_bound(((s - eta) ** 2).sum(), n_documents=len(r))
    assert 1 - thesis_ndcg(r, s) <= bound + 1e-9
