import math
import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from kernlearn.landmarks import Identity, PairEmbedding, Ramp, Sign, Transfer, as_transfer


@dataclass(frozen=True)
class Arctan(Transfer):
    """A function of a user's own."""

    def _write(self, t, out):
        np.arctan(t, out=out)


SLOWLY = {
    Identity(): lambda t: t,
    Sign(): lambda t: (t > 0) - (t < 0),
    Ramp(): lambda t: max(-1, min(1, t)),
    Ramp(50): lambda t: max(-1, min(1, 50 * t)),
    Arctan(): math.atan,
}
EVERY = pytest.mark.parametrize("transfer", SLOWLY)


@EVERY
@given(t=st.lists(st.floats(-5, 5, width=32)))
def test_is_the_function_element_by_element(transfer, t):
    found = transfer(t)
    np.testing.assert_allclose(found, [SLOWLY[transfer](x) for x in t], rtol=1e-12, atol=1e-14)


@EVERY
def test_types_outputs_and_equality(transfer):
    for dtype, expected in (("f4", "f4"), ("i8", "f8"), ("f8", "f8")):
        t = np.arange(-15, 15, dtype=dtype).reshape(5, 6)
        before = t.copy()
        found = transfer(t)
        assert found.dtype == expected
        np.testing.assert_array_equal(t, before)
        assert not np.shares_memory(found, t)
    out = t[:, 1:3]
    assert transfer(out, out=out) is out  # in place, of a part
    np.testing.assert_array_equal(t[:, 1:3], found[:, 1:3])
    np.testing.assert_array_equal(t[:, 3:], before[:, 3:])
    other = pickle.loads(pickle.dumps(transfer))
    assert hash(other) == hash(transfer)
    assert [each for each in SLOWLY if each == other] == [transfer]
    assert clone(PairEmbedding(transfer=transfer)).transfer == transfer
    with pytest.raises(AttributeError):
        transfer.slope = 3.0


def test_many_things_stand_for_a_transfer_function():
    named = {"identity": Identity(), "sign": Sign(), "ramp": Ramp(1), 100: Ramp(100)}
    for spec, expected in named.items():
        assert as_transfer(spec) == expected
    assert Ramp(np.float64(5))(np.ones(2, np.float32)).dtype == np.float32
    for spec in ("step", None, [1.0], True, Ramp, -3, np.sin):
        with pytest.raises(ValueError, match=r"transfer|slope"):
            as_transfer(spec)
    for slope in (0, -1.0, np.inf, np.nan, "5", True, None):
        with pytest.raises(ValueError, match="slope"):
            Ramp(slope)
