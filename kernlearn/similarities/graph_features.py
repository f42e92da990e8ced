"""Vectors made from graphs: without comparing them with others."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import normalize
from sklearn.utils._param_validation import validate_parameter_constraints
from sklearn.utils.validation import check_is_fitted

from kernlearn.constraints import COUNT, WHOLE
from kernlearn.similarities.graph_points import Plain, plain
from kernlearn.similarities.turning import as_indexed

_COUNTS = (
    "nodes",
    "edges",
    "density",
    "mean degree",
    "variance of degrees",
    "greatest degree",
    "share of degree 1",
    "share of degree 2",
    "share of degree 3",
    "components",
    "triangles",
    "squares",
    "pentagons",
    "clustering",
    "mean distance",
    "diameter",
    "spectral radius",
    "assortativity",
)


class _OfGraphs(TransformerMixin, BaseEstimator):
    """Base of what makes vectors from graphs."""

    _parameter_constraints: dict[str, list[Any]] = {"node_labels": [str]}
    node_labels: str

    def _graphs(self, X: Any) -> list[Plain]:
        points = as_indexed(X, objects=True)
        return [plain(point, place, self.node_labels) for place, point in enumerate(points)]

    def _check_parameters(self) -> None:
        validate_parameter_constraints(
            self._parameter_constraints, self.get_params(deep=False), type(self).__name__
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags


@dataclass(eq=False, repr=False)
class WeisfeilerLehmanFeatures(_OfGraphs):
    """Counts of the neighbourhoods of nodes: the features of the Weisfeiler-Lehman kernel.

    A node has a colour, at first its label. In each iteration it gets a new one, which stands for
    its own and the multiset of those of its neighbours. The features of a graph are how often it
    has each colour, in all iterations together; their inner products are the Weisfeiler-Lehman
    subtree kernel, as long as no two colours share a column. To predict, a linear model compares a
    graph with no other.

    Parameters
    ----------
    n_iterations : int, default=3
        The number of iterations h; with 0 labels alone are counted.
    n_columns : int, default=262144
        The number of columns, to which colours are assigned by a hash function. The matrix is
        sparse.
    normalize : bool, default=True
        Whether rows have length 1, so that their inner products are the normalized kernel.
    node_labels : str, default="label"
        The attribute of the nodes of networkx graphs that is their label.

    Attributes
    ----------
    n_columns_ : int
        The number of columns.

    Notes
    -----
    Points are graphs as for :class:`GrakelKernel`. Weights and labels of edges are passed over.

    References
    ----------
    N. Shervashidze, P. Schweitzer, E. J. van Leeuwen, K. Mehlhorn, K. M. Borgwardt.
    Weisfeiler-Lehman graph kernels. JMLR 12, 2011, section 3.

    Examples
    --------
    >>> from kernlearn.similarities import WeisfeilerLehmanFeatures
    >>> path = [[(0, 1), (1, 2)], {0: "C", 1: "C", 2: "O"}]
    >>> star = [[(0, 1), (0, 2)], {0: "O", 1: "C", 2: "C"}]
    >>> features = WeisfeilerLehmanFeatures(1, normalize=False).fit_transform([path, star])
    >>> (features @ features.T).toarray()
    array([[ 8.,  5.],
           [ 5., 10.]])
    """

    n_iterations: int = 3
    n_columns: int = 2**18
    normalize: bool = True
    node_labels: str = "label"

    _parameter_constraints = {
        **_OfGraphs._parameter_constraints,
        "n_iterations": [WHOLE],
        "n_columns": [COUNT],
        "normalize": ["boolean"],
    }

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters; nothing is learnt.

        Parameters
        ----------
        X : sequence of graphs
        y : None
            Ignored.

        Returns
        -------
        self : object
        """
        self._check_parameters()
        self.n_columns_ = self.n_columns
        return self

    def transform(self, X: Any) -> sparse.csr_matrix:
        """Count colours.

        Parameters
        ----------
        X : sequence of graphs

        Returns
        -------
        Z : CSR matrix of shape (n_graphs, n_columns)
        """
        check_is_fitted(self)
        indices: list[int] = []
        counts: list[int] = []
        ends = [0]
        for near, labels in self._graphs(X):
            found = Counter(
                int.from_bytes(colour, "little") % self.n_columns_
                for colours in _colours(near, labels, self.n_iterations)
                for colour in colours
            )
            indices += found.keys()
            counts += found.values()
            ends.append(len(indices))
        Z = sparse.csr_matrix(
            (np.array(counts, dtype=np.float64), indices, ends),
            shape=(len(ends) - 1, self.n_columns_),
        )
        Z.sort_indices()
        return normalize(Z, copy=False) if self.normalize else Z


def _colours(
    near: dict[Any, list[Any]], labels: dict[Any, Any], n_iterations: int
) -> Iterable[list[bytes]]:
    """Yield the colours of all nodes in each iteration, the same for equal neighbourhoods."""
    now = {node: _digest(b"0", repr(label).encode()) for node, label in labels.items()}
    yield list(now.values())
    for iteration in range(1, n_iterations + 1):
        mark = str(iteration).encode()
        now = {
            node: _digest(mark, now[node], *sorted(now[other] for other in others))
            for node, others in near.items()
        }
        yield list(now.values())


