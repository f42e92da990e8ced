"""Rows in chunks from arrays, files, iterators and Dask collections."""

import gzip

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from kernlearn.datasets import load, row_source
from kernlearn.exceptions import DataError

N = 57
X = np.random.default_rng(0).normal(size=(N, 3)).round(3)
y = np.arange(N) % 3
NAMES = ["a", "b", "c"]


def together(source):
    parts = list(source)
    rows = [part[0].toarray() if sparse.issparse(part[0]) else part[0] for part in parts]
    return np.concatenate(rows), np.concatenate([part[1] for part in parts]), len(parts)


def frame(labels=y):
    return pd.DataFrame(X, columns=NAMES).assign(label=labels)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, np.ndarray.tolist, pd.DataFrame])
def test_arrays(make):
    source = row_source(make(X), y, n_rows=10)
    for _ in range(2):
        rows, labels, n_parts = together(source)
        np.testing.assert_array_equal(rows, X)
        np.testing.assert_array_equal(labels, y)
        assert n_parts == 6


def test_memory_maps_are_read_in_parts(folder):
    np.save(folder / "rows.npy", X)
    mapped = np.load(folder / "rows.npy", mmap_mode="r")
    parts = [part for part, _ in row_source(mapped, y, n_rows=20)]
    assert [type(part) for part in parts] == [np.ndarray] * 3
    np.testing.assert_array_equal(np.concatenate(parts), X)


def test_frames_with_a_target():
    rows, labels, _ = together(row_source(frame(), target="label", n_rows=20))
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(labels, y)


@pytest.mark.parametrize("kind", ["parquet", "csv", "csv.gz", "libsvm"])
def test_files(folder, kind):
    path, options = folder / f"rows.{kind}", {"target": "label"}
    if kind == "parquet":
        pq.write_table(pa.Table.from_pandas(frame()), path)
    elif kind == "libsvm":
        dump_svmlight_file(X, y, str(path), zero_based=False)
        options = {"n_features": 3}
    else:
        text = frame().to_csv(index=False).encode()
        path.write_bytes(gzip.compress(text) if kind == "csv.gz" else text)
    rows, labels, n_parts = together(row_source(path, n_rows=10, **options))
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(labels, y)
    assert n_parts == 6
    rows, labels, _ = together(row_source([path, str(path)], n_rows=10, **options))
    assert len(labels) == 2 * N
    source = row_source(path, **options)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(DataError, match="source was made"):
        list(source)


def test_csv_labels_may_be_texts_and_numbers_change_their_form(folder):
    path = folder / "rows.csv"
    whole = "\n".join(f"{i},{i}.5,up" for i in range(90_000))
    path.write_text(f"a,b,label\n{whole}\n0.25,3,down\n")
    rows, labels, _ = together(row_source(path, n_rows=40_000, target="label"))
    assert rows[-1].tolist() == [0.25, 3.0]
    assert labels[-1] == "down"
    assert len(rows) == 90_001


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,label\n1,x\nNA,y\n", "row 2, column a: .*missing='drop'"),
        ("a,label\n1,x\n2,\n", "row 2, column label: .*missing='drop'"),
        ("a,label\n1,x\nblue,x\n", "row 2, column a: found 'blue'"),
        ("a,label\n", "the file has no rows"),
        ("a;lab\n1;2\n", "has no column 'label'"),
        (",a,label\n0,1,2\n", r"drop=\['row names'\]"),
        ("a,label\n" + "1,2\n" * 200 + "1,2,3\n", "Expected 2 fields in line 202, saw 3"),
        ('{"a": 1, "label": 2}\n{"a": 2, "label": 1}', "`load` reads it"),
        ("", "the file is empty"),
    ],
)
def test_csv_faults(folder, text, message):
    path = folder / "rows.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        list(row_source(path, target="label"))


def test_files_read_as_load_reads_them(folder):
    """Decimal commas, missing entries and categories; the columns keep their names."""
    path = folder / "rows.csv"
    rows = ["1,5;red;True", ";blue;True", "2,5;blue;False", "3;?;False"]
    path.write_text("\n".join(["a;colour;label", *rows * 3]))
    how = {"read_as": {"decimal": ","}, "target": "label"}
    loaded = load(path, nominal="onehot", **how)
    values = loaded.card.forms[0].format.nominal
    source = row_source(path, n_rows=5, nominal=values, missing="drop", **how)
    with pytest.warns(UserWarning, match="6 of 12 rows"):
        parts = list(source)
    np.testing.assert_array_equal(pd.concat([X for X, _ in parts]), loaded.data)
    assert {tuple(X.columns) for X, _ in parts} == {tuple(loaded.feature_names)}
    labels = np.concatenate([y for _, y in parts])
    np.testing.assert_array_equal(labels, loaded.target_names[loaded.target])


@pytest.mark.parametrize("label", ["2", "TRUE"])  # which pandas reads as a boolean
def test_csv_late_texts(folder, label):
    path = folder / "rows.csv"
    path.write_text("a,label\n" + f"1,{label}\n" * 30 + "1,up\n")
    with pytest.raises(DataError, match="target is text"):
        list(row_source(path, n_rows=10, target="label"))


