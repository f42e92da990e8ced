from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from benchmarks.comparisons import rates, simulate
from kernlearn.config.claims import Check
from kernlearn.reports.claims import Cell, Region, average, cells_needed, decide
from kernlearn.reports.statistics import best_methods, holm, median_interval, resampled


def test_the_interval_excludes_zero_when_the_paired_t_test_rejects():
    rng, decided = np.random.default_rng(0), set()
    for shift, level in product(np.linspace(0, 1, 40), (0.05, 0.2)):
        a, b = rng.normal(size=10), rng.normal(size=10) - shift
        estimate, p = resampled(a - b, 0.0), stats.ttest_rel(a, b).pvalue
        low, high = estimate.interval(level)
        assert estimate.p_value() == pytest.approx(p)
        assert (p < level) == (not low <= 0 <= high)
        decided.add((level, p < level))
    assert len(decided) == 4


def test_the_error_of_overlapping_splits_is_that_of_nadeau_and_bengio():
    values = np.array([0.1, 0.3, 0.2, 0.4])
    estimate = resampled(values, 0.3 / 0.7)
    error = np.sqrt((1 / 4 + 0.3 / 0.7) * values.var(ddof=1))
    assert estimate == (pytest.approx(0.25), pytest.approx(error), 3, 0)
    half = stats.t.ppf(0.975, 3) * error
    moved, wider = resampled(values, 0.3 / 0.7, 0.05), 1 + 0.05 / values.std(ddof=1)
    assert moved.interval(0.05) == pytest.approx((0.2 - wider * half, 0.3 + wider * half))
    assert moved.p_value() == pytest.approx(2 * stats.t.sf(0.2 / wider / error, 3))
    assert estimate.interval(0.05) == pytest.approx((0.25 - half, 0.25 + half))
    assert estimate.p_value() == pytest.approx(2 * stats.t.sf(0.25 / error, 3))
    assert estimate.tail(0.1) == pytest.approx(stats.t.sf(0.1 / error, 3))
    assert resampled(values[:1], 1).interval(0.5) == (-np.inf, np.inf)
    assert resampled(values[:1], 1).p_value() == 1


@pytest.mark.parametrize(("n", "shown"), [(5, False), (6, True)])
def test_equal_values_are_tested_by_their_signs(n, shown):
    """Of five equal signs the two-sided probability is 2/32, of six 2/64."""
    estimate = resampled(np.full(n, 0.5), 0.4)
    assert estimate.p_value() == 2 / 2**n
    assert (estimate.interval(0.05)[0] > 0) == shown


@pytest.mark.exhaustive
@pytest.mark.parametrize("metric", ["accuracy", "mse", "ndcg"])
def test_equal_methods_are_seldom_called_different_and_intervals_are_right(metric):
    tables = [simulate(metric, 0.6, 300, 3, np.random.default_rng(seed)) for seed in range(60)]
    found = rates(tables, 5, 0.4 / 0.6)[False]
    assert found["alarms"] <= 10
    assert found["coverage"] >= 90
    assert found["power"] >= 15
    # with a plain t-test this would be far from both
    plain = rates(tables, 5, 0.0)[True]
    assert plain["coverage"] < found["coverage"] - 5


def test_holms_adjustment_step_by_step():
    p_values = [0.04, 0.001, 0.03, 0.5]
    # 4 · .001; 3 · .03; 2 · .04, but no less than the one before; .5
    assert holm(p_values).tolist() == pytest.approx([0.09, 0.004, 0.09, 0.5])
    assert holm([0.4, 0.6]).tolist() == pytest.approx([0.8, 0.8])
    assert holm([0.9, 0.8, 0.7]).tolist() == [1, 1, 1]


@pytest.mark.parametrize(("n", "left_out"), [(1, 0), (2, 0), (5, 0), (7, 0), (8, 1), (20, 5)])
def test_the_interval_of_a_median_is_between_two_values(n, left_out):
    """Of 20 values the 6th from both ends, of 5 all: binomial tables."""
    values = np.random.default_rng(n).permutation(n)
    assert median_interval(values, 0.1) == (left_out, n - 1 - left_out)


def test_the_best_and_what_is_not_shown_to_be_worse():
    rng = np.random.default_rng(1)
    base = 0.9 + 0.01 * rng.normal(size=20)
    noise = 0.01 * rng.normal(size=20)
    runs = pd.DataFrame({"A": base, "B": base - 0.001 - noise + noise.mean(), "C": base - 0.002})
    # C is always 0.002 behind, B by as much on average as makes no difference
    assert best_methods(runs, 1, 0.05, 0.0) == ["A", "B"]
    assert best_methods(-runs, -1, 0.05, 0.0) == ["A", "B"]
    assert best_methods(runs, -1, 0.05, 0.0)[0] == "C"
    # what scatters too much to be shown anything of is behind C, which is shown to be worse
    runs["D"] = base - 0.5 + 9 * rng.normal(size=20)
    assert best_methods(runs, 1, 0.05, 0.0) == ["A", "B"]


