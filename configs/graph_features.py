"""Vectors made from graphs, without comparing any two: the rivals in graphs.yaml.

A graph is (neighbours, labels): for each node its neighbours, and its label.
"""

from collections import Counter
from hashlib import blake2b

import numpy as np
from scipy.sparse.csgraph import connected_components, shortest_path
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.feature_extraction import FeatureHasher
from sklearn.preprocessing import normalize

from kernlearn.plugins import register_estimator


@register_estimator(summary="counts of the neighbourhoods of nodes of a graph")
class WeisfeilerLehmanFeatures(TransformerMixin, BaseEstimator):
    """The features of the normalized Weisfeiler-Lehman subtree kernel (JMLR 12, 2011, section 3).

    A node has a colour, at first its label. In each iteration it gets a new one, which stands for
    its own and the multiset of those of its neighbours. The features are how often a graph has
    each colour, in hashed columns, in rows of length 1.
    """

    def __init__(self, n_iterations=3):
        self.n_iterations = n_iterations

    def fit(self, X, y=None):
        return self

    def __sklearn_is_fitted__(self):
        return True

    def transform(self, X):
        hasher = FeatureHasher(2**18, input_type="string", alternate_sign=False)
        return normalize(hasher.transform(self._colours(*graph) for graph in X))

    def _colours(self, neighbours, labels):
        colours = {node: _digest("0", repr(label)) for node, label in labels.items()}
        every = [*colours.values()]
        for iteration in range(1, self.n_iterations + 1):
            colours = {
                node: _digest(str(iteration), colours[node], *sorted(map(colours.get, near)))
                for node, near in neighbours.items()
            }
            every += colours.values()
        return every


def _digest(*parts):
    return blake2b("|".join(parts).encode(), digest_size=8).hexdigest()


@register_estimator(summary="degrees, small cycles, distances and shares of labels of a graph")
class GraphStatistics(TransformerMixin, BaseEstimator):
    """Numbers that describe a graph; cycles as Harary & Manvel (1971) count them."""

    def fit(self, X, y=None):
        labels = {label for _, known in X for label in known.values()}
        self.labels_ = sorted(labels, key=repr) if len(labels) > 1 else []
        return self

    def transform(self, X):
        return np.array([self._row(*graph) for graph in X], dtype=float)

    def _row(self, neighbours, labels):
        counts = Counter(labels.values())
        shares = [counts[label] / len(labels) for label in self.labels_]
        return [*statistics(neighbours).values(), *shares]


def statistics(neighbours):
    """Describe a graph by the neighbours of its nodes."""
    n, places = len(neighbours), {node: place for place, node in enumerate(neighbours)}
    A = np.zeros((n, n))
    for node, near in neighbours.items():
        A[places[node], [places[other] for other in near]] = 1.0
    degrees = A.sum(axis=1)
    m = degrees.sum() / 2
    square = A @ A
    cube = square @ A
    around = np.diag(cube) / 2  # triangles at each node
    fives = np.sum(square * cube)  # the trace of the fifth power
    pairs = degrees * (degrees - 1) / 2
    distances = shortest_path(A, unweighted=True)
    reached = distances[np.isfinite(distances) & (distances > 0)]
    ends = degrees[np.array(np.nonzero(A))]
    return {
        "nodes": n,
        "edges": m,
        "density": m / max(n * (n - 1) / 2, 1),
        "mean degree": degrees.mean(),
        "variance of degrees": degrees.var(),
        "greatest degree": degrees.max(),
        **{f"share of degree {d}": np.mean(degrees == d) for d in (1, 2, 3)},
        "components": connected_components(A)[0],
        "triangles": around.sum() / 3,
        "squares": (np.sum(square**2) - 2 * m - 2 * np.sum(degrees * (degrees - 1))) / 8,
        "pentagons": (fives - 5 * np.trace(cube) - 5 * np.sum((degrees - 2) * np.diag(cube))) / 10,
        "clustering": np.divide(around, pairs, out=np.zeros(n), where=pairs > 0).mean(),
        "mean distance": reached.mean() if reached.size else 0.0,
        "diameter": reached.max(initial=0.0),
        "spectral radius": np.abs(np.linalg.eigvalsh(A)).max(),
        "assortativity": np.corrcoef(*ends)[0, 1] if m and ends[0].std() > 0 else 0.0,
    }
