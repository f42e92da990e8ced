"""Classes of linear functions of two points: balls of weights and of matrices."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array

from kernlearn.checks import check_count, check_positive

Array: TypeAlias = NDArray[np.float64]

# The norms of matrices in table 6.2, each with its dual norm of a symmetric matrix.
_DUAL_NORMS: dict[str, Callable[[Array], Any]] = {
    "2,2": np.linalg.norm,
    "2,1": lambda matrix: np.linalg.norm(matrix, axis=0).max(),
    "1,1": lambda matrix: np.abs(matrix).max(),
    "S(1)": lambda matrix: np.abs(np.linalg.eigvalsh(matrix)).max(),
}
NORMS = tuple(_DUAL_NORMS)


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
    #: The class as the thesis writes it.
    name: str
    n_features: int

    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        r"""Compute the quantities of the data that the bound depends on.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The points: the domain, and the distribution of z and the :math:`z_\tau`.
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

    def bound(self, n: int, *, as_printed: bool = False) -> float:
        r"""Return an upper bound of the complexity :math:`\mathcal{R}_n`.

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
            raise ValueError(f"{self.name} is not fitted to data: call fit(X) first")
        return self._bound(int(n), as_printed)

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

        Raises
        ------
        ValueError
            If the shapes do not match.
        """
        x, points, signs = (np.asarray(a, dtype=np.float64) for a in (x, points, signs))
        if points.ndim != 2 or x.shape != points.shape[1:] or signs.shape != points.shape[:1]:
            raise ValueError(
                "'x', 'points' and 'signs' must have shapes (n_features,), (n, n_features) and "
                f"(n,), got {x.shape}, {points.shape} and {signs.shape}"
            )
        return self._supremum(x, points, signs)

    @abstractmethod
    def _measure(self, X: Any, y: ArrayLike | None) -> None: ...

    @abstractmethod
    def _bound(self, n: int, as_printed: bool) -> float: ...

    @abstractmethod
    def _supremum(self, x: Array, points: Array, signs: Array) -> float: ...


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
    Table 6.1 (section 6.6.2) has :math:`2 \|X\|_p W \sqrt{(p - 1) / n}` for q > 1 and
    :math:`2 \|X\|_\infty W \sqrt{e \log d / n}` for q = 1.

    The first holds for :math:`q \le 2` only, where the squared q-norm is strongly convex, as
    theorem 6.11 requires. For q > 2 it falls to 0 as p does to 1, and is wrong even for d = 1.
    There, :math:`\sqrt{(p - 1) / n}` is replaced by the smaller one of
    :math:`d^{1/p - 1/2} n^{-1/2}` and :math:`n^{1/p - 1}` (both by Khintchine's inequality, for
    :math:`p \le 2`).

    The second is 0 for d = 1, where all norms are the same; here the factor is then
    :math:`n^{-1/2}`. For :math:`d \ge 2` it holds, though not by the regulariser that the thesis
    names (q = log d / (log d - 1) makes it :math:`e \sqrt{(\log d - 1) / n}`): for d of 7 or more
    it exceeds :math:`\sqrt{2 \log(2d) / n}`, Massart's lemma, and below that
    :math:`\mathbb{E}(x - x')_j^2 \le 2 \|X\|_\infty^2` suffices.

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
        self.q, self.radius = float(q), float(radius)
        self.name = f"B_{self.q:.4g}({self.radius:g})"
        # 1/p + 1/q = 1
        self.p = math.inf if q == 1 else 1.0 if q == math.inf else self.q / (self.q - 1)

    def _measure(self, X: Any, y: ArrayLike | None) -> None:
        self.largest = _largest_norm(X, self.p)

    def _bound(self, n: int, as_printed: bool) -> float:
        d = self.n_features
        if self.q == 1:
            root = _logarithmic_factor(d, n, as_printed)
        elif self.q <= 2 or as_printed:
            root = math.sqrt((self.p - 1) / n)
        else:
            root = min(d ** (1 / self.p - 0.5) / math.sqrt(n), n ** (1 / self.p - 1))
        return 2 * self.largest * self.radius * root

    def _supremum(self, x: Array, points: Array, signs: Array) -> float:
        return self.radius * float(np.linalg.norm(signs @ (x - points), self.p)) / len(signs)


