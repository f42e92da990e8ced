"""Stores made for the tests of what works on them."""

from contextlib import contextmanager
from dataclasses import replace

from kernlearn.config.spec import (
    DatasetSpec,
    MethodSpec,
    ProtocolSpec,
    Trial,
    TrialSpec,
    trial_key,
)
from kernlearn.store import Row, Store

PROTOCOL = ProtocolSpec(
    train=0.6, max_train=None, max_test=None, scale=[], validation=0.2, seed=0, threads=1
)

#: When all trials began.
STARTED = "2026-01-01T00:00:00+00:00"


def spec_of(method="m", dataset=None, split=0, seed=1, **parameters):
    """A small specification."""
    return TrialSpec(
        version=1,
        task="classification",
        dataset=dataset or DatasetSpec(name="d", nominal="ordinal", binarize=None),
        kernel=None,
        method=MethodSpec(method, 1, parameters, select={}),
        protocol=replace(PROTOCOL, seed=seed),
        split=split,
    )


def trial(method="m", split=0, experiment="e", seed=1, **axes):
    """A trial with the key that a plan would give it."""
    labels = {"dataset": "d", "kernel": None, "method": method, **axes}
    spec = spec_of(method, split=split, seed=seed, **axes)
    return Trial(trial_key(spec), experiment, labels, spec)


def row_of(trial, started=STARTED, seconds=1.5, **fields):
    """The row of a trial."""
    return Row(
        trial.key, trial.experiment, trial.labels, trial.spec.plain, started, seconds, **fields
    )


def done(trial, started=STARTED, **metrics):
    return row_of(trial, started, metrics=metrics)


def failed(trial):
    return row_of(trial, seconds=0.1, error="E: x", traceback="T")


@contextmanager
def begun(path, experiment="e", **machine):
    """A store, and a function that puts the rows of a machine into it."""
    with Store(path) as store:
        yield (
            store,
            lambda trial, row: store.put(replace(row, experiment=experiment, machine=machine)),
        )
