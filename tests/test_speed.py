"""`docs/speed.md` and its pictures show the committed numbers.

``python -m benchmarks.growth_figures`` writes them anew.
"""

import re
from collections import Counter
from html import unescape

import numpy as np
import pandas as pd
import pytest

from benchmarks.growth_figures import CHOICE, GROWTH, PAGE, slopes, with_tables

POINT = re.compile(r'aria-label="([^"]*)" role="graphics-symbol" aria-roledescription="point"')


def test_the_tables_are_those_of_the_committed_numbers():
    text = PAGE.read_text(encoding="utf-8")
    assert with_tables(text) == text


VALUE = 10.0 ** np.arange(0, 3.25, 0.25)


def line(method: int, seconds: np.ndarray) -> pd.DataFrame:
    labels = {"method": method, "step": "fit", "size": "n"}
    return pd.DataFrame({**labels, "value": VALUE, "seconds": seconds})


def test_a_slope_is_that_of_the_upper_half():
    # a cost that does not grow is in the lower half only
    seconds = np.where(VALUE < 30, 1.0, 1e-3 * VALUE**2)
    (found,) = slopes(line(0, seconds)).to_dict("records")
    assert [found["first"], found["last"]] == pytest.approx([VALUE[6], 1000])
    assert [found["slope"], found["low"], found["high"]] == pytest.approx([2, 2, 2])


def test_intervals_hold_the_slope_as_often_as_they_say():
    rng = np.random.default_rng(0)
    noise = np.exp(rng.normal(scale=0.1, size=(1000, len(VALUE))))
    found = slopes(pd.concat(line(i, VALUE**1.5 * one) for i, one in enumerate(noise)))
    assert np.mean((found["low"] < 1.5) & (found["high"] > 1.5)) == pytest.approx(0.95, abs=0.02)


@pytest.mark.parametrize(("file", "size"), [(GROWTH, "value"), (CHOICE, "n")])
def test_a_picture_shows_the_committed_numbers(file, size):
    picture = file.with_suffix(".svg").read_text(encoding="utf-8")
    drawn = Counter()
    for found in POINT.findall(picture):
        said = dict(part.split(": ", 1) for part in unescape(found).split("; "))
        drawn[float(said[size]), float(said["seconds"])] += 1
    numbers = pd.read_csv(file)
    there = Counter(map(tuple, numbers[[size, "seconds"]].astype(float).to_numpy().tolist()))
    assert {*drawn} == {*there}
    assert sum(there.values()) > 50


def test_every_line_has_enough_points():
    growth = pd.read_csv(GROWTH)
    for labels, line in growth.groupby(["method", "step", "size"]):
        assert len(line) >= 7, labels
        assert line["value"].is_monotonic_increasing
