import numpy as np
import pytest

from kernlearn.datasets import fingerprint, load
from kernlearn.datasets.formats import Expected, Letor
from kernlearn.datasets.sparse_text import read_pairs
from kernlearn.exceptions import DataError

GRADES = Expected(3, ("0", "1", "2"))
ROWS = (
    "0 qid:10032 1:0.5 2:0.000000 3:1 #docid = GX029-35-5894638 inc = 0.02 prob = 0.14\n"
    "2 qid:10032 1:1 2:0.25 3:0 #docid = GX030\n\n"
    "1 qid:7 1:0.125 2:1 3:0.5\n"
)


@pytest.fixture
def read(folder):
    def write_and_read(*texts):
        paths = [folder / f"S{i}.txt" for i in range(1, len(texts) + 1)]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        return read_pairs(paths, Letor(), GRADES)

    return write_and_read


def test_relevance_queries_and_values(read):
    table = read(ROWS, "1 qid:19997 3:2\n")
    assert table.X.tolist() == [[0.5, 0, 1], [1, 0.25, 0], [0.125, 1, 0.5], [0, 0, 2]]
    assert table.y.tolist() == [0, 2, 1, 1]
    assert table.query.tolist() == [10032, 10032, 7, 19997]
    assert table.query.dtype == np.int64


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("3 qid:1 1:1\n", r"line 1, column 1 \(label\): found '3', expected one of 0, 1, 2"),
        ("0 qid:1 1:1\n0 1:1 2:1\n", "line 2, column 2: found '1:1', expected a query id"),
        ("0 1:1\n", "line 1, column 2: found '1:1', expected a query id, as qid:number"),
        ("0\n", "line 1, column 2: found '', expected a query id"),
        ("0 qid:x 1:1\n", "line 1, column 2: found 'qid:x', expected a query id"),
        ("0 qid:-1 1:1\n", "line 1, column 2: found 'qid:-1', expected a query id"),
        ("0 qid:" + "9" * 30 + " 1:1\n", "line 1, column 2: found 'qid:999"),
        ("0 qid:1 qid:2 1:1\n", "line 1, column 3: found 'qid:2', expected an index"),
        ("0 qid:1 4:1\n", "line 1, column 3: found '4:1', expected an index from 1 to 3"),
        ("0 qid:1 1:NULL\n", "line 1, column 3: found '1:NULL', expected index:value with a fin"),
        ("# only\n", "the file has no rows"),
    ],
)
def test_faults_name_the_line(read, text, message):
    with pytest.raises(DataError, match=message) as caught:
        read(text)
    assert "\n" not in str(caught.value)


@pytest.fixture
def card(make_card):
    form = {"files": ["S1.txt"], "format": {"kind": "letor"}, "rows": 3}
    form["classes"] = {0: 1, 1: 1, 2: 1}
    return make_card(form, task="ranking", n_features=3)


def test_queries_come_with_the_data_and_are_cached_and_hashed(card, folder):
    (folder / "S1.txt").write_text(ROWS)
    first, again = load(card, data_dir=folder), load(card, data_dir=folder)
    for bunch in (first, again):
        assert bunch.query.tolist() == [10032, 10032, 7]
        assert bunch.query.dtype == np.int64
        assert bunch.target.tolist() == [0, 2, 1]
    labels = ["0 qid:10032", "2 qid:10032", "1 qid:7"]
    assert first.fingerprint == again.fingerprint == fingerprint(first.data, labels)
    (folder / "S1.txt").write_text(ROWS.replace("qid:7", "qid:8"))
    assert load(card, data_dir=folder).fingerprint != first.fingerprint


def test_a_ranking_needs_queries(make_card, folder):
    form = {"files": ["f"], "format": {"kind": "libsvm"}, "rows": 1, "classes": {0: 1}}
    (folder / "f").write_text("0 1:1 2:1\n")
    with pytest.raises(DataError, match="f: found no query ids, expected one per row"):
        load(make_card(form, task="ranking"), data_dir=folder)
