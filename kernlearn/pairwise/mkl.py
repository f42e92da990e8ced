"""Online multiple kernel learning from labelled points."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions

from kernlearn.kernels import Kernel, NormalizedKernel, WeightedKernelSum, as_kernel
from kernlearn.pairwise.pair_stream import BLOCK_ROWS, OnlinePairLearner
from kernlearn.pairwise.projections import project_l2, project_simplex
from kernlearn.pairwise.similarity import AlignmentScoreMixin

# Values of kernels in memory at once: 32 MB of float64.
_BLOCK_ELEMENTS = 2**22


class OnlineMKL(AlignmentScoreMixin, OnlinePairLearner):
    r"""Two-stage multiple kernel learning: the weights of kernels from a stream.

    The kernel :math:`K_\mu(x, x') = \sum_i \mu_i K_i(x, x') = \langle\mu, z(x, x')\rangle` with
    :math:`z(x, x') = (K_1(x, x'), \dots, K_p(x, x'))`, the "K-space" of [1]_ after [2]_, is
    learned with the loss :math:`\varphi\bigl(y y' K_\mu(x, x')\bigr)` of pairs of a point with
    those in a buffer; :math:`y y'` is +1 for points of one class and -1 for others. This is
    the first stage; the second is any learner that accepts `kernel_`.

    Parameters
    ----------
    kernels : sequence of str, Kernel or callable, \
            default=("linear", "cosine", "gaussian", "laplacian")
        The kernels K_i: names, objects, or functions of two matrices. They are cloned; a width
        that depends on data is estimated on the X passed to `fit`, or to the first call of
        `partial_fit`.
    normalize : bool, default=False
        Whether each kernel is divided by :math:`\sqrt{K_i(x, x) K_i(x', x')}`, which makes
        their weights comparable. Otherwise kernels with large values have large gradients: see
        the notes.
    eta : float, default=1.0
        Scale η of the steps :math:`\eta_t = \eta/\sqrt t`, in the unit of μ / K². Not used with
        regularisation.
    radius : float, default=1.0
        The sum of the weights on the simplex, the largest norm in the ball.
    norm : {"simplex", "l2"}, default="simplex"
        The set of weights: the simplex, which makes them sparse, or the non-negative part of the
        ℓ₂ ball.
    regularization : float, default=0.0
        λ of a strongly convex regulariser λ/2 ‖μ‖² in each loss, with which the steps are
        :math:`\eta_t = 1/(\lambda t)` (section 6.4).
    average : bool, default=True
        Whether the weights are the mean of :math:`\mu_1, \dots, \mu_n`, to which the theory
        applies, or :math:`\mu_n`.
    buffer_size, buffer, loss, n_passes, random_state
        As in :class:`OLP`.

    Attributes
    ----------
    weights_ : ndarray of shape (n_kernels,)
        The weights μ, non-negative.
    kernel_ : WeightedKernelSum
        The kernel K_μ, accepted wherever a kernel is; its widths are fixed.
    kernels_ : list of Kernel
        The kernels K_i, fitted, and normalized with `normalize`.
    classes_ : ndarray of shape (n_classes,)
        The labels seen.
    n_samples_seen_, n_features_in_, feature_names_in_
        As of :class:`OLP`.

    Notes
    -----
    The thesis has the sphere :math:`\|\mu\|_2 = 1`, which is not convex; steps are projected
    onto the ball. On the simplex the stream starts at equal weights, in the ball at 0.

    With a radius of 1 and kernels of values in [-1, 1], no pair has a margin above 1: the hinge
    is then linear, and the best point of the simplex is the one kernel with the largest mean
    :math:`y y' K_i(x, x')`. With a larger radius mixtures are best.

    Up to rounding, the result does not depend on how the stream is divided into calls if no
    kernel depends on data or the first call is the same.

    Gradients are as large as the values of the kernels: with one of large values and an `eta`
    that is not small, each step ends in a corner of the simplex, and the average counts how often
    in which. From one class the kernels of largest values are preferred; `fit` refuses data of
    one class, `partial_fit` does not.

    The kernels are evaluated at once between up to 256 points of the stream, and these and the
    buffer; a step is one product with a p × s matrix.

    References
    ----------
    .. [1] Kar (2013), section 6.6.4 and algorithm 8.
    .. [2] A. Kumar, A. Niculescu-Mizil, K. Kavukcuoglu, H. Daumé III (2012), "A binary
       classification framework for two-stage multiple kernel learning".

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.kernels import GaussianKernel
    >>> from kernlearn.pairwise import OnlineMKL
    >>> from sklearn.svm import SVC
    >>> rng = np.random.RandomState(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = np.linalg.norm(X, axis=1) > 1.2
    >>> learner = OnlineMKL(["linear", GaussianKernel(1.0)], random_state=0).fit(X, y)
    >>> learner.weights_.round(1)
    array([0., 1.])
    >>> SVC(kernel=learner.kernel_).fit(X, y).score(X, y) > 0.95
    True
    """

    _kernel_attribute = "kernel_"
    radius: float
    _parameter_constraints: dict[str, list[Any]] = {
        **OnlinePairLearner._parameter_constraints,
        "kernels": [list, tuple],
        "normalize": ["boolean"],
        "radius": [Interval(Real, 0, None, closed="neither")],
        "norm": [StrOptions({"l2", "simplex"})],
    }

    def __init__(
        self,
        kernels: Sequence[Any] = ("linear", "cosine", "gaussian", "laplacian"),
        *,
        normalize: bool = False,
        buffer_size: int = 50,
        buffer: Any = "rsx2",
        eta: float = 1.0,
        radius: float = 1.0,
        loss: Any = "hinge",
        norm: str = "simplex",
        regularization: float = 0.0,
        average: bool = True,
        n_passes: int = 1,
        random_state: Any = None,
    ) -> None:
        self.kernels = kernels
        self.normalize = normalize
        super().__init__(
            buffer_size, buffer, eta, radius, loss, norm, regularization, average, n_passes,
            random_state,
        )  # fmt: skip

    def _start(self, X: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
        if not self.kernels:
            raise ValueError("'kernels' must contain at least one kernel, got none")
        self.kernels_ = [self._fitted(spec, X, y) for spec in self.kernels]
        return np.zeros(len(self.kernels_))

    def _fitted(self, spec: Any, X: NDArray[np.float64], y: NDArray[Any]) -> Kernel:
        kernel = clone(as_kernel(spec, "kernels"))
        if kernel.data_dependent:
            kernel.fit(X, y)
        return NormalizedKernel(kernel) if self.normalize else kernel

    def _project(self, w: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.norm == "simplex":
            return project_simplex(w, float(self.radius))
        return project_l2(w, float(self.radius), nonnegative=True)

    def _block_rows(self) -> int:
        n_values = len(self.kernels_) * (BLOCK_ROWS + self.buffer_size)
        return int(np.clip(_BLOCK_ELEMENTS // n_values, 1, BLOCK_ROWS))

    def _block(self, points: NDArray[np.float64], n_old: int) -> tuple[NDArray[np.float64], int]:
        """Return kernel values, (n_kernels, n_new, n_points), and the first new position."""
        values = np.empty((len(self.kernels_), len(points) - n_old, len(points)))
        for i, kernel in enumerate(self.kernels_):
            values[i] = kernel(points[n_old:], points)
            if not np.isfinite(values[i]).all():
                raise ValueError(
                    f"'kernels' must return finite numbers, and {kernel!r} gave NaN or infinity"
                )
        return values, n_old

    def _gradient(
        self, w: NDArray[Any], block: Any, i: int, others: NDArray[Any], signs: NDArray[Any]
    ) -> NDArray[Any] | None:
        values, n_old = block
        features = values[:, i - n_old, others]
        slopes = signs * self._loss.derivative(signs * (w @ features)) / len(others)
        return features @ slopes if slopes.any() else None

    def _publish(self, w: NDArray[np.float64]) -> None:
        self.weights_ = w
        self.kernel_ = WeightedKernelSum(self.kernels_, self.weights_)
