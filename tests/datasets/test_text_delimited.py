import csv
import io
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernlearn.datasets.formats import Delimited, Expected
from kernlearn.datasets.text import read_delimited
from kernlearn.exceptions import DataError
from tests.datasets.conftest import NURSERY_LIKE, NURSERY_ROWS

YES_NO = Expected(2, ("no", "yes"))
NUMBERS = Expected(2, None)
NURSERY = Delimited(**NURSERY_LIKE)


@pytest.fixture
def read(folder):
    def write_and_read(text, options=None, expected=NUMBERS):
        texts = [text] if isinstance(text, str | bytes) else text
        paths = [folder / f"part{i}" for i in range(len(texts))]
        for path, content in zip(paths, texts, strict=True):
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_delimited(paths, options or Delimited(), expected)

    return write_and_read


def test_nominal_values_become_their_position(read):
    table = read(NURSERY_ROWS, NURSERY, YES_NO)
    assert table.X.tolist() == [[0, 0], [0, 3], [2, 1], [1, 0], [2, 2]]
    assert table.y.tolist() == [0, 1, 1, 0, 0]
    assert table.feature_names == ("parents", "children")


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("1,2,0.5\n3,-4e1,1\n", {}),
        ("1,2,0.5\r\n3,-4e1,1", {}),
        ("1, 2, 0.5 \n\n 3,-4e1,+1.\n  \n\n", {}),
        ("1;2;0.5\n3;-4e1;1\n", {"delimiter": ";"}),
        (" 1  2\t0.5\n3 -4e1 1\n", {"delimiter": None}),
        ("0.5,1,2\n1,3,-40\n", {"target": 0}),
        ("a,1,2,0.5\nb,3,-40,1\n", {"drop": [0]}),
        ('"p";"y";"q"\n1;0.5;2\n3;1;-40\n', {"delimiter": ";", "header": True, "target": "y"}),
        ("id,p,y,q\n,1,0.5,2\nx,3,1,-40\n", {"header": True, "target": "y", "drop": ["id"]}),
        (["1,2,0.5\n", "3,-40,1\n"], {}),
        ("|1x3 no data\n1,2,0.5\n3,-40,1\n", {"comment": "|"}),
        ("1,2,0.5.1\n1,2,0.5\n3,-40,1\n1,2,0.5.1\n", {"skip": [1, 4]}),
        (
            "; said\n\n p  q y\n1 2 0.5\n3 -40 1\n",
            {"comment": ";", "header": True, "delimiter": None, "target": "y"},
        ),
    ],
)
def test_the_ways_in_which_files_are_written(read, text, options):
    table = read(text, Delimited(**options))
    assert table.X.tolist() == [[1, 2], [3, -40]]
    assert table.y.tolist() == [0.5, 1]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        ("1,2,3\n", "has 2 lines, and line 5 is skipped"),
        (["1,2,3\n", "1,2,3\n"], "names lines of one file, and there are 2"),
    ],
)
def test_lines_that_are_skipped_are_there(read, texts, said):
    with pytest.raises(DataError, match=said):
        read(texts, Delimited(skip=[5]))


def test_names(read):
    assert read("1,2,3\n").feature_names == ("x1", "x2")
    assert read("9,1,2,3\n", Delimited(drop=[0], target=1)).feature_names == ("x1", "x2")
    assert read('"p q",y,r\n1,2,3\n', Delimited(header=True, target=1)).feature_names == (
        "p q",
        "r",
    )


def test_a_declared_missing_marker_is_nan(read):
    options = Delimited(**NURSERY_LIKE, missing="?")
    table = read("?,1,no\nusual, ? ,yes\n", options, YES_NO)
    np.testing.assert_array_equal(table.X, [[np.nan, 0], [0, np.nan]])


