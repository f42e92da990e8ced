"""A linear SVM on the similarities to all training points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn.landmarks._choice import ChoosesC
from kernlearn.landmarks._training import Training
from kernlearn.solvers import LinearSVM


class SimilarityFeatureSVM(ChoosesC):
    """A linear SVM on similarities as features, (K(x, x₁), …, K(x, xₙ)).

    The features are the similarities to all training points, as they are, and the SVM is
    LIBLINEAR's, one class against the rest (:class:`~kernlearn.solvers.LinearSVM` with its
    defaults). The similarity may be asymmetric or indefinite.

    Parameters
    ----------
    C : float or sequence of float, default=(1, 10, 100, 1000)
        Weight of the loss, or several to choose from on validation points; of those with the
        same accuracy the smallest is taken.
    similarity : str, Kernel or callable, default="gaussian"
        A name, see :func:`~kernlearn.kernels.as_kernel`; a kernel; a function (X, Y) ->
        matrix; or "precomputed".
    kind : {"similarity", "distance"}, default="similarity"
        Whether greater values mean closer points; distances are negated.
    validation_fraction : float, default=0.2
        Share of the training points kept apart where several C are to choose from and no
        validation points are given.
    random_state : int, RandomState instance or None, default=None
        What points are kept apart.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    C_ : float
        The C in use.
    svm_ : LinearSVM
        The SVM on the similarities; its classes are places in `classes_`.
    best_params_ : dict
        What was chosen, by the parameter's name.
    validation_scores_ : ndarray of shape (n_choices,) or None
        Accuracy on the validation points of each C, ascending; None without such points.
    n_features_in_ : int

    References
    ----------
    Y. Chen, E. K. Garcia, M. R. Gupta, A. Rahimi, L. Cazzanti. Similarity-based
    classification: concepts and algorithms. JMLR 10, 2009: similarities as features.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernlearn.landmarks import SimilarityFeatureSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> SimilarityFeatureSVM(10.0).fit(X, y).predict(X[::50])
    array([0, 1, 2])
    """

    def __init__(
        self,
        C: Any = (1, 10, 100, 1000),
        *,
        similarity: Any = "gaussian",
        kind: str = "similarity",
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.C = C
        self.similarity = similarity
        self.kind = kind
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    @property
    def svm_(self) -> LinearSVM:
        """The SVM on the similarities."""
        return self._model

    def _train(self, data: Training, choices: list[float]) -> list[LinearSVM]:
        features = data.candidates.compare(data.X)
        return [LinearSVM(C=C).fit(features, data.codes) for C in choices]

    def _decide(
        self, model: LinearSVM, similarities: NDArray[np.floating]
    ) -> NDArray[np.floating]:
        return model.decision_function(similarities)
