"""Kernel support vector classifier, trained by LIBSVM or an interior-point method."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass
from functools import partial
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.extmath import row_norms
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from kernlearn import choice, validation
from kernlearn.choice import Fits
from kernlearn.kernels import ExponentialKernel, Kernel
from kernlearn.kernels.base import check_points, check_training, compared, is_symmetric
from kernlearn.kernels.functions import is_precomputed, kernels_of
from kernlearn.kernels.registry import LIBSVM
from kernlearn.linear.liblinear import feature_rows
from kernlearn.memory import allowed_memory, require_memory, row_blocks
from kernlearn.svm import solvers
from kernlearn.validation import Floats, Indices

# exp of twice as much, and its reciprocal, are finite.
_LARGEST_EXPONENT = 300.0
_BELOW = 1 - 1e-6  # share of C below which a coefficient is not at its bound
#: The parameters that each of LIBSVM's kernels takes.
TAKEN: dict[Any, set[str]] = {
    "linear": set(),
    "rbf": {"gamma"},
    "poly": {"gamma", "coef0", "degree"},
}


@dataclass
class _Problem:
    """The data of a fit, and what fits share that differ in C alone, which ascends.

    Attributes
    ----------
    X, codes
        The rows with a weight, and the codes of their classes.
    rows : ndarray of shape (n_rows,)
        Their places among all rows.
    class_weight : ndarray of shape (n_classes,)
    row_weights : ndarray of shape (n_rows,) or None
        Sample weights.
    gram : ndarray of shape (n_rows, n_rows) or None
        The kernel matrix, once it is made.
    last : DualSolution or None
        The last solution of the interior-point method.
    """

    X: Any
    codes: Indices
    rows: Indices
    class_weight: Floats
    row_weights: Floats | None
    gram: Floats | None = None
    last: solvers.DualSolution | None = None

    def factors(self) -> Floats:
        """Return the factors on C of all rows."""
        factors = self.class_weight[self.codes]
        return factors if self.row_weights is None else factors * self.row_weights


def _is_evaluated_by_libsvm(model: "KernelSVM") -> bool:
    check_is_fitted(model)
    return model._native_kernel is not None or model._scaled_gaussian() is not None


@dataclass(eq=False, repr=False)
class KernelSVM(ClassifierMixin, BaseEstimator):
    """Support vector classifier with a kernel, trained by LIBSVM [1]_ by default.

    When to use it: up to ten thousand rows, and a positive semi-definite kernel of any kind.

    Multi-class problems are solved one against one. A kernel that LIBSVM has itself is evaluated
    by the official LIBSVM during training. The matrix of any other kernel is computed first, and
    scikit-learn's LIBSVM trains on it without a copy.

    Parameters
    ----------
    kernel : str, kernel object or callable, default="rbf"
        "linear", "poly" and "rbf" are LIBSVM's own kernels. Other names, kernel objects
        and functions are those that :func:`~kernlearn.kernels.as_kernel` takes, also of texts,
        sets, series and other objects; a clone is fitted on X. "precomputed" if X contains
        kernel values. `kernlearn.kernels.PolynomialKernel` and
        `~kernlearn.kernels.HomogeneousPolynomialKernel` are passed to LIBSVM as its own
        polynomial with gamma 1.
    C : float, default=1.0
        Weight of the training errors against the norm of the function.
    degree : int, default=3
        Degree of "poly". This and the next two are refused with kernels that they do not belong
        to, which take their own parameters.
    gamma : {"scale", "auto"} or float, default="scale"
        Factor of "poly" and "rbf"; "scale" is 1 / (n_features · X.var()), "auto" is
        1 / n_features.
    coef0 : float, default=0.0
        Constant of "poly".
    solver : {"libsvm", "interior_point"}, default="libsvm"
        "interior_point", for two classes, computes the kernel matrix. Where LIBSVM does not end
        within 50 000 iterations, it converges for any C, in about 25 iterations of O(n³). It is
        for large C and up to some thousand rows, where LIBSVM takes millions of iterations.
    tol : float, default=0.001
        Tolerance of the stopping criterion: for LIBSVM, also where the interior-point method
        begins with it, the largest violation of the optimality conditions. With a large C the
        objective can then be far from its minimum. For the interior-point method itself it is
        the gap between primal and dual objective, relative to the primal one.
    cache_size : float, default=200
        Size of LIBSVM's cache of kernel rows, in units of 2²⁰ bytes.
    class_weight : dict, "balanced" or None, default=None
        Factor on C for each class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    support_ : ndarray of shape (n_SV,)
        Indices of the support vectors, class by class.
    support_vectors_ : {ndarray, sparse array} of shape (n_SV, n_features)
        The support vectors; absent for "precomputed".
    n_support_ : ndarray of shape (n_classes,)
        Number of support vectors of each class.
    dual_coef_ : ndarray of shape (n_classes - 1, n_SV)
        Coefficients of the support vectors, laid out and signed as in `sklearn.svm.SVC`.
    intercept_ : ndarray of shape (n_classes * (n_classes - 1) / 2,)
        Constant of each decision function.
    kernel_ : str or callable
        The kernel, fitted if it is an object.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features seen in `fit`, if X has feature names.

    See Also
    --------
    kernlearn.linear.LinearSVM : Much faster without a kernel, or on explicit features of a kernel.

    Notes
    -----
    `predict` evaluates blocks of the kernel matrix by BLAS. `predict_native` is LIBSVM's own
    row-by-row prediction, which is timed in [2]_, chapter 3. Both return the same labels, up to
    rounding at a decision value of 0. LIBSVM evaluates kernels on all OpenMP threads;
    ``threadpoolctl.threadpool_limits(1)`` restricts it to one. With sample weights,
    scikit-learn's LIBSVM trains.

    References
    ----------
    .. [1] C.-C. Chang, C.-J. Lin. LIBSVM: a library for support vector machines. ACM TIST 2,
       2011.
    .. [2] P. Kar. Topics in Resource-efficient Kernel Learning. Thesis, IIT Kanpur, 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernlearn.svm import KernelSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelSVM(kernel="poly", degree=2).fit(X, y)
    >>> model.predict(X[::50]), model.predict_native(X[::50])
    (array([0, 1, 2]), array([0, 1, 2]))
    """

    kernel: str | Callable[..., Any] = "rbf"
    _: KW_ONLY
    C: float = 1.0
    degree: int = 3
    gamma: float | str = "scale"
    coef0: float = 0.0
    solver: str = "libsvm"
    tol: float = 1e-3
    cache_size: float = 200
    class_weight: Any = None

    #: Parameters of which :meth:`path` takes lists of values.
    path_parameters: ClassVar[tuple[str, ...]] = ("C",)

    _parameter_constraints = {
        **validation.PARAMETERS,
        "kernel": [str, Kernel, callable],
        "degree": [validation.WHOLE],
        "gamma": [validation.StrOptions({"scale", "auto"}), validation.NOT_NEGATIVE],
        "coef0": [validation.FINITE],
        "solver": [validation.StrOptions({"libsvm", "interior_point"})],
        "cache_size": [validation.POSITIVE],
    }

    # A kernel object validates its own parameters.
    @validation.fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data; for "precomputed" the kernel matrix, (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Labels, numbers or strings.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C for each row, not negative.

        Returns
        -------
        KernelSVM
            Fitted estimator.

        Raises
        ------
        ValueError
            If y has a single class, if a precomputed X is not square, or if the kernel does
            not return a finite matrix of the right shape.
        MemoryError
            If the kernel matrix is needed and does not fit, before it is computed.
        ImportError
            If LIBSVM is needed and not installed.

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before it converged.
        UserWarning
            If a precomputed X, or a function, looks like a distance.
        """
        return self._learn(self._prepare(X, y, sample_weight))

    def _prepare(self, X: Any, y: Any, sample_weight: Any = None) -> _Problem:
        """Validate the data and fit the kernel."""
        taken = TAKEN[self.kernel] if self.kernel in LIBSVM else set()
        unused = sorted(TAKEN["poly"] - taken)
        advice = "pass a kernel object with its own parameters, or leave it out"
        validation.refuse_unused(self, unused, f"kernel={self.kernel!r}", advice)
        self._precomputed = is_precomputed(self.kernel)
        X, y = check_training(self, X, y, _kernels_of(self.kernel), dtypes=(np.float64,))
        if self._precomputed and not is_symmetric(X):
            validation.warn("X is not symmetric, as a kernel matrix must be: pass (X + X.T) / 2")
        weights = validation.check_weights(sample_weight, X)
        rows = validation.weighted_rows(weights, len(y))
        if len(rows) < len(y):
            y, weights = y[rows], validation.taken(weights, rows)
            X = X[np.ix_(rows, rows)] if self._precomputed else X[rows]
        self.classes_, codes, by_class = validation.encode_labels(y, self.class_weight, weights)
        if self.solver != "libsvm" and len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported by solver='interior_point'. The "
                "type of the target is multiclass: use solver='libsvm'"
            )
        self._native_kernel, self.kernel_ = solvers.resolve_kernel(
            self.kernel, self.degree, self.gamma, self.coef0, X, y
        )
        return _Problem(X, codes, rows, by_class, weights)

    def _learn(self, problem: _Problem, *, of_path: bool = False) -> Self:
        """Solve the problem for C."""
        support = self._support = self._train(problem, of_path)
        self.support_ = problem.rows[support.indices].astype(np.int32)
        self.n_support_ = support.n_by_class
        # decision values of two classes have the other sign than LIBSVM's, as in scikit-learn
        sign = -1 if len(self.classes_) == 2 else 1
        self.dual_coef_, self.intercept_ = sign * support.coefficients, -sign * support.rho
        if not self._precomputed:
            self.support_vectors_ = problem.X[support.indices]
        elif hasattr(self, "support_vectors_"):
            del self.support_vectors_  # of an earlier fit with another kernel
        return self

    def _train(self, problem: _Problem, of_path: bool) -> solvers.SupportVectors:
        codes, weights, n = problem.codes, problem.row_weights, len(problem.codes)
        options = {"C": self.C, "tol": self.tol, "cache_size": self.cache_size}
        native, by_libsvm = self._native_kernel, self.solver == "libsvm"
        # a path makes the kernel matrix once, where there is memory for it
        shared = of_path and (
            problem.gram is not None or _matrix_bytes(n, self.cache_size) <= allowed_memory()
        )
        if by_libsvm and native is not None and not shared:
            if weights is None:
                return solvers.train(problem.X, codes, native, problem.class_weight, **options)
            return solvers.train_weighted(problem.X, codes, native, problem.factors(), **options)
        if problem.gram is None:
            problem.gram = problem.X if self._precomputed else self._compared(problem.X)
        if by_libsvm:
            return solvers.train_weighted(problem.gram, codes, None, problem.factors(), **options)
        support, problem.last = solvers.train_by_interior_point(
            problem.gram, codes, self.C * problem.factors(), tol=self.tol, last=problem.last
        )
        return support

    def _compared(self, X: Any) -> Floats:
        n = X.shape[0]
        factors = 5 * 8 * n**2 if self.solver == "interior_point" else 0
        require_memory(
            max(_matrix_bytes(n, self.cache_size), factors),
            purpose=f"the kernel matrix of {n} rows",
            advice="use fewer rows, one of LIBSVM's own kernels ('linear', 'poly', 'rbf', "
            "'sigmoid') with solver='libsvm', or random features with LinearSVM",
        )
        if self._native_kernel is not None:
            with np.errstate(over="ignore"):  # which the solver refuses
                return self._native_kernel(X, X)
        gram = np.empty((n, n))
        for rows in row_blocks(n, n):
            gram[rows] = compared(self.kernel_, X[rows], X)
        return gram

    def path(self, X: Any, y: ArrayLike, grid: Mapping[str, Sequence[Any]]) -> Iterator[Fits]:
        """Fit the model for each of a list of values of C, ascending.

        Where memory suffices the kernel matrix is computed once, and the interior-point method
        starts from the solution for the C before. If no coefficient is at the bound for some C,
        its solution is the one for any greater C.

        Parameters
        ----------
        X, y
            As for `fit`.
        grid : dict
            The values of C, ``{"C": values}``; without them the model's own.

        Yields
        ------
        Fits
            The models of all values, ascending; each is that of `fit` within the tolerance of the
            solver.
        """
        first, points = clone(self), choice.path_points(self, grid)
        problem, converged = first._prepare(X, y), np.ones(len(points), dtype=bool)
        models: list[Self] = []
        for place, point in enumerate(points):
            if place and converged[place - 1] and models[-1]._is_unbounded():
                models.append(copy(models[-1]).set_params(**point))
                continue
            models.append(copy(first).set_params(**point))
            with validation.noting_convergence(converged, place):
                models[-1]._learn(problem, of_path=True)
        used = np.unique(np.concatenate([model.support_ for model in models]))
        vectors = None if first._precomputed else problem.X[used]
        values = partial(_pair_values, models, used, vectors)
        yield Fits(points, models, converged.tolist(), values)

    def _is_unbounded(self) -> bool:
        """Whether all coefficients are below C, so that a greater C changes nothing."""
        largest = np.abs(self.dual_coef_).max(initial=0.0)
        return self.class_weight is None and bool(largest < _BELOW * self.C)

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return the decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data; for "precomputed" the kernel values with the training rows,
            (n_samples, n_training_samples).

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, positive where ``classes_[1]`` is predicted. Otherwise for each class
            the number of pairs it wins, plus the sum of the decision values of its pairs mapped
            into (-1/3, 1/3).
        """
        return self._decision_function(self._values(X))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict labels, by blocks of the kernel matrix between X and the support vectors.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted labels; with more than two classes, the one that wins most pairs, the first
            of those in case of a tie.
        """
        return self._predict(self._values(X))

    @available_if(_is_evaluated_by_libsvm)
    def predict_native(self, X: ArrayLike) -> NDArray[Any]:
        """Predict labels by LIBSVM's own prediction, called row by row.

        Available for LIBSVM's own kernels, and for `kernlearn.kernels.ExponentialKernel`, which
        is its Gaussian times factors of the norms.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted labels.

        Raises
        ------
        ImportError
            If LIBSVM is not installed.

        Notes
        -----
        Points whose factors of the exponential kernel are beyond the range of numbers are left to
        `predict`.
        """
        points: Any = self._check_rows(X)
        support, native = self._support, self._native_kernel
        if native is not None:
            vectors, rows = (feature_rows(native.near(Z)) for Z in (self.support_vectors_, points))
            values = solvers.native_values(native, vectors, support, rows)
        else:
            gaussian: Any = self._scaled_gaussian()
            exponents = gaussian.gamma * row_norms(points, squared=True)
            if (exponents >= _LARGEST_EXPONENT).any():
                return self.predict(points)
            # The factors of the norms multiply the coefficients and the decision values.
            at_vectors = np.exp(gaussian.gamma * row_norms(self.support_vectors_, squared=True))
            unshifted = support._replace(
                coefficients=support.coefficients * at_vectors, rho=np.zeros_like(support.rho)
            )
            vectors, rows = feature_rows(self.support_vectors_), feature_rows(points)
            values = solvers.native_values(gaussian, vectors, unshifted, rows)
            values = values * np.exp(exponents)[:, np.newaxis] - support.rho
        return self.classes_[self._votes(values).argmax(axis=1)]

    def _scaled_gaussian(self) -> solvers.SVMKernel | None:
        r"""Return LIBSVM's Gaussian kernel by which the exponential kernel can be evaluated.

        :math:`\exp(\langle x, y \rangle / \sigma^2)` is
        :math:`e^{\gamma |x|^2} \exp(-\gamma |x - y|^2) e^{\gamma |y|^2}` with
        :math:`\gamma = 1 / 2 \sigma^2`. None for another kernel, and where the factors would
        overflow at some of the support vectors.
        """
        if type(self.kernel_) is not ExponentialKernel:
            return None
        gamma = 1 / (2 * self.kernel_.width() ** 2)
        within = gamma * row_norms(self.support_vectors_, squared=True) < _LARGEST_EXPONENT
        return solvers.SVMKernel("rbf", gamma=gamma) if within.all() else None

    def _decision_function(self, values: Floats) -> Floats:
        """Return the decision values by those of the pairs of classes."""
        if values.shape[1] == 1:
            return values.ravel()
        first, second = _pair_members(len(self.classes_))
        sums = values @ (first - second)
        # ties are broken by sums that never outweigh a vote
        return self._votes(values) + sums / (3 * (np.abs(sums) + 1))

    def _predict(self, values: Floats) -> NDArray[Any]:
        """Return the labels by the decision values of the pairs of classes."""
        if values.shape[1] == 1:
            return self.classes_[(values[:, 0] >= 0).astype(int)]
        return self.classes_[self._votes(values).argmax(axis=1)]

    def _votes(self, values: Floats) -> Floats:
        """Count the pairs that each class wins, the first class of a pair for a positive value."""
        first, second = _pair_members(len(self.classes_))
        return (values > 0) @ first + (values <= 0) @ second

    def _check_rows(self, X: Any) -> Any:
        return check_points(self, X, _kernels_of(self.kernel_), dtypes=(np.float64,))

    def _values(self, X: Any) -> Floats:
        """Return the decision values of the pairs of classes."""
        check_is_fitted(self)
        vectors = None if self._precomputed else self.support_vectors_
        return _pair_values([self], self.support_, vectors, X)[0]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        tags.input_tags.sparse = not tags.input_tags.pairwise
        tags.classifier_tags.multi_class = self.solver == "libsvm"
        return tags


