"""Ridge regression and least-squares classification from moments."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MultiOutputMixin, RegressorMixin
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.validation import check_is_fitted

from kernlearn.constraints import CLASS_WEIGHT
from kernlearn.datasets.partitions import is_dask
from kernlearn.onepass.base import OnePassModel
from kernlearn.onepass.classes import OnePassClassifier
from kernlearn.onepass.exact_sums import Floats
from kernlearn.onepass.moments import Sums, weighted
from kernlearn.sample_weights import class_weights


class RidgePath(OnePassModel):
    """The path of ridge regression with an intercept."""

    def _sums(self, folds: list[int], weights: Floats | None) -> Sums:
        """Return the sums that are minimised, with targets as they are fitted."""
        return self._moments.sums(self._groups(folds))

    def _class_weights(self, folds: list[int]) -> Floats | None:
        return None

    def _solve(self) -> None:
        folds = list(range(self.n_folds))
        whole = self._sums(folds, self._class_weights(folds))
        problem = whole.residuals(whole.mean, whole.target_mean)
        alphas = self._penalties(problem.largest if self.alphas is None else 0.0)
        errors = np.zeros(len(alphas))
        n_held = 0.0
        for training, held in self._cut() if len(alphas) > 1 else ():
            weights = self._class_weights(training)
            sums, others = self._sums(training, weights), self._sums(held, weights)
            center = sums.mean, sums.target_mean
            coefs = sums.residuals(*center).minima(alphas)
            errors += others.residuals(*center).values(coefs).clip(min=0).mean(axis=1)
            n_held += others.count
        errors = errors / n_held if n_held else np.full(len(alphas), np.nan)
        best = int(errors.argmin()) if n_held else 0
        path = problem.minima(alphas)
        features = self._moments.layout.features
        means = whole.mean + features.centers
        offsets = whole.target_mean + self._target_centers()
        self.alphas_, self.alpha_, self.cv_errors_ = alphas, float(alphas[best]), errors
        self.coef_path_, self.intercept_path_ = path, offsets - path @ means
        self._set_model(path[best], self.intercept_path_[best])

    def _target_centers(self) -> Floats:
        targets = self._moments.layout.targets
        return np.zeros(1) if targets is None else targets.centers

    def _set_model(self, coef: Floats, intercept: Floats) -> None:
        self.coef_, self.intercept_ = coef, intercept


@dataclass(eq=False, repr=False)
class OnePassRidge(MultiOutputMixin, RegressorMixin, RidgePath):
    r"""Ridge regression on explicit features, from one pass over data of any length.

    When to use it: regression on more rows than fit into memory, or than one machine reads.

    For each fold the sums of :math:`z z^\top`, :math:`z y`, z and y over its rows are gathered,
    where z are the features of a row, in memory that does not depend on the number of rows. From
    them the whole path of penalties is computed, with the squared error of each on held-out folds,
    without the rows:

    .. math:: \min_{w, b} \sum_i (y_i - \langle w, z_i \rangle - b)^2 + \alpha \|w\|^2

    Sums are exact: features are rounded to a grid of :math:`2^{-18}` of their standard deviation
    or finer, and products of multiples are added without rounding. The result is the same to the
    bit for any order and partition of the rows, one process or several that are merged.

    Parameters
    ----------
    feature_map : transformer, default=None
        The map, such as :class:`~kernlearn.features.RandomMaclaurin` or
        :class:`~kernlearn.landmarks.NystroemEmbedding`. A clone of it is fitted on a sample. None
        takes the rows themselves.
    alphas : float or array-like of float, default=None
        Penalties α. None is 31 values from 1e-10 to 1 times the greatest eigenvalue of the
        centred :math:`Z^\top Z`.
    n_folds : int, default=5
        Number of folds of the choice of the penalty. The fold of a row is taken from a hash of its
        entries, so that equal rows share one.
    sample_rows : int, default=10000
        Rows of the sample that `fit` takes for the feature map.
    fold_seed : int, default=0
        Seed of the hash.
    block_rows : int, default=None
        Rows per block of features; None takes as many as fit into 32 MiB.
    n_jobs : int, default=None
        Number of threads for features and products. The result does not depend on it.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features_out,) or (n_targets, n_features_out)
        Weights of the features.
    intercept_ : float or ndarray of shape (n_targets,)
    alpha_ : float
        The penalty with the least error on held-out folds, one for all targets.
    alphas_ : ndarray of shape (n_alphas,)
        The penalties, ascending.
    cv_errors_ : ndarray of shape (n_alphas,)
        Mean squared error on held-out folds, averaged over targets; NaN for a single penalty.
    coef_path_ : ndarray of shape (n_alphas, n_targets, n_features_out)
        Weights for each penalty, from all rows.
    intercept_path_ : ndarray of shape (n_alphas, n_targets)
    feature_map_ : transformer or None
        The fitted map.
    moments_ : Moments
        The sums.
    n_samples_seen_ : int
        Number of rows in the moments.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if all are strings.

    See Also
    --------
    OnePassRidgeClassifier : The same for classes.
    sklearn.linear_model.RidgeCV : For data in memory.

    Notes
    -----
    Memory is 24 bytes for each entry of :math:`Z^\top Z` in each fold, and a block. Solving takes
    one eigendecomposition for each fold and one for all rows. The penalty is not scaled by the
    number of rows, as in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.onepass import OnePassRidge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 3))
    >>> y = X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=1000)
    >>> left = OnePassRidge().fit_map(X[:100], y[:100])
    >>> right = OnePassRidge().fit_map(X[:100], y[:100])
    >>> model = left.partial_fit(X[:300], y[:300]).merge(right.partial_fit(X[300:], y[300:]))
    >>> model.n_samples_seen_, model.coef_.round(1).tolist()
    (1000, [1.0, 2.0, 3.0])
    """

    feature_map: Any = None
    _: KW_ONLY
    alphas: Any = None
    n_folds: int = 5
    sample_rows: int = 10_000
    fold_seed: int = 0
    block_rows: int | None = None
    n_jobs: int | None = None

    def predict(self, X: Any) -> Floats:
        """Predict the targets of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, Dask array, Dask data frame} of shape \
                (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_targets)
            For a Dask collection a lazy Dask array.
        """
        check_is_fitted(self)
        if is_dask(X):
            return self._lazily("predict", X, np.empty((0, *np.shape(self.intercept_))))
        scores = self._scores(X)
        return scores[:, 0] if self._flat else scores

    def _check_targets(self, y: Any, *, reset: bool) -> NDArray[Any]:
        values = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
        if values.ndim == 2 and values.shape[1] == 1:
            values = column_or_1d(values, warn=True)
        n_targets = 1 if values.ndim == 1 else values.shape[1]
        if reset:
            self._flat = values.ndim == 1
        elif "_moments" in self.__dict__ and n_targets != self._moments.layout.n_targets:
            raise ValueError(
                f"y has {n_targets} targets, expected {self._moments.layout.n_targets} as before"
            )
        return values.reshape(len(values), n_targets)

    def _layout_options(self, y: Any, classes: Any) -> dict[str, Any]:
        if classes is not None:
            raise ValueError("classes is for classifiers")
        return {"classes": None, "by_class": False}

    def _multiples(self, y: NDArray[Any]) -> tuple[Floats, None]:
        grid = self._moments.layout.targets
        out = np.empty_like(y)
        grid.round(y, out)  # type: ignore[union-attr]
        return out, None

    def _set_model(self, coef: Floats, intercept: Floats) -> None:
        self.coef_ = coef[0] if self._flat else coef
        self.intercept_ = float(intercept[0]) if self._flat else intercept


@dataclass(eq=False, repr=False)
class OnePassRidgeClassifier(RidgePath, OnePassClassifier):
    r"""Least-squares classification on explicit features, from one pass over data of any length.

    When to use it: classes of more rows than fit into memory, or than one machine reads.

    Ridge regression (:class:`OnePassRidge`) on targets of 1 for a class and -1 for all others, as
    :class:`~sklearn.linear_model.RidgeClassifier`; for two classes one target is enough.

    The penalty is chosen by the squared error of these targets on held-out folds, which moments
    tell exactly. They do not tell the accuracy, for which the rows are needed: `coef_path_` has
    the weights for each penalty, to be compared on rows that are held out.

    Parameters
    ----------
    feature_map, alphas, n_folds, sample_rows, fold_seed, block_rows, n_jobs
        As for :class:`OnePassRidge`.
    class_weight : dict or "balanced", default=None
        Weights of the classes in the sum of squares; "balanced" makes their sums equal. With it
        moments are gathered for each class, and take as many times the memory.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    coef_ : ndarray of shape (1, n_features_out) or (n_classes, n_features_out)
        Weights of the features.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    class_counts_ : ndarray of shape (n_classes,), int
        Number of rows of each class.
    class_means_ : ndarray of shape (n_classes, n_features_out)
        Mean of the features of each class; NaN for one without rows.
    alpha_, alphas_, cv_errors_, coef_path_, intercept_path_, feature_map_, moments_
        As of :class:`OnePassRidge`.
    n_samples_seen_ : int
        Number of rows in the moments.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if all are strings.

    See Also
    --------
    OnePassRankRLS : Scores of large AUC.

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

    feature_map: Any = None
    _: KW_ONLY
    alphas: Any = None
    class_weight: Any = None
    n_folds: int = 5
    sample_rows: int = 10_000
    fold_seed: int = 0
    block_rows: int | None = None
    n_jobs: int | None = None

    _parameter_constraints = {
        **OnePassModel._parameter_constraints,
        "class_weight": CLASS_WEIGHT,
    }

    _by_class = property(lambda self: self.class_weight is not None)

    def _sums(self, folds: list[int], weights: Floats | None) -> Sums:
        if weights is None:
            return super()._sums(folds, None).signed()
        parts = [self._moments.sums(self._groups(folds, c)) for c in range(len(self.classes_))]
        return weighted(parts, weights.tolist()).signed()

    def _class_weights(self, folds: list[int]) -> Floats | None:
        if self.class_weight is None:
            return None
        rows = [self._moments.rows_of(self._groups(folds, c)) for c in range(len(self.classes_))]
        counts = np.array(rows, dtype=np.float64)
        seen = self.classes_[counts > 0]
        factors = np.zeros(len(counts))
        factors[counts > 0] = class_weights(self.class_weight, seen, seen, counts[counts > 0])
        return factors
