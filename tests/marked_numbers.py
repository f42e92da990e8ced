"""Numbers in a page that come from the committed results.

A number is followed by a comment that names its cell: ``<!-- experiment; data set; kernel;
method; parameters; metric -->``, with ``-`` where there is none, then perhaps another column than
the mean, or ``%`` for a share in per cent. ``<!-- experiment; metric -->`` follows how many of
the measured numbers match the reported ones, without those of other data.
"""

import json
import re
from functools import cache
from pathlib import Path

import pandas as pd

MEASURED = Path(__file__).parents[1] / "results" / "measured"
MARKED = re.compile(
    r"(?P<number>\d[\d.]*(?:\sof\s\d+)?)(?P<mark><!-- (?P<fields>[^>]*;[^>]*) -->)"
)


def rewritten(text: str) -> str:
    """The text with every marked number as measured, to the digits that it has."""
    return MARKED.sub(_measured_again, text)


def wrong_numbers(text: str) -> list[str]:
    """The marked numbers that are not the measured ones, with those."""
    return [
        f"{found[0]}: measured {_measured_again(found)}"
        for found in MARKED.finditer(text)
        if _measured_again(found) != found[0]
    ]


@cache
def _summary(experiment: str) -> pd.DataFrame:
    """The committed numbers of an experiment, their parameters as ``n_landmarks=30``."""
    path = MEASURED / f"{experiment}.csv"
    frame = pd.read_csv(path, dtype={"kernel": str})
    params = [" ".join(f"{k}={v}" for k, v in json.loads(p).items()) for p in frame["params"]]
    names = frame[["dataset", "kernel", "method"]].fillna("-")
    return frame.assign(**names, params=[text or "-" for text in params])


def _value(fields: str, digits: int) -> str:
    """What a comment stands for, as text."""
    experiment, *names = (field.strip() for field in fields.split(";"))
    frame = _summary(experiment)
    if len(names) == 1:
        verdicts = frame.loc[frame["metric"] == names[0], "verdict"].dropna()
        verdicts = verdicts[~verdicts.isin(["not run", "not comparable"])]
        return f"{(verdicts == 'match').sum()} of {len(verdicts)}"
    *cell, metric = names[:5]
    for column, name in zip(("dataset", "kernel", "method", "params"), cell, strict=True):
        frame = frame[frame[column] == name]
    frame = frame[frame["metric"] == metric]
    assert len(frame) == 1, f"{fields}: {len(frame)} cells"
    column = next((n for n in names[5:] if n != "%"), "mean")
    number = frame[column].item() * (100 if "%" in names[5:] else 1)
    return f"{number:.{digits}f}"


def _measured_again(found: re.Match[str]) -> str:
    digits = len(found["number"].partition(".")[2])
    return _value(found["fields"], digits) + found["mark"]
