import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.base import clone

from kernlearn.landmarks import PairEmbedding
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
def test_types_and_outputs(transfer):
    for dtype in (np.float32, np.float64, np.int64):
        t = np.arange(-15, 15, dtype=dtype).reshape(5, 6)
        before = t.copy()
        found = transfer(t)
        assert found.dtype == (np.float64 if dtype is np.int64 else dtype)
        np.testing.assert_array_equal(t, before)
        assert not np.shares_memory(found, t)
    out = np.empty_like(t, dtype=np.float64)
    assert transfer(t, out=out) is out
    np.testing.assert_array_equal(out, found)
    t = t.astype(np.float64)
    transfer(t[:, 1:3], out=t[:, 1:3])  # in place, of a part
    np.testing.assert_array_equal(t[:, 1:3], found[:, 1:3])
    np.testing.assert_array_equal(t[:, 3:], before[:, 3:])


@EVERY
def test_equal_by_parameters_and_immutable(transfer):
    grid = np.linspace(-2, 2, 100_001)
    assert transfer.bound == pytest.approx(np.abs(transfer(grid)).max(), rel=1e-12)
    for other in (copy.deepcopy(transfer), pickle.loads(pickle.dumps(transfer))):
        assert other == transfer
        assert hash(other) == hash(transfer)
    with pytest.raises(AttributeError):
        transfer.slope = 3.0
    assert [other for other in SLOWLY if other == transfer] == [transfer]
    assert clone(PairEmbedding(transfer=transfer)).transfer == transfer


@pytest.mark.parametrize("slope", [0, -1.0, np.inf, np.nan, "5", True, None])
def test_a_slope_is_a_number_above_0(slope):
    for make in (Ramp, Sigmoid):
        with pytest.raises(ValueError, match="slope"):
            make(slope)
    assert Ramp(np.float64(5)) == Ramp(5)
    assert Ramp(np.float64(5))(np.ones(2, np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    "function",
    [
        lambda t: t + 0.25,
        lambda t: np.abs(t),
        lambda t: np.where(t > 7, 0.0, t),
        lambda t: np.where(t == 1, 0.9, t),
        lambda t: t[:5],
        lambda t: 0.0,
        lambda t: np.where(t == -2, np.nan, t),
        lambda t: np.where(t == 3, np.inf, t),
        3,
    ],
)
def test_bad_functions(function):
    with pytest.raises(ValueError, match=r"antisymmetric|shape|finite|callable"):
        CallableTransfer(function)
    assert CallableTransfer(lambda t: 2 / (1 + np.exp(-t)) - 1).bound < 1  # misses by rounding


def test_many_things_stand_for_a_transfer_function():
    for spec, expected in (
        ("identity", Identity()),
        ("sign", Sign()),
        ("ramp", Ramp(1)),
        ("sigmoid", Sigmoid(1)),
        (np.float32(2), Ramp(2)),
        (np.int64(100), Ramp(100)),
        (Sigmoid(3), Sigmoid(3)),
        (cube, CallableTransfer(cube)),
    ):
        assert as_transfer(spec) == expected
    for spec in ("step", None, [1.0], True, Ramp, Transfer, -3):
        with pytest.raises(ValueError, match=r"transfer|slope"):
            as_transfer(spec)
