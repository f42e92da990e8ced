"""``kernlearn compare``, and the tests behind it."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from kernlearn.exceptions import ReportError
from kernlearn.reports.ranks import BEST_OF, compare_methods, with_best_of


def numbers(gains, n_datasets=1, n_splits=10, noise=0.01, seed=0):
    """Values of methods that differ by gains on average."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"d{d}", name, name, split, 0.8 + gain + noise * rng.normal(), rng.uniform(), 70, 30)
        for d in range(n_datasets)
        for split in range(n_splits)
        for name, gain in gains.items()
    ]
    heads = ["dataset", "name", "method", "split", "value", "score", "n_train", "n_test"]
    return pd.DataFrame(rows, columns=heads)


def test_the_corrected_test_on_one_data_set():
    values = numbers({"A": 0.0, "B": 0.05})
    result = compare_methods(values, 1)
    assert result.control == "B"
    row = result.table.loc["A"]
    wide = values.pivot(index="split", columns="method", values="value")
    differences = wide["A"] - wide["B"]
    error = np.sqrt((1 / 10 + 30 / 70) * differences.var(ddof=1))
    assert row["difference"] == pytest.approx(differences.mean())
    p = 2 * stats.t.sf(abs(differences.mean()) / error, 9)
    assert row["p"] == pytest.approx(p)
    half = stats.t.ppf(0.975, 9) * error
    assert row["high"] - row["low"] == pytest.approx(2 * half)
    assert row["outcome"] == "worse"
    # less is better
    assert compare_methods(values, -1).control == "A"


def test_methods_that_are_equal_are_seldom_called_different():
    found = [
        compare_methods(numbers({"A": 0, "B": 0}, 8, 5, seed=seed), 1).table["p"].min() < 0.05
        for seed in range(200)
    ]
    assert np.mean(found) <= 0.06


def test_the_best_is_picked_from_all_pairs_a_control_is_not():
    values = numbers({"A": 0.0, "B": 0.01, "C": 0.02}, 6)
    picked = compare_methods(values, 1).table
    named = compare_methods(values, 1, control="C").table
    assert picked.index[0] == named.index[0] == "C"
    assert picked.loc["A", "p"] == pytest.approx(named.loc["A", "p"] * 3 / 2)
    assert compare_methods(values, 1).friedman < 0.05
    with pytest.raises(ReportError, match="did you mean"):
        compare_methods(values, 1, control="c")


@pytest.mark.parametrize(
    ("gain", "outcome"),
    [(0.0, "equivalent"), (0.05, "not worse"), (-0.05, "worse"), (-0.02, "not shown")],
)
def test_a_margin_tells_equivalence(gain, outcome):
    values = numbers({"A": gain, "C": 0.0}, 5)
    assert (
        compare_methods(values, 1, control="C", margin=0.02).table.loc["A", "outcome"] == outcome
    )


@pytest.mark.parametrize(("n_splits", "outcome"), [(2, "not shown"), (10, "worse")])
def test_equal_differences_of_few_splits_show_nothing(n_splits, outcome):
    values = numbers({"A": 0.0, "B": 0.05}, n_splits=n_splits, noise=0)
    assert compare_methods(values, 1).table.loc["A", "outcome"] == outcome


def test_what_not_all_methods_have_is_left_out_and_named():
    values = numbers({"A": 0.0, "B": 0.1}, 3)
    lacking = values[(values["dataset"] != "d1") | (values["method"] != "A")]
    assert compare_methods(lacking, 1).left_out == ["d1"]
    with pytest.raises(ReportError, match="fewer than two"):
        compare_methods(values[values["method"] == "A"], 1)


def test_best_of_takes_the_best_score_of_each_split():
    values = with_best_of(numbers({"A": 0.0, "B": 0.1}, 2), ["A", "B"])
    chosen = values[values["method"] == BEST_OF].set_index(["dataset", "split"])
    others = values[values["method"] != BEST_OF].groupby(["dataset", "split"])["score"].max()
    assert chosen["score"].sort_index().equals(others.sort_index())


def test_methods_and_stores(kernlearn, small, tmp_path):
    assert kernlearn("run", small, "--no-report").returncode == 0
    out = kernlearn("compare", small, "--output", "all.csv")
    assert out.returncode == 0, out.stderr
    assert "small: accuracy on 2 data sets" in out.stdout
    assert "Best: " in out.stdout
    frame = pd.read_csv(tmp_path / "all.csv")
    assert set(frame["method"]) == {"K", "H0/1", "RF, n_components=10", "RF, n_components=40"}
    two = kernlearn("compare", small, "K", "RF", "--only", "n_components=40")
    assert two.returncode == 0, two.stderr
    assert "moons" in two.stdout
    assert "H0/1" not in two.stdout
    margin = kernlearn("compare", small, "--control", "K", "--margin", "0.5")
    assert "equivalent" in margin.stdout
    for words in (["Q"], ["--control", "Q"], ["--metric", "speed"], ["--best-of", "RF"]):
        wrong = kernlearn("compare", small, *words)
        assert wrong.returncode == 2, words
        assert "Traceback" not in wrong.stderr

    other = tmp_path / "other.sqlite"
    assert kernlearn("run", small, "--no-report", "--store", other).returncode == 0
    same = kernlearn("compare", "results/runs/store.sqlite", other, "--metric", "accuracy")
    assert same.stdout == "8 cells: 8 same\n"
