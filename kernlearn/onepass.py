"""Linear models of features from one pass over data of any length.

The moments of features and targets are gathered in blocks, by folds of rows that a hash assigns,
and merged. Ridge regression and least-squares classification are solved from them.
"""

from abc import abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, partial, reduce
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg.lapack import dpotrs
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, clone
from sklearn.linear_model._base import LinearClassifierMixin
from sklearn.utils.validation import check_is_fitted

from kernlearn import memory, validation
from kernlearn.choice import first_best
from kernlearn.validation import Floats

__all__ = ["Moments", "OnePassRidge", "OnePassRidgeClassifier"]


_SAMPLE_ROWS = 10_000  # that feature maps are fitted on


class Moments:
    r"""Sum of weights, mean, and centred second moments of the rows of a stream.

    Rows are added in blocks, and the moments of two parts are merged by [1]_

    .. math::

        S = S_1 + S_2 + \frac{W_1 W_2}{W_1 + W_2} (\mu_2 - \mu_1)(\mu_2 - \mu_1)^\top,

    with sums of weights W, means μ, and :math:`S_i = \sum_j w_j (x_j - \mu_i)(x_j - \mu_i)^\top`.
    Means are computed as differences from values of the first block, so that columns may be far
    from 0. Where the means of two parts are far from each other, in standard deviations of the
    parts, S has no more digits than the spread of all rows leaves it.

    Parameters
    ----------
    n_columns : int

    Attributes
    ----------
    weight : float
        Sum of the weights; the number of rows without weights.
    scatter : ndarray of shape (n_columns, n_columns)
        Sum of the weighted products of centred rows.

    References
    ----------
    .. [1] T. F. Chan, G. H. Golub, R. J. LeVeque. Algorithms for computing the sample variance:
       analysis and recommendations. The American Statistician 37 (1983).

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.onepass import Moments
    >>> X = np.array([[1.0, 2.0], [3.0, 2.0], [8.0, 5.0]])
    >>> moments = Moments(2).update(X[:2]).merge(Moments(2).update(X[2:]))
    >>> moments.weight, moments.mean.tolist(), moments.scatter.tolist()
    (3.0, [4.0, 3.0], [[26.0, 12.0], [12.0, 6.0]])
    """

    def __init__(self, n_columns: int) -> None:
        self.weight = 0.0
        self.scatter = np.zeros((n_columns, n_columns))
        self._origin = np.zeros(n_columns)
        self._offset = np.zeros(n_columns)

    @property
    def mean(self) -> Floats:
        """Mean of the rows, of shape (n_columns,)."""
        return self._origin + self._offset

    def mean_from(self, other: "Moments") -> Floats:
        """Return the mean minus that of `other`, more exactly than by `mean`."""
        return (self._origin - other._origin) + (self._offset - other._offset)

    @np.errstate(invalid="ignore")  # which raises an error
    def update(self, rows: Floats, weights: Floats | None = None) -> Self:
        """Add a block of rows.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_columns), float64
        weights : ndarray of shape (n_rows,), default=None
            Not negative; None is 1 for each row.

        Returns
        -------
        self : Moments

        Raises
        ------
        ValueError
            If an entry is not finite; nothing is added.
        """
        total = float(len(rows) if weights is None else np.sum(weights))
        if not total:
            return self
        origin = self._origin if self.weight else _central(rows[:64])
        rows = rows - origin
        offset = rows.mean(axis=0) if weights is None else weights @ rows / total
        if not np.isfinite(offset).all():
            raise ValueError(f"column {int(np.isfinite(offset).argmin())} is not finite")
        rows -= offset
        if weights is not None:
            rows *= np.sqrt(weights)[:, np.newaxis]
        varying = np.flatnonzero(rows.any(axis=0))
        if 10 * len(varying) >= 9 * rows.shape[1]:
            self.scatter += memory.gram(rows)
        elif len(varying):  # of some maps half the features are constant
            self.scatter[np.ix_(varying, varying)] += memory.gram(rows[:, varying])
        self._origin = origin
        self._move(total, offset - self._offset)
        return self

    def merge(self, other: "Moments") -> Self:
        """Add the rows of other moments, which stay as they are.

        Returns
        -------
        self : Moments
        """
        if other.weight:
            if not self.weight:
                self._origin = other._origin
            self.scatter += other.scatter
            self._move(other.weight, other.mean_from(self))
        return self

    def decay(self, factor: float) -> None:
        """Multiply the weights of all rows so far."""
        self.weight *= factor
        self.scatter *= factor

    def widened(self, n_columns: int) -> "Moments":
        """Return the moments with further columns, which are 0 in all rows so far."""
        wide, more = Moments(n_columns), (0, n_columns - len(self.scatter))
        wide.weight, wide.scatter = self.weight, np.pad(self.scatter, more)
        wide._origin, wide._offset = np.pad(self._origin, more), np.pad(self._offset, more)
        return wide

    def _move(self, weight: float, shift: Floats) -> None:
        """Count rows of some weight whose mean is away by `shift`."""
        share = weight / (self.weight + weight)
        self.scatter += (self.weight * share) * np.outer(shift, shift)
        self._offset = self._offset + share * shift
        self.weight += weight


