"""Stores made for the tests of what works on them."""

from contextlib import contextmanager

from kernlearn.experiments.engine.plan import Trial, trial_key
from kernlearn.experiments.store.results import Result, Store

#: The tables of version 1, as that version wrote them.
VERSION_1 = """
CREATE TABLE run (
    id INTEGER PRIMARY KEY, started TEXT NOT NULL, experiment TEXT NOT NULL,
    profile TEXT NOT NULL, jobs INTEGER NOT NULL, environment TEXT NOT NULL
);
CREATE TABLE trial (
    key TEXT PRIMARY KEY, run INTEGER NOT NULL REFERENCES run (id), experiment TEXT NOT NULL,
    labels TEXT NOT NULL, spec TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('done', 'failed')), started TEXT NOT NULL,
    seconds REAL NOT NULL, metrics TEXT NOT NULL, info TEXT NOT NULL, error TEXT, traceback TEXT
) WITHOUT ROWID;
INSERT INTO run VALUES (1, '2026-01-01T00:00:00+00:00', 'e', 'full', 1, '{"cpu": "x"}');
INSERT INTO trial VALUES ('a', 1, 'e', '{"dataset":"d"}', '{"split":0}', 'done',
    '2026-01-01T00:00:00+00:00', 1.5, '{"accuracy": 0.5}', '{}', NULL, NULL);
PRAGMA user_version=1;
"""


def trial(method="m", split=0, experiment="e", seed=1, **axes):
    """A trial with the key that a plan would give it."""
    labels = {"dataset": "d", "kernel": None, "method": method, **axes}
    spec = {"dataset": "d", "protocol": {"seed": seed}, "method": [method, axes], "split": split}
    key = trial_key(spec)
    return Trial(key, experiment, labels, spec)


def done(trial, started="2026-01-01T00:00:00+00:00", **metrics):
    return Result(trial.key, "done", started, 1.5, metrics=metrics)


def failed(trial):
    return Result(trial.key, "failed", "t", 0.1, error="E: x", traceback="T")


@contextmanager
def begun(path, experiment="e", **environment):
    """A store with a run begun in it, and a function that puts into that run."""
    with Store(path) as store:
        run = store.begin_run(experiment, "full", 1, environment)
        yield store, lambda trial, result: store.put(run, trial, result)
