"""What is wrong with streams in configs is said before anything is read, with its place."""

import pytest

from kernlearn.config import load_config
from kernlearn.config.entries import DatasetEntry
from kernlearn.exceptions import ConfigError

STREAM = "stream: {rows: 100}"
DRAWN = f"{{generator: product_rows, {STREAM}}}"
RIDGE = "{estimator: OnePassRidgeClassifier}"
CONFIG = """\
title: t
task: classification
datasets: {a: DATA}
methods: {m: METHOD}
protocol: {splits: 1}
metrics: [accuracy]
"""


def write(folder, data=DRAWN, method=RIDGE, changes=()):
    text = CONFIG.replace("DATA", data).replace("METHOD", method)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "c.yaml"
    path.write_text(text)
    (folder / "a.csv").write_text("x,y\n1,0\n2,1\n")
    (folder / "a.txt").write_text("1 1:2\n-1 2:1\n")
    (folder / "a.csv.zip").write_bytes(b"PK\5\6" + 18 * b"\0")
    return path


def messages(*arguments, **options):
    with pytest.raises(ConfigError) as error:
        load_config(write(*arguments, **options))
    return str(error.value)


@pytest.mark.parametrize(
    ("data", "place", "text"),
    [
        (
            "{generator: product_row, stream: {rows: 9}}",
            "generator",
            "no stream 'product_row'; did you mean 'product_rows'?",
        ),
        (
            "{generator: two_moons, stream: {rows: 9}}",
            "generator",
            "'two_moons': it draws all rows at once; streams are gaussian_stream, product_rows",
        ),
        (
            "{generator: product_rows, stream: {}}",
            "stream.rows",
            "is missing: product_rows has no end",
        ),
        (
            "{generator: product_rows, stream: {row: 9}}",
            "stream.row",
            "unknown key; did you mean 'rows'?",
        ),
        ("{generator: product_rows, stream: {rows: []}}", "stream.rows", "at least 1 item"),
        ("{generator: product_rows, stream: {rows: 0}}", "stream.rows", "greater than or equal"),
        (
            "{generator: product_rows, stream: {rows: 9, hold_out: 1}}",
            "stream.hold_out",
            "less than 1",
        ),
        (
            "{generator: product_rows, nois: 1, stream: {rows: 9}}",
            "nois",
            "unknown key; did you mean 'noise'?",
        ),
        (
            "{generator: product_rows, n_features: 2.5, stream: {rows: 9}}",
            "n_features",
            "must be a whole number",
        ),
        (
            "{generator: product_rows, random_state: 1, stream: {rows: 9}}",
            "random_state",
            "unknown key",
        ),
        (
            "{generator: product_rows, target: y, stream: {rows: 9}}",
            "target",
            "is for rows that are read",
        ),
        (
            "{generator: product_rows, stream: {rows: 9, n_features: 4}}",
            "stream.n_features",
            "is for a LIBSVM file",
        ),
        (
            "{generator: gaussian_stream, stream: {rows: 9, workers: 2}}",
            "stream.workers",
            "gaussian_stream draws one row after the other; take product_rows",
        ),
        (
            "{generator: product_rows, sample: 5, stream: {rows: 9}}",
            "sample",
            "is for data in memory",
        ),
        (
            "{generator: product_rows, binarize: random, stream: {rows: 9}}",
            "binarize",
            "name the positive classes",
        ),
        ("{file: b.csv, target: y, stream: {}}", "file", "no file 'b.csv'"),
        ("{file: a.csv, stream: {}}", "target", "must be the name of the column of a.csv"),
        ("{file: a.csv, target: y, drop: [0], stream: {}}", "drop", "must be names of columns"),
        (
            "{file: a.csv, target: y, stream: {zero_based: true}}",
            "stream.zero_based",
            "is for a LIBSVM file",
        ),
        ("{file: a.csv.zip, target: y, stream: {}}", "file", "not read in chunks; unpack it"),
        ("{file: a.txt, stream: {}}", "stream.n_features", "no chunk of a.txt tells it"),
        ("{file: a.txt, target: y, stream: {n_features: 2}}", "a", "columns have no names"),
        (
            "{file: a.csv, target: y, stream: {rows: 1, workers: 2}}",
            "stream.workers",
            "leave out rows or workers",
        ),
        ("{name: nothing, stream: {}}", "a", "no data set 'nothing' in the catalogue"),
        ("{name: iris, stream: {}}", "stream", "which is not read in chunks; LIBSVM and Parquet"),
        ("{name: ijcnn1, drop: [a], stream: {}}", "a", "a card names its own"),
    ],
)
def test_data_sets(tmp_path, data, place, text):
    found = messages(tmp_path, data)
    assert f"c.yaml:3: datasets.a{'' if place == 'a' else f'.{place}'}: " in found
    assert text in found


