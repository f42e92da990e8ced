"""Classes of functions of two points that are given by kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils import gen_batches

from kernlearn.kernels import GaussianKernel, Kernel, as_kernel, mean_distance
from kernlearn.theory._hoeffding import check_positive
from kernlearn.theory._pair_classes import PairwiseClass, as_draw

# Rows and columns of a block of a Gram matrix: 8 MB of float64.
_BLOCK = 1024
# Widths of the base kernels where none are given, as multiples of the mean distance.
_WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)


class KernelAUC(PairwiseClass):
    r"""AUC maximisation with a kernel: :math:`h(x, x') = \langle w, \Phi(x) - \Phi(x') \rangle`.

    Parameters
    ----------
    kernel : str, Kernel or callable
        A positive semi-definite kernel; see :func:`kernlearn.kernels.as_kernel`. A copy is
        fitted to the data.
    radius : float, default=1.0
        The bound W on the norm of w in the kernel's space.

    Raises
    ------
    ValueError
        If a parameter is out of range; from `supremum` and `fit` if the kernel is seen not to be
        positive semi-definite.

    Notes
    -----
    The bound is :math:`2 \kappa W / \sqrt{n}`, :math:`\kappa^2 = \max_x K(x, x)`.

    References
    ----------
    Kar (2013), section 6.6.2.

    Examples
    --------
    >>> from kernlearn.theory.rademacher import KernelAUC
    >>> KernelAUC("gaussian").fit([[0.0], [1.0], [2.0]]).bound(100)
    0.2
    """

    table = "6.1"
    problem = "kernel AUC"

    def __init__(self, kernel: Any = "gaussian", radius: float = 1.0) -> None:
        self.kernel = as_kernel(kernel)
        check_positive(radius=radius)
        self.radius = float(radius)

    @property
    def name(self) -> str:
        """The ball of weights, and the kernel's class."""
        return f"B_2({self.radius:g}), {type(self.kernel).__name__}"

    def _measure(self, X: Any, y: ArrayLike | None) -> None:
        self.fitted = _fitted(self.kernel, X, y)
        rows = [X[part] for part in gen_batches(X.shape[0], 64)]
        diagonal = np.concatenate([np.diagonal(self.fitted(part)) for part in rows])
        if diagonal.min() < 0:
            raise self._not_positive()
        self.kappa = math.sqrt(float(diagonal.max()))

    def _bound(self, n: int, as_printed: bool) -> float:
        return 2 * self.kappa * self.radius / math.sqrt(n)

    def supremum(self, x: ArrayLike, points: ArrayLike, signs: ArrayLike) -> float:
        x, points, signs = as_draw(x, points, signs)
        # the point itself has as weight the sum of the signs
        weights = np.append(-signs, signs.sum())
        gram = np.asarray(self.fitted(np.vstack([points, x])), dtype=np.float64)
        square = float(weights @ gram @ weights)
        if square < -1e-8 * float(np.abs(weights) @ np.abs(gram) @ np.abs(weights)):
            raise self._not_positive()
        return self.radius * math.sqrt(max(square, 0.0)) / len(signs)

    def _not_positive(self) -> ValueError:
        return ValueError(
            f"{self.kernel!r} is not positive semi-definite on these points and has no space of "
            "weights: give another 'kernel'"
        )


class KernelCombination(PairwiseClass):
    r"""Two-stage multiple kernel learning: :math:`h(x, x') = \sum_i \mu_i K_i(x, x')`.

    Parameters
    ----------
    kernels : sequence of str, Kernel or callable, default=None
        The base kernels, p in number. Copies are fitted to the data. None takes Gaussian
        kernels of 1/4, 1/2, 1, 2 and 4 times the mean distance of the points (1 if that is 0).
    constraint : {"simplex", "sphere"}, default="simplex"
        :math:`\mu \ge 0` with :math:`\|\mu\|_1 = 1`, or with :math:`\|\mu\|_2 = 1`.

    Raises
    ------
    ValueError
        If there are no kernels, or `constraint` is neither.

    Notes
    -----
    With :math:`|K_i(x, x')| \le \kappa^2` on all pairs of points, table 6.3 has
    :math:`\kappa^2 \sqrt{e \log p / n}` for the simplex and :math:`\kappa^2 \sqrt{p / n}` for the
    sphere. Both hold for all p: of one kernel, the simplex is one function, of complexity 0.

    References
    ----------
    Kar (2013), section 6.6.4 and table 6.3.

    Examples
    --------
    >>> from kernlearn.kernels import GaussianKernel
    >>> from kernlearn.theory.rademacher import KernelCombination
    >>> widths = [GaussianKernel(sigma=s) for s in (0.5, 1.0, 2.0, 4.0)]
    >>> KernelCombination(widths, "sphere").fit([[0.0], [1.0]]).bound(100)
    0.2
    """

    table = "6.3"
    problem = "multiple kernels"

    def __init__(self, kernels: Sequence[Any] | None = None, constraint: str = "simplex") -> None:
        if constraint not in ("simplex", "sphere"):
            raise ValueError(f"'constraint' must be 'simplex' or 'sphere', got {constraint!r}")
        if kernels is not None and (isinstance(kernels, str) or not len(kernels)):
            raise ValueError(f"'kernels' must be a list of one kernel at least, got {kernels!r}")
        self.kernels = kernels and [as_kernel(kernel, "kernels") for kernel in kernels]
        self.constraint = constraint

    @property
    def name(self) -> str:
        """The set of weights."""
        return "Δ(1)" if self.constraint == "simplex" else "S_2(1)"

    def _measure(self, X: Any, y: ArrayLike | None) -> None:
        kernels: Sequence[Kernel]
        if self.kernels is None:
            kernels = [GaussianKernel(sigma=width * usual_distance(X)) for width in _WIDTHS]
        else:
            kernels = self.kernels
        self.fitted = [_fitted(kernel, X, y) for kernel in kernels]
        self.squared_kappa = max(_largest(kernel, X) for kernel in self.fitted)

    def _bound(self, n: int, as_printed: bool) -> float:
        p = len(self.fitted)
        inside = math.e * math.log(p) if self.constraint == "simplex" else p
        return self.squared_kappa * math.sqrt(inside / n)

    def supremum(self, x: ArrayLike, points: ArrayLike, signs: ArrayLike) -> float:
        x, points, signs = as_draw(x, points, signs)
        values = [np.ravel(kernel(points, x[np.newaxis])) for kernel in self.fitted]
        means = np.array(values) @ signs / len(signs)
        largest = float(means.max())
        if self.constraint == "simplex" or largest <= 0:
            # with no positive mean, all weight is best put where the least is lost
            return largest
        return float(np.linalg.norm(np.maximum(means, 0)))


def usual_distance(X: Any) -> float:
    """Return the mean distance of points; 1 if that is 0."""
    return (mean_distance(X) if X.shape[0] > 1 else 0.0) or 1.0


def _fitted(kernel: Kernel, X: Any, y: ArrayLike | None) -> Kernel:
    copy: Kernel = clone(kernel)
    return copy.fit(X, y)


def _largest(kernel: Kernel, X: Any) -> float:
    """Return the largest absolute value on all pairs of rows."""
    parts = list(gen_batches(X.shape[0], _BLOCK))
    return max(float(np.abs(kernel(X[a], X[b])).max()) for a in parts for b in parts)
