import numpy as np
import pytest
from sklearn.utils.multiclass import _ovr_decision_function

from kernlearn.solvers.svm_prediction import class_scores, count_votes, pair_coefficients


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_coefficients_of_pairs_by_libsvms_own_loop(n_classes):
    rng = np.random.default_rng(n_classes)
    n_by_class = rng.integers(1, 5, n_classes)
    dual_coef = rng.standard_normal((n_classes - 1, n_by_class.sum()))
    starts = np.concatenate([[0], np.cumsum(n_by_class)])
    kernel_row = rng.standard_normal(n_by_class.sum())
    expected = []
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            total = 0.0
            for k in range(n_by_class[i]):
                total += dual_coef[j - 1, starts[i] + k] * kernel_row[starts[i] + k]
            for k in range(n_by_class[j]):
                total += dual_coef[i, starts[j] + k] * kernel_row[starts[j] + k]
            expected.append(total)
    found = kernel_row @ pair_coefficients(dual_coef, n_by_class)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_votes_and_scores_are_scikit_learns():
    values = np.random.default_rng(0).standard_normal((50, 6))
    expected = _ovr_decision_function(values < 0, -values, 4)
    np.testing.assert_allclose(class_scores(values, 4), expected, rtol=1e-12)
    votes = count_votes(values, 4)
    np.testing.assert_array_equal(votes.sum(axis=1), 6)
    np.testing.assert_allclose(votes, np.round(expected))


def test_a_value_of_zero_is_a_vote_for_the_second_class():
    np.testing.assert_array_equal(count_votes(np.zeros((1, 1)), 2), [[0.0, 1.0]])
