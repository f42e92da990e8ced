"""Linear SVM on random Maclaurin features: RF and H0/1 of the thesis."""

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from kernlearn.constraints import fit_context
from kernlearn.features.random_maclaurin import RandomMaclaurin
from kernlearn.sample_weights import check_weights, without_zeros
from kernlearn.solvers import LinearSVM

if TYPE_CHECKING:
    from kernlearn.features.svm_path import MaclaurinPath

_POINTS: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}
_MAP = (
    "kernel",
    "n_components",
    "p",
    "h01",
    "include_exact",
    "exact_orders",
    "measure",
    "center",
    "complex_to_real",
    "projection",
    "truncation",
    "random_state",
)
_SVM = (
    "C",
    "loss",
    "solver",
    "tol",
    "intercept_scaling",
    "presolve",
    "class_weight",
    "random_state",
)


@dataclass(eq=False, repr=False)
class MaclaurinSVM(ClassifierMixin, BaseEstimator):
    """Classifier for dot-product kernels with linear training and prediction time.

    When to use it: a polynomial or other dot-product kernel on more rows than a kernel SVM can
    take.

    Random Maclaurin features (:class:`RandomMaclaurin`) followed by LIBLINEAR
    (:class:`~kernlearn.solvers.LinearSVM`): RF, or with ``h01=True`` H0/1, where the linear
    term of the kernel is exact and the constant is left to the intercept. Prediction computes
    features in blocks of rows.

    Parameters
    ----------
    kernel : str or kernel object, default="polynomial"
        A dot-product kernel, see :class:`RandomMaclaurin`.
    n_components : int, UniformAccuracy or dict, default=200
        Number D of random features, or the required accuracy.
    h01, include_exact, exact_orders, p, measure, center, complex_to_real, projection, truncation
        As for :class:`RandomMaclaurin`.
    C : float, default=1.0
        Weight of the losses relative to the norm.
    loss, solver, tol, intercept_scaling, presolve, class_weight
        As for :class:`~kernlearn.solvers.LinearSVM`.
    random_state : int, RandomState instance or None, default=None

    Attributes
    ----------
    map_ : RandomMaclaurin
        The fitted feature map.
    svm_ : LinearSVM
        The fitted linear model.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int

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

    kernel: Any = "polynomial"
    n_components: Any = 200
    _: KW_ONLY
    h01: bool = False
    include_exact: bool = False
    exact_orders: Any = None
    p: float = 2.0
    measure: str = "geometric"
    center: bool = False
    complex_to_real: bool | str = False
    projection: str = "signs"
    truncation: Any = None
    C: float = 1.0
    loss: str = "squared_hinge"
    solver: str = "auto"
    tol: float | None = None
    intercept_scaling: float = 1.0
    presolve: float | None = None
    class_weight: Any = None
    random_state: Any = None

    #: Parameters of which :meth:`path` takes no list of values: one of orders is a truncation.
    path_excludes: ClassVar[tuple[str, ...]] = ("class_weight", "truncation")

    _parameter_constraints = {
        **{name: RandomMaclaurin._parameter_constraints[name] for name in _MAP},
        **{name: LinearSVM._parameter_constraints[name] for name in _SVM},
    }

    @fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: np.typing.ArrayLike,
        sample_weight: np.typing.ArrayLike | None = None,
    ) -> "MaclaurinSVM":
        """Fit the feature map, and the linear model on its features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C for each row, see :class:`~kernlearn.solvers.LinearSVM`.

        Returns
        -------
        self : MaclaurinSVM

        Raises
        ------
        ValueError
            If there is only one class, or the kernel has negative Maclaurin coefficients.
        """
        X, y = validate_data(self, X, y, **_POINTS)
        self.map_, self.svm_ = self.parts()
        X, y, weights = without_zeros(X, y, check_weights(sample_weight, X))
        self.svm_.fit(self.map_.fit_transform(X), y, weights)
        self.classes_ = self.svm_.classes_
        return self

    def parts(self) -> tuple[RandomMaclaurin, LinearSVM]:
        """Return the feature map and the linear model, not fitted.

        Returns
        -------
        feature_map : RandomMaclaurin
        svm : LinearSVM
        """
        feature_map = RandomMaclaurin(
            include_bias=False, **{name: getattr(self, name) for name in _MAP}
        )
        return feature_map, LinearSVM(**{name: getattr(self, name) for name in _SVM})

    def path(self, X: Any, y: np.typing.ArrayLike) -> "MaclaurinPath":
        """Fit the model for a grid of settings: parameters that are lists of values.

        Models that differ in C alone share their features, and with the default loss and solver
        are trained at the same time; each is that of `fit` up to rounding.

        Parameters
        ----------
        X, y
            As for `fit`.

        Returns
        -------
        MaclaurinPath
            The fitted models.
        """
        from kernlearn.features.svm_path import follow_path

        return follow_path(self, X, y)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the signed distances from the separating hyperplanes, times the norm of w.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            One column per class if there are more than two.
        """
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, **_POINTS)
        weights, intercept = self.svm_.coef_.T, self.svm_.intercept_
        scores = np.empty((X.shape[0], weights.shape[1]), dtype=np.result_type(X.dtype, weights))
        for rows, features in self.map_.transform_blocks(X):
            np.matmul(features, weights, out=scores[rows])
        scores += intercept
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> np.ndarray:
        """Predict the class of each point.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self.decision_function(X)
        if scores.ndim == 1:
            return self.classes_[(scores > 0).astype(np.intp)]
        return self.classes_[scores.argmax(axis=1)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
