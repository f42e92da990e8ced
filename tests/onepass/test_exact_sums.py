"""Exact sums of products against Python's whole numbers."""

import pickle

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kernlearn.onepass.exact_sums import ExactGram, total


def slow(rows):
    """The sum of outer products in Python's whole numbers, which do not round."""
    whole = [[int(v) for v in row] for row in rows.tolist()]
    k = rows.shape[1]
    return [[sum(row[i] * row[j] for row in whole) for j in range(k)] for i in range(k)]


def exactly(gram):
    """The same whole numbers from the limbs."""
    limbs = gram.limbs().astype(object)
    zero = np.zeros((gram.n_columns, gram.n_columns), dtype=object)  # a sum of zeros has no limbs
    return sum((limb * 2 ** (32 * i) for i, limb in enumerate(limbs)), zero).tolist()


def of(rows, *cuts):
    gram = ExactGram(rows.shape[1])
    for part in np.split(rows, cuts):
        gram.add(part)
    return gram


@st.composite
def matrices(draw):
    bits = draw(st.lists(st.integers(0, 61), min_size=1, max_size=4))
    seed = draw(st.integers(0, 2**16))
    rng = np.random.default_rng(seed)
    rows = rng.integers(-9, 10, size=(draw(st.integers(1, 40)), 3)).astype(float)
    for bit in bits:
        rows[rng.integers(len(rows)), rng.integers(3)] = np.rint(rng.normal() / 8 * 2.0**bit)
    return rows, seed


@settings(deadline=None, max_examples=150)
@given(matrices(), st.integers(0, 40), st.integers(0, 40))
@example((np.zeros((2, 3)), 0), 1, 1)
def test_sums_are_those_of_whole_numbers_in_any_order_and_partition(drawn, first, second):
    rows, seed = drawn
    gram = of(rows)
    assert exactly(gram) == slow(rows)
    shuffled = np.random.default_rng(seed).permutation(rows)
    cut = of(shuffled, *sorted((min(first, len(rows)), min(second, len(rows)))))
    np.testing.assert_array_equal(gram.limbs(), cut.limbs())
    np.testing.assert_array_equal(gram.value(), cut.value())


@settings(deadline=None, max_examples=60)
@given(matrices(), matrices())
def test_merged_sums_are_those_of_all_rows(one, two):
    left, right = of(one[0]), of(two[0])
    before = [gram.limbs().copy() for gram in (left, right)]
    new = ExactGram.merged([left, right, left])
    assert exactly(new) == slow(np.concatenate([one[0], two[0], one[0]]))
    assert new.n_rows == 2 * len(one[0]) + len(two[0])
    for gram, limbs in zip((left, right), before, strict=True):
        np.testing.assert_array_equal(gram.limbs(), limbs)
    left.merge(right)
    both = np.concatenate([one[0], two[0]])
    assert left.n_rows == len(both)
    assert exactly(left) == slow(both)
    assert exactly(right) == slow(two[0])


def test_values_are_rounded_once_or_nearly():
    rows = np.rint(np.random.default_rng(0).normal(size=(500, 4)) * 2.0**40)
    exact = np.array(slow(rows), dtype=float)
    np.testing.assert_allclose(of(rows).value(), exact, rtol=1e-15)


def test_many_carries_do_not_overflow():
    rows = np.full((3, 2), 2.0**61)
    gram = ExactGram(2)
    for _ in range(700):
        gram.add(rows)
    assert exactly(gram) == [[2100 * 2**122] * 2] * 2


def test_many_rows_move_to_limbs():
    rng = np.random.default_rng(1)
    rows = np.rint(rng.normal(size=(20_000, 5)) * 2.0**22)
    gram = of(rows, 7, 9_000)
    assert exactly(gram) == slow(rows)


def test_a_difference_of_sums_is_exact():
    rng = np.random.default_rng(2)
    rows = np.rint(rng.normal(size=(300, 3)) * 2.0**30)
    whole, part = of(rows), of(rows[:100])
    np.testing.assert_array_equal(total([(1, whole), (-1, part)], 3), of(rows[100:]).value())


def test_columns_of_zeros_are_left_out():
    rows = np.zeros((50, 6))
    rows[:, [1, 4]] = np.arange(100).reshape(50, 2)
    assert exactly(of(rows, 20)) == slow(rows)


def test_a_pickled_sum_is_the_same():
    rows = np.rint(np.random.default_rng(3).normal(size=(300, 3)) * 2.0**30)
    gram = of(rows)
    again = pickle.loads(pickle.dumps(gram))
    np.testing.assert_array_equal(again.limbs(), gram.limbs())
    again.add(rows)
    assert exactly(again) == slow(np.concatenate([rows, rows]))


def test_rows_of_another_length_are_refused():
    with pytest.raises(ValueError, match="rows have 3 columns, expected 2"):
        ExactGram(2).add(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="sums of 3 and 2 columns"):
        ExactGram(2).merge(ExactGram(3))


def test_what_is_sent_is_a_triangle_of_32_bits():
    rows = np.rint(1e6 * np.random.default_rng(0).normal(size=(500, 100)))
    gram = of(rows)
    sent = pickle.dumps(gram, protocol=5)
    assert len(gram.limbs()) == 2
    assert len(sent) < 2 * 4 * 100 * 101 / 2 + 1000
    again = pickle.loads(sent)
    np.testing.assert_array_equal(again.limbs(), gram.limbs())
    again.add(rows)
    np.testing.assert_array_equal(again.limbs(), of(np.concatenate([rows, rows])).limbs())
    empty = pickle.loads(pickle.dumps(ExactGram(3)))
    np.testing.assert_array_equal(empty.value(), np.zeros((3, 3)))
