"""Classes of functions of two points: bounds of their Rademacher complexity, and the supremum."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_array, gen_batches

from kernlearn.kernels import GaussianKernel, Kernel, as_kernel, mean_distance
from kernlearn.theory.concentration import check_count, check_positive


class PairwiseClass(ABC):
    r"""A class :math:`\mathcal{H}` of functions of two points, linear in some :math:`\psi(x, x')`.

    Its complexity is

    .. math::

        \mathcal{R}_n(\mathcal{H}) = \mathbb{E} \sup_{h \in \mathcal{H}} \frac{1}{n}
        \sum_{\tau=1}^n \varepsilon_\tau h(z, z_\tau)

    over signs :math:`\varepsilon_\tau` and independent points :math:`z, z_\tau`. Given these, the
    supremum over a ball of a norm is the dual norm of
    :math:`\frac{1}{n} \sum_\tau \varepsilon_\tau \psi(x, x_\tau)`.

    References
    ----------
    Kar (2013), sections 6.3 and 6.6.
    """

    #: The table of the thesis with its bound.
    table: ClassVar[str]
    #: What is learned with it.
    problem: ClassVar[str]
    n_features: int

    @property
    @abstractmethod
    def name(self) -> str:
        """The class as the thesis writes it."""

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        r"""Work out what the bound needs to know of the data.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The points. The domain is these, and z and the :math:`z_\tau` are drawn from them.
        y : array-like of shape (n_samples,), default=None
            Labels, for kernels that are fitted to them.

        Returns
        -------
        PairwiseClass
            The class itself.

        Raises
        ------
        ValueError
            If X is no matrix of finite numbers.
        """
        points = check_points(X)
        self._measure(points, y)
        self.n_features = points.shape[1]
        return self

    @abstractmethod
    def _measure(self, X: Any, y: ArrayLike | None) -> None:
        """Keep the norms of the domain."""

    def bound(self, n: int, *, as_printed: bool = False) -> float:
        r"""Bound the complexity :math:`\mathcal{R}_n` from above.

        Parameters
        ----------
        n : int
            The number of pairs, at least 1.
        as_printed : bool, default=False
            Whether to return what the table prints even where it does not hold; see the notes
            of the class.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If `n` is not an int of 1 or more, or the class has not been fitted to data.
        """
        check_count(n=n)
        if not hasattr(self, "n_features"):
            raise ValueError(f"{self.name} knows no data yet: call fit(X) first")
        return self._bound(int(n), as_printed)

    @abstractmethod
    def _bound(self, n: int, as_printed: bool) -> float: ...

    @abstractmethod
    def supremum(self, x: ArrayLike, points: ArrayLike, signs: ArrayLike) -> float:
        r"""Return :math:`\sup_h \frac{1}{n} \sum_\tau \varepsilon_\tau h(x, x_\tau)`.

        Parameters
        ----------
        x : array-like of shape (n_features,)
            The first point of all pairs.
        points : array-like of shape (n, n_features)
            The second points.
        signs : array-like of shape (n,)
            The :math:`\varepsilon_\tau`, -1 and +1.

        Returns
        -------
        float
        """


class LinearAUC(PairwiseClass):
    r"""AUC maximisation: :math:`h(x, x') = \langle w, x - x' \rangle` with :math:`\|w\|_q \le W`.

    Parameters
    ----------
    q : float, default=2.0
        The norm of the weights, from 1 to infinity; its dual is p.
    radius : float, default=1.0
        The radius W.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Notes
    -----
    Table 6.1 has :math:`2 \|X\|_p W \sqrt{(p - 1) / n}` for q > 1 and
    :math:`2 \|X\|_\infty W \sqrt{e \log d / n}` for q = 1.

    The first holds for :math:`q \le 2` only, where the squared q-norm is strongly convex, which
    theorem 6.11 asks for. For q > 2 it falls to 0 as p does to 1, and is wrong even for d = 1. In
    place of :math:`\sqrt{(p - 1) / n}` stands here the smaller one of
    :math:`d^{1/p - 1/2} n^{-1/2}` and :math:`n^{1/p - 1}` (both by Khintchine's inequality, for
    :math:`p \le 2`).

    The second is 0 for d = 1, where all norms are the same; here the factor is then
    :math:`n^{-1/2}`. For :math:`d \ge 2` it holds, though not by the regulariser that the thesis
    names (q = log d / (log d - 1) makes it :math:`e \sqrt{(\log d - 1) / n}`): for d of 7 or more
    it exceeds :math:`\sqrt{2 \log(2d) / n}`, Massart's lemma, and below that
    :math:`\mathbb{E}(x - x')_j^2 \le 2 \|X\|_\infty^2` does.

    References
    ----------
    Kar (2013), section 6.6.2 and table 6.1.

    Examples
    --------
    >>> from kernlearn.theory.rademacher import LinearAUC
    >>> auc = LinearAUC(q=2).fit([[3.0, 4.0], [0.0, 1.0]])
    >>> auc.bound(100)
    1.0
    >>> auc.supremum([3.0, 4.0], [[0.0, 0.0], [3.0, 4.0]], [-1, 1])
    2.5
    """

    table = "6.1"
    problem = "AUC"

    def __init__(self, q: float = 2.0, radius: float = 1.0) -> None:
        if isinstance(q, bool) or not isinstance(q, (int, float)) or not q >= 1:
            raise ValueError(f"'q' must be a number from 1 to infinity, got {q!r}")
        check_positive(radius=radius)
        self.q = float(q)
        self.p = dual_exponent(self.q)
        self.radius = float(radius)

    @property
    def name(self) -> str:
        """The ball of weights."""
        return f"B_{self.q:.4g}({self.radius:g})"

    def _measure(self, X: Any, y: ArrayLike | None) -> None:
        self.largest = largest_norm(X, self.p)

    def _bound(self, n: int, as_printed: bool) -> float:
        d = self.n_features
        if self.q == 1:
            root = logarithmic_factor(d, n, as_printed)
        elif self.q <= 2 or as_printed:
            root = math.sqrt((self.p - 1) / n)
        else:
            root = min(d ** (1 / self.p - 0.5) / math.sqrt(n), n ** (1 / self.p - 1))
        return 2 * self.largest * self.radius * root

    def supremum(self, x: ArrayLike, points: ArrayLike, signs: ArrayLike) -> float:
        x, points, signs = as_draw(x, points, signs)
        return self.radius * float(np.linalg.norm(signs @ (x - points), self.p)) / len(signs)


def logarithmic_factor(d: int, n: int, as_printed: bool, scale: float = 1.0) -> float:
    """Return the root of (scale e log d / n); of 1/n for d = 1, where it would be 0."""
    if d == 1 and not as_printed:
        return 1 / math.sqrt(n)
    return math.sqrt(scale * math.e * math.log(d) / n)


def dual_exponent(q: float) -> float:
    """Return p with 1/p + 1/q = 1."""
    if q == 1:
        return math.inf
    return 1.0 if q == math.inf else q / (q - 1)


def largest_norm(X: Any, p: float) -> float:
    """Return the largest p-norm of a row."""
    sizes = np.abs(X.data) if sparse.issparse(X) else np.abs(X)
    scale = float(sizes.max(initial=0.0))
    if p == math.inf or scale == 0:
        return scale
    # relative to the largest entry: powers of p may be large
    sizes = (sizes / scale) ** p
    if sparse.issparse(X):
        sizes = sparse.csr_matrix((sizes, X.indices, X.indptr), shape=X.shape)
    return scale * float(sizes.sum(axis=1).max()) ** (1 / p)


def check_points(X: ArrayLike) -> Any:
    """Return points as a float64 matrix, dense or CSR."""
    return check_array(X, accept_sparse="csr", dtype=np.float64)


def as_draw(
    x: ArrayLike, points: ArrayLike, signs: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the points and signs of a draw as arrays, or refuse them."""
    x, points = np.asarray(x, dtype=np.float64), np.asarray(points, dtype=np.float64)
    signs = np.asarray(signs, dtype=np.float64)
    if points.ndim != 2 or x.shape != points.shape[1:] or signs.shape != points.shape[:1]:
        raise ValueError(
            "'x', 'points' and 'signs' must have shapes (n_features,), (n, n_features) and (n,), "
            f"got {x.shape}, {points.shape} and {signs.shape}"
        )
    return x, points, signs


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


