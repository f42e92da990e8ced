import pytest

from kernlearn.experiments.config.claims import QUESTIONS, Check
from kernlearn.reports.claims import check_text

WORDS = [
    ({"better": ["A", "B"], "than": ["C"], "over": "most", "by": 0.02},
     "mse: A and B better than C by more than 0.02, in most cells"),
    ({"better": ["A"], "than": ["C", "D"], "over": "some", "times": 1.5},
     "mse: A better than C and D by a factor of more than 1.5, in at least one cell"),
    ({"as_good": ["A"], "than": ["C"], "by": 0.02, "across": ["n"], "over": 0.8},
     "mse: A as good as C within 0.02, in at least 80 % of the cells; n may differ"),
    ({"as_good": ["A"], "than": ["C"], "times": 2, "over": 5},
     "mse: A as good as C within a factor of 2, in at least 5 cells"),
    ({"close": ["A"], "than": ["C"], "by": 0.1},
     "mse: A close to C within 0.1, on average over the cells"),
    ({"not_better": ["A"], "than": ["C"]},
     "mse: A not shown to be better than C, on average over the cells"),
    ({"not_worse": ["A"], "than": ["C"], "over": "all", "level": 0.01},
     "mse: A not shown to be worse than C, in all cells; level 0.01"),
    ({"indistinguishable": ["A"], "than": ["C"], "mean_over": ["n", "m"]},
     "mse: A not shown to differ from C, on average over the cells; averaged over n and m"),
    ({"among_best": ["A"], "over": "all_but_one", "where": {"n": 30, "d": ["x", "y", "z"]}},
     "mse: A among the best, in all cells but one; where n is 30 and d is x, y or z"),
    ({"below": 0.5, "over": "all"}, "mse: below 0.5, in all cells"),
    ({"above": 10, "of": ["A", "B"], "over": "all"},
     "mse: A and B above 10, in all cells"),
    ({"between": [1, 2]}, "mse: between 1 and 2, on average over the cells"),
    ({"trend": "falling", "along": "n", "times": 1.2, "over": "all"},
     "mse: falling by a factor of more than 1.2 per doubling of n, in all cells"),
    ({"trend": "flat", "along": "n", "by": 0.01},
     "mse: flat within 0.01 per doubling of n, on average over the cells"),
    ({"better": ["A"], "than": ["C"], "along": "n", "over": "all"},
     "mse: A better than C, in the change per doubling of n, in all cells"),
    ({"better": [300], "than": [30], "compare": "n"},
     "mse: 300 better than 30, on average over the cells"),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "text"), WORDS)
def test_a_check_in_words(asked, text):
    assert check_text(Check.model_validate({"metric": "mse", **asked})) == text


def test_every_question_has_its_words():
    asked = {Check.model_validate({"metric": "mse", **a}).question for a, _ in WORDS}
    assert asked == set(QUESTIONS)
