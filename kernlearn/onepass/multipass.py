"""Linear classification with the losses that need more than one pass."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.utils.metaestimators import available_if

from kernlearn.constraints import (
    CLASS_WEIGHT,
    COUNT,
    FRACTION,
    POSITIVE,
    WHOLE,
    StrOptions,
    fit_context,
)
from kernlearn.model_selection import LOSSES, candidate_values
from kernlearn.onepass.exact_sums import Floats
from kernlearn.onepass.grid import transformer
from kernlearn.onepass.linear import LinearTask, fit_linear
from kernlearn.onepass.mapped import LinearDecision, MappedModel
from kernlearn.onepass.repeated import RepeatedRows, as_source


@dataclass(eq=False, repr=False)
class MultiPassClassifier(LinearDecision, MappedModel):
    r"""Linear classifier on explicit features, for hinge and logistic loss and data of any length.

    When to use it: classes of more rows than fit into memory, where the squared error of
    :class:`OnePassRidgeClassifier` is not accurate enough, or probabilities are needed.

    With labels ±1 it minimises over w and b, as :class:`~kernlearn.solvers.LinearSVM`,

    .. math:: \tfrac12 \|w\|^2 + \tfrac12 (b / s)^2
       + C \sum_i \ell(y_i (\langle w, z_i \rangle + b))

    where z are the features of a row and s is `intercept_scaling`. More than two classes are
    separated one versus the rest. The rows are read in several passes, in each of which their
    features are made anew, block by block: memory does not depend on the number of rows, and
    nothing is kept of a row between passes. All classes and values of C share the passes.

    The first pass takes a sample of the rows, on which the map is fitted, the second one is that
    of least squares, and each later one a step of Newton's method: some 6 to 9 passes for the
    smooth losses, and 6 to 20 for the hinge. Data of no more than `sample_rows` rows are read
    once, and solved in memory. Results depend on the order of rows and the cut into chunks by
    rounding errors alone, but they do.

    Parameters
    ----------
    feature_map : transformer, default=None
        The map, such as :class:`~kernlearn.features.RandomMaclaurin`. A clone of it is fitted on
        a sample. None takes the rows themselves.
    loss : {"squared_hinge", "hinge", "logistic"}, default="squared_hinge"
        The loss of a margin t: max(0, 1 − t)², max(0, 1 − t) or log(1 + exp(−t)).
    C : float or sequence of float, default=1.0
        Weight of the losses relative to the norm. Of several values the best on the rows held out
        is chosen, by accuracy, ties by the smaller mean loss, then by the smaller C.
    fit_intercept : bool, default=True
        Whether to fit b.
    intercept_scaling : float, default=1.0
        Value of the constant feature whose weight gives b: the larger, the less b is penalised.
    class_weight : dict, "balanced" or None, default=None
        Factor on C for each class; with more than two, only for the class that is separated
        from the rest. Rows held out count as much in the choice of C.
    tol : float, default=None
        A model is done when the excess of its objective over the minimum is estimated to be at
        most so much of it; None is 0.001, and for the hinge 0.01, of which most is a bound on
        what its smoothing costs.
    max_passes : int, default=100
        Most passes that the solver makes.
    validation_fraction : float, default=0.2
        Share of the rows that is held out if there are several values of C. The model is not
        trained on these. Which ones is told by a hash of their entries, or of their group in a
        source of chunks (X, y, groups).
    sample_rows : int, default=10000
        Rows of the sample for the feature map, which also tells how long steps may be.
    fold_seed : int, default=0
        Seed of the hash that tells the sample, and the rows held out.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes.
    coef_ : ndarray of shape (1, n_features_out) or (n_classes, n_features_out)
        Weights of the features.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    C_ : float
        The C chosen.
    validation_scores_ : ndarray of shape (n_C,) or None
        Accuracy on the rows held out with each C, ascending; None for a single C.
    gap_ : float
        Estimated excess of the objective over its minimum, relative to it, the greatest of the
        problems; NaN for data that were solved in memory.
    n_passes_ : int
        How often the data have been read: for the sample, by the solver, and once for the choice
        of C.
    feature_map_ : transformer or None
        The fitted map.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if all are strings.

    See Also
    --------
    OnePassRidgeClassifier : Squared error, from one pass.
    kernlearn.solvers.LinearSVM : For data in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.features import RandomMaclaurin
    >>> from kernlearn.onepass import MultiPassClassifier
    >>> from kernlearn.datasets import row_source
    >>> def chunks():
    ...     for seed in range(6):
    ...         X = np.random.default_rng(seed).uniform(-0.5, 0.5, size=(1000, 4))
    ...         yield X, X[:, 0] * X[:, 1] > 0
    >>> feature_map = RandomMaclaurin(n_components=50, h01=True, random_state=0)
    >>> model = MultiPassClassifier(feature_map, loss="logistic", C=[1, 10, 100])
    >>> model.fit(row_source(chunks)).score(*next(chunks())) > 0.95
    True
    """

    feature_map: Any = None
    _: KW_ONLY
    loss: str = "squared_hinge"
    C: Any = 1.0
    fit_intercept: bool = True
    intercept_scaling: float = 1.0
    class_weight: Any = None
    tol: float | None = None
    max_passes: int = 100
    validation_fraction: float = 0.2
    sample_rows: int = 10_000
    fold_seed: int = 0

    _parameter_constraints = {
        **MappedModel._parameter_constraints,
        "loss": [StrOptions(set(LOSSES))],
        "C": [POSITIVE, "array-like"],
        "fit_intercept": ["boolean"],
        "intercept_scaling": [POSITIVE],
        "class_weight": CLASS_WEIGHT,
        "tol": [POSITIVE, None],
        "max_passes": [COUNT],
        "validation_fraction": [FRACTION],
        "sample_rows": [COUNT],
        "fold_seed": [WHOLE],
    }

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, groups: Any = None) -> Self:
        """Fit the feature map on a sample, and the linear model on the features of all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features), or RowSource
            Rows; or with their labels what :func:`kernlearn.datasets.row_source` returns, or a
            Dask array with `y`. It must be possible to read it several times.
        y : array-like of shape (n_samples,)
            Labels; None if X is a source with labels.
        groups : array-like of shape (n_samples,), default=None
            Rows of one group are held out together. None: equal rows are.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the data are not valid, or can be read but once.

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before it reached `tol`.
        """
        Cs = candidate_values(self.C, "C")
        rows = RepeatedRows(
            as_source(X, y, groups),
            self._check_rows,
            held_fraction=self.validation_fraction if len(Cs) > 1 else 0.0,
            sample_rows=self.sample_rows,
            seed=self.fold_seed,
        )
        survey = rows.survey()
        self.feature_map_ = self._fitted_map(survey.X, survey.y)
        task = LinearTask(
            self.loss,
            Cs.tolist(),
            self.class_weight,
            self.intercept_scaling if self.fit_intercept else None,
            self.tol,
            self.max_passes,
        )
        found = fit_linear(rows, survey, transformer(self.feature_map_), task)
        self.classes_, self.validation_scores_ = survey.classes, found.scores
        self.coef_, self.intercept_ = found.coef, found.intercept
        self.C_ = float(Cs[found.places[0]])
        self.gap_ = float(found.models.gaps[:, found.places[0]].max())
        self.n_passes_ = rows.n_passes
        return self

    @available_if(lambda self: self.loss == "logistic")
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Predict the probabilities of the classes, with the logistic loss.

        Those of one class against the rest are scaled to a sum of 1.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        scores: Floats = self.decision_function(X)
        if scores.ndim == 1:
            return np.column_stack([expit(-scores), expit(scores)])
        # in logarithms, as all of the probabilities may be tiny
        logs = -np.logaddexp(0, -scores)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        return shares / shares.sum(axis=1, keepdims=True)
