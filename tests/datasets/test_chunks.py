import bz2
import gzip
import lzma
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import dump_svmlight_file

from kernlearn.datasets import table_batches
from kernlearn.datasets.chunks import iter_chunks
from kernlearn.datasets.formats import Expected, Libsvm, Parquet
from kernlearn.exceptions import DataError

TEXT = "-1 1:0.5 3:-2 \n+1 2:1 # a comment\n\n# nothing\n2.5\n-1 1:1e2 2:0.0\n+1 3:7"


@pytest.fixture
def put(folder):
    def write(content, name="small.txt"):
        path = folder / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.fixture
def table(folder):
    def write(columns, **options):
        path = folder / "small.parquet"
        pq.write_table(pa.table(columns), path, **options)
        return path

    return write


def together(chunks):
    parts = list(chunks)
    X = [x.toarray() if sparse.issparse(x) else x for x, _ in parts]
    return np.concatenate(X), np.concatenate([y for _, y in parts]), [len(y) for _, y in parts]


@pytest.mark.parametrize(("n_rows", "sizes"), [(1, [1] * 5), (2, [2, 2, 1]), (5, [5]), (9, [5])])
def test_libsvm(put, n_rows, sizes):
    X, y, found = together(iter_chunks(put(TEXT), n_rows, n_features=3))
    assert found == sizes
    assert X.tolist() == [[0.5, 0, -2], [0, 1, 0], [0, 0, 0], [100, 0, 0], [0, 0, 7]]
    assert y.tolist() == [-1, 1, 2.5, -1, 1]


def test_libsvm_chunks_are_sparse_without_stored_zeros(put):
    for X, y in iter_chunks(put(TEXT), 2, n_features=3):
        assert isinstance(X, sparse.csr_matrix)
        assert X.dtype == y.dtype == np.float64
        assert (X.data != 0).all()


@pytest.mark.parametrize(
    "text", [TEXT.replace("\n", "\r\n"), TEXT.replace("\n", "\r"), "\ufeff" + TEXT, TEXT + "\n\n"]
)
def test_line_ends_and_marks_do_not_matter(put, text):
    path, other = put(TEXT), put(text, "other")
    for one, two in zip(
        together(iter_chunks(path, 2, n_features=3)),
        together(iter_chunks(other, 2, n_features=3)),
        strict=True,
    ):
        assert np.array_equal(one, two)


@pytest.mark.parametrize(
    ("suffix", "pack"), [(".gz", gzip.compress), (".bz2", bz2.compress), (".xz", lzma.compress)]
)
def test_compressed(put, suffix, pack):
    path = put(pack(TEXT.encode()), f"small{suffix}")
    assert together(iter_chunks(path, 2, n_features=3))[2] == [2, 2, 1]
    damaged = put(pack((TEXT + "\n").encode() * 50)[:-20], f"damaged{suffix}")
    with pytest.raises(DataError, match="damaged or cut short"):
        list(iter_chunks(damaged, 2, n_features=3))


def test_zero_based(put):
    X, *_ = together(iter_chunks(put("1 0:1 2:3\n"), n_features=3, zero_based=True))
    assert X.tolist() == [[1, 0, 3]]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 9))
def test_libsvm_is_what_the_whole_reader_reads(folder, seed, n, n_rows):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4)) * (rng.random((n, 4)) < 0.5)
    y = rng.standard_normal(n)
    dump_svmlight_file(X, y, str(folder / "drawn"), zero_based=False)
    whole = Libsvm().read([folder / "drawn"], Expected(4, None))
    found, labels, sizes = together(iter_chunks(folder / "drawn", n_rows, n_features=4))
    dense = whole.X.toarray() if sparse.issparse(whole.X) else whole.X
    assert np.array_equal(found, dense)
    assert np.array_equal(labels, whole.y)
    assert all(size == n_rows for size in sizes[:-1])


