import numpy as np
import pytest
from scipy import sparse
from scipy.io import arff as peer

from kernlearn.datasets.formats import Arff, Expected
from kernlearn.datasets.sparse_text import read_arff
from kernlearn.exceptions import DataError

NUMBERS = Expected(2, None)
YES_NO = Expected(2, ("no", "yes"))
HEAD = "@relation r\n@attribute a numeric\n@attribute b REAL\n@attribute y integer\n@data\n"


@pytest.fixture
def read(folder):
    def write_and_read(*texts, options=None, expected=NUMBERS):
        paths = [folder / f"part{i}.arff" for i in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text, encoding="utf-8")
        return read_arff(paths, options or Arff(), expected)

    return write_and_read


@pytest.mark.parametrize(
    "rows",
    [
        "1,2,0.5\n3,-4e1,1\n",
        "1,2,0.5,\n3,-4e1,1,\n",  # as published in bank8FM.arff
        " 1 ,\t2, 0.5\r\n\r\n% a comment\n3,-4e1,1",
        "'1',2,\"0.5\"\n3,-4e1,1,\n",
        "{0 1, 1 2, 2 0.5}\n{0 3,1 -40,2 1}\n",
    ],
)
def test_the_ways_in_which_rows_are_written(read, rows):
    table = read(HEAD + rows)
    assert np.asarray(table.X).tolist() == [[1, 2], [3, -40]]
    assert table.y.tolist() == [0.5, 1]
    assert table.feature_names == ("a", "b")


def test_names_nominal_values_and_labels_in_quotes(read):
    text = (
        "% heading\n@RELATION 'a b'\n\n"
        "@ATTRIBUTE 'it\\'s a, name'\t{'x y', \"u,v\", w}\n"
        '@attribute "n" numeric\n@attribute class {yes,no}\n@DATA\n'
        "'u,v',1,yes\n w , 2,no\n\"x y\",3,'yes'\n"
    )
    table = read(text, options=Arff(target="class"), expected=YES_NO)
    assert table.feature_names == ("it's a, name", "n")
    assert table.nominal == {"it's a, name": ("x y", "u,v", "w")}
    assert table.X.tolist() == [[1, 1], [2, 2], [0, 3]]
    assert table.y.tolist() == [1, 0, 1]


def test_missing_entries_dense_and_sparse(read):
    dense = read(HEAD + "?,2,1\n3,?,2\n").X
    np.testing.assert_array_equal(dense, [[np.nan, 2], [3, np.nan]])
    some = read(HEAD + "{0 ?,1 2,2 1}\n{0 3, 1 ?,2 2}\n").X
    np.testing.assert_array_equal(some, dense)


def test_what_a_sparse_row_leaves_out_is_zero_or_the_first_value(read):
    text = (
        "@relation r\n@attribute a {u,v}\n@attribute b numeric\n@attribute c {no,yes}\n@data\n"
        "{}\n{0 v, 2 yes}\n{1 2.5}\n"
    )
    table = read(text, expected=YES_NO)
    assert table.X.tolist() == [[0, 0], [1, 0], [0, 2.5]]
    assert table.y.tolist() == [0, 1, 0]


def test_few_numbers_stay_sparse(read):
    head = "@relation r\n" + "".join(f"@attribute a{i} numeric\n" for i in range(11)) + "@data\n"
    table = read(head + "{3 1.5, 10 7}\n{10 8}\n{0 2, 9 1}\n", expected=Expected(10, None))
    assert sparse.issparse(table.X)
    assert table.X.nnz == 3
    assert table.y.tolist() == [7, 8, 0]


def test_columns_that_are_dropped_may_be_text(read):
    text = (
        "@relation r\n@attribute id string\n@attribute when date yyyy\n@attribute a numeric\n"
        "@attribute b numeric\n@attribute y numeric\n@data\n'row, one',1999,1,2,3\n"
    )
    assert read(text, options=Arff(drop=["id", 1])).X.tolist() == [[1, 2]]
    with pytest.raises(DataError, match="the attribute when holds dates; the card must drop it"):
        read(text, options=Arff(drop=["id"]))


