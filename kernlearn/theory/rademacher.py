r"""Rademacher complexities, and the guarantees that rest on them.

The first two parts are about learning from pairs: Kar (2013), chapter 6. The third has theorems 1
and 2 of voted kernels: Cortes, Goyal, Kuznetsov & Mohri (2015).

The first part has the classes of section 6.6 with the bounds of tables 6.1 to 6.3 on their
Rademacher complexities, next to estimates of these. Points are drawn from the data with
replacement, so that the data are the domain as well as the distribution.

The second part has theorems 6.3, 6.5, 6.6, 6.9, 6.10 and 6.13. They hide constants in O(). Here
these are as the proofs of section 6.12 have them, with the probability of failure δ divided among
all events that the proofs combine (most often log n/δ becomes log 2n/δ). Where a proof has a slip,
the value returned is one that holds, and the function's docstring says so. A ValueError names an
argument that is out of range. Arguments of the same name mean the same everywhere:

- `n`: length of the stream, at least 2 (3 for the fast rates);
- `buffer_size`: the number s of points in the buffer;
- `regret`: :math:`\mathfrak{R}_n`, or a bound on it, by the penalties of all pairs, or of the
  finite buffer for functions with a `buffer_size`; finite, may be negative;
- `complexity`: :math:`\mathcal{R}_m(\ell \circ \mathcal{H})` of the losses as a function of m, or
  a number c for :math:`c / \sqrt{m}`, as in tables 6.1 to 6.3; see :func:`contracted_complexity`;
- `loss_bound`: B; losses are in [0, B];
- `delta`: allowed probability of failure, between 0 and 1.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import minimize_scalar
from scipy.sparse.linalg import norm as sparse_norm
from sklearn.base import clone
from sklearn.utils import check_array, check_random_state, gen_batches

from kernlearn.checks import check_count, check_nonnegative, check_positive, check_share
from kernlearn.kernels import GaussianKernel, as_kernel, mean_distance
from kernlearn.kernels.base import diagonal, summed, to_dense
from kernlearn.validation import Floats, label_codes

#: The complexity by the number m of points, or a number c for c / sqrt(m).
Complexity: TypeAlias = "float | Callable[[int], float]"

# Widths of the default base kernels, as multiples of the mean distance.
_WIDTHS = (0.25, 0.5, 1.0, 2.0, 4.0)
# Rows and columns of a block of a Gram matrix: 8 MB of float64.
_BLOCK = 1024


# The norms of matrices in table 6.2, each with its dual norm of a symmetric matrix.
_DUAL_NORMS: dict[str, Callable[[Floats], Any]] = {
    "2,2": np.linalg.norm,
    "2,1": lambda matrix: np.linalg.norm(matrix, axis=0).max(),
    "1,1": lambda matrix: np.abs(matrix).max(),
    "S(1)": lambda matrix: np.abs(np.linalg.eigvalsh(matrix)).max(),
}
# The norms of points whose product is the dual norm of x yᵀ.
_POINT_NORMS = {"2,2": (2, 2), "2,1": (2, np.inf), "1,1": (np.inf, np.inf), "S(1)": (2, 2)}


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
        points = _matrix(X)
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
        """
        return self._supremum(*(np.asarray(a, dtype=np.float64) for a in (x, points, signs)))

    @abstractmethod
    def _measure(self, X: Any, y: ArrayLike | None) -> None: ...

    @abstractmethod
    def _bound(self, n: int, as_printed: bool) -> float: ...

    @abstractmethod
    def _supremum(self, x: Floats, points: Floats, signs: Floats) -> float: ...


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
    >>> from kernlearn.theory import LinearAUC
    >>> auc = LinearAUC(q=2).fit([[3.0, 4.0], [0.0, 1.0]])
    >>> auc.bound(100)
    1.0
    >>> auc.supremum([3.0, 4.0], [[0.0, 0.0], [3.0, 4.0]], [-1, 1])
    2.5
    """

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

    def _supremum(self, x: Floats, points: Floats, signs: Floats) -> float:
        return self.radius * float(np.linalg.norm(signs @ (x - points), self.p)) / len(signs)


class _MatrixClass(PairwiseClass):
    """Base of similarities and metrics: balls of norms of a matrix."""

    #: The factor of the norm of psi over the product of those of the points.
    _scale: ClassVar[float]

    def __init__(self, norm: str = "2,2", radius: float = 1.0) -> None:
        if norm not in _DUAL_NORMS:
            raise ValueError(
                f"'norm' must be one of {', '.join(map(repr, _DUAL_NORMS))}, got {norm!r}"
            )
        check_positive(radius=radius)
        self.norm, self.radius = norm, float(radius)
        self.name = f"B_{norm}({self.radius:g})"

    def _measure(self, X: Any, y: ArrayLike | None) -> None:
        self.left, self.right = (_largest_norm(X, p) for p in _POINT_NORMS[self.norm])

    def _bound(self, n: int, as_printed: bool) -> float:
        if self.norm == "2,2":
            root = 1 / math.sqrt(n)
        else:
            scale = 2.0 if self.norm == "1,1" else 1.0
            root = _logarithmic_factor(self.n_features, n, as_printed, scale)
        return self._scale * self.left * self.right * self.radius * root


class BilinearForm(_MatrixClass):
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
    >>> from kernlearn.theory import BilinearForm
    >>> X = [[3.0, 4.0], [0.0, 1.0]]
    >>> BilinearForm("2,2").fit(X).bound(100)
    2.5
    >>> BilinearForm("1,1").supremum([3.0, 4.0], X, [1, 1])
    10.0
    """

    _scale = 1.0

    def _supremum(self, x: Floats, points: Floats, signs: Floats) -> float:
        left, right = _POINT_NORMS[self.norm]
        mean = signs @ points / len(signs)
        return self.radius * float(np.linalg.norm(x, left) * np.linalg.norm(mean, right))


