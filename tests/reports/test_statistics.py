from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from kernlearn.config.claims import Check
from kernlearn.reports.claims import Cell, Region, cells_needed, decide
from kernlearn.reports.tests import (
    best_methods,
    corrected_error,
    friedman,
    median_interval,
    paired_interval,
)


def runs_of(**values):
    rows = [(m, s, v) for m, vs in values.items() for s, v in enumerate(vs) if v is not None]
    frame = pd.DataFrame(rows, columns=["method", "split", "value"])
    return frame.pivot(index="split", columns="method", values="value")


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


@pytest.mark.parametrize(
    ("n", "left_out", "covered"),
    # of 20 values the 6th from both ends, of 5 all: binomial tables
    [(1, 0, 0.0), (2, 0, 0.5), (3, 0, 0.75), (5, 0, 0.9375), (20, 5, 0.9586)],
)
def test_the_interval_of_a_median_is_between_two_values(n, left_out, covered):
    values = np.random.default_rng(n).permutation(n)
    low, high, probability = median_interval(values, 0.1)
    assert (low, high) == (left_out, n - 1 - left_out)
    assert probability == pytest.approx(covered, abs=1e-4)


def test_the_best_and_what_is_not_significantly_worse():
    rng = np.random.default_rng(1)
    base = 0.9 + 0.01 * rng.normal(size=20)
    noise = 0.01 * rng.normal(size=20)
    runs = runs_of(A=base, B=base - 0.001 - noise + noise.mean(), C=base - 0.002)
    # C is always 0.002 behind, B by as much on average as makes no difference
    assert best_methods(runs, 1, 0.05) == ["A", "B"]
    assert best_methods(-runs, -1, 0.05) == ["A", "B"]
    assert best_methods(runs, -1, 0.05)[0] == "C"


def cell(values):
    return Cell("", pd.Series(values, dtype=float), float(np.mean(values)))


def check(**asked):
    return Check.model_validate({"metric": "auc", **asked})


@pytest.mark.parametrize(
    ("over", "n", "cells"),
    [
        ("all", 7, 7),
        ("all_but_one", 7, 6),
        ("all_but_one", 1, 1),
        ("most", 7, 4),
        ("most", 8, 5),
        ("some", 7, 1),
        (5, 7, 5),
        (5, 3, 5),
        (0.8, 10, 8),
        (0.8, 11, 9),
        (0.6, 5, 3),
        (0.1, 3, 1),
    ],
)
def test_how_many_cells_are_asked_for(over, n, cells):
    assert cells_needed(over, n) == cells


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


def test_both_tails_of_a_two_sided_region_count():
    """Of eight cells two beyond level 0.05 are no more than chance gives, three are."""
    region = Region(0, 0, presumed=True)
    asked = check(indistinguishable=["a"], than=["b"], over="all")
    for n_out, outcome in ((2, "not refuted"), (3, "fails")):
        cells = [with_p(0.02, 1)] * n_out + [cell(ALWAYS)] * (8 - n_out)
        assert decide(cells, asked, region) == outcome


def test_friedmans_test_is_that_of_scipy_and_iman_and_davenport():
    scores = np.random.default_rng(0).normal(size=(7, 4)) + np.arange(4) / 2
    ranks = stats.rankdata(scores.round(1), axis=1)
    chi_square, f, p = friedman(ranks)
    assert chi_square == pytest.approx(stats.friedmanchisquare(*ranks.T).statistic)
    assert f == pytest.approx(6 * chi_square / (7 * 3 - chi_square))
    assert p == pytest.approx(stats.f.sf(f, 3, 18))
    # three data sets with the same order of three methods: 1 of 36 triples of orders
    assert friedman(np.tile([1.0, 2, 3], (3, 1))) == (6.0, np.inf, pytest.approx(1 / 36))
    assert friedman(np.full((3, 3), 2.0)) == (0.0, 0.0, 1.0)


def test_the_error_of_overlapping_splits_is_that_of_nadeau_and_bengio():
    values = np.array([0.1, 0.3, 0.2, 0.4])
    expected = np.sqrt((1 / 4 + 0.3 / 0.7) * values.var(ddof=1))
    assert corrected_error(values, 0.3 / 0.7) == pytest.approx(expected)
    assert corrected_error(values[:1], 1) == np.inf
