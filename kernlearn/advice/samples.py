"""What all candidates are measured on: splits of a sample, and nested parts to train on."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from kernlearn.advice.candidates import Facts
from kernlearn.exceptions import DataError
from kernlearn.experiments.engine.protocol import MaxNormScaler, Parts, generator

#: The share of the rows that the splits of a config train on; the others are its test part.
TRAIN = 0.8
#: The fewest rows that advice is given for.
FEWEST_ROWS = 50

#: Rows of a training part over those of the next smaller one.
FACTOR = 3

# Rows that are measured on at most, of which the parts of a split are drawn, and cells of these
# rows if they are dense: 160 MB in each process.
_MOST_ROWS = 50_000
_MOST_CELLS = 20_000_000
# Rows of a validation or test part at most, and of the smallest training part of several at least.
_MOST_HELD_OUT = 2000
_FEWEST_TRAINED = 50
# Scaled parts that a process keeps: all candidates take the same ones in turn.
_KEPT_PARTS = 4


class Split(NamedTuple):
    """Row numbers of a split; the training parts of all sizes begin with the same rows."""

    train: np.ndarray
    validation: np.ndarray
    test: np.ndarray


@dataclass(frozen=True, eq=False)
class Problem:
    """A sample of a data set, and how it is split.

    Attributes
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Codes of classes, or numbers of mean 0 and variance 1.
    classification : bool
    n_rows : int
        The rows of the whole data set, of which `X` may be a sample.
    seed : int
    """

    X: Any
    y: np.ndarray
    classification: bool
    n_rows: int
    seed: int

    @property
    def n_full(self) -> int:
        """The rows that a method is trained on at full size."""
        return round(TRAIN * self.n_rows)

    @property
    def n_held_out(self) -> int:
        """The rows of the validation part, and those of the test part of a split."""
        return min(_MOST_HELD_OUT, len(self.y) // 5)

    @property
    def sizes(self) -> list[int]:
        """The numbers of rows that methods are trained on, ascending by a factor of three."""
        largest = len(self.y) - 2 * self.n_held_out
        sizes = [largest]
        while len(sizes) < 2 or sizes[-1] // FACTOR >= _FEWEST_TRAINED:
            sizes.append(sizes[-1] // FACTOR)
        return sizes[::-1]

    @property
    def scaling(self) -> str:
        """How a config scales the features: each of dense data, or the norm of sparse points."""
        return "max_norm" if sp.issparse(self.X) else "zscore"

    @property
    def reference(self) -> float:
        """The score of a constant: the share of the largest class, or 0, that of the mean."""
        return float(np.bincount(self.y).max() / len(self.y)) if self.classification else 0.0

    @property
    def facts(self) -> Facts:
        """What the shortlist depends on."""
        scaled = self._scaler().fit_transform(self.X)
        if sp.issparse(scaled):
            means = np.asarray(scaled.mean(axis=0)).ravel()
            variance = float(scaled.multiply(scaled).sum() / scaled.shape[0] - means @ means)
        else:
            variance = float(scaled.var(axis=0).sum())
        width = np.sqrt(2 * variance) or 1.0
        n_features = self.X.shape[1]
        return Facts(self.classification, self.n_full, n_features, sp.issparse(self.X), width)

    def split(self, number: int) -> Split:
        """Return the rows of a split, classes in every part in about their shares."""
        rng = generator(self.seed, "advice", number)
        n, n_held_out = len(self.y), self.n_held_out
        # A row's rank within its class, from 0 to 1; any stretch of ranks is a share of each.
        ranks = np.empty(n)
        for members in self._groups():
            order = rng.permutation(members)
            ranks[order] = (np.arange(len(order)) + rng.uniform()) / len(order)
        order = np.argsort(ranks + rng.uniform(0, 1e-9, n), kind="stable")
        test, validation, train = np.split(order, [n_held_out, 2 * n_held_out])
        return Split(train, validation, test)

    def parts(self, size: int, number: int) -> Parts:
        """Return the parts of a split, `size` rows to train on, scaled by what these tell."""
        rows = self.split(number)
        train = rows.train[:size]
        scaler = self._scaler()
        X_train = scaler.fit_transform(self.X[train])
        X_val, X_test = (scaler.transform(self.X[part]) for part in (rows.validation, rows.test))
        y = self.y
        return Parts(
            X_train, y[train], X_test, y[rows.test], X_val=X_val, y_val=y[rows.validation]
        )

    def _groups(self) -> list[np.ndarray]:
        """Return the rows of each class, or all rows."""
        if not self.classification:
            return [np.arange(len(self.y))]
        return [np.flatnonzero(self.y == code) for code in np.unique(self.y)]

    def _scaler(self) -> Any:
        return MaxNormScaler() if sp.issparse(self.X) else StandardScaler()


@lru_cache(maxsize=_KEPT_PARTS)
def kept_parts(problem: Problem, size: int, number: int) -> Parts:
    """Return the parts of a split, or those that were made before."""
    return problem.parts(size, number)


def make_problem(X: Any, y: np.ndarray, *, classification: bool, seed: int) -> Problem:
    """Draw a sample of a data set, if it has many rows or is wide.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Codes of classes, or numbers.
    classification : bool
    seed : int

    Returns
    -------
    Problem

    Raises
    ------
    DataError
        If there are too few rows, or only one class or number to predict.
    """
    n = X.shape[0]
    if n < FEWEST_ROWS:
        raise DataError(f"has {n} rows; advice takes at least {FEWEST_ROWS}")
    y = np.asarray(y)
    if len(np.unique(y)) < 2:
        raise DataError("has the same target in all rows: there is nothing to predict")
    most = _MOST_ROWS
    if not sp.issparse(X):
        most = max(min(most, _MOST_CELLS // X.shape[1]), FEWEST_ROWS)
    if n > most:
        rows = np.sort(generator(seed, "advice sample").permutation(n)[:most])
        X, y = X[rows], y[rows]
    if classification:
        y = np.unique(y, return_inverse=True)[1]
    else:
        y = np.asarray(y, dtype=np.float64)
        y = (y - y.mean()) / (y.std() or 1.0)
    return Problem(X, y, classification, n, seed)
