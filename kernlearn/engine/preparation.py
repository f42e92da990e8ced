"""What a method gets of a split: its parts, with gaps filled and columns scaled."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import MinMaxScaler, Normalizer, RobustScaler, StandardScaler
from sklearn.utils.extmath import row_norms

from kernlearn.config.model import Protocol
from kernlearn.datasets.data import Data
from kernlearn.datasets.tables import are_objects, kind_of
from kernlearn.engine.splits import NO_UNITS, Units, split_indices
from kernlearn.memory import require_memory
from kernlearn.validation import pair_means, warn, with_pair_means


class MaxNormScaler(TransformerMixin, BaseEstimator):
    """Divide every vector by the largest Euclidean norm of the training vectors.

    "The lengths of all vectors were normalized using normalization constants learnt on
    the training sets" (Kar 2013, section 3.6.3). Test vectors may be longer than 1.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the largest norm; 1 if all vectors are zero."""
        self.scale_ = float(row_norms(X).max()) or 1.0
        return self

    def transform(self, X: Any) -> Any:
        """Divide by the learnt norm."""
        return X / self.scale_


class NumberScaler(StandardScaler):
    """Standardise columns of numbers; columns of 0 and 1 alone stay as they are.

    A rare category would weigh more than all numbers.
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn means and standard deviations."""
        super().fit(X, y, sample_weight)
        is_flag = ((X == 0) | (X == 1)).all(axis=0)
        self.mean_[is_flag], self.scale_[is_flag] = 0, 1
        return self


#: What learns how to scale, by name.
SCALERS = {
    "zscore": StandardScaler,
    "zscore_numbers": NumberScaler,
    "robust": RobustScaler,
    "minmax": MinMaxScaler,
    "max_norm": MaxNormScaler,
    "unit_norm": Normalizer,
}


@dataclass(frozen=True)
class Part:
    """Rows of a split: points, targets, the queries of ranking, and what they are divided by."""

    X: Any
    y: np.ndarray
    query: np.ndarray | None = None
    units: Units = NO_UNITS


@dataclass(frozen=True)
class Parts:
    """The training, test and held-out (if any) part of a split, scaled.

    If X contains similarities or distances to the training points, ``pairwise`` says which.
    ``coded`` are the nominal columns that are codes, ``steps`` what was fitted to the training
    part and applied to all, by name.
    """

    train: Part
    test: Part
    val: Part | None = None
    pairwise: str | None = None
    coded: Sequence[int] = ()
    steps: Sequence[tuple[str, Any]] = ()

    def training(self, rows: np.ndarray, fitted: np.ndarray) -> Part:
        """Return some training rows, as the input of a model that is fitted on ``fitted``."""
        X, y, query, units = self.train.X, self.train.y, self.train.query, self.train.units
        X = X[np.ix_(rows, fitted)] if self.pairwise else getattr(X, "iloc", X)[rows]
        return Part(X, y[rows], None if query is None else query[rows], units.of(rows))

    def only(self, rows: np.ndarray) -> "Parts":
        """Return the same with some of the training rows."""
        val = self.val
        if self.pairwise and val is not None:
            val = replace(val, X=val.X[:, rows])
        return replace(self, train=self.training(rows, rows), val=val)

    def dense(self) -> "Parts":
        """Return the same with dense matrices."""
        made = {}
        for name in ("train", "test", "val"):
            part = getattr(self, name)
            if part is not None and sp.issparse(part.X):
                needed = 8 * part.X.shape[0] * part.X.shape[1]
                require_memory(needed, "`dense: true`", "give the method fewer rows")
                made[name] = replace(part, X=part.X.toarray())
        return replace(self, **made)


