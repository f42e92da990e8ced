"""ORLand: ordinal regression by thresholds on a linear function of similarities."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from kernlearn.calibration import CALIBRATION, CalibratedMixin, OrdinalCalibrator
from kernlearn.constraints import CLASS_WEIGHT, COUNT, NOT_NEGATIVE, POSITIVE, StrOptions
from kernlearn.landmarks.grid_model import GridModel
from kernlearn.landmarks.similarity import Floats, Indices
from kernlearn.model_selection import candidate_values
from kernlearn.sample_weights import (
    combined_weights,
    places,
    taken,
    validation_weights,
    weighted_rows,
)
from kernlearn.solvers.labels import encode_grades, grade_order
from kernlearn.solvers.ordinal import OrdinalProblem, Solution, as_thresholds


@dataclass(eq=False, repr=False)
class ORLand(CalibratedMixin, ClassifierMixin, GridModel):
    r"""Ordinal regression with a margin in the space of similarities to landmarks.

    When to use it: grades in an order, with any similarity.

    Algorithm 5 of [1]_ with the loss of definition 5.14: a point is embedded as
    :math:`\Psi(x) = (K(x, l_1), \ldots, K(x, l_d)) / \sqrt d` for d landmarks, and the real value
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
    n_landmarks : int or "auto", default=50
        Number of landmarks d; all training points, with a warning, if there are fewer. "auto"
        finds it, see :class:`RegLand`.
    max_comparisons, similarity, kind, selection
        As for :class:`RegLand`.
    double_dipping : bool, default=True
        Whether landmarks are also trained on (appendix B).
    constraints : {"explicit", "implicit"}, default="explicit"
        Chu & Keerthi's two formulations [2]_. "explicit" (EXC) is the loss above, with the two
        thresholds next to a point's grade, and learned thresholds at least `spacing` apart.
        "implicit" (IMC) has a term for every threshold; learned thresholds are then in order at
        the minimum without a constraint.
    thresholds : {"equispaced", "learned"} or array-like of shape (n_classes - 1,), \
            default="equispaced"
        Fixed thresholds `spacing` apart and symmetric about 0, so that reversing the grades only
        reverses the sign of f; learned ones; or the given ones, ascending.
    margin : float, default=0.5
        The margin γ. By default 2γ is the spacing: the largest margin at which a point midway
        between two thresholds has no loss. With a larger one the hinge is flat there, and the
        squared hinge the same up to a constant and a factor.
    spacing : float, default=1.0
        The distance Δ between fixed equi-spaced thresholds, or the least one between learned
        thresholds with explicit constraints (1 in theorem 5.16). It may be 0 for learned ones,
        which then may coincide.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        L. The hinge of definition 5.14 is minimised by a sequence of smoothed problems.
    C : float or sequence of float, default=(1, 10, 100, 1000)
        Weight of the losses; of several the best on the validation points is chosen, see `fit`.
    tol : float, default=1e-6
        Relative excess of the objective over its minimum that is allowed; for the hinge a bound
        by the duality gap.
    max_iter : int, default=1000
        Greatest number of Newton steps for one value of C.
    validation_fraction : float, default=0.2
        Share of the training points that is held out for choosing C, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points and the landmarks.
    categories : array-like of shape (n_categories,), default=None
        The grades in ascending order; all that occur in y, and perhaps others. None for the order
        of an ordered categorical y (:class:`pandas.Categorical`), else of numbers. Words without
        an order are sorted by the alphabet, with a warning that names the order.
    class_weight : dict, "balanced" or None, default=None
        Factors on the losses of the points of each grade, and on the validation points in the
        choice of C.
    calibration : {"sigmoid", "isotonic"} or None, default=None
        How real values are mapped to the probabilities of `predict_proba`, which is there unless
        this is None: by the proportional odds model, or by isotonic regressions. In both the
        probability of exceeding a grade does not fall as the real value rises. The map is fitted
        on the validation points, some of which are held out even if there is one C only.
    n_jobs, verbose
        As for :class:`BBSClassifier`.

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
    validation_scores_ : ndarray of shape (n_C,) or None
        Minus the average absolute error on the validation points with each C, ascending; None
        without such points.
    growth_ : tuple of TriedSize
        The numbers of landmarks that were tried, see :class:`RegLand`; only with
        ``n_landmarks="auto"``.
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

    n_landmarks: int | str = 50
    _: KW_ONLY
    max_comparisons: int | None = None
    similarity: Any = "gaussian"
    kind: str = "similarity"
    selection: str = "random"
    double_dipping: bool = True
    constraints: str = "explicit"
    thresholds: Any = "equispaced"
    margin: float = 0.5
    spacing: float = 1.0
    loss: str = "squared_hinge"
    C: Any = (1, 10, 100, 1000)
    tol: float = 1e-6
    max_iter: int = 1000
    validation_fraction: float = 0.2
    random_state: Any = None
    categories: Any = None
    class_weight: Any = None
    calibration: str | None = None
    n_jobs: int | None = None
    verbose: Any = False

    _parameter_constraints = {
        **GridModel._parameter_constraints,
        "constraints": [StrOptions({"explicit", "implicit"})],
        "thresholds": [StrOptions({"equispaced", "learned"}), "array-like"],
        "margin": [POSITIVE],
        "spacing": [NOT_NEGATIVE],
        "loss": [StrOptions({"squared_hinge", "hinge"})],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
        "categories": ["array-like", None],
        "class_weight": CLASS_WEIGHT,
        "calibration": CALIBRATION,
    }

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
        values = self.real_value(X)
        return self.classes_[_codes(values, self.thresholds_)]

    def real_value(self, X: Any) -> Floats:
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
        return self._products(X)

    def decision_function(self, X: Any) -> Floats:
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
        values = self.real_value(X)
        if len(self.thresholds_) == 1:
            return values - self.thresholds_[0]
        edges = np.concatenate([[-np.inf], self.thresholds_, [np.inf]]).astype(values.dtype)
        above = values[:, np.newaxis] - edges
        return np.minimum(above[:, :-1], -above[:, 1:])

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        # scikit-learn's checks of matrices use classes without an order along any line
        tags.classifier_tags.poor_score = self._precomputed
        return tags

    def _grid(self) -> dict[str, np.ndarray]:
        return {"C": candidate_values(self.C, "C").astype(np.float64)}

    def _check_targets(self, X: Any, y: Any) -> tuple[Any, np.ndarray, Indices]:
        codes, self._order = None, None
        if y is not None:
            self._order = grade_order(y, self.categories)
            self.classes_, codes = encode_grades(y, self.categories)
        X, codes = self._check_training(X, codes)
        return X, self.classes_[codes], codes

    def _without_absent(self, codes: Indices, weights: np.ndarray | None) -> Indices:
        present = np.unique(codes[weighted_rows(weights, len(codes))])
        if len(present) == 1:
            raise ValueError(
                "points with a weight above 0 must have at least two grades, but they have one "
                f"class: {self.classes_[present[0]].item()!r}"
            )
        self.classes_ = self.classes_[present]
        return np.searchsorted(present, codes)

    def _train(
        self,
        features: Floats,
        targets: np.ndarray,
        grid: dict[str, np.ndarray],
        rng: Any,
        weights: np.ndarray | None,
    ) -> list[Solution]:
        thresholds = as_thresholds(
            self.thresholds, len(self.classes_) - 1, self.spacing, self.constraints
        )
        codes = places(self.classes_, targets)
        problem = OrdinalProblem(
            features,
            codes,
            thresholds,
            constraints=self.constraints,
            margin=self.margin,
            weights=combined_weights(self.class_weight, self.classes_, codes, weights),
        )
        return problem.path(grid["C"], loss=self.loss, tol=self.tol, max_iter=self.max_iter)

    def _losses(
        self, models: list[Solution], features: Floats, targets: Any, points: Any
    ) -> list[np.ndarray]:
        true = self._grades(targets)
        codes = [_codes(features @ model.coef, model.thresholds) for model in models]
        return [np.abs(true - self._grades(self.classes_[each])) for each in codes]

    def _choice_weights(self, y: Any, weights: Any, y_val: Any, weights_val: Any) -> Any:
        used = weighted_rows(weights, len(y))
        of_used = taken(weights, used)
        return validation_weights(
            self.class_weight, self.classes_, y[used], of_used, y_val, weights_val
        )

    def _calibrate(self, X: Any, y: Any, weights: np.ndarray | None) -> None:
        CalibratedMixin._calibrate(self, X, y, weights)

    def _calibration_scores(self, X: Any) -> np.ndarray:
        return self.real_value(X).astype(np.float64)

    def _calibrator(self) -> OrdinalCalibrator:
        return OrdinalCalibrator(self.classes_, self.calibration)

    def _keep(self, model: Solution, dtype: Any) -> None:
        self.n_iter_ = model.n_iter
        self.coef_ = model.coef.astype(dtype)
        self.thresholds_ = model.thresholds.astype(dtype)

    def _grades(self, labels: np.ndarray) -> np.ndarray:
        """Return numbers to measure errors in."""
        if self._order is None and self.classes_.dtype.kind in "biuf":
            return labels.astype(np.float64)
        order = self.classes_ if self._order is None else np.array(self._order)
        unknown = np.setdiff1d(labels, order).tolist()
        if unknown:
            raise ValueError(
                f"y_val: {unknown[0]!r} is not a grade of y, so that its place is not known; "
                "give the order of all grades as 'categories'"
            )
        return places(order, labels).astype(np.float64)


def _codes(values: Floats, thresholds: Floats) -> Indices:
    """Return the codes of the grades that real values are in."""
    return np.searchsorted(thresholds, values, side="right")