class MahalanobisMetric(_MatrixClass):
    r"""Metric learning: :math:`h(x, x') = (x - x')^\top W (x - x')` with a bound on a norm of W.

    The bounds are four times those of table 6.2 (section 6.6.3), which are 0 for d = 1 and hold
    otherwise, as for :class:`BilinearForm`, whose parameters it has.

    Examples
    --------
    >>> from kernlearn.theory import MahalanobisMetric
    >>> X = [[3.0, 4.0], [0.0, 0.0]]
    >>> MahalanobisMetric("2,2").fit(X).bound(100)
    10.0
    >>> MahalanobisMetric("1,1").supremum([0.0, 0.0], X, [1, 1])
    8.0
    """

    _scale = 4.0

    def _supremum(self, x: Floats, points: Floats, signs: Floats) -> float:
        differences = x - points
        # symmetric, but with signs it has no square root
        mean = differences.T @ (signs[:, np.newaxis] * differences) / len(signs)
        return self.radius * float(_DUAL_NORMS[self.norm](mean))


class KernelAUC(PairwiseClass):
    r"""AUC maximisation with a kernel: :math:`h(x, x') = \langle w, \Phi(x) - \Phi(x') \rangle`.

    The bound is :math:`2 \kappa W / \sqrt{n}`, :math:`\kappa^2 = \max_x K(x, x)` (section 6.6.2).

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
        If a parameter is out of range; from `supremum` and `fit` if the kernel turns out not to
        be positive semi-definite.

    Examples
    --------
    >>> from kernlearn.theory import KernelAUC
    >>> KernelAUC("gaussian").fit([[0.0], [1.0], [2.0]]).bound(100)
    0.2
    """

    def __init__(self, kernel: Any = "gaussian", radius: float = 1.0) -> None:
        self.kernel = as_kernel(kernel)
        check_positive(radius=radius)
        self.radius = float(radius)
        self.name = f"B_2({self.radius:g}), {type(self.kernel).__name__}"

    def _measure(self, X: Any, y: ArrayLike | None) -> None:
        self.fitted = clone(self.kernel).fit(X, y)
        squares = diagonal(self.fitted, X)
        self._refuse(squares.min() < 0)
        self.kappa = math.sqrt(float(squares.max()))

    def _bound(self, n: int, as_printed: bool) -> float:
        return 2 * self.kappa * self.radius / math.sqrt(n)

    def _supremum(self, x: Floats, points: Floats, signs: Floats) -> float:
        # the weight of the point itself is the sum of the signs
        weights = np.append(-signs, signs.sum())
        gram = np.asarray(self.fitted(np.vstack([points, x])), dtype=np.float64)
        square = float(weights @ gram @ weights)
        self._refuse(square < -1e-8 * float(np.abs(weights) @ np.abs(gram) @ np.abs(weights)))
        return self.radius * math.sqrt(max(square, 0.0)) / len(signs)

    def _refuse(self, indefinite: bool) -> None:
        if indefinite:
            raise ValueError(
                f"{self.kernel!r} is not positive semi-definite on these points and has no space "
                "of weights: give another 'kernel'"
            )


