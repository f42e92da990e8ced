"""Cells of claims, against loops that look every number up."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from kernlearn.config.claims import Check
from kernlearn.reports.claims import asked_cells, compared_cells, crossing_cells
from kernlearn.reports.labels import values_of

SIZES = {"RF": [10, 20, 40], "H0/1": [10, 20, 40], "K": [None]}
DATASETS, KERNELS, SPLITS = ("a", "b"), ("polynomial", "exponential"), range(4)
COLUMNS = ["dataset", "kernel", "method", "n_components", "split", "value"]


@pytest.fixture
def values():
    """Numbers of every data set, kernel, method, size and split; one of RF's is missing."""
    rng = np.random.default_rng(0)
    methods = [(method, size) for method, sizes in SIZES.items() for size in sizes]
    found = {
        (d, k, *method, s): rng.uniform(1, 2)
        for d, k, method, s in product(DATASETS, KERNELS, methods, SPLITS)
    }
    del found["a", "polynomial", "RF", 20, 3]
    return found


@pytest.fixture
def rows(values):
    frame = pd.DataFrame([(*place, value) for place, value in values.items()], columns=COLUMNS)
    labels = frame[COLUMNS[:4]].astype(object)
    frame[COLUMNS[:4]] = labels.where(labels.notna(), None)
    return frame.assign(metric="accuracy", ratio=0.5, drift=0.0)


@pytest.fixture
def at(values):
    """Return the numbers of a data set, kernel, method and size by split."""
    return lambda *place: pd.Series(
        {split: value for (*of, split), value in values.items() if (*of,) == place}
    )


def check(**asked):
    return Check.model_validate({"metric": "accuracy", "over": "all", **asked})


def assert_cells(found, expected):
    assert {cell.name for cell in found} == expected.keys()
    for cell in found:
        pd.testing.assert_series_equal(
            cell.values, expected[cell.name].dropna(), check_index_type=False
        )


H_OVER_RF = {"better": ["H0/1"], "than": ["RF"]}


def test_cells_have_the_ratio_of_their_rows(rows):
    rows.loc[rows["dataset"] == "b", "ratio"] = 0.2
    slope = check(trend="rising", along="n_components", of=["RF"])
    found = [
        *compared_cells(values_of(rows), check(**H_OVER_RF), "H0/1", "RF", 1),
        *asked_cells(values_of(rows), slope, "RF"),
        *asked_cells(values_of(rows), check(above=1, mean_over=["n_components"])),
    ]
    for name, ratio in (("a", 0.5), ("b", 0.2)):
        assert {round(c.ratio, 9) for c in found if c.name.startswith(f"{name} ")} == {ratio}


def test_the_same_parameters_are_compared_cells(rows, at):
    expected = {
        f"{d} {k} n_components={n}": at(d, k, "H0/1", n) - at(d, k, "RF", n)
        for d, k, n in product(DATASETS, KERNELS, SIZES["RF"])
    }
    asked = check(**H_OVER_RF)
    assert_cells(compared_cells(values_of(rows), asked, "H0/1", "RF", 1), expected)
    assert_cells(compared_cells(values_of(rows), asked, "RF", "H0/1", -1), expected)


def test_a_method_without_the_parameter_is_compared_with_every_value(rows, at):
    asked = check(better=["RF"], than=["K"], where={"n_components": [10, 40], "dataset": "b"})
    expected = {
        f"b {k} n_components={n}": at("b", k, "RF", n) - at("b", k, "K", None)
        for k, n in product(KERNELS, (10, 40))
    }
    assert_cells(compared_cells(values_of(rows), asked, "RF", "K", 1), expected)
    assert compared_cells(values_of(rows), asked, "K", "K", 1) == []


def test_a_mean_is_taken_over_whole_splits_only(rows, at):
    asked = check(**H_OVER_RF, mean_over=["n_components", "kernel"])
    places = [*product(KERNELS, SIZES["RF"])]
    expected = {
        d: sum(at(d, k, "H0/1", n) - at(d, k, "RF", n) for k, n in places) / len(places)
        for d in DATASETS
    }
    assert_cells(compared_cells(values_of(rows), asked, "H0/1", "RF", 1), expected)
    asked = check(better=["RF"], than=["K"], across=["n_components"])
    (cell, *_) = compared_cells(values_of(rows), asked, "RF", "K", 1)
    assert (cell.name, [*cell.values.index]) == ("a polynomial", [0, 1, 2])


