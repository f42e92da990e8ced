"""Files as people have them come in as pandas reads them, or are refused with what to write."""

import gzip
import pickle
import re
import time
from decimal import Decimal
from functools import partial
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy import sparse
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file

from kernlearn.datasets import add, load, read_card
from kernlearn.exceptions import DataError
from tests.datasets.packing import zipped

FLOWERS = Path(__file__).parent / "flowers.xls"
FRAME = pd.DataFrame(
    {
        "x": [1234.5, 2.25, 1000.0, 7.125] * 10,
        "note": ["red", 'a "b", c', "two\nlines", "blue"] * 10,
        "label": ["yes", "no", "no"] * 13 + ["yes"],
    }
)
NUMBERS = FRAME.drop(columns="label").assign(price=FRAME["x"] * 2 + np.arange(40) / 8)


def write(folder, text, name="f.csv", **how):
    path = folder / name
    path.write_text(text, **how)
    return path


def sentences(path, **options):
    return "; ".join(load(path, **options).preparation.sentences)


def loaded(path, **options):
    """Return the data, or the sentence that refuses it."""
    try:
        return load(path, **options), ""
    except DataError as error:
        refusal = str(error)
    assert refusal.startswith(str(path))
    assert "\n" not in refusal
    return None, refusal


def same(path, frame, **options):
    """Load a file and compare it with the frame that was written; tell what was refused."""
    bunch, refusal = loaded(path, nominal="onehot", **options)
    if refusal:
        return "refused"
    target = frame.columns[-1]
    names = [f"note={value}" for value in sorted(set(frame["note"]))]
    assert bunch.feature_names.tolist() == ["x", *names]
    np.testing.assert_array_equal(bunch.data[:, 0], frame["x"])
    for column, name in zip(bunch.data.T[1:], names, strict=True):
        np.testing.assert_array_equal(column, frame["note"] == name.removeprefix("note="))
    y = bunch.target if target == "price" else bunch.target_names[bunch.target]
    assert y.tolist() == frame[target].tolist()
    assert bunch.card.task == ("regression" if target == "price" else "classification")
    return "same"


# What programs write, and what comes of it


def in_locale(frame, decimal, thousands):
    """Write numbers with these marks."""
    marks = str.maketrans({",": thousands, ".": decimal})
    numbers = frame.select_dtypes("number").columns
    return frame.assign(**{n: [f"{v:,}".translate(marks) for v in frame[n]] for n in numbers})


def csv(decimal=".", thousands="", **how):
    def written(frame, path):
        frame = in_locale(frame, decimal, thousands) if thousands else frame
        frame.to_csv(path, **{"index": False, **how})

    return written


def table_of_r(frame, path):
    path.write_text(frame.to_csv(sep=" ", quoting=2).removeprefix('"" '), encoding="utf-8")


def spss(frame, path):
    plain = path.with_suffix("")
    pytest.importorskip("pyreadstat").write_sav(frame, plain)
    path.write_bytes(gzip.compress(plain.read_bytes()))


def needs_sheets():
    pytest.importorskip("openpyxl")
    pytest.importorskip("python_calamine")


def excel(index):
    def written(frame, path):
        needs_sheets()
        frame.to_excel(path, index=index)

    return written


GERMAN, FRENCH = {"decimal": ",", "thousands": "."}, {"decimal": ",", "thousands": " "}
WRITERS = {  # name of the file, how it is written, how it must be read or None
    "plain.csv": (csv(), None),
    "index.csv": (csv(index=True), None),
    "crlf.csv": (csv(lineterminator="\r\n"), None),
    "mark.csv": (csv(encoding="utf-8-sig"), None),
    "tabs.tsv": (csv(sep="\t", index=True), None),
    "semicolons.csv": (csv(sep=";", encoding="utf-16"), None),
    "bars.csv": (csv(sep="|"), None),
    "packed.csv.gz": (csv(index=True), None),
    "english.csv": (csv(".", ","), {"thousands": ","}),
    "german.csv": (csv(",", ".", sep=";"), GERMAN),
    "german_commas.csv": (csv(",", ".", quoting=1), GERMAN),
    "french.csv": (csv(",", " ", sep=";", index=True), FRENCH),
    "french_narrow.csv": (csv(",", "\u202f", sep="\t"), FRENCH),
    "comma.csv": (lambda f, p: f.to_csv(p, sep=";", decimal=",", index=False), {"decimal": ","}),
    "r.csv": (csv(index=True, quoting=2), None),
    "r.txt": (table_of_r, None),
    "t.parquet": (lambda f, p: f.to_parquet(p), None),
    "named.parquet": (lambda f, p: f.set_index(np.arange(40) * 2).to_parquet(p), None),
    "t.feather": (lambda f, p: f.to_feather(p), None),
    "t.dta": (lambda f, p: f.to_stata(p, write_index=False), None),
    "t.sav.gz": (spss, None),
    "t.xlsx": (excel(False), None),
    "index.xlsx": (excel(True), None),
}


@pytest.mark.parametrize("frame", [FRAME, NUMBERS], ids=["classes", "numbers"])
def test_what_programs_write_comes_back(folder, frame):
    table = {}
    for name, (written, how) in WRITERS.items():
        try:
            written(frame, folder / name)
        except pytest.skip.Exception:
            continue
        plain = same(folder / name, frame)
        table[name] = (
            plain if how is None else f"{plain}, {same(folder / name, frame, read_as=how)}"
        )
    expected = {n: "same" if WRITERS[n][1] is None else "refused, same" for n in table}
    assert table == expected


# One odd entry in columns of all kinds


ODD = {  # what it must be in numbers, nominal values and labels
    "": "missing",
    "NA": "missing",
    "n/a": "missing",
    "nan": "missing",
    ".": "missing",
    "?": "missing",
    "-": "refused",
    "17O.5": "refused",
    "<0.05": "refused",
    "−2": "refused",
    "1,5": "refused",
    "1 234": "refused",
    "1_000": "refused",
    "inf": "refused",
    "yes": "refused",
}


def with_odd(column, entry):
    rows = [{"x": str(i / 4), "c": "uv"[i % 2], "label": "pqr"[i % 3]} for i in range(60)]
    for i, row in enumerate(rows):
        row |= {"y": str(i / 8)} if column == "y" else {"y": str(i % 2)} if column == "k" else {}
    rows[41]["y" if column == "k" else column] = entry
    names = [*rows[0]]
    quoted = [f'"{v}"' if "," in v else v for row in rows for v in row.values()]
    lines = [",".join(quoted[i : i + len(names)]) for i in range(0, len(quoted), len(names))]
    return "\n".join([",".join(names), *lines]) + "\n"


def test_one_odd_entry_changes_no_column_and_no_task(folder):
    """Feature of numbers, nominal feature, label, number to predict, classes in numbers."""
    kinds = {"x": "x", "c": "c", "label": "label", "y": "y", "k": "y"}
    table = {}
    for entry, numeric in ODD.items():
        for column, name in kinds.items():
            path = write(folder, with_odd(column, entry))
            target = {"x": "label", "c": "label"}.get(column, name)
            bunch, refusal = loaded(path, target=target)
            if refusal:
                assert re.search(rf"column {name}\b|, label:|entries of the target", refusal)
                assert entry.strip() in refusal
                assert "line 43" in refusal or "`" in refusal
                table[entry, column] = "refused"
                continue
            assert bunch.card.task == ("regression" if column == "y" else "classification")
            n, said = len(bunch.target), "; ".join(bunch.preparation.sentences)
            table[entry, column] = "missing" if n == 59 else "value"
            what = "without a target" if target == name else "with missing entries"
            assert (f"1 of 60 rows {what} were left out" in said) == (n == 59)
            assert bunch.data.shape[1] == 2 + (column in "yk")
            if n == 60:
                codes = bunch.preparation.coded.get("c") if column == "c" else None
                assert (codes or len(bunch.target_names)) == (3 if column == "c" else 4)
        expected = {c: numeric if c in "xyk" or numeric == "missing" else "value" for c in kinds}
        assert {c: table[entry, c] for c in kinds} == expected, entry


@pytest.mark.parametrize("missing", ["drop", "mean", "most_frequent", "category"])
def test_missing_means_the_same_in_all_columns(folder, missing):
    path = write(folder, "n,c,label\n1,NA,p\nNA,x,q\n3,y,NA\n4,x,p\n5,y,q\n")
    said = sentences(path, missing=missing)
    assert "1 of 5 rows without a target were left out" in said
    expected = {
        "drop": "2 of 4 rows with missing entries were left out",
        "mean": "their column's mean, 1 of them, in nominal columns, by the most frequent value",
        "most_frequent": "2 missing entries in 2 of 4 rows filled in by their column's most freq",
        "category": "1 missing entry of nominal columns became the value `missing`; 1 of 4 rows",
    }
    assert expected[missing] in said
    assert ("c (3 values)" in said) == (missing == "category")


