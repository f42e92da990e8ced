import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from kernlearn.datasets import two_gaussians
from kernlearn.pairwise import OLP, regret
from kernlearn.pairwise.learners import LOSSES, POLICIES
from kernlearn.pairwise.regret import follow, stream_regret
from kernlearn.theory import olp_buffer_regret_bound, olp_regret_bound


def stream(n=40, d=3, seed=0):
    made = two_gaussians(n, d, random_state=seed)
    return made.data / np.linalg.norm(made.data, axis=1).max(), made.target


def slow_penalties(weights, X, y, contents, loss):
    """Equations 6.1 and 6.3, pair by pair."""
    signs, found = np.where(y == np.unique(y)[1], 1, -1), []
    for t in range(1, len(X)):
        w = weights if np.ndim(weights) == 1 else weights[t - 1]
        earlier = range(t) if contents is None else [j for j in contents[t] if j >= 0]
        margins = [(signs[t] - signs[j]) / 2 * (w @ X[t] - w @ X[j]) for j in earlier]
        found.append(loss.value(np.array(margins)).mean())
    return np.array(found)


def random_contents(rng, n, size):
    contents = np.full((n, size), -1)
    for t in range(1, n):
        kept = rng.integers(0, t, size)
        kept[1:][rng.random(size - 1) < 0.3] = -1
        contents[t] = rng.permutation(kept)
    return contents


def newest(n):
    """The contents of a buffer of one slot."""
    return np.arange(n)[:, np.newaxis] - 1


# -- buffers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("buffer", POLICIES)
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_following_a_learner(buffer, loss):
    X, y = stream(60)
    learner = OLP(buffer_size=5, buffer=buffer, loss=loss, eta=3.0, random_state=11)
    seen = follow(learner, X, y)
    assert learner.average  # as it was
    assert not hasattr(learner, "coef_")
    for t in (30, 59):
        copy = OLP(**{**learner.get_params(), "average": False}).fit(X[:t], y[:t])
        assert np.array_equal(seen.hypotheses[t - 1], copy.coef_[0])
        assert np.array_equal(X[seen.contents[t]], copy._state.rows[copy._state.places[0]])
    mean = OLP(**learner.get_params()).fit(X[:59], y[:59])
    assert np.allclose(seen.hypotheses.mean(axis=0), mean.coef_[0])
    learner.random_state = np.random.RandomState(0)  # which is left as it is, too
    first, again = (follow(learner, X, y).contents for _ in range(2))
    assert np.array_equal(first, again)


# -- penalties -----------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("as_sparse", [False, True])
def test_penalties_are_means_over_pairs(loss, as_sparse):
    X, y = stream(25)
    rng = np.random.default_rng(1)
    weights, contents = rng.normal(size=(24, 3)), random_contents(rng, 25, 4)
    phi = LOSSES[loss]
    points = sparse.csr_matrix(X) if as_sparse else X
    found = stream_regret(points, y, weights, contents, loss=loss, radius=1.0)
    assert np.allclose(found.all_pairs.penalty, slow_penalties(weights, X, y, None, phi))
    assert np.allclose(found.buffer.penalty, slow_penalties(weights, X, y, contents, phi))


def test_blocks_do_not_matter(monkeypatch):
    X, y = stream(50)
    rng = np.random.default_rng(2)
    weights, contents = rng.normal(size=(49, 3)), random_contents(rng, 50, 4)
    whole = stream_regret(X, y, weights, contents, radius=1.0, loss="logistic")
    monkeypatch.setattr(regret, "_BLOCK", 70)
    parts = stream_regret(X, y, weights, contents, radius=1.0, loss="logistic")
    for one, two in ((whole.all_pairs, parts.all_pairs), (whole.buffer, parts.buffer)):
        assert np.allclose(one.penalty, two.penalty)
        assert np.allclose(one.regret, two.regret)


def test_a_buffer_that_holds_all_is_no_buffer():
    X, y = stream(40)
    seen = follow(OLP(buffer_size=40, random_state=0), X, y)
    found = stream_regret(X, y, seen.hypotheses, seen.contents, radius=2.0)
    assert np.allclose(found.all_pairs.penalty, found.buffer.penalty)
    assert np.allclose(found.all_pairs.regret, found.buffer.regret, atol=1e-2)


# -- the best weights in hindsight ---------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("radius", [0.3, 4.0, 50.0])
def test_no_weights_in_the_ball_beat_the_best_ones_by_more_than_the_gap(loss, radius):
    X, y = stream(30, seed=1)
    rng, phi = np.random.default_rng(1), LOSSES[loss]
    contents = random_contents(rng, 30, 3)
    found = stream_regret(X, y, np.zeros((29, 3)), contents, radius=radius, loss=loss)
    for curve, kept in ((found.all_pairs, None), (found.buffer, contents)):
        best = slow_penalties(curve.best, X, y, kept, phi).sum()
        assert np.linalg.norm(curve.best) <= radius * (1 + 1e-12)
        assert curve.regret == pytest.approx(curve.penalty.sum() - best, abs=1e-9)
        assert curve.per_round == curve.regret / 29
        assert 0 <= curve.gap <= 0.01 * 30 * (1 + radius)
        for _ in range(20):
            w = curve.best + rng.normal(size=3) * radius * 10.0 ** -rng.integers(0, 5)
            w *= min(1, radius / np.linalg.norm(w))
            other = slow_penalties(w, X, y, kept, phi).sum()
            assert other >= best - curve.gap - 1e-9


