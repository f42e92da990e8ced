"""One process beside this one that carries out one trial at a time, within limits."""

import os
import signal
import threading
import time
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from pathlib import Path
from typing import Any

from kernlearn.experiments.engine.spec import Trial
from kernlearn.experiments.engine.trial import execute, failure
from kernlearn.experiments.executors.base import Limits
from kernlearn.experiments.store.results import Result, utc_now

# What a worker's libraries take for their number of threads; a trial's own limit holds within it.
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS", "NUMBA_NUM_THREADS",
)  # fmt: skip

# Seconds between two looks at a trial's memory: what grows faster than that is the system's.
_LOOK = 0.05
# Seconds between two looks at whether the parent is there.
_PARENT_LOOK = 0.5
_MIB = 2**20


class Stopped(Exception):
    """The run is over: a worker was ended from outside."""


class Worker:
    """A process that carries out trials, one at a time, and is replaced when it dies.

    Parameters
    ----------
    data_dir : Path or None
        Where data is looked for first.
    limits : Limits
    threads : int
        Number of threads that the process's libraries start with.
    beside : bool
        Whether other trials run at the same time.
    """

    def __init__(self, data_dir: Path | None, limits: Limits, threads: int, beside: bool) -> None:
        self._data_dir = data_dir
        self._limits = limits
        self._threads = threads
        self._beside = beside
        self._pool: Any = None
        self._pid = 0
        self._stopped = False
        self._changing = threading.Lock()

    def run(self, trial: Trial) -> Result:
        """Carry out a trial; one whose process dies is tried again, up to the limit.

        Raises
        ------
        Stopped
            If :meth:`stop` was called meanwhile.
        """
        from loky.process_executor import BrokenProcessPool

        started, clock = utc_now(), time.perf_counter()
        tries, died = self._limits.retries + 1, ""
        for attempt in range(1, tries + 1):
            try:
                pool = self._start()
                future = pool.submit(execute, trial, self._data_dir, concurrent=self._beside)
                over = self._watch(future)
            except BrokenProcessPool as error:
                self._drop()
                if self._stopped:
                    raise Stopped from None
                died = str(error).partition("\n")[0]
                continue
            if over is not None:
                self._drop()
                return failure(trial, over, started, time.perf_counter() - clock)
            result = future.result()
            if attempt > 1:
                result.info["attempts"] = attempt
            return result
        text = f"WorkerDied: its process died {tries} times; the last time: {died}"
        return failure(trial, text, started, time.perf_counter() - clock)

    def stop(self) -> None:
        """End the process, and with it the trial that it is at."""
        self._stopped = True
        self._drop()

    def _start(self) -> Any:
        """Return the pool of one process, new where there is none."""
        from loky import ProcessPoolExecutor

        with self._changing:
            if self._stopped:
                raise Stopped
            if self._pool is None:
                # a limit that is set later comes too late for some libraries
                env = dict.fromkeys(_THREAD_VARIABLES, str(self._threads))
                self._pool = ProcessPoolExecutor(1, env=env, initializer=_depend_on_parent)
                self._pid = self._pool.submit(os.getpid).result()
            return self._pool

    def _watch(self, future: "Future[Result]") -> str | None:
        """Wait for a trial; return why it has to be ended, or None."""
        limits, begun = self._limits, time.perf_counter()
        while True:
            try:
                future.result(_LOOK if limits.any else None)
            except NotYet:
                pass
            else:
                return None
            if limits.timeout is not None and time.perf_counter() - begun > limits.timeout:
                return f"Timeout: not finished after {limits.timeout:g} s, the limit (--timeout)"
            if limits.memory is not None and (used := _memory(self._pid)) > limits.memory:
                return (
                    f"MemoryLimit: {used / _MIB:.0f} MiB in use, the limit is "
                    f"{limits.memory / _MIB:.0f} MiB (--memory)"
                )

    def _drop(self) -> None:
        with self._changing:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False, kill_workers=True)


def _depend_on_parent() -> None:
    """Leave signals to the parent, and end when it has ended."""
    # a terminal's Ctrl-C reaches every process of the run; the parent ends the others
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_after, args=(os.getppid(),), daemon=True).start()


def _end_after(parent: int) -> None:
    # a parent that is killed cannot end anybody: its child gets another
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
