"""Files of strings, series of any lengths, sets and graphs."""

import json

import numpy as np
import pytest

from kernlearn.datasets import add, describe, frames, load
from kernlearn.datasets.formats import Excel, Expected
from kernlearn.datasets.objects import kind_of
from kernlearn.exceptions import DataError

NAMES = "id,name,kind\n1,anna,a\n2,hanna,a\n3,,b\n4,otto,b\n5,lotto,b\n"


@pytest.fixture
def names(tmp_path):
    path = tmp_path / "names.csv"
    path.write_text(NAMES)
    return path


@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("points", ["name", 1])
def test_a_column_of_texts_is_the_points(names, points, cache):
    for _ in range(2):
        bunch = load(names, points=points, cache=cache)
        assert bunch.data.tolist() == ["anna", "hanna", "otto", "lotto"]
        assert bunch.target.tolist() == [0, 0, 1, 1]
        assert bunch.data.dtype == object
        assert bunch.preparation.sentences == [
            "1 of 5 rows with missing entries is left out",
            "1 column is left out: id",
        ]
        assert bunch.note == "1 of 5 rows with missing entries were left out."


def test_without_header_and_with_quotes(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text('"one, two",a\n"three ""x""",b\n"four",b\n"five",a\n')
    bunch = load(path, points="x1")
    assert bunch.data.tolist() == ["one, two", 'three "x"', "four", "five"]


def test_the_target_is_another_column(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("kind,text\na,one\nb,two\n")
    assert load(path, points="text").target_names.tolist() == ["a", "b"]
    assert load(path, points="kind", target="text").data.tolist() == ["a", "b"]


def test_numbers_to_predict_and_numbers_as_texts(tmp_path):
    path = tmp_path / "codes.csv"
    path.write_text("code,price\n007,1.5\n08,2.5\n7,3.25\n")
    bunch = load(path, points="code", task="regression")
    assert bunch.data.tolist() == ["007", "08", "7"]
    assert bunch.target.tolist() == [1.5, 2.5, 3.25]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"points": "nam"}, "has no column called 'nam'"),
        ({"points": "kind", "target": "kind"}, "column kind holds the points; it is the target"),
        ({"points": "name", "drop": ["name"]}, "column name holds the points; it is dropped"),
        ({"points": "name", "missing": "error"}, "row 3 has no whole point: missing values"),
        ({"points": "name", "missing": "mean"}, "row 3 has no whole point: points cannot be fil"),
    ],
)
def test_what_is_refused(names, options, message):
    with pytest.raises(DataError, match=message):
        load(names, **options)


