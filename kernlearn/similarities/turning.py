"""Distances turned into similarities by a stated rule."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from kernlearn.constraints import POSITIVE, StrOptions
from kernlearn.kernels.base import NOT_FITTED, Kernel
from kernlearn.kernels.functions import as_points
from kernlearn.kernels.pairs import check_values

TURNS = ("negative", "exponential", "reciprocal")
"""The rules by which a distance d becomes a similarity: -d, exp(-d / σ) and 1 / (1 + d).

Examples
--------
>>> from kernlearn.similarities import TURNS, ScipyDistance
>>> for turn in TURNS:
...     similarity = ScipyDistance("cityblock", turn=turn, sigma=2.0)
...     print(turn, similarity([[0.0]], [[0.0], [2.0]]).round(3).tolist())
negative [[0.0, -2.0]]
exponential [[1.0, 0.368]]
reciprocal [[1.0, 0.333]]
"""

# Points whose mean distance is σ; all their pairs are compared.
_SIGMA_POINTS = 64


class TurnedSimilarity(Kernel):
    r"""Base of the similarities that may be distances, turned by a rule.

    A distance d becomes the similarity :math:`-d` (``turn="negative"``),
    :math:`\exp(-d / \sigma)` ("exponential") or :math:`1 / (1 + d)` ("reciprocal"). A similarity
    stays as it is.

    With ``sigma="mean_distance"`` σ is the mean distance over all pairs of 64 training points,
    evenly spaced among them, of all if there are no more.

    Attributes
    ----------
    sigma_ : float
        The σ used; with ``turn="exponential"``.
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "turn": [StrOptions(set(TURNS))],
        "sigma": [POSITIVE, StrOptions({"mean_distance"})],
    }

    turn: str
    sigma: Any

    @property
    def is_distance(self) -> bool:
        """Whether what is computed is a distance, which is turned."""
        return True

    @abstractmethod
    def _compare(self, X: Any, Y: Any) -> NDArray[Any]:
        """Return the values of all pairs, of similarities or distances."""

    @property
    def _needs_sigma(self) -> bool:
        return self.is_distance and self.turn == "exponential" and self.sigma == "mean_distance"

    @property
    def data_dependent(self) -> bool:
        return self._needs_sigma

    def fit(self, X: Any, y: object = None) -> Self:
        """Find σ, the mean distance of the points, if it is not given.

        Parameters
        ----------
        X : array-like, sparse matrix or sequence
            Training points.
        y : None
            Ignored.

        Returns
        -------
        self : object
            Fitted similarity.

        Raises
        ------
        ValueError
            If a parameter is not valid, or all points have distance 0.
        """
        self._validate_params()
        if self._needs_sigma:
            self.sigma_ = self._mean_distance(self._indexed(X))
            if not self.sigma_ > 0:
                raise ValueError(
                    "sigma='mean_distance' needs points that differ, all of these have distance "
                    "0: give sigma as a number > 0"
                )
        return self

    def _mean_distance(self, X: Any) -> float:
        n = X.shape[0]
        if n < 2:
            raise ValueError(f"sigma='mean_distance' needs at least two points, got {n}")
        m = min(n, _SIGMA_POINTS)
        some = X[np.arange(m) * n // m]
        total = 0.0
        for i in range(m - 1):
            one, rest = some[i : i + 1], some[i + 1 :]
            values = np.asarray(self._compare(one, rest), dtype=np.float64)
            check_values(values, one, rest)
            total += values.sum()
        if self.evaluations is None:
            self.fit_evaluations = m * (m - 1) // 2
        return float(total / (m * (m - 1) / 2))

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        self._validate_params()
        X = self._indexed(X)
        return self.turned(self._compare(X, X if Y is None else self._indexed(Y)))

    def _indexed(self, X: Any) -> Any:
        return as_indexed(X, self.structured)

    def turned(self, values: NDArray[Any]) -> np.ndarray:
        """Turn the values of all pairs into similarities, if they are distances."""
        if not self.is_distance:
            return values
        if self.turn == "negative":
            return 0 - values  # 0 and not -0 for equal points
        if self.turn == "reciprocal":
            return 1 / (1 + values)
        if self.sigma == "mean_distance":
            check_is_fitted(self, "sigma_", msg=NOT_FITTED)
        return np.exp(values / -(self.sigma_ if self._needs_sigma else float(self.sigma)))


def as_indexed(X: Any, objects: bool = False) -> Any:
    """Return points as an array, a sparse matrix or an array of objects, lists as the last."""
    if isinstance(X, np.ndarray) and X.ndim == 3:
        return np.fromiter(X, dtype=object, count=len(X))
    if hasattr(X, "iloc"):
        return X.to_numpy()
    if isinstance(X, Sequence) and isinstance(X, str):
        raise ValueError(f"'X' must be a sequence of points, got the string {X!r}")
    if objects and not hasattr(X, "shape"):
        points = list(X)
        return np.fromiter(points, dtype=object, count=len(points))
    return X if hasattr(X, "shape") else as_points(X)
