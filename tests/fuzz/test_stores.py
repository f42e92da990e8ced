"""Stores that were damaged at random: whatever reads them gives results, or one of our errors."""

import json
import os
import shutil
import sqlite3
from contextlib import closing, suppress
from dataclasses import replace
from unittest import mock

import pytest
from hypothesis import example, given
from hypothesis import settings as settings_of
from hypothesis import strategies as st

from kernlearn.config import load_config
from kernlearn.engine import make_plan
from kernlearn.engine.estimates import Estimates
from kernlearn.engine.selection import seconds_in_order, trial_states
from kernlearn.exceptions import KernlearnError
from kernlearn.reports import assemble
from kernlearn.reports.comparison import compare, different_environments, nothing_shared, read_side
from kernlearn.reports.export import export_text, tidy_rows
from kernlearn.reports.site import stored_plans, write_report
from kernlearn.store import Store
from kernlearn.store.merging import merge
from kernlearn.store.results import Result
from tests.command import command
from tests.engine.damage import DEEP, LONG, TABLES, loosen, put_value
from tests.fuzz.settings import EXAMPLES, fuzzing, limited

CONFIG = """\
title: Trials of every kind
datasets:
  moons: {generator: two_moons, n_samples: 60, noise: 0.2}
methods:
  K: {estimator: KernelSVM, kernel: rbf, C: {select: [1, 2]}}
  L: {estimator: LinearSVM, C: [1, 2]}
  guess: {estimator: DummyClassifier, baseline: true}
protocol: {splits: 3, holdout: 0.2, select_by_mean: true}
metrics: [accuracy, fit_seconds]
table: {rows: [method, C]}
best: {metrics: [accuracy], within: [dataset]}
claims:
  - says: K is best
    check: {metric: accuracy, better: [K], than: [L], over: all}
"""
DONE = Result("", "done", "2026-01-01T00:00:00+00:00", 1.5)
FAILED = replace(DONE, status="failed", error="E: x", traceback="T")
JSON_COLUMNS = {
    "run": ("environment", "settings"),
    "trial": ("labels", "spec", "metrics", "info"),
    "superseded": ("labels", "spec", "metrics", "info"),
}


def note(accuracy):
    """What a trial notes, with a grid."""
    grid = [
        {
            "parameters": {"C": c},
            "score": accuracy,
            "metrics": {"accuracy": accuracy / c},
            "converged": c == 1,
        }
        for c in (1, 2)
    ]
    return {
        "n_train": 40,
        "n_test": 20,
        "positive": ["1"],
        "sample": "60 of 90 rows",
        "grid": grid,
        "warnings": {"ConvergenceWarning: x": 2},
        "contended": True,
        "shared": True,
        "plugins": {"p": "0"},
        "selected": {"C": 1},
        "converged": False,
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A folder with a config, a store with trials of every kind, and its plan."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "many.yaml").write_text(CONFIG)
    plan = make_plan(load_config(folder / "many.yaml"))
    with Store(folder / "s") as store:
        environment = {
            "python": "3",
            "packages": {"numpy": "2"},
            "system": "Linux",
            "cpu": "c",
            "cores": 2,
            "usable_cores": 2,
            "memory_bytes": 2**34,
            "blas": [{"internal_api": "openblas"}],
            "threads": {"OMP_NUM_THREADS": "1"},
            "commit": "a" * 40,
            "dirty": False,
        }
        for first in (0, 10):
            run = store.begin_run("many", "full", 1, environment, ["seed=0"][:first])
            for i, trial in enumerate(plan.trials[first:]):
                value = 0.5 + i / 100
                result = replace(
                    FAILED if i == 4 else DONE,
                    key=trial.key,
                    metrics={} if i == 4 else {"accuracy": value, "fit_seconds": value},
                    info=note(value) if i % 2 else {},
                )
                store.put(run, trial, result)
    loosen(folder / "s")
    return folder, (folder / "s").read_bytes(), plan


values = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.text(max_size=20),
    st.binary(max_size=20),
    st.sampled_from(["[]", "{}", "null", "0", DEEP, LONG, "done", "1e999"]),
    st.tuples(st.just("CAST"), st.binary(max_size=8)),
)
#: Texts of values of JSON, some of which no parser of JSON should take.
fragments = st.one_of(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
        max_leaves=5,
    ).map(json.dumps),
    st.sampled_from(
        [
            "NaN",
            "Infinity",
            "-Infinity",
            "1e999",
            "-1",
            "-0.0",
            "1e-400",
            "9" * 400,
            LONG,
            DEEP,
            "",
            '"\\ud800"',
            '"\\u0000"',
            '{"a":' * 500 + "1" + "}" * 500,
            '"' + "x" * 100_000 + '"',
            "1" + "0" * 300,
            '"\\u202e\\u001b[2J"',
            "1e308",
            "-1e308",
            "1.7976931348623157e308",
        ]
    ),
)
tables = st.sampled_from([*TABLES])


@st.composite
def sql_values(draw):
    table = draw(tables)
    columns = [part.split()[0] for part in TABLES[table].partition(", PRIMARY")[0].split(", ")]
    return "value", table, draw(st.sampled_from(columns)), draw(st.integers(0, 20)), draw(values)


@st.composite
def json_values(draw):
    table = draw(tables)
    column = draw(st.sampled_from(JSON_COLUMNS[table]))
    steps = draw(st.lists(st.integers(0, 30), min_size=1, max_size=5))
    how = draw(st.sampled_from(["replace", "delete", "add"]))
    return "json", table, column, draw(st.integers(0, 20)), steps, how, draw(fragments)


