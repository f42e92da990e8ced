"""Distances and similarities of vectors, by SciPy and scikit-learn."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_array

from kernlearn.kernels.base import NOT_FITTED
from kernlearn.similarities.library import (
    LibrarySimilarity,
    ThreadedSimilarity,
    keyword_defaults,
)

_BOOLEAN = (
    "dice",
    "jaccard",
    "rogerstanimoto",
    "russellrao",
    "sokalmichener",
    "sokalsneath",
    "yule",
)
# Parameters of the distances of scikit-learn that have any.
_OF_SKLEARN: dict[str, dict[str, Any]] = {
    "minkowski": {"p": 2, "w": None},
    "seuclidean": {"V": None},
    "mahalanobis": {"VI": None},
}


class _LearnsScatter(LibrarySimilarity):
    """Distances whose scale is learnt from the training points, if it is not given.

    The variances ``V`` of "seuclidean", and the inverse ``VI`` of the covariance matrix, its
    pseudo-inverse if there is none, of "mahalanobis".
    """

    columnwise = True

    @property
    def _learns(self) -> str:
        key = {"seuclidean": "V", "mahalanobis": "VI"}.get(self.name, "")
        return key if key and getattr(self, key) is None else ""

    @property
    def data_dependent(self) -> bool:
        return bool(self._learns) or self._needs_sigma

    def fit(self, X: Any, y: object = None) -> Self:
        if self._learns:
            points = check_array(X, accept_sparse="csr", ensure_min_samples=2)
            points = points.toarray() if sparse.issparse(points) else points
            if self._learns == "V":
                variances = points.var(axis=0, ddof=1)
                if not (variances > 0).all():
                    column = int(np.argmin(variances))
                    raise ValueError(
                        f"column {column} of X has the same value in all points: leave it out, "
                        f"or give 'V' to {self.library}.seuclidean"
                    )
                self.V_ = variances
            else:
                self.VI_ = np.linalg.pinv(np.atleast_2d(np.cov(points.T)))
        return super().fit(X, y)

    def _given(self) -> dict[str, Any]:
        """Return the parameters that are given or learnt."""
        options = {k: v for k, v in self._options().items() if v is not None}
        if self._learns:
            if not hasattr(self, f"{self._learns}_"):
                from sklearn.exceptions import NotFittedError

                raise NotFittedError(NOT_FITTED % {"name": type(self).__name__})
            options[self._learns] = getattr(self, f"{self._learns}_")
        return options


class ScipyDistance(_LearnsScatter):
    r"""A distance of :mod:`scipy.spatial.distance`, as a similarity.

    Parameters
    ----------
    name : str
        Its name there: "braycurtis", "canberra", "chebyshev", "cityblock", "correlation",
        "cosine", "dice", "euclidean", "hamming", "jaccard", "jensenshannon", "mahalanobis",
        "minkowski", "rogerstanimoto", "russellrao", "seuclidean", "sokalsneath", "sqeuclidean",
        or "yule".
    turn : {"negative", "exponential", "reciprocal"}, default="negative"
        What becomes of a distance d: -d, exp(-d / σ), or 1 / (1 + d).
    sigma : float or "mean_distance", default="mean_distance"
        The σ; by default the mean distance of 64 training points.
    **parameters
        The distance's own parameters: ``p`` of "minkowski", weights ``w``, ``V``, ``VI``,
        ``base``. ``V`` and ``VI`` are learnt from the training points if they are not given.

    Notes
    -----
    Points of Boolean distances ("dice", "jaccard", "rogerstanimoto", "russellrao", "sokalsneath",
    "yule") are taken as true where they are not 0. Sparse rows become dense, block by block.

    Examples
    --------
    >>> from kernlearn.similarities import ScipyDistance
    >>> ScipyDistance("minkowski", p=1)([[0.0, 0.0]], [[1.0, 2.0], [0.0, 0.0]])
    array([[-3.,  0.]])
    >>> ScipyDistance("canberra", turn="reciprocal")([[1.0, 0.0]], [[1.0, 0.0], [3.0, 0.0]])
    array([[1.        , 0.66666667]])
    """

    library = "scipy"

    @staticmethod
    def _own_parameters(name: str) -> Mapping[str, Any]:
        from scipy.spatial import distance

        if name in ("seuclidean", "mahalanobis"):
            return {"V" if name == "seuclidean" else "VI": None}
        found = keyword_defaults(getattr(distance, name), 2)
        return {k: v for k, v in found.items() if k in ("p", "w", "base")}

    def _compare(self, X: Any, Y: Any) -> NDArray[Any]:
        from scipy.spatial.distance import cdist

        left, right = _dense(X, "X"), _dense(Y, "Y")
        if self.name in _BOOLEAN:
            left, right = left != 0, right != 0
        return cdist(left, right, metric=self.name, **self._given())


class SklearnSimilarity(ThreadedSimilarity, _LearnsScatter):
    r"""A distance or kernel of :mod:`sklearn.metrics`, as a similarity.

    Parameters
    ----------
    name : str
        One of the distances of :func:`sklearn.metrics.pairwise_distances` and
        :class:`sklearn.metrics.DistanceMetric`, such as "haversine" (of latitudes and longitudes
        in radians) and "nan_euclidean" (of rows with missing entries), or one of the kernels
        "additive_chi2_kernel", "chi2_kernel", "cosine_similarity", "laplacian_kernel",
        "linear_kernel", "polynomial_kernel", "rbf_kernel" and "sigmoid_kernel".
    turn, sigma
        As for :class:`ScipyDistance`; of no effect for kernels.
    n_jobs : int, default=None
        Number of threads; None is 1, -1 all cores.
    **parameters
        The distance's or kernel's own parameters: ``gamma``, ``degree``, ``coef0``, ``p``, ``V``,
        ``VI``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.similarities import SklearnSimilarity
    >>> SklearnSimilarity("nan_euclidean")([[0.0, np.nan]], [[3.0, 1.0]]).round(3)
    array([[-4.243]])
    """

    library = "sklearn"

    @staticmethod
    def _own_parameters(name: str) -> Mapping[str, Any]:
        from sklearn.metrics import pairwise

        if name.endswith(("_kernel", "_similarity")):
            found = keyword_defaults(getattr(pairwise, name), 2)
            return {k: v for k, v in found.items() if k != "dense_output"}
        return _OF_SKLEARN.get(name, {})

    @property
    def missing(self) -> bool:  # type: ignore[override]
        """Whether entries may be missing."""
        return self.name == "nan_euclidean"

    @property
    def columnwise(self) -> bool:  # type: ignore[override]
        """Whether each value is computed from its two points alone."""
        return self.is_distance and self.name not in ("euclidean", "l2", "cosine", "nan_euclidean")

    def _compare(self, X: Any, Y: Any) -> NDArray[Any]:
        from sklearn.metrics import DistanceMetric, pairwise, pairwise_distances

        options = self._given()
        if not self.is_distance:
            return getattr(pairwise, self.name)(X, Y, **options)
        if self.name in pairwise.PAIRWISE_DISTANCE_FUNCTIONS:
            return pairwise_distances(X, Y, metric=self.name, n_jobs=self.n_jobs)
        left, right = _dense(X, "X"), _dense(Y, "Y")
        if self.name in _BOOLEAN:
            left, right = left != 0, right != 0
        return DistanceMetric.get_metric(self.name, **options).pairwise(left, right)


def _dense(X: Any, name: str) -> NDArray[np.float64]:
    X = X.toarray() if sparse.issparse(X) else X
    return check_array(X, dtype=np.float64, input_name=name)
