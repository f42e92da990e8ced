"""Executors on this machine, in the current process or in others, and the choice of one."""

from collections.abc import Iterable
from concurrent import futures
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernlearn.exceptions import ExecutorError
from kernlearn.experiments.config.model import Execution
from kernlearn.experiments.engine.environment import usable_cores
from kernlearn.experiments.engine.spec import Trial
from kernlearn.experiments.engine.trial import execute
from kernlearn.experiments.executors import base
from kernlearn.experiments.executors.base import Executor, Limits, OnStart, Results, Worker
from kernlearn.experiments.store.results import Result


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
        self, jobs: int, data_dir: Path | None = None, limits: Limits = base.NO_LIMITS
    ) -> None:
        self.slots = jobs
        self.threads = max(1, usable_cores() // jobs)
        self._limits = limits
        self._data_dir = data_dir
        self._workers: list[Worker] = []

    def describe(self) -> dict[str, Any]:
        return {"executor": "processes", "threads_each": self.threads}

    def crowded(self, threads: int) -> str:
        return base.crowding(self.slots, threads, usable_cores())

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
        waiting, idle = iter(trials), list(self._workers)
        running: dict[futures.Future[Result], tuple[Trial, Worker]] = {}
        with futures.ThreadPoolExecutor(self.slots) as threads:

            def fill() -> None:
                while idle and (trial := next(waiting, None)):
                    on_start(trial)
                    worker = idle.pop()
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


def make_executor(execution: Execution, data_dir: Path | None = None) -> Executor:
    """Create the executor that the settings ask for.

    By default this is Dask if there is a scheduler, processes for several jobs or with limits,
    and the current process otherwise.

    Parameters
    ----------
    execution : Execution
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
    limits = Limits(execution.timeout, execution.memory, execution.retries)
    name, jobs = execution.executor, execution.jobs
    if name is None:
        parallel = jobs > 1 or limits.any
        name = "dask" if execution.scheduler else "processes" if parallel else "in-process"
    if execution.scheduler is not None and name != "dask":
        raise ExecutorError(f"a scheduler goes with the executor 'dask', not with {name!r}")
    if name == "dask":
        from kernlearn.experiments.executors.cluster import DaskExecutor

        return DaskExecutor(execution.scheduler, jobs, data_dir, limits)
    if name == "processes":
        return Processes(jobs, data_dir, limits)
    if limits.any or jobs > 1:
        asked = f"{jobs} jobs" if jobs > 1 else "a timeout or memory limit"
        raise ExecutorError(f"the executor 'in-process' cannot have {asked}: take 'processes'")
    return InProcess(data_dir)
