"""Executors on this machine: the current process, or several processes."""

from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from kernlearn.experiments.engine.environment import usable_cores
from kernlearn.experiments.engine.spec import Trial
from kernlearn.experiments.engine.trial import execute
from kernlearn.experiments.executors.base import NO_LIMITS, Limits, OnStart, Results, crowding
from kernlearn.experiments.executors.worker import Worker
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
        running: dict[Future[Result], Trial] = {}
        with ThreadPoolExecutor(self.slots) as threads:

            def fill() -> None:
                while len(running) < self.slots and (trial := next(waiting, None)):
                    on_start(trial)
                    running[threads.submit(run_one, trial)] = trial

            try:
                fill()
                while running:
                    ended = wait(running, return_when=FIRST_COMPLETED).done
                    finished = [(running.pop(future), future.result()) for future in ended]
                    fill()  # no process waits while results are written
                    yield from finished
            except BaseException:
                self.close()
                for future in running:  # their errors concern nobody
                    future.exception()
                raise
