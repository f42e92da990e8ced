"""Damaged files of every format: one clear line, or what a slow and obvious reading gives."""

import bz2
import gzip
import io
import zipfile

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.io import loadmat

from kernlearn.datasets import load
from kernlearn.exceptions import DataError
from tests.datasets.test_arrays_matlab import save_v5, save_v73

VALUES = [[1.0, 2.5, 3.0], [-4.0, 500.0, 6.0], [0.0, 0.125, -7.0], [8.0, 0.0, 1e-5]]
ATTRIBUTES = "@relation r\n@attribute a numeric\n@attribute b real\n@attribute y numeric\n@data\n"


def slow_csv(text, comma=","):
    """Read every line that is not blank; an entry may have space, of any kind, around it."""
    rows = [line.split(comma) for line in text.split("\n") if line.strip()]
    return [[float(entry.strip()) for entry in row] for row in rows], None


def slow_pairs(text, queries=False):
    rows, ids = [], []
    for line in text.split("\n"):
        label, *entries = line.split("#")[0].split() or [""]
        if label:
            if queries:
                ids.append(int(entries.pop(0).removeprefix("qid:")))
            row = [0.0, 0.0, float(label)]
            for entry in entries:
                index, value = entry.split(":")
                row[int(index) - 1] = float(value)
            rows.append(row)
    return rows, ids or None


def slow_arff(text):
    at = text.lower().index("@data")
    names = [line.split()[1] for line in text[:at].split("\n") if "@attribute" in line.lower()]
    rows = []
    for line in text[at:].split("\n")[1:]:
        row = line.strip().removesuffix(",")
        if row.startswith("{"):
            entries = dict(entry.split() for entry in row.strip("{} ").split(",") if entry.strip())
            rows.append([entries.get(str(i), "0") for i in range(len(names))])
        elif row and not row.startswith("%"):
            rows.append([entry.strip().strip("'\"") for entry in row.split(",")])
    kept = [row for row in rows if "?" not in row]
    return [[float(entry) for entry in row] for row in kept], None


def text_of(content):
    return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def lines(comma):
    return "".join(comma.join(map(repr, row)) + "\n" for row in VALUES)


def pairs(query=""):
    return "".join(f"{y!r} {query}1:{a!r} 2:{b!r} # note\n" for a, b, y in VALUES)


def sparse_rows():
    return "".join(f"{{0 {a!r}, 1 {b!r}, 2 {y!r}}}\n" for a, b, y in VALUES)


TEXT = {
    "csv": ({"kind": "delimited"}, lines(","), slow_csv),
    "blanks": (
        {"kind": "delimited", "delimiter": None},
        lines(" "),
        lambda text: slow_csv(text, None),
    ),
    "libsvm": ({"kind": "libsvm"}, pairs(), slow_pairs),
    "letor": ({"kind": "letor"}, pairs("qid:7 "), lambda text: slow_pairs(text, True)),
    "arff": ({"kind": "arff"}, ATTRIBUTES + lines(","), slow_arff),
    "sparse arff": ({"kind": "arff"}, ATTRIBUTES + sparse_rows(), slow_arff),
}
INSERTED = st.sampled_from(
    [
        "nan",
        "NaN",
        "inf",
        "x",
        "?",
        "",
        ",",
        ",,",
        " ",
        "\n",
        "\r",
        "\0",
        "é",
        "'",
        '"',
        "{",
        "}",
        "%",
        "@data\n",
        "#",
        "1:",
        "qid:",
        "1e999",
        "1_0",
        "0x1",
        "-",
        "1",
        "99999999999999999999",
        "1" * 10**6,
        " " * 10**6,
        "," * 10**6,
        "x" * 10**6,
        "'" + "x" * 10**6,
    ]
)


@st.composite
def damaged(draw, content):
    """Damage the bytes of a file in one of the ways in which files are found damaged."""
    way = draw(st.sampled_from(["cut", "hole", "insert", "bytes", "swap", "encode", "empty"]))
    at = draw(st.integers(0, len(content)))
    if way == "cut":
        return content[:at]
    if way == "hole":
        return content[:at] + content[draw(st.integers(at, len(content))) :]
    if way == "insert":
        return content[:at] + draw(INSERTED).encode() + content[at:]
    if way == "bytes":
        until = min(len(content), at + draw(st.integers(0, 8)))
        return content[:at] + draw(st.binary(max_size=8)) + content[until:]
    if way == "swap":
        parts = content.split(b" " if b", " not in content else b",")
        return b" ".join(draw(st.permutations(parts)))
    if way == "encode":
        encoding = draw(st.sampled_from(["utf-16", "utf-32", "cp037", "utf-8-sig"]))
        return content.decode("latin-1").encode(encoding, errors="replace")
    return b""


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


def read(card, folder):
    """Return the data, or the message of the error that says why there is none."""
    try:
        return load(card, data_dir=folder, cache=False), ""
    except DataError as error:
        return None, str(error)


def is_clear(message, path):
    return str(path) in message and len(message.splitlines()) == 1 and len(message) < 2000


QUICK = {"deadline": None, "suppress_health_check": list(HealthCheck)}


def card_of(make_card, form, **changes):
    task = "ranking" if form["kind"] == "letor" else "regression"
    return make_card({"files": ["f"], "format": form}, task=task, **changes)


