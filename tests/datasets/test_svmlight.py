import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from kernlearn.datasets.formats import Expected, Libsvm
from kernlearn.datasets.sparse_text import read_pairs
from kernlearn.exceptions import DataError

SIGNS = Expected(3, ("-1", "1"))
NUMBERS = Expected(3, None)


@pytest.fixture
def read(folder):
    def write_and_read(*texts, options=None, expected=SIGNS):
        paths = [folder / f"part{i}" for i in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_bytes(text.encode())
        return read_pairs(paths, options or Libsvm(), expected)

    return write_and_read


def test_rows_labels_and_names(read):
    table = read("-1 1:0.5 3:-2 \n+1 2:1\r\n\n", "1.0\n-1.0 1:1e2 2:0.0 # a comment\n")
    assert table.X.tolist() == [[0.5, 0, -2], [0, 1, 0], [0, 0, 0], [100, 0, 0]]
    assert table.y.tolist() == [0, 1, 1, 0]
    assert table.feature_names == ("x1", "x2", "x3")


def test_zero_based_and_numbers(read):
    table = read("0.25 0:1 2:3\n", options=Libsvm(zero_based=True), expected=NUMBERS)
    assert table.X.tolist() == [[1, 0, 3]]
    assert table.y.tolist() == [0.25]


@pytest.mark.parametrize(("nonzero", "dense"), [(1, False), (2, True)])
def test_sparse_below_a_fifth(read, nonzero, dense):
    entries = " ".join(f"{i}:1" for i in range(1, nonzero + 1))
    X = read(f"1 {entries} 9:0\n", expected=Expected(10, ("1",))).X
    assert isinstance(X, np.ndarray) == dense
    if not dense:
        assert isinstance(X, sparse.csr_matrix)
        assert X.nnz == nonzero  # the written zero is not stored


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1:1\n2 1:1\n", r"line 2, column 1 \(label\): found '2', expected one of -1, 1"),
        ("1 1:1\n\nyes 1:1\n", r"line 3, column 1 \(label\): found 'yes', expected a finite"),
        ("1 1:1 4:1\n", "line 1, column 3: found '4:1', expected an index from 2 to 3 and its"),
        ("1 0:1\n", "line 1, column 2: found '0:1', expected an index from 1 to 3"),
        ("1 2:1 2:1\n", "line 1, column 3: found '2:1', expected an index from 3 to 3"),
        ("1 2:1 1:1\n", "line 1, column 3: found '1:1'"),
        ("1 1:\n", "line 1, column 2: found '1:', expected index:value with a finite number"),
        ("1 1:one\n", "line 1, column 2: found '1:one', expected index:value with a finite"),
        ("1 1:nan\n", "line 1, column 2: found '1:nan', expected index:value with a finite"),
        ("1 1:1e999\n", "line 1, column 2: found '1:1e999'"),
        ("1 1\n", "line 1, column 2: found '1', expected index:value"),
        ("1,2,3\n", r"line 1, column 1 \(label\): found '1,2,3', expected a finite number"),
        ("1 qid:7 1:1\n", "line 1, column 2: found 'qid:7', expected an index"),
        ("# nothing\n", "the file has no rows"),
        ("\n", "the file is empty"),
    ],
)
def test_faults_name_the_line(read, text, message):
    with pytest.raises(DataError, match=message) as caught:
        read(text)
    assert "\n" not in str(caught.value)


def slow_read(text):
    """Read line by line; None where a line is at fault."""
    rows, labels = [], []
    for line in text.replace("\r", "\n").split("\n"):
        label, *entries = line.split("#")[0].split() or [""]
        if not label:
            continue
        row, last = [0.0] * 3, 0
        try:
            labels.append({-1.0: 0.0, 1.0: 1.0}[float(label)])
            for entry in entries:
                index, value = entry.split(":")
                if (
                    not (index.removeprefix("+").isdecimal() and last < int(index) <= 3)
                    or "_" in line.split("#")[0]
                ):
                    return None
                last = int(index)
                row[last - 1] = float(value)
        except (ValueError, KeyError):
            return None
        rows.append(row)
    finite = rows and all(math.isfinite(value) for row in rows for value in row)
    return (rows, labels) if finite else None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(st.text(alphabet="123.:-+e\n \r_x#q", max_size=20), st.data())
def test_any_text_reads_as_the_slow_way_or_is_refused(read, insert, data):
    lines = "+1 1:1 2:2.5 3:3\n-1 1:-4 3:5e2\n"
    at = data.draw(st.integers(0, len(lines)))
    until = data.draw(st.integers(at, len(lines)))
    text = lines[:at] + insert + lines[until:]
    expected = slow_read(text)
    if expected is None:
        with pytest.raises(DataError) as caught:
            read(text)
        assert len(str(caught.value).splitlines()) == 1
        return
    table = read(text)
    X = table.X.toarray() if sparse.issparse(table.X) else table.X
    assert (X.tolist(), table.y.tolist()) == expected


def test_reads_what_scikit_learn_writes(read, folder):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 3)), rng.choice([-1, 1], 20)
    dump_svmlight_file(X, y, str(folder / "written"), zero_based=False)
    table = read((folder / "written").read_text())
    np.testing.assert_allclose(table.X, X, rtol=1e-14)
    np.testing.assert_array_equal(table.y, y > 0)
