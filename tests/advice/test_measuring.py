"""Which candidates are measured on which rows."""

import time

from kernlearn.advice.measuring import measure
from tests.advice.conftest import Made, candidate


def measured(problem, workers, seconds=3600.0):
    rounds = []
    candidates = [candidate(name) for name in workers.scores]
    deadline = time.monotonic() + seconds
    records = measure(problem, candidates, workers, deadline, rounds.append)
    return {record.candidate.name: record for record in records}, rounds


def test_all_take_the_same_splits_and_the_worse_are_dropped(problem):
    workers = Made(
        problem,
        {
            "good": lambda n: 0.9,
            "close": lambda n: 0.899,
            "bad": lambda n: 0.6,
        },
    )
    found, rounds = measured(problem, workers)
    assert problem.sizes == [133, 400, 1200, 3600]
    assert found["good"].sizes == found["close"].sizes == problem.sizes
    # what it gains with more rows is known from two sizes
    assert found["bad"].sizes == problem.sizes[:2]
    assert found["bad"].dropped == "expected to be 30.0 points behind after 400 rows"
    assert not found["good"].dropped
    first = {(j.candidate.name, j.split) for j in workers.jobs if j.size == 133}
    assert first == {(name, split) for name in found for split in range(3)}
    assert [r.size for r in rounds] == [*problem.sizes, 3600]
    assert rounds[-1].final
    # those that are close are compared on further splits, the settings that are best
    assert len(found["good"].losses(3600)) == 20
    assert found["good"].ranked(3600)[0] == 1


def test_one_that_gains_with_more_rows_is_kept(problem):
    curves = {"flat": lambda n: 0.8, "steep": lambda n: {133: 0.5, 400: 0.7}.get(n, 0.85)}
    found, _ = measured(problem, Made(problem, curves))
    assert found["steep"].sizes == problem.sizes
    best = max(found.values(), key=lambda record: record.full.value)
    assert best is found["steep"]


def test_slow_ones_get_fewer_settings_and_splits_and_are_dropped_in_the_end(problem):
    workers = Made(
        problem,
        {"fast": lambda n: 0.9, "slow": lambda n: 0.9, "slowest": lambda n: 0.9},
        {"fast": 1e-5, "slow": 2e-3, "slowest": 1e-1},
    )
    found, _ = measured(problem, workers, seconds=60)
    assert found["fast"].sizes == problem.sizes
    assert found["slowest"].sizes == [133]
    assert found["slowest"].dropped == "would take about 32 s for each fit to 400 rows"
    assert found["slow"].sizes == problem.sizes
    fits = [len(j.settings) for j in workers.jobs if j.candidate.name == "slow" and j.size == 3600]
    assert 0 < sum(fits[:3]) < 9


def test_what_is_stopped_or_fails_is_dropped_with_the_reason(problem):
    def stops(n):
        return 0.9 if n < 1200 else None

    found, _ = measured(
        problem, Made(problem, {"good": lambda n: 0.9, "stops": stops, "never": lambda n: None})
    )
    assert found["stops"].dropped == "took longer than its share of the time at 1200 rows"
    assert found["stops"].sizes == [133, 400]
    assert found["never"].sizes == []
    assert found["never"].dropped.endswith("at 133 rows")


def test_without_time_nothing_is_measured(problem):
    workers = Made(problem, {"good": lambda n: 0.9})
    found, rounds = measured(problem, workers, seconds=-1.0)
    assert found["good"].dropped == "no time for 133 rows"
    assert not workers.jobs
    assert not rounds
