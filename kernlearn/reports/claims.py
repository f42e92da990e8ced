"""Claims of a paper: decided from the splits, and described in words.

Methods, or values of another label, are compared within cells in which all else is the same, on
the same splits. A cell has values by split, whose mean has an interval by the corrected resampled
t-test (:mod:`~kernlearn.reports.statistics`); two methods are compared by differences. A claim
states a region for the mean. The cell is *in* if the interval lies inside the region, *out* if the
two do not meet, else *open*.

A claim about at least k of n cells *holds* if k or more are shown to be in, and *fails* if at
least n - k + 1 are shown to be out. n counts the cells of data sets that were not measured, too.
A claim about a mean over data sets some of which are missing neither holds nor fails.
To keep the probability of an error below ``level``, "at least k of n are in" counts as shown if k
cells are in when each is tested at ``level / (n - k + 1)``. Were fewer than k in truth, at least
one of n - k + 1 others would have to be an error (Benjamini & Heller 2008, Screening for partial
conjunction hypotheses, Biometrics 64). So each of *all* cells has to be in at plain ``level``, and
a single one refutes at ``level / n``, so that many cells do not refute by chance.

A claim that presumes the absence of a difference (*not worse*) cannot be shown by not finding
one. It fails as above, and holds if the intervals of k cells lie within a stated margin of
equality, which is an equivalence test. Otherwise it is *not refuted*, if it states no margin or
the means of enough cells are within it. Any other claim that neither holds nor fails *leans for*
or *against*, by the share of the cells whose means are in.

That a method *overtakes* another as a parameter grows is decided at its largest value. The name of
a cell says from which value on the method is shown to be ahead.

If a claim names several methods, each is decided by itself, and the worst outcome is that of the
claim; one of m comparisons refutes at ``level / m``. Where a part of the cells is enough, a cell
is in if the method is shown to be better than each of those under ``than``, and out if one of them
is shown to be better. Its name and number are those of the nearest.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from itertools import chain
from math import ceil, inf, isfinite, log, log2
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kernlearn.config.claims import COMPARISONS, Check, LabelValue
from kernlearn.config.model import ExperimentConfig
from kernlearn.config.plan import planned_labels
from kernlearn.config.values import cell_name
from kernlearn.reports import verdicts
from kernlearn.reports.cells import metric_rows
from kernlearn.reports.labels import MISSING, Values, values_of
from kernlearn.reports.statistics import Estimate, best_methods, parted, resampled
from kernlearn.yaml import dump_yaml

HOLDS, NOT_REFUTED, LEANS_FOR = "holds", "not refuted", "leans for"
LEANS_AGAINST, FAILS, NOT_MEASURED = "leans against", "fails", "not measured"

#: All outcomes of a claim, from good to bad; then those of one without results.
OUTCOMES = (HOLDS, NOT_REFUTED, LEANS_FOR, LEANS_AGAINST, FAILS, NOT_MEASURED, verdicts.NO_DATA)
#: Those that no test has decided.
OPEN = (NOT_REFUTED, LEANS_FOR, LEANS_AGAINST)


class Standing(IntEnum):
    """Where a mean is shown to be, of its region; the worst first."""

    OUT, OPEN, IN = range(3)


@dataclass(frozen=True)
class Cell:
    """One sample for a test, named by its labels without those that all cells share.

    The values, by split, are differences of two methods, a metric, or its slope. The effect is
    what a report shows: the mean of the values, or the factor by which two means differ. ``ratio``
    is that of the number of test rows to the number of training rows, ``drift`` how far the mean
    moves between processors. ``others`` are the same of other rivals, if all are asked for.
    """

    name: str
    values: Any
    effect: float
    ratio: float = 0.0
    drift: float = 0.0
    others: tuple["Cell", ...] = ()

    @cached_property
    def estimate(self) -> Estimate:
        """The mean of the values, with its standard error."""
        return resampled(self.values, self.ratio, self.drift)

    @property
    def n_splits(self) -> int:
        """The number of splits."""
        return int((self.values.index >= 0).sum())

    @property
    def lacks(self) -> bool:
        """Whether numbers that were planned are missing."""
        values = np.asarray(self.values, dtype=float)
        return bool(np.isinf(values).any() or (len(values) and np.isnan(values).all()))


@dataclass(frozen=True)
class Region:
    """Where a claim expects a mean.

    Attributes
    ----------
    low, high : float
        Its limits.
    presumed : bool
        Whether the claim presumes what no test refutes.
    margin : float
        How far beyond the limits a mean may be.
    """

    low: float = -inf
    high: float = inf
    presumed: bool = False
    margin: float = 0.0

    def standing(self, cell: Cell, level: float) -> Standing:
        """Return whether a mean is in or out of the region, by its confidence interval.

        Of several rivals one refutes, and each has to agree.
        """
        if cell.others:
            return min(self.standing(c, level) for c in (replace(cell, others=()), *cell.others))
        low, high = cell.estimate.interval(level)
        lowest, highest = self.low - self.margin, self.high + self.margin
        if high < lowest or low > highest:
            return Standing.OUT
        return Standing.IN if low > lowest and high < highest else Standing.OPEN

    def has(self, cell: Cell) -> bool:
        """Whether the mean of a cell is in the region, whatever its interval."""
        mean, low, high = cell.estimate.mean, self.low + cell.drift, self.high - cell.drift
        if self.presumed:
            return low - self.margin <= mean <= high + self.margin
        return low < mean < high and all(map(self.has, cell.others))


@dataclass(frozen=True)
class AmongBest:
    """That a method is the best of a cell, or within a margin of each other method.

    The values of a cell have a column per method.
    """

    method: str
    better: int
    margin: float = 0.0
    presumed: bool = True

    def standing(self, cell: Cell, level: float) -> Standing:
        """Return whether another method is better by more than the margin."""
        of_cell = cell.ratio, cell.drift
        best = best_methods(cell.values, self.better, level, *of_cell)
        ahead = [resampled(one, *of_cell).interval(level) for one in self._ahead(cell)]
        if self.method not in best and any(high < -self.margin for _, high in ahead):
            return Standing.OUT
        return Standing.IN if all(low > -self.margin for low, _ in ahead) else Standing.OPEN

    def has(self, cell: Cell) -> bool:
        """Whether the mean is the best, or within the margin of it, on any processor."""
        gains = [float(parted(ahead)[0].mean()) for ahead in self._ahead(cell)]
        return all(mean >= cell.drift - self.margin for mean in gains)

    def _ahead(self, cell: Cell) -> Iterator["pd.Series[float]"]:
        for other in cell.values.columns.drop(self.method):
            yield self.better * (cell.values[self.method] - cell.values[other])


#: Where a claim expects the values of a cell.
Expected = Region | AmongBest


def cells_needed(over: str | float, n: int) -> int:
    """Return in how many of n cells a claim has to be true; a fraction is rounded up.

    This is more than n if the check asks for more cells than there are.
    """
    if isinstance(over, int):
        return over
    if isinstance(over, float):
        # rounding of the product must not ask for one more
        return ceil(over * n - 1e-9)
    needed = {"all": n, "all_but_one": max(n - 1, 1), "most": n // 2 + 1, "some": 1, "average": n}
    return needed[over]


def decide(
    cells: Sequence[Cell], check: Check, region: Expected, n_missing: int = 0, n_parts: int = 1
) -> str:
    """Return one of :data:`OUTCOMES`, by the rules in this module's docstring.

    ``n_parts`` is the number of comparisons, any of which refutes the claim.
    """
    takes_mean = check.over == "average" or "dataset" in check.mean_over
    is_part = takes_mean and n_missing > 0
    if check.over == "average" and cells:
        # nothing is known of cells that share no split
        cells = [cell for cell in [average(cells)] if cell.n_splits]
    n = len(cells) + (0 if takes_mean else n_missing)
    k = cells_needed(check.over, n)
    if k > n or not cells:
        return NOT_MEASURED
    fails = _shown(cells, n, n - k + 1, Standing.OUT, region, check.level / n_parts)
    if fails and not is_part:
        return FAILS
    if _shown(cells, n, k, Standing.IN, region, check.level) and not is_part:
        return HOLDS
    leans = leans_for(cells, check, region, n_missing)
    tested = not fails and any(cell.n_splits > 1 for cell in cells)
    if region.presumed and tested and (leans or not region.margin):
        return NOT_REFUTED
    return LEANS_FOR if leans else LEANS_AGAINST


def leans_for(cells: Sequence[Cell], check: Check, region: Expected, n_missing: int = 0) -> bool:
    """Whether the means alone are in the region in as large a share of cells as a claim says."""
    if check.over == "average":
        return region.has(average(cells))
    n = len(cells) + n_missing
    return sum(map(region.has, cells)) * n >= cells_needed(check.over, n) * len(cells)


def average(cells: Sequence[Cell]) -> Cell:
    """Return the mean over cells, computed on the splits that all of them have."""
    values = pd.concat([cell.values for cell in cells], axis=1)
    is_root, knows = values.index < 0, [(cell.values.index < 0).any() for cell in cells]
    # rows of other data vary apart; of data whose rows are not known the splits alone are
    roots = values[is_root].fillna(0.0) if all(knows) else values[:0]
    values = pd.concat([values[~is_root].dropna(), roots]).mean(axis=1)
    effect, ratio = np.mean([(c.effect, c.ratio) for c in cells], axis=0).tolist()
    # cells drift one by one
    drift = float(np.linalg.norm([cell.drift for cell in cells])) / len(cells)
    return Cell("", values, effect, ratio, drift)


def _shown(
    cells: Sequence[Cell], n: int, k: int, standing: Standing, region: Expected, level: float
) -> bool:
    """Whether the tests show that at least k of n cells have a standing."""
    return [region.standing(cell, level / (n - k + 1)) for cell in cells].count(standing) >= k


# ---- questions, and their words ----


class _Question(NamedTuple):
    """What a cell inside and outside of the region is called, and the region.

    Its limits are multiples of ``by``, or of a bound.
    """

    inside: str
    outside: str
    low: float = -inf
    high: float = inf
    presumed: bool = False


_QUESTIONS = {
    "better": _Question("better", "worse", 1),
    "overtakes": _Question("ahead", "behind", 1),
    "as_good": _Question("as good", "worse", -1),
    "not_better": _Question("worse", "better", -inf, 1, True),
    "not_worse": _Question("better", "worse", -1, inf, True),
    "indistinguishable": _Question("close", "different", -1, 1, True),
    "rising": _Question("rising", "not rising", 1),
    "falling": _Question("falling", "not falling", -inf, -1),
    "flat": _Question("flat", "not flat", -1, 1),
    "below": _Question("below", "above", -inf, 1),
    "above": _Question("above", "below", 1),
    "between": _Question("inside", "outside"),
}
# The names of more cells would hide the numbers.
_MOST_NAMES = 8


#: What a text on the paper's own numbers begins with if they contradict the claim.
CONTRADICTED = "the paper's own numbers contradict it"
_WORST_FIRST = (FAILS, NOT_MEASURED, verdicts.NO_DATA, *OPEN[::-1], HOLDS)


#: Columns of the claims: what is said where, and whether by the paper, the outcome with the
#: numbers that decided it, the check, whether the paper's own numbers agree, empty where they do
#: not cover it, and a caveat.
COLUMNS = ["says", "section", "of_paper", "outcome", "numbers", "check", "on_reported", "caveat"]


def decide_claims(
    splits: pd.DataFrame, config: ExperimentConfig, reported: pd.DataFrame
) -> pd.DataFrame:
    """Decide every claim of an experiment, on data sets that are comparable with the paper's.

    :class:`~kernlearn.config.model.Check` documents the questions, this module the tests.

    Parameters
    ----------
    splits : pandas.DataFrame
        From :func:`~kernlearn.reports.rows.splits_of`.
    config : ExperimentConfig
    reported : pandas.DataFrame
        The paper's numbers in the same form, from
        :func:`~kernlearn.reports.cells.reported_splits`. A claim is also held against them.

    Returns
    -------
    pandas.DataFrame
        A row per claim, with the columns :data:`COLUMNS`.
    """
    comparable = {k: v for k, v in config.datasets.items() if k not in config.not_comparable}
    config = config.model_copy(update={"datasets": comparable})
    sides = [frame[frame["dataset"].isin(comparable)] for frame in (splits, reported)]
    metrics = dict.fromkeys(claim.check.metric for claim in config.claims)
    values = {metric: values_of(metric_rows(sides[0], metric, config)) for metric in metrics}
    rows = []
    for claim in config.claims:
        check = claim.check
        decided = _decide(values[check.metric], check, config)
        on_reported = _on_reported(sides[1], check, config)
        says = claim.says, claim.section, claim.of_paper
        rows.append([*says, *decided, check_text(check), on_reported, claim.caveat])
    return pd.DataFrame(rows, columns=COLUMNS)


def worst_outcome(outcomes: Sequence[str]) -> str:
    """Return the outcome of a whole from those of its parts.

    One part that fails refutes it; else nothing is known of it if nothing is known of a part.
    """
    return next(outcome for outcome in _WORST_FIRST if outcome in outcomes)


class _Part(NamedTuple):
    """One comparison, or one method, that a claim is about."""

    subject: str
    cells: Sequence[Cell]
    region: Expected


def _decide(values: Values, check: Check, config: ExperimentConfig) -> tuple[str, str]:
    """Return the outcome of a check, and the numbers that decide it."""
    named = check.where.get("dataset", [*config.datasets])
    asked = [str(name) for name in (named if isinstance(named, list) else [named])]
    asked = [name for name in asked if name in config.datasets]
    asked = [] if "dataset" in (check.compare, *check.across) else asked
    missing = [name for name in asked if name not in {*values.column("dataset")}]
    awaited = {*values.column("method")}
    if check.question == "among_best":  # also rivals of which nothing was measured
        awaited |= {name for name in config.compared if not config.methods[name].optional}
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = _parts(_with_gaps(values, awaited, config), check, config)
        gaps = [[cell.name for cell in part.cells if cell.lacks] for part in parts]
    if "dataset" in check.mean_over:  # the means lean without the data sets that are missing
        parts = _parts(values, check, config)

    parts = [part._replace(cells=[c for c in part.cells if not c.lacks]) for part in parts]
    texts = [part.subject + _part_text(part, check) for part in parts]
    texts += verdicts.missing_lines(missing, config)
    others = [k for k in dict.fromkeys(chain(*gaps)) if k.split(" ")[0] not in missing]
    texts += [f"not measured with all methods and values: {', '.join(others)}"] if others else []
    both = {*getattr(check, check.question), *check.than} if check.than else {""}
    if both <= {*values.column(check.compare)} and not any(
        [*missing, *others, *(p.cells for p in parts)]
    ):
        texts.append("no cell has both sides: `across` names labels in which they may differ")
    if missing == asked != [] and all(config.datasets[name].optional for name in asked):
        return verdicts.NO_DATA, verdicts.missing_lines(missing, config)[-1]
    each = zip(parts, map(len, gaps), strict=True)
    outcomes = [decide(p.cells, check, p.region, n_gaps, len(parts)) for p, n_gaps in each]
    return worst_outcome(outcomes), "; ".join(texts)


def _with_gaps(values: Values, methods: Collection[str], config: ExperimentConfig) -> Values:
    """Return values that tell where planned numbers of some methods are missing."""
    planned = dict.fromkeys(
        tuple(map(cell.get, values.names))
        for cell in planned_labels(config)
        if cell["method"] in methods
    )
    known = {*values.keys}
    gaps = [key for key in planned if key not in known and len(values.splits)]
    numbers = np.tile(np.where(values.is_split, MISSING, np.nan), (len(gaps), 1))
    return replace(
        values,
        keys=[*values.keys, *gaps],
        numbers=np.concatenate([values.numbers, numbers]),
        ratio=np.append(values.ratio, np.zeros(len(gaps))),
        drift=np.append(values.drift, np.zeros(len(gaps))),
    )


def _on_reported(reported: pd.DataFrame, check: Check, config: ExperimentConfig) -> str:
    """Hold a claim against the paper's own numbers; empty where they do not cover it."""
    rows = reported[reported["metric"] == check.metric]
    rows = rows if len(rows) else metric_rows(reported, check.metric, config)
    parts = _parts(values_of(rows), check, config)
    no_margin = not (check.margin or check.by or (check.times or 1) > 1)
    if not all(part.cells for part in parts) or (parts[0].region.presumed and no_margin):
        return ""
    agrees = all(leans_for(part.cells, check, part.region) for part in parts)
    counts = [
        f"{part.subject}in {sum(map(part.region.has, part.cells))} of {len(part.cells)} cells"
        for part in parts
        if check.over != "average"
    ]
    text = "the paper's own numbers agree" if agrees else CONTRADICTED
    return f"{text}: {'; '.join(counts)}" if counts else text


