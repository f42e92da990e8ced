"""Kernel support vector classifier, trained by the official LIBSVM."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlearn.memory import row_blocks
from kernlearn.solvers.labels import encode_labels
from kernlearn.solvers.libsvm import (
    Settings,
    SupportVectors,
    as_scaled_gaussian,
    resolve_kernel,
    train,
)
from kernlearn.solvers.nodes import feature_rows
from kernlearn.solvers.svm_prediction import (
    class_scores,
    count_votes,
    gram_rows,
    kernel_block,
    pair_coefficients,
    predict_as_gaussian,
    predict_built_in,
    predict_from_values,
)


class KernelSVM(ClassifierMixin, BaseEstimator):
    """Support vector classifier with a kernel, trained by LIBSVM [1]_.

    Multi-class problems are solved one against one. A kernel that LIBSVM has itself is
    evaluated by LIBSVM while it trains; the matrix of any other is computed beforehand, for
    16 bytes a value.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "precomputed"}, kernel object or callable, \
            default="rbf"
        A name; a kernel object (see `kernlearn.kernels`), of which a clone is fitted on X;
        a function (X, Y) -> array of shape (len(X), len(Y)); or "precomputed" if X holds
        kernel values. `kernlearn.kernels.PolynomialKernel` and
        `~kernlearn.kernels.HomogeneousPolynomialKernel` are given to LIBSVM as its own
        polynomial with gamma 1.
    C : float, default=1.0
        Weight of the losses against the norm.
    degree : int, default=3
        Degree of "poly".
    gamma : "scale" or float, default="scale"
        Factor of "poly", "rbf" and "sigmoid"; "scale" is 1 / (n_features · X.var()).
    coef0 : float, default=0.0
        Constant of "poly" and "sigmoid".
    tol : float, default=0.001
        Largest violation of the optimality conditions at which to stop.
    shrinking : bool, default=True
        Whether LIBSVM sets rows aside that seem to be settled.
    cache_size : float, default=200
        Kernel rows that LIBSVM keeps, in units of 2²⁰ bytes.
    class_weight : dict, "balanced" or None, default=None
        Factor on C for each class.
    decision_function_shape : {"ovr", "ovo"}, default="ovr"
        Whether `decision_function` gives one column a class or one a pair of classes. No
        matter for two classes.
    memory_limit : int, default=None
        Most bytes that a precomputed matrix and the cache may take; None means the memory
        that is available when `fit` is called.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
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
        Names of the features, if X had any.

    See Also
    --------
    LinearSVM : Much faster without a kernel, or on explicit features of one.

    Notes
    -----
    `predict` evaluates blocks of the kernel matrix by BLAS. `predict_native` is LIBSVM's own
    prediction, row by row, the one that is timed in [2]_, chapter 3. Both give the same
    labels, up to rounding at a decision value of 0. LIBSVM evaluates kernels on all OpenMP
    threads; ``threadpoolctl.threadpool_limits(1)`` holds it to one.

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

    _parameter_constraints: dict[str, list[Any]] = {
        "kernel": [StrOptions({"linear", "poly", "rbf", "sigmoid", "precomputed"}), callable],
        "C": [Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "gamma": [StrOptions({"scale"}), Interval(Real, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "shrinking": ["boolean"],
        "cache_size": [Interval(Real, 0, None, closed="neither")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "decision_function_shape": [StrOptions({"ovr", "ovo"})],
        "memory_limit": [None, Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        kernel: str | Callable[..., Any] = "rbf",
        *,
        C: float = 1.0,
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        shrinking: bool = True,
        cache_size: float = 200,
        class_weight: Any = None,
        decision_function_shape: str = "ovr",
        memory_limit: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.decision_function_shape = decision_function_shape
        self.memory_limit = memory_limit

    # A kernel object has parameters of its own to validate.
    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Train on labelled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; for "precomputed" their kernel matrix, (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Their labels, numbers or strings.

        Returns
        -------
        KernelSVM
            The estimator itself.

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
            If LIBSVM stopped at its limit of iterations.
        """
        accept_sparse = False if self._is_given() else "csr"
        X, y = validate_data(self, X, y, accept_sparse=accept_sparse, dtype=np.float64)
        if self._is_given():
            _check_square(X)
        self.classes_, codes, class_weight = encode_labels(y, self.class_weight)
        self._native_kernel, self.kernel_ = resolve_kernel(
            self.kernel, self.degree, self.gamma, self.coef0, X
        )
        settings = Settings(
            C=self.C,
            tol=self.tol,
            cache_size=self.cache_size,
            shrinking=self.shrinking,
            class_weight=class_weight,
        )
        if self._native_kernel.name == "precomputed":
            kernel = None if self._is_given() else self.kernel_
            rows = gram_rows(X, kernel, self.cache_size, self.memory_limit)
        else:
            rows = feature_rows(X)
        self._keep(train(rows, codes, self._native_kernel, settings), X)
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Decision values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; for "precomputed" their kernel values with the training rows,
            (n_samples, n_training_samples).

        Returns
        -------
        ndarray of shape (n_samples,), (n_samples, n_classes) or (n_samples, n_pairs)
            For two classes, positive where the second one of `classes_` is predicted. Else
            with "ovo" one column a pair (0, 1), (0, 2), ..., (1, 2), ..., positive for the
            first of the pair; with "ovr" one a class: the pairs that it won, plus the sum of
            its pairs' decision values brought into (-1/3, 1/3).
        """
        values = self._pair_values(X)
        if values.shape[1] == 1:
            return values.ravel()
        if self.decision_function_shape == "ovo":
            return values
        return class_scores(values, len(self.classes_))

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Labels, by blocks of the kernel matrix between X and the support vectors.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; for "precomputed" their kernel values with the training rows,
            (n_samples, n_training_samples).

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels out of `classes_`. With more than two, the class that wins most pairs, the
            first one of equals.
        """
        values = self._pair_values(X)
        if values.shape[1] == 1:
            return self.classes_[(values[:, 0] >= 0).astype(int)]
        return self.classes_[count_votes(values, len(self.classes_)).argmax(axis=1)]

    def predict_native(self, X: ArrayLike) -> NDArray[Any]:
        """Labels by LIBSVM's own prediction, called row by row.

        LIBSVM evaluates its own kernels, and `kernlearn.kernels.ExponentialKernel` as its
        Gaussian times factors of the norms. Of any other kernel it is given the values.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels out of `classes_`.
        """
        X = self._check_rows(X)
        sign = self._sign()
        support = SupportVectors(
            indices=self.support_,
            n_by_class=self.n_support_,
            coefficients=sign * self.dual_coef_,
            rho=-sign * self.intercept_,
        )
        return self.classes_[self._native_codes(X, support)]

    def _native_codes(self, X: Any, support: SupportVectors) -> NDArray[np.intp]:
        if self._native_kernel.name != "precomputed":
            return predict_built_in(self._native_kernel, self.support_vectors_, support, X)
        if not self._is_given():
            gaussian = as_scaled_gaussian(self.kernel_, X, self.support_vectors_)
            if gaussian is not None:
                return predict_as_gaussian(gaussian, self.support_vectors_, support, X)
        return predict_from_values((block for _, block in self._support_blocks(X)), support)

    def _check_rows(self, X: Any) -> Any:
        """Rows to predict, checked."""
        check_is_fitted(self)
        accept_sparse = False if self._is_given() else "csr"
        return validate_data(self, X, accept_sparse=accept_sparse, dtype=np.float64, reset=False)

    def _is_given(self) -> bool:
        """Tell whether X holds kernel values instead of features."""
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _keep(self, found: SupportVectors, X: Any) -> None:
        self.support_ = found.indices
        self.n_support_ = found.n_by_class
        sign = self._sign()
        self.dual_coef_ = sign * found.coefficients
        self.intercept_ = -sign * found.rho
        if not self._is_given():
            self.support_vectors_ = X[self.support_]
        elif hasattr(self, "support_vectors_"):
            del self.support_vectors_  # of an earlier fit with another kernel

    def _sign(self) -> int:
        """Sign of our decision values to LIBSVM's; scikit-learn turns it round for two classes."""
        return -1 if len(self.classes_) == 2 else 1

    def _support_blocks(self, X: Any) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Row blocks of the kernel matrix between X and the support vectors."""
        for batch in row_blocks(X.shape[0], len(self.support_)):
            if self._is_given():
                block = X[batch][:, self.support_]
            elif self._native_kernel.name == "precomputed":
                block = kernel_block(self.kernel_, X[batch], self.support_vectors_)
            else:
                block = self._native_kernel(X[batch], self.support_vectors_)
            yield batch, block

    def _pair_values(self, X: Any) -> NDArray[np.float64]:
        """Decision values of shape (n_samples, n_pairs)."""
        X = self._check_rows(X)
        coefficients = pair_coefficients(self.dual_coef_, self.n_support_)
        values = np.empty((X.shape[0], coefficients.shape[1]))
        for batch, block in self._support_blocks(X):
            values[batch] = block @ coefficients
        values += self.intercept_
        return values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._is_given()
        tags.input_tags.sparse = not self._is_given()
        return tags


def _check_square(X: Any) -> None:
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"X must be a square matrix for kernel='precomputed', but has shape {X.shape}"
        )
