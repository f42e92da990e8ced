import pickle
from collections import defaultdict
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chisquare

from kernlearn.pairwise import FIFO, RS, Buffer, RSx, RSx2, as_buffer
from tests.pairwise.plain import move

POLICIES = [FIFO, RS, RSx, RSx2]


def stream(policy, n, rng):
    """Return which points, counted from 1, each slot holds after n."""
    moves = policy.updates(1, n, 0, rng)
    kept = []
    for t in range(n):
        kept = move(kept, t + 1, *moves.of_step(t))
    return kept


class MoreDraws(Exception):
    pass


class Scripted:
    def __init__(self, draws):
        self.draws = list(draws)

    def random(self):
        if not self.draws:
            raise MoreDraws
        return self.draws.pop(0)


def step_law(policy, t, kept, grids):
    """Return the exact law of the buffer after a step; grids[i] equal cells of the i-th draw."""
    law = defaultdict(Fraction)
    pending = [((), Fraction(1))]
    while pending:
        draws, chance = pending.pop()
        try:
            slots, sources = policy.update(t, len(kept), Scripted(draws))
        except MoreDraws:
            n = grids[min(len(draws), len(grids) - 1)]
            pending += [((*draws, (k + 0.5) / n), chance / n) for k in range(n)]
        else:
            law[tuple(move(list(kept), t, slots, sources))] += chance
    return law


def stream_law(policy, n):
    law = {(): Fraction(1)}
    for t in range(1, n + 1):
        after = defaultdict(Fraction)
        # every threshold is a multiple of 1/cells: those of a binomial draw have t^size
        grids = [t]
        if isinstance(policy, RSx2) and t > policy.size + 1:
            grids = [t**policy.size, 6]
        for kept, chance in law.items():
            for new, step in step_law(policy, t, kept, grids).items():
                after[new] += chance * step
        law = after
    return law


@pytest.mark.parametrize("policy", [RSx, RSx2])
@pytest.mark.parametrize(("size", "n"), [(1, 2), (1, 4), (2, 3), (2, 4), (2, 5), (3, 4), (3, 5)])
def test_slots_are_independent_and_uniform_exactly(policy, size, n):
    law = stream_law(policy(size), n)
    points = range(1, n + 1)
    assert law == {kept: Fraction(1, n**size) for kept in product(points, repeat=size)}


@pytest.mark.parametrize(("size", "n"), [(1, 4), (2, 3), (2, 5), (3, 5)])
def test_reservoir_is_a_uniform_subset_exactly(size, n):
    law = defaultdict(Fraction)
    for kept, chance in stream_law(RS(size), n).items():
        law[tuple(sorted(kept))] += chance
    subsets = list(combinations(range(1, n + 1), size))
    assert law == {subset: Fraction(1, len(subsets)) for subset in subsets}


@pytest.mark.parametrize("policy", [RSx, RSx2])
def test_slots_are_independent_and_uniform_over_many_streams(policy):
    rng = np.random.default_rng(2013)
    size, n, n_streams = 5, 12, 6000
    kept = np.array([stream(policy(size), n, rng) for _ in range(n_streams)]) - 1
    for slot in range(size):
        assert chisquare(np.bincount(kept[:, slot], minlength=n)).pvalue > 1e-3
    for first, second in combinations(range(size), 2):
        cells = np.bincount(kept[:, first] * n + kept[:, second], minlength=n * n)
        assert chisquare(cells).pvalue > 1e-3
    # all slots at once: how many hold the last point is binomial
    p = 1 / n
    counts = np.bincount((kept == n - 1).sum(axis=1), minlength=size + 1)
    expected = [1.0]
    for _ in range(size):
        expected = np.convolve(expected, [1 - p, p])
    counts, expected = (
        np.append(counts[:3], counts[3:].sum()),
        np.append(expected[:3], expected[3:].sum()),
    )
    assert chisquare(counts, expected * n_streams).pvalue > 1e-3


@pytest.mark.parametrize(("size", "t"), [(1, 3), (2, 4), (10, 1000), (50, 52), (200, 10**6)])
def test_number_of_copies_inverts_the_binomial_law(size, t):
    bounds = binom.cdf(np.arange(3), size, 1 / t)
    chances = np.concatenate([bounds[bounds < 1] - 1e-12, bounds[bounds < 1 - 1e-11] + 1e-12])
    for chance in chances:
        slots, _ = RSx2(size).update(t, size, Scripted([chance, *np.full(size, 0.5)]))
        assert len(slots) == binom.ppf(chance, size, 1 / t)


def test_reservoir_is_without_replacement_and_uniform_over_many_streams():
    rng = np.random.default_rng(2013)
    size, n, n_streams = 4, 9, 6000
    kept = np.sort([stream(RS(size), n, rng) for _ in range(n_streams)], axis=1)
    assert (np.diff(kept, axis=1) > 0).all()
    subsets = {subset: i for i, subset in enumerate(combinations(range(1, n + 1), size))}
    found = np.bincount([subsets[tuple(row)] for row in kept.tolist()], minlength=len(subsets))
    assert chisquare(found).pvalue > 1e-3


