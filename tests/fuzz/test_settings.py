"""The limits that tests of hostile input set do hold, and are lifted after."""

import pytest

from tests.fuzz.settings import limited


def never_ends():
    while True:
        pass


def test_an_input_that_hangs_is_stopped():
    with pytest.raises(AssertionError, match="still computing"), limited(seconds=0.05):
        never_ends()


def test_memory_is_limited_within_the_block_alone():
    with pytest.raises(MemoryError), limited(memory=1 << 26):
        bytearray(1 << 28)
    assert len(bytearray(1 << 28)) == 1 << 28
