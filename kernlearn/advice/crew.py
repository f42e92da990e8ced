"""Processes that measure candidates, and that can be stopped in the middle of a fit."""

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent import futures
from typing import Any, Self

from kernlearn.advice.candidates import Candidate
from kernlearn.advice.fitting import Done, Fitter, Job, make_estimator
from kernlearn.advice.samples import Problem
from kernlearn.experiments.engine.environment import THREAD_VARIABLES
from kernlearn.experiments.engine.own_process import deaf_processes, depend_on_parent
from kernlearn.experiments.executors.local import STAYING

# Seconds between two looks at the time of the jobs.
_LOOK = 0.05
# A job may take so many times its limit, and the seconds of a first fit, before it is stopped.
_PATIENCE = 2.0
_FIRST_FIT = 10.0

_fitters: list[Fitter] = []


class Crew:
    """Processes on one thread each, one job at a time.

    They are started, and have loaded what they need, when the block is entered.

    Parameters
    ----------
    problem : Problem
        Sent to each process once.
    n_processes : int
    candidates : sequence of Candidate
        Those whose estimators are loaded.

    Attributes
    ----------
    deadline : float
        The value of :func:`time.monotonic` after which nothing runs.
    """

    def __init__(
        self, problem: Problem, n_processes: int, candidates: Sequence[Candidate] = ()
    ) -> None:
        self.deadline = float("inf")
        self._problem = problem
        self._candidates = list(candidates)
        self._pools: list[Any] = [None] * n_processes
        # a candidate's first job in a process imports and compiles what it needs
        self._begun: list[set[str]] = [set() for _ in self._pools]

    def __enter__(self) -> Self:
        try:
            with deaf_processes(pool=True):
                pools = map(self._pool, range(self.size))
                started = [pool.submit(_load, self._candidates) for pool in pools]
            for one in started:
                one.result()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for place in range(len(self._pools)):
            self._stop(place)

    @property
    def size(self) -> int:
        """The number of processes."""
        return len(self._pools)

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Done | None]]:
        """Yield each job with what became of it, None if it was stopped; in the order of ending.

        After the deadline all others are stopped too, also those that have not begun.
        """
        waiting = list(jobs)[::-1]
        running: dict[futures.Future[Done], tuple[int, Job, float]] = {}
        while waiting or running:
            busy = {place for place, _, _ in running.values()}
            for place in range(self.size):
                if waiting and place not in busy and time.monotonic() < self.deadline:
                    job = waiting.pop()
                    running[self._submit(place, job)] = (place, job, self._until(place, job))
            if not running:
                break
            futures.wait(running, _LOOK, futures.FIRST_COMPLETED)
            now = time.monotonic()
            for future in list(running):
                place, job, until = running[future]
                if future.done():
                    del running[future]
                    yield job, self._result(future, place)
                elif now > min(until, self.deadline):
                    del running[future]
                    self._stop(place)
                    yield job, None
        yield from ((job, None) for job in reversed(waiting))

    def _submit(self, place: int, job: Job) -> "futures.Future[Done]":
        with deaf_processes(pool=True):
            future: futures.Future[Done] = self._pool(place).submit(_run, job)
        return future

    def _pool(self, place: int) -> Any:
        """Return the pool of one process at a place, starting it if there is none."""
        from loky.process_executor import ProcessPoolExecutor

        if self._pools[place] is None:
            env = dict.fromkeys(THREAD_VARIABLES, "1") | STAYING
            self._pools[place] = ProcessPoolExecutor(
                1, env=env, initializer=_begin, initargs=(os.getpid(), self._problem)
            )
        return self._pools[place]

    def _until(self, place: int, job: Job) -> float:
        """Return the time at which a job is stopped."""
        first = job.candidate.name not in self._begun[place]
        self._begun[place].add(job.candidate.name)
        return time.monotonic() + _PATIENCE * job.limit + (_FIRST_FIT if first else 0.0)

    def _result(self, future: "futures.Future[Done]", place: int) -> Done | None:
        """Return the result of a job; a process that has died is replaced by the next job's."""
        from loky.process_executor import BrokenProcessPool

        try:
            return future.result()
        except BrokenProcessPool as error:
            self._stop(place)
            reason = str(error).partition("\n")[0]
            return Done(errors=(f"its process died: {reason}",))

    def _stop(self, place: int) -> None:
        pool, self._pools[place] = self._pools[place], None
        self._begun[place].clear()
        if pool is not None:
            pool.shutdown(wait=False, kill_workers=True)


class Alone:
    """Jobs in the current process: the least overhead, and no job is stopped within a fit.

    Parameters
    ----------
    problem : Problem

    Attributes
    ----------
    deadline : float
        The value of :func:`time.monotonic` after which no job begins.
    """

    size = 1

    def __init__(self, problem: Problem) -> None:
        self.deadline = float("inf")
        self._fitter = Fitter(problem)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Done | None]]:
        for job in jobs:
            late = time.monotonic() > self.deadline
            yield job, None if late else self._fitter.run(job)


def _begin(parent: int, problem: Problem) -> None:
    depend_on_parent(parent)
    _fitters[:] = [Fitter(problem)]


def _load(candidates: Sequence[Candidate]) -> None:
    for candidate in candidates:
        make_estimator(candidate, 0, 0)


def _run(job: Job) -> Done:
    return _fitters[0].run(job)
