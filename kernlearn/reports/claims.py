"""A claim's check in words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from kernlearn.experiments.config.claims import BOUNDS, COMPARISONS, Check, Claim, LabelValue
from kernlearn.experiments.config.model import ExperimentConfig
from kernlearn.reports.claim_cells import (
    Cell,
    asked_cells,
    compared_cells,
    metric_rows,
    whole_cells,
)
from kernlearn.reports.claim_tests import (
    FAILS,
    HOLDS,
    UNDECIDED,
    Region,
    Standing,
    average,
    best_methods,
    claimed_region,
    decide,
    enough,
    paired_interval,
)
from kernlearn.reports.summary import direction

_RELATIONS = {
    "better": "better than",
    "as_good": "as good as",
    "close": "close to",
    "not_better": "not shown to be better than",
    "not_worse": "not shown to be worse than",
    "indistinguishable": "not shown to differ from",
}
_OVER = {
    "all": "in all cells",
    "all_but_one": "in all cells but one",
    "most": "in most cells",
    "some": "in some cell",
    "average": "on average over the cells",
}
_MARGINS = {
    "better": (" by more than {:g}", " by more than {:g} times"),
    "as_good": (" but for {:g}", " but for a factor of {:g}"),
    "close": (" within {:g}", ""),
    "not_better": (" by more than {:g}", ""),
    "not_worse": (" by more than {:g}", " by more than {:g} times"),
    "indistinguishable": (" by more than {:g}", ""),
}


def check_text(check: Check) -> str:
    """Say in words what a check asks of the results.

    Parameters
    ----------
    check : Check

    Returns
    -------
    str

    Examples
    --------
    >>> check_text(Check(metric="mse", better=["RegLand-Sp"], than=["KR"], over="all"))
    'mse: RegLand-Sp better than KR, in all cells'
    """
    parts = [_question(check), _over(check.over)]
    parts += [f"averaged over {_joined(check.mean_over)}"] if check.mean_over else []
    parts += [f"each with its own {_joined(check.across)}"] if check.across else []
    where = [f"{label} is {_joined(_listed(v), 'or')}" for label, v in check.where.items()]
    parts += [f"where {' and '.join(where)}"] if where else []
    parts += [f"level {check.level:g}"] if check.level != 0.05 else []
    return f"{check.metric.replace('_', ' ')}: {'; '.join([', '.join(parts[:2]), *parts[2:]])}"


def _question(check: Check) -> str:
    if check.question == "among_best":
        return f"{_joined(check.among_best)} among the best"
    if check.question in COMPARISONS:
        names, margins = getattr(check, check.question), _MARGINS[check.question]
        margin = margins[0].format(check.by) if check.by else ""
        margin = margins[1].format(check.times) if (check.times or 1) > 1 else margin
        slope = f", in its change with every doubling of {check.along}" if check.along else ""
        relation = _RELATIONS[check.question]
        return f"{_joined(names)} {relation} {_joined(check.than)}{margin}{slope}"
    subject = f"that of {_joined(check.of)} " if check.of else ""
    return f"{subject}{_bound(check)}"


def _bound(check: Check) -> str:
    if check.trend is not None:
        least = "at most" if check.trend == "flat" else "more than"
        change = f" by {least} {check.by:g}" if check.by else ""
        change = f" by {least} {check.times:g} times" if (check.times or 1) > 1 else change
        return f"{check.trend}{change} with every doubling of {check.along}"
    if check.between is not None:
        return "between {:g} and {:g}".format(*check.between)
    question = next(name for name in BOUNDS if getattr(check, name) is not None)
    return f"{question} {getattr(check, question):g}"


def _over(over: str | float) -> str:
    if isinstance(over, str):
        return _OVER[over]
    part = f"{over} cells" if isinstance(over, int) else f"{100 * over:g} % of the cells"
    return f"in at least {part}"


def _listed(values: Any) -> list[Any]:
    return values if isinstance(values, list) else [values]


def _joined(names: Iterable[Any], word: str = "and") -> str:
    *first, last = map(str, names)
    return f"{', '.join(first)} {word} {last}" if first else last


#: What cells are called that are in, open and out of the claimed region.
_STANDINGS = {
    "better": ("better", "even", "worse"),
    "as_good": ("as good", "open", "behind"),
    "close": ("close", "open", "apart"),
    "not_better": ("worse", "even", "better"),
    "not_worse": ("better", "even", "worse"),
    "indistinguishable": ("close", "even", "different"),
}
_ORDER: tuple[Standing, ...] = ("in", "open", "out")
# Of more cells than these the names would hide the numbers.
_MOST_NAMES = 8


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
    check : str
        What was asked, in words.
    """

    says: str
    section: str
    outcome: str
    numbers: str
    check: str = ""


def decide_claims(runs: pd.DataFrame, config: ExperimentConfig) -> list[Decision]:
    """Decide every claim of an experiment.

    :class:`~kernlearn.experiments.config.claims.Check` says what can be asked, and
    :mod:`~kernlearn.reports.claim_tests` how it is decided. Methods, or values of another label,
    are compared within cells in which all else is the same, on the same splits. Where a claim
    names several methods, each is decided by itself, against each of those under ``than``, and
    the worst outcome is the claim's. ``among_best`` counts the cells in which the method is the
    best or not significantly worse, as the tables set it in bold.

    Parameters
    ----------
    runs : pandas.DataFrame
        From :func:`~kernlearn.reports.remarks.tidy_runs`.
    config : ExperimentConfig

    Returns
    -------
    list of Decision
    """
    return [_decide(runs, claim, config) for claim in config.claims]


