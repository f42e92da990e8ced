"""Maps of points to their similarities to landmarks, single ones or pairs."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._param_validation import Interval
from sklearn.utils.multiclass import check_classification_targets

from kernlearn.landmarks._base_embedding import BLOCK_ELEMENTS, BaseEmbedding, SimilarityLike
from kernlearn.landmarks._selection import Column, select_landmarks, select_pairs
from kernlearn.landmarks._transfer import Transfer, TransferLike, as_transfer


class LandmarkEmbedding(BaseEmbedding):
    r"""Embedding by similarities to landmarks, :math:`\Psi(x) = (K(x, l_1), \dots, K(x, l_d))`.

    The embedding of [1]_, on which a linear classifier is what [2]_ calls BBS.

    Parameters
    ----------
    n_landmarks : int, default=100
        Number d of landmarks. All training points are landmarks, with a warning, if there are
        fewer.
    similarity : str, Kernel or callable, default="gaussian"
        Name or object of `kernlearn.kernels`, a callable (X, Y) -> matrix, or "precomputed".
        It need not be symmetric nor positive: it is used as K(point, landmark).
    kind : {"similarity", "distance"}, default="similarity"
        Whether it grows or falls as points are more alike. A distance is compared as -distance.
        All named ones are similarities.
    selection : {"random", "stratified", "dselect"}, default="random"
        "random" needs no classes. "stratified" takes landmarks from each class in proportion to
        its size. "dselect" (algorithm 3 of [2]_) takes points unlike each other: over all points
        for two classes or where no classes are given, within each class for more.
    normalize : bool, default=True
        Whether similarities are divided by the largest absolute value that one has between
        training points and landmarks; section 4.2 of [2]_ takes them to be at most 1.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the choice.

    Attributes
    ----------
    landmark_indices_ : ndarray of shape (n_landmarks_out,)
        Numbers of the training points that are landmarks.
    scale_ : float
        What similarities are divided by; 1 where they are not, or are all 0.
    n_features_in_ : int
        Number of columns in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns in `fit`, where all are strings.

    See Also
    --------
    PairEmbedding : Differences of similarities to pairs of landmarks.

    References
    ----------
    .. [1] Balcan & Blum (2006), On a theory of learning with similarity functions.
    .. [2] Kar (2013), sections 4.2 and 4.2.3, algorithm 3.

    Examples
    --------
    >>> from kernlearn.landmarks import LandmarkEmbedding
    >>> X = [[0.0], [1.0], [5.0]]
    >>> embedding = LandmarkEmbedding(2, similarity="manhattan", selection="dselect",
    ...                               random_state=0).fit(X)
    >>> embedding.transform([[0.0], [2.0]])
    array([[-0. , -1. ],
           [-0.4, -0.6]])
    >>> embedding.get_feature_names_out()
    array(['landmark_0', 'landmark_2'], dtype=object)
    """

    def __init__(
        self,
        n_landmarks: int = 100,
        *,
        similarity: SimilarityLike = "gaussian",
        kind: str = "similarity",
        selection: str = "random",
        normalize: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.similarity = similarity
        self.kind = kind
        self.selection = selection
        self.normalize = normalize
        self.random_state = random_state

    def _select(self, y: Any, n_samples: int, column: Column) -> NDArray[np.intp]:
        uses_classes = self.selection != "random" and y is not None
        self.landmark_indices_ = select_landmarks(
            self.n_landmarks,
            _encode(y)[1] if uses_classes else np.zeros(n_samples, dtype=np.intp),
            selection=self.selection,
            column=column,
            rng=check_random_state(self.random_state),
        )
        self._n_features_out = len(self.landmark_indices_)
        return self.landmark_indices_

    def _write(self, similarities: NDArray[np.floating], out: NDArray[np.floating]) -> None:
        out[...] = similarities

    def _finish(self, features: NDArray[np.floating]) -> None:
        features /= self.scale_

    def _feature_names(self) -> list[str]:
        return [f"landmark_{i}" for i in self.landmark_indices_]

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.selection == "stratified"
        return tags


class PairEmbedding(BaseEmbedding):
    r"""Embedding by pairs of landmarks, :math:`\Phi(x) = (f(K(x, x_i^+) - K(x, x_i^-)))_i`.

    A pair is a point of a class and a point of the rest. With two classes the pairs are of
    the second class of `classes_` against the first, with more there are as many for each
    class against all others, one after the other.

    Parameters
    ----------
    n_landmarks : int, default=100
        Number d of pairs, for each one-vs-all problem. They are drawn with replacement.
    similarity, kind, normalize
        As for :class:`LandmarkEmbedding`. Similarities are normalised before f is applied.
    transfer : str, float, Transfer or callable, default="identity"
        The transfer function f, see :func:`as_transfer`: "identity", "sign", "ramp" or
        "sigmoid", a number for a ramp of that slope, or an antisymmetric callable.
    selection : {"random", "stratified", "dselect"}, default="random"
        "random" draws both points of a pair uniformly; "stratified" spreads the second ones
        over the other classes in proportion to their sizes; "dselect" draws both from d points
        unlike each other (algorithm 3 of [1]_), see :func:`select_pairs`.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the choice.

    Attributes
    ----------
    landmark_pairs_ : ndarray of shape (n_problems, n_landmarks, 2)
        Numbers of training points, that of the class first. One problem for two classes.
    landmark_indices_ : ndarray of shape (n_distinct,)
        Numbers of the training points that are in pairs, ascending.
    transfer_ : Transfer
        The transfer function.
    scale_ : float
        What similarities are divided by; 1 where they are not, or are all 0.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of columns in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns in `fit`, where all are strings.

    See Also
    --------
    LandmarkEmbedding : Similarities to single landmarks.

    References
    ----------
    .. [1] Kar (2013), sections 4.2 and 4.2.3, algorithm 3.

    Examples
    --------
    >>> from kernlearn.landmarks import PairEmbedding
    >>> X, y = [[0.0], [4.0]], ["low", "high"]
    >>> embedding = PairEmbedding(1, similarity="manhattan", transfer=2.0, random_state=0)
    >>> embedding = embedding.fit(X, y)
    >>> embedding.transform([[0.0], [1.75], [3.0]])
    array([[ 1.  ],
           [ 0.25],
           [-1.  ]])
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **BaseEmbedding._parameter_constraints,
        "transfer": [str, Transfer, callable, Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        n_landmarks: int = 100,
        *,
        similarity: SimilarityLike = "gaussian",
        kind: str = "similarity",
        transfer: TransferLike = "identity",
        selection: str = "random",
        normalize: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.similarity = similarity
        self.kind = kind
        self.transfer = transfer
        self.selection = selection
        self.normalize = normalize
        self.random_state = random_state

    def _select(self, y: Any, n_samples: int, column: Column) -> NDArray[np.intp]:
        self.transfer_ = as_transfer(self.transfer)
        self.classes_, codes = _encode(y)
        self.landmark_pairs_ = select_pairs(
            self.n_landmarks,
            codes,
            selection=self.selection,
            column=column,
            rng=check_random_state(self.random_state),
        )
        pairs = self.landmark_pairs_.reshape(-1, 2)
        self._n_features_out = len(pairs)
        self.landmark_indices_, places = np.unique(pairs, return_inverse=True)
        self._ups, self._downs = places.reshape(-1, 2).T.copy()
        return self.landmark_indices_

    def _write(self, similarities: NDArray[np.floating], out: NDArray[np.floating]) -> None:
        ups, downs = (similarities.take(places, axis=1) for places in (self._ups, self._downs))
        np.subtract(ups, downs, out=out)

    def _finish(self, features: NDArray[np.floating]) -> None:
        for rows in gen_batches(len(features), max(1, BLOCK_ELEMENTS // features.shape[1])):
            features[rows] /= self.scale_
            self.transfer_(features[rows], out=features[rows])

    def _feature_names(self) -> list[str]:
        n_problems, n_pairs, _ = self.landmark_pairs_.shape
        if n_problems == 1:
            return [f"pair_{j}" for j in range(n_pairs)]
        return [f"pair_{c}_{j}" for c in self.classes_ for j in range(n_pairs)]

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _encode(y: Any) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the classes, and the number among them of each point's."""
    check_classification_targets(y)
    return np.unique(y, return_inverse=True)
