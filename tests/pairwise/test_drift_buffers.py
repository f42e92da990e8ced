import pickle
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from kernlearn.pairwise import (
    OAM,
    OLP,
    AwareBuffer,
    ClassBalanced,
    Logistic,
    LossWeighted,
    OnlineMetricLearner,
    TimeBiased,
    as_buffer,
)
from kernlearn.pairwise.regret import buffer_contents, follow
from tests.pairwise import plain
from tests.pairwise.plain import stream


@pytest.mark.parametrize("half_life", [None, 5.0])
def test_the_chance_to_be_held_halves_with_each_half_life(half_life):
    size, n, n_streams = 3, 14, 4000
    policy = TimeBiased(size, half_life)
    decay = 1 / size if half_life is None else 1 - 0.5 ** (1 / half_life)
    counts = np.zeros(n)
    for seed in range(n_streams):
        kept = buffer_contents(policy, n + 1, seed)[-1]
        assert len(set(kept.tolist())) == size  # without copies
        counts += np.bincount(kept, minlength=n)
    # the points that filled the buffer were all held at first
    held = (1 - decay) ** (n - np.maximum(np.arange(1, n + 1), size)) * np.where(
        np.arange(n) < size, 1, size * decay
    )
    # the counts are those of slots, so less than multinomial
    assert chisquare(counts, held / held.sum() * counts.sum()).pvalue > 1e-3
    np.testing.assert_allclose(counts / n_streams, held, atol=0.04)


@pytest.mark.parametrize("half_life", [None, 30.0])
def test_time_biased_draws_are_the_same_however_the_stream_is_cut(half_life):
    policy = TimeBiased(4, half_life)
    one, other = np.random.default_rng(1), np.random.default_rng(1)
    whole = policy.updates(1, 60, 0, one)
    steps = [policy.update(t, min(t - 1, 4), other) for t in range(1, 61)]
    for i, (slots, sources) in enumerate(steps):
        np.testing.assert_array_equal(whole.of_step(i)[0], slots)
        np.testing.assert_array_equal(whole.of_step(i)[1], sources)
    assert one.bit_generator.state == other.bit_generator.state


AWARE = [
    ("class_balanced", plain.class_balanced),
    ({"name": "class_balanced", "half_life": 9.0}, lambda size: plain.class_balanced(size, 9.0)),
    ("loss_weighted", plain.loss_weighted),
]


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared_hinge", "exponential", "squared"])
@pytest.mark.parametrize("size", [1, 2, 5, 8])
@pytest.mark.parametrize(("buffer", "slow"), AWARE)
def test_aware_buffers_are_those_of_the_plain_loop(buffer, slow, size, loss):
    X, y = stream(150, 4)
    X *= 0.5
    expected, labels = plain.olp_aware(X, y, size, slow(size), seed=3, eta=0.3, loss=loss)
    model = OLP(size, buffer=buffer, eta=0.3, loss=loss, random_state=3).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], expected.mean(axis=0), rtol=0, atol=1e-10)
    assert model.buffer_classes_.tolist() == labels


@pytest.mark.parametrize("buffer", ["class_balanced", "loss_weighted"])
def test_own_loss_meets_an_aware_buffer_as_a_known_one_does(buffer):
    X, y = stream(120, 4)
    known = OLP(6, buffer=buffer, loss="logistic", calibration="sigmoid", random_state=2)
    own = OLP(
        6,
        buffer=buffer,
        loss=(Logistic().value, Logistic().derivative),
        calibration="sigmoid",
        random_state=2,
    )
    np.testing.assert_allclose(own.fit(X, y).coef_, known.fit(X, y).coef_, atol=1e-12)
    np.testing.assert_allclose(own.predict_proba(X), known.predict_proba(X), atol=1e-12)


def test_own_aware_buffer():
    class Rarest(AwareBuffer):
        """The last points of class 1, in turns, in the place of the first slot's neighbours."""

        def choose(self, t, code, loss, codes, state, draws):
            assert state[0] + state[1] == t
            assert loss >= 0
            return t % self.size if code == 1 else -1

    X, y = stream(80, 3)

    def slow(labels, label, past, draw):
        return len(past) % 4 if label == 1 else None

    expected, labels = plain.olp_aware(X, y, 4, slow)
    model = OLP(4, buffer=Rarest, random_state=0).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], expected.mean(axis=0), atol=1e-12)
    assert model.buffer_classes_.tolist() == labels

    class Wrong(Rarest):
        def choose(self, *given):
            return 4

    with pytest.raises(ValueError, match="it must be a slot from 0 to 3"):
        OLP(4, buffer=Wrong).fit(X, y)