def test_labels_spelt_otherwise(read):
    head = HEAD.replace("y integer", "y {Normal,Abnormal}")
    options = Arff(rename={"Normal": "no", "Abnormal": "yes"})
    assert read(
        head + "1,2,Abnormal\n3,4,Normal\n", options=options, expected=YES_NO
    ).y.tolist() == [
        1,
        0,
    ]


def test_several_files(read):
    assert read(HEAD + "1,2,3\n", HEAD + "{0 4,2 6}\n").X.tolist() == [[1, 2], [4, 0]]
    with pytest.raises(DataError, match=r"part1\.arff: its attributes differ from those of"):
        read(HEAD + "1,2,3\n", HEAD.replace(" b ", " c ") + "1,2,3\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "1,2\n", "line 6: found 2, expected 3 columns"),
        (HEAD + "\n1,2,3,4\n", "line 7: found 4, expected 3 columns"),
        (HEAD + "1,2,\n", r"line 6, column 3 \(y\): found '', expected a finite number"),
        (HEAD + "1,x,3\n", r"line 6, column 2 \(b\): found 'x', expected a finite number"),
        (HEAD + "1,2,?\n", r"line 6, column 3 \(y\): found '\?', expected a finite number"),
        (HEAD + "1,'2,3\n", r"line 6, column 2 \(b\): found \"'2\""),
        (HEAD + "1,2,3\n{0 1}\n", "line 7: found 1, expected 3 columns"),
        (HEAD + "{0 1}\n1,2,3\n", "line 7: found '1,2,3', expected a sparse row"),
        (HEAD + "{0 1, 0 2}\n", "line 6: found '0 2', expected increasing indices from 0 to 2"),
        (HEAD + "{3 1}\n", "line 6: found '3 1', expected increasing indices"),
        (HEAD + "{0}\n", "line 6: found '0', expected increasing indices"),
        (HEAD + "{0 x}\n", r"line 6, column 1 \(a\): found 'x', expected a finite number"),
        (HEAD, "the file has no rows"),
        (HEAD.replace("@data\n", ""), "has no @data line"),
        ("@relation r\n@data\n1\n", "line 2: found '@data', expected an @attribute before"),
        (HEAD.replace("REAL", "complex") + "1,2,3\n", "line 3: found 'complex', expected numeric"),
        (HEAD.replace(" b ", " a ") + "1,2,3\n", "line 3: found 'a', expected an attribute not"),
        ("1,2,3\n", "line 1: found '1,2,3', expected @relation, @attribute or @data"),
        (HEAD.replace("@attribute b REAL\n", "") + "1,2\n", "found 1 features, expected 2"),
    ],
)
def test_faults_name_the_line(read, text, message):
    with pytest.raises(DataError, match=message) as caught:
        read(text)
    assert "part0.arff" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_bad_positions(read):
    with pytest.raises(DataError, match="has no attribute called 'z'"):
        read(HEAD + "1,2,3\n", options=Arff(target="z"))
    with pytest.raises(DataError, match="attribute 3 requested, expected -3 to 2"):
        read(HEAD + "1,2,3\n", options=Arff(target=3))


def test_agrees_with_scipy(read, folder):
    rng = np.random.default_rng(0)
    values = rng.standard_normal((50, 3)).round(6)
    kinds = rng.choice(["u", "v", "w"], 50)
    head = "@relation r\n@attribute a real\n@attribute k {u,v,w}\n@attribute b real\n"
    rows = "".join(f"{a},{k},{b},{y}\n" for (a, b, y), k in zip(values, kinds, strict=True))
    table = read(head + "@attribute y real\n@data\n" + rows, expected=Expected(3, None))
    other, _ = peer.loadarff(folder / "part0.arff")
    np.testing.assert_array_equal(table.X[:, 0], other["a"])
    np.testing.assert_array_equal(table.X[:, 1], [b"uvw".index(k) for k in other["k"]])
    np.testing.assert_array_equal(table.y, other["y"])


def test_a_line_of_blanks_without_end_takes_no_time(read):
    with pytest.raises(DataError, match=r"line 6, column 1"):
        read(HEAD + "'1'" + " " * 10**6 + "x,2,3\n")
