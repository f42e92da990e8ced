import numpy as np
import pytest
from sklearn.utils.multiclass import _ovr_decision_function

from kernlearn.solvers.labels import class_scores, count_votes, encode_labels


def test_codes_and_weights():
    classes, codes, weight = encode_labels(["b", "a", "b", "b"], "balanced")
    assert list(classes) == ["a", "b"]
    np.testing.assert_array_equal(codes, [1, 0, 1, 1])
    np.testing.assert_allclose(weight, [2.0, 2 / 3])
    np.testing.assert_array_equal(encode_labels([3, 1], {3: 5.0})[2], [1.0, 5.0])


def test_a_single_class_is_refused():
    with pytest.raises(ValueError, match=r"y must have at least two classes, .* one class: 'a'"):
        encode_labels(["a", "a"], None)


def test_votes_and_scores_are_scikit_learns():
    values = np.random.default_rng(0).standard_normal((50, 6))
    expected = _ovr_decision_function(values < 0, -values, 4)
    np.testing.assert_allclose(class_scores(values, 4), expected, rtol=1e-12)
    votes = count_votes(values, 4)
    np.testing.assert_array_equal(votes.sum(axis=1), 6)
    np.testing.assert_allclose(votes, np.round(expected))


def test_a_value_of_zero_is_a_vote_for_the_second_class():
    np.testing.assert_array_equal(count_votes(np.zeros((1, 1)), 2), [[0.0, 1.0]])
