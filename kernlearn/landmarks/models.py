"""Weighted sums over landmarks, or over pairs of landmarks: what the models of the thesis are."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar, TypeAlias

import numpy as np

from kernlearn import validation
from kernlearn.landmarks.base import (
    Contributions,
    Reals,
    SimilarityEstimator,
    Training,
    float_type,
)
from kernlearn.landmarks.embeddings import LandmarkEmbedding

#: Some one-vs-all problems, by number or all; the features of a block of points; their weights;
#: and the landmarks of each, or pairs of them, among those compared with.
Part: TypeAlias = tuple[Any, np.ndarray, Reals, Any]


class LandmarkModel(SimilarityEstimator):
    r"""Base of the weighted sums over landmarks, or over pairs of landmarks.

    Those over landmarks are of the embedding
    :math:`\Psi(x) = (K(x, l_1), \ldots, K(x, l_d)) / \sqrt d`, or with another divisor, by
    `_normalize`. The sums have the type `_dtype`; there are `_n_problems`, one against all others.

    References
    ----------
    Kar (2013), algorithm 5 and appendix B.
    """

    _normalize: ClassVar[Any] = "root"
    _n_problems = 1
    _dtype: Any
    _embedding: LandmarkEmbedding
    selection = "random"  # of models without this parameter

    def _embed(self, data: Training, n_drawn: int) -> Reals:
        """Choose landmarks, and return the features of the training points."""
        numeric, X = self._numeric_targets, data.similarities.X

        def embedded() -> tuple[LandmarkEmbedding, Reals]:
            how = {"selection": self.selection, "normalize": self._normalize}
            embedding = LandmarkEmbedding(n_drawn, **how)
            codes = np.zeros_like(data.codes) if numeric else data.codes
            features = embedding.learn(replace(data, codes=codes))
            dtype = float_type(X) if numeric else features.dtype
            return embedding, np.ascontiguousarray(features, dtype=dtype)

        self._embedding, features = data.once("features", embedded)
        self._set_landmarks(self._embedding._landmarks)
        self.landmark_indices_ = None if data.given else self._landmarks.indices
        self.scale_ = self._embedding.scale_
        return features

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
