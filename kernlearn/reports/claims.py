"""Claims of a paper: decided from the results, and described in words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, isfinite, log2
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from kernlearn.experiments.config.claims import BOUNDS, COMPARISONS, Check, Claim, LabelValue
from kernlearn.experiments.config.model import ExperimentConfig
from kernlearn.reports import significance
from kernlearn.reports.significance import FAILS, HOLDS, UNDECIDED, Cell, Region
from kernlearn.reports.summary import direction, metric_rows


class _Question(NamedTuple):
    """Words of a question, and its region in multiples of ``by``, or of a bound.

    Without words of its own a cell inside the region is called by the relation.
    """

    relation: str
    inside: str
    outside: str
    low: float = -inf
    high: float = inf
    presumed: bool = False
    margin: tuple[str, str] = (" by more than {:g}", " by a factor of more than {:g}")


_WITHIN = (" within {:g}", " within a factor of {:g}")
_QUESTIONS = {
    "better": _Question("better than", "better", "worse", 1),
    "as_good": _Question("as good as", "as good", "worse", -1, margin=_WITHIN),
    "close": _Question("close to", "close", "apart", -1, 1, margin=_WITHIN),
    "not_better": _Question("not shown to be better than", "worse", "better", -inf, 1, True),
    "not_worse": _Question("not shown to be worse than", "better", "worse", -1, inf, True),
    "indistinguishable": _Question("not shown to differ from", "close", "different", -1, 1, True),
    "among_best": _Question("among the best", "", ""),
    "rising": _Question("rising", "", "not rising", 1),
    "falling": _Question("falling", "", "not falling", -inf, -1),
    "flat": _Question("flat", "", "not flat", -1, 1, margin=_WITHIN),
    "below": _Question("below {:g}", "", "above", -inf, 1),
    "above": _Question("above {:g}", "", "below", 1),
    "between": _Question("between {:g} and {:g}", "", "outside"),
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
    """Decide every claim of an experiment; ``runs`` are those of ``tidy_runs``.

    :class:`~kernlearn.experiments.config.claims.Check` documents the questions, and
    :mod:`~kernlearn.reports.significance` the tests. Methods, or values of another label, are
    compared within cells in which all else is the same, on the same splits. If a claim names
    several methods, each is decided by itself, against each of those under ``than``, and the
    worst outcome is that of the claim. ``among_best`` counts the cells in which the method is
    the best or not significantly worse, as the tables show it in bold.
    """
    return [_decide(runs, claim, config) for claim in config.claims]


def _decide(runs: pd.DataFrame, claim: Claim, config: ExperimentConfig) -> Decision:
    check, better = claim.check, direction(claim.check.metric, config)
    rows = metric_rows(runs, check.metric, config)
    if check.question == "among_best":
        rows = rows[rows["method"].isin(config.compared)]
        parts = [_among_best(rows, check, better, method) for method in check.among_best]
    else:
        samples = _samples(rows, check, better)
        parts = [_in_region(subject, cells, check) for subject, cells in samples.items()]
    outcomes = [outcome for outcome, _ in parts]
    worst = next((worst for worst in (FAILS, UNDECIDED) if worst in outcomes), HOLDS)
    numbers = "; ".join(text for _, text in parts)
    return Decision(claim.says, claim.section, worst, numbers, check_text(check))


def _among_best(
    rows: pd.DataFrame, check: Check, better: int, method: LabelValue
) -> tuple[str, str]:
    # nothing is significant on a single split
    cells = [
        cell
        for cell in significance.whole_cells(rows, check)
        if method in cell and cell[method].count() > 1
    ]
    count = sum(method in significance.best_methods(c, better, check.level) for c in cells)
    needed = significance.cells_needed(check.over, len(cells))
    outcome = HOLDS if count >= needed else FAILS
    outcome = outcome if cells and needed <= len(cells) else UNDECIDED
    return outcome, f"{method}: in {count} of {len(cells)} cells"


def _samples(rows: pd.DataFrame, check: Check, better: int) -> dict[str, list[Cell]]:
    """Return the cells of each comparison, or of each method whose metric is asked for."""
    if check.question in COMPARISONS:
        return {
            f"{a} against {b}: ": significance.compared_cells(rows, check, a, b, better)
            for a, b in product(getattr(check, check.question), check.than)
        }
    cells = {f"{name}: ": significance.asked_cells(rows, check, name) for name in check.of}
    return cells or {"": significance.asked_cells(rows, check)}


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
    asked, bound = _asked(check), getattr(check, check.question)
    if check.question == "between":
        return Region(*bound)
    unit = bound if check.question in ("below", "above") else check.by
    if check.trend and check.times:
        unit = log2(check.times)
    low, high = (limit * unit if isfinite(limit) else limit for limit in (asked.low, asked.high))
    return Region(low, high, asked.presumed)


def check_text(check: Check) -> str:
    """Describe in words what a check asks of the results.

    Examples
    --------
    >>> check_text(Check(metric="mse", better=["RegLand-Sp"], than=["KR"], over="all"))
    'mse: RegLand-Sp better than KR, in all cells'
    """
    names = check.of if check.question in BOUNDS else getattr(check, check.question)
    words = [_joined(names), _asked(check).relation, _joined(check.than)]
    text = f"{check.metric.replace('_', ' ')}: {' '.join(filter(None, words))}{_margin(check)}"
    if check.along is not None:
        text += f"{'' if check.trend else ', in the change'} per doubling of {check.along}"
    text += f", {_over(check.over)}"
    if check.mean_over:
        text += f"; averaged over {_joined(check.mean_over)}"
    if check.across:
        text += f"; {_joined(check.across)} may differ"
    if check.where:
        where = [
            f"{label} is {_joined(values if isinstance(values, list) else [values], 'or')}"
            for label, values in check.where.items()
        ]
        text += f"; where {' and '.join(where)}"
    return text if check.level == 0.05 else f"{text}; level {check.level:g}"


def _over(over: str | float) -> str:
    if isinstance(over, str):
        return _OVER[over]
    part = f"{over} cells" if isinstance(over, int) else f"{100 * over:g} % of the cells"
    return f"in at least {part}"


def _asked(check: Check) -> _Question:
    """Return the question of a check, bounds filled in."""
    asked = _QUESTIONS[check.trend or check.question]
    bounds = check.between or [getattr(check, check.question)]
    relation = asked.relation.format(*bounds)
    return asked._replace(relation=relation, inside=asked.inside or relation)


def _margin(check: Check) -> str:
    by, times = _asked(check).margin
    if (check.times or 1) > 1:
        return times.format(check.times)
    return by.format(check.by) if check.by else ""


def _joined(names: Iterable[Any], word: str = "and") -> str:
    *first, last = [*map(str, names)] or [""]
    return f"{', '.join(first)} {word} {last}" if first else last


def _counts_text(cells: Sequence[Cell], check: Check, region: Region) -> str:
    """Count the cells in and out of the region, name those out, and give the range."""
    asked = _asked(check)
    has_margin = check.question in ("not_better", "not_worse") and (check.by or check.times)
    inside = f"no {asked.outside}" if has_margin else asked.inside
    standings = [region.standing(cell.values, check.level) for cell in cells]
    counts = [standings.count(standing) for standing in ("in", "open", "out")]
    text = f"{inside} in {counts[0]}, undecided in {counts[1]}, {asked.outside} in {counts[2]}"
    out = [c for c, standing in zip(cells, standings, strict=True) if standing == "out"]
    if out:
        names = [f"{c.name} {_number(c.effect, check)}".strip() for c in out[:_MOST_NAMES]]
        more = f" and {len(out) - _MOST_NAMES} more" if len(out) > _MOST_NAMES else ""
        text += f" ({', '.join(names)}{more})"
    text += f" of {len(cells)} cells"
    needed = significance.cells_needed(check.over, len(cells))
    text += f", {needed} required" if needed > len(cells) else ""
    ordered = sorted(cells, key=lambda cell: cell.effect)
    ends = [
        f"{_number(c.effect, check)} ({c.name})".removesuffix(" ()")
        for c in (ordered[0], ordered[-1])[: len(cells)]
    ]
    return f"{text}, {' to '.join(ends)}{_unit(check)}"


def _interval_text(cell: Cell, check: Check) -> str:
    """Give a cell's mean with its confidence interval."""
    values = cell.values.to_numpy(dtype=float)
    numbers = [values.mean(), *significance.paired_interval(values, check.level)]
    numbers = numbers if check.times is None else np.exp2(numbers).tolist()
    mean, low, high = (_number(number, check) for number in numbers)
    return f"{mean} [{low}, {high}]{_unit(check)}"


def _number(value: float, check: Check) -> str:
    if check.times is not None:
        return f"×{value:.3g}"
    sign = "+" if check.question in COMPARISONS or check.trend else ""
    return f"{value:{sign}.3g}"


def _unit(check: Check) -> str:
    return " per doubling" if check.along is not None else ""
