"""ORLand: ordinal regression by thresholds on a linear function of similarities."""

from collections.abc import Iterable
from copy import copy
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import LinAlgError, solve_triangular
from scipy.optimize import nnls
from scipy.sparse import csr_array
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import assert_all_finite, check_array, column_or_1d

from kernlearn import validation
from kernlearn.landmarks.models import Head, LandmarkChoice
from kernlearn.landmarks.similarities import Reals
from kernlearn.landmarks.training import Grid, Training
from kernlearn.linear.losses import Loss, SmoothedHinge, SquaredHinge
from kernlearn.linear.newton import ROUNDING_STEP, exact_step
from kernlearn.memory import cholesky
from kernlearn.validation import Floats

_RIDGE = 1e-12  # added to the curvature of thresholds, relative to the largest one
_REACH = 1e4  # margins that thresholds may move in a step without curvature
_BLOCK_ROWS = 1024  # rows gathered at a time, which stay in cache for the product that follows


def encode_grades(
    y: Any, categories: Any = None
) -> tuple[np.ndarray, np.ndarray, list[Any] | None]:
    """Return the grades that occur, at least two, in their order, and the index of each y there.

    The last result is the order of all grades, None if there is no such one.

    Numbers must be whole. The order is that of `categories`, else of an ordered categorical or
    polars' Enum, else of numbers; grades in words without one are sorted by the alphabet, with a
    warning.
    """
    order, kind = None, getattr(y, "dtype", None)
    if categories is not None:
        order = np.asarray(categories).tolist()
    elif getattr(kind, "ordered", None) or type(kind).__name__ == "Enum":
        order = list(kind.categories)  # type: ignore[union-attr]
    y = column_or_1d(y, warn=True)
    assert_all_finite(y, input_name="y")
    if y.dtype.kind == "f" and (y % 1).any():
        raise ValueError(
            f"Unknown label type: grades must be whole numbers or words, got {y[y % 1 > 0][0]:g}. "
            "Pass codes: of grades such as half stars np.unique(y, return_inverse=True)[1]"
        )
    classes, codes, _ = validation.encode_labels(y, None)
    labels = classes.tolist()
    if order is None:
        if classes.dtype.kind in "OUS" and len(labels) > 2:
            validation.warn(
                f"the grades are words without an order and are sorted by the alphabet: "
                f"{' < '.join(map(str, labels))}. Pass an ordered pandas.Categorical, or their "
                "order as 'categories'"
            )
        return classes, codes, None
    if unknown := [label for label in labels if label not in order]:
        raise ValueError(f"'categories' must hold all grades of y; {unknown[0]!r} is missing")
    if len(set(order)) < len(order):
        raise ValueError(f"'categories' must hold each grade once, got {order!r}")
    ascending = np.argsort([order.index(label) for label in labels])
    return classes[ascending], np.argsort(ascending)[codes], order


class Thresholds(NamedTuple):
    """Thresholds start + basis @ p, where the last `n_bounded` variables p are at least 0."""

    start: Floats
    basis: Floats
    n_bounded: int = 0


def as_thresholds(spec: Any, n_thresholds: int, constraints: str) -> Thresholds:
    """Return the thresholds for the parameters of an estimator.

    `spec` is "equispaced", 1 apart, "learned", at least 1 apart (theorem 5.16) or not constrained
    if `constraints` is "implicit", or an array of shape (n_thresholds,).
    """
    equispaced = np.arange(n_thresholds, dtype=np.float64) - 0.5 * (n_thresholds - 1)
    if isinstance(spec, str) and spec == "learned":
        if constraints == "implicit":
            return Thresholds(np.zeros(n_thresholds), np.eye(n_thresholds))
        return Thresholds(equispaced, np.tri(n_thresholds), n_thresholds - 1)
    values = equispaced
    if not isinstance(spec, str):
        values = check_array(spec, ensure_2d=False, dtype=np.float64, input_name="thresholds")
    if values.shape != (n_thresholds,) or (np.diff(values) <= 0).any():
        raise ValueError(
            f"'thresholds' must be {n_thresholds} ascending numbers for the "
            f"{n_thresholds + 1} grades of y, got {spec!r}"
        )
    return Thresholds(values, np.empty((n_thresholds, 0)))


@dataclass(frozen=True, eq=False)
class Solution(Head):
    """The minimum for one value of C, after `n_iter` Newton steps."""

    _: KW_ONLY
    thresholds: Floats
    n_iter: int