def _parts(values: Values, check: Check, config: ExperimentConfig) -> list[_Part]:
    """Return the cells of each comparison, or of each method whose metric is asked for."""
    better = verdicts.direction(check.metric, config)
    if check.question == "among_best":
        values = values.where(name in config.compared for name in values.column("method"))
        among = [AmongBest(str(method), better, check.margin) for method in check.among_best]
        return [_Part(f"{a.method}: ", whole_cells(values, check, a.method), a) for a in among]
    region = claimed_region(check)
    if check.question in COMPARISONS:
        cells_of = crossing_cells if check.question == "overtakes" else compared_cells
        in_part = check.question in ("better", "as_good") and check.over not in ("all", "average")
        parts = []
        for one in getattr(check, check.question):
            sides = [(str(k), cells_of(values, check, one, k, better)) for k in check.than]
            if in_part and len(sides) > 1:
                names, cells = zip(*sides, strict=True)
                sides = [(f"the best of {' and '.join(names)}", _nearest(cells))]
            parts += [_Part(f"{one} against {other}: ", cells, region) for other, cells in sides]
        return parts
    if check.of:
        return [_Part(f"{name}: ", asked_cells(values, check, name), region) for name in check.of]
    return [_Part("", asked_cells(values, check), region)]


def _nearest(several: Iterable[Sequence[Cell]]) -> list[Cell]:
    """Return each cell of several comparisons of a method once, with the nearest rival first.

    A cell in which one of them was not measured is not measured.
    """
    cells: dict[str, list[Cell]] = {}
    for cell in chain.from_iterable(several):
        cells.setdefault(cell.name, []).append(cell)
    ordered = [sorted(c, key=lambda one: (not one.lacks, one.effect)) for c in cells.values()]
    return [replace(nearest, others=tuple(others)) for nearest, *others in ordered]


