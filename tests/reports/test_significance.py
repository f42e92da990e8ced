import numpy as np
import pandas as pd
import pytest
from scipy import stats

from kernlearn.reports.significance import best_methods, paired, paired_interval


def runs_of(**values):
    rows = [(m, s, v) for m, vs in values.items() for s, v in enumerate(vs) if v is not None]
    return pd.DataFrame(rows, columns=["method", "split", "value"])


@pytest.mark.parametrize("level", [0.05, 0.2])
def test_the_interval_excludes_zero_when_the_paired_t_test_rejects(level):
    rng = np.random.default_rng(0)
    decided = set()
    for shift in np.linspace(0, 1, 40):
        a, b = rng.normal(size=10), rng.normal(size=10) - shift
        low, high = paired_interval(a - b, level)
        rejected = stats.ttest_rel(a, b).pvalue < level
        assert rejected == (not low <= 0 <= high)
        decided.add(rejected)
    assert decided == {True, False}


def test_equal_differences_leave_no_doubt_and_one_split_all():
    assert paired_interval(np.full(5, 0.1), 0.05) == pytest.approx((0.1, 0.1))
    assert paired_interval(np.zeros(5), 0.05) == (0, 0)
    assert paired_interval(np.array([0.1]), 0.05) == (-np.inf, np.inf)


def test_only_splits_that_both_have_are_compared():
    runs = runs_of(A=[1.0, 2.0, None, 4.0], B=[0.5, None, 1.0, 1.0])
    np.testing.assert_allclose(paired(runs, "A", "B"), [0.5, 3.0])
    assert len(paired(runs, "A", "C")) == 0


def test_the_best_and_what_is_not_significantly_worse():
    rng = np.random.default_rng(1)
    base = 0.9 + 0.01 * rng.normal(size=20)
    noise = 0.01 * rng.normal(size=20)
    runs = runs_of(A=base, B=base - 0.001 - noise + noise.mean(), C=base - 0.002)
    # C is always 0.002 behind, B by as much on average as makes no difference
    assert best_methods(runs, 1, 0.05) == ["A", "B"]
    assert best_methods(runs.assign(value=-runs["value"]), -1, 0.05) == ["A", "B"]
    assert best_methods(runs, -1, 0.05)[0] == "C"


def test_methods_that_never_differ_are_all_best():
    runs = runs_of(A=[0.9, 0.8], B=[0.9, 0.8], C=[0.7, 0.6])
    assert best_methods(runs, 1, 0.05) == ["A", "B"]
