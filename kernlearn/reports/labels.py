"""Labels of cells in frames: how they are compared, named and grouped."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from kernlearn.config.model import ExperimentConfig
from kernlearn.config.spec import LABELS, canonical, cell_name

#: Columns that identify a cell.
KEY = ["experiment", *LABELS, "params", "metric"]


def plain_labels(frame: pd.DataFrame, labels: Iterable[str]) -> pd.DataFrame:
    """Return a frame whose labels are None where they do not apply, and whole numbers int."""
    columns = {}
    for label in labels:
        places, values = pd.factorize(frame[label])
        plain = np.array(
            [*map(plain_item, values), None], dtype=object
        )  # the last of those missing
        columns[label] = pd.Series(plain[places], frame.index, dtype=object)
    return frame.assign(**columns)


def plain_item(value: Any) -> Any:
    """Return None for a label that does not apply, and a whole number as int."""
    if pd.isna(value):
        return None
    value = value.item() if isinstance(value, np.generic) else value
    return int(value) if isinstance(value, float) and value.is_integer() else value


def parameters(frame: pd.DataFrame, axes: Sequence[str]) -> list[str]:
    """Return the varied parameters of each row as JSON."""
    rows = label_rows(frame, axes)
    texts = {row: parameters_of(dict(zip(axes, row, strict=True))) for row in dict.fromkeys(rows)}
    return [texts[row] for row in rows]


def parameters_of(labels: Mapping[str, Any]) -> str:
    """Return the varied parameters among the labels of a cell as JSON with sorted keys."""
    return canonical({k: v for k, v in labels.items() if k not in LABELS and v is not None})


def data_labels(config: ExperimentConfig) -> list[str]:
    """Return the labels of data: the data set, and the varied parameters of what makes it."""
    of_data = {k for entry in config.datasets.values() for k in entry.parameters}
    return ["dataset", *(k for k in config.axes if k in of_data)]


def label_rows(frame: pd.DataFrame, labels: Iterable[str]) -> list[tuple[Any, ...]]:
    """Return the labels of each row, None for a label that does not apply."""
    rows = frame[[*labels]].to_numpy(dtype=object, copy=True)
    rows[pd.isna(rows)] = None
    return [*map(tuple, rows.tolist())]


def cell_names(frame: pd.DataFrame, labels: Sequence[str], separator: str = " ") -> list[str]:
    """Return the name of each row by its labels."""
    return [cell_name(labels, row, separator) for row in label_rows(frame, labels)]


def label_values(frame: pd.DataFrame, labels: Iterable[str]) -> list[tuple[Any, ...]]:
    """Return the combinations of labels that occur, in order; a single one of no labels."""
    return list(dict.fromkeys(label_rows(frame, labels))) if labels else [()]


def label_groups(
    frame: pd.DataFrame, labels: Sequence[str]
) -> list[tuple[tuple[Any, ...], pd.DataFrame]]:
    """Return the rows of each combination of labels.

    Those that lack a label are in every group that they fit, or in one of their own.
    """
    named = [group for group in label_values(frame, labels) if None not in group]
    parts = [(group, matching(frame, labels, group)) for group in named]
    rest = frame.drop([i for _, part in parts for i in part.index])
    others = label_values(rest, labels) if len(rest) else []
    return parts + [(group, matching(rest, labels, group)) for group in others]


def matching(frame: pd.DataFrame, labels: Iterable[str], values: Iterable[Any]) -> pd.DataFrame:
    """Return the rows in which labels have these values, or do not apply."""
    for label, value in zip(labels, values, strict=True):
        frame = frame[frame[label].isna() | (frame[label] == value)]
    return frame
