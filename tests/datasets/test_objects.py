"""Points that are no vectors: their content, and what is kept of them."""

from decimal import Decimal

import numpy as np
import pytest

from kernlearn.datasets import fingerprint
from kernlearn.datasets.objects import (
    as_objects,
    content,
    from_json,
    kind_of,
    packed,
    unpacked,
)

GRAPH = ({"a": {"b": 1.0}, "b": {"a": 1.0}}, {"a": "C", "b": 0})


@pytest.mark.parametrize(
    ("one", "same"),
    [
        ("text", np.str_("text")),
        (1, 1.0),
        (True, np.int64(1)),
        ([1, 2], (1.0, 2.0)),
        ({"b", "a"}, frozenset(["a", "b"])),
        ({"a": 1, "b": [2]}, {"b": (2.0,), "a": 1}),
        (np.array([1.0, -0.0]), np.array([1, 0])),
        (np.array([np.nan]), np.array([-np.nan])),
    ],
)
def test_equal_points_have_equal_content(one, same):
    assert content(one) == content(same)


def test_other_points_have_other_content():
    points = [
        "1",
        1,
        "",
        None,
        [],
        ["1"],
        [["1"]],
        {"1"},
        {"1": 1},
        {"1": "1"},
        "a1:",
        ["a", "1:"],
        ["a1", ":"],
        np.zeros(2),
        np.zeros((1, 2)),
        np.zeros(3),
        [0, 0],
        {1: {2: 1.0}},
        0.5,
        "0.5",
    ]
    assert len({content(point) for point in points}) == len(points)


def test_graphs_of_networkx_have_content():
    networkx = pytest.importorskip("networkx")
    one, other = networkx.path_graph(3), networkx.path_graph(3)
    assert content(one) == content(other)
    other.nodes[0]["label"] = "C"
    assert content(one) != content(other)


@pytest.mark.parametrize("point", [object(), Decimal(1).as_tuple, print])
def test_points_without_content(point):
    with pytest.raises(ValueError, match=r"points must be strings, .* not \w+: other points have"):
        content([point])


def test_fingerprints_know_points_and_labels_in_any_order():
    points = as_objects(["a", "b", "c"])
    found = fingerprint(points, ["x", "y", "x"])
    assert found == fingerprint(points[::-1], ["x", "y", "x"])
    assert found == fingerprint(np.array(["c", "b", "a"]), ["x", "y", "x"])
    assert found != fingerprint(points, ["x", "x", "y"])
    with pytest.raises(ValueError, match="one label per row of X, got 2 for 3"):
        fingerprint(points, ["x", "y"])


@pytest.mark.parametrize(
    ("points", "kind"),
    [
        (["a"], "strings"),
        ([np.zeros(3)], "series"),
        ([frozenset("a")], "sets"),
        ([GRAPH], "graphs"),
        ([3], "objects"),
        ([], "objects"),
    ],
)
def test_kinds(points, kind):
    assert kind_of(as_objects(points)) == kind


def test_matrices_are_vectors():
    assert kind_of(np.zeros((2, 2))) == "vectors"


POINTS = {
    "strings": ["", "äöü", "a\nb", "x" * 1000],
    "series": [np.arange(3.0), np.array([1.5]), np.arange(7.0)],
    "channels": [np.ones((2, 3)), np.zeros((2, 1))],
    "sets": [frozenset("ab"), frozenset("b")],
    "graphs": [GRAPH, ({"c": {}}, {"c": "x"})],
}


@pytest.mark.parametrize("name", POINTS)
def test_what_is_packed_is_unpacked(name):
    points = as_objects(POINTS[name])
    arrays = packed(points)
    assert all(array.dtype != object for array in arrays.values())
    again = unpacked({**arrays, "other": np.zeros(2)})
    assert list(map(content, again)) == list(map(content, points))
    assert kind_of(again) == kind_of(points)


def test_nothing_packed():
    assert unpacked({"data": np.zeros(3)}) is None


@pytest.mark.parametrize(
    "value",
    [
        3,
        None,
        [],
        [1, "a"],
        [[1, 2], [3]],
        {"nodes": []},
        {"edges": 3},
        {"edges": [[1]]},
        {"edges": []},
        [float("inf")],
    ],
)
def test_what_is_no_point(value):
    with pytest.raises(ValueError, match=r"text, a list of numbers|edges as|a graph with a node"):
        from_json(value)