class OrdinalProblem:
    """Support vector ordinal regression on explicit features, by Newton's method.

    Parameters
    ----------
    features : array-like of shape (n_samples, n_features)
    codes : array-like of shape (n_samples,)
        Grades 0, …, n_thresholds; not all need to occur.
    thresholds : Thresholds
    constraints : {"explicit", "implicit"}
        EXC or IMC: a point is compared with the thresholds next to its grade, or with all.
    margin : float
        Distance from a threshold below which there is a loss.
    weights : ndarray of shape (n_samples,), default=None
        A factor above 0 on the losses of each point.

    References
    ----------
    Chu & Keerthi (2007), *Support vector ordinal regression*, sections 2 and 3. Kar (2013),
    sections 5.3.3.2 and 5.3.3.3.
    """

    def __init__(
        self,
        features: ArrayLike,
        codes: ArrayLike,
        thresholds: Thresholds,
        *,
        constraints: str,
        margin: float,
        weights: Floats | None = None,
    ) -> None:
        self._X = np.ascontiguousarray(features, dtype=np.float64)
        self._thresholds = thresholds
        self._margin = margin
        steps = np.arange(len(thresholds.start))
        # The number of grades above each threshold: at least 1, or at most 0.
        above = np.asarray(codes)[:, np.newaxis] - steps
        near = (above == 0) | (above == 1)
        compared = near if constraints == "explicit" else np.ones_like(near)
        self._point, self._step = np.nonzero(compared)
        self._sign = np.where(above[compared] > 0, 1.0, -1.0)
        self._weights = 1.0 if weights is None else weights[self._point]

    def path(self, Cs: Iterable[float], *, loss: str, tol: float, max_iter: int) -> list[Solution]:
        """Minimise for each value of C, starting from the solution for the previous one.

        Parameters
        ----------
        Cs : iterable of float
            Best in ascending order.
        loss : {"squared_hinge", "hinge"}
        tol : float
            Allowed excess over the minimum, relative to the objective. For "squared_hinge" the
            excess is estimated by the decrease of the quadratic model. "hinge" is smoothed less
            and less, until the duality gap of the hinge itself, which bounds the excess, is as
            small.
        max_iter : int
            Maximum number of Newton steps for each value of C.

        Returns
        -------
        list of Solution

        Warns
        -----
        ConvergenceWarning
            If `max_iter` steps were not enough.
        """
        z = np.zeros(self._X.shape[1] + self._thresholds.basis.shape[1])
        path = []
        for C in Cs:
            stage: Loss = SquaredHinge(self._weights)
            stage_tol, n_iter = tol, 0
            if loss == "hinge":
                width = max(float(self._short(z).max()), self._margin)
                stage = SmoothedHinge(width, self._weights)
                stage_tol = 0.1 * tol
            while True:
                z, steps, converged = self._minimise(z, C, stage, stage_tol, max_iter - n_iter)
                n_iter += steps
                w, variables = self._split(z)
                short = self._short(z)
                hinge = float((self._weights * np.maximum(0.0, short)).sum())
                if C * stage.gap(short) <= tol * (0.5 * (w @ w) + C * hinge) or not converged:
                    break
                stage = stage.narrower()
            if not converged:
                validation.warn(
                    f"ordinal regression did not converge in {max_iter} steps at C={C:g}: "
                    "raise max_iter or tol, or lower C",
                    ConvergenceWarning,
                )
            # Free thresholds on which the loss does not depend may come out of order; sorting
            # them keeps the minimum.
            ends = np.sort(self._thresholds.start + self._thresholds.basis @ variables)
            path.append(Solution(w, converged=converged, thresholds=ends, n_iter=n_iter))
        return path

    def _minimise(
        self, z: Floats, C: float, loss: Loss, tol: float, max_iter: int
    ) -> tuple[Floats, int, bool]:
        """Run Newton's method from z; return the end, the steps made, and whether it converged."""
        for n_iter in range(1, max_iter + 1):
            w, _ = self._split(z)
            short = self._short(z)
            gradient = self._gradient(w, C * loss.slope(short))
            # A curvature that bounds steps of the thresholds and vanishes at the minimum.
            steepest = np.abs(self._split(gradient)[1]).max(initial=0.0)
            ridge = float(steepest) / (_REACH * self._margin)
            factor = self._factor(C * loss.curvature(short), ridge)
            step = self._model_minimum(z, gradient, factor) - z
            promised = -float(gradient @ step)
            change = self._short(step, change=True)
            w_step, _ = self._split(step)
            inner, square = float(w @ w_step), float(w_step @ w_step)
            length = exact_step(loss, C, short, change, inner, square, full=True)
            z = z + length * step
            objective = 0.5 * float(w @ w) + C * loss.value(short)
            if promised <= tol * objective or (
                length * np.linalg.norm(step) <= ROUNDING_STEP * np.linalg.norm(z)
            ):
                return z, n_iter, True
        return z, max_iter, False

    def _split(self, z: Floats) -> tuple[Floats, Floats]:
        n_features = self._X.shape[1]
        return z[:n_features], z[n_features:]

    def _short(self, z: Floats, *, change: bool = False) -> Floats:
        """Return the shortfall of each term from the margin, or its change by a step z."""
        w, variables = self._split(z)
        thresholds = self._thresholds.basis @ variables
        margin, start = (0.0, 0.0) if change else (self._margin, self._thresholds.start)
        distances = (self._X @ w)[self._point] - (start + thresholds)[self._step]
        return margin - self._sign * distances

    def _gradient(self, w: Floats, slope: Floats) -> Floats:
        pull = self._sign * slope
        by_point = np.bincount(self._point, pull, len(self._X))
        by_threshold = np.bincount(self._step, pull, len(self._thresholds.start))
        return np.concatenate([w - by_point @ self._X, by_threshold @ self._thresholds.basis])

    def _factor(self, curvature: Floats, ridge: float) -> Floats:
        """Return R with RᵀR the Hessian."""
        d, basis = self._X.shape[1], self._thresholds.basis
        hessian = np.zeros((d + basis.shape[1],) * 2)
        weights = np.bincount(self._point, curvature, len(self._X))
        rows = np.flatnonzero(weights)
        roots = np.sqrt(weights[rows])
        for first in range(0, len(rows), _BLOCK_ROWS):
            batch = slice(first, first + _BLOCK_ROWS)
            # BLAS computes only half of a product of a matrix with its own transpose.
            part = self._X[rows[batch]] * roots[batch, np.newaxis]
            hessian[:d, :d] += part.T @ part
        hessian.flat[: d * len(hessian) : len(hessian) + 1] += 1.0
        if basis.shape[1]:
            shape = (len(self._X), len(basis))
            shared = csr_array((curvature, (self._point, self._step)), shape=shape)
            hessian[:d, d:] = -(shared.T @ self._X).T @ basis
            hessian[d:, d:] = (basis.T * shared.sum(axis=0)) @ basis
            ridge += _RIDGE * hessian.diagonal().max()
            hessian.flat[d * len(hessian) + d :: len(hessian) + 1] += ridge
        rounding = np.finfo(np.float64).eps * hessian.trace()
        while True:
            try:
                return cholesky(hessian.copy(), lower=False)
            except LinAlgError:  # singular but for rounding errors
                hessian.flat[:: len(hessian) + 1] += rounding
                rounding *= 10

    def _model_minimum(self, z: Floats, gradient: Floats, factor: Floats) -> Floats:
        """Minimise the quadratic model at z, with the last variables at least 0.

        The model is ½‖Rz − c‖² up to a constant. The free variables make their rows zero for any
        bounded ones, which are therefore the solution of their own least squares problem.
        """
        target = factor @ z - solve_triangular(factor, gradient, trans="T", check_finite=False)
        free = len(z) - self._thresholds.n_bounded
        result = np.empty_like(z)
        if free < len(z):
            result[free:], _ = nnls(factor[free:, free:], target[free:])
            target[:free] -= factor[:free, free:] @ result[free:]
        result[:free] = solve_triangular(factor[:free, :free], target[:free], check_finite=False)
        return result