def _digest(*parts: bytes) -> bytes:
    return blake2b(b"|".join(parts), digest_size=8).digest()


@dataclass(eq=False, repr=False)
class GraphStatistics(_OfGraphs):
    """Numbers that describe a graph: degrees, small cycles, distances, and shares of labels.

    The counts of triangles, squares and pentagons are those of cycles of 3, 4 and 5 nodes, found
    from powers of the adjacency matrix; distances are between nodes of one component. Graphs are
    dense matrices meanwhile: this is for graphs of up to some thousand nodes.

    Parameters
    ----------
    node_labels : str, default="label"
        The attribute of the nodes of networkx graphs that is their label.

    Attributes
    ----------
    labels_ : list
        The labels of the training graphs, whose shares are features if there are several.

    Notes
    -----
    Points are graphs as for :class:`GrakelKernel`. Weights and labels of edges are passed over.

    References
    ----------
    F. Harary, B. Manvel. On the number of cycles in a graph. Matematický časopis 21, 1971, for the
    cycles.

    Examples
    --------
    >>> from kernlearn.similarities import GraphStatistics
    >>> triangle = [[("a", "b"), ("b", "c"), ("c", "a")]]
    >>> statistics = GraphStatistics().fit([triangle])
    >>> numbers = statistics.transform([triangle])[0].tolist()
    >>> [name for name, x in zip(statistics.get_feature_names_out(), numbers) if x == 0]
    ['variance of degrees', 'share of degree 1', 'share of degree 3', 'squares', 'pentagons', \
'assortativity']
    """

    node_labels: str = "label"

    def fit(self, X: Any, y: Any = None) -> Self:
        """Note the labels of nodes.

        Parameters
        ----------
        X : sequence of graphs
        y : None
            Ignored.

        Returns
        -------
        self : object
        """
        self._check_parameters()
        found = {label for _, labels in self._graphs(X) for label in labels.values()}
        self.labels_ = sorted(found, key=repr) if len(found) > 1 else []
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Describe graphs.

        Parameters
        ----------
        X : sequence of graphs

        Returns
        -------
        Z : ndarray of shape (n_graphs, n_features)
        """
        check_is_fitted(self)
        rows = [self._row(near, labels) for near, labels in self._graphs(X)]
        return np.array(rows, dtype=np.float64).reshape(len(rows), -1)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the features.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        shares = [f"share of label {label}" for label in self.labels_]
        return np.array([*_COUNTS, *shares], dtype=object)

    def _row(self, near: dict[Any, list[Any]], labels: dict[Any, Any]) -> list[float]:
        counted = Counter(labels.values())
        shares = [counted[label] / max(len(labels), 1) for label in self.labels_]
        return [*_statistics(_adjacency(near)), *shares]


def _adjacency(near: dict[Any, list[Any]]) -> NDArray[np.float64]:
    places = {node: place for place, node in enumerate(near)}
    A = np.zeros((len(near), len(near)))
    for node, others in near.items():
        A[places[node], [places[other] for other in others]] = 1.0
    return A


def _statistics(A: NDArray[np.float64]) -> list[float]:
    """Return the numbers of `_COUNTS` of an adjacency matrix."""
    from scipy.sparse.csgraph import connected_components, shortest_path

    n = len(A)
    if n == 0:
        return [0.0] * len(_COUNTS)
    degrees = A.sum(axis=1)
    m = degrees.sum() / 2
    square = A @ A
    cube = square @ A
    around = np.diag(cube) / 2  # triangles at each node
    triangles = around.sum() / 3
    squares = (np.sum(square**2) - 2 * m - 2 * np.sum(degrees * (degrees - 1))) / 8
    fives = np.sum(square * cube)  # the trace of the fifth power
    pentagons = (fives - 5 * np.trace(cube) - 5 * np.sum((degrees - 2) * np.diag(cube))) / 10
    pairs = degrees * (degrees - 1) / 2
    local = np.divide(around, pairs, out=np.zeros(n), where=pairs > 0)
    distances = shortest_path(A, unweighted=True)
    reached = distances[np.isfinite(distances) & (distances > 0)]
    u, v = np.nonzero(A)
    at_ends = degrees[u], degrees[v]
    varied = m > 0 and at_ends[0].std() > 0
    return [
        n,
        m,
        m / max(n * (n - 1) / 2, 1),
        degrees.mean(),
        degrees.var(),
        degrees.max(),
        *(np.mean(degrees == d) for d in (1, 2, 3)),
        connected_components(A)[0],
        triangles,
        squares,
        pentagons,
        local.mean(),
        reached.mean() if reached.size else 0.0,
        reached.max(initial=0.0),
        np.abs(np.linalg.eigvalsh(A)).max(),
        np.corrcoef(*at_ends)[0, 1] if varied else 0.0,
    ]
