"""Embeddings by similarities to landmarks, or to pairs of them by a transfer function."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from numbers import Real
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from kernlearn import validation
from kernlearn.kernels import Kernel
from kernlearn.landmarks.base import SimilarityEstimator
from kernlearn.landmarks.selection import (
    BY_SIMILARITY,
    PAIR_SELECTION,
    select_landmarks,
    select_pairs,
)
from kernlearn.landmarks.similarities import Landmarks, Reals, Similarities, float_type
from kernlearn.landmarks.training import Training
from kernlearn.memory import eigh, row_blocks
from kernlearn.validation import Indices

SimilarityLike: TypeAlias = str | Kernel | Callable[[Any, Any], ArrayLike]


class Transfer(ABC):
    r"""An antisymmetric function :math:`f(-t) = -f(t)` of a difference of similarities.

    Transfer functions (definition 4.1 of [1]_) are immutable, compare equal by their
    parameters, and may be used as parameters of estimators. A subclass defines ``_write``.

    References
    ----------
    .. [1] Kar (2013), section 4.2.

    Examples
    --------
    >>> from kernlearn.landmarks import Identity, Ramp, Sign, Transfer
    >>> [transfer(0.1).round(2).item() for transfer in (Identity(), Ramp(5), Sign())]
    [0.1, 0.5, 1.0]
    >>> isinstance(Ramp(5), Transfer), Ramp(5) == Ramp(5.0)
    (True, True)
    """

    @abstractmethod
    def _write(self, t: NDArray[np.floating], out: NDArray[np.floating]) -> None:
        """Write f(t) to ``out``, which may be ``t`` itself."""

    def __call__(
        self, t: ArrayLike, out: NDArray[np.floating] | None = None
    ) -> NDArray[np.floating]:
        """Apply the function to every element.

        Parameters
        ----------
        t : array-like
            Of any shape.
        out : ndarray of the shape of `t`, default=None
            Where to write the result; may be `t` itself.

        Returns
        -------
        ndarray of the shape of `t`
            `out` if given. float32 stays float32; integers become float64.
        """
        t = np.asarray(t)
        if t.dtype.kind != "f":
            t = t.astype(np.float64)
        if out is None:
            out = np.empty_like(t)
        self._write(t, out)
        return out


@dataclass(frozen=True)
class Identity(Transfer):
    """The identity f(t) = t, with which pairs are as expressive as Balcan & Blum's singletons.

    Examples
    --------
    >>> from kernlearn.landmarks import Identity
    >>> Identity()([-0.5, 2.0])
    array([-0.5,  2. ])
    """

    def _write(self, t: NDArray[np.floating], out: NDArray[np.floating]) -> None:
        np.positive(t, out=out)


@dataclass(frozen=True)
class Sign(Transfer):
    """The sign of t, 0 at 0: the transfer function of Wang, Yang & Feng (2007).

    Examples
    --------
    >>> from kernlearn.landmarks import Sign
    >>> Sign()([-0.5, 0.0, 2.0])
    array([-1.,  0.,  1.])
    """

    def _write(self, t: NDArray[np.floating], out: NDArray[np.floating]) -> None:
        np.sign(t, out=out)


@dataclass(frozen=True)
class Ramp(Transfer):
    """The ramp f(t) = clip(slope · t, -1, 1), between identity and sign.

    Parameters
    ----------
    slope : float, default=1.0
        The slope at 0.

    Raises
    ------
    ValueError
        If the slope is not a finite number above 0.

    References
    ----------
    Kar (2013), section 4.3: slopes 1, 5, 10, 50, 100 and 1000.

    Examples
    --------
    >>> from kernlearn.landmarks import Ramp
    >>> Ramp(5)([-0.1, 0.0, 2.0])
    array([-0.5,  0. ,  1. ])
    """

    slope: float = 1.0

    def __post_init__(self) -> None:
        is_number = isinstance(self.slope, Real) and not isinstance(self.slope, bool)
        if not is_number or not 0 < self.slope < np.inf:
            raise ValueError(f"'slope' must be a finite number above 0, got {self.slope!r}")
        # a NumPy scalar would turn float32 into float64
        object.__setattr__(self, "slope", float(self.slope))

    def _write(self, t: NDArray[np.floating], out: NDArray[np.floating]) -> None:
        np.multiply(t, self.slope, out=out)
        np.clip(out, -1, 1, out=out)


NAMED: dict[str, type[Transfer]] = {"identity": Identity, "sign": Sign, "ramp": Ramp}


def as_transfer(spec: Transfer | str | float) -> Transfer:
    """Convert a name or a slope to a transfer function.

    Parameters
    ----------
    spec : Transfer, str or float
        A transfer function, returned unchanged; "identity", "sign", or "ramp" with slope 1; or a
        number, the slope of a :class:`Ramp`.

    Returns
    -------
    Transfer

    Raises
    ------
    ValueError
        If `spec` is none of these, or the slope is not above 0.

    Examples
    --------
    >>> from kernlearn.landmarks import as_transfer
    >>> as_transfer(50)
    Ramp(slope=50.0)
    """
    if isinstance(spec, Transfer):
        return spec
    if isinstance(spec, str) and spec in NAMED:
        return NAMED[spec]()
    if isinstance(spec, Real) and not isinstance(spec, bool):
        return Ramp(float(spec))
    names = ", ".join(map(repr, NAMED))
    raise ValueError(
        f"'transfer' must be one of {names}, a slope above 0 or a transfer function, got {spec!r}"
    )


def similarity_scale(blocks: Iterable[Reals]) -> float:
    """Return the greatest absolute value in blocks of columns; warn if no column varies.

    A scale of 0 would divide by nothing, so that it is 1 then.
    """
    largest, varies = 0.0, False
    for block in blocks:
        low, high = block.min(axis=0), block.max(axis=0)
        largest = max(largest, -float(low.min()), float(high.max()))
        varies = varies or bool((low < high).any())
    if not varies:
        validation.warn(
            "all training points have the same similarities to the landmarks: the similarity says "
            "nothing about them"
        )
    return largest or 1.0


@dataclass(eq=False, repr=False)
class BaseEmbedding(TransformerMixin, SimilarityEstimator):
    """Base of the embeddings, which differ in how features are made of similarities."""

    #: The selections that choose within each of more than two classes, if there are any.
    _by_class: ClassVar[tuple[str, ...]] = BY_SIMILARITY
    _needs_classes = False

    _: KW_ONLY
    selection: str = "random"
    random_state: Any = None

    normalize = False  # of those without this parameter

    @abstractmethod
    def _select(self, codes: Indices, rng: Any, similarities: Similarities) -> np.ndarray:
        """Choose the landmarks, set ``_n_features_out`` and return their indices."""

    @abstractmethod
    def _write(self, similarities: Reals, out: Reals) -> None:
        """Write the features of similarities."""

    @validation.fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Choose the landmarks.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points; a square matrix of similarities if they are "precomputed"; with a
            user-defined function, a sequence of whatever it compares.
        y : array-like of shape (n_samples,), default=None
            Classes, for selections that choose within each; numbers with decimals are ignored.
            Similarities that learn from labels get it as it is.

        Returns
        -------
        self : object
            The fitted transformer.

        Raises
        ------
        ValueError
            If a parameter is not valid, classes are required but missing, or similarities are
            not finite or not a square matrix.

        Warns
        -----
        UserWarning
            If there are fewer points than landmarks, or similarities look like distances.
        """
        return self._fit(X, y)

    @validation.fit_context(prefer_skip_nested_validation=True)
    def fit_transform(self, X: Any, y: ArrayLike | None = None) -> Reals:
        """Choose the landmarks and embed the training points, computing similarities once.

        Parameters
        ----------
        X, y
            As for `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
        """
        data = self._training(X, y)
        values = self._learn(data, embed=True)
        self.n_fit_comparisons_ = data.candidates.comparisons.count
        blocks = row_blocks(len(values), max(values.shape[1], self._n_features_out))
        return self._features(data.similarities.X, ((rows, values[rows]) for rows in blocks))

    def transform(self, X: Any) -> Reals:
        """Embed points.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Points. If similarities are "precomputed", those to all training points, of shape
            (n_samples, n_training_points), or to `compared_indices_` alone.

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            float32 if X is, else float64. In addition to X and this array only a block of rows
            is in memory.
        """
        X = self._check_points(X)
        return self._features(X, self._landmarks.blocks(X, self._n_features_out))

    def _check_targets(self, X: Any, y: Any, sample_weight: Any) -> tuple[Any, ...]:
        by_class = self._needs_classes
        if y is not None and self.selection in self._by_class:
            # numbers to predict are no classes
            by_class |= not type_of_target(y).startswith("continuous")
        X, classes, _ = self._check_training(X, y if by_class else None)
        codes = np.zeros(X.shape[0], dtype=np.intp)
        if by_class:
            validation.check_labels(classes)
            names, codes = np.unique(classes, return_inverse=True)
            if self._needs_classes:
                self.classes_ = validation.at_least_two(names)
        return X, classes if by_class or y is None else np.asarray(y), codes, None

    def _learn(self, data: Training, *, embed: bool = False) -> Reals:
        """Choose landmarks, or take those given; return the similarities of the points to them.

        They are computed only to `embed` the points, or to divide by the largest.
        """
        points = data.similarities
        values: Reals = np.empty((0, 0))
        if data.given is None:
            chosen = self._select(data.codes, data.rng, points)
            self._set_landmarks(points.landmarks.take(chosen))
            if embed or self.normalize is True:
                asked = self.selection in BY_SIMILARITY  # for columns, which are kept
                values = points.part(slice(None), chosen, keep=asked)
        else:
            self._set_landmarks(data.given)
            values = data.given.compare(points.X, places=points.places)
        if self.normalize is True:
            self.scale_ = similarity_scale([values])
        return values

    def _features(self, X: Any, blocks: Iterable[tuple[slice, Reals]]) -> Reals:
        features = np.empty((X.shape[0], self._n_features_out), dtype=float_type(X))
        for rows, similarities in blocks:
            self._write(similarities, features[rows])
        return features

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the features.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of shape (n_features_out,)
        """
        check_is_fitted(self)
        return np.array(self._names(), dtype=object)

    def _names(self) -> list[str]:
        prefix = type(self).__name__.lower()
        return [f"{prefix}{i}" for i in range(self._n_features_out)]

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.target_tags.required = self._needs_classes
        return tags


@dataclass(eq=False, repr=False)
class LandmarkEmbedding(BaseEmbedding):
    r"""Embedding by similarities to landmarks, :math:`\Psi(x) = (K(x, l_1), \dots, K(x, l_d))`.

    When to use it: any estimator on similarities to some points.

    The embedding of [1]_; a linear classifier on it is called BBS in [2]_.

    Parameters
    ----------
    n_landmarks : int, default=100
        Number d of landmarks; all training points, with a warning, if there are fewer.
    similarity : str, Kernel or callable, default="gaussian"
        The name of a kernel, a kernel, a function (X, Y) -> matrix, or "precomputed". It need
        not be symmetric nor positive: it is used as K(point, landmark).
    kind : {"similarity", "distance"}, default="similarity"
        A distance d is used as the similarity -d. All named ones are similarities.
    selection : {"random", "dselect", "kmeans++", "leverage", "rpcholesky"}, default="random"
        "random" ignores classes. "dselect" (algorithm 3 of [2]_) takes points unlike each other:
        from all points with two classes or none, else within each class. So do the others, by D²
        sampling, by approximate ridge leverage scores, and by randomly pivoted Cholesky.
    normalize : bool or "root", default=True
        Whether similarities are divided by the largest absolute one between training points and
        landmarks; section 4.2 of [2]_ takes them to be at most 1. With "root" they are divided by
        :math:`\sqrt d`, as in algorithm 5.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the choice.

    Attributes
    ----------
    landmark_indices_ : ndarray of shape (n_landmarks_out,)
        Rows of the landmarks in the training data.
    scale_ : float
        The divisor of similarities; 1 if they are all 0 or not normalised.
    n_features_in_ : int
        Number of columns in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns in `fit`, if all are strings.

    See Also
    --------
    PairEmbedding : Differences of similarities to pairs of landmarks.

    References
    ----------
    .. [1] Balcan & Blum (2006), On a theory of learning with similarity functions.
    .. [2] Kar (2013), sections 4.2 and 4.2.3, algorithm 3.

    Examples
    --------
    >>> from kernlearn.landmarks import LandmarkEmbedding
    >>> X = [[0.0], [1.0], [5.0]]
    >>> embedding = LandmarkEmbedding(2, similarity="manhattan", selection="dselect",
    ...                               random_state=0).fit(X)
    >>> embedding.transform([[0.0], [2.0]])
    array([[-0. , -1. ],
           [-0.4, -0.6]])
    >>> embedding.get_feature_names_out()
    array(['landmark_0', 'landmark_2'], dtype=object)
    """

    n_landmarks: int = 100
    _: KW_ONLY
    similarity: SimilarityLike = "gaussian"
    kind: str = "similarity"
    normalize: Any = True

    _parameter_constraints = {
        **BaseEmbedding._parameter_constraints,
        "normalize": ["boolean", validation.StrOptions({"root"})],
    }

    def learn(self, data: Training) -> Reals:
        """Embed training points that a model has validated."""
        return self.scaled(self._learn(data, embed=True))

    def embed(self, X: Any) -> Reals:
        """Embed further points that are validated."""
        return self.scaled(self._landmarks.values(X))

    def scaled(self, similarities: Reals) -> Reals:
        """Return similarities divided by the scale, in a new array."""
        if self.normalize is True:
            return similarities / self.scale_
        return similarities * similarities.dtype.type(1 / self.scale_)

    def _select(self, codes: Indices, rng: Any, similarities: Similarities) -> np.ndarray:
        self.landmark_indices_ = select_landmarks(
            self.n_landmarks, codes, self.selection, rng, similarities
        )
        self._n_features_out = len(self.landmark_indices_)
        return self.landmark_indices_

    def _set_landmarks(self, landmarks: Landmarks) -> None:
        super()._set_landmarks(landmarks)
        self.scale_ = float(np.sqrt(self.n_comparisons_)) if self.normalize == "root" else 1.0

    def _names(self) -> list[str]:
        return [f"landmark_{i}" for i in self.landmark_indices_]

    def _write(self, similarities: Reals, out: Reals) -> None:
        out[...] = self.scaled(similarities)


@dataclass(eq=False, repr=False)
class PairEmbedding(BaseEmbedding):
    r"""Embedding by pairs of landmarks, :math:`\Phi(x) = (f(K(x, x_i^+) - K(x, x_i^-)))_i`.

    When to use it: any estimator on comparisons with pairs of points.

    A pair is a point of a class and a point of the rest. With two classes these are
    ``classes_[1]`` and ``classes_[0]``; with more there are equally many for each class, in order.

    Parameters
    ----------
    n_landmarks : int, default=100
        Number d of pairs of each one-vs-all problem, drawn with replacement.
    similarity, kind, normalize
        As for :class:`LandmarkEmbedding`. Similarities are normalised before f is applied.
    transfer : str, float or Transfer, default="identity"
        The transfer function f, see :func:`as_transfer`: "identity", "sign" or "ramp",
        or a number for a ramp of that slope.
    selection : {"random", "dselect", "kmeans++", "leverage", "rpcholesky", "shared"}, \
            default="random"
        "random" draws both points of a pair uniformly. "dselect" draws both from d points unlike
        each other (algorithm 3 of [1]_), "shared" from d points drawn evenly from the classes. The
        others draw from d points chosen as by :class:`LandmarkEmbedding`.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the choice.

    Attributes
    ----------
    landmark_pairs_ : ndarray of shape (n_problems, n_landmarks, 2)
        Rows of training points, that of the class first. One problem for two classes.
    landmark_indices_ : ndarray of shape (n_distinct,)
        Rows of the training points in pairs, ascending.
    transfer_ : Transfer
        The transfer function.
    scale_ : float
        The divisor of similarities; 1 if they are all 0 or not normalised.
    classes_ : ndarray of shape (n_classes,)
        The classes.
    n_features_in_ : int
        Number of columns in `fit`.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns in `fit`, if all are strings.

    See Also
    --------
    LandmarkEmbedding : Similarities to single landmarks.

    References
    ----------
    .. [1] Kar (2013), sections 4.2 and 4.2.3, algorithm 3.

    Examples
    --------
    >>> from kernlearn.landmarks import PairEmbedding
    >>> X, y = [[0.0], [4.0]], ["low", "high"]
    >>> embedding = PairEmbedding(1, similarity="manhattan", transfer=2.0, random_state=0)
    >>> embedding = embedding.fit(X, y)
    >>> embedding.transform([[0.0], [1.75], [3.0]])
    array([[ 1.  ],
           [ 0.25],
           [-1.  ]])
    """

    n_landmarks: int = 100
    _: KW_ONLY
    similarity: SimilarityLike = "gaussian"
    kind: str = "similarity"
    transfer: Transfer | str | float = "identity"
    normalize: bool = True

    _parameter_constraints = {
        **BaseEmbedding._parameter_constraints,
        "selection": [PAIR_SELECTION],
        "transfer": [str, Transfer, validation.POSITIVE],
    }
    _needs_classes = True

    def _select(self, codes: Indices, rng: Any, similarities: Similarities) -> np.ndarray:
        self.transfer_, self.scale_ = as_transfer(self.transfer), 1.0
        self.landmark_pairs_ = select_pairs(
            self.n_landmarks, codes, self.selection, rng, similarities
        )
        pairs = self.landmark_pairs_.reshape(-1, 2)
        self._n_features_out = len(pairs)
        self.landmark_indices_, places = np.unique(pairs, return_inverse=True)
        self._ups, self._downs = places.reshape(-1, 2).T.copy()
        return self.landmark_indices_

    def _names(self) -> list[str]:
        n_problems, n_pairs, _ = self.landmark_pairs_.shape
        of_class = [f"{c}_" for c in self.classes_] if n_problems > 1 else [""]
        return [f"pair_{c}{j}" for c in of_class for j in range(n_pairs)]

    def _write(self, similarities: Reals, out: Reals) -> None:
        ups, downs = (similarities.take(places, axis=1) for places in (self._ups, self._downs))
        np.subtract(ups, downs, out=out)
        out /= self.scale_
        self.transfer_(out, out=out)


@dataclass(eq=False, repr=False)
class NystroemEmbedding(BaseEmbedding):
    r"""Features that approximate a kernel by its values with a few training points (Nyström).

    When to use it: a linear model on any kernel, also of objects, whose spectrum decays fast.

    The landmarks L are training points, and the features :math:`Z = K(X, L) \, K(L, L)^{-1/2}`.
    Those of a point are the coordinates of its projection, in the kernel's feature space, on the
    span of the landmarks. So :math:`\langle z(x), z(y) \rangle \approx K(x, y)`, with equality if
    x or y is a landmark.

    The features are biased: a projection is shorter than what is projected. :math:`K - Z Z^\top`
    is positive semi-definite, :math:`\|z(x)\|^2 \le K(x, x)`, and a mean over many choices of
    landmarks is still below the kernel, unlike that of random features (`RandomMaclaurin`). The
    bias shrinks as there are more landmarks, or better ones, and is 0 where they span all points.
    Negative eigenvalues of K(L, L), which an indefinite kernel has, are left out.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="gaussian"
        The name of a kernel, a kernel, a function of two matrices or two points, or "precomputed"
        if matrices of kernel values are passed as X. A width that depends on data is computed
        from the training points.
    n_components : int, default=100
        Number m of landmarks and features; all training points, with a warning, if there are
        fewer.
    selection : {"random", "dselect", "kmeans++", "leverage", "rpcholesky"}, default="random"
        How landmarks are chosen. "kmeans++" is D² sampling, "leverage" takes approximate ridge
        leverage scores, "rpcholesky" is randomly pivoted Cholesky. With the same number of
        landmarks these approximate a kernel better than "random", the more so the more unequal
        clusters are. They ignore y. "dselect" uses classes if there are any, see
        :class:`LandmarkEmbedding`.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the choice.

    Attributes
    ----------
    kernel_ : Kernel or None
        The fitted kernel; None if it is precomputed.
    landmark_indices_ : ndarray of shape (n_components,)
        Rows of the landmarks in the training data.
    eigenvalues_ : ndarray of shape (n_components,)
        Those of K(L, L), ascending, before any is left out.
    rank_ : int
        Number of eigenvalues that are used: with fewer than n_components the features depend on
        each other linearly.
    normalization_ : ndarray of shape (n_components, n_components)
        The inverse root of K(L, L) on the eigenvectors that are used. Products with it are
        computed in float64.
    n_comparisons_, n_fit_comparisons_ : int
        Number of landmarks, and of the kernel values that `fit` has evaluated.
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
    `fit` evaluates the kernel among the m landmarks, m² values, and what the selection asks for.
    For n training points this is nothing with "random", about n m values with "dselect",
    "kmeans++" and "rpcholesky", and 2 n m with "leverage". The last three also evaluate each point
    with itself. `transform` evaluates m values for each point. `fit_transform` takes what the
    selection has computed from it, if each value of the kernel depends on its two points alone.

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

    kernel: SimilarityLike = "gaussian"
    n_components: int = 100

    _by_class = ("dselect",)
    _compared_by = "kernel"
    kind = "similarity"  # not a parameter

    def _select(self, codes: Indices, rng: Any, similarities: Similarities) -> np.ndarray:
        chosen = select_landmarks(self.n_components, codes, self.selection, rng, similarities)
        m = self._n_features_out = len(chosen)
        self.landmark_indices_, self.kernel_ = chosen, similarities.landmarks.kernel
        among = similarities.part(chosen, chosen)
        matrix = among.astype(np.float64)
        self.eigenvalues_, vectors = eigh((matrix + matrix.T) / 2)
        rounding = m * np.finfo(among.dtype).eps * np.abs(self.eigenvalues_).max()
        used = self.eigenvalues_ > rounding
        self.rank_ = int(used.sum())
        if not self.rank_:
            validation.warn(
                "all features are 0: the kernel matrix of the landmarks has no positive eigenvalue"
            )
        roots = np.sqrt(self.eigenvalues_[used])
        self.normalization_ = vectors[:, used] / roots @ vectors[:, used].T
        return chosen

    def _write(self, similarities: Reals, out: Reals) -> None:
        # a small eigenvalue's inverse root would amplify the rounding errors of float32
        out[...] = similarities.astype(np.float64, copy=False) @ self.normalization_
