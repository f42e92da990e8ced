"""The order of grades: that of the categories, of numbers, or said to be that of the alphabet."""

import warnings

import numpy as np
import pytest

from kernlearn.landmarks import ORLand
from kernlearn.solvers.labels import encode_grades

RNG = np.random.RandomState(0)
X = RNG.uniform(size=(120, 2))
PLACES = np.digitize(X[:, 0], [0.33, 0.66])
WORDS = np.array(["low", "mid", "high"])[PLACES]
ORDER = ["low", "mid", "high"]


def categorical(kind):
    pd = pytest.importorskip("pandas")
    made = pd.Categorical(WORDS, ["none", *ORDER], ordered=True)
    return made if kind == "Categorical" else pd.Series(made)


@pytest.mark.parametrize("kind", ["Categorical", "Series", "categories"])
def test_grades_keep_their_order(kind):
    y = WORDS if kind == "categories" else categorical(kind)
    options = {"categories": ["none", *ORDER]} if kind == "categories" else {}
    expected = ORLand(15, random_state=0).fit(X[:80], PLACES[:80])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ORLand(15, random_state=0, **options).fit(X[:80], y[:80])
    assert model.classes_.tolist() == ORDER
    np.testing.assert_array_equal(model.coef_, expected.coef_)
    np.testing.assert_array_equal(model.validation_scores_, expected.validation_scores_)
    np.testing.assert_array_equal(
        model.predict(X[80:]), np.array(ORDER, dtype=object)[expected.predict(X[80:])]
    )
    held_out = ORLand(15, random_state=0, **options).fit(X[:60], y[:60], X[60:80], WORDS[60:80])
    numbers = ORLand(15, random_state=0).fit(X[:60], PLACES[:60], X[60:80], PLACES[60:80])
    np.testing.assert_array_equal(held_out.validation_scores_, numbers.validation_scores_)


def test_words_without_an_order_are_sorted_and_it_is_said():
    with pytest.warns(UserWarning, match="by the alphabet: high < low < mid. Pass an ordered"):
        model = ORLand(15, random_state=0).fit(X, WORDS)
    assert model.classes_.tolist() == ["high", "low", "mid"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ORLand(15, random_state=0).fit(X, WORDS == "low")
        ORLand(15, random_state=0).fit(X, np.where(WORDS == "low", "no", "yes"))


def test_categories_must_hold_every_grade_once():
    with pytest.raises(ValueError, match="all grades of y; 'mid' is missing"):
        encode_grades(WORDS, ["low", "high"])
    with pytest.raises(ValueError, match="each grade once"):
        encode_grades(WORDS, [*ORDER, "low"])
    classes, codes = encode_grades(np.array([3, 1, 2, 1]), [3, 2, 1])
    assert (classes.tolist(), codes.tolist()) == ([3, 2, 1], [0, 2, 1, 2])
