"""Vectors of series, graphs and molecules, for methods that compare nothing."""

from collections import Counter
from hashlib import blake2b
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction import DictVectorizer

from kernlearn.plugins import register_estimator


@register_estimator(summary="series of one length: each ends with repeats of its last values")
class PaddedSeries(TransformerMixin, BaseEstimator):
    """Series of shape (n_channels, length) as an array, as long as the longest training series.

    Longer ones are cut at the end. With `flat` the values of a series are a row.
    """

    def __init__(self, flat: bool = False):
        self.flat = flat

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the length."""
        self.length_ = max(series.shape[-1] for series in X)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return an array of shape (n_series, n_channels, length), or its rows."""
        short = (series[:, : self.length_] for series in X)
        padded = [
            np.pad(series, ((0, 0), (0, self.length_ - series.shape[1])), mode="edge")
            for series in short
        ]
        return np.array(padded).reshape(len(X), -1) if self.flat else np.array(padded)


@register_estimator(summary="counts of the neighbourhoods of Weisfeiler and Lehman")
class WeisfeilerLehmanCounts(TransformerMixin, BaseEstimator):
    """Numbers of nodes of each label, where a node is labelled anew by its neighbours' labels.

    A graph is a pair of neighbours and labels. Inner products of the counts are the kernel of
    Shervashidze et al. (2011).
    """

    def __init__(self, n_iter: int = 3):
        self.n_iter = n_iter

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the labels."""
        self.vectorizer_ = DictVectorizer().fit(map(self._counts, X))
        return self

    def transform(self, X: Any) -> Any:
        """Return a sparse matrix of counts; labels that training graphs lack are ignored."""
        return self.vectorizer_.transform(map(self._counts, X))

    def _counts(self, graph: Any) -> Counter[str]:
        near, labels = graph
        counts = Counter(map(str, labels.values()))
        for _ in range(self.n_iter):
            around = {
                node: f"{label} {sorted(str(labels[other]) for other in near[node])}"
                for node, label in labels.items()
            }
            labels = {
                node: blake2b(text.encode(), digest_size=8).hexdigest()
                for node, text in around.items()
            }
            counts.update(labels.values())
        return counts


@register_estimator(library="rdkit", summary="RDKit's descriptors of SMILES strings")
class MoleculeDescriptors(TransformerMixin, BaseEstimator):
    """Descriptors of molecules by RDKit; NaN where a string is no molecule."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Do nothing but count the descriptors."""
        from rdkit.Chem import Descriptors

        self.n_features_out_ = len(Descriptors.descList)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return an array of shape (n_molecules, n_descriptors)."""
        from rdkit import Chem, RDLogger
        from rdkit.Chem import Descriptors

        RDLogger.DisableLog("rdApp.*")
        values = np.full((len(X), self.n_features_out_), np.nan)
        for row, text in zip(values, X, strict=True):
            if (molecule := Chem.MolFromSmiles(text)) is not None:
                row[:] = list(Descriptors.CalcMolDescriptors(molecule).values())
        values[np.abs(values) > 1e30] = np.nan
        return values
