import bz2
import gzip
import lzma
import math
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernlearn.datasets.text import fault, number, read_lines
from kernlearn.exceptions import DataError

PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("suffix", ["", *PACK])
def test_packed_and_unpacked_read_alike(tmp_path, suffix):
    path = tmp_path / f"file.data{suffix}"
    content = b"\xef\xbb\xbf1,a\r\n\r2,\xc3\xa9\n"
    path.write_bytes(PACK.get(suffix, bytes)(content))
    assert read_lines(path) == ["1,a", "", "2,é", ""]


@pytest.mark.parametrize("suffix", PACK)
def test_a_packed_file_cut_short(tmp_path, suffix):
    path = tmp_path / f"file{suffix}"
    packed = PACK[suffix](os.urandom(4000).hex().encode())
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(DataError, match=r"file.*: damaged or cut short: "):
        read_lines(path)


@pytest.mark.parametrize("suffix", PACK)
def test_a_packed_file_that_is_none(tmp_path, suffix):
    path = tmp_path / f"file{suffix}"
    path.write_bytes(b"1,2,3\n" * 100)
    with pytest.raises(DataError, match=r"file\.\w+: (damaged|cannot be read)"):
        read_lines(path)


@pytest.mark.parametrize("content", [b"", b"\n \n\n", b"\xef\xbb\xbf"])
def test_an_empty_file(tmp_path, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(DataError, match="file: the file is empty"):
        read_lines(path)


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"1,2\n3,\xff4\n")
    with pytest.raises(DataError, match=r"file, line 2: found b'\\xff', expected UTF-8 text"):
        read_lines(path)


def test_a_nul_byte(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"1,2\n3,4\n\x005")
    with pytest.raises(DataError, match=r"file, line 3: found '\\x00', expected text"):
        read_lines(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="none: cannot be read: No such file"):
        read_lines(tmp_path / "none")


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(["{!r}", " {!r} "]))
def test_numbers_read_exactly(value, form):
    assert number(form.format(value)) == value


@pytest.mark.parametrize(
    "text", ["", " ", "x", "nan", "inf", "1e999", "1_000", "0x1", "1,5", "١", "1 2", "--1", "True"]
)
def test_anything_else_is_no_number(text):
    with pytest.raises(ValueError, match="a finite number"):
        number(text)


def test_plus_and_missing_digits_are_fine():
    assert [number(text) for text in ("+1", "1.", ".5", "-1E-2")] == [1, 1, 0.5, -0.01]
    assert math.copysign(1, number("-0")) == -1


def test_a_fault_is_one_short_line(tmp_path):
    message = str(fault(tmp_path / "f", 7, "a\nb" * 100, "a number", "2 (age)"))
    assert "f, line 7, column 2 (age): found 'a\\nb" in message
    assert message.endswith("..., expected a number")
    assert "\n" not in message
