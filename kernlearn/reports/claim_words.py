"""A claim's check in words."""

from collections.abc import Iterable
from typing import Any

from kernlearn.experiments.claims import BOUNDS, COMPARISONS, Check

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
