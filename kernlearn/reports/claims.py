"""Claims of a paper: decided from the results, and described in words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, isfinite, log2
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from kernlearn.config.claims import BOUNDS, COMPARISONS, Check, Claim
from kernlearn.config.model import ExperimentConfig
from kernlearn.reports import claim_cells, significance
from kernlearn.reports.significance import (
    FAILS,
    NOT_MEASURED,
    OUTCOMES,
    AmongBest,
    Cell,
    Region,
)
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


_CONTRADICTED = "the paper's own numbers contradict it"
_WORST_FIRST = (FAILS, NOT_MEASURED, *OUTCOMES[OUTCOMES.index(FAILS) - 1 :: -1])


@dataclass(frozen=True)
class Decision:
    """The outcome of a claim.

    Attributes
    ----------
    says, section : str
        The claim, and the section of the paper.
    outcome : str
        One of :data:`~kernlearn.reports.significance.OUTCOMES`.
    numbers : str
        The numbers that decided it.
    check : str
        The check in words.
    on_reported : str
        Whether the paper's own reported numbers agree; empty where they do not cover the claim.
    """

    says: str
    section: str
    outcome: str
    numbers: str
    check: str = ""
    on_reported: str = ""

    @property
    def contradicted(self) -> bool:
        """Whether the paper's own numbers contradict the claim."""
        return self.on_reported.startswith(_CONTRADICTED)


def decide_claims(
    runs: pd.DataFrame, config: ExperimentConfig, reported: pd.DataFrame | None = None
) -> list[Decision]:
    """Decide every claim of an experiment.

    :class:`~kernlearn.config.claims.Check` documents the questions, and
    :mod:`~kernlearn.reports.significance` the tests. Methods, or values of another label, are
    compared within cells in which all else is the same, on the same splits. If a claim names
    several methods, each is decided by itself, against each of those under ``than``, and the
    worst outcome is that of the claim.

    Parameters
    ----------
    runs : pandas.DataFrame
        From :func:`~kernlearn.reports.summary.tidy_runs`.
    config : ExperimentConfig
    reported : pandas.DataFrame, optional
        The paper's numbers in the form of ``runs``, from
        :func:`~kernlearn.reports.summary.reported_runs`. A claim is also held against them.
    """
    return [_decide(runs, claim, config, reported) for claim in config.claims]


def worst_outcome(outcomes: Sequence[str]) -> str:
    """Return the outcome of a whole from those of its parts.

    One part that fails refutes it; else nothing is known of it if nothing is known of a part.
    """
    return next(outcome for outcome in _WORST_FIRST if outcome in outcomes)


class _Part(NamedTuple):
    """One comparison, or one method, that a claim is about."""

    subject: str
    cells: Sequence[Cell]
    region: Region | AmongBest


def _decide(
    runs: pd.DataFrame, claim: Claim, config: ExperimentConfig, reported: pd.DataFrame | None
) -> Decision:
    check, rows = claim.check, metric_rows(runs, claim.check.metric, config)
    wanted = _wanted_datasets(check, config)
    missing = [name for name in wanted if name not in set(rows["dataset"])]
    parts, outcomes = _parts(rows, check, config), []
    for part in parts:
        # as many cells of each data set that is missing as of those that are not
        n_missing = round(len(part.cells) / max(len(wanted) - len(missing), 1) * len(missing))
        outcomes.append(significance.decide(part.cells, check, part.region, n_missing))
    numbers = "; ".join(part.subject + _part_text(part, check) for part in parts)
    if missing:
        numbers += f"; not measured: {', '.join(missing)}"
    outcome = worst_outcome(outcomes)
    text = "" if reported is None else _on_reported(reported, check, config)
    return Decision(claim.says, claim.section, outcome, numbers, check_text(check), text)


def _wanted_datasets(check: Check, config: ExperimentConfig) -> list[str]:
    """Return the data sets that a claim counts, none where it takes means over them."""
    if "dataset" in (check.compare, *check.across, *check.mean_over) or check.over == "average":
        return []
    wanted = check.where.get("dataset", list(config.datasets))
    return [str(name) for name in (wanted if isinstance(wanted, list) else [wanted])]


def _on_reported(reported: pd.DataFrame, check: Check, config: ExperimentConfig) -> str:
    """Hold a claim against the paper's own numbers; empty where they do not cover it."""
    rows = reported[reported["metric"] == check.metric]
    parts = _parts(
        rows if len(rows) else metric_rows(reported, check.metric, config), check, config
    )
    no_margin = not (check.margin or check.by or (check.times or 1) > 1)
    if not all(part.cells for part in parts) or (parts[0].region.presumed and no_margin):
        return ""
    agrees = all(significance.leans_for(part.cells, check, part.region) for part in parts)
    counts = [
        f"{part.subject}in {sum(map(part.region.has, part.cells))} of {len(part.cells)} cells"
        for part in parts
        if check.over != "average"
    ]
    text = "the paper's own numbers agree" if agrees else _CONTRADICTED
    return f"{text}: {'; '.join(counts)}" if counts else text


def _parts(rows: pd.DataFrame, check: Check, config: ExperimentConfig) -> list[_Part]:
    """Return the cells of each comparison, or of each method whose metric is asked for."""
    better = direction(check.metric, config)
    if check.question == "among_best":
        cells = claim_cells.whole_cells(rows[rows["method"].isin(config.compared)], check)
        return [
            _Part(
                f"{method}: ",
                [c for c in cells if method in c.values and c.values[method].notna().any()],
                AmongBest(str(method), better, check.margin),
            )
            for method in check.among_best
        ]
    region = claimed_region(check)
    if check.question in COMPARISONS:
        sides: claim_cells.Sides = {}
        return [
            _Part(
                f"{one} against {other}: ",
                claim_cells.compared_cells(rows, check, one, other, better, sides),
                region,
            )
            for one, other in product(getattr(check, check.question), check.than)
        ]
    parts = [
        _Part(f"{name}: ", claim_cells.asked_cells(rows, check, name), region) for name in check.of
    ]
    return parts or [_Part("", claim_cells.asked_cells(rows, check), region)]


def _part_text(part: _Part, check: Check) -> str:
    """Return the numbers of one comparison or method."""
    cells = part.cells
    if not cells:
        return "not measured"
    if isinstance(part.region, AmongBest):
        standings = [part.region.standing(cell, check.level) for cell in cells]
        among, first = len(cells) - standings.count("out"), sum(map(part.region.has, cells))
        return f"not significantly worse in {among} of {len(cells)} cells, best mean in {first}"
    if check.over == "average":
        mean = _interval_text(significance.average(cells), check)
        return f"{mean} on average over {len(cells)} cells"
    if len(cells) == 1 and (check.times is None or check.trend is not None):
        return f"{_interval_text(cells[0], check)} in {cells[0].name}, the only cell"
    return _counts_text(cells, check, part.region)


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
    return Region(low, high, asked.presumed, check.margin)


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
    if check.margin:
        return f" (equal: within {check.margin:g})"
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
    standings = [region.standing(cell, check.level) for cell in cells]
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
    numbers = [cell.mean_and_error[0], *cell.interval(check.level)]
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