@pytest.mark.parametrize("n_rows", [1, 2, 50])
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("yes 1:1", r"line 5, column 1 \(label\): found 'yes', expected a finite"),
        ("nan 1:1", r"line 5, column 1 \(label\): found 'nan', expected a finite"),
        ("1 4:1", "line 5, column 2: found '4:1', expected an index from 1 to 3"),
        ("1 0:1", "line 5, column 2: found '0:1', expected an index from 1 to 3"),
        ("1 2:1 1:1", "line 5, column 3: found '1:1', expected an index from 3 to 3"),
        ("1 1:1_0", "line 5, column 2: found '1:1_0', expected index:value with a finite"),
        ("1 1:inf", "line 5, column 2: found '1:inf'"),
        ("1 1:1e999", "line 5, column 2: found '1:1e999'"),
        ("1 qid:3 1:1", "line 5, column 2: found 'qid:3'"),
        ("1,2,3", r"line 5, column 1 \(label\): found '1,2,3'"),
    ],
)
def test_faults_name_the_file_and_the_line(put, line, message, n_rows):
    path = put(f"1 1:1\n\n# a comment\n1 1:1\n{line}\n1 1:1\n")
    chunks = iter_chunks(path, n_rows, n_features=3)
    before = []
    with pytest.raises(DataError, match=message) as caught:
        before.extend(chunks)
    assert str(caught.value).startswith(f"{path}, line 5, ")
    assert sum(len(y) for _, y in before) == {1: 2, 2: 2, 50: 0}[n_rows]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1 1:1\n1 1:\xff\n", r"line 2: found b'\\xff', expected UTF-8 text"),
        (b"1 1:1\n1 1:1\n1\0 1:1\n", r"line 3: found '\\x00', expected text"),
        (b"", "the file has no rows"),
        (b"# nothing\n\n", "the file has no rows"),
    ],
)
def test_no_text(put, content, message):
    with pytest.raises(DataError, match=message):
        list(iter_chunks(put(content), 10, n_features=3))


def columns(n=10):
    return {
        "a": np.arange(n) / 4,
        "b": np.arange(n, dtype=np.int32),
        "label": [["no", "yes"][i % 2] for i in range(n)],
        "c": np.arange(n) % 3 == 0,
        "id": [f"row {i}" for i in range(n)],
    }


@pytest.mark.parametrize("row_group_size", [1, 4, 100])
@pytest.mark.parametrize(("n_rows", "sizes"), [(3, [3, 3, 3, 1]), (10, [10]), (50, [10])])
def test_parquet(table, row_group_size, n_rows, sizes):
    path = table(columns(), row_group_size=row_group_size)
    chunks = iter_chunks(path, n_rows, target="label", drop=["id"])
    X, y, found = together(chunks)
    assert found == sizes
    assert X.tolist() == [[i / 4, i, i % 3 == 0] for i in range(10)]
    assert y.tolist() == ["no", "yes"] * 5


def test_parquet_with_categories(table):
    made = columns()
    made["label"] = pa.array(made["label"]).dictionary_encode()
    path = table(made, row_group_size=4)
    _, y, found = together(iter_chunks(path, 3, target="label", drop=["id"]))
    assert found == [3, 3, 3, 1]
    assert y.tolist() == ["no", "yes"] * 5


def test_parquet_is_what_the_whole_reader_reads(table):
    made = columns()
    made["label"] = np.arange(10) % 2
    made["c"] = pa.array([1.5, None] * 5)
    path = table(made)
    options = Parquet(target="label", drop=("id",))
    whole = options.read([path], Expected(3, ("0", "1")))
    X, y, _ = together(iter_chunks(path, 4, target="label", drop=["id"], missing=True))
    assert np.array_equal(X, whole.X, equal_nan=True)
    assert np.array_equal(y, whole.y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"a": pa.array([1.0] * 7 + [None] * 3)}, "row 8, column a: found nothing, expected a fi"),
        ({"a": [1.0] * 4 + [np.inf] * 6}, "row 5, column a: found inf, expected a finite number"),
        ({"a": [1.0] * 4 + [np.nan] * 6}, "row 5, column a: found nan"),
        ({"a": ["x"] * 10}, "column a: found string, expected numbers; or drop it"),
        ({"label": pa.array(["x"] * 9 + [None])}, "row 10, column label: found nothing"),
        ({"label": pa.array([[1]] * 10)}, "column label: found list.*expected numbers or texts"),
        ({"label": [1.0] * 9 + [np.nan]}, "row 10, column label: found nan"),
    ],
)
def test_faults_name_the_row_and_the_column(table, change, message):
    path = table({**columns(), **change})
    with pytest.raises(DataError, match=message) as caught:
        list(iter_chunks(path, 3, target="label", drop=["id"]))
    assert str(caught.value).startswith(f"{path}, ")


def test_parquet_files_that_do_not_fit(table, put):
    path = table(columns())
    with pytest.raises(DataError, match="has no column called what"):
        list(iter_chunks(path, target="what"))
    with pytest.raises(DataError, match="has no column called ident"):
        list(iter_chunks(path, target="label", drop=["ident"]))
    with pytest.raises(DataError, match="found 3 feature columns, expected 4"):
        list(iter_chunks(path, target="label", drop=["id"], n_features=4))
    content = path.read_bytes()
    with pytest.raises(DataError, match="damaged, or no Parquet file"):
        list(iter_chunks(put(content[:-30], "cut"), target="label"))
    with pytest.raises(DataError, match="the file has no rows"):
        list(iter_chunks(table(columns(0)), target="label", drop=["id"]))


