"""Voted kernel regularization, its complexities, and the norm-1 support vector machine.

Sections, lemmas and theorems are those of Cortes, Goyal, Kuznetsov & Mohri (2015). Complexities
are those of the families ±K(·, x').
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from itertools import groupby, product, repeat
from math import comb, pi, prod, sqrt
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_array, check_is_fitted, check_random_state

from kernlearn import choice, validation
from kernlearn.checks import check_count, check_nonnegative
from kernlearn.kernels import BaseDotProductKernel, Kernel, PolynomialKernel, as_kernel
from kernlearn.kernels.base import check_points, check_training, check_values, compared
from kernlearn.kernels.functions import kernels_of
from kernlearn.memory import require_memory, row_blocks
from kernlearn.validation import Floats, Indices

if TYPE_CHECKING:
    from kernlearn.voted.simplex import SparseSolution


#: The values of parameters to choose from, by name.
Axes: TypeAlias = dict[str, list[float]]

_FLOATS = (np.float64,)  # the type of points
_COMPLEXITIES = {"trace", "dimension", "local", "monte_carlo"}
# Relative size of negative eigenvalues that are due to rounding.
_NEGATIVE = 1e-8


@dataclass(frozen=True)
class GramColumns:
    """A matrix of several side by side, as a kernel whose points are its columns."""

    first: int

    def __call__(self, X: Any, columns: Indices) -> Floats:
        return np.asarray(X[:, self.first + columns], dtype=np.float64)


@dataclass(frozen=True)
class KernelFamily:
    """Fitted kernels and their training points."""

    kernels: tuple[Any, ...]
    points: Any

    def grams(self, X: Any) -> Floats:
        """Return all kernel matrices, of shape (n_kernels, n_samples, n_points).

        Polynomials with the same constant are computed from each other, in order of degree.
        """
        n_kernels, n_points = len(self.kernels), self.points.shape[0]
        require_memory(
            3 * 8 * n_kernels * X.shape[0] * n_points // 2,
            purpose=f"the matrices of {n_kernels} kernels on {n_points} points",
            advice="use fewer points or kernels",
        )
        grams = np.empty((n_kernels, X.shape[0], n_points))
        polynomials = []
        for place, kernel in enumerate(self.kernels):
            if type(kernel) is PolynomialKernel:  # a subclass may compute something else
                polynomials.append((kernel.coef0, kernel.degree, place))
            else:
                grams[place] = compared(kernel, X, self.points)
        for coef0, group in groupby(sorted(polynomials), itemgetter(0)):
            base = safe_sparse_dot(X, self.points.T, dense_output=True) + float(coef0)
            power, reached = np.ones_like(base), 0
            for _, degree, place in group:
                for _ in range(degree - reached):
                    power *= base
                check_values(power, X, self.points)
                grams[place], reached = power, degree
        return grams

    def sums(self, X: Any, coef: Sequence[Any]) -> Floats:
        """Return Σ_k K_k(X, points) @ coef[k].T, of shape (n_samples, n_outputs).

        `coef` has one sparse array of shape (n_outputs, n_points) per kernel; only kernels and
        points with a coefficient are evaluated.
        """
        used = [(k, np.unique(c.indices)) for k, c in enumerate(coef) if c.nnz]
        total = np.zeros((X.shape[0], coef[0].shape[0]))
        widest = max((len(points) for _, points in used), default=1)
        for rows in row_blocks(X.shape[0], widest):
            for k, points in used:
                values = compared(self.kernels[k], X[rows], self.points[points])
                total[rows] += values @ coef[k][:, points].toarray().T
        return total


class Setting(NamedTuple):
    """The solutions for one value of each parameter: one per one-vs-all problem."""

    params: dict[str, float]
    complexities: Floats
    penalties: Floats
    solutions: "tuple[SparseSolution, ...]"

    @property
    def support(self) -> Indices:
        """The points with a coefficient."""
        return np.unique(np.concatenate([solution.points for solution in self.solutions]))


@dataclass(frozen=True)
class Settings:
    """The solutions of a grid, row by row with descending values, on some rows of the data."""

    cells: list[Setting]
    family: KernelFamily
    rows: Indices

    def decisions(self, X: Any) -> list[Floats]:
        """Return what `decision_function` does of X for each setting; kernels are shared."""
        solutions = [solution for cell in self.cells for solution in cell.solutions]
        sums = self.family.sums(X, _coefficients(solutions, self.family))
        return [*map(validation.single_column, np.split(sums, len(self.cells), axis=1))]


@dataclass(eq=False, repr=False)
class VotedClassifier(validation.PredictsByScores, ClassifierMixin, BaseEstimator, ABC):
    """Base of the classifiers that minimise objective (1)."""

    _: KW_ONLY
    beta: Any = 1e-3
    tol: float = 1e-3
    max_iter: int = 1000
    validation_fraction: Any = 0.2
    refit: bool = True
    scoring: Any = None
    random_state: Any = None
    class_weight: Any = None

    #: Parameters of which :meth:`path` takes several values.
    path_parameters: ClassVar[tuple[str, ...]] = ("beta",)

    _several_kernels: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **validation.PARAMETERS,
        "beta": [validation.NOT_NEGATIVE, "array-like"],
    }

    @abstractmethod
    def _compared_by(self) -> list[Kernel] | None:
        """Return the kernels; None for precomputed matrices."""

    def _choices(self) -> tuple[str, ...]:
        """Return the names of the parameters of a path that matter."""
        return self.path_parameters

    def _axes(self, names: Iterable[str]) -> Axes:
        """Return the values of parameters to choose from, descending."""
        return {name: _descending(getattr(self, name), name) for name in names}

    def _complexities(
        self, grams: Floats, family: KernelFamily, weights: Floats, axes: Axes
    ) -> Floats:
        """Return the r_k in rows, one for each value of the first axis if they depend on it.

        A point of weight w counts as w points.
        """
        return np.zeros((1, len(grams)))

    @validation.fit_context(prefer_skip_nested_validation=False)
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
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
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the losses in their mean, and of errors on points held out; not negative.
            A point of weight 0 counts as absent, one of weight w as w points in complexities.
        X_val : {array-like, sparse matrix} of shape (n_val, n_features), default=None
            Validation points for the choice of parameters; with "precomputed" of shape (n_val,
            n_kernels · n_samples). If None and there are several values, a stratified share
            ``validation_fraction`` of X is held out, and with `refit` the chosen classifier is
            trained again on all of X.
        y_val : array-like of shape (n_val,), default=None
            Labels of X_val; one that does not occur in y counts as an error.

        Returns
        -------
        self : object
            Fitted classifier.

        Raises
        ------
        ValueError
            If the data or parameters are not valid, or y has a single class. Also if points have
            to be held out and no class has two, or a complexity is not defined for a kernel.
        MemoryError
            If the kernel matrices do not fit into memory.

        Warns
        -----
        ConvergenceWarning
            If a solver stopped before the gap was within ``tol``.
        """
        axes, rng = self._axes(self._choices()), check_random_state(self.random_state)
        X, y, codes, weights, factors = data = self._check_labelled(X, y, sample_weight)
        shape = tuple(map(len, axes.values()))
        rows, X_val, y_val, weights_val, held_out = choice.split_for_choice(
            self, X, y, X_val, y_val, codes, prod(shape), rng, weights
        )
        settings, best = self._solve(axes, data, rows), 0
        self.validation_scores_ = None
        if y_val is not None:
            codes = validation.known_codes(self.classes_, y_val)
            weights = np.where(codes < 0, 1.0, factors[codes])
            if weights_val is not None:
                weights = weights * weights_val
            values = settings.decisions(X_val)
            if self.scoring is None:
                right = [validation.predicted_codes(each) == codes for each in values]
                scores: Floats = np.average(right, axis=1, weights=weights)
            else:
                scores = choice.scores(self.scoring, repeat(self), values, X_val, y_val, weights)
            sizes = np.array([len(cell.support) for cell in settings.cells])
            # rounded to ignore rounding errors
            best = choice.first_best(-scores.round(12), sizes)
            self.validation_scores_ = scores.reshape(shape)
        if self.refit and held_out is not None:
            chosen = {name: [value] for name, value in settings.cells[best].params.items()}
            rows = np.sort(np.concatenate([rows, held_out]))
            settings, best = self._solve(chosen, data, rows), 0
        return self._settle(settings, best)

    @validation.fit_context(prefer_skip_nested_validation=False)
    def path(
        self, X: Any, y: ArrayLike, grid: Mapping[str, Sequence[float]]
    ) -> Iterator[choice.Fits]:
        """Fit for all combinations of values, each problem from the solution of another.

        Objectives are those of single fits within ``tol``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `fit`.
        y : array-like of shape (n_samples,)
        grid : mapping of str to sequence of float
            Values of some of the `path_parameters`.

        Yields
        ------
        Fits
            One with all models, in descending order of values. Its outputs are those of "predict"
            and "decision_function".
        """
        model = clone(self).set_params(**grid)
        data = model._check_labelled(X, y)
        axes = model._axes(self.path_parameters)
        settings = model._solve(axes, data, np.arange(len(data[1])))
        models = []
        for place, cell in enumerate(settings.cells):
            models.append(copy(model).set_params(**cell.params)._settle(settings, place))
            models[place].validation_scores_ = None

        def decisions(X: Any) -> list[Floats]:
            return settings.decisions(model._check_points(X))

        params = [{name: cell.params[name] for name in grid} for cell in settings.cells]
        converged = [all(each.converged for each in cell.solutions) for cell in settings.cells]
        yield choice.Fits(params, models, converged, decisions)

    def _settle(self, settings: Settings, place: int) -> Self:
        """Set the attributes of the solution for one setting."""
        cell = settings.cells[place]
        params, complexities, penalties, solutions = cell
        self._family, self.grid_ = settings.family, self._axes(self._choices())
        self.coef_ = _coefficients(solutions, settings.family)
        self.support_ = settings.rows[cell.support]
        self.n_support_ = len(self.support_)
        self.best_params_ = {name: params[name] for name in self._choices()}
        self.complexities_, self.penalties_ = complexities, penalties
        self.objective_ = np.array([solution.objective for solution in solutions])
        self.dual_bound_ = np.array([solution.bound for solution in solutions])
        self.n_iter_ = max(solution.n_iter for solution in solutions)
        return self

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
        return validation.single_column(self._family.sums(self._check_points(X), self.coef_))

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags, precomputed = super().__sklearn_tags__(), self._compared_by() is None
        tags.input_tags.pairwise, tags.input_tags.sparse = precomputed, not precomputed
        return tags

    def _check_points(self, X: Any) -> Any:
        return check_points(self, X, self._kernels, _FLOATS)

    def _check_labelled(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[Any, ...]:
        """Set ``classes_``; return points, labels, codes, and weights of points and classes."""
        kernels = self._kernels = self._compared_by()
        X, y = check_training(self, X, y, kernels, several=self._several_kernels, dtypes=_FLOATS)
        weights = validation.check_weights(sample_weight, X)
        weights = np.ones(len(y)) if weights is None else weights
        self.classes_, codes, by_class = validation.encode_labels(y, self.class_weight, weights)
        return X, y, codes, weights, by_class

    def _solve(self, axes: Axes, data: tuple[Any, ...], rows: Indices) -> Settings:
        """Solve for all settings on some rows of the data."""
        from kernlearn.voted.simplex import ColumnGeneration, VotedProblem  # compiled

        X, y, codes, weights, class_weights = data
        n_total = len(y)
        kernels: Any = self._compared_by()
        if len(rows) < n_total or kernels is not None:  # copied: predictions compare with them
            X, y, codes, weights = X[rows], y[rows], codes[rows], weights[rows]
        if kernels is None:
            firsts = range(0, X.shape[1], n_total)
            family = KernelFamily(tuple(GramColumns(first) for first in firsts), rows)
        else:
            family = KernelFamily(tuple(kernel.fitted_to(X, y) for kernel in kernels), X)
        grams = family.grams(X)
        complexities = self._complexities(grams, family, weights, axes)
        params = [dict(zip(axes, point, strict=True)) for point in product(*axes.values())]
        # they depend on the first axis alone, if on any
        each_r = np.repeat(complexities, len(params) // len(complexities), axis=0)
        penalties = [
            # 0 times an infinite complexity is 0
            (lam * r if (lam := values.get("lam")) else np.zeros(len(grams))) + values["beta"]
            for values, r in zip(params, each_r, strict=True)
        ]
        losses = weights * class_weights[codes] / weights.mean()
        problem = VotedProblem(grams, np.ones(len(y)), penalties[0], losses)
        by_problem = []
        for signs in validation.one_against_all(codes, len(self.classes_)):
            problem = replace(problem, y=signs)
            generation = ColumnGeneration(problem, tol=self.tol, max_iter=self.max_iter)
            by_problem.append([generation.solve(each) for each in penalties])
        by_cell = zip(*by_problem, strict=True)
        return Settings([*map(Setting, params, each_r, penalties, by_cell)], family, rows)


@dataclass(eq=False, repr=False)
class VotedKernelClassifier(VotedClassifier):
    r"""Classifier of many kernels and few support points, by voted kernel regularization (VKR).

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
        Kernels, names of kernels or functions (X, Y) -> matrix; or "precomputed" if X consists of
        the matrices of all kernels side by side. None takes the polynomials :math:`(\langle x, y
        \rangle + 1)^k` of degrees 1 to 10, as in table 1. Scale points to a norm of about 1 for
        these; otherwise their values differ so much that the problem is hard.
    lam : float or sequence of float, default=1e-2
        The weight λ of the complexities; of several values the best on validation points is
        chosen. With 0, complexities are not computed.
    beta : float or sequence of float, default=1e-3
        The penalty β of all kernels, or several values. If λ and β are 0, only the loss is
        minimised; its minimum may not be unique.
    complexity : {"trace", "dimension", "local", "monte_carlo"} or array-like of shape \
            (n_kernels,), default="trace"
        The :math:`r_k`. "trace" is lemma 3, VKRc in table 1. "dimension" is :math:`κ_k^2
        \sqrt{d_k}` of lemma 4, VKR2 in table 1, only for dot-product kernels. "local" is the bound
        of section 5.3 from the eigenvalues, which gives objective (2). "monte_carlo" is an
        estimate for any kernel from 100 draws of signs. An infinite value in an array excludes a
        kernel unless λ = 0. Suprema :math:`κ_k` are maxima over the training points.
    local_radius : float or sequence of float, default=1.0
        The radius s of "local"; of several values the best on validation points is chosen.
    tol : float, default=1e-3
        Largest gap to the dual bound, relative to the objective. The tables of the
        paper are computed with 1e-6.
    max_iter : int, default=1000
        Maximum number of rounds of column generation per problem, after which it stops with a
        ConvergenceWarning.
    validation_fraction : float or array of int, default=0.2
        Share of the training points, or the indices of those, held out for choosing, see `fit`.
    scoring : str, callable or None, default=None
        A scorer of scikit-learn, which the choice goes by; None for the accuracy.
    refit : bool, default=True
        Whether the classifier is trained again on all points with the values chosen on held-out
        ones. `objective_`, `support_` and others are those of the second training.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points and the signs of "monte_carlo".
    class_weight : dict, "balanced" or None, default=None
        Factors on the losses of the points of each class, and on the validation points in the
        choice of parameters.

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
    complexities_ : ndarray of shape (n_kernels,)
        The :math:`r_k`; zeros where λ is 0.
    penalties_ : ndarray of shape (n_kernels,)
        The :math:`Λ_k = λ r_k + β`.
    best_params_ : dict
        The chosen `lam` and `beta`, and `local_radius` if it matters.
    grid_ : dict
        The values to choose from, by parameter, as the axes of `validation_scores_`.
    validation_scores_ : ndarray of shape (n_lam, n_beta), or None
        Accuracies on the validation points, λ and β descending; with "local" of shape
        (n_radii, n_lam, n_beta). Ties go to fewer support points, then to larger penalties.
    objective_, dual_bound_ : ndarray of shape (n_problems,)
        The objective, and a lower bound of its minimum.
    n_iter_ : int
        Number of rounds of column generation.
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
    complexity: Any = "trace"
    local_radius: Any = 1.0

    path_parameters = ("local_radius", "lam", "beta")

    _parameter_constraints = {
        **VotedClassifier._parameter_constraints,
        "kernels": ["array-like", validation.StrOptions({"precomputed"}), None],
        "lam": [validation.NOT_NEGATIVE, "array-like"],
        "complexity": [validation.StrOptions(_COMPLEXITIES), "array-like"],
        "local_radius": [validation.POSITIVE, "array-like"],
    }

    def _compared_by(self) -> list[Kernel] | None:
        if self.kernels is None:
            return [PolynomialKernel(degree=k) for k in range(1, 11)]
        if isinstance(self.kernels, str):
            return None
        if not len(self.kernels):
            raise ValueError("'kernels' must hold at least one kernel")
        return list(map(partial(as_kernel, name="kernels"), self.kernels))

    def _choices(self) -> tuple[str, ...]:
        is_local = isinstance(self.complexity, str) and self.complexity == "local"
        return self.path_parameters if is_local else self.path_parameters[1:]

    def _complexities(
        self, grams: Floats, family: KernelFamily, weights: Floats, axes: Axes
    ) -> Floats:
        name = self.complexity
        if not isinstance(name, str):
            r = np.asarray(name)
            if r.shape != (len(grams),) or r.dtype.kind not in "fiu" or not np.all(r >= 0):
                raise ValueError(
                    f"'complexity' must hold one number >= 0 for each of the {len(grams)} kernels "
                    f"(infinity is one), or be a name, got {name!r}"
                )
            return r.astype(np.float64)[np.newaxis]
        if not np.any(self.lam):
            return super()._complexities(grams, family, weights, axes)
        if name in ("local", "monte_carlo") and np.ptp(weights):
            raise ValueError(f"complexity={name!r} takes no sample_weight")
        # The same signs for all kernels, whose order then does not matter.
        rng = check_random_state(self.random_state)
        seed = rng.randint(2**31 - 1) if name == "monte_carlo" else None
        values: list[Any] = []
        for k, (kernel, gram) in enumerate(zip(family.kernels, grams, strict=True)):
            try:
                if name == "trace":
                    values.append(trace_complexity(gram, sample_weight=weights))
                elif name == "dimension":
                    dimension = feature_dimension(kernel, family.points.shape[-1])
                    kappa = float(np.sqrt(np.diag(gram).max()))
                    values.append(dimension_complexity(kappa, dimension))
                elif name == "local":
                    values.append(local_complexity(gram, axes["local_radius"]))
                else:
                    values.append(monte_carlo_complexity(gram, random_state=seed))
            except ValueError as error:
                raise ValueError(f"complexity of kernel {k}: {error}") from error
        return np.atleast_2d(np.array(values).T)


@dataclass(eq=False, repr=False)
class L1SVMClassifier(VotedClassifier):
    r"""Kernel classifier of few support points: hinge loss, 1-norm of the coefficients (L1-SVM).

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
    tol, max_iter, validation_fraction, scoring, refit, random_state, class_weight
        As for `VotedKernelClassifier`.

    Attributes
    ----------
    coef_ : list of one csr_array of shape (n_problems, n_training_points)
        The coefficients.
    best_params_ : dict
        The chosen `beta`.
    grid_ : dict
        The values to choose from, by parameter, as the axes of `validation_scores_`.
    validation_scores_ : ndarray of shape (n_beta,), or None
        Accuracies on the validation points, β descending.
    classes_, support_, n_support_, objective_, dual_bound_, n_iter_, n_features_in_
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

    _several_kernels = False
    _parameter_constraints = {
        **VotedClassifier._parameter_constraints,
        "kernel": [str, Kernel, callable],
    }

    def _compared_by(self) -> list[Kernel] | None:
        return kernels_of(self.kernel)


def _descending(values: Any, name: str) -> list[float]:
    """Return the values of a parameter to choose from."""
    ascending = validation.candidate_values(values, name, zero=name != "local_radius")
    return ascending.astype(np.float64)[::-1].tolist()


def _coefficients(solutions: "Sequence[SparseSolution]", family: KernelFamily) -> list[Any]:
    """Return a sparse array of shape (n_solutions, n_points) for each kernel."""
    shape = (len(solutions), family.points.shape[0])
    parts = list(zip(*solutions, strict=True))[:3]
    rows = np.repeat(np.arange(len(solutions)), list(map(len, parts[0])))
    kernels, points, coef = map(np.concatenate, parts)
    return [
        sparse.csr_array((coef[kernels == k], (rows[kernels == k], points[kernels == k])), shape)
        for k in range(len(family.kernels))
    ]


# -- complexities ---------------------------------------------------------------------------------


def trace_complexity(gram: ArrayLike, *, sample_weight: Floats | None = None) -> float:
    r"""Return the bound of lemma 3: :math:`κ \sqrt{\operatorname{Tr} K} / m`.

    The supremum :math:`κ` of :math:`\sqrt{K(x, x)}` is taken as the maximum over the sample.

    Parameters
    ----------
    gram : array-like of shape (n_samples, n_samples)
        Matrix of a positive semi-definite kernel. For another kernel with a non-negative
        diagonal the number is computed, but is not a bound.
    sample_weight : ndarray of shape (n_samples,), default=None
        How many points each point counts as.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the matrix is not square or finite, or a value on its diagonal is negative.

    Examples
    --------
    >>> from kernlearn.voted import trace_complexity
    >>> trace_complexity([[1.0, 0.5], [0.5, 1.0]]).__round__(4)
    0.7071
    """
    values: Floats = check_array(gram, dtype=np.float64, input_name="gram")
    weights = np.ones(len(values)) if sample_weight is None else sample_weight
    kappa = _largest_norm(values)
    return kappa * sqrt((weights * np.diag(values)).sum()) / float(weights.sum())


def dimension_complexity(kappa: float, dimension: float, n_samples: int | None = None) -> float:
    r"""Return :math:`κ^2 \sqrt{d}`, or the whole bound of lemma 4, :math:`12 κ^2 \sqrt{π d / m}`.

    Parameters
    ----------
    kappa : float
        The supremum of :math:`\sqrt{K(x, x)}`.
    dimension : float
        The dimension d of the feature space, see `feature_dimension`; may be infinite.
    n_samples : int, default=None
        Sample size m; None omits the factor :math:`12 \sqrt{π / m}`, as in section 5.3 for the
        penalties.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If a number is negative or the sample size is not positive.

    Examples
    --------
    >>> from kernlearn.voted import dimension_complexity
    >>> dimension_complexity(1.0, 9)
    3.0
    """
    check_nonnegative(kappa=kappa)
    if not dimension >= 0:
        raise ValueError(f"'dimension' must be a number of 0 or more, got {dimension!r}")
    if n_samples is None:
        return kappa**2 * sqrt(dimension)
    check_count(n_samples=n_samples)
    return 12 * sqrt(pi / n_samples) * kappa**2 * sqrt(dimension)


def feature_dimension(kernel: Kernel, n_features: int) -> float:
    r"""Return the dimension of a dot-product kernel's feature space: equation (3).

    A term :math:`a_n t^n` has :math:`\binom{N+n-1}{n}` monomials; for :math:`(t + r)^k`, r > 0,
    their sum is :math:`\binom{N+k}{k}`.

    Parameters
    ----------
    kernel : Kernel
        A dot-product kernel.
    n_features : int
        The dimension N of the data.

    Returns
    -------
    float
        Infinite for an infinite series, and above the largest float64.

    Raises
    ------
    ValueError
        If the kernel is not a dot-product kernel.

    Examples
    --------
    >>> from kernlearn.kernels import PolynomialKernel
    >>> from kernlearn.voted import feature_dimension
    >>> feature_dimension(PolynomialKernel(degree=2), 3)
    10.0
    """
    if not isinstance(kernel, BaseDotProductKernel):
        raise ValueError(
            f"the dimension of lemma 4 is that of a polynomial's feature space, and {kernel!r} is "
            "not a power series in the inner product; choose another complexity"
        )
    if kernel.degree_max is None:
        return np.inf
    orders = np.flatnonzero(np.isfinite(kernel.log_coefficients(kernel.degree_max)))
    total = sum(comb(n_features + int(n) - 1, int(n)) for n in orders)
    return float(total) if total < 2**1023 else np.inf


def local_complexity(gram: ArrayLike, radius: Any) -> Any:
    r"""Bound the local Rademacher complexity by :math:`\sqrt{(2/m) \sum_j \min(s, κ^2 λ_j)}`.

    The :math:`λ_j` are the eigenvalues of K / m, and :math:`κ` is the largest
    :math:`\sqrt{K(x, x)}` of the sample. The paper states the bound for functions of norm 1, i.e.
    κ = 1, as for normalised kernels; :math:`±K(·, x')` has a norm of at most κ.

    Parameters
    ----------
    gram : array-like of shape (n_samples, n_samples)
        Matrix of a positive semi-definite kernel.
    radius : float or array-like of shape (n_radii,)
        The bound s on :math:`E[h^2]`; infinite gives :math:`\sqrt 2` times lemma 3.

    Returns
    -------
    float or ndarray of shape (n_radii,)

    Raises
    ------
    ValueError
        If the matrix is not square, finite, symmetric and positive semi-definite, or a radius
        is not positive.

    References
    ----------
    Section 5.3 and objective (2); Mendelson (2003).

    Examples
    --------
    >>> from kernlearn.voted import local_complexity
    >>> float(local_complexity([[1.0, 0.0], [0.0, 1.0]], radius=0.125))
    0.5
    """
    radii = np.asarray(radius, dtype=np.float64)
    if not (radii > 0).all():
        raise ValueError(f"'radius' must be a number > 0, got {radius!r}")
    values: Floats = check_array(gram, dtype=np.float64, input_name="gram")
    kappa = _largest_norm(values)
    atol = 1e-10 * np.abs(values).max()
    symmetric = np.allclose(values, values.T, rtol=1e-7, atol=atol)
    eigenvalues = np.linalg.eigvalsh(values) / len(values)
    if not symmetric or eigenvalues[0] < -_NEGATIVE * max(eigenvalues[-1], -eigenvalues[0]):
        problem = f"has the eigenvalue {eigenvalues[0] * len(values):.6g}"
        raise ValueError(
            "the local complexity is for positive semi-definite kernels, and the matrix "
            f"{problem if symmetric else 'is not symmetric'}; use 'monte_carlo' or an array"
        )
    squared = kappa**2 * np.maximum(eigenvalues, 0.0)
    return np.sqrt(2 / len(values) * np.minimum(radii[..., None], squared).sum(axis=-1))


def monte_carlo_complexity(
    gram: ArrayLike, *, n_draws: int = 100, random_state: Any = None
) -> float:
    r"""Estimate :math:`\frac1m E_σ \max_j |\sum_i σ_i K(x_i, x_j)|` by drawing signs.

    It is the empirical Rademacher complexity of the functions that objective (1) combines, those
    of the sample; for points x' outside the sample it is a lower bound.

    Parameters
    ----------
    gram : array-like of shape (n_samples, n_points)
        Values K(x_i, x_j) of any kernel.
    n_draws : int, default=100
        Number of sign vectors.
    random_state : int, RandomState instance or None, default=None
        Seed of the signs.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the matrix is not finite or the number of draws is not positive.

    Examples
    --------
    >>> from kernlearn.voted import monte_carlo_complexity
    >>> monte_carlo_complexity([[1.0, 0.0], [0.0, 1.0]], random_state=0)
    0.5
    """
    check_count(n_draws=n_draws)
    values: Floats = check_array(gram, dtype=np.float64, input_name="gram")
    signs = 2.0 * check_random_state(random_state).randint(2, size=(n_draws, len(values))) - 1.0
    return float(np.abs(signs @ values).max(axis=1).mean()) / len(values)


def _largest_norm(gram: Floats) -> float:
    """Return the root of the largest diagonal value of a square matrix."""
    if gram.shape[0] != gram.shape[1]:
        raise ValueError(f"'gram' must be a square matrix, got shape {gram.shape}")
    diagonal = np.diag(gram)
    if diagonal.min() < 0:
        raise ValueError(
            f"a positive semi-definite kernel has no K(x, x) = {diagonal.min():.6g} < 0, and this "
            "complexity is for such kernels; use 'monte_carlo' or an array"
        )
    return sqrt(diagonal.max())