@pytest.mark.parametrize(
    ("ratio", "n_methods", "best"), [(0.0, 2, ["A"]), (3 / 7, 2, ["A", "B"]), (0.0, 8, ["A", "B"])]
)
def test_bold_is_corrected_for_overlap_and_for_all_pairs(ratio, n_methods, best):
    """B is behind A with p = 0.01 for independent splits; the others are far behind."""
    noise = np.random.default_rng(2).normal(size=10)
    noise = (noise - noise.mean()) / noise.std(ddof=1)
    gap = stats.t.isf(0.005, 9) / np.sqrt(10)
    rest = {f"M{i}": -100 - 10 * noise * i for i in range(n_methods - 2)}
    runs = pd.DataFrame({"A": np.zeros(10), "B": -gap + noise, **rest})
    assert best_methods(runs, 1, 0.05, ratio) == best


def cell(values):
    return Cell("", pd.Series(values, dtype=float), float(np.mean(values)))


def check(**asked):
    return Check.model_validate({"metric": "auc", **asked})


def test_how_many_cells_are_asked_for():
    asked = {("all", 7): 7, ("all_but_one", 7): 6, ("all_but_one", 1): 1, ("most", 8): 5}
    asked |= {("some", 7): 1, (5, 7): 5, (5, 3): 5, (0.8, 11): 9, (0.6, 5): 3}
    assert {of: cells_needed(*of) for of in asked} == asked


ALWAYS = 0.01 * np.array([-1, 1, -1, 1, 0])


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("over", ["all", "all_but_one", "most", "some", 2, 0.75])
def test_cells_without_doubt_are_counted(n, over):
    """With every cell far in or far out the decision is a count."""
    for inside in product([True, False], repeat=n):
        cells = [cell(ALWAYS + (1 if is_in else -1)) for is_in in inside]
        k = cells_needed(over, n)
        expected = "not measured" if k > n else "holds" if sum(inside) >= k else "fails"
        assert decide(cells, check(above=0, over=over), Region(low=0)) == expected


def test_a_mean_over_cells_has_their_ratio():
    cells = [Cell("", pd.Series([0.1, 0.3, 0.2]), 0.2, ratio) for ratio in (0.2, 0.4)]
    assert average(cells).estimate == resampled([0.1, 0.3, 0.2], 0.3)


def with_p(p, sign):
    """A cell whose one-sided p-value is p, with its mean on the given side of 0."""
    noise = np.array([-1, 1, -1, 1, 0]) / stats.sem([-1, 1, -1, 1, 0])
    return cell(noise + sign * stats.t.isf(p, 4))


@pytest.mark.parametrize("over", ["all", "all_but_one", "most", "some", 0.75])
@pytest.mark.parametrize("n", [1, 2, 8, 11])
@pytest.mark.parametrize("outcome", ["holds", "fails"])
def test_a_claim_errs_no_more_often_than_its_level(over, n, outcome):
    """The probability of a wrong decision, summed up over all that the tests can say.

    The decision is most often wrong where as many cells are without doubt as leave it so, and
    all others have their mean at the border: their p-values are then uniform.
    """
    level, k = 0.05, cells_needed(over, n)
    shown, sign = (k, 1) if outcome == "holds" else (n - k + 1, -1)
    at_border = n - shown + 1
    strict, plain = level / 2 / at_border, level / 2
    laws = [strict, plain - strict, 1 - plain]
    p_values = [strict / 2, (strict + plain) / 2, 0.3]
    wrong = 0.0
    for counts in product(range(at_border + 1), repeat=3):
        if sum(counts) == at_border:
            cells = [with_p(1e-12, sign)] * (shown - 1)
            for count, p in zip(counts, p_values, strict=True):
                cells += [with_p(p, sign)] * count
            if decide(cells, check(above=0, over=over, level=level), Region(low=0)) == outcome:
                wrong += stats.multinomial.pmf(counts, at_border, laws)
    assert 0 < wrong <= level


@pytest.mark.parametrize("n_out", [1, 3])
def test_one_of_eight_cells_refutes_at_an_eighth_of_the_level(n_out):
    """Whatever others are beyond the level itself: the cells may depend on each other."""
    region = Region(0, 0, presumed=True)
    asked = check(indistinguishable=["a"], than=["b"], over="all")
    for p, outcome in ((0.0032, "not refuted"), (0.0031, "fails")):  # 0.05 / 8 / 2 = 0.003125
        cells = [with_p(p, 1)] * n_out + [cell(ALWAYS)] * (8 - n_out)
        assert decide(cells, asked, region) == outcome
