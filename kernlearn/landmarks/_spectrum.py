"""An SVM on a matrix of similarities whose negative eigenvalues are done away with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.utils._param_validation import StrOptions

from kernlearn.landmarks._choice import ChoosesC
from kernlearn.landmarks._training import Training
from kernlearn.solvers import KernelSVM


class SpectrumSVM(ChoosesC):
    """A kernel SVM after the similarities were made positive semi-definite.

    The matrix S of the training points' similarities is symmetrised, (S + Sᵀ)/2 = U Λ Uᵀ, and
    LIBSVM is trained on ``U g(Λ) Uᵀ`` (more than two classes one against one):

    - "clip": g(λ) = max(λ, 0);
    - "flip": g(λ) = max(λ, -λ);
    - "shift": g(λ) = λ + max(-λ_min, 0);
    - "square": g(λ) = λ².

    Clip, flip and square are a linear map P of the columns, P S; the similarities s of a new
    point to the training points are mapped by the same P. Shift changes what a point has
    with itself alone, so that those of a new point stay as they are. Eigenvalues that are
    negative by rounding count as 0: clip, flip and shift leave a positive semi-definite
    matrix alone.

    Parameters
    ----------
    spectrum : {"clip", "flip", "shift", "square"}, default="clip"
        What is done to the eigenvalues.
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
    svm_ : KernelSVM
        The SVM on the changed matrix; its classes are places in `classes_`.
    eigenvalues_ : ndarray of shape (n_training_points,)
        The spectrum before it was changed, ascending.
    best_params_ : dict
        What was chosen, by the parameter's name.
    validation_scores_ : ndarray of shape (n_choices,) or None
        Accuracy on the validation points of each C, ascending; None without such points.
    n_features_in_ : int

    Notes
    -----
    Time is cubic and memory quadratic in the number of training points. The similarities of
    new points are not symmetrised, K(x, xᵢ) only is known.

    References
    ----------
    Y. Chen, E. K. Garcia, M. R. Gupta, A. Rahimi, L. Cazzanti. Similarity-based
    classification: concepts and algorithms. JMLR 10, 2009: similarities as kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.landmarks import SpectrumSVM
    >>> S = np.array([[0.0, 1.0, 0.2], [1.0, 0.0, 0.1], [0.2, 0.1, 0.0]])
    >>> model = SpectrumSVM("shift", C=10.0, similarity="precomputed").fit(S, [0, 0, 1])
    >>> model.eigenvalues_.round(2)
    array([-1.01, -0.04,  1.04])
    >>> model.predict([[0.9, 0.8, 0.1]])
    array([0])
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **ChoosesC._parameter_constraints,
        "spectrum": [StrOptions({"clip", "flip", "shift", "square"})],
    }

    def __init__(
        self,
        spectrum: str = "clip",
        C: Any = (1, 10, 100, 1000),
        *,
        similarity: Any = "gaussian",
        kind: str = "similarity",
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.spectrum = spectrum
        self.C = C
        self.similarity = similarity
        self.kind = kind
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    @property
    def svm_(self) -> KernelSVM:
        """The SVM on the changed matrix."""
        return self._model

    def _train(self, data: Training, choices: list[float]) -> list[KernelSVM]:
        similarities = data.candidates.compare(data.X)
        matrix = similarities.astype(np.float64)
        matrix = (matrix + matrix.T) / 2
        self.eigenvalues_, vectors = eigh(matrix)
        # What an eigenvalue of 0 may be off by, as in numpy.linalg.matrix_rank.
        rounding = len(matrix) * np.finfo(similarities.dtype).eps * abs(self.eigenvalues_).max()
        self._negative = vectors[:, self.eigenvalues_ < -rounding]
        self._matrix = matrix if self.spectrum == "square" else None
        kernel = self._mapped(matrix)
        if self.spectrum == "shift" and self._negative.size:
            kernel = kernel - self.eigenvalues_[0] * np.eye(len(matrix))
        return [KernelSVM("precomputed", C=C).fit(kernel, data.codes) for C in choices]

    def _decide(
        self, model: KernelSVM, similarities: NDArray[np.floating]
    ) -> NDArray[np.floating]:
        return model.decision_function(self._mapped(similarities))

    def _mapped(self, similarities: NDArray[np.floating]) -> NDArray[np.floating]:
        """Apply P to each row; clip takes its negative eigenvectors away, flip turns them."""
        if self.spectrum == "shift":
            return similarities
        if self._matrix is not None:
            return similarities @ self._matrix
        part = similarities @ self._negative @ self._negative.T
        return similarities - (part if self.spectrum == "clip" else 2 * part)
