"""NDCG against slow versions, and the macro-averaged error of grades."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernlearn.metrics import letor_mean_ndcg, letor_ndcg, thesis_ndcg
from kernlearn.metrics import macro_average_absolute_error as macro


def ranked(relevances, scores):
    """The relevances in the order of the scores, ties by the order of the documents."""
    order = sorted(range(len(scores)), key=lambda i: (-scores[i], i))
    return [relevances[i] for i in order]


def slow_thesis(relevances, scores, k=None):
    """Section 5.3.4, with the maximum over all permutations."""

    def total(order):
        first = order[:k]
        return sum((2**r - 1) / math.log(1 + i) for i, r in enumerate(first, start=1))

    best = max(total(order) for order in itertools.permutations(relevances))
    return total(ranked(relevances, scores)) / best if best else 0.0


def slow_letor(relevances, scores):
    """NDCG@1, NDCG@2, ... as in LETOR's script; what is beyond the last document counts 0."""

    def running(order):
        found = []
        for i, r in enumerate(order):
            gain = 2**r - 1 if i < 2 else (2**r - 1) * math.log(2) / math.log(i + 1)
            found.append(gain + (found[-1] if found else 0))
        return found

    reached = running(ranked(relevances, scores))
    best = running(sorted(relevances, reverse=True))
    return [a / b if b else 0.0 for a, b in zip(reached, best, strict=True)]


QUERIES = st.lists(
    st.lists(st.tuples(st.integers(0, 4), st.integers(-2, 2)), min_size=1, max_size=6),
    min_size=1,
    max_size=5,
)


def flat(queries, seed=0):
    """Documents of all queries, mixed up among queries but not within."""
    qid = [number for number, query in enumerate(queries) for _ in query]
    mixed = np.random.RandomState(seed).permutation(qid)
    left = [list(query) for query in queries]
    documents = [left[q].pop(0) for q in mixed]
    return np.array([r for r, _ in documents]), np.array([s for _, s in documents]), mixed


@given(queries=QUERIES, k=st.none() | st.integers(1, 8))
def test_thesis_ndcg_is_the_slow_version(queries, k):
    y, scores, qid = flat(queries)
    expected = [slow_thesis([r for r, _ in q], [s for _, s in q], k) for q in queries]
    found = thesis_ndcg(y, scores, qid=qid, k=k, per_query=True)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
    assert thesis_ndcg(y, scores, qid=qid, k=k) == pytest.approx(np.mean(expected))


@given(queries=QUERIES, k=st.integers(1, 8))
def test_letor_ndcg_is_the_slow_version(queries, k):
    y, scores, qid = flat(queries)
    at = [slow_letor([r for r, _ in q], [s for _, s in q]) for q in queries]
    found = letor_ndcg(y, scores, qid=qid, k=k, per_query=True)
    expected = [values[k - 1] if len(values) >= k else 0.0 for values in at]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)
    every = letor_ndcg(y, scores, qid=qid, per_query=True)
    np.testing.assert_allclose(every, [values[-1] for values in at], rtol=1e-12, atol=1e-15)
    means = letor_mean_ndcg(y, scores, qid=qid, per_query=True)
    np.testing.assert_allclose(means, [np.mean(values) for values in at], rtol=1e-9, atol=1e-12)


def test_queries_without_a_relevant_document():
    y, scores, qid = [0, 0, 1, 0], [1, 2, 3, 4], ["b", "b", "a", "a"]
    for ndcg in (thesis_ndcg, letor_ndcg, letor_mean_ndcg):
        value = ndcg(y[2:], scores[2:])
        assert ndcg(y, scores, qid=qid, per_query=True).tolist() == [value, 0]
        assert ndcg(y, scores, qid=qid) == value / 2
        assert ndcg([0, 0], [1, 2]) == 0


def test_huge_relevances():
    assert thesis_ndcg([5000, 4999], [0, 1]) == pytest.approx(
        (0.5 / math.log(2) + 1 / math.log(3)) / (1 / math.log(2) + 0.5 / math.log(3))
    )


@pytest.mark.parametrize(
    ("arguments", "how", "message"),
    [
        (([1, -1], [0, 0]), {}, "relevances of 0 or more, got -1"),
        (([1, np.nan], [0, 0]), {}, "y contains NaN"),
        (([1, 1], [0, np.inf]), {}, "y_score contains infinity"),
        (([1, 1], [0]), {}, "inconsistent numbers of samples"),
        (([1, 1], [0, 1]), {"qid": [1]}, "inconsistent numbers of samples"),
        (([1, 1], [0, 1]), {"qid": [1, np.nan]}, "qid contains NaN"),
        (([1, 1], [0, 1]), {"k": 0}, "'k'"),
    ],
    ids=["negative", "NaN", "infinite", "lengths", "queries", "query", "k"],
)
def test_bad_input(arguments, how, message):
    for ndcg in (thesis_ndcg, letor_ndcg):
        with pytest.raises(ValueError, match=message):
            ndcg(*arguments, **how)


TRUE, PREDICTED = [3, 3, 3, 5, 5, 8], [3, 4, 8, 5, 4, 7]


def test_the_macro_averaged_error_by_hand():
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