def _kernels_of(kernel: Any) -> list[Kernel] | None:
    """Return the kernel that compares points; none for LIBSVM's, None for a matrix."""
    return [] if kernel in LIBSVM else kernels_of(kernel)


def _matrix_bytes(n_rows: int, cache_size: float) -> int:
    """Return the bytes of a kernel matrix, LIBSVM's cache, and two blocks of the matrix."""
    cache = min(int(cache_size * 2**20), 4 * n_rows**2)  # LIBSVM caches single precision
    block = next(row_blocks(n_rows, n_rows)).stop
    return 8 * n_rows**2 + cache + 2 * 8 * n_rows * block


def _pair_values(models: Sequence[KernelSVM], used: Indices, vectors: Any, X: Any) -> list[Floats]:
    """Return the decision values of each model for X, by pair of classes, from one kernel matrix.

    `used` are the places of all their support vectors, `vectors` the points there, None for a
    kernel matrix.
    """
    first, order = models[0], np.argsort(used)
    X, kernel = first._check_rows(X), first._native_kernel
    coefficients = np.zeros((len(used), len(models) * len(first.intercept_)))
    for model, part in zip(models, np.split(coefficients, len(models), axis=1), strict=True):
        places = order[np.searchsorted(used, model.support_, sorter=order)]
        part[places] = solvers.pair_coefficients(model.dual_coef_, model.n_support_)
    values = np.empty((X.shape[0], coefficients.shape[1]))
    for rows in row_blocks(X.shape[0], len(used)):
        if vectors is None:
            block = X[rows][:, used]
        else:
            block = (kernel or partial(compared, first.kernel_))(X[rows], vectors)
        values[rows] = block @ coefficients
    of_models = zip(models, np.split(values, len(models), axis=1), strict=True)
    return [one + model.intercept_ for model, one in of_models]


def _pair_members(n_classes: int) -> Floats:
    """Return the first and the second class of each pair, as rows of the identity matrix."""
    pairs = np.array(list(combinations(range(n_classes), 2)))
    return np.eye(n_classes)[pairs.T]
