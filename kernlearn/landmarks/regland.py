"""What the models that are linear in the similarities to landmarks share (algorithm 5)."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin, _fit_context
from sklearn.metrics import mean_squared_error
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from kernlearn.landmarks.embedding import BLOCK_ELEMENTS
from kernlearn.landmarks.model_selection import hold_out, numbers, penalties
from kernlearn.landmarks.selection import select_landmarks
from kernlearn.landmarks.similarity import Landmarks, SimilarityEstimator
from kernlearn.solvers import LinearSVMRegressor
from kernlearn.solvers.linear_path import regression_path

# A kernel prepares the landmarks anew for every block.
_LEAST_BLOCK_ROWS = 128


class NumberTargets(SimilarityEstimator):
    """An estimator whose targets are numbers."""

    def _validate(self, X: Any, y: Any, **how: Any) -> tuple[Any, Any]:
        X, y = super()._validate(X, y, y_numeric=True, **how)
        if y.dtype.kind not in "biuf":
            raise ValueError(f"y must hold numbers, got an array of type {y.dtype}")
        return X, y


class LandmarkedModel(NumberTargets):
    r"""Landmarks and the embedding of algorithm 5, for models with numbers as targets.

    The embedding is :math:`\Psi(x) = (K(x, l_1), \ldots, K(x, l_d)) / \sqrt d`. A subclass has
    the parameters below, merges `_landmark_constraints` into its `_parameter_constraints`,
    and sets the fitted attributes `landmark_indices_` and `scale_` by `_embed_training`.

    Parameters
    ----------
    n_landmarks : int
        Number d of landmarks; all training points, with a warning, if there are fewer.
    similarity, kind
        As for `SimilarityEstimator`.
    selection : {"random", "dselect"}
        How landmarks are drawn: uniformly, or to be unlike each other (algorithm 3).
    double_dipping : bool
        Whether landmarks are also trained on (appendix B).
    random_state : int, RandomState instance or None
        Draws the landmarks.

    References
    ----------
    Kar (2013), algorithm 5 and appendix B.
    """

    _landmark_constraints: dict[str, list[Any]] = {
        **SimilarityEstimator._parameter_constraints,
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "selection": [StrOptions({"random", "dselect"})],
        "double_dipping": ["boolean"],
        "random_state": ["random_state"],
    }

    n_landmarks: int
    selection: str
    double_dipping: bool
    random_state: Any
    landmark_indices_: NDArray[np.intp] | None

    def _embed_training(
        self, X: Any, y: Any, landmarks: Any = None
    ) -> tuple[NDArray[np.floating], NDArray[Any], NDArray[np.intp]]:
        """Validate training data, choose the landmarks and embed what is trained on.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Or square, if `similarity` is "precomputed".
        y : array-like of shape (n_samples,)
            Numbers.
        landmarks : {array-like, sparse matrix} of shape (d, n_features), default=None
            Unlabelled points to take as landmarks (algorithm 5, step 1). None draws them from X.

        Returns
        -------
        features : ndarray of shape (n_trained, d)
            The embedding of the points trained on.
        y : ndarray of shape (n_trained,)
            Their targets, of the type in which they came.
        rows : ndarray of shape (n_trained,)
            Their rows in X, ascending.
        """
        X, y = self._check_training(X, y)
        everything = np.arange(X.shape[0])
        rng = check_random_state(self.random_state)
        rows = self._place_landmarks(X, y, everything, landmarks, rng)
        return self._features(X, rows), y[rows], rows

    def _embed(self, X: Any) -> NDArray[np.floating]:
        """Validate points and embed them, (n_samples, d)."""
        check_is_fitted(self)
        X = self._check_points(X)
        return self._features(X, np.arange(X.shape[0]))

    def _n_drawn(self) -> int:
        """Return how many landmarks are drawn from the training points."""
        return self.n_landmarks

    def _place_landmarks(
        self,
        X: Any,
        y: NDArray[Any],
        pool: NDArray[np.intp],
        landmarks: Any,
        rng: np.random.RandomState,
    ) -> NDArray[np.intp]:
        """Choose landmarks from some rows of X; return which of these are trained on."""
        # The similarities are taken from X as it is; only what depends on data needs the pool.
        seen = X if self._precomputed or len(pool) == X.shape[0] else X[pool]
        candidates = replace(self._all_points(seen, y[pool]), indices=pool)
        if landmarks is None:
            chosen = self._draw(X, candidates, rng)
            self._landmarks = candidates.take(chosen)
            self.landmark_indices_ = self._landmarks.indices
            rows = pool if self.double_dipping else np.delete(pool, chosen)
        else:
            points = self._check_landmarks(landmarks)
            places = np.arange(points.shape[0])
            self._landmarks = replace(candidates, indices=places, points=points)
            self.landmark_indices_ = None
            rows = pool
        self.scale_ = float(np.sqrt(len(self._landmarks)))
        self._landmarks = self._landmarks.rescaled(1 / self.scale_)
        return rows

    def _draw(self, X: Any, candidates: Landmarks, rng: np.random.RandomState) -> NDArray[np.intp]:
        n_drawn, n_candidates = self._n_drawn(), len(candidates)
        if not self.double_dipping and n_drawn >= n_candidates:
            raise ValueError(
                f"double_dipping=False needs more training points than the {n_drawn} landmarks, "
                f"which are not trained on, got {n_candidates}"
            )
        return select_landmarks(
            n_drawn,
            np.zeros(n_candidates, dtype=np.intp),
            selection=self.selection,
            column=lambda i: candidates.compare_one(X, i)[candidates.indices],
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

    def _features(self, X: Any, rows: NDArray[np.intp]) -> NDArray[np.floating]:
        """Embed some rows of validated points."""
        dtype = np.float32 if X.dtype == np.float32 else np.float64
        features = np.empty((len(rows), len(self._landmarks)), dtype=dtype)
        # A block of X itself is copied too: with a matrix of similarities, that is the wider.
        widest = max(len(self._landmarks), X.shape[-1])
        for block in gen_batches(len(rows), max(BLOCK_ELEMENTS // widest, _LEAST_BLOCK_ROWS)):
            features[block] = self._landmarks.compare(X[rows[block]])
        return features


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
        A kernel's name, a kernel, a function (X, Y) -> matrix, or "precomputed" where the
        matrices of similarities to the training points are passed as X. A width that depends
        on data is worked out on the training points, less those kept apart.
    kind : {"similarity", "distance"}, default="similarity"
        A distance d is compared as the similarity -d.
    selection : {"random", "dselect"}, default="random"
        How landmarks are drawn from the training points: uniformly, or to be unlike each
        other (algorithm 3).
    double_dipping : bool, default=True
        Whether training points that are landmarks are trained on as well (appendix B).
    C : float or sequence of float, default=1.0
        Weight of the losses against the norm; several to choose from on validation points.
    epsilon : float or sequence of float, default=0.1
        Error that costs nothing, in the unit of y, which is not scaled: see
        `sklearn.compose.TransformedTargetRegressor`. Several to choose from likewise.
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        The excess of the error over epsilon, or its square.
    solver : {"auto", "newton", "primal", "dual"}, default="auto"
        "newton", for the squared loss, ends at the minimum, and takes several C in one path;
        "primal" and "dual" are LIBLINEAR's, see `LinearSVMRegressor`. Its coordinate descent in
        the dual is all there is for the plain loss, and stops far from the minimum where
        similarities are as large as distances. "auto" takes the first that there is.
    tol : float, default=None
        The solver's tolerance; None is its own.
    fit_intercept : bool, default=False
        Whether a penalised constant is added to the prediction; algorithm 5 has none.
    validation_fraction : float, default=0.2
        Share of the training points that is kept apart for choosing, see `fit`.
    random_state : int, RandomState instance or None, default=None
        Draws the points kept apart, the landmarks, and the solver's order of points.

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
        What similarities are divided by, :math:`\sqrt d`.
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
        """Choose landmarks and train, once for each choice of parameters, and keep the best.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training points. With ``similarity="precomputed"`` the matrix of shape
            (n_samples, n_samples) of their similarities; with a function of your own, a
            sequence of whatever it compares.
        y : array-like of shape (n_samples,)
            Their targets.
        X_val : {array-like, sparse matrix} of shape (n_val, n_features), default=None
            Points that C and epsilon are chosen on, by mean squared error, the smaller C, then
            the smaller epsilon, of equally good ones; nothing is trained on them. If None and
            there is more than one choice, a random share ``validation_fraction`` of X is kept
            apart, and the regressor is the one trained on the rest.
        y_val : array-like of shape (n_val,), default=None
            Their targets.
        landmarks : {array-like, sparse matrix} of shape (n_landmarks, n_features), default=None
            Unlabelled points to take as landmarks in place of training points (step 1 of
            algorithm 5); then `n_landmarks`, `selection` and `double_dipping` do not matter.

        Returns
        -------
        self : object
            The fitted regressor.

        Raises
        ------
        ValueError
            If a parameter is not valid or does not go with another; y does not hold one finite
            number a point; only one of X_val and y_val is given, or they do not match; too few
            points are left to train on; landmarks are given with a matrix of similarities; or
            points or similarities are not finite.

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before it reached `tol`.
        """
        Cs, epsilons = penalties(self.C).tolist(), _tolerances(self.epsilon)
        X, checked = self._check_training(X, y)
        targets = checked.astype(np.float64)
        rng = check_random_state(self.random_state)
        rows = np.arange(len(targets))
        validation = None
        if X_val is not None or y_val is not None:
            X_val, targets_val = self._check_held_out(X_val, y_val, np.float64)
            validation = X_val, np.arange(len(targets_val)), targets_val
        elif len(Cs) * len(epsilons) > 1:
            rows, apart = self._hold_out(len(targets), rng)
            validation = X, apart, targets[apart]
        rows = self._place_landmarks(X, targets, rows, landmarks, rng)
        models = self._train(self._features(X, rows), targets[rows], Cs, epsilons, rng)
        best, self.validation_scores_ = 0, None
        if validation is not None:
            points, places, y_val = validation
            features = self._features(points, places)
            scores = [-mean_squared_error(y_val, features @ w + b) for w, b in models]
            self.validation_scores_ = np.reshape(scores, (len(Cs), len(epsilons)))
            best = int(np.argmax(scores))
        self.C_, self.epsilon_ = list(product(Cs, epsilons))[best]
        self.coef_, self.intercept_ = models[best][0], float(models[best][1])
        return self

    def predict(self, X: Any) -> NDArray[np.floating]:
        r"""Return the weighted sum of each point's embedding.

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
        check_is_fitted(self)
        return self._embed(X) @ self.coef_ + self.intercept_

    def __sklearn_tags__(self) -> Any:
        """Describe the estimator to scikit-learn."""
        tags = super().__sklearn_tags__()
        # With features as small as 1/√d and LIBLINEAR's C, few points leave weights small.
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

    def _hold_out(
        self, n_samples: int, rng: np.random.RandomState
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Keep a share of the points apart; at least one is not."""
        if n_samples < 2:
            raise ValueError(
                "X holds 1 sample, none of which can be kept apart to choose C and epsilon on: "
                "give X_val and y_val, or a single value of each"
            )
        return hold_out(np.zeros(n_samples, dtype=np.intp), self.validation_fraction, rng)


def _tolerances(epsilon: Any) -> list[float]:
    """Return the values of epsilon to choose from, ascending."""
    return numbers(
        epsilon, "epsilon", "a finite number >= 0", "fiu", lambda value: 0 <= value < np.inf
    )
