"""Classes of functions of two points: bounds of their Rademacher complexity, and the supremum."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array

from kernlearn.theory._hoeffding import check_count, check_positive


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
