"""Executors: who carries trials out, in the current process, in others, or on a cluster."""

import os
import pickle
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing, suppress
from dataclasses import dataclass, replace
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

# How often a trial is repeated whose process was killed.
_RETRIES = 2
# Seconds between two looks at trials with a time limit. What takes longer was a stop of this
# process, such as Ctrl-Z, or sleep of the machine.
_TICK, _LONGEST_TICK = 0.2, 1.0
# Seconds for an idle process to end.
_END = 5.0
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
    """Run trials one after the other in the current process, which a method may end."""

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
        machine.keep_freed_memory()
        for trial in trials:
            yield trial, _carry_out(trial, self._data_dir, concurrent=False)


def _carry_out(trial: Trial, data_dir: Path | None, concurrent: bool) -> Row:
    """Execute a trial here, or in a new process if it measures memory or has workers."""
    # what trials need takes longer to import than a report without trials
    from kernlearn.engine.trial import execute

    if not trial.spec.runs_alone:
        return execute(trial, data_dir, concurrent=concurrent)
    with closing(Processes(1, data_dir, concurrent=concurrent)) as alone:
        ((_, row),) = alone.run([trial])
        return row


class _Worker:
    """A process that executes one trial after the other.

    Parameters
    ----------
    threads : int
        Threads for libraries that read their number when they are loaded; 0 leaves it to them.
    memory : int or None
        The most bytes of data.
    keep : int
        The most bytes of freed memory to keep; -1 keeps all.
    """

    def __init__(self, threads: int, memory: int | None, keep: int) -> None:
        self.ready = False
        own = dict.fromkeys(machine.THREAD_VARIABLES, str(threads)) if threads else {}
        start = (
            f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import serve; "
            f"serve({memory}, {keep})"
        )
        with machine.shielded():
            self.process = subprocess.Popen(
                [sys.executable, "-c", start],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, **own},
            )

    def ask(self, *arguments: Any) -> Row | None:
        """Return the row of a trial; None if the process ends before."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.ready = self.ready or pickle.load(self.process.stdout)
            pickle.dump(arguments, self.process.stdin)
            self.process.stdin.flush()
            row: Row = pickle.load(self.process.stdout)
        except (OSError, EOFError, pickle.UnpicklingError):
            self.end()
            return None
        return row

    @property
    def is_stopped(self) -> bool:
        """Whether a signal has stopped the process for now."""
        import psutil

        with suppress(psutil.Error):
            return bool(psutil.Process(self.process.pid).status() == psutil.STATUS_STOPPED)
        return False

    def end(self) -> None:
        """End an idle process, or clear up after one that has ended."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with suppress(OSError):
            self.process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_END)
        self.kill()
        self.process.stdout.close()

    def kill(self) -> None:
        """End the process at once, with those that it has started."""
        import psutil

        if self.process.poll() is not None:
            return  # another process may have its number
        family = []
        with suppress(psutil.Error):
            family = psutil.Process(self.process.pid).children(recursive=True)
        self.process.kill()
        for one in family:
            with suppress(psutil.Error):
                one.kill()
        self.process.wait()


def serve(memory: int | None, keep: int) -> None:
    """Execute the trials that the process which started this one sends, until it closes."""
    machine.end_with_parent()
    # what trials read or print must not get between
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    if memory is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    else:
        machine.keep_freed_memory(keep)
    from kernlearn.engine.trial import execute

    answer: Any = True  # it is ready
    while True:
        pickle.dump(answer, answers)
        answers.flush()
        try:
            trial, data_dir, concurrent = pickle.load(requests)
        except EOFError:
            return
        answer = execute(trial, data_dir, concurrent=concurrent)
        if memory is not None and "MemoryError" in (answer.error or ""):
            limit = f"MemoryLimit: {memory / _MIB:.0f} MiB are not enough (--memory)"
            answer = replace(answer, error=f"{limit}: {answer.error}")


@dataclass
class _Running:
    """A trial in a process; ``seconds`` are those that count towards its limit."""

    trial: Trial
    attempt: int
    worker: _Worker
    start: machine.Start
    seconds: float = 0.0


