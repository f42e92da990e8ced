"""Executors: who carries trials out, in the current process, in others, or on a cluster."""

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeAlias

from kernlearn import __version__
from kernlearn.config.trial import Trial
from kernlearn.engine import machine
from kernlearn.exceptions import ExecutorError
from kernlearn.lazy import missing_text
from kernlearn.machine import THREAD_VARIABLES, usable_cores
from kernlearn.memory import available_memory
from kernlearn.store import Row

# How often a trial is repeated whose process was killed.
_RETRIES = 2
# Seconds between two looks at trials with a limit. What takes longer was a stop of this
# process, such as Ctrl-Z, or sleep of the machine.
_TICK, _LONGEST_TICK = 0.2, 1.0
# Bytes that a process may reserve beyond those that it uses. A limit of memory ends it from
# outside, before the system refuses it more: OpenBLAS would try again without end.
_RESERVED, _LAST = 2**31, 2**28
# Seconds for an idle process to end itself.
_FAREWELL = 3.0
# Seconds for a scheduler to answer, and for a first worker to come.
_CONNECT, _PATIENCE = 10.0, 60.0


#: Trials that share their training, mostly one: they are run in one process.
Job: TypeAlias = tuple[Trial, ...]


class InProcess:
    """Run trials one after the other in the current process, which a method may end."""

    slots, places = 1, list[tuple[str, int, int]]()
    about = {"executor": "in-process"}

    def close(self) -> None:
        pass

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Trial, Row]]:
        machine.keep_freed_memory()
        for job in jobs:
            yield from zip(job, _execute(job, concurrent=False), strict=True)


def _memory_limit(memory: int) -> str:
    return f"MemoryLimit: {memory / 2**20:.0f} MiB are not enough (--memory)"


def _execute(job: Job, concurrent: bool, memory: int = 0) -> list[Row]:
    # what trials need takes longer to import than a report without trials
    from kernlearn.engine.trial import execute

    return [
        replace(row, error=f"{_memory_limit(memory)}: {row.error}")
        if memory and "MemoryError" in (row.error or "")
        else row
        for row in execute(job, concurrent=concurrent)
    ]


class _Slot:
    """A process that executes one trial after the other.

    It is a pool of loky with one worker, because loky starts processes anew without a fork, as
    BLAS and Numba need it, sends functions and classes of plug-ins by cloudpickle, and notices a
    worker that dies. pebble, which has time limits of its own, would count the seconds for which
    a process is stopped, and starts the next task before the last one's row is written.

    Parameters
    ----------
    threads : int
        Threads for libraries that read their number when they are loaded; 0 leaves it to them.
    memory : int
        The most bytes of memory; 0 for no limit.
    keep : int
        The most bytes of freed memory to keep; -1 keeps all.
    """

    def __init__(self, threads: int, memory: int, keep: int) -> None:
        from loky import ProcessPoolExecutor

        # loky starts a process anew that has grown, as one that keeps freed memory does
        variables = {"LOKY_MAX_MEMORY_LEAK_SIZE": "1e18"}
        variables |= dict.fromkeys(THREAD_VARIABLES, str(threads)) if threads else {}
        own = os.getpid(), memory, keep
        with machine.shielded():
            self.pool = ProcessPoolExecutor(1, env=variables, initializer=_begin, initargs=own)
            self._ready: Future[None] = self.pool.submit(_import_all)
        (self._process,) = self.pool._processes.values()

    @property
    def is_busy(self) -> bool:
        """Whether the process is ready, and no signal has stopped it for now."""
        import psutil

        with suppress(psutil.Error):
            if self._ready.done() and not self._ready.exception():
                return psutil.Process(self._process.pid).status() != psutil.STATUS_STOPPED
        return False

    @property
    def used(self) -> int:
        """The bytes of memory that the process uses, and what it has reserved beyond reason."""
        import psutil

        with suppress(psutil.Error):
            state = psutil.Process(self._process.pid).memory_info()
            own = state.rss - getattr(state, "shared", 0)  # without the code of libraries
            return int(max(own, getattr(state, "data", 0) - _RESERVED))
        return 0

    def exit_code(self, error: BaseException | None) -> int | None:
        """Return the exit code of the process if an error says that it has died."""
        from loky.process_executor import TerminatedWorkerError

        died = isinstance(error, TerminatedWorkerError)
        return self._process.exitcode if died else None

    def kill(self, wait: bool = True) -> None:
        """End the process, with those that it has started."""
        self.pool.shutdown(wait=wait, kill_workers=True)

    def end(self) -> None:
        """Wait until the process has ended itself, with what joblib made in it; or kill it."""
        from loky.backend.utils import kill_process_tree

        self._process.join(_FAREWELL)
        if self._process.is_alive():
            kill_process_tree(self._process)


