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
from kernlearn.store.results import Result, Store

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


def done(trial, started=STARTED, **metrics):
    return Result(trial.key, "done", started, 1.5, metrics=metrics)


def failed(trial):
    return Result(trial.key, "failed", STARTED, 0.1, error="E: x", traceback="T")


@contextmanager
def begun(path, experiment="e", **environment):
    """A store with a run begun in it, and a function that puts into that run."""
    with Store(path) as store:
        run = store.begin_run(experiment, "full", 1, environment)
        yield store, lambda trial, result: store.put(run, trial, result)
