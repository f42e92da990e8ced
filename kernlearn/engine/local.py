"""Executors: their interface, and those on this machine, in the current process or in others."""

import os
import threading
import time
from collections.abc import Callable, Generator, Iterable
from concurrent import futures
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from kernlearn.config.spec import Trial
from kernlearn.engine.environment import THREAD_VARIABLES, finished, usable_cores
from kernlearn.engine.own_process import deaf_processes, depend_on_parent
from kernlearn.memory import available_memory, keeping_variables
from kernlearn.store import Row, utc_now

# Seconds between two looks at a trial's memory.
_LOOK = 0.05
_MIB = 2**20

#: Variables of a process that stays: loky ends one after a task that leaves it 300 MB larger than
#: the first one did, and with it would go what trials share.
STAYING = {"LOKY_MAX_MEMORY_LEAK_SIZE": "1e18"}

#: Called with a trial when a process takes it up.
OnStart = Callable[[Trial], None]

#: Trials with their results, in the order in which they end.
Results = Generator[tuple[Trial, Row], None, None]


@dataclass(frozen=True)
class Limits:
    """Limits of a trial.

    Attributes
    ----------
    timeout : float or None
        Seconds of wall time.
    memory : int or None
        Bytes of resident memory of the trial's process and its children.
    retries : int
        How often to repeat a trial whose process died.
    """

    timeout: float | None = None
    memory: int | None = None
    retries: int = 2

    @property
    def any(self) -> bool:
        """Whether a process may have to be killed."""
        return self.timeout is not None or self.memory is not None


NO_LIMITS = Limits()


class Executor(Protocol):
    """Runs trials."""

    @property
    def slots(self) -> int:
        """Number of trials in parallel."""

    def crowded(self, threads: int) -> str:
        """Say why trials with so many threads each would share cores; empty if they do not."""

    def describe(self) -> dict[str, Any]:
        """Return what the environment of a run records of the executor."""

    def run(self, trials: Iterable[Trial], on_start: OnStart = lambda trial: None) -> Results:
        """Yield every trial with its result, in the order in which they end.

        An error in a trial is its result. Closing the iterator kills the trials that still run.
        """

    def close(self) -> None:
        """Release all processes; no more trials follow."""


def crowding(slots: int, threads: int, cores: int, where: str = "this machine") -> str:
    """Say that ``slots`` trials in parallel need more cores than there are, or return no text."""
    # a single trial has the machine to itself, whatever its threads
    if slots <= 1 or slots * threads <= cores:
        return ""
    each = "1 thread" if threads == 1 else f"{threads} threads"
    return (
        f"{slots} trials at a time with {each} each would share the "
        f"{cores} core{'s' if cores > 1 else ''} of {where}"
    )


@dataclass(frozen=True)
class InProcess:
    """Run trials in the current process: the least overhead, no limits.

    Parameters
    ----------
    data_dir : Path, optional
        Folder to search for data first.
    """

    data_dir: Path | None = None
    slots: int = 1

    def describe(self) -> dict[str, Any]:
        return {"executor": "in-process"}

    def crowded(self, threads: int) -> str:
        return ""

    def close(self) -> None:
        pass

    def run(self, trials: Iterable[Trial], on_start: OnStart = lambda trial: None) -> Results:
        # what trials need takes longer to import than a report without trials
        from kernlearn.engine.trial import execute

        for trial in trials:
            on_start(trial)
            yield trial, execute(trial, self.data_dir)