def merged(parts: Sequence[Moments]) -> Moments:
    """Return the moments of several parts together, which stay as they are."""
    return reduce(Moments.merge, parts, Moments(len(parts[0].scatter)))


def _central(rows: Floats) -> Floats:
    """Return for each column its entry nearest to the mean: for a constant one exactly that."""
    nearest = np.abs(rows - rows.mean(axis=0)).argmin(axis=0)
    return rows[nearest, np.arange(rows.shape[1])]


def row_hashes(X: Any, seed: int = 0) -> NDArray[np.uint64]:
    r"""Return a hash of each row, from the bits of its entries as float64.

    The high bits of :math:`\sum_j c_j x_j \bmod 2^{64}`, over the 32-bit halves x of the entries
    with random c, are strongly universal; they are mixed afterwards as by SplitMix64. A row has
    the same hash in an array or a sparse matrix, as float32 or float64.

    Parameters
    ----------
    X : {ndarray, CSR matrix} of shape (n_samples, n_features)
    seed : int, default=0

    Returns
    -------
    ndarray of shape (n_samples,), uint64

    References
    ----------
    D. Lemire, O. Kaser. Strongly universal string hashing is fast. The Computer Journal 57
    (2014), section 3.
    """
    seeds = np.random.SeedSequence(seed)
    factors = seeds.generate_state(2 * X.shape[1] + 1, np.uint64).astype(np.uint64)
    hashes = np.zeros(X.shape[0], dtype=np.uint64)
    if sparse.issparse(X):
        X = X.tocsr(copy=not X.has_canonical_format)
        X.sum_duplicates()
        for part, of_part in zip(_halves(X.data).T, (factors[1::2], factors[2::2]), strict=True):
            hashes += sparse.csr_matrix((part, X.indices, X.indptr), X.shape) @ of_part
    else:
        for start in range(0, X.shape[0], 4096):  # what is computed of these stays in cache
            rows = slice(start, start + 4096)
            hashes[rows] = _halves(X[rows]).reshape(-1, 2 * X.shape[1]) @ factors[1:]
    hashes += factors[0]
    z = (hashes >> np.uint64(32) | hashes << np.uint64(32)) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)


def _halves(values: Any) -> NDArray[np.uint64]:
    """Return both halves of the bits of each number, of shape (n_values, 2)."""
    whole = np.ascontiguousarray(values, dtype="<f8") + 0.0  # makes one zero of -0.0 and 0.0
    return whole.view("<u4").astype(np.uint64).reshape(-1, 2)


def fold_of(hashes: NDArray[np.uint64], n_folds: int) -> NDArray[np.intp]:
    """Return the fold of each row, from 0 to `n_folds` - 1."""
    return ((hashes >> np.uint64(32)) * np.uint64(n_folds) >> np.uint64(32)).astype(np.intp)


def ridge_solution(scatter: Floats, cross: Floats, alpha: float) -> Floats:
    r"""Solve :math:`(S + \alpha I) w = b` for each column b of `cross`; no column of S is 0.

    The error of a Cholesky factorisation is that with columns scaled to a diagonal of ones, so
    that unlike scales do no harm. Where the matrix is singular even then, directions within
    rounding error count as 0.
    """
    matrix = scatter.T.copy(order="F")
    matrix.flat[:: len(matrix) + 1] += alpha
    diagonal = matrix.diagonal().copy()
    least = float(len(matrix) * np.finfo(np.float64).eps)
    with suppress(np.linalg.LinAlgError):
        factor = memory.cholesky(matrix)
        if (factor.diagonal() ** 2 >= least * diagonal).all():
            return dpotrs(factor, cross, lower=1)[0]
    scale = np.sqrt(diagonal)[:, np.newaxis]
    balanced = scatter / scale / scale.T
    np.fill_diagonal(balanced, 1.0)
    solve = partial(np.linalg.lstsq, balanced, cross / scale, rcond=least)
    return memory.interruptible(solve, 20.0 * len(matrix) ** 3)[0] / scale


