"""Files as people have them come in as pandas reads them, or are refused with what to write."""

import gzip
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file

from kernlearn.datasets import add, load, read_card
from kernlearn.exceptions import DataError

FRAME = pd.DataFrame(
    {
        "x": [1.5, 2.0, 0.1, 1 / 3] * 6,
        "colour": ["red", "blue", "a, b", 'say "x"'] * 6,
        "label": ["yes", "no", "no"] * 8,
    }
)


def write(folder, text, name="f.csv", **how):
    path = folder / name
    path.write_text(text, **how)
    return path


def sentences(path, **options):
    return "; ".join(load(path, **options).preparation.sentences)


# What programs write


def stata(frame, path):
    frame.to_stata(path, write_index=False)


def spss(frame, path):
    pytest.importorskip("pyreadstat").write_sav(frame, path)


def excel(frame, path):
    pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")
    frame.to_excel(path)


WRITERS = {
    "plain.csv": lambda f, p: f.to_csv(p, index=False),
    "index.csv": lambda f, p: f.to_csv(p),
    "tabs.tsv": lambda f, p: f.to_csv(p, sep="\t"),
    "semicolons.csv": lambda f, p: f.to_csv(p, sep=";", index=False, encoding="utf-16"),
    "packed.csv.gz": lambda f, p: f.to_csv(p),
    "t.parquet": lambda f, p: f.to_parquet(p),
    "t.dta": stata,
    "t.sav": spss,
    "t.xlsx": excel,
    # R's write.csv and write.table
    "r.csv": lambda f, p: f.to_csv(p, quoting=2),
    "r.txt": lambda f, p: p.write_text(
        f.to_csv(sep=" ", quoting=2).removeprefix('"" '), encoding="utf-8"
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_what_programs_write_comes_back(folder, name):
    path = folder / name
    WRITERS[name](FRAME, path)
    bunch = load(path, nominal="onehot")
    order = ["a, b", "blue", "red", 'say "x"']
    assert bunch.feature_names.tolist() == ["x", *(f"colour={value}" for value in order)]
    np.testing.assert_array_equal(bunch.data[:, 0], FRAME["x"])
    np.testing.assert_array_equal(bunch.data[:, 3], FRAME["colour"] == "red")
    assert bunch.target_names[bunch.target].tolist() == FRAME["label"].tolist()
    with_index = name in ("index.csv", "tabs.tsv", "packed.csv.gz", "t.xlsx", "r.csv", "r.txt")
    assert ("row names" in bunch.preparation.left_out) == with_index


TABLES = {  # text, options, features, target, what is said
    "row numbers without a name": (
        ",tv,radio,sales\n0,1.5,2.5,3.1\n1,2.5,1.5,2.2\n2,3.5,0.5,4.7\n3,0.5,3.5,1.9\n",
        {},
        [[1.5, 2.5], [2.5, 1.5], [3.5, 0.5], [0.5, 3.5]],
        [3.1, 2.2, 4.7, 1.9],
        "row names (the first column has no name)",
    ),
    "decimal commas that are asked for": (
        "preis;qm;label\n1.250;80,5;ja\n950;60,2;nein\n2.100;99,9;ja\n",
        {"read_as": {"decimal": ",", "thousands": "."}},
        [[1250, 80.5], [950, 60.2], [2100, 99.9]],
        [0, 1, 0],
        "",
    ),
    "a point that marks a missing entry": (
        "a,label\n1,p\n2,q\n.,p\n4,q\n",
        {},
        [[1], [2], [4]],
        [0, 1, 1],
        "1 of 4 rows with missing entries is left out",
    ),
    "texts of missing entries that are named": (
        "a,label\n1,p\n2,q\n<0.05,p\n-,q\n5,q\n",
        {"read_as": {"missing": ["<0.05", "-"]}},
        [[1], [2], [5]],
        [0, 1, 1],
        "2 of 5 rows with missing entries are left out",
    ),
    "rows without a target": (
        "lang,x\nEnglish,1\nNA,2\nSpanish,3\nNA,4\n",
        {"target": "lang"},
        [[1], [3]],
        [0, 1],
        "2 of 4 rows without a target are left out",
    ),
    "rows without a number to predict": (
        "x,salary\n1,475.5\n2,NA\n3,480\n4,500\n",
        {},
        [[1], [3], [4]],
        [475.5, 480, 500],
        "1 of 4 rows without a target is left out",
    ),
    "line breaks in quotes": (
        'a,note,label\n1,"x\ny",p\n2,"z",q\n3,"x\ny",p\n',
        {"nominal": "ordinal"},
        [[1, 0], [2, 1], [3, 0]],
        [0, 1, 0],
        "",
    ),
    "comments that are asked for": (
        "# made by hand\na,label\n1,p\n2,q # odd\n",
        {"read_as": {"comment": "#"}},
        [[1], [2]],
        [0, 1],
        "",
    ),
    "names of rows without a name": (
        '"a" "b" "label"\n"1" 0.5 1.5 "p"\n"2" 0.7 0.1 "q"\n"3" 0.2 0.9 "p"\n',
        {},
        [[0.5, 1.5], [0.7, 0.1], [0.2, 0.9]],
        [0, 1, 0],
        "row names",
    ),
    "a column without entries, and dates": (
        "a,b,day,label\n1,,2024-01-01,p\n2,,2024-01-02,q\n3,,2024-01-03,p\n",
        {},
        [[1], [2], [3]],
        [0, 1, 0],
        "b (it has no entries), day (dates, such as 2024-01-01, in ascending order",
    ),
    "columns without names": (
        "5.1,3.5,a\n4.9,3.0,b\n4.7,3.2,a\n",
        {"drop": ["x2"]},
        [[5.1], [4.9], [4.7]],
        [0, 1, 0],
        "1 column is left out: x2",
    ),
    "a first line that names the separator": (
        "sep=|\na|label\n1|p\n2|q\n",
        {},
        [[1], [2]],
        [0, 1],
        "",
    ),
    "values of which some are numbers": (
        "children,label\n" + "1,p\n2,q\n3,p\nmore,q\n" * 9,
        {"nominal": "ordinal"},
        [[0], [1], [2], [3]] * 9,
        [0, 1, 0, 1] * 9,
        "children (4 values)",
    ),
    "a first line of values that occur again": (
        "rep,n,y,?\ndem,y,y,n\nrep,n,n,y\ndem,y,n,n\n",
        {"target": 0, "missing": "most_frequent", "nominal": "ordinal"},
        [[0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 0]],
        [1, 0, 1, 0],
        "1 missing entry in 1 of 4 rows is filled in",
    ),
    "true and false": (
        "a,flag,ok\n1,True,True\n2,False,False\n3,True,True\n",
        {"nominal": "ordinal"},
        [[1, 1], [2, 0], [3, 1]],
        [1, 0, 1],
        "flag (2 values)",
    ),
    "lines that end with a comma": (
        "a,b,label\n1,2,p,\n3,4,q,\n",
        {},
        [[1, 2], [3, 4]],
        [0, 1],
        "nothing (it has no entries)",
    ),
    "numbers that a user calls text": (
        "code,label\n1,p\n2,q\n2,p\nx,q\n",
        {"read_as": {"text": ["code"]}, "nominal": "ordinal"},
        [[0], [1], [1], [2]],
        [0, 1, 0, 1],
        "code (3 values)",
    ),
}


@pytest.mark.parametrize("case", TABLES)
def test_tables(folder, case):
    text, options, X, y, remark = TABLES[case]
    path = write(folder, text)
    bunch = load(path, **options)
    np.testing.assert_array_equal(bunch.data, X)
    np.testing.assert_array_equal(bunch.target, y)
    assert remark in "; ".join(bunch.preparation.sentences)
    # a card says the same
    how = {key: value for key, value in options.items() if key != "nominal"}
    added = add(path, name="mine", folder=folder, **how)
    again = load("mine", data_dir=folder)
    np.testing.assert_array_equal(again.data, X)
    assert again.fingerprint == added.card.forms[0].fingerprint == bunch.fingerprint


REFUSED = {
    "decimal commas": (
        "preis;qm;label\n1.250;80,5;ja\n950;60,2;nein\n2.100;99,9;ja\n",
        {},
        r"column qm: all 3 entries are numbers with a comma.*read_as: {decimal: \",\"}",
    ),
    "points of thousands": (
        "preis;qm;label\n1.250;80,5;ja\n950;60,2;nein\n2.100;99,9;ja\n",
        {"read_as": {"decimal": ","}},
        r'column preis: 1 of 3 entries are numbers.*thousands: "\."',
    ),
    "a typing error among numbers": (
        "height,label\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(199)) + "17O.5,a\n",
        {},
        r"column height: 199 of 200 entries are numbers; the first other is '17O.5' in line 201",
    ),
    "commas of thousands": (
        'a,label\n"1,250",p\n950,q\n"2,100",p\n',
        {},
        r'column a: all 3 entries are numbers with a comma.*decimal: ",".*or `{thousands: ","}`',
    ),
    "a minus of typographers": ("a,label\n1,p\n−2,q\n3,p\n", {}, "first other is '−2' in line 3"),
    "an odd entry in a target": (
        "x,y\n" + "".join(f"{i},{i}.5\n" for i in range(50)) + "50,n/k\n",
        {},
        "column y: 50 of 51 entries are numbers; the first other is 'n/k' in line 52",
    ),
    "comments": ("# by hand\na,label\n1,p\n", {}, r"read_as: {comment: '#'}"),
    "a short row": ("x,y\n1,a\n2\n3,b\n", {}, r"row 3 has 1, row 1 2"),
    "one column": ("a\nb\nc\n", {}, "no separator"),
    "equal names": ("a,a,label\n1,2,p\n", {}, "two columns are called 'a'; rename one"),
    "several labels": ("0,1 1:0.5\n1 2:0.5\n", {}, r"several labels in a row \(0,1\)"),
    "dates to predict": ("x,y\n1,2024-01-01\n2,2024-01-02\n", {}, "cannot be: dates"),
    "texts alone": (
        "text,y\n" + "".join(f"text number {i},{i % 2}\n" for i in range(50)),
        {},
        "`points: text` takes its texts as strings to compare",
    ),
    "no such column": ("a,label\n1,p\n", {"target": "b"}, "no column called 'b'; its columns: a,"),
    "grades that are not all": (
        "a,y\n1,low\n2,high\n",
        {"task": "ordinal", "grades": ["low", "mid"]},
        "grades: high of the target not among low, mid",
    ),
    "an unknown way to read": ("a,label\n1,p\n", {"read_as": {"sep": ";"}}, "read_as: no 'sep'"),
    "no whole row": (
        "a,b,label\n1,,p\n,2,q\n",
        {},
        r"no row is left without them.*drop leaves out columns: a \(1 of 2\), b \(1 of 2\)",
    ),
    "too little to fill in": (
        "pool,x,label\n" + "NA,1,p\n" * 30 + "5,2,q\n",
        {"missing": "mean"},
        r"nearly all entries are missing in pool.*pool \(30 of 31\)",
    ),
    "a matrix without labels": (
        "0,1,2\n1,0,3\n2,3,0\n",
        {},
        "a 3 x 3 matrix, symmetric, and no column of labels",
    ),
    "bytes": ("\0\1\2 no text", {}, "neither text nor a format that is known"),
    "nothing": ("", {}, "the file is empty"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_advice(folder, case):
    text, options, message = REFUSED[case]
    path = write(folder, text)
    with pytest.raises(DataError, match=f"(?s)^{path}.*{message}") as caught:
        load(path, **options)
    assert "\n" not in str(caught.value)


def test_na_is_alike_in_all_columns(folder):
    path = write(folder, "n,c,label\n1,NA,p\nNA,x,q\n3,y,NA\n4,x,p\n5,y,q\n")
    assert sentences(path) == (
        "1 of 5 rows without a target is left out; 2 of 5 rows with missing entries are left out; "
        "1 nominal column enters as codes 0, 1, 2, …: c (2 values); the target is column label"
    )
    assert "1 of nominal columns by the most frequent value" in sentences(path, missing="mean")


def test_texts_keep_their_blanks_and_lone_quotes(folder):
    path = write(folder, 'text,y\n"ab ",1\n"ab",0\n" cd",1\n"cd",0\n')
    assert load(path, points="text", target="y").data.tolist() == ["ab ", "ab", " cd", "cd"]
    path = write(folder, "007,1\n7,0\n12,1\n")
    assert load(path, points="x1", target="x2").data.tolist() == ["007", "7", "12"]
    assert load(path, points=0, target=1).data.tolist() == ["007", "7", "12"]
    path = write(folder, 'ham\thi there\nspam\t"Win now\nham\tok\nspam\tfree "call"\n', "sms.tsv")
    bunch = load(path, points="x2", target="x1")
    assert bunch.data.tolist() == ["hi there", '"Win now', "ok", 'free "call"']


@pytest.mark.parametrize("index", [True, False])
def test_columns_that_pandas_numbers(folder, index):
    X, y = np.arange(60.0).reshape(20, 3) ** 2, np.arange(20) % 2
    pd.DataFrame(np.c_[X, y]).to_csv(folder / "numbered.csv", index=index)
    bunch = load(folder / "numbered.csv")
    np.testing.assert_array_equal(bunch.data, X)
    np.testing.assert_array_equal(bunch.target, y)
    assert "the target is column 3" in sentences(folder / "numbered.csv")


def test_what_is_assumed_is_said(folder):
    path = write(folder, "3,4,0\n5,6,1\n7,8,0\n")
    assert len(load(path).data) == 3
    assert "the first line is data" in sentences(path)
    assert "the first line is data" not in sentences(path, read_as={"header": False})
    path = write(folder, "x,y\n" + "\n".join(f"{i},{i / 7}" for i in range(1, 41)))
    with pytest.raises(DataError, match="task: regression"):
        load(path, task="classification")


def test_pairs_of_svmlight(folder):
    X = sparse.random(40, 30, 0.1, random_state=0, format="csr")
    X.data = X.data.round(3)
    X[0, 29] = 1.0
    y = np.arange(40) % 2 * 2 - 1
    for zero_based in (True, False):
        dump_svmlight_file(X, y, str(folder / "f"), zero_based=zero_based)
        bunch = load(folder / "f")
        np.testing.assert_array_equal(bunch.data.toarray(), X.toarray())
        assert bunch.target_names.tolist() == ["-1", "1"]
    text = "1 qid:1 1:0.5 2:0.7 # d1\n0 qid:1 1:0.4 2:0.1\n1 qid:2 1:0.9\n0 qid:2 2:0.9 # d4\n"
    bunch = load(write(folder, text, "letor.txt"))
    assert bunch.card.task == "ranking"
    assert bunch.query.tolist() == [1, 1, 2, 2]
    assert bunch.data[2].tolist() == [0.9, 0.0]


def test_attributes_of_arff(folder):
    head = (
        "% published\n@RELATION r\n@attribute 'the size' integer [1,10]\n@attribute kind "
        "{.200, 0.2, 'a, b'}\n@attribute note string\n@attribute class {yes, no}\n@data\n"
    )
    rows = "% here too\n1, .200, 'x y', no\n?, 0.2, 'ü', yes\n3, 'a, b', z, no,\n"
    path = folder / "f.arff"
    path.write_bytes((head + rows).encode("latin-1"))
    bunch = load(path, drop=["note"], missing="mean")
    assert bunch.feature_names.tolist() == ["the size", "kind"]
    assert bunch.data.tolist() == [[1, 0], [2, 1], [3, 2]]
    assert bunch.target_names.tolist() == ["yes", "no"]
    path.write_text(head + "{0 2, 3 no}\n{1 0.2}\n")
    bunch = load(path)
    assert bunch.data.tolist() == [[2, 0], [0, 1]]
    assert bunch.target.tolist() == [1, 0]
    path.write_text(head + "1,odd,x,no\n")
    with pytest.raises(DataError, match=r"row 1, column kind: found 'odd', expected one of \.200"):
        load(path)


def test_arrays(folder):
    X, y = np.arange(12.0).reshape(6, 2), np.array(["a", "b"] * 3)
    np.savez(folder / "f.npz", data=X, y=y)
    savemat(folder / "f.mat", {"s": {"fea": X, "gnd": np.arange(6) % 2}})
    import h5py

    with h5py.File(folder / "f.h5", "w") as file:
        file["X"], file["y"] = X, y.astype("S")
    for name, labels in (("f.npz", ["a", "b"]), ("f.mat", ["0", "1"]), ("f.h5", ["a", "b"])):
        bunch = load(folder / name)
        np.testing.assert_array_equal(bunch.data, X)
        assert bunch.target_names.tolist() == labels
    np.savez(folder / "objects.npz", X=X, y=np.array(["a", None] * 3, dtype=object))
    with pytest.raises(DataError, match="no file of plain arrays"):  # no pickle is loaded
        load(folder / "objects.npz")
    np.save(folder / "one.npy", X)
    with pytest.raises(DataError, match="NPY file holds one array"):
        load(folder / "one.npy")


def test_orders_that_a_file_gives(folder):
    grades = pd.Categorical(["low", "high", "mid"] * 4, ["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame({"x": range(12), "grade": grades, "when": pd.Timestamp("2024-01-01")})
    frame.to_parquet(folder / "f.parquet")
    bunch = load(folder / "f.parquet", target="grade")
    assert bunch.card.task == "ordinal"
    assert bunch.target_names.tolist() == ["low", "mid", "high"]
    assert "when (dates" in "; ".join(bunch.preparation.sentences)
    frame.drop(columns="when").to_stata(folder / "f.dta", write_index=False)
    bunch = load(folder / "f.dta")
    assert (bunch.card.task, bunch.target_names[0]) == ("classification", "low")
    path = write(folder, "x,y\n1,low\n2,high\n3,mid\n")
    assert "order high < low < mid, that of the alphabet" in sentences(path, task="ordinal")
    ordered = load(path, task="ordinal", grades=["low", "mid", "high"])
    assert ordered.target.tolist() == [0, 2, 1]


def test_points_of_any_kind(folder):
    lines = [
        '{"p": [1, 2.5], "class": "a"}',
        '{"p": [3], "class": "b"}',
        '{"p": null, "class": 1}',
    ]
    path = write(folder, "\n".join(lines), "f.jsonl")
    bunch = load(path)
    assert [point.tolist() for point in bunch.data] == [[1, 2.5], [3]]
    assert bunch.preparation.rows_dropped == 1
    graphs = '{"g": {"edges": [["u", "v"]], "labels": {"u": "C"}}, "y": 1}\n{"g": "ab", "y": 0}\n'
    first, second = load(write(folder, graphs, "g.jsonl")).data
    assert first == ({"u": {"v": 1.0}, "v": {"u": 1.0}}, {"u": "C", "v": 0})
    assert second == "ab"
    series = "@problemName s\n@data\n1,2,3:4,5,6:a\n1,2:3,4:b\n"
    path = write(folder, series, "f.ts")
    assert [s.shape for s in load(path, points="series").data] == [(2, 3), (2, 2)]
    with pytest.raises(DataError, match="make no matrix: give `points: series`"):
        load(path)
    path = write(folder, "@data\n1,2,?:a\n4,5,6:b\n", "g.ts")
    np.testing.assert_array_equal(load(path, missing="mean").data, [[1, 2, 6], [4, 5, 6]])


def test_matrices_with_labels(folder):
    D = np.array([[0, 1, 2, 3.0], [1, 0, 4, 5], [2, 4, 0, 6], [3, 5, 6, 0]])
    frame = pd.DataFrame(D, index=list("abcd"), columns=list("abcd"))
    frame.to_csv(folder / "D.csv")
    labels = write(folder, "family\nx\ny\nx\ny\n", "labels.txt")
    added = add(folder / "D.csv", name="mine", task="similarity", labels=labels, folder=folder)
    bunch = load("mine", data_dir=folder)
    np.testing.assert_array_equal(bunch.data, D)
    assert (bunch.similarity, bunch.target_names.tolist()) == ("distance", ["x", "y"])
    assert any("taken for distances" in remark for remark in added.remarks)
    frame.assign(family=list("xyxy")).to_csv(folder / "S.csv")
    assert load(folder / "S.csv", matrix="similarity").similarity == "similarity"
    D[0, 1] = 1.5
    pd.DataFrame(D, columns=list("abcd")).assign(family=list("xyxy")).to_csv(
        folder / "S.csv", index=False
    )
    assert "differ by up to 0.5" in sentences(folder / "S.csv", matrix="distance")
    with pytest.raises(DataError, match="expected a square matrix"):
        load(write(folder, "a,b,label\n1,2,p\n3,4,q\n5,6,p\n"), matrix="distance")


def test_packed_files_and_archives(folder):
    text = "a,label\n1,p\n2,q\n"
    (folder / "f.csv.gz").write_bytes(gzip.compress(text.encode()))
    with zipfile.ZipFile(folder / "f.zip", "w") as packed:
        packed.writestr("readme.md", "about")
        packed.writestr("in/f.csv", text)
    for path in (folder / "f.csv.gz", folder / "f.zip" / "in" / "f.csv"):
        assert load(path).data.tolist() == [[1], [2]]
    with pytest.raises(DataError, match=r"name the file with the data, as f\.zip/FILE"):
        load(folder / "f.zip")
    (folder / "cut.csv.gz").write_bytes(gzip.compress(text.encode() * 99)[:-20])
    with pytest.raises(DataError, match="damaged or cut short"):
        load(folder / "cut.csv.gz")
    added = add(folder / "f.zip" / "in" / "f.csv", name="mine", folder=folder)
    assert load(added.card, data_dir=folder).data.tolist() == [[1], [2]]


def test_sheets():
    pytest.importorskip("python_calamine")
    file = Path(__file__).parent / "flowers.xls"
    with pytest.raises(DataError, match="This is the first of the sheets notes, flowers"):
        load(file)
    bunch = load(file, sheet="flowers", nominal="onehot")
    assert bunch.data.shape[1] == 5
    assert bunch.target_names.tolist() == ["rose", "tulip"]
    assert "picked (dates, such as 2024-01-10" in "; ".join(bunch.preparation.sentences)
    assert load(file, sheet=1).fingerprint == load(file, sheet="flowers").fingerprint
    with pytest.raises(DataError, match="no sheet 'more'; its sheets: notes, flowers"):
        load(file, sheet="more")


def test_a_changed_file_is_read_again(folder):
    path = write(folder, "a,label\n1,p\n2,q\n")
    first = load(path)
    write(folder, "a,b,label\n1,2,p\n2,3,q\n4,5,q\n")
    second = load(path)
    assert (first.data.shape, second.data.shape) == ((2, 1), (3, 2))
    assert first.identity != second.identity


def test_cards_that_are_added(folder, tmp_path):
    path = write(tmp_path, "id,x,label\n7,1,p\n8,,q\n9,3,q\n")
    added = add(path, name="mine", drop=["id"], missing="mean", title="My data", folder=folder)
    assert added.linked
    assert read_card(added.path) == added.card.model_copy()
    assert (added.card.title, added.card.missing) == ("My data", "mean")
    assert load("mine", data_dir=folder).data.tolist() == [[1], [2], [3]]
    for options, message in (
        ({"name": "mine"}, "the card exists already"),
        ({"name": "abalone"}, "the name 'abalone' is that of a data set in the catalogue"),
        ({"name": "Mine 2"}, "name: String should match"),
        ({"name": "other", "task": "regression"}, "must be numbers"),
        ({"name": "other", "task": "sorting"}, "expected one of classification"),
    ):
        with pytest.raises(DataError, match=message):
            add(path, folder=folder, **options)
    assert sorted(p.name for p in folder.iterdir()) == ["mine", "mine.yaml"]
    copied = add(path, name="other", folder=folder, copy=True, target="x")
    assert not copied.linked
    assert copied.card.task == "classification"


def test_only_what_could_be_classes_is_taken_for_classes(folder):
    many = "x,y\n" + "".join(f"{i},{i}\n" for i in range(40))
    assert load(write(folder, many)).card.task == "regression"
    few = "x,y\n" + "".join(f"{i},{i % 3}\n" for i in range(40))
    assert load(write(folder, few)).card.task == "classification"
    texts = "x,y\n" + "".join(f"{i},t{i}\n" for i in range(300))
    with pytest.raises(DataError, match="too many values for classification"):
        load(write(folder, texts))