class Processes:
    """Run trials in processes of this machine.

    A trial whose process is killed is repeated, and fails the third time; one that ends its
    process itself fails at once. The others go on.

    Parameters
    ----------
    jobs : int
        Number of trials in parallel.
    data_dir : Path, optional
        Folder to search for data first.
    timeout : float, optional
        Seconds of a trial. Those for which its process is stopped do not count.
    memory : int, optional
        Bytes of data of a trial's process.
    concurrent : bool, default=False
        Whether trials of others run at the same time.
    """

    def __init__(
        self,
        jobs: int,
        data_dir: Path | None = None,
        timeout: float | None = None,
        memory: int | None = None,
        *,
        concurrent: bool = False,
    ) -> None:
        self.slots = jobs
        self._data_dir, self._timeout, self._memory = data_dir, timeout, memory
        self._concurrent = concurrent or jobs > 1
        self._threads = machine.usable_cores() // jobs or 1
        self._idle: list[_Worker] = []
        self._running: dict[Future[Row | None], _Running] = {}
        self._asking = ThreadPoolExecutor(jobs)

    def describe(self) -> dict[str, Any]:
        return {"executor": "processes", "jobs": self.slots, "threads_each": self._threads}

    def crowded(self, threads: int) -> str:
        return _crowding(self.slots, threads, machine.usable_cores(), "this machine")

    def close(self) -> None:
        for one in self._running.values():
            one.worker.kill()
        for worker in self._idle:
            worker.end()
        self._running.clear()
        self._idle.clear()
        self._asking.shutdown()

    def _begin(self, trial: Trial, attempt: int = 1) -> None:
        if self._idle and not trial.spec.runs_alone:
            worker = self._idle.pop()
        else:
            several = self.slots > 1
            # half of the memory for what is kept, half for what grows beyond
            keep = available_memory() // (2 * self.slots) if several else -1
            worker = _Worker(self._threads if several else 0, self._memory, keep)
        future = self._asking.submit(worker.ask, trial, self._data_dir, self._concurrent)
        self._running[future] = _Running(trial, attempt, worker, machine.Start(trial))

    def run(self, trials: Iterable[Trial]) -> Iterator[tuple[Trial, Row]]:
        waiting = iter(trials)
        try:
            for trial in islice(waiting, self.slots):
                self._begin(trial)
            while self._running:
                for one, row in self._ended():
                    was_killed = row is None and one.worker.process.returncode < 0
                    if was_killed and one.attempt <= _RETRIES and not self._is_late(one):
                        self._begin(one.trial, one.attempt + 1)
                        continue
                    # no process waits while the row is written
                    if (following := next(waiting, None)) is not None:
                        self._begin(following)
                    yield one.trial, self._failed(one) if row is None else row
        finally:
            if self._running:
                self.close()

    def _ended(self) -> list[tuple[_Running, Row | None]]:
        """Wait, and return the trials that have ended with their rows, if they have one."""
        since = time.monotonic()
        limited = self._timeout is not None
        done, _ = wait(self._running, _TICK if limited else None, FIRST_COMPLETED)
        for future, one in self._running.items() if limited else ():
            if future not in done and one.worker.ready and not one.worker.is_stopped:
                one.seconds += min(time.monotonic() - since, _LONGEST_TICK)
                if self._is_late(one):
                    one.worker.kill()
        ended = [(self._running.pop(future), future.result()) for future in done]
        for one, row in ended:
            if row is not None and not one.trial.spec.runs_alone:
                self._idle.append(one.worker)
            elif row is not None:
                one.worker.end()
        return ended

    def _is_late(self, one: _Running) -> bool:
        return self._timeout is not None and one.seconds > self._timeout

    def _failed(self, one: _Running) -> Row:
        """Return the row of a trial whose process has ended."""
        code, times = one.worker.process.returncode, f"{one.attempt} times "
        text = f"WorkerDied: its process died {times if one.attempt > 1 else ''}(exit code {code})"
        if self._is_late(one):
            text = f"Timeout: not finished after {self._timeout:g} s, the limit (--timeout)"
        return one.start.failed(text)


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

        todo = list(trials)
        futures = self._client.map(
            _carry_out, todo, data_dir=self._data_dir, concurrent=self.slots > 1, pure=False
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
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    timeout: float | None = None,
    memory: int | None = None,
    data_dir: Path | None = None,
) -> Executor:
    """Create an executor: processes of this machine, or workers of Dask.

    Parameters
    ----------
    jobs : int, default=1
        Number of trials at a time.
    scheduler : str, optional
        Address of a Dask scheduler, or "local" for a cluster of `jobs` workers here.
    timeout : float, optional
        Time limit of a trial in seconds, without those for which its process is stopped.
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
    if scheduler is None:
        return Processes(jobs, data_dir, timeout, memory)
    if timeout is not None or memory is not None:
        raise ExecutorError("limits of time and memory are those of processes, not of Dask")
    return DaskExecutor(None if scheduler == "local" else scheduler, jobs, data_dir)