def _begin(parent: int, memory: int, keep: int) -> None:
    """Make this process one of a run."""
    machine.end_with_parent(parent)
    # what trials print is no result
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    if memory:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (memory + _RESERVED + _LAST,) * 2)
    else:
        machine.keep_freed_memory(keep)


def _import_all() -> None:
    """Import what trials need, which is no part of their time."""
    import kernlearn.engine.trial  # noqa: F401


@dataclass
class _Running:
    """A job in a process; ``seconds`` are those that count towards its limit.

    ``beyond`` says which limit it has passed.
    """

    attempt: int
    slot: _Slot
    job: Job
    starts: list[machine.Start]
    seconds: float = 0.0
    beyond: str = ""


class Processes:
    """Run trials in processes of this machine.

    A trial whose process is killed is repeated, and fails the third time; one that ends its
    process itself fails at once. The others go on.

    Parameters
    ----------
    jobs : int
        Number of trials in parallel.
    timeout : float or None
        Seconds of a trial. Those for which its process is stopped do not count.
    memory : int or None
        Bytes of memory of a trial's process.
    """

    def __init__(self, jobs: int, timeout: float | None, memory: int | None) -> None:
        cores = usable_cores()
        self.slots, self.places = jobs, [("this machine", jobs, cores)]
        self._threads = cores // jobs or 1
        self.about = {"executor": "processes", "jobs": jobs}
        self._timeout, self._memory = timeout, memory or 0
        self._idle: list[_Slot] = []
        self._running: dict[Future[list[Row]], _Running] = {}

    def close(self) -> None:
        for one in self._running.values():
            one.slot.kill()
        for slot in self._idle:
            slot.pool.shutdown(wait=False)
        for slot in self._idle:
            slot.end()
        self._running.clear()
        self._idle.clear()

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Trial, Row]]:
        waiting = iter(jobs)
        try:
            for job in islice(waiting, self.slots):
                self._submit(job)
            while self._running:
                for future in self._ended():
                    one, error = self._running.pop(future), future.exception()
                    code = one.slot.exit_code(error)
                    if error is None and not one.beyond:
                        self._idle.append(one.slot)
                    else:
                        one.slot.kill()
                    was_killed = code is not None and code < 0 and not one.beyond
                    if was_killed and one.attempt <= _RETRIES:
                        self._submit(one.job, one.attempt + 1)
                        continue
                    # no process waits while the row is written
                    if (following := next(waiting, None)) is not None:
                        self._submit(following)
                    rows = self._failed(one, error, code) if error else future.result()
                    yield from zip(one.job, rows, strict=True)
        finally:
            if self._running:
                self.close()

    def _submit(self, job: Job, attempt: int = 1) -> None:
        several = self.slots > 1
        if self._idle:
            slot = self._idle.pop()
        else:
            # half of the memory for what is kept, half for what grows beyond
            keep = available_memory() // (2 * self.slots) if several else -1
            slot = _Slot(self._threads if several else 0, self._memory, keep)
        future = slot.pool.submit(_execute, job, several, self._memory)
        self._running[future] = _Running(attempt, slot, job, machine.starts(job))

    def _ended(self) -> set[Future[list[Row]]]:
        """Wait, and return the trials that have ended; end those beyond a limit."""
        since, limited = time.monotonic(), self._timeout is not None or self._memory > 0
        done, _ = wait(self._running, _TICK if limited else None, FIRST_COMPLETED)
        for future, one in self._running.items() if limited else ():
            if future in done:
                continue
            if one.slot.is_busy:
                one.seconds += min(time.monotonic() - since, _LONGEST_TICK)
            if self._timeout is not None and one.seconds > self._timeout:
                limit = f"{self._timeout:g} s, the limit (--timeout)"
                one.beyond = f"Timeout: not finished after {limit}"
            elif self._memory and one.slot.used > self._memory:
                one.beyond = _memory_limit(self._memory)
            if one.beyond:
                one.slot.kill(wait=False)
        return done

    def _failed(self, one: _Running, error: BaseException, code: int | None) -> list[Row]:
        """Return the rows of trials that have not ended by themselves."""
        if one.beyond:
            text = one.beyond
        elif code is not None:
            times = f"{one.attempt} times " if one.attempt > 1 else ""
            text = f"WorkerDied: its process died {times}(exit code {code})"
        else:
            text = _line(error)
        return [start.failed(text) for start in one.starts]


