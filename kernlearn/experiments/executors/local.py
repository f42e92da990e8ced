"""Executors on this machine: the current process, or processes that run one trial at a time."""

import os
import signal
import threading
import time
from collections.abc import Iterable
from concurrent import futures
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from kernlearn.experiments.engine.environment import THREAD_VARIABLES, usable_cores
from kernlearn.experiments.engine.spec import Trial
from kernlearn.experiments.engine.trial import execute, failure
from kernlearn.experiments.executors.base import NO_LIMITS, Limits, OnStart, Results, crowding
from kernlearn.experiments.store.results import Result, utc_now

# Seconds between two looks at a trial's memory.
_LOOK = 0.05
# Seconds between two looks for the parent process.
_PARENT_LOOK = 0.5
_MIB = 2**20


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

    def describe(self) -> dict[str, Any]:
        return {"executor": "processes", "threads_each": self.threads}

    def crowded(self, threads: int) -> str:
        return crowding(self.slots, threads, usable_cores())

    def close(self) -> None:
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.stop()

    def run(self, trials: Iterable[Trial], on_start: OnStart = lambda trial: None) -> Results:
        if not self._workers:
            self._workers = [
                Worker(self._data_dir, self._limits, self.threads, concurrent=self.slots > 1)
                for _ in range(self.slots)
            ]
        idle: SimpleQueue[Worker] = SimpleQueue()
        for worker in self._workers:
            idle.put(worker)

        def run_one(trial: Trial) -> Result:
            worker = idle.get()
            try:
                return worker.run(trial)
            finally:
                idle.put(worker)

        waiting = iter(trials)
        running: dict[futures.Future[Result], Trial] = {}
        with futures.ThreadPoolExecutor(self.slots) as threads:

            def fill() -> None:
                while len(running) < self.slots and (trial := next(waiting, None)):
                    on_start(trial)
                    running[threads.submit(run_one, trial)] = trial

            try:
                fill()
                while running:
                    ended = futures.wait(running, return_when=futures.FIRST_COMPLETED).done
                    finished = [(running.pop(future), future.result()) for future in ended]
                    fill()  # no process waits while results are written
                    yield from finished
            except BaseException:
                self.close()
                for future in running:  # their errors concern nobody
                    future.exception()
                raise


class Stopped(Exception):
    """The run is over: :meth:`Worker.stop` was called."""


class Worker:
    """A process that runs trials and is replaced when it dies.

    Parameters
    ----------
    data_dir : Path or None
        Folder to search for data first.
    limits : Limits
    threads : int
        Number of threads that the libraries of the process start with.
    concurrent : bool
        Whether other trials run at the same time.
    """

    def __init__(
        self, data_dir: Path | None, limits: Limits, threads: int, concurrent: bool
    ) -> None:
        self._data_dir = data_dir
        self._limits = limits
        self._threads = threads
        self._concurrent = concurrent
        self._pool: Any = None
        self._pid = 0
        self._stopped = False
        self._changing = threading.Lock()

    def run(self, trial: Trial) -> Result:
        """Run a trial, repeatedly if its process dies.

        Raises
        ------
        Stopped
            If :meth:`stop` is called meanwhile.
        """
        from loky.process_executor import BrokenProcessPool

        started, clock = utc_now(), time.perf_counter()
        tries, reason = self._limits.retries + 1, ""
        for attempt in range(1, tries + 1):
            try:
                future = self._start().submit(
                    execute, trial, self._data_dir, concurrent=self._concurrent
                )
                exceeded = self._watch(future)
            except BrokenProcessPool as error:
                self._kill()
                if self._stopped:
                    raise Stopped from None
                reason = str(error).partition("\n")[0]
                continue
            if exceeded is not None:
                self._kill()
                return failure(trial, exceeded, started, time.perf_counter() - clock)
            result = future.result()
            if attempt > 1:
                result.info["attempts"] = attempt
            return result
        text = f"WorkerDied: its process died {tries} times; the last time: {reason}"
        return failure(trial, text, started, time.perf_counter() - clock)

    def stop(self) -> None:
        """Kill the process, and with it the trial that it runs."""
        self._stopped = True
        self._kill()

    def _start(self) -> Any:
        """Return the pool of one process, starting it if there is none."""
        from loky import ProcessPoolExecutor

        with self._changing:
            if self._stopped:
                raise Stopped
            if self._pool is None:
                # some libraries read their number of threads only when they are loaded
                env = dict.fromkeys(THREAD_VARIABLES, str(self._threads))
                self._pool = ProcessPoolExecutor(1, env=env, initializer=_depend_on_parent)
                self._pid = self._pool.submit(os.getpid).result()
            return self._pool

    def _watch(self, future: "futures.Future[Result]") -> str | None:
        """Wait for a trial; return the limit that it exceeds, or None when it has ended."""
        limits, start = self._limits, time.perf_counter()
        while True:
            try:
                future.result(_LOOK if limits.any else None)
            except futures.TimeoutError:
                pass
            else:
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


def _depend_on_parent() -> None:
    """Ignore Ctrl-C, on which the parent ends its processes, and end when the parent has."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_after, args=(os.getppid(),), daemon=True).start()


def _end_after(parent: int) -> None:
    # the child of a killed process gets another parent
    while os.getppid() == parent:
        time.sleep(_PARENT_LOOK)
    os._exit(1)


def _memory(pid: int) -> int:
    """Return the bytes of resident memory of a process and its children."""
    import psutil

    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0
    total = 0
    for member in family:
        try:
            total += member.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total