def _part_text(part: _Part, check: Check) -> str:
    """Return the numbers of one comparison or method."""
    cells = part.cells
    if not cells:
        return "not measured"
    if isinstance(part.region, AmongBest):
        standings = [part.region.standing(cell, check.level) for cell in cells]
        among = len(cells) - standings.count(Standing.OUT)
        first = sum(part.region.has(replace(cell, drift=0.0)) for cell in cells)  # as measured
        within = f", within {check.margin:g} of it" if check.margin else ""
        return f"not worse in {among} of {len(cells)} cells, best mean{within} in {first}"
    if check.over == "average":
        return f"{_interval_text(average(cells), check)} on average over {len(cells)} cells"
    if len(cells) == 1 and (check.times is None or check.trend is not None):
        return f"{_interval_text(cells[0], check)} in {cells[0].name}, the only cell"
    return _counts_text(cells, check, part.region)


def claimed_region(check: Check) -> Region:
    """Return where a check expects the values of its cells.

    For a comparison these are differences in favour of the first method, for a trend slopes.
    """
    bound = getattr(check, check.question)
    if check.question == "between":
        return Region(*bound)
    asked = _QUESTIONS[check.trend or check.question]
    unit = bound if check.question in ("below", "above") else check.by
    if check.times and (check.trend or check.takes_factors):
        unit = log2(check.times)
    low, high = (limit * unit if isfinite(limit) else limit for limit in (asked.low, asked.high))
    return Region(low, high, asked.presumed, check.margin)


