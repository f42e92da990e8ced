"""Linear SVM on random Maclaurin features: RF and H0/1 of the thesis."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlearn.features.maclaurin import RandomMaclaurin
from kernlearn.kernels import BaseDotProductKernel
from kernlearn.linear import LinearSVM
from kernlearn.linear.models import fit_each
from kernlearn.svm.kernel_svm import ModelPath, noting_convergence, settings_of
from kernlearn.validation import POINTS, TakesSparse, check_weights, fit_context, without_zeros

_MAP = ("kernel", "n_components", "h01", "random_state")
_SVM = ("C", "tol", "presolve", "class_weight")


@dataclass(eq=False, repr=False)
class MaclaurinSVM(TakesSparse, ClassifierMixin, BaseEstimator):
    """Classifier for dot-product kernels with linear training and prediction time.

    When to use it: a polynomial or other dot-product kernel on more rows than a kernel SVM can
    take.

    Random Maclaurin features (:class:`RandomMaclaurin`) followed by LIBLINEAR
    (:class:`~kernlearn.linear.LinearSVM`): RF, or with ``h01=True`` H0/1, where the linear
    term of the kernel is exact and the constant is left to the intercept. Prediction computes
    features in blocks of rows. For other features, losses or solvers take a pipeline of the two.

    Parameters
    ----------
    kernel : str or kernel object, default="polynomial"
        A dot-product kernel, see :class:`RandomMaclaurin`.
    n_components : int, default=200
        Number D of random features.
    h01 : bool, default=False
        Whether to take H0/1 instead of RF.
    C : float, default=1.0
        Weight of the losses relative to the norm.
    tol, presolve, class_weight
        As for :class:`~kernlearn.linear.LinearSVM`.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of the features.

    Attributes
    ----------
    map_ : RandomMaclaurin
        The fitted feature map.
    svm_ : LinearSVM
        The fitted linear model.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_features_in_ : int
        Number of features seen in `fit`.

    References
    ----------
    Kar (2013), algorithm 1 and section 3.6.1.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from kernlearn.features import MaclaurinSVM
    >>> X, y = make_circles(400, noise=0.05, factor=0.4, random_state=0)
    >>> MaclaurinSVM(n_components=50, h01=True, random_state=0).fit(X, y).score(X, y)
    1.0
    """

    kernel: str | BaseDotProductKernel = "polynomial"
    n_components: int = 200
    _: KW_ONLY
    h01: bool = False
    C: float = 1.0
    tol: float | None = None
    presolve: float | None = None
    class_weight: Any = None
    random_state: int | np.random.RandomState | None = None

    #: Parameters of which :meth:`path` takes lists of values.
    path_parameters: ClassVar[tuple[str, ...]] = ("C",)

    _parameter_constraints = {
        **{name: RandomMaclaurin._parameter_constraints[name] for name in _MAP},
        **{name: LinearSVM._parameter_constraints[name] for name in _SVM},
    }

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the feature map, and the linear model on its features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training data.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C for each row, see :class:`~kernlearn.linear.LinearSVM`.

        Returns
        -------
        self : object
            The fitted classifier.

        Raises
        ------
        ValueError
            If a parameter is not valid, or there is only one class.
        """
        X, y = validate_data(self, X, y, **POINTS)
        X, y, weights = without_zeros(X, y, check_weights(sample_weight, X))
        self.map_, self.svm_ = self._parts()
        self.svm_.fit(self.map_.fit_transform(X), y, weights)
        self.classes_ = self.svm_.classes_
        return self

    def _parts(self) -> tuple[RandomMaclaurin, LinearSVM]:
        """Return the feature map and the linear model, not fitted."""
        feature_map, svm = (
            {name: getattr(self, name) for name in names} for names in (_MAP, _SVM)
        )
        return RandomMaclaurin(include_bias=False, **feature_map), LinearSVM(**svm)

    def path(self, X: Any, y: ArrayLike) -> "MaclaurinPath":
        """Fit the model for each of a list of values of C, all on the same features.

        Two classes are trained at the same time; each model is that of `fit` up to rounding.

        Parameters
        ----------
        X, y
            As for `fit`.

        Returns
        -------
        MaclaurinPath
            The fitted models.
        """
        Cs = np.atleast_1d(self.C).tolist()
        models = [clone(self).set_params(C=C) for C in Cs]
        rows, labels = validate_data(models[0], X, y, **POINTS)
        feature_map, svm = models[0]._parts()
        converged = np.ones(len(Cs), dtype=bool)
        with noting_convergence(converged, slice(None)):
            svms = fit_each(svm, feature_map.fit_transform(rows), labels, Cs)
        for model, one in zip(models, svms, strict=True):
            validate_data(model, X, skip_check_array=True)
            model.map_, model.svm_, model.classes_ = feature_map, one, one.classes_
        return MaclaurinPath(settings_of(self.C), models, converged)

    def decision_function(self, X: Any) -> NDArray[np.floating]:
        """Return the signed distances from the separating hyperplanes, times the norm of w.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One column per class if there are more than two.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **POINTS)
        blocks = self.map_.transform_blocks(X)
        scores = np.concatenate([features @ self.svm_.coef_.T for _, features in blocks])
        scores += self.svm_.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data.

        Returns
        -------
        ndarray of shape (n_samples,)
            Predicted labels.
        """
        scores = self.decision_function(X)
        codes = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes]


class MaclaurinPath(ModelPath):
    """Fitted Maclaurin SVMs for several values of C, with the same features."""

    @property
    def n_support(self) -> NDArray[np.intp]:
        """Number of weights of each setting, which are all used."""
        return np.array([model.svm_.coef_.size for model in self.models])

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict labels by every classifier; shape (n_settings, n_samples).

        The features of a block of rows are computed once for all.
        """
        X = validate_data(self.models[0], X, reset=False, **POINTS)
        blocks = self.models[0].map_.transform_blocks(X)
        labels = [[model.svm_.predict(Z) for model in self.models] for _, Z in blocks]
        return np.concatenate(labels, axis=1)
