"""Base of the classifiers that minimise objective (1)."""

from __future__ import annotations

from abc import abstractmethod
from itertools import product
from math import prod
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from kernlearn.landmarks.similarity import PointsEstimator
from kernlearn.model_selection import candidate_values, split_for_choice
from kernlearn.solvers.labels import encode_labels
from kernlearn.voted.grams import KernelFamily
from kernlearn.voted.path import Setting, VotedPath, coefficients, decide, support, walk
from kernlearn.voted.problem import VotedProblem


class VotedClassifier(ClassifierMixin, PointsEstimator):
    """Base of the classifiers; a subclass defines `_compared_by`, `_axes`, `_complexities`."""

    _dtypes = (np.float64,)

    _parameter_constraints: dict[str, list[Any]] = {
        "beta": [Interval(Real, 0, None, closed="left"), "array-like"],
        "solver": [StrOptions({"column_generation", "lp", "coordinate_descent"})],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left"), None],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "random_state": ["random_state"],
    }

    beta: Any
    solver: str
    tol: float
    max_iter: int | None
    validation_fraction: float
    random_state: Any

    @abstractmethod
    def _axes(self) -> dict[str, NDArray[np.float64]]:
        """Return the values of each parameter to choose from; the last one changes fastest."""

    @abstractmethod
    def _complexities(
        self,
        grams: NDArray[np.float64],
        family: KernelFamily,
        n_features: int,
        rng: np.random.RandomState,
    ) -> list[NDArray[np.float64]]:
        """Return the r_k, for each value of the first parameter if they depend on it."""

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: ArrayLike, X_val: Any = None, y_val: ArrayLike | None = None) -> Self:
        """Fit the model for all values of the parameters, and choose the best.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points. With "precomputed" the matrices of all kernels side by side, of
            shape (n_samples, n_kernels · n_samples); with kernels of strings, sets or other
            objects, or user-defined functions, a sequence of these.
        y : array-like of shape (n_samples,)
            Labels of at least two classes.
        X_val : {array-like, sparse matrix} of shape (n_val, n_features), default=None
            Validation points for the choice of parameters; with "precomputed" of shape
            (n_val, n_kernels · n_samples). If None and there are several values, a stratified
            share ``validation_fraction`` of X is held out and the classifier is trained on the
            rest; with single values it is trained on all points.
        y_val : array-like of shape (n_val,), default=None
            Labels of X_val; one that does not occur in y counts as an error.

        Returns
        -------
        self : object
            Fitted classifier.

        Raises
        ------
        ValueError
            If y has a single class; if only one of X_val and y_val is passed or they do not
            match; if points have to be held out and no class has two; if the shape of a matrix,
            or points, labels, kernel values or parameters are not valid; if a complexity is not
            defined for a kernel.
        MemoryError
            If the kernel matrices do not fit into memory.

        Warns
        -----
        ConvergenceWarning
            If a solver stopped before the gap was within ``tol``.
        """
        axes = self._axes()
        X, labels, codes = self._check_labelled(X, y)
        rows, X_val, y_val = split_for_choice(
            X, labels, X_val, y_val, codes=codes,
            n_choices=prod(len(values) for values in axes.values()),
            fraction=self.validation_fraction, rng=check_random_state(self.random_state),
            check_points=self._check_points,
        )  # fmt: skip
        path = self._walk(X, labels, codes, rows, axes)
        self.validation_scores_ = None
        best = 0
        if y_val is not None:
            errors = path.errors(X_val, y_val)
            self.validation_scores_ = 1 - errors
            best = path.best(errors)
        self._keep(path, best, rows)
        return self

    @_fit_context(prefer_skip_nested_validation=False)
    def path(self, X: Any, y: ArrayLike) -> VotedPath:
        """Solve for all values of the parameters, for instance on one fold of several.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `fit`.
        y : array-like of shape (n_samples,)

        Returns
        -------
        VotedPath
            Solutions for all settings, each computed from that of its neighbour.
        """
        X, labels, codes = self._check_labelled(X, y)
        return self._walk(X, labels, codes, np.arange(len(codes)), self._axes())

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return f(x), evaluating only kernels and points with a coefficient.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With "precomputed" of shape (n_samples, n_kernels · n_training_points), with columns
            for all rows of the X passed to `fit`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One column per class if there are more than two; otherwise positive for
            ``classes_[1]``.
        """
        check_is_fitted(self)
        values = self._family.sums(self._check_points(X), self.coef_)
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each point; ``classes_[0]`` where f(x) = 0.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `decision_function`.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        values = self.decision_function(X)
        return self.classes_[decide(values[:, None] if values.ndim == 1 else values)]

    def _walk(
        self,
        X: Any,
        labels: NDArray[Any],
        codes: NDArray[np.intp],
        rows: NDArray[np.intp],
        axes: dict[str, NDArray[np.float64]],
    ) -> VotedPath:
        """Solve for all settings on some rows of the data."""
        n_total = X.shape[0]
        if len(rows) < n_total:
            X, labels, codes = X[rows], labels[rows], codes[rows]
        kernels = self._compared_by()
        if kernels is None:
            family = KernelFamily.precomputed(rows, n_total, X.shape[1] // n_total)
        else:
            family = KernelFamily.fitted(kernels, X, labels)
        grams = family.grams(X)
        n_features = X.shape[1] if len(X.shape) == 2 else 0
        rng = check_random_state(self.random_state)
        complexities = self._complexities(grams, family, n_features, rng)
        places = [range(len(values)) for values in axes.values()]
        settings = [
            Setting(
                {name: float(axes[name][i]) for name, i in zip(axes, place, strict=True)},
                complexities[place[0] if len(complexities) > 1 else 0],
            )
            for place in product(*places)
        ]
        n_classes = len(self.classes_)
        positives = range(n_classes) if n_classes > 2 else (1,)
        problem = VotedProblem(grams, np.ones(len(codes)), settings[0].penalties)
        walks = [
            walk(
                problem.labelled(np.where(codes == code, 1.0, -1.0)), settings, places[-1].stop,
                solver=self.solver, tol=self.tol, max_iter=self.max_iter,
            )
            for code in positives
        ]  # fmt: skip
        solutions = [list(row) for row in zip(*walks, strict=True)]
        return VotedPath(axes, settings, solutions, self.classes_, family, self._check_points)

    def _keep(self, path: VotedPath, best: int, rows: NDArray[np.intp]) -> None:
        """Set the fitted attributes, with indices of points in the X passed to `fit`."""
        setting, solutions = path.settings[best], path.solutions[best]
        self._family = path.family
        self.kernels_ = None if path.family.kernels is None else list(path.family.kernels)
        self.coef_ = coefficients(solutions, path.family)
        self.support_ = rows[support(solutions)]
        self.n_support_ = len(self.support_)
        self.n_support_by_kernel_ = np.array([len(np.unique(c.indices)) for c in self.coef_])
        self.best_params_ = dict(setting.params)
        for name, value in setting.params.items():
            setattr(self, f"{name}_", value)
        self.complexities_ = setting.complexities
        self.penalties_ = setting.penalties
        self.objective_ = np.array([s.objective for s in solutions])
        self.dual_bound_ = np.array([s.bound for s in solutions])
        self.n_iter_ = max(s.n_iter for s in solutions)

    def _check_labelled(self, X: Any, y: Any) -> tuple[Any, NDArray[Any], NDArray[np.intp]]:
        """Validate training data, set ``classes_`` and return X, labels and class codes."""
        X, y = self._check_training(X, y)
        if self._precomputed and (not X.shape[0] or X.shape[1] % X.shape[0]):
            raise ValueError(
                "'precomputed' needs a square matrix for training, or several side by side: for "
                f"{X.shape[0]} rows a multiple of as many columns, got shape {X.shape}"
            )
        self.classes_, codes, _ = encode_labels(y, None)
        return X, y, codes


def descending(values: Any, name: str, *, zero: bool = True) -> NDArray[np.float64]:
    """Return the values of a parameter to choose from, see `candidate_values`, descending."""
    return candidate_values(values, name, zero=zero).astype(np.float64)[::-1]