@dataclass(eq=False, repr=False)
class ORLand(ClassifierMixin, LandmarkChoice):
    r"""Predict grades, which are ordered classes, from similarities to a few landmarks.

    When to use it: grades in an order, with any similarity.

    Algorithm 5 of [1]_ with the loss of definition 5.14. A point is embedded as
    :math:`\Psi(x) = (K(x, l_1), \ldots, K(x, l_d)) / \sqrt d` for d landmarks. The real value
    :math:`f(x) = \langle w, \Psi(x) \rangle` is compared with thresholds: grade i is predicted
    where :math:`b_i \le f(x) < b_{i+1}`, with :math:`b_1 = -\infty, b_{r+1} = \infty`. The
    similarity may be indefinite. The objective is

    .. math:: \frac12 \|w\|^2 + C \sum_x
        L(b_{y(x)} + \gamma - f(x)) + L(f(x) - b_{y(x)+1} + \gamma),

    where L is the hinge :math:`[t]_+` or its square, minimised over w and, if they are learned,
    the thresholds. The algorithm bounds :math:`\|w\|` instead of the first term: for each bound
    there is a C with the same solution. There is no intercept, as in the algorithm.

    Parameters
    ----------
    n_landmarks : int, default=100
        Number of landmarks d; all training points, with a warning, if there are fewer.
    similarity, kind, selection
        As for :class:`RegLand`.
    constraints : {"explicit", "implicit"}, default="explicit"
        Chu & Keerthi's two formulations [2]_. "explicit" (EXC) is the loss above, with the two
        thresholds next to a point's grade, and learned thresholds at least 1 apart.
        "implicit" (IMC) has a term for every threshold; learned thresholds are then in order at
        the minimum without a constraint.
    thresholds : {"equispaced", "learned"} or array-like of shape (n_classes - 1,), \
            default="equispaced"
        Fixed thresholds 1 apart and symmetric about 0, so that reversing the grades only
        reverses the sign of f; learned ones; or an array of fixed ones, ascending.
    margin : float, default=0.5
        The margin γ. By default 2γ is the distance of two thresholds: the largest margin at which
        a point midway between them has no loss. With a larger one the hinge is flat there, and
        the squared hinge the same up to a constant and a factor.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        L. The hinge of definition 5.14 is minimised by a sequence of smoothed problems.
    C : float or sequence of float, default=(1, 100, 1e4, ..., 1e12)
        Weight of the losses; of several the best on the validation points is chosen, see `fit`.
    tol : float, default=1e-6
        Relative excess of the objective over its minimum that is allowed; for the hinge a bound
        by the duality gap.
    max_iter : int, default=1000
        Greatest number of Newton steps for one value of C.
    validation_fraction : float or array of int, default=0.2
        Share of the training points, or the indices of those, held out for choosing C, see `fit`.
    scoring : str, callable or None, default=None
        A scorer of scikit-learn, which the choice goes by; None for the average absolute error.
    refit : bool, default=True
        Whether the model is trained again on all points, as by :class:`BBSClassifier`.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points and the landmarks.
    categories : array-like of shape (n_categories,), default=None
        The grades in ascending order; all that occur in y, and perhaps others. None for the order
        of an ordered categorical y (:class:`pandas.Categorical`), else of numbers. Words without
        an order are sorted by the alphabet, with a warning that names the order.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The grades in y, ascending in their order, of points with a weight. Others are never
        predicted.
    thresholds_ : ndarray of shape (n_classes - 1,)
        The finite thresholds, ascending.
    coef_ : ndarray of shape (n_landmarks,)
        Weights w.
    landmark_indices_ : ndarray of shape (n_landmarks,) or None
        Rows of the landmarks in the X passed to `fit`; None where they were given.
    C_ : float
        The C chosen.
    best_params_ : dict
        The values chosen, by parameter name.
    grid_ : dict
        The values to choose from, by parameter, as the axes of `validation_scores_`.
    validation_scores_ : ndarray of shape (n_C,) or None
        Minus the average absolute error on the validation points with each C, ascending; None
        without such points.
    n_iter_ : int
        Newton steps for the C chosen.
    scale_ : float
        The divisor of similarities, :math:`\sqrt d`.
    n_features_in_ : int
        Number of features, or of training points with ``similarity="precomputed"``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.

    See Also
    --------
    RegLand : Regression in the same space.
    sklearn.metrics.mean_absolute_error : The measure of the thesis.

    References
    ----------
    .. [1] Kar (2013), algorithm 5, sections 5.3.3 and 5.4, theorem 5.16, appendix B.
    .. [2] Chu & Keerthi (2007), *Support vector ordinal regression*, Neural Computation 19(3).

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.landmarks import ORLand
    >>> from sklearn.metrics import mean_absolute_error
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> stars = np.digitize(X.ravel() ** 2, [0.1, 0.3, 0.6]) + 1
    >>> model = ORLand(20, C=100, random_state=0).fit(X, stars)
    >>> model.thresholds_
    array([-1.,  0.,  1.])
    >>> mean_absolute_error(stars, model.predict(X)) < 0.05
    True
    """

    _: KW_ONLY
    constraints: str = "explicit"
    thresholds: Any = "equispaced"
    margin: float = 0.5
    loss: str = "squared_hinge"
    C: Any = tuple(10.0**power for power in range(0, 13, 2))
    tol: float = 1e-6
    max_iter: int = 1000
    categories: Any = None

    _parameter_constraints = {
        **LandmarkChoice._parameter_constraints,
        "constraints": [validation.StrOptions({"explicit", "implicit"})],
        "thresholds": [validation.StrOptions({"equispaced", "learned"}), "array-like"],
        "margin": [validation.POSITIVE],
        "loss": [validation.StrOptions({"squared_hinge", "hinge"})],
        "categories": ["array-like", None],
    }
    path_parameters: ClassVar = ("C",)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the grade of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``similarity="precomputed"`` of shape (n_samples, n_training_points), with a
            column for each row of the X passed to `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            The greatest grade whose lower threshold is at most the real value.
        """
        return self._predict(self.real_value(X))

    def _predict(self, values: Reals) -> np.ndarray:
        return self.classes_[np.searchsorted(self.thresholds_, values, "right")]

    def real_value(self, X: Any) -> Reals:
        r"""Return the real value of each point, which the thresholds divide into grades.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples,)
            :math:`f(x) = \langle w, \Psi(x) \rangle`, float32 if X and the training points are.
        """
        return self._values(X)

    def decision_function(self, X: Any) -> Reals:
        """Return the margin by which each point's real value is within each grade.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The distance to the nearer threshold of each grade, negative outside; the predicted
            grade has the greatest. With two grades that of the upper one only.
        """
        return self._decision_function(self.real_value(X))

    def _decision_function(self, values: Reals) -> Reals:
        if len(self.thresholds_) == 1:
            return values - self.thresholds_[0]
        edges = np.concatenate([[-np.inf], self.thresholds_, [np.inf]]).astype(values.dtype)
        above = values[:, np.newaxis] - edges
        return np.minimum(above[:, :-1], -above[:, 1:])

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        # scikit-learn's checks of matrices use classes without an order along any line
        tags.classifier_tags.poor_score = self._kernels() is None
        return tags

    def _grid(self) -> Grid:
        return {"C": validation.candidate_values(self.C, "C").astype(np.float64)}

    def _check_targets(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, ...]:
        codes: Any = None
        if y is not None:
            self.classes_, codes, self._order = encode_grades(y, self.categories)
        X, _, weights = self._check_training(X, codes, sample_weight)
        targets = self.classes_[codes]
        present = np.unique(codes[validation.weighted_rows(weights, len(codes))])
        self.classes_ = self.classes_[present]
        validation.at_least_two(self.classes_)
        return X, targets, np.searchsorted(present, codes), weights

    def _train(self, features: Reals, data: Training, grid: Grid) -> list[Solution]:
        problem = OrdinalProblem(
            features,
            data.codes,
            as_thresholds(self.thresholds, len(self.classes_) - 1, self.constraints),
            constraints=self.constraints,
            margin=self.margin,
            weights=data.weights,
        )
        return problem.path(grid["C"], loss=self.loss, tol=self.tol, max_iter=self.max_iter)

    def _gains(self, data: Training, values: list[Reals], heads: Any) -> tuple[Any, ...]:
        true, pairs = self._grades(data.y_val), zip(heads, values, strict=True)
        codes = [np.searchsorted(head.thresholds, each, "right") for head, each in pairs]
        errors = [np.abs(true - self._grades(self.classes_[each])) for each in codes]
        return (-np.stack(errors, axis=-1),)

    def _answering(self, heads: Any) -> Iterable[Any]:
        return (copy(self)._keep(head) for head in heads)

    def _keep(self, head: Solution) -> Self:
        self.n_iter_, self._converged = head.n_iter, head.converged
        self.coef_ = head.coef.astype(self._dtype)
        self.thresholds_ = head.thresholds.astype(self._dtype)
        return self

    def _grades(self, labels: np.ndarray) -> np.ndarray:
        """Return numbers to measure errors in."""
        if self._order is None and self.classes_.dtype.kind in "biuf":
            return labels.astype(np.float64)
        order = self.classes_ if self._order is None else np.array(self._order)
        if unknown := np.setdiff1d(labels, order).tolist():
            raise ValueError(
                f"y_val: {unknown[0]!r} is not a grade of y, so that its place is not known; "
                "give the order of all grades as 'categories'"
            )
        return validation.places(order, labels).astype(np.float64)
