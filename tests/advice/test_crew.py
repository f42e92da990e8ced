"""Processes that measure, and are stopped."""

import time

from kernlearn.advice.crew import Crew
from kernlearn.advice.fitting import Fitter, Job
from tests.advice.conftest import candidate


def test_jobs_in_processes_give_what_they_give_here_and_are_stopped_at_the_deadline(problem):
    quick = [Job(candidate("a"), (0, 1, 2), 133, split, 60.0) for split in range(2)]
    slow = Job(candidate("b"), (0,) * 1_000_000, 3600, 0, 60.0)
    with Crew(problem, 1, [job.candidate for job in quick]) as crew:
        done = dict(crew.run(quick))
        here = Fitter(problem)
        for job in quick:
            assert [one.setting for one in done[job].fitted] == [0, 1, 2]
            for there, mine in zip(done[job].fitted, here.run(job).fitted, strict=True):
                assert there.score == mine.score
                assert (there.losses == mine.losses).all()
        crew.deadline = time.monotonic() + 0.3
        found = list(crew.run([slow, quick[0]]))
        assert found == [(slow, None), (quick[0], None)]
        assert time.monotonic() < crew.deadline + 5