def check_text(check: Check) -> str:
    """Return what a check asks of the results, as in the config.

    Examples
    --------
    >>> check_text(Check(metric="mse", better=["RegLand-Sp"], than=["KR"], over="all"))
    'metric: mse, better: [RegLand-Sp], than: [KR], over: all'
    """
    asked = {"over": check.over, **check.model_dump(mode="json", exclude_defaults=True)}
    in_order = {name: asked[name] for name in Check.model_fields if name in asked}
    return dump_yaml(in_order, one_line=True).strip()[1:-1]


def _counts_text(cells: Sequence[Cell], check: Check, region: Region) -> str:
    """Count the cells in and out of the region, name those out, and give the range."""
    asked = _QUESTIONS[check.trend or check.question]
    is_denied = check.question in ("not_better", "not_worse")
    least = check.by or (check.times or 1) > 1
    inside = f"no {asked.outside}" if is_denied and (least or check.margin) else asked.inside
    outside = asked.outside if is_denied or not least else "misses the margin"
    standings = [region.standing(cell, check.level) for cell in cells]
    counts = [standings.count(standing) for standing in reversed(Standing)]
    text = f"{inside} in {counts[0]}, undecided in {counts[1]}, {outside} in {counts[2]}"
    texts = [f"{cell.name} {_number(cell.effect, check)}".strip() for cell in cells]
    if out := [one for one, found in zip(texts, standings, strict=True) if found == Standing.OUT]:
        more = f" and {len(out) - _MOST_NAMES} more" if len(out) > _MOST_NAMES else ""
        text += f" ({', '.join(out[:_MOST_NAMES])}{more})"
    needed = cells_needed(check.over, len(cells))
    text += f" of {len(cells)} cells"
    text += f", {needed} required" if needed > len(cells) else ""
    ordered = sorted(cells, key=lambda cell: cell.effect)
    ends = [
        f"{_number(c.effect, check)} ({c.name})" for c in (ordered[0], ordered[-1])[: len(cells)]
    ]
    return f"{text}, {' to '.join(ends).replace(' ()', '')}{_unit(check)}"


