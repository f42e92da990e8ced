"""Selection and order of the trials of a run, and estimates of their times."""

import heapq
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from kernlearn.config.model import ExperimentConfig
from kernlearn.config.names import suggestion
from kernlearn.config.spec import LABELS, Trial
from kernlearn.engine.estimates import Estimates
from kernlearn.engine.plan import Plan
from kernlearn.exceptions import SelectionError
from kernlearn.store import Store

#: State of a trial: its result is in the store; it failed; neither.
State = Literal["cached", "failed", "new"]
STATES: tuple[State, ...] = ("new", "cached", "failed")

#: Labels of trials, each with the value or the values that are chosen.
Match = Mapping[str, str | Sequence[str]]

#: Name of all trials for ``--force``.
ALL = "all"


@dataclass(frozen=True)
class Choice:
    """Which trials to run in addition to the new ones.

    Attributes
    ----------
    retry_failed : bool
        Also those that failed before.
    force : tuple of str
        Also cached ones whose data set, kernel, method or experiment has one of these names;
        "all" for all.
    only : tuple of dict
        If not empty, only trials that match one of these mappings of labels to a value or several,
        as text.
    """

    retry_failed: bool = False
    force: tuple[str, ...] = ()
    only: tuple[Match, ...] = ()

    def includes(self, labels: Mapping[str, str]) -> bool:
        """Whether ``only`` allows some labels, given as text."""
        return not self.only or any(matches(match, labels) for match in self.only)

    def datasets(self, config: ExperimentConfig) -> list[str]:
        """Return the labels of the data sets of an experiment that ``only`` allows.

        Raises
        ------
        SelectionError
            If it allows none.
        """
        given = [match["dataset"] for match in self.only if "dataset" in match]
        names = [name for values in given for name in _values(values)]
        if len(given) < len(self.only) or not self.only:
            return list(config.datasets)
        for name in names:
            if name not in config.datasets:
                hint = _value_hint(name, config.datasets)
                raise SelectionError(f"--only dataset={name}: no such value{hint}")
        return [label for label in config.datasets if label in names]


