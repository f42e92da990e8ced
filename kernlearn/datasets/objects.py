"""Points that are no vectors: one-dimensional arrays of objects, and their content as bytes."""

import json
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from numbers import Real
from typing import Any

import numpy as np

_PACKED = "points"  # how the names of arrays in a parsed copy begin


def as_objects(points: Iterable[Any]) -> np.ndarray:
    """Return points as an array of objects of shape (n_points,), whatever they are."""
    found = list(points)
    return np.fromiter(found, dtype=object, count=len(found))


def are_objects(X: Any) -> bool:
    """Tell whether data are an array of objects rather than a matrix."""
    return isinstance(X, np.ndarray) and X.ndim == 1


def kind_of(X: Any) -> str:
    """Say what points are, by the first: vectors, strings, series, graphs, sets or objects."""
    if not are_objects(X):
        return "vectors"
    first: Any = X[0] if len(X) else None
    if isinstance(first, str):
        return "strings"
    if isinstance(first, np.ndarray) and first.dtype.kind in "biuf":
        return "series"
    if isinstance(first, AbstractSet):
        return "sets"
    pair = isinstance(first, (tuple, list)) and len(first) in (2, 3)
    if _is_networkx(first) or (pair and all(isinstance(part, Mapping) for part in first)):
        return "graphs"
    return "objects"


def size_of(point: Any) -> int:
    """Return the letters of a string, the length of a series, the nodes of a graph."""
    if isinstance(point, np.ndarray):
        return int(point.shape[-1])
    return len(point[0] if isinstance(point, tuple) else point)


def content(point: Any) -> bytes:
    """Write a point as bytes that are the same for equal points.

    Whole numbers and floats, lists and tuples are alike; sets and mappings have no order.

    Raises
    ------
    ValueError
        If the point, or a part of it, is none of strings, numbers, arrays of numbers, lists, sets,
        mappings and graphs of networkx.
    """
    if isinstance(point, str):
        return _framed("s", point.encode("utf-8", "surrogatepass"))
    if point is None:
        return b"none"
    if isinstance(point, np.ndarray) and point.dtype.kind in "biuf":
        values = np.ascontiguousarray(point, dtype="<f8")
        values = np.where(np.isnan(values), np.nan, values + 0.0)  # one NaN, and no -0
        return _framed(f"a{values.shape}", values.tobytes())
    if isinstance(point, Real):  # NumPy's numbers too
        value = float(point)
        return _framed("n", str(int(value) if value.is_integer() else value).encode())
    if _is_networkx(point):
        nodes = {node: dict(data) for node, data in point.nodes(data=True)}
        near = {u: {v: dict(data) for v, data in to.items()} for u, to in point.adjacency()}
        return _framed("g", content([nodes, near]))
    if isinstance(point, Mapping):
        pairs = (content(key) + content(value) for key, value in point.items())
        return _framed("m", b"".join(sorted(pairs)))
    if isinstance(point, AbstractSet):
        return _framed("t", b"".join(sorted(map(content, point))))
    if isinstance(point, (Sequence, np.ndarray)):
        return _framed("l", b"".join(map(content, point)))
    raise ValueError(
        f"points must be strings, numbers, arrays, lists, sets, mappings or graphs of networkx, "
        f"not {type(point).__name__}: other points have no fingerprint"
    )


def _framed(mark: str, data: bytes) -> bytes:
    return f"{mark}{len(data)}:".encode() + data


def _is_networkx(point: Any) -> bool:
    return hasattr(point, "adjacency") and hasattr(point, "nodes")


