"""RegLand, and the base class of models linear in the similarities to landmarks (algorithm 5)."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin, _fit_context
from sklearn.metrics import mean_squared_error
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from kernlearn.landmarks.selection import select_landmarks
from kernlearn.landmarks.similarity import KeptSimilarities, NumberTargets, float_type
from kernlearn.model_selection import candidate_values, split_for_choice
from kernlearn.solvers import LinearSVMRegressor
from kernlearn.solvers.linear_path import regression_path


class LandmarkedModel(NumberTargets):
    r"""Landmarks and the embedding of algorithm 5, for models with numeric targets.

    The embedding is :math:`\Psi(x) = (K(x, l_1), \ldots, K(x, l_d)) / \sqrt d`, without the
    divisor where `_divides` is False. A subclass has the parameters of `_landmark_constraints`,
    with the meaning that they have for :class:`RegLand`.

    References
    ----------
    Kar (2013), algorithm 5 and appendix B.
    """

    _landmark_constraints: dict[str, list[Any]] = {
        **NumberTargets._parameter_constraints,
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "selection": [StrOptions({"random", "dselect"})],
        "double_dipping": ["boolean"],
        "random_state": ["random_state"],
    }
    _divides = True

    n_landmarks: int
    selection: str
    double_dipping: bool
    random_state: Any
    landmark_indices_: NDArray[np.intp] | None

    def _embed_training(
        self, X: Any, y: NDArray[Any], rows: NDArray[np.intp], landmarks: Any, rng: Any
    ) -> tuple[NDArray[np.floating], NDArray[np.intp]]:
        """Choose landmarks from some rows of validated data, and embed the points trained on.

        Returns
        -------
        features : ndarray of shape (n_trained, d)
        rows : ndarray of shape (n_trained,)
            The rows of X trained on: those given, without landmarks unless `double_dipping`.
        """
        # The similarities are taken from X as it is; only what depends on data needs the rows.
        some = None if len(rows) == X.shape[0] else rows
        points = X if self._precomputed or some is None else X[rows]
        candidates = replace(self._all_points(points, y[rows]), indices=rows)
        if landmarks is None:
            similarities = candidates.kept(X, some)
            chosen = self._draw(similarities, len(rows), rng)
            self._landmarks = candidates.take(chosen)
            self.landmark_indices_ = self._landmarks.indices
            trained = None if self.double_dipping else np.delete(np.arange(len(rows)), chosen)
            values = similarities.columns(chosen, trained)
            rows = rows if trained is None else rows[trained]
        else:
            unlabelled = self._check_landmarks(landmarks)
            places = np.arange(unlabelled.shape[0])
            self._landmarks = replace(candidates, indices=places, points=unlabelled)
            self.landmark_indices_ = None
            values = self._landmarks.compare(X, some)
        self.scale_ = float(np.sqrt(len(self._landmarks))) if self._divides else 1.0
        features = np.empty(values.shape, dtype=float_type(X))
        self._write(values, features)
        return features, rows

    def _n_drawn(self) -> int:
        """Return the number of landmarks that are drawn from the training points."""
        return self.n_landmarks

    def _draw(
        self, similarities: KeptSimilarities, n_candidates: int, rng: np.random.RandomState
    ) -> NDArray[np.intp]:
        n_drawn = self._n_drawn()
        if not self.double_dipping and n_drawn >= n_candidates:
            raise ValueError(
                f"double_dipping=False needs more training points than the {n_drawn} landmarks, "
                f"which are not trained on, got {n_candidates}"
            )
        return select_landmarks(
            n_drawn,
            np.zeros(n_candidates, dtype=np.intp),
            selection=self.selection,
            column=similarities.column,
            rng=rng,
        )

    def _check_landmarks(self, landmarks: Any) -> Any:
        """Validate points to take as landmarks."""
        if self._precomputed:
            raise ValueError(
                "landmarks must be None with similarity='precomputed': there are no points to "
                "compare with, only the rows and columns of X"
            )
        try:
            return self._check_points(landmarks)
        except ValueError as error:
            raise ValueError(f"landmarks: {error}") from error

    def _embed(self, X: Any) -> NDArray[np.floating]:
        """Validate points and embed them, (n_samples, d)."""
        check_is_fitted(self)
        return self._features(self._check_points(X))

    def _features(self, X: Any) -> NDArray[np.floating]:
        """Embed validated points."""
        features = np.empty((X.shape[0], len(self._landmarks)), dtype=float_type(X))
        for rows, similarities in self._landmarks.blocks(X):
            self._write(similarities, features[rows])
        return features

    def _write(self, similarities: NDArray[np.floating], out: NDArray[np.floating]) -> None:
        out[...] = similarities * similarities.dtype.type(1 / self.scale_)


class RegLand(RegressorMixin, LandmarkedModel):
    r"""Support vector regression in the space of similarities to landmarks.

    Algorithm 5 of [1]_ with the ε-insensitive loss: a point is embedded as
    :math:`\Psi(x) = (K(x, l_1), \ldots, K(x, l_d)) / \sqrt d` for d landmarks, and its target
    predicted as :math:`\langle w, \Psi(x) \rangle`. The similarity may be indefinite.

    The algorithm minimises the loss over :math:`\|w\| \le B`. As in the thesis' experiments the
    objective is LIBLINEAR's, which has :math:`\frac12 \|w\|^2 + C \sum_i \ell(x_i, y_i)` in place
    of the constraint: for each B there is a C with the same solution, greater for a greater B.

    Parameters
    ----------
    n_landmarks : int, default=50
        Number of landmarks d; all training points, with a warning, if there are fewer.
    similarity : str, Kernel, callable or "precomputed", default="gaussian"
        The name of a kernel, a kernel, a function (X, Y) -> matrix, or "precomputed" if the
        matrices of similarities to the training points are passed as X. A width that depends
        on data is computed from the training points without the held-out ones.
    kind : {"similarity", "distance"}, default="similarity"
        A distance d is used as the similarity -d.
    selection : {"random", "dselect"}, default="random"
        How landmarks are chosen from the training points: uniformly, or to be unlike each
        other (algorithm 3).
    double_dipping : bool, default=True
        Whether landmarks are also trained on (appendix B).
    C : float or sequence of float, default=1.0
        Weight of the losses against the norm; of several the best on the validation points is
        chosen, see `fit`.
    epsilon : float or sequence of float, default=0.1
        Error without loss, in the unit of y, which is not scaled: see
        `sklearn.compose.TransformedTargetRegressor`. Of several the best is chosen likewise.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The excess of the error over epsilon, or its square.
    solver : {"auto", "newton", "primal", "dual"}, default="auto"
        "newton", for the squared loss, converges to the minimum, for several C in one path;
        "primal" and "dual" are LIBLINEAR's, see `LinearSVMRegressor`. The plain loss has only
        its coordinate descent in the dual, which stops far from the minimum where similarities
        are as large as distances. "auto" takes the first that supports the loss.
    tol : float, default=None
        The solver's tolerance; None is its default.
    fit_intercept : bool, default=False
        Whether to add a penalised constant to the prediction; algorithm 5 has none.
    validation_fraction : float, default=0.2
        Share of the training points that is held out for choosing, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed of the held-out points, the landmarks, and the solver's order of points.

    Attributes
    ----------
    coef_ : ndarray of shape (n_landmarks,)
        Weights w.
    intercept_ : float
        0 without `fit_intercept`.
    landmark_indices_ : ndarray of shape (n_landmarks,) or None
        Rows of the landmarks in the X passed to `fit`; None where they were given.
    C_, epsilon_ : float
        The values chosen.
    validation_scores_ : ndarray of shape (n_C, n_epsilon) or None
        Minus the mean squared error on the validation points, both parameters ascending; None
        without such points.
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

    _parameter_constraints: dict[str, list[Any]] = {
        **LandmarkedModel._landmark_constraints,
        "C": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "epsilon": [Interval(Real, 0, None, closed="left"), "array-like"],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
        "solver": [StrOptions({"auto", "newton", "primal", "dual"})],
        "tol": [Interval(Real, 0, None, closed="neither"), None],
        "fit_intercept": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        n_landmarks: int = 50,
        *,
        similarity: Any = "gaussian",
        kind: str = "similarity",
        selection: str = "random",
        double_dipping: bool = True,
        C: Any = 1.0,
        epsilon: Any = 0.1,
        loss: str = "epsilon_insensitive",
        solver: str = "auto",
        tol: float | None = None,
        fit_intercept: bool = False,
        validation_fraction: float = 0.2,
        random_state: Any = None,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.similarity = similarity
        self.kind = kind
        self.selection = selection
        self.double_dipping = double_dipping
        self.C = C
        self.epsilon = epsilon
        self.loss = loss
        self.solver = solver
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
        landmarks: Any = None,
    ) -> Self:
        """Choose landmarks, fit the model for each choice of parameters, and keep the best.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points. With ``similarity="precomputed"`` the matrix of shape
            (n_samples, n_samples) of their similarities; with a user-defined function,
            a sequence of whatever it compares.
        y : array-like of shape (n_samples,)
            Targets.
        X_val : {array-like, sparse matrix} of shape (n_val, n_features), default=None
            Points that C and epsilon are chosen on, by mean squared error, then the smaller C,
            then the smaller epsilon; not trained on. If None and there is more than one choice,
            a random share ``validation_fraction`` of X is held out, and the regressor is
            trained on the rest.
        y_val : array-like of shape (n_val,), default=None
            Their targets.
        landmarks : {array-like, sparse matrix} of shape (n_landmarks, n_features), default=None
            Unlabelled points to take as landmarks instead of training points (step 1 of
            algorithm 5); then `n_landmarks`, `selection` and `double_dipping` are ignored.

        Returns
        -------
        self : object
            The fitted regressor.

        Raises
        ------
        ValueError
            If a parameter is not valid, alone or together with another; y does not hold one finite
            number per point; only one of X_val and y_val is given, or they do not match; too few
            points are left to train on; landmarks are given with a matrix of similarities; or
            points or similarities are not finite.

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before reaching `tol`.
        """
        Cs = candidate_values(self.C, "C").tolist()
        epsilons = candidate_values(self.epsilon, "epsilon", zero=True).tolist()
        X, checked = self._check_training(X, y)
        targets = checked.astype(np.float64)
        rng = check_random_state(self.random_state)
        rows, X_val, y_val = split_for_choice(
            X, targets, X_val, y_val, codes=np.zeros(len(targets), dtype=np.intp),
            n_choices=len(Cs) * len(epsilons), fraction=self.validation_fraction, rng=rng,
            check_points=self._check_points, dtype=np.float64,
        )  # fmt: skip
        features, rows = self._embed_training(X, targets, rows, landmarks, rng)
        models = self._train(features, targets[rows], Cs, epsilons, rng)
        best, self.validation_scores_ = 0, None
        if X_val is not None:
            features = self._features(X_val)
            scores = [-mean_squared_error(y_val, features @ w + b) for w, b in models]
            self.validation_scores_ = np.reshape(scores, (len(Cs), len(epsilons)))
            best = int(np.argmax(scores))
        self.C_, self.epsilon_ = list(product(Cs, epsilons))[best]
        self.coef_, self.intercept_ = models[best][0], float(models[best][1])
        return self

    def predict(self, X: Any) -> NDArray[np.floating]:
        r"""Predict the targets of points.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``similarity="precomputed"`` of shape (n_samples, n_training_points), with a
            column for each row of the X passed to `fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            :math:`\langle w, \Psi(x) \rangle`, float32 if X and the training points are.
        """
        return self._embed(X) @ self.coef_ + self.intercept_

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        # features as small as 1/√d give small weights on few points
        tags.regressor_tags.poor_score = True
        return tags

    def _train(
        self,
        features: NDArray[np.floating],
        targets: NDArray[np.float64],
        Cs: list[float],
        epsilons: list[float],
        rng: np.random.RandomState,
    ) -> list[tuple[NDArray[np.floating], float]]:
        """Return weights and intercept for each C and, within that, each epsilon."""
        seed = rng.randint(np.iinfo(np.int32).max)
        squared = self.loss == "squared_epsilon_insensitive"
        if self.solver == "newton" and not squared:
            raise ValueError(
                f"solver='newton' needs a squared loss, but loss={self.loss!r}: "
                "use solver='dual' or 'auto'"
            )
        if squared and self.solver in ("auto", "newton"):
            paths = [
                regression_path(
                    features, targets, Cs,
                    epsilon=epsilon, tol=self.tol, fit_intercept=self.fit_intercept,
                )
                for epsilon in epsilons
            ]  # fmt: skip
            return [(coef[i], intercept[i]) for i in range(len(Cs)) for coef, intercept in paths]
        models = [
            LinearSVMRegressor(
                C,
                epsilon=epsilon,
                loss=self.loss,
                solver=self.solver,
                tol=self.tol,
                fit_intercept=self.fit_intercept,
                random_state=seed,
            ).fit(features, targets)
            for C, epsilon in product(Cs, epsilons)
        ]
        return [(model.coef_, float(model.intercept_)) for model in models]
