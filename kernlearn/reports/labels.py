"""Labels of cells, in frames and in arrays: how they are compared, named and grouped."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf, log
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernlearn.config.model import ExperimentConfig
from kernlearn.config.values import LABELS, canonical, cell_name

#: Columns that identify a cell.
KEY = ["experiment", *LABELS, "params", "metric"]
#: Columns of the splits that are no labels.
NOT_LABELS = (
    *("experiment", "metric", "split", "value"),
    *("converged", "ratio", "drift", "selected"),
)


def plain_labels(frame: pd.DataFrame, labels: Iterable[str]) -> pd.DataFrame:
    """Return a frame whose labels are None where they do not apply, and whole numbers int."""
    columns = {label: _values(frame[label], plain_item) for label in labels}
    return frame.assign(**{k: pd.Series(v, frame.index, dtype=object) for k, v in columns.items()})


def _values(column: "pd.Series[Any]", of: Callable[[Any], Any] = lambda value: value) -> Any:
    """Return what is made of each value of a column, None of those that are missing."""
    places, values = pd.factorize(column)
    return np.array([*map(of, values), None], dtype=object)[places]  # place -1 is missing


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
    columns = [_values(frame[label]) for label in labels]
    return [*zip(*columns, strict=True)] if columns else [()] * len(frame)


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


# ---- in arrays ----

#: Stands in :class:`Values` for a number that was planned and is missing.
MISSING = inf


@dataclass(frozen=True)
class Values:
    """Numbers of a metric: a row for each combination of labels, a column for each split.

    Attributes
    ----------
    names : list of str
        The labels.
    keys : list of tuple
        Their values, of each row.
    splits : ndarray of shape (n_splits,)
        Numbers of the splits; below 0 are roots of covariances.
    numbers : ndarray of shape (n_rows, n_splits)
        NaN where there is none, :data:`MISSING` where one was planned.
    ratio, drift : ndarray of shape (n_rows,)
    """

    names: list[str]
    keys: list[tuple[Any, ...]]
    splits: NDArray[np.int64]
    numbers: NDArray[np.float64]
    ratio: NDArray[np.float64]
    drift: NDArray[np.float64]

    @property
    def is_split(self) -> NDArray[np.bool_]:
        """Whether each column is one of a split, not a root."""
        return self.splits >= 0

    def column(self, label: str) -> list[Any]:
        """Return the values of a label."""
        return [value for (value,) in self.labels([label])]

    def labels(self, names: Iterable[str]) -> list[tuple[Any, ...]]:
        """Return the values of some labels, of each row."""
        places = [self.names.index(label) for label in names]
        return [tuple(key[i] for i in places) for key in self.keys]

    def where(self, fits: Iterable[bool]) -> Self:
        """Return some of the rows."""
        rows = np.flatnonzero([*fits])
        keys = [self.keys[row] for row in rows]
        parts = self.numbers[rows], self.ratio[rows], self.drift[rows]
        return type(self)(self.names, keys, self.splits, *parts)

    def chosen(self, where: Mapping[str, Any]) -> Self:
        """Return the rows with the value, or one of the values, of each label that there is."""
        asked = {k: v if isinstance(v, list) else [v] for k, v in where.items() if k in self.names}
        return self.where(
            all(value in asked[k] for k, value in zip(asked, row, strict=True))
            for row in self.labels(asked)
        )

    def groups(self, labels: Sequence[str]) -> "dict[tuple[Any, ...], list[int]]":
        """Return the rows of each combination of some labels."""
        groups: dict[tuple[Any, ...], list[int]] = {}
        for row, place in enumerate(self.labels(labels)):
            groups.setdefault(place, []).append(row)
        return groups

    def means(self, over: Collection[str]) -> Self:
        """Return means over some labels, of the splits with as many numbers as any other.

        Means over fewer numbers than those of other splits are not comparable. Rows of other data
        vary apart, so that their roots are 0; where those of some data are not known, the splits
        alone are.
        """
        labels, is_split = [name for name in self.names if name not in over], self.is_split
        groups = self.groups(labels)
        means = np.full((len(groups), len(self.splits)), np.nan)
        for mean, rows in zip(means, groups.values(), strict=True):
            numbers = self.numbers[rows]
            counts = (~np.isnan(numbers)).sum(axis=0)
            most = counts[is_split].max(initial=0)
            known = (~np.isnan(numbers[:, ~is_split])).any(axis=1).all()
            takes = np.where(is_split, counts == most, (counts > 0) & known) & (most > 0)
            mean[takes] = np.nansum(numbers[:, takes], axis=0) / most
        of_rows = [self.ratio, self.drift]
        parts = [np.array([part[rows].mean() for rows in groups.values()]) for part in of_rows]
        return type(self)(labels, [*groups], self.splits, means, *parts)

    def slopes(self, along: str, *, logarithms: bool) -> Self:
        """Return slopes of least-squares lines over the logarithm to base 2 of a label.

        Splits that lack a value of the label do not count: their lines would not be comparable.
        """
        labels, values = [name for name in self.names if name != along], self.column(along)
        some = self.where(value is not None for value in values)
        keys, slopes, ratios, drifts = [], [], [], []
        for key, rows in some.groups(labels).items():
            if len(rows) < 2:
                continue
            numbers = some.numbers[rows]
            if logarithms:
                level = np.nanmean(numbers[:, self.is_split], axis=1, keepdims=True)
                logs = np.log2(np.where(numbers > 0, numbers, np.nan))
                numbers = np.where(self.is_split, logs, numbers / (level * log(2)))
            x = np.log2(np.array([some.column(along)[row] for row in rows], dtype=float))
            away = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
            # of a constant the slope is 0, not the last digit of a float
            slope = away @ (numbers - numbers[:1])
            # of missing numbers there is none
            slope[np.isinf(numbers).any(axis=0)] = MISSING
            slope[np.isnan(numbers).any(axis=0)] = np.nan
            keys.append(key)
            slopes.append(slope)
            ratios.append(some.ratio[rows].mean())
            drifts.append(some.drift[rows].max() * abs(away).sum())
        numbers = np.array(slopes, dtype=float).reshape(len(keys), len(self.splits))
        return type(self)(labels, keys, self.splits, numbers, np.array(ratios), np.array(drifts))

    def cell_names(self) -> list[str]:
        """Return the name of each row, without labels that all rows share."""
        columns = {label: self.column(label) for label in self.names}
        naming = [k for k, v in columns.items() if k == "dataset" or len({*v} - {None}) > 1]
        return [cell_name(naming, row) for row in self.labels(naming)]


def values_of(rows: pd.DataFrame) -> Values:
    """Return the splits of one metric as :class:`Values`."""
    names = [str(c) for c in rows if c not in NOT_LABELS]
    places: dict[tuple[Any, ...], int] = {}
    at = [places.setdefault(key, len(places)) for key in label_rows(rows, names)]
    splits, columns = np.unique(rows["split"].to_numpy(dtype=int), return_inverse=True)
    order = np.argsort(np.where(splits < 0, -splits + splits.max(initial=0), splits))
    numbers = np.full((len(places), len(splits)), np.nan)
    numbers[at, columns] = rows["value"].to_numpy(dtype=float)
    of_cell = rows[["ratio", "drift"]].astype(float).groupby(np.array(at, dtype=int)).mean()
    parts = of_cell.fillna(0.0).to_numpy().T
    return Values(names, [*places], splits[order], numbers[:, order], *parts)
