"""Weighted sums over landmarks, or over pairs of landmarks: what the models of the thesis are."""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from itertools import product
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from kernlearn import validation
from kernlearn.landmarks.base import SimilarityEstimator
from kernlearn.landmarks.contributions import Contributions
from kernlearn.landmarks.embeddings import LandmarkEmbedding
from kernlearn.landmarks.similarities import Reals, float_type
from kernlearn.landmarks.training import Grid, Training

#: Some one-vs-all problems, by number or all; the features of a block of points; their weights;
#: and the landmarks of each, or pairs of them, among those compared with.
Part: TypeAlias = tuple[Any, np.ndarray, Reals, Any]


@dataclass(frozen=True, eq=False)
class Head:
    """Linear functions of features, a column of `coef` for each of several problems."""

    coef: Reals
    intercept: Any = 0.0
    converged: bool = True

    def values(self, features: Reals) -> Reals:
        """Return the values of points with these features."""
        return features @ self.coef + self.intercept


@dataclass(eq=False, repr=False)
class LandmarkModel(SimilarityEstimator):
    r"""Base of the weighted sums over landmarks, or over pairs of landmarks.

    Those over landmarks are of the embedding
    :math:`\Psi(x) = (K(x, l_1), \ldots, K(x, l_d)) / \sqrt d`, or with another divisor, by
    `_normalize`. The sums have the type `_dtype`; there are `_n_problems`, one against all others.

    References
    ----------
    Kar (2013), algorithm 5 and appendix B.
    """

    n_landmarks: int = 100
    _: KW_ONLY
    similarity: Any = "gaussian"
    kind: str = "similarity"
    random_state: Any = None
    selection: str = "random"

    _normalize: ClassVar[Any] = "root"
    _n_problems = 1

    def _embed(self, data: Training, n_drawn: int | None = None) -> Reals:
        """Choose landmarks, by default `n_landmarks`, and return the training points' features."""

        def embedded() -> tuple[LandmarkEmbedding, Reals]:
            how = {"selection": self.selection, "normalize": self._normalize}
            embedding = LandmarkEmbedding(n_drawn or self.n_landmarks, **how)
            codes = np.zeros_like(data.codes) if self._numeric_targets else data.codes
            features = embedding.learn(replace(data, codes=codes))
            return embedding, self._contiguous(features, data.similarities.X)

        self._embedding, features = data.once("features", embedded)
        self._set_landmarks(self._embedding._landmarks)
        self.landmark_indices_ = None if data.given else self._landmarks.indices
        self.scale_ = self._embedding.scale_
        return features

    def _contiguous(self, features: Reals, X: Any) -> Reals:
        """Return the features of points X in rows, for numeric targets in the type of X."""
        dtype = float_type(X) if self._numeric_targets else features.dtype
        return np.ascontiguousarray(features, dtype=dtype)

    @abstractmethod
    def _train(self, features: Reals, data: Training, grid: Grid) -> Sequence[Head]:
        """Return a head for each choice of the grid, the last parameter changing fastest."""

    @abstractmethod
    def _keep(self, head: Any) -> Self:
        """Set the fitted attributes."""

    def _learn(self, data: Training) -> None:
        features = self._embed(data)
        self.grid_, self._dtype = self._grid(), features.dtype
        axes = {name: np.unique(data.path.get(name, of)) for name, of in self.grid_.items()}
        others = [name for name in getattr(self, "path_parameters", ()) if name not in axes]
        key = tuple(str(getattr(self, name)) for name in others)
        heads = data.once(key, lambda: self._train(features, data, axes))
        trained = dict(zip(product(*axes.values()), heads, strict=True))
        cells, values = list(product(*self.grid_.values())), list[Reals]()
        heads = [trained[cell] for cell in cells]
        if data.X_val is not None:
            held_out = data.once("held out", lambda: self._embedding.embed(data.X_val))
            held_out = self._contiguous(held_out, data.X_val)
            values = [head.values(held_out) for head in heads]
        best = self._choose(data, values, heads)
        if self.refit and data.whole:
            chosen = {name: np.array([one]) for name, one in zip(axes, cells[best], strict=True)}
            every = data.whole.merged(features, data, held_out)
            self._keep(*self._train(every, data.whole, chosen))
        else:
            self._keep(heads[best])

    def _parts(self, similarities: Reals, dtype: Any) -> Iterator[Part]:
        """Yield the parts of the sums of a block of points; `dtype` is that of features."""
        features = self._embedding.scaled(similarities).astype(dtype, copy=False)
        yield 0, features, self.coef_, np.arange(len(self.coef_))

    def _sum_type(self, dtype: Any) -> Any:
        """Return the type of sums: of predicted numbers that of features and weights."""
        return np.result_type(self._dtype, dtype) if self._numeric_targets else self._dtype

    def _scores(self, similarities: Reals, dtype: Any) -> Reals:
        """Return the weighted sums of a block of points."""
        sums = np.empty((len(similarities), self._n_problems), dtype=self._sum_type(dtype))
        sums[:] = getattr(self, "intercept_", 0.0)
        for problems, features, weights, _ in self._parts(similarities, dtype):
            sums[:, problems] += features @ weights
        return sums if self._n_problems > 1 else sums[:, 0]

    def contributions(self, X: Any) -> Contributions:
        """Return what each landmark, or pair of landmarks, adds to the values of points.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            As for `predict`.

        Returns
        -------
        Contributions
            The landmarks, of a classifier those that have a weight, the similarities to them, and
            their terms of the sums: the decision values of a classifier, else what `predict`
            returns, for ORLand `real_value`.
        """
        X = self._check_points(X)
        similarities, dtype = self._landmarks.values(X), float_type(X)
        parts = list(self._parts(similarities, dtype))
        is_of_pairs = parts[0][3].ndim > 1  # differences count
        if similarities.size and similarities.max() <= 0 > similarities.min() and not is_of_pairs:
            validation.warn(
                "the similarities are negative, as of negated distances: the farthest landmarks "
                "have the largest shares; with turn='exponential' the nearest have"
            )
        weights = np.zeros((self._n_problems, max(len(part[2]) for part in parts)), self._dtype)
        columns = np.zeros((*weights.shape, *parts[0][3].shape[1:]), dtype=np.intp)
        shares = np.zeros((len(similarities), *weights.shape), dtype=self._sum_type(dtype))
        for problems, features, factors, places in parts:
            terms = slice(len(factors))
            weights[problems, terms], columns[problems, terms] = factors.T, places
            of_all = features if factors.ndim == 1 else features[:, np.newaxis]
            shares[:, problems, terms] = of_all * factors.T
        if self._n_problems == 1:
            weights, columns, shares = weights[0], columns[0], shares[:, 0]
        landmarks, intercept = self._landmarks.indices[columns], getattr(self, "intercept_", 0.0)
        classes = None if self._numeric_targets else self.classes_[-self._n_problems :]
        return Contributions(
            landmarks, similarities[:, columns], weights, shares, intercept, classes
        )

    def predict(self, X: Any) -> Any:
        r"""Predict the targets of points.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            With ``similarity="precomputed"`` of shape (n_samples, n_training_points), with a
            column for each row of the X passed to `fit`; or (n_samples, n_comparisons_), with
            those of `compared_indices_` alone, in that order.

        Returns
        -------
        ndarray of shape (n_samples,)
            :math:`\langle w, \Psi(x) \rangle`, float32 if X and the training points are.
        """
        return self._values(X)


