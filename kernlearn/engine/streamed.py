"""Supervised trials on streams: rows are read in chunks, and never all in memory.

A method is fitted in one of three ways. Estimators of one pass get a source of rows; the steps of
a pipeline before them become their feature map. Others get one chunk after the other by
`partial_fit`, and earlier steps are fitted on the first chunk. With ``in_memory`` all rows are
gathered, and the method is fitted as on any data; that is then part of what is measured.
"""

import inspect
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from kernlearn.config.names import FIT_MEMORY, Scope
from kernlearn.config.spec import Trial
from kernlearn.datasets.partitions import Partition
from kernlearn.datasets.sources import RowSource
from kernlearn.engine import build, environment, own_process
from kernlearn.engine.peak_memory import PeakMemory
from kernlearn.engine.stream_rows import (
    NO_ROWS,
    Rows,
    StreamRows,
    count_parts,
    merged_counts,
    stacked,
)
from kernlearn.engine.tasks import Task
from kernlearn.exceptions import DataError, ExecutorError
from kernlearn.lazy import missing_text
from kernlearn.memory import keeping_variables, return_freed_memory

# Variables of the processes that read partitions. By default Dask lets them give freed memory back
# at once, and each thread has memory of its own: on virtual machines to have it again takes more
# than half as long as a pass of the same rows.
_VARIABLES = "distributed.nanny.pre-spawn-environ"
_OF_WORKERS = {**keeping_variables(2**40), "MALLOC_ARENA_MAX": "1"}


def follow(task: Task, trial: Trial, scope: Scope, data_dir: Path | None) -> build.Outcome:
    """Fit a method on the rows of a stream, and evaluate it on those held out."""
    spec, outcome = trial.spec, build.Outcome()
    task = replace(task, own=scope.own_metrics(metric.name for metric in spec.metrics))
    numbers = task.name == "regression"
    rows = StreamRows.of(trial, data_dir, numbers)
    first = rows.first()
    kernel = build.build_kernel(trial, scope, *first)
    reads_rows = build.method_parts(scope, spec.method)[-1][1].reads_rows
    learner = Learner(
        build.build_estimator(trial, scope, kernel), reads_rows, bool(spec.method.in_memory)
    )
    with workers((spec.dataset.stream or {}).get("workers")) as client:
        divided = client is not None
        _warm_up(learner, first, task, client)
        classes = None if numbers or not learner.asks_classes else rows.classes()
        source = rows.divided() if divided else rows.source()
        memory = PeakMemory() if FIT_MEMORY in task.named else nullcontext()
        with (
            environment.noting_convergence(outcome.info),
            memory,
            environment.Stopwatch() as fitting,
        ):
            learner.fit(source, classes)
        if divided:
            rows.count = rows.training.reduce(partial(count_parts, rows.division), merged_counts)
    if isinstance(memory, PeakMemory):
        outcome.metrics[FIT_MEMORY] = memory.grown
    predicting = _evaluate(learner.estimator, rows, task, outcome)
    outcome.metrics |= {"fit_seconds": fitting.wall, "predict_seconds": predicting.wall}
    if not divided:  # the processor seconds of other processes are not known
        outcome.metrics["fit_cpu_seconds"] = fitting.cpu
    outcome.metrics["predict_cpu_seconds"] = predicting.cpu
    outcome.info |= {"n_train": rows.count.trained, "rows_read": rows.count.read}
    outcome.info["disturbed"] = predicting.disturbed or (fitting.disturbed and not divided)
    return outcome


