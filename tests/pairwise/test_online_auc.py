import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from kernlearn.pairwise import OAM, OLP, RS, AllPairsSVM, Buffer, Logistic, PairwiseLoss, as_buffer
from tests.checks import parametrize_with_checks
from tests.pairwise import plain
from tests.pairwise.plain import stream

POLICIES = ["fifo", "rs", "rsx", "rsx2"]


@parametrize_with_checks(
    [
        OLP(),
        OLP(buffer_size=1, buffer="fifo", average=False, n_passes=2),
        OLP(loss="logistic", norm="l1", radius=1.0),
        OLP(loss=Logistic(), regularization=0.1, radius=None),
        OLP(buffer="class_balanced", calibration="sigmoid"),
        OAM(),
        OAM(variant="sequential", average=True),
        OAM(buffer_size=2, buffer="rsx2"),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("regularization", [0.0, 0.3])
@pytest.mark.parametrize(("norm", "radius"), [("l2", 0.4), ("l1", 0.4), ("l2", None)])
@pytest.mark.parametrize("loss", plain.LOSSES)
def test_weights_are_those_of_the_plain_loop(loss, norm, radius, regularization):
    X, y = stream(150, 5)
    X *= 0.3  # so that the exponential loss without a radius stays finite
    what = {"loss": loss, "norm": norm, "radius": radius, "regularization": regularization}
    expected = plain.olp(X, y, as_buffer("rsx2", 8), seed=3, eta=0.5, **what)
    model = OLP(8, eta=0.5, random_state=3, **what).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], expected.mean(axis=0), rtol=0, atol=1e-10)
    last = OLP(8, eta=0.5, random_state=3, average=False, **what).fit(X, y)
    np.testing.assert_allclose(last.coef_[0], expected[-1], rtol=0, atol=1e-10)
    if radius is not None:
        assert np.linalg.norm(last.coef_[0], int(norm[1])) <= radius * (1 + 1e-12)


@pytest.mark.parametrize("size", [1, 2, 7, 150, 1000])
@pytest.mark.parametrize("buffer", POLICIES)
def test_every_buffer_is_followed(buffer, size):
    X, y = stream(150, 3)
    expected = plain.olp(X, y, as_buffer(buffer, size), seed=1).mean(axis=0)
    found = OLP(size, buffer=buffer, random_state=1).fit(X, y).coef_[0]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


def test_projection_onto_the_l1_ball_makes_zeros():
    X, y = stream(400, 30)
    X[:, 0] += 2 * y
    model = OLP(norm="l1", radius=0.5, average=False, random_state=0).fit(X, y)
    assert 0 < np.count_nonzero(model.coef_) < 15
    np.testing.assert_allclose(np.abs(model.coef_).sum(), 0.5)


def test_own_loss_goes_the_same_way_as_a_known_one():
    class MyLogistic(PairwiseLoss):
        value = Logistic.value
        derivative = Logistic.derivative

    X, y = stream(120, 4)
    known = {"buffer_size": 6, "radius": 0.3, "random_state": 2}
    for more in ({}, {"regularization": 0.2}, {"norm": "l1"}):
        expected = OLP(loss="logistic", **known, **more).fit(X, y).coef_
        own = (Logistic().value, Logistic().derivative)
        for loss in (own, MyLogistic()):
            found = OLP(loss=loss, **known, **more).fit(X, y).coef_
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_own_buffer():
    class LastPositive(Buffer):
        def update(self, t, n_kept, rng):
            slots = np.zeros(int(t % 2), dtype=int)
            return slots, slots - 1

    X, y = stream(60, 3)
    expected = plain.olp(X, y, LastPositive(2)).mean(axis=0)
    for buffer in (LastPositive, LastPositive(2)):
        found = OLP(2, buffer=buffer, random_state=0).fit(X, y)
        np.testing.assert_allclose(found.coef_[0], expected, atol=1e-12)


def test_a_buffer_that_holds_all_makes_the_policy_irrelevant():
    X, y = stream(80, 4)
    first, *others = [OLP(80, buffer=name).fit(X, y).coef_ for name in POLICIES]
    for other in others:
        np.testing.assert_array_equal(first, other)


def test_passes_are_a_longer_stream_and_rows_keep_their_order():
    X, y = stream(60, 4)
    twice = OLP(5, n_passes=2, random_state=0).fit(X, y)
    longer = OLP(5, random_state=0).fit(np.vstack([X, X]), np.hstack([y, y]))
    np.testing.assert_array_equal(twice.coef_, longer.coef_)
    assert twice.n_samples_seen_ == 120
    turned = OLP(5, random_state=0).fit(X[::-1], y[::-1])
    assert np.abs(turned.coef_ - OLP(5, random_state=0).fit(X, y).coef_).max() > 1e-3


