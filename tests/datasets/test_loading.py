"""What load does with rows and columns, and says."""

import re

import numpy as np
import pandas as pd
import pytest

from kernlearn.datasets import fingerprint, load, locate
from kernlearn.datasets.groups import ids_and_groups, named_groups
from kernlearn.datasets.tables import Table
from kernlearn.exceptions import DataError
from tests.datasets.conftest import NURSERY_ROWS

GAPS = {
    "files": ["small.data"],
    "format": {
        "kind": "delimited",
        "columns": ["a", "b", "kind", "class"],
        "target": "class",
        "nominal": {"kind": ["low", "high"]},
        "missing": ["?"],
    },
    "rows": 4,
    "classes": {"no": 2, "yes": 2},
}
GAPS_ROWS = "1,2,low,no\n?,4,low,yes\n3,?,?,yes\n5,9,high,no\n"


@pytest.fixture
def gaps(make_card, folder):
    (folder / "small.data").write_text(GAPS_ROWS)
    return make_card(GAPS, n_features=3)


def test_nominal_columns(nursery_like, make_card, folder):
    (folder / "small.data").write_text(NURSERY_ROWS)
    codes = load(nursery_like, data_dir=folder)
    assert codes.data.tolist() == [[0, 0], [0, 3], [2, 1], [1, 0], [2, 2]]
    assert codes.target_names[codes.target].tolist() == ["no", "yes", "yes", "no", "no"]
    assert codes.preparation.coded == {"parents": 3, "children": 4}
    hot = load(nursery_like, data_dir=folder, nominal="onehot")
    assert hot.data.shape == (5, 7)
    assert hot.data.sum(axis=1).tolist() == [2] * 5
    assert hot.feature_names[:4].tolist() == [
        "parents=usual",
        "parents=pretentious",
        "parents=great_pret",
        "children=1",
    ]
    (folder / "numbers").write_text("7,no\n5,yes\n6,no\n")
    form = {"format": {"kind": "delimited", "columns": ["a", "b"], "nominal": {"a": [6, 5, 7]}}}
    form |= {"files": ["numbers"], "labels": ["no", "yes"]}
    numbers = load(make_card(form, n_features=1), data_dir=folder)
    assert numbers.data.ravel().tolist() == [2, 1, 0]
    left = load(nursery_like, data_dir=folder, drop=["parents"])
    np.testing.assert_array_equal(left.data, codes.data[:, 1:])


def test_a_dropped_column_can_mark_groups(nursery_like, folder, tmp_path):
    (folder / "small.data").write_text(NURSERY_ROWS)
    for drop in ([], ["parents"]):
        grouped = load(nursery_like, data_dir=folder, drop=drop, groups="parents")
        assert grouped.feature_names.tolist() == ["children"]
        assert grouped.groups.tolist() == [0, 0, 2, 1, 2]
    (tmp_path / "f.csv").write_text("owner,n,kind\nann,1,a\nbob,2,b\nann,3,b\n")
    grouped = load(tmp_path / "f.csv", drop=[0], groups="owner")
    assert grouped.feature_names.tolist() == ["n"]
    assert grouped.groups.tolist() == [0, 1, 0]


FILLED = {
    "drop": [[1, 2, 0], [5, 9, 1]],
    "mean": [[1, 2, 0], [3, 4, 0], [3, 5, 0], [5, 9, 1]],
    "most_frequent": [[1, 2, 0], [1, 4, 0], [3, 2, 0], [5, 9, 1]],
}


@pytest.mark.parametrize("missing", FILLED)
def test_missing_entries(gaps, folder, missing):
    bunch = load(gaps, data_dir=folder, missing=missing)
    assert bunch.data.tolist() == FILLED[missing]
    counts = "2 of 4 .*[(]a in 1, b in 1, kind in 1" if missing == "drop" else "^3 .* in 2 of 4"
    assert re.search(counts, bunch.preparation.sentences[0])
    assert bunch.preparation.sentences[0] in bunch.note


def test_missing_entries_that_are_refused(gaps, folder, make_card):
    with pytest.raises(DataError, match="3 missing entries in 2 of 4 rows"):
        load(gaps, data_dir=folder, missing="error")
    strict = GAPS | {"format": GAPS["format"] | {"missing": []}}
    with pytest.raises(DataError, match="line 2, column a: found '\\?'"):
        load(make_card(strict, n_features=3), data_dir=folder)
    with pytest.raises(DataError, match=r"missing: .* is not allowed"):
        load(gaps, data_dir=folder, missing="median")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (NURSERY_ROWS.replace("usual,1", "rich,1", 1), "line 1, column parents: found 'rich'"),
        (
            NURSERY_ROWS.replace(",yes", ",maybe", 1),
            "line 2, label: found 'maybe', expected one of",
        ),
        (NURSERY_ROWS + "usual,1,no\n", "found 6 rows, expected 5"),
        (NURSERY_ROWS.replace(",yes", ",no", 1), "found 4 rows of no, expected 3"),
        (NURSERY_ROWS + "usual,1\n", "line 6, label: found '', expected one of"),
        (NURSERY_ROWS + "usual,1,no,2\n", "Expected 3 fields in line 6, saw 4"),
        ("a,b\n", "Expected axis has 2 elements"),
        ("", "No columns to parse from file"),
    ],
)
def test_content_that_is_not_that_of_the_card(nursery_like, folder, text, message):
    (folder / "small.data").write_text(text)
    with pytest.raises(DataError, match=message):
        load(nursery_like, data_dir=folder)