class KernelCombination(PairwiseClass):
    r"""Two-stage multiple kernel learning: :math:`h(x, x') = \sum_i \mu_i K_i(x, x')`.

    With :math:`|K_i(x, x')| \le \kappa^2` on all pairs of points, table 6.3 (section 6.6.4) has
    :math:`\kappa^2 \sqrt{e \log p / n}` for the simplex and :math:`\kappa^2 \sqrt{p / n}` for the
    sphere. Both hold for all p: for one kernel, the simplex is one function, of complexity 0.

    Parameters
    ----------
    kernels : sequence of str, Kernel or callable, default=None
        The p base kernels. Copies are fitted to the data. None takes Gaussian kernels of 1/4,
        1/2, 1, 2 and 4 times the mean distance of the points (1 if that is 0).
    constraint : {"simplex", "sphere"}, default="simplex"
        :math:`\mu \ge 0` with :math:`\|\mu\|_1 = 1`, or with :math:`\|\mu\|_2 = 1`.

    Raises
    ------
    ValueError
        If there are no kernels, or `constraint` is neither.

    Examples
    --------
    >>> from kernlearn.kernels import GaussianKernel
    >>> from kernlearn.theory import KernelCombination
    >>> widths = [GaussianKernel(sigma=s) for s in (0.5, 1.0, 2.0, 4.0)]
    >>> KernelCombination(widths, "sphere").fit([[0.0], [1.0]]).bound(100)
    0.2
    """

    def __init__(self, kernels: Sequence[Any] | None = None, constraint: str = "simplex") -> None:
        if constraint not in ("simplex", "sphere"):
            raise ValueError(f"'constraint' must be 'simplex' or 'sphere', got {constraint!r}")
        if kernels is not None and (isinstance(kernels, str) or not len(kernels)):
            raise ValueError(f"'kernels' must be a list of at least one kernel, got {kernels!r}")
        self.kernels = kernels and [as_kernel(kernel, "kernels") for kernel in kernels]
        self.constraint = constraint
        self.name = "Δ(1)" if constraint == "simplex" else "S_2(1)"

    def _measure(self, X: Any, y: ArrayLike | None) -> None:
        kernels: Any = self.kernels
        if kernels is None:
            distance = (mean_distance(X) if X.shape[0] > 1 else 0.0) or 1.0
            kernels = [GaussianKernel(sigma=width * distance) for width in _WIDTHS]
        self.fitted = [clone(kernel).fit(X, y) for kernel in kernels]
        parts = [X[rows] for rows in gen_batches(X.shape[0], _BLOCK)]
        blocks = (kernel(A, B) for kernel, A, B in product(self.fitted, parts, parts))
        self.squared_kappa = max(float(np.abs(block).max()) for block in blocks)

    def _bound(self, n: int, as_printed: bool) -> float:
        p = len(self.fitted)
        inside = math.e * math.log(p) if self.constraint == "simplex" else p
        return self.squared_kappa * math.sqrt(inside / n)

    def _supremum(self, x: Floats, points: Floats, signs: Floats) -> float:
        values = [np.ravel(kernel(points, x[np.newaxis])) for kernel in self.fitted]
        means = np.array(values) @ signs / len(signs)
        largest = float(means.max())
        if self.constraint == "simplex" or largest <= 0:
            # with no positive mean, all weight is best put on the largest one
            return largest
        return float(np.linalg.norm(np.maximum(means, 0)))


class ComplexityEstimate(NamedTuple):
    """An estimate of a complexity by simulation.

    Attributes
    ----------
    mean, standard_error : float
        The mean of the suprema, and its standard error; NaN for one trial.
    suprema : ndarray of shape (n_trials,)
        The supremum of each trial.

    Examples
    --------
    >>> from kernlearn.theory import LinearAUC, rademacher_complexity
    >>> estimate = rademacher_complexity(LinearAUC(), [[1.0], [-1.0]], n=50, random_state=0)
    >>> 0 < estimate.mean < 1
    True
    """

    mean: float
    standard_error: float
    suprema: Floats


def rademacher_complexity(
    hypothesis_class: PairwiseClass,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    n: int = 100,
    n_trials: int = 200,
    random_state: Any = None,
) -> ComplexityEstimate:
    r"""Estimate the complexity :math:`\mathcal{R}_n` of a class on the points of a data set.

    A trial draws :math:`z, z_1, \ldots, z_n` from the data with replacement, and signs; the
    supremum is then exact (section 6.3).

    Parameters
    ----------
    hypothesis_class : PairwiseClass
        The class; it is fitted to the data.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The points.
    y : array-like of shape (n_samples,), default=None
        Labels, for kernels that are fitted to them.
    n : int, default=100
        The number of pairs.
    n_trials : int, default=200
        The number of trials.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws, which do not depend on the class.

    Returns
    -------
    ComplexityEstimate

    Raises
    ------
    ValueError
        If an argument is out of range or X is no matrix of finite numbers.

    Examples
    --------
    >>> from kernlearn.theory import LinearAUC, rademacher_complexity
    >>> X = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
    >>> auc = LinearAUC(q=2)
    >>> estimate = rademacher_complexity(auc, X, n=100, random_state=0)
    >>> 0.1 < estimate.mean < auc.bound(100)
    True
    """
    check_count(n=n, n_trials=n_trials)
    points, rng = _matrix(X), check_random_state(random_state)
    hypothesis_class.fit(points, y)
    suprema = np.empty(n_trials)
    for trial in range(n_trials):
        rows = to_dense(points[rng.randint(points.shape[0], size=n + 1)])
        signs = 2.0 * rng.randint(2, size=n) - 1
        suprema[trial] = hypothesis_class.supremum(rows[0], rows[1:], signs)
    error = float(suprema.std(ddof=1)) / math.sqrt(n_trials) if n_trials > 1 else math.nan
    return ComplexityEstimate(float(suprema.mean()), error, suprema)


