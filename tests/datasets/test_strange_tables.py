"""Tables that are no data sets as they stand: columns named twice, none, no rows, wide labels."""

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.io import savemat

from kernlearn.datasets import load
from kernlearn.exceptions import DataError
from tests.command import kernlearn  # noqa: F401
from tests.fuzz.files import samples

X = np.array([[1, 2.0], [3, 4], [5, 6], [7, 9]])
Y = np.array([1, 2, 1, 2])


def text(content):
    return lambda path: path.write_text(content)


def table(names, *columns):
    return lambda path: pq.write_table(pa.table([*map(pa.array, columns)], names=names), path)


NO_ROWS = pa.table({"a": pa.array([], pa.float64()), "y": pa.array([], pa.string())})


def sheet(path):
    sample = samples()["xlsx"]
    path.write_bytes(sample.pack([part.replace(b">b<", b">a<", 1) for part in sample.parts]))


REFUSED = {
    "sheet": ("f.xlsx", sheet, ": two columns are called 'a'; rename one"),
    "csv": ("f.csv", text("a,a,y\n1,2,u\n3,4,v\n5,6,u\n"), ", line 1: two columns are called 'a'"),
    "quoted csv": ("f.csv", text('"a","a",y\n1,"2",u\n3,4,v\n'), ", line 1: two columns are call"),
    "blanks": ("f.txt", text("a a y\n1 2 3\n4 5 6\n"), ", line 1: two columns are called 'a'"),
    "arff": (
        "f.arff",
        text("@attribute a real\n@attribute 'a' real\n@attribute y {1,2}\n@data\n1,2,1\n3,4,2\n"),
        ", line 2: found 'a', expected an attribute not declared before",
    ),
    "parquet": (
        "f.parquet",
        table(["a", "a", "y"], [1.0, 2], [1.0, 2], ["u", "v"]),
        ": two columns are called 'a'; rename one",
    ),
    "no columns": ("f.parquet", table([]), ": has no columns"),
    "no features": ("f.parquet", table(["y"], ["u", "v"]), ": no column is left as a feature"),
    "no rows": ("f.parquet", lambda path: pq.write_table(NO_ROWS, path), ": the file has no rows"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_tables_that_are_refused_in_one_line(kernlearn, tmp_path, name):  # noqa: F811
    file, write, message = REFUSED[name]
    write(tmp_path / file)
    for words in (("datasets", "add", file, "--name", "mine"), ("goodness", file)):
        finished = kernlearn(*words)
        assert finished.returncode == 2
        assert len(finished.stderr.splitlines()) == 1
        assert finished.stderr.startswith(f"kernlearn: {file}{message}")


def test_values_may_occur_twice_in_the_first_row(tmp_path):
    (tmp_path / "f.csv").write_text("red,red,u\nblue,green,v\nred,green,u\nblue,blue,v\n")
    assert load(tmp_path / "f.csv", cache=False).data.shape == (4, 2)
    (tmp_path / "f.csv").write_text("1,1,2\n3,4,1\n2,6,2\n2,3,1\n")
    assert load(tmp_path / "f.csv", cache=False).data.shape == (4, 2)


def save_npz(path, labels):
    np.savez(path, X=X, y=labels, id=np.arange(4))


def save_matlab(path, labels):
    savemat(path, {"X": X, "y": labels, "id": np.arange(4)})


def save_hdf5(path, labels):
    with h5py.File(path, "w") as file:
        file["X"], file["y"], file["id"] = X, labels, np.arange(4)


SAVE = {"f.npz": save_npz, "f.mat": save_matlab, "f.h5": save_hdf5}


@pytest.mark.parametrize("file", SAVE)
@pytest.mark.parametrize("labels", [Y[:, None], Y[None]])
def test_labels_in_one_column_or_row(tmp_path, file, labels):
    SAVE[file](tmp_path / file, labels)
    assert load(tmp_path / file, cache=False).target.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("file", SAVE)
@pytest.mark.parametrize("labels", [np.eye(2)[Y - 1], Y[:, None, None], Y.reshape(2, 2), Y[:3]])
def test_labels_of_other_shapes_are_refused_with_the_shape(kernlearn, tmp_path, file, labels):  # noqa: F811
    SAVE[file](tmp_path / file, labels)
    shape = labels.shape if labels.ndim > 1 or file != "f.mat" else (1, 3)
    for words in (("goodness", file), ("goodness", file, "--target", "y")):
        finished = kernlearn(*words)
        assert finished.returncode == 2
        assert finished.stderr.startswith(
            f"kernlearn: {file}: y has the shape {shape}, expected one label per row of X"
        )
    other = kernlearn("goodness", file, "--target", "z")
    assert other.stderr.startswith(f"kernlearn: {file}: no array is called z. It holds ")


def test_a_card_does_not_take_such_labels_either(make_card, tmp_path):
    card = make_card({"files": ["f.npz"], "format": {"kind": "npz"}}, task="regression")
    for labels in (Y[:, None, None], np.eye(2)[Y - 1]):
        save_npz(tmp_path / "f.npz", labels)
        with pytest.raises(DataError, match=r"found labels of shape \(4, .*expected one per row"):
            load(card, data_dir=tmp_path, cache=False)
