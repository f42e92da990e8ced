"""`docs/which_method.md` shows the committed numbers.

``python -m benchmarks.which_method`` writes it anew.
"""

import pandas as pd
import pytest

from benchmarks import which_method
from benchmarks.which_method import KERNELS, MEASURED, PAGE, Part, standing, with_tables


def test_the_tables_are_those_of_the_committed_numbers():
    text = PAGE.read_text(encoding="utf-8")
    assert with_tables(text) == text


def test_the_page_has_every_experiment_that_is_measured():
    text = PAGE.read_text(encoding="utf-8")
    for name in (KERNELS, *(part.name for part in which_method.PARTS)):
        there = (MEASURED / f"{name}.csv").is_file()
        assert (f"<!-- {name} -->" in text) == there, name


def test_standing_counts_over_the_data_sets(tmp_path, monkeypatch):
    rows = [
        (data, method, parameters, metric, value)
        for data, method, parameters, metric, value in (
            ("a", "A", '{"columns":100}', "accuracy", 0.9),
            ("a", "A", '{"columns":200}', "accuracy", 0.95),
            ("a", "B", "{}", "accuracy", 0.945),
            ("b", "A", '{"columns":100}', "accuracy", 0.7),
            ("b", "A", '{"columns":200}', "accuracy", 0.7),
            ("b", "B", "{}", "accuracy", 0.8),
        )
    ]
    rows += [
        (d, m, p, f"{step}_seconds", 2.0) for d, m, p, _, _ in rows for step in ("fit", "predict")
    ]
    frame = pd.DataFrame(rows, columns=["dataset", "method", "params", "metric", "mean"])
    frame["kernel"] = None
    frame.to_csv(tmp_path / "some.csv", index=False)
    monkeypatch.setattr(which_method, "MEASURED", tmp_path)
    found = standing(Part("some", "accuracy", 1, "columns")).set_index(["method", "budget"])
    assert found.loc[("A", 200.0), "behind"] == pytest.approx(0.05)
    assert found.loc[("A", 100.0), "behind"] == pytest.approx(0.075)
    assert found.loc[("A", 200.0), "close"] == 1
    (other,) = found.loc["B"].to_dict("records")
    assert other["close"] == 2
    assert other["best"] == 1
    assert other["behind"] == pytest.approx(0.0025)
    assert other["fit_seconds"] == pytest.approx(2.0)
