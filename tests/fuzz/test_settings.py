"""The limits that tests of hostile input set do hold, and are lifted after."""

from itertools import repeat

import pytest

from tests.fuzz.settings import limited


def test_an_input_that_hangs_is_stopped():
    with pytest.raises(AssertionError, match="still computing"), limited(seconds=0.05):
        any(False for _ in repeat(1))  # never ends


def test_memory_is_limited_within_the_block_alone():
    with pytest.raises(MemoryError), limited(memory=1 << 26):
        bytearray(1 << 28)
    assert len(bytearray(1 << 28)) == 1 << 28