def test_the_format_is_seen_or_named(table, put):
    path = table(columns())
    with pytest.raises(ValueError, match="target must name the target's column"):
        iter_chunks(path, n_features=3)
    with pytest.raises(ValueError, match="n_features must be given for a LIBSVM file"):
        iter_chunks(put(TEXT))
    with pytest.raises(DataError, match="line 1: found"):
        list(iter_chunks(path, 3, "libsvm", n_features=3))
    with pytest.raises(DataError, match="damaged, or no Parquet file"):
        list(iter_chunks(put(TEXT), 3, "parquet", target="y"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_rows": 0}, "'n_rows' must be an int >= 1, got 0"),
        ({"n_features": 2.5}, "'n_features' must be an int >= 1, got 2.5"),
        ({"format": "arff"}, "format must be None, 'libsvm', 'parquet' or 'csv', got 'arff'"),
        ({"drop": "id"}, "drop must be a sequence of column names, got 'id'"),
        ({"target": "y"}, "target, drop and missing are for Parquet and CSV files"),
    ],
)
def test_arguments_are_checked_before_anything_is_read(put, arguments, message):
    with pytest.raises(ValueError, match=message):
        iter_chunks(put(TEXT), **{"n_features": 3, **arguments})


def test_files_that_cannot_be_read(put, folder):
    with pytest.raises(DataError, match="absent: cannot be read: No such file"):
        iter_chunks(folder / "absent", n_features=3)
    with pytest.raises(DataError, match="cannot be read: No such file"):
        list(iter_chunks(folder / "absent", 3, "parquet", target="y"))
    with pytest.raises(DataError, match="cannot be read: Is a directory"):
        iter_chunks(folder, n_features=3)
    with pytest.raises(DataError, match="an archive is not read in chunks; unpack it"):
        iter_chunks(put("", "small.zip"), n_features=3)
    with pytest.raises(DataError, match="unpack it with 'gzip -d' first"):
        iter_chunks(put("", "small.Z"), n_features=3)


def peak(chunks):
    tracemalloc.start()
    rows = sum(len(y) for _, y in chunks)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return rows, most


def test_memory_does_not_grow_with_a_libsvm_file(put):
    line = " ".join(f"{i}:0.25" for i in range(1, 21)) + "\n"
    short, long = put(("1 " + line) * 1_000, "short"), put(("1 " + line) * 6_000, "long")
    list(iter_chunks(short, 500, n_features=20))  # imports
    (rows, small), (more, large) = (
        peak(iter_chunks(p, 500, n_features=20)) for p in (short, long)
    )
    assert (rows, more) == (1_000, 6_000)
    assert large < 1.2 * small


@pytest.mark.parametrize("row_group_size", [300, 200_000])
def test_memory_does_not_grow_with_a_parquet_file(folder, row_group_size):
    def write(n):
        path = folder / f"{n}.parquet"
        made = {f"x{i}": np.random.default_rng(i).standard_normal(n) for i in range(5)}
        columns = pa.table({**made, "y": np.zeros(n)})
        pq.write_table(
            columns,
            path,
            row_group_size=row_group_size,
            data_page_size=4096,
            use_dictionary=False,
        )
        return path

    def most(path):
        # Arrow's own memory, which Python does not see
        pool = pa.default_memory_pool()
        before = pool.bytes_allocated()
        chunks = iter_chunks(path, 1_000, target="y")
        return max(pool.bytes_allocated() - before for _ in chunks)

    short, long = write(20_000), write(200_000)
    assert most(long) < 1.5 * most(short) + 2**14
    small = peak(iter_chunks(short, 1_000, target="y"))[1]
    assert peak(iter_chunks(long, 1_000, target="y"))[1] < 1.5 * small


def test_row_groups_are_mapped_a_few_at_a_time(table, monkeypatch):
    values = np.arange(100.0)
    path = table({"x": values, "y": values % 3}, row_group_size=7)
    X, y, sizes = together(iter_chunks(path, 30, target="y"))
    monkeypatch.setattr(table_batches, "_MAPPED_BYTES", 1)
    monkeypatch.setattr(table_batches, "_PART_BYTES", 1)
    again, labels, others = together(iter_chunks(path, 30, target="y"))
    assert sizes == others == [30, 30, 30, 10]
    assert X.ravel().tolist() == again.ravel().tolist() == values.tolist()
    assert y.tolist() == labels.tolist()
    parts = table_batches.parquet_parts(path)
    assert parts == [range(i, i + 1) for i in range(15)]
    some = together(iter_chunks(path, 30, target="y", row_groups=range(3, 5)))
    assert some[0].ravel().tolist() == values[21:35].tolist()
    values[60] = np.nan
    path = table({"x": values, "y": values % 3}, row_group_size=7)
    with pytest.raises(DataError, match="row 61, column x: found nan"):
        list(iter_chunks(path, 30, target="y", row_groups=range(7, 10)))
    with pytest.raises(DataError, match="row 61, column x: found nan"):
        list(iter_chunks(path, 30, target="y"))