@dataclass(frozen=True)
class ExcessRiskBound:
    """Bound on the mean risk of an ensemble less the smallest risk, in three terms.

    Attributes
    ----------
    regret, complexity, confidence : float
        The regret per round, the term of the complexity of the class, and that of chance.

    Examples
    --------
    >>> from kernlearn.theory import ExcessRiskBound
    >>> ExcessRiskBound(regret=0.25, complexity=0.5, confidence=0.125).total
    0.875
    """

    regret: float
    complexity: float
    confidence: float

    @property
    def total(self) -> float:
        """The sum; vacuous where it exceeds the largest loss."""
        return self.regret + self.complexity + self.confidence


def contracted_complexity(
    complexity: float, *, lipschitz: float = 1.0, largest_label: float = 1.0
) -> float:
    r"""Bound the complexity of the losses by that of the functions (theorem 6.10).

    :math:`\mathcal{R}_n(\ell \circ \mathcal{H}) \le L\,Y\,\mathcal{R}_n(\mathcal{H})` for losses
    :math:`\varphi(Y(y, y')\,h(x, x'))`, with `lipschitz` L of :math:`\varphi` and
    `largest_label` Y, the largest :math:`|Y(y, y')|`: 1 for products of labels -1 and +1 and for
    half their differences, 2 for their differences.

    Examples
    --------
    >>> from kernlearn.theory import contracted_complexity
    >>> contracted_complexity(0.25, lipschitz=2.0)
    0.5
    """
    check_positive(lipschitz=lipschitz, largest_label=largest_label)
    check_nonnegative(complexity=complexity)
    return lipschitz * largest_label * complexity


def excess_risk_bound(
    n: int,
    buffer_size: int | None = None,
    *,
    complexity: Complexity,
    regret: float = 0.0,
    loss_bound: float = 1.0,
    delta: float = 0.05,
    as_printed: bool = False,
) -> ExcessRiskBound:
    r"""Bound the excess risk of learning from pairs (theorems 6.3 and 6.6).

    With all earlier points, `buffer_size` None, it is theorem 6.3:

    .. math::

        \frac{1}{n-1} \sum_{t=2}^n \mathcal{L}(h_{t-1}) - \mathcal{L}(h^*) \le
        \frac{\mathfrak{R}_n}{n-1} + \frac{4}{n-1} \sum_{t=2}^n
        \mathcal{R}_{t-1}(\ell \circ \mathcal{H}) + 6B \sqrt{\frac{\log(n/\delta)}{n-1}}

    With a buffer of s points it is theorem 6.6, for B-bounded losses and
    :math:`m_t = \min(t - 1, s)`:

    .. math::

        \frac{\mathfrak{R}^{buf}_n}{n-1} + \frac{2}{n-1} \sum_{t=2}^n
        \mathcal{R}_{m_t}(\ell \circ \mathcal{H}) + 2B \Bigl(
        \sqrt{\frac{2 \log(2n/\delta)}{n-1}} + \frac{1}{n-1} \sum_{t=2}^n
        \sqrt{\frac{\log(2n/\delta)}{2 m_t}} \Bigr)

    Notes
    -----
    All constants of theorem 6.3 are as printed, and cover the union of the n + 1 events in the
    proofs of lemmas 6.1 and 6.2: by the sums of section 6.12.1, and McDiarmid's inequality for the
    fixed :math:`h^*`, less than :math:`4.5 B \sqrt{\log(2n/\delta)/(n-1)}` is needed (or the bound
    exceeds B).

    For theorem 6.6 `as_printed` returns the sum of lemmas 6.7 and 6.8 as printed: twice the
    complexity above, and :math:`(\sqrt{2} + 3) B \sqrt{\log(n/\delta) / s}`. The O() hides the
    complexity, where c is :math:`C_d`, and the constant of the last term.

    Equation 6.9 takes :math:`1/\sqrt{2s}` for all rounds, also for those in which the buffer is
    not full yet, and lemma 6.7 then leaves out equation 6.7's
    :math:`B \sqrt{2 \log(1/\delta) / (n-1)}`: :math:`B \sqrt{2 \log(n/\delta) / s}` does not
    follow unless n is several times s. For :math:`h^*`, which is fixed, Hoeffding's inequality
    holds without a complexity: hence 2 and not 4 (section 6.12.4). The proof assumes s different
    points: FIFO and reservoir sampling. RS-x keeps points more than once; for it, use theorem 6.3
    with the regret of :func:`all_pairs_regret_bound`.

    Examples
    --------
    >>> from kernlearn.theory import excess_risk_bound
    >>> for n, s in ((10_001, None), (100_001, 1000)):
    ...     bound = excess_risk_bound(n, s, complexity=2.0, regret=100.0)
    ...     print(round(bound.regret, 3), round(bound.complexity, 3), round(bound.confidence, 3))
    0.01 0.159 0.21
    0.001 0.128 0.211
    """
    size = n if buffer_size is None else buffer_size
    _check(n, delta, regret, size, loss_bound=loss_bound)
    sizes = np.minimum(np.arange(1, n), size)
    mean = _mean_complexity(complexity, sizes)
    if buffer_size is None:
        factor, root = 4, 6 * math.sqrt(math.log(n / delta) / (n - 1))
    elif as_printed:
        factor, root = 4, (math.sqrt(2) + 3) * math.sqrt(math.log(n / delta) / buffer_size)
    else:
        # one event per round for h_{t-1}, one for h*, and a martingale for each
        level = math.log(2 * n / delta)
        factor, root = 2, 2 * math.sqrt(2 * level / (n - 1))
        root += 2 * math.sqrt(level / 2) * float(np.mean(1 / np.sqrt(sizes)))
    return ExcessRiskBound(regret / (n - 1), factor * mean, loss_bound * root)