@dataclass(eq=False, repr=False)
class LandmarkChoice(LandmarkModel):
    """Base of the models of numbers and grades, whose parameters are chosen by a mean loss."""

    _: KW_ONLY
    validation_fraction: Any = 0.2
    refit: bool = True
    scoring: Any = None

    _numeric_targets = True

    def _gains(self, data: Training, values: list[Reals], heads: Any) -> tuple[Any, ...]:
        return (-np.stack([(data.y_val - each) ** 2 for each in values], axis=-1),)

    @validation.fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
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
            Targets. For ORLand grades, at least two: integers, or other labels in sorted order.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on the losses of the training points, not negative, in training and, for
            points that are held out, in the choice of parameters. A point of weight 0 counts as
            absent. Landmarks are drawn without regard to weights. "forward_greedy" takes none.
        X_val : {array-like, sparse matrix} of shape (n_val, n_features), default=None
            Points that parameters are chosen on, not trained on. The least mean squared error
            wins, then the smaller C or ridge, then the smaller epsilon; for ORLand the least
            average absolute error, then the smaller C. If None and there is more than one choice,
            a random share ``validation_fraction`` of X is held out (for ORLand stratified), and
            with `refit` the model chosen is trained again on all points.
        y_val : array-like of shape (n_val,), default=None
            Their targets. Errors of grades are differences of their places in the order passed,
            which may have grades that y lacks. Without an order they are differences of the
            grades, if these are numbers, else of their places in `classes_`.
        landmarks : {array-like, sparse matrix} of shape (n_landmarks, n_features), default=None
            Unlabelled points to take as landmarks instead of training points (step 1 of
            algorithm 5); then `n_landmarks` and `selection` are ignored. For SparseRegLand they
            are the pool, and `pool_size` is ignored.

        Returns
        -------
        self : object
            The fitted model.

        Raises
        ------
        ValueError
            If a parameter is not valid, alone or together with another. If y does not have one
            finite number per point, or has a single grade. If X_val and y_val do not match, or too
            few points are left to train on. If landmarks are passed with a matrix of similarities.
            If points or similarities are not finite.

        Warns
        -----
        ConvergenceWarning
            If the solver stopped before reaching `tol`.
        """
        return self._fit(X, y, X_val, y_val, sample_weight, landmarks)
