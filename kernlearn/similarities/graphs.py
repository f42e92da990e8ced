"""Kernels of graphs by GraKeL."""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from kernlearn.similarities.graph_points import is_networkx, refused
from kernlearn.similarities.library import LibrarySimilarity, blamed, keyword_defaults

_CLASSES = {"graphlet": "GraphletSampling"}
_NO_PARAMETERS = ("n_jobs", "normalize", "verbose")


class GrakelKernel(LibrarySimilarity):
    r"""A graph kernel of GraKeL.

    Parameters
    ----------
    name : str
        "weisfeiler_lehman", "shortest_path", "graphlet", "vertex_histogram", "edge_histogram",
        "random_walk", "propagation", "neighborhood_hash" and others:
        the names of GraKeL's classes in lower case.
    normalize : bool, default=True
        Whether values are :math:`K(x, y) / \sqrt{K(x, x) K(y, y)}`, 0 if the root is.
    node_labels, edge_labels : str, default="label"
        The attributes of the nodes and edges of networkx graphs that are their labels. Nodes
        without that attribute are all labelled 0; edges without it have no labels.
    turn, sigma
        Of no effect: these are similarities.
    **parameters
        The kernel's own parameters, such as ``n_iter`` of "weisfeiler_lehman" and ``k`` of
        "graphlet". A ``base_graph_kernel`` is a name like those above, or a class of GraKeL;
        ``random_state`` is 0 by default.

    Notes
    -----
    Points are graphs of networkx, graphs of GraKeL, or what GraKeL makes them from: a list of
    edges, or a dictionary of nodes and their neighbours, with dictionaries of node labels and
    edge labels. It needs the extra ``graphs``.

    References
    ----------
    G. Siglidis et al. GraKeL: a graph kernel library in Python. Journal of Machine Learning
    Research 21, 2020.

    Examples
    --------
    >>> from kernlearn.similarities import GrakelKernel
    >>> path = {0: [1], 1: [0, 2], 2: [1]}, {0: "C", 1: "C", 2: "O"}
    >>> other = {0: [1], 1: [0, 2], 2: [1]}, {0: "C", 1: "O", 2: "C"}
    >>> GrakelKernel("vertex_histogram")([path, other]).round(2).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    >>> GrakelKernel("weisfeiler_lehman", n_iter=1)([path, other]).round(2).tolist()
    [[1.0, 0.56], [0.56, 1.0]]
    """

    library = "grakel"
    structured = True
    _parameter_constraints = {
        **LibrarySimilarity._parameter_constraints,
        "normalize": ["boolean"],
        "node_labels": [str],
        "edge_labels": [str],
    }
    # the right points of the last call, as GraKeL takes them, and its kernel fitted to them
    _last = cast("tuple[Any, Any, Any]", (None, None, None))

    def __init__(
        self,
        name: str,
        *,
        normalize: bool = True,
        node_labels: str = "label",
        edge_labels: str = "label",
        turn: str = "negative",
        sigma: Any = "mean_distance",
        **parameters: Any,
    ) -> None:
        super().__init__(name, turn=turn, sigma=sigma, **parameters)
        self.normalize, self.node_labels, self.edge_labels = normalize, node_labels, edge_labels

    @staticmethod
    def _own_parameters(name: str) -> Mapping[str, Any]:
        found = keyword_defaults(_class(name).__init__)
        own = {k: v for k, v in found.items() if k not in _NO_PARAMETERS}
        return {**own, "random_state": 0} if "random_state" in own else own

    @property
    def columnwise(self) -> bool:  # type: ignore[override]
        """Whether each value is computed from its two points alone; not from a sample of both."""
        return "random_state" not in self._own_parameters(self.name)

    def _compare(self, X: Any, Y: Any) -> NDArray[Any]:
        left = self._graphs(X, "X")
        points, right, fitted = self._last
        if points is not Y:
            right, fitted = left if X is Y else self._graphs(Y, "Y"), None

        def compare(some: Any, others: Any) -> NDArray[Any]:
            known = fitted if others is right else None
            return self._values(self._fit(others) if known is None else known, some)

        values = blamed(compare, left, right, (X, Y))
        if fitted is None and X is not Y:
            # the landmarks, most likely, which the next block of points will be compared with
            self._last = (Y, right, self._fit(right))
        return values

    def _fit(self, graphs: Any) -> Any:
        options = dict(self._options())
        if isinstance(base := options.get("base_graph_kernel"), str):
            options["base_graph_kernel"] = _class(base)
        return _class(self.name)(**options).fit(graphs)

    def _values(self, fitted: Any, graphs: Any) -> NDArray[np.float64]:
        values = np.asarray(fitted.transform(graphs), dtype=np.float64)
        if not self.normalize:
            return values
        right, left = (np.ravel(sizes).astype(np.float64) for sizes in fitted.diagonal())
        sizes = np.sqrt(np.outer(left, right))
        return np.divide(values, sizes, out=np.zeros_like(values), where=sizes > 0)

    def _graphs(self, points: Any, name: str) -> list[Any]:
        return [self._graph(point, place, name) for place, point in enumerate(points)]

    def _graph(self, point: Any, place: int, name: str) -> Any:
        if is_networkx(point):
            return self._of_networkx(point)
        if hasattr(point, "desired_format") or isinstance(point, (list, tuple)):
            return point
        raise refused(point, place, name)

    def _of_networkx(self, graph: Any) -> list[Any]:
        edges = {
            u: {v: float(data.get("weight", 1.0)) for v, data in near.items()}
            for u, near in graph.adjacency()
        }
        labels = {u: data.get(self.node_labels, 0) for u, data in graph.nodes(data=True)}
        key = self.edge_labels
        of_edges = {
            (u, v): data[key]
            for u, near in graph.adjacency()
            for v, data in near.items()
            if key in data
        }
        return [edges, labels, of_edges] if of_edges else [edges, labels]

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {key: value for key, value in state.items() if key != "_last"}


def _class(name: str) -> Any:
    """Return the class of GraKeL of a name in lower case."""
    from grakel import kernels

    title = _CLASSES.get(name) or "".join(part.title() for part in name.split("_"))
    return getattr(kernels, title)