def fast_rate_bound(
    n: int,
    buffer_size: int | None = None,
    *,
    regret: float,
    lipschitz: float,
    strong_convexity: float,
    feature_norm: float = 1.0,
    loss_bound: float = 1.0,
    dimension_factor: float = 1.0,
    delta: float = 0.05,
    epsilon: float | None = None,
) -> ExcessRiskBound:
    r"""Bound the excess risk of learning from pairs, strongly convex (theorems 6.5 and 6.9).

    With all earlier points, `buffer_size` None, it is theorem 6.5. With
    :math:`r = (1 + \varepsilon) \mathfrak{R}_n + \frac{C}{\varepsilon \sigma}
    \sum_{t=2}^n \frac{1}{t-1}`, :math:`C = C_d^2 (4 (1 + \varepsilon) L R)^2 (32 +
    \log(2n/\delta))`, :math:`d = 4 (1 + \varepsilon)^2 L^2 / \sigma`, :math:`b = (1 +
    \varepsilon) B` and :math:`\Delta^2 = \log(8 \log(n) / \delta)`, section 6.12.3 has the
    excess risk at most

    .. math::

        \frac{1}{n-1} \bigl( r + 4 \sqrt{d r}\, \Delta + \max(16 d, 6 b)\, \Delta^2 \bigr).

    With a buffer of s points it is theorem 6.9: the sum is that of :math:`1 / \min(t - 1, s)`
    (section 6.12.5).

    Parameters
    ----------
    n, buffer_size, regret, loss_bound, delta
        As in the module's docstring.
    lipschitz : float
        L, the Lipschitz constant of the losses: the larger one of that in the inner product
        with the features (theorem 6.4) and that in h (section 6.12.3).
    strong_convexity : float
        :math:`\sigma`, that of the regulariser.
    feature_norm : float, default=1.0
        R, the largest dual norm of the features of a pair.
    dimension_factor : float, default=1.0
        :math:`C_d`: 1 for norms such as the 2-norm, :math:`\sqrt{\log d}` for sparse ones.
    epsilon : float, default=None
        :math:`\varepsilon`, above 0 and at most 1; None takes the best one.

    Returns
    -------
    ExcessRiskBound
        `complexity` is the term with C and `confidence` the remainder.

    Notes
    -----
    The O() of the theorem hides all of this; 4, 16 and 32 are the constants of theorem 6.4 and
    6, 16 those of lemma 6.19, so large that the bound is below B only on long streams. δ/2 is for
    the n - 1 events of theorem 6.4 and δ/2 for theorem 6.18, which needs it below 1/e. The thesis
    bounds the sum of 1/(t - 1) by log n; it is larger than that, and is used itself. As for
    theorem 6.6, the proof of theorem 6.9 assumes that the points of the buffer are different: FIFO
    and reservoir sampling, not RS-x. That s is below n / log n is not needed here.

    Examples
    --------
    >>> from kernlearn.theory import fast_rate_bound
    >>> of = {"regret": 20.0, "lipschitz": 1.0, "strong_convexity": 1.0}
    >>> [round(fast_rate_bound(10**6, s, **of).total, 3) for s in (None, 10**4)]
    [0.056, 0.372]
    """
    size = n if buffer_size is None else buffer_size
    _check(n, delta, regret, size, lipschitz=lipschitz, strong_convexity=strong_convexity)
    check_positive(loss_bound=loss_bound)
    check_positive(feature_norm=feature_norm, dimension_factor=dimension_factor)
    if n < 3:
        raise ValueError(f"'n' must be 3 or more, got {n!r}: theorem 6.18 needs it")
    if epsilon is not None and not 0 < epsilon <= 1:
        raise ValueError(f"'epsilon' must be None or a number in (0, 1], got {epsilon!r}")
    harmonic = float(np.sum(1 / np.minimum(np.arange(1, n), size)))
    # a smaller probability of failure than allowed does no harm
    squared_delta = math.log(4 * math.log(n) / min(delta / 2, 0.36))
    constant = (4 * dimension_factor * lipschitz * feature_norm) ** 2
    constant *= (32 + math.log(2 * n / delta)) * harmonic / strong_convexity

    def parts(e: float) -> tuple[float, float]:
        rich = (1 + e) ** 2 * constant / e
        d, b = 4 * ((1 + e) * lipschitz) ** 2 / strong_convexity, (1 + e) * loss_bound
        # the sum bounds the excess, which is not negative, so neither is what lemma 6.19 takes
        r = max((1 + e) * regret + rich, 0.0)
        total = r + 4 * math.sqrt(d * r * squared_delta) + max(16 * d, 6 * b) * squared_delta
        return rich, total

    if epsilon is None:
        best = minimize_scalar(lambda x: parts(math.exp(x))[1], bounds=(-20, 0), method="bounded")
        # the search does not try the ends
        epsilon = min((math.exp(best.x), 1.0), key=lambda e: parts(e)[1])
    rich, total = parts(epsilon)
    return ExcessRiskBound(*(term / (n - 1) for term in (regret, rich, total - regret - rich)))


