"""Linear functions of large AUC from all pairs of points of two classes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.linalg import LinearOperator, cg
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model._base import LinearClassifierMixin

from kernlearn import choice, validation
from kernlearn.choice import Fits
from kernlearn.kernels.base import to_dense
from kernlearn.memory import require_memory
from kernlearn.onepass import Moments, ridge_solution
from kernlearn.pairwise.learners import Codes, Point, StreamRanker, linear_fits, two_classes
from kernlearn.validation import Floats

# Columns of which the Hessian preconditions, not its diagonal.
_MOST_COLUMNS = 1000
_LENGTHS = 0.5 ** np.arange(40)


class ClassMoments(NamedTuple):
    """The moments of both classes of a stream.

    The weight of the newest point of a class is 1, and decays with the age of the others relative
    to it. So a class that stays away keeps its moments, and the result depends on the order of the
    points alone.
    """

    moments: tuple[Moments, Moments]
    newest: Codes  #: The number of the newest point of each class in the stream, shape (2,).
    counts: Codes  #: Numbers of points, shape (2,).

    @classmethod
    def empty(cls, n_features: int) -> "ClassMoments":
        """Return the moments before the first point."""
        none = np.zeros((2, 2), dtype=np.int64)
        return cls((Moments(n_features), Moments(n_features)), *none)

    def means(self) -> Floats:
        """Return the weighted means, shape (2, n_features)."""
        return np.array([moments.mean for moments in self.moments])

    def covariances(self) -> Floats:
        """Return the weighted covariances, shape (2, n_features, n_features)."""
        return np.array([each.scatter / (each.weight or 1.0) for each in self.moments])

    def add(self, X: Floats, codes: Codes, decay: float) -> None:
        """Add points; a step of the stream multiplies the weights of earlier ones by `decay`."""
        times = self.counts.sum() + np.arange(len(codes))
        for code, moments in enumerate(self.moments):
            members = codes == code
            if members.any():
                at = times[members]
                moments.decay(decay ** (at[-1] - self.newest[code]))
                moments.update(X[members], decay ** (at[-1] - at))
                self.newest[code] = at[-1]
                self.counts[code] += len(at)

    def of_model(self, m: int) -> "ClassMoments":
        """Return a copy of the moments, which all models of a path share."""
        return deepcopy(self)

    def widened(self, n_features: int) -> "ClassMoments":
        """Return the moments with further features, which all points so far lack."""
        negative, positive = self.moments
        return self._replace(moments=(negative.widened(n_features), positive.widened(n_features)))


@dataclass(eq=False, repr=False)
class AllPairsMoments(StreamRanker):
    r"""Rank two classes from a stream: a linear function of large AUC, from means and covariances.

    When to use it: two classes of any number of rows and few features, above all a stream that
    changes (`half_life`).

    It minimises the squared loss of all pairs of a positive and a negative point so far [1]_ [2]_,

    .. math::

        \lambda \|w\|^2 + \sum_{x \in X_+} \sum_{x' \in X_-} p_x p_{x'}
        (1 - \langle w, x - x'\rangle)^2,

    which depends on the pairs only by the means :math:`\mu_\pm` and the covariances
    :math:`\Sigma_\pm` of the classes: with :math:`\delta = \mu_+ - \mu_-` the minimum is at
    :math:`(\Sigma_+ + \Sigma_- + \delta\delta^\top + \lambda I)^{-1} \delta`, in the direction of
    linear discriminant analysis with equal priors. So no pair is left out, and no buffer is
    needed. The weights p of the points of a class sum to 1; with a half-life h that of point i at
    t is in proportion to :math:`2^{-(t - i)/h}`.

    Parameters
    ----------
    regularization : float, default=1e-3
        The λ. With 0 there may be no unique minimum, and one is taken that does not depend on the
        units of the columns.
    half_life : float or None, default=None
        Number of points of the stream, of either class, after which a point has half the weight;
        None for equal weights.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second one is the positive class.
    coef_ : ndarray of shape (1, n_features)
        The weights, float64; solved for when they are first asked for.
    intercept_ : ndarray of shape (1,)
        Makes the score 0 midway between the (weighted) means of both classes.
    means_ : ndarray of shape (2, n_features)
        The (weighted) means of the classes.
    covariances_ : ndarray of shape (2, n_features, n_features)
        Their covariances, divided by the sum of the weights.
    n_samples_seen_, n_features_in_, feature_names_in_
        As of :class:`OLP`.

    See Also
    --------
    OLP : Other losses, and many features.
    AllPairsSVM : The squared hinge, in batch.
    kernlearn.onepass.OnePassRidgeClassifier : From parts that are read in parallel and merged;
        balanced classes give weights of the same direction.

    Notes
    -----
    A point takes O(n_features²) time, the weights O(n_features³) when they are asked for, and
    memory is O(n_features²). Rows are dense in blocks. The result depends on the order of the
    points, up to rounding not on how the stream is divided into calls.

    For kernels, learn from the features of a map, block by block for data of any length.

    References
    ----------
    .. [1] W. Gao, R. Jin, S. Zhu, Z.-H. Zhou. One-pass AUC optimization. ICML 2013, where the same
       moments give gradient steps.
    .. [2] T. Pahikkala, E. Tsivtsivadze, A. Airola, J. Järvinen, J. Boberg. An efficient algorithm
       for learning to rank from preference graphs. Machine Learning 75 (2009).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import roc_auc_score
    >>> from sklearn.preprocessing import StandardScaler
    >>> from kernlearn.pairwise import AllPairsMoments
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> model = AllPairsMoments().fit(X[:400], y[:400])
    >>> bool(roc_auc_score(y[400:], model.decision_function(X[400:])) > 0.98)
    True
    """

    regularization: float = 1e-3
    _: KW_ONLY
    half_life: float | None = None

    path_parameters = ("regularization",)
    _parameter_constraints = {
        "regularization": [validation.NOT_NEGATIVE],
        "half_life": [validation.POSITIVE, None],
    }

    @property
    def means_(self) -> Floats:
        """The means of the classes."""
        return self._state.means()

    @property
    def covariances_(self) -> Floats:
        """The covariances of the classes."""
        return self._state.covariances()

    def _start(self, n_features: int, points: Sequence[Point]) -> None:
        require_memory(
            16 * n_features**2,
            f"two covariances of {n_features} features",
            "take OLP, whose memory is that of its buffer",
        )
        self._state, self._buffers = ClassMoments.empty(n_features), ()

    def _learn(self, X: Floats, codes: Codes, points: Sequence[Point] = ({},)) -> None:
        self._solutions: dict[float, Floats] = {}  # by the regularization
        decay = 1.0 if self.half_life is None else 0.5 ** (1.0 / self.half_life)
        self._state.add(X, codes, decay)
        for moments in self._state.moments:
            self._check_finite(moments.scatter)

    def _settle(self) -> None:
        self._ridge = self.regularization

    def _weights(self) -> Floats:
        if self._ridge not in self._solutions:
            self._solutions[self._ridge] = self._minimum()
        return self._solutions[self._ridge]

    def _minimum(self) -> Floats:
        means, covariances = self._state.means(), self._state.covariances()
        if not self._state.counts.all():
            return np.zeros(means.shape[1])
        difference = means[1] - means[0]
        matrix = covariances[0] + covariances[1] + np.outer(difference, difference)
        rounding = 1e-12 * np.abs(means).max(axis=0)  # of a constant column
        varying = np.flatnonzero(matrix.diagonal() > rounding**2)
        solution = np.zeros(len(matrix))
        if len(varying):
            part, right = matrix[np.ix_(varying, varying)], difference[varying, np.newaxis]
            solution[varying] = ridge_solution(part, right, self._ridge)[:, 0]
        return solution


@dataclass(eq=False, repr=False)
class AllPairsSVM(
    validation.PredictsByScores, validation.TakesSparse, LinearClassifierMixin, BaseEstimator
):
    r"""Linear function of large AUC from all pairs of a positive and a negative point.

    When to use it: ranking two classes of data that fit into memory.

    It minimises

    .. math::

        \frac{\lambda}{2} \|w\|^2 + \frac{1}{n_+ n_-} \sum_{x \in X_+} \sum_{x' \in X_-}
        \max(0, 1 - \langle w, x - x'\rangle)^2,

    the objective of :class:`OLP` with the squared hinge and regularisation on a stream, except
    for the share of pairs of one class.

    Parameters
    ----------
    regularization : float, default=1e-3
        The λ.
    tol : float, default=1e-6
        Stop when no entry of the gradient is larger than `tol` times the largest one at w = 0, of
        columns divided by their size.
    max_iter : int, default=1000
        Largest number of steps of Newton's method.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second one is the positive class.
    coef_ : ndarray of shape (1, n_features)
        The weights, float64.
    intercept_ : ndarray of shape (1,)
        Makes the score 0 midway between the means of both classes; only used by `predict`.
    objective_ : float
        The minimum.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X has any.

    See Also
    --------
    OLP : Online, from a buffer.
    kernlearn.landmarks.RankLand : Ranking with similarities to landmarks.

    Notes
    -----
    Objective and gradient take O(n log n) time, and one product each with X and its transpose:
    the pairs with a loss are contiguous in the sorted scores. The same holds for the products
    with the Hessian that a step of Newton's method takes.

    Examples
    --------
    >>> from kernlearn.pairwise import AllPairsSVM
    >>> model = AllPairsSVM(regularization=0.5).fit([[0.0], [1.0]], ["a", "b"])
    >>> model.coef_, model.intercept_
    (array([[0.8]]), array([-0.4]))
    """

    regularization: float = 1e-3
    _: KW_ONLY
    tol: float = 1e-6
    max_iter: int = 1000

    path_parameters = ("regularization",)
    _parameter_constraints = {**validation.PARAMETERS, "regularization": [validation.POSITIVE]}
    _multiclass = False

    @validation.fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Solve the problem.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their labels, numbers or strings, of two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the points, not negative; that of a pair is their product. A point of
            weight 0 counts as absent.

        Returns
        -------
        AllPairsSVM
            The estimator itself.

        Raises
        ------
        ValueError
            If there are not two classes, or X contains NaN or infinity.

        Warns
        -----
        ConvergenceWarning
            If `max_iter` iterations were not enough.
        """
        _solve([self], *self._centred(X, y, sample_weight))
        return self

    def path(
        self, X: ArrayLike, y: ArrayLike, grid: Mapping[str, Sequence[Any]]
    ) -> Iterator[Fits]:
        """Solve the problem for several values of `regularization`, each from the one above.

        Parameters
        ----------
        X, y
            As for `fit`.
        grid : mapping of str to sequence
            The values.

        Yields
        ------
        Fits
            All models, each equal to a fit of its own within the tolerance.

        Raises
        ------
        ValueError
            As `fit`, or if there is no path of a parameter.

        Warns
        -----
        ConvergenceWarning
            As `fit`.
        """
        first = clone(self)
        points = choice.path_points(first, grid)
        problem, models = first._centred(X, y, None), [copy(first) for _ in points]
        for model, point in zip(models, points, strict=True):
            vars(model).update(point)
        converged = _solve(models[::-1], *problem)[::-1]
        yield linear_fits(points, models, converged)

    def _centred(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, ...]:
        """Return the rows, which are positive, their shares of their class, and the middle."""
        rows, labels = validation.validate_labelled(self, X, y)
        rows, labels, weights = validation.without_zeros(
            rows, labels, validation.check_weights(sample_weight, rows)
        )
        self.classes_ = two_classes(labels)
        positive = labels == self.classes_[1]
        shares = np.ones(len(labels)) if weights is None else weights
        shares = shares / np.bincount(positive, shares)[positive.astype(np.intp)]
        middle = 0.5 * (rows.T @ shares)
        # the loss has differences, which lose the digits of a mean
        rows = sparse.csr_array(rows) if sparse.issparse(rows) else rows - middle
        return rows, positive, shares, middle


def _solve(
    models: Sequence[AllPairsSVM],
    rows: Any,
    positive: NDArray[np.bool_],
    shares: Floats,
    middle: Floats,
) -> list[bool]:
    """Fit models that differ in their regularization, each from the one before.

    Newton's method with conjugate gradients, preconditioned by the Hessian of the squared loss of
    all pairs, or by its diagonal. Returns whether each model converged.
    """
    weighted = sparse.diags_array(shares) @ rows
    squares, hessian = (rows * weighted).sum(axis=0), None
    if rows.shape[1] <= _MOST_COLUMNS:
        means = [rows.T @ np.where(members, shares, 0.0) for members in (positive, ~positive)]
        product = np.outer(*means)
        hessian = 2 * (to_dense(rows.T @ weighted) - product - product.T)
    w, pairs = np.zeros(rows.shape[1]), ActivePairs(np.zeros(len(shares)), positive, shares)
    slope = first = rows.T @ pairs.slopes
    converged = []
    for model in models:
        ridge = model.regularization
        scale = np.sqrt(2 * squares + ridge)
        limit = model.tol * np.abs(first / scale).max()
        inverse = _inverse(hessian, ridge, scale)
        for n_iter in range(model.max_iter + 1):
            gradient, objective = slope + ridge * w, pairs.loss + ridge / 2 * float(w @ w)
            rest = np.abs(gradient / scale).max()
            # a tenth of what is promised costs little, and small columns need it
            if rest <= 0.1 * limit or n_iter == model.max_iter:
                break
            step = pairs.newton_step(rows, gradient, ridge, inverse)
            moves = rows @ step
            for length in _LENGTHS:
                trial = w + length * step
                there = ActivePairs(pairs.scores + length * moves, positive, shares)
                if there.loss + ridge / 2 * float(trial @ trial) < objective:
                    break
            else:  # rounding errors
                break
            w, pairs, slope = trial, there, rows.T @ there.slopes
        converged.append(bool(rest <= (limit if n_iter == model.max_iter else 1000 * limit)))
        if not converged[-1]:
            validation.warn(
                f"the gradient is {rest / limit:.3g} times what tol={model.tol:g} allows after "
                f"{n_iter} of max_iter={model.max_iter} iterations: raise one of them, or scale "
                "the features",
                ConvergenceWarning,
            )
        model.objective_, model.n_iter_ = objective, n_iter
        model.coef_, model.intercept_ = w[np.newaxis].copy(), np.array([-(w @ middle)])
    return converged


def _inverse(hessian: Floats | None, ridge: float, scale: Floats) -> Callable[[Floats], Floats]:
    """Return the product with the inverse of a Hessian plus a ridge, or of the diagonal alone."""
    if hessian is None:
        return lambda v: v / scale**2
    balanced = hessian / scale / scale[:, np.newaxis]
    balanced.flat[:: len(scale) + 1] += ridge / scale**2 + 1e-10  # columns may be dependent
    factor = cho_factor(balanced)
    return lambda v: cho_solve(factor, v / scale) / scale


class ActivePairs:
    r"""The pairs of unlike points that have a loss.

    They are those whose negative point has a score above that of the positive one less 1. In the
    order of these numbers t, the partners of a positive point are the negative points after it,
    and those of a negative point the positive ones before it. The mean loss is
    :math:`t^\top L t`, with the Laplacian L of the graph of these pairs.

    Parameters
    ----------
    scores : ndarray of shape (n_points,)
    positive : ndarray of shape (n_points,), bool
    shares : ndarray of shape (n_points,)
        The weight of each point, of each class with the sum 1; that of a pair is their product.

    Attributes
    ----------
    loss : float
        The mean squared hinge.
    slopes : ndarray of shape (n_points,)
        Its derivative by each score.
    """

    def __init__(self, scores: Floats, positive: NDArray[np.bool_], shares: Floats) -> None:
        self.scores, t = scores, scores - positive
        self._order = np.argsort(t)
        ordered = shares[self._order]
        self._up = np.where(positive[self._order], ordered, 0.0)
        self._down = ordered - self._up
        self._degrees = self._partners(np.ones(len(t)))
        half = self._laplacian(t)
        self.loss, self.slopes = float(t @ half), 2 * half

    def _partners(self, values: Floats) -> Floats:
        """Return the weighted sums of the values of partners, all in the order of t."""
        after = np.cumsum((self._down * values)[::-1])[::-1]
        return self._up * after + self._down * np.cumsum(self._up * values)

    def _laplacian(self, values: Floats) -> Floats:
        """Return the product of L and some values of the points."""
        ordered, product = values[self._order], np.empty(len(values))
        product[self._order] = self._degrees * ordered - self._partners(ordered)
        return product

    def newton_step(
        self, rows: Any, gradient: Floats, ridge: float, inverse: Callable[[Floats], Floats]
    ) -> Floats:
        """Return Newton's step for some linear weights, about."""

        def times(v: Floats) -> Floats:
            return 2 * (rows.T @ self._laplacian(rows @ v)) + ridge * v

        n = len(gradient)
        hessian, about = (LinearOperator((n, n), f, dtype=np.float64) for f in (times, inverse))
        return -cg(hessian, gradient, rtol=0.1, M=about)[0]
