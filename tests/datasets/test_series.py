import numpy as np
import pytest

from kernlearn.datasets.formats import Expected, Series
from kernlearn.exceptions import DataError

HEADER = (
    "# of a test\n@problemName Toy\n@univariate true\n@equalLength true\n@classLabel true a b\n"
)
EXPECTED = Expected(3, ("a", "b"))


def read(tmp_path, text, expected=EXPECTED, **options):
    path = tmp_path / "toy_TRAIN.ts"
    path.write_text(text)
    return Series(**options).read([path], expected)


def test_series_are_rows(tmp_path):
    table = read(tmp_path, HEADER + "@data\n1.0,-2,3e-1:a\n\n4,?,6:b\n")
    np.testing.assert_array_equal(table.X, [[1, -2, 0.3], [4, np.nan, 6]])
    np.testing.assert_array_equal(table.y, [0, 1])
    assert table.feature_names == ("x1", "x2", "x3")


def test_files_are_concatenated_and_labels_renamed(tmp_path):
    for name, label in (("one.ts", "1"), ("two.ts", "2")):
        (tmp_path / name).write_text(f"@data\n1,2,3:{label}\n")
    paths = [tmp_path / "one.ts", tmp_path / "two.ts"]
    table = Series(rename={"1": "a", "2": "b"}).read(paths, EXPECTED)
    np.testing.assert_array_equal(table.y, [0, 1])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1,2,3:a\n", "line 1: found '1,2,3:a', expected a line of the header, or @data"),
        (HEADER, "has no line @data"),
        (HEADER + "@data\n", "has no series after @data"),
        (HEADER + "@data\n1,2:a\n", "line 7: found 'a series of 2 values', expected 3 values"),
        (HEADER + "@data\n1,2,3\n", "expected values with commas between them, a colon, the cla"),
        (
            HEADER + "@data\n1,2,3:4,5,6:a\n",
            "found 'a series of 2 channels', expected one channel",
        ),
        (HEADER + "@data\n1,x,3:a\n", "line 7, column 2: found 'x', expected a finite number"),
        (HEADER + "@data\n1,2,3:c\n", "column of the class: found 'c', expected one of a, b"),
        ("@timestamps true\n@data\n", "line 1: found '@timestamps true', expected series without"),
    ],
)
def test_faults_name_their_place(tmp_path, text, said):
    with pytest.raises(DataError, match=said.replace("(", r"\(")):
        read(tmp_path, text)
