import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernlearn.theory.pairwise_bounds import (
    ExcessRiskBound,
    all_pairs_regret_bound,
    contracted_complexity,
    excess_risk_bound,
    fast_rate_bound,
    finite_buffer_excess_risk_bound,
    finite_buffer_fast_rate_bound,
    olp_buffer_regret_bound,
    olp_regret_bound,
)

LENGTHS = st.integers(3, 3000)
SIZES = st.integers(1, 3000)
DELTAS = st.floats(1e-6, 0.99)
COMPLEXITIES = st.floats(0, 10)
STRONG = {"regret": 30.0, "lipschitz": 1.5, "strong_convexity": 0.7}


def test_theorem_6_3_by_hand():
    found = excess_risk_bound(4, complexity=0.3, regret=2.0, loss_bound=1.5, delta=0.1)
    mean = 0.3 * (1 + 2**-0.5 + 3**-0.5) / 3
    assert found.regret == pytest.approx(2 / 3)
    assert found.complexity == pytest.approx(4 * mean)
    assert found.confidence == pytest.approx(6 * 1.5 * math.sqrt(math.log(40) / 3))
    assert found.total == found.regret + found.complexity + found.confidence


def test_theorem_6_6_by_hand():
    arguments = {"complexity": 0.3, "regret": 2.0, "loss_bound": 1.5, "delta": 0.1}
    found = finite_buffer_excess_risk_bound(5, 2, **arguments)
    # buffers of 1, 2, 2 and 2 points; 10 events
    mean = (1 + 3 * 2**-0.5) / 4
    level = math.log(100)
    assert found.regret == 0.5
    assert found.complexity == pytest.approx(2 * 0.3 * mean)
    chance = math.sqrt(2 * level / 4) + math.sqrt(level / 2) * mean
    assert found.confidence == pytest.approx(2 * 1.5 * chance)
    printed = finite_buffer_excess_risk_bound(5, 2, **arguments, as_printed=True)
    assert printed.complexity == pytest.approx(2 * found.complexity)
    lemmas = 1.5 * math.sqrt(2 * math.log(50) / 2) + 3 * 1.5 * math.sqrt(math.log(50) / 2)
    assert printed.confidence == pytest.approx(lemmas)


@given(st.integers(2, 500), st.integers(2, 500), DELTAS)
def test_the_printed_lemma_6_7_leaves_something_out(n, times, delta):
    # Equations 6.7 and 6.9, each as its proof has it, against what lemma 6.7 says of their sum.
    def shares(n, s):
        sizes = np.minimum(np.arange(1, n), s)
        level = math.log(n / delta)
        proved = math.sqrt(2 * math.log(1 / delta) / (n - 1))
        proved += math.sqrt(level / 2) * np.mean(1 / np.sqrt(sizes))
        return proved, math.sqrt(2 * level / s)

    full, printed = shares(n + 1, n)
    if n > 20 and delta < 0.01:
        assert full > printed
    if times > 20:
        proved, printed = shares(times * n + 1, n)
        assert proved < printed


@given(LENGTHS, COMPLEXITIES, DELTAS)
def test_a_number_stands_for_a_function(n, c, delta):
    as_number = excess_risk_bound(n, complexity=c, delta=delta)
    as_function = excess_risk_bound(n, complexity=lambda m: c / math.sqrt(m), delta=delta)
    assert as_number.total == pytest.approx(as_function.total)
    for s in (1, 7, n):
        numbers = finite_buffer_excess_risk_bound(n, s, complexity=c, delta=delta)
        function = finite_buffer_excess_risk_bound(
            n, s, complexity=lambda m: c / math.sqrt(m), delta=delta
        )
        assert numbers.total == pytest.approx(function.total)


@given(LENGTHS, SIZES, COMPLEXITIES, DELTAS)
def test_more_memory_and_less_confidence_make_bounds_smaller(n, s, c, delta):
    for bound in (
        lambda n, s, delta: finite_buffer_excess_risk_bound(n, s, complexity=c, delta=delta).total,
        lambda n, s, delta: finite_buffer_fast_rate_bound(n, s, **STRONG, delta=delta).total,
        lambda n, s, delta: all_pairs_regret_bound(
            n, s, buffer_regret=1.0, complexity=c, delta=delta
        ),
    ):
        base = bound(n, s, delta)
        assert bound(n, s + 1, delta) <= base * (1 + 1e-9)
        assert bound(n, s, delta / 2) >= base * (1 - 1e-9)


@given(st.integers(3, 400), DELTAS)
@settings(max_examples=40)
def test_the_longer_the_stream_the_smaller_the_bound(n, delta):
    for bound in (
        lambda n: excess_risk_bound(n, complexity=1.0, delta=delta).total,
        lambda n: fast_rate_bound(n, **STRONG, delta=delta).total,
    ):
        assert bound(10 * n) < bound(n)


