"""What the classifiers that minimise objective (1) have in common."""

from __future__ import annotations

from abc import abstractmethod
from itertools import product
from numbers import Integral, Number, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from kernlearn.kernels import CallableKernel, Kernel
from kernlearn.landmarks.model_selection import hold_out
from kernlearn.solvers.labels import encode_labels
from kernlearn.voted.grams import KernelFamily
from kernlearn.voted.path import Setting, VotedPath, coefficients, decide, support, walk
from kernlearn.voted.problem import VotedProblem


class VotedClassifier(ClassifierMixin, BaseEstimator):
    """Base of the classifiers; a subclass gives `_kernels`, `_axes` and `_complexities`."""

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
    def _kernels(self) -> list[Kernel] | None:
        """Return the kernels, None for "precomputed"."""

    @abstractmethod
    def _axes(self) -> dict[str, NDArray[np.float64]]:
        """Return the values of the parameters to choose from, the last one changing fastest."""

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
        """Train on labelled points, for each choice of parameters, and keep the best.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points. With "precomputed" the matrices of all kernels side by side, of
            shape (n_samples, n_kernels · n_samples); with kernels of strings, sets or other
            objects, or functions of your own, a sequence of these.
        y : array-like of shape (n_samples,)
            Labels of any kind, two classes at least.
        X_val : {array-like, sparse matrix} of shape (n_val, n_features), default=None
            Points that parameters are chosen on. With "precomputed" of shape
            (n_val, n_kernels · n_samples). If None and there is more than one choice, a share
            ``validation_fraction`` of X, stratified, is kept apart for choosing, and the
            classifier is the one trained on the rest; with one choice it is trained on all.
        y_val : array-like of shape (n_val,), default=None
            Their labels; one that y does not hold counts as an error.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            If y has a single class; if only one of X_val and y_val is given or they do not
            match; if points have to be kept apart and no class has two; if matrices are not of
            the right shape; if points, labels, kernel values or parameters are not valid; if a
            complexity is not defined for a kernel.
        MemoryError
            If the kernels' matrices do not fit into memory.

        Warns
        -----
        ConvergenceWarning
            If a solver stopped before the gap was within ``tol``.
        """
        axes = self._axes()
        X, labels, codes = self._check_training(X, y)
        rows = np.arange(len(codes))
        given = X_val is not None or y_val is not None
        if given:
            X_val, y_val = self._check_held_out(X_val, y_val)
        elif np.prod([len(values) for values in axes.values()]) > 1:
            rng = check_random_state(self.random_state)
            rows, apart = hold_out(codes, self.validation_fraction, rng)
            X_val, y_val = X[apart], labels[apart]
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
        """Solve for all choices of the parameters and choose none.

        Whoever chooses by the mean error over folds needs the errors of each setting on each
        fold: this gives a fold's, with every problem solved from its neighbour's solution.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `fit`.
        y : array-like of shape (n_samples,)

        Returns
        -------
        VotedPath

        Raises
        ------
        ValueError
            As for `fit`.
        """
        X, labels, codes = self._check_training(X, y)
        return self._walk(X, labels, codes, np.arange(len(codes)), self._axes())

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return f(x), from the kernels and points with a coefficient only.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With "precomputed" of shape (n_samples, n_kernels · n_training_points), with columns
            for all rows of the X passed to `fit`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One column a class if there are more than two; else positive for ``classes_[1]``.
        """
        check_is_fitted(self)
        values = self._family.sums(self._check_points(X), self.coef_)
        return values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each point; ``classes_[0]`` where f(x) = 0.

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
        """Solve for all settings with some rows of the data."""
        n_total = X.shape[0]
        if len(rows) < n_total:
            X, labels, codes = X[rows], labels[rows], codes[rows]
        kernels = self._kernels()
        if kernels is None:
            family = KernelFamily.given(rows, n_total, X.shape[1] // n_total)
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
        solutions = [list(found) for found in zip(*walks, strict=True)]
        return VotedPath(axes, settings, solutions, self.classes_, family, self._check_points)

    def _keep(self, path: VotedPath, best: int, rows: NDArray[np.intp]) -> None:
        """Set what is fitted, with points numbered as in the data passed to `fit`."""
        setting, found = path.settings[best], path.solutions[best]
        self._family = path.family
        self.kernels_ = None if path.family.kernels is None else list(path.family.kernels)
        self.coef_ = coefficients(found, path.family)
        self.support_ = rows[support(found)]
        self.n_support_ = len(self.support_)
        self.n_support_by_kernel_ = np.array([len(np.unique(c.indices)) for c in self.coef_])
        self.best_params_ = dict(setting.params)
        for name, value in setting.params.items():
            setattr(self, f"{name}_", value)
        self.complexities_ = setting.complexities
        self.penalties_ = setting.penalties
        self.objective_ = np.array([s.objective for s in found])
        self.dual_bound_ = np.array([s.bound for s in found])
        self.n_iter_ = max(s.n_iter for s in found)

    def _check_training(self, X: Any, y: Any) -> tuple[Any, NDArray[Any], NDArray[np.intp]]:
        if self._takes_anything(X):
            X = _as_objects(X)
            # of X only its length is left to check
            _, y = validate_data(self, np.zeros((len(X), 1)), y)
        else:
            X, y = validate_data(self, X, y, **self._how())
        if self._precomputed and (not X.shape[0] or X.shape[1] % X.shape[0]):
            raise ValueError(
                "'precomputed' needs a square matrix for training, or several side by side: for "
                f"{X.shape[0]} rows a multiple of as many columns, got shape {X.shape}"
            )
        self.classes_, codes, _ = encode_labels(y, None)
        return X, y, codes

    def _check_points(self, X: Any) -> Any:
        if self._takes_anything(X):
            return _as_objects(X)
        return validate_data(self, X, reset=False, **self._how())

    def _how(self) -> dict[str, Any]:
        return {"accept_sparse": False if self._precomputed else "csr", "dtype": np.float64}

    def _check_held_out(self, X_val: Any, y_val: Any) -> tuple[Any, NDArray[Any]]:
        if X_val is None or y_val is None:
            raise ValueError("X_val and y_val must be given together, or neither")
        y_val = check_array(y_val, ensure_2d=False, dtype=None, input_name="y_val")
        n = X_val.shape[0] if hasattr(X_val, "shape") else len(X_val)
        if y_val.shape != (n,):
            raise ValueError(
                f"y_val must hold one value for each of the {n} points of X_val, got shape "
                f"{y_val.shape}"
            )
        return X_val, y_val

    def _takes_anything(self, X: Any) -> bool:
        """Whether X is a sequence of strings or objects for kernels that take these."""
        kernels = self._kernels()
        if kernels is None or not all(
            k.structured or isinstance(k, CallableKernel) for k in kernels
        ):
            return False
        if hasattr(X, "shape"):
            return len(X.shape) == 1 and X.dtype.kind in "OUS"
        if not isinstance(X, (list, tuple)) or not X:
            return False
        # for functions of the user's own these are the rows of a matrix
        structured = any(k.structured for k in kernels)
        return structured or not isinstance(X[0], (list, tuple, np.ndarray, Number))

    @property
    def _precomputed(self) -> bool:
        return self._kernels() is None

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._precomputed
        tags.input_tags.sparse = not self._precomputed
        return tags


def descending(given: Any, name: str, *, positive: bool = False) -> NDArray[np.float64]:
    """Return the values of a parameter that is a number or several, from the greatest down.

    Raises
    ------
    ValueError
        If there is none, or one that is not allowed.
    """
    values = np.atleast_1d(given)
    good = values.ndim == 1 and values.size and values.dtype.kind in "fiu"
    if not good or not np.all((values > 0 if positive else values >= 0) & (values < np.inf)):
        what = "> 0" if positive else ">= 0"
        raise ValueError(
            f"'{name}' must be a finite number {what} or a sequence of such, got {given!r}"
        )
    return np.unique(values.astype(np.float64))[::-1]


def _as_objects(X: Any) -> NDArray[Any]:
    """Keep points of any kind in an array that can be indexed."""
    if isinstance(X, np.ndarray):
        return X
    return np.fromiter(X, dtype=object, count=len(X))
