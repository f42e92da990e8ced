"""Points held out, and parameters to choose from."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV

from kernlearn.choice import first_best, hold_out, hold_out_at_random
from kernlearn.landmarks import BBSClassifier, NystroemEmbedding, RegLand
from kernlearn.svm import KernelSVM
from kernlearn.validation import known_codes


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
