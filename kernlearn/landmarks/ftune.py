"""FTUNE: pairs of landmarks, with a transfer function chosen on validation points."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any

import numpy as np
from joblib import effective_n_jobs, parallel_config
from sklearn.base import clone
from sklearn.utils import gen_batches
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted, check_memory

from kernlearn.constraints import MEMORY, StrOptions
from kernlearn.landmarks.bbs import LandmarkClassifier, Training
from kernlearn.landmarks.growing_classifier import GrowsPairs
from kernlearn.landmarks.growth import Candidate, TriedSize
from kernlearn.landmarks.selection import pairs_from, select_pairs
from kernlearn.landmarks.similarity import Indices, KeptSimilarities, by_column
from kernlearn.landmarks.transfer import NAMED, Transfer, as_transfer
from kernlearn.model_selection import Scoreboard
from kernlearn.solvers.linear_path import Path, linear_path


@dataclass(frozen=True)
class WeightedPair:
    """A pair of landmarks and its weight in the decision function.

    Attributes
    ----------
    label : object
        The class of x⁺.
    positive, negative : int
        Rows of x⁺ and x⁻ in the training data as passed to `fit`.
    weight : float
        w(x⁺, x⁻) in definition 4.1.
    transfer : Transfer
        The function applied to K(x, x⁺) - K(x, x⁻).
    """

    label: Any
    positive: int
    negative: int
    weight: float
    transfer: Transfer


@dataclass(eq=False, repr=False)
class FTuneClassifier(GrowsPairs, LandmarkClassifier):
    r"""Linear separation in a landmarked space whose transfer function is learnt (FTUNE).

    When to use it: as :class:`BBSClassifier`, where comparing two similarities says more than
    their values do.

    A point is embedded as :math:`\Phi(x) = (f(K(x, x_i^+) - K(x, x_i^-)))_{i \le d}` for d
    pairs of training points of a class and of the rest, drawn for each one-vs-all problem, and
    classified by :math:`\operatorname{sgn} \sum_i w_i f(K(x, x_i^+) - K(x, x_i^-))`. The
    transfer function f is the best of a family on validation points (algorithm 4). The
    similarity may be indefinite. With ``selection="dselect"`` this is FTUNE+D, with
    ``per_class=True`` FTUNE-M, otherwise FTUNE-S.

    Parameters
    ----------
    n_landmarks : int or "auto", default=100
        Number of landmark pairs d of each one-vs-all problem. Points may be in several. With
        "auto" pairs are drawn from a pool of single points, as many as there are in it, which all
        problems share: at first 5, or as many as classes, then twice as many and so on while the
        validation accuracy gains, as by :class:`BBSClassifier`. "random" then draws the pool as
        "shared" does. ``per_class`` and ``memory`` have no part in that.
    max_comparisons : int, default=None
        With ``n_landmarks="auto"`` the most points in the pool, and so the most comparisons of a
        prediction; None is the number of training points.
    similarity, kind, selection, normalize, loss, solver, tol, fit_intercept
        As for :class:`BBSClassifier`; slopes too depend on the normalisation. With
        ``selection="dselect"`` pairs are drawn from d points chosen by algorithm 3, with
        "kmeans++", "kmedoids", "leverage" and "rpcholesky" from d points chosen by these, with
        "shared" from d points drawn evenly from the classes, which all problems share: a
        prediction then takes no more similarities than with d single landmarks.
    transfers : sequence, default=(1, 5, 10, 50, 100, 1000)
        The family of transfer functions, or a single one: each a :class:`Transfer`, a name
        ("identity", "sign", "ramp", "sigmoid"), the slope of a :class:`Ramp`, or an
        antisymmetric callable. The default is that of section 4.3.
    per_class : bool, default=False
        False (FTUNE-S) chooses one transfer function and one C for all classes, by the
        multi-class accuracy on the validation points. True (FTUNE-M) chooses them for each
        one-vs-all problem, by its own accuracy. Ties go to the smaller mean loss on the
        validation points (over all problems for FTUNE-S), which algorithm 4 minimises; then to
        the first transfer function; then to the smaller C.
    C : float or sequence of float, default=(1, 10, 100, 1000)
        Weight of the loss against the regularizer, chosen along with the transfer function.
    validation_fraction : float, default=0.2
        Share of the training points that is held out for choosing, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points, the pairs, and the solver's order of points.
    memory : str, object with the joblib.Memory interface or None, default=None
        Remembers the separators of all transfer functions and C, which do not depend on
        ``per_class``: as in scikit-learn's pipelines a folder, or an object with a method
        ``cache``.
    n_jobs : int, default=None
        Number of threads that train the one-vs-all problems, and of workers that compare
        points, see :class:`BBSClassifier`; None is 1, -1 all cores.
    class_weight, calibration, verbose
        As for :class:`BBSClassifier`.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    landmark_indices_ : ndarray of shape (n_problems, n_landmarks, 2)
        Rows of x⁺ and x⁻ in the X passed to `fit`; one problem per class, or one, for
        ``classes_[1]``, if there are two.
    coef_ : ndarray of shape (n_problems, n_landmarks)
        Weights of the pairs.
    intercept_ : ndarray of shape (n_problems,)
        Zeros without ``fit_intercept``.
    transfers_ : tuple of Transfer
        The transfer function of each problem; with ``per_class=False`` all are the same.
    transfer_ : Transfer
        That one; only with ``per_class=False``.
    C_ : float or ndarray of shape (n_problems,)
        The C chosen; of each problem with ``per_class=True``.
    best_params_ : dict
        The values chosen, by parameter name; only with ``per_class=False``.
    validation_scores_ : ndarray of shape (n_transfers, n_C) or (n_problems, n_transfers, n_C)
        Accuracy on the validation points of each choice, C ascending; of each problem on its
        own with ``per_class=True``. None without validation points.
    growth_ : tuple of TriedSize
        The sizes of the pool that were tried; only with ``n_landmarks="auto"``.
    scale_ : float
        The divisor of similarities.
    n_features_in_ : int
        Number of features, or of training points with ``similarity="precomputed"``.

    See Also
    --------
    BBSClassifier : Similarities to single landmarks.

    References
    ----------
    Kar (2013), sections 4.2 and 4.3, theorem 4.2, algorithms 3 and 4.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from kernlearn.landmarks import FTuneClassifier
    >>> X, y = make_moons(400, noise=0.1, random_state=0)
    >>> model = FTuneClassifier(n_landmarks=40, random_state=0).fit(X[:300], y[:300])
    >>> model.score(X[300:], y[300:]) > 0.95
    True
    """

    n_landmarks: int | str = 100
    _: KW_ONLY
    max_comparisons: int | None = None
    similarity: Any = "gaussian"
    kind: str = "similarity"
    transfers: Any = (1, 5, 10, 50, 100, 1000)
    per_class: bool = False
    selection: str = "random"
    normalize: bool = True
    C: Any = (1, 10, 100, 1000)
    loss: str = "squared_hinge"
    solver: str = "auto"
    tol: float | None = None
    fit_intercept: bool = False
    validation_fraction: float = 0.2
    random_state: Any = None
    memory: Any = None
    n_jobs: int | None = None
    class_weight: Any = None
    calibration: str | None = None
    verbose: Any = False

    _parameter_constraints = {
        **LandmarkClassifier._parameter_constraints,
        **GrowsPairs._parameter_constraints,
        "transfers": ["array-like", callable, Real, StrOptions(set(NAMED))],
        "per_class": ["boolean"],
        "memory": MEMORY,
    }

    def landmarks(self) -> list[WeightedPair]:
        """Return the landmark pairs with their weights, the w of definition 4.1.

        Returns
        -------
        list of WeightedPair
            Problem by problem, in the order of ``landmark_indices_``.
        """
        check_is_fitted(self)
        labels = self.classes_[-len(self.coef_) :]
        return [
            WeightedPair(label, int(positive), int(negative), float(weight), transfer)
            for label, pairs, weights, transfer in zip(
                labels, self.landmark_indices_, self.coef_, self.transfers_, strict=True
            )
            for (positive, negative), weight in zip(pairs, weights, strict=True)
        ]

    def _grid(self) -> dict[str, Any]:
        given = self.transfers
        if isinstance(given, (str, Real)) or callable(given):
            given = [given]
        if not len(given):
            raise ValueError("'transfers' must hold at least one transfer function")
        return {"transfers": [as_transfer(transfer) for transfer in given], **super()._grid()}

    def _learn(self, data: Training, grid: dict[str, Any], rng: np.random.RandomState) -> None:
        family, Cs = grid.values()
        untuned = clone(self).set_params(per_class=False, memory=None, n_jobs=None, verbose=False)
        train = check_memory(self.memory).cache(_train)
        # told by the context, since what is remembered does not depend on it
        threads = (
            nullcontext()
            if self.n_jobs is None
            else parallel_config("threading", n_jobs=self.n_jobs)
        )
        self.__dict__.pop("growth_", None)  # of an earlier fit
        with threads:
            if self.n_landmarks == "auto":
                found, self.growth_ = _grow(untuned, data, grid, rng)
                pairs, self.scale_, paths, board = found.model
            else:
                pairs, self.scale_, paths, board = train(untuned, data, grid, rng)
        distinct, places = np.unique(pairs, return_inverse=True)
        dtype = paths[0][0][0].dtype
        self.validation_scores_ = None
        if data.X_val is not None:
            self.validation_scores_ = board.accuracies(each=self.per_class)
        rows, columns = zip(*board.best(each=self.per_class), strict=True)
        best = [path[row] for path, row in zip(paths, rows, strict=True)]
        self.coef_ = np.array([c[i] for (c, _), i in zip(best, columns, strict=True)], dtype)
        self.intercept_ = np.array([b[i] for (_, b), i in zip(best, columns, strict=True)], dtype)
        self.C_ = Cs[list(columns)] if self.per_class else float(Cs[columns[0]])
        self.transfers_ = tuple(family[row] for row in rows)
        if self.per_class:
            # from an earlier fit
            self.__dict__.pop("transfer_", None)
            self.__dict__.pop("best_params_", None)
        else:
            self.transfer_ = self.transfers_[0]
            self.best_params_ = {"transfers": repr(self.transfer_), "C": self.C_}
        self.landmark_indices_ = data.candidates.indices[pairs]
        # the landmarks of pairs with a weight, and where these pairs are among them
        places = places.reshape(pairs.shape)
        used = np.unique(places[self.coef_ != 0])
        self._landmarks = data.candidates.take(distinct[used])
        self._pairs = [
            np.searchsorted(used, of_problem[weights != 0])
            for of_problem, weights in zip(places, self.coef_, strict=True)
        ]

    def _embeddings(
        self, points: KeptSimilarities, pairs: Indices, family: list[Transfer]
    ) -> Iterator[np.ndarray]:
        """Yield the points' embedding with each transfer function, all in the same buffer."""
        differences = by_column(self._differences(points.by_landmark, pairs))
        embedded = np.empty_like(differences)
        for transfer in family:
            yield transfer(differences, out=embedded)

    def _differences(
        self, similarities: Callable[[Indices], np.ndarray], pairs: Indices
    ) -> np.ndarray:
        """Return K(x, x⁺) - K(x, x⁻) from the similarities to landmarks, of either shape."""
        differences = similarities(pairs[:, 0])
        differences -= similarities(pairs[:, 1])
        differences /= self.scale_
        return differences

    def _add_scores(self, X: Any, scores: np.ndarray) -> None:
        for rows, similarities in self._landmarks.blocks(X):
            self._add_block(similarities, scores[rows])

    def _add_block(self, similarities: np.ndarray, scores: np.ndarray) -> None:
        for column, pairs, transfer, weights in zip(
            scores.T, self._pairs, self.transfers_, self.coef_, strict=True
        ):
            embedded = self._differences(lambda which: similarities[:, which], pairs)
            column += transfer(embedded, out=embedded) @ weights[weights != 0]