class Learner:
    """A method on a stream.

    Parameters
    ----------
    estimator : object
        The estimator, or the pipeline, of the method.
    reads_rows : bool
        Whether the `fit` of the last step takes a source of rows.
    in_memory : bool
        Whether it gets all rows at once.
    """

    def __init__(self, estimator: Any, reads_rows: bool, in_memory: bool) -> None:
        self._reads_rows, self._in_memory = reads_rows and not in_memory, in_memory
        if self._reads_rows and isinstance(estimator, Pipeline):
            maps = estimator[:-1]
            feature_map = maps if len(maps) > 1 else maps[0]
            estimator = estimator[-1].set_params(feature_map=feature_map)
        self.estimator = estimator

    @property
    def asks_classes(self) -> bool:
        """Whether it must know all classes before the first chunk."""
        if self._reads_rows or self._in_memory:
            return False
        return "classes" in inspect.signature(self._last.partial_fit).parameters

    @property
    def _last(self) -> Any:
        return self.estimator[-1] if isinstance(self.estimator, Pipeline) else self.estimator

    def cloned(self) -> "Learner":
        """Return the same with an estimator that is not fitted."""
        other = Learner(clone(self.estimator), False, self._in_memory)
        other._reads_rows = self._reads_rows
        return other

    def fit(self, source: RowSource, classes: np.ndarray | None = None) -> None:
        """Fit it on rows in chunks."""
        if self._in_memory:
            X_parts, y_parts = [], []
            for X, y in source:
                X_parts.append(X)
                y_parts.append(y)
            if not y_parts:
                raise DataError(NO_ROWS)
            self.estimator.fit(stacked(X_parts), stacked(y_parts))
        elif self._reads_rows:
            self.estimator.fit(source)
        else:
            self._fit_by_chunks(source, {} if classes is None else {"classes": classes})

    def _fit_by_chunks(self, source: RowSource, options: dict[str, Any]) -> None:
        maps = self.estimator.steps[:-1] if isinstance(self.estimator, Pipeline) else []
        begun = False
        for X, y in source:
            for _, step in maps:
                X = (step if begun else step.fit(X, y)).transform(X)
            self._last.partial_fit(X, y, **({} if begun else options))
            begun = True
        if not begun:
            raise DataError(NO_ROWS)


@contextmanager
def workers(count: int | None) -> Iterator[Any]:
    """Start so many processes that read partitions within a block, and yield their client."""
    if count is None:
        yield None
        return
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise ExecutorError(missing_text("a stream with workers", "distributed")) from None
    settings = {_VARIABLES: {**dask.config.get(_VARIABLES), **_OF_WORKERS}}
    with dask.config.set(settings):
        with own_process.deaf_processes(pool=True):
            started = LocalCluster(
                n_workers=count,
                threads_per_worker=1,
                processes=True,
                memory_limit=0,
                dashboard_address=":0",
                preload=[own_process.__name__],
            )
        with started as cluster, Client(cluster) as client:
            client.wait_for_workers(count)
            yield client


def _warm_up(learner: Learner, first: Rows, task: Task, client: Any) -> None:
    """Fit and predict once on a few rows, so that no import or first call is timed."""
    _try_out(learner.cloned(), first, task.output)
    if client is not None:
        # in each process, then through the scheduler
        client.run(_try_out, learner.cloned(), first, task.output)
        parts = [Partition("the first rows", list, ([first],))]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            learner.cloned().fit(RowSource.of_partitions(lambda: parts))
        client.run(return_freed_memory, kept=True)


def _try_out(learner: Learner, first: Rows, output: str) -> None:
    X, y = first
    with warnings.catch_warnings():
        # warnings about so few rows are of no interest
        warnings.simplefilter("ignore")
        learner.fit(RowSource(lambda: [first]), np.unique(y) if learner.asks_classes else None)
        getattr(learner.estimator, output)(X)


def _evaluate(
    estimator: Any, rows: StreamRows, task: Task, outcome: build.Outcome
) -> environment.Stopwatch:
    """Predict the rows held out, chunk by chunk, and measure; return the time of predictions."""
    total = environment.Stopwatch()
    true, predicted = [], []
    for X, y in rows.held_out():
        with environment.Stopwatch() as watch:
            predicted.append(getattr(estimator, task.output)(X))
        true.append(y)
        total.wall += watch.wall
        total.cpu += watch.cpu
    if not true:
        raise DataError("no row is held out to test on: give more rows, or a larger `hold_out`")
    y_test, scores = np.concatenate(true), np.concatenate(predicted)
    if task.output == "decision_function" and (n := len(np.unique(y_test))) != 2:
        raise ValueError(
            f"task: {task.name} needs two classes, not {n}: give the data set `binarize`"
        )
    outcome.metrics |= task.measure(y_test, scores)
    outcome.info["n_test"] = len(y_test)
    return total
