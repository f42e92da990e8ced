"""k nearest neighbours by any similarity."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from kernlearn.landmarks._choice import AllPointsClassifier
from kernlearn.landmarks._training import Training, numbers


class SimilarityKNNClassifier(AllPointsClassifier):
    """The k training points of greatest similarity vote for a point's class.

    Of training points that are equally similar the first ones in training order are
    neighbours; of classes with equal votes the first one in `classes_` is predicted.

    Parameters
    ----------
    n_neighbors : int or sequence of int, default=5
        The number k, or several to choose from on validation points; of those with the same
        accuracy the greatest is taken. None may exceed the number of training points.
    similarity : str, Kernel or callable, default="gaussian"
        A name, see :func:`~kernlearn.kernels.as_kernel`; a kernel; a function (X, Y) ->
        matrix; or "precomputed".
    kind : {"similarity", "distance"}, default="similarity"
        Whether the greatest or the smallest values make neighbours.
    weights : {"uniform"} or callable, default="uniform"
        Weights of the votes. A function takes the neighbours' similarities (negated
        distances), shape (n_samples, n_neighbors), the greatest first, and returns their
        weights, of the same shape, finite, none negative.
    validation_fraction : float, default=0.2
        Share of the training points kept apart where several k are to choose from and no
        validation points are given.
    random_state : int, RandomState instance or None, default=None
        What points are kept apart.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_neighbors_ : int
        The k in use.
    best_params_ : dict
        What was chosen, by the parameter's name.
    validation_scores_ : ndarray of shape (n_choices,) or None
        Accuracy on the validation points of each k, in descending order of k; None without
        such points.
    n_features_in_ : int

    References
    ----------
    Y. Chen, E. K. Garcia, M. R. Gupta, A. Rahimi, L. Cazzanti. Similarity-based
    classification: concepts and algorithms. JMLR 10, 2009, section 4.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernlearn.landmarks import SimilarityKNNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> knn = SimilarityKNNClassifier([1, 3, 5], similarity="manhattan", random_state=0)
    >>> knn.fit(X, y).predict(X[::50])
    array([0, 1, 2])
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **AllPointsClassifier._parameter_constraints,
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), "array-like"],
        "weights": [StrOptions({"uniform"}), callable],
    }
    _chosen = "n_neighbors"

    def __init__(
        self,
        n_neighbors: Any = 5,
        *,
        similarity: Any = "gaussian",
        kind: str = "similarity",
        weights: str | Callable[[NDArray[Any]], Any] = "uniform",
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.similarity = similarity
        self.kind = kind
        self.weights = weights
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the share of the votes that each class has.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        votes = self._scores(X)
        return votes / votes.sum(axis=1, keepdims=True)

    def _choices(self) -> list[int]:
        ascending = numbers(self.n_neighbors, "n_neighbors", "an int >= 1", "iu", lambda k: k >= 1)
        return ascending[::-1]

    def _train(self, data: Training, choices: list[int]) -> list[int]:
        if choices[0] > len(data.codes):
            raise ValueError(
                f"'n_neighbors' must be at most the number of training points, {len(data.codes)}"
                f"{' without those kept apart' if data.X_val.shape[0] else ''}, got {choices[0]}"
            )
        self._votes = np.eye(len(self.classes_))[data.codes]
        return choices

    def _decide(self, model: int, similarities: NDArray[np.floating]) -> NDArray[np.float64]:
        neighbors = _nearest(similarities, model)
        votes = self._votes[neighbors]
        if callable(self.weights):
            weights = self._weigh(np.take_along_axis(similarities, neighbors, axis=1))
            votes = votes * weights[:, :, None]
        return votes.sum(axis=1)

    def _weigh(self, similarities: NDArray[np.floating]) -> NDArray[np.float64]:
        assert callable(self.weights)
        weights = np.asarray(self.weights(similarities), dtype=np.float64)
        if weights.shape != similarities.shape:
            raise ValueError(
                f"'weights' must return one weight a neighbour, shape {similarities.shape}, "
                f"got shape {weights.shape}"
            )
        if not np.isfinite(weights).all() or weights.min() < 0 or not weights.any(axis=1).all():
            raise ValueError(
                "'weights' must return finite weights >= 0, and for each point one that is not 0"
            )
        return weights


def _nearest(similarities: NDArray[np.floating], k: int) -> NDArray[np.intp]:
    """Return the columns of the k greatest values of each row; of equals the first columns."""
    n_rows, n_columns = similarities.shape
    least = np.partition(similarities, n_columns - k, axis=1)[:, n_columns - k, None]
    taken = similarities > least
    tied = similarities == least
    vacant = k - taken.sum(axis=1, keepdims=True)
    taken |= tied & (tied.cumsum(axis=1) <= vacant)
    columns = np.nonzero(taken)[1].reshape(n_rows, k)
    order = np.argsort(-np.take_along_axis(similarities, columns, axis=1), axis=1, kind="stable")
    return np.take_along_axis(columns, order, axis=1)
