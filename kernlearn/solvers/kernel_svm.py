"""Kernel support vector classifier, trained by the official LIBSVM or an interior-point method."""

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.extmath import row_norms
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlearn import constraints
from kernlearn.constraints import fit_context
from kernlearn.memory import row_blocks
from kernlearn.sample_weights import check_weights, taken, weighted_rows
from kernlearn.solvers import libsvm, nodes
from kernlearn.solvers.labels import class_scores, count_votes, encode_labels
from kernlearn.solvers.svm_training import OPTIONS, Grams, Problem, compare, solve

if TYPE_CHECKING:
    from kernlearn.solvers.svm_path import SVMPath


@dataclass(eq=False, repr=False)
class KernelSVM(ClassifierMixin, BaseEstimator):
    """Support vector classifier with a kernel, trained by LIBSVM [1]_ by default.

    When to use it: up to ten thousand rows, and a positive semi-definite kernel of any kind.

    Multi-class problems are solved one against one. A kernel that LIBSVM has itself is
    evaluated by LIBSVM during training; the matrix of any other kernel is computed beforehand
    and takes 16 bytes per value.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, kernel object or callable, \
            default="rbf"
        A name; a kernel object (see `kernlearn.kernels`), of which a clone is fitted on X;
        a function (X, Y) -> array of shape (len(X), len(Y)); or "precomputed" if X contains
        kernel values. `kernlearn.kernels.PolynomialKernel` and
        `~kernlearn.kernels.HomogeneousPolynomialKernel` are passed to LIBSVM as its own
        polynomial with gamma 1.
    C : float, default=1.0
        Weight of the losses relative to the norm.
    degree : int, default=3
        Degree of "poly".
    gamma : {"scale", "auto"} or float, default="scale"
        Factor of "poly", "rbf" and "sigmoid"; "scale" is 1 / (n_features · X.var()), "auto" is
        1 / n_features.
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    solver : {"libsvm", "interior_point"}, default="libsvm"
        "interior_point" computes the kernel matrix and converges for any C: where 50,000
        iterations of SMO do not, it takes about 25 iterations of O(n³). For large C and up to
        some thousand rows, where LIBSVM takes millions of iterations.
    tol : float, default=0.001
        Tolerance of the stopping criterion: the largest violation of the optimality conditions;
        for the interior-point method the gap between primal and dual objective, relative to
        them.
    shrinking : bool, default=True
        Whether to use the shrinking heuristic.
    cache_size : float, default=200
        Size of LIBSVM's cache of kernel rows, in units of 2²⁰ bytes.
    class_weight : dict, "balanced" or None, default=None
        Factor on C for each class.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether `decision_function` returns one column per class or one per pair of classes.
        Ignored for two classes.
    memory_limit : int, default=None
        Maximum number of bytes for a precomputed matrix and the cache; None means the memory
        that is available when `fit` is called.

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
    LinearSVM : Much faster without a kernel, or on explicit features of a kernel.

    Notes
    -----
    `predict` evaluates blocks of the kernel matrix by BLAS. `predict_native` is LIBSVM's own
    row-by-row prediction, which is timed in [2]_, chapter 3. Both return the same labels, up to
    rounding at a decision value of 0. LIBSVM evaluates kernels on all OpenMP threads;
    ``threadpoolctl.threadpool_limits(1)`` restricts it to one.

    References
    ----------
    .. [1] C.-C. Chang, C.-J. Lin. LIBSVM: a library for support vector machines. ACM TIST 2,
       2011.
    .. [2] P. Kar. Topics in Resource-efficient Kernel Learning. Thesis, IIT Kanpur, 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernlearn.solvers import KernelSVM
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
    shrinking: bool = True
    cache_size: float = 200
    class_weight: Any = None
    decision_function_shape: str = "ovr"
    memory_limit: int | None = None

    #: Parameters of which :meth:`path` takes no list of values.
    path_excludes: ClassVar[tuple[str, ...]] = ("class_weight",)

    _parameter_constraints = {
        "kernel": [
            constraints.StrOptions({"linear", "poly", "rbf", "sigmoid", "precomputed"}),
            callable,
        ],
        "C": [constraints.POSITIVE],
        "degree": [constraints.WHOLE],
        "gamma": [constraints.StrOptions({"scale", "auto"}), constraints.NOT_NEGATIVE],
        "coef0": [constraints.FINITE],
        "solver": [constraints.StrOptions({"libsvm", "interior_point"})],
        "tol": [constraints.POSITIVE],
        "shrinking": ["boolean"],
        "cache_size": [constraints.POSITIVE],
        "class_weight": constraints.CLASS_WEIGHT,
        "decision_function_shape": [constraints.StrOptions({"ovr", "ovo"})],
        "memory_limit": [None, constraints.COUNT],
    }

    # A kernel object validates its own parameters.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data; for "precomputed" the kernel matrix, (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Labels, numbers or strings.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C for each row, not negative, with which scikit-learn's LIBSVM trains.

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
            If a precomputed matrix does not fit, before it is computed.

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before it converged.
        """
        return self._fit(X, y, sample_weight, None)

    def _fit(self, X: Any, y: Any, sample_weight: Any, grams: Grams | None) -> Self:
        """Fit the model, with a kernel matrix that other values of C share."""
        X, checked = validate_data(self, X, y, **self._accepted())
        y = np.asarray(checked)
        if self._precomputed and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"X must be a square matrix for kernel='precomputed', but has shape {X.shape}"
            )
        weights = check_weights(sample_weight, X)
        rows = weighted_rows(weights, len(y))
        if len(rows) < len(y):
            y, weights = y[rows], taken(weights, rows)
            X = X[np.ix_(rows, rows)] if self._precomputed else X[rows]
        self.classes_, codes, class_weight = encode_labels(y, self.class_weight, weights)
        self._native_kernel, self.kernel_ = libsvm.resolve_kernel(
            self.kernel, self.degree, self.gamma, self.coef0, X
        )
        problem = Problem(
            X,
            codes,
            class_weight,
            weights,
            self._native_kernel,
            None if self._precomputed else self.kernel_,
        )
        options = {name: getattr(self, name) for name in OPTIONS}
        support = solve(problem, **options, grams=grams)
        self._support = support
        self.support_, self.n_support_ = rows[support.indices].astype(np.int32), support.n_by_class
        self.dual_coef_ = self._sign * support.coefficients
        self.intercept_ = -self._sign * support.rho
        if not self._precomputed:
            self.support_vectors_ = X[support.indices]
        elif hasattr(self, "support_vectors_"):
            del self.support_vectors_  # of an earlier fit with another kernel
        return self

    def path(self, X: Any, y: ArrayLike) -> "SVMPath":
        """Fit the model for a grid of settings: parameters that are lists of values.

        Where memory suffices the kernel matrix is computed once for all values of C. Two classes
        are then trained from the solution for the C before, to LIBSVM's stopping rule; more by
        scikit-learn's edition of LIBSVM.

        Parameters
        ----------
        X, y
            As for `fit`.

        Returns
        -------
        SVMPath
            The fitted models.
        """
        from kernlearn.solvers.svm_path import follow_path

        return follow_path(self, X, y)

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data; for "precomputed" the kernel values with the training rows,
            (n_samples, n_training_samples).

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            For two classes, positive where ``classes_[1]`` is predicted. Otherwise with "ovo"
            one column per pair (0, 1), (0, 2), ..., (1, 2), ..., positive for the first class of
            the pair; with "ovr" one per class: the number of pairs it wins, plus the sum of the
            decision values of its pairs mapped into (-1/3, 1/3).
        """
        values = self._pair_values(X)
        if values.shape[1] == 1:
            return values.ravel()
        if self.decision_function_shape == "ovo":
            return values
        return class_scores(values, len(self.classes_))

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
        return self._decide(self._pair_values(X))

    def _decide(self, values: NDArray[np.float64]) -> NDArray[Any]:
        """Return the labels for decision values of shape (n_samples, n_pairs)."""
        if values.shape[1] == 1:
            return self.classes_[(values[:, 0] >= 0).astype(int)]
        return self.classes_[count_votes(values, len(self.classes_)).argmax(axis=1)]

    def predict_native(self, X: ArrayLike) -> NDArray[Any]:
        """Predict labels by LIBSVM's own prediction, called row by row.

        LIBSVM evaluates its own kernels, and `kernlearn.kernels.ExponentialKernel` as its
        Gaussian times factors of the norms. The values of any other kernel are passed to it.

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
        """
        X = self._check_rows(X)
        native, support, gaussian = self._native_kernel, self._support, None
        if not self._precomputed:
            gaussian = libsvm.as_scaled_gaussian(self.kernel_, X, self.support_vectors_)
        if gaussian is not None:
            # The factors of the norms multiply the coefficients and the decision values.
            at_rows, at_vectors = (
                np.exp(gaussian.gamma * row_norms(points, squared=True))
                for points in (X, self.support_vectors_)
            )
            scaled = support.coefficients * at_vectors
            vectors = nodes.feature_rows(self.support_vectors_)
            unshifted = support._replace(coefficients=scaled, rho=np.zeros_like(support.rho))
            values = libsvm.native_values(gaussian, vectors, unshifted, nodes.feature_rows(X))
            values = values * at_rows[:, np.newaxis] - support.rho
        elif native.name != "precomputed":
            vectors = nodes.feature_rows(self.support_vectors_)
            values = libsvm.native_values(native, vectors, support, nodes.feature_rows(X))
        else:
            # With serial numbers from 1, the support vectors need only their own kernel values.
            n_support, all_rows = len(self.support_), slice(None)
            serial = nodes.precomputed_rows(n_support, 0, [(all_rows, np.empty((n_support, 0)))])
            parts = []
            for _, block in self._support_blocks(X):
                rows = nodes.precomputed_rows(len(block), n_support, [(all_rows, block)])
                parts.append(libsvm.native_values(native, serial, support, rows))
            values = np.concatenate(parts)
        return self.classes_[count_votes(values, len(self.classes_)).argmax(axis=1)]

    @property
    def _precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    @property
    def _sign(self) -> int:
        """Sign of the decision values relative to LIBSVM's, as in scikit-learn."""
        return -1 if len(self.classes_) == 2 else 1

    def _accepted(self) -> dict[str, Any]:
        return {"accept_sparse": False if self._precomputed else "csr", "dtype": np.float64}

    def _check_rows(self, X: Any) -> Any:
        check_is_fitted(self)
        return validate_data(self, X, reset=False, **self._accepted())

    def _support_blocks(self, X: Any) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Yield row blocks of the kernel matrix between X and the support vectors."""
        vectors = None if self._precomputed else self.support_vectors_
        return self._blocks(X, self.support_, vectors)

    def _blocks(
        self, X: Any, columns: NDArray[Any], vectors: Any
    ) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Yield row blocks of the kernel matrix between X and training rows with their numbers."""
        for batch in row_blocks(X.shape[0], len(columns)):
            if self._precomputed:
                yield batch, X[batch][:, columns]
            else:
                yield batch, compare(self._native_kernel, self.kernel_, X[batch], vectors)

    def _pair_values(self, X: Any) -> NDArray[np.float64]:
        """Return decision values of shape (n_samples, n_pairs)."""
        X = self._check_rows(X)
        coefficients = libsvm.pair_coefficients(self.dual_coef_, self.n_support_)
        values = np.empty((X.shape[0], coefficients.shape[1]))
        for batch, block in self._support_blocks(X):
            values[batch] = block @ coefficients
        values += self.intercept_
        return values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = not self._precomputed
        return tags
