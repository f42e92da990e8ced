"""Labels, points of any kind, and fingerprints of content."""

import numpy as np
import pytest
from scipy import sparse

from kernlearn.datasets import fingerprint
from kernlearn.datasets.tables import (
    as_objects,
    canonical_label,
    content,
    default_order,
    from_json,
    kind_of,
)

GRAPH = ({"a": {"b": 1.0}, "b": {"a": 1.0}}, {"a": "C", "b": "N"})
X = np.array([[0.0, 1.5, 0.0], [2.0, 0.0, -1.0], [0.0, 0.0, 3.0]])


@pytest.mark.parametrize(
    ("label", "text"),
    [("+1", "1"), (1.0, "1"), (" 1.50 ", "1.5"), ("a ", "a"), ("nan", "nan"), ("inf", "inf")],
)
def test_labels_are_spelt_alike(label, text):
    assert canonical_label(label) == text


def test_order_of_labels():
    assert default_order(["10", "9", "-1"]) == ["-1", "9", "10"]
    assert default_order(["b", "10", "a"]) == ["10", "a", "b"]


def test_fingerprints_depend_on_content_alone():
    y = ["a", "b", "1"]
    first = fingerprint(X, y)
    order = [2, 0, 1]
    assert fingerprint(X[order], [y[i] for i in order]) == first
    assert fingerprint(sparse.coo_matrix(X), ["a", "b", "+1.0"]) == first
    negative = X.copy()
    negative[X == 0] = -0.0
    assert fingerprint(negative, y) == first
    assert fingerprint(X.astype(np.float32), y) == first
    assert fingerprint(np.hstack([X, np.zeros((3, 1))]), y) != first
    assert fingerprint(X, ["a", "b", "2"]) != first
    assert fingerprint(X + 1e-15, y) != first
    with pytest.raises(ValueError, match="2 dimensions, got 1"):
        fingerprint([1.0, 2.0])
    with pytest.raises(ValueError, match="one label per row"):
        fingerprint(X, ["a"])


@pytest.mark.parametrize(
    ("points", "kind"),
    [
        (["a", "äöü", ""], "strings"),
        ([np.arange(3.0), np.arange(2.0)], "series"),
        ([frozenset("ab"), frozenset()], "sets"),
        ([GRAPH, ({"c": {}}, {"c": "x"})], "graphs"),
        ([{"x": 1}, {"x": "a"}], "objects"),
    ],
)
def test_points(points, kind):
    array = as_objects(points)
    assert kind_of(array) == kind
    assert fingerprint(array, [0, 1, 2][: len(points)]) == fingerprint(
        as_objects(points[::-1]), [0, 1, 2][: len(points)][::-1]
    )
    assert fingerprint(array, range(len(points))) != fingerprint(array, [1] * len(points))
    assert len({content(point) for point in points}) == len(points)
    assert kind_of(X) == "vectors"


def test_content_of_equal_points():
    assert content([1, 2.0, 0.0]) == content((1.0, 2, -0.0))
    assert content({"a": 1, "b": {2, 3}}) == content({"b": {3, 2}, "a": 1.0})
    assert content(np.array([1, 2])) == content(np.array([1.0, 2.0]))
    assert content("12") != content(12)
    with pytest.raises(ValueError, match="have no fingerprint"):
        content(object())


def test_points_of_json():
    assert from_json("a") == "a"
    assert from_json(["a", "b", "a"]) == {"a", "b"}
    assert from_json([[1, 2], [3, 4]]).shape == (2, 2)
    near, labels = from_json({"edges": [[0, 1]], "labels": {"2": "C"}})
    assert near == {"2": {}, "0": {"1": 1.0}, "1": {"0": 1.0}}
    assert labels == {"2": "C", "0": 0, "1": 0}
    for value in (3, None, [], [1, "a"], [[1, 2], [3]], {"nodes": []}, {"edges": [[1]]}):
        with pytest.raises(ValueError, match="text, a list of numbers"):
            from_json(value)
