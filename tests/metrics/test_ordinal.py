import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernlearn.metrics import macro_average_absolute_error as macro

TRUE, PREDICTED = [3, 3, 3, 5, 5, 8], [3, 4, 8, 5, 4, 7]


def test_by_hand():
    found = macro(TRUE, PREDICTED)
    assert type(found) is float
    assert found == pytest.approx((6 / 3 + 1 / 2 + 1) / 3, rel=1e-12)
    # the grade 8 has no weight
    by_hand = ((2 * 1 + 5) / 4 + 1 / 2) / 2
    weight = [1, 2, 1, 1, 1, 0]
    assert macro(TRUE, PREDICTED, sample_weight=weight) == pytest.approx(by_hand, rel=1e-12)
    # small unsigned grades do not wrap
    assert macro(np.array([0, 1], dtype=np.uint8), np.array([1, 0], dtype=np.uint8)) == 1


grades = st.lists(
    st.tuples(st.integers(-3, 6), st.integers(-3, 6), st.integers(1, 3)), min_size=1, max_size=20
)


@given(grades)
def test_weights_are_repetitions_and_order_and_direction_do_not_matter(points):
    true, predicted, weight = np.array(points).T
    repeated = macro(np.repeat(true, weight), np.repeat(predicted, weight))
    assert macro(true, predicted, sample_weight=weight) == pytest.approx(repeated, abs=1e-12)
    expected = pytest.approx(macro(true, predicted), abs=1e-12)
    assert macro(true[::-1], predicted[::-1]) == expected
    assert macro(-true, -predicted) == expected
    assert macro(true, true) == 0


@pytest.mark.parametrize(
    ("arguments", "weight", "says"),
    [
        (([1, 2], [1]), None, "inconsistent numbers of samples"),
        (([1, 2], [1, np.nan]), None, "y_pred contains NaN"),
        ((["low", "high"], ["low", "low"]), None, "could not convert string to float"),
        (([[1, 2], [2, 1]], [1, 2]), None, "1d array"),
        (([], []), None, "0 sample"),
        (([1, 2], [1, 1]), [1, -1], "[Nn]egative"),
        (([1, 2], [1, 1]), [0, 0], "non-zero"),
        (([1, 2], [1, 1]), [1], "sample_weight"),
    ],
)
def test_bad_grades_and_weights_are_refused(arguments, weight, says):
    with pytest.raises(ValueError, match=says):
        macro(*arguments, sample_weight=weight)