def _interval_text(cell: Cell, check: Check) -> str:
    """Give a cell's mean with its confidence interval."""
    numbers = [cell.estimate.mean, *cell.estimate.interval(check.level)]
    numbers = numbers if check.times is None else np.exp2(numbers).tolist()
    mean, low, high = (_number(number, check) for number in numbers)
    interval = f"{low}, {high}" if isfinite(numbers[1]) else "too few splits for an interval"
    return f"{mean} [{interval}]{_unit(check)}"


def _number(value: float, check: Check) -> str:
    if check.times is not None:
        return f"×{value:.3g}"
    sign = "+" if check.question in COMPARISONS or check.trend else ""
    return f"{value:{sign}.3g}"


def _unit(check: Check) -> str:
    return " per doubling" if check.along and check.question != "overtakes" else ""


# ---- cells of splits ----


def compared_cells(
    values: Values, check: Check, one: LabelValue, other: LabelValue, better: int
) -> list[Cell]:
    """Return how far one is ahead of the other in each cell, on the splits that both have.

    ``one`` and ``other`` are values of the label that is compared. Values above 0 favour ``one``.
    With ``times`` they are the distance from the multiple that is allowed or required, or for an
    average the logarithm to base 2 of the factor; the effect is the factor by which ``one`` is
    ahead.
    """
    sides = [values.chosen({check.compare: value}) for value in (one, other)]
    asked = [{value for side in sides for value in side.column(k)} for k in check.where]
    if {None} in asked or not all(side.keys for side in sides):
        return []
    left, right = (_of_side(side, check, check.compare) for side in sides)
    names, keys, of_left, of_right = _joined(left, right)
    firsts, seconds = left.numbers[of_left], right.numbers[of_right]
    share = ~np.isnan(firsts) & ~np.isnan(seconds)
    # a cell whose sides share no split stays: what was planned is missing
    lack = ~share[:, left.is_split].any(axis=1, keepdims=True)
    seconds = np.where(lack, MISSING, np.where(share, seconds, np.nan))
    firsts = np.where(share | lack, firsts, np.nan)
    parts = left.ratio[of_left], left.drift[of_left]
    left = Values(names, keys, left.splits, firsts, *parts)
    right = replace(left, numbers=seconds, drift=right.drift[of_right])
    left, right = left.means(check.mean_over), right.means(check.mean_over)
    # the greater value is the one that is ahead
    high, low = (left, right)[:: 1 if better > 0 else -1]
    more, less, is_split = high.numbers, low.numbers, left.is_split
    # of numbers below 0, such as negative errors, a multiple is further behind
    swaps = (more <= 0) & (less <= 0) & is_split
    more, less = np.where(swaps, -less, more), np.where(swaps, -more, less)
    means = [np.nanmean(side[:, is_split], axis=1, keepdims=True) for side in (more, less)]
    (ahead, behind), times = means, check.times or 1.0
    drifts = left.drift + times * right.drift
    effects = ahead - behind
    if check.times is not None:
        equal = np.where(ahead, inf, 1.0)
        effects = np.divide(ahead, behind, out=equal, where=behind != 0)
    if check.takes_factors:
        of_rows = (more / ahead - less / behind) / log(2)
        logs = np.log2(np.where(is_split, more / less, 1.0))
        gains = np.where(is_split, logs, of_rows)
        sizes = [np.nanmean(one.numbers[:, is_split], axis=1) for one in (left, right)]
        drifts = (left.drift / sizes[0] + right.drift / sizes[1]) / log(2)
    else:
        gains = more - times * less if check.question == "better" else times * more - less
    return _cells(replace(left, drift=drifts), gains, effects[:, 0], ~np.isnan(left.numbers))


