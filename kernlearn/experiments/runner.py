"""Carry out the trials that a store lacks, and keep each as it ends."""

import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kernlearn.experiments.environment import describe_environment
from kernlearn.experiments.interrupts import Interrupts
from kernlearn.experiments.plan import Plan, Trial
from kernlearn.experiments.store import Result, Store, utc_now
from kernlearn.experiments.trial import run_trial


@dataclass(frozen=True)
class RunSummary:
    """What became of the trials of a plan.

    Attributes
    ----------
    total, cached, done, failed : int
        All trials; those that the store had; those that this run finished, or saw fail.
    """

    total: int
    cached: int
    done: int
    failed: int


def pending(plan: Plan, store: Store, *, force: bool = False) -> list[Trial]:
    """Return the trials without numbers in the store, or all; a failed one has none."""
    if force:
        return list(plan.trials)
    results = store.get(t.key for t in plan.trials)
    return [t for t in plan.trials if t.key not in results or not results[t.key].done]


def run_plan(
    plan: Plan,
    store: Store,
    *,
    data_dir: Path | None = None,
    jobs: int = 1,
    force: bool = False,
    on_result: Callable[[Trial, Result], None] = lambda trial, result: None,
) -> RunSummary:
    """Run what a store lacks of a plan.

    Parameters
    ----------
    plan : Plan
    store : Store
        Every finished trial is written here at once, by this process.
    data_dir : Path, optional
        Where data is looked for first.
    jobs : int, default=1
        Processes. Times measured beside other trials are marked as such.
    force : bool, default=False
        Run trials again that the store has.
    on_result : callable
        Called with a trial and its result after it is written.

    Returns
    -------
    RunSummary
    """
    todo = pending(plan, store, force=force)
    done = failed = 0
    if todo:
        experiment = plan.experiment
        run = store.begin_run(experiment.name, experiment.profile, jobs, describe_environment())
        with Interrupts() as interrupts:
            for trial, result in _results(todo, data_dir, jobs):
                store.put(run, trial, result)
                done += result.done
                failed += not result.done
                on_result(trial, result)
                interrupts.check()
    return RunSummary(len(plan.trials), len(plan.trials) - len(todo), done, failed)


def _results(
    trials: list[Trial], data_dir: Path | None, jobs: int
) -> Iterator[tuple[Trial, Result]]:
    if jobs == 1:
        for trial in trials:
            yield trial, execute(trial, data_dir)
        return
    from joblib import Parallel, delayed

    by_key = {t.key: t for t in trials}
    parallel = Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch="n_jobs")
    for result in parallel(delayed(execute)(t, data_dir, beside=True) for t in trials):
        yield by_key[result.key], result


def execute(trial: Trial, data_dir: Path | None, *, beside: bool = False) -> Result:
    """Run one trial; an exception becomes a failed result.

    Parameters
    ----------
    trial : Trial
    data_dir : Path or None
        Where data is looked for first.
    beside : bool, default=False
        Whether other trials run at the same time: noted with the times.

    Returns
    -------
    Result
    """
    started, clock = utc_now(), time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            outcome = run_trial(trial, data_dir)
    except Exception as error:  # whatever a method raises is a row, and the run goes on
        return Result(
            trial.key,
            "failed",
            started,
            time.perf_counter() - clock,
            error=f"{type(error).__name__}: {error}",
            traceback=traceback.format_exc(),
        )
    said = Counter(f"{w.category.__name__}: {w.message}" for w in caught)
    contended = bool(outcome.info.pop("disturbed", False)) or beside
    return Result(
        trial.key,
        "done",
        started,
        time.perf_counter() - clock,
        metrics=outcome.metrics,
        info={**outcome.info, "contended": contended, "warnings": dict(said)},
    )