def test_columns_that_the_card_has_and_the_file_has_not(make_card, folder):
    (folder / "f").write_text("1,2,3\n")
    for options in ({"nominal": {"c": ["a"]}}, {"target": "c"}, {"drop": ["c"]}):
        form = {"files": ["f"], "format": {"kind": "delimited"} | options}
        with pytest.raises(DataError, match="no column 'c'"):
            load(make_card(form, task="regression"), data_dir=folder)


def test_the_fingerprint_of_the_card_and_the_identity(make_card, folder):
    form = {"files": ["f"], "format": {"kind": "delimited"}, "rows": 3}
    (folder / "f").write_text("1,2,3\n4,5,6\n7,8,9\n")
    card = make_card(form, task="regression")
    assert load(card, data_dir=folder).fingerprint == ""
    content = fingerprint([[7, 8], [1, 2], [4, 5]], [9.0, 3.0, 6.0])
    card = make_card(form | {"fingerprint": content}, task="regression")
    first = load(card, data_dir=folder)
    assert (first.note, first.fingerprint) == ("", content)
    identity = first.found.identity
    assert identity == locate(card, folder).identity
    (folder / "f").write_text("1,2,3\n4,5,6\n7,8,0\n")
    assert "differs from the card's" in load(card, data_dir=folder).note
    assert locate(card, folder).identity != identity
    other = make_card(form | {"format": {"kind": "delimited", "target": 0}}, task="regression")
    assert locate(other, folder).identity != locate(card, folder).identity


def test_folds_and_queries(make_card, folder):
    form = {"files": ["f"], "format": {"kind": "libsvm"}, "rows": 6, "labels": [0, 1]}
    (folder / "f").write_text("".join(f"{i % 2} qid:{i // 2} 1:{i} 2:1\n" for i in range(6)))
    bunch = load(make_card(form | {"folds": [2, 2, 2]}, task="ranking"), data_dir=folder)
    assert bunch.fold.tolist() == [0, 0, 1, 1, 2, 2]
    assert bunch.query.tolist() == [0, 0, 1, 1, 2, 2]
    with pytest.raises(DataError, match="split query 0"):
        load(make_card(form | {"folds": [1, 3, 2]}, task="ranking"), data_dir=folder)
    (folder / "f").write_text("1 1:1\n0 1:2\n")
    with pytest.raises(DataError, match="found no query ids"):
        load(make_card(form | {"rows": 2}, task="ranking"), data_dir=folder)


def test_files_that_are_read_one_after_the_other(make_card, folder):
    (folder / "f").write_text("a,t\n1,1\nNA,2\n")
    (folder / "g").write_text("a,t\nNaN,3\n")
    text = {"kind": "delimited", "header": True, "standard_missing": True}
    form = {"files": ["f", "g"], "format": text}
    done = load(make_card(form, task="regression", n_features=1), data_dir=folder).preparation
    taken = "taken as missing: 'NA' in 1 row of column a, 'NaN' in 1 row of column a"
    assert taken in done.sentences[0]

    (folder / "f").write_text("a,note,t\n1,old,1\n2,none,\n")
    (folder / "g").write_text("a,note,t\n3,new,3\n")
    form = {"files": ["f", "g"], "format": text | {"drop": ["note"], "text": ["note"]}}
    form["left_out"] = {"note": "text"}
    bunch = load(make_card(form, task="regression", n_features=1), data_dir=folder, frame=True)
    assert bunch.frame["note"].tolist() == ["old", "new"]

    for name, values in (("f.arff", "u,v"), ("g.arff", "v,u")):
        head = f"@relation r\n@attribute a {{{values}}}\n@attribute t numeric\n@data\n"
        (folder / name).write_text(f"{head}u,1\nv,2\n")
    form = {"files": ["f.arff", "g.arff"], "format": {"kind": "arff"}}
    with pytest.raises(DataError, match="nominal column in different orders"):
        load(make_card(form, task="regression", n_features=1), data_dir=folder)
    form["format"] = {"kind": "arff", "nominal": {"a": ["u", "v"]}}
    bunch = load(make_card(form, task="regression", n_features=1), data_dir=folder)
    assert bunch.data.ravel().tolist() == [0, 1, 0, 1]


def test_names_paths_and_options_that_do_not_go_together(make_card, folder):
    with pytest.raises(DataError, match="1 data set is missing"):
        load("spambase")
    with pytest.raises(DataError, match="target is for"):
        load("iris", target="x")
    with pytest.raises(DataError, match="no such file"):
        load(folder / "none.csv")
    (folder / "iris.yaml").write_text("x: 1\n")
    with pytest.raises(DataError, match=r"iris\.yaml:1: name"):
        load(folder / "iris.yaml")
    with pytest.raises(DataError, match="drop: no feature is left"):
        load("iris", drop=[0, 1, 2, 3])
    with pytest.raises(DataError, match="no feature 'size'"):
        load("iris", drop=["size"])


def test_columns_that_look_like_ids_or_groups():
    X = np.column_stack([np.arange(40.0), np.random.default_rng(0).normal(size=40), [7.0] * 40])
    table = Table(X, np.zeros(40), ("n", "x", "c"))
    assert ids_and_groups(table)[0] == {"n": "40 different whole numbers"}
    named = table._replace(feature_names=("n", "customerId", "c"), nominal={"n": ()})
    assert ids_and_groups(named)[0] == {"customerId": "by its name"}
    assert ids_and_groups(table.rows(np.arange(5)))[0] == {}
    X[:10, 0] = 0  # whole numbers of such a range may be counts
    assert ids_and_groups(table)[0] == {}
    frame = pd.DataFrame({"patient ": [*"aabbccdd"], "x": range(8)})
    assert named_groups(frame) == {"patient ": 4}
