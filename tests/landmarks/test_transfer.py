import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone

from kernlearn.landmarks.embeddings import PairEmbedding
from kernlearn.landmarks.transfer import (
    CallableTransfer,
    Identity,
    Ramp,
    Sigmoid,
    Sign,
    Transfer,
    as_transfer,
)


def cube(t):
    return t**3


SLOWLY = {
    Identity(): lambda t: t,
    Sign(): lambda t: (t > 0) - (t < 0),
    Ramp(): lambda t: max(-1, min(1, t)),
    Ramp(50): lambda t: max(-1, min(1, 50 * t)),
    Ramp(0.3): lambda t: max(-1, min(1, 0.3 * t)),
    Sigmoid(2.5): lambda t: 1 - 2 / (np.exp(5.0 * t) + 1),
    CallableTransfer(cube): lambda t: t * t * t,
}
EVERY = pytest.mark.parametrize("transfer", SLOWLY)


@EVERY
@given(
    t=hnp.arrays(
        np.float64, hnp.array_shapes(min_dims=0, max_dims=3), elements=st.floats(-5, 5, width=32)
    )
)
def test_is_the_function_element_by_element(transfer, t):
    expected = np.array([SLOWLY[transfer](x) for x in t.ravel().tolist()]).reshape(t.shape)
    np.testing.assert_allclose(transfer(t), expected, rtol=1e-12, atol=1e-14)


@EVERY
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_keeps_the_type_and_writes_where_it_is_told(transfer, dtype):
    t = np.linspace(-2, 2, 30, dtype=dtype).reshape(5, 6)
    before = t.copy()
    found = transfer(t)
    assert found.dtype == dtype
    np.testing.assert_array_equal(t, before)
    out = np.empty_like(t)
    assert transfer(t, out=out) is out
    np.testing.assert_array_equal(out, found)
    transfer(t[:, 1:3], out=t[:, 1:3])
    np.testing.assert_array_equal(t[:, 1:3], found[:, 1:3])
    np.testing.assert_array_equal(t[:, 3:], before[:, 3:])


@EVERY
def test_the_result_is_another_array(transfer):
    t = np.array([0.0, 0.25])
    transfer(t)[:] = 7
    np.testing.assert_array_equal(t, [0.0, 0.25])


@EVERY
def test_integers_become_float64(transfer):
    found = transfer([-1, 0, 1])
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, transfer([-1.0, 0.0, 1.0]))


@EVERY
def test_the_bound_is_the_largest_value_for_differences_of_normalised_similarities(transfer):
    grid = np.linspace(-2, 2, 100_001)
    assert transfer.bound == pytest.approx(np.abs(transfer(grid)).max(), rel=1e-12)


def test_the_bound_of_a_function_that_falls_again():
    assert CallableTransfer(np.sin).bound == pytest.approx(1, abs=1e-4)


@EVERY
def test_equal_where_the_parameters_are_and_fixed(transfer):
    for other in (copy.deepcopy(transfer), pickle.loads(pickle.dumps(transfer))):
        assert other == transfer
        assert hash(other) == hash(transfer)
    with pytest.raises(AttributeError):
        transfer.slope = 3.0
    assert [other for other in SLOWLY if other == transfer] == [transfer]


@EVERY
def test_may_be_a_parameter_of_an_estimator(transfer):
    assert clone(PairEmbedding(transfer=transfer)).transfer == transfer


def test_says_what_it_is():
    named = [Identity(), Sign(), Ramp(5), Sigmoid(0.5), CallableTransfer(cube)]
    assert [repr(f) for f in named] == [
        "Identity()",
        "Sign()",
        "Ramp(slope=5.0)",
        "Sigmoid(slope=0.5)",
        "CallableTransfer(cube)",
    ]
    assert [f.name for f in named] == ["identity", "sign", "ramp", "sigmoid", "cube"]


@pytest.mark.parametrize("make", [Ramp, Sigmoid])
@pytest.mark.parametrize("slope", [0, -1.0, np.inf, np.nan, "5", True, None])
def test_a_slope_is_a_number_above_0(make, slope):
    with pytest.raises(ValueError, match="'slope' must be"):
        make(slope)


def test_a_slope_of_numpy_does_not_widen_float32():
    assert Ramp(np.float64(5)) == Ramp(5)
    assert Ramp(np.float64(5))(np.ones(2, np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda t: t + 0.25, r"f\(0\) = 0.25, it must be 0"),
        (lambda t: np.abs(t), r"f\(10\) = 10 and f\(-10\) = 10, which differs .* by 20"),
        (lambda t: np.where(t > 7, 0.0, t), r"f\(10\) = 0 and f\(-10\) = -10, .* by 10"),
        (lambda t: np.where(t == 1, 0.9, t), r"f\(1\) = 0.9 and f\(-1\) = -1, .* by 0.1"),
        (lambda t: t[:5], r"shape \(5, 2\) for one of shape \(\d+, 2\); it must keep the shape"),
        (lambda t: 0.0, r"shape \(\) for one of shape"),
        (lambda t: np.where(t == -2, np.nan, t), "finite numbers, and does not at -2"),
        (lambda t: np.where(t == 3, np.inf, t), "finite numbers, and does not at 3"),
    ],
)
def test_a_function_is_looked_at(function, message):
    with pytest.raises(ValueError, match=message):
        CallableTransfer(function)


def test_a_function_may_miss_by_rounding():
    assert CallableTransfer(lambda t: 2 / (1 + np.exp(-t)) - 1).bound < 1


def test_a_function_is_called():
    with pytest.raises(ValueError, match="'function' must be callable, got 3"):
        CallableTransfer(3)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("identity", Identity()),
        ("sign", Sign()),
        ("ramp", Ramp(1)),
        ("sigmoid", Sigmoid(1)),
        (5, Ramp(5)),
        (0.5, Ramp(0.5)),
        (np.float32(2), Ramp(2)),
        (np.int64(100), Ramp(100)),
        (Sigmoid(3), Sigmoid(3)),
        (cube, CallableTransfer(cube)),
    ],
)
def test_many_things_stand_for_a_transfer_function(spec, expected):
    assert as_transfer(spec) == expected


@pytest.mark.parametrize("spec", ["step", None, [1.0], True, Ramp, Transfer])
def test_others_do_not(spec):
    with pytest.raises(ValueError, match="'transfer' must be one of 'identity', 'sign'"):
        as_transfer(spec)


def test_a_slope_below_0_is_refused():
    with pytest.raises(ValueError, match="'slope' must be a finite number above 0, got -3"):
        as_transfer(-3)