@pytest.mark.parametrize("write_to", ["to_parquet", "to_feather"])
def test_columns_of_databases(folder, write_to):
    pytest.importorskip("pyarrow")
    prices, kinds = [*map(Decimal, ("1.50", "2", "-0.25"))] * 4, ["new ", "new", "  "] * 4
    frame = pd.DataFrame({"price": prices, "kind": kinds, "label": list("abb") * 4})
    getattr(frame, write_to)(folder / "d")
    bunch = load(folder / "d", missing="category")
    assert bunch.data.tolist() == [[1.5, 1], [2, 0], [-0.25, 2]] * 4
    said = "; ".join(bunch.preparation.sentences)
    assert "column kind: only case or blanks tell 'new' and 'new ' from each other" in said
    assert "4 missing entries of nominal columns became" in said


# One format never passes as another


def stored(save):
    """Return the bytes that a function writes to a stream."""
    stream = BytesIO()
    save(stream)
    return stream.getvalue()


X = FRAME[["x"]].to_numpy() + np.eye(40)
IN_STRUCTURE = {"s": {"fea": np.tri(9) + 1, "gnd": np.arange(9) % 2}}
ARFF = "@relation r\n@attribute a real\n@attribute class {p, q}\n@data\n1,p\n2,q\n"
LINES = '{"x": 1, "z": 1, "y": "p"}\n' * 2 + '{"x": 1, "z": 2, "y": "q"}\n'
QUERIES = "1 qid:1 1:0.5 2:0.7 # d1\n0 qid:1 1:0.4 2:0.1\n1 qid:2 1:0.9\n0 qid:2 2:0.9 # d4\n"
FORMATS = {  # the kind that must be read
    "csv": ("delimited", FRAME.to_csv(index=False).encode()),
    "parquet": ("parquet", FRAME.to_parquet()),
    "feather": ("feather", stored(FRAME.to_feather)),
    "stata": ("stata", stored(partial(FRAME.to_stata, write_index=False, version=118))),
    "excel": ("excel", FLOWERS.read_bytes()),
    "libsvm": ("libsvm", b"1 1:0.5 2:1\n-1 2:1\n1 1:2\n"),
    "queries": ("libsvm", QUERIES.encode()),
    "npz": ("npz", stored(partial(np.savez, X=X, y=FRAME["label"].to_numpy(str)))),
    "matlab": ("matlab", stored(partial(savemat, mdict=IN_STRUCTURE))),
    "arff": ("arff", ARFF.encode()),
    "json lines": ("jsonl", LINES.encode()),
    "json": ("jsonl", b"[" + LINES.strip().replace("\n", ",").encode() + b"]"),
    "series": ("ts", b"@problemName s\n@data\n1,2:a\n4,5:b\n"),
}
NO_FORMATS = {  # what must be said
    "comments": ("comment: .#", b"# first\na\tb\ty\n1\t2\tsome label\n2\t1\tother\n"),
    "labels": ("index:value: .*0,1", b"0,1 1:0.5\n1 2:0.5\n"),
    "some queries": ("1 of 2 rows have a qid", b"1 qid:1 1:0.5\n0 1:2\n"),
    "html": ("HTML, XML or JSON .*save it as CSV", b"<html><table><tr><td>a</td></tr></table>\n"),
    "an object": ("or lines of JSON", b'{"x": [1, 2],\n"y": [0, 1]}\n'),
    "cut json": ("damaged", b'[{"x": 1, "y": 0},\n{"x": 2, '),
    "pickle": ("write tables to CSV", pickle.dumps(FRAME)),
    "npy": ("labels", stored(partial(np.save, arr=np.eye(3)))),
    "gzip": ("files end with .gz", gzip.compress(b"a,b\n1,2\n")),
    "bytes": ("neither text nor a format", b"\0\1\2 no text"),
    "blank": ("the file is empty", b" \n"),
    "fasta": ("FASTA .*write CSV", b">s1 a\nACGT\nAC\n>s2 b\nTT\n"),
    "strings": ("write CSV with columns for the sequence and the class$", b"acgt\ntt\nac\n"),
    "other": ("`read_as: {delimiter: .\\^.}`$", b"x^y\n1^a\n2^b\n"),
}


@pytest.mark.parametrize("suffix", ["csv", "txt", "dat"])
@pytest.mark.parametrize("case", [*FORMATS, *NO_FORMATS])
def test_the_content_tells_the_format_and_not_the_name(folder, case, suffix):
    expected, content = {**FORMATS, **NO_FORMATS}[case]
    path, options = folder / f"f.{suffix}", {}
    path.write_bytes(content)
    if expected == "excel":
        pytest.importorskip("python_calamine")
        options = {"sheet": 1}
    bunch, refusal = loaded(path, **options)
    if case in FORMATS:
        assert bunch is not None, refusal
        assert bunch.card.forms[0].format.kind == expected
    else:
        assert re.search(expected, refusal)


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


def test_folders_of_letor_are_folds(folder):
    for k in range(1, 6):
        (folder / f"Fold{k}").mkdir()
        text = QUERIES.replace("qid:1", f"qid:{2 * k}").replace("qid:2 ", f"qid:{2 * k + 1} ")
        (folder / f"Fold{k}" / "test.txt").write_text(
            text if k != 3 else QUERIES.replace("d:", "d:9")
        )
    bunch = load(folder)
    assert (bunch.card.task, bunch.data.shape) == ("ranking", (20, 2))
    assert bunch.fold.tolist() == [k for k in range(5) for _ in range(4)]
    with pytest.raises(DataError, match="a folder"):
        load(folder / "Fold1")


# Tables in text


def case(text, *expected, **options):
    return text, options, *expected


TABLES = {  # text, features and target, what is said
    "row numbers without a name": case(
        ",tv,radio,sales\n0,1.5,2.5,3.1\n1,2.5,1.5,2.2\n2,3.5,0.5,4.7\n3,0.5,3.5,1.9\n",
        [[1.5, 2.5, 3.1], [2.5, 1.5, 2.2], [3.5, 0.5, 4.7], [0.5, 3.5, 1.9]],
        "row names (the first column has no name)",
    ),
    "amounts with a currency": case(
        "a;label\n1.234,5 €;p\n7 €;q\n-;p\n-80,25 €;q\n",
        [[1234.5, 0], [7, 1], [-80.25, 1]],
        "'€' is left out in 3 rows of column a",
        read_as={"decimal": ",", "thousands": ".", "missing": ["-"], "replace": {"€": ""}},
    ),
    "texts of missing entries that are named": case(
        "a,label\n1,p\n2,q\n<0.05,p\n-,q\n5,q\n-9,p\n",
        [[1, 0], [2, 1], [5, 1]],
        "'<0.05' in 1 row of column a, '-' in 1 row of column a, '-9' in 1 row of column a; 3 of",
        read_as={"missing": ["<0.05", "-", -9]},
    ),
    "texts of missing entries that are kept": case(
        "lang,x\nEnglish,1\nNA,2\n,3\nNA,4\n",
        [[1, 0], [2, 1], [4, 1]],
        "1 of 4 rows without a target were left out",
        target="lang",
        read_as={"standard_missing": False},
    ),
    "comments that are asked for": case(
        "# made by hand\na,label\n1,p\n2,q # odd\n",
        [[1, 0], [2, 1]],
        "the target is column label",
        read_as={"comment": "#"},
    ),
    "a column without entries, and dates": case(
        "a,b,day,label\n1,,2024-01-01,p\n2,,2024-01-02,q\n3,,2024-01-03,p\n",
        [[1, 0], [2, 1], [3, 0]],
        "b (it has no entries), day (dates, such as 2024-01-01)",
    ),
    "columns without names": case(
        "5.1,3.5,a\n4.9,3.0,b\n4.7,3.2,a\n",
        [[5.1, 0], [4.9, 1], [4.7, 0]],
        "the first line is data",
        drop=["x2"],
    ),
    "values of which some are numbers": case(
        "subject,label\n" + "1,p\n2,q\n3,p\nmore,q\n" * 9,
        [[0, 0], [1, 1], [2, 0], [3, 1]] * 9,
        "subject (4 values in 36 rows)",
        read_as={"text": ["subject"]},
    ),
    "a first line of values that occur again": case(
        "rep,n,y,?\ndem,y,y,n\nrep,n,n,y\ndem,y,n,n\n",
        [[0, 1, 0, 1], [1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0]],
        "1 missing entry in 1 of 4 rows filled in",
        target=0,
        missing="most_frequent",
        read_as={"header": False},
    ),
    "true and false": case(
        "a,flag,ok\n1,True,True\n2,False,False\n3,True,True\n",
        [[1, 1, 1], [2, 0, 0], [3, 1, 1]],
        "flag (2 values)",
    ),
    "labels stay as they are written": case(
        "a,label\n1,x\n2,1\n3,01\n4,1.0\n5,x\n6, x\n7,x \n",
        [[1, 3], [2, 1], [3, 0], [4, 2], [5, 3], [6, 3], [7, 4]],
        "",
    ),
    "blanks before quotes": case('"y", "label"\n1, "p, q"\n2, "r"\n', [[1, 0], [2, 1]], ""),
    "ids above 2 ** 53": case(
        f"account,hash,x,label\n{2**63 + 1},{2**65},1,p\n{2**63 + 2},{2**65},2,q\n",
        [[1, 0], [2, 1]],
        f"account (numbers of too many digits, such as {2**63 + 2})",
    ),
    "two columns of one name": case(
        "x,x,label\n1,3,p\n2,4,q\n",
        [[1, 3, 0], [2, 4, 1]],
        "a second column of one name is read as x.1",
    ),
    "labels above 2 ** 53": case(f"x,label\n1,{2**53}\n2,{2**53 + 1}\n", [[1, 0], [2, 1]], ""),
}