def penalty_path(scatter: Floats) -> Floats:
    """Return three penalties a decade, from 1e-10 to 1 times the largest eigenvalue.

    They begin lower, down to 1e-20 times it, where columns of much smaller scale need that.
    """
    work = 4 / 3 * len(scatter) ** 3
    largest = memory.interruptible(partial(np.linalg.eigvalsh, scatter), work)[-1]
    relevant = scatter.diagonal()[scatter.diagonal() > 1e-20 * largest]
    if not len(relevant):
        return np.ones(1)
    decades = int(np.clip(np.ceil(4 - np.log10(relevant.min() / largest)), 10, 20))
    return largest * np.geomspace(10.0**-decades, 1, 3 * decades + 1)


class RidgePath(NamedTuple):
    """Solutions for several penalties.

    Attributes
    ----------
    alphas : ndarray of shape (n_alphas,)
        The penalties, ascending.
    errors : ndarray of shape (n_alphas,)
        Mean squared error on held-out folds, averaged over targets; NaN for a single penalty.
    coefs : ndarray of shape (n_alphas, n_targets, n_features_out)
        Weights for each penalty, from all rows.
    intercepts : ndarray of shape (n_alphas, n_targets)
    best : int
        The place of the penalty with the least error.
    """

    alphas: Floats
    errors: Floats
    coefs: Floats
    intercepts: Floats
    best: int