def olp_buffer_regret_bound(n: int, *, lipschitz: float, diameter: float, eta: float) -> float:
    r"""Bound the regret of OLP by the finite-buffer penalties (lemma 6.24).

    .. math::

        \mathfrak{R}^{buf}_n \le \frac{D^2 \sqrt{n}}{2 \eta} + \frac{\eta L^2}{2}
        \sum_{t=2}^n \frac{1}{\sqrt{t}}

    for gradients of penalties of norm at most L (`lipschitz`), a set of weights of diameter D
    (twice the radius of a ball) and steps :math:`\eta / \sqrt{t}`.

    The lemma prints :math:`L D \sqrt{n - 1}`, whatever :math:`\eta`: that is for a constant step
    :math:`D / (L \sqrt{n - 1})`. With the steps of algorithm 8, the proof of Zinkevich (2003),
    theorem 1, has the bound above, at best :math:`\sqrt{2} L D \sqrt{n}` for
    :math:`\eta = D / (\sqrt{2} L)`; with small steps the regret is linear in n.

    Examples
    --------
    >>> from kernlearn.theory import olp_buffer_regret_bound
    >>> round(olp_buffer_regret_bound(10_001, lipschitz=1.0, diameter=2.0, eta=2.0), 1)
    297.6
    """
    _check(n, 0.5, 0.0, lipschitz=lipschitz, diameter=diameter, eta=eta)
    steps = float(np.sum(1 / np.sqrt(np.arange(2, n + 1))))
    return diameter**2 * math.sqrt(n) / (2 * eta) + eta * lipschitz**2 / 2 * steps


def all_pairs_regret_bound(
    n: int,
    buffer_size: int,
    *,
    buffer_regret: float,
    complexity: Complexity,
    loss_bound: float = 1.0,
    delta: float = 0.05,
) -> float:
    r"""Bound the regret by all-pairs penalties of learning with an RS-x buffer (lemma 6.23).

    .. math::

        \mathfrak{R}_n \le \mathfrak{R}^{buf}_n + \max(n - 1 - s, 0) \Bigl( 2 \mathcal{R}_s(\ell
        \circ \mathcal{H}) + B \sqrt{\frac{2 \log(2n/\delta)}{s}} \Bigr)

    with `buffer_regret` :math:`\mathfrak{R}^{buf}_n`, and with probability 1 - δ over the draws
    of the buffer. The `complexity` must hold for any first point of the pairs and any
    distribution of the second one, as tables 6.1 to 6.3 do (by the conditioning step of section
    6.6.1).

    The O() of lemmas 6.21 to 6.23 hides McDiarmid's inequality and symmetrisation for
    :math:`h_{t-1}`, and Hoeffding's for the best fixed function, each of which holds in each of
    the n - 1 - s rounds after the buffer was drawn anew. Before, both penalties are equal.

    Examples
    --------
    >>> from kernlearn.theory import all_pairs_regret_bound
    >>> round(all_pairs_regret_bound(10_001, 100, buffer_regret=400.0, complexity=1.0), 1)
    7408.4
    """
    _check(n, delta, buffer_regret, buffer_size, loss_bound=loss_bound)
    chance = loss_bound * math.sqrt(2 * math.log(2 * n / delta) / buffer_size)
    richness = 2 * _mean_complexity(complexity, np.array([buffer_size]))
    return buffer_regret + max(n - 1 - buffer_size, 0) * (richness + chance)


