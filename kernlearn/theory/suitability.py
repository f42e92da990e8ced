"""What landmarks and nearest neighbours make of a similarity, measured on splits of a sample."""

import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kernlearn.landmarks import BBSClassifier, RegLand, SimilarityKNNClassifier
from kernlearn.theory.criteria import Array
from kernlearn.theory.resampling import Indices, random_split
from kernlearn.theory.sampled import SampledSimilarity

#: What similarities are ranked by.
RANKED_BY = ("landmarks", "neighbors")

#: Landmarks that are tried at most.
MOST_LANDMARKS = 320

# Share of the points trained on that landmark methods hold out, and splits on which the number of
# landmarks is found, and points of these at most.
_HELD_OUT = 0.2
_GROWN, _MOST_GROWN = 3, 700
# Points of a first fit.
_FEW = 30
# Points that the criteria of goodness are measured on, and those of the linear program.
_MOST_ASSESSED, _MOST_IN_PROGRAM = 600, 150


@dataclass(frozen=True, eq=False)
class Task:
    """What is predicted, by which methods.

    Attributes
    ----------
    targets : ndarray of shape (n_points,)
        Codes of classes, or numbers of mean 0 and variance 1, in the order of the points.
    classification : bool
    n_landmarks, n_neighbors : int
    seed : int
    """

    targets: NDArray[Any]
    classification: bool
    n_landmarks: int = 100
    n_neighbors: int = 1
    seed: int = 0

    def split(self, size: int, number: int) -> tuple[Indices, Indices]:
        """Return the rows of the first `size` that a split trains on, and those it tests on."""
        codes = self.targets[:size] if self.classification else None
        return random_split(codes, size, self.seed, number)

    def landmark_model(self, n_landmarks: int | str, number: int, **options: Any) -> Any:
        """Return the method on landmarks: BBS, or RegLand for numbers."""
        make: Any = BBSClassifier if self.classification else RegLand
        seed = np.random.RandomState([self.seed, number]).randint(2**31 - 1)
        return make(n_landmarks, similarity="precomputed", random_state=seed, **options)

    def warm_up(self) -> None:
        """Fit the method once: what is imported or compiled at first takes no time later."""
        targets = self.targets[:_FEW]
        with warnings.catch_warnings(), suppress(ValueError):
            warnings.simplefilter("ignore")
            self.landmark_model(2, 0).fit(np.random.RandomState(0).rand(_FEW, _FEW), targets)

    def losses(self, true: NDArray[Any], predicted: NDArray[Any]) -> Array:
        """Return what each prediction costs: 1 for a wrong class, or the squared error."""
        if self.classification:
            return (true != predicted).astype(np.float64)
        return np.asarray((true - predicted) ** 2, dtype=np.float64)


class Losses(NamedTuple):
    """The losses of the test points of a split by both methods."""

    landmarks: Array
    neighbors: Array


@dataclass(eq=False)
class Suitability:
    """How well a similarity suits a task, as far as it has been measured.

    Attributes
    ----------
    name : str
    similarity : SampledSimilarity
    task : Task
    """

    name: str
    similarity: SampledSimilarity
    task: Task
    _losses: dict[tuple[int, int], Losses] = field(default_factory=dict)

    def losses(self, size: int, number: int) -> Losses:
        """Return the losses on a split of the first `size` points, compared before."""
        if (size, number) not in self._losses:
            self._losses[size, number] = self._measured(size, number)
        return self._losses[size, number]

    def errors(self, size: int, n_splits: int, by: str) -> Array:
        """Return the mean losses on each split of the first `size` points."""
        found = [getattr(self.losses(size, number), by) for number in range(n_splits)]
        return np.array([losses.mean() for losses in found])

    def _measured(self, size: int, number: int) -> Losses:
        train, test = self.task.split(size, number)
        matrix, targets = self.similarity.matrix(size), self.task.targets[:size]
        known, asked = matrix[np.ix_(train, train)], matrix[np.ix_(test, train)]
        n_most = len(train) - int(np.ceil(_HELD_OUT * len(train)))
        model = self.task.landmark_model(min(self.task.n_landmarks, n_most), number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            by_landmarks = model.fit(known, targets[train]).predict(asked)
        by_neighbors = self._nearest(asked, known, targets[train])
        losses = self.task.losses
        return Losses(losses(targets[test], by_landmarks), losses(targets[test], by_neighbors))

    def _nearest(self, asked: Array, known: Array, targets: NDArray[Any]) -> NDArray[Any]:
        """Return what the most similar points that are trained on have for a target."""
        k = min(self.task.n_neighbors, len(targets))
        if self.task.classification:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                voters = SimilarityKNNClassifier(k, similarity="precomputed").fit(known, targets)
                return voters.predict(asked)
        nearest = np.argsort(-asked, axis=1, kind="stable")[:, :k]
        return np.asarray(targets[nearest].mean(axis=1))

    def landmarks_needed(self, size: int) -> int:
        """Return the median number of landmarks that is found to pay, over some small splits.

        It is that of ``n_landmarks="auto"``: sets are doubled while validation points gain, up to
        `MOST_LANDMARKS`.
        """
        found, size = [], min(size, _MOST_GROWN)
        for number in range(_GROWN):
            train, _ = self.task.split(size, number)
            known = self.similarity.matrix(size)[np.ix_(train, train)]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = self.task.landmark_model("auto", number, max_comparisons=MOST_LANDMARKS)
                model.fit(known, self.task.targets[train])
            found.append(len(model.landmark_indices_))
        return int(np.median(found))

    def goodness(self, size: int, assess: Callable[..., Any]) -> tuple[float, str]:
        """Return the error or loss by the best criterion of goodness, and its name."""
        n = min(size, _MOST_ASSESSED if self.task.classification else _MOST_IN_PROGRAM)
        targets = self.task.targets[:n]
        rows = np.arange(n)
        if self.task.classification:  # a point is compared with others of its class
            rows = np.flatnonzero(np.bincount(targets)[targets] > 1)
        matrix = self.similarity.matrix(n)[np.ix_(rows, rows)]
        return assess(matrix, targets[rows])