@pytest.mark.parametrize(
    ("method", "text"),
    [
        (
            "{estimator: KNeighborsClassifier}",
            "methods.m: KNeighborsClassifier needs its rows in memory, and a is a stream: take an "
            "estimator with partial_fit",
        ),
        (
            "{estimator: OnePassRidgeClassifier, class_weight: {select: [null, balanced]}}",
            "`select` chooses by rows in memory",
        ),
        ("{steps: [StandardScaler, MaclaurinSVM]}", "no estimator 'StandardScaler'"),
        (
            "{steps: [sklearn.preprocessing.StandardScaler, "
            "{estimator: OnePassRidgeClassifier, feature_map: null}]}",
            "the steps before the last are its feature_map",
        ),
        ("{estimator: OnePassRidgeClassifier, in_memory: false}", "methods.m.in_memory"),
    ],
)
def test_methods(tmp_path, method, text):
    assert text in messages(tmp_path, method=method)


@pytest.mark.parametrize(
    "method",
    [
        "{estimator: sklearn.linear_model.SGDClassifier}",
        "{estimator: OnePassRidgeClassifier, in_memory: true}",
    ],
)
def test_what_workers_need(tmp_path, method):
    by_two = "{generator: product_rows, stream: {rows: 100, workers: 2}}"
    assert "a has workers: leave the combination out by `exclude`" in messages(
        tmp_path, by_two, method
    )
    both = [("a: {", f"b: {DRAWN}, a: {{"), ("protocol:", "exclude: [{dataset: a}]\nprotocol:")]
    load_config(write(tmp_path, by_two, method, both))


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("task: classification", "task: ordinal", "has no place with task: ordinal; streams are"),
        (
            "[accuracy]",
            "[accuracy, f1_macro]",
            "metrics.1: f1_macro is a scorer of rows in memory",
        ),
        (
            "splits: 1",
            "splits: 1, max_train: 5",
            "protocol.max_train: is for data in memory; `stream` says what is held out",
        ),
        ("splits: 1", "splits: 3, folds: 3", "folds are for data in memory"),
        ("splits: 1", "splits: 1, compare_once: true", "protocol.compare_once: compares rows"),
        ("splits: 1", "splits: 1, scale_target: zscore", "protocol.scale_target: is learnt"),
    ],
)
def test_tasks_metrics_and_protocol(tmp_path, old, new, text):
    assert text in messages(tmp_path, changes=[(old, new)])


def test_regression_needs_numbers(tmp_path):
    changes = [("task: classification", "task: regression"), ("[accuracy]", "[mse]")]
    drawn = "{generator: gaussian_stream, stream: {rows: 100}}"
    ridge = "{estimator: OnePassRidge}"
    assert "gaussian_stream draws classes, and `task: regression` needs numbers" in messages(
        tmp_path, drawn, ridge, changes
    )
    load_config(write(tmp_path, DRAWN, ridge, changes))


def test_in_memory_is_for_streams(tmp_path):
    method = "{estimator: OnePassRidgeClassifier, in_memory: true}"
    found = messages(tmp_path, "{generator: two_moons}", method)
    assert "methods.m.in_memory: is for streams; no data set is one" in found


def test_data_in_memory_may_be_beside_streams(tmp_path):
    changes = [("a: {", "b: {generator: two_moons}, a: {"), ("splits: 1", "train: 0.5")]
    load_config(write(tmp_path, changes=changes))


def test_every_key_of_data_in_memory_is_named():
    keys = {*DatasetEntry.model_fields}
    taken = {"name", "file", "target", "generator", "drop", "binarize", "scale", "optional"}
    from kernlearn.config import streamed

    assert keys - taken - {"stream"} == {*streamed._IN_MEMORY}
