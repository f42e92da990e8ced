"""What the classifiers that learn a linear separator in a landmarked space have in common."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from kernlearn.landmarks._similarities import KEPT_ELEMENTS, Landmarks
from kernlearn.landmarks._training import SimilarityClassifier, Training
from kernlearn.landmarks._validation import LOSSES, Scoreboard

# Similarities that are computed at once in prediction: 2 MB of float64.
_BLOCK_ELEMENTS = 2**18
# A kernel prepares the landmarks anew for every block.
_LEAST_BLOCK_ROWS = 128


class LandmarkClassifier(SimilarityClassifier):
    """Base of BBS and FTUNE.

    A subclass gives `_n_choices`, `_learn` and `_add_scores`.
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **SimilarityClassifier._parameter_constraints,
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "selection": [StrOptions({"random", "stratified", "dselect"})],
        "normalize": ["boolean"],
        "C": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "loss": [StrOptions(set(LOSSES))],
        "solver": [StrOptions({"auto", "newton", "truncated_newton", "liblinear"})],
        "tol": [Interval(Real, 0, None, closed="neither"), None],
        "fit_intercept": ["boolean"],
    }

    n_landmarks: int
    selection: str
    normalize: bool
    C: Any
    loss: str
    solver: str
    tol: float | None
    fit_intercept: bool

    @abstractmethod
    def _add_scores(self, similarities: NDArray[Any], scores: NDArray[Any]) -> None:
        """Add Σ w f(·) to scores (n_rows, n_problems), from similarities to `_landmarks`."""

    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the weighted sum of each point's embedding, one a one-vs-all problem.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``similarity="precomputed"`` of shape (n_samples, n_training_points), with a
            column for each row of the X passed to `fit`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One column a class if there are more than two; else positive for ``classes_[1]``.
        """
        check_is_fitted(self)
        X = self._check_points(X)
        scores = np.empty((X.shape[0], len(self.coef_)), dtype=self.coef_.dtype)
        scores[:] = self.intercept_
        n_landmarks = len(self._landmarks)
        if n_landmarks:
            n_rows = max(_BLOCK_ELEMENTS // n_landmarks, _LEAST_BLOCK_ROWS)
            for rows in gen_batches(len(scores), n_rows):
                self._add_scores(self._landmarks.compare(X[rows]), scores[rows])
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return self.classes_[(scores > 0).astype(np.intp)]
        return self.classes_[scores.argmax(axis=1)]

    def _solver_options(self, rng: np.random.RandomState) -> dict[str, Any]:
        """Return the keywords of `linear_path`."""
        return {
            "loss": self.loss,
            "solver": self.solver,
            "tol": self.tol,
            "fit_intercept": self.fit_intercept,
            "seed": rng.randint(np.iinfo(np.int32).max),
        }

    def _scoreboard(self, data: Training, shape: tuple[int, int]) -> Scoreboard | None:
        """Return a scoreboard for the validation points, None without any."""
        if not len(data.codes_val):
            return None
        n_classes = len(self.classes_)
        return Scoreboard(data.codes_val, n_classes if n_classes > 2 else 1, shape, self.loss)

    def _scale(self, columns: Callable[[Any], NDArray[Any]], n_columns: int) -> float:
        """Return what similarities are divided by, and warn if they tell nothing.

        Parameters
        ----------
        columns : callable
            Takes a slice of the landmarks, returns the training points' similarities to them.
        n_columns : int
            Number of landmarks.

        Returns
        -------
        float
            The greatest absolute similarity; 1 without ``normalize``, or if all are 0.
        """
        largest, varies = 0.0, False
        for some in gen_batches(n_columns, 256):
            low, high = (extreme(columns(some), axis=0) for extreme in (np.min, np.max))
            largest = max(largest, -float(low.min()), float(high.max()))
            varies = varies or bool((low < high).any())
        if not varies:
            warnings.warn(
                "all training points have the same similarities to the landmarks: the "
                "similarity says nothing about the classes",
                UserWarning,
                stacklevel=5,
            )
        return largest if self.normalize and largest > 0 else 1.0


def compared(landmarks: Landmarks, X: Any) -> Callable[[Any], NDArray[np.floating]]:
    """Return a function from some of the landmarks to the similarities of X to them.

    They are computed once and kept where they fit into 1 GiB, else at each call.
    """
    if X.shape[0] * len(landmarks) > KEPT_ELEMENTS:
        return lambda which: landmarks.take(which).compare(X)
    kept = landmarks.compare(X)
    # Indexing by numbers would have the result column by column in memory; solvers go by rows.
    return lambda which: kept[:, which] if isinstance(which, slice) else kept.take(which, axis=1)
