"""Ctrl-C and SIGTERM stop a run, wherever they strike."""

import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any

from kernlearn.exceptions import DataError, StoreError
from kernlearn.experiments.engine.environment import describe_environment
from kernlearn.experiments.engine.plan import Plan
from kernlearn.experiments.engine.selection import (
    WHAT_IS_MISSING,
    Choice,
    Estimates,
    State,
    chosen,
    rows_first,
    trial_states,
)
from kernlearn.experiments.engine.spec import Trial
from kernlearn.experiments.executors.base import Executor
from kernlearn.experiments.executors.choice import check_cores, make_executor
from kernlearn.experiments.store.results import Result, Store


class Interrupts:
    """Within the block SIGINT and SIGTERM raise KeyboardInterrupt, and are remembered.

    A signal that strikes while C code calls back into Python is lost: the exception cannot
    pass through C. It is raised again at the next :meth:`check`.
    """

    def __init__(self) -> None:
        self._asked = False
        self._held = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Interrupts":
        # only the main thread may set handlers; elsewhere the program that runs us decides
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._strike)
        self._report_unraisable = sys.unraisablehook
        sys.unraisablehook = self._unraisable
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        sys.unraisablehook = self._report_unraisable

    def _unraisable(self, lost: Any) -> None:
        # a lost KeyboardInterrupt is the case that `check` is for: nothing to report
        if not (self._asked and lost.exc_type is KeyboardInterrupt):
            self._report_unraisable(lost)

    def _strike(self, number: int, frame: FrameType | None) -> None:
        self._asked = True
        if not self._held:
            raise KeyboardInterrupt

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let a block end first: what is finished is written, then the signal strikes."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        self.check()

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal came and was lost or held."""
        if self._asked:
            raise KeyboardInterrupt


@contextmanager
def run_lock(store: Store) -> Iterator[None]:
    """Keep other runs out of a store within a block; reading and merging go on.

    The system lets the lock go when the process ends, however that happens.

    Parameters
    ----------
    store : Store

    Raises
    ------
    StoreError
        If another run holds it.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(f"{store.path}.lock", blocking=False)
    try:
        lock.acquire()
    except Timeout:
        runs = store.runs()
        last = f" ({runs[-1].experiment}, since {runs[-1].started})" if runs else ""
        raise StoreError(
            f"{store.path}: another run is writing to it{last}; wait for it to end, or name "
            "another file with --store and `kernlearn merge` the two afterwards"
        ) from None
    except OSError as error:
        raise StoreError(f"{lock.lock_file}: cannot be made: {error.strerror or error}") from None
    try:
        yield
    finally:
        lock.release()


@dataclass(frozen=True)
class RunSummary:
    """What became of the trials of a plan.

    Attributes
    ----------
    total, cached : int
        All trials; those that the store had.
    done, failed : int
        Those that this run finished, or saw fail.
    failed_before : int
        Those that failed in an earlier run and were not tried again.
    """

    total: int
    cached: int
    done: int
    failed: int
    failed_before: int


class Listener:
    """Is told what happens in a run; this one does nothing with it."""

    def run_planned(self, plan: Plan, trials: list[Trial], states: Mapping[str, State]) -> None:
        """Take note of the trials that a run takes and of what the store has of all."""

    def run_started(self, trials: list[Trial], estimates: Estimates, slots: int) -> None:
        """Take note of the executor's being ready, and of how long trials may need."""

    def trial_started(self, trial: Trial) -> None:
        """Take note of a trial that a process has taken up."""

    def trial_done(self, trial: Trial, result: Result) -> None:
        """Take note of a trial whose result is written."""

    def run_ended(self) -> None:
        """Take note of the end, by an error or an interruption too."""


def run_plan(
    plan: Plan,
    store: Store,
    *,
    data_dir: Path | None = None,
    executor: Executor | None = None,
    choice: Choice = WHAT_IS_MISSING,
    fail_fast: bool = False,
    allow_contention: bool = False,
    listener: Listener | None = None,
) -> RunSummary:
    """Run what a store lacks of a plan.

    Rows of the table that need the least time come first. While it runs nobody else may run
    anything into the same store.

    Parameters
    ----------
    plan : Plan
    store : Store
        Every finished trial is written here at once, by this process.
    data_dir : Path, optional
        Where data is looked for first, by the executor that is made here.
    executor : Executor, optional
        What carries out trials; by default the one that the config names.
    choice : Choice, optional
        Which trials are taken besides the new ones.
    fail_fast : bool, default=False
        Stop at the first trial that fails.
    allow_contention : bool, default=False
        Measure times although trials share cores.
    listener : Listener, optional

    Returns
    -------
    RunSummary

    Raises
    ------
    StoreError
        If the store cannot be written, or another run is writing to it.
    ExecutorError
        If trials cannot be carried out as asked.
    SelectionError
        If the choice names nothing in the plan.
    DataError
        If the plan has data from a store alone (:attr:`Plan.stored`) that trials would need.
    """
    listener = listener or Listener()
    states = trial_states(plan, store)
    todo = chosen(plan, states, choice)
    estimates = Estimates.of(plan, store if todo else None)
    _check_data(todo)
    todo = rows_first(todo, plan, estimates)
    taken = {t.key for t in todo}
    standing = [state for key, state in states.items() if key not in taken]
    cached, failed_before = standing.count("cached"), standing.count("failed")
    done = failed = 0
    listener.run_planned(plan, todo, states)
    if todo:
        with run_lock(store), Interrupts() as interrupts, _open(executor, plan, data_dir) as ready:
            if not allow_contention:
                check_cores(plan.experiment.config, ready)
            number = _begin(plan, store, ready)
            listener.run_started(todo, estimates, ready.slots)
            try:
                with closing(ready.run(todo, listener.trial_started)) as results:
                    for trial, result in results:
                        with interrupts.held():
                            store.put(number, trial, result)
                            estimates.add(trial.labels, result.seconds)
                            done += result.done
                            failed += not result.done
                            listener.trial_done(trial, result)
                        if fail_fast and not result.done:
                            break
            finally:
                listener.run_ended()
    return RunSummary(len(plan.trials), cached, done, failed, failed_before)


def _check_data(todo: list[Trial]) -> None:
    """Refuse trials of data that only a store knows of."""
    unknown = dict.fromkeys(trial.labels["dataset"] for trial in todo if not trial.source)
    if unknown:
        raise DataError(
            f"{', '.join(unknown)}: not found; a store knows what it was, which is enough to "
            "report, not to run"
        )


def _open(
    executor: Executor | None, plan: Plan, data_dir: Path | None
) -> AbstractContextManager[Executor]:
    """Return the executor; one that is made here is closed at the end."""
    if executor is not None:
        return nullcontext(executor)
    return closing(make_executor(plan.experiment.config.execution, data_dir))


def _begin(plan: Plan, store: Store, executor: Executor) -> int:
    environment = {**describe_environment(), **executor.describe()}
    experiment = plan.experiment
    return store.begin_run(
        experiment.name, experiment.profile, executor.slots, environment, experiment.settings
    )