changes = st.lists(
    sql_values()
    | json_values()
    | st.tuples(st.just("bytes"), st.integers(0, 2**20), st.integers(0, 255))
    | st.tuples(st.just("cut"), st.integers(0, 2**20))
    | st.tuples(st.just("copy"), st.integers(0, 20), st.integers(0, 20)),
    min_size=1,
    max_size=6,
)


def in_json(steps, how, fragment):
    """A change of a text of JSON somewhere inside."""

    def change(text):
        mark = "\x01put here\x01"
        found = json.loads(text)
        here, keys = found, None
        for step in steps:
            if not isinstance(here, (dict, list)) or not here:
                break
            inner = list(here) if isinstance(here, dict) else range(len(here))
            around, keys = here, inner[step % len(inner)]
            here = around[keys]
        if keys is None:
            return fragment
        if how == "delete":
            del around[keys]
        elif how == "replace" or not isinstance(around, dict):
            around[keys] = mark
        else:
            around[f"{keys}x"] = mark
        return json.dumps(found).replace(json.dumps(mark), fragment)

    return change


def damaged(path, whole, changes):
    """Write the whole store with some changes, those of rows first."""
    path.write_bytes(whole)
    with closing(sqlite3.connect(path)) as connection:
        for kind, *what in changes:
            if kind not in ("value", "json", "copy"):
                continue
            # what SQLite itself refuses was no damage
            # and what is no JSON, or too deep for its parser, is changed no further
            with suppress(sqlite3.Error, ValueError, TypeError, RecursionError), connection:
                if kind == "copy":
                    ids = [row for (row,) in connection.execute("SELECT rowid FROM trial")]
                    a, b = (ids[i % len(ids)] for i in what)
                    connection.execute(
                        "UPDATE trial SET spec = (SELECT spec FROM trial WHERE rowid = ?), labels "
                        "= (SELECT labels FROM trial WHERE rowid = ?) WHERE rowid = ?",
                        (a, a, b),
                    )
                    continue
                table, column, row, *value = what
                ids = [one for (one,) in connection.execute(f"SELECT rowid FROM {table}")]
                value = value[0] if kind == "value" else in_json(*value)
                put_value(connection, table, column, value, ("rowid", ids[row % len(ids)]))
    content = bytearray(path.read_bytes())
    for kind, *what in changes:
        if kind == "bytes" and content:
            content[what[0] % len(content)] = what[1]
        elif kind == "cut":
            del content[what[0] % (len(content) + 1) :]
    path.write_bytes(content)


def readers(path, other, plan):
    """Everything that reads a store, one by one."""

    def reading(read):
        def of_path():
            with Store.existing(path) as store:
                return read(store)

        return of_path

    def sides():
        a, b = read_side(str(path), path), read_side(str(other), other)
        compare(a, b).to_csv()
        return different_environments(a, b), nothing_shared(b, a)

    def planned(store):
        trial_states(plan, store)
        estimates = Estimates.of(plan, store)
        return seconds_in_order(plan.trials, estimates, 2), store.counts_by_run()

    def exported(store):
        for form in ("csv", "json"):
            export_text(tidy_rows(store), form)

    def shown(store):
        plans, _ = stored_plans(store, configs=[plan.experiment.path])
        for one in plans:
            write_report(assemble(one, store), path.parent / "out")

    yield reading(exported)
    yield reading(planned)
    yield sides
    yield lambda: read_side(f"{path}#2", path)
    yield lambda: merge(path, path.with_name("merged"))
    yield lambda: merge(other, path)
    yield reading(lambda store: assemble(plan, store))
    yield reading(shown)


@fuzzing
@given(changes)
@example([("cut", 0)])
@example([("cut", 1)])
def test_damaged_stores(whole, changes):
    folder, content, plan = whole
    path, other = folder / "damaged" / "s", folder / "s"
    shutil.rmtree(path.parent, ignore_errors=True)
    path.parent.mkdir()
    damaged(path, content, changes)
    cache = {"KERNLEARN_CACHE": str(folder / "cache")}
    with mock.patch.dict(os.environ, cache):
        for read in readers(path, other, plan):
            with limited(), suppress(KernlearnError):
                read()


COMMANDS = [
    "report many.yaml",
    "report s --config many.yaml",
    "export",
    "export --format json",
    "export --output rows.parquet",
    "compare s whole",
    "compare 1 2",
    "plan many.yaml",
    "show many.yaml",
    "runs",
    "ranks many.yaml",
    "equivalence many.yaml --control guess --margin 0.1",
    "merge s merged",
    "merge whole s",
    "check many.yaml --profile full --against .",
]


@settings_of(fuzzing, max_examples=max(5, EXAMPLES // 10))
@given(changes, st.sampled_from(COMMANDS))
def test_commands_on_damaged_stores(whole, changes, words):
    origin, content, _ = whole
    folder = origin / "commands"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "whole").write_bytes(content)
    (folder / "many.yaml").write_text(CONFIG)
    damaged(folder / "s", content, changes)
    store = [] if words.startswith("merge") or " s " in words else ["--store", "s"]
    with limited():
        out = command(folder, *words.split(), *store, KERNLEARN_CACHE=str(origin / "cache"))
    assert "Traceback" not in out.stderr, out.stderr
    assert out.returncode in (0, 1, 2)
    if out.returncode == 2:
        assert out.stderr.strip()
