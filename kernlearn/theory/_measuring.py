"""Going through all comparisons of a sample, once for all criteria."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array, check_random_state, gen_batches
from sklearn.utils.multiclass import check_classification_targets

from kernlearn.landmarks._similarities import Landmarks, SimilarityEstimator
from kernlearn.landmarks._transfer import Identity, Ramp, Sign, Transfer
from kernlearn.theory._goodness_result import Goodness
from kernlearn.theory._hoeffding import check_count
from kernlearn.theory._pair_means import Comparisons, References, stratified_sample

# Similarities in memory at once: 8 MB of float64, and about ten times that around them.
_BLOCK_ELEMENTS = 2**20


class Sample(SimilarityEstimator):
    """Labelled points and the similarity between them.

    Parameters
    ----------
    similarity, kind
        As in :func:`kernlearn.theory.goodness.goodness`.
    """

    def __init__(self, similarity: Any, kind: str) -> None:
        self.similarity = similarity
        self.kind = kind

    def read(self, X: Any, y: Any) -> Sample:
        """Check points and labels, and fit the similarity."""
        self._validate_params()
        X, y = self._check_training(X, y)
        check_classification_targets(y)
        self.classes_, self.codes_ = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"'y' must have two classes at least, got {len(self.classes_)}")
        for label, count in zip(self.classes_, np.bincount(self.codes_), strict=True):
            if count < 2:
                raise ValueError(
                    f"'y' has one point of class {label!s}; each class needs two at least, since "
                    "a point is compared with others of its class"
                )
        self.points_ = X
        self.landmarks_ = self._all_points(X, y)
        return self

    def blocks(self, landmarks: Landmarks) -> Iterator[tuple[NDArray[np.intp], Any]]:
        """Yield rows of the sample and their similarities to landmarks."""
        step = max(1, _BLOCK_ELEMENTS // len(landmarks))
        for rows in gen_batches(len(self.codes_), step):
            yield np.arange(rows.start, rows.stop), landmarks.compare(self.points_[rows])


def measure(
    sample: Sample,
    criteria: Mapping[str, Transfer | None],
    *,
    weights: ArrayLike | None,
    c_f: float | str,
    max_references: int,
    random_state: Any,
) -> dict[str, Goodness]:
    """Measure several criteria; for the arguments see ``goodness``."""
    check_count(max_references=max_references)
    if not (c_f == "range" or (not isinstance(c_f, (str, bool)) and 0 < c_f < np.inf)):
        raise ValueError(f"'c_f' must be a finite number above 0 or 'range', got {c_f!r}")
    codes = sample.codes_
    n = len(codes)
    w = np.ones(n) if weights is None else _check_weights(weights, n)
    everything = References(np.arange(n), codes, w)
    drawn = stratified_sample(codes, max_references, check_random_state(random_state))
    some = References(drawn, codes[drawn], w[drawn])
    margins = {name: np.empty((n, len(sample.classes_))) for name in criteria}
    ranges = dict.fromkeys(criteria, (np.inf, -np.inf))
    for rows, values in sample.blocks(sample.landmarks_):
        full = Comparisons(values, rows, codes[rows], everything)
        part = Comparisons(values[:, drawn], rows, codes[rows], some)
        for name, f in criteria.items():
            if f is None and weights is not None:
                margins[name][rows] = full.mean_differences()
            elif f is None or isinstance(f, (Identity, Sign, Ramp)):
                # without weights equation 4.1 is about the mean difference of all pairs
                margins[name][rows] = full.pair_means(f or Identity())
            else:
                margins[name][rows] = part.pair_means(f)
            if c_f == "range":
                low, high = ranges[name]
                found = values if f is None else f(values)
                ranges[name] = min(low, float(found.min())), max(high, float(found.max()))
    sides = np.where(codes == np.arange(len(sample.classes_))[:, None], 1.0, -1.0)
    # of two classes the second says all
    kept = slice(1 if len(sample.classes_) == 2 else 0, None)
    largest = float(np.abs(w).max())
    return {
        name: Goodness(
            np.ascontiguousarray(margins[name].T[kept]),
            sample.classes_[kept],
            sides[kept],
            c_f=_range(name, ranges[name]) if c_f == "range" else float(c_f),
            bound=largest if f is None else largest**2,
        )
        for name, f in criteria.items()
    }


def _check_weights(weights: ArrayLike, n: int) -> NDArray[np.float64]:
    w = check_array(weights, ensure_2d=False, dtype=np.float64, input_name="weights")
    if w.shape != (n,):
        raise ValueError(f"'weights' must have one number a point, ({n},), got shape {w.shape}")
    return w


def _range(name: str, ends: tuple[float, float]) -> float:
    if ends[0] == ends[1]:
        raise ValueError(
            f"c_f='range' needs a function that takes two values on the similarities; {name} is "
            f"{ends[0]:g} on all of them: give 'c_f' as a number"
        )
    return ends[1] - ends[0]