@dataclass(eq=False, repr=False)
class OnePassModel(validation.TakesSparse, BaseEstimator):
    """A linear model of features, solved from the moments of the rows of each fold."""

    feature_map: Any = None
    _: KW_ONLY
    alphas: Any = None
    n_folds: int = 5

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **validation.PARAMETERS,
        "feature_map": [None, validation.HasMethods(["fit", "transform"])],
        "alphas": [None, validation.NOT_NEGATIVE, "array-like"],
        "n_folds": [validation.COUNT],
    }
    _numeric = True  # whether targets are numbers; else they are classes
    _flat = False  # whether there is one target, without an axis of its own

    @abstractmethod
    def _begin_targets(self, y: NDArray[Any], classes: Any, sizes: Any) -> int:
        """Learn what targets are, from classes and their sizes if known; return their number."""

    @abstractmethod
    def _targets(self, y: NDArray[Any]) -> tuple[Floats, Floats | None]:
        """Return the numbers to fit, of shape (n_rows, n_targets), and the weights of rows."""

    @validation.fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the feature map on a sample of the rows, gather the moments of all, and solve.

        The rows are read twice, the first time for the classes and a sample of 10 000 distinct
        rows, those with the smallest hashes. To read them once call `partial_fit`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or iterable of chunks
            Rows, or tuples (X, y) of some rows and their targets each, such as
            :func:`kernlearn.datasets.row_source` makes of files and Dask collections. Partitions
            of Dask are read by the workers of an active client, else by Dask's own scheduler.
        y : array-like of shape (n_samples,)
            Targets; None if X is an iterable of chunks.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the data are not valid.
        """
        validation.refuse_text(X)
        if hasattr(X, "dask"):
            raise ValueError("pass Dask collections as 'kernlearn.datasets.row_source(X, y)'")
        chunks = X if y is None and not hasattr(X, "shape") else [(X, y)]
        first = next(iter(chunks), None)
        if first is None or iter(chunks) is chunks:
            raise ValueError("fit reads rows twice: pass the chunks of an iterator to partial_fit")
        for name in ("moments_", "path_"):  # of an earlier fit
            self.__dict__.pop(name, None)
        self._checked(first[0], first[1], reset=True)
        self._begin(*self._reduce(chunks, _sample, _merged_samples))
        self._set(self._reduce(chunks, _moments, _merged_moments))
        self.path_  # noqa: B018
        return self

    @validation.fit_context(prefer_skip_nested_validation=False)
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Add rows; the model is solved when it is next asked for.

        The first call fits the feature map on its rows. A map that was fitted before, on a sample
        of all rows, can be passed as ``FrozenEstimator(feature_map)``.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Targets.
        classes : array-like of shape (n_classes,), default=None
            All classes, for classifiers: required in the first call.

        Returns
        -------
        self : object
            The estimator.

        Raises
        ------
        ValueError
            If the data are not valid; none of the rows is added.
        """
        if self._numeric and classes is not None:
            raise ValueError("classes are for a classifier, and this model predicts numbers")
        before = [self.moments_] if self.__sklearn_is_fitted__() else []
        rows, targets = self._checked(X, y, reset=not before)
        if not before:
            if classes is None and not self._numeric:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            self._begin(rows, targets, classes, None)
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes is {classes!r}, and was {self.classes_} in the first call")
        return self._set(_merged_moments([*before, _moments(self, [(X, y)])]))

    def merge(self, *others: Self) -> Self:
        """Add the rows of other estimators, which stay as they are.

        Parameters
        ----------
        *others : OnePassModel
            Estimators with the same parameters and the same fitted map. With the same parts in
            the same order the result is the same to the bit.

        Returns
        -------
        self : object
            This estimator.

        Raises
        ------
        ValueError
            If they are of other features, folds or classes.
        """
        for model in (self, *others):
            check_is_fitted(model)
            if model._kind() != self._kind():
                raise ValueError(f"cannot merge a model of {model._kind()} into {self._kind()}")
            ours, theirs = (each._features(self._probe) for each in (self, model))
            if not np.allclose(ours, theirs, atol=1e-8 * np.abs(ours).max(axis=0)):
                raise ValueError("cannot merge: each model has fitted a feature map of its own")
        return self._set(_merged_moments([model.moments_ for model in (self, *others)]))

    @cached_property
    def path_(self) -> RidgePath:
        """Solutions for all penalties."""
        check_is_fitted(self)
        k, whole = self._width, merged(self.moments_)
        values = penalty_path(whole.scatter[:k, :k]) if self.alphas is None else self.alphas
        alphas = np.unique(np.asarray(values, dtype=np.float64))
        if not len(alphas) or not (np.isfinite(alphas) & (alphas >= 0)).all():
            raise ValueError(f"alphas must be finite numbers of 0 or more, got {self.alphas!r}")
        errors = self._held_out_errors(alphas) if len(alphas) > 1 else np.full(1, np.nan)
        coefs = _solutions(whole, alphas, k)
        intercepts = whole.mean[k:] - coefs @ whole.mean[:k]
        return RidgePath(alphas, errors, coefs, intercepts, first_best(errors))

    @property
    def alpha_(self) -> float:
        """The penalty with the least error on held-out folds."""
        return float(self.path_.alphas[self.path_.best])

    @property
    def coef_(self) -> Floats:
        """Weights of the features."""
        coef = self.path_.coefs[self.path_.best]
        return coef[0] if self._flat else coef

    @property
    def intercept_(self) -> Any:
        """Intercept of each target."""
        intercept = self.path_.intercepts[self.path_.best]
        return float(intercept[0]) if self._flat else intercept

    def _held_out_errors(self, alphas: Floats) -> Floats:
        """Return the mean squared error of each penalty on held-out folds."""
        folds = [moments for moments in self.moments_ if moments.weight]
        weight = sum(moments.weight for moments in folds)
        if len(folds) < 2:
            raise ValueError(f"n_samples={weight:g} in one fold: pass a single value as 'alphas'")
        errors = np.zeros(len(alphas))
        for i, held in enumerate(folds):
            training = merged([*folds[:i], *folds[i + 1 :]])
            coefs = _solutions(training, alphas, self._width)
            errors += _squared_errors(held, training, coefs).clip(min=0).mean(axis=1)
        return errors / weight

    def _kind(self) -> str:
        """Return what is the same for models that can be merged."""
        names = [*getattr(self, "feature_names_in_", ())]
        sizes = f"{self.n_features_in_} columns {names}, {self._n_columns} features and targets"
        classes = [np.asarray(getattr(self, k, None)).tolist() for k in ("classes_", "_factors")]
        return f"{type(self).__name__}, {sizes}, {len(self.moments_)} folds, classes {classes}"

    def _checked(self, X: Any, y: Any, reset: bool = False) -> tuple[Any, NDArray[Any]]:
        options = {**validation.POINTS, "multi_output": self._numeric, "y_numeric": self._numeric}
        X, y = validation.validate_data(self, X, y, reset=reset, **options)
        if not self._numeric:
            validation.check_labels(y)
        return X, y

    def _begin(self, X: Any, y: NDArray[Any], classes: Any, sizes: Any) -> None:
        """Fit the map on a sample."""
        self.feature_map_ = None
        if self.feature_map is not None:
            self.feature_map_ = clone(self.feature_map).fit(X.astype(np.float64), y)
        names, of_map = (getattr(m, "feature_names_in_", None) for m in (self, self.feature_map_))
        if names is not None and of_map is not None and [*names] != [*of_map]:
            raise ValueError(
                f"the columns of X are {[*names]}, and feature_map was fitted on {[*of_map]}: "
                "pass X with these, in this order"
            )
        # the largest rows: their features show whether two maps are the same
        largest = np.argsort(-np.asarray(abs(X).sum(axis=1)).ravel(), kind="stable")
        self._probe = X[largest[:8]]
        self._width = self._features(X[:1]).shape[1]
        self._n_columns = self._width + self._begin_targets(y, classes, sizes)
        n_bytes, advice = 16 * self.n_folds * self._n_columns**2, "take fewer features or folds"
        memory.require_memory(n_bytes, f"moments of {self._n_columns} columns", advice)

    def _reduce(self, chunks: Any, gather: Any, merge: Any) -> Any:
        """Return what is gathered of chunks; of a source in partitions it is merged."""
        gather = partial(gather, self)
        return chunks.reduce(gather, merge) if hasattr(chunks, "reduce") else gather(chunks)

    def _set(self, moments: list[Moments]) -> Self:
        self.moments_ = moments
        self.__dict__.pop("path_", None)
        return self

    def _features(self, X: Any) -> Floats:
        X = X.astype(np.float64, copy=False)
        if self.feature_map_ is not None:
            if (names := getattr(self.feature_map_, "feature_names_in_", None)) is not None:
                import pandas as pd

                X = pd.DataFrame(X, columns=names)
            X = self.feature_map_.transform(X)
        return X.toarray() if sparse.issparse(X) else np.asarray(X, dtype=np.float64)

    def _scores(self, X: Any) -> Floats:
        """Return the linear functions of rows, of shape (n_samples, n_targets)."""
        check_is_fitted(self)
        X = validation.validate_data(self, X, reset=False, **validation.POINTS)
        coef = np.atleast_2d(self.coef_)
        scores = np.empty((X.shape[0], len(coef)))
        for rows in memory.row_blocks(X.shape[0], coef.shape[1]):
            np.matmul(self._features(X[rows]), coef.T, out=scores[rows])
        return scores + self.intercept_

    def __sklearn_is_fitted__(self) -> bool:
        return "moments_" in vars(self)


