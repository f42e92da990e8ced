"""Grades from a real value that is linear in the similarities to landmarks, and thresholds."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils import assert_all_finite, check_random_state, column_or_1d
from sklearn.utils._param_validation import Interval, StrOptions

from kernlearn.landmarks.model_selection import hold_out, penalties
from kernlearn.landmarks.regland import LandmarkedModel
from kernlearn.metrics import average_absolute_error
from kernlearn.solvers.labels import encode_labels
from kernlearn.solvers.ordinal import OrdinalProblem, Solution, as_thresholds


class GradeClassifier(ClassifierMixin, LandmarkedModel):
    """A classifier into grades, which are ordered.

    A subclass sets ``classes_`` by `_encode`, and the fitted attributes ``coef_`` and
    ``thresholds_``.
    """

    classes_: NDArray[Any]
    coef_: NDArray[np.floating]
    thresholds_: NDArray[np.floating]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the grade of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``similarity="precomputed"`` of shape (n_samples, n_training_points), with a
            column for each row of the X passed to `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            The greatest grade of which the lower threshold is not above the real value.
        """
        values = self.real_value(X)
        return self.classes_[codes_of(values, self.thresholds_)]

    def real_value(self, X: Any) -> NDArray[np.floating]:
        r"""Return the real value of each point, which thresholds cut into grades.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples,)
            :math:`f(x) = \langle w, \Psi(x) \rangle`, float32 if X and the training points are.
        """
        return self._embed(X) @ self.coef_

    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Return by what margin the real value of each point is within each grade.

        This has the form that scikit-learn asks of classifiers; see also `real_value`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `predict`.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            The distance to the nearer threshold of each grade, negative outside: the grade
            predicted has the greatest. With two grades that of the upper one alone.
        """
        values = self.real_value(X)
        if len(self.thresholds_) == 1:
            return values - self.thresholds_[0]
        edges = np.concatenate([[-np.inf], self.thresholds_, [np.inf]]).astype(values.dtype)
        above = values[:, np.newaxis] - edges
        return np.minimum(above[:, :-1], -above[:, 1:])

    def _encode(self, y: Any) -> NDArray[np.intp]:
        """Validate grades, set ``classes_`` and return their places in these."""
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        self.classes_, codes, _ = encode_labels(y, None)
        return codes

    def _grades(self, labels: NDArray[Any]) -> NDArray[np.float64]:
        """Return numbers to measure errors in."""
        if self.classes_.dtype.kind in "biuf":
            return labels.astype(np.float64)
        unknown = np.setdiff1d(labels, self.classes_).tolist()
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no grade of y, and grades are not numbers")
        return np.searchsorted(self.classes_, labels).astype(np.float64)

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        # For a matrix scikit-learn's checks take inner products of blobs in no order, which no
        # line cuts into grades.
        tags.classifier_tags.poor_score = self._precomputed
        return tags


def codes_of(values: NDArray[np.floating], thresholds: NDArray[np.floating]) -> NDArray[np.intp]:
    """Return the place of the grade that each real value is in, from 0.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
    thresholds : ndarray of shape (n_classes - 1,)
        Ascending; each is the least value of a grade.

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    return np.searchsorted(thresholds, values, side="right")