def test_with_replacement_means_copies():
    kept = stream(RSx2(50), 51, np.random.default_rng(0))
    assert len(set(kept)) < 50


def test_fifo_holds_the_last_points():
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    assert sorted(stream(FIFO(3), 10, rng)) == [8, 9, 10]
    assert rng.bit_generator.state == before


@pytest.mark.parametrize("policy", POLICIES)
def test_all_points_are_held_until_the_buffer_is_full(policy):
    rng = np.random.default_rng(0)
    before = rng.bit_generator.state
    assert stream(policy(8), 8, rng) == list(range(1, 9))
    assert stream(policy(100), 5, rng) == [1, 2, 3, 4, 5]
    assert rng.bit_generator.state == before


@settings(deadline=None, max_examples=40)
@given(
    policy=st.sampled_from(POLICIES),
    size=st.integers(1, 12),
    cuts=st.lists(st.integers(1, 30), min_size=1, max_size=5),
    seed=st.integers(0, 2**32),
)
def test_draws_are_the_same_however_the_stream_is_cut(policy, size, cuts, seed):
    buffer, n = policy(size), sum(cuts)
    single = np.random.default_rng(seed)
    one_by_one = [buffer.update(t, min(t - 1, size), single) for t in range(1, n + 1)]
    cut = np.random.default_rng(seed)
    t, moves = 1, []
    for n_steps in cuts:
        part = buffer.updates(t, n_steps, min(t - 1, size), cut)
        assert len(part.starts) == n_steps + 1
        moves += [part.of_step(i) for i in range(n_steps)]
        t += n_steps
    for (slots, sources), (other_slots, other_sources) in zip(one_by_one, moves, strict=True):
        np.testing.assert_array_equal(slots, other_slots)
        np.testing.assert_array_equal(sources, other_sources)
    assert single.bit_generator.state == cut.bit_generator.state


@pytest.mark.parametrize("policy", [RSx, RSx2])
def test_moves_of_many_large_steps_all_fit(policy):
    moves = policy(500).updates(501, 3, 500, np.random.default_rng(0))
    assert len(moves.starts) == 4
    assert moves.starts[1] > 400  # the repopulation


@pytest.mark.parametrize("policy", POLICIES)
def test_late_in_the_stream_moves_get_rare(policy):
    moves = policy(10).updates(10**9, 1000, 10, np.random.default_rng(0))
    assert len(moves.slots) == (1000 if policy is FIFO else 0)


def test_names_classes_and_objects():
    for name, policy in zip(["fifo", "rs", "rsx", "rsx2"], POLICIES, strict=True):
        assert as_buffer(name, 7) == as_buffer(policy, 7) == policy(7)
        assert as_buffer(policy(7), 7) == policy(7)
        assert pickle.loads(pickle.dumps(policy(7))) == policy(7)
        assert hash(policy(7)) == hash(policy(7))
    assert RS(3) != RS(4)
    assert RSx(3) != RSx2(3)


@pytest.mark.parametrize("size", [0, -1, 2.5, True, "3"])
def test_bad_size(size):
    with pytest.raises(ValueError, match="'size' must be an int >= 1"):
        RS(size)


def test_bad_specification():
    with pytest.raises(ValueError, match="'buffer' must be one of 'fifo', 'rs'"):
        as_buffer("lifo", 3)
    with pytest.raises(ValueError, match=r"'buffer' is RS\(3\), of size 3, but .* size 4"):
        as_buffer(RS(3), 4)


class KeepFirst(Buffer):
    def update(self, t, n_kept, rng):
        slots = np.arange(n_kept, min(n_kept + 1, self.size))
        return slots, np.full(len(slots), -1)


def test_policy_of_ones_own():
    assert stream(KeepFirst(3), 10, np.random.default_rng(0)) == [1, 2, 3]
    assert as_buffer(KeepFirst, 3).updates(1, 0, 0, np.random.default_rng(0)).starts.tolist() == [
        0
    ]


@pytest.mark.parametrize(
    ("slots", "sources"),
    [
        ([3], [-1]),
        ([1], [-1]),
        ([-1], [-1]),
        ([0, 0], [-1, -1]),
        ([0], [0]),
        ([0], [-2]),
        ([0], []),
    ],
)
def test_moves_that_make_no_sense(slots, sources):
    class Wrong(Buffer):
        def update(self, t, n_kept, rng):
            return np.array(slots), np.array(sources)

    with pytest.raises(ValueError, match="each slot may be named once"):
        Wrong(3).updates(1, 1, 0, np.random.default_rng(0))
