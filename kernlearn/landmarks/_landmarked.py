"""What the models that are linear in the similarities to landmarks share (algorithm 5)."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from kernlearn.landmarks._base_embedding import BLOCK_ELEMENTS
from kernlearn.landmarks._selection import select_landmarks
from kernlearn.landmarks._similarities import Landmarks, SimilarityEstimator

# A kernel prepares the landmarks anew for every block.
_LEAST_BLOCK_ROWS = 128


class NumberTargets(SimilarityEstimator):
    """An estimator whose targets are numbers."""

    def _validate(self, X: Any, y: Any, **how: Any) -> tuple[Any, Any]:
        X, y = super()._validate(X, y, y_numeric=True, **how)
        if y.dtype.kind not in "biuf":
            raise ValueError(f"y must hold numbers, got an array of type {y.dtype}")
        return X, y


class LandmarkedModel(NumberTargets):
    r"""Landmarks and the embedding of algorithm 5, for models with numbers as targets.

    The embedding is :math:`\Psi(x) = (K(x, l_1), \ldots, K(x, l_d)) / \sqrt d`. A subclass has
    the parameters below, merges `_landmark_constraints` into its `_parameter_constraints`,
    and sets the fitted attributes `landmark_indices_` and `scale_` by `_embed_training`.

    Parameters
    ----------
    n_landmarks : int
        Number d of landmarks; all training points, with a warning, if there are fewer.
    similarity, kind
        As for `SimilarityEstimator`.
    selection : {"random", "dselect"}
        How landmarks are drawn: uniformly, or to be unlike each other (algorithm 3).
    double_dipping : bool
        Whether landmarks are also trained on (appendix B).
    random_state : int, RandomState instance or None
        Draws the landmarks.

    References
    ----------
    Kar (2013), algorithm 5 and appendix B.
    """

    _landmark_constraints: dict[str, list[Any]] = {
        **SimilarityEstimator._parameter_constraints,
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "selection": [StrOptions({"random", "dselect"})],
        "double_dipping": ["boolean"],
        "random_state": ["random_state"],
    }

    n_landmarks: int
    selection: str
    double_dipping: bool
    random_state: Any
    landmark_indices_: NDArray[np.intp] | None

    def _embed_training(
        self, X: Any, y: Any, landmarks: Any = None
    ) -> tuple[NDArray[np.floating], NDArray[Any], NDArray[np.intp]]:
        """Validate training data, choose the landmarks and embed what is trained on.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Or square, if `similarity` is "precomputed".
        y : array-like of shape (n_samples,)
            Numbers.
        landmarks : {array-like, sparse matrix} of shape (d, n_features), default=None
            Unlabelled points to take as landmarks (algorithm 5, step 1). None draws them from X.

        Returns
        -------
        features : ndarray of shape (n_trained, d)
            The embedding of the points trained on.
        y : ndarray of shape (n_trained,)
            Their targets, of the type in which they came.
        rows : ndarray of shape (n_trained,)
            Their rows in X, ascending.
        """
        X, y = self._check_training(X, y)
        everything = np.arange(X.shape[0])
        rng = check_random_state(self.random_state)
        rows = self._place_landmarks(X, y, everything, landmarks, rng)
        return self._features(X, rows), y[rows], rows

    def _embed(self, X: Any) -> NDArray[np.floating]:
        """Validate points and embed them, (n_samples, d)."""
        check_is_fitted(self)
        X = self._check_points(X)
        return self._features(X, np.arange(X.shape[0]))

    def _n_drawn(self) -> int:
        """Return how many landmarks are drawn from the training points."""
        return self.n_landmarks

    def _place_landmarks(
        self,
        X: Any,
        y: NDArray[Any],
        pool: NDArray[np.intp],
        landmarks: Any,
        rng: np.random.RandomState,
    ) -> NDArray[np.intp]:
        """Choose landmarks from some rows of X; return which of these are trained on."""
        # The similarities are taken from X as it is; only what depends on data needs the pool.
        seen = X if self._precomputed or len(pool) == X.shape[0] else X[pool]
        candidates = replace(self._all_points(seen, y[pool]), indices=pool)
        if landmarks is None:
            chosen = self._draw(X, candidates, rng)
            self._landmarks = candidates.take(chosen)
            self.landmark_indices_ = self._landmarks.indices
            rows = pool if self.double_dipping else np.delete(pool, chosen)
        else:
            points = self._check_landmarks(landmarks)
            places = np.arange(points.shape[0])
            self._landmarks = replace(candidates, indices=places, points=points)
            self.landmark_indices_ = None
            rows = pool
        self.scale_ = float(np.sqrt(len(self._landmarks)))
        self._landmarks = self._landmarks.rescaled(1 / self.scale_)
        return rows

    def _draw(self, X: Any, candidates: Landmarks, rng: np.random.RandomState) -> NDArray[np.intp]:
        n_drawn, n_candidates = self._n_drawn(), len(candidates)
        if not self.double_dipping and n_drawn >= n_candidates:
            raise ValueError(
                f"double_dipping=False needs more training points than the {n_drawn} landmarks, "
                f"which are not trained on, got {n_candidates}"
            )
        return select_landmarks(
            n_drawn,
            np.zeros(n_candidates, dtype=np.intp),
            selection=self.selection,
            column=lambda i: candidates.compare_one(X, i)[candidates.indices],
            rng=rng,
        )

    def _check_landmarks(self, landmarks: Any) -> Any:
        """Validate points to take as landmarks."""
        if self._precomputed:
            raise ValueError(
                "landmarks must be None with similarity='precomputed': there are no points to "
                "compare with, only the rows and columns of X"
            )
        try:
            return self._check_points(landmarks)
        except ValueError as error:
            raise ValueError(f"landmarks: {error}") from error

    def _features(self, X: Any, rows: NDArray[np.intp]) -> NDArray[np.floating]:
        """Embed some rows of validated points."""
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        features = np.empty((len(rows), len(self._landmarks)), dtype=dtype)
        # A block of X itself is copied too: with a matrix of similarities, that is the wider.
        widest = max(len(self._landmarks), X.shape[-1])
        for block in gen_batches(len(rows), max(BLOCK_ELEMENTS // widest, _LEAST_BLOCK_ROWS)):
            features[block] = self._landmarks.compare(X[rows[block]])
        return features
