"""Nyström features: a kernel projected on the span of landmarks."""

import warnings
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh
from sklearn.base import (
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils import gen_batches
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_random_state

from kernlearn import memory
from kernlearn.constraints import COUNT, N_JOBS, Interval, StrOptions, fit_context
from kernlearn.kernels import Kernel, as_kernel
from kernlearn.landmarks import base
from kernlearn.landmarks.counting import CountsComparisons
from kernlearn.landmarks.selection import select_landmarks
from kernlearn.landmarks.similarity import Floats, KeptSimilarities, Landmarks

#: Takes rows, returns the kernel of these points with the landmarks.
CompareRows = Callable[[slice], Floats]


@dataclass(eq=False, repr=False)
class NystroemEmbedding(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, CountsComparisons, base.PointsEstimator
):
    r"""Features of a kernel by the Nyström method, :math:`Z = K(X, L) \, K(L, L)^{-1/2}`.

    When to use it: a linear model on any kernel, also of objects, whose spectrum decays fast.

    The landmarks L are training points. The features of a point are the coordinates of its
    projection, in the kernel's feature space, on the span of the landmarks, so that
    :math:`\langle z(x), z(y) \rangle \approx K(x, y)`, and exactly so if x or y is a landmark.

    The features are biased: a projection is shorter than what is projected. :math:`K - Z Z^\top`
    is positive semi-definite, :math:`\|z(x)\|^2 \le K(x, x)`, and a mean over many choices of
    landmarks is still below the kernel, other than for random features (`RandomMaclaurin`). The
    bias shrinks as there are more landmarks, or better ones, and is 0 where they span all points.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="gaussian"
        The name of a kernel, a kernel, a function of two matrices or two points, or "precomputed"
        if matrices of kernel values are passed as X. A width that depends on data is computed
        from the training points.
    n_components : int, default=100
        Number m of landmarks and features; all training points, with a warning, if there are
        fewer.
    selection : {"random", "stratified", "dselect", "kmeans++", "kmedoids", "leverage", \
            "rpcholesky"}, default="random"
        How landmarks are chosen. "kmeans++" (D² sampling), "leverage" (approximate ridge leverage
        scores) and "rpcholesky" (randomly pivoted Cholesky) approximate a kernel with the same
        number of landmarks better than "random", the more so the more unequal clusters are, and
        ignore y, as "kmedoids" does. "stratified" needs classes, and "dselect" uses them if there
        are any, see :class:`LandmarkEmbedding`.
    spectrum : {"clip", "flip"}, default="clip"
        What is done with negative eigenvalues of K(L, L), which an indefinite kernel has: they
        are left out, or count with their absolute value. Among the landmarks, :math:`Z Z^\top`
        is K(L, L) with its spectrum changed so, as by :class:`SpectrumSVM`.
    tol : float, default=None
        Eigenvalues of K(L, L) up to this share of the greatest absolute one count as 0, and their
        eigenvectors are left out. None is m times the rounding error of the kernel's type.
    block_rows : int, default=None
        Number of rows per block; None chooses a block that stays in cache.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the choice.
    n_jobs, verbose
        As for :class:`BBSClassifier`.

    Attributes
    ----------
    kernel_ : Kernel or None
        The fitted kernel; None if it is precomputed.
    landmark_indices_ : ndarray of shape (n_components,)
        Rows of the landmarks in the training data.
    eigenvalues_ : ndarray of shape (n_components,)
        Those of K(L, L), ascending, before any is left out or changed.
    rank_ : int
        Number of eigenvalues that are used: with fewer than n_components the features depend on
        each other linearly.
    normalization_ : ndarray of shape (n_components, n_components)
        The inverse root of K(L, L) on the eigenvectors that are used. Products with it are
        computed in float64.
    n_features_in_ : int
        Number of columns in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns in `fit`, if all are strings.

    See Also
    --------
    LandmarkEmbedding : The kernel values themselves as features, for any similarity.
    kernlearn.features.RandomMaclaurin : Random features of dot-product kernels, without bias.

    Notes
    -----
    `fit` evaluates the kernel among the m landmarks, m² values, and what the selection asks for:
    nothing for "random" and "stratified", about n m values for n training points with "dselect",
    "kmeans++" and "rpcholesky", 2 n m with "leverage", with the last three those of points and
    themselves too, and at most (80 + 4 m)² values with "kmedoids". `transform` evaluates m values
    for each point. `fit_transform` takes what the selection has computed from it, if each value of
    the kernel depends on its two points alone.

    References
    ----------
    C. K. I. Williams, M. Seeger. Using the Nyström method to speed up kernel machines. NIPS 2000.
    For the selections see ``kernlearn.landmarks.selection``.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.kernels import GaussianKernel
    >>> from kernlearn.landmarks import NystroemEmbedding
    >>> X = np.random.RandomState(0).normal(size=(500, 2))
    >>> kernel = GaussianKernel(sigma=2.0)
    >>> features = NystroemEmbedding(kernel, 50, selection="rpcholesky", random_state=0)
    >>> Z = features.fit_transform(X)
    >>> bool(np.abs(kernel(X, X) - Z @ Z.T).max() < 1e-3)
    True
    """

    kernel: str | Kernel | Callable[[Any, Any], ArrayLike] = "gaussian"
    n_components: int = 100
    _: KW_ONLY
    selection: str = "random"
    spectrum: str = "clip"
    tol: float | None = None
    block_rows: int | None = None
    random_state: int | np.random.RandomState | None = None
    n_jobs: int | None = None
    verbose: Any = False

    _parameter_constraints = {
        "kernel": [str, Kernel, callable],
        "n_components": [COUNT],
        "selection": [base.SELECTION],
        "spectrum": [StrOptions({"clip", "flip"})],
        "tol": [Interval(Real, 0, 1, closed="left"), None],
        "block_rows": [COUNT, None],
        "random_state": ["random_state"],
        "n_jobs": N_JOBS,
        "verbose": ["verbose"],
    }

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the landmarks and decompose the kernel among them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points; of shape (n_samples, n_samples) if `kernel` is "precomputed"; a
            sequence of objects if the kernel compares these.
        y : array-like of shape (n_samples,), default=None
            Classes, for "stratified" and "dselect". Kernels that learn from labels get it as it
            is; everything else ignores it.

        Returns
        -------
        self : object
            The fitted transformer.

        Raises
        ------
        ValueError
            If a parameter is not valid, classes are required but missing, or kernel values are
            not finite or not a square matrix.

        Warns
        -----
        UserWarning
            If there are fewer points than components, a matrix looks like distances, or
            all features are 0, as no eigenvalue is used.
        """
        self._fit(X, y)
        return self

    @fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: Any = None) -> Floats:
        """Fit, and map the training points to their features.

        Parameters
        ----------
        X, y
            As for `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        X, similarities = self._fit(X, y)
        chosen = self.landmark_indices_

        def compare(rows: slice) -> Floats:
            return similarities.part(np.arange(rows.start, rows.stop), chosen)

        return self._all_features(X, compare)

    def transform(self, X: Any) -> Floats:
        """Map points to their features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points. If `kernel` is "precomputed", their kernel values with all training points, of
            shape (n_samples, n_training_points), or else with the landmarks alone, in the order of
            `landmark_indices_`, of shape (n_samples, n_components).

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Features, float32 if X is, otherwise float64. In addition to X and this array only
            a block of rows is in memory.

        Raises
        ------
        ValueError
            If X is not finite, or has another number of columns than in `fit`.
        """
        return self._all_features(*self._check_new(X))

    def transform_blocks(self, X: Any) -> Iterator[tuple[slice, Floats]]:
        """Map points to their features in blocks, without storing all of them.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `transform`.

        Yields
        ------
        rows : slice
            Indices of rows of X, in order.
        Z : ndarray of shape (n_rows, n_components)
            Features of these rows.
        """
        return self._blocks(*self._check_new(X))

    def _compared_by(self) -> list[Kernel] | None:
        given = self.kernel
        return None if isinstance(given, str) and given == "precomputed" else [as_kernel(given)]

    def _fit(self, X: Any, y: Any) -> tuple[Any, KeptSimilarities]:
        """Return the validated points, and their similarities to each other."""
        optional = self.selection == "dselect" and y is not None
        by_class = self.selection == "stratified" or optional
        X, classes = self._check_training(X, y if by_class else None)
        n_samples = X.shape[0]
        codes = np.zeros(n_samples, dtype=np.intp)
        if by_class:
            check_classification_targets(classes)
            codes = np.unique(classes, return_inverse=True)[1]
        points = self._all_points(X, classes if by_class else y)
        if self.n_components > n_samples:
            warnings.warn(
                f"n_components={self.n_components} is more than the {n_samples} training points: "
                "each of them is a landmark",
                UserWarning,
                stacklevel=3,
            )
        similarities = KeptSimilarities(points, X)
        m, rng = min(self.n_components, n_samples), check_random_state(self.random_state)
        self.landmark_indices_ = select_landmarks(m, codes, self.selection, rng, similarities)
        self._landmarks, self._n_features_out = points.take(self.landmark_indices_), m
        self.kernel_ = points.kernel
        self._normalize(similarities.part(self.landmark_indices_, self.landmark_indices_))
        return X, similarities

    def _all_points(self, X: Any, y: Any) -> Landmarks:
        """Fit the kernel, and return every point as a landmark."""
        indices, kernels = np.arange(X.shape[0]), self._compared_by()
        if kernels is not None:
            (kernel,) = kernels
            fitted, tally = self._fitted_kernel(kernel, X, y)
            return Landmarks(indices, X, fitted, tally=tally)
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                "kernel='precomputed' needs a square matrix for training, one row and one column "
                f"per training point, got shape {X.shape}"
            )
        if base.are_distances(X):
            warnings.warn(
                "X looks like distances, with a diagonal of 0 and no value below, and is taken as "
                "a kernel, the greater the more alike: turn distances into one, as by "
                "exp(-X / X.mean())",
                UserWarning,
                stacklevel=4,
            )
        return Landmarks(indices, None, None, n_columns=X.shape[1])

    def _normalize(self, among: Floats) -> None:
        """Set the inverse root of the kernel matrix of the landmarks."""
        matrix = among.astype(np.float64)
        self.eigenvalues_, vectors = eigh((matrix + matrix.T) / 2)
        sizes = np.abs(self.eigenvalues_)
        tol = len(matrix) * np.finfo(among.dtype).eps if self.tol is None else self.tol
        used = (sizes if self.spectrum == "flip" else self.eigenvalues_) > tol * sizes.max()
        self.rank_ = int(used.sum())
        if not self.rank_:
            warnings.warn(
                "all features are 0: the kernel matrix of the landmarks has no "
                + ("eigenvalue but 0" if self.spectrum == "flip" else "positive eigenvalue"),
                UserWarning,
                stacklevel=4,
            )
        self.normalization_ = vectors[:, used] / np.sqrt(sizes[used]) @ vectors[:, used].T

    def _check_new(self, X: Any) -> tuple[Any, CompareRows]:
        """Validate points, and return them with their kernel values."""
        check_is_fitted(self)
        X = self._check_points(X)
        return X, lambda rows: self._landmarks.compare(
            X[rows], places=range(rows.start, rows.stop)
        )

    def _all_features(self, X: Any, compare: CompareRows) -> Floats:
        Z = np.empty((X.shape[0], self._n_features_out), dtype=base.float_type(X))
        for _ in self._blocks(X, compare, Z):
            pass
        return Z

    def _blocks(
        self, X: Any, compare: CompareRows, Z: Floats | None = None
    ) -> Iterator[tuple[slice, Floats]]:
        """Yield blocks of features, written into the rows of Z or into arrays of their own."""
        size = self.block_rows or memory.block_rows(self._n_features_out)
        with self._landmarks.tally.shown(total=X.shape[0] * self._n_features_out):
            for rows in gen_batches(X.shape[0], size):
                # a small eigenvalue's inverse root would amplify the rounding errors of float32
                values = compare(rows).astype(np.float64, copy=False) @ self.normalization_
                if Z is None:
                    yield rows, values.astype(base.float_type(X), copy=False)
                else:
                    Z[rows] = values
                    yield rows, Z[rows]

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.target_tags.required = self.selection == "stratified"
        return tags