def _solutions(moments: Moments, alphas: Floats, k: int) -> Floats:
    """Return the weights for each penalty, of shape (n_alphas, n_targets, n_features)."""
    varying = np.flatnonzero(moments.scatter.diagonal()[:k])
    features, cross = moments.scatter[np.ix_(varying, varying)], moments.scatter[varying, k:]
    coefs = np.zeros((len(alphas), cross.shape[1], k))
    if not len(varying):
        return coefs
    for coef, alpha in zip(coefs, alphas.tolist(), strict=True):
        coef[:, varying] = ridge_solution(features, cross, alpha).T
    return coefs


def _squared_errors(held: Moments, training: Moments, coefs: Floats) -> Floats:
    """Return the sums of squared errors on held-out rows, of shape (n_alphas, n_targets)."""
    n_alphas, n_targets, _ = coefs.shape
    targets = np.broadcast_to(np.eye(n_targets), (n_alphas, n_targets, n_targets))
    residuals = np.concatenate([-coefs, targets], axis=2)  # of a row of features and targets
    squares = (np.tensordot(residuals, held.scatter, 1) * residuals).sum(axis=2)
    return squares + held.weight * (residuals @ held.mean_from(training)) ** 2


def _moments(model: OnePassModel, chunks: Any) -> list[Moments]:
    """Return the moments of the rows of chunks by fold."""
    moments = [Moments(model._n_columns) for _ in range(model.n_folds)]
    for chunk in chunks:
        X, y = model._checked(*chunk)
        targets, weights = model._targets(y)
        folds = fold_of(row_hashes(X), model.n_folds)
        for fold, mine in enumerate(moments):
            inside = np.flatnonzero(folds == fold)
            for block in memory.row_blocks(len(inside), model._n_columns, block_bytes=2**23):
                rows = inside[block]
                values = np.hstack([model._features(X[rows]), targets[rows]])
                mine.update(values, None if weights is None else weights[rows])
    return moments


