r"""Goodness of a similarity for a task: Kar (2013), section 4.2, chapter 5 and appendix A.

A similarity K is good if most points are more similar to points of their class than to others;
a distance d is compared as K = -d. Three criteria measure this, here on a sample and with each
point compared with all others:

- Balcan & Blum (equation 4.1): the difference of mean similarities;
- Wang et al. (equation 4.2): the mean sign of differences of similarities, over all pairs;
- definition 4.1: the mean of a transfer function f of these differences.

For regression, ordinal regression and ranking a similarity is good if some weighted mean of
similarities has a small loss (definitions 5.2, 5.7, 5.14 and 5.18).

All functions take points and a similarity, or with ``similarity="precomputed"`` the matrix
(n_samples, n_samples) whose row i compares point i with all of them; it need not be symmetric.
The similarity is the name of a kernel, a kernel, or a function (X, Y) -> matrix. Parameters that
depend on data, such as a width, are estimated on the points.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array

from kernlearn.checks import check_fraction, check_nonnegative, check_positive
from kernlearn.kernels.base import check_training, compared
from kernlearn.kernels.functions import CallableKernel, as_kernel, kernels_of
from kernlearn.landmarks import BBSClassifier, Identity, Ramp, Sign, as_transfer
from kernlearn.landmarks.ordinal import encode_grades
from kernlearn.linear.losses import LOSSES
from kernlearn.memory import interruptible
from kernlearn.metrics import check_queries
from kernlearn.validation import Floats, check_labels, warn

if TYPE_CHECKING:
    import pandas as pd

_MAX_STEPS = 10000


@dataclass(frozen=True, eq=False)
class Goodness:
    r"""How well a similarity separates classes on a sample.

    For two classes there is one problem, for k > 2 there are k, each class against the rest;
    shares and means are over all of them.

    Attributes
    ----------
    margins : ndarray of shape (n_problems, n_samples)
        For each point the mean of :math:`w f(K(x, x') - K(x, x''))` over all others x' of its
        class and x'' of the other: G(x) of definition 4.6, the left side of equation 4.3; for
        Balcan & Blum's criterion the difference of both sides of equation 4.1 without
        :math:`\gamma`.
    classes : ndarray of shape (n_problems,)
        The class that each problem separates from the rest; of two classes the second.
    sides : ndarray of shape (n_problems, n_samples)
        1 for the points of that class, -1 for others.
    c_f : float
        :math:`C_f`, the factor of :math:`\gamma` in equation 4.3.
    bound : float
        B: the largest absolute weight, of a pair where the criterion is about pairs.

    References
    ----------
    Kar (2013), definitions 4.1 and 4.6.

    Examples
    --------
    >>> from kernlearn.theory import classification_goodness
    >>> X, y = [[0.0], [1.0], [5.0], [6.0]], [0, 0, 1, 1]
    >>> good = classification_goodness(X, y, similarity="manhattan")
    >>> good.margins.tolist(), good.misplaced
    ([[4.5, 3.5, 3.5, 4.5]], 0.0)
    """

    margins: Floats
    classes: NDArray[Any]
    sides: Floats
    c_f: float = 1.0
    bound: float = 1.0

    def epsilon(self, gamma: ArrayLike) -> Any:
        r"""Return the share of points with a margin below :math:`C_f \gamma`, for each `gamma`.

        The similarity is (that share, :math:`\gamma`, B)-good on the sample where
        :math:`\gamma > 0`. A float for a float, else an ndarray of the shape of `gamma`.
        """
        limits = self.c_f * np.asarray(gamma, dtype=np.float64)
        shares = np.searchsorted(np.sort(self.margins, axis=None), limits) / self.margins.size
        return float(shares) if shares.ndim == 0 else shares

    def gamma(self, epsilon: ArrayLike) -> Any:
        r"""Return the largest margin that all points have but a share, for each `epsilon`.

        That is the largest :math:`\gamma` with ``epsilon(gamma)`` at most the share; definition
        4.1 is about those above 0 only. A float for a float, else an ndarray of the shape of
        `epsilon`; a ValueError if a share is below 0, or is 1 or more.
        """
        shares = np.asarray(epsilon, dtype=np.float64)
        if not ((shares >= 0) & (shares < 1)).all():
            raise ValueError(f"'epsilon' must be at least 0 and less than 1, got {epsilon!r}")
        ordered = np.sort(self.margins, axis=None)
        # rounding of the product must not lose the last one
        allowed = np.floor(shares * ordered.size + 1e-9).astype(np.intp)
        gamma = ordered[np.minimum(allowed, ordered.size - 1)] / self.c_f
        return float(gamma) if gamma.ndim == 0 else gamma

    def loss(
        self, loss: str | Callable[[Any], ArrayLike] = "hinge", *, gamma: float = 1.0
    ) -> float:
        r"""Return the mean of L(G(x)) over the points: the :math:`\varepsilon` of definition 4.6.

        Parameters
        ----------
        loss : {"hinge", "logistic"} or callable, default="hinge"
            :math:`[1 - t / \gamma]_+`, of Lipschitz constant :math:`1 / \gamma`;
            :math:`\ln(1 + e^{-t})`, of constant 1; or a function of an array of margins.
        gamma : float, default=1.0
            The margin of the hinge loss, above 0.

        Returns
        -------
        float

        Raises
        ------
        ValueError
            If an argument is invalid.
        """
        check_positive(gamma=gamma)
        if callable(loss):
            return float(np.asarray(loss(self.margins)).mean())
        if loss not in ("hinge", "logistic"):
            raise ValueError(f"'loss' must be 'hinge', 'logistic' or a callable, got {loss!r}")
        scale = gamma if loss == "hinge" else 1.0
        return float(LOSSES[loss].value(self.margins / scale).mean())

    @property
    def misplaced(self) -> float:
        r"""The share of points with no margin above 0: the least :math:`\varepsilon`."""
        return float((self.margins <= 0).mean())

    @property
    def error(self) -> float:
        """The error of the classifier of theorem 4.2 with all pairs of other points as landmarks.

        Of several classes it predicts the one with the largest value; a tie is an error.
        """
        if len(self.margins) == 1:
            return self.misplaced
        inside, values = self.sides > 0, self.sides * self.margins
        others = np.where(inside, -np.inf, values).max(axis=0)
        return float((np.where(inside, values, -np.inf).max(axis=0) <= others).mean())


def classification_goodness(
    X: Any,
    y: Any,
    *,
    similarity: Any = "gaussian",
    transfer: Any = None,
    weights: ArrayLike | None = None,
    c_f: float = 1.0,
) -> Goodness:
    r"""Measure how good a similarity is on a sample.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Points, or the matrix of their similarities.
    y : array-like of shape (n_samples,)
        Classes, at least two and each at least twice.
    similarity : str, Kernel or callable, default="gaussian"
        The similarity, or "precomputed".
    transfer : Transfer, str or float, default=None
        The function f of definition 4.1, see :func:`kernlearn.landmarks.as_transfer`; "sign"
        is the criterion of Wang et al. None is the one of Balcan & Blum. Identity, sign and
        ramps take :math:`O(n \log n)` per point for all of its pairs, other functions
        :math:`O(n^2)`: draw a sample of some hundred points for these.
    weights : array-like of shape (n_samples,), default=None
        w(x) of each point; a pair (x', x'') has the weight w(x')w(x''), as in equation 4.2,
        except for Balcan & Blum, where x' has w(x') and x'' has w(x''). None is 1 for all.
    c_f : float, default=1.0
        :math:`C_f` of equation 4.3. Appendix A has 1 for identity and sign, and so has the
        proof of theorem 4.2; with 2 the sign's :math:`\gamma` is that of equation A.1. The
        definition as printed, the supremum less the infimum of f over the values of K, is 0 for
        the sign of a similarity above 0.

    Returns
    -------
    Goodness

    Raises
    ------
    ValueError
        If an argument is invalid, or a class has a single point.

    References
    ----------
    Kar (2013), definitions 4.1, 4.6, A.1 and A.2; Balcan & Blum (2006); Wang, Yang & Feng
    (2007).

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kernlearn.theory import classification_goodness
    >>> X, y = load_wine(return_X_y=True)
    >>> good = classification_goodness(X, y == 0, transfer="sign")
    >>> round(good.misplaced, 3), round(good.epsilon(0.5), 3), round(good.gamma(0.1), 3)
    (0.079, 0.152, 0.036)
    """
    check_positive(c_f=c_f)
    f = None if transfer is None else as_transfer(transfer)
    K, y = _similarities(X, y, similarity)
    check_labels(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2 or np.bincount(codes).min() < 2:
        raise ValueError("'y' must have at least two classes, and two points of each")
    n = len(codes)
    w = np.ones(n)
    if weights is not None:
        w = check_array(weights, ensure_2d=False, dtype=np.float64, input_name="weights")
        if w.shape != (n,):
            raise ValueError(f"'weights' must have shape ({n},), got {w.shape}")
    members = np.eye(len(classes))[codes]
    # numbers of other points inside and outside each class
    inside = members.sum(axis=0) - members
    outside = n - 1 - inside
    margins = np.empty(members.shape)
    for i, values in enumerate(K):
        others = w.copy()
        others[i] = 0.0  # a point is not compared with itself
        if f is None:
            # Without what is common to a row more digits are kept, and equal values give zero.
            weighted = others * (values - values[0] if weights is None else values)
            sums = weighted @ members
            margins[i] = sums / inside[i] - (weighted.sum() - sums) / outside[i]
        else:
            # An antisymmetric function sums to zero over the pairs inside a class. So the sum over
            # pairs (inside, outside) is that over (inside, all), for every class at once.
            weighted = others * _pair_sums(values, others, f)
            margins[i] = weighted @ members / (inside[i] * outside[i])
    sides = 2 * members - 1
    shown = slice(1 if len(classes) == 2 else 0, None)  # two classes are a single problem
    bound = float(np.abs(w).max()) ** (1 if f is None else 2)
    margins = np.ascontiguousarray((sides * margins).T[shown])
    return Goodness(margins, classes[shown], sides.T[shown], float(c_f), bound)


def scaled_goodness(X: Any, y: Any, similarity: Any, kind: str = "similarity") -> Goodness:
    """Measure how good a similarity is that is divided by its greatest absolute value."""
    if kind == "distance" and similarity != "precomputed":
        similarity = CallableKernel(as_kernel(similarity), kind=kind)
    elif kind == "distance":
        X = 0.0 - X
    K, y = _similarities(X, y, similarity)
    return classification_goodness(K / (np.abs(K).max() or 1.0), y, similarity="precomputed")


def compare_similarities(
    X: Any,
    y: ArrayLike,
    similarities: Mapping[str, Any],
    *,
    model: BaseEstimator | None = None,
    cv: Any = None,
    epsilon: float = 0.1,
) -> "pd.DataFrame":
    """Compare several similarities on the same held-out points.

    Parameters
    ----------
    X : sequence of n_samples points
        An array, a list or a data frame.
    y : array-like of shape (n_samples,)
        Classes, of each at least two held-out points.
    similarities : mapping of str to str, Kernel or callable
        The similarities by name.
    model : estimator, default=None
        A classifier with a parameter ``similarity``; by default ``BBSClassifier`` with ten
        landmarks and seed 0.
    cv : int, cross-validation generator or iterable, default=None
        The splits, as in :func:`sklearn.model_selection.cross_validate`.
    epsilon : float, default=0.1
        Share of the points that need not reach the margin.

    Returns
    -------
    pandas.DataFrame
        A row for each similarity, the most accurate first: means over the splits of
        ``fit_time`` and ``score_time`` in seconds, ``accuracy``, and :attr:`Goodness.error` and
        :meth:`Goodness.gamma` of the held-out points, with the similarity divided by its greatest
        absolute value.

    Raises
    ------
    ValueError
        If an argument is invalid, or a similarity does not compare such points.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernlearn.theory import compare_similarities
    >>> X, y = load_iris(return_X_y=True)
    >>> similarities = {name: name for name in ("cosine", "gaussian", "scipy.canberra")}
    >>> compare_similarities(X, y, similarities)[["accuracy", "error"]].round(3)
                    accuracy  error
    gaussian           0.980  0.080
    cosine             0.973  0.113
    scipy.canberra     0.947  0.060
    """
    import pandas as pd
    from sklearn.model_selection import check_cv, cross_validate

    def scores(model: Any, X: Any, y: Any) -> dict[str, float]:
        good = scaled_goodness(X, y, model.similarity, getattr(model, "kind", "similarity"))
        return {"accuracy": model.score(X, y), "error": good.error, "gamma": good.gamma(epsilon)}

    model = model or BBSClassifier(10, random_state=0)
    splits = [*check_cv(cv, y, classifier=True).split(X, y)]
    rows = {}
    for name, similarity in similarities.items():
        copy = clone(model).set_params(similarity=similarity)
        measured = cross_validate(copy, X, y, cv=splits, scoring=scores, error_score="raise")
        rows[name] = {k.removeprefix("test_"): v.mean() for k, v in measured.items()}
    table = pd.DataFrame.from_dict(rows, orient="index")
    return table.sort_values("accuracy", ascending=False, kind="stable")


def _pair_sums(values: Floats, weights: Floats, f: Any) -> Floats:
    """Return the sums of weights_j f(values_i - values_j) over j, for each i."""
    if isinstance(f, Identity):
        centred = values - values[0]
        return weights.sum() * centred - weights @ centred
    if not isinstance(f, Sign | Ramp):
        return np.asarray(f(values[:, np.newaxis] - values) @ weights, dtype=np.float64)
    # A difference within the reach counts slope times itself, one beyond it its sign.
    slope, reach = (f.slope, 1 / f.slope) if isinstance(f, Ramp) else (0.0, 0.0)
    order = np.argsort(values)
    ordered = values[order]
    first = np.searchsorted(ordered, ordered - reach, side="left")
    end = np.searchsorted(ordered, ordered + reach, side="right")
    # Moments about the smallest number keep more digits, and those of equal numbers are 0.
    above = ordered - ordered[0]
    total = np.concatenate([[0.0], np.cumsum(weights[order])])
    moment = np.concatenate([[0.0], np.cumsum(weights[order] * above)])
    within = above * (total[end] - total[first]) - (moment[end] - moment[first])
    sums = np.empty(len(values))
    sums[order] = total[first] - (total[-1] - total[end]) + slope * within
    return sums


@dataclass(frozen=True, eq=False)
class SupervisedGoodness:
    r"""The best predictor with bounded weights on a sample.

    Attributes
    ----------
    loss : float
        :math:`\varepsilon_0`: its mean loss, the smallest for this bound.
    weights : ndarray of shape (n_samples,)
        w(x) of each point.
    predictions : ndarray of shape (n_samples,)
        f(x) of each point; NaN for documents of queries that were left out.
    choice : ndarray of shape (n_samples,) or None
        R(x): the probability with which each point is a landmark; only for regression.
    thresholds : ndarray of shape (n_grades - 1,) or None
        :math:`b_2, \ldots, b_r`; only for grades.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.theory import regression_goodness
    >>> x = np.linspace(-3, 3, 60)
    >>> good = regression_goodness(x[:, None], np.sin(x), bound=4)
    >>> round(float(good.loss), 3)
    0.132
    """

    loss: float
    weights: Floats
    predictions: Floats
    choice: Floats | None = None
    thresholds: Floats | None = None


def regression_goodness(
    X: Any,
    y: ArrayLike,
    *,
    bound: float,
    epsilon: float = 0.1,
    loss: str = "epsilon_insensitive",
    tau: float = 1.0,
    similarity: Any = "gaussian",
) -> SupervisedGoodness:
    r"""Return the smallest loss of a predictor with bounded weights, for regression.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Points, or the matrix of their similarities. Time grows with about the cube of their
        number: draw a sample of 500 at most.
    y : array-like of shape (n_samples,)
        Targets.
    bound : float
        The largest absolute weight B > 0.
    epsilon : float, default=0.1
        The insensitivity of the loss :math:`[|f - y| - \varepsilon]_+`, at least 0.
    loss : {"epsilon_insensitive", "squared"}, default="epsilon_insensitive"
        The loss; "squared" is :math:`(f - y)^2`.
    tau : float, default=1.0
        The share of points that are informative (definition 5.7), above 0 and at most 1, where
        1 is definition 5.2; only for the first loss.
    similarity : str, Kernel or callable, default="gaussian"
        The similarity, or "precomputed".

    Returns
    -------
    SupervisedGoodness
        The similarity is (`loss`, `bound`, `tau`)-good on the sample.

    Raises
    ------
    ValueError
        If an argument is invalid.

    Notes
    -----
    Definition 5.7 has a choice function R with values 0 and 1, and finding the best one is a
    hard combinatorial problem. Here R may be a probability, as in the thesis' own proof of
    theorem 5.10. Then :math:`f(x) = \frac1{\tau n} \sum_j R_j w_j K(x, x_j)`, and the possible
    :math:`v_j = R_j w_j / \tau` are those with :math:`|v_j| \le B / \tau` and
    :math:`\frac1n \sum |v_j| \le B`: a linear program.

    References
    ----------
    Kar (2013), definitions 5.2 and 5.7, theorem 5.10.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.theory import regression_goodness
    >>> x = np.linspace(-3, 3, 60)
    >>> for bound in (1, 4, 16):
    ...     print(round(regression_goodness(x[:, None], np.sin(x), bound=bound).loss, 3))
    0.345
    0.132
    0.019
    """
    check_positive(bound=bound)
    check_fraction(tau=tau)
    check_nonnegative(epsilon=epsilon)
    if loss not in ("epsilon_insensitive", "squared"):
        raise ValueError(f"'loss' must be 'epsilon_insensitive' or 'squared', got {loss!r}")
    if loss == "squared" and tau != 1:
        raise ValueError("'tau' must be 1 for loss='squared'")
    K, target = _similarities(X, y, similarity)
    target, n = target.astype(np.float64), len(target)
    averages = K / n
    if loss == "squared":
        v = _bounded_least_squares(averages, target, bound)
        losses = (averages @ v - target) ** 2
    else:
        # variables: positive and negative parts of v, losses
        unit, ones = np.eye(n), np.ones(n)
        rows = [[averages, -averages, -unit], [-averages, averages, -unit], [ones, ones, 0 * ones]]
        solution = _linear_program(
            np.repeat([0, 0, 1], n),
            np.block(rows),
            np.concatenate([target + epsilon, epsilon - target, [n * bound]]),
            lower=np.zeros(3 * n),
            upper=np.repeat([bound / tau, bound / tau, np.inf], n),
        )
        v = solution[:n] - solution[n : 2 * n]
        losses = np.maximum(np.abs(averages @ v - target) - epsilon, 0.0)
    # v = R w / τ with |w| ≤ B and R in [0, 1] of mean τ
    least = np.clip(np.abs(v) * (tau / bound), 0.0, 1.0)
    room, missing = 1 - least.mean(), tau - least.mean()
    choice = least + (1 - least) * (missing / room if missing > 0 else 0.0)
    weights = np.divide(tau * v, choice, out=np.zeros(n), where=choice > 0)
    weights = np.clip(weights, -bound, bound)
    return SupervisedGoodness(float(losses.mean()), weights, averages @ v, choice)


def ordinal_goodness(
    X: Any,
    y: ArrayLike,
    *,
    bound: float,
    margin: float = 1.0,
    spacing: float = 0.0,
    similarity: Any = "gaussian",
) -> SupervisedGoodness:
    r"""Return the smallest margin loss of a predictor with bounded weights, for grades.

    The loss of a point of grade i is :math:`[\gamma - f(x) + b_i]_+ + [\gamma - b_{i+1} +
    f(x)]_+` with the best thresholds :math:`b_2 \le \ldots \le b_r`,
    :math:`b_1 = -\infty` and :math:`b_{r+1} = \infty`.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        As in :func:`regression_goodness`.
    y : array-like of shape (n_samples,)
        Grades, at least two: whole numbers, or words in the order of a categorical, else of the
        alphabet, with a warning.
    bound : float
        The largest absolute weight B > 0.
    margin : float, default=1.0
        :math:`\gamma > 0`.
    spacing : float, default=0.0
        The smallest distance :math:`\Delta` of two thresholds that theorem 5.16 needs.
    similarity : str, Kernel or callable, default="gaussian"
        The similarity, or "precomputed".

    Returns
    -------
    SupervisedGoodness
        With thresholds.

    Raises
    ------
    ValueError
        If an argument is invalid.

    References
    ----------
    Kar (2013), definition 5.14.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.theory import ordinal_goodness
    >>> x = np.linspace(-3, 3, 60)
    >>> good = ordinal_goodness(x[:, None], np.digitize(x, [-1, 1]), bound=4, margin=0.5)
    >>> round(good.loss, 3), good.thresholds.shape
    (0.126, (2,))
    """
    check_positive(bound=bound, margin=margin)
    check_nonnegative(spacing=spacing)
    grades, codes, _ = encode_grades(y)
    K, _ = _similarities(X, codes, similarity)
    n, r = len(codes), len(grades) - 1
    averages = K / n
    # variables: weights, thresholds, losses to the left and to the right
    above, below, unit = np.flatnonzero(codes > 0), np.flatnonzero(codes < r), np.eye(n)
    none, bars = np.zeros((n, n)), np.eye(r)
    steps = np.eye(r - 1, r) - np.eye(r - 1, r, 1)
    rows = [
        [-averages[above], bars[codes[above] - 1], -unit[above], none[above]],
        [averages[below], -bars[codes[below]], none[below], -unit[below]],
        [none[: r - 1], steps, none[: r - 1], none[: r - 1]],
    ]
    solution = _linear_program(
        np.repeat([0, 0, 1, 1], (n, r, n, n)),
        np.block(rows),
        np.repeat([-margin, -spacing], [len(above) + len(below), r - 1]),
        lower=np.repeat([-bound, -np.inf, 0, 0], (n, r, n, n)),
        upper=np.repeat([bound, np.inf, np.inf, np.inf], (n, r, n, n)),
    )
    weights, thresholds = solution[:n], solution[n : n + r]
    predictions = averages @ weights
    ends = np.concatenate([[-np.inf], thresholds, [np.inf]])
    losses = np.maximum(margin - predictions + ends[codes], 0)
    losses += np.maximum(margin - ends[codes + 1] + predictions, 0)
    return SupervisedGoodness(float(losses.mean()), weights, predictions, thresholds=thresholds)


def ranking_goodness(
    X: Any,
    y: ArrayLike,
    *,
    bound: float,
    qid: ArrayLike | None = None,
    similarity: Any = "gaussian",
) -> SupervisedGoodness:
    r"""Return the smallest squared loss of a predictor with bounded weights, for ranking.

    The loss of a query is :math:`\|f - \eta(r)\|_2^2`, where :math:`f_i = E_z w(z) K(z_i, z)`
    and z is a random document of a random query. :math:`\eta` is not defined for queries
    without a relevant document: these are left out.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        Documents with their queries, as in :func:`regression_goodness`.
    y : array-like of shape (n_samples,)
        Relevances, 0 or more.
    bound : float
        The largest absolute weight B > 0.
    qid : array-like of shape (n_samples,), default=None
        The query of each document; None for one query.
    similarity : str, Kernel or callable, default="gaussian"
        The similarity, or "precomputed".

    Returns
    -------
    SupervisedGoodness

    Raises
    ------
    ValueError
        If an argument is invalid or no document is relevant.

    References
    ----------
    Kar (2013), definition 5.18.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.theory import ranking_goodness
    >>> x, query = np.tile(np.linspace(-1, 1, 10), 4), np.repeat(np.arange(4), 10)
    >>> round(ranking_goodness(x[:, None], x > 0, qid=query, bound=4).loss, 3)
    0.014
    """
    check_positive(bound=bound)
    queries = check_queries(y, qid)
    eta = queries.normalized_gains()
    used = np.flatnonzero(~np.isnan(eta))
    if not len(used):
        raise ValueError("'y' must contain a relevance above 0")
    K, _ = _similarities(X, queries.relevance, similarity)
    _, codes, sizes = np.unique(queries.codes[used], return_inverse=True, return_counts=True)
    averages = K[np.ix_(used, used)] / (len(sizes) * sizes[codes])
    weights, predictions = np.zeros(len(eta)), np.full(len(eta), np.nan)
    weights[used] = _bounded_least_squares(averages, eta[used], bound)
    predictions[used] = averages @ weights[used]
    losses = (predictions[used] - eta[used]) ** 2
    return SupervisedGoodness(float(losses.sum()) / len(sizes), weights, predictions)


def _similarities(X: Any, y: Any, similarity: Any) -> tuple[Floats, NDArray[Any]]:
    """Return the similarities of all points to all, and the targets."""
    kernels = kernels_of(similarity, "similarity")
    values, y = check_training(BaseEstimator(), X, y, kernels)
    if kernels:
        values = compared(kernels[0].fitted_to(values, y), values, values)
    return values.astype(np.float64), y


def _linear_program(
    costs: Floats, A: Floats, b: Floats, *, lower: Floats, upper: Floats
) -> Floats:
    """Minimise costs @ x over A @ x ≤ b within bounds, by HiGHS."""
    from scipy.optimize import linprog

    bounds = np.column_stack([lower, upper])
    result = interruptible(lambda: linprog(costs, A, b, bounds=bounds, method="highs"))
    if not result.success:
        raise ValueError(f"HiGHS found no best weights: {result.message}")
    return np.clip(result.x, lower, upper)


def _bounded_least_squares(averages: Floats, target: Floats, bound: float) -> Floats:
    """Minimise ‖averages @ w - target‖ over |w| ≤ B."""
    from scipy.optimize import lsq_linear

    # Gram matrices have tiny eigenvalues: "trf" stops far from the minimum, or never
    result = lsq_linear(averages, target, (-bound, bound), method="bvls", max_iter=_MAX_STEPS)
    if not result.success:
        warn(
            f"the best weights were not reached in {_MAX_STEPS} steps: {result.message}",
            ConvergenceWarning,
        )
    return result.x
