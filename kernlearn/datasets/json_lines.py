"""Lines of JSON, of which one value is a point: text, a series, a set or a graph."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from kernlearn.datasets.formats import Expected, JsonLines, Table
from kernlearn.datasets.objects import as_objects, from_json
from kernlearn.datasets.text import coder, fault, number, read_lines
from kernlearn.exceptions import DataError


def read_json_lines(paths: Sequence[Path], options: JsonLines, expected: Expected) -> Table:
    """Read points and targets and concatenate them."""
    label = coder(expected.classes) if expected.classes is not None else number
    points: list[Any] = []
    targets: list[float] = []
    for path in paths:
        for line, record in json_records(path):
            for name in (options.points, options.target):
                if name not in record:
                    raise fault(path, line, ", ".join(record), f"a value called {name}")
            value, target = record[options.points], record[options.target]
            try:
                points.append(None if value is None or value == "" else from_json(value))
            except ValueError as error:
                raise fault(path, line, value, str(error), options.points) from None
            try:
                targets.append(label(str(target)))
            except ValueError as error:
                raise fault(path, line, target, str(error), options.target) from None
    return Table(as_objects(points), np.array(targets), (options.points,))


def json_records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the number and the object of each line that is not blank."""
    found = False
    for line, text in enumerate(read_lines(path), 1):
        if not text.strip():
            continue
        try:
            record = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise fault(path, line, text, f"an object of JSON ({error})") from None
        if not isinstance(record, dict):
            raise fault(path, line, text, 'an object of JSON, {"name": value, ...}')
        found = True
        yield line, record
    if not found:
        raise DataError(f"{path}: the file has no rows")