def _merged_moments(parts: Sequence[list[Moments]]) -> list[Moments]:
    """Return the moments of each fold over several parts."""
    return [merged(folds) for folds in zip(*parts, strict=True)]


def _sample(model: OnePassModel, chunks: Any) -> tuple[Any, ...] | None:
    """Return distinct rows and their targets, and all classes and their sizes."""
    sample = None
    for chunk in chunks:
        X, y = model._checked(*chunk)
        labels = np.unique(y[:0] if model._numeric else y, return_counts=True)
        sample = _merged_samples([sample, (*_distinct(X, y), *labels)])
    return sample


def _merged_samples(samples: Sequence[Any]) -> tuple[Any, ...] | None:
    """Return the sample of several parts; None stands for one without rows."""
    present = [sample for sample in samples if sample is not None]
    if not present:
        return None
    rows, targets, labels, counts = zip(*present, strict=True)
    X = sparse.vstack(rows, "csr") if sparse.issparse(rows[0]) else np.concatenate(rows)
    classes, codes = np.unique(np.concatenate(labels), return_inverse=True)
    sizes = np.bincount(codes, np.concatenate(counts), len(classes))
    return *_distinct(X, np.concatenate(targets)), classes, sizes


def _distinct(X: Any, y: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
    """Return the distinct rows with the smallest hashes, and their targets."""
    _, first = np.unique(row_hashes(X, seed=1), return_index=True)  # folds are from seed 0
    return X[first[:_SAMPLE_ROWS]], y[first[:_SAMPLE_ROWS]]


class OnePassRidge(MultiOutputMixin, RegressorMixin, OnePassModel):
    r"""Ridge regression on explicit features, from one pass over data of any length.

    When to use it: regression on more rows than fit into memory, or than one machine reads.

    For each fold the means and centred products of features z and targets y are gathered, in
    memory that does not depend on the number of rows. From them the whole path of penalties is
    computed, with the squared error of each on held-out folds, without the rows:

    .. math:: \min_{w, b} \sum_i (y_i - \langle w, z_i \rangle - b)^2 + \alpha \|w\|^2

    Parameters
    ----------
    feature_map : transformer, default=None
        The map, such as :class:`~kernlearn.features.RandomMaclaurin` or
        :class:`~kernlearn.landmarks.NystroemEmbedding`. A clone of it is fitted on a sample. None
        takes the rows themselves.
    alphas : float or array-like of float, default=None
        Penalties α. None is three values a decade from 1e-10 to 1 times the largest eigenvalue of
        the centred :math:`Z^\top Z`, and lower ones if columns are of very unlike scale.
    n_folds : int, default=5
        Number of folds of the choice of the penalty. The fold of a row is taken from a hash of its
        entries, so that equal rows share one.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features_out,) or (n_targets, n_features_out)
        Weights of the features; solved for when they are first asked for.
    intercept_ : float or ndarray of shape (n_targets,)
    alpha_ : float
        The penalty with the least error on held-out folds, one for all targets.
    path_ : RidgePath
        Penalties, their errors on held-out folds, and the weights for each.
    feature_map_ : transformer or None
        The fitted map.
    moments_ : list of Moments
        The moments of features and targets in each fold.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if all are strings.

    See Also
    --------
    OnePassRidgeClassifier : The same for classes.
    sklearn.linear_model.RidgeCV : For data in memory.

    Notes
    -----
    Memory is 16 bytes for each entry of :math:`Z^\top Z` in each fold, and a block. Solving takes
    a Cholesky factorisation for each penalty and fold. The penalty is not scaled by the number of
    rows, as in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.onepass import OnePassRidge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=1000)
    >>> left = OnePassRidge().partial_fit(X[:300], y[:300])
    >>> right = OnePassRidge().partial_fit(X[300:], y[300:])
    >>> left.merge(right).coef_.round(1).tolist()
    [1.0, 2.0, 3.0]
    """

    def predict(self, X: Any) -> Floats:
        """Predict the targets of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
        """
        scores = self._scores(X)
        return scores[:, 0] if self._flat else scores

    def _begin_targets(self, y: NDArray[Any], classes: Any, sizes: Any) -> int:
        self._flat = y.ndim == 1
        return 1 if self._flat else y.shape[1]

    def _targets(self, y: NDArray[Any]) -> tuple[Floats, None]:
        targets, n = y.reshape(len(y), -1).astype(np.float64), self._n_columns - self._width
        if targets.shape[1] != n:
            raise ValueError(f"y has {targets.shape[1]} targets, and had {n} in the first rows")
        return targets, None


@dataclass(eq=False, repr=False)
class OnePassRidgeClassifier(validation.PredictsByScores, LinearClassifierMixin, OnePassModel):
    r"""Least-squares classification on explicit features, from one pass over data of any length.

    When to use it: classes of more rows than fit into memory, or than one machine reads.

    Ridge regression (:class:`OnePassRidge`) on targets of 1 for a class and -1 for all others, as
    :class:`~sklearn.linear_model.RidgeClassifier`; for two classes one target is enough.

    The penalty is chosen by the squared error of these targets on held-out folds. Moments do not
    tell the accuracy; to choose by it compare the weights in `path_` on rows that are held out.

    Parameters
    ----------
    feature_map, alphas, n_folds
        As for :class:`OnePassRidge`.
    class_weight : dict or "balanced", default=None
        Weights of the classes in the sum of squares. "balanced" makes their sums equal, which
        takes `fit`; for two classes it gives scores of large AUC, see the notes.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    coef_ : ndarray of shape (1, n_features_out) or (n_classes, n_features_out)
        Weights of the features; solved for when they are first asked for.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    alpha_, path_, feature_map_, moments_, n_features_in_, feature_names_in_
        As of :class:`OnePassRidge`.

    See Also
    --------
    kernlearn.pairwise.AllPairsMoments : Scores of large AUC from a stream that changes.

    Notes
    -----
    With two balanced classes of means :math:`\mu_\pm` and covariances :math:`\Sigma_\pm`, n rows,
    and :math:`\delta = \mu_+ - \mu_-` the weights are in the direction of

    .. math:: (\Sigma_+ + \Sigma_- + \delta \delta^\top + (2 \alpha / n) I)^{-1} \delta,

    which minimises the mean of :math:`(1 - \langle w, z - z' \rangle)^2` over all pairs of a
    positive and a negative row, with a penalty of :math:`2 \alpha / n` [1]_.

    References
    ----------
    .. [1] W. Gao, R. Jin, S. Zhu, Z.-H. Zhou. One-pass AUC optimization. ICML 2013, section 3.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from kernlearn.features import RandomMaclaurin
    >>> from kernlearn.onepass import OnePassRidgeClassifier
    >>> X, y = make_circles(400, noise=0.05, factor=0.4, random_state=0)
    >>> model = OnePassRidgeClassifier(RandomMaclaurin(n_components=50, random_state=0))
    >>> model.fit(X, y).score(X, y)
    1.0
    """

    _: KW_ONLY
    class_weight: Any = None

    _numeric = False

    def decision_function(self, X: Any) -> Floats:
        """Return the scores of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            With two classes one score, above 0 for ``classes_[1]``.
        """
        scores = self._scores(X)
        return validation.single_column(scores)

    def _begin_targets(self, y: NDArray[Any], classes: Any, sizes: Any) -> int:
        self.classes_ = validation.at_least_two(classes)
        if self.class_weight == "balanced" and sizes is None:
            raise ValueError("class_weight='balanced' needs 'fit', which counts all rows first")
        self._factors = validation.class_weights(
            self.class_weight, self.classes_, self.classes_, sizes
        )
        return len(self.classes_) if len(self.classes_) > 2 else 1

    def _targets(self, y: NDArray[Any]) -> tuple[Floats, Floats | None]:
        codes = validation.label_codes(self.classes_, y)
        signs = validation.one_against_all(codes, len(self.classes_)).T
        return signs, None if self.class_weight is None else self._factors[codes]
