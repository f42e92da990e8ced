"""The squared pairwise loss of all pairs of two classes, from the moments of both."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from kernlearn.onepass.classes import OnePassClassifier
from kernlearn.onepass.exact_sums import Floats
from kernlearn.onepass.quadratic import Quadratic


@dataclass(eq=False, repr=False)
class OnePassRankRLS(OnePassClassifier):
    r"""Linear scores of large AUC from one pass: the squared loss of all pairs of two classes.

    When to use it: ranking two classes of any number of rows, rare positives above all.

    It minimises the mean over all pairs of a row :math:`x_i` of ``classes_[1]`` and a row
    :math:`x_j` of ``classes_[0]``,

    .. math::

        \frac{1}{n_+ n_-} \sum_{i,j} \bigl(1 - \langle w, z_i - z_j \rangle\bigr)^2
        + \alpha \|w\|^2 = 1 - 2 \langle w, \delta \rangle
        + w^\top (S_+ + S_- + \delta \delta^\top) w + \alpha \|w\|^2,

    with :math:`\delta = \mu_+ - \mu_-` and the means μ and covariances S (with divisor n) of the
    features of the classes [1]_: expand the square, and
    :math:`E (z_i - z_j)(z_i - z_j)^\top = S_+ + S_- + \delta \delta^\top` for independent
    draws. The pairs need not be formed; the moments of each class in each fold are gathered in one
    pass as for :class:`OnePassRidge`, and the penalty is chosen by the loss of the pairs within
    held-out folds.

    Parameters
    ----------
    feature_map, n_folds, sample_rows, fold_seed, block_rows, n_jobs
        As for :class:`OnePassRidge`.
    alphas : float or array-like of float, default=None
        Penalties α on the mean loss of pairs. None is 31 values from 1e-10 to 1 times the
        greatest eigenvalue of :math:`S_+ + S_- + \delta \delta^\top`.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels; the second one is the positive class.
    coef_ : ndarray of shape (1, n_features_out)
        Weights of the features.
    intercept_ : ndarray of shape (1,)
        Makes the score 0 midway between the means of both classes. For `predict` only, the AUC
        does not depend on it.
    alpha_ : float
        The penalty with the least loss on held-out folds.
    alphas_, cv_errors_ : ndarray of shape (n_alphas,)
        The penalties, ascending, and the mean squared loss of held-out pairs.
    coef_path_ : ndarray of shape (n_alphas, 1, n_features_out)
    intercept_path_ : ndarray of shape (n_alphas, 1)
    feature_map_, moments_, n_samples_seen_, n_features_in_, feature_names_in_
        As of :class:`OnePassRidge`.

    See Also
    --------
    kernlearn.pairwise.AllPairsSVM : Other losses of all pairs, for data in memory.
    kernlearn.pairwise.AllPairsMoments : One point of a stream at a time, of which old ones may be
        forgotten.
    kernlearn.pairwise.OLP : Other losses, from a stream and a buffer.

    References
    ----------
    .. [1] W. Gao, R. Jin, S. Zhu, Z.-H. Zhou. One-pass AUC optimization. ICML 2013, section 3.
    .. [2] T. Pahikkala, E. Tsivtsivadze, A. Airola, J. Järvinen, J. Boberg. An efficient algorithm
       for learning to rank from preference graphs. Machine Learning 75 (2009).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.metrics import roc_auc_score
    >>> from kernlearn.onepass import OnePassRankRLS
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = OnePassRankRLS().fit(X[:400], y[:400])
    >>> bool(roc_auc_score(y[400:], model.decision_function(X[400:])) > 0.98)
    True
    """

    feature_map: Any = None
    _: KW_ONLY
    alphas: Any = None
    n_folds: int = 5
    sample_rows: int = 10_000
    fold_seed: int = 0
    block_rows: int | None = None
    n_jobs: int | None = None

    _by_class = True

    def _layout_options(self, y: Any, classes: Any) -> dict[str, Any]:
        options = super()._layout_options(y, classes)
        if (n_classes := len(options["classes"])) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass, "
                f"with {n_classes} classes."
            )
        return options

    def _solve(self) -> None:
        everywhere = list(range(self.n_folds))
        pairs = self._pairs(everywhere)
        if pairs is None:
            raise ValueError("there are no pairs: all rows so far have one class")
        problem, middle = pairs
        alphas = self._penalties(problem.largest if self.alphas is None else 0.0)
        losses, n_cuts = np.zeros(len(alphas)), 0
        for training, held in self._cut() if len(alphas) > 1 else ():
            known, other = self._pairs(training), self._pairs(held)
            if known is None or other is None:  # a class is missing
                continue
            losses += other[0].values(known[0].minima(alphas))[:, 0].clip(min=0)
            n_cuts += 1
        if len(alphas) > 1 and not n_cuts:
            raise ValueError(
                "the choice of a penalty needs rows of both classes in a fold and in the others "
                f"(class counts {self.class_counts_.tolist()}): pass a single value as 'alphas', "
                "or more rows"
            )
        losses = losses / n_cuts if n_cuts else np.full(len(alphas), np.nan)
        best = int(losses.argmin()) if n_cuts else 0
        path = problem.minima(alphas)
        self.alphas_, self.alpha_, self.cv_errors_ = alphas, float(alphas[best]), losses
        self.coef_path_, self.intercept_path_ = path, -path @ middle
        self.coef_, self.intercept_ = path[best], self.intercept_path_[best]

    def _pairs(self, folds: list[int]) -> tuple[Quadratic, Floats] | None:
        """Return the mean loss of the pairs in folds, and the point midway between the means."""
        groups = [self._groups(folds, code) for code in (0, 1)]
        if not all(self._moments.rows_of(part) for part in groups):
            return None
        negative, positive = (self._moments.sums(part) for part in groups)
        difference = positive.mean - negative.mean
        matrix = positive.covariance + negative.covariance + np.outer(difference, difference)
        middle = (positive.mean + negative.mean) / 2 + self._moments.layout.features.centers
        return Quadratic(matrix, difference[:, np.newaxis], np.ones(1)), middle

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
