"""What reports say of data sets that are read in chunks."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from kernlearn.config.entries import DatasetEntry


def stream_facts(entry: DatasetEntry) -> list[str]:
    """Say how the rows of a data set are read and held out, if it is a stream."""
    stream = entry.stream
    if stream is None:
        return []
    facts = [
        f"read in chunks of {stream.chunk_size} rows; a share of {stream.hold_out:.4g} of the "
        "rows is held out by a hash of their entries, of which methods are tested on the first "
        f"{stream.test_rows} of the stream"
    ]
    if stream.workers is not None:
        facts.append("the chunks are divided among processes of one machine")
    return facts


def stream_remarks(trials: Iterable[tuple[str, Mapping[str, Any]]]) -> list[str]:
    """Say how many rows the trials on streams have read and held out, by data set.

    Trials are given by the label of their data set and what they note.
    """
    found: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for label, info in trials:
        if {"rows_read", "n_train", "n_test"} <= info.keys():
            found[label].append(info)
    return [f"{label}: {_counts(infos)}" for label, infos in found.items()]


def _counts(infos: list[Mapping[str, Any]]) -> str:
    read = _span([info["rows_read"] for info in infos])
    held = _span([info["rows_read"] - info["n_train"] for info in infos])
    tested = _span([info["n_test"] for info in infos])
    return f"{read} rows read to train on, {held} of them held out; {tested} rows to test on"


def _span(numbers: list[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low}" if low == high else f"{low} to {high}"