class Chunks:
    """An iterable that is read again in each pass."""

    def __iter__(self):
        yield X[:5], y[:5]
        yield X[5:], y[5:]


def test_functions_and_iterables_are_read_again():
    with pytest.raises(ValueError, match="iterator"):
        row_source(iter(Chunks()))
    for several in (Chunks().__iter__, list(Chunks()), Chunks()):
        source = row_source(several)
        assert [together(source)[2] for _ in range(2)] == [2, 2]


def test_dask_arrays_and_frames():
    dask_array = pytest.importorskip("dask.array")
    dask_frame = pytest.importorskip("dask.dataframe")
    rows, labels, n_parts = together(
        row_source(dask_array.from_array(X, chunks=(25, 2)), dask_array.from_array(y, chunks=40))
    )
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(labels, y)
    assert n_parts == 3
    frames = dask_frame.from_pandas(frame(), npartitions=4)
    rows, labels, n_parts = together(row_source(frames, target="label"))
    np.testing.assert_array_equal(rows, X)
    assert n_parts == 4
    with pytest.raises(ValueError, match="target"):
        row_source(frames)
    with pytest.raises(ValueError, match="X has 57 rows, y 56"):
        row_source(dask_array.from_array(X), dask_array.from_array(y[:-1]))
    with pytest.raises(ValueError, match="2 dimensions, got 1"):
        row_source(dask_array.from_array(y), dask_array.from_array(y))


def test_what_is_gathered_of_several_files(folder):
    pq.write_table(pa.Table.from_pandas(frame()), folder / "rows.parquet", row_group_size=9)
    frame().iloc[:, ::-1].to_csv(folder / "rows.csv", index=False)  # columns have names
    source = row_source([folder / "rows.parquet", folder / "rows.csv"], target="label", n_rows=5)
    values, labels, _ = together(source)
    np.testing.assert_array_equal(values, np.concatenate([X, X]))
    np.testing.assert_array_equal(labels, np.concatenate([y, y]))
    assert source.reduce(lambda chunks: sum(len(labels) for _, labels in chunks), sum) == 2 * N


def test_delayed_chunks_and_dask_pairs():
    dask = pytest.importorskip("dask")
    dask_frame = pytest.importorskip("dask.dataframe")
    parts = [dask.delayed((X[i::4], y[i::4])) for i in range(4)]
    rows, _, n_parts = together(row_source(parts))
    np.testing.assert_array_equal(rows, np.concatenate([X[i::4] for i in range(4)]))
    assert n_parts == 4
    frames = dask_frame.from_pandas(frame(), npartitions=3)
    rows, labels, _ = together(row_source(frames[NAMES], frames["label"]))
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(labels, y)
    for arguments, options, message in (
        ((parts, y), {}, "y is for arrays; delayed chunks"),
        ((frames[NAMES], y), {}, "y must be of Dask"),
        ((frames, frames["label"]), {"target": "label"}, "either y or target"),
        ((frames, frames["label"].repartition(npartitions=1)), {}, "the same partitions"),
    ):
        with pytest.raises(ValueError, match=message):
            row_source(*arguments, **options)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((X, y[:-1]), {}, "X has 57 rows, y has 56"),
        ((X, y), {"n_rows": 0}, "'n_rows'"),
        ((X, y), {"zero_based": True}, "zero_based are for files"),
        ((X, y), {"target": "label"}, "target is for files and data frames"),
        ((frame(),), {"target": "what"}, "has no column called 'what'"),
        (("rows.csv", y), {}, "y is for arrays; name the column"),
        ((lambda: iter([]), y), {}, "y is for arrays; chunks have their own"),
    ],
)
def test_errors_of_sources(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        row_source(*arguments, **options)


def test_chunks_are_tuples():
    with pytest.raises(ValueError, match=r"chunk 1 must be a pair"):
        list(row_source(lambda: [(X, y), X]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "n_features"),
        ({"n_features": 3, "target": "a"}, "target: unknown key"),
        ({"n_features": 3, "missing": "mean"}, "missing: error or drop"),
    ],
)
def test_errors_of_chunks(folder, options, message):
    (folder / "f").write_text("1 1:2\n")
    with pytest.raises((ValueError, DataError), match=message):
        list(row_source(folder / "f", **options))
    (folder / "f").write_text("1 1:2\n1 9:1\n")
    with pytest.raises(DataError, match="index:value"):
        list(row_source(folder / "f", n_features=3))


@pytest.mark.parametrize("options", [{"drop": "ab"}, {"nominal": {"a": "Rome"}}])
def test_a_text_is_no_list(folder, options):
    frame().to_csv(folder / "f.csv", index=False)
    with pytest.raises(DataError, match="valid tuple"):
        row_source(folder / "f.csv", target="label", **options)


def test_a_damaged_parquet_file(folder):
    (folder / "rows.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(DataError, match="damaged"):
        list(row_source(folder / "rows.parquet", target="label"))
