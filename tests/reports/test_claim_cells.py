"""Cells of claims, against loops that look every number up."""

import numpy as np
import pandas as pd
import pytest

from kernlearn.config.claims import Check
from kernlearn.reports.claims import asked_cells, compared_cells, crossing_cells
from kernlearn.reports.labels import values_of

SIZES = {"RF": [10, 20, 40], "H0/1": [10, 20, 40], "K": [None]}
DATASETS, KERNELS, SPLITS = ("a", "b"), ("polynomial", "exponential"), range(4)
COLUMNS = ["dataset", "kernel", "method", "n_components", "metric", "split", "value"]


@pytest.fixture
def values():
    """Numbers of every data set, kernel, method, size and split; one of RF's is missing."""
    rng = np.random.default_rng(0)
    found = {
        (d, k, m, n, s): rng.uniform(1, 2)
        for d in DATASETS
        for k in KERNELS
        for m, sizes in SIZES.items()
        for n in sizes
        for s in SPLITS
    }
    del found["a", "polynomial", "RF", 20, 3]
    return found


@pytest.fixture
def rows(values):
    frame = pd.DataFrame(
        [(d, k, m, n, "accuracy", s, v) for (d, k, m, n, s), v in values.items()], columns=COLUMNS
    )
    frame["ratio"], frame["drift"] = 0.5, 0.0
    labels = COLUMNS[:4]
    frame[labels] = frame[labels].astype(object).where(frame[labels].notna(), None)
    return frame


def cells(found):
    return {cell.name: dict(cell.values) for cell in found}


def test_cells_have_the_ratio_of_their_rows(rows):
    rows.loc[rows["dataset"] == "b", "ratio"] = 0.2
    found = [
        *compared_cells(values_of(rows), check(better=["H0/1"], than=["RF"]), "H0/1", "RF", 1),
        *asked_cells(
            values_of(rows), check(trend="rising", along="n_components", of=["RF"]), "RF"
        ),
        *asked_cells(values_of(rows), check(above=1, mean_over=["n_components"])),
    ]
    assert {cell.ratio for cell in found if cell.name.startswith("a ")} == {0.5}
    assert {round(cell.ratio, 9) for cell in found if cell.name.startswith("b ")} == {0.2}


def check(**asked):
    return Check.model_validate({"metric": "accuracy", "over": "all", **asked})


def test_the_same_parameters_are_compared_cells(rows, values):
    asked = check(better=["H0/1"], than=["RF"])
    expected = {
        f"{d} {k} n_components={n}": {
            s: pytest.approx(values[d, k, "H0/1", n, s] - values[d, k, "RF", n, s])
            for s in SPLITS
            if (d, k, "RF", n, s) in values
        }
        for d in DATASETS
        for k in KERNELS
        for n in SIZES["RF"]
    }
    assert cells(compared_cells(values_of(rows), asked, "H0/1", "RF", 1)) == expected
    backwards = cells(compared_cells(values_of(rows), asked, "RF", "H0/1", -1))
    assert backwards == expected


def test_a_method_without_the_parameter_is_compared_with_every_value(rows, values):
    asked = check(better=["RF"], than=["K"], where={"n_components": [10, 40], "dataset": "b"})
    assert cells(compared_cells(values_of(rows), asked, "RF", "K", 1)) == {
        f"b {k} n_components={n}": {
            s: pytest.approx(values["b", k, "RF", n, s] - values["b", k, "K", None, s])
            for s in SPLITS
        }
        for k in KERNELS
        for n in (10, 40)
    }
    assert compared_cells(values_of(rows), asked, "K", "K", 1) == []


def test_a_mean_is_taken_over_whole_splits_only(rows, values):
    asked = check(better=["H0/1"], than=["RF"], mean_over=["n_components", "kernel"])
    found = cells(compared_cells(values_of(rows), asked, "H0/1", "RF", 1))
    assert found == {
        d: {
            s: pytest.approx(
                np.mean(
                    [
                        values[d, k, "H0/1", n, s] - values[d, k, "RF", n, s]
                        for k in KERNELS
                        for n in SIZES["RF"]
                    ]
                )
            )
            for s in SPLITS
            if (d, s) != ("a", 3)
        }
        for d in DATASETS
    }


def test_a_mean_over_sizes_that_share_no_split_is_not_compared(rows):
    """Of the smallest size RF has the first two splits only, and H0/1 the others."""
    other_half = (rows["n_components"] == 10) & ((rows["split"] < 2) != (rows["method"] == "RF"))
    asked = check(better=["H0/1"], than=["RF"], mean_over=["n_components"])
    assert all(
        c.lacks for c in compared_cells(values_of(rows[~other_half]), asked, "H0/1", "RF", 1)
    )


def test_a_mean_of_one_side_is_taken_over_whole_splits_only(rows):
    asked = check(better=["RF"], than=["K"], across=["n_components"])
    found = cells(compared_cells(values_of(rows), asked, "RF", "K", 1))
    assert [*found["a polynomial"]] == [0, 1, 2]


@pytest.mark.parametrize(
    ("question", "better", "formula"),
    [
        ("better", 1, lambda one, other: one - 3 * other),
        ("better", -1, lambda one, other: other - 3 * one),
        ("as_good", 1, lambda one, other: 3 * one - other),
        ("as_good", -1, lambda one, other: 3 * other - one),
    ],
)
def test_a_factor_is_a_difference_from_a_multiple(rows, values, question, better, formula):
    asked = check(**{question: ["H0/1"]}, than=["RF"], times=3)
    found = compared_cells(values_of(rows), asked, "H0/1", "RF", better)
    cell = next(c for c in found if c.name == "b polynomial n_components=20")
    key = [("b", "polynomial", m, 20) for m in ("H0/1", "RF")]
    one, other = (np.array([values[*k, s] for s in SPLITS]) for k in key)
    np.testing.assert_allclose(cell.values, formula(one, other))
    assert cell.effect == pytest.approx((one.mean() / other.mean()) ** better)


def test_slopes_are_those_of_a_line_over_doublings(rows, values):
    asked = check(trend="rising", along="n_components", of=["RF"])
    found = cells(asked_cells(values_of(rows), asked, "RF"))
    assert set(found) == {f"{d} {k}" for d in DATASETS for k in KERNELS}
    # three equidistant points: half of the difference of the outer ones
    assert found["b exponential"] == {
        s: pytest.approx(
            (values["b", "exponential", "RF", 40, s] - values["b", "exponential", "RF", 10, s]) / 2
        )
        for s in SPLITS
    }
    assert set(found["a polynomial"]) == {0, 1, 2}
    assert asked_cells(values_of(rows), asked, "K") == []
    everything = asked_cells(values_of(rows), check(trend="rising", along="n_components"))
    assert len(everything) == 2 * 2 * 2
    assert not any(
        cell.values.any() for cell in asked_cells(values_of(rows.assign(value=0.1)), asked, "RF")
    )


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
    level = {"RF": 0, "H0/1": 1, "K": 0}
    by_size = dict(zip(SIZES["RF"], gains, strict=True)) | {None: 0}
    rows["value"] = [
        level[m] * (by_size[n] + noise[s])
        for m, n, s in zip(rows["method"], rows["n_components"], rows["split"], strict=True)
    ]
    asked = check(overtakes=["H0/1"], than=["RF"], along="n_components")
    found = crossing_cells(values_of(rows), asked, "H0/1", "RF", 1)
    assert len(found) == 4
    for cell in found:
        assert cell.name.endswith(name) if name else " from " not in cell.name
        assert cell.effect == pytest.approx(mean, abs=0.01)
