"""Base classes of the estimators: checks of inputs, landmarks, choice of parameters."""

import warnings
from abc import abstractmethod
from dataclasses import replace
from numbers import Number
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlearn.checks import holds_texts
from kernlearn.constraints import COUNT, N_JOBS, StrOptions
from kernlearn.exceptions import SimilarityError
from kernlearn.kernels import CallableKernel, Kernel, as_kernel
from kernlearn.kernels.pairs import first_wrong
from kernlearn.landmarks.counting import CountsComparisons
from kernlearn.landmarks.selection import (
    BY_SIMILARITY,
    PAIR_SELECTIONS,
    SELECTIONS,
    select_landmarks,
)
from kernlearn.landmarks.similarity import Floats, Indices, KeptSimilarities, Landmarks

SELECTION = StrOptions(set(SELECTIONS))
PAIR_SELECTION = StrOptions(set(PAIR_SELECTIONS))


class PointsEstimator(BaseEstimator):
    """An estimator that compares points, rows of a matrix or objects, by one or more kernels."""

    _dtypes: Any = (np.float64, np.float32)
    _numeric_targets = False

    @abstractmethod
    def _compared_by(self) -> list[Kernel] | None:
        """Return the kernels; None for precomputed matrices."""

    @property
    def _precomputed(self) -> bool:
        return self._compared_by() is None

    def _check_training(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Validate training data; y may be None for an estimator that does without."""
        objects = _as_objects(X) if self._takes_objects(X) else None
        # of objects only the number is left to check
        X = X if objects is None else np.zeros((len(objects), 1))
        options = self._matrix_options(X) if objects is None else {}
        if y is None:
            X = self._validated(X, y, **options)
        else:
            several = self.__sklearn_tags__().target_tags.multi_output
            X, y = self._validated(
                X, y, y_numeric=self._numeric_targets, multi_output=several, **options
            )
            if self._numeric_targets and y.dtype.kind not in "biuf":
                raise ValueError(f"y must hold numbers, got an array of type {y.dtype}")
        return X if objects is None else objects, y

    def _check_points(self, X: Any) -> Any:
        """Validate points that are compared with the training points."""
        if self._takes_objects(X):
            return _as_objects(X)
        return self._validated(X, reset=False, **self._matrix_options(X))

    def _validated(self, X: Any, *y: Any, **options: Any) -> Any:
        try:
            return validate_data(self, X, *y, **options)
        except ValueError:
            if self._precomputed:
                _refuse_broken(X)
            raise

    def _matrix_options(self, X: Any) -> dict[str, Any]:
        kernels = self._compared_by()
        if kernels and all(kernel.mixed for kernel in kernels) and holds_texts(X):
            return {"dtype": object, "ensure_all_finite": "allow-nan"}
        sparse = False if self._precomputed else "csr"
        options: dict[str, Any] = {"accept_sparse": sparse, "dtype": list(self._dtypes)}
        if kernels and all(kernel.missing for kernel in kernels):
            options["ensure_all_finite"] = "allow-nan"
        return options

    def _takes_objects(self, X: Any) -> bool:
        """Whether X is a sequence of strings or objects, for kernels that take these."""
        kernels = self._compared_by() or []
        takes = [kernel.structured or isinstance(kernel, CallableKernel) for kernel in kernels]
        if not takes or not all(takes):
            return False
        structured = any(kernel.structured for kernel in kernels)
        if hasattr(X, "shape"):
            if len(X.shape) == 3:  # points that are matrices, such as series of several channels
                return True
            return len(X.shape) == 1 and X.dtype.kind in "OUST"
        if not isinstance(X, (list, tuple)) or not X:
            return False
        # for user-defined functions these are the rows of a matrix, if they are of one length
        return structured or not isinstance(X[0], (list, tuple, np.ndarray, Number)) or _ragged(X)

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = not self._precomputed
        return tags


def _as_objects(X: Any) -> np.ndarray:
    """Keep points of any kind in an array that can be indexed."""
    if isinstance(X, np.ndarray) and X.ndim == 1:
        return X
    return np.fromiter(X, dtype=object, count=len(X))


def _ragged(points: Any) -> bool:
    """Whether points are arrays or lists of several shapes, or matrices."""
    if isinstance(points[0], Number):
        return False
    shapes = {np.shape(p) if isinstance(p, np.ndarray) else (len(p),) for p in points}
    return len(shapes) > 1 or len(shapes.pop()) > 1


def _refuse_broken(matrix: Any) -> None:
    """Name the pair of points whose similarity in a matrix is NaN or infinite, if there is one."""
    try:
        values = np.asarray(matrix)
        values = values if np.iscomplexobj(values) else values.astype(np.float64)
    except (TypeError, ValueError):
        return
    if values.ndim == 2 and not np.iscomplexobj(values) and (found := first_wrong(values)):
        raise SimilarityError(*found, ("", ""), ("X", "training X")) from None


class SimilarityEstimator(CountsComparisons, PointsEstimator):
    """An estimator with parameters ``similarity`` and ``kind``."""

    _parameter_constraints: dict[str, list[Any]] = {
        "similarity": [str, Kernel, callable],
        "kind": [StrOptions({"similarity", "distance"})],
        "n_jobs": N_JOBS,
        "verbose": ["verbose"],
    }

    similarity: Any
    kind: str

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.similarity, str) and self.similarity == "precomputed"

    @property
    def n_similarities_(self) -> int:
        """The same as `n_comparisons_`, by the name that it has in results."""
        return self.n_comparisons_

    def _compared_by(self) -> list[Kernel] | None:
        return None if self._precomputed else [as_kernel(self.similarity, "similarity")]

    def _check_training(self, X: Any, y: Any) -> tuple[Any, Any]:
        X, y = super()._check_training(X, y)
        if self._precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(
                "similarity='precomputed' needs a square matrix for training, one row and one "
                f"column per training point, got shape {X.shape}"
            )
        if self._precomputed and self.kind == "similarity" and are_distances(X):
            warnings.warn(
                "X looks like distances, with a diagonal of 0 and no value below: they are taken "
                "as similarities, the greater the more alike. Pass kind='distance' for distances",
                UserWarning,
                stacklevel=4,
            )
        return X, y

    def _all_points(self, X: Any, y: Any, rows: Indices | None = None) -> Landmarks:
        """Fit the similarity and return every point as a landmark; `rows` are their indices."""
        indices = np.arange(X.shape[0]) if rows is None else rows
        sign = -1 if self.kind == "distance" else 1
        if self._precomputed:
            return Landmarks(indices, None, None, sign, n_columns=X.shape[1])
        if sign < 0 and isinstance(self.similarity, str):
            raise ValueError(
                "kind='distance' is for a matrix or a user-defined function: "
                f"{self.similarity!r}, like all named similarities, grows as points are more alike"
            )
        fitted, tally = self._fitted_kernel(as_kernel(self.similarity, "similarity"), X, y)
        return Landmarks(indices, X, fitted, sign, tally)


def are_distances(matrix: np.ndarray) -> bool:
    """Whether a matrix has zeros on the diagonal, nothing below, and values above elsewhere."""
    return not matrix.diagonal().any() and bool(matrix.any()) and bool(matrix.min() >= 0)


def decide(scores: Floats) -> Indices:
    """Return the class codes of scores, one column per class, or 1-D and > 0 for class 1."""
    return (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)


class ScoresClassifier(ClassifierMixin, SimilarityEstimator):
    """Base of all classifiers here, which predict the class that `_scores` speak for."""

    def _scores(self, X: Any) -> Floats:
        """Validate points and return their scores, as `decide` takes them."""
        scores: Floats = self.decision_function(X)
        return scores

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``similarity="precomputed"`` of shape (n_samples, n_training_points), with a
            column for each row of the X passed to `fit`; or (n_samples, n_comparisons_), with
            those of `compared_indices_` alone, in that order.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        codes = decide(self._scores(X))
        return self.classes_[codes]


class LandmarkedModel(SimilarityEstimator):
    r"""Landmarks and the embedding of algorithm 5, for models with numeric targets.

    The embedding is :math:`\Psi(x) = (K(x, l_1), \ldots, K(x, l_d)) / \sqrt d`, without the
    divisor where `_divides` is False. The parameters have the meaning that they have for
    :class:`RegLand`.

    References
    ----------
    Kar (2013), algorithm 5 and appendix B.
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **SimilarityEstimator._parameter_constraints,
        "n_landmarks": [COUNT],
        "selection": [StrOptions({"random", *BY_SIMILARITY})],
        "double_dipping": ["boolean"],
        "random_state": ["random_state"],
    }
    _numeric_targets = True
    _divides = True

    n_landmarks: Any
    selection: str
    double_dipping: bool
    random_state: Any
    landmark_indices_: Indices | None
    coef_: Floats
    intercept_: Any

    def _embed_training(
        self, X: Any, y: np.ndarray, rows: Indices, landmarks: Any, rng: Any, n_drawn: int
    ) -> tuple[Floats, Indices]:
        """Choose landmarks from some rows of validated data, and embed the points trained on.

        Also return the rows of X that are trained on: those given, without landmarks unless
        `double_dipping`.
        """
        candidates, similarities = self._similarities(X, y, rows)
        if landmarks is not None:
            unlabelled = self._check_landmarks(landmarks)
            places = np.arange(unlabelled.shape[0])
            self.landmark_indices_ = None
            self._landmarks = replace(
                candidates, indices=places, points=unlabelled, name="landmarks"
            )
            self.scale_ = float(np.sqrt(len(places))) if self._divides else 1.0
            values = self._landmarks.compare(X, None if len(rows) == X.shape[0] else rows)
        else:
            if not self.double_dipping and n_drawn >= len(rows):
                raise ValueError(
                    f"double_dipping=False needs more training points than the {n_drawn} "
                    f"landmarks, which are not trained on, got {len(rows)}"
                )
            codes = np.zeros(len(rows), dtype=np.intp)
            chosen = select_landmarks(n_drawn, codes, self.selection, rng, similarities)
            values, rows = self._embedded(candidates, similarities, chosen, rows)
        return np.ascontiguousarray(self._scaled(values), dtype=float_type(X)), rows

    def _similarities(
        self, X: Any, y: np.ndarray, rows: Indices
    ) -> tuple[Landmarks, KeptSimilarities]:
        """Return some rows of X as candidates for landmarks, and their similarities to these."""
        # The similarities are taken from X as it is; only what depends on data needs the rows.
        some = None if len(rows) == X.shape[0] else rows
        points = X if self._precomputed or some is None else X[rows]
        candidates = self._all_points(points, y[rows], rows)
        return candidates, KeptSimilarities(candidates, X, some)

    def _embedded(
        self, candidates: Landmarks, similarities: KeptSimilarities, chosen: Indices, rows: Indices
    ) -> tuple[Floats, Indices]:
        """Take landmarks, and return the similarities of the rows trained on, and these rows."""
        self._take(candidates, chosen)
        trained = None if self.double_dipping else np.delete(np.arange(len(rows)), chosen)
        return similarities.columns(chosen, trained), rows if trained is None else rows[trained]

    def _take(self, candidates: Landmarks, chosen: Indices) -> None:
        self._landmarks = candidates.take(chosen)
        self.landmark_indices_ = self._landmarks.indices
        self.scale_ = float(np.sqrt(len(chosen))) if self._divides else 1.0

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

    def predict(self, X: Any) -> Floats:
        r"""Predict the targets of points.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``similarity="precomputed"`` of shape (n_samples, n_training_points), with a
            column for each row of the X passed to `fit`; or (n_samples, n_comparisons_), with
            those of `compared_indices_` alone, in that order.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
            :math:`\langle w, \Psi(x) \rangle`, float32 if X and the training points are.
        """
        return self._products(X) + self.intercept_

    def _products(self, X: Any) -> Floats:
        r"""Validate points, and return the :math:`\langle w, \Psi(x) \rangle`, block by block."""
        check_is_fitted(self)
        X = self._check_points(X)
        of_features = float_type(X)
        shape = X.shape[0], *self.coef_.shape[:-1]
        values = np.zeros(shape, dtype=np.result_type(of_features, self.coef_))
        for rows, similarities in self._landmarks.blocks(X):
            features = self._scaled(similarities).astype(of_features, copy=False)
            values[rows] = features @ self.coef_.T
        return values

    def _embed(self, X: Any) -> Floats:
        """Validate points and embed them, (n_samples, d)."""
        check_is_fitted(self)
        return self._features(self._check_points(X))

    def _features(self, X: Any) -> Floats:
        """Embed validated points."""
        features = np.empty((X.shape[0], len(self._landmarks)), dtype=float_type(X))
        for rows, similarities in self._landmarks.blocks(X):
            features[rows] = self._scaled(similarities)
        return features

    def _scaled(self, similarities: Floats) -> Floats:
        return similarities * similarities.dtype.type(1 / self.scale_)


def float_type(X: Any) -> type[np.floating]:
    """Return the type that features of points are computed in."""
    return np.float32 if X.dtype == np.float32 else np.float64
