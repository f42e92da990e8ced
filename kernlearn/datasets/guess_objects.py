"""Guessing how files of objects read: series in ``.ts`` files, lines of JSON."""

from pathlib import Path
from typing import Any

from kernlearn.datasets.columns import TARGETS, Entries
from kernlearn.datasets.file_options import FileOptions, Guess
from kernlearn.datasets.json_lines import json_records
from kernlearn.datasets.series_text import records
from kernlearn.exceptions import DataError

JSON_LINES = (".jsonl", ".ndjson")


def guess_series(path: Path, given: FileOptions) -> Guess:
    """Take series as points if this is asked for, else as the rows of a matrix."""
    if given.points not in (None, "series"):
        raise DataError(f"{path}: points: of this file it is `series`, got {given.points!r}")
    if given.target is not None or given.drop:
        raise DataError(f"{path}: a file of series has a class at the end of each, and no columns")
    found = [*records(path)]
    target = Entries("class", [record.label for record in found])
    lengths = {len(record.channels[0]) for record in found}
    n_channels = len(found[0].channels)
    of = f"{min(lengths)} to {max(lengths)}" if len(lengths) > 1 else str(min(lengths))
    remarks = [f"series of {n_channels} channel{'s' * (n_channels > 1)} and {of} values"]
    options: dict[str, Any] = {"kind": "ts"}
    if given.points is not None:
        options["points"] = True
        return Guess(options, 1, target.labels(), target.numeric, remarks)
    if n_channels > 1 or len(lengths) > 1:
        raise DataError(
            f"{path}: {remarks[0]} make no matrix: give `points: series`, for distances of series"
        )
    return Guess(options, lengths.pop(), target.labels(), target.numeric, remarks)


def guess_json_lines(path: Path, given: FileOptions) -> Guess:
    """Choose the values that are the points and the target."""
    found = [record for _, record in json_records(path)]
    names = list(dict.fromkeys(name for record in found for name in record))
    target = given.target
    if target is None:
        named = (name for name in names if name.lower() in TARGETS and name != given.points)
        target = next(named, None)
    others = [name for name in names if name not in (target, *given.drop)]
    points = given.points
    if points is None and target is not None and len(others) == 1:
        points = others[0]
    for what, name in (("points", points), ("target", target)):
        if name not in names:
            missing = (
                "say which value" if name is None else f"no value is called {name!r}, say which"
            )
            raise DataError(f"{path}: {what}: {missing}: {', '.join(names)}")
    if points == target:
        raise DataError(f"{path}: {points} cannot be both the points and the target")
    labels = Entries(str(target), [str(record.get(str(target), "")) for record in found])
    left_out = [name for name in names if name not in (points, target)]
    remarks = [f"the points are {points}, the target is {target}"]
    remarks += [f"left out: {', '.join(left_out)}"] if left_out else []
    options = {"kind": "jsonl", "points": points, "target": target}
    return Guess(
        options, 1, labels.labels(), labels.numeric, remarks, left_out=dict.fromkeys(left_out, "")
    )
