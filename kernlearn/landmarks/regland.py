"""Regression by similarities: RegLand (algorithm 5), and the average of Nadaraya and Watson."""

from dataclasses import KW_ONLY, dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin

from kernlearn.constraints import NOT_NEGATIVE, POSITIVE, StrOptions
from kernlearn.landmarks.grid_model import GridModel
from kernlearn.landmarks.similarity import Floats, Indices
from kernlearn.model_selection import candidate_values
from kernlearn.solvers import LinearSVMRegressor
from kernlearn.solvers.linear_path import regression_path


@dataclass(eq=False, repr=False)
class RegLand(RegressorMixin, GridModel):
    r"""Support vector regression in the space of similarities to landmarks.

    When to use it: regression with any similarity and few comparisons for each prediction; the
    first to try.

    Algorithm 5 of [1]_ with the ε-insensitive loss: a point is embedded as
    :math:`\Psi(x) = (K(x, l_1), \ldots, K(x, l_d)) / \sqrt d` for d landmarks, and its target
    predicted as :math:`\langle w, \Psi(x) \rangle`. The similarity may be indefinite.

    The algorithm bounds :math:`\|w\|`; for each bound there is a C with the same solution of
    LIBLINEAR's :math:`\frac12 \|w\|^2 + C \sum_i \ell(x_i, y_i)`, as in the thesis' experiments.

    Parameters
    ----------
    n_landmarks : int or "auto", default=50
        Number of landmarks d; all training points, with a warning, if there are fewer. "auto"
        tries 5, 10, 20, and so on, while the validation points gain, see :class:`BBSClassifier`.
    max_comparisons : int, default=None
        Most landmarks that "auto" tries, and so most comparisons of a prediction; None is all.
    similarity : str, Kernel, callable or "precomputed", default="gaussian"
        The name of a kernel, a kernel, a function (X, Y) -> matrix, or "precomputed" if the
        matrices of similarities to the training points are passed as X. A width that depends
        on data is computed from the training points without the held-out ones.
    kind : {"similarity", "distance"}, default="similarity"
        A distance d is used as the similarity -d.
    selection : {"random", "dselect", "kmeans++", "kmedoids", "leverage", "rpcholesky"}, \
            default="random"
        How landmarks are chosen from the training points: uniformly; to be unlike each other
        (algorithm 3); such that each point has one nearby; or to span the kernel's feature space,
        as by :class:`BBSClassifier`.
    double_dipping : bool, default=True
        Whether landmarks are also trained on (appendix B).
    C : float or sequence of float, default=(0.1, 1, 10, 100)
        Weight of the losses against the norm; of several the best on the validation points is
        chosen, see `fit`.
    epsilon : float or sequence of float, default=0.1
        Error without loss, in the unit of y, which is not scaled: see
        `sklearn.compose.TransformedTargetRegressor`. Of several the best is chosen likewise.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, \
            default="squared_epsilon_insensitive"
        The excess of the error over epsilon, or its square.
    solver : {"auto", "newton", "primal", "dual"}, default="auto"
        "newton", for the squared loss, converges to the minimum, for several C in one path;
        "primal" and "dual" are LIBLINEAR's, see `LinearSVMRegressor`. The plain loss has only
        its coordinate descent in the dual, which stops far from the minimum where similarities
        are as large as distances. "auto" takes the first that supports the loss.
    tol : float, default=None
        The solver's tolerance; None is its default.
    fit_intercept : bool, default=True
        Whether to add a penalised constant to the prediction; algorithm 5 has none.
    validation_fraction : float, default=0.2
        Share of the training points that is held out for choosing, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points, the landmarks, and the solver's order of points.
    n_jobs, verbose
        As for :class:`BBSClassifier`.

    Attributes
    ----------
    coef_ : ndarray of shape (n_landmarks,) or (n_targets, n_landmarks)
        Weights w.
    intercept_ : float or ndarray of shape (n_targets,)
        0 without `fit_intercept`.
    landmark_indices_ : ndarray of shape (n_landmarks,) or None
        Rows of the landmarks in the X passed to `fit`; None where they were given.
    C_, epsilon_ : float
        The values chosen.
    validation_scores_ : ndarray of shape (n_C, n_epsilon) or None
        Minus the mean squared error on the validation points, both parameters ascending; None
        without such points.
    growth_ : tuple of TriedSize
        What ``n_landmarks="auto"`` tried.
    scale_ : float
        The divisor of similarities, :math:`\sqrt d`.
    n_features_in_ : int
        Number of features, or of training points with ``similarity="precomputed"``.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had any.

    See Also
    --------
    KernelRegressor : The weighted average of all training targets.

    References
    ----------
    .. [1] Kar (2013), algorithm 5, sections 5.3.1 and 5.4, appendix B.

    Examples
    --------
    >>> import numpy as np
    >>> from kernlearn.landmarks import RegLand
    >>> X = np.linspace(-3, 3, 200)[:, None]
    >>> y = np.sin(X).ravel()
    >>> model = RegLand(20, similarity="laplacian", C=10, epsilon=0.01, random_state=0)
    >>> model.fit(X, y).score(X, y) > 0.98
    True
    """

    n_landmarks: int | str = 50
    _: KW_ONLY
    max_comparisons: int | None = None
    similarity: Any = "gaussian"
    kind: str = "similarity"
    selection: str = "random"
    double_dipping: bool = True
    C: Any = (0.1, 1, 10, 100)
    epsilon: Any = 0.1
    loss: str = "squared_epsilon_insensitive"
    solver: str = "auto"
    tol: float | None = None
    fit_intercept: bool = True
    validation_fraction: float = 0.2
    random_state: Any = None
    n_jobs: int | None = None
    verbose: Any = False

    _parameter_constraints = {
        **GridModel._parameter_constraints,
        "epsilon": [NOT_NEGATIVE, "array-like"],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
        "solver": [StrOptions({"auto", "newton", "primal", "dual"})],
        "tol": [POSITIVE, None],
        "fit_intercept": ["boolean"],
    }

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        # features as small as 1/√d give small weights on few points
        tags.regressor_tags.poor_score = True
        tags.target_tags.multi_output = True
        return tags

    def _grid(self) -> dict[str, np.ndarray]:
        epsilons = candidate_values(self.epsilon, "epsilon", zero=True)
        return {"C": candidate_values(self.C, "C"), "epsilon": epsilons}

    def _check_targets(self, X: Any, y: Any) -> tuple[Any, np.ndarray, Indices]:
        X, y = self._check_training(X, y)
        return X, y.astype(np.float64), np.zeros(len(y), dtype=np.intp)

    def _train(
        self,
        features: Floats,
        targets: np.ndarray,
        grid: dict[str, np.ndarray],
        rng: Any,
        weights: np.ndarray | None,
    ) -> list[tuple[Floats, Any]]:
        """Return weights and intercept for each C and, within that, each epsilon.

        For several targets they have a row and an entry for each.
        """
        seed = rng.randint(np.iinfo(np.int32).max)
        if targets.ndim == 1:
            return self._train_one(features, targets, grid, seed, weights)
        by_target = [self._train_one(features, y, grid, seed, weights) for y in targets.T]
        return [
            (np.array([coef for coef, _ in each]), np.array([offset for _, offset in each]))
            for each in zip(*by_target, strict=True)
        ]

    def _train_one(
        self,
        features: Floats,
        targets: np.ndarray,
        grid: dict[str, np.ndarray],
        seed: int,
        weights: np.ndarray | None,
    ) -> list[tuple[Floats, float]]:
        Cs, epsilons = (values.tolist() for values in grid.values())
        squared = self.loss == "squared_epsilon_insensitive"
        if self.solver == "newton" and not squared:
            raise ValueError(
                f"solver='newton' needs a squared loss, but loss={self.loss!r}: "
                "use solver='dual' or 'auto'"
            )
        options: dict[str, Any] = {"tol": self.tol, "fit_intercept": self.fit_intercept}
        if squared and self.solver in ("auto", "newton"):
            paths = [
                regression_path(features, targets, Cs, epsilon=epsilon, **options, weights=weights)
                for epsilon in epsilons
            ]
            return [(coef[i], intercept[i]) for i in range(len(Cs)) for coef, intercept in paths]
        options |= {"loss": self.loss, "solver": self.solver, "random_state": seed}
        models = [
            LinearSVMRegressor(C, epsilon=epsilon, **options).fit(features, targets, weights)
            for C, epsilon in product(Cs, epsilons)
        ]
        return [(model.coef_, float(model.intercept_)) for model in models]

    def _losses(
        self, models: list[Any], features: Floats, targets: Any, points: Any
    ) -> list[np.ndarray]:
        errors = [(targets - (features @ coef.T + offset)) ** 2 for coef, offset in models]
        return [each if each.ndim == 1 else each.mean(axis=1) for each in errors]

    def _keep(self, model: Any, dtype: Any) -> None:
        self.coef_, self.intercept_ = model
        if self.coef_.ndim == 1:
            self.intercept_ = float(self.intercept_)