@pytest.mark.parametrize("kind", TEXT)
@settings(max_examples=40, **QUICK)
@given(data=st.data())
def test_text(make_card, folder, kind, data):
    form, text, slow = TEXT[kind]
    content = data.draw(damaged(text.encode()))
    (folder / "f").write_bytes(content)
    bunch, message = read(card_of(make_card, form), folder)
    if bunch is None:
        assert is_clear(message, folder / "f")
        return
    rows, queries = slow(text_of(content))
    assert np.column_stack([dense(bunch.data), bunch.target]).tolist() == rows
    assert queries is None or bunch.query.tolist() == queries


@pytest.mark.parametrize("kind", TEXT)
def test_what_is_not_damaged_loads(make_card, folder, kind):
    form, text, slow = TEXT[kind]
    (folder / "f").write_text(text)
    bunch = load(card_of(make_card, form), data_dir=folder)
    rows, _ = slow(text)
    assert rows == VALUES
    assert np.column_stack([dense(bunch.data), bunch.target]).tolist() == VALUES


@pytest.mark.parametrize("kind", TEXT)
def test_other_encodings_are_not_guessed(make_card, folder, kind):
    form, text, _ = TEXT[kind]
    for encoding in ("utf-16", "utf-32", "cp037"):
        (folder / "f").write_bytes(text.encode(encoding))
        bunch, message = read(card_of(make_card, form), folder)
        assert bunch is None
        assert is_clear(message, folder / "f")


@pytest.mark.parametrize("kind", ["csv", "libsvm"])
def test_a_class_without_rows_is_an_error(make_card, folder, kind):
    form, text, _ = TEXT[kind]
    rows = text.splitlines(keepends=True)[:1] * 4
    (folder / "f").write_text("".join(rows))
    facts = {"rows": 4, "classes": {3: 2, 6: 2}}
    with pytest.raises(DataError, match="found 4 rows of 3, expected 2"):
        load(make_card({"files": ["f"], "format": form, **facts}), data_dir=folder)


def as_npz(path):
    X = np.array(VALUES)
    with path.open("wb") as file:
        np.savez(file, X=X[:, :2], y=X[:, 2])


def as_parquet(path):
    pd.DataFrame(VALUES, columns=["a", "b", "y"]).to_parquet(path, index=False)


def as_v5(path):
    X = np.array(VALUES)
    with path.open("wb") as file:
        save_v5(file, A=X[:, :2], C=X[:, 2])


def as_v73(path):
    X = np.array(VALUES)
    save_v73(path, A=X[:, :2], C=X[:, 2])


def npz_again(content):
    # bytes before an archive are no fault, which np.load does not know
    with zipfile.ZipFile(io.BytesIO(content)) as stored:
        return np.column_stack([np.load(stored.open(f"{name}.npy")) for name in "Xy"])


def parquet_again(content):
    table = pq.read_table(io.BytesIO(content))
    y = table.column("y").to_pylist()
    return np.column_stack([*table.drop_columns("y").to_pydict().values(), y])


def v5_again(content):
    found = loadmat(io.BytesIO(content))
    return np.column_stack([found["A"], found["C"].ravel()])


BINARY = {
    "npz": ({"kind": "npz"}, as_npz, npz_again),
    "parquet": ({"kind": "parquet", "target": "y"}, as_parquet, parquet_again),
    "v5": ({"kind": "matlab"}, as_v5, v5_again),
    "v73": ({"kind": "matlab"}, as_v73, None),  # no checksums: a changed number is a number
}


@pytest.mark.parametrize("kind", BINARY)
@settings(max_examples=25, **QUICK)
@given(data=st.data())
def test_binary(make_card, folder, kind, data):
    form, write, again = BINARY[kind]
    path = folder / "f"
    write(path)
    content = path.read_bytes()
    card = make_card({"files": ["f"], "format": form, "rows": 4}, task="regression")
    assert load(card, data_dir=folder, cache=False).data.shape == (4, 2)
    at = data.draw(st.integers(0, len(content)))
    inserted = data.draw(st.binary(max_size=4))
    length = data.draw(st.sampled_from([len(inserted), 0, 1, 64, len(content)]))
    damaged_content = content[:at] + inserted + content[at + length :]
    path.write_bytes(damaged_content)
    bunch, message = read(card, folder)
    if bunch is None:
        assert is_clear(message, path)
        return
    assert bunch.data.shape == (4, 2)
    if again is not None:
        values = np.column_stack([bunch.data, bunch.target])
        np.testing.assert_array_equal(values, again(damaged_content))


def zipped(content):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("inside/f", content)
    return target.getvalue()


@pytest.mark.parametrize(
    ("name", "pack"), [("f.gz", gzip.compress), ("f.bz2", bz2.compress), ("small.zip", zipped)]
)
@settings(max_examples=25, **QUICK)
@given(data=st.data())
def test_packed(make_card, folder, name, pack, data):
    form, text, _ = TEXT["csv"]
    content = pack(text.encode())
    at = data.draw(st.integers(0, len(content) - 1))
    changed = bytearray(content)
    if data.draw(st.booleans(), label="cut"):
        del changed[at:]
    else:
        changed[at] ^= data.draw(st.integers(1, 255))
    (folder / name).write_bytes(changed)
    bunch, message = read(card_of(make_card, form), folder)
    if bunch is None:
        # an archive that no longer names the file does not hold it
        missing = name == "small.zip" and message.startswith("1 data set is missing")
        assert missing or is_clear(message, folder / name)
        return
    assert np.column_stack([bunch.data, bunch.target]).tolist() == VALUES