@pytest.mark.parametrize(
    ("text", "options", "expected", "message"),
    [
        ("1,2,3\n4,5\n", {}, NUMBERS, "line 2: found 2, expected 3 columns"),
        ("1,2,3\n\n4,5,6,7\n", {}, NUMBERS, "line 3: found 4, expected 3 columns"),
        ("1,2\n4,5\n", {}, NUMBERS, "line 1: found 2, expected 3 columns"),
        (
            "1,2,3\n4,five,6\n",
            {},
            NUMBERS,
            r"line 2, column 2 \(x2\): found 'five', expected a fin",
        ),
        ("1,2,3\n4,,6\n", {}, NUMBERS, r"line 2, column 2 \(x2\): found '', expected a finite"),
        ("nan,2,3\n", {}, NUMBERS, r"line 1, column 1 \(x1\): found 'nan', expected a finite"),
        ("1,2,1e999\n", {}, NUMBERS, r"column 3 \(target\): found '1e999', expected a finite"),
        ("1,2,?\n", {"missing": "?"}, NUMBERS, r"column 3 \(target\): found '\?', expected a fin"),
        ("1,nan,3\n", {"missing": "?"}, NUMBERS, r"column 2 \(x2\): found 'nan', expected a fin"),
        (
            "1,2,no\n3,4,maybe\n",
            {},
            YES_NO,
            r"line 2, column 3 \(target\): found 'maybe', .* no, y",
        ),
        ("a,b,y\n1,2\n", {"header": True}, NUMBERS, "line 2: found 2, expected 3 columns"),
        ("a,y\n1,2\n", {"header": True}, NUMBERS, "line 1: found 2, expected 3 distinct column"),
        ("a,a,y\n1,2,3\n", {"header": True}, NUMBERS, "line 1: found 2, expected 3 distinct"),
        ("a,b,c\n", {"header": True}, NUMBERS, "the file has no rows"),
        (
            "a,b,c\n1,2,3\n",
            {"header": True, "target": "y"},
            NUMBERS,
            "called 'y'; its columns: a, b, c",
        ),
        ("1,2,3\n", {"target": 3}, NUMBERS, "column 3 requested, expected -3 to 2"),
        (
            ["a,b,y\n1,2,3\n", "b,a,y\n1,2,3\n"],
            {"header": True},
            NUMBERS,
            "part1, line 1: found 'b",
        ),
        (b"1,2,3\n4,\xff,6\n", {}, NUMBERS, "line 2: .* expected UTF-8 text"),
        ("", {}, NUMBERS, "the file is empty"),
        ('1,"2,3\n4,5,6\n', {}, NUMBERS, "line 1, column 2"),
    ],
)
def test_faults_name_line_and_column(read, text, options, expected, message):
    with pytest.raises(DataError, match=message) as caught:
        read(text, Delimited(**options), expected)
    assert "\n" not in str(caught.value)


def test_an_unknown_nominal_value(read):
    with pytest.raises(
        DataError, match=r"line 3, column 1 \(parents\): found 'great', expected one"
    ):
        read(NURSERY_ROWS.replace("great_pret,2", "great,2"), NURSERY, YES_NO)


def slow_read(text):
    """Read plain numbers with the csv module; None where a line is at fault."""
    rows = []
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    for entries in csv.reader(io.StringIO(text), quoting=csv.QUOTE_NONE):
        if "".join(entries).strip() or len(entries) > 1:
            if len(entries) != 3 or any("_" in e or not e.strip().isascii() for e in entries):
                return None
            try:
                rows.append([float(entry.strip()) for entry in entries])
            except ValueError:
                return None
    finite = rows and all(math.isfinite(value) for row in rows for value in row)
    return rows if finite else None


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=300)
@given(st.text(alphabet="12.,-e\n \r_xn\"'#", max_size=40) | st.text(max_size=20), st.data())
def test_any_text_reads_as_the_slow_way_or_is_refused(read, insert, data):
    lines = "1,2.5,3\n-4,5e2,6\n"
    at = data.draw(st.integers(0, len(lines)))
    until = data.draw(st.integers(at, len(lines)))
    text = lines[:at] + insert + lines[until:]
    if "\0" in text:
        return
    expected = slow_read(text)
    if expected is None:
        with pytest.raises(DataError) as caught:
            read(text)
        assert len(str(caught.value).splitlines()) == 1
        return
    table = read(text)
    assert np.column_stack([table.X, table.y]).tolist() == expected


@given(value=st.floats(allow_nan=False, allow_infinity=False))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_values_are_read_to_the_last_bit(read, value):
    assert read(f"{value!r},0,{value:.17g}\n").X[0, 0] == value


def test_one_hot_targets(read):
    options = Delimited(delimiter=None, one_hot=True)
    table = read("1 2 0 1\n3 4 1 0\n", options, YES_NO)
    assert table.X.tolist() == [[1, 2], [3, 4]]
    assert table.y.tolist() == [1, 0]
    for row in ("3 4 1 1", "3 4 0 0", "3 4 0 2", "3 4 -1 2"):
        with pytest.raises(DataError, match=r"line 3: found .*, expected a single 1 and else"):
            read(f"1 2 0 1\n\n{row}\n", options, YES_NO)


def test_blocks_of_rows_are_classes(read):
    options = Delimited(blocks=2)
    table = read(["1,2\n3,4\n5,6\n", "7,8\n"], options, YES_NO)
    assert table.X.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert table.y.tolist() == [0, 0, 1, 1]
    for text, rows in (("1,2\n3,4\n5,6\n", 3), ("1,2\n" * 5, 5)):
        with pytest.raises(DataError, match=f"found {rows} rows, expected 4 in blocks of 2"):
            read(text, options, YES_NO)


def test_what_stands_after_a_label(read):
    options = Delimited(target_suffix=".")
    assert read("1, 2, no.\n3, 4, yes\n", options, YES_NO).y.tolist() == [0, 1]
    with pytest.raises(DataError, match=r"line 1, column 3 \(target\): found 'no\.\.'"):
        read("1,2,no..\n", options, YES_NO)
