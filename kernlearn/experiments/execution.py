"""A trial carried out so that whatever happens in it becomes a result."""

import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

from kernlearn.experiments.plan import Trial
from kernlearn.experiments.store import Result, utc_now


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
    # a coordinator that only hands trials on has no need of scikit-learn
    from kernlearn.experiments.trial import run_trial

    started, clock = utc_now(), time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            outcome = run_trial(trial, data_dir)
    except Exception as error:  # whatever a method raises is a row, and the run goes on
        return failure(
            trial, f"{type(error).__name__}: {error}", started, time.perf_counter() - clock,
            traceback.format_exc(),
        )  # fmt: skip
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


def failure(
    trial: Trial, error: str, started: str, seconds: float, trace: str | None = None
) -> Result:
    """Return the result of a trial that gave no numbers.

    Parameters
    ----------
    trial : Trial
    error : str
        What went wrong, in one line.
    started : str
        UTC, ISO 8601.
    seconds : float
        Wall time until it went wrong.
    trace : str, optional
        The traceback, where there is one.

    Returns
    -------
    Result
    """
    return Result(trial.key, "failed", started, seconds, error=error, traceback=trace)