def fast(n, terms, epsilon, *, regret, lipschitz, strong_convexity, R, B, C, delta):
    """Theorem 6.5 step by step."""
    union = delta / 2 / n
    C_delta = C**2 * (4 * (1 + epsilon) * lipschitz * R) ** 2 * (32 + math.log(1 / union))
    rich = C_delta * sum(terms) / (epsilon * strong_convexity)
    r = (1 + epsilon) * regret + rich
    root = math.sqrt(math.log(4 * math.log(n) / (delta / 2)))
    d = ((1 + epsilon) * 8 * lipschitz / math.sqrt(strong_convexity) / 4) ** 2
    b = (1 + epsilon) * B
    return (r + 4 * math.sqrt(d * r) * root + max(16 * d, 6 * b) * root**2) / (n - 1)


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_theorems_6_5_and_6_9_by_hand(epsilon):
    hand = {"R": 0.4, "B": 50.0, "C": 1.2, "delta": 0.1}
    options = {"feature_norm": 0.4, "loss_bound": 50.0, "dimension_factor": 1.2, "delta": 0.1}
    n = 40
    found = fast_rate_bound(n, **STRONG, **options, epsilon=epsilon)
    expected = fast(n, [1 / t for t in range(1, n)], epsilon, **STRONG, **hand)
    assert found.total == pytest.approx(expected)
    assert found.regret == pytest.approx(30 / 39)
    found = finite_buffer_fast_rate_bound(n, 6, **STRONG, **options, epsilon=epsilon)
    expected = fast(n, [1 / min(t, 6) for t in range(1, n)], epsilon, **STRONG, **hand)
    assert found.total == pytest.approx(expected)
    assert min(found.complexity, found.confidence) > 0


@given(LENGTHS, st.floats(0, 1e6), st.floats(0.01, 1), DELTAS)
def test_epsilon_is_the_best_one(n, regret, epsilon, delta):
    options = {**STRONG, "regret": regret, "delta": delta}
    best = fast_rate_bound(n, **options).total
    assert best <= fast_rate_bound(n, **options, epsilon=epsilon).total * (1 + 1e-6)
    # a buffer that holds all is no buffer
    assert finite_buffer_fast_rate_bound(n, n, **options).total == pytest.approx(best)


@given(st.floats(0, 1e3), st.floats(1e-3, 1e3), st.floats(1e-3, 1e3), st.floats(1e-2, 10))
def test_lemma_6_19(r, d, b, Delta):
    # the greatest s with s <= r + max(4 sqrt(d s), 6 b Delta) Delta
    by_root = (2 * math.sqrt(d) * Delta + math.sqrt(4 * d * Delta**2 + r)) ** 2
    greatest = max(by_root, r + 6 * b * Delta**2)
    assert greatest <= (r + 4 * math.sqrt(d * r) * Delta + max(16 * d, 6 * b) * Delta**2) * (
        1 + 1e-9
    )


def test_fast_rates_are_faster():
    # regret log n, strongly convex: about 1/n against 1/sqrt(n)
    def ratio(n):
        loss = {"lipschitz": 1.0, "strong_convexity": 1.0}
        fast_one = fast_rate_bound(n, regret=math.log(n), **loss)
        return fast_one.total / excess_risk_bound(n, complexity=1.0, regret=math.log(n)).total

    assert ratio(10**7) < ratio(10**5) / 5


def test_lemma_6_23_by_hand():
    found = all_pairs_regret_bound(
        10, 4, buffer_regret=3.0, complexity=lambda m: 0.5 / m, loss_bound=2.0, delta=0.2
    )
    expected = 3 + 5 * (2 * 0.5 / 4 + 2 * math.sqrt(2 * math.log(100) / 4))
    assert found == pytest.approx(expected)


def test_lemma_6_24_by_hand():
    found = olp_buffer_regret_bound(4, lipschitz=3.0, diameter=2.0, eta=0.5)
    steps = 2**-0.5 + 3**-0.5 + 4**-0.5
    assert found == pytest.approx(2**2 * 2 / (2 * 0.5) + 0.5 * 9 / 2 * steps)


@given(LENGTHS, SIZES, st.floats(0.1, 10), st.floats(0.1, 10), st.floats(0.01, 10), COMPLEXITIES)
def test_theorem_6_13_is_its_lemmas(n, s, lipschitz, diameter, eta, c):
    ball = {"lipschitz": lipschitz, "diameter": diameter, "eta": eta}
    lemma = olp_buffer_regret_bound(n, **ball)
    found = olp_regret_bound(n, s, **ball, complexity=c, delta=0.1)
    assert found == all_pairs_regret_bound(n, s, buffer_regret=lemma, complexity=c, delta=0.1)
    if s >= n - 1:
        assert found == lemma
    # no step is better than the one the notes name, up to lower order
    best = olp_buffer_regret_bound(
        n, lipschitz=lipschitz, diameter=diameter, eta=diameter / (2**0.5 * lipschitz)
    )
    assert best <= 2**0.5 * lipschitz * diameter * math.sqrt(n)
    assert lemma >= best - lipschitz * diameter * 2


