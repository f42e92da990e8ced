"""Base of the estimators that count the comparisons of points by their similarity."""

from functools import wraps
from typing import Any

from sklearn.utils.validation import check_is_fitted

from kernlearn.kernels import Kernel
from kernlearn.landmarks.similarity import Landmarks
from kernlearn.landmarks.tally import Tally


class CountsComparisons:
    """An estimator that counts comparisons.

    Attributes
    ----------
    n_comparisons_ : int
        Number of training points that a prediction compares a point with.
    n_fit_comparisons_ : int
        Number of comparisons that `fit` has made, counted: values of the similarity, or calls of
        a function of two points; 0 for a precomputed matrix.
    """

    _landmarks: Landmarks
    # of the fit that is under way
    _tally: Tally | None = None

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in ("fit", "fit_transform"):
            if name in vars(cls):
                setattr(cls, name, _counting(vars(cls)[name]))

    @property
    def n_comparisons_(self) -> int:
        """Number of training points that a prediction compares a point with."""
        check_is_fitted(self)
        return len(self._landmarks)

    def _fitted_kernel(self, kernel: Kernel, X: Any, y: Any) -> tuple[Kernel, Tally]:
        """Fit a copy of a kernel, and return it with what counts its comparisons."""
        fitted = kernel.fitted_to(X, y, getattr(self, "feature_names_in_", None))
        tally = self._tally or Tally()
        tally.watch(fitted)
        return fitted, tally


def _counting(fit: Any) -> Any:
    """Let a method that fits an estimator set `n_fit_comparisons_`."""

    @wraps(fit)
    def counted(self: Any, *args: Any, **options: Any) -> Any:
        if self._tally is not None:  # in the fit of a subclass
            return fit(self, *args, **options)
        self._tally = tally = Tally()
        try:
            result = fit(self, *args, **options)
        finally:
            tally.close()
            del self._tally
        self.n_fit_comparisons_ = tally.comparisons
        return result

    return counted
