from collections import Counter

import pandas as pd
import pytest

from kernlearn.config import load_config
from kernlearn.reports.claims import Decision
from kernlearn.reports.conclusions import Chance, Conclusion
from kernlearn.reports.overview import map_chart, map_rows, write_map
from kernlearn.reports.summary import COLUMNS
from kernlearn.reports.totals import Measured, total


def difference(outcome):
    return Conclusion("abalone, sigmoid", "mse", "RegLand-Sp", "KR", 0.1, 0.1, 0.0, 0.2, outcome)


@pytest.fixture
def measured() -> Measured:
    experiment = load_config("table5_1a")
    cells = [
        ("abalone", "KR", "mse", 0.0210, "match"),
        ("bodyfat", "KR", "mse", 0.0001, "baseline better"),
        ("bodyfat", "RegLand-Sp", "mse", 0.00001, "better"),
        ("bodyfat", "RegLand-Sp", "fit_seconds", 1.0, ""),
        ("cpu_small", "RegLand-Sp", "mse", None, "not run"),
    ]
    rows = [
        ["table5_1a", dataset, "sigmoid", method, "{}", metric, mean, 1e-6, 5, 0.021, 1e-6, ""]
        for dataset, method, metric, mean, _ in cells
    ]
    summary = pd.DataFrame(rows, columns=COLUMNS)
    outcomes = [difference(o) for o in ("reversed", "shown", "shown", "not measured")]
    chances = [
        Chance("mse", "match", 20, 20, 10.0, 12.0, 1000, 0.001),
        Chance("mse", "shown", 2, 4, 1.9, 3.0, 1000, 0.6),
    ]
    claims = [
        Decision("one", "5.4", "holds", "", "", "the paper's own numbers agree: in 3 of 3 cells"),
        Decision(
            "two", "5.4", "fails", "", "", "the paper's own numbers contradict it: in 1 of 3"
        ),
    ]
    return Measured(experiment, summary, claims, outcomes, chances)


def test_every_score_and_every_difference_has_a_tile(measured):
    rows = map_rows([measured])
    numbers = rows[rows["what"] == "reported numbers"]
    assert Counter(numbers["outcome"]) == Counter(
        ["match", "baseline better", "better", "not run"]
    )
    differences = rows[rows["what"] == "differences between methods"]
    assert differences["outcome"].tolist() == ["shown", "shown", "reversed", "not measured"]
    assert not rows.duplicated(["table", "what", "column", "line"]).any()


def test_variants_have_none(measured):
    config = measured.experiment.config.model_copy(update={"variant_of": "table5_1b"})
    variant = measured.experiment.model_copy(update={"config": config})
    assert map_rows([Measured(variant, measured.summary)]).empty
    assert map_chart([Measured(variant, measured.summary)]) is None


def test_the_map_is_a_picture_that_says_what_it_shows(measured, tmp_path):
    chart = write_map([measured], tmp_path / "new")
    assert chart is not None
    assert "1 match" in chart.description
    assert "2 shown, 1 reversed, 1 not measured of 4 differences" in chart.description
    svg = (tmp_path / "new" / "map.svg").read_text()
    for text in ("table5_1a", "reported numbers", "baseline better", "reversed", "△", "✗"):
        assert text in svg


def test_sentences_tell_chance_and_contradictions(measured):
    said = total([measured]).in_words()
    assert said == [
        "Of 4 reported scores 3 were measured: 1 match, 1 better, 1 baseline better.",
        "The matches are clearly more than with the methods exchanged at random in 1 of 1 "
        "tables: table5_1a (mse).",
        "Of 4 differences between methods that the papers' tables show: 2 shown, 1 reversed, "
        "1 not measured.",
        "The differences shown are clearly more than with the methods exchanged at random in 0 "
        "of 1 tables.",
        "Outcomes of 2 claims: holds 1, fails 1; the papers' own numbers contradict 1.",
    ]
