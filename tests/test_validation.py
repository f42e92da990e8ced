"""Points held out, and parameters to choose from."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV

from kernlearn.choice import first_best, hold_out, hold_out_at_random, split_for_choice
from kernlearn.landmarks import BBSClassifier, NystroemEmbedding, RegLand
from kernlearn.svm import KernelSVM
from kernlearn.validation import candidate_values, known_codes


@given(st.lists(st.integers(2, 30), min_size=1, max_size=6), st.integers(0, 5), st.data())
def test_holds_out_a_stratified_share(sizes, n_single, data):
    fraction = data.draw(st.floats(0.05, 0.95))
    rng = np.random.RandomState(data.draw(st.integers(0, 2**31 - 1)))
    codes = rng.permutation(np.repeat(np.arange(len(sizes) + n_single), sizes + [1] * n_single))
    rest, held_out = hold_out(codes, fraction, rng)
    np.testing.assert_array_equal(np.sort(np.r_[rest, held_out]), np.arange(len(codes)))
    assert len(held_out) >= 1
    assert set(codes[rest]) == set(codes)
    if not n_single and all(size >= 2 / (1 - fraction) for size in sizes):
        assert abs(len(held_out) - fraction * len(codes)) < 1 or len(held_out) == 1
        per_class = np.bincount(codes[held_out], minlength=len(sizes))
        # each class gives its share, and one more or less where the total asks for it
        assert (np.abs(per_class - fraction * np.array(sizes)) <= 2).all()


def test_nothing_can_be_held_out_of_single_points():
    with pytest.raises(ValueError, match="two points"):
        hold_out(np.arange(4), 0.5, np.random.RandomState(0))
    with pytest.raises(ValueError, match="X holds 1 sample"):
        hold_out(np.zeros(1, dtype=np.intp), 0.5, np.random.RandomState(0))


def test_a_random_share_is_held_out_and_at_least_one_point_is_not():
    for n, fraction, expected in [(50, 0.2, 10), (50, 0.001, 1), (5, 0.99, 4), (2, 0.5, 1)]:
        kept, held_out = hold_out_at_random(n, fraction, np.random.default_rng(0))
        assert len(held_out) == expected
        np.testing.assert_array_equal(np.sort(np.r_[kept, held_out]), np.arange(n))


def test_first_best_breaks_ties_in_order():
    assert first_best(np.array([[2, 1], [1, 1]])) == 1
    assert first_best(np.array([2, 1, 1, 1]), np.array([0, 3, 2, 2])) == 2


@pytest.mark.parametrize(
    ("given", "options", "expected"),
    [
        (3.0, {}, [3.0]),
        ([10, 1, 10], {}, [1, 10]),
        ([0.5, 0], {"zero": True}, [0, 0.5]),
        (np.array([5, 3]), {"integer": True}, [3, 5]),
    ],
)
def test_candidate_values_are_distinct_and_ascending(given, options, expected):
    np.testing.assert_array_equal(candidate_values(given, "C", **options), expected)


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ([1, -1], {"zero": True}, "'C'"),
        ([1, np.inf], {}, "'C'"),
        ([], {}, "'C'"),
        ("1", {}, "'C'"),
        ([1.0], {"integer": True}, "'C' must be an int >= 1"),
    ],
)
def test_bad_candidate_values(given, options, message):
    with pytest.raises(ValueError, match=message):
        candidate_values(given, "C", **options)


def split(X_val=None, y_val=None, n_choices=2, codes=(0, 0, 1, 1), y=None):
    X, codes = np.arange(8.0).reshape(4, 2), np.array(codes)
    estimator = SimpleNamespace(validation_fraction=0.5, _check_points=np.asarray)
    rng, y = np.random.RandomState(0), codes if y is None else y
    return split_for_choice(estimator, X, y, X_val, y_val, codes, n_choices, rng)[:3]


def test_points_are_held_out_only_if_there_is_a_choice_and_none_are_given():
    rows, X_val, y_val = split()
    assert len(rows) == len(X_val) == len(y_val) == 2
    held_out = np.setdiff1d(np.arange(4), rows)
    np.testing.assert_array_equal(X_val[:, 0], 2 * held_out)
    np.testing.assert_array_equal(y_val, held_out // 2)
    rows, X_val, y_val = split(n_choices=1)
    np.testing.assert_array_equal(rows, np.arange(4))
    assert X_val is None
    assert y_val is None
    for n_choices in (1, 2):
        rows, X_val, y_val = split([[1, 2]], [3], n_choices, y=np.zeros(4))
        np.testing.assert_array_equal(rows, np.arange(4))
        np.testing.assert_array_equal(X_val, [[1, 2]])
        assert y_val.tolist() == [3.0]


@pytest.mark.parametrize(
    ("X_val", "y_val", "message"),
    [
        ([[1, 2]], None, "X_val and y_val must be given together, or neither"),
        (None, [1], "X_val and y_val must be given together, or neither"),
        ([[1, 2]], [1, 2], r"one value for each of the 1 points of X_val, got shape \(2,\)"),
        ([[1, 2]], [np.nan], "y_val contains NaN"),
        ([[1, 2], [3]], [1, 2], "X_val: "),
    ],
)
def test_bad_validation_parts(X_val, y_val, message):
    with pytest.raises(ValueError, match=message):
        split(X_val, y_val)


def test_codes_of_validation_labels():
    classes = np.array([1, 3, 5])
    assert known_codes(classes, [5, 2, 1, 9, 3]).tolist() == [2, -1, 0, -1, 1]
    assert known_codes(classes, [1, 0]).tolist() == [0, -1]
    with pytest.raises(ValueError, match="y_val"):
        known_codes(classes, [2, 4])


@pytest.mark.parametrize(
    "model",
    [
        BBSClassifier(50),
        GridSearchCV(BBSClassifier(50), {"C": [1.0]}, cv=2),
        RegLand(50),
        NystroemEmbedding("gaussian", 50),
        KernelSVM(lambda x, y: float(np.abs(x - y).sum())),
    ],
    ids=lambda model: type(model).__name__,
)
def test_warnings_point_to_the_line_of_the_caller(model):
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10) % 2
    with pytest.warns(UserWarning, match="training points|a distance") as caught:
        model.fit(X, y)
    assert {one.filename for one in caught} == {__file__}
