"""Base of the estimators that count the comparisons of points by their similarity."""

from functools import wraps
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_array, check_is_fitted

from kernlearn.exceptions import SimilarityError
from kernlearn.kernels import CallableKernel, Kernel
from kernlearn.kernels.pairs import first_wrong
from kernlearn.landmarks.similarity import Indices, Landmarks
from kernlearn.landmarks.tally import Tally


class CountsComparisons:
    """An estimator that counts comparisons, with parameters ``n_jobs`` and ``verbose``.

    Attributes
    ----------
    n_comparisons_ : int
        Number of training points that a prediction compares a point with.
    n_fit_comparisons_ : int
        Number of comparisons that `fit` has made, counted: values of the similarity, or calls of
        a function of two points; 0 for a precomputed matrix.
    compared_indices_ : ndarray of shape (n_compared,)
        The landmarks that a prediction compares a point with, rows of the X passed to `fit` (or
        of the landmarks passed to it): the columns of a precomputed matrix that has those alone.
    """

    n_jobs: int | None = None
    verbose: Any = False
    _dtypes: Any
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

    @property
    def compared_indices_(self) -> Indices:
        """The landmarks that a prediction compares a point with, as rows of X."""
        check_is_fitted(self)
        return self._landmarks.indices

    @property
    def _compares_landmarks_alone(self) -> bool:
        """Whether the similarities to the landmarks are all that a prediction needs."""
        return True

    def _check_points(self, X: Any) -> Any:
        """Validate points, or the similarities of points to the landmarks alone."""
        if not self._holds_landmarks_alone(X):
            return super()._check_points(X)  # type: ignore[misc]
        values = check_array(X, dtype=list(self._dtypes), ensure_all_finite=False)
        if found := first_wrong(values):
            problem, left, right = found
            places = left, int(self._landmarks.indices[right])
            raise SimilarityError(problem, *places, ("", ""), ("X", "training X"))
        return values

    def _holds_landmarks_alone(self, X: Any) -> bool:
        """Whether X is a matrix with a column for each landmark, not for each training point."""
        if not self._precomputed or self._tally is not None:  # type: ignore[attr-defined]
            return False
        landmarks = getattr(self, "_landmarks", None)
        if landmarks is None or not self._compares_landmarks_alone:
            return False
        shape = X.shape if hasattr(X, "shape") else np.asarray(X).shape
        n_columns = shape[1] if len(shape) == 2 else None
        return n_columns == len(landmarks) and n_columns != landmarks.n_columns

    def _fitted_kernel(self, kernel: Kernel, X: Any, y: Any) -> tuple[Kernel, Tally]:
        """Fit a copy of a kernel, and return it with what counts its comparisons."""
        kernel = _with_workers(kernel, self.n_jobs, bool(self.verbose))
        fitted = kernel.fitted_to(X, y, getattr(self, "feature_names_in_", None))
        tally = self._tally or self._new_tally()
        tally.watch(fitted)
        return fitted, tally

    def _new_tally(self) -> Tally:
        return Tally(type(self).__name__, bool(self.verbose))


def _with_workers(kernel: Kernel, n_jobs: int | None, tells: bool) -> Kernel:
    """Return a kernel with workers, and with steps of progress, if it can have them.

    A similarity that has a number of workers itself keeps it.
    """
    if type(kernel) is CallableKernel and (n_jobs is not None or tells):
        from kernlearn.similarities import FunctionSimilarity

        return FunctionSimilarity(kernel.function, takes=kernel.takes, n_jobs=n_jobs)
    if n_jobs is not None and kernel.get_params(deep=False).get("n_jobs", n_jobs) is None:
        return clone(kernel).set_params(n_jobs=n_jobs)
    return kernel


def _counting(fit: Any) -> Any:
    """Let a method that fits an estimator set `n_fit_comparisons_`."""

    @wraps(fit)
    def counted(self: Any, *args: Any, **options: Any) -> Any:
        if self._tally is not None:  # in the fit of a subclass
            return fit(self, *args, **options)
        self._tally = tally = self._new_tally()
        try:
            with tally.shown(".fit"):
                result = fit(self, *args, **options)
        finally:
            tally.close()
            del self._tally
        self.n_fit_comparisons_ = tally.comparisons
        return result

    return counted
