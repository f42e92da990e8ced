from itertools import pairwise
from math import sqrt

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from kernlearn.exceptions import ReportError
from kernlearn.reports.ranks import critical_difference, friedman, holm, rank_methods

# AUC on 14 data sets, Demšar (2006), table 6; for `voting` the paper ranks two equal numbers 2, 3
DEMSAR = pd.DataFrame(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ],
    columns=["C4.5", "+m", "+cf", "+m+cf"],
)
AVERAGE = {"+m+cf": 1.964, "+m": 2.000, "+cf": 2.893, "C4.5": 3.143}


def test_the_worked_example_of_demsar():
    ranks = rank_methods(DEMSAR, 1, control="C4.5")
    assert list(ranks.average) == list(AVERAGE)
    assert ranks.average == pytest.approx(AVERAGE, abs=5e-4)
    assert (ranks.n_datasets, ranks.n_ties, ranks.left_out) == (14, 4, {})
    # section 3.2.2, without a correction for ties: 9.28 and 3.69 > F(3, 39) = 2.85
    plain = (DEMSAR * -1).rank(axis=1).to_numpy()
    chi_square, f_statistic, p_value = friedman(plain, ties=False)
    assert chi_square == pytest.approx(9.28, abs=0.01)
    assert f_statistic == pytest.approx(3.69, abs=0.01)
    assert 0.01 < p_value < 0.05
    # the correction makes both greater
    assert ranks.chi_square > 9.28
    assert ranks.p_value < p_value
    assert ranks.differ
    # Nemenyi: 2.569 · sqrt(4 · 5 / (6 · 14)) = 1.25; at 0.1 with 2.291, 1.12
    assert ranks.critical_difference == pytest.approx(1.25, abs=0.005)
    assert critical_difference(4, 14, 0.1) == pytest.approx(1.12, abs=0.005)
    # at 0.05 the best and the worst are closer, at 0.1 C4.5 is worse than +m and +m+cf
    assert ranks.groups == [["+m+cf", "+m", "+cf", "C4.5"]]
    assert rank_methods(DEMSAR, 1, 0.1).groups == [["+m+cf", "+m", "+cf"], ["+cf", "C4.5"]]
    # against C4.5 the paper has z = 2.416, 2.342 and 0.512: p = .016, .019 and .607
    assert list(ranks.holm) == ["+m+cf", "+m", "+cf"]
    assert ranks.holm["+m+cf"] == pytest.approx(3 * 0.016, abs=0.002)
    assert ranks.holm["+m"] == pytest.approx(3 * 0.016, abs=0.002)  # 2 · 0.019 is less
    assert ranks.holm["+cf"] == pytest.approx(0.607, abs=0.005)


@pytest.mark.parametrize(
    ("n_methods", "q"), [(2, 1.960), (3, 2.343), (5, 2.728), (7, 2.949), (10, 3.164)]
)
def test_critical_values_of_nemenyi(n_methods, q):
    """Demšar (2006), table 5 (a)."""
    expected = q * sqrt(n_methods * (n_methods + 1) / (6 * 20))
    assert critical_difference(n_methods, 20) == pytest.approx(expected, abs=5e-4)


@given(arrays(int, st.tuples(st.integers(2, 9), st.integers(3, 6)), elements=st.integers(0, 4)))
def test_friedman_is_that_of_scipy(scores):
    frame = pd.DataFrame(scores.astype(float), columns=[f"m{i}" for i in range(scores.shape[1])])
    ranks = rank_methods(frame, 1)
    n, k = scores.shape
    if (scores == scores[:, :1]).all():
        assert (ranks.chi_square, ranks.p_value, ranks.differ) == (0, 1, False)
        return
    expected = stats.friedmanchisquare(*scores.T)
    assert ranks.chi_square == pytest.approx(expected.statistic, abs=1e-9)
    if np.isfinite(ranks.f_statistic):
        # the share of the variance that the methods explain, in both
        share = ranks.f_statistic / (ranks.f_statistic + n - 1)
        assert share == pytest.approx(expected.statistic / (n * (k - 1)), abs=1e-9)


@given(
    arrays(
        float,
        st.tuples(st.integers(2, 6), st.integers(3, 5)),
        elements=st.sampled_from([0.1, 0.2, 0.3]),
    ),
    st.sampled_from([1, -1]),
)
def test_ranks_and_groups_are_the_obvious_ones(scores, better):
    names = [f"m{i}" for i in range(scores.shape[1])]
    ranks = rank_methods(pd.DataFrame(scores, columns=names), better)
    for i, name in enumerate(names):
        places = [
            1
            + sum(better * (v - row[i]) > 0 for v in row)
            + sum(v == row[i] for j, v in enumerate(row) if j != i) / 2
            for row in scores.tolist()
        ]
        assert ranks.average[name] == pytest.approx(np.mean(places))
    assert all(a <= b for a, b in pairwise(ranks.average.values()))
    together = {frozenset((a, b)) for g in ranks.groups for a in g for b in g if a != b}
    for a in names:
        for b in names:
            near = abs(ranks.average[a] - ranks.average[b]) < ranks.critical_difference
            if a != b:
                assert (frozenset((a, b)) in together) == (near or not ranks.differ)


def test_holm_is_the_obvious_procedure():
    average = {"a": 1.2, "b": 2.0, "c": 3.1, "d": 3.7}
    error = sqrt(4 * 5 / (6 * 15))
    raw = {m: 2 * stats.norm.sf(abs(r - 2.0) / error) for m, r in average.items() if m != "b"}
    adjusted = holm(average, 15, "b")
    for m, p in adjusted.items():
        # the smallest level at which the procedure rejects
        smaller = [q for q in sorted(raw.values()) if q <= raw[m]]
        assert p == pytest.approx(max(min(1, (3 - i) * q) for i, q in enumerate(smaller)))


def test_all_data_sets_alike_is_as_likely_as_that():
    order = pd.DataFrame([[3.0, 2.0, 1.0]] * 2, columns=list("abc"))
    assert rank_methods(order, 1).p_value == pytest.approx(1 / 6)
    assert not rank_methods(order, 1).differ
    assert rank_methods(pd.concat([order] * 3), 1).p_value == pytest.approx(6.0**-5)


def test_ranks_of_scores_with_ties_in_both_directions():
    scores = pd.DataFrame({"a": [0.9] * 12, "b": [0.9] * 6 + [0.8] * 6, "c": [0.5] * 12})
    ranks = rank_methods(scores, 1)
    assert ranks.average == {"a": 1.25, "b": 1.75, "c": 3.0}
    assert ranks.n_ties == 6
    assert [*rank_methods(scores, -1).average] == ["c", "b", "a"]


def test_missing_cells_are_said_in_counts():
    scores = pd.DataFrame(np.ones((3, 3)), columns=list("abc"), index=["x", "y", "z"])
    scores.loc["x", "a"] = np.nan
    assert rank_methods(scores, 1).left_out == {"x": ["a"]}
    scores.loc["y", ["a", "b"]] = np.nan
    with pytest.raises(ReportError) as error:
        rank_methods(scores, 1)
    assert "1 of 3 data sets has a number of each of 3 methods" in str(error.value)
    assert "a lacks 2 of 3, b lacks 1 of 3" in str(error.value)
    with pytest.raises(ReportError, match="2 methods; ranks need at least 3"):
        rank_methods(scores[["a", "b"]], 1)
    with pytest.raises(ReportError, match="no method 'B' to compare with; did you mean 'b'"):
        rank_methods(pd.DataFrame(np.ones((3, 3)), columns=list("abc")), 1, control="B")