def _cells(
    of: Values, numbers: NDArray[np.float64], effects: Any, known: NDArray[np.bool_]
) -> list[Cell]:
    """Return a cell of each row, with the numbers that are known."""
    cells = []
    for row, name in enumerate(of.cell_names()):
        by_split = pd.Series(numbers[row, known[row]], of.splits[known[row]])
        more = float(effects[row]), float(of.ratio[row]), float(of.drift[row])
        cells.append(Cell(name, by_split, *more))
    return cells


def _joined(
    left: Values, right: Values
) -> tuple[list[str], list[tuple[Any, ...]], list[int], list[int]]:
    """Return the labels of pairs of rows that agree in the labels of both, and where these are."""
    shared = [label for label in left.names if label in right.names]
    others = [label for label in right.names if label not in shared]
    matches, added = right.groups(shared), right.labels(others)
    rows = enumerate(left.labels(shared))
    pairs = [(row, match) for row, place in rows for match in matches.get(place, [])]
    keys = [(*left.keys[row], *added[match]) for row, match in pairs]
    return [*left.names, *others], keys, [row for row, _ in pairs], [match for _, match in pairs]


def _of_side(values: Values, check: Check, *without: str) -> Values:
    """Return numbers, or slopes, of a side by the labels that some row has."""
    kept = [k for k in values.names if {*values.column(k)} != {None} or k == check.along]
    labels = [label for label in kept if label not in without]
    values = replace(values, names=labels, keys=values.labels(labels)).chosen(check.where)
    if check.along is not None:
        values = values.slopes(check.along, logarithms=check.times is not None)
    return values.means(check.across)


