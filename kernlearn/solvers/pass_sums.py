"""What one pass over rows sums for linear models; sums of parts of the rows are added."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kernlearn.model_selection import LOSSES
from kernlearn.solvers import newton
from kernlearn.solvers.newton import Floats
from kernlearn.solvers.weighted_gram import add_rows

#: Lengths at which the loss along each step is summed.
LENGTHS = np.array([1.0, 0.5, 0.25, 0.1, 0.03, 0.004])


class CenteredHinge:
    """The hinge max(0, 1 − t) of a margin t, with a parabola of some width about the kink.

    Values differ from the hinge's within the parabola, by at most width / 8.
    """

    def __init__(self, weights: Floats, width: float) -> None:
        self._loss, self._edge = newton.WeightedSmoothedHinge(weights, width), 1 + width / 2

    def value(self, t: Floats) -> float:
        return self._loss.value(self._edge - t)

    def slope(self, t: Floats) -> Floats:
        return -self._loss.slope(self._edge - t)

    def curvature(self, t: Floats) -> Floats:
        return self._loss.curvature(self._edge - t)


def smooth_loss(
    name: str, weights: Floats, width: float
) -> newton.WeightedSquaredHinge | newton.WeightedLogistic | CenteredHinge:
    """Return a loss of margins with weights for the rows; that of the hinge has a `width`."""
    if name == "hinge":
        return CenteredHinge(weights, width)
    kinds = {"squared_hinge": newton.WeightedSquaredHinge, "logistic": newton.WeightedLogistic}
    return kinds[name](weights)


@dataclass(frozen=True)
class Question:
    """What is summed for one problem: losses along steps from weights, and more where one ends.

    Attributes
    ----------
    problem : int
        The one-vs-all problem.
    weights : ndarray of shape (n_weights,)
    steps : ndarray of shape (n_steps, n_weights)
        May be none.
    scale : float
        Factor on `LENGTHS`.
    at : tuple of int
        The step and the place in `LENGTHS` at whose end slopes and Gram matrices are summed;
        without steps that is at the weights.
    widths : tuple of float
        Widths of the smoothed hinge: the first is that of the values, slopes are summed for each.
        A single 0 for other losses.
    zones : tuple of float
        Ascending widths of zones about the kink of the hinge whose rows make a Gram matrix each;
        a single 0 for other losses, none where no Gram matrix is asked for.
    """

    problem: int
    weights: Floats
    steps: Floats
    scale: float
    at: tuple[int, int]
    widths: tuple[float, ...]
    zones: tuple[float, ...]

    @property
    def arrival(self) -> Floats:
        """Return the weights where the step ends."""
        if not len(self.steps):
            return self.weights
        step, place = self.at
        arrival: Floats = self.weights + self.scale * LENGTHS[place] * self.steps[step]
        return arrival


@dataclass
class Answer:
    """The sums for a question.

    Attributes
    ----------
    base : float
        Sum of losses at the weights.
    along : ndarray of shape (n_steps, n_lengths)
        Sums of losses along steps.
    loss : float
        Sum of losses at the arrival, for the hinge not smoothed.
    excess : float
        For the hinge, the part of the duality gap at the arrival that is due to smoothing, as a
        sum of losses.
    slopes : ndarray of shape (n_widths, n_weights)
        Σ yᵢ ℓ′(tᵢ) zᵢ at the arrival.
    bands : list of ndarray of shape (n_weights, n_weights)
        Lower triangles of Σ ℓ″(tᵢ) zᵢzᵢᵀ at the arrival; for the hinge Σ zᵢzᵢᵀ over the rows of a
        zone that are not in the ones before.
    """

    base: float
    along: Floats
    loss: float
    excess: float
    slopes: Floats
    bands: list[Floats]

    @classmethod
    def empty(cls, question: Question) -> "Answer":
        """Return sums over no rows."""
        n = len(question.weights)
        return cls(
            0.0,
            np.zeros((len(question.steps), len(LENGTHS))),
            0.0,
            0.0,
            np.zeros((len(question.widths), n)),
            [np.zeros((n, n), order="F") for _ in question.zones],
        )

    def merge(self, other: "Answer") -> None:
        """Add the sums over other rows."""
        self.base += other.base
        self.along += other.along
        self.loss += other.loss
        self.excess += other.excess
        self.slopes += other.slopes
        for mine, theirs in zip(self.bands, other.bands, strict=True):
            mine += theirs


@dataclass(frozen=True)
class Request:
    """All that one pass has to sum.

    Attributes
    ----------
    loss : {"squared_hinge", "hinge", "logistic"}
    class_weight : ndarray of shape (n_classes,) or None
        Weights of the classes; with more than two, for the rows of the class that is separated
        from the rest.
    n_classes : int
    questions : sequence of Question
    columns : tuple of slice, default=None
        The features of each problem; None where all problems have all.
    """

    loss: str
    n_classes: int
    class_weight: Floats | None
    questions: Sequence[Question]
    columns: tuple[slice, ...] | None = None

    def signs(self, problem: int, codes: NDArray[np.intp]) -> Floats:
        """Return 1 for the class of a problem, -1 for the rest."""
        return np.where(codes == (1 if self.n_classes == 2 else problem), 1.0, -1.0)

    def weights(self, problem: int, codes: NDArray[np.intp]) -> Floats:
        """Return the weights of rows in a problem."""
        if self.class_weight is None:
            return np.ones(len(codes))
        if self.n_classes == 2:
            return self.class_weight[codes]
        return np.where(codes == problem, self.class_weight[problem], 1.0)

    def part(self, problem: int, Z: Floats) -> Floats:
        """Return the features of a problem."""
        return Z if self.columns is None else Z[:, self.columns[problem]]


@dataclass
class PassSums:
    """The sums that a request asks for.

    Rows may be added in any blocks, and sums over parts of them be merged in any order: results
    differ by rounding errors alone.
    """

    request: Request
    answers: list[Answer] = field(default_factory=list)

    def __post_init__(self) -> None:
        if not self.answers:
            self.answers = [Answer.empty(question) for question in self.request.questions]

    def merge(self, other: "PassSums") -> None:
        """Add the sums over other rows for the same request."""
        for mine, theirs in zip(self.answers, other.answers, strict=True):
            mine.merge(theirs)

    def add(self, Z: Floats, codes: NDArray[np.intp]) -> None:
        """Add a block of rows.

        Parameters
        ----------
        Z : ndarray of shape (n_rows, n_weights)
            Features, with the constant one.
        codes : ndarray of shape (n_rows,)
            Their classes.
        """
        request = self.request
        for problem in sorted({question.problem for question in request.questions}):
            part, signs = request.part(problem, Z), request.signs(problem, codes)
            rows = _Rows(part, signs, request.weights(problem, codes), request.loss)
            asked = [
                (question, answer)
                for question, answer in zip(request.questions, self.answers, strict=True)
                if question.problem == problem
            ]
            directions = np.vstack([np.vstack([q.weights, q.steps]) for q, _ in asked])
            scores = signs * (directions @ part.T)
            first = 0
            for question, answer in asked:
                last = first + 1 + len(question.steps)
                rows.add(question, answer, scores[first], scores[first + 1 : last])
                first = last


@dataclass(frozen=True)
class _Rows:
    """A block of rows of one problem."""

    Z: Floats
    signs: Floats
    weights: Floats
    loss: str

    def add(self, question: Question, answer: Answer, margins: Floats, moves: Floats) -> None:
        """Add the rows, with their margins and the changes of these by the steps."""
        loss = smooth_loss(self.loss, self.weights, question.widths[0])
        if len(moves):
            answer.base += loss.value(margins)
            for i, move in enumerate(moves):
                for j, length in enumerate(question.scale * LENGTHS):
                    answer.along[i, j] += loss.value(margins + length * move)
            step, place = question.at
            margins = margins + question.scale * LENGTHS[place] * moves[step]
        losses = self.weights @ LOSSES[self.loss](margins)
        answer.loss += float(losses)
        slopes = [
            smooth_loss(self.loss, self.weights, width).slope(margins) for width in question.widths
        ]
        answer.slopes += (self.signs * slopes) @ self.Z
        if self.loss == "hinge":
            answer.excess += float(losses + slopes[0] @ (1 - margins))
            self._add_zones(question, answer, margins)
        elif question.zones:
            sizes = loss.curvature(margins)
            rows = np.flatnonzero(sizes)
            add_rows(answer.bands[0], self.Z, rows, sizes[rows])

    def _add_zones(self, question: Question, answer: Answer, margins: Floats) -> None:
        distances, inner = np.abs(1 - margins), 0.0
        for band, zone in zip(answer.bands, question.zones, strict=True):
            rows = np.flatnonzero((distances >= inner) & (distances < zone / 2))
            add_rows(band, self.Z, rows, self.weights[rows])
            inner = zone / 2