def test_a_lone_column_of_texts_is_pointed_out(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("text,kind\n" + "".join(f"text number {i},{'ab'[i % 2]}\n" for i in range(60)))
    with pytest.raises(DataError, match="`points: text` takes its texts as strings to compare"):
        load(path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.arff", "@relation a\n@attribute x numeric\n@attribute y {0,1}\n@data\n1,0\n2,1\n"),
        ("a.svm", "1 1:2\n-1 1:3\n"),
    ],
)
def test_formats_without_texts(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(DataError, match="points: is for text in columns, sheets, lines of JSON"):
        load(path, points="x")


def test_sheets(tmp_path, monkeypatch):
    columns = [["anna", "otto", ""], ["1", "2", "3"], ["a", "b", "a"]]
    frame = frames.Frame(("name", "n", "kind"), columns, {})
    monkeypatch.setattr(frames, "load_sheet", lambda *given: frame)
    options = Excel(points="name", target="kind", drop=("n",))
    table = options.read([tmp_path / "names.xlsx"], Expected(1, ("a", "b")))
    assert table.X.tolist() == ["anna", "otto", None]
    assert table.y.tolist() == [0, 1, 0]


def test_a_card_of_points(names, tmp_path):
    added = add(names, name="own_names", points="name", folder=tmp_path / "datasets")
    assert "the points are the texts of column name: 5 different texts" in added.remarks
    bunch = load(added.card, data_dir=added.path.parent)
    assert bunch.data.tolist() == ["anna", "hanna", "otto", "lotto"]
    about = describe(added.card, data_dir=added.path.parent)
    assert about.shape == (4,)
    assert about.features == ()
    assert about.picture.startswith("sizes of strings")


SERIES = "@univariate {}\n@classLabel true a b\n@data\n"


def series(tmp_path, *lines, univariate="true"):
    path = tmp_path / "waves.ts"
    path.write_text(SERIES.format(univariate) + "".join(f"{line}\n" for line in lines))
    return path


def test_series_of_any_lengths(tmp_path):
    path = series(tmp_path, "1,2,3:a", "4:b", "5,?:b", "6,7:a")
    for _ in range(2):  # read, then from the copy
        bunch = load(path, points="series")
        assert [one.tolist() for one in bunch.data] == [[1, 2, 3], [4], [6, 7]]
        assert bunch.target.tolist() == [0, 1, 0]
        assert bunch.preparation.rows_dropped == 1
    assert kind_of(bunch.data) == "series"


def test_series_of_several_channels(tmp_path):
    path = series(tmp_path, "1,2:3,4:a", "5,6,7:8,9,0:b", univariate="false")
    bunch = load(path, points="series")
    assert [one.tolist() for one in bunch.data] == [[[1, 2], [3, 4]], [[5, 6, 7], [8, 9, 0]]]


def test_series_of_one_length_are_a_matrix_unless_asked_for(tmp_path):
    path = series(tmp_path, "1,2:a", "3,4:b")
    np.testing.assert_array_equal(load(path).data, [[1, 2], [3, 4]])
    assert load(path, points="series").data.shape == (2,)


@pytest.mark.parametrize(
    ("lines", "options", "message"),
    [
        (["1,2:a", "3:b"], {}, "1 to 2 values make no matrix: give `points: series`"),
        (["1,2:3,4:a", "1,2:3,4:b"], {}, "series of 2 channels and 2 values make no matrix"),
        (["1:a", "2:b"], {"points": "x"}, "of this file it is `series`, got 'x'"),
        (["1:a", "2:b"], {"target": "x"}, "a file of series has a class at the end of each"),
        (["1:2:a", "2:b"], {"points": "series"}, "line 5: found 'a series of 1 channels', exp"),
        (["1,2:2:a", "1:2:b"], {"points": "series"}, "'channels of 2, 1 values', expected chan"),
    ],
)
def test_faults_of_series(tmp_path, lines, options, message):
    with pytest.raises(DataError, match=message):
        load(series(tmp_path, *lines), **options)


def lines(tmp_path, *records):
    path = tmp_path / "points.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return path


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["anna", "otto"], "strings"),
        ([[1, 2, 3], [4.5]], "series"),
        ([["tea", "milk"], ["tea"]], "sets"),
        ([{"edges": [[0, 1]]}, {"edges": [[0, 1, 2.5]], "labels": {"0": "C"}}], "graphs"),
    ],
)
def test_lines_of_json(tmp_path, values, kind):
    path = lines(
        tmp_path,
        {"x": values[0], "class": "a"},
        {"x": None, "class": "a"},
        {"x": values[1], "class": "b"},
    )
    for _ in range(2):
        bunch = load(path)
        assert kind_of(bunch.data) == kind
        assert bunch.target.tolist() == [0, 1]
        assert bunch.preparation.rows_dropped == 1


def test_values_of_json_are_chosen(tmp_path):
    records = [{"id": i, "text": f"t{i}", "note": "", "group": i % 2} for i in range(4)]
    bunch = load(lines(tmp_path, *records), points="text", target="group")
    assert bunch.data.tolist() == ["t0", "t1", "t2", "t3"]
    assert bunch.preparation.sentences == ["2 columns are left out: id, note"]


@pytest.mark.parametrize(
    ("records", "options", "message"),
    [
        ([{"a": "x", "b": 1}], {}, "points: say which value: a, b"),
        ([{"a": "x", "b": 1, "class": 1}], {}, "points: say which value: a, b, class"),
        ([{"a": "x", "class": 1}], {"points": "c"}, "points: no value is called 'c', say which"),
        (
            [{"a": "x", "class": 0}, {"a": 3, "class": 1}],
            {},
            "line 2, column a: found 3, expected",
        ),
        ([{"a": "x", "class": 0}, {"class": 1}], {}, "line 2: found 'class', expected a value c"),
        ([{"a": "x", "class": 0}, [1]], {}, "line 2: .* expected an object of JSON"),
    ],
)
def test_faults_of_json(tmp_path, records, options, message):
    with pytest.raises(DataError, match=message):
        load(lines(tmp_path, *records), **options)