def from_json(value: Any) -> Any:
    """Return the point that a value of JSON stands for.

    Text is a string; a list of numbers a series, of lists of numbers one with a channel for each;
    another list the set of its entries if these are texts. ``{"edges": [[u, v], ...], "labels":
    {u: label, ...}}`` is a graph; an edge may have a weight as third entry.

    Raises
    ------
    ValueError
        If it is none of these; the message says what was expected.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and value.keys() <= {"edges", "labels"} and "edges" in value:
        return _graph(value["edges"], value.get("labels", {}))
    if isinstance(value, list) and value:
        if all(isinstance(entry, str) for entry in value):
            return frozenset(value)
        try:
            series = np.array(value, dtype=np.float64)
        except (TypeError, ValueError):
            series = np.empty(0)
        if series.ndim in (1, 2) and series.size and np.isfinite(series).all():
            return series
    raise ValueError(
        'text, a list of numbers or of texts, lists of numbers of one length, or {"edges": '
        '[[u, v], ...], "labels": {u: label, ...}}'
    )


def _graph(edges: Any, labels: Any) -> tuple[dict[str, dict[str, float]], dict[str, Any]]:
    """Return a graph as neighbours with weights, and labels of nodes; names of nodes are texts."""
    near: dict[str, dict[str, float]] = {str(node): {} for node in labels}
    for edge in edges if isinstance(edges, list) else [edges]:
        if not (isinstance(edge, list) and len(edge) in (2, 3)):
            raise ValueError("edges as [u, v] or [u, v, weight]")
        u, v, weight = str(edge[0]), str(edge[1]), float(edge[2] if len(edge) == 3 else 1.0)
        near.setdefault(u, {})[v] = near.setdefault(v, {})[u] = weight
    if not near:
        raise ValueError("a graph with a node")
    named = {str(node): label for node, label in labels.items()}
    return near, {node: named.get(node, 0) for node in near}


def to_json(point: Any) -> Any:
    """Return the value of JSON that :func:`from_json` makes a point from."""
    if isinstance(point, AbstractSet):
        return sorted(point)
    if isinstance(point, tuple):
        near, labels = point
        places = {node: i for i, node in enumerate(near)}
        return {
            "edges": [
                [u, v, w]
                for u, to in near.items()
                for v, w in to.items()
                if places[u] <= places[v]
            ],
            "labels": labels,
        }
    return point.tolist() if isinstance(point, np.ndarray) else point


def packed(X: np.ndarray) -> dict[str, np.ndarray]:
    """Return arrays of numbers that hold points as :func:`from_json` makes them."""
    kind = {type(point) for point in X}
    if kind == {np.ndarray}:
        shapes = np.array([(s.ndim, len(s) if s.ndim == 2 else 1, s.shape[-1]) for s in X])
        flat = np.concatenate([s.ravel() for s in X])
        return {f"{_PACKED}_series": flat, f"{_PACKED}_shapes": shapes}
    texts = X if kind == {str} else [json.dumps(to_json(point)) for point in X]
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    name = "strings" if kind == {str} else "json"
    return {
        f"{_PACKED}_{name}": np.frombuffer(b"".join(encoded), dtype=np.uint8),
        f"{_PACKED}_ends": np.cumsum([len(one) for one in encoded], dtype=np.int64),
    }


def unpacked(arrays: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Return the points that :func:`packed` has put among some arrays; None if there are none."""
    if (flat := arrays.get(f"{_PACKED}_series")) is not None:
        shapes = arrays[f"{_PACKED}_shapes"]
        parts = np.split(flat, np.cumsum(shapes[:-1, 1] * shapes[:-1, 2]))
        return as_objects(
            part if n_dims == 1 else part.reshape(channels, length)
            for part, (n_dims, channels, length) in zip(parts, shapes.tolist(), strict=True)
        )
    for name, made in (("strings", str), ("json", lambda text: from_json(json.loads(text)))):
        if (data := arrays.get(f"{_PACKED}_{name}")) is not None:
            raw, ends = data.tobytes(), arrays[f"{_PACKED}_ends"].tolist()
            texts = (
                raw[start:end].decode("utf-8", "surrogatepass")
                for start, end in zip([0, *ends], ends, strict=False)
            )
            return as_objects(map(made, texts))
    return None
