"""The pictures beside the committed summaries show their numbers.

``python -m tests.test_pictures`` draws them anew.
"""

import json
import re
from collections import Counter
from html import unescape
from typing import Any

import pandas as pd
import pytest

from benchmarks.which_method import measured
from kernlearn.config import load_config
from kernlearn.config.model import ExperimentConfig
from kernlearn.reports.charts import figure
from kernlearn.reports.check import read_summary
from kernlearn.reports.pictures import save_pictures
from tests.marked_numbers import MEASURED
from tests.test_readme import EXPERIMENTS

# those of all experiments, and of benchmarks
OTHERS = {"map", "growth", "choice"}
OTHERS |= {"compared_series"}
OTHERS |= {f"{part.picture}{end}" for part in measured() for end in ("", "_ranks")}
PICTURES = sorted({path.stem for path in MEASURED.glob("*.svg")} - OTHERS)
# a point's own text has its mean; lines and bars do not
POINT = re.compile(r'aria-label="([^"]*; mean: [^"]*)"')


def committed(name: str) -> tuple[pd.DataFrame, ExperimentConfig]:
    """A committed summary with a column for each varied parameter, and its config."""
    frame = read_summary(name, MEASURED)
    axes = pd.DataFrame([json.loads(text) for text in frame["params"]], index=frame.index)
    frame = frame.join(axes)
    return frame.astype(object).where(frame.notna() & (frame != ""), None), load_config(
        name
    ).config


def chart(name: str) -> dict[str, Any]:
    frame, config = committed(name)
    (spec,) = config.figures
    numbers = ["mean", "std", "n_splits"]
    return figure(frame.astype(dict.fromkeys(numbers, float)), spec, config)


def drawn_ones() -> list[str]:
    """The experiments of the papers that have a figure."""
    return sorted(name for name in EXPERIMENTS if load_config(name).config.figures)


def test_every_experiment_with_a_figure_has_its_picture():
    assert drawn_ones() == PICTURES
    assert len(PICTURES) > 5


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_shows_the_committed_numbers(name):
    text = (MEASURED / f"{name}.svg").read_text(encoding="utf-8")
    drawn = Counter()
    for found in POINT.findall(text):
        said = dict(part.split(": ", 1) for part in unescape(found).split("; "))
        drawn[said["method"], float(said["mean"]), int(said["n_splits"])] += 1
    frame, config = committed(name)
    (spec,) = config.figures
    frame = frame[frame["metric"].isin(spec.metrics) & frame["mean"].notna()]
    labels = frame[["method", "mean", "n_splits"]].itertuples(index=False)
    there = Counter((m, float(f"{mean:.4g}"), int(n)) for m, mean, n in labels)
    # what meets no kernel stands in every panel
    assert {*drawn} == {*there}
    assert sum(drawn.values()) >= sum(there.values()) > 5


if __name__ == "__main__":
    for name in drawn_ones():
        svg, pdf = save_pictures(chart(name), MEASURED / name)
        pdf.unlink()
        print(svg)
