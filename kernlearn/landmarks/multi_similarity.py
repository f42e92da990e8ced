"""A linear separator on several similarities, each to landmarks of its own."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from kernlearn.constraints import COUNT
from kernlearn.kernels import Kernel
from kernlearn.landmarks.bbs import LandmarkClassifier
from kernlearn.landmarks.forward_selection import Fitted, View, add_while_it_pays
from kernlearn.landmarks.group_weights import group_lasso, group_sizes, slices_of
from kernlearn.landmarks.parts import as_measures
from kernlearn.landmarks.similarity import Floats, Indices, KeptSimilarities, Landmarks
from kernlearn.landmarks.similarity_classifier import Training
from kernlearn.solvers.linear_path import linear_paths


@dataclass(eq=False, repr=False)
class MultiSimilarityClassifier(LandmarkClassifier):
    r"""Linear separation by several similarities, which share a budget of comparisons.

    When to use it: several measures, or records whose parts are compared in different ways, and
    not known which of them pay.

    A point is embedded as :math:`\Psi(x) = (K_m(x, l_{mj}))` for the landmarks :math:`l_{m1},
    l_{m2}, \ldots` of each similarity m, and classified by a linear separator, as by
    :class:`BBSClassifier`. Landmarks are added as long as the validation points gain: of all
    similarities the one is taken by whose next landmarks (5, or as many as classes, then as many
    as it has) the validation accuracy is best. A set is kept if its gain over the set kept before
    is more than the standard error of the gain, of the accuracy, or without a loss of accuracy of
    the separators' loss; the search ends after two additions in succession that are not kept, or
    when a prediction would make more than `max_comparisons`. Similarities that do not pay are not
    among the groups that are kept.

    Finally the weights of the similarities are learnt, by the group lasso,

    .. math:: \frac12 \Bigl(\sum_m \|w_m\|\Bigr)^2 + C \sum_i \ell(x_i, y_i),

    which may drop a similarity as well, and used if the validation points say so, rather than the
    same penalty for all weights.

    Parameters
    ----------
    similarities : sequence, default=("gaussian", "linear")
        Each a similarity as for :class:`BBSClassifier`, or a pair of one and the part of a point
        that it compares: numbers or names of columns of X, or a function of a point, as
        ``operator.itemgetter("name")`` of a dict. With a function, X is a sequence of objects.
    max_comparisons : int, default=100
        The most comparisons of a prediction, of all similarities together.
    kind : {"similarity", "distance"} or sequence of these, default="similarity"
        That of all similarities, or of each.
    selection : str, default="random"
        How the landmarks of each similarity are chosen, as for :class:`BBSClassifier`.
    normalize : bool, default=True
        Whether each similarity is divided by its greatest absolute value between training points
        and landmarks.
    C, loss, solver, tol, fit_intercept
        As for :class:`BBSClassifier`.
    validation_fraction : float, default=0.2
        Share of the training points that is held out for choosing, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points, the landmarks, and the solver's order of points.
    class_weight, calibration
        As for :class:`BBSClassifier`.
    n_jobs, verbose
        As for :class:`BBSClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    landmark_indices_ : list of ndarray
        Rows of each similarity's landmarks in the X passed to `fit`; none for one that is dropped.
    similarity_weights_ : ndarray of shape (n_similarities,)
        The share of each similarity, :math:`\|w_m\| / \sum_j \|w_j\|`; 0 for one that is dropped.
    learnt_weights_ : bool
        Whether the group lasso was better than the same penalty for all.
    coef_ : ndarray of shape (n_problems, n_landmarks)
        Weights of the landmarks of all similarities, in order.
    intercept_ : ndarray of shape (n_problems,)
        Zeros without ``fit_intercept``.
    scales_ : ndarray of shape (n_similarities,)
        The divisors of similarities.
    C_ : float
        The C chosen.
    best_params_ : dict
        The values chosen, by parameter name.
    validation_scores_ : ndarray of shape (n_weightings, n_C)
        Accuracy on the validation points of the landmarks kept, with each C, ascending; in a
        second row, if there are several similarities, with learnt weights.
    growth_ : tuple of TriedSize
        What was tried, what it gained and the comparisons made.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    BBSClassifier : One similarity.

    Notes
    -----
    With a budget of B comparisons per prediction, `fit` compares each of n training and validation
    points with at most 2 B landmarks, and at least 5 of each of the M similarities: about
    n (2 B + 5 M) comparisons, besides those of the selection.

    References
    ----------
    Z. Xu, R. Jin, H. Yang, I. King, M. R. Lyu. Simple and efficient multiple kernel learning by
    group lasso. ICML 2010. R. Kohavi, G. H. John. Wrappers for feature subset selection.
    Artificial Intelligence 97, 1997: forward selection on held-out points.

    Examples
    --------
    >>> from operator import itemgetter
    >>> from kernlearn.landmarks import MultiSimilarityClassifier
    >>> people = [{"name": name, "age": age} for name in ("anna", "hanna", "otto", "lotto")
    ...           for age in range(20, 40)]
    >>> y = [person["name"] in ("anna", "hanna") for person in people]
    >>> by_name, by_age = ("levenshtein", itemgetter("name")), ("gaussian", itemgetter("age"))
    >>> model = MultiSimilarityClassifier([by_name, by_age], random_state=0).fit(people, y)
    >>> bool(model.similarity_weights_[0] > 0.9)
    True
    >>> model.predict([{"name": "hannah", "age": 70}])
    array([ True])
    """

    similarities: Sequence[Any] = ("gaussian", "linear")
    max_comparisons: int = 100
    _: KW_ONLY
    kind: Any = "similarity"
    selection: str = "random"
    normalize: bool = True
    C: Any = (1, 10, 100, 1000)
    loss: str = "squared_hinge"
    solver: str = "auto"
    tol: float | None = None
    fit_intercept: bool = False
    validation_fraction: float = 0.2
    random_state: Any = None
    class_weight: Any = None
    calibration: str | None = None
    n_jobs: int | None = None
    verbose: Any = False

    _parameter_constraints = {
        **LandmarkClassifier._parameter_constraints,
        "similarities": [list, tuple],
        "max_comparisons": [COUNT],
        "kind": [str, list, tuple],
    }

    @property
    def n_comparisons_(self) -> int:
        """Number of comparisons that a prediction makes."""
        check_is_fitted(self)
        return sum(len(landmarks) for landmarks in self._landmarks)

    def _add_scores(self, X: Any, scores: np.ndarray) -> None:
        for measure, landmarks, weights in zip(
            self._measures, self._landmarks, self._weights, strict=True
        ):
            if len(landmarks):
                for rows, similarities in landmarks.blocks(self._part(measure, X)):
                    scores[rows] += similarities @ weights

    @property
    def _precomputed(self) -> bool:
        return False

    def _compared_by(self) -> list[Kernel]:
        return [measure.kernel for measure in as_measures(self.similarities, self.kind)]

    def _takes_objects(self, X: Any) -> bool:
        parts = [measure.part for measure in as_measures(self.similarities, self.kind)]
        if not any(map(callable, parts)):
            return super()._takes_objects(X)
        return len(X.shape) == 1 if hasattr(X, "shape") else isinstance(X, (list, tuple))

    def _part(self, measure: Any, X: Any) -> Any:
        return measure.of(X, getattr(self, "feature_names_in_", None))

    def _n_choices(self, grid: dict[str, Any]) -> int:
        return max(super()._n_choices(grid), 2)

    def _compared(self, X: Any, labels: Any, rows: Indices) -> tuple[Any, Any]:
        candidates, kept = [], []
        for measure in as_measures(self.similarities, self.kind):
            points = self._part(measure, X)
            fitted, tally = self._fitted_kernel(measure.kernel, points, labels)
            candidates.append(Landmarks(rows, points, fitted, measure.sign, tally))
            kept.append(KeptSimilarities(candidates[-1], points, places=rows))
        return candidates, kept

    def _learn(self, data: Training, grid: dict[str, Any], rng: np.random.RandomState) -> None:
        options, Cs = self._solver_options(rng), grid["C"]
        candidates: Any = data.candidates
        similarities: Any = data.similarities
        seeds = rng.randint(np.iinfo(np.int32).max, size=len(candidates))
        self._measures = as_measures(self.similarities, self.kind)
        views = []
        for measure, landmarks, kept, seed in zip(
            self._measures, candidates, similarities, seeds, strict=True
        ):
            held_out = KeptSimilarities(landmarks, self._part(measure, data.X_val))
            views.append(View(landmarks, kept, held_out, self.selection, seed))

        def fit(sizes: tuple[int, ...]) -> Fitted:
            return self._fit_at(sizes, views, data, Cs, options)

        n_compared = len(data.codes) + data.X_val.shape[0]
        found, self.growth_ = add_while_it_pays(
            views, fit, data.codes, self.max_comparisons, data.weights_val, n_compared
        )
        self.learnt_weights_ = False
        scores = [found.scores]
        if np.count_nonzero(found.sizes) > 1:
            learnt = self._fit_at(found.sizes, views, data, Cs, options, learnt=True)
            scores.append(learnt.scores)
            if learnt.order < found.order:
                found, self.learnt_weights_ = learnt, True
        self.validation_scores_ = np.array(scores)
        self._keep(found, views)

    def _fit_at(
        self,
        sizes: tuple[int, ...],
        views: list[View],
        data: Training,
        Cs: np.ndarray,
        options: dict[str, Any],
        *,
        learnt: bool = False,
    ) -> Fitted:
        """Train with the first landmarks of each similarity, and choose C."""
        for view, size in zip(views, sizes, strict=True):
            view.take(size, data.codes)
        blocks = [
            view.features(n, self.normalize) for view, n in zip(views, sizes, strict=True) if n
        ]
        features = np.hstack([block for block, _, _ in blocks])
        held_out = np.hstack([block for _, block, _ in blocks])
        options = {**options, "weights": data.weights}
        if learnt:
            coef, intercept = _learnt_paths(
                features, data.targets, Cs, slices_of([n for n in sizes if n]), options
            )
        else:
            coef, intercept = linear_paths(features, data.targets, Cs, **options)
        board = self._scored(data, coef, intercept, held_out)
        best = board.best(each=False)[0][1]
        losses = 1.0 - board.correct(0, best)
        dtype = held_out.dtype
        return Fitted(
            sizes,
            coef[:, best].astype(dtype),
            intercept[:, best].astype(dtype),
            float(Cs[best]),
            losses,
            board.losses(0, best),
            board.mean_loss(0, best),
            board.accuracies(each=False)[0],
        )

    def _keep(self, found: Fitted, views: list[View]) -> None:
        groups = slices_of(found.sizes)
        weights = group_sizes(found.coef, groups)
        self.similarity_weights_ = weights / (weights.sum() or 1.0)
        self.C_, self.best_params_ = found.C, {"C": found.C}
        self.intercept_, coefs = found.intercept, []
        kept: list[Landmarks] = []
        self._weights, self.landmark_indices_, scales = [], [], []
        for view, size, group in zip(views, found.sizes, groups, strict=True):
            coef = found.coef[:, group]
            chosen = view.chosen[: size if coef.any() else 0]
            scales.append(view.features(size, self.normalize)[2] if len(chosen) else 1.0)
            self.landmark_indices_.append(view.landmarks.indices[chosen])
            coefs.append(coef[:, : len(chosen)])
            used = np.flatnonzero(coefs[-1].any(axis=0))
            kept.append(view.landmarks.take(chosen[used]))
            self._weights.append((coefs[-1].T[used] / scales[-1]).astype(coef.dtype))
        self.coef_, self.scales_ = np.hstack(coefs), np.array(scales)
        self._landmarks: Any = kept


def _learnt_paths(
    features: Floats,
    targets: np.ndarray,
    Cs: np.ndarray,
    groups: list[slice],
    options: dict[str, Any],
) -> tuple[Floats, Floats]:
    """Return weights and intercepts with learnt weights of groups, as `linear_paths` does."""
    coefs, intercepts = [], []
    for C in Cs:
        offsets = np.zeros(len(targets))

        def solve(factors: Floats, C: float = C, offsets: Floats = offsets) -> Floats:
            coef, intercept = linear_paths(
                features * factors.astype(features.dtype), targets, [C], **options
            )
            offsets[:] = intercept[:, 0]
            return coef[:, 0]

        coefs.append(group_lasso(solve, groups)[0])
        intercepts.append(offsets)
    return np.stack(coefs, axis=1), np.stack(intercepts, axis=1)