NORMS = ("2,2", "2,1", "1,1", "S(1)")


class _MatrixClass(PairwiseClass):
    """What similarities and metrics have in common: the norms of the matrix."""

    table = "6.2"
    #: How much larger the norm of psi may be than the product of those of the points.
    _scale: float

    def __init__(self, norm: str = "2,2", radius: float = 1.0) -> None:
        if norm not in NORMS:
            raise ValueError(f"'norm' must be one of {', '.join(map(repr, NORMS))}, got {norm!r}")
        check_positive(radius=radius)
        self.norm = norm
        self.radius = float(radius)

    @property
    def name(self) -> str:
        """The ball of matrices."""
        return f"B_{self.norm}({self.radius:g})"

    def _measure(self, X: Any, y: ArrayLike | None) -> None:
        self.largest = largest_norm(X, 2)
        self.largest_entry = largest_norm(X, math.inf)

    def _bound(self, n: int, as_printed: bool) -> float:
        if self.norm == "2,2":
            root = 1 / math.sqrt(n)
        else:
            scale = 2.0 if self.norm == "1,1" else 1.0
            root = logarithmic_factor(self.n_features, n, as_printed, scale)
        left = self.largest_entry if self.norm == "1,1" else self.largest
        right = self.largest if self.norm in ("2,2", "S(1)") else self.largest_entry
        return self._scale * left * right * self.radius * root


