"""Cells of CSV files that spreadsheets would compute."""

import csv
import io

import pandas as pd
from hypothesis import given
from hypothesis import strategies as st

from kernlearn.reports.tables import csv_text, guarded

ATTACKS = ["=1+1", '=HYPERLINK("http://x","y")', "+1+cmd|' /C calc'!A0", "-2+3+cmd|' /C calc'!A0"]
ATTACKS += ["@SUM(1+1)", "\t=1", "\r=1", "-1 [x]", "-x", "+", "-", "'=1", "''-x", "＝1+1"]
PLAIN = ["K", "", "-0.5", "+3", "-1e-5", "0.911 ± 0.01", "-0.5 ± 0.1", "-2 [-3, -1]", "-inf"]
PLAIN += ["a=b"]


def test_what_would_be_computed_is_text_and_numbers_and_names_stay():
    assert [*map(guarded, ATTACKS)] == [f"'{text}" for text in ATTACKS]
    for value in (*PLAIN, -0.5, None, 3):
        assert guarded(value) is value


@given(st.text(st.sampled_from("'=+-@\t\r1.e± [,]x"), max_size=8))
def test_a_guarded_text_computes_nothing(text):
    written = guarded(text)
    assert written[:1] not in ("=", "@", "\t", "\r")
    if written[:1] in ("+", "-"):
        # no operators, no names: nothing but a number, and what stands beside it
        assert set(written) <= set("+-0123456789.e± [,]")
        float(written.replace("[", " ").replace("±", " ").replace(",", " ").split()[0])


def test_tables_and_heads_are_guarded():
    frame = pd.DataFrame({"=head": ["=1", "b"], "x": [-1.5, 2.0], "y": [-1, 2]})
    mixed = [["-0.1234567", None], [0.1234567, "-cmd"]]
    frame[["mixed", "none"]] = pd.DataFrame(mixed, dtype=object)
    assert [*csv.reader(io.StringIO(csv_text(frame, float_format="%.3g")))] == [
        ["'=head", "x", "y", "mixed", "none"],
        ["'=1", "-1.5", "-1", "-0.1234567", ""],
        ["b", "2", "2", "0.1234567", "'-cmd"],
    ]
