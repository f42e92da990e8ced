"""Damaged files that once ended in another error than one line that names the file."""

import csv
import io
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from scipy.io import savemat

from kernlearn.datasets import iter_chunks, load
from kernlearn.datasets.unpacking import one_line
from kernlearn.exceptions import DataError
from tests.command import kernlearn  # noqa: F401


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def with_codes(*codes):
    """Labels of an NPZ file, of which one has letters that do not exist."""
    labels = np.array(["a", "b", "a"])
    content = io.BytesIO()
    np.save(content, labels)
    npy = content.getvalue()[: -labels.nbytes]
    npy += np.array([ord("a"), *codes, ord("a")], dtype="<u4").tobytes()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as packed:
        packed.writestr("y.npy", npy)
        content = io.BytesIO()
        np.save(content, np.arange(6.0).reshape(3, 2))
        packed.writestr("X.npy", content.getvalue())
    return stream.getvalue()


def stata(frame):
    stream = io.BytesIO()
    frame.to_stata(stream, write_index=False)
    return stream.getvalue()


def matlab_4(*names):
    """A MATLAB file of version 4 with a matrix of each name."""
    parts = b""
    for name in names:
        head = np.array([0, 2, 2, 0, len(name) + 1], dtype="<i4").tobytes()
        parts += head + name.encode() + b"\0" + np.arange(4.0).tobytes()
    return parts


def sparse_matlab(row):
    """A MATLAB file with a sparse matrix of three rows, of which an entry is in another row."""
    stream = io.BytesIO()
    savemat(stream, {"X": sparse.csc_matrix(np.arange(1.0, 7).reshape(3, 2)), "y": [1, 2, 1]})
    content = stream.getvalue()
    rows = np.array([0, 1, 2, 0, 1, 2], dtype="<i4").tobytes()
    assert content.count(rows) == 1
    return content.replace(rows, np.array([0, 1, row, 0, 1, 2], dtype="<i4").tobytes())


FOUND = {
    "a row below all": ("f.mat", sparse_matlab(2**30), "indices must be < 3"),
    "a row before all": ("f.mat", sparse_matlab(-(2**30)), "indices must be >= 0"),
    "a letter beyond all": ("f.npz", with_codes(0x110000), "y: texts with what is no character"),
    "half of a letter": ("f.npz", with_codes(0xD800), "y: texts with what is no character"),
    "a separator and no rows": ("f.csv", b"sep=;", "the file has no rows"),
    "a long entry in quotes": (
        "f.csv",
        b'"' + b"x" * 200_000 + b'",1,2\n"a",3,4\n"b",5,6\n',
        "field larger than field limit",
    ),
    "no rows of Stata": (
        "f.dta",
        stata(pd.DataFrame({"a": pd.Series(dtype=float), "y": pd.Series(dtype=float)})),
        "the file has no rows",
    ),
    "a name of zeros": ("f.mat", matlab_4("X", "\0\0\n"), "no array holds one label"),
    "a name twice": ("f.mat", matlab_4("X", "y", "X"), "two arrays have the same name"),
    # deeper than the stack of any Python allows: 3.14 reads tens of thousands
    "deep JSON": ("f.jsonl", b'{"p":' * 500_000 + b"1" + b"}" * 500_000, "an object of JSON"),
    "nothing in an archive": ("f.zip", b"PK\x05\x06" + bytes(18), "an archive of no files"),
    "zeros": ("f.tar", bytes(10240), "an archive of no files"),
    "a cut archive": ("f.zip", b"PK\x03\x04" + bytes(40), "damaged or cut short"),
}


@pytest.mark.parametrize("name", FOUND)
def test_it_is_one_line_now(tmp_path, name):
    csv.field_size_limit(2**17)  # Python's own, which other libraries change
    file, content, message = FOUND[name]
    (tmp_path / file).write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        load(tmp_path / file, cache=False)
    assert str(tmp_path / file) in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


def test_what_libraries_say_is_seen():
    assert one_line(ValueError("a\n \x0eb")) == r"a \x0eb"


def test_names_do_not_make_a_message_long(tmp_path):
    name = "x" * 5000 + "\x1b[2J\x85"
    (tmp_path / "f.npz").write_bytes(npz(**{name: np.eye(2), "z": np.eye(3)}))
    with pytest.raises(DataError) as caught:
        load(tmp_path / "f.npz", cache=False)
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 1700
    assert "call it X" in message


def without_places(path):
    """Yield Parquet files that do not say rightly where the values of a column are."""
    pq.write_table(pa.table({"a": [1.0, 2.0], "y": ["u", "v"]}), path, compression="none")
    content = path.read_bytes()
    end = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    for at in range(end + 20, end + 30):
        for byte in (0, content[at] ^ 0x10):
            yield content[:at] + bytes([byte]) + content[at + 1 :]


def message_of(read, *arguments, **options):
    try:
        read(*arguments, **options)
    except DataError as error:
        return str(error)
    return ""


def chunks(path):
    return [*iter_chunks(path, 2, target="y", n_features=1)]


def test_names_that_are_not_text(tmp_path):
    (tmp_path / "f.csv").write_bytes(b"\x80,b,y\n1,2,3\n")
    message = message_of(chunks, tmp_path / "f.csv")
    assert message.startswith(f"{tmp_path / 'f.csv'}: damaged, or no CSV file: 'utf-8' codec")


@pytest.mark.parametrize("read", [chunks, load])
def test_arrow_ends_no_process_but_its_own(tmp_path, read):
    path = tmp_path / "f.parquet"
    messages = []
    for content in without_places(path):
        path.write_bytes(content)
        messages.append(message_of(read, path))
    died = "damaged, or no Parquet file: the process that read it died: signal 6"
    if int(pa.__version__.partition(".")[0]) >= 20:  # earlier ones raise errors here
        assert sum(message == f"{path}: {died}" for message in messages) > 1
    assert all(len(message.splitlines()) <= 1 for message in messages)


@pytest.mark.parametrize("large", [1e200, -1.7e308])
def test_numbers_whose_squares_overflow(kernlearn, tmp_path, large):  # noqa: F811
    rows = "".join(f"{i},{value},{'uv'[i % 2]}\n" for i, value in enumerate([1, 2, large, 4]))
    (tmp_path / "f.csv").write_text("a,b,y\n" + rows)
    words = ["--pairs", "10"]
    for command in (
        ["goodness", "f.csv"],
        ["goodness", "f.csv", "--no-scale"],
        ["rademacher", "f.csv", *words],
    ):
        finished = kernlearn(*command)
        assert (finished.returncode, finished.stderr) == (
            2,
            f"kernlearn: f.csv: features as large as {abs(large):.3g} overflow: divide them\n",
        )
