import bz2
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file

from kernlearn.datasets import add, load, locate, read_card
from kernlearn.exceptions import DataError

RNG = np.random.RandomState(0)
X = RNG.standard_normal((30, 3)).round(4)
LABELS = np.array(["yes", "no", "maybe"])[np.arange(30) % 3]
NAMES = "length,width,depth,kind"


def text(separator=",", head="", labels=LABELS):
    rows = [separator.join([*map(str, row), str(label)]) for row, label in zip(X, labels)]  # noqa: B905
    return "\n".join([head, *rows] if head else rows) + "\n"


def put(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def added_and_loaded(file, **options):
    """Add a file and load it by the card as it was written."""
    added = add(file, name="mine", **options)
    card = read_card(added.path)
    assert card == added.card
    bunch = load(card, data_dir=added.path.parent)
    assert bunch.fingerprint == card.forms[0].fingerprint
    return added, bunch


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " ", "   "])
@pytest.mark.parametrize("head", [True, False])
def test_columns_with_any_separator_with_or_without_header(folder, separator, head):
    names = NAMES.replace(",", separator) if head else ""
    added, bunch = added_and_loaded(put(folder, "my data.csv", text(separator, names)))
    np.testing.assert_array_equal(bunch.data, X)
    assert bunch.target_names[bunch.target].tolist() == LABELS.tolist()
    assert bunch.feature_names.tolist() == (
        ["length", "width", "depth"] if head else ["x1", "x2", "x3"]
    )
    assert added.card.forms[0].classes == {"maybe": 10, "no": 10, "yes": 10}
    assert f"the first line {'is a header' if head else 'is data'}" in added.remarks
    assert added.card.task == "classification"


def test_without_a_folder_it_goes_where_load_looks(folder):
    added = add(put(folder, "f.csv", text()), name="mine")
    assert added.path == Path("datasets/mine.yaml")
    assert locate(added.card).paths == (Path("datasets/mine/f.csv"),)
    assert added.linked
    assert added.file.is_symlink()
    assert added.file.resolve() == folder / "f.csv"


def test_a_copy_or_where_links_are_not_possible(folder, monkeypatch):
    file = put(folder, "f.csv", text())
    assert not add(file, name="first", copy=True).file.is_symlink()

    def refuse(self, target):
        raise OSError("no links here")

    monkeypatch.setattr(Path, "symlink_to", refuse)
    added = add(file, name="second")
    assert not added.linked
    assert added.file.read_bytes() == file.read_bytes()


def test_a_file_that_lies_in_place_stays(folder):
    (folder / "mine").mkdir()
    file = put(folder / "mine", "f.csv", text())
    added, _ = added_and_loaded(file, folder=folder)
    assert added.file == file
    assert not added.linked


def test_packed_text(folder):
    _, bunch = added_and_loaded(put(folder, "f.csv.bz2", bz2.compress(text().encode())))
    np.testing.assert_array_equal(bunch.data, X)


def test_nominal_columns_missing_entries_ids_and_the_target_by_name(folder):
    rows = [f"id{i},{i % 4 or '?'},{['red', 'blue'][i % 2]},{i % 2},{i / 7}" for i in range(30)]
    file = put(folder, "f.csv", "id,count,colour,class,length\n" + "\n".join(rows))
    added, bunch = added_and_loaded(file)
    form = added.card.forms[0]
    assert form.format.nominal == {"colour": ("blue", "red")}
    assert form.format.missing == "?"
    assert form.format.drop == ("id",)
    assert form.format.target == "class"
    assert form.classes == {"0": 15, "1": 15}
    assert bunch.feature_names.tolist() == ["count", "colour", "length"]
    assert len(bunch.data) == 22
    assert "column id is left out: text with too many values" in added.remarks
    assert "8 of 30 rows with missing entries are left out" in added.remarks


@pytest.mark.parametrize("target", ["width", 1, "1", -3])
def test_a_target_that_is_a_number(folder, target):
    file = put(folder, "f.csv", text(head=NAMES))
    added, bunch = added_and_loaded(file, target=target, drop=["kind"])
    np.testing.assert_array_equal(bunch.target, X[:, 1])
    np.testing.assert_array_equal(bunch.data, X[:, [0, 2]])
    assert added.card.task == "regression"
    assert added.card.rows == 30


def test_whole_numbers_are_classes_by_default(folder):
    file = put(folder, "f.csv", text(labels=np.arange(30) % 5))
    assert add(file, name="a").card.classes == ("0", "1", "2", "3", "4")
    assert add(file, name="b", task="ordinal").card.task == "ordinal"
    assert add(file, name="c", task="regression").card.classes is None


def test_numbers_sort_as_numbers(folder):
    file = put(folder, "f.csv", text(labels=[10, 9, -1] * 10))
    assert add(file, name="a").card.classes == ("-1", "9", "10")


@pytest.mark.parametrize("zero_based", [True, False])
def test_libsvm(folder, zero_based):
    y = np.where(np.arange(30) % 3, 1, -1)
    dump_svmlight_file(X, y, str(folder / "f"), zero_based=zero_based)
    _, bunch = added_and_loaded(folder / "f")
    np.testing.assert_allclose(bunch.data, X)
    assert bunch.target_names[bunch.target].tolist() == y.astype(str).tolist()


def test_libsvm_with_a_number(folder):
    dump_svmlight_file(X, X[:, 0] * 2, str(folder / "f"), zero_based=False)
    added, bunch = added_and_loaded(folder / "f")
    assert added.card.task == "regression"
    np.testing.assert_allclose(bunch.target, X[:, 0] * 2)


