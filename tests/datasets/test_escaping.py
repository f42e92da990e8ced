"""Cells of CSV files that spreadsheets would compute."""

import csv
import io

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernlearn.datasets.escaping import csv_text, guarded, unguarded
from kernlearn.reports import summary_reading
from kernlearn.reports.export import COLUMNS, export_text
from kernlearn.reports.summary import COLUMNS as SUMMARY_COLUMNS
from kernlearn.reports.tables import Cell, Table, to_csv

ATTACKS = [
    "=1+1",
    '=HYPERLINK("http://x","y")',
    "+1+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)",
    "\t=1",
    "\r=1",
    "-1 [x]",
    "-x",
    "+",
    "-",
    "'=1",
    "''-x",
    "＝1+1",
]
PLAIN = [
    "K",
    "",
    "-0.5",
    "+3",
    "-1e-5",
    "0.911 ± 0.01",
    "-0.5 ± 0.1",
    "-2 [-3, -1]",
    "-inf",
    "a=b",
]


@pytest.mark.parametrize("text", ATTACKS)
def test_what_would_be_computed_is_text(text):
    assert guarded(text) == f"'{text}"
    assert unguarded(guarded(text)) == text


@pytest.mark.parametrize("value", [*PLAIN, -0.5, None, 3])
def test_numbers_and_names_stay(value):
    assert guarded(value) is value


@given(st.text(st.sampled_from("'=+-@\t\r1.e± [,]x"), max_size=8))
def test_a_guarded_text_is_read_back(text):
    written = guarded(text)
    assert unguarded(written) == text
    assert written[:1] not in ("=", "@", "\t", "\r")
    if written[:1] in ("+", "-"):
        # no operators, no names: nothing but a number, and what stands beside it
        assert set(written) <= set("+-0123456789.e± [,]")
        float(written.replace("[", " ").replace("±", " ").replace(",", " ").split()[0])


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


def test_tables_heads_and_exports_are_guarded():
    frame = pd.DataFrame({"=head": ["=1", "b"], "x": [-1.5, 2.0], "y": [-1, 2]})
    mixed = [["-0.1234567", None], [0.1234567, "-cmd"]]
    frame[["mixed", "none"]] = pd.DataFrame(mixed, dtype=object)
    assert rows_of(csv_text(frame, float_format="%.3g")) == [
        ["'=head", "x", "y", "mixed", "none"],
        ["'=1", "-1.5", "-1", "-0.1234567", ""],
        ["b", "2", "2", "0.1234567", "'-cmd"],
    ]
    row = dict.fromkeys(COLUMNS, "=1") | {"split": 0, "value": -0.5, "run": 1}
    heads, cells = rows_of(export_text([row], "csv"))
    assert cells == [
        "-0.5" if h == "value" else str(row[h]) if h in ("split", "run") else "'=1" for h in heads
    ]
    table = Table("t", ["=label"], ["@head"], [(["=cell"], [Cell("-0.5")])], [""])
    assert rows_of(to_csv(table)) == [["'=label", "'@head"], ["'=cell", "-0.5"]]


def test_a_summary_is_read_back_as_it_was():
    row = dict.fromkeys(SUMMARY_COLUMNS, "") | {
        "experiment": "-e",
        "dataset": "=d",
        "method": "@m",
        "params": "{}",
        "metric": "accuracy",
        "mean": -0.5,
        "std": 0.1,
        "n_splits": 2.0,
        "reported_mean": float("nan"),
        "reported_std": float("nan"),
    }
    text = csv_text(pd.DataFrame([row]))
    assert "\n'-e,'=d,,'@m,{},accuracy,-0.5," in text
    back = summary_reading.parse_summary(text, "here").iloc[0]
    assert [back[name] for name in ("experiment", "dataset", "method")] == ["-e", "=d", "@m"]