class GapFiller(TransformerMixin, BaseEstimator):
    """Fill gaps by what training rows have in the column: the mean, or the most frequent value.

    The latter is for columns of codes, and of 0 and 1. A column without entries becomes 0.

    Parameters
    ----------
    coded : sequence of int, default=()
        The columns of codes.
    """

    def __init__(self, coded: Sequence[int] = ()) -> None:
        self.coded = coded

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the values."""
        gaps = np.isnan(X)
        self.fills_ = np.ma.masked_invalid(X).mean(axis=0).filled(0)
        flags = ((X == 0) | (X == 1) | gaps).all(axis=0)
        for i in {*np.flatnonzero(flags), *self.coded}:
            values, counts = np.unique(X[~gaps[:, i], i], return_counts=True)
            self.fills_[i] = values[counts.argmax()] if len(values) else 0
        self.empty_ = gaps.all(axis=0)
        if n := self.empty_.sum():
            columns = f"{n} of {len(self.empty_)} columns"
            warn(f"{columns} have no entries in a training part: left out")
        return self

    def transform(self, X: Any) -> Any:
        """Fill gaps."""
        return np.where(self.empty_, 0.0, np.where(np.isnan(X), self.fills_, X))


def prepare(
    data: Data, y: np.ndarray, protocol: Protocol, split: int | None, *, raw: bool = False
) -> Parts:
    """Split data with the targets `y`, fill gaps and scale by what the training part says.

    If ``raw`` the parts are those of the table as it is. Without a split all rows are trained on.

    Raises
    ------
    ValueError
        If no test part is left, or the data cannot be scaled in this way.
    """
    X, query = data.data, data.query
    codes, classes = data.groups if query is None else query, y if protocol.stratify else None
    units = Units(codes, classes, data.time, data.fold, query is not None, protocol.gap)
    none = np.empty(0, dtype=np.intp)
    indices = np.arange(X.shape[0]), none, none
    if split is not None:
        indices = split_indices(X.shape[0], protocol, split, units)
    train, kept, _ = indices
    kind = "a similarity matrix has" if data.similarity else f"{kind_of(X)} have"
    if protocol.scale and (data.similarity or are_objects(X)):
        raise ValueError(f"scale: {kind} no features to scale; give []")
    if raw and data.frame is None:
        raise ValueError("columns: raw is for tables of a file or of the catalogue")
    steps: list[tuple[str, Any]] = []
    if raw:
        points = [data.frame.iloc[rows] for rows in indices]
    elif data.similarity:
        points = _filled_pairs(*(X[np.ix_(rows, train)] for rows in indices))
    else:
        points = [X[rows] for rows in indices]
        dense = isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f"
        if dense and (split is None or any(np.isnan(part).any() for part in points)):
            steps.append(("gaps", GapFiller(data.coded)))
        steps += [(name, SCALERS[name]()) for name in protocol.scale]
    for name, step in steps:
        if name.startswith("zscore") and sp.issparse(X):
            raise ValueError(f"scale: {name} would fill a sparse matrix: use max_norm")
        step.fit(points[0])
        points = [step.transform(part) if part.shape[0] else part for part in points]
    learnt_on = y[train]
    if protocol.scale_target == "max_abs":
        y = y / (np.abs(learnt_on).max() or 1.0)
    elif protocol.scale_target == "zscore":
        y = (y - learnt_on.mean()) / (learnt_on.std() or 1.0)
    of_train, of_val, of_test = (
        Part(part, y[rows], None if query is None else query[rows], units.of(rows))
        for part, rows in zip(points, indices, strict=True)
    )
    val, coded = of_val if len(kept) else None, () if raw else data.coded
    return Parts(of_train, of_test, val, data.similarity, coded, steps)


def _filled_pairs(X_train: Any, *others: Any) -> list[Any]:
    """Fill pairs that a matrix lacks by the means of training points."""
    if sp.issparse(X_train):
        return [X_train, *others]
    means = pair_means(X_train)
    filled = with_pair_means(X_train, means, of_training=True)
    return [filled, *(with_pair_means(part, means) for part in others)]
