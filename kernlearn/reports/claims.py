"""Sentences of a paper, decided by comparing methods over the results."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from kernlearn.experiments.config import Check, Claim, ExperimentConfig
from kernlearn.reports.significance import best_methods, paired, paired_interval

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"


@dataclass(frozen=True)
class Decision:
    """What the results say of a claim.

    Attributes
    ----------
    says, section : str
        The claim, and where the paper makes it.
    outcome : {"holds", "fails", "undecided"}
    numbers : str
        What decided it.
    """

    says: str
    section: str
    outcome: str
    numbers: str


def decide_claims(
    runs: pd.DataFrame, config: ExperimentConfig, better: dict[str, int]
) -> list[Decision]:
    """Decide every claim of an experiment.

    Methods are compared within cells: the same data set, kernel and parameters, on the same
    splits, by paired t-tests. In a cell A is *better* than B if the confidence interval of
    the difference lies above ``by``, *worse* if it lies below, else *even*.

    ``over: all`` holds if A is better in every cell and fails if it is worse in any.
    ``over: most`` holds if A is better in more than half of the cells, and fails if its mean is
    ahead in no more than half. ``over: average`` takes the mean over the cells, split by split:
    the claim holds if the confidence interval of that lies above ``by``, and fails if it lies
    below; ``not_better`` the other way round. ``among_best`` counts the cells in which the
    method is the best or not significantly worse. All else is undecided.

    Parameters
    ----------
    runs : pandas.DataFrame
        From :func:`~kernlearn.reports.runs.tidy_runs`.
    config : ExperimentConfig
    better : dict of str to int
        The good direction of each metric.

    Returns
    -------
    list of Decision
    """
    return [_decide(runs, claim, config, better[claim.check.metric]) for claim in config.claims]


def _decide(runs: pd.DataFrame, claim: Claim, config: ExperimentConfig, better: int) -> Decision:
    check = claim.check
    cells = list(_cells(runs, check))
    if check.among_best:
        outcome, numbers = _among_best(cells, check, config, better)
    else:
        decided = [
            _compare(cells, check, method, other, better)
            for method in check.better or check.not_better
            for other in check.than
        ]
        numbers = "; ".join(text for _, text in decided)
        outcome = _joined({outcome for outcome, _ in decided})
    return Decision(claim.says, claim.section, outcome, numbers)


def _cells(runs: pd.DataFrame, check: Check) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield a name and the rows of each combination of labels but the method."""
    runs = runs[runs["metric"] == check.metric]
    for label, values in check.where.items():
        runs = runs[runs[label].isin(values if isinstance(values, list) else [values])]
    labels = [c for c in runs.columns if c not in ("method", "metric", "split", "value")]
    for values, cell in runs.groupby(labels, dropna=False, sort=False):
        yield _name(labels, values), cell


def _name(labels: list[str], values: tuple[Any, ...]) -> str:
    given = [(k, v) for k, v in zip(labels, values, strict=True) if not pd.isna(v)]
    return " ".join(str(v) if k == "dataset" else f"{k}={v}" for k, v in given if k != "kernel")


def _compare(
    cells: list[tuple[str, pd.DataFrame]], check: Check, method: str, other: str, better: int
) -> tuple[str, str]:
    gains = {name: better * paired(cell, method, other) for name, cell in cells}
    gains = {name: gain for name, gain in gains.items() if len(gain)}
    if not gains:
        return UNDECIDED, f"{method} against {other}: not measured"
    decide = _on_average if check.over == "average" else _cell_by_cell
    outcome, numbers = decide(gains, check)
    return outcome, f"{method} against {other}: {numbers}"


def _on_average(gains: dict[str, np.ndarray], check: Check) -> tuple[str, str]:
    n_splits = min(map(len, gains.values()))
    gain = np.mean([g[:n_splits] for g in gains.values()], axis=0)
    low, high = paired_interval(gain, check.level)
    numbers = f"{gain.mean():+.4f} [{low:+.4f}, {high:+.4f}] on average over {len(gains)} cells"
    above, below = low > check.by, high < check.by
    if check.not_better:
        above, below = high <= check.by, low > check.by
    return HOLDS if above else FAILS if below else UNDECIDED, numbers


def _cell_by_cell(gains: dict[str, np.ndarray], check: Check) -> tuple[str, str]:
    found = {name: _standing(gain, check) for name, gain in gains.items()}
    counts = Counter(found.values())
    ahead = sum(gain.mean() > check.by for gain in gains.values())
    numbers = f"better in {counts['better']}, even in {counts['even']}, worse in {counts['worse']}"
    worse = [f"{name} {gains[name].mean():+.3f}" for name, is_ in found.items() if is_ == "worse"]
    if worse:
        numbers += f" ({', '.join(worse)})"
    if check.over == "all":
        holds, fails = counts["better"] == len(found), counts["worse"] > 0
    else:
        holds, fails = 2 * counts["better"] > len(found), 2 * ahead <= len(found)
    return HOLDS if holds else FAILS if fails else UNDECIDED, f"{numbers} of {len(found)} cells"


def _standing(gain: np.ndarray, check: Check) -> str:
    low, high = paired_interval(gain, check.level)
    return "better" if low > check.by else "worse" if high < check.by else "even"


def _among_best(
    cells: list[tuple[str, pd.DataFrame]], check: Check, config: ExperimentConfig, better: int
) -> tuple[str, str]:
    outcomes, texts = set(), []
    for method in check.among_best:
        held = [
            method in best_methods(cell[cell["method"].isin(config.compared)], better, check.level)
            for _, cell in cells
            if method in set(cell["method"])
        ]
        texts.append(f"{method}: in {sum(held)} of {len(held)} cells")
        if not held:
            outcomes.add(UNDECIDED)
        else:
            enough = all(held) if check.over == "all" else 2 * sum(held) > len(held)
            outcomes.add(HOLDS if enough else FAILS)
    return _joined(outcomes), "; ".join(texts)


def _joined(outcomes: set[str]) -> str:
    """Return the outcome of a claim that is made of several: the worst of theirs."""
    return next((worst for worst in (FAILS, UNDECIDED) if worst in outcomes), HOLDS)
