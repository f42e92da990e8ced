"""The advice: which candidate to use with which parameters, and what speaks for it."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kernlearn.advice.candidates import Candidate, shortlist
from kernlearn.advice.crew import Alone, Crew
from kernlearn.advice.extrapolation import QUANTILE, Estimate, Mean
from kernlearn.advice.measuring import Round, measure
from kernlearn.advice.records import Record, difference
from kernlearn.advice.samples import Problem, make_problem
from kernlearn.exceptions import DataError

#: The largest difference of expected scores that does not matter, as a share.
TIE = 0.005


@dataclass(frozen=True, eq=False)
class Verdict:
    """What was found about a candidate.

    Attributes
    ----------
    candidate : Candidate
    rows : int
        The most rows that it was trained on.
    n_splits : int
        The splits that its score is a mean of.
    score : Mean
        Its score there.
    full : Estimate
        The score that is expected at full size.
    fit_seconds : Estimate
        CPU seconds of a fit at full size.
    predict_seconds : float
        CPU seconds of the prediction of a row, after training on `rows` rows.
    settings : dict
        The parameters chosen.
    dropped : str
        Why it was not measured on more rows; empty if it was measured on all.
    not_converged, n_fits : int
        The fits whose solver did not converge, and all fits.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernlearn.advice import advise
    >>> X, y = load_iris(return_X_y=True)
    >>> best = advise(X, y, classification=True, seconds=1, n_jobs=0).best
    >>> best.score.value > 0.8, best.rows <= 150, best.n_splits > 0
    (True, True, True)
    """

    candidate: Candidate
    rows: int
    n_splits: int
    score: Mean
    full: Estimate
    fit_seconds: Estimate
    predict_seconds: float
    settings: dict[str, Any]
    dropped: str
    not_converged: int
    n_fits: int

    @property
    def name(self) -> str:
        """The name of the candidate."""
        return self.candidate.name


@dataclass(frozen=True)
class Tie:
    """A candidate that cannot be told from the best.

    `difference` is how much better the best scored on the same test rows, when both were trained
    on so many `rows`.
    """

    verdict: Verdict
    difference: Mean
    rows: int


@dataclass(frozen=True)
class Advice:
    """What to use for a data set.

    Attributes
    ----------
    problem : Problem
    verdicts : list of Verdict
        Of all candidates that were measured, the best expected score first.
    failed : dict of str to str
        Candidates without any measurement, and why.
    left_out : dict of str to str
        Candidates that do not apply, and why.
    errors : dict of str to int
        Errors of single settings, with their numbers.
    chosen : Verdict
        The one to use.
    best : Verdict
        The one with the best expected score among those whose fit takes no longer than allowed.
    ties : list of Tie
        Those that cannot be told from it.
    runner_up : Verdict or None
        The best other one.
    too_slow : list of Verdict
        Those whose fit is expected to take longer than allowed.
    seconds : float
        What the measurements took.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kernlearn.advice import advise
    >>> X, y = load_iris(return_X_y=True)
    >>> found = advise(X, y, classification=True, seconds=1, n_jobs=0)
    >>> found.chosen in found.verdicts
    True
    >>> len(found.verdicts) + len(found.failed) + len(found.left_out)
    11
    """

    problem: Problem
    verdicts: list[Verdict]
    failed: dict[str, str]
    left_out: dict[str, str]
    errors: dict[str, int]
    chosen: Verdict
    best: Verdict
    ties: list[Tie]
    runner_up: Verdict | None
    too_slow: list[Verdict]
    seconds: float

    @property
    def methods(self) -> dict[str, dict[str, Any]]:
        """Entries of a config: the method to use, the runner-up, a linear one and a constant."""
        linear = next((v for v in self.verdicts if v.candidate.linear), None)
        wanted = [v for v in (self.chosen, self.runner_up, linear) if v is not None]
        entries = {v.name: v.candidate.entry_with(v.settings, around=True) for v in wanted}
        if self.problem.classification:
            return {**entries, "majority": {"estimator": "DummyClassifier", "baseline": True}}
        return {**entries, "mean": {"estimator": "DummyRegressor", "baseline": True}}


def advise(
    X: Any,
    y: np.ndarray,
    *,
    classification: bool,
    seconds: float = 60.0,
    fit_seconds: float = 600.0,
    n_jobs: int = 1,
    seed: int = 0,
    candidates: Sequence[Candidate] | None = None,
    on_round: Callable[[Round], None] = lambda done: None,
) -> Advice:
    """Measure a shortlist of methods on samples of a data set, and choose one.

    Parameters
    ----------
    X : {ndarray, sparse matrix} of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Codes of classes, or numbers.
    classification : bool
    seconds : float, default=60
        Time for the measurements, after processes are started and have loaded what they need.
    fit_seconds : float, default=600
        The longest fit at full size that is allowed.
    n_jobs : int, default=1
        Processes that measure at the same time, on one thread each. With 0 the current process
        measures, and no fit is stopped before it ends.
    seed : int, default=0
        Seed of the sample, the splits and the methods.
    candidates : sequence of Candidate, default=None
        Taken instead of the shortlist.
    on_round : callable
        Called with each ``kernlearn.advice.measuring.Round``.

    Returns
    -------
    Advice

    Raises
    ------
    DataError
        If there are too few rows, or one target only, or no candidate could be measured in time.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from kernlearn.advice import advise
    >>> X, y = load_wine(return_X_y=True)
    >>> found = advise(X, y, classification=True, seconds=1, n_jobs=0)
    >>> found.best.score.value > 0.9
    True
    """
    problem = make_problem(X, y, classification=classification, seed=seed)
    known = shortlist(problem.facts) if candidates is None else list(candidates)
    applying = [candidate for candidate in known if not candidate.left_out]
    workers: Crew | Alone
    workers = Crew(problem, n_jobs, applying) if n_jobs else Alone(problem)
    with workers:
        start = time.monotonic()
        workers.deadline = start + seconds
        records = measure(problem, applying, workers, workers.deadline, on_round)
    left_out = {c.name: c.left_out for c in known if c.left_out}
    return _choose(problem, records, left_out, fit_seconds, time.monotonic() - start)


def _choose(
    problem: Problem,
    records: Sequence[Record],
    left_out: dict[str, str],
    fit_seconds: float,
    seconds: float,
) -> Advice:
    """Choose among measured candidates, see :class:`Advice`."""
    failed = {r.candidate.name: r.dropped for r in records if not r.sizes}
    measured = {r.candidate.name: r for r in records if r.sizes}
    if not measured:
        reasons = "; ".join(dict.fromkeys(failed.values()))
        raise DataError(
            f"no method could be measured in {seconds:.0f} s; with more time some may ({reasons})"
        )
    verdicts = [_verdict(record) for record in measured.values()]
    verdicts.sort(key=lambda v: -v.full.value)
    fast = [v for v in verdicts if v.fit_seconds.value <= fit_seconds]
    # nothing is fast enough: then what is fastest
    eligible = fast or [min(verdicts, key=lambda v: v.fit_seconds.value)]
    best = eligible[0]
    ties = []
    for verdict in eligible[1:]:
        paired = difference(measured[best.name], measured[verdict.name])
        if paired is None or best.full.value - verdict.full.value > TIE:
            continue
        mean, rows = paired
        if mean.value - QUANTILE * mean.error <= 0:
            ties.append(Tie(verdict, mean, rows))
    chosen = min([best, *(tie.verdict for tie in ties)], key=lambda v: v.predict_seconds)
    others = [v for v in eligible if v is not chosen]
    errors: dict[str, int] = {}
    for record in records:
        for text, times in record.errors.items():
            errors[f"{record.candidate.name}: {text}"] = times
    return Advice(
        problem,
        verdicts,
        failed,
        left_out,
        errors,
        chosen,
        best,
        ties,
        others[0] if others else None,
        [v for v in verdicts if v not in fast],
        seconds,
    )


def _verdict(record: Record) -> Verdict:
    size = record.last
    return Verdict(
        record.candidate,
        size,
        len(record.losses(size)),
        record.score(size),
        record.full,
        record.fit_seconds,
        record.predict_seconds,
        record.candidate.settings[record.ranked(size)[0]],
        record.dropped,
        record.not_converged,
        record.n_fits,
    )