def duration(seconds: float) -> str:
    """Write seconds as text such as ``"2 h 05 min"`` or ``"40 s"``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def in_order(
    trials: Sequence[Trial], plan: Plan, estimates: Estimates, slots: int = 1
) -> list[Trial]:
    """Order the trials of a run, of which `slots` are carried out at a time.

    See :func:`longest_first` for several, :func:`rows_first` for one.
    """
    order = longest_first if slots > 1 else rows_first
    return order(trials, plan, estimates)


def seconds_in_order(
    trials: Sequence[Trial], estimates: Estimates, slots: int = 1
) -> float | None:
    """Return the expected seconds of trials in their order; None if nothing is known.

    Each process that ends a trial takes up the next one.
    """
    busy = [0.0] * slots  # until when each process is
    for trial in trials:
        seconds = estimates.seconds(trial)
        if seconds is None:
            return None
        heapq.heapreplace(busy, busy[0] + seconds)
    return max(busy)


def rows_first(trials: Sequence[Trial], plan: Plan, estimates: Estimates) -> list[Trial]:
    """Order trials so that whole rows of the table are finished early.

    Rows with the least time left come first; rows with equal or unknown times keep the order
    of the table.

    Parameters
    ----------
    trials : sequence of Trial
        Of the plan, in its order.
    plan : Plan
    estimates : Estimates

    Returns
    -------
    list of Trial
    """
    table = plan.experiment.config.layout
    names = [*table.each, *table.rows]
    rows: dict[tuple[str, ...], list[Trial]] = {}
    for trial in trials:
        rows.setdefault(tuple(str(trial.labels.get(n)) for n in names), []).append(trial)
    ordered = sorted(rows.values(), key=lambda row: estimates.total(row) or 0.0)
    return [trial for row in ordered for trial in row]


def longest_first(trials: Sequence[Trial], plan: Plan, estimates: Estimates) -> list[Trial]:
    """Order trials that several processes take up, so that none of them waits long at the end.

    The trials that take longest come first. Those of unknown length come before, in the order of
    :func:`rows_first`, which takes the same.
    """

    def seconds(trial: Trial) -> float:
        expected = estimates.seconds(trial)
        return math.inf if expected is None else expected

    return sorted(rows_first(trials, plan, estimates), key=seconds, reverse=True)


def trial_states(plan: Plan, store: Store | None) -> dict[str, State]:
    """Return the state of every trial of a plan by key; without a store all are new."""
    if store is None:
        return dict.fromkeys((t.key for t in plan.trials), "new")
    rows = store.get(t.key for t in plan.trials)
    return {
        t.key: "new" if t.key not in rows else "cached" if rows[t.key].done else "failed"
        for t in plan.trials
    }


def chosen(plan: Plan, states: Mapping[str, State], choice: Choice) -> list[Trial]:
    """Return the trials to run, in the order of the plan.

    Parameters
    ----------
    plan : Plan
    states : mapping of str to str
        From :func:`trial_states`.
    choice : Choice

    Returns
    -------
    list of Trial

    Raises
    ------
    SelectionError
        If ``force`` or ``only`` name nothing in the plan.
    """

    def wanted(trial: Trial) -> bool:
        state = states[trial.key]
        if state == "cached" or (state == "failed" and not choice.retry_failed):
            return bool(choice.force) and not _names(trial).isdisjoint(choice.force)
        return True

    return [t for t in check_choice(plan, choice) if wanted(t)]


def check_choice(plan: Plan, choice: Choice) -> list[Trial]:
    """Return the trials that match ``only``.

    Raises
    ------
    SelectionError
        If ``force`` or ``only`` name nothing in the plan.
    """
    names = {name for trial in plan.trials for name in _names(trial)} if choice.force else set()
    for name in choice.force:
        if name in plan.left_out or (plan.left_out and not names):
            raise SelectionError(f"--force {name}: {_without_data(plan)}")
        if name not in names:
            raise SelectionError(f"--force {name}: nothing of that name{suggestion(name, names)}")
    if not choice.only:
        return plan.trials
    texts = [_texts(trial) for trial in plan.trials]
    trials = [
        trial for trial, labels in zip(plan.trials, texts, strict=True) if choice.includes(labels)
    ]
    if not trials:
        raise SelectionError(_no_match(plan, texts, choice.only))
    return trials


def parse_only(text: str) -> dict[str, tuple[str, ...]]:
    """Parse text such as ``dataset=letter,method=FTUNE-S``.

    A label that is given more than once may have any of its values. A part without an equals sign
    belongs to the value before it, as in ``method=RF, tuned solver``.

    Raises
    ------
    SelectionError
        If the first part has no equals sign.
    """
    match: dict[str, tuple[str, ...]] = {}
    last = ""
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if equals and key.strip():
            last = key.strip()
            match[last] = (*match.get(last, ()), value.strip())
        elif last and part.strip() and not equals:
            *before, value = match[last]
            match[last] = (*before, f"{value},{part.rstrip()}")
        else:
            raise SelectionError(
                f"--only {text!r}: expected LABEL=VALUE,... such as dataset=letter,method=K"
            )
    return match


def _values(value: str | Sequence[str]) -> Sequence[str]:
    return (value,) if isinstance(value, str) else value


def matches(match: Match, labels: Mapping[str, str]) -> bool:
    """Whether labels, given as text, have one of the chosen values each."""
    return all(labels.get(key) in _values(value) for key, value in match.items())


def _texts(trial: Trial) -> dict[str, str]:
    """Return the labels of a trial, and its split, as ``--only`` names them."""
    return {**label_texts(trial.labels), "split": str(trial.split + 1)}


def label_texts(labels: Mapping[str, Any]) -> dict[str, str]:
    """Return the labels that apply, as ``--only`` names them."""
    return {k: str(v) for k, v in labels.items() if v is not None}


def _names(trial: Trial) -> set[str]:
    """Return the names that ``--force`` knows a trial by."""
    labels = (trial.labels.get(k) for k in LABELS)
    return {str(v) for v in labels if v is not None} | {ALL, trial.experiment}


def _no_match(plan: Plan, texts: list[dict[str, str]], only: Sequence[Match]) -> str:
    """Say which label or value is unknown, or that the combination does not occur."""
    asked = [(key, v) for match in only for key, value in match.items() for v in _values(value)]
    datasets = {value for key, value in asked if key == "dataset"}
    if plan.left_out and (not plan.trials or not datasets.isdisjoint(plan.left_out)):
        return f"--only leaves no trial: {_without_data(plan)}"
    values: dict[str, set[str]] = defaultdict(set)
    for labels in texts:
        for key, value in labels.items():
            values[key].add(value)
    for key, value in asked:
        if key not in values:
            return f"--only {key}={value}: no label {key!r}{suggestion(key, values)}"
        if value not in values[key]:
            return f"--only {key}={value}: no such value{_value_hint(value, values[key])}"
    return f"{plan.experiment.name}: --only leaves no trial"


def _value_hint(value: str, allowed: Iterable[str]) -> str:
    parts = [part.strip() for part in value.split(",")]
    names = set(allowed)
    first = next((part for part in parts if part in names), None)
    if len(parts) > 1 and first is not None:
        return f"; for several values repeat the label, as in dataset={first},dataset=..."
    return suggestion(value, names)


def _without_data(plan: Plan) -> str:
    return (
        f"{plan.experiment.name} leaves out {', '.join(plan.left_out)}, not found; "
        "KERNLEARN_DATA names the folder that holds data"
    )