class Processes:
    """Run trials in processes of this machine, started by loky.

    Each process has a pool of its own: when it dies, the trials of the others go on.

    Parameters
    ----------
    jobs : int
        Number of trials in parallel.
    data_dir : Path, optional
        Folder to search for data first.
    limits : Limits, optional
    """

    def __init__(
        self, jobs: int, data_dir: Path | None = None, limits: Limits = NO_LIMITS
    ) -> None:
        self.slots = jobs
        self.threads = max(1, usable_cores() // jobs)
        self._limits = limits
        self._data_dir = data_dir
        self._workers: list[Worker] = []
        # the processes end with the threads that have started them
        self._threads: futures.ThreadPoolExecutor | None = None

    def describe(self) -> dict[str, Any]:
        return {"executor": "processes", "threads_each": self.threads}

    def crowded(self, threads: int) -> str:
        return crowding(self.slots, threads, usable_cores())

    def close(self) -> None:
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.stop()
        if self._threads is not None:
            self._threads.shutdown()
            self._threads = None

    def run(self, trials: Iterable[Trial], on_start: OnStart = lambda trial: None) -> Results:
        if self._threads is None:
            # half of the memory for what is kept, half for what grows beyond
            kept = available_memory() // (2 * self.slots)
            self._workers = [
                Worker(
                    self._data_dir,
                    self._limits,
                    self.threads,
                    concurrent=self.slots > 1,
                    kept_memory=kept,
                )
                for _ in range(self.slots)
            ]
            self._threads = futures.ThreadPoolExecutor(self.slots)
        threads, waiting, idle = self._threads, iter(trials), list(self._workers)
        running: dict[futures.Future[Row], tuple[Trial, Worker]] = {}

        def fill() -> None:
            for worker in reversed(idle[:]):
                if (trial := next(waiting, None)) is not None:
                    on_start(trial)
                    idle.remove(worker)
                    running[threads.submit(worker.run, trial)] = (trial, worker)

        try:
            fill()
            while running:
                ended = futures.wait(running, return_when=futures.FIRST_COMPLETED).done
                finished = []
                for future in ended:
                    trial, worker = running.pop(future)
                    idle.append(worker)
                    finished.append((trial, future.result()))
                fill()  # no process waits while results are written
                yield from finished
        except BaseException:
            self.close()
            raise


@dataclass(eq=False)
class Worker:
    """A process that runs trials and is replaced when it dies.

    Its libraries start with ``threads`` threads; ``concurrent`` tells whether other trials run
    at the same time. Without a limit of memory it keeps up to ``kept_memory`` bytes of what trials
    have freed.
    """

    data_dir: Path | None
    limits: Limits
    threads: int
    concurrent: bool
    kept_memory: int = 0
    _pool: Any = None
    _pid: int = 0
    _stopped: bool = False
    _changing: threading.Lock = field(default_factory=threading.Lock)

    def run(self, trial: Trial) -> Row:
        """Run a trial, repeatedly if its process dies.

        Raises
        ------
        BrokenProcessPool
            If :meth:`stop` is called meanwhile.
        """
        from loky.process_executor import BrokenProcessPool

        from kernlearn.engine.trial import execute

        started, clock = utc_now(), time.perf_counter()
        tries = self.limits.retries + 1
        for attempt in range(1, tries + 1):
            try:
                pool = self._start()
                future = pool.submit(execute, trial, self.data_dir, concurrent=self.concurrent)
                failed = self._watch(future)
            except BrokenProcessPool as error:
                if self._stopped:
                    raise
                reason = str(error).partition("\n")[0]
                failed = f"WorkerDied: its process died {tries} times; the last time: {reason}"
                self._kill()
                continue
            if failed:
                self._kill()
                break
            result: Row = future.result()
            if attempt > 1:
                result.info["attempts"] = attempt
            return result
        return finished(trial, started, clock, error=failed)

    def stop(self) -> None:
        """Kill the process, and with it the trial that it runs."""
        self._stopped = True
        self._kill()

    def _start(self) -> Any:
        """Return the pool of one process, starting it if there is none."""
        from loky.process_executor import BrokenProcessPool, ProcessPoolExecutor

        with self._changing:
            if self._stopped:
                raise BrokenProcessPool("stopped")
            if self._pool is None:
                # some libraries read their number of threads only when they are loaded
                env = dict.fromkeys(THREAD_VARIABLES, str(self.threads)) | STAYING
                if self.limits.memory is None:
                    env |= keeping_variables(self.kept_memory)
                with deaf_processes(pool=True):
                    self._pool = ProcessPoolExecutor(
                        1, env=env, initializer=depend_on_parent, initargs=(os.getpid(),)
                    )
                    ready = self._pool.submit(_get_ready)
                self._pid = ready.result()
            return self._pool

    def _watch(self, future: "futures.Future[Row]") -> str | None:
        """Wait for a trial; return the limit that it exceeds, or None when it has ended."""
        limits, start = self.limits, time.perf_counter()
        while True:
            with suppress(futures.TimeoutError):
                future.result(_LOOK if limits.any else None)
                return None
            if limits.timeout is not None and time.perf_counter() - start > limits.timeout:
                return f"Timeout: not finished after {limits.timeout:g} s, the limit (--timeout)"
            if limits.memory is not None and (used := _memory(self._pid)) > limits.memory:
                return (
                    f"MemoryLimit: {used / _MIB:.0f} MiB in use, the limit is "
                    f"{limits.memory / _MIB:.0f} MiB (--memory)"
                )

    def _kill(self) -> None:
        with self._changing:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, kill_workers=True)


def _get_ready() -> int:
    """Load what trials need, which is not theirs to wait for, and return the process's number."""
    import kernlearn.engine.trial  # noqa: F401

    return os.getpid()


def _memory(pid: int) -> int:
    """Return the bytes of resident memory of a process and its children."""
    import psutil

    total = 0
    with suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        for member in [process, *process.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                total += member.memory_info().rss
    return total
