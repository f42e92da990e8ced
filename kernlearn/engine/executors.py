"""Executors: who carries trials out, in the current process, in others, or on a cluster."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import as_completed
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from kernlearn import __version__
from kernlearn.config.spec import Trial
from kernlearn.engine import machine
from kernlearn.exceptions import ExecutorError
from kernlearn.lazy import missing_text
from kernlearn.memory import available_memory
from kernlearn.store import Row

# How often a trial is repeated whose process died.
_RETRIES = 2
# Seconds for a scheduler to answer, and for a first worker to come.
_CONNECT, _PATIENCE = 10.0, 60.0
_MIB = 2**20


class Executor(Protocol):
    """Runs trials; ``slots`` of them at a time."""

    slots: int

    def describe(self) -> dict[str, Any]:
        """Return what rows tell of the executor."""

    def crowded(self, threads: int) -> str:
        """Say why trials with so many threads each would share cores; empty if they do not."""

    def run(self, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Row]]:
        """Yield every trial with its row, in the order in which they end.

        Closing the iterator ends the trials that still run.
        """

    def close(self) -> None:
        """Release all processes; no more trials follow."""


def _crowding(slots: int, threads: int, cores: int, where: str) -> str:
    # a single trial has the machine to itself, whatever its threads
    if slots <= 1 or slots * threads <= cores:
        return ""
    return (
        f"{slots} trials at a time with {threads} thread{'s' * (threads > 1)} each would share "
        f"the {cores} core{'s' * (cores > 1)} of {where}"
    )


class InProcess:
    """Run trials one after the other in the current process."""

    slots = 1

    def __init__(self, data_dir: Path | None = None) -> None:
        self._data_dir = data_dir

    def describe(self) -> dict[str, Any]:
        return {"executor": "in-process"}

    def crowded(self, threads: int) -> str:
        return ""

    def close(self) -> None:
        pass

    def run(self, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Row]]:
        # what trials need takes longer to import than a report without trials
        from kernlearn.engine.trial import execute

        machine.keep_freed_memory()
        for trial in trials:
            yield trial, execute(trial, self._data_dir)


class Processes:
    """Run trials in processes of this machine.

    A trial whose process dies is repeated, and fails the third time; the others go on.

    Parameters
    ----------
    jobs : int
        Number of trials in parallel.
    data_dir : Path, optional
        Folder to search for data first.
    timeout : float, optional
        Seconds of a trial.
    memory : int, optional
        Bytes of data of a trial's process.
    """

    def __init__(
        self,
        jobs: int,
        data_dir: Path | None = None,
        timeout: float | None = None,
        memory: int | None = None,
    ) -> None:
        self.slots = jobs
        self._data_dir, self._timeout, self._memory = data_dir, timeout, memory
        self._threads = max(1, machine.usable_cores() // jobs)
        self._pool: Any = None

    def describe(self) -> dict[str, Any]:
        return {"executor": "processes", "jobs": self.slots, "threads_each": self._threads}

    def crowded(self, threads: int) -> str:
        return _crowding(self.slots, threads, machine.usable_cores(), "this machine")

    def close(self) -> None:
        if self._pool is not None:
            self._pool.stop()
            self._pool.join()
            self._pool = None

    def _start(self) -> Any:
        from loky.backend import get_context
        from pebble import ProcessPool

        # half of the memory for what is kept, half for what grows beyond
        keep = None if self._memory else available_memory() // (2 * self.slots)
        with machine.shielded():
            pool = ProcessPool(
                self.slots,
                initializer=_get_ready,
                initargs=(self._threads, self._memory, keep),
                context=get_context("loky"),  # which does not run the main script again
            )
            # the pool's threads, which start processes, start with its first task
            pool.schedule(os.getpid).result()
        return pool

    def run(self, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Row]]:
        from pebble import ProcessExpired

        if self._pool is None:
            self._pool = self._start()
        concurrent = self.slots > 1

        def begin(trial: Trial, attempt: int = 1) -> None:
            arguments = [trial, self._data_dir, concurrent, self._memory]
            future = self._pool.schedule(_execute, arguments, timeout=self._timeout)
            running[future] = trial, attempt, machine.Start(trial)

        running: dict[Any, tuple[Trial, int, machine.Start]] = {}
        waiting = iter(trials)
        try:
            for trial in islice(waiting, self.slots):
                begin(trial)
            while running:
                future = next(as_completed(list(running)))
                trial, attempt, start = running.pop(future)
                try:
                    row = future.result()
                except ProcessExpired as error:
                    if attempt <= _RETRIES:
                        begin(trial, attempt + 1)
                        continue
                    row = start.failed(
                        f"WorkerDied: its process died {attempt} times (exit code "
                        f"{error.exitcode})"
                    )
                except TimeoutError:
                    row = start.failed(
                        f"Timeout: not finished after {self._timeout:g} s, the limit (--timeout)"
                    )
                # no process waits while the row is written
                if (following := next(waiting, None)) is not None:
                    begin(following)
                yield trial, row
        finally:
            if running:
                self.close()


def _get_ready(threads: int, memory: int | None, keep: int | None) -> None:
    """Fix threads and limits of a process, and load what trials need."""
    machine.end_with_parent()
    # some libraries read their number of threads only when they are loaded
    os.environ.update(dict.fromkeys(machine.THREAD_VARIABLES, str(threads)))
    if memory is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    if keep is not None:
        machine.keep_freed_memory(keep)
    import kernlearn.engine.trial  # noqa: F401


def _execute(trial: Trial, data_dir: Path | None, concurrent: bool, memory: int | None) -> Row:
    from dataclasses import replace

    from kernlearn.engine.trial import execute

    row = execute(trial, data_dir, concurrent=concurrent)
    if memory is not None and row.error is not None and "MemoryError" in row.error:
        limit = f"MemoryLimit: {memory / _MIB:.0f} MiB are not enough (--memory): {row.error}"
        return replace(row, error=limit)
    return row


class DaskExecutor:
    """Run trials on the workers of a Dask scheduler, one at a time on each.

    When a worker dies, the scheduler gives its trial to another one, as often as its setting
    ``distributed.scheduler.allowed-failures`` says.

    Parameters
    ----------
    scheduler : str or None
        Address such as ``tcp://host:8786``; None starts a local cluster of `jobs` workers.
    jobs : int
    data_dir : Path, optional
        Folder in which a worker searches for data first; workers read it themselves.

    Raises
    ------
    ExecutorError
        If ``distributed`` is not installed, the scheduler does not answer, or its workers have
        several threads or another version of kernlearn.
    """

    def __init__(
        self, scheduler: str | None = None, jobs: int = 1, data_dir: Path | None = None
    ) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise ExecutorError(missing_text("the executor 'dask'", "distributed")) from None
        local = {"n_workers": jobs, "threads_per_worker": 1, "processes": True}
        how = {} if scheduler else {**local, "dashboard_address": None}
        self._data_dir = data_dir
        try:
            with machine.shielded():
                self._client = Client(scheduler, timeout=_CONNECT, set_as_default=False, **how)
            self._client.wait_for_workers(1, timeout=_PATIENCE)
        except (OSError, ValueError) as error:
            raise ExecutorError(
                f"no Dask scheduler with workers at {scheduler}: {_line(error)}; start one with "
                "`dask scheduler` and workers with `dask worker ADDRESS --nthreads 1`"
            ) from None
        try:
            self._workers = self._check_workers()
        except BaseException:
            self.close()
            raise
        self.slots = len(self._workers)

    def describe(self) -> dict[str, Any]:
        return {"executor": "dask", "jobs": self.slots}

    def crowded(self, threads: int) -> str:
        hosts = {address: address.rpartition(":")[0] for address in self._workers}
        counts = Counter(hosts.values())
        reasons = (
            _crowding(counts[host], threads, self._workers[address], host)
            for address, host in hosts.items()
        )
        return next(filter(None, reasons), "")

    def close(self) -> None:
        self._client.close()  # with a local cluster of its own

    def _check_workers(self) -> dict[str, int]:
        """Return the usable cores of each worker by its address."""
        if threaded := [name for name, n in self._client.nthreads().items() if n > 1]:
            raise ExecutorError(
                f"{', '.join(threaded[:3])}: more than one thread, so that trials would disturb "
                "each other; start workers with --nthreads 1, and --nworkers for the cores"
            )
        try:
            workers = self._client.run(_version_and_cores)
        except Exception as error:
            raise ExecutorError(
                f"a worker cannot run kernlearn: {_line(error)}; install the same version there"
            ) from None
        if others := [f"{name} has {v}" for name, (v, _) in workers.items() if v != __version__]:
            raise ExecutorError(
                f"this is kernlearn {__version__}, but {', '.join(others[:3])}; install the same "
                "there"
            )
        return {name: cores for name, (_, cores) in workers.items()}

    def run(self, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Row]]:
        from distributed import as_completed

        from kernlearn.engine.trial import execute

        todo = list(trials)
        futures = self._client.map(
            execute, todo, data_dir=self._data_dir, concurrent=self.slots > 1, pure=False
        )
        running = {f.key: (t, machine.Start(t)) for f, t in zip(futures, todo, strict=True)}
        try:
            with self._client.as_current():
                for future in as_completed(futures):
                    trial, start = running.pop(future.key)
                    error = future.exception()
                    yield trial, start.failed(_line(error)) if error else future.result()
                    future.release()
        finally:
            if running:
                self._client.cancel([f for f in futures if f.key in running], force=True)


def _version_and_cores() -> tuple[str, int]:
    return __version__, machine.usable_cores()


def _line(error: BaseException) -> str:
    name = type(error).__name__
    name = "WorkerDied" if name == "KilledWorker" else name
    return f"{name}: {str(error).partition(chr(10))[0]}"


def make_executor(
    name: str | None = None,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    data_dir: Path | None = None,
) -> Executor:
    """Create an executor.

    By default this is Dask if there is a scheduler, processes for several jobs or with limits,
    and the current process otherwise.

    Parameters
    ----------
    name : {"in-process", "processes", "dask"}, optional
    jobs : int, default=1
        Number of trials at a time.
    scheduler : str, optional
        Address of a Dask scheduler.
    timeout : float, optional
        Time limit of a trial in seconds.
    memory : int, optional
        Memory limit of a trial's process in bytes.
    data_dir : Path, optional
        Folder to search for data first.

    Returns
    -------
    Executor
        To be closed at the end.

    Raises
    ------
    ExecutorError
        If the executor does not support the settings.
    """
    limited = timeout is not None or memory is not None
    if name is None:
        name = "dask" if scheduler else "processes" if jobs > 1 or limited else "in-process"
    if scheduler is not None and name != "dask":
        raise ExecutorError(f"a scheduler goes with the executor 'dask', not with {name!r}")
    if limited and name != "processes":
        raise ExecutorError(f"a timeout or memory limit goes with 'processes', not with {name!r}")
    if name == "dask":
        return DaskExecutor(scheduler, jobs, data_dir)
    if name == "processes":
        return Processes(jobs, data_dir, timeout, memory)
    if name != "in-process":
        raise ExecutorError(f"no executor {name!r}: take 'in-process', 'processes' or 'dask'")
    if jobs > 1:
        raise ExecutorError(f"the executor 'in-process' cannot have {jobs} jobs: take 'processes'")
    return InProcess(data_dir)