@given(seed=st.integers(0, 2**32 - 1), radius=st.sampled_from([0.5, 3.0, 20.0]))
@settings(max_examples=15)
def test_the_hinge_in_one_dimension_by_its_kinks(seed, radius):
    X, y = stream(12, 2, seed=seed % 1000)
    X = X[:, :1]
    if len(np.unique(y)) < 2:
        return
    found = stream_regret(X, y, np.zeros((11, 1)), newest(12), radius=radius, tol=1e-6).all_pairs
    phi = LOSSES["hinge"]
    signs = 2 * y - 1
    slopes = (signs[:, None] - signs) / 2 * (X - X.T)
    kinks = np.append(1 / slopes[slopes != 0], [-radius, radius])
    least = min(
        slow_penalties(np.array([k]), X, y, None, phi).sum() for k in kinks if abs(k) <= radius
    )
    paid = found.penalty.sum()
    assert paid - least >= found.regret - 1e-9
    assert paid - least <= found.regret + found.gap + 1e-9
    assert found.gap < 1e-3 * (1 + radius)


@pytest.mark.parametrize("regularization", [0.1, 2.0])
def test_a_regulariser_counts_in_each_round(regularization):
    X, y = stream(30)
    weights = np.random.default_rng(0).normal(size=(29, 3))
    plain, found = (
        stream_regret(X, y, weights, newest(30), radius=5.0, regularization=each).all_pairs
        for each in (0.0, regularization)
    )
    added = regularization / 2 * (weights**2).sum(axis=1)
    assert np.allclose(found.penalty, plain.penalty + added)
    w = found.best
    phi = LOSSES["hinge"]
    best = slow_penalties(w, X, y, None, phi).sum() + 29 * regularization / 2 * w @ w
    assert found.regret == pytest.approx(found.penalty.sum() - best)
    assert found.gap < 0.1
    assert np.linalg.norm(w) < np.linalg.norm(plain.best)


def test_a_minimum_that_is_not_found(monkeypatch):
    X, y = stream(12)
    monkeypatch.setattr(regret, "_ROUNDS", 1)
    with pytest.warns(ConvergenceWarning, match="best weights of 12 points"):
        found = stream_regret(X, y, np.zeros((11, 3)), newest(12), radius=2.0, tol=1e-9)
    assert found.all_pairs.gap > 0


# -- theorem 6.13 --------------------------------------------------------------------------------


def ball_of(X, radius, eta):
    steepest = max(np.linalg.norm(a - b) for a in X for b in X)
    return {"lipschitz": steepest, "diameter": 2 * radius, "eta": eta}


@pytest.mark.parametrize("eta", [0.2, 3.0])
@pytest.mark.parametrize("buffer", ["fifo", "rs", "rsx2"])
def test_lemma_6_24_holds_for_the_learner(buffer, eta):
    # it holds on every stream, whatever the buffer
    X, y = stream(80, 4, seed=3)
    learner = OLP(buffer_size=6, buffer=buffer, radius=1.5, eta=eta, random_state=0)
    seen = follow(learner, X, y)
    for n in (20, 80):
        weights, contents = seen.hypotheses[: n - 1], seen.contents[:n]
        found = stream_regret(X[:n], y[:n], weights, contents, radius=1.5).buffer
        assert found.regret + found.gap <= olp_buffer_regret_bound(n, **ball_of(X, 1.5, eta))


@pytest.mark.parametrize("seed", range(3))
def test_theorem_6_13_holds_for_the_learner(seed):
    X, y = stream(120, 3, seed=4)
    seen = follow(OLP(buffer_size=40, radius=1.0, random_state=seed), X, y)
    found = stream_regret(X, y, *seen, radius=1.0).all_pairs
    ball = ball_of(X, 1.0, 1.0)
    largest = {"complexity": 2.0, "loss_bound": 1 + ball["lipschitz"]}
    assert found.regret + found.gap <= olp_regret_bound(120, 40, **ball, **largest)


# -- mistakes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hypotheses": np.zeros((10, 3))}, r"'hypotheses'"),
        ({"hypotheses": np.full((9, 3), np.nan)}, "hypotheses contains NaN"),
        ({"y": np.zeros(10)}, "two"),
        ({"y": np.arange(9)}, "inconsistent numbers of samples"),
        ({"radius": 0.0}, "'radius'"),
        ({"radius": np.inf}, "'radius'"),
        ({"tol": -1.0}, "'tol'"),
        ({"regularization": -1.0}, "'regularization'"),
        ({"loss": "nope"}, "'loss' must be one of"),
        *(
            ({"contents": contents}, "'contents' must have the numbers of one or more earlier")
            for contents in (
                np.zeros((9, 2), dtype=int),
                np.full((10, 2), 0.5),
                np.full((10, 2), -1),
                np.arange(10)[:, None],
            )
        ),
    ],
)
def test_mistakes(change, message):
    X, y = stream(10)
    arguments = {"X": X, "y": y, "hypotheses": np.zeros((9, 3)), "contents": newest(10)}
    with pytest.raises(ValueError, match=message):
        stream_regret(**{**arguments, "radius": 1.0, **change})


def test_mistakes_of_the_length():
    with pytest.raises(ValueError, match="two"):
        follow(OLP(), np.eye(3), [1, 1, 1])
