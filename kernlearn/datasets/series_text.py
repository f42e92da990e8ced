"""The text format of the time series archives, ``.ts``: univariate series of one length."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from kernlearn.datasets.formats import Expected, Series, Table, default_names
from kernlearn.datasets.text import coder, fault, number, read_lines
from kernlearn.exceptions import DataError


def read_ts(paths: Sequence[Path], options: Series, expected: Expected) -> Table:
    """Read series and concatenate them, a row each."""
    label = coder(expected.classes, options.rename) if expected.classes is not None else number
    rows: list[np.ndarray] = []
    targets: list[float] = []
    for path in paths:
        for line, values, target in _records(path):
            if len(values) != expected.n_features:
                raise fault(
                    path, line, f"a series of {len(values)} values",
                    f"{expected.n_features} values: series of unequal lengths make no matrix",
                )  # fmt: skip
            rows.append(np.array([_value(path, line, i, v) for i, v in enumerate(values)]))
            try:
                targets.append(label(target))
            except ValueError as error:
                raise fault(path, line, target, str(error), "of the class") from None
    return Table(np.array(rows), np.array(targets), default_names(expected.n_features))


def _records(path: Path) -> Iterator[tuple[int, list[str], str]]:
    """Yield the line, the values and the label of each series."""
    lines = enumerate(map(str.strip, read_lines(path)), 1)
    for line, text in lines:
        key, _, value = text.lower().partition(" ")
        if key == "@data":
            break
        if key == "@univariate" and value.strip() == "false":
            raise fault(path, line, text, "univariate series")
        if text and not text.startswith(("#", "@")):
            raise fault(path, line, text, "a line of the header, or @data before the series")
    else:
        raise DataError(f"{path}: has no line @data before the series")
    found = False
    for line, text in lines:
        if not text or text.startswith("#"):
            continue
        series, colon, label = text.rpartition(":")
        if not colon or ":" in series:
            raise fault(path, line, text, "values with commas between them, a colon, the class")
        found = True
        yield line, series.split(","), label.strip()
    if not found:
        raise DataError(f"{path}: has no series after @data")


def _value(path: Path, line: int, i: int, text: str) -> float:
    if text.strip() in ("?", "NaN"):
        return float("nan")
    try:
        return number(text)
    except ValueError as error:
        raise fault(path, line, text, str(error), str(i + 1)) from None
