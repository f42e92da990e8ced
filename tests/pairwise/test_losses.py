import pickle

import numpy as np
import pytest
from scipy.optimize import check_grad

from kernlearn.pairwise import (
    CallableLoss,
    Exponential,
    Hinge,
    Logistic,
    Squared,
    SquaredHinge,
    as_pairwise_loss,
)
from kernlearn.pairwise.losses import pair_labels

LOSSES = {
    "hinge": Hinge,
    "squared_hinge": SquaredHinge,
    "logistic": Logistic,
    "exponential": Exponential,
    "squared": Squared,
}


@pytest.mark.parametrize("name", LOSSES)
def test_derivative_is_that_of_the_value(name):
    loss = as_pairwise_loss(name)
    for margin in (-3.0, -0.3, 0.0, 0.7, 1.6, 4.0):
        error = check_grad(
            lambda m: loss.value(m).item(), lambda m: loss.derivative(m), np.array([margin])
        )
        assert error < 1e-5 * max(1, loss.value(margin))


@pytest.mark.parametrize("name", LOSSES)
def test_named_losses_pass_as_a_users_own(name):
    loss = LOSSES[name]()
    own = as_pairwise_loss((loss.value, loss.derivative))
    margins = np.linspace(-2, 3, 12).reshape(3, 4)
    np.testing.assert_array_equal(own.value(margins), loss.value(margins))
    np.testing.assert_array_equal(own.derivative(margins), loss.derivative(margins))


@pytest.mark.parametrize("name", LOSSES)
def test_names_types_and_equality(name):
    loss = as_pairwise_loss(name)
    assert loss == LOSSES[name]() == pickle.loads(pickle.dumps(loss))
    assert as_pairwise_loss(loss) is loss
    for dtype in (np.float32, np.float64):
        assert loss.value(np.zeros(2, dtype)).dtype == dtype
        assert loss.derivative(np.zeros((2, 2), dtype)).dtype == dtype
    assert loss.value([1, 2]).dtype == np.float64


def test_logistic_neither_overflows_nor_loses_its_tail():
    assert Logistic().value([-1000.0, 800.0]).tolist() == [1000.0, 0.0]
    np.testing.assert_allclose(Logistic().value(40.0), np.exp(-40.0))
    np.testing.assert_allclose(Logistic().derivative(40.0), -np.exp(-40.0))
    assert Logistic().derivative([-1000.0]).tolist() == [-1.0]


def test_own_loss_that_is_none():
    with pytest.raises(ValueError, match="'slope' must be callable"):
        CallableLoss(np.abs, 3)
    with pytest.raises(ValueError, match="not the derivative of a convex 'sin'"):
        CallableLoss(np.sin, np.cos)
    with pytest.raises(ValueError, match="not the derivative of a convex 'exp'"):
        CallableLoss(np.exp, np.negative)
    with pytest.raises(ValueError, match="it must keep the shape"):
        CallableLoss(np.sum, np.abs)
    with pytest.raises(ValueError, match="must return finite numbers, and does not at"):
        CallableLoss(lambda m: np.where(m > 3, np.inf, 0), np.abs)


@pytest.mark.parametrize("spec", ["huber", 3, (np.abs,), (np.abs, 1)])
def test_bad_specification(spec):
    with pytest.raises(ValueError, match="'loss' must be one of 'hinge'"):
        as_pairwise_loss(spec)


def test_pair_labels():
    labels = np.array([1, -1])
    np.testing.assert_array_equal(pair_labels(labels[:, None], labels), [[0, 1], [-1, 0]])
    np.testing.assert_array_equal(
        pair_labels(labels[:, None], labels, kind="product"), [[1, -1], [-1, 1]]
    )
    np.testing.assert_array_equal(pair_labels(2, [0, 1, 2], kind="product"), [-1, -1, 1])
    with pytest.raises(ValueError, match="labels must be -1 and"):
        pair_labels(0, [1, 0])
    with pytest.raises(ValueError, match="'kind' must be"):
        pair_labels(1, [1], kind="sum")
