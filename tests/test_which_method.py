"""`docs/which_method.md` shows the committed numbers.

``python -m benchmarks.which_method`` writes it anew.
"""

import json

import pandas as pd
import pytest

from benchmarks import which_method
from benchmarks.which_method import (
    KERNELS,
    MEASURED,
    PAGE,
    Part,
    datasets_table,
    front,
    ranks_text,
    sentence,
    standing,
    with_tables,
)


def test_the_tables_are_those_of_the_committed_numbers():
    text = PAGE.read_text(encoding="utf-8")
    assert with_tables(text) == text


def test_the_page_has_every_experiment_that_is_measured():
    text = PAGE.read_text(encoding="utf-8")
    for name in (KERNELS, *(part.name for part in which_method.PARTS)):
        there = (MEASURED / f"{name}.csv").is_file()
        assert (f"<!-- {name} -->" in text) == there, name


@pytest.fixture
def part(tmp_path, monkeypatch):
    """An experiment of two data sets: B is ahead at once, A in time."""
    rows = [
        (data, method, parameters, metric, value, method == "B")
        for data, method, parameters, metric, value in (
            ("a", "A", '{"columns":100}', "accuracy", 0.9),
            ("a", "A", '{"columns":200}', "accuracy", 0.95),
            ("a", "B", "{}", "accuracy", 0.942),
            ("a", "C", "{}", "accuracy", 0.5),
            ("b", "A", '{"columns":100}', "accuracy", 0.7),
            ("b", "A", '{"columns":200}', "accuracy", 0.7),
            ("b", "B", "{}", "accuracy", 0.8),
            ("b", "C", "{}", "accuracy", 0.6),
        )
    ]
    seconds = {"A": 2.0, "B": 4.0, "C": 3.0}
    rows += [
        (d, m, p, f"{step}_seconds", seconds[m], False)
        for d, m, p, *_ in rows
        for step in ("fit", "predict")
    ]
    columns = ["dataset", "method", "params", "metric", "mean", "best"]
    frame = pd.DataFrame(rows, columns=columns)
    frame["kernel"] = None
    frame.to_csv(tmp_path / "some.csv", index=False)
    data = {
        "a": ["A: 500 rows, 3 features, 2 classes"],
        "b": ["B: 900 rows, 4 features", "A uniform sample of 80 of the 900 published rows."],
    }
    (tmp_path / "some.json").write_text(json.dumps({"data": data}))
    monkeypatch.setattr(which_method, "MEASURED", tmp_path)
    return Part("some", "accuracy", 1, "columns", "a task", ("A",))


def test_standing_counts_over_the_data_sets(part):
    found = standing(part).set_index(["method", "budget"])
    assert found.loc[("A", 200.0), "behind"] == pytest.approx(0.05)
    assert found.loc[("A", 100.0), "behind"] == pytest.approx(0.075)
    assert found.loc[("A", 200.0), "close"] == 1
    (other,) = found.loc["B"].to_dict("records")
    assert other["close"] == 2
    assert other["best"] == 1
    assert other["alike"] == 2
    assert other["behind"] == pytest.approx(0.004)
    assert other["fit_seconds"] == pytest.approx(4.0)


def test_the_front_leaves_out_what_is_slower_and_behind(part):
    found = front(standing(part), "fit_seconds")
    assert found[["method", "budget"]].fillna(0).to_numpy().tolist() == [["A", 200.0], ["B", 0.0]]


def test_data_sets_have_their_sizes_and_their_best(part):
    lines = datasets_table(part).splitlines()
    assert lines[2:] == [
        "| a | 500 | 3 | A (200 columns) | A (200 columns) | 0.0 |",
        "| b | 80 | 4 | B | A (100 columns) | 10.0 |",
    ]


def test_methods_with_a_budget_are_ranked_at_the_greatest(part):
    # A with 200 columns is the first on a, B on b
    assert which_method.ranked(part)[0].average == {"A": 1.5, "B": 1.5, "C": 3.0}
    assert "with 200 columns where a method has a budget" in " ".join(ranks_text(part).split())


def test_the_sentence_names_the_closest_to_the_best(part):
    assert sentence(part) == (
        "B is the closest to the best of each data set, 0.4 points behind on average; of the "
        "papers' methods it is A (200 columns), 5.0 points behind; it takes 0.5 times as long "
        "to fit and 0.5 times as long to predict."
    )
