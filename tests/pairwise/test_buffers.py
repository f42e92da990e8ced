"""The laws of the buffers, exactly for small ones."""

import pickle
from collections import defaultdict
from fractions import Fraction
from itertools import combinations, product
from types import FunctionType

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from kernlearn.pairwise import steps
from kernlearn.pairwise.learners import POLICIES, Buffer, Moves
from kernlearn.pairwise.steps import draw_moves
from tests.pairwise.plain import move

RNG = np.random.RandomState(2013)


def in_python(policy, size, t, rng):
    """Return the slots and sources of one step, not compiled."""
    plain = dict(vars(steps))
    for name, value in vars(steps).items():
        if hasattr(value, "py_func"):
            plain[name] = FunctionType(value.py_func.__code__, plain)
    return plain["draw_moves"](POLICIES.index(policy), size, t, 1, rng)[1:]


class MoreDraws(Exception):
    pass


class Scripted:
    def __init__(self, draws):
        self.draws = list(draws)

    def random(self):
        if not self.draws:
            raise MoreDraws
        return self.draws.pop(0)


def step_law(policy, size, t, kept, grids):
    """Return the exact law of the buffer after a step; grids[i] equal cells of the i-th draw."""
    law = defaultdict(Fraction)
    pending = [((), Fraction(1))]
    while pending:
        draws, chance = pending.pop()
        try:
            slots, sources = in_python(policy, size, t, Scripted(draws))
        except MoreDraws:
            n = grids[min(len(draws), len(grids) - 1)]
            pending += [((*draws, (k + 0.5) / n), chance / n) for k in range(n)]
        else:
            law[tuple(move(list(kept), t, slots, sources))] += chance
    return law


def stream_law(policy, size, n):
    law = {(): Fraction(1)}
    for t in range(1, n + 1):
        after = defaultdict(Fraction)
        # every threshold is a multiple of 1/cells: those of a binomial draw have t^size
        grids = [t]
        if policy == "rsx2" and t > size + 1:
            grids = [t**size, 6]
        for kept, chance in law.items():
            for new, step in step_law(policy, size, t, kept, grids).items():
                after[new] += chance * step
        law = after
    return law


@pytest.mark.parametrize("policy", ["rsx", "rsx2"])
@pytest.mark.parametrize(("size", "n"), [(1, 2), (1, 4), (2, 3), (2, 4), (2, 5), (3, 4), (3, 5)])
def test_slots_are_independent_and_uniform_exactly(policy, size, n):
    law = stream_law(policy, size, n)
    points = range(1, n + 1)
    assert law == {kept: Fraction(1, n**size) for kept in product(points, repeat=size)}


@pytest.mark.parametrize(("size", "n"), [(1, 4), (2, 3), (2, 5), (3, 5)])
def test_reservoir_is_a_uniform_subset_exactly(size, n):
    law = defaultdict(Fraction)
    for kept, chance in stream_law("rs", size, n).items():
        law[tuple(sorted(kept))] += chance
    subsets = list(combinations(range(1, n + 1), size))
    assert law == {subset: Fraction(1, len(subsets)) for subset in subsets}


@pytest.mark.parametrize(("size", "t"), [(1, 3), (2, 4), (10, 1000), (50, 52), (200, 10**6)])
def test_number_of_copies_inverts_the_binomial_law(size, t):
    bounds = binom.cdf(np.arange(3), size, 1 / t)
    chances = np.concatenate([bounds[bounds < 1] - 1e-12, bounds[bounds < 1 - 1e-11] + 1e-12])
    for chance in chances:
        slots, _ = in_python("rsx2", size, t, Scripted([chance, *np.full(size, 0.5)]))
        assert len(slots) == binom.ppf(chance, size, 1 / t)


def test_fifo_holds_the_last_points():
    assert stream_law("fifo", 3, 10) == {(10, 8, 9): 1}


@pytest.mark.parametrize("policy", POLICIES)
def test_all_points_are_held_until_the_buffer_is_full(policy):
    buffer = Buffer(policy, 600, RNG)
    before = buffer.rng.bit_generator.state
    moves = buffer.moves(500)
    assert moves.slots.tolist() == list(range(500))
    assert (moves.sources == -1).all()
    assert buffer.rng.bit_generator.state == before


@settings(deadline=None, max_examples=40)
@given(
    policy=st.sampled_from(POLICIES),
    size=st.integers(1, 12),
    cuts=st.lists(st.sampled_from([0, 1, 2, 30, 255, 256, 257, 600]), min_size=1, max_size=5),
    seed=st.integers(0, 2**31),
)
def test_draws_are_the_same_however_the_stream_is_cut(policy, size, cuts, seed):
    rng = np.random.default_rng(np.random.RandomState(seed).randint(2**31 - 1))
    steps = [in_python(policy, size, t, rng) for t in range(1, sum(cuts) + 1)]
    cut = Buffer(policy, size, np.random.RandomState(seed))
    moves = []
    for n_steps in cuts:
        part = cut.moves(n_steps)
        assert len(part.starts) == n_steps + 1
        moves += [part.of_step(i) for i in range(n_steps)]
        cut = pickle.loads(pickle.dumps(cut))
    for (slots, sources), (other_slots, other_sources) in zip(steps, moves, strict=True):
        np.testing.assert_array_equal(slots, other_slots)
        np.testing.assert_array_equal(sources, other_sources)


@pytest.mark.parametrize("policy", ["rsx", "rsx2"])
def test_moves_of_many_large_steps_all_fit(policy):
    moves = Moves(*draw_moves(POLICIES.index(policy), 500, 501, 3, np.random.default_rng(0)))
    assert len(moves.starts) == 4
    assert moves.starts[1] > 400  # the repopulation
    many = Moves(*draw_moves(2, 500, 502, 3000, np.random.default_rng(0)))
    assert many.starts[-1] == len(many.slots) == len(many.sources)
    assert (np.sort(many.of_step(0)[0]) == np.unique(many.of_step(0)[0])).all()


@pytest.mark.parametrize("policy", range(4))
def test_late_in_the_stream_moves_get_rare(policy):
    _, slots, _ = draw_moves(policy, 10, 10**9, 1000, np.random.default_rng(0))
    assert len(slots) == (1000 if policy == 0 else 0)
