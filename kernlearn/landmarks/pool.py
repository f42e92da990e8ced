"""Candidates for landmarks, and the least squares problems on them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from kernlearn.landmarks.similarity import Floats, Indices, Landmarks
from kernlearn.sample_weights import taken
from kernlearn.solvers.greedy import GreedyPath, LeastSquares


@dataclass(frozen=True)
class Pool:
    """Candidates for landmarks, and the training points' similarities to them."""

    landmarks: Landmarks
    indices: Indices | None
    features: Floats
    means: Floats  # of the features, subtracted from them, if there is an intercept
    y_mean: Any  # a number, or one for each target
    problems: list[LeastSquares]  # one for each target

    @property
    def several(self) -> bool:
        """Whether the targets are a matrix."""
        return np.ndim(self.y_mean) > 0

    def last(self, paths: list[GreedyPath]) -> tuple[Indices, Floats, Floats]:
        """Return the landmarks of all targets, by place in the pool, and the last weights.

        The weights are (n_targets, n_landmarks), the intercepts (n_targets,).
        """
        dtype = self.features.dtype
        support = np.unique(np.concatenate([path.columns for path in paths]))
        coef = np.zeros((len(paths), len(support)), dtype)
        intercept = np.array(np.atleast_1d(self.y_mean), dtype=np.float64)
        for row, path in enumerate(paths):
            if len(path.columns):
                coef[row, np.searchsorted(support, path.columns)] = path.coef[-1]
                weights = path.coef @ self.means[path.columns]
                intercept[row] = (intercept[row] - weights).astype(dtype)[-1]
        return support, coef, intercept


def draw_pool(
    model: Any,
    X: Any,
    y: np.ndarray,
    rows: Indices,
    given: np.ndarray | None,
    landmarks: Any,
    n_pool: int,
    rng: Any,
    n_columns: int | None,
) -> Pool:
    """Draw the pool, or take the points given, and compare the training points with it."""
    features, rows = model._embed_training(X, y, rows, landmarks, rng, n_pool)
    targets, given = y[rows].astype(np.float64), taken(given, rows)
    means: Floats = np.zeros(features.shape[1])
    y_mean: Any = np.zeros(y.shape[1:])
    if model._has_intercept:
        means, y_mean = _centre(features, given), _centre(targets, given)
    if given is not None:  # weighted squares are squares of rows times the roots
        roots = np.sqrt(given)
        features = np.ascontiguousarray((features.T * roots.astype(features.dtype)).T)
        targets = (targets.T * roots).T
    columns = targets.T if targets.ndim > 1 else [targets]
    problems = [LeastSquares(features, column, n_columns) for column in columns]
    return Pool(model._landmarks, model.landmark_indices_, features, means, y_mean, problems)


def _centre(values: Floats, weights: np.ndarray | None) -> Floats:
    """Subtract means in place, and return them; constants become exactly zero."""
    first = values[0].copy()
    values -= first
    if weights is None:
        rest = values.mean(axis=0, dtype=np.float64).astype(values.dtype)
    else:
        rest = np.average(values, axis=0, weights=weights).astype(values.dtype)
    values -= rest
    means = first + rest
    farthest = np.maximum(values.max(axis=0), -values.min(axis=0))
    values *= farthest > 8 * np.finfo(values.dtype).eps * np.abs(means)
    return means
