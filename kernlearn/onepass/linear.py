"""Linear classifiers on features of rows that are read several times, for several values of C."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kernlearn import memory
from kernlearn.model_selection import Scoreboard, first_best
from kernlearn.onepass.repeated import RepeatedRows, Survey
from kernlearn.sample_weights import class_weights
from kernlearn.solvers.linear_path import linear_paths
from kernlearn.solvers.pass_newton import PassModels, Sample, solve_by_passes
from kernlearn.solvers.pass_sums import PassSums, Request

Floats = NDArray[np.float64]
Transform = Callable[[Any], NDArray[np.floating]]

_MOST_ROWS = 2**16
_SAMPLE_BYTES = 2**26  # of features that steps are compared on


@dataclass(frozen=True)
class LinearTask:
    """What is to be fitted.

    Attributes
    ----------
    loss : {"squared_hinge", "hinge", "logistic"}
    Cs : sequence of float
        Ascending.
    class_weight : dict, "balanced" or None
    bias : float or None
        The constant feature, whose weight is penalised; None for none.
    tol : float or None
    max_passes : int
    each : bool
        Whether C is chosen for each problem.
    """

    loss: str
    Cs: Sequence[float]
    class_weight: Any = None
    bias: float | None = 1.0
    tol: float | None = None
    max_passes: int = 100
    each: bool = False


@dataclass(frozen=True)
class LinearFit:
    """Linear classifiers, and the C chosen.

    Attributes
    ----------
    coef : ndarray of shape (n_problems, n_features)
    intercept : ndarray of shape (n_problems,)
    places : list of int
        The place of the C of each problem.
    scores : ndarray or None
        Accuracies on the rows held out, (n_values,), or (n_problems, n_values) of each problem.
    models : PassModels
        Those of all values of C.
    """

    coef: Floats
    intercept: Floats
    places: list[int]
    scores: Floats | None
    models: PassModels


def fit_linear(
    rows: RepeatedRows,
    survey: Survey,
    transform: Transform,
    task: LinearTask,
    columns: tuple[slice, ...] | None = None,
) -> LinearFit:
    """Fit linear classifiers, one class against the rest, on features of the rows to train on.

    Features are made anew in each pass, block by block. With rows held out the C is chosen by
    the accuracy there, ties by the smaller mean loss, then by the smaller C.

    Parameters
    ----------
    rows : RepeatedRows
    survey : Survey
        What its first pass told.
    transform : callable
        Takes rows and returns their features.
    task : LinearTask
    columns : tuple of slice, default=None
        The features of each problem, as many for each, if they have features of their own.

    Returns
    -------
    LinearFit
    """
    features = _Features(transform, task.bias, columns)
    sample = features.sample(survey)
    models = _solve(rows, survey, features, sample, task)
    places, scores = [0] * len(models.weights), None
    if survey.n_held and len(task.Cs) > 1:
        places, scores = _choose(rows, survey, features, models, task)
    chosen = np.array(
        [of_problem[i] for of_problem, i in zip(models.weights, places, strict=True)]
    )
    if task.bias is None:
        return LinearFit(chosen, np.zeros(len(chosen)), places, scores, models)
    return LinearFit(chosen[:, :-1], chosen[:, -1] * task.bias, places, scores, models)


class _Features:
    """Features of blocks, with the constant one last; problems may have some of their own."""

    def __init__(
        self, transform: Transform, bias: float | None, columns: tuple[slice, ...] | None
    ) -> None:
        self._transform, self._bias, self._given = transform, bias, columns
        self.columns: tuple[slice, ...] | None = None
        if columns is not None:  # each problem has its constant feature
            extra = int(bias is not None)
            self.columns = tuple(
                slice(each.start + i * extra, each.stop + (i + 1) * extra)
                for i, each in enumerate(columns)
            )

    def __call__(self, X: Any) -> Floats:
        Z = np.asarray(self._transform(X), dtype=np.float64)
        if self._bias is None:
            return Z
        ones = np.full((len(Z), 1), self._bias)
        if self._given is None:
            return np.hstack([Z, ones])
        return np.hstack([part for each in self._given for part in (Z[:, each], ones)])

    def sample(self, survey: Survey) -> Sample:
        """Return features of the sample, or of as many of its rows as fit into a block."""
        width = self(survey.X[:1]).shape[1]
        n_rows = max(_SAMPLE_BYTES // (8 * width), 1)
        return Sample(self(survey.X[:n_rows]), survey.codes[:n_rows])

    def blocks(self, X: Any, width: int) -> Any:
        """Yield slices of rows and their features."""
        size = min(memory.block_rows(width, block_bytes=memory.PRODUCT_BYTES), _MOST_ROWS)
        for start in range(0, X.shape[0], size):
            part = slice(start, min(start + size, X.shape[0]))
            yield part, self(X[part])


def _solve(
    rows: RepeatedRows, survey: Survey, features: _Features, sample: Sample, task: LinearTask
) -> PassModels:
    n_classes, width = len(survey.classes), sample.Z.shape[1]
    weights = _class_weights(survey, task)
    columns = features.columns
    n_weights = width if columns is None else columns[0].stop - columns[0].start
    if len(sample.codes) == survey.n_rows:
        return _solve_in_memory(Request(task.loss, n_classes, weights, (), columns), sample, task)

    def read(request: Request) -> PassSums:
        sums = PassSums(request)
        for X, codes in rows.read(survey.classes):
            for part, Z in features.blocks(X, width):
                sums.add(Z, codes[part])
        return sums

    return solve_by_passes(
        read,
        sample,
        task.Cs,
        loss=task.loss,
        n_rows=survey.n_rows,
        n_weights=n_weights,
        n_classes=n_classes,
        class_weight=weights,
        columns=columns,
        tol=task.tol,
        max_passes=task.max_passes,
    )


def _class_weights(survey: Survey, task: LinearTask) -> Floats | None:
    """Return the weight of each class, 1 for one without rows to train on."""
    if task.class_weight is None:
        return None
    weights, seen = np.ones(len(survey.classes)), survey.counts > 0
    labels, counts = survey.classes[seen], survey.counts[seen].astype(np.float64)
    weights[seen] = class_weights(task.class_weight, labels, labels, counts)
    return weights


def _solve_in_memory(request: Request, sample: Sample, task: LinearTask) -> PassModels:
    """Solve for rows that are all in the sample, by the solver of data in memory."""
    n_problems = request.n_classes if request.n_classes > 2 else 1
    paths = []
    for problem in range(n_problems):
        weights = None
        if request.class_weight is not None:
            weights = request.weights(problem, sample.codes)
        Z, signs = request.part(problem, sample.Z), request.signs(problem, sample.codes)
        if np.ptp(signs) == 0:  # a class that was held out
            paths.append(np.zeros((len(task.Cs), Z.shape[1])))
            continue
        coef, _ = linear_paths(Z, [signs], task.Cs, loss=task.loss, solver="auto", weights=weights)
        paths.append(coef[0])
    nothing = np.full((n_problems, len(task.Cs)), np.nan)
    return PassModels(np.array(paths), nothing, nothing, 0)


def _choose(
    rows: RepeatedRows,
    survey: Survey,
    features: _Features,
    models: PassModels,
    task: LinearTask,
) -> tuple[list[int], Floats]:
    """Return the place of the best C for each problem, and the accuracies."""
    n_problems, n_values, width = models.weights.shape
    request = Request(task.loss, len(survey.classes), None, (), features.columns)
    correct = np.zeros((n_problems if task.each else 1, n_values))
    losses, total = np.zeros((n_problems, n_values)), 0.0
    of_class = _class_weights(survey, task)
    for X, codes in rows.read(survey.classes, held=True):
        for part, Z in features.blocks(X, width):
            weights = None if of_class is None else of_class[codes[part]]
            board = Scoreboard(codes[part], n_problems, (1, n_values), task.loss, weights)
            for problem, of_problem in enumerate(models.weights):
                board.add(problem, 0, request.part(problem, Z) @ of_problem.T)
            size = float(len(Z) if weights is None else weights.sum())
            correct += size * board.accuracies(each=task.each).reshape(correct.shape)
            losses += size * board.problem_losses()[:, 0]
            total += size
    scores = correct / total
    if task.each:
        places = [first_best(-a, b) for a, b in zip(scores, losses, strict=True)]
        return places, scores
    return [first_best(-scores[0], losses.mean(axis=0))] * n_problems, scores[0]