def test_rare_points_fill_half_of_a_class_balanced_buffer():
    rng = np.random.default_rng(0)
    y = (rng.random(3000) < 0.02).astype(int)
    X = rng.standard_normal((3000, 2))
    held = Counter(OLP(20, buffer="class_balanced", random_state=0).fit(X, y).buffer_classes_)
    assert held == {0: 10, 1: 10}
    assert Counter(OLP(20, random_state=0).fit(X, y).buffer_classes_)[1] < 5


def test_a_class_balanced_buffer_is_a_uniform_sample_of_each_class():
    n, n_streams = 40, 3000
    y = np.arange(n) % 8 == 7  # five of class 1
    counts = np.zeros(n)
    X = np.arange(n, dtype=float)[:, np.newaxis]
    for seed in range(n_streams):
        model = OLP(6, buffer="class_balanced", loss="squared", eta=1e-9, random_state=seed)
        counts[model.fit(X, y)._reservoir.rows[:, 0].astype(int)] += 1
    for of_class in (y, ~y):
        np.testing.assert_allclose(counts[of_class] / n_streams, 3 / of_class.sum(), atol=0.05)


def test_hard_points_are_held_longer():
    rng = np.random.default_rng(1)
    y = rng.random(4000) < 0.5
    X = np.column_stack([np.where(y, 1.0, -1.0), rng.standard_normal(4000)])
    wrong = rng.random(4000) < 0.1
    X[wrong, 0] *= -1
    shares = {}
    for buffer in ("loss_weighted", "rs"):
        model = OLP(200, buffer=buffer, random_state=0).fit(X, y)
        kept = model._reservoir
        shares[buffer] = np.mean(kept.rows[:, 0] * np.where(kept.codes == 1, 1, -1) < 0)
    assert shares["rs"] < 0.15
    assert shares["loss_weighted"] > 0.25


def test_names_objects_and_dicts():
    made = as_buffer({"name": "time_biased", "half_life": 100}, 9)
    assert made == TimeBiased(9, 100)
    assert made != TimeBiased(9, 200)
    assert repr(made) == "TimeBiased(9, half_life=100)"
    assert pickle.loads(pickle.dumps(made)) == made
    assert as_buffer(ClassBalanced(4, 10.0), 4, aware=True) == ClassBalanced(4, 10.0)
    for name, policy in (("class_balanced", ClassBalanced), ("loss_weighted", LossWeighted)):
        assert as_buffer(name, 3, aware=True) == policy(3)


@pytest.mark.parametrize(
    ("buffer", "message"),
    [
        ({"name": "lifo"}, "'buffer' must be one of"),
        ({"name": "rs", "half_life": 3}, "unexpected keyword argument 'half_life'"),
        ({"name": "time_biased", "half_life": 3}, "half_life=3 is too short for a buffer of 50"),
        ({"name": "time_biased", "half_life": -1}, "'half_life' must be"),
        ({"name": "class_balanced", "half_life": 0}, "'half_life' must be"),
    ],
)
def test_bad_buffers(buffer, message):
    with pytest.raises(ValueError, match=message):
        as_buffer(buffer, 50, aware=True)


def test_learners_whose_theory_needs_oblivious_buffers_refuse_aware_ones():
    X, y = stream(30, 3)
    with pytest.raises(ValueError, match="which looks at the points: it is for OLP alone"):
        OAM(buffer="class_balanced").fit(X, y)
    with pytest.raises(ValueError, match="which looks at the points: it is for OLP alone"):
        OnlineMetricLearner(buffer="loss_weighted").fit(X, y)
    with pytest.raises(ValueError, match="which looks at the points: it is for OLP alone"):
        follow(OLP(5, buffer="class_balanced"), X, y)
    with pytest.raises(ValueError, match="do not follow from their numbers"):
        buffer_contents(ClassBalanced(3), 5)
