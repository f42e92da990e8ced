"""Choosing parameters on held-out points: candidate values, hold-out, checks and scores."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array

from kernlearn.sample_weights import taken, weighted_rows

Indices = NDArray[np.intp]
Random = np.random.RandomState

#: Elementwise losses of a margin, by which a scoreboard breaks ties.
LOSSES: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "squared_hinge": lambda margins: np.maximum(0, 1 - margins) ** 2,
    "hinge": lambda margins: np.maximum(0, 1 - margins),
    "logistic": lambda margins: np.logaddexp(0, -margins),
}


def candidate_values(
    given: Any, name: str, *, zero: bool = False, integer: bool = False
) -> NDArray[Any]:
    """Return the distinct values of a parameter that is a number or a sequence, ascending.

    Values must be finite numbers above 0, or from 0 with `zero`, or integers with `integer`.
    """
    values = np.atleast_1d(given)
    good = values.ndim == 1 and values.size and values.dtype.kind in ("iu" if integer else "fiu")
    if not good or not np.all((values >= 0 if zero else values > 0) & (values < np.inf)):
        what = "an int >= 1" if integer else f"a finite number {'>=' if zero else '>'} 0"
        raise ValueError(f"'{name}' must be {what} or a sequence of such, got {given!r}")
    return np.unique(values)


def hold_out(codes: Indices, fraction: float, rng: Random) -> tuple[Indices, Indices]:
    """Hold out a stratified share of the points, by their classes; at least one of each is not.

    Returns the indices of the points kept and of those held out, both ascending.
    """
    # Rank of a point within its class, from 0 to 1: the smallest ranks are a share of each class.
    ranks = np.empty(len(codes))
    for code in range(codes.max() + 1):
        members = rng.permutation(np.flatnonzero(codes == code))
        ranks[members] = (np.arange(len(members)) + rng.uniform()) / len(members)
        ranks[members[-1]] = np.inf
    n_held_out = min(max(round(fraction * len(codes)), 1), np.count_nonzero(ranks < np.inf))
    if n_held_out == 0:
        problem = "X holds 1 sample" if len(codes) == 1 else "y has no class with two points"
        raise ValueError(
            f"{problem}, so that none can be kept apart to choose parameters on: give X_val and "
            "y_val, or a single choice"
        )
    held_out = np.sort(np.argsort(ranks, kind="stable")[:n_held_out])
    return np.setdiff1d(np.arange(len(codes)), held_out), held_out


def hold_out_at_random(
    n_samples: int, fraction: float, rng: Random | np.random.Generator
) -> tuple[Indices, Indices]:
    """Hold out a random share of the points, at least one but not all.

    Returns the indices of the points kept and of those held out, in random order.
    """
    order = rng.permutation(n_samples)
    n_held_out = min(max(round(fraction * n_samples), 1), n_samples - 1)
    return order[n_held_out:], order[:n_held_out]


def split_for_choice(
    model: Any,
    X: Any,
    y: Any,
    X_val: Any,
    y_val: Any,
    codes: Indices,
    n_choices: int,
    rng: Random,
    weights: NDArray[np.float64] | None = None,
) -> tuple[Indices, Any, NDArray[Any] | None, NDArray[np.float64] | None]:
    """Return the rows of X to train on, and the validation part that parameters are chosen on.

    That is the one given, of points that `model._check_points` validates. Without one it is a
    share `model.validation_fraction` of the training points, stratified by `codes`, or None if
    there is no choice to make, nor probabilities to calibrate. Rows of weight 0 are in neither.
    The last result are the weights of the validation points, None where all are 1.
    """
    rows = weighted_rows(weights, len(codes))
    if X_val is None and y_val is None:
        if n_choices == 1 and not getattr(model, "calibration", None):
            return rows, None, None, None
        if len(rows) < len(codes):
            codes = np.unique(codes[rows], return_inverse=True)[1]
        kept, held_out = hold_out(codes, model.validation_fraction, rng)
        kept, held_out = rows[kept], rows[held_out]
        return kept, X[held_out], y[held_out], taken(weights, held_out)
    if X_val is None or y_val is None:
        raise ValueError("X_val and y_val must be given together, or neither")
    try:
        X_val = model._check_points(X_val)
    except ValueError as error:
        raise ValueError(f"X_val: {error}") from error
    dtype = np.float64 if y.dtype.kind == "f" else None
    y_val = check_array(y_val, ensure_2d=y.ndim > 1, dtype=dtype, input_name="y_val")
    if y_val.shape != (X_val.shape[0], *y.shape[1:]):
        raise ValueError(
            f"y_val must hold one value for each of the {X_val.shape[0]} points of X_val, "
            f"got shape {y_val.shape}"
        )
    return rows, X_val, y_val, None


def first_best(*criteria: NDArray[Any]) -> int:
    """Return the place of the least first criterion, ties by the next ones, then by order."""
    return int(np.lexsort([values.ravel() for values in reversed(criteria)])[0])


class Scoreboard:
    """Scores on the validation points of each choice of a grid, for one or more problems.

    Decision values are added for one problem and one row of the grid at a time, and not kept.

    Parameters
    ----------
    codes : ndarray of shape (n_val,)
        Class of each point; -1 for a class without training points. Such a point counts as an
        error of every choice, and is otherwise ignored.
    n_problems : int
        1 for two classes (class 1 against class 0), else the number of classes.
    shape : tuple of int
        Rows and columns of the grid.
    loss : {"squared_hinge", "hinge", "logistic"}
        The loss that breaks ties.
    weights : ndarray of shape (n_val,), default=None
        Weights of the points; None for equal ones.
    """

    def __init__(
        self,
        codes: Indices,
        n_problems: int,
        shape: tuple[int, int],
        loss: str,
        weights: NDArray[np.float64] | None = None,
    ) -> None:
        self.codes = codes
        self._weights = weights
        self._loss = LOSSES[loss]
        self._known = codes >= 0
        counts = np.intp if weights is None else np.float64
        self._correct = np.zeros((n_problems, *shape), dtype=counts)
        self._losses = np.zeros((n_problems, *shape))
        self._of_points = np.zeros((*shape, len(codes)), dtype=np.float32)
        # The class with the greatest decision value so far, and that value.
        self._winner = np.zeros((*shape, len(codes)), dtype=np.int32)
        self._greatest = np.full((*shape, len(codes)), 0.0 if n_problems == 1 else -np.inf)

    def add(self, problem: int, row: int, scores: NDArray[np.floating]) -> None:
        """Add the decision values of one problem, (n_val, n_columns), for a row of the grid."""
        code = 1 if len(self._correct) == 1 else problem
        positive = self.codes == code
        known = scores[self._known].T
        target = np.where(positive[self._known], 1, -1)
        correct = (known > 0) == (target > 0)
        weights = taken(self._weights, self._known)
        self._correct[problem, row] = correct.sum(axis=1) if weights is None else correct @ weights
        if known.size:
            losses = self._loss(target * known)
            self._of_points[row][:, self._known] += losses
            self._losses[problem, row] = np.average(losses, axis=1, weights=weights)
        better = self._greatest[row] < scores.T
        self._winner[row][better] = code
        self._greatest[row][better] = scores.T[better]

    def accuracies(self, *, each: bool) -> NDArray[np.float64]:
        """Return the accuracy of every choice, of all problems together or of `each`."""
        total = len(self.codes) if self._weights is None else self._weights.sum()
        return self._counts(each) / total

    def best(self, *, each: bool) -> list[tuple[int, int]]:
        """Choose by accuracy, then by the smaller mean loss, then by the order of the grid.

        Returns the row and the column for each problem, the same for all unless `each`.
        """
        shape = self._correct.shape[1:]
        if each:
            places = list(map(first_best, -self._correct, self._losses))
        else:
            best = first_best(-self._counts(False), self._losses.mean(axis=0))
            places = [best] * len(self._correct)
        cells = [np.unravel_index(place, shape) for place in places]
        return [(int(row), int(column)) for row, column in cells]

    def correct(self, row: int, column: int) -> NDArray[np.bool_]:
        """Return which points a choice classifies correctly."""
        found: NDArray[np.bool_] = self._winner[row, column] == self.codes
        return found

    def losses(self, row: int, column: int) -> NDArray[np.float64]:
        """Return the mean loss of a choice over problems, for each point; 0 for no known class."""
        return self._of_points[row, column].astype(np.float64) / len(self._correct)

    def mean_loss(self, row: int, column: int) -> float:
        """Return the mean loss of a choice over points and problems."""
        return float(self._losses[:, row, column].mean())

    def problem_losses(self) -> NDArray[np.float64]:
        """Return the mean loss of every choice over points, for each problem."""
        return self._losses

    def _counts(self, each: bool) -> NDArray[Any]:
        if each:
            return self._correct
        correct: NDArray[Any] = self._winner == self.codes
        if self._weights is None:
            return correct.sum(axis=-1)
        return correct @ self._weights