def _decide(runs: pd.DataFrame, claim: Claim, config: ExperimentConfig) -> Decision:
    check, better = claim.check, direction(claim.check.metric, config)
    rows = metric_rows(runs, check.metric, config)
    if check.question == "among_best":
        found = [_among_best(rows, check, config, better, name) for name in check.among_best]
    elif check.question in COMPARISONS:
        pairs = product(getattr(check, check.question), check.than)
        found = [
            _judged(
                compared_cells(rows, check, one, other, better), check, f"{one} against {other}"
            )
            for one, other in pairs
        ]
    else:
        names: Sequence[LabelValue | None] = check.of or [None]
        found = [_judged(asked_cells(rows, check, n), check, str(n or "")) for n in names]
    outcome = _claims_joined({outcome for outcome, _ in found})
    numbers = "; ".join(text for _, text in found)
    return Decision(claim.says, claim.section, outcome, numbers, check_text(check))


def _judged(cells: Sequence[Cell], check: Check, subject: str) -> tuple[str, str]:
    region = claimed_region(check)
    outcome = decide(cells, check, region)
    if not cells:
        numbers = "not measured"
    elif check.over == "average":
        numbers = f"{_interval_text(average(cells), check)} on average over {len(cells)} cells"
    elif len(cells) == 1 and (check.times is None or check.trend is not None):
        numbers = f"{_interval_text(cells[0], check)} in {cells[0].name}, the only cell"
    else:
        numbers = _counts_text(cells, check, region)
    return outcome, f"{subject}: {numbers}" if subject else numbers


def _interval_text(cell: Cell, check: Check) -> str:
    """Give the mean with its confidence interval."""
    values = cell.values.to_numpy(dtype=float)
    numbers = [values.mean(), *paired_interval(values, check.level)]
    if check.times is None:
        sign = "+" if check.question in COMPARISONS or check.trend else ""
        middle, low, high = (f"{number:{sign}.3g}" for number in numbers)
    else:
        middle, low, high = (f"×{np.exp2(number):.3g}" for number in numbers)
    unit = " a doubling" if check.along is not None else ""
    return f"{middle} [{low}, {high}]{unit}"


def _counts_text(cells: Sequence[Cell], check: Check, region: Region) -> str:
    standings = [region.standing(cell.values, check.level) for cell in cells]
    words = _standings(check)
    counts = [f"{word} in {standings.count(s)}" for word, s in zip(words, _ORDER, strict=True)]
    out = [c for c, standing in zip(cells, standings, strict=True) if standing == "out"]
    text = ", ".join(counts)
    if out:
        named = ", ".join(f"{c.name} {_effect(c, check)}".strip() for c in out[:_MOST_NAMES])
        more = f" and {len(out) - _MOST_NAMES} more" if len(out) > _MOST_NAMES else ""
        text += f" ({named}{more})"
    text += f" of {len(cells)} cells"
    k = enough(check.over, len(cells))
    if k > len(cells):
        text += f", {k} asked for"
    return f"{text}, {_range(cells, check)}"


def _standings(check: Check) -> tuple[str, str, str]:
    if check.question in ("not_better", "not_worse") and (check.by or check.times):
        wrong = _STANDINGS[check.question][2]
        return f"no {wrong}", "even", wrong
    if check.question in _STANDINGS:
        return _STANDINGS[check.question]
    if check.trend is not None:
        return check.trend, "open", f"not {check.trend}"
    if check.between is not None:
        return "between {:g} and {:g}".format(*check.between), "open", "outside"
    if check.below is not None:
        return f"below {check.below:g}", "open", "above"
    return f"above {check.above:g}", "open", "below"


def _range(cells: Sequence[Cell], check: Check) -> str:
    """Say between which numbers the effects lie."""
    ordered = sorted(cells, key=lambda cell: cell.effect)
    ends = [f"{_effect(c, check)} ({c.name})" if c.name else _effect(c, check) for c in ordered]
    unit = " a doubling" if check.along is not None else ""
    return f"{ends[0]} to {ends[-1]}{unit}" if len(ends) > 1 else f"{ends[0]}{unit}"


def _effect(cell: Cell, check: Check) -> str:
    if check.times is not None:
        return f"×{cell.effect:.3g}"
    sign = "+" if check.question in COMPARISONS or check.trend else ""
    return f"{cell.effect:{sign}.3g}"


def _among_best(
    rows: pd.DataFrame, check: Check, config: ExperimentConfig, better: int, method: LabelValue
) -> tuple[str, str]:
    held = [
        method in best_methods(cell, better, check.level)
        for cell in whole_cells(rows[rows["method"].isin(config.compared)], check)
        # of one split nothing is significant
        if cell.loc[cell["method"] == method, "split"].nunique() > 1
    ]
    text = f"{method}: in {sum(held)} of {len(held)} cells"
    k = enough(check.over, len(held))
    if not held or k > len(held):
        return UNDECIDED, text
    return HOLDS if sum(held) >= k else FAILS, text


def _claims_joined(outcomes: set[str]) -> str:
    """Return the outcome of a claim that is made of several: the worst of theirs."""
    return next((worst for worst in (FAILS, UNDECIDED) if worst in outcomes), HOLDS)
