"""Base of the classifiers that minimise objective (1)."""

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from numbers import Integral
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, check_random_state

from kernlearn.calibration import CALIBRATION, CalibratedMixin
from kernlearn.constraints import (
    CLASS_WEIGHT,
    COUNT,
    FRACTION,
    NOT_NEGATIVE,
    POSITIVE,
    StrOptions,
    fit_context,
)
from kernlearn.landmarks.base import PointsEstimator
from kernlearn.model_selection import Indices, candidate_values, split_for_choice
from kernlearn.sample_weights import (
    check_weights,
    combined_weights,
    taken,
    validation_weights,
    weighted_rows,
)
from kernlearn.solvers.labels import encode_labels
from kernlearn.voted.path import Setting, VotedPath, coefficients, decide, support
from kernlearn.voted.problem import Floats, KernelFamily, Solution, VotedProblem
from kernlearn.voted.progress import Progress


class VotedClassifier(CalibratedMixin, ClassifierMixin, PointsEstimator):
    """Base of the classifiers; a subclass defines `_compared_by` and `_complexities`."""

    _dtypes = (np.float64,)

    _parameter_constraints: dict[str, list[Any]] = {
        "beta": [NOT_NEGATIVE, "array-like"],
        "solver": [StrOptions({"column_generation", "lp", "coordinate_descent"})],
        "tol": [POSITIVE],
        "max_iter": [COUNT, None],
        "validation_fraction": [FRACTION],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
        "class_weight": CLASS_WEIGHT,
        "calibration": CALIBRATION,
    }

    beta: Any
    solver: str
    tol: float
    max_iter: int | None
    validation_fraction: float
    random_state: Any
    n_jobs: int | None
    verbose: int
    class_weight: Any
    calibration: str | None

    @property
    def _chosen(self) -> tuple[str, ...]:
        """Names of the parameters to choose from; the values of the last one change fastest."""
        return ("beta",)

    @abstractmethod
    def _complexities(
        self, grams: Floats, family: KernelFamily, weights: Floats | None
    ) -> Sequence[Floats]:
        """Return the r_k, for each value of the first parameter if they depend on it.

        A point of weight w counts as w points.
        """

    def _axis(self, name: str) -> Floats:
        """Return the values of a parameter to choose from, descending."""
        values = candidate_values(getattr(self, name), name, zero=name != "local_radius")
        return values.astype(np.float64)[::-1]

    def _axes(self) -> dict[str, Floats]:
        return {name: self._axis(name) for name in self._chosen}

    @fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
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
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the losses in their mean, and of errors on points held out; not negative.
            A point of weight 0 counts as absent, one of weight w as w points in complexities.

        Returns
        -------
        self : object
            Fitted classifier.

        Raises
        ------
        ValueError
            If the data or parameters are not valid, or y has a single class; if points have to be
            held out and no class has two; if a complexity is not defined for a kernel.
        MemoryError
            If the kernel matrices do not fit into memory.

        Warns
        -----
        ConvergenceWarning
            If a solver stopped before the gap was within ``tol``.
        """
        axes = self._axes()
        X, labels, codes = self._check_labelled(X, y)
        n_choices = prod(len(values) for values in axes.values())
        rng = check_random_state(self.random_state)
        weights = check_weights(sample_weight, X)
        if weights is not None:
            used = np.flatnonzero(weights)
            self.classes_, codes[used], _ = encode_labels(labels[used], None)
        rows, X_val, y_val, weights_val = split_for_choice(
            self, X, labels, X_val, y_val, codes, n_choices, rng, weights
        )
        path = self._walk(X, labels, codes, rows, axes, weights)
        self.validation_scores_ = None
        best = 0
        if y_val is not None:
            used = weighted_rows(weights, len(labels))
            choosing = validation_weights(
                self.class_weight,
                self.classes_,
                labels[used],
                taken(weights, used),
                y_val,
                weights_val,
            )
            errors = path.errors(X_val, y_val, sample_weight=choosing)
            self.validation_scores_ = 1 - errors
            best = path.best(errors)
        self._keep(path, best, rows)
        self._calibrate(X_val, y_val, weights_val)
        return self

    @fit_context(prefer_skip_nested_validation=False)
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

    def decision_function(self, X: Any) -> Floats:
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
        codes: Indices,
        rows: Indices,
        axes: dict[str, Floats],
        weights: Floats | None = None,
    ) -> VotedPath:
        """Solve for all settings on some rows of the data."""
        n_total = X.shape[0]
        weights = taken(weights, rows)
        if len(rows) < n_total:
            X, labels, codes = X[rows], labels[rows], codes[rows]
        kernels = self._compared_by()
        if kernels is None:
            family = KernelFamily(None, None, len(rows), X.shape[1] // n_total, rows, n_total)
        else:
            fitted = tuple(clone(k).fit(X, labels) if k.data_dependent else k for k in kernels)
            family = KernelFamily(fitted, X, len(rows), len(fitted))
        grams = family.grams(X)
        complexities = self._complexities(grams, family, weights)
        settings = [
            Setting(
                {name: float(axes[name][i]) for name, i in zip(axes, place, strict=True)},
                complexities[place[0] if len(complexities) > 1 else 0],
            )
            for place in np.ndindex(*map(len, axes.values()))
        ]
        n_classes = len(self.classes_)
        positives = range(n_classes) if n_classes > 2 else (1,)
        factors = combined_weights(self.class_weight, self.classes_, codes, weights)
        if factors is not None and weights is not None:
            factors = factors / weights.mean()
        problem = VotedProblem(grams, np.ones(len(codes)), settings[0].penalties, weights=factors)
        # Row by row of the grid, every other row backwards: each setting starts from a neighbour.
        order = np.arange(len(settings)).reshape(-1, len(axes["beta"]))
        order[1::2] = order[1::2, ::-1]
        problems = [replace(problem, y=np.where(codes == c, 1.0, -1.0)) for c in positives]
        tasks = [
            (problem, settings, order.ravel(), f"class {self.classes_[c]}")
            for problem, c in zip(problems, positives, strict=True)
        ]
        n_jobs = min(effective_n_jobs(self.n_jobs), len(tasks))
        if n_jobs == 1:
            walks = [self._solve(*task) for task in tasks]
        else:
            walks = Parallel(n_jobs)(delayed(self._solve)(*task) for task in tasks)
            stopped = sum(not solution.converged for walk in walks for solution in walk)
            if stopped:  # the warnings of other processes do not come here
                warnings.warn(
                    f"the solver stopped early in {stopped} of {len(tasks) * len(settings)} "
                    "problems: raise max_iter or tol",
                    ConvergenceWarning,
                    stacklevel=4,
                )
        solutions = [list(row) for row in zip(*walks, strict=True)]
        return VotedPath(axes, settings, solutions, self.classes_, family, self._check_points)

    def _solve(
        self, problem: VotedProblem, settings: Sequence[Setting], order: Indices, name: str
    ) -> list[Solution]:
        """Solve a problem for all settings, in an order."""
        from kernlearn.voted.column_generation import ColumnGeneration, solve_program  # compiled
        from kernlearn.voted.coordinate import descend

        limit: dict[str, Any] = {} if self.max_iter is None else {"max_iter": self.max_iter}
        said = Progress(self.verbose, f"[{type(self).__name__}] {name}")
        generation = ColumnGeneration(problem, tol=self.tol, **limit, progress=said.round)
        solutions: dict[int, Solution] = {}
        last: Solution | None = None
        for done, place in enumerate(order, start=1):
            said.begin(done, len(order), settings[place].params)
            problem = replace(problem, penalties=settings[place].penalties)
            if self.solver == "column_generation":
                last = generation.solve(problem.penalties)
            elif self.solver == "lp":
                last = solve_program(problem, tol=self.tol)
            else:
                last = descend(problem, tol=self.tol, start=last, **limit)
            solutions[place] = last
            said.end(last)
        return [solutions[place] for place in range(len(settings))]

    def _keep(self, path: VotedPath, best: int, rows: Indices) -> None:
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

    def _check_labelled(self, X: Any, y: Any) -> tuple[Any, NDArray[Any], Indices]:
        """Validate training data, set ``classes_`` and return X, labels and class codes."""
        X, y = self._check_training(X, y)
        if self._precomputed and (not X.shape[0] or X.shape[1] % X.shape[0]):
            raise ValueError(
                "'precomputed' needs a square matrix for training, or several side by side: for "
                f"{X.shape[0]} rows a multiple of as many columns, got shape {X.shape}"
            )
        self.classes_, codes, _ = encode_labels(y, None)
        return X, y, codes