def olp_regret_bound(
    n: int, buffer_size: int, *, lipschitz: float, diameter: float, eta: float, **bounds: Any
) -> float:
    r"""Bound the all-pairs regret :math:`\mathfrak{R}_n` of OLP with RS-x (theorem 6.13).

    :func:`all_pairs_regret_bound` with the regret of :func:`olp_buffer_regret_bound`, whose
    arguments it takes; the theorem is about :math:`\mathfrak{R}_n / (n - 1)`.

    Examples
    --------
    >>> from kernlearn.theory import olp_regret_bound
    >>> round(olp_regret_bound(9999, 99, lipschitz=1.0, diameter=2.0, eta=2.0, complexity=1.0), 1)
    7340.5
    """
    regret = olp_buffer_regret_bound(n, lipschitz=lipschitz, diameter=diameter, eta=eta)
    return all_pairs_regret_bound(n, buffer_size, buffer_regret=regret, **bounds)


def _check(n: int, delta: float, regret: float, buffer_size: int = 1, **positive: float) -> None:
    """Check what most of the bounds depend on, and other numbers that must be above 0."""
    check_count(n=n, buffer_size=buffer_size)
    if n < 2:
        raise ValueError(f"'n' must be 2 or more, got {n!r}: one point makes no pair")
    check_share(delta=delta)
    if not math.isfinite(regret):
        raise ValueError(f"'regret' must be a finite number, got {regret!r}")
    check_positive(**positive)


def _mean_complexity(complexity: Complexity, sizes: NDArray[np.intp]) -> float:
    """Return the mean complexity over numbers of points."""
    distinct, counts = np.unique(sizes, return_counts=True)
    if callable(complexity):
        values = np.array([float(complexity(int(m))) for m in distinct])
    else:
        values = complexity / np.sqrt(distinct)
    check_nonnegative(complexity=float(values.min()))
    return float(np.average(values, weights=counts))


def _matrix(X: Any) -> Any:
    """Return points as a float64 matrix, dense or CSR."""
    return summed(check_array(X, accept_sparse="csr", dtype=np.float64))


def _logarithmic_factor(d: int, n: int, as_printed: bool, scale: float = 1.0) -> float:
    """Return the root of (scale e log d / n); of 1/n for d = 1, where it would be 0."""
    if d == 1 and not as_printed:
        return 1 / math.sqrt(n)
    return math.sqrt(scale * math.e * math.log(d) / n)


def _largest_norm(X: Any, p: float) -> float:
    """Return the largest p-norm of a row."""
    scale = float(abs(X).max())
    if p == math.inf or scale == 0:
        return scale
    # relative to the largest entry: powers of p may be large
    norm = sparse_norm if sparse.issparse(X) else np.linalg.norm
    return scale * float(norm(X / scale, p, axis=1).max())


@dataclass(frozen=True)
class VotedBound:
    """The terms of theorem 1, or of theorem 2.

    Attributes
    ----------
    margin_error : float
        Share of the sample with a margin of at most ρ; for theorem 2 times K / (K - 1).
    complexity : float
        4/ρ · Σ α_t r_t; for theorem 2 it is 6K/ρ · Σ α_t r_t.
    deviation : float
        The terms that depend only on ρ, the number of kernels, the sample size and δ (and K).
    rho : float
        The margin, of the normalised function.

    Examples
    --------
    >>> from kernlearn.theory import VotedBound
    >>> bound = VotedBound(margin_error=0.05, complexity=0.125, deviation=0.25, rho=0.5)
    >>> bound.total
    0.425
    """

    margin_error: float
    complexity: float
    deviation: float
    rho: float

    @property
    def total(self) -> float:
        """The bound on the error, vacuous above 1."""
        return self.margin_error + self.complexity + self.deviation


