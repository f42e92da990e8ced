"""Choosing among classifiers by their scores on points kept apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def _hinge(margins: NDArray[Any]) -> NDArray[Any]:
    return np.maximum(0, 1 - margins)


def _squared_hinge(margins: NDArray[Any]) -> NDArray[Any]:
    return _hinge(margins) ** 2


def _logistic(margins: NDArray[Any]) -> NDArray[Any]:
    return np.logaddexp(0, -margins)


LOSSES: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "squared_hinge": _squared_hinge,
    "hinge": _hinge,
    "logistic": _logistic,
}


def hold_out(
    codes: NDArray[np.intp], fraction: float, rng: np.random.RandomState
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Keep a stratified share of the points apart; at least one of each class is not.

    Parameters
    ----------
    codes : ndarray of shape (n_samples,)
        Class of each point, 0 to n_classes - 1.
    fraction : float
        Share to keep apart.
    rng : RandomState

    Returns
    -------
    kept, apart : ndarray of shape (n_kept,), (n_apart,)
        Places of the points, ascending.

    Raises
    ------
    ValueError
        If no class has two points.
    """
    # A point's place within its class, from 0 to 1: the first ones are a share of each class.
    place = np.empty(len(codes))
    for code in range(codes.max() + 1):
        members = rng.permutation(np.flatnonzero(codes == code))
        place[members] = (np.arange(len(members)) + rng.uniform()) / len(members)
        place[members[-1]] = np.inf
    n_apart = min(max(round(fraction * len(codes)), 1), np.count_nonzero(place < np.inf))
    if n_apart == 0:
        raise ValueError(
            "y has no class with two points, so that none can be kept apart to choose "
            "parameters on: give X_val and y_val, or a single choice"
        )
    apart = np.sort(np.argsort(place, kind="stable")[:n_apart])
    return np.setdiff1d(np.arange(len(codes)), apart), apart


class Scoreboard:
    """How well each choice of a grid does on the validation points.

    Scores are added one problem and one row of the grid at a time and are not kept.

    Parameters
    ----------
    codes : ndarray of shape (n_val,)
        Class of each point; -1 for a class that training knows nothing of. Such a point
        counts as an error of every choice, and is not looked at otherwise.
    n_problems : int
        1 for two classes (class 1 against class 0), else the number of classes.
    shape : tuple of int
        Rows and columns of the grid.
    loss : {"squared_hinge", "hinge", "logistic"}
        What breaks ties.
    """

    def __init__(
        self, codes: NDArray[np.intp], n_problems: int, shape: tuple[int, int], loss: str
    ) -> None:
        self.codes = codes
        self._loss = LOSSES[loss]
        self._known = codes >= 0
        self._correct = np.zeros((n_problems, *shape), dtype=np.intp)
        self._losses = np.zeros((n_problems, *shape))
        # The class with the greatest score so far, and that score.
        self._winner = np.zeros((*shape, len(codes)), dtype=np.int32)
        self._greatest = np.full((*shape, len(codes)), 0.0 if n_problems == 1 else -np.inf)

    def add(self, problem: int, row: int, scores: NDArray[np.floating]) -> None:
        """Take in the scores of one problem for a row of the grid.

        Parameters
        ----------
        problem, row : int
        scores : ndarray of shape (n_val, n_columns)
        """
        code = 1 if len(self._correct) == 1 else problem
        positive = self.codes == code
        known = scores[self._known].T
        target = np.where(positive[self._known], 1, -1)
        self._correct[problem, row] = ((known > 0) == (target > 0)).sum(axis=1)
        if known.size:
            self._losses[problem, row] = self._loss(target * known).mean(axis=1)
        better = self._greatest[row] < scores.T
        self._winner[row][better] = code
        self._greatest[row][better] = scores.T[better]

    def accuracies(self, *, each: bool) -> NDArray[np.float64]:
        """Return the accuracy of every choice.

        Parameters
        ----------
        each : bool
            Whether of each problem on its own, in place of that of the classifier of all.

        Returns
        -------
        ndarray of shape (n_rows, n_columns) or (n_problems, n_rows, n_columns)
        """
        return self._counts(each) / len(self.codes)

    def best(self, *, each: bool) -> list[tuple[int, int]]:
        """Choose by accuracy, then by the smaller mean loss, then by the order of the grid.

        Parameters
        ----------
        each : bool
            Whether for each problem on its own.

        Returns
        -------
        list of (row, column)
            One for each problem; the same for all unless `each`.
        """
        if each:
            return [
                _first_best(correct, loss)
                for correct, loss in zip(self._correct, self._losses, strict=True)
            ]
        return [_first_best(self._counts(False), self._losses.mean(axis=0))] * len(self._correct)

    def _counts(self, each: bool) -> NDArray[np.intp]:
        if each:
            return self._correct
        return (self._winner == self.codes).sum(axis=-1)


def _first_best(correct: NDArray[np.intp], loss: NDArray[np.float64]) -> tuple[int, int]:
    """Return the place of the greatest count, of those the least loss, of those the first."""
    order = np.lexsort((loss.ravel(), -correct.ravel()))
    row, column = np.unravel_index(order[0], correct.shape)
    return int(row), int(column)
