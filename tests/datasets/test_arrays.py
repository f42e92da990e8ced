import numpy as np
import pandas as pd
import pytest

from kernlearn.datasets import load
from kernlearn.datasets.arrays import read_npz
from kernlearn.datasets.formats import Expected, Npz, Parquet
from kernlearn.datasets.parquet import read_parquet
from kernlearn.exceptions import DataError

X = np.array([[1.5, -2.0], [0.0, 1e-300], [3.0, 4.0]])
NUMBERS = Expected(2, None)
YES_NO = Expected(2, ("no", "yes"))
FRAME = pd.DataFrame({"a": X[:, 0], "y": [3, 1, 2], "b": X[:, 1]})


@pytest.fixture
def npz(folder):
    def write_and_read(options=None, expected=NUMBERS, **arrays):
        np.savez(folder / "f.npz", **arrays)
        return read_npz([folder / "f.npz"], options or Npz(), expected)

    return write_and_read


@pytest.fixture
def parquet(folder):
    def write_and_read(frame, expected=NUMBERS, **options):
        frame.to_parquet(folder / "f.parquet", index=False)
        return read_parquet([folder / "f.parquet"], Parquet(target="y", **options), expected)

    return write_and_read


def test_npz_numbers_and_labels(npz):
    table = npz(X=X, y=[0.5, 1, 2])
    np.testing.assert_array_equal(table.X, X)
    assert table.y.tolist() == [0.5, 1, 2]
    assert table.feature_names == ("x1", "x2")
    assert npz(X=X, y=["yes", "no", "yes"], expected=YES_NO).y.tolist() == [1, 0, 1]
    signs = Expected(2, ("-1", "1"))
    assert npz(X=X.astype(np.float32), y=[1.0, -1.0, 1.0], expected=signs).y.tolist() == [1, 0, 1]


def test_npz_queries_and_other_names(npz):
    table = npz(Npz(matrix="S", target="c", query="q"), S=X, c=[0, 1, 2], q=[7, 7, 10**12])
    assert table.query.tolist() == [7, 7, 10**12]
    with pytest.raises(DataError, match="the queries must be one whole number per row"):
        npz(Npz(query="q"), X=X, y=[0, 1, 2], q=[0.5, 1, 2])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"X": X}, "has no array called y"),
        ({"X": X, "y": [1, 2]}, "found 2 labels of type int64, expected 3"),
        ({"X": X[0], "y": [1, 2]}, r"found an array of shape \(2,\) .* expected a matrix"),
        ({"X": X * np.nan, "y": [1, 2, 3]}, "row 1: an entry is not finite"),
        ({"X": X, "y": ["1", "x", "3"]}, "row 2: found label 'x', expected a finite number"),
        ({"X": X[:0], "y": []}, "the file has no rows"),
        ({"X": X.astype(str), "y": [1, 2, 3]}, "expected a matrix of numbers"),
    ],
)
def test_npz_faults(npz, arrays, message):
    with pytest.raises(DataError, match=rf"f\.npz.*{message}"):
        npz(**arrays)


def test_no_pickle_is_loaded(npz, folder):
    with pytest.raises(DataError, match="no NPZ file of plain arrays"):
        npz(X=np.array([{}, {}], dtype=object), y=[1, 2])
    (folder / "f.npz").write_bytes(b"\x80\x04N.")
    with pytest.raises(DataError, match="damaged, or no NPZ file"):
        read_npz([folder / "f.npz"], Npz(), NUMBERS)


def test_bombs_are_refused(npz, parquet, monkeypatch):
    monkeypatch.setenv("KERNLEARN_MAX_MEMORY", "100")
    with pytest.raises(DataError, match="holds more than 100 bytes unpacked"):
        npz(X=np.zeros((100, 2)), y=np.zeros(100))
    with pytest.raises(DataError, match="holds more than 100 bytes unpacked"):
        parquet(FRAME)


def test_parquet_keeps_the_names(parquet):
    table = parquet(FRAME)
    np.testing.assert_array_equal(table.X, X)
    assert table.y.tolist() == [3, 1, 2]
    assert table.feature_names == ("a", "b")


def test_a_parquet_target_of_few_numbers_is_loaded(folder):
    FRAME.assign(y=[0, 1, 1]).to_parquet(folder / "f.parquet", index=False)
    assert load(folder / "f.parquet", target="y").target.tolist() == [0, 1, 1]


def test_parquet_types(parquet):
    frame = pd.DataFrame(
        {
            "id": ["r1", "r2", "r3"],
            "a": pd.array([1, None, 3], dtype="Int64"),
            "b": pd.Categorical(["u", None, "v"]),
            "y": ["yes", "no", "yes"],
            "q": [5, 5, 6],
        }
    )
    table = parquet(frame, YES_NO, drop=["id"], nominal={"b": ["v", "u"]}, query="q")
    np.testing.assert_array_equal(table.X, [[1, 1], [np.nan, np.nan], [3, 0]])
    assert table.y.tolist() == [1, 0, 1]
    assert table.query.tolist() == [5, 5, 6]
    assert table.nominal == {"b": ("v", "u")}


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"a": [1, np.inf, 2]}, {}, "row 2, column a: found inf, expected a finite number, or nu"),
        ({"a": ["1", "x", "2"]}, {}, "row 2, column a: found 'x', expected a finite number"),
        (
            {"a": ["u", "w", "v"]},
            {"nominal": {"a": ["u", "v"]}},
            "row 2, column a: found 'w', exp",
        ),
        ({"y": [1, None, 2]}, {}, "row 2, column y: found nothing, expected a finite number"),
        ({}, {"drop": ["z"]}, "has no column called z"),
    ],
)
def test_parquet_faults(parquet, change, options, message):
    with pytest.raises(DataError, match=rf"f\.parquet.*{message}"):
        parquet(FRAME.assign(**change), **options)


@pytest.mark.parametrize(
    "content", [b"", b"PAR1", b"PAR1" + bytes(50) + b"PAR1", b"a,b,y\n1,2,3\n"]
)
def test_other_files_are_no_parquet(folder, content):
    (folder / "f.parquet").write_bytes(content)
    with pytest.raises(DataError, match=r"f\.parquet: damaged, or no Parquet file"):
        read_parquet([folder / "f.parquet"], Parquet(target="y"), NUMBERS)


def test_several_files_must_agree(folder):
    FRAME.to_parquet(folder / "a", index=False)
    FRAME[["b", "y", "a"]].to_parquet(folder / "b", index=False)
    options = Parquet(target="y")
    assert len(read_parquet([folder / "a"] * 2, options, NUMBERS).X) == 6
    with pytest.raises(DataError, match="other columns than"):
        read_parquet([folder / "a", folder / "b"], options, NUMBERS)


def test_missing_entries_of_parquet_are_settled_by_load(make_card, folder):
    FRAME.assign(a=[1.0, None, 3.0]).to_parquet(folder / "f", index=False)
    form = {"files": ["f"], "format": {"kind": "parquet", "target": "y"}, "rows": 3}
    bunch = load(make_card(form, task="regression"), data_dir=folder)
    assert bunch.data.tolist() == [[1, -2], [3, 4]]
    assert bunch.note == "1 of 3 rows with missing entries were left out."