def descend(gradients, eta, radius):
    """Regret of projected steps eta / sqrt(t), t from 2 on, on linear losses, in one dimension."""
    w = paid = 0.0
    for t, g in enumerate(gradients, start=2):
        paid += g * w
        w = float(np.clip(w - eta / math.sqrt(t) * g, -radius, radius))
    return paid + radius * abs(sum(gradients))


@given(st.lists(st.sampled_from([-1.0, 1.0, 0.3]), min_size=1, max_size=60), st.floats(0.01, 20))
def test_lemma_6_24_holds_with_the_steps_of_algorithm_8(gradients, eta):
    n = len(gradients) + 1
    bound = olp_buffer_regret_bound(n, lipschitz=1.0, diameter=2.0, eta=eta)
    assert descend(gradients, eta, 1.0) <= bound + 1e-9


@pytest.mark.parametrize("eta", [1e-3, 1e3])
def test_the_printed_lemma_6_24_does_not_hold_for_all_steps(eta):
    gradients = [1.0] * 100 if eta < 1 else [1.0, -1.0] * 50
    printed = 1.0 * 2.0 * math.sqrt(100)
    assert descend(gradients, eta, 1.0) > 2 * printed


def test_contraction():
    assert contracted_complexity(0.2, lipschitz=3.0, largest_label=2.0) == pytest.approx(1.2)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_contraction_holds_for_the_hinge(seed):
    # theorem 6.10 for finitely many functions, by all signs
    rng = np.random.default_rng(seed)
    values, labels = rng.normal(size=(6, 4)), rng.choice([-2, 0, 2], size=4)
    signs = np.array(np.meshgrid(*[[-1, 1]] * 4)).reshape(4, -1).T
    losses = np.maximum(1 - labels * values, 0)
    before, after = ((signs @ table.T / 4).max(axis=1).mean() for table in (values, losses))
    assert after <= contracted_complexity(max(before, 0), largest_label=2.0) + 1e-12


def test_the_bound_holds_for_a_stream():
    # Means of numbers in [0, 1]: h is a number, the loss |h - (z + z') / 2|, learned by the mean
    # of what came; regret by the best of a grid, complexity of the losses at most 1 / sqrt(m).
    rng = np.random.default_rng(0)
    n, grid = 200, np.linspace(0, 1, 101)
    far = rng.random((4000, 2)).mean(axis=1)
    risk = np.abs(grid[:, None] - far).mean(axis=1)
    for _ in range(5):
        z = rng.random(n)
        mine = np.concatenate([np.cumsum(z)[:-1] / np.arange(1, n)])
        paid = [np.abs(mine[t - 1] - (z[t] + z[:t]) / 2).mean() for t in range(1, n)]
        least = min(
            sum(np.abs(h - (z[t] + z[:t]) / 2).mean() for t in range(1, n)) for h in grid[::10]
        )
        excess = np.interp(mine, grid, risk).mean() - risk.min()
        bound = excess_risk_bound(n, complexity=1.0, regret=sum(paid) - least)
        assert excess <= bound.total


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: excess_risk_bound(1, complexity=1.0), "'n' must be 2 or more, got 1"),
        (lambda: excess_risk_bound(2.5, complexity=1.0), "'n' must be an int >= 1, got 2.5"),
        (lambda: excess_risk_bound(9, complexity=-1.0), "'complexity' must be a finite number"),
        (lambda: excess_risk_bound(9, complexity=lambda m: math.nan), r"'complexity\(1\)' must"),
        (lambda: excess_risk_bound(9, complexity=1.0, delta=1), "'delta' must be a number"),
        (lambda: excess_risk_bound(9, complexity=1.0, regret=math.inf), "'regret' must be a fin"),
        (lambda: excess_risk_bound(9, complexity=1.0, loss_bound=0), "'loss_bound' must be a"),
        (lambda: finite_buffer_excess_risk_bound(9, 0, complexity=1.0), "'buffer_size' must be"),
        (lambda: fast_rate_bound(2, **STRONG), "'n' must be 3 or more, got 2: theorem 6.18"),
        (lambda: fast_rate_bound(9, **STRONG, epsilon=1.5), r"'epsilon' must be None or a number"),
        (lambda: fast_rate_bound(9, **{**STRONG, "lipschitz": 0}), "'lipschitz' must be a"),
        (lambda: finite_buffer_fast_rate_bound(9, 0, **STRONG), "'buffer_size' must be an int"),
        (lambda: all_pairs_regret_bound(9, 0, buffer_regret=1, complexity=1), "'buffer_size' mus"),
        (
            lambda: olp_buffer_regret_bound(9, lipschitz=1, diameter=-1, eta=1),
            "'diameter' must be a finite number above 0, got -1",
        ),
        (lambda: contracted_complexity(-0.1), "'complexity' must be a finite number of 0 or more"),
        (lambda: contracted_complexity(0.1, lipschitz=0), "'lipschitz' must be a finite number"),
    ],
)
def test_mistakes(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_negative_regret_is_taken():
    assert excess_risk_bound(9, complexity=1.0, regret=-8.0).regret == -1
    assert isinstance(fast_rate_bound(9, **{**STRONG, "regret": -8.0}), ExcessRiskBound)