@pytest.mark.parametrize("case", TABLES)
def test_tables(folder, case):
    text, options, rows, remark = TABLES[case]
    path = write(folder, text)
    bunch = load(path, **options)
    np.testing.assert_array_equal(np.column_stack([bunch.data, bunch.target]), rows)
    assert remark in "; ".join(bunch.preparation.sentences)
    # a card says the same
    added = add(path, name="mine", folder=folder, **options)
    again = load("mine", data_dir=folder)
    np.testing.assert_array_equal(again.data, bunch.data)
    assert again.fingerprint == added.card.forms[0].fingerprint
    assert again.note == added.note


TWENTY = "a,n,y\n" + "".join(f"{'uv'[i % 2]},{i % 7},{i % 3}\n" for i in range(20))
REFUSED = {  # text, what is said
    "decimal commas": case(
        "preis;qm;label\n1.250;80,5;ja\n950;60,2;nein\n2.100;99,9;ja\n",
        r'column qm: .*\'80,5\'.*read_as: {decimal: ","}',
    ),
    "points of thousands": case(
        "preis;qm;label\n1.250;80,5;ja\n950;60,2;nein\n2.100;99,9;ja\n",
        r'column preis: .*thousands: "\."',
        read_as={"decimal": ","},
    ),
    "both": case("a;y\n1.250,5;p\n2.500,5;q\n", r'read_as: {"decimal": ",", "thousands": "."}'),
    "both, in other columns": case(
        "a;b;y\n12,5;1.250,5;p\n2,5;2.500,5;q\n",
        r'column a: .*read_as: {"decimal": ",", "thousands": "."}',
    ),
    "commas of thousands": case(
        'a,label\n"1,250",p\n950,q\n"2,100",p\n',
        r'column a: .*\'1,250\'.*thousands: ",".*read_as: {decimal: ","}',
    ),
    "no groups of three": case(
        "a;y\n86.0;p\n12.5;q\n",
        r"column a: .*\'86.0\'((?!thousands).)*$",
        read_as={"decimal": ","},
    ),
    "points of thousands beside decimal points": case(
        "a,b,y\n1.250,12.5,p\n950,2.25,q\n2.100,3.5,p\n",
        r"column a: 1\.250 beside 950((?!thousands: ).)*decimal: \"\.\"}.$",
    ),
    "no points of thousands": case(
        "a,b,y\n1.250,12.5,p\n950,2.25,q\n2.100,3.5,p\n",
        r"column b: .*'12\.5', [^{]*read_as: {text: \[\"b\"\]}.$",
        read_as={"thousands": "."},
    ),
    "no commas of thousands": case(
        'a,y\n"1,544",p\n"12,34",q\n"2,100",p\n',
        r"column a: 2 of 3 .*'12,34', ((?!decimal|1,544).)*$",
        read_as={"thousands": ","},
    ),
    "an entry that is often missing": case(
        "a,y\nk.A.,p\n" + "1.5,q\n2.5,p\n" * 9 + "k.A.,q\n",
        r"read_as: {missing: \[\"k\.A\.\"\]}. or .*skip: \[2\]",
    ),
    "comments": case("# by hand\na,label\n1,p\n", r'read_as: {comment: "#"}'),
    "a short row": case("x,y\n1,a\n2\n3,b\n", r"line 3 has 1, line 4 2"),
    "a line above the names": case("sep=|\na|label\n1|p\n2|q\n", "remove what stands above"),
    "one column": case("a\nb\nc\n", "no separator"),
    "values of which most are numbers": case(
        "children,label\n" + "1,p\n2,q\n3,p\nmore,q\n" * 9,
        r"column children: 27 of 36 entries .*'more', .*line 5.*read_as: {text: \[",
    ),
    "numbered columns": case("0,1,2\n1.5,4,0\n9,25,1\n", "read_as: {header: true}"),
    "a header alone": case("a,b,label\n", "the file has no rows"),
    "a first line that could be either": case("u,1,2\nv,3,4\nw,5,6\n", "read_as: {header: true}"),
    "a number among names": case("b,3.5,a\n4.9,3.0,b\n4.7,3.2,a\n", "read_as: {header: true}"),
    "a quote that does not end": case(
        'ham\thi there\nspam\t"Win now\nham\tok\nspam\tfree "call"\n',
        "line 2.*read_as: {quote: null}",
    ),
    "a target of few whole numbers but one": case(
        "x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(50)) + "50,0.5\n",
        "50 of 51 entries of the target are few different whole numbers, and 0.5 is none",
    ),
    "dates to predict": case("x,y\n1,2024-01-01\n2,2024-01-02\n", "cannot be the target: dates"),
    "numbers that are no classes": case(
        "x,y\n" + "\n".join(f"{i},{i / 7}" for i in range(1, 41)),
        'task: "regression"',
        task="classification",
    ),
    "texts alone": case(
        "text,y\n" + "".join(f"text number {i},{i % 2}\n" for i in range(50)),
        'text with 50 values.*`points: "text"`',
    ),
    "thousands beside hundreds": case(
        "a;y\n1.250;p\n950;q\n", r'1\.250 beside 950.*thousands: "\."}.*decimal: "\."'
    ),
    "another decimal mark": case(
        "a;b;y\n12,5;48.3077;p\n2,5;47.1;q\n",
        r"column b.*as in the other columns$",
        read_as={"decimal": ","},
    ),
    "a row of totals": case(f"{TWENTY}Total,57,19\n", r"line 22: .*skip: \[22\]"),
    "sums at the end": case(f"{TWENTY},57,1\n", r"line 22: .*skip: \[22\]"),
    "notes below a blank row": case(
        "a,n,y\n"
        + "".join(f"{'uv'[i % 2]},{i % 7 if i % 9 else ''},{i % 3}\n" for i in range(20))
        + "\n,,\nSource: made up,,\n,(all rights reserved),\n",
        r"line 25: .*all rights.*skip: \[23, 24, 25\]",
    ),
    "a note in the column of the target": case(
        "a,n,y\n" + "".join(f"{i % 2},{i % 7},{'pq'[i % 2]}\n" for i in range(20)) + ",,* sold\n",
        r"line 22: .*\* sold.*skip: \[22\]",
    ),
    "prices": case("a,label\n$1.50,p\n$2,q\n", r"'\$1.50'.*leave out \$.*{\"\$\": \"\"}"),
    "amounts of euros": case(
        "a;label\n7 €;p\n1.234,50 €;q\n",
        r"'7 €'.*{\"decimal\": \",\", \"thousands\": \".\", \"replace\": {\"€\": \"\"}}",
    ),
    "amounts with a unit": case(
        "a,label\n" + "".join(f"{i}.5 kg,{'pq'[i % 2]}\n" for i in range(20)),
        r"'0\.5 kg'.*leave out kg.*{\"kg\": \"\"}",
    ),
    "a header without the last separator": case(
        "a;b;label\n1;2;p;\n3;4;q;\n5;6;p;\n", "end with a separator, but the first does not"
    ),
    "signs of printers": case("a,label\n−1.5,p\n2,q\n−3,p\n", "write - for −"),
    "rows counted at the end": case(
        "x,kind,n\n" + "".join(f"{i % 7},{'pq'[i % 2]},{i}\n" for i in range(30)),
        "n, looks like an id",
    ),
    "an id at the end": case("a,kind,row id\n1,p,7\n2,q,8\n", "row id, looks like an id"),
    "a copy of the target": case("y,x,y\np,1,p\nq,2,q\n", r"y\.1.*drop: \[\"y\.1", target="y"),
    "blanks that do not break": case("x,y\n5\u00a0,a\n6,b\n7,a\n", "or add `read_as: {text"),
    "groups of one digit": case("x,y\n0.769.1,a\n6,b\n7,a\n", "line 2(?!.*thousands)"),
    "a second column of texts": case(
        "x,z,y\n5,5-,a\n6,6,b\n7,7,a\n", r'text: \["x", "z"\]', read_as={"text": ["x"]}
    ),
    "series as text": case(
        'label,s\np,"0.1 2 -3e1"\nq,"1 2 3 4"\n', "column s .*JSON", points="s", target="label"
    ),
    "labels among the pairs of a matrix": case(
        ",kind,p,q,r\np,x,0,2,3\nq,y,2,0,1\nr,x,3,1,0\n",
        r'column kind .*target: "kind"',
        matrix="distance",
    ),
    "gaps of a matrix": case(
        "a,b,y\n0,-,p\n-,0,q\n0,0,q\n", r'missing: \["-"\]}`$', matrix="distance"
    ),
    "no such column": case("a,label\n1,p\n", "no column 'b'; its columns: a,", target="b"),
    "an unknown way to read": case("a,label\n1,p\n", "sep: unknown key", read_as={"sep": ";"}),
    "no whole row": case(
        "a,b,label\n1,,p\n,2,q\n",
        r"in every row.*`drop` leaves out columns: a \(1 of 2\), b \(1 of 2\)",
    ),
    "too little to fill in": case(
        "pool,x,label\n" + "NA,1,p\n" * 30 + "5,2,q\n",
        r"too many to fill in.*pool \(30 of 31\)$",
        missing="mean",
    ),
    "too many classes": case(
        "x,y\n" + "".join(f"{i},t{i}\n" for i in range(300)), "too many values for classification"
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_advice(folder, case):
    text, options, message = REFUSED[case]
    path = write(folder, text)
    with pytest.raises(DataError, match=f"(?s)^{path}.*{message}") as caught:
        load(path, **options)
    assert "\n" not in str(caught.value)


def test_texts_that_are_points_stay_as_they_are(folder):
    path = write(folder, 'text,y\n"ab ",1\n"ab",0\n" cd",1\n"cd",0\n')
    assert load(path, points="text", target="y").data.tolist() == ["ab ", "ab", " cd", "cd"]
    path = write(folder, "007,1\n7,0\n12,1\n")
    assert load(path, points="x1", target="x2").data.tolist() == ["007", "7", "12"]
    assert load(path, points=0, target=1).data.tolist() == ["007", "7", "12"]
    path = write(folder, 'ham\thi there\nspam\t"Win now\nham\tok\n')
    texts = load(path, points="x2", target="x1", read_as={"quote": None, "header": False})
    assert texts.data.tolist() == ["hi there", '"Win now', "ok"]


def test_only_what_could_be_classes_is_taken_for_classes(folder):
    many = "x,y\n" + "".join(f"{i},{i}\n" for i in range(40))
    assert load(write(folder, many)).card.task == "regression"
    few = "x,y\n" + "".join(f"{i},{i % 3}\n" for i in range(40))
    assert load(write(folder, few)).card.task == "classification"
    halves = "x,y\n" + "".join(f"{i},{i % 7 / 2}\n" for i in range(40))
    assert load(write(folder, halves)).card.task == "regression"


# Other formats


def test_attributes_of_arff(folder):
    head = (
        "% published\n@RELATION r\n@attribute 'the size' integer [1,10]\n@attribute kind "
        "{.200, 0.2, 'a, b'}\n@attribute note string\n@attribute class {yes, no}\n@data\n"
    )
    rows = "% here too\n1, .200, 'x y', no\n?, 0.2, 'ü', yes\n3.5, 'a, b', z, no,\n"
    path = folder / "f.arff"
    path.write_bytes((head + rows).encode("latin-1"))
    bunch = load(path, drop=["note"], missing="mean")
    assert bunch.feature_names.tolist() == ["the size", "kind"]
    assert bunch.data.tolist() == [[1, 0], [2.25, 1], [3.5, 2]]
    assert bunch.target_names.tolist() == ["yes", "no"]
    path.write_text(head + "{0 2, 3 no}\n{1 0.2}\n")
    bunch = load(path, drop=["note"])
    assert bunch.data.tolist() == [[2, 0], [0, 1]]
    assert bunch.target.tolist() == [1, 0]
    for row, message in (
        ("1,odd,x,no\n", "odd not found in nominal.*line 8"),
        ("1,2\n", "line 8"),
        ("1, .200, x y, no\n", "line 8.*with blanks in them need quotes"),
    ):
        path.write_text(head + row)
        with pytest.raises(DataError, match=message):
            load(path)


def save_v73(path, variables):
    """Write as MATLAB 7.3 does: HDF5 after 512 bytes of text, arrays column by column."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w", userblock_size=512) as file:
        file["#refs#/a"] = np.eye(6)
        cells = file.create_dataset("cells", (6, 1), h5py.ref_dtype)
        cells[:] = file["#refs#/a"].ref
        for name, value in variables.items():
            kind = "char" if isinstance(value[0], str) else "double"
            value = [list(map(ord, text)) for text in value] if kind == "char" else value
            file[name] = np.atleast_2d(value).T
            file[name].attrs["MATLAB_class"] = np.bytes_(kind)
    with path.open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(508) + b"\x00\x02IM")


def save(path, **arrays):
    """Write arrays in the format that the name says."""
    if path.suffix == ".npz":
        np.savez(path, **arrays)
    elif path.suffix == ".mat":
        savemat(path, arrays)
    else:
        with pytest.importorskip("h5py").File(path, "w") as file:
            for name, values in arrays.items():
                file[name.replace("__", "/")] = values


def test_arrays(folder):
    X, y = np.arange(12.0).reshape(6, 2), np.array(["a", "b"] * 3)
    empty = pytest.importorskip("h5py").Empty("f")
    save(folder / "f.npz", data=X, y=y.astype("S"))
    save(folder / "f.mat", s={"fea": X, "gnd": np.arange(6) % 2})
    save(folder / "f.h5", X=X, in__y=y.astype("S"), empty=empty)
    save_v73(folder / "new.mat", {"s/fea": X, "s/gnd": np.arange(6) % 2})
    save_v73(folder / "chars.mat", {"X": X, "y": ["left ", "right"] * 3})
    expected = {
        "f.npz": ["a", "b"],
        "f.mat": ["0", "1"],
        "f.h5": ["a", "b"],
        "new.mat": ["0", "1"],
        "chars.mat": ["left", "right"],
    }
    for name, labels in expected.items():
        bunch = load(folder / name)
        np.testing.assert_array_equal(bunch.data, X)
        assert bunch.target_names.tolist() == labels
    np.savez(folder / "objects.npz", X=X, y=np.array(["a", None] * 3, dtype=object))
    with pytest.raises(DataError, match=r"y=pandas"):  # no pickle is loaded
        load(folder / "objects.npz")
    np.savez(folder / "gaps.npz", X=X, y=np.array([1, np.nan, 0, 1, 0, np.nan]))
    bunch = load(folder / "gaps.npz")
    np.testing.assert_array_equal(bunch.data, X[[0, 2, 3, 4]])
    assert (bunch.target_names.tolist(), bunch.target.tolist()) == (["0", "1"], [1, 0, 1, 0])
    assert "2 of 6 rows without a target were left out" in sentences(folder / "gaps.npz")
    np.savez(folder / "many.npz", train=X, test=X[:3], y_train=y == "a", y_test=y[:3] == "a")
    with pytest.raises(DataError, match=r'`read_as: {matrix: "train"}`.*"test"'):
        load(folder / "many.npz")
    bunch = load(folder / "many.npz", read_as={"matrix": "test"})
    assert (bunch.data.shape, bunch.target_names.tolist()) == ((3, 2), ["False", "True"])
    np.savez(folder / "turned.npz", X=X.T, y=y)
    with pytest.raises(DataError, match=r"no array .*\(2, 6\)"):
        load(folder / "turned.npz")


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
    for order, source in {"good,bad,best": "file", "bad,best,good": "alphabet"}.items():
        text = f"@relation r\n@attribute x real\n@attribute y {{{order}}}\n@data\n1,bad\n2,good\n"
        path = write(folder, f"{text}3,best\n", "f.arff")
        expected = f"order {order.replace(',', ' < ')}, that of the {source}"
        assert expected in sentences(path, task="ordinal")


def test_points_of_any_kind(folder):
    lines = ['{"p": [1,2.5], "class": "a"}', '{"p": [3], "class": "b"}', '{"p": null, "class": 1}']
    path = write(folder, "\n".join(lines), "f.jsonl")
    bunch = load(path)
    assert [point.tolist() for point in bunch.data] == [[1, 2.5], [3]]
    assert "1 of 3 rows with missing entries" in bunch.preparation.sentences[-2]
    graphs = '{"g": {"edges": [["u", "v"]], "labels": {"u": "C"}}, "y": 1}\n'
    graphs += '{"g": "a\u2028b", "y": 0}\n'
    first, second = load(write(folder, graphs, "g.jsonl")).data
    assert first == ({"u": {"v": 1.0}, "v": {"u": 1.0}}, {"u": "C", "v": 0})
    assert second == "a\u2028b"
    numbers = '{"x": 1, "y": "1"}\n{"x": "2.5", "y": "q"}\n{"x": 3, "y": 1}\n{"x": 4, "y": "q"}'
    bunch = load(write(folder, numbers, "n.jsonl"))
    assert (bunch.data.ravel().tolist(), bunch.target.tolist()) == ([1, 2.5, 3, 4], [0, 1, 0, 1])
    for odd, said in (('[1, "a"]', ""), ("[[1, null]]", ".*null"), ("[[], []]", ".*empty")):
        path = write(folder, f'{lines[0]}\n{{"p": {odd}, "class": "b"}}\n', "odd.jsonl")
        with pytest.raises(DataError, match=rf"odd\.jsonl, line 2, column p{said}"):
            load(path)
    series = "@problemName s\n@data\n1,2,3:4,5,6:a\n1,2:3,4:b\n"
    path = write(folder, series, "f.ts")
    assert [s.shape for s in load(path, points="series").data] == [(2, 3), (2, 2)]
    with pytest.raises(DataError, match='`points: "series"`'):
        load(path)
    with pytest.raises(DataError, match="have no classes"):
        load(write(folder, f"@classLabel false\n{series}", "h.ts"))
    path = write(folder, "@data\n1,2,?:a\n4,5,6:b\n", "g.ts")
    np.testing.assert_array_equal(load(path, missing="mean").data, [[1, 2, 6], [4, 5, 6]])


D = np.array([[0, 1, 2, 3.0], [1, 0, 4, 5], [2, 4, 0, 6], [3, 5, 6, 0]])


def write_pairs(path, pairs, **how):
    """Write a matrix of four points with their labels; return the frame."""
    frame = pd.DataFrame(pairs, index=list("abcd"), columns=list("abcd"))
    frame = frame.assign(family=list("xyxy"))
    frame.to_csv(path, **how)
    return frame


def test_matrices_with_labels(folder):
    frame = write_pairs(folder / "D.csv", D)
    refusal = loaded(folder / "D.csv")[1]
    assert "matrix:" in refusal
    assert "drop" not in refusal  # whose features would be similarities to test points
    frame.drop(columns="family").to_csv(folder / "U.csv")
    assert "has no labels" in loaded(folder / "U.csv", matrix="distance")[1]
    added = add(folder / "D.csv", name="mine", matrix="distance", folder=folder)
    bunch = load("mine", data_dir=folder)
    np.testing.assert_array_equal(bunch.data, D)
    assert (bunch.similarity, bunch.target_names.tolist()) == ("distance", ["x", "y"])
    assert added.card.task == "similarity"
    frame.iloc[[1, 0, 2, 3]].to_csv(folder / "R.csv")
    bunch = load(folder / "R.csv", matrix="distance")
    np.testing.assert_array_equal(bunch.data, D)
    assert bunch.target.tolist() == [0, 1, 0, 1]
    assert "rows are taken in the order" in bunch.preparation.sentences[0]
    with pytest.raises(DataError, match="no card"):
        add(folder / "R.csv", name="turned", matrix="distance", folder=folder)
    frame.rename(index={"b": "e"}).to_csv(folder / "E.csv", index_label="name")
    assert re.search(": e; .*: b:", loaded(folder / "E.csv", matrix="distance")[1])
    frame.rename(index={"b": "c"}).to_csv(folder / "E.csv", index_label="name")
    assert re.search(r"called c .*column name", loaded(folder / "E.csv", matrix="distance")[1])
    frame.replace(4, np.nan).to_csv(folder / "M.csv", index=False)
    lacking = load(folder / "M.csv", matrix="distance")
    np.testing.assert_array_equal(lacking.data, D[np.ix_([0, 2, 3], [0, 2, 3])])
    assert lacking.target_names[lacking.target].tolist() == ["x", "x", "y"]
    assert "is for columns" in loaded(folder / "M.csv", matrix="distance", missing="mean")[1]
    assert "1 of 4 points left out" in sentences(folder / "M.csv", matrix="distance")
    kept = load(folder / "M.csv", matrix="distance", missing="impute")
    np.testing.assert_array_equal(kept.data, np.where(D == 4, np.nan, D))
    assert "2 of 16 entries filled in within each split" in "; ".join(kept.preparation.sentences)
    frame.replace({"b": {4: np.nan}}).to_csv(folder / "H.csv", index=False)
    np.testing.assert_array_equal(load(folder / "H.csv", matrix="distance").data, D)
    assert "1 taken from the same pair" in sentences(folder / "H.csv", matrix="distance")
    frame.replace([1, 2, 3, 4, 5, 6], np.nan).to_csv(folder / "N.csv", index=False)
    with pytest.raises(DataError, match="12 of 16 entries, the first in row 1 and column b"):
        load(folder / "N.csv", matrix="distance")
    frame.replace([1, 2, 3], np.nan).to_csv(folder / "A.csv", index=False)  # all pairs of a
    alone = load(folder / "A.csv", matrix="distance", missing="impute")
    np.testing.assert_array_equal(alone.data, D[1:, 1:])
    frame.replace([1, 6], np.nan).to_csv(folder / "P.csv", index=False)  # a and b, c and d
    assert "2 of 4 points left out" in sentences(folder / "P.csv", matrix="distance")
    savemat(folder / "K.mat", {"K": sparse.eye(80).tocsc(), "y": np.arange(80) % 2})
    assert sparse.issparse(load(folder / "K.mat", matrix="similarity").data)
    frame.assign(family=["x", None, "x", "y"]).to_csv(folder / "T.csv")
    bunch = load(folder / "T.csv", matrix="distance")
    np.testing.assert_array_equal(bunch.data, D[np.ix_([0, 2, 3], [0, 2, 3])])
    assert bunch.feature_names.tolist() == ["a", "c", "d"]
    assert any("1 of 4 rows" in note for note in bunch.preparation.notes)
    frame.loc["a", "b"] = 1.5
    frame.to_csv(folder / "S.csv", index=False)
    assert "differ by up to 0.5" in sentences(folder / "S.csv", matrix="distance")
    with pytest.raises(DataError, match=r'`matrix: "similarity"`'):
        load(folder / "S.csv", task="similarity")
    with pytest.raises(DataError, match="3 rows and 2 columns"):
        load(write(folder, "a,b,label\n1,2,p\n3,4,q\n5,6,p\n"), matrix="distance")


@pytest.mark.parametrize(
    ("change", "kind", "noted"),
    [
        (lambda D: D, "distance", []),
        (lambda D: 1 / (1 + D), "similarity", []),
        (lambda D: 1 / (1 + D), "distance", ["`matrix: similarity`"]),
        (lambda D: D, "similarity", ["`matrix: distance`"]),
        (lambda D: np.where(D == 2, -1, D), "distance", ["2 of 16", "[-1]"]),
        (lambda D: np.where(D >= 4, 0, D), "distance", ["6 of 12"]),
        (lambda D: D + np.triu(D) / 2, "distance", ["SpectrumSVM"]),
    ],
)
def test_values_that_do_not_suit_the_kind_of_a_matrix_are_noted(folder, change, kind, noted):
    write_pairs(folder / "D.csv", change(D), index=False)
    target, *notes = load(folder / "D.csv", matrix=kind).preparation.sentences
    assert "family" in target
    assert len(notes) == bool(noted)
    assert all(text in notes[0] for text in noted)


def test_a_point_may_lack_all_its_pairs(folder):
    lacks = D.copy()
    lacks[2, :] = lacks[:, 2] = np.nan
    rest = [0, 1, 3]
    write_pairs(folder / "L.csv", lacks)
    for missing in ("drop", "impute"):
        bunch = load(folder / "L.csv", matrix="distance", missing=missing)
        np.testing.assert_array_equal(bunch.data, D[np.ix_(rest, rest)])
    write_pairs(folder / "O.csv", np.where(np.eye(4, dtype=bool), np.nan, D), index=False)
    np.testing.assert_array_equal(load(folder / "O.csv", matrix="distance").data, D)
    assert "write it" in loaded(folder / "O.csv", matrix="similarity")[1]
    said = sentences(folder / "O.csv", matrix="distance")
    assert "4 of 4 points lack the distance to themselves" in said


def test_gaps_hide_neither_ids_nor_groups(folder):
    rows = [f"{i + 1},{i // 5},{i % 7},{'pq'[i % 2]}" for i in range(60)]
    rows[3], rows[12] = ",0,3,q", "13,,5,p"
    bunch = load(write(folder, "\n".join(["number,subject,x,y", *rows])), missing="impute")
    assert bunch.preparation.id_like.keys() == {"number"}
    assert bunch.preparation.shared == {"subject": 12}


@pytest.mark.parametrize("code", ["{}", "P{:04}", "{}.0"])
def test_values_show_which_rows_belong_together(folder, code):
    """Of a person sex and class are the same in all rows, and the visits differ."""
    rng = np.random.default_rng(0)
    person = np.repeat(rng.permutation(240), rng.integers(1, 6, 240))
    sex, kind = rng.integers(0, 2, (2, 240))
    rest = np.column_stack([person % 7 // 3, sex[person], kind[person]])
    day = rng.integers(0, 90, len(person))
    rows = [
        f"{code.format(i)},{d},{2 * d},{int(d > 40)},{a},{s},{'pq'[k]}"
        for i, d, (a, s, k) in zip(person, day, rest, strict=True)
    ]
    text = "\n".join(["nr,day,hours,late,a,sex,y", *rows])
    bunch = load(write(folder, text))
    assert bunch.preparation.shared == {"nr": 240}
    assert load(folder / "f.csv", drop=["nr"]).preparation.shared == {}
    assert load(folder / "f.csv", groups="nr").preparation.shared == {}


def test_rows_without_a_target_have_no_values(folder):
    rows = [f"{i},{'uv'[i % 2]},{'pq'[i // 2 % 2]}\n" for i in range(20)]
    path = write(folder, "x,c,y\n" + "".join(rows) + "7,w,\n")
    assert load(path, nominal="onehot").feature_names.tolist() == ["x", "c=u", "c=v"]
    assert load(path).preparation.coded == {"c": 2}


def test_text_beside_features_stays_with_its_rows(folder):
    rows = [
        f"{f'note {i}' if i % 4 else ''},{i if i % 5 else ''},{'pq'[i % 2]}" for i in range(60)
    ]
    file = write(folder, "\n".join(["note,x,y", *rows]))
    bunch = load(file, read_as={"text": ["note"]}, frame=True)
    texts = [f"note {i:.0f}" if i % 4 else "" for i in bunch.frame["x"]]
    assert bunch.frame["note"].tolist() == texts
    assert bunch.feature_names.tolist() == ["x"]
    assert "note is text for methods with `columns: raw`, empty in 12 rows" in sentences(
        file, read_as={"text": ["note"]}
    )
    dropped = load(file, read_as={"text": ["note"]}, drop=["note"], frame=True)
    assert dropped.frame.columns.tolist() == ["x"]
    assert dropped.found.identity != bunch.found.identity
    plain = load(file, drop=["note"])
    assert dropped.found.identity == plain.found.identity
    with pytest.raises(DataError, match="no column 'nose'"):
        load(file, read_as={"text": ["nose"]})


def test_packed_files_and_archives(folder):
    text = "a,label\n1,p\n2,q\n"
    (folder / "f.csv.gz").write_bytes(gzip.compress(text.encode()))
    long = f"{'n' * 300}.csv"
    (folder / "f.zip").write_bytes(zipped({"readme.md": "about", long: text, "in/f.csv": text}))
    for path in (folder / "f.csv.gz", folder / "f.zip" / "in" / "f.csv"):
        assert load(path).data.tolist() == [[1], [2]]
    with pytest.raises(DataError, match=r"f\.zip/FILE"):
        load(folder / "f.zip")
    (folder / "cut.csv.gz").write_bytes(gzip.compress(text.encode() * 99)[:-20])
    with pytest.raises(DataError, match="damaged or cut short"):
        load(folder / "cut.csv.gz")
    added = add(folder / "f.zip" / "in" / "f.csv", name="mine", folder=folder)
    assert added.data.tolist() == load("mine", data_dir=folder).data.tolist() == [[1], [2]]
    with pytest.raises(DataError, match="File name too long"):
        add(folder / "f.zip" / long, name="again", folder=folder)
    add(folder / "f.csv.gz", name="again", folder=folder)
    assert load("again", data_dir=folder).data.tolist() == [[1], [2]]


def test_sheets():
    pytest.importorskip("python_calamine")
    with pytest.raises(DataError, match="notes, flowers"):
        load(FLOWERS)
    bunch = load(FLOWERS, sheet="flowers", nominal="onehot")
    assert bunch.data.shape[1] == 5
    assert bunch.target_names.tolist() == ["rose", "tulip"]
    assert "picked (dates, such as 2024-" in "; ".join(bunch.preparation.sentences)
    assert load(FLOWERS, sheet=1).data.tolist() == load(FLOWERS, sheet="flowers").data.tolist()
    with pytest.raises(DataError, match="no sheet 'more'"):
        load(FLOWERS, sheet="more")


def test_a_sheet_begins_with_names(folder):
    needs_sheets()
    FRAME.to_excel(folder / "f.xlsx", index=False, startrow=3)
    assert "read_as: {skip: [1, 2, 3]}" in loaded(folder / "f.xlsx")[1]
    below = load(folder / "f.xlsx", read_as={"skip": [1, 2, 3]})
    FRAME.to_excel(folder / "f.xlsx", index=False)
    np.testing.assert_array_equal(below.data, load(folder / "f.xlsx").data)
    units = pd.concat([pd.DataFrame([["cm"] * FRAME.shape[1]], columns=FRAME.columns), FRAME])
    units.to_excel(folder / "f.xlsx", index=False)
    assert "row 2: correct it; or add `read_as: {skip: [2]}`" in loaded(folder / "f.xlsx")[1]
    below = load(folder / "f.xlsx", read_as={"skip": [2]})
    assert below.data.shape == (len(FRAME), FRAME.shape[1] - 1)
    rows = pd.DataFrame(
        {"club": ["Ried", "Linz"] * 20, "x": np.arange(40) / 4, "y": ["p", "q"] * 20}
    )
    rows.to_excel(folder / "g.xlsx", index=False, header=False)
    bunch = load(folder / "g.xlsx")
    assert bunch.feature_names.tolist() == ["x1", "x2"]
    np.testing.assert_array_equal(bunch.data[:, 1], rows["x"])
    rows.assign(club=[*map(str, range(40))]).to_excel(folder / "g.xlsx", index=False, header=False)
    assert load(folder / "g.xlsx", read_as={"header": True}).data.shape == (39, 2)


def test_only_groups_of_three_digits_are_thousands(folder):
    rows = "".join(
        f"{i % 28 + 1:02}.03.2022;10.0.1.{i % 9};1.{i + 100},5;{'pq'[i % 2]}\n" for i in range(40)
    )
    path = write(folder, "day;host;price;label\n" + rows)
    bunch = load(path, read_as={"decimal": ",", "thousands": "."}, nominal="onehot")
    assert bunch.card.forms[0].left_out["day"] == "dates, such as 01.03.2022"
    np.testing.assert_array_equal(bunch.data[:, -1], 1100.5 + np.arange(40))
    assert bunch.feature_names.tolist() == [*(f"host=10.0.1.{i}" for i in range(9)), "price"]


def test_lines_that_are_no_rows_are_named(folder):
    rows = "".join(f"{i},{i % 7},{'pq'[i % 2]}\n" for i in range(30))
    for above, way in (
        ("a,b,label\nm,kg,-\n", "{skip: [2]}"),
        ("a made-up table\nof 1990\n\na,b,label\n", "{skip: [1, 2]}"),
        ("a,b,label\n# a comment\n", "{skip: [2]}"),
        ("# a comment\na,b,label\n", '{comment: "#"}'),
    ):
        path = write(folder, above + rows)
        assert f"read_as: {way}" in loaded(path)[1]
        bunch = load(path, read_as=yaml.safe_load(way))
        assert bunch.data.shape == (30, 2)
        assert bunch.feature_names.tolist() == ["a", "b"]
    codes = "".join(
        f"{code},{'pq'[i % 2]}\n" for i, code in enumerate(["2A", "2B", *"0123456789"])
    )
    assert '["2A", "2B"]' in loaded(write(folder, "a,label\n" + codes))[1]


def test_numbers_whose_squares_are_infinite_are_refused(folder):
    np.savez(folder / "f.npz", X=np.full((3, 2), 1e200), y=[0, 1, 1])
    for path in (write(folder, "x,y\n1e200,0\n2,1\n"), folder / "f.npz"):
        assert "1e+150" in loaded(path)[1]


def test_numbers_and_texts_in_a_sheet(folder):
    needs_sheets()
    x = [i / 4 for i in range(40)]
    for entry, message in (("17O.5", "39 of 40 entries"), ("NA", ""), (".", "")):
        x[7] = entry
        frame = pd.DataFrame({"x": x, "label": list("pq") * 20})
        frame.to_excel(folder / "f.xlsx", index=False)
        bunch, refusal = loaded(folder / "f.xlsx")
        assert message in refusal
        assert message or bunch.data.shape == (39, 1)
    frame.assign(x=np.arange(40) * 1e20).to_excel(folder / "f.xlsx", index=False)
    assert loaded(folder / "f.xlsx")[0].data.max() == 39e20
    frame.assign(x=[f"{i},5" for i in range(40)]).to_excel(folder / "f.xlsx", index=False)
    assert "0 of 40 entries are numbers; the first other is '0,5'" in loaded(folder / "f.xlsx")[1]
    assert "missing" not in loaded(folder / "f.xlsx")[1]


def test_cards_that_are_added(folder, tmp_path):
    path = write(tmp_path, "id,x,label\n7,1,p\n8,,q\n9,3,q\n")
    added = add(path, name="mine", drop=["id"], missing="mean", folder=folder)
    assert read_card(folder / "mine.yaml") == added.card
    path.unlink()  # the data is a copy
    assert added.card.missing == "mean"
    assert load("mine", data_dir=folder).data.tolist() == [[1], [2], [3]]
    path = write(tmp_path, "id,x,label\n7,1,p\n8,,q\n9,3,q\n")
    for options, message in (
        ({"name": "mine"}, "exists already"),
        ({"name": "abalone"}, "the name 'abalone' is that of a data set in the catalogue"),
        ({"name": "Mine 2"}, "name: string should match"),
        ({"name": "other", "task": "regression"}, "must be numbers"),
        ({"name": "other", "task": "sorting"}, "expected one of classification"),
    ):
        with pytest.raises(DataError, match=message):
            add(path, folder=folder, **options)
    assert sorted(p.name for p in folder.iterdir()) == ["mine", "mine.yaml"]


def test_separators_at_the_ends_of_lines_make_no_columns(folder):
    path = write(folder, "a;b;kind;;\n1;2;x;;\n3;4;y;;\n5;6;x;;\n")
    bunch = load(path)
    np.testing.assert_array_equal(bunch.data, [[1, 2], [3, 4], [5, 6]])
    assert "2 columns without name and entries left out" in sentences(path)
    with pytest.raises(DataError, match="1 column without a name"):
        load(write(folder, "a;b;kind;\n1;2;x;1\n3;4;y;\n"))


def test_a_sheet_that_starts_in_column_c(folder):
    needs_sheets()
    FRAME.to_excel(folder / "f.xlsx", index=False, startcol=2)
    bunch = load(folder / "f.xlsx")
    assert bunch.feature_names.tolist() == ["x", "note"]
    np.testing.assert_array_equal(bunch.data[:, 0], FRAME["x"])


@pytest.mark.parametrize("kind", ["npz", "mat", "h5"])
def test_gaps_in_arrays_are_missing_entries(folder, kind):
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10) % 2
    X[3, 1] = np.nan
    path = folder / f"f.{kind}"
    save(path, X=X, y=y)
    np.testing.assert_array_equal(load(path).data, np.delete(X, 3, axis=0))
    assert "1 of 10 rows with missing entries were left out (x2 in 1)" in sentences(path)
    assert load(path, missing="mean").data[3, 1] == pytest.approx(np.nanmean(X[:, 1]))


def test_long_texts_and_many_columns(tmp_path):
    path = write(tmp_path, "x,y\n" + f"{'a' * 140_000},p\nb,q\nc,p\n" * 2)
    assert load(path, points="x").data[0] == "a" * 140_000
    rows = np.arange(6 * 4000).reshape(6, 4000) / 8
    frame = pd.DataFrame(rows, columns=[f"c{i}" for i in range(4000)]).assign(y=[*"ababab"])
    frame["c7"] = [*"uvuvuv"]
    frame["c9"] = np.arange(6)
    frame.to_csv(path, index=False)
    started = time.process_time()
    pd.read_csv(path)
    pandas, started = time.process_time() - started, time.process_time()
    expected = frame.drop(columns="y").assign(c7=[0, 1] * 3).to_numpy(float)
    np.testing.assert_array_equal(load(path).data, expected)
    assert time.process_time() - started < 30 * pandas


@pytest.mark.parametrize("index", [16_609_143, 2**31 - 1, 2**31, 10**30])
def test_an_index_of_a_feature_has_a_bound(tmp_path, index):
    path = write(tmp_path, f"1 1:1 {index}:1\n-1 2:1\n", "f.libsvm")
    assert "above 5,000,000" in loaded(path)[1]


def test_numbers_in_text_differ_in_their_last_digits_at_most(folder):
    x = np.random.default_rng(0).normal(size=2000)
    pd.DataFrame({"x": x, "y": x}).to_csv(folder / "x.csv", index=False)
    np.testing.assert_allclose(load(folder / "x.csv").data[:, 0], x, rtol=0, atol=1e-15)


def test_numbers_with_leading_zeros_are_named(folder):
    rows = "\n".join(f"0{i},{i},{'pq'[i % 2]}" for i in range(1, 30))
    bunch = load(write(folder, f"code,x,y\n{rows}\n"))
    assert [note.split()[0] for note in bunch.preparation.notes if "01" in note] == ["code"]


def test_a_comment_above_a_table_is_no_commented_header(folder):
    rows = "".join(f"{i}\t{i % 7}\t{'some label' if i % 2 else 'other'}\n" for i in range(20))
    path = write(folder, f"junk\n# a comment\na\tb\ty\n{rows}")
    refusal = loaded(path, read_as={"skip": [1]})[1]
    assert "begins with #" in refusal
    assert '"skip": [1, 2]' in refusal or "skip: [1, 2]" in refusal
    path = write(folder, f"#a\tb\ty\n{rows}1\t2\n{rows}")
    assert "begins with #" not in loaded(path)[1]


def test_labels_of_arrays_may_lack_and_rows_have_groups(folder):
    X, y = np.random.default_rng(0).normal(size=(12, 3)), np.array(["a", "b", ""] * 4)
    np.savez(folder / "f.npz", X=X, y=y)
    assert load(folder / "f.npz").data.shape == (8, 3)
    names = [f"p{i}" for i in range(12)]
    D = np.abs(X[:, np.newaxis] - X).sum(axis=2)
    np.savez(folder / "D.npz", D=D, names=names)
    beside = pd.DataFrame({"id": names, "kind": ["a", "b"] * 6, "patient": [*"uvw"] * 4})
    beside.loc[4, "kind"] = None
    beside[::-1].to_csv(folder / "l.csv", index=False)
    how = {"matrix": "distance", "labels": folder / "l.csv", "target": "kind"}
    assert load(folder / "D.npz", **how).preparation.shared == {"patient": 3}
    data = load(folder / "D.npz", **how, groups="patient")
    assert data.groups.tolist() == [0, 1, 2, 0, 2, 0, 1, 2, 0, 1, 2]


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_texts_stand_for_numbers(folder, kind):
    dose = ["<0,5", "1.250,5", None, "7", ">2.000"] * 4
    frame = pd.DataFrame({"dose": dose, "note": ["a", "<0,5"] * 10, "y": [0, 1] * 10})
    if kind == "csv":
        how = {"decimal": ",", "thousands": ".", "delimiter": ";"}
        frame.to_csv(path := folder / "f.csv", sep=";", index=False)
    else:
        frame["dose"] = frame["dose"].map({"1.250,5": 1250.5, "7": 7}).fillna(frame["dose"])
        how, path = {}, folder / "f.xlsx"
        frame.to_excel(path, index=False)
    replace = {"<0,5": 0.25, ">2.000": 2000}
    data = load(path, missing="mean", read_as={**how, "replace": replace})
    expected = [0.25, 1250.5, np.mean([0.25, 1250.5, 7, 2000]), 7, 2000] * 4
    np.testing.assert_allclose(data.data[:, 0], expected)
    assert len(set(data.data[:, 1])) == 2  # a column of texts stays one
    assert "'<0,5' is read as 0.25 in 4 rows of column dose" in data.preparation.sentences
    further = load(path, missing="mean", read_as={**how, "replace": {**replace, "<9": 1}})
    np.testing.assert_array_equal(further.data, data.data)
    assert any("'<9' is read as 1 in no column" in s for s in further.preparation.sentences)


def test_labels_of_another_file_are_found_by_name(folder):
    D = np.abs(np.subtract.outer([0, 1, 5, 7.0], [0, 1, 5, 7.0]))
    names = ["p1", "p2", "p3", "p4"]
    pd.DataFrame(D, index=names, columns=names).to_csv(folder / "D.csv")
    pd.DataFrame(D, columns=names).to_csv(folder / "bare.csv", index=False)
    np.save(folder / "D.npy", D)
    np.save(folder / "y.npy", np.array(list("xxyy")))
    np.savez(folder / "D.npz", D=D, names=np.array(names))
    beside = write(folder, "id,kind,size\np3,y,2\np1,x,1\np4,y,2\np2,x,1\np9,x,1\n", "labels.csv")
    for name in ("D.csv", "bare.csv", "D.npz"):
        bunch = load(folder / name, matrix="distance", labels=beside, target="kind")
        assert bunch.target_names[bunch.target].tolist() == ["x", "x", "y", "y"]
        np.testing.assert_array_equal(bunch.data, D)
    assert any("1 of 5 rows" in note for note in bunch.preparation.notes)
    first = bunch.identity
    beside.write_text(beside.read_text().replace("p3,y", "p3,x").replace("p2,x", "p2,y"))
    assert (
        load(folder / "D.npz", matrix="distance", labels=beside, target="kind").identity != first
    )
    bunch = load(folder / "D.npy", matrix="distance", labels=folder / "y.npy")
    for lines in (["a", "b", "a", "b"], ["kind", "a", "b", "a", "b"]):
        (folder / "y.txt").write_text("\n".join(lines))
        alone = load(folder / "D.npy", matrix="distance", labels=folder / "y.txt")
        assert alone.target_names[alone.target].tolist() == ["a", "b", "a", "b"]
    assert bunch.target.tolist() == [0, 0, 1, 1]
    for lines, message in (("a b b a a", "5 rows, but 4 points"), ("2 1 3 1 2.5", "5 rows, but")):
        (folder / "y.txt").write_text("\n".join(lines.split()))  # one too many, not a name
        with pytest.raises(DataError, match=message):
            load(folder / "D.npy", matrix="distance", labels=folder / "y.txt")
    numbers = ["1", "2", "1", "1.5"]
    for text, labels in (("1\r\n2\r\n1\r\n1.5\n\n", numbers), ('"a"\nNA\nb\nb', list("abb"))):
        (folder / "y.txt").write_text(text)
        alone = load(folder / "D.npy", matrix="distance", labels=folder / "y.txt")
        assert alone.target_names[alone.target].tolist() == labels
    gaps = write(folder, "id,kind\np3,y\np1,\np4,y\np2,x\n", "gaps.csv")
    assert load(folder / "D.csv", matrix="distance", labels=gaps).data.shape == (3, 3)
    with pytest.raises(DataError, match="5 rows, but 4 points"):
        load(folder / "D.npy", matrix="distance", labels=beside)
    with pytest.raises(DataError, match=r"`target: .kind.` or `target: .size.`"):
        load(folder / "D.csv", matrix="distance", labels=beside)
    twice = write(folder, "id,other,kind\np3,p1,y\np1,p3,x\np4,p4,y\np2,p2,x\n", "twice.csv")
    with pytest.raises(DataError, match="id and other both name points"):
        load(folder / "D.csv", matrix="distance", labels=twice, target="kind")
    pd.DataFrame(D, index=names).to_csv(folder / "rows.csv", header=False)
    how = {"matrix": "distance", "labels": beside, "target": "kind"}
    bunch = load(folder / "rows.csv", read_as={"header": False}, **how)
    assert bunch.target_names[bunch.target].tolist() == ["x", "y", "x", "y"]
    np.testing.assert_array_equal(bunch.data, D)
    write(folder, "kind\nx\nx\nx", "short.txt")
    with pytest.raises(DataError, match="kind, in line 1 alone"):
        load(folder / "D.npy", matrix="distance", labels=folder / "short.txt")
    beside.write_text("id,kind\np3,y\np1,x\np7,y\np2,x\n")
    with pytest.raises(DataError, match=r"1 of 4 points .* p4"):
        load(folder / "D.csv", matrix="distance", labels=beside)
    for name in ("D.csv", "bare.csv", "D.npy"):
        assert "`labels:" in loaded(folder / name, matrix="distance")[1]
    names = ["1", "01", "1_0", "kind"]  # two are one number, one is that of the column of labels
    beside = write(folder, "id,kind\n1,y\n1_0,x\nkind,y\n10,x\n", "labels.csv")
    how = {"matrix": "distance", "labels": beside, "read_as": {"header": True}}
    pd.DataFrame(D, columns=names).to_csv(folder / "D.csv", index=False)
    with pytest.raises(DataError, match="are called 1:"):
        load(folder / "D.csv", **how)
    names[1] = "10"
    pd.DataFrame(D, columns=names).to_csv(folder / "D.csv", index=False)
    assert load(folder / "D.csv", **how).target.tolist() == [1, 0, 0, 1]


def test_groups_of_arrays_are_named_and_taken(folder):
    X, groups = np.random.default_rng(0).normal(size=(60, 3)), np.repeat(np.arange(12), 5)
    np.savez(folder / "f.npz", X=X, y=np.arange(60) % 2, groups=groups)
    assert load(folder / "f.npz").preparation.shared == {"groups": 12}
    bunch = load(folder / "f.npz", groups="groups")
    np.testing.assert_array_equal(bunch.groups, groups)
    assert not bunch.preparation.shared


def test_nested_fields_are_to_be_columns(folder):
    frame = pd.DataFrame({"order": [f"o{i:03}" for i in range(300)], "label": [*"ab"] * 150})
    frame.insert(1, "customer", [{"age": i} for i in range(300)])
    frame.to_json(folder / "f.jsonl", orient="records", lines=True)
    with pytest.raises(DataError, match="json_normalize") as error:
        load(folder / "f.jsonl")
    assert not error.value.ways


def test_values_that_pandas_may_miss_repeat(folder):
    n = 200
    frame = pd.DataFrame({"branch": pd.array([i % 50 for i in range(n)], "Int64")})
    frame["x"] = pd.array([i % 50 % 7 for i in range(n)], "Int64")
    frame["z"] = pd.array([i % 50 % 5 for i in range(n)], "Int64")
    frame["label"] = [*"ab"] * (n // 2)
    frame.to_parquet(folder / "f.parquet")
    assert load(folder / "f.parquet").preparation.shared == {"branch": 50}


@pytest.mark.parametrize(
    ("name", "n_values", "are_groups"),
    [("age_group", 5, False), ("visit_no", 8, False), ("visit_id", 40, True), ("group", 5, True)],
)
def test_names_of_groups(folder, name, n_values, are_groups):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.integers(n_values, size=200), "x": rng.normal(size=200)})
    frame.assign(label=[*"ab"] * 100).to_csv(folder / "f.csv", index=False)
    assert (name in load(folder / "f.csv").preparation.shared) == are_groups
