"""Sentences of a paper, decided by comparing methods over the results."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
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

    Methods, or values of another label, are compared within cells in which all else is the
    same, on the same splits, by paired t-tests. In a cell A is *better* than B if the
    confidence interval of the difference lies above ``by``, *worse* if it lies below ``-by``
    (where ``better`` is asked: below ``by``), else *even*.

    ``better`` over ``all`` holds if A is better in every cell and fails if it is worse in any;
    over ``most`` it holds if A is better in more than half of the cells, and fails if its mean
    is ahead in no more than half; over a number, the same with at least so many cells.
    ``not_worse`` and ``indistinguishable`` (neither better nor worse) over ``all`` fail if a
    single cell says otherwise, over ``most`` if half of them do, over a number if fewer cells
    are left, else hold: a test does not show that two are equal, only that no difference was
    found. Over ``all``, a cell refutes if its test does at ``level`` divided by the number of
    cells, or together with others if more of them say otherwise than chance gives (the binomial
    law at ``level``, which takes cells for independent),
    so that many cells do not refute by chance.

    Over ``average`` the mean over the cells is taken, split by split: ``better`` holds if the
    confidence interval of that lies above ``by``, and fails if it lies below; ``not_better``
    the other way round; ``not_worse`` fails if it lies below ``-by``, ``indistinguishable`` if
    it does not meet ``[-by, by]``. ``among_best`` counts the cells in which the method is the
    best or not significantly worse. ``below`` asks the metric itself: it holds if each method's
    confidence interval in each cell lies below the number, and fails if one lies above. All else
    is undecided.

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
    elif check.below is not None:
        outcome, numbers = _below(cells, check, check.below)
    else:
        decided = [
            _compare(cells, check, one, other, better)
            for one in getattr(check, check.question)
            for other in check.than
        ]
        numbers = "; ".join(text for _, text in decided)
        outcome = _joined({outcome for outcome, _ in decided})
    return Decision(claim.says, claim.section, outcome, numbers)


def _cells(runs: pd.DataFrame, check: Check) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield a name and the rows of each combination of labels but the compared one."""
    runs = runs[runs["metric"] == check.metric]
    for label, values in check.where.items():
        runs = runs[runs[label].isin(values if isinstance(values, list) else [values])]
    apart = (check.compare, "metric", "split", "value")
    labels = [c for c in runs.columns if c not in apart]
    # what is one and the same everywhere names nothing
    naming = [c for c in labels if c == "dataset" or runs[c].nunique() > 1]
    for values, cell in runs.groupby(labels, dropna=False, sort=False):
        yield _name(dict(zip(labels, values, strict=True)), naming), cell


def _name(values: dict[str, Any], naming: list[str]) -> str:
    given = [(k, values[k]) for k in naming if k in values and not pd.isna(values[k])]
    plain = ("dataset", "kernel", "method")
    return " ".join(
        str(v) if k in plain else f"{k}={v:g}" if isinstance(v, Real) else f"{k}={v}"
        for k, v in given
    )


def _compare(
    cells: list[tuple[str, pd.DataFrame]], check: Check, one: str, other: str, better: int
) -> tuple[str, str]:
    gains = {name: better * paired(cell, one, other, check.compare) for name, cell in cells}
    gains = {name: gain for name, gain in gains.items() if len(gain)}
    if not gains:
        return UNDECIDED, f"{one} against {other}: not measured"
    decide = _on_average if check.over == "average" else _cell_by_cell
    outcome, numbers = decide(gains, check)
    return outcome, f"{one} against {other}: {numbers}"


def _on_average(gains: dict[str, np.ndarray], check: Check) -> tuple[str, str]:
    n_splits = min(map(len, gains.values()))
    gain = np.mean([g[:n_splits] for g in gains.values()], axis=0)
    low, high = paired_interval(gain, check.level)
    numbers = f"{gain.mean():+.4f} [{low:+.4f}, {high:+.4f}] on average over {len(gains)} cells"
    if check.question == "better":
        holds, fails = low > check.by, high < check.by
    elif check.question == "not_better":
        holds, fails = high <= check.by, low > check.by
    elif check.question == "not_worse":
        holds, fails = high >= -check.by, high < -check.by
    else:
        holds, fails = low <= check.by and high >= -check.by, low > check.by or high < -check.by
    return _outcome(holds, fails), numbers


def _cell_by_cell(gains: dict[str, np.ndarray], check: Check) -> tuple[str, str]:
    found = {name: _standing(gain, check, check.level) for name, gain in gains.items()}
    # what refutes by a single cell is held to a level for all cells together
    strict = [_standing(gain, check, check.level / len(gains)) for gain in gains.values()]
    counts, refuting = Counter(found.values()), Counter(strict)
    against = ["worse"] if check.question != "indistinguishable" else ["better", "worse"]
    numbers = f"better in {counts['better']}, even in {counts['even']}, worse in {counts['worse']}"
    differ = [f"{name} {gains[name].mean():+.3g}" for name, is_ in found.items() if is_ in against]
    if differ:
        numbers += f" ({', '.join(differ)})"
    n, n_against = len(found), sum(counts[standing] for standing in against)
    refuted = any(refuting[standing] for standing in against)
    refuted |= _beyond_chance(n_against, n, check.level * len(against) / 2, check.level)
    # more than half of the cells, or as many as the claim says
    enough = n // 2 + 1 if check.over == "most" else check.over
    if check.question != "better":
        holds = n - n_against >= enough if isinstance(enough, int) else not refuted
        fails = not holds
    elif isinstance(enough, int):
        ahead = sum(gain.mean() > check.by for gain in gains.values())
        holds, fails = counts["better"] >= enough, ahead < enough
    else:
        holds, fails = counts["better"] == n, refuted
    return _outcome(holds, fails), f"{numbers} of {n} cells"


def _below(cells: list[tuple[str, pd.DataFrame]], check: Check, most: float) -> tuple[str, str]:
    values = {
        f"{name} {one}": runs["value"].to_numpy()
        for name, cell in cells
        for one, runs in cell.groupby(check.compare, dropna=False, sort=False)
    }
    if not values:
        return UNDECIDED, "not measured"
    under = sum(paired_interval(v, check.level)[1] < most for v in values.values())
    # what refutes by a single cell is held to a level for all cells together
    strict = check.level / len(values)
    over = [name for name, v in values.items() if paired_interval(v, strict)[0] > most]
    highest = max(values, key=lambda name: values[name].mean())
    numbers = (
        f"below {most:g} in {under} of {len(values)} cells, at most {values[highest].mean():.3g}"
    )
    return _outcome(under == len(values), bool(over)), f"{numbers} ({', '.join(over) or highest})"


def _beyond_chance(count: int, n: int, probability: float, level: float) -> bool:
    """Whether so many of n cells differ that a binomial law hardly gives as many."""
    from scipy.stats import binom

    return bool(binom.sf(count - 1, n, probability) < level)


def _outcome(holds: bool, fails: bool) -> str:
    return HOLDS if holds else FAILS if fails else UNDECIDED


def _standing(gain: np.ndarray, check: Check, level: float) -> str:
    low, high = paired_interval(gain, level)
    # a gain has to reach what counts; a loss that does not count is none
    least = check.by if check.question == "better" else -check.by
    return "better" if low > check.by else "worse" if high < least else "even"


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
