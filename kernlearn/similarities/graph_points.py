"""Graphs in the forms that are taken: of networkx, of GraKeL, or neighbours and labels."""

from collections.abc import Iterable, Mapping
from typing import Any

from kernlearn.kernels.pairs import shown

#: For each node its neighbours, and its label.
Plain = tuple[dict[Any, list[Any]], dict[Any, Any]]


def is_networkx(point: Any) -> bool:
    """Tell whether a point is a graph of networkx."""
    return hasattr(point, "adjacency") and hasattr(point, "nodes")


def refused(point: Any, place: int, name: str) -> ValueError:
    """Return the error of a point that is no graph."""
    return ValueError(
        f"'{name}' must hold graphs of networkx or GraKeL, or lists [edges, node labels, "
        f"edge labels], got {shown(point)} at {place}"
    )


def plain(point: Any, place: int, node_labels: str = "label") -> Plain:
    """Return the neighbours and the labels of the nodes of a graph, without loops.

    Nodes without labels have 0. Weights and directions of edges are passed over: two nodes are
    neighbours where an edge goes from one to the other.
    """
    given: Any = {}
    if is_networkx(point):
        edges: Any = {u: list(near) for u, near in point.adjacency()}
        given = {u: data.get(node_labels, 0) for u, data in point.nodes(data=True)}
    elif hasattr(point, "get_edge_dictionary"):
        edges = point.get_edge_dictionary()
        given = point.get_labels(purpose="dictionary") or {}
    elif isinstance(point, (tuple, list)) and point and isinstance(point[0], (Mapping, Iterable)):
        edges, given = point[0], (point[1] if len(point) > 1 else None) or {}
    else:
        raise refused(point, place, "X")
    near: dict[Any, set[Any]] = {node: set() for node in given}
    try:
        pairs = (
            ((u, v) for u, to in edges.items() for v in (*to, None))
            if isinstance(edges, Mapping)
            else (tuple(edge)[:2] for edge in edges)
        )
        for u, v in pairs:
            near.setdefault(u, set())
            if v is not None and u != v:
                near[u].add(v)
                near.setdefault(v, set()).add(u)
    except (AttributeError, TypeError, ValueError):
        raise refused(point, place, "X") from None
    return {u: list(to) for u, to in near.items()}, {u: given.get(u, 0) for u in near}
