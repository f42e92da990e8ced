"""The text format of the time series archives, ``.ts``."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from kernlearn.datasets.formats import Expected, Series, Table, default_names
from kernlearn.datasets.objects import as_objects
from kernlearn.datasets.text import coder, fault, number, read_lines
from kernlearn.exceptions import DataError


class Record(NamedTuple):
    """A series of a file: its line, the values of each channel, and its class."""

    line: int
    channels: list[list[str]]
    label: str


def read_ts(paths: Sequence[Path], options: Series, expected: Expected) -> Table:
    """Read series and concatenate them, a row each, or as points of any lengths."""
    label = coder(expected.classes, options.rename) if expected.classes is not None else number
    series: list[np.ndarray] = []
    targets: list[float] = []
    n_channels = 0
    for path in paths:
        for line, channels, target in records(path):
            if not options.points:
                _check_row(path, line, channels, expected.n_features)
            n_channels = n_channels or len(channels)
            if len(channels) != n_channels:
                found = f"a series of {len(channels)} channels"
                raise fault(path, line, found, f"{n_channels}, as those before it")
            series.append(_series(path, line, channels))
            try:
                targets.append(label(target))
            except ValueError as error:
                raise fault(path, line, target, str(error), "of the class") from None
    if options.points:
        return Table(as_objects(series), np.array(targets), ("series",))
    return Table(np.array(series), np.array(targets), default_names(expected.n_features))


def _check_row(path: Path, line: int, channels: list[list[str]], n_features: int) -> None:
    """Refuse a series that is no row of the matrix."""
    advice = "give `points: series`, for distances of series"
    if len(channels) > 1:
        found = f"a series of {len(channels)} channels"
        raise fault(path, line, found, f"one channel: others make no matrix; {advice}")
    if len(channels[0]) != n_features:
        raise fault(
            path,
            line,
            f"a series of {len(channels[0])} values",
            f"{n_features} values: series of unequal lengths make no matrix; {advice}",
        )


def records(path: Path) -> Iterator[Record]:
    """Yield the series of a file, with one channel or several."""
    lines = enumerate(map(str.strip, read_lines(path)), 1)
    for line, text in lines:
        key, _, value = text.lower().partition(" ")
        if key == "@data":
            break
        if key == "@timestamps" and value.strip() == "true":
            raise fault(path, line, text, "series without time stamps")
        if text and not text.startswith(("#", "@")):
            raise fault(path, line, text, "a line of the header, or @data before the series")
    else:
        raise DataError(f"{path}: has no line @data before the series")
    found = False
    for line, text in lines:
        if not text or text.startswith("#"):
            continue
        *channels, label = text.split(":")
        if not channels:
            raise fault(path, line, text, "values with commas between them, a colon, the class")
        found = True
        yield Record(line, [channel.split(",") for channel in channels], label.strip())
    if not found:
        raise DataError(f"{path}: has no series after @data")


def _series(path: Path, line: int, channels: list[list[str]]) -> np.ndarray:
    """Return an array (length,), or (n_channels, length) of several channels."""
    if len({len(values) for values in channels}) > 1:
        lengths = ", ".join(str(len(values)) for values in channels)
        raise fault(path, line, f"channels of {lengths} values", "channels of one length")
    made = [[_value(path, line, i, v) for i, v in enumerate(values)] for values in channels]
    return np.array(made[0] if len(made) == 1 else made)


def _value(path: Path, line: int, i: int, text: str) -> float:
    if text.strip() in ("?", "NaN"):
        return float("nan")
    try:
        return number(text)
    except ValueError as error:
        raise fault(path, line, text, str(error), str(i + 1)) from None
