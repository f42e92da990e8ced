"""Newton's method for linear models on rows that are read again in each step."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from kernlearn import memory
from kernlearn.solvers.newton import Floats
from kernlearn.solvers.pass_sums import (
    LENGTHS,
    Answer,
    PassSums,
    Question,
    Request,
    smooth_loss,
)
from kernlearn.solvers.weighted_gram import safe_newton_step

#: Gap relative to the objective at which a model is done.
DEFAULT_TOL = {"squared_hinge": 1e-3, "logistic": 1e-3, "hinge": 1e-2}

#: Width of the first smoothing: all margins are 0, and in its parabola.
_FIRST_WIDTH = 4.0
#: Widths of the zones of Gram matrices, relative to that of the smoothing.
_ZONES = (1, 4, 16)
_CHOSEN = 3  # lengths that the sample chooses from
_ENOUGH = 0.25  # share of the best decrease along all steps for which a step is kept
_SHORTER = 1 / 64
_MOST_FAILURES = 5
#: Share of the tolerance below which the smoothing need not go.
_SMOOTH_ENOUGH = 0.5


@dataclass(frozen=True)
class Sample:
    """Features and classes of some rows in memory, on which step lengths are compared."""

    Z: Floats
    codes: NDArray[np.intp]


@dataclass(frozen=True)
class PassModels:
    """Linear models from several passes.

    Attributes
    ----------
    weights : ndarray of shape (n_problems, n_values, n_weights)
        In the order of the values of C.
    gaps : ndarray of shape (n_problems, n_values)
        Estimated excess of each objective over its minimum, relative to it.
    objectives : ndarray of shape (n_problems, n_values)
    n_passes : int
    """

    weights: Floats
    gaps: Floats
    objectives: Floats
    n_passes: int


def solve_by_passes(
    read: Callable[[Request], PassSums],
    sample: Sample,
    Cs: Sequence[float],
    *,
    loss: str,
    n_rows: int,
    n_weights: int,
    n_classes: int,
    class_weight: Floats | None = None,
    columns: tuple[slice, ...] | None = None,
    tol: float | None = None,
    max_passes: int = 100,
) -> PassModels:
    r"""Minimise ½‖w‖² + C Σ loss(yᵢ⟨w, zᵢ⟩) for each class against the rest and each C.

    The first pass is at w = 0: the sums there are those of least squares, and the first step ends
    at its solution, the same Gram matrix serving all classes and C. Each later pass sums for all
    models at the end of their steps the slope and the Gram matrix Σ ℓ″(tᵢ) zᵢzᵢᵀ, from which the
    next step is computed, and the loss at several lengths of it. How long a step is tried is what
    a sample of rows in memory predicts, with its slope corrected to that of all rows.

    The hinge is smoothed by a parabola of a width that is halved from step to step. Its curvature
    lies in few rows about the kink, which change with each step: Gram matrices of rows in wider
    zones give other steps to choose from.

    Parameters
    ----------
    read : callable
        Makes a pass: takes a request, and returns the sums over all rows.
    sample : Sample
    Cs : sequence of float
    loss : {"squared_hinge", "hinge", "logistic"}
    n_rows : int
        Number of rows of a pass.
    n_weights : int
        Number of features of a problem, with the constant one.
    n_classes : int
    class_weight : ndarray of shape (n_classes,), default=None
    columns : tuple of slice, default=None
        The features of each problem; None where all share all.
    tol : float or None, default=None
        A model is done when the excess of its objective over the minimum is estimated to be at
        most so much of it: half the squared Newton decrement, and for the hinge the part of the
        duality gap that is due to smoothing. None is 0.001, for the hinge 0.01.
    max_passes : int, default=100

    Returns
    -------
    PassModels

    Warns
    -----
    ConvergenceWarning
        If models are not done after `max_passes`, or no step lowers an objective.
    """
    tol = DEFAULT_TOL[loss] if tol is None else tol
    n_problems = n_classes if n_classes > 2 else 1
    n_grams = len(_ZONES) if loss == "hinge" else 1
    memory.require_memory(
        8 * n_grams * n_problems * len(Cs) * n_weights**2,
        None,
        f"Gram matrices of {n_weights} features for {n_problems} problems and {len(Cs)} values "
        "of C",
        "take fewer features or values of C",
    )

    def request(questions: Sequence[Question]) -> Request:
        return Request(loss, n_classes, class_weight, questions, columns)

    shared = columns is None and (class_weight is None or n_problems == 1)
    models = [_Model(p, float(C), loss, tol, n_weights) for p in range(n_problems) for C in Cs]
    first = [models[p * len(Cs)].question() for p in range(n_problems)]
    if shared:
        first[1:] = [
            Question(q.problem, q.weights, q.steps, q.scale, q.at, q.widths, ()) for q in first[1:]
        ]
    answers = read(request(first)).answers
    if shared:
        for answer in answers[1:]:
            answer.bands = answers[0].bands
    n_passes, ratio = 1, n_rows / len(sample.codes)
    for model in models:
        model.take(answers[model.problem])
    while left := [model for model in models if not model.ended]:
        if n_passes == max_passes:
            _warn(left, f"did not converge in {max_passes} passes")
            break
        whole = request(())
        for model in left:
            model.choose(_Compared.of(whole, model.problem, sample, ratio))
        answers = read(request([model.question() for model in left])).answers
        n_passes += 1
        for model, answer in zip(left, answers, strict=True):
            model.take(answer)
    if stuck := [model for model in models if model.stuck]:
        _warn(stuck, "found no step that lowers the objective")
    shape = n_problems, len(Cs)
    return PassModels(
        np.array([model.weights for model in models]).reshape(*shape, -1),
        np.array([model.gap for model in models]).reshape(shape),
        np.array([model.objective for model in models]).reshape(shape),
        n_passes,
    )


def _warn(models: Sequence["_Model"], what: str) -> None:
    worst = max(models, key=lambda model: model.gap)
    warnings.warn(
        f"the solver {what} for {len(models)} models; at C={worst.C:g} the objective may be "
        f"{worst.gap:.2g} of itself above its minimum: raise max_passes or tol, scale the "
        "features, or lower C",
        ConvergenceWarning,
        stacklevel=4,
    )


@dataclass(frozen=True)
class _Compared:
    """The sample in one problem, to compare steps on."""

    Z: Floats
    signs: Floats
    weights: Floats
    loss: str
    ratio: float

    @classmethod
    def of(cls, request: Request, problem: int, sample: Sample, ratio: float) -> "_Compared":
        Z = request.part(problem, sample.Z)
        signs = request.signs(problem, sample.codes)
        return cls(Z, signs, request.weights(problem, sample.codes), request.loss, ratio)

    def best(
        self, w: Floats, gradient: Floats, steps: Floats, lengths: Floats, C: float, width: float
    ) -> tuple[int, int]:
        """Return the step and the place of its length for which the objective should be least.

        The objective on the sample, with a linear term that makes its gradient that of all rows.
        """
        loss, C = smooth_loss(self.loss, self.weights, width), C * self.ratio
        margins = self.signs * (self.Z @ w)
        correction = gradient - w - C * ((self.signs * loss.slope(margins)) @ self.Z)
        values = np.empty((len(steps), len(lengths)))
        for i, step in enumerate(steps):
            moves = self.signs * (self.Z @ step)
            for j, length in enumerate(lengths):
                values[i, j] = (
                    _half_square(w + length * step)
                    + C * loss.value(margins + length * moves)
                    + length * float(correction @ step)
                )
        step, place = np.unravel_index(values.argmin(), values.shape)
        return int(step), int(place)


class _Model:
    """A model for one problem and C, on its way to the minimum.

    Attributes
    ----------
    weights : ndarray of shape (n_weights,)
        The last at which slopes were summed, or a better one that the next pass goes to.
    gap, objective : float
        As of :class:`PassModels`.
    ended, stuck : bool
        Whether it is done; whether no step lowers its objective.
    """

    def __init__(self, problem: int, C: float, loss: str, tol: float, n_weights: int) -> None:
        self.problem, self.C = problem, C
        self.weights, self.gap, self.objective = np.zeros(n_weights), np.inf, np.inf
        self.ended = self.stuck = False
        self._smoothed, self._tol = loss == "hinge", tol
        self._width = _FIRST_WIDTH if self._smoothed else 0.0
        self._gradient = self.weights
        self._steps, self._at = np.zeros((0, n_weights)), (0, 0)
        self._scale, self._n_failures, self._chosen = 1.0, 0, True

    def question(self) -> Question:
        """Return what to sum in the next pass."""
        width, smoothed = self._width, self._smoothed
        return Question(
            self.problem,
            self.weights,
            self._steps,
            self._scale,
            self._at,
            (width, width / 2) if smoothed else (0.0,),
            tuple(zone * width for zone in _ZONES) if smoothed else (0.0,),
        )

    def choose(self, sample: _Compared) -> None:
        """Choose among new steps, and their length."""
        if self._chosen:
            return
        lengths = self._scale * LENGTHS[:_CHOSEN]
        self._at = sample.best(
            self.weights, self._gradient, self._steps, lengths, self.C, self._width
        )
        self._chosen = True

    def take(self, answer: Answer) -> None:
        """Take the sums of a pass, and go on from the best weights that it has shown."""
        if len(self._steps) and not self._arrives(answer):
            return
        w = self.weights
        objective = _half_square(w) + self.C * answer.loss
        self._gradient = w + self.C * answer.slopes[0]
        grams = self._grams(answer.bands)
        steps = [safe_newton_step(gram, self._gradient, self.C) for gram in grams]
        decrement = -0.5 * float(self._gradient @ steps[0])
        excess = self.C * answer.excess
        self.objective = objective
        self.gap = (decrement + excess) / objective if objective > 0 else 0.0
        self.ended = self.gap <= self._tol
        too_smooth = excess > _SMOOTH_ENOUGH * self._tol * objective
        if self._smoothed and too_smooth and decrement <= max(excess, self._tol * objective):
            self._width /= 2
            self._gradient = w + self.C * answer.slopes[1]
            steps = [safe_newton_step(gram, self._gradient, self.C) for gram in grams]
        self._steps, self._scale, self._n_failures = np.array(steps), 1.0, 0
        self._chosen = False

    def _grams(self, bands: Sequence[Floats]) -> list[Floats]:
        """Return the Gram matrices of zones, of which each contains the ones before."""
        if not self._smoothed:
            return list(bands)
        grams, total = [], np.zeros_like(bands[0])
        for band, zone in zip(bands, _ZONES, strict=True):
            total = total + band
            grams.append(total / (zone * self._width))
        return grams

    def _arrives(self, answer: Answer) -> bool:
        """Go to the end of the chosen step if it is good enough, else to the best place known."""
        w, C = self.weights, self.C
        before = _half_square(w) + C * answer.base
        lengths = self._scale * LENGTHS
        values = C * answer.along + [
            [_half_square(w + length * step) for length in lengths] for step in self._steps
        ]
        decrease, most = before - values[self._at], before - values.min()
        if decrease > 0 and decrease >= _ENOUGH * most:
            self.weights = w + lengths[self._at[1]] * self._steps[self._at[0]]
            return True
        if most > 0:
            step, place = np.unravel_index(values.argmin(), values.shape)
            self.weights = w + lengths[place] * self._steps[step]
            self._steps = self._steps[:0]
        elif self._n_failures < _MOST_FAILURES:
            self._scale *= _SHORTER
            self._n_failures += 1
            self._chosen = False
        else:
            self.ended = self.stuck = True
        return False


def _half_square(w: Floats) -> float:
    return 0.5 * float(w @ w)