def voted_bound(
    model: Any,
    X: Any,
    y: ArrayLike,
    *,
    complexities: ArrayLike,
    ranges: ArrayLike,
    rho: float | None = None,
    delta: float = 0.05,
    K: float | None = None,
) -> VotedBound:
    r"""Bound the error of a fitted binary classifier by theorem 1, or by theorem 2.

    With probability :math:`1 - δ` over the sample

    .. math:: R(f) \le \hat R_{S,ρ}(f) + \frac4ρ \sum_t α_t r_t + \frac2ρ \sqrt{\frac{\log p}{m}}
        + \sqrt{\left\lceil \frac4{ρ^2} \log \frac{ρ^2 m}{\log p} \right\rceil \frac{\log p}{m}
        + \frac{\log(2/δ)}{2m}}

    (theorem 1), and for any K > 1

    .. math:: R(f) \le \frac{K}{K - 1} \hat R_{S,ρ}(f) + \frac{6K}{ρ} \sum_t α_t r_t
        + \frac{40K}{ρ^2} \frac{\log p}{m} + 5K \frac{\log(2/δ)}{m}
        + 5K \left\lceil \frac8{ρ^2} \log \frac{ρ^2 (1 + \frac{K}{K-1}) m}{40 K \log p}
        \right\rceil \frac{\log p}{m}

    (theorem 2, of local complexities: its deviation falls as log m / m), for all convex
    combinations f of functions with values in [-1, 1]. The functions of the classifier are
    divided by their ranges, and f by the sum of its new coefficients, which does not change its
    sign.

    Parameters
    ----------
    model : VotedKernelClassifier or L1SVMClassifier
        Fitted binary classifier with at least one coefficient.
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The sample on which the classifier was trained.
    y : array-like of shape (n_samples,)
        Labels.
    complexities : array-like of shape (n_kernels,)
        Bounds :math:`r_k` on the Rademacher complexities :math:`R_m(H_k)` over the distribution;
        those of a sample (``complexities_``) are estimates of them.
    ranges : array-like of shape (n_kernels,)
        Maxima of :math:`|K_k|`; :math:`κ_k^2` for positive semi-definite kernels.
    rho : float, default=None
        The margin ρ, chosen independently of the sample. None takes one over the sum of
        coefficients, the margin below which there is a hinge loss. A margin chosen on the sample
        adds a term of order :math:`\sqrt{\log\log(2/ρ)/m}`, which the paper does not state and
        which is not included.
    delta : float, default=0.05
        Probability δ that the bound fails.
    K : float, default=None
        None gives theorem 1, a number above 1 theorem 2.

    Returns
    -------
    VotedBound

    Raises
    ------
    ValueError
        If the classifier has more than two classes or no coefficient, or a number is not valid.

    Notes
    -----
    One kernel counts as two (p = 2): the theorem needs log p > 0, and a family may be listed
    twice. A negative argument of the ceiling counts as 0; the bound is then far above 1.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.theory import voted_bound
    >>> from kernlearn.voted import L1SVMClassifier
    >>> X, y = np.array([[1.0], [-1.0]] * 500), np.array([1, 0] * 500)
    >>> model = L1SVMClassifier("linear", beta=0.1).fit(X, y)
    >>> bound = voted_bound(model, X, y, complexities=[0.03], ranges=[1.0], rho=0.9)
    >>> bound.margin_error, round(bound.total, 2)
    (0.0, 0.35)
    """
    if len(model.classes_) != 2:
        raise ValueError(f"the theorems are for two classes, not for {len(model.classes_)}")
    check_share(delta=delta)
    if K is not None and not 1 < K < math.inf:
        raise ValueError(f"'K' must be a finite number above 1, or None, got {K!r}")
    sums = np.array([np.abs(c.data).sum() for c in model.coef_])
    r, sizes = (np.asarray(values, dtype=np.float64) for values in (complexities, ranges))
    for name, values in (("complexities", r), ("ranges", sizes)):
        if values.shape != sums.shape or not np.all(values >= 0):
            raise ValueError(
                f"'{name}' must hold a number of 0 or more for each of the {len(sums)} kernels"
            )
    used = sums > 0
    norm = float(sums[used] @ sizes[used])
    if norm == 0:
        raise ValueError("the classifier has no coefficient: its function is 0 everywhere")
    rho = 1 / norm if rho is None else rho
    check_positive(rho=rho)
    margins = (2 * label_codes(model.classes_, np.asarray(y)) - 1) * model.decision_function(X)
    # A margin of ρ counts as an error, also if rounding makes it slightly larger.
    margin_error = float(np.mean(margins <= rho * norm * (1 + 1e-9)))
    complexity = float(sums[used] @ r[used]) / norm / rho
    m, log_p = len(margins), math.log(max(len(sums), 2))
    if K is None:
        rounds = max(math.ceil(4 / rho**2 * math.log(rho**2 * m / log_p)), 0)
        deviation = math.sqrt(rounds * log_p / m + math.log(2 / delta) / (2 * m))
        deviation += 2 / rho * math.sqrt(log_p / m)
        return VotedBound(margin_error, 4 * complexity, deviation, float(rho))
    weight = K / (K - 1)
    ratio = rho**2 * (1 + weight) * m
    rounds = max(math.ceil(8 / rho**2 * math.log(ratio / (40 * K * log_p))), 0)
    deviation = (
        40 * K / rho**2 * log_p + 5 * K * math.log(2 / delta) + 5 * K * rounds * log_p
    ) / m
    return VotedBound(weight * margin_error, 6 * K * complexity, deviation, float(rho))