class DaskExecutor:
    """Run trials on the workers of a Dask scheduler, one at a time on each.

    When a worker dies, the scheduler gives its trial to another one, as often as its setting
    ``distributed.scheduler.allowed-failures`` says.

    Parameters
    ----------
    scheduler : str or None
        Address such as ``tcp://host:8786``; None starts a local cluster of `jobs` workers.
    jobs : int

    Raises
    ------
    ExecutorError
        If ``distributed`` is not installed, the scheduler does not answer, or its workers have
        several threads or another version of kernlearn.
    """

    def __init__(self, scheduler: str | None, jobs: int) -> None:
        try:
            from distributed import Client
        except ImportError:
            raise ExecutorError(missing_text("the executor 'dask'", "distributed")) from None
        local = {"n_workers": jobs, "threads_per_worker": 1, "processes": True}
        how = {} if scheduler else {**local, "dashboard_address": None}
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
            cores = self._checked_workers()
        except BaseException:
            self.close()
            raise
        hosts = {address: address.rpartition(":")[0] for address in cores}
        counts, self.slots = Counter(hosts.values()), len(cores)
        self.places = [(host, counts[host], cores[one]) for one, host in hosts.items()]
        self.about = {"executor": "dask", "jobs": self.slots}

    def close(self) -> None:
        self._client.close()  # with a local cluster of its own

    def _checked_workers(self) -> dict[str, int]:
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

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Trial, Row]]:
        from distributed import as_completed

        todo = list(jobs)
        futures = self._client.map(_execute, todo, concurrent=self.slots > 1, pure=False)
        running = {f.key: (job, machine.starts(job)) for f, job in zip(futures, todo, strict=True)}
        try:
            with self._client.as_current():
                for future in as_completed(futures):
                    job, starts = running.pop(future.key)
                    error = future.exception()
                    failed = [start.failed(_line(error)) for start in starts] if error else []
                    yield from zip(job, failed or future.result(), strict=True)
                    future.release()
        finally:
            if running:
                self._client.cancel([f for f in futures if f.key in running], force=True)


def _version_and_cores() -> tuple[str, int]:
    return __version__, usable_cores()


def _line(error: BaseException) -> str:
    first, *_ = machine.error_text(error).splitlines()
    return first.replace("KilledWorker", "WorkerDied", 1)


Executor = InProcess | Processes | DaskExecutor
"""What runs trials: ``slots`` at a time; ``about`` is what rows say of it.

``run(jobs)`` yields every trial with its row, in the order in which they end; closing the
iterator ends those that still run. ``places`` has each machine, how many trials run there at a
time, and its cores. ``close()`` releases all processes.
"""


def make_executor(
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    timeout: float | None = None,
    memory: int | None = None,
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
        return Processes(jobs, timeout, memory)
    if timeout is not None or memory is not None:
        raise ExecutorError("limits of time and memory are those of processes, not of Dask")
    return DaskExecutor(None if scheduler == "local" else scheduler, jobs)
