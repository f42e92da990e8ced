import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from kernlearn.pairwise import OAM, RS, as_buffer
from tests.pairwise import plain
from tests.pairwise.test_olp import stream


@parametrize_with_checks([OAM(), OAM(variant="sequential"), OAM(buffer_size=2, buffer="rsx2")])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


@pytest.mark.parametrize("size", [2, 3, 9, 20, 500])
@pytest.mark.parametrize("buffer", ["fifo", "rs", "rsx", "rsx2"])
@pytest.mark.parametrize("variant", ["gradient", "sequential"])
def test_weights_are_those_of_the_plain_loop(variant, buffer, size):
    X, y = stream(150, 4)
    # half each, and the odd one to the positive class
    policies = [as_buffer(buffer, size // 2), as_buffer(buffer, size - size // 2)]
    expected = plain.oam(X, y, policies, seed=5, C=0.03, variant=variant)
    model = OAM(size, variant=variant, C=0.03, buffer=buffer, random_state=5).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], expected[-1], rtol=0, atol=1e-10)
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
def test_bad_parameters(wrong, message):
    X, y = stream(10, 2)
    with pytest.raises(ValueError, match=message):
        OAM(**wrong).fit(X, y)
