"""Kernels with a width that may be found in data."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import Any, Literal, Self

from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from kernlearn.kernels._base import Kernel
from kernlearn.kernels._typing import MatrixLike


class WidthKernel(Kernel):
    """A kernel with a width, given or found in the training points."""

    _parameter_constraints: dict[str, list[Any]] = {
        "sigma": [Interval(Real, 0, None, closed="neither"), StrOptions({"mean_distance"})],
    }

    sigma: float | Literal["mean_distance"]
    sigma_: float

    @property
    def data_dependent(self) -> bool:
        """Whether ``fit`` has to be called before the kernel can be evaluated."""
        return isinstance(self.sigma, str)

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Work out the width.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The kernel itself.

        Raises
        ------
        ValueError
            If `sigma` is not valid, or if the mean distance of the points is zero.
        """
        self._validate_params()
        self.sigma_ = self._mean_distance(X) if isinstance(self.sigma, str) else float(self.sigma)
        if not self.sigma_ > 0:
            raise ValueError(
                "sigma='mean_distance' needs points that differ, all rows of X are the same: "
                "give sigma as a number > 0"
            )
        return self

    @abstractmethod
    def _mean_distance(self, X: MatrixLike) -> float:
        """Return the mean distance of the pairs of points."""

    def _width(self) -> float:
        if not isinstance(self.sigma, str):
            return float(self.sigma)
        check_is_fitted(self, "sigma_")
        return self.sigma_