def _train(
    model: FTuneClassifier,
    data: Training,
    grid: dict[str, Any],
    rng: np.random.RandomState,
) -> tuple[Indices, float, list[list[Path]], Scoreboard]:
    """Draw the pairs and train a separator for every problem, transfer function and C.

    Returns the pairs, the divisor of similarities, the separators and their scores.
    """
    options = model._solver_options(rng)
    assert not isinstance(model.n_landmarks, str)
    pairs = select_pairs(model.n_landmarks, data.codes, model.selection, rng, data.similarities)
    validation = None if data.X_val is None else KeptSimilarities(data.candidates, data.X_val)
    return _separators(model, data, grid, options, pairs, validation)


def _grow(
    model: FTuneClassifier,
    data: Training,
    grid: dict[str, Any],
    rng: np.random.RandomState,
) -> tuple[Candidate, tuple[TriedSize, ...]]:
    """Train on pairs of a pool that grows as long as the validation points gain."""
    options = model._solver_options(rng)

    def fit(pool: Indices, spread: bool, validation: KeptSimilarities) -> Candidate:
        pairs = pairs_from(pool, len(pool), data.codes, rng, spread=spread)
        found = _separators(model, data, grid, options, pairs, validation)
        board = found[3]
        best = board.best(each=False)[0]
        losses = 1.0 - board.correct(*best), board.losses(*best)
        return Candidate(pool, found, board.accuracies(each=False), *losses)

    return model._grown_pairs(data, rng, fit)