class BilinearSimilarity(_MatrixClass):
    r"""Similarity learning: :math:`h(x, x') = x^\top W x'` with a bound on a norm of W.

    Parameters
    ----------
    norm : {"2,2", "2,1", "1,1", "S(1)"}, default="2,2"
        The norm of W: the 2-norms of the columns, then their 2-norm (Frobenius) or sum; the sum
        of all absolute entries; the sum of the singular values (trace norm).
    radius : float, default=1.0
        Its bound.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Notes
    -----
    Table 6.2, with :math:`a = \|X\|_2` and :math:`b = \|X\|_\infty`: :math:`a^2 \sqrt{1/n}`,
    :math:`ab \sqrt{e \log d / n}`, :math:`b^2 \sqrt{2 e \log d / n}` and
    :math:`a^2 \sqrt{e \log d / n}`. The last three are 0 for d = 1, where W is a number and the
    first bound holds for all norms; it is returned then unless printed ones are asked for. For
    :math:`d \ge 2` all hold for drawn points. As the sum :math:`x v^\top`,
    :math:`v = \frac{1}{n} \sum_\tau \varepsilon_\tau x_\tau`, has rank one, the supremum over
    the ball of the trace norm is that over the ball of the Frobenius norm: the logarithm in the
    last bound is not needed.

    The balls hold matrices that are not positive semi-definite too; those that are have a
    complexity that is no larger.

    References
    ----------
    Kar (2013), section 6.6.3 and table 6.2.

    Examples
    --------
    >>> from kernlearn.theory.rademacher import BilinearSimilarity
    >>> X = [[3.0, 4.0], [0.0, 1.0]]
    >>> BilinearSimilarity("2,2").fit(X).bound(100)
    2.5
    >>> BilinearSimilarity("1,1").supremum([3.0, 4.0], X, [1, 1])
    10.0
    """

    problem = "similarity"
    _scale = 1.0

    def supremum(self, x: ArrayLike, points: ArrayLike, signs: ArrayLike) -> float:
        x, points, signs = as_draw(x, points, signs)
        mean = signs @ points / len(signs)
        left = np.abs(x).max() if self.norm == "1,1" else np.linalg.norm(x)
        right = np.linalg.norm(mean) if self.norm in ("2,2", "S(1)") else np.abs(mean).max()
        return self.radius * float(left * right)


class MahalanobisMetric(_MatrixClass):
    r"""Metric learning: :math:`h(x, x') = (x - x')^\top W (x - x')` with a bound on a norm of W.

    Parameters
    ----------
    norm : {"2,2", "2,1", "1,1", "S(1)"}, default="2,2"
        The norm of W, as for :class:`BilinearSimilarity`.
    radius : float, default=1.0
        Its bound.

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Notes
    -----
    Four times the bounds of table 6.2 (section 6.6.3), which are 0 for d = 1 and hold otherwise,
    as for :class:`BilinearSimilarity`.

    References
    ----------
    Kar (2013), section 6.6.3 and table 6.2.

    Examples
    --------
    >>> from kernlearn.theory.rademacher import MahalanobisMetric
    >>> X = [[3.0, 4.0], [0.0, 0.0]]
    >>> MahalanobisMetric("2,2").fit(X).bound(100)
    10.0
    >>> MahalanobisMetric("1,1").supremum([0.0, 0.0], X, [1, 1])
    8.0
    """

    problem = "metric"
    _scale = 4.0

    def supremum(self, x: ArrayLike, points: ArrayLike, signs: ArrayLike) -> float:
        x, points, signs = as_draw(x, points, signs)
        differences = x - points
        # symmetric: with signs it has no root
        mean = differences.T @ (signs[:, np.newaxis] * differences) / len(signs)
        return self.radius * _dual_norm(mean, self.norm)


def _dual_norm(matrix: NDArray[np.float64], norm: str) -> float:
    """Return the dual of a norm, of a symmetric matrix."""
    if norm == "2,2":
        return float(np.linalg.norm(matrix))
    if norm == "2,1":
        return float(np.linalg.norm(matrix, axis=0).max())
    if norm == "1,1":
        return float(np.abs(matrix).max())
    return float(np.abs(np.linalg.eigvalsh(matrix)).max())
