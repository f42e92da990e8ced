import numpy as np
import pytest

from kernlearn.solvers.labels import encode_labels


def test_codes_and_weights():
    classes, codes, weight = encode_labels(["b", "a", "b", "b"], "balanced")
    assert list(classes) == ["a", "b"]
    np.testing.assert_array_equal(codes, [1, 0, 1, 1])
    np.testing.assert_allclose(weight, [2.0, 2 / 3])
    np.testing.assert_array_equal(encode_labels([3, 1], {3: 5.0})[2], [1.0, 5.0])


def test_a_single_class_is_refused():
    with pytest.raises(ValueError, match=r"y must have at least two classes, .* one class: 'a'"):
        encode_labels(["a", "a"], None)