def test_a_mean_over_sizes_that_share_no_split_is_not_compared(rows):
    """Of the smallest size RF has the first two splits only, and H0/1 the others."""
    other_half = (rows["n_components"] == 10) & ((rows["split"] < 2) != (rows["method"] == "RF"))
    asked, values = check(**H_OVER_RF, mean_over=["n_components"]), values_of(rows[~other_half])
    assert all(cell.lacks for cell in compared_cells(values, asked, "H0/1", "RF", 1))


@pytest.mark.parametrize(
    ("question", "better", "formula"),
    [
        ("better", 1, lambda one, other: one - 3 * other),
        ("better", -1, lambda one, other: other - 3 * one),
        ("as_good", 1, lambda one, other: 3 * one - other),
        ("as_good", -1, lambda one, other: 3 * other - one),
    ],
)
def test_a_factor_is_a_difference_from_a_multiple(rows, at, question, better, formula):
    asked = check(**{question: ["H0/1"]}, than=["RF"], times=3)
    found = compared_cells(values_of(rows), asked, "H0/1", "RF", better)
    cell = next(c for c in found if c.name == "b polynomial n_components=20")
    one, other = (at("b", "polynomial", m, 20) for m in ("H0/1", "RF"))
    np.testing.assert_allclose(cell.values, formula(one, other))
    assert cell.effect == pytest.approx((one.mean() / other.mean()) ** better)


def test_slopes_are_those_of_a_line_over_doublings(rows, at):
    asked = check(trend="rising", along="n_components", of=["RF"])
    # three equidistant points: half of the difference of the outer ones
    expected = {
        f"{d} {k}": (at(d, k, "RF", 40) - at(d, k, "RF", 10)) / 2
        for d, k in product(DATASETS, KERNELS)
    }
    expected["a polynomial"] = expected["a polynomial"][[0, 1, 2]]
    assert_cells(asked_cells(values_of(rows), asked, "RF"), expected)
    assert asked_cells(values_of(rows), asked, "K") == []
    everything = asked_cells(values_of(rows), check(trend="rising", along="n_components"))
    assert len(everything) == 2 * 2 * 2
    constant = asked_cells(values_of(rows.assign(value=0.1)), asked, "RF")
    assert not any(cell.values.any() for cell in constant)


def test_a_power_law_has_one_factor_a_doubling(rows):
    law = rows[rows["method"] == "RF"].copy()
    law["value"] = 7 * law["n_components"].astype(float) ** -0.5
    asked = check(trend="falling", along="n_components", times=1.2)
    for cell in asked_cells(values_of(law), asked):
        np.testing.assert_allclose(cell.values, -0.5)
        assert cell.effect == pytest.approx(2**-0.5)
    law.loc[law["split"] == 0, "value"] = 0
    assert all(0 not in cell.values.index for cell in asked_cells(values_of(law), asked))


@pytest.mark.parametrize(
    ("gains", "name", "mean"),
    [
        ((-1, 0.5, 1), "from 20 on", 1),
        ((1, 1, 1), "from 10 on", 1),
        ((1, -1, 1), "from 40 on", 1),
        ((1, 1, -1), None, -1),
    ],
)
def test_a_crossing_is_decided_at_the_largest_value(rows, gains, name, mean):
    """H0/1 is ahead of RF by the gains, with a little noise."""
    noise = dict(zip(SPLITS, np.array([-1, 1, -1, 1]) * 0.01, strict=True))
    by_size = dict(zip(SIZES["RF"], gains, strict=True))
    ahead = rows["n_components"].map(by_size) + rows["split"].map(noise)
    rows["value"] = ahead.where(rows["method"] == "H0/1", 0.0)
    asked = check(overtakes=["H0/1"], than=["RF"], along="n_components")
    found = crossing_cells(values_of(rows), asked, "H0/1", "RF", 1)
    assert len(found) == 4
    for cell in found:
        assert cell.name.endswith(name) if name else " from " not in cell.name
        assert cell.effect == pytest.approx(mean, abs=0.01)
