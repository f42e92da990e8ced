"""A matrix of similarities, whose points are the numbers of its rows."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array

from kernlearn.constraints import StrOptions
from kernlearn.exceptions import SimilarityError
from kernlearn.kernels.pairs import not_finite
from kernlearn.similarities.turning import TurnedSimilarity

_SYMMETRIC = 1e-9  # of the greatest absolute value


@dataclass(eq=False, repr=False)
class MatrixSimilarity(TurnedSimilarity):
    r"""Similarities or distances that have been computed, by the numbers of the points.

    A point is the number of its row and column. Unlike with ``similarity="precomputed"`` it is the
    numbers that estimators get, or that are a column of :class:`ColumnSimilarity`.

    Parameters
    ----------
    matrix : array-like of shape (n_points, n_points)
        Similarities or distances of all points.
    kind : {"similarity", "distance"}, default="similarity"
        What it holds. Distances are turned.
    turn : {"negative", "exponential", "reciprocal"}, default="negative"
        What becomes of a distance d: -d, exp(-d / σ), or 1 / (1 + d).
    sigma : float or "mean_distance", default="mean_distance"
        The σ; by default the mean distance of 64 training points.
    symmetric : bool, default=False
        Whether the matrix must be symmetric, or is refused.

    Examples
    --------
    >>> from kernlearn.similarities import MatrixSimilarity
    >>> distances = [[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]]
    >>> MatrixSimilarity(distances, kind="distance", symmetric=True)([[0], [2]], [[1]])
    array([[-1.],
           [-2.]])
    """

    matrix: Any
    _: KW_ONLY
    kind: str = "similarity"
    turn: str = "negative"
    sigma: Any = "mean_distance"
    symmetric: bool = False

    columnwise = True
    _parameter_constraints = {
        **TurnedSimilarity._parameter_constraints,
        "matrix": ["array-like"],
        "kind": [StrOptions({"similarity", "distance"})],
        "symmetric": ["boolean"],
    }

    @property
    def is_distance(self) -> bool:
        return self.kind == "distance"

    def _compare(self, X: Any, Y: Any) -> NDArray[Any]:
        matrix = self._checked()
        rows, columns = (_numbers(points, len(matrix)) for points in (X, Y))
        values: NDArray[Any] = matrix[rows[:, np.newaxis], columns]
        return values

    def _checked(self) -> NDArray[Any]:
        known: tuple[Any, Any, Any] = self.__dict__.get("_known", (None, None, None))
        if known[:2] != (id(self.matrix), self.symmetric):
            known = (id(self.matrix), self.symmetric, _check(self.matrix, self.symmetric))
            self._known = known
        found: NDArray[Any] = known[2]
        return found

    def __sklearn_clone__(self) -> Self:
        return type(self)(**self.get_params(deep=False))

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {key: value for key, value in state.items() if key != "_known"}


def _check(matrix: Any, symmetric: bool) -> NDArray[Any]:
    """Return a square matrix of finite numbers."""
    values = check_array(
        matrix, dtype=[np.float64, np.float32], ensure_all_finite=False, input_name="matrix"
    )
    if values.shape[0] != values.shape[1]:
        raise ValueError(f"'matrix' must be square, got shape {values.shape}")
    names = ("matrix row ", "matrix column ")
    if not np.isfinite(values).all():
        i, j = np.argwhere(~np.isfinite(values))[0].tolist()
        raise SimilarityError(not_finite(values[i, j]), i, j, ("", ""), names)
    if symmetric:
        apart = np.abs(values - values.T)
        i, j = np.unravel_index(int(apart.argmax()), apart.shape)
        if apart[i, j] > _SYMMETRIC * np.abs(values).max():
            problem = (
                f"is {values[i, j]:g}, and {values[j, i]:g} the other way round: the matrix is "
                "not symmetric"
            )
            raise SimilarityError(problem, int(i), int(j), ("", ""), names)
    return values


def _numbers(points: Any, n_points: int) -> NDArray[np.intp]:
    """Return numbers of points, from one column or a sequence."""
    points = points.toarray() if sparse.issparse(points) else np.asarray(points)
    if points.ndim == 2 and points.shape[1] != 1:
        raise ValueError(f"points are numbers of rows, in one column, got {points.shape[1]}")
    numbers = points.ravel().astype(np.float64)
    wrong = ~((numbers >= 0) & (numbers < n_points) & (numbers == np.floor(numbers)))
    if wrong.any():
        place = int(wrong.argmax())
        raise ValueError(
            f"points must be numbers of rows from 0 to {n_points - 1}, got {numbers[place]:g} at "
            f"{place}"
        )
    return numbers.astype(np.intp)