class ORLand(GradeClassifier):
    r"""Ordinal regression with a margin in the space of similarities to landmarks.

    Algorithm 5 of [1]_ with the loss of definition 5.14: a point is embedded as
    :math:`\Psi(x) = (K(x, l_1), \ldots, K(x, l_d)) / \sqrt d` for d landmarks, and the real value
    :math:`f(x) = \langle w, \Psi(x) \rangle` is compared with thresholds: grade i is predicted
    where :math:`b_i \le f(x) < b_{i+1}`, with :math:`b_1 = -\infty, b_{r+1} = \infty`. The
    similarity may be indefinite. Minimised is

    .. math:: \frac12 \|w\|^2 + C \sum_x
        L(b_{y(x)} + \gamma - f(x)) + L(f(x) - b_{y(x)+1} + \gamma),

    where L is the hinge :math:`[t]_+` or its square, over w and, if they are learned, the
    thresholds. The algorithm has a bound on :math:`\|w\|` in place of the first term: for each
    bound there is a C with the same solution. There is no intercept, as in the algorithm.

    Parameters
    ----------
    n_landmarks : int, default=50
        Number of landmarks d; all training points, with a warning, if there are fewer.
    similarity : str, Kernel, callable or "precomputed", default="gaussian"
        A kernel's name, a kernel, a function (X, Y) -> matrix, or "precomputed" where the
        matrices of similarities to the training points are passed as X. A width that depends
        on data is worked out on the training points, less those kept apart.
    kind : {"similarity", "distance"}, default="similarity"
        A distance d is compared as the similarity -d.
    selection : {"random", "dselect"}, default="random"
        How landmarks are drawn from the training points: uniformly, or to be unlike each
        other (algorithm 3).
    double_dipping : bool, default=True
        Whether training points that are landmarks are trained on as well (appendix B).
    constraints : {"explicit", "implicit"}, default="explicit"
        Chu & Keerthi's two formulations [2]_. "explicit" (EXC) is the loss above, with the two
        thresholds next to a point's grade, and learned thresholds are held `spacing` apart.
        "implicit" (IMC) has a term for every threshold, which says on which side the point
        belongs; learned thresholds are in their order at the minimum, without a constraint.
    thresholds : {"equispaced", "learned"} or array-like of shape (n_classes - 1,), \
            default="equispaced"
        Fixed ones `spacing` apart and symmetric about 0, so that reversing the grades reverses
        the sign of f and no more; learned ones; or fixed ones of your own, ascending.
    margin : float, default=0.5
        The margin γ. By default 2γ is the spacing: the largest margin at which a point of any
        grade between two thresholds can be without loss, in the middle. With a larger one the
        hinge is flat there and the squared hinge the same but for a constant and a factor.
    spacing : float, default=1.0
        The distance Δ between fixed equi-spaced thresholds, or the least one between learned
        thresholds with explicit constraints; theorem 5.16 wants 1. It may be 0 for learned
        ones, which then may coincide.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        L. Definition 5.14 has the hinge, which is minimised smoothed, ever less so.
    C : float or sequence of float, default=(1, 10, 100, 1000)
        Weight of the losses; several to choose from on validation points.
    tol : float, default=1e-6
        Excess of the objective over its minimum that is allowed, relative to it; for the hinge
        a bound by the duality gap.
    max_iter : int, default=1000
        Greatest number of Newton steps for one value of C.
    validation_fraction : float, default=0.2
        Share of the training points that is kept apart for choosing C, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Draws the points kept apart and the landmarks.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The grades that y holds, ascending. A grade that it does not hold has no place between
        thresholds and is never predicted.
    thresholds_ : ndarray of shape (n_classes - 1,)
        The finite thresholds, ascending.
    coef_ : ndarray of shape (n_landmarks,)
        Weights w.
    landmark_indices_ : ndarray of shape (n_landmarks,) or None
        Rows of the landmarks in the X passed to `fit`; None where they were given.
    C_ : float
        The C chosen.
    validation_scores_ : ndarray of shape (n_C,) or None
        Minus the average absolute error on the validation points with each C, ascending; None
        without such points.
    n_iter_ : int
        Newton steps made for the C chosen.
    scale_ : float
        What similarities are divided by, :math:`\sqrt d`.
    n_features_in_ : int
        Number of features, or of training points with ``similarity="precomputed"``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.

    See Also
    --------
    RegLand : The same for numbers.
    kernlearn.metrics.average_absolute_error : The measure of the thesis.

    References
    ----------
    .. [1] Kar (2013), algorithm 5, sections 5.3.3 and 5.4, theorem 5.16, appendix B.
    .. [2] Chu & Keerthi (2007), *Support vector ordinal regression*, Neural Computation 19(3).

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.landmarks import ORLand
    >>> from kernlearn.metrics import average_absolute_error
    >>> X = np.linspace(0, 1, 200)[:, None]
    >>> stars = np.digitize(X.ravel() ** 2, [0.1, 0.3, 0.6]) + 1
    >>> model = ORLand(20, C=100, random_state=0).fit(X, stars)
    >>> model.thresholds_
    array([-1.,  0.,  1.])
    >>> average_absolute_error(stars, model.predict(X)) < 0.05
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **LandmarkedModel._landmark_constraints,
        "constraints": [StrOptions({"explicit", "implicit"})],
        "thresholds": [StrOptions({"equispaced", "learned"}), "array-like"],
        "margin": [Interval(Real, 0, None, closed="neither")],
        "spacing": [Interval(Real, 0, None, closed="left")],
        "loss": [StrOptions({"squared_hinge", "hinge"})],
        "C": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        n_landmarks: int = 50,
        *,
        similarity: Any = "gaussian",
        kind: str = "similarity",
        selection: str = "random",
        double_dipping: bool = True,
        constraints: str = "explicit",
        thresholds: Any = "equispaced",
        margin: float = 0.5,
        spacing: float = 1.0,
        loss: str = "squared_hinge",
        C: Any = (1, 10, 100, 1000),
        tol: float = 1e-6,
        max_iter: int = 1000,
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.similarity = similarity
        self.kind = kind
        self.selection = selection
        self.double_dipping = double_dipping
        self.constraints = constraints
        self.thresholds = thresholds
        self.margin = margin
        self.spacing = spacing
        self.loss = loss
        self.C = C
        self.tol = tol
        self.max_iter = max_iter
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
        landmarks: Any = None,
    ) -> Self:
        """Choose landmarks and train, once for each C, and keep the best.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points. With ``similarity="precomputed"`` the matrix of shape
            (n_samples, n_samples) of their similarities; with a function of your own, a
            sequence of whatever it compares.
        y : array-like of shape (n_samples,)
            Their grades, two at least: integers, or other labels in their sorted order.
        X_val : {array-like, sparse matrix} of shape (n_val, n_features), default=None
            Points that C is chosen on, by average absolute error, the smallest of equally good
            ones; nothing is trained on them. If None and there is more than one C, a share
            ``validation_fraction`` of X, stratified, is kept apart, and the model is the one
            trained on the rest.
        y_val : array-like of shape (n_val,), default=None
            Their grades. Errors are differences of grades that are numbers, of places in
            `classes_` else.
        landmarks : {array-like, sparse matrix} of shape (n_landmarks, n_features), default=None
            Unlabelled points to take as landmarks in place of training points (step 1 of
            algorithm 5); then `n_landmarks`, `selection` and `double_dipping` do not matter.

        Returns
        -------
        self : object
            The fitted model.

        Raises
        ------
        ValueError
            If a parameter is not valid or does not go with another; y has a single grade; only
            one of X_val and y_val is given, or they do not match; too few points are left to
            train on; landmarks are given with a matrix of similarities; or points or
            similarities are not finite.

        Warns
        -----
        ConvergenceWarning
            If `max_iter` steps were not enough.
        """
        Cs = penalties(self.C)
        X, codes = self._check_training(X, None if y is None else self._encode(y))
        thresholds = as_thresholds(
            self.thresholds, len(self.classes_) - 1, self.spacing, self.constraints
        )
        rng = check_random_state(self.random_state)
        rows = np.arange(len(codes))
        validation = None
        if X_val is not None or y_val is not None:
            X_val, known = self._check_held_out(X_val, y_val)
            grades = self._grades(known)
            validation = X_val, np.arange(len(grades)), grades
        elif len(Cs) > 1:
            rows, apart = hold_out(codes, self.validation_fraction, rng)
            validation = X, apart, self._grades(self.classes_[codes[apart]])
        rows = self._place_landmarks(X, codes, rows, landmarks, rng)
        features = self._features(X, rows)
        problem = OrdinalProblem(
            features, codes[rows], thresholds, constraints=self.constraints, margin=self.margin
        )
        solutions = problem.path(Cs, loss=self.loss, tol=self.tol, max_iter=self.max_iter)
        best, self.validation_scores_ = 0, None
        if validation is not None:
            points, places, grades = validation
            self.validation_scores_ = self._scores(
                self._features(points, places), grades, solutions
            )
            best = int(np.argmax(self.validation_scores_))
        self.C_, self.n_iter_ = float(Cs[best]), solutions[best].n_iter
        self.coef_ = solutions[best].coef.astype(features.dtype)
        self.thresholds_ = solutions[best].thresholds.astype(features.dtype)
        return self

    def _scores(
        self, features: NDArray[Any], grades: NDArray[np.float64], solutions: list[Solution]
    ) -> NDArray[np.float64]:
        """Return minus the average absolute error of each solution."""
        of_class = self._grades(self.classes_)
        codes = (codes_of(features @ found.coef, found.thresholds) for found in solutions)
        return np.array([-average_absolute_error(grades, of_class[found]) for found in codes])
