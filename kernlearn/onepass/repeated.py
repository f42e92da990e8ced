"""Rows with classes that are read several times, and what the first reading tells of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from kernlearn.datasets.sources import RowChunk, RowSource, is_source, row_source
from kernlearn.onepass.folds import HashSample, fold_of, label_hashes, row_hashes
from kernlearn.sample_weights import places

#: Rows are held out in whole numbers of so many parts.
_PARTS = 2**20


def as_source(X: Any, y: Any = None, groups: Any = None) -> RowSource:
    """Return rows in memory or elsewhere as a source; arrays as one chunk."""
    if is_source(X):
        if groups is not None:
            raise ValueError("groups is for arrays; a source has chunks (X, y, groups)")
        return row_source(X, y)
    chunk = (X, y) if groups is None else (X, y, groups)
    return RowSource(lambda: [chunk])


def is_streamed(X: Any) -> bool:
    """Tell whether an estimator that otherwise holds its rows in memory should read X by chunks.

    A bare memory map is an array to it, as to scikit-learn, whose parallel tools pass arrays as
    memory maps: results would depend on the number of jobs. `row_source` makes a source of it.
    """
    return is_source(X) and not isinstance(X, np.memmap)


def check_labels(y: Any) -> NDArray[Any]:
    """Return the labels of rows as an array, without missing ones."""
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("Input y contains NaN or infinity.")
    check_classification_targets(labels)
    return labels


def check_lengths(X: Any, **others: Any) -> None:
    """Refuse what has another number of rows than X."""
    for name, values in others.items():
        if values is not None and len(values) != X.shape[0]:
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: X has "
                f"{X.shape[0]} rows, {name} has {len(values)}"
            )


@dataclass(frozen=True)
class Survey:
    """What the first reading tells.

    Attributes
    ----------
    X, y : rows and labels
        A sample of the rows to train on, those with the smallest hashes.
    numbers : ndarray of int
        Their places among all rows, in the order of the first reading.
    held_X, held_y : rows and labels
        Such a sample of the rows held out; None without any.
    classes : ndarray of shape (n_classes,)
    counts : ndarray of shape (n_classes,)
        Rows of each class to train on.
    n_held : int
        Rows held out.
    """

    X: Any
    y: NDArray[Any]
    numbers: NDArray[np.intp]
    held_X: Any
    held_y: Any
    classes: NDArray[Any]
    counts: NDArray[np.int64]
    n_held: int

    @property
    def n_rows(self) -> int:
        """Number of rows to train on."""
        return int(self.counts.sum())

    @property
    def codes(self) -> NDArray[np.intp]:
        """The classes of the sample."""
        return places(self.classes, self.y)


class RepeatedRows:
    """Rows of a source, to be read in several passes.

    Parameters
    ----------
    source : RowSource
    check : callable
        Validates the rows X of a chunk; its argument ``reset`` is true for the first one.
    held_fraction : float
        Share of the rows that are held out; which ones is told by a hash of the entries, or of
        the group, so that equal rows are not divided.
    sample_rows : int
    seed : int
        Seed of the hashes.

    Attributes
    ----------
    n_passes : int
        How often the source has been read.

    Raises
    ------
    ValueError
        If the source can be read but once.
    """

    def __init__(
        self,
        source: RowSource,
        check: Callable[..., Any],
        *,
        held_fraction: float = 0.0,
        sample_rows: int = 10_000,
        seed: int = 0,
    ) -> None:
        if not source.repeatable:
            raise ValueError(
                "fit reads the data several times, which an iterator does not allow: pass a "
                "function that returns a new one"
            )
        self._source, self._check = source, check
        self._limit, self._sample_rows, self._seed = (
            round(held_fraction * _PARTS),
            sample_rows,
            seed,
        )
        self._n_rows = -1
        self.n_passes = 0

    def survey(self) -> Survey:
        """Read the data for the classes and a sample of the rows.

        Raises
        ------
        ValueError
            If there are no rows, or fewer than two classes among those to train on.
        """
        kept, held = (HashSample(self._sample_rows, self._seed) for _ in range(2))
        counts: dict[Any, int] = {}
        labels: list[NDArray[Any]] = []
        first = n_held = 0
        for X, y, out in self._chunks():
            for value, count in zip(*np.unique(y[~out], return_counts=True), strict=True):
                counts[value] = counts.get(value, 0) + int(count)
            labels.append(np.unique(y))
            numbers = np.arange(first, first + len(y))
            for sample, rows in ((kept, ~out), (held, out)):
                if rows.any():
                    sample.add(X[rows], y[rows], numbers[rows])
            first, n_held = first + len(y), n_held + int(out.sum())
        if not first:
            raise ValueError("the data have no rows")
        self._n_rows = first
        classes = np.unique(np.concatenate(labels))
        of_classes = np.array([counts.get(value, 0) for value in classes], dtype=np.int64)
        if np.count_nonzero(of_classes) < 2:
            raise ValueError(
                "y must have at least two classes in the rows that are trained on, but it has one "
                f"class: {classes.tolist()}"
            )
        if self._limit and not n_held:
            raise ValueError(
                f"none of the {first} rows is held out, so that there are none to choose "
                "parameters on: pass more rows, a greater validation_fraction or a single C"
            )
        (X, y), (held_X, held_y) = kept.rows(), held.rows() if n_held else (None, None)
        return Survey(X, y, kept.numbers, held_X, held_y, classes, of_classes, n_held)

    def read(
        self, classes: NDArray[Any], *, held: bool = False
    ) -> Iterator[tuple[Any, NDArray[np.intp]]]:
        """Make a pass: yield rows to train on, or those held out, and the codes of their classes.

        Raises
        ------
        ValueError
            If there is a new class, or another number of rows than in the first pass.
        """
        n_rows = 0
        for X, y, out in self._chunks():
            n_rows += len(y)
            codes = places(classes, y)
            if (classes[codes] != y).any():
                raise ValueError(_CHANGED + f": the label {y[classes[codes] != y][0]!r} is new")
            rows = out if held else ~out
            if rows.all():
                yield X, codes
            elif rows.any():
                yield X[rows], codes[rows]
        if n_rows != self._n_rows:
            raise ValueError(_CHANGED + f": {self._n_rows} rows at first, {n_rows} now")

    def _chunks(self) -> Iterator[tuple[Any, NDArray[Any], NDArray[np.bool_]]]:
        """Make a pass over validated rows, their labels, and which are held out."""
        self.n_passes += 1
        reset = self._n_rows < 0
        for chunk in self._source:
            yield self._checked(chunk, reset)
            reset = False

    def _checked(
        self, chunk: RowChunk, reset: bool
    ) -> tuple[Any, NDArray[Any], NDArray[np.bool_]]:
        X, y, *rest = chunk
        if y is None:
            raise ValueError("the classifier requires y to be passed, but the target y is None")
        X, labels = self._check(X, reset=reset), check_labels(y)
        groups = np.asarray(rest[0]) if rest else None
        check_lengths(X, y=labels, groups=groups)
        if not self._limit:
            return X, labels, np.zeros(len(labels), dtype=bool)
        hashes = row_hashes(X, self._seed) if groups is None else label_hashes(groups)
        return X, labels, fold_of(hashes, _PARTS) < self._limit


_CHANGED = "the data have changed between two passes"
