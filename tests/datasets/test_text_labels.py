import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernlearn.datasets.text import canonical_label, canonical_labels, coder


@pytest.mark.parametrize("label", ["1", "+1", "1.0", " 1 ", "1e0", 1, 1.0, np.float32(1)])
def test_one_spelling_for_one_number(label):
    assert canonical_label(label) == "1"


@pytest.mark.parametrize(
    ("label", "expected"),
    [(" spec_prior ", "spec_prior"), ("nan", "nan"), ("inf", "inf"), (-0.0, "0"), (0.5, "0.5")],
)
def test_other_labels(label, expected):
    assert canonical_label(label) == expected


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32, np.float64, bool, str, object])
def test_arrays_of_any_type(dtype):
    assert canonical_labels(np.array([1, 0, 1]).astype(dtype)).tolist() == ["1", "0", "1"]


def test_single_precision_is_widened_first():
    y = np.array([0.1], dtype=np.float32)
    assert canonical_labels(y).tolist() == canonical_labels(y.astype(np.float64)).tolist()


@given(st.lists(st.floats(allow_nan=False), min_size=1))
def test_elementwise(values):
    assert canonical_labels(values).tolist() == [canonical_label(value) for value in values]


def test_codes_are_positions():
    code = coder(["-1", "1", "more"])
    assert [code("+1"), code("-1.0"), code(" more")] == [1, 0, 2]


def test_an_unknown_value_lists_the_known():
    with pytest.raises(ValueError, match=r"^one of usual, pretentious$"):
        coder(["usual", "pretentious"])("unusual")
