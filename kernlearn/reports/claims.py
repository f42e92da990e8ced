"""Claims of a paper: decided from the results, and described in words."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, isfinite, log2
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from kernlearn.experiments.config.claims import BOUNDS, COMPARISONS, Check, Claim, LabelValue
from kernlearn.experiments.config.model import ExperimentConfig
from kernlearn.reports import claim_cells, significance
from kernlearn.reports.significance import FAILS, HOLDS, UNDECIDED, Cell, Region
from kernlearn.reports.summary import direction


class _Question(NamedTuple):
    """Words of a question, and its region in multiples of ``by``."""

    relation: str
    margin: tuple[str, str]
    inside: str
    outside: str
    low: float = -inf
    high: float = inf
    presumed: bool = False


_MORE = (" by more than {:g}", " by a factor of more than {:g}")
_WITHIN = (" within {:g}", " within a factor of {:g}")
_QUESTIONS = {
    "better": _Question("better than", _MORE, "better", "worse", 1),
    "as_good": _Question("as good as", _WITHIN, "as good", "worse", -1),
    "close": _Question("close to", _WITHIN, "close", "apart", -1, 1),
    "not_better": _Question(
        "not shown to be better than", _MORE, "worse", "better", -inf, 1, True
    ),
    "not_worse": _Question("not shown to be worse than", _MORE, "better", "worse", -1, inf, True),
    "indistinguishable": _Question(
        "not shown to differ from", _MORE, "close", "different", -1, 1, True
    ),
    "rising": _Question("rising", _MORE, "rising", "not rising", 1),
    "falling": _Question("falling", _MORE, "falling", "not falling", -inf, -1),
    "flat": _Question("flat", _WITHIN, "flat", "not flat", -1, 1),
}
_OVER = {
    "all": "in all cells",
    "all_but_one": "in all cells but one",
    "most": "in most cells",
    "some": "in at least one cell",
    "average": "on average over the cells",
}
# The names of more cells would hide the numbers.
_MOST_NAMES = 8


@dataclass(frozen=True)
class Decision:
    """The outcome of a claim, with its text, the numbers that decided it, and its check."""

    says: str
    section: str
    outcome: str
    numbers: str
    check: str = ""


def decide_claims(runs: pd.DataFrame, config: ExperimentConfig) -> list[Decision]:
    """Decide every claim of an experiment.

    :class:`~kernlearn.experiments.config.claims.Check` documents the questions, and
    :mod:`~kernlearn.reports.significance` the tests. Methods, or values of another label, are
    compared within cells in which all else is the same, on the same splits. If a claim names
    several methods, each is decided by itself, against each of those under ``than``, and the
    worst outcome is that of the claim. ``among_best`` counts the cells in which the method is
    the best or not significantly worse, as the tables show it in bold.

    Parameters
    ----------
    runs : pandas.DataFrame
        From :func:`~kernlearn.reports.summary.tidy_runs`.
    config : ExperimentConfig

    Returns
    -------
    list of Decision
    """
    return [_decide(runs, claim, config) for claim in config.claims]


def _decide(runs: pd.DataFrame, claim: Claim, config: ExperimentConfig) -> Decision:
    check, better = claim.check, direction(claim.check.metric, config)
    rows = claim_cells.metric_rows(runs, check.metric, config)
    if check.question == "among_best":
        rows = rows[rows["method"].isin(config.compared)]
        parts = [_among_best(rows, check, better, method) for method in check.among_best]
    else:
        parts = [_in_region(*sample, check) for sample in _samples(rows, check, better)]
    outcomes = [outcome for outcome, _ in parts]
    worst = next((worst for worst in (FAILS, UNDECIDED) if worst in outcomes), HOLDS)
    numbers = "; ".join(text for _, text in parts)
    return Decision(claim.says, claim.section, worst, numbers, check_text(check))


def _among_best(
    rows: pd.DataFrame, check: Check, better: int, method: LabelValue
) -> tuple[str, str]:
    best = [
        method in significance.best_methods(cell, better, check.level)
        for cell in claim_cells.whole_cells(rows, check)
        # nothing is significant on a single split
        if cell.loc[cell["method"] == method, "split"].nunique() > 1
    ]
    needed = significance.cells_needed(check.over, len(best))
    outcome = HOLDS if sum(best) >= needed else FAILS
    outcome = outcome if best and needed <= len(best) else UNDECIDED
    return outcome, f"{method}: in {sum(best)} of {len(best)} cells"


def _samples(
    rows: pd.DataFrame, check: Check, better: int
) -> Iterator[tuple[str, Sequence[Cell]]]:
    """Yield each comparison, or each method whose metric is asked for, with its cells."""
    if check.question in COMPARISONS:
        for one, other in product(getattr(check, check.question), check.than):
            cells = claim_cells.compared_cells(rows, check, one, other, better)
            yield f"{one} against {other}: ", cells
    for name in check.of:
        yield f"{name}: ", claim_cells.asked_cells(rows, check, name)
    if check.question in BOUNDS and not check.of:
        yield "", claim_cells.asked_cells(rows, check)


def _in_region(subject: str, cells: Sequence[Cell], check: Check) -> tuple[str, str]:
    """Decide whether cells are in the claimed region; return the outcome and its numbers."""
    region = claimed_region(check)
    if not cells:
        text = "not measured"
    elif check.over == "average":
        mean = _interval_text(significance.average(cells), check)
        text = f"{mean} on average over {len(cells)} cells"
    elif len(cells) == 1 and (check.times is None or check.trend is not None):
        text = f"{_interval_text(cells[0], check)} in {cells[0].name}, the only cell"
    else:
        text = _counts_text(cells, check, region)
    return significance.decide(cells, check, region), subject + text


def claimed_region(check: Check) -> Region:
    """Return where a check expects the values of its cells.

    For a comparison these are differences in favour of the first method, for a trend slopes.
    """
    if check.between is not None:
        return Region(*check.between)
    if check.below is not None:
        return Region(high=check.below)
    if check.above is not None:
        return Region(low=check.above)
    by = check.by if check.times is None or check.trend is None else log2(check.times)
    asked = _QUESTIONS[check.trend or check.question]
    low, high = (limit * by if isfinite(limit) else limit for limit in (asked.low, asked.high))
    return Region(low, high, asked.presumed)


def check_text(check: Check) -> str:
    """Describe in words what a check asks of the results.

    Examples
    --------
    >>> check_text(Check(metric="mse", better=["RegLand-Sp"], than=["KR"], over="all"))
    'mse: RegLand-Sp better than KR, in all cells'
    """
    parts = [f"{check.metric.replace('_', ' ')}: {_question(check)}, {_over(check.over)}"]
    parts += [f"averaged over {_joined(check.mean_over)}"] if check.mean_over else []
    parts += [f"{_joined(check.across)} may differ"] if check.across else []
    where = [
        f"{label} is {_joined(values if isinstance(values, list) else [values], 'or')}"
        for label, values in check.where.items()
    ]
    parts += [f"where {' and '.join(where)}"] if where else []
    parts += [f"level {check.level:g}"] if check.level != 0.05 else []
    return "; ".join(parts)


def _over(over: str | float) -> str:
    if isinstance(over, str):
        return _OVER[over]
    part = f"{over} cells" if isinstance(over, int) else f"{100 * over:g} % of the cells"
    return f"in at least {part}"


def _question(check: Check) -> str:
    if check.question == "among_best":
        return f"{_joined(check.among_best)} among the best"
    doubling = f"per doubling of {check.along}" if check.along else ""
    if check.question in COMPARISONS:
        names, relation = getattr(check, check.question), _QUESTIONS[check.question].relation
        slope = f", in the change {doubling}" if doubling else ""
        return f"{_joined(names)} {relation} {_joined(check.than)}{_margin(check)}{slope}"
    bound = f"{check.trend}{_margin(check)} {doubling}" if check.trend else _limits(check)
    return f"{_joined(check.of)} {bound}" if check.of else bound


def _margin(check: Check) -> str:
    by, times = _QUESTIONS[check.trend or check.question].margin
    if (check.times or 1) > 1:
        return times.format(check.times)
    return by.format(check.by) if check.by else ""


def _limits(check: Check) -> str:
    if check.between is not None:
        return "between {:g} and {:g}".format(*check.between)
    return f"{check.question} {getattr(check, check.question):g}"


def _joined(names: Iterable[Any], word: str = "and") -> str:
    *first, last = map(str, names)
    return f"{', '.join(first)} {word} {last}" if first else last


def _standings(check: Check) -> tuple[str, str]:
    """Return the words for cells in and out of the claimed region."""
    if check.question in ("below", "above", "between"):
        outside = {"between": "outside", "below": "above", "above": "below"}
        return _limits(check), outside[check.question]
    asked = _QUESTIONS[check.trend or check.question]
    has_margin = check.question in ("not_better", "not_worse") and (check.by or check.times)
    return f"no {asked.outside}" if has_margin else asked.inside, asked.outside


def _counts_text(cells: Sequence[Cell], check: Check, region: Region) -> str:
    """Count the cells in and out of the region, name those out, and give the range."""
    inside, outside = _standings(check)
    standings = [region.standing(cell.values, check.level) for cell in cells]
    counts = [standings.count(standing) for standing in ("in", "open", "out")]
    text = f"{inside} in {counts[0]}, undecided in {counts[1]}, {outside} in {counts[2]}"
    out = [c for c, standing in zip(cells, standings, strict=True) if standing == "out"]
    if out:
        names = ", ".join(
            f"{c.name} {_number(c.effect, check)}".strip() for c in out[:_MOST_NAMES]
        )
        more = f" and {len(out) - _MOST_NAMES} more" if len(out) > _MOST_NAMES else ""
        text += f" ({names}{more})"
    text += f" of {len(cells)} cells"
    needed = significance.cells_needed(check.over, len(cells))
    text += f", {needed} required" if needed > len(cells) else ""
    ordered = sorted(cells, key=lambda cell: cell.effect)
    ends = [
        f"{_number(c.effect, check)} ({c.name})" if c.name else _number(c.effect, check)
        for c in (ordered if len(cells) == 1 else (ordered[0], ordered[-1]))
    ]
    return f"{text}, {' to '.join(ends)}{_unit(check)}"


def _interval_text(cell: Cell, check: Check) -> str:
    """Give a cell's mean with its confidence interval."""
    values = cell.values.to_numpy(dtype=float)
    numbers = [values.mean(), *significance.paired_interval(values, check.level)]
    mean, low, high = (
        _number(number if check.times is None else np.exp2(number), check) for number in numbers
    )
    return f"{mean} [{low}, {high}]{_unit(check)}"


def _number(value: float, check: Check) -> str:
    if check.times is not None:
        return f"×{value:.3g}"
    sign = "+" if check.question in COMPARISONS or check.trend else ""
    return f"{value:{sign}.3g}"


def _unit(check: Check) -> str:
    return " per doubling" if check.along is not None else ""
