"""Voted kernel regularization and the norm-1 support vector machine."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from kernlearn.constraints import COUNT, NOT_NEGATIVE, POSITIVE, StrOptions
from kernlearn.kernels import Kernel, PolynomialKernel, as_kernel
from kernlearn.voted import complexity
from kernlearn.voted.base import VotedClassifier
from kernlearn.voted.problem import Floats, KernelFamily


@dataclass(eq=False, repr=False)
class VotedKernelClassifier(VotedClassifier):
    r"""Voted kernel regularization: a sparse sum over many kernels and all training points.

    When to use it: several kernels at once and few support points, up to some thousand rows.

    The classifier is the sign of :math:`f = \sum_{k,j} α_{k,j} K_k(\cdot, x_j)` that minimises

    .. math:: \frac1m \sum_i \max(0, 1 - y_i f(x_i)) + \sum_{k,j} (λ r_k + β) |α_{k,j}|,

    where :math:`r_k` bounds the Rademacher complexity of the functions :math:`±K_k(\cdot, x)`, so
    that complex kernels have larger penalties. Kernels need not be positive semi-definite or
    symmetric. As in the paper there is no intercept and the loss is a mean. With more than two
    classes each is separated from the rest, with the same parameters.

    Parameters
    ----------
    kernels : sequence, "precomputed" or None, default=("linear", "gaussian", "laplacian")
        Kernels, names of kernels or functions (X, Y) -> matrix; or "precomputed" if X consists
        of the matrices of all kernels side by side. None takes the polynomials
        :math:`(\langle x, y \rangle + 1)^k` of degrees 1 to 10, as in table 1; on points that are
        not scaled to a norm of about 1 their values differ so much that the problem is hard.
    lam : float or sequence of float, default=1e-2
        The weight λ of the complexities; of several values the best on validation points is
        chosen. With 0, complexities are not computed.
    beta : float or sequence of float, default=1e-3
        The penalty β of all kernels, or several values. If λ and β are 0, only the loss is
        minimised; its minimum may not be unique.
    complexity : {"trace", "dimension", "dimension_bound", "local", "monte_carlo"} or array-like \
            of shape (n_kernels,), default="trace"
        The :math:`r_k`. "trace" is lemma 3, VKRc in table 1; "dimension" is
        :math:`κ_k^2 \sqrt{d_k}`, VKR2 in table 1, only for dot-product kernels, and
        "dimension_bound" the whole bound of lemma 4; "local" is the bound of section 5.3 from
        the eigenvalues, which gives objective (2); "monte_carlo" is an estimate for any kernel.
        An infinite value in an array excludes a kernel unless λ = 0. Suprema :math:`κ_k` are
        maxima over the training points.
    local_radius : float or sequence of float, default=1.0
        The radius s of "local"; of several values the best on validation points is chosen.
    n_draws : int, default=100
        Number of sign vectors of "monte_carlo".
    solver : {"column_generation", "lp", "coordinate_descent"}, default="column_generation"
        "lp" passes the whole linear program to HiGHS, which takes much longer;
        "coordinate_descent" is appendix C on smoothed hinges. All reach the same objective.
    tol : float, default=1e-3
        Largest gap to the dual bound, relative to the objective. The tables of the paper are
        computed with 1e-6.
    max_iter : int, default=None
        Maximum number of rounds of column generation (None is 1000) or sweeps of coordinate
        descent (None is 100000) per problem, after which it stops with a ConvergenceWarning.
    validation_fraction : float, default=0.2
        Share of the training points held out for the choice of parameters, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points and the signs of "monte_carlo".
    n_jobs : int, default=None
        Number of processes that solve one-vs-all problems; None is 1, -1 all cores.
    verbose : int, default=0
        1 prints a line for each setting of the parameters and class, 2 for each round too.
    class_weight : dict, "balanced" or None, default=None
        Factors on the losses of the points of each class, and on the validation points in the
        choice of parameters.
    calibration : {"sigmoid", "isotonic"} or None, default=None
        How decision values are mapped to the probabilities of `predict_proba`, which is there
        unless this is None. The map is fitted on the validation points, some of which are held
        out even if there are single values only.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    coef_ : list of csr_array of shape (n_problems, n_training_points)
        One array per kernel, with one row per one-vs-all problem, only for ``classes_[1]`` with
        two classes. The columns are the training points, without those held out.
    support_ : ndarray of shape (n_support,)
        Indices, in the X passed to `fit`, of points with a coefficient for any kernel.
    n_support_ : int
        Number of these points, as in table 1.
    n_support_by_kernel_ : ndarray of shape (n_kernels,)
        Number of points with a coefficient for each kernel.
    kernels_ : list of Kernel or None
        The fitted kernels; None for "precomputed".
    complexities_ : ndarray of shape (n_kernels,)
        The :math:`r_k`; zeros where λ is 0.
    penalties_ : ndarray of shape (n_kernels,)
        The :math:`Λ_k = λ r_k + β`.
    lam_, beta_ : float
        The chosen values; with ``complexity="local"`` also ``local_radius_``.
    best_params_ : dict
        The chosen values by parameter.
    validation_scores_ : ndarray of shape (n_lam, n_beta), or None
        Accuracies on the validation points, λ and β descending; with several radii of shape
        (n_radii, n_lam, n_beta). Ties go to fewer support points, then to larger penalties.
    objective_, dual_bound_ : ndarray of shape (n_problems,)
        The objective, and a lower bound of its minimum.
    n_iter_ : int
        Number of iterations of the solver.
    n_features_in_ : int
        Number of features seen in `fit`.

    See Also
    --------
    L1SVMClassifier : One kernel, without complexities.

    References
    ----------
    Cortes, Goyal, Kuznetsov & Mohri (2015). Voted Kernel Regularization.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kernlearn.voted import VotedKernelClassifier
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> model = VotedKernelClassifier(lam=1e-3, beta=1e-3).fit(X[:150], y[:150])
    >>> model.score(X[150:], y[150:]) > 0.9, model.n_support_ < 30
    (True, True)
    """

    kernels: Any = ("linear", "gaussian", "laplacian")
    _: KW_ONLY
    lam: Any = 1e-2
    beta: Any = 1e-3
    complexity: Any = "trace"
    local_radius: Any = 1.0
    n_draws: int = 100
    solver: str = "column_generation"
    tol: float = 1e-3
    max_iter: int | None = None
    validation_fraction: float = 0.2
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    class_weight: Any = None
    calibration: str | None = None

    _parameter_constraints = {
        **VotedClassifier._parameter_constraints,
        "kernels": ["array-like", StrOptions({"precomputed"}), None],
        "lam": [NOT_NEGATIVE, "array-like"],
        "complexity": [
            StrOptions({"trace", "dimension", "dimension_bound", "local", "monte_carlo"}),
            "array-like",
        ],
        "local_radius": [POSITIVE, "array-like"],
        "n_draws": [COUNT],
    }

    def _compared_by(self) -> list[Kernel] | None:
        if self.kernels is None:
            return [PolynomialKernel(degree=k) for k in range(1, 11)]
        if isinstance(self.kernels, str):
            return None
        if not len(self.kernels):
            raise ValueError("'kernels' must hold at least one kernel")
        return [as_kernel(kernel, "kernels") for kernel in self.kernels]

    @property
    def _chosen(self) -> tuple[str, ...]:
        local = isinstance(self.complexity, str) and self.complexity == "local"
        return ("local_radius", "lam", "beta") if local else ("lam", "beta")

    def _complexities(
        self, grams: Floats, family: KernelFamily, weights: Floats | None
    ) -> Sequence[Floats]:
        if not isinstance(self.complexity, str):
            return [self._checked_complexity(len(grams))]
        if not self._axis("lam").any():
            return [np.zeros(len(grams))]
        if self.complexity.startswith("dimension") and not family.kernels:
            raise ValueError(
                f"complexity={self.complexity!r} asks for the degree of polynomial kernels, which "
                "is not known of matrices that are given; choose another complexity"
            )
        if weights is not None and self.complexity in ("local", "monte_carlo"):
            raise ValueError(f"complexity={self.complexity!r} takes no sample_weight")
        # The same signs for all kernels, so that their order is not random.
        rng, seed = check_random_state(self.random_state), None
        if self.complexity == "monte_carlo":
            seed = rng.randint(np.iinfo(np.int32).max)
        n_features = 0 if family.points is None else family.points.shape[-1]
        measured = []
        for k, kernel in enumerate(family.kernels or [None] * len(grams)):
            try:
                measured.append(self._complexity(grams[k], kernel, n_features, seed, weights))
            except ValueError as error:
                raise ValueError(f"complexity of kernel {k}: {error}") from error
        return list(np.atleast_2d(np.array(measured).T))

    def _complexity(
        self,
        gram: Floats,
        kernel: Any,
        n_features: int,
        seed: int | None,
        weights: Floats | None,
    ) -> Any:
        """Return the complexity of a kernel, "local" for each radius."""
        match self.complexity:
            case "trace":
                return complexity.trace_complexity(gram, sample_weight=weights)
            case "local":
                return complexity.local_complexities(gram, self._axis("local_radius"))
            case "monte_carlo":
                return complexity.monte_carlo_complexity(
                    gram, n_draws=self.n_draws, random_state=seed
                )
        n_samples: Any = None
        if self.complexity == "dimension_bound":
            n_samples = len(gram) if weights is None else weights.sum()
        dimension = complexity.feature_dimension(kernel, n_features)
        kappa = np.sqrt(np.diag(gram).max())
        return complexity.dimension_complexity(kappa, dimension, n_samples)

    def _checked_complexity(self, n_kernels: int) -> Floats:
        r = np.asarray(self.complexity)
        if r.shape != (n_kernels,) or r.dtype.kind not in "fiu" or not np.all(r >= 0):
            raise ValueError(
                f"'complexity' must hold one number >= 0 for each of the {n_kernels} kernels "
                f"(infinity is one), or be a name, got {self.complexity!r}"
            )
        return r.astype(np.float64)


@dataclass(eq=False, repr=False)
class L1SVMClassifier(VotedClassifier):
    r"""Norm-1 support vector machine: hinge loss and 1-norm of the coefficients.

    When to use it: few support points with one kernel, which need not be positive semi-
    definite.

    The classifier is the sign of :math:`f = \sum_j α_j K(\cdot, x_j)` that minimises
    :math:`\frac1m \sum_i \max(0, 1 - y_i f(x_i)) + β \|α\|_1`: voted kernel regularization with
    one kernel and λ = 0. There is no intercept. The kernel need not be positive semi-definite or
    symmetric. With more than two classes each is separated from the rest.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="gaussian"
        Name of a kernel, a kernel, a function (X, Y) -> matrix, or "precomputed".
    beta : float or sequence of float, default=1e-3
        The penalty; of several values the best on validation points is chosen.
    solver, tol, max_iter, validation_fraction, random_state
        As for `VotedKernelClassifier`.
    n_jobs, verbose, class_weight, calibration
        As for `VotedKernelClassifier`.

    Attributes
    ----------
    coef_ : list of one csr_array of shape (n_problems, n_training_points)
        The coefficients.
    beta_ : float
        The chosen value.
    validation_scores_ : ndarray of shape (n_beta,), or None
        Accuracies on the validation points, β descending.
    classes_, support_, n_support_, best_params_, objective_, dual_bound_, n_iter_, n_features_in_
        As for `VotedKernelClassifier`.

    References
    ----------
    Cortes, Goyal, Kuznetsov & Mohri (2015), section 3; Zhu, Rosset, Hastie & Tibshirani (2003),
    with an intercept.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kernlearn.kernels import PolynomialKernel
    >>> from kernlearn.voted import L1SVMClassifier
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> model = L1SVMClassifier(PolynomialKernel(degree=4)).fit(X[:150], y[:150])
    >>> model.score(X[150:], y[150:]) > 0.9
    True
    """

    kernel: str | Kernel | Callable[[Any, Any], Any] = "gaussian"
    _: KW_ONLY
    beta: Any = 1e-3
    solver: str = "column_generation"
    tol: float = 1e-3
    max_iter: int | None = None
    validation_fraction: float = 0.2
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    class_weight: Any = None
    calibration: str | None = None

    _parameter_constraints = {
        **VotedClassifier._parameter_constraints,
        "kernel": [str, Kernel, callable],
    }

    def _compared_by(self) -> list[Kernel] | None:
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            return None
        return [as_kernel(self.kernel)]

    def _complexities(
        self, grams: Floats, family: KernelFamily, weights: Floats | None
    ) -> Sequence[Floats]:
        if len(grams) > 1:
            raise ValueError(
                "kernel='precomputed' needs a square matrix for training, got "
                f"{len(grams)} side by side; VotedKernelClassifier takes several"
            )
        return [np.zeros(1)]
