"""Bases of the classifiers whose number of landmarks may be found on validation points."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from kernlearn.landmarks import base
from kernlearn.landmarks.growth import (
    GROWTH,
    Candidate,
    TriedSize,
    check_growth,
    grow_landmarks,
    growing_sizes,
)
from kernlearn.landmarks.selection import select_landmarks
from kernlearn.landmarks.similarity import Floats, Indices, KeptSimilarities
from kernlearn.landmarks.similarity_classifier import SimilarityClassifier, Training


class FindsSize(SimilarityClassifier):
    """Base of the classifiers with parameters ``n_landmarks``, a number or "auto"."""

    _parameter_constraints = {
        **SimilarityClassifier._parameter_constraints,
        **GROWTH,
    }

    n_landmarks: int | str
    max_comparisons: int | None
    selection: str
    growth_: tuple[TriedSize, ...]

    def _n_choices(self, grid: dict[str, Any]) -> int:
        n_choices = super()._n_choices(grid)
        growing = check_growth(self.n_landmarks, self.max_comparisons)
        return max(n_choices, 2) if growing else n_choices

    def _grown(
        self,
        data: Training,
        selection: str,
        rng: np.random.RandomState,
        fit: Callable[[Indices, KeptSimilarities], Candidate],
    ) -> tuple[Candidate, tuple[TriedSize, ...]]:
        """Return what is fitted on landmarks that grow as long as they pay, and what was tried."""
        codes = data.codes
        sizes = growing_sizes(len(codes), self.max_comparisons, int(codes.max()) + 1)
        return grow_landmarks(
            data.candidates,
            data.similarities,
            codes,
            data.X_val,
            data.weights_val,
            sizes,
            selection,
            rng,
            fit,
        )


class GrowsPairs(FindsSize):
    """Base of the classifiers on pairs of landmarks."""

    _parameter_constraints = {
        **FindsSize._parameter_constraints,
        "selection": [base.PAIR_SELECTION],
    }

    def _grown_pairs(
        self,
        data: Training,
        rng: np.random.RandomState,
        fit: Callable[[Indices, bool, KeptSimilarities], Candidate],
    ) -> tuple[Candidate, tuple[TriedSize, ...]]:
        """Return what is fitted on pairs of a pool of single points that grows.

        `fit` takes the pool, and whether the second points of pairs are spread over classes.
        """
        selection = "shared" if self.selection == "random" else self.selection
        n_classes = int(data.codes.max()) + 1
        if self.max_comparisons is not None and self.max_comparisons < n_classes:
            raise ValueError(
                f"'max_comparisons' must be at least the number of classes, {n_classes}, as each "
                f"has a point in pairs, got {self.max_comparisons}"
            )
        spread = selection == "stratified"
        return self._grown(data, selection, rng, lambda pool, kept: fit(pool, spread, kept))


class GrowingClassifier(FindsSize):
    """Base of the classifiers on single landmarks."""

    _parameter_constraints = {
        **FindsSize._parameter_constraints,
        "selection": [base.SELECTION],
    }

    @abstractmethod
    def _options(self, rng: np.random.RandomState) -> dict[str, Any]:
        """Return the options of training, with what they draw at random."""

    @abstractmethod
    def _fit_at(
        self,
        data: Training,
        grid: dict[str, Any],
        options: dict[str, Any],
        chosen: Indices,
        held_out: Floats | None,
    ) -> Candidate:
        """Train for each choice of the grid on some landmarks, and choose.

        `held_out` are the validation points' similarities to the landmarks, None without any.
        """

    @abstractmethod
    def _keep(self, data: Training, found: Candidate) -> None:
        """Set the fitted attributes."""

    def _learn(self, data: Training, grid: dict[str, Any], rng: np.random.RandomState) -> None:
        self.__dict__.pop("growth_", None)  # of an earlier fit
        codes, similarities = data.codes, data.similarities
        if not isinstance(self.n_landmarks, str):
            chosen = select_landmarks(self.n_landmarks, codes, self.selection, rng, similarities)
            options, held_out = self._options(rng), None
            if data.X_val is not None:
                held_out = data.candidates.take(chosen).compare(data.X_val)
            found = self._fit_at(data, grid, options, chosen, held_out)
        else:
            options = self._options(rng)

            def fit(chosen: Indices, validation: KeptSimilarities) -> Candidate:
                return self._fit_at(data, grid, options, chosen, validation.columns(chosen))

            found, self.growth_ = self._grown(data, self.selection, rng, fit)
        self.validation_scores_ = found.scores
        self.landmark_indices_ = data.candidates.indices[found.chosen]
        self._keep(data, found)
