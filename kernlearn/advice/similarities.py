"""Which similarity to use: many are compared on samples that grow within a given time."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernlearn.advice.candidates import Candidate
from kernlearn.advice.fitting import Done, Fitted, Job
from kernlearn.advice.measuring import Round, measure
from kernlearn.advice.samples import FACTOR, Problem
from kernlearn.exceptions import DataError
from kernlearn.experiments.engine import environment
from kernlearn.kernels import Kernel
from kernlearn.theory.comparison import (
    N_SPLITS,
    SimilarityComparison,
    named_similarities,
    rank,
    sample_points,
    shortened,
    take_similarities,
)
from kernlearn.theory.suitability import Suitability

#: The points of the largest sample.
MOST_POINTS = 2000

# Share of the time in which samples grow; the rest is for all splits of what was compared.
_GROWING = 0.6
# Points of the smallest sample, and those for each class.
_FEWEST, _FEWEST_OF_CLASS = 30, 4
# Splits that are measured at a time, and the times: a comparison may take so many times its limit.
_SPLITS_AT_A_TIME, _MOST_TIMES = 5, 3
_PATIENCE = 2.0


@dataclass(frozen=True, eq=False)
class _Similarity(Candidate):
    """A similarity in the place of a method: it has no parameters to choose."""

    @property
    def settings(self) -> list[dict[str, Any]]:
        return [{}]


@dataclass(frozen=True, eq=False)
class _Samples(Problem):
    """Nested samples of points in the place of nested training parts."""

    fewest: int = _FEWEST

    @property
    def n_full(self) -> int:
        """The points that errors are expected for: no gain by more of them is expected.

        Such gains, each with its noise, would be added to differences on the same points.
        """
        return self.sizes[0]

    @property
    def sizes(self) -> list[int]:
        """The numbers of points that are compared with each other, ascending."""
        sizes = [len(self.y)]
        while sizes[-1] // FACTOR >= self.fewest:
            sizes.append(sizes[-1] // FACTOR)
        return sizes[::-1]


class _Comparer:
    """Compares points, and measures similarities on splits, one job after the other."""

    size = 1

    def __init__(
        self, measured: Mapping[str, Suitability], ranked_by: str, deadline: float
    ) -> None:
        self.deadline = deadline
        self._measured, self._ranked_by = measured, ranked_by

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Done | None]]:
        for job in jobs:
            late = time.monotonic() > self.deadline or job.split >= _MOST_TIMES
            yield job, None if late else self._done(job)

    def _done(self, job: Job) -> Done | None:
        start, one = time.monotonic(), self._measured[job.candidate.name]
        try:
            if not one.similarity.grow(
                job.size, min(start + _PATIENCE * job.limit, self.deadline)
            ):
                return None
            first = job.split * _SPLITS_AT_A_TIME
            numbers = range(first, first + _SPLITS_AT_A_TIME)
            found = [getattr(one.losses(job.size, k), self._ranked_by) for k in numbers]
        except Exception as error:  # of any library: the others are compared
            return Done(errors=(shortened(error),))
        seconds = time.monotonic() - start
        losses = np.concatenate(found)
        score = 1 - float(losses.mean())
        return Done((Fitted(0, score, losses, seconds, 0.0, seconds),), (), seconds)


def _of_points(reason: str) -> str:
    """Return why a similarity was dropped, in words for points instead of rows to train on."""
    words = {"expected to be ": "", " rows": " points", "each fit to": "the splits of"}
    for old, new in words.items():
        reason = reason.replace(old, new)
    return reason


def choose_similarity(
    X: Any,
    y: Any,
    similarities: "Mapping[str, Any] | Sequence[str | Kernel]",
    *,
    classification: bool = True,
    seconds: float = 60.0,
    ranked_by: str = "landmarks",
    n_landmarks: int = 100,
    n_neighbors: int = 1,
    max_points: int = MOST_POINTS,
    n_splits: int = N_SPLITS,
    level: float = 0.05,
    random_state: int = 0,
    on_round: Callable[[Round], None] = lambda done: None,
) -> SimilarityComparison:
    """Compare similarities on samples that grow within a given time, to find which suits the task.

    All start on the same few points. Those that are behind by more than noise, and those that are
    too slow, are not compared on more, as :func:`kernlearn.advice.advise` does with methods.

    Parameters
    ----------
    X : array-like, sparse matrix or sequence
        Points of any kind that all of the similarities take.
    y : array-like of shape (n_samples,)
        Classes, or numbers.
    similarities : sequence of str or Kernel, or mapping
        As for :func:`kernlearn.theory.goodness.compare_similarities`.
    classification : bool, default=True
        Whether `y` are classes.
    seconds : float, default=60
        Time for the comparisons and what is learnt from them, after all similarities have been
        loaded. The last splits may take longer.
    ranked_by, n_landmarks, n_neighbors
        As for :func:`kernlearn.theory.goodness.compare_similarities`.
    max_points : int, default=2000
        Points of the largest sample, of which each other one is a third of the next.
    n_splits, level, random_state
        As for :func:`kernlearn.theory.goodness.compare_similarities`.
    on_round : callable
        Called with each ``kernlearn.advice.measuring.Round``.

    Returns
    -------
    SimilarityComparison

    Raises
    ------
    DataError
        If there are too few points, one target only, or nothing could be measured in time.
    ValueError
        If an argument is invalid.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.preprocessing import scale
    >>> from kernlearn.advice import choose_similarity
    >>> X, y = load_wine(return_X_y=True)
    >>> found = choose_similarity(scale(X), y, ["gaussian", "scipy.chebyshev"], seconds=60)
    >>> found.first.n_points
    178
    """
    named = named_similarities(similarities)
    try:
        task, places = sample_points(
            y,
            max_points,
            classification=classification,
            n_landmarks=n_landmarks,
            n_neighbors=n_neighbors,
            random_state=random_state,
        )
    except ValueError as error:
        raise DataError(str(error)) from None
    n_classes = len(np.unique(task.targets)) if classification else 1
    fewest = max(_FEWEST, _FEWEST_OF_CLASS * n_classes)
    samples = _Samples(
        None, task.targets, classification, len(np.asarray(y)), random_state, fewest
    )
    with environment.thread_limit(1):
        task.warm_up()
        measured, failed = take_similarities(named, X, places, task)
        deadline = time.monotonic() + _GROWING * seconds
        records = measure(
            samples,
            [_Similarity(name, {}, "") for name in measured],
            _Comparer(measured, ranked_by, deadline),
            deadline,
            on_round,
        )
        left = {r.candidate.name: r for r in records if r.sizes}
        failed |= {r.candidate.name: _of_points(r.dropped) for r in records if not r.sizes}
        if not left:
            reasons = "; ".join(f"{name}: {why}" for name, why in failed.items())
            raise DataError(f"no similarity could be measured in {seconds:g} s ({reasons})")
        sizes = {name: record.last for name, record in left.items()}
        stopped = {name: _of_points(record.dropped) for name, record in left.items()}
        measured = {name: measured[name] for name in left}
        return rank(measured, sizes, failed, ranked_by, n_splits, samples.n_rows, level, stopped)
