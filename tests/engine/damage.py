"""Stores whose values are not what kernlearn writes."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

TABLES = {
    "run": "id INTEGER PRIMARY KEY, started, experiment, profile, jobs, environment, settings",
    "trial": "key, run, experiment, labels, spec, status, started, seconds, metrics, info, error, "
    "traceback",
}
TABLES["superseded"] = TABLES["trial"] + ", PRIMARY KEY (key, run)"
TABLES["trial"] += ", PRIMARY KEY (key)"

DEEP = "[" * 100_000 + "]" * 100_000
LONG = "9" * 5000


def changed(path, value):
    """A change of an object of JSON: the value at a path of keys, as text of JSON."""

    def change(text):
        mark = "the value to be put here"
        whole = json.loads(text)
        here = whole
        *around, last = path
        for key in around:
            here = here[key]
        here[last] = mark
        return json.dumps(whole).replace(f'"{mark}"', value)

    return change


#: Values of a row of ``trial`` that no trial has: column, value or its change, what doctor says.
UNFIT = [
    ("run", "one", "run is 'one', not a whole number"),
    ("run", 1.5, "run is 1.5, not a whole number"),
    ("run", 0, "run is 0, input should be greater than or equal to 1"),
    ("run", 2**63 - 1, "run is 9223372036854775807"),
    ("run", None, "run is None"),
    ("experiment", None, "experiment is None, not text"),
    ("experiment", b"small", "experiment is b'small', not text"),
    ("experiment", 3, "experiment is 3, not text"),
    ("labels", None, "labels is not text"),
    ("labels", b"{}", "labels is not text"),
    ("labels", "", "labels is not JSON"),
    ("labels", "[]", "labels is JSON, but not an object"),
    ("labels", "null", "labels is JSON, but not an object"),
    ("labels", DEEP, "labels is not JSON: recursion limit"),
    ("labels", '{"dataset": 1}', "the label 'dataset' is 1, not text"),
    ("labels", '{"dataset": ["moons"]}', "the label 'dataset' is ['moons'], not text"),
    ("labels", '{"n": {"a": 1}}', "the label 'n' is {'a': 1}, not text, a number"),
    ("labels", f'{{"n": {LONG}}}', "labels is not JSON: number out of range"),
    ("labels", '{"n": "\\ud800"}', "labels is not JSON"),
    ("labels", changed(["dataset"], DEEP), "labels is not JSON: recursion limit"),
    ("spec", None, "spec is not text"),
    ("spec", 7, "spec is not text"),
    ("spec", "not JSON", "spec is not JSON"),
    ("spec", "{}", "spec.version is missing"),
    ("spec", "[1, 2]", "spec is JSON, but not an object"),
    ("spec", '"text"', "spec is JSON, but not an object"),
    ("spec", "null", "spec is JSON, but not an object"),
    ("spec", changed(["split"], "-1"), "the split is -1, not a number from 0"),
    ("spec", changed(["split"], "1e400"), "spec.split is inf"),
    ("spec", changed(["split"], str(2**70)), "the split is 1180591620717411303424"),
    ("spec", changed(["split"], LONG), "spec is not JSON: number out of range"),
    ("spec", changed(["split"], "true"), "spec.split is True, not a whole number"),
    ("spec", changed(["split"], '"0"'), "spec.split is '0', not a whole number"),
    ("spec", changed(["unknown"], "1"), "spec.unknown"),
    ("spec", changed(["dataset"], "null"), "spec.dataset is None, not an object"),
    ("spec", changed(["dataset", "name"], "5"), "spec.dataset.name is 5, not text"),
    ("spec", changed(["dataset", "parameters"], "[]"), "spec.dataset.parameters is []"),
    ("spec", changed(["method"], "[]"), "spec.method is [], not an object"),
    ("spec", changed(["method", "select"], '{"C": 1}'), "spec.method.select.C is 1, not a list"),
    ("spec", changed(["method", "steps"], "[1]"), "spec.method.steps.0 is 1, not an object"),
    ("spec", changed(["method", "parameters"], f'{{"C": {DEEP}}}'), "spec is not JSON: recursion"),
    ("spec", changed(["protocol", "seed"], "null"), "spec.protocol.seed is None"),
    ("spec", changed(["protocol", "train"], '"all"'), "spec.protocol.train is 'all', not"),
    ("spec", changed(["metrics"], "{}"), "spec.metrics is {}"),
    ("spec", changed(["kernel"], "3"), "spec.kernel is 3, not an object"),
    ("status", "running", "status is 'running', input should be 'done' or 'failed'"),
    ("status", None, "status is None"),
    ("status", 1, "status is 1"),
    ("started", "yesterday", "started: Invalid isoformat string: 'yesterday'"),
    ("started", 20260101, "started is 20260101, not text"),
    ("started", b"2026-01-01", "started is b'2026-01-01', not text"),
    ("started", None, "started is None, not text"),
    ("seconds", "long", "seconds is 'long', not a number"),
    ("seconds", float("inf"), "seconds is inf"),
    ("seconds", -1.0, "seconds is -1.0"),
    ("seconds", 1e300, "seconds is 1e+300"),
    ("seconds", None, "seconds is None, not a number"),
    ("seconds", b"1", "seconds is b'1', not a number"),
    ("metrics", None, "metrics is not text"),
    ("metrics", "[]", "metrics is JSON, but not an object"),
    ("metrics", "null", "metrics is JSON, but not an object"),
    ("metrics", '"text"', "metrics is JSON, but not an object"),
    ("metrics", "0.5", "metrics is JSON, but not an object"),
    ("metrics", DEEP, "metrics is not JSON: recursion limit"),
    ("metrics", '{"accuracy": "0.5"}', "metrics.accuracy is '0.5', not a number"),
    ("metrics", '{"accuracy": null}', "metrics.accuracy is None, not a number"),
    ("metrics", '{"accuracy": [0.5]}', "metrics.accuracy is [0.5], not a number"),
    ("metrics", '{"accuracy": true}', "metrics.accuracy is True, not a number"),
    ("metrics", '{"accuracy": {"mean": 1}}', "metrics.accuracy is {'mean': 1}, not a number"),
    ("metrics", f'{{"accuracy": {LONG}}}', "metrics is not JSON: number out of range"),
    ("metrics", '{"accuracy": 0.5', "metrics is not JSON"),
    ("metrics", b'{"accuracy": 0.5}', "metrics is not text"),
    ("info", None, "info is not text"),
    ("info", "[]", "info is JSON, but not an object"),
    ("info", f'{{"warnings": {DEEP}}}', "info is not JSON: recursion limit"),
    ("info", '{"warnings": []}', "info.warnings is [], not an object"),
    ("info", '{"warnings": {"w": "many"}}', "info.warnings.w is 'many', not a whole number"),
    ("info", '{"converged": "no"}', "info.converged is 'no', not true or false"),
    ("info", '{"positive": "a"}', "info.positive is 'a', not a list"),
    ("info", '{"positive": [1]}', "info.positive.0 is 1, not text"),
    ("info", '{"sample": 3}', "info.sample is 3, not text"),
    ("info", '{"selected": 3}', "info.selected is 3, not an object"),
    ("info", '{"n_train": -1}', "info.n_train is -1"),
    ("info", '{"n_train": "many"}', "info.n_train is 'many', not a whole number"),
    ("info", '{"plugins": ["p"]}', "info.plugins is ['p'], not an object"),
    ("info", '{"grid": {}}', "info.grid is {}, not a list"),
    ("info", '{"grid": []}', "info.grid is empty"),
    ("info", '{"grid": [1]}', "info.grid.0 is 1, not an object"),
    ("info", '{"grid": [{"parameters": {}, "score": 1}]}', "info.grid.0.metrics is missing"),
    ("info", '{"grid": [{"parameters": [], "score": 1, "metrics": {}}]}', "grid.0.parameters is"),
    ("info", '{"grid": [{"parameters": {}, "score": "x", "metrics": {}}]}', "grid.0.score is 'x'"),
    ("error", 3, "error is 3, not text"),
    ("error", b"E", "error is b'E', not text"),
    ("traceback", 1.5, "traceback is 1.5, not text"),
    # a text in another encoding
    ("labels", ("CAST", b'{"n": "\xff"}'), "labels is not text in UTF-8"),
    ("experiment", ("CAST", b"\xff"), "experiment is not text in UTF-8"),
    ("error", ("CAST", b"\xc3\x28"), "error is not text in UTF-8"),
]

#: The same of a row of ``run``.
UNFIT_RUNS = [
    ("started", "t", "started: Invalid isoformat string: 't'"),
    ("started", None, "started is None"),
    ("experiment", b"e", "experiment is b'e', not text"),
    ("profile", 5, "profile is 5, not text"),
    ("jobs", "two", "jobs is 'two', not a whole number"),
    ("jobs", 0, "jobs is 0"),
    ("jobs", 1.5, "jobs is 1.5"),
    ("environment", None, "environment is not text"),
    ("environment", "[]", "environment is JSON, but not an object"),
    ("environment", DEEP, "environment is not JSON: recursion limit"),
    ("environment", '{"cpu": 5}', "environment.cpu is 5, not text"),
    ("environment", '{"cores": "two"}', "environment.cores is 'two', not a whole number"),
    ("environment", '{"memory_bytes": "much"}', "environment.memory_bytes is 'much'"),
    ("environment", f'{{"memory_bytes": 1{"0" * 400}}}', "environment.memory_bytes is 1000"),
    ("environment", '{"packages": ["numpy"]}', "environment.packages is ['numpy'], not an object"),
    ("environment", '{"packages": {"numpy": 2}}', "environment.packages.numpy is 2, not text"),
    ("environment", '{"blas": {"a": 1}}', "environment.blas is {'a': 1}, not a list"),
    ("environment", '{"blas": ["openblas"]}', "environment.blas.0 is 'openblas', not an object"),
    ("environment", '{"threads": 1}', "environment.threads is 1, not an object"),
    ("environment", '{"commit": 5}', "environment.commit is 5, not text"),
    ("environment", '{"dirty": "yes"}', "environment.dirty is 'yes', not true or false"),
    ("settings", "{}", "settings is JSON, but not a list"),
    ("settings", "[1]", "settings.0 is 1, not text"),
    ("settings", "[", "settings is not JSON"),
]


def loosen(path: Path) -> None:
    """Give the tables of a store no types and no constraints, as another program may make them."""
    with closing(sqlite3.connect(path)) as connection:
        for table, columns in TABLES.items():
            connection.executescript(
                f"CREATE TABLE loose ({columns}); INSERT INTO loose SELECT * FROM {table};"
                f"DROP TABLE {table}; ALTER TABLE loose RENAME TO {table};"
            )


def put_value(connection, table, column, value, where):
    """Put a value in a column of the row of a table that has another value in a column."""
    place, of = where
    if callable(value):
        query = f"SELECT {column} FROM {table} WHERE {place} = ?"
        value = value(connection.execute(query, (of,)).fetchone()[0])
    cast = isinstance(value, tuple)
    new, value = ("CAST(? AS TEXT)", value[1]) if cast else ("?", value)
    connection.execute(f"UPDATE {table} SET {column} = {new} WHERE {place} = ?", (value, of))
