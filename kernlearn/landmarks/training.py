"""Points to train on, and those that parameters are chosen on."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kernlearn import validation
from kernlearn.exceptions import SimilarityError
from kernlearn.landmarks.similarities import Landmarks, Reals, Similarities
from kernlearn.validation import Floats, Indices, Random

#: Values to choose from, by parameter.
Grid: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Training:
    """Points to train on, and those that parameters are chosen on.

    Attributes
    ----------
    similarities : Similarities
        Those of the points to each other.
    y : ndarray of shape (n_points,)
        Their targets or labels.
    codes : ndarray of shape (n_points,)
        Their classes.
    weights : ndarray of shape (n_points,) or None
        Factors on their losses; None where all are 1.
    rng : RandomState
        Draws what comes after the points that are held out.
    given : Landmarks or None
        Points that the user has passed as landmarks.
    path : dict
        Values of the models that are trained together, by parameter.
    X_val, y_val, weights_val : array, ndarray and ndarray, or None
        The points to choose on.
    codes_val : ndarray of shape (n_val,) or None
        For classifiers the classes of these, -1 for one without a training point.
    whole : Training or None
        All points, with those that were held out to choose on; None if none were. Kernels are
        those fitted to the points without them.
    """

    similarities: Similarities
    y: NDArray[Any]
    codes: Indices
    weights: Floats | None
    rng: Random
    given: Landmarks | None
    path: Grid
    X_val: Any = None
    y_val: Any = None
    weights_val: Floats | None = None
    codes_val: Indices | None = None
    whole: "Training | None" = None
    _made: dict[Any, Any] = field(default_factory=dict, init=False)

    @property
    def candidates(self) -> Landmarks:
        """All the points, as landmarks."""
        return self.similarities.landmarks

    def kept(self) -> Landmarks:
        """Return all the points as landmarks, as they are now: X may be changed later."""
        return self.once("kept", lambda: self.candidates.take(np.arange(len(self.codes))))

    def signs(self) -> Floats:
        """Return a row for each one-vs-all problem, 1 for its class and -1 for the rest."""
        return validation.one_against_all(self.codes, self.codes.max() + 1)

    def merged(self, features: Reals, part: "Training", held_out: Reals) -> Reals:
        """Return the features of these points: of a part of them and of those held out of it."""
        merged = np.empty((len(self.codes), features.shape[1]), features.dtype)
        is_part = np.isin(self.candidates.indices, part.candidates.indices)
        merged[is_part], merged[~is_part] = features, held_out
        return merged

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return what `make` returns; the models of a path that use the same key share it."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    @contextmanager
    def locating(self) -> Iterator[None]:
        """Name a held-out point by its place in the training data, or as one of X_val."""
        try:
            yield
        except SimilarityError as error:
            if error.names[0] != "X":
                raise
            left, name = error.left, "X_val"
            if self.whole is not None:
                every, trained = self.whole.candidates.indices, self.candidates.indices
                left, name = int(np.setdiff1d(every, trained)[left]), "training X"
            raise error.at(left, error.right, (name, error.names[1])) from error.__cause__
