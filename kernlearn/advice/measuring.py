"""Successive halving: candidates are measured on more and more rows while time is left."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from kernlearn.advice.candidates import Candidate
from kernlearn.advice.extrapolation import QUANTILE
from kernlearn.advice.fitting import Done, Job
from kernlearn.advice.records import Record, align, difference
from kernlearn.advice.samples import FACTOR, Problem

# What is measured of a candidate at a size: numbers of settings, the best ones at the size before,
# and of splits. The first that its share of the time allows is taken.
_EFFORTS = ((6, 3), (4, 3), (3, 3), (3, 2), (2, 2), (1, 2), (1, 1))
# A job may take so many times what is expected.
_SLACK = 3.0
_LEAST_LIMIT = 0.5
# Points, as a share, by which a candidate must be behind for each multiplication of the rows that
# is left, besides the noise, to be dropped: learning curves cross.
_BEHIND = 0.01
# Splits on which those that are left are compared in the end, and settings of each.
_MOST_SPLITS = 20
_FINAL_SETTINGS = 2
# A candidate that is further behind, besides a standard error, needs no further splits.
_CLOSE = 0.005


class Workers(Protocol):
    """Carries out jobs: :class:`~kernlearn.advice.crew.Crew` or ``Alone``."""

    @property
    def size(self) -> int:
        """The number of jobs at a time."""

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[Job, Done | None]]:
        """Yield each job with what became of it, None if it was stopped."""


@dataclass(frozen=True)
class Round:
    """What was measured on training parts of one size, for those who watch."""

    size: int
    n_candidates: int
    n_fits: int
    seconds: float
    final: bool = False


def measure(
    problem: Problem,
    candidates: Sequence[Candidate],
    workers: Workers,
    deadline: float,
    on_round: Callable[[Round], None] = lambda done: None,
) -> list[Record]:
    """Measure candidates until the deadline.

    All take the same splits, and at each size the same training rows. After each size those are
    dropped that are expected to be worse at full size than the best by more than noise, and those
    that have no time on more rows.

    Parameters
    ----------
    problem : Problem
    candidates : sequence of Candidate
    workers : Workers
    deadline : float
        A value of :func:`time.monotonic`.
    on_round : callable
        Called after each size, and after the further splits of those that are left.

    Returns
    -------
    list of Record
        In the order of the candidates.
    """
    records = [Record(candidate, problem) for candidate in candidates]
    active, sizes = list(records), problem.sizes
    for i, size in enumerate(sizes):
        start = time.monotonic()
        if start >= deadline or not active:
            _drop(active, f"no time for {size} rows")
            break
        # one share of the time for each size that is left, and one for further splits
        share = (deadline - start) * workers.size / (len(sizes) - i + 1)
        if i == 0:
            n_fits = _carry_out(_first_jobs(active, size, share), active, workers, deadline)
            share -= (time.monotonic() - start) * workers.size
            jobs = _second_jobs(active, size, share)
        else:
            n_fits, jobs = 0, _jobs(active, size, share)
        n_fits += _carry_out(jobs, active, workers, deadline)
        on_round(Round(size, len(active), n_fits, time.monotonic() - start))
        active = [record for record in active if not record.dropped]
        if size < sizes[-1]:
            active = _left(active)
    largest = max((record.last for record in records if record.sizes), default=0)
    reached = [record for record in records if record.sizes and record.last == largest]
    if reached:
        _compare_longer(reached, largest, workers, deadline, on_round)
    align(records)
    return records


def _first_jobs(records: Sequence[Record], size: int, share: float) -> list[Job]:
    """Return the jobs that tell what candidates cost: all settings on one split."""
    limit = max(share / len(records), _LEAST_LIMIT)
    return [
        Job(record.candidate, tuple(range(len(record.candidate.settings))), size, 0, limit)
        for record in records
    ]


def _second_jobs(records: Sequence[Record], size: int, share: float) -> list[Job]:
    """Return jobs on further splits at the same size, as far as time allows."""
    jobs: list[Job] = []
    known = [record for record in records if not record.dropped]
    costs = {id(record): record.cost(size) for record in known}
    in_order = sorted(known, key=lambda record: costs[id(record)])
    for i, record in enumerate(in_order):
        settings = tuple(record.ranked(size))
        cost = costs[id(record)] * len(settings)
        n_splits = min(int(share / (len(in_order) - i) / cost), _EFFORTS[0][1] - 1)
        share -= max(n_splits, 0) * cost
        limit = max(_SLACK * cost, _LEAST_LIMIT)
        jobs += [
            Job(record.candidate, settings, size, split, limit) for split in range(1, n_splits + 1)
        ]
    return sorted(jobs, key=lambda job: job.split)


def _jobs(records: Sequence[Record], size: int, share: float) -> list[Job]:
    """Divide the time among candidates; cheap ones leave theirs to the others.

    First each has one fit; one that has no time for it is dropped. Of what is left the better half
    has twice the share.
    """
    jobs: list[Job] = []
    costs = {id(record): record.cost(size) for record in records}
    better = sorted(records, key=lambda record: -record.full.value)[: (len(records) + 1) // 2]
    weights = {id(record): 2 if record in better else 1 for record in records}
    in_order = []
    for record in sorted(records, key=lambda record: costs[id(record)]):
        cost = costs[id(record)]
        if cost > share:
            _drop([record], f"would take about {cost:.2g} s for each fit to {size} rows")
            continue
        share -= cost
        in_order.append(record)
    for i, record in enumerate(in_order):
        cost, ranked = costs[id(record)], record.ranked(record.last)
        total = sum(weights[id(other)] for other in in_order[i:])
        slice_ = cost + max(share, 0) * weights[id(record)] / total
        settings, n_splits = next(
            (ranked[:n_settings], n_splits)
            for n_settings, n_splits in _EFFORTS
            if min(n_settings, len(ranked)) * n_splits * cost <= slice_
        )
        share -= (len(settings) * n_splits - 1) * cost
        limit = max(_SLACK * cost * len(settings), _LEAST_LIMIT)
        jobs += [
            Job(record.candidate, tuple(settings), size, split, limit) for split in range(n_splits)
        ]
    # every candidate has its first split before any has its second
    return sorted(jobs, key=lambda job: job.split)


def _carry_out(
    jobs: Sequence[Job], records: Sequence[Record], workers: Workers, deadline: float
) -> int:
    """Carry out jobs and add their results to the records; return the number of fits.

    A candidate without any result is dropped.
    """
    by_name = {record.candidate.name: record for record in records}
    stopped: dict[str, str] = {}
    n_fits = 0
    for job, done in workers.run(jobs):
        name = job.candidate.name
        if done is None:
            late = time.monotonic() >= deadline
            why = "the time was up" if late else "took longer than its share of the time"
            stopped[name] = f"{why} at {job.size} rows"
        else:
            by_name[name].add(job.size, job.split, done)
            n_fits += len(done.fitted)
    for name in dict.fromkeys(job.candidate.name for job in jobs):
        record = by_name[name]
        if not record.sizes or record.last < jobs[0].size:
            failed = next(iter(record.errors), f"took too long at {jobs[0].size} rows")
            _drop([record], stopped.get(name, failed))
    return n_fits


def _left(records: Sequence[Record]) -> list[Record]:
    """Drop candidates that are expected to be worse at full size, and return the others."""
    if not records:
        return []
    expected = {id(record): record.full.value for record in records}
    best = max(records, key=lambda record: expected[id(record)])
    left = []
    for record in records:
        behind = expected[id(best)] - expected[id(record)]
        size, n_full = record.last, record.problem.n_full
        steps = max(float(np.log(n_full / size) / np.log(FACTOR)), 1.0)
        paired = difference(best, record)
        noise = QUANTILE * paired[0].error if paired is not None else 0.0
        # after one size nothing is known of what a candidate gains with more rows
        if len(record.sizes) > 1 and behind > noise + _BEHIND * steps:
            _drop([record], f"expected to be {100 * behind:.1f} points behind after {size} rows")
        else:
            left.append(record)
    return left


def _compare_longer(
    records: Sequence[Record],
    size: int,
    workers: Workers,
    deadline: float,
    on_round: Callable[[Round], None],
) -> None:
    """Measure those that are close to the best on further splits at the largest size."""
    start, n_fits, n_compared = time.monotonic(), 0, 0
    for split in range(_EFFORTS[0][1], _MOST_SPLITS):
        close = _close(records)
        if len(close) < 2:
            break
        left = (deadline - time.monotonic()) * workers.size
        jobs = []
        for record in close:
            settings = tuple(record.ranked(size)[:_FINAL_SETTINGS])
            limit = max(_SLACK * record.cost(size) * len(settings), _LEAST_LIMIT)
            jobs.append(Job(record.candidate, settings, size, split, limit))
        costs = [len(j.settings) * r.cost(size) for j, r in zip(jobs, close, strict=True)]
        if sum(costs) > left:
            break
        n_compared = max(n_compared, len(close))
        n_fits += _carry_out(jobs, close, workers, deadline)
    if n_fits:
        on_round(Round(size, n_compared, n_fits, time.monotonic() - start, final=True))


def _close(records: Sequence[Record]) -> list[Record]:
    """Return the candidates that more splits might show to be the best."""
    align(records)
    best = max(records, key=lambda record: record.full.value)
    compared = [(record, difference(best, record)) for record in records]
    return [
        record
        for record, paired in compared
        if paired is None or paired[0].value - paired[0].error <= _CLOSE
    ]


def _drop(records: Iterable[Record], reason: str) -> None:
    for record in records:
        record.dropped = record.dropped or reason
