import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernlearn.metrics import (
    average_absolute_error,
    macro_average_absolute_error,
    zero_one_error,
)

METRICS = (average_absolute_error, macro_average_absolute_error, zero_one_error)
TRUE, PREDICTED = [3, 3, 3, 5, 5, 8], [3, 4, 8, 5, 4, 6]


@pytest.mark.parametrize(
    ("metric", "by_hand"),
    [
        (average_absolute_error, (0 + 1 + 5 + 0 + 1 + 2) / 6),
        (macro_average_absolute_error, (6 / 3 + 1 / 2 + 2) / 3),
        (zero_one_error, 4 / 6),
    ],
)
def test_by_hand(metric, by_hand):
    found = metric(TRUE, PREDICTED)
    assert type(found) is float
    assert found == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize(
    ("metric", "by_hand"),
    [
        (average_absolute_error, (2 * 1 + 5 + 3 * 1) / 8),
        # the grade 8 has no weight
        (macro_average_absolute_error, ((2 * 1 + 5) / 4 + (3 * 1) / 4) / 2),
        (zero_one_error, (2 + 1 + 3) / 8),
    ],
)
def test_weights_by_hand(metric, by_hand):
    weight = [1, 2, 1, 1, 3, 0]
    assert metric(TRUE, PREDICTED, sample_weight=weight) == pytest.approx(by_hand, rel=1e-12)


grades = st.lists(
    st.tuples(st.integers(-3, 6), st.integers(-3, 6), st.integers(1, 3)), min_size=1, max_size=20
)


@given(grades)
def test_whole_weights_are_repeated_points(points):
    true, predicted, weight = np.array(points).T
    for metric in METRICS:
        repeated = metric(np.repeat(true, weight), np.repeat(predicted, weight))
        assert metric(true, predicted, sample_weight=weight) == pytest.approx(repeated, abs=1e-12)


@given(grades)
def test_order_and_direction_of_grades_do_not_matter(points):
    true, predicted, _ = np.array(points).T
    for metric in METRICS:
        expected = pytest.approx(metric(true, predicted), abs=1e-12)
        assert metric(true[::-1], predicted[::-1]) == expected
        assert metric(-true, -predicted) == expected
        assert metric(true, true) == 0


def test_small_unsigned_grades_do_not_wrap():
    true, predicted = np.array([0, 1], dtype=np.uint8), np.array([1, 0], dtype=np.uint8)
    assert average_absolute_error(true, predicted) == 1
    assert macro_average_absolute_error(true, predicted) == 1


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (([1, 2], [1]), "inconsistent numbers of samples"),
        (([1, 2], [1, np.nan]), "y_pred contains NaN"),
        ((["low", "high"], ["low", "low"]), "could not convert string to float"),
        (([[1, 2], [2, 1]], [1, 2]), "1d array"),
        (([], []), "0 sample"),
    ],
)
def test_bad_grades_are_refused(metric, arguments, says):
    with pytest.raises(ValueError, match=says):
        metric(*arguments)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
@pytest.mark.parametrize(
    ("weight", "says"),
    [([1, -1], "[Nn]egative"), ([0, 0], "non-zero"), ([1], "sample_weight")],
)
def test_bad_weights_are_refused(metric, weight, says):
    with pytest.raises(ValueError, match=says):
        metric([1, 2], [1, 1], sample_weight=weight)