@pytest.mark.parametrize("y", [LABELS, X[:, 0], np.arange(30) % 2])
def test_npz(folder, y):
    np.savez(folder / "f.npz", features=X, labels=y)
    added, bunch = added_and_loaded(folder / "f.npz")
    np.testing.assert_array_equal(bunch.data, X)
    found = bunch.target_names[bunch.target] if added.card.classes else bunch.target
    assert found.tolist() == (y.astype(str) if added.card.classes else y).tolist()


@pytest.mark.parametrize("kind", ["numeric", "{no,yes,maybe,never}"])
def test_arff(folder, kind):
    head = "% mine\n@relation r\n" + "".join(f"@attribute {n} real\n" for n in "abc")
    labels = LABELS if kind != "numeric" else X[:, 2] + 1
    content = f"{head}@attribute class {kind}\n@data\n{text(labels=labels)}"
    added, bunch = added_and_loaded(put(folder, "f.arff", content))
    np.testing.assert_array_equal(bunch.data, X)
    expected = None if kind == "numeric" else ("no", "yes", "maybe")
    assert added.card.classes == expected


def test_parquet(folder):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    columns = {"a": [*X[:, 0].tolist()[:-1], None], "colour": ["red", "blue"] * 15, "y": LABELS}
    pq.write_table(pa.table(columns), folder / "f.parquet")
    added, bunch = added_and_loaded(folder / "f.parquet")
    assert bunch.data.shape == (29, 2)
    assert added.card.forms[0].format.nominal == {"colour": ("blue", "red")}
    assert added.card.classes == ("maybe", "no", "yes")


BAD = {
    "one column": ("1\n2\n3\n", {}, "no separator gives the same number of columns"),
    "ragged": (text() * 5 + "1,2\n", {}, "line 151: found 2 columns, expected 4"),
    "quotes": (text(labels=['"a, b"'] * 30), {"delimiter": ","}, "only one value: a, b"),
    "open quotes": (text() + '1,2,3,"no\n', {}, r"line 3\d: .* expected entries in quotes"),
    "twice": (text(head="a,a,b,kind"), {"header": True}, "two columns are called 'a'"),
    "no target": (text(head=NAMES), {"target": "sort"}, "no column called 'sort'; its columns: l"),
    "no position": (text(), {"target": 4}, "column 4 requested, expected -4 to 3"),
    "no name": (text(), {"target": "kind"}, "no column called 'kind' by name, only by number"),
    "two missing": (text() + "?,NA,1,no\n", {}, "'\\?' and 'NA' both stand for missing"),
    "target missing": (
        text() + "1,2,3,?\n",
        {},
        "the target is the last column, and missing in 1 of 31 rows",
    ),
    "one class": (text(labels=["a"] * 30), {}, "the target has only one value: a"),
    "regression": (text(), {"task": "regression"}, "target of a regression must be numbers"),
    "task": (text(), {"task": "clustering"}, "task 'clustering': expected one of class"),
    "empty": ("", {}, "the file is empty"),
    "matlab": (b"MATLAB 5.0 MAT-file", {}, "damaged, or no MATLAB file"),
    "no npz": (b"PK\x03\x04nonsense", {}, "damaged, or no NPZ file"),
    "no parquet": (b"PAR1nonsense", {}, "damaged, or no Parquet file"),
    "binary": (b"\xff\xfe\x00", {}, "expected UTF-8 text"),
    "libsvm": ("1 1:2\n-1 2:3\n1 1:2 1:5\n", {}, "line 3"),
    "bad name": (text(), {"name": "My Data"}, "no card can be made: name"),
    "a shipped name": (text(), {"name": "iris"}, "'iris' is that of a data set in the catalogue"),
}


@pytest.mark.parametrize("kind", BAD)
def test_what_cannot_be_added_leaves_nothing(folder, kind):
    content, options, message = BAD[kind]
    with pytest.raises(DataError, match=message) as caught:
        add(put(folder, "f.csv", content), **{"name": "mine"} | options)
    assert "\n" not in str(caught.value)
    assert not list(Path().iterdir())


def test_a_file_that_is_not_there(folder):
    with pytest.raises(DataError, match=r"nowhere\.csv: no such file"):
        add(folder / "nowhere.csv", name="mine")


def test_npz_that_does_not_say_what_is_what(folder):
    np.savez(folder / "f.npz", a=X, b=X, y=LABELS)
    with pytest.raises(DataError, match=r"call it X\. It holds a \(30, 3\), b \(30, 3\), y"):
        add(folder / "f.npz", name="mine")
    np.savez(folder / "f.npz", X=X, a=LABELS, b=LABELS)
    with pytest.raises(DataError, match="no array holds one label per row"):
        add(folder / "f.npz", name="mine")
    assert add(folder / "f.npz", name="mine", target="b").card.forms[0].format.target == "b"


def test_a_pickle_is_not_opened(folder):
    np.savez(folder / "f.npz", X=X, y=np.array([{}] * 30, dtype=object))
    with pytest.raises(DataError, match="no NPZ file of plain arrays"):
        add(folder / "f.npz", name="mine")


def test_nothing_is_overwritten(folder):
    file = put(folder, "f.csv", text())
    added = add(file, name="mine")
    before = added.path.read_bytes()
    with pytest.raises(DataError, match=r"mine\.yaml: the card exists already"):
        add(file, name="mine")
    assert added.path.read_bytes() == before
    added.path.unlink()
    (folder / "deep").mkdir()
    other = put(folder / "deep", "f.csv", text() + text())
    with pytest.raises(DataError, match="another file exists already"):
        add(other, name="mine")
    assert added.file.samefile(file)
    assert not added.path.exists()


def test_a_folder_that_cannot_be_written(folder):
    file = put(folder, "f.csv", text())
    with pytest.raises(DataError, match="cannot be written"):
        add(file, name="mine", folder=file)