def crossing_cells(
    values: Values, check: Check, one: LabelValue, other: LabelValue, better: int
) -> list[Cell]:
    """Return how far one is ahead of the other at the largest value of the label ``along``."""
    along, plain = str(check.along), check.model_copy(update={"along": None})
    sizes = {value for value in values.chosen(check.where).column(along) if value is not None}
    curves: dict[str, dict[Any, Cell]] = {}
    for size in sorted(sizes):
        of_size = values.where(value in (None, size) for value in values.column(along))
        for cell in compared_cells(of_size, plain, one, other, better):
            curves.setdefault(cell.name, {})[size] = cell
    cells = []
    for name, curve in curves.items():
        first = None
        for size, cell in reversed(curve.items()):
            if not cell.estimate.interval(check.level)[0] > 0:
                break
            first = size
        last = next(reversed(curve.values()))
        cells.append(last if first is None else replace(last, name=f"{name} from {first:g} on"))
    return cells


def asked_cells(values: Values, check: Check, name: LabelValue | None = None) -> list[Cell]:
    """Return a metric, or its slope, in each cell; by default of all methods.

    With ``times`` the values are slopes of logarithms to base 2, and the effect is a factor.
    """
    named = values if name is None else values.chosen({check.compare: name})
    values = _of_side(named, check).means(check.mean_over)
    effects = pd.DataFrame(values.numbers[:, values.is_split]).mean(axis=1)
    effects = effects if check.times is None else 2.0**effects
    cells = _cells(values, values.numbers, effects, ~np.isnan(values.numbers))
    return [cell for cell in cells if len(cell.values)]


def whole_cells(values: Values, check: Check, method: str) -> list[Cell]:
    """Return the values at each combination of a method's labels, with a column per method.

    Labels that only one of two methods has do not part them. Of those that this method lacks,
    another one has a column for each value.
    """
    values, cells = values.chosen(check.where), []
    labels = [label for label in values.names if label != "method"]
    for place in values.chosen({"method": method}).groups(labels):
        own = {k: v for k, v in zip(labels, place, strict=True) if v is not None}
        cell = values.chosen({k: [None, v] for k, v in own.items()})
        naming = ["method", *(k for k in labels if k not in own)]
        names = [" ".join(str(v) for v in one if v is not None) for one in cell.labels(naming)]
        frame = pd.DataFrame(cell.numbers.T, index=cell.splits, columns=names).dropna(how="all")
        if frame.shape[1] > 1:
            # that of a difference of two methods
            drift, name = 2 * float(cell.drift.max()), cell_name([*own], [*own.values()])
            cells.append(Cell(name, frame, 0.0, float(cell.ratio.mean()), drift))
    return cells
