"""One trial after the other, in this process."""

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
    """Carry out trials here: the least overhead, no limits.

    Parameters
    ----------
    data_dir : Path, optional
        Where data is looked for first.
    """

    data_dir: Path | None = None
    slots: int = 1

    def describe(self) -> dict[str, Any]:
        """Return the executor's name."""
        return {"executor": "in-process"}

    def crowded(self, threads: int) -> str:
        """Return nothing: there is one trial at a time."""
        return ""

    def close(self) -> None:
        """Do nothing: nothing was started."""

    def run(self, trials: Iterable[Trial], on_start: OnStart = lambda trial: None) -> Results:
        """Yield every trial with its result."""
        for trial in trials:
            on_start(trial)
            yield trial, execute(trial, self.data_dir)


class Processes:
    """Carry out trials in processes of this machine, started by loky.

    Each process is an executor of its own: one that dies takes the trial that it was at,
    not those of the others.

    Parameters
    ----------
    jobs : int
        Trials at a time.
    data_dir : Path, optional
        Where data is looked for first.
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
        """Return the executor's name and the threads that each process starts with."""
        return {"executor": "processes", "threads_each": self.threads}

    def crowded(self, threads: int) -> str:
        """Say why trials of so many threads each would share cores; empty if they would not."""
        return crowding(self.slots, threads, usable_cores())

    def close(self) -> None:
        """End the processes."""
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.stop()

    def run(self, trials: Iterable[Trial], on_start: OnStart = lambda trial: None) -> Results:
        """Yield every trial with its result, in the order in which they end."""
        idle: SimpleQueue[Worker] = SimpleQueue()
        for worker in self._started():
            idle.put(worker)

        def carry_out(trial: Trial) -> Result:
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
                    running[threads.submit(carry_out, trial)] = trial

            try:
                fill()
                while running:
                    ended = wait(running, return_when=FIRST_COMPLETED).done
                    finished = [(running.pop(future), future.result()) for future in ended]
                    fill()  # no process waits while results are written
                    yield from finished
            except BaseException:
                # what is under way is lost, and nobody waits for it
                self.close()
                for future in running:
                    future.exception()
                raise

    def _started(self) -> list[Worker]:
        """Return the processes, new ones where there are none."""
        if not self._workers:
            self._workers = [
                Worker(self._data_dir, self._limits, self.threads, beside=self.slots > 1)
                for _ in range(self.slots)
            ]
        return self._workers