def _separators(
    model: FTuneClassifier,
    data: Training,
    grid: dict[str, Any],
    options: dict[str, Any],
    pairs: Indices,
    validation: KeptSimilarities | None,
) -> tuple[Indices, float, list[list[Path]], Scoreboard]:
    """Train a separator for every problem, transfer function and C, see `_train`."""
    family, Cs = grid.values()
    similarities, distinct = data.similarities, np.unique(pairs)
    similarities.keep(distinct)
    batches = gen_batches(len(distinct), 256)
    model.scale_ = model._scale(similarities.columns(distinct[batch]) for batch in batches)
    board = model._scoreboard(data, (len(family), len(Cs)))
    kept = [similarities]
    if validation is not None:
        validation.keep(distinct)
        kept.append(validation)

    def solve(problem: int) -> tuple[list[Path], list[np.ndarray]]:
        """Return the separators of a problem, and their values on the validation points."""
        embedded = model._embeddings(kept[0], pairs[problem], family)
        target = data.targets[problem]
        found = [
            linear_path(each, target, Cs, **options, weights=data.weights) for each in embedded
        ]
        scores = []
        for points in kept[1:]:
            embedded = model._embeddings(points, pairs[problem], family)
            for each, (coef, intercept) in zip(embedded, found, strict=True):
                scores.append(each @ coef.T.astype(each.dtype) + intercept)
        return found, scores

    n_problems = len(data.targets)
    paths = []
    if effective_n_jobs(None) == 1:
        solved = map(solve, range(n_problems))
    else:
        for points in kept:  # joins its blocks, which threads must not
            points.by_landmark(distinct[:1])
        solved = iter(Parallel(require="sharedmem")(delayed(solve)(p) for p in range(n_problems)))
    for problem, (found, scores) in enumerate(solved):
        paths.append(found)
        for row, values in enumerate(scores):
            board.add(problem, row, values)
    return pairs, model.scale_, paths, board