def test_steps_with_strong_convexity_reach_the_batch_solution():
    X, y = stream(6000, 5, shift=1.5)
    X *= 0.3
    regularization = 0.2
    unlike = 2 * np.mean(y == 1) * np.mean(y == -1)
    batch = AllPairsSVM(regularization / unlike).fit(X, y)
    online = OLP(
        6000, loss="squared_hinge", regularization=regularization, radius=5.0, random_state=0
    ).fit(X, y)
    np.testing.assert_allclose(online.coef_, batch.coef_, atol=0.03)
    assert np.linalg.norm(batch.coef_) > 0.5
    assert np.abs(AllPairsSVM(10 * regularization).fit(X, y).coef_ - batch.coef_).max() > 0.1


def test_ranks_breast_cancer_about_as_well_as_the_batch_problem():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    train, test = slice(0, 400), slice(400, None)
    aucs = [
        roc_auc_score(y[test], model.fit(X[train], y[train]).decision_function(X[test]))
        for model in (OLP(2, random_state=0), OLP(random_state=0), AllPairsSVM())
    ]
    assert min(aucs) > 0.98
    assert abs(aucs[1] - aucs[2]) < 0.01


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"buffer_size": 0}, "'buffer_size'"),
        ({"buffer": "lifo"}, "'buffer' must be one of"),
        ({"buffer": int}, "'buffer' must be one of"),
        ({"loss": "huber"}, "'loss' must be one of"),
        ({"loss": (np.sin, np.cos)}, "not the derivative of a convex"),
        ({"eta": 0.0}, "'eta'"),
        ({"radius": -1.0}, "'radius'"),
        ({"norm": "l3"}, "'norm'"),
        ({"regularization": -0.1}, "'regularization'"),
        ({"n_passes": 0}, "'n_passes'"),
    ],
)
def test_bad_parameters(wrong, message):
    X, y = stream(10, 2)
    with pytest.raises(ValueError, match=message):
        OLP(**wrong).fit(X, y)


def test_weights_beyond_all_bounds():
    X, y = stream(300, 2)
    with pytest.raises(ValueError, match="weights grew beyond all bounds"):
        OLP(loss="squared", eta=1e6, radius=None).fit(1e6 * X, y)


# -- OAM ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, 3, 9, 20, 500])
@pytest.mark.parametrize("buffer", ["fifo", "rs", "rsx", "rsx2"])
@pytest.mark.parametrize("variant", ["gradient", "sequential"])
def test_weights_are_those_of_the_plain_loop_oam(variant, buffer, size):
    X, y = stream(150, 4)
    # half each, and the odd one to the positive class
    policies = [as_buffer(buffer, size // 2), as_buffer(buffer, size - size // 2)]
    expected = plain.oam(X, y, policies, seed=5, C=0.03, variant=variant)
    model = OAM(size, variant=variant, C=0.03, buffer=buffer, random_state=5).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], expected[-1], rtol=0, atol=1e-10)
    averaged = clone(model).set_params(average=True).fit(X, y)
    np.testing.assert_allclose(averaged.coef_[0], expected.mean(axis=0), rtol=0, atol=1e-10)
    kept = {-1: size // 2, 1: size - size // 2}
    for label, reservoir in zip((-1, 1), model._reservoirs, strict=True):
        assert reservoir.n_kept == min(kept[label], np.sum(y == label))


def test_a_pair_with_a_margin_of_one_still_counts():
    # after two points w = C/2 (x - x') = (1, 0), and the third has a margin of exactly 1
    X, y = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [-1, 1, 1]
    model = OAM(2, C=2.0).fit(X, y)
    np.testing.assert_array_equal(model.coef_, [[2.0, 1.0]])


def test_sequential_steps_are_passive_and_aggressive():
    X, y = [[0.0], [2.0]], ["no", "yes"]
    far = OAM(2, variant="sequential", C=10.0).fit(X, y)
    np.testing.assert_array_equal(far.coef_, [[0.5]])  # just to a margin of 1
    near = OAM(2, variant="sequential", C=0.1).fit(X, y)
    np.testing.assert_array_equal(near.coef_, [[0.2]])


def test_more_of_the_past_weighs_more():
    # the third negative point raises N/|B| of the negatives to 3
    X, y = [[0.0]] * 3 + [[1.0]], [-1, -1, -1, 1]
    model = OAM(2, C=0.1).fit(X, y)
    np.testing.assert_allclose(model.coef_, [[0.15]])


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"buffer_size": 1}, "'buffer_size'"),
        ({"buffer": "lifo"}, "'buffer' must be one of"),
        ({"buffer": RS(50)}, "'buffer'"),
        ({"variant": "both"}, "'variant'"),
        ({"C": 0.0}, "'C'"),
    ],
)
def test_bad_parameters_oam(wrong, message):
    X, y = stream(10, 2)
    with pytest.raises(ValueError, match=message):
        OAM(**wrong).fit(X, y)