class _MatrixClass(PairwiseClass):
    """Base of similarities and metrics: balls of norms of a matrix."""

    table = "6.2"
    #: The factor of the norm of psi over the product of those of the points.
    _scale: ClassVar[float]

    def __init__(self, norm: str = "2,2", radius: float = 1.0) -> None:
        if norm not in NORMS:
            raise ValueError(f"'norm' must be one of {', '.join(map(repr, NORMS))}, got {norm!r}")
        check_positive(radius=radius)
        self.norm, self.radius = norm, float(radius)
        self.name = f"B_{norm}({self.radius:g})"

    def _measure(self, X: Any, y: ArrayLike | None) -> None:
        self.largest = _largest_norm(X, 2)
        self.largest_entry = _largest_norm(X, math.inf)

    def _bound(self, n: int, as_printed: bool) -> float:
        if self.norm == "2,2":
            root = 1 / math.sqrt(n)
        else:
            scale = 2.0 if self.norm == "1,1" else 1.0
            root = _logarithmic_factor(self.n_features, n, as_printed, scale)
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
    Table 6.2 (section 6.6.3) has, with :math:`a = \|X\|_2` and :math:`b = \|X\|_\infty`:
    :math:`a^2 \sqrt{1/n}`, :math:`ab \sqrt{e \log d / n}`, :math:`b^2 \sqrt{2 e \log d / n}` and
    :math:`a^2 \sqrt{e \log d / n}`. The last three are 0 for d = 1, where W is a number and the
    first bound holds for all norms; it is returned then unless printed ones are requested. For
    :math:`d \ge 2` all hold for drawn points. As the sum :math:`x v^\top`,
    :math:`v = \frac{1}{n} \sum_\tau \varepsilon_\tau x_\tau`, has rank one, the supremum over
    the ball of the trace norm is that over the ball of the Frobenius norm: the logarithm in the
    last bound is not needed.

    The balls also contain matrices that are not positive semi-definite; those that are have a
    complexity that is no larger.

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

    def _supremum(self, x: Array, points: Array, signs: Array) -> float:
        mean = signs @ points / len(signs)
        left = np.abs(x).max() if self.norm == "1,1" else np.linalg.norm(x)
        right = np.linalg.norm(mean) if self.norm in ("2,2", "S(1)") else np.abs(mean).max()
        return self.radius * float(left * right)


class MahalanobisMetric(_MatrixClass):
    r"""Metric learning: :math:`h(x, x') = (x - x')^\top W (x - x')` with a bound on a norm of W.

    The bounds are four times those of table 6.2 (section 6.6.3), which are 0 for d = 1 and hold
    otherwise, as for :class:`BilinearSimilarity`, whose parameters it has.

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

    def _supremum(self, x: Array, points: Array, signs: Array) -> float:
        differences = x - points
        # symmetric, but with signs it has no square root
        mean = differences.T @ (signs[:, np.newaxis] * differences) / len(signs)
        return self.radius * float(_DUAL_NORMS[self.norm](mean))


def check_points(X: ArrayLike) -> Any:
    """Return points as a float64 matrix, dense or CSR."""
    return check_array(X, accept_sparse="csr", dtype=np.float64)


def _logarithmic_factor(d: int, n: int, as_printed: bool, scale: float = 1.0) -> float:
    """Return the root of (scale e log d / n); of 1/n for d = 1, where it would be 0."""
    if d == 1 and not as_printed:
        return 1 / math.sqrt(n)
    return math.sqrt(scale * math.e * math.log(d) / n)


def _largest_norm(X: Any, p: float) -> float:
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
