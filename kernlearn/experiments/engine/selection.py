"""How long trials will take, from those that are finished; which of them come first."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from kernlearn.exceptions import SelectionError
from kernlearn.experiments.config.model import TableSpec
from kernlearn.experiments.engine.plan import Plan
from kernlearn.experiments.engine.spec import LABELS, Trial, canonical
from kernlearn.experiments.registry import suggestion
from kernlearn.experiments.store.results import Store

_Key = tuple[Any, ...]


class Estimates:
    """Mean seconds of finished trials, by how alike they are.

    A trial is expected to take as long as other splits of the same cell; where there are none,
    as trials of the same data set, kernel and method; then, of the same method; then, as all.

    Parameters
    ----------
    finished : iterable of (labels, seconds)
    """

    def __init__(self, finished: Iterable[tuple[dict[str, Any], float]] = ()) -> None:
        self._sums: dict[_Key, tuple[float, int]] = {}
        for labels, seconds in finished:
            self.add(labels, seconds)

    @classmethod
    def of(cls, plan: Plan, store: Store | None) -> "Estimates":
        """Return estimates from the rows of a store that a plan can learn from."""
        if store is None:
            return cls()
        return cls(store.durations(plan.experiment.profile))

    def add(self, labels: dict[str, Any], seconds: float) -> None:
        """Count a finished trial."""
        for key in _likeness(labels):
            total, count = self._sums.get(key, (0.0, 0))
            self._sums[key] = (total + seconds, count + 1)

    def seconds(self, trial: Trial) -> float | None:
        """Return the seconds that a trial is expected to take; None if nothing is known."""
        if self._sums:
            for key in _likeness(trial.labels):
                if key in self._sums:
                    total, count = self._sums[key]
                    return total / count
        return None

    def total(self, trials: Iterable[Trial], slots: int = 1) -> float | None:
        """Return the seconds until trials are done, so many at a time; None if not known."""
        each = [self.seconds(t) for t in trials]
        known = [s for s in each if s is not None]
        if len(known) < len(each) or not each:
            return None if each else 0.0
        # no plan is shorter than its longest trial
        return max(max(known), sum(known) / slots)


def _likeness(labels: dict[str, Any]) -> tuple[_Key, ...]:
    """Return keys under which trials are alike, the closest first."""
    cell = tuple(sorted((k, _hashable(v)) for k, v in labels.items()))
    kind = tuple(labels.get(name) for name in LABELS)
    return (cell, kind, kind[2:], ())


def _hashable(value: Any) -> Any:
    return canonical(value) if isinstance(value, (list, dict)) else value


def rows_first(trials: Sequence[Trial], plan: Plan, estimates: Estimates) -> list[Trial]:
    """Order trials so that whole rows of the table are finished early.

    The row with the least left to do comes first; rows of which nothing is known, or that need
    as long, stand in the table's order.

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
    table = plan.experiment.config.table or TableSpec()
    names = [*table.each, *table.rows]
    rows: dict[tuple[str, ...], list[Trial]] = {}
    for trial in trials:
        rows.setdefault(tuple(str(trial.labels.get(n)) for n in names), []).append(trial)
    # Python's sort keeps the order of equals
    ordered = sorted(rows.values(), key=lambda row: estimates.total(row) or 0.0)
    return [trial for row in ordered for trial in row]


#: What a store has of a trial: its numbers; a failure; numbers of the same place in the table,
#: measured under settings that have changed since; nothing.
State = Literal["cached", "failed", "stale", "new"]
STATES: tuple[State, ...] = ("new", "cached", "failed", "stale")

#: Stands for every trial among the names of ``--force``.
ALL = "all"


@dataclass(frozen=True)
class Choice:
    """Which trials a run takes besides those without a row in the store.

    Attributes
    ----------
    retry_failed : bool
        Also those that failed before.
    force : tuple of str
        Also those that have numbers, if one of the names is their data set's, kernel's or
        method's label, their experiment's name, or "all".
    only : tuple of dict
        If given, no trial that matches none of these: labels and the values they must have,
        as text.
    """

    retry_failed: bool = False
    force: tuple[str, ...] = ()
    only: tuple[Mapping[str, str], ...] = ()


#: The choice of a run that is asked for nothing in particular.
WHAT_IS_MISSING = Choice()


def trial_states(plan: Plan, store: Store | None) -> dict[str, State]:
    """Return the state of every trial of a plan by key.

    Parameters
    ----------
    plan : Plan
    store : Store or None
        None stands for one without a row.

    Returns
    -------
    dict of str to str
    """
    if store is None:
        return dict.fromkeys((t.key for t in plan.trials), "new")
    found = store.statuses(t.key for t in plan.trials)
    keys = {t.key for t in plan.trials}
    experiment = plan.experiment
    other = {
        (labels, split)
        for key, labels, split in store.places(experiment.name, experiment.profile)
        if key not in keys
    }

    def state(trial: Trial) -> State:
        status = found.get(trial.key)
        if status is not None:
            return "cached" if status == "done" else "failed"
        return "stale" if other and (canonical(trial.labels), trial.split) in other else "new"

    return {t.key: state(t) for t in plan.trials}


def chosen(plan: Plan, states: Mapping[str, State], choice: Choice) -> list[Trial]:
    """Return the trials that a run takes, in the order of the plan.

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
    trials = check_choice(plan, choice)

    def wanted(trial: Trial) -> bool:
        state = states[trial.key]
        if state == "cached" or (state == "failed" and not choice.retry_failed):
            return _forced(trial, choice.force)
        return True

    return [t for t in trials if wanted(t)]


def check_choice(plan: Plan, choice: Choice) -> list[Trial]:
    """Return the trials that ``only`` leaves, whatever a store has of them.

    Parameters
    ----------
    plan : Plan
    choice : Choice

    Returns
    -------
    list of Trial

    Raises
    ------
    SelectionError
        If ``force`` or ``only`` name nothing in the plan.
    """
    _check_names(plan, choice.force)
    trials = [t for t in plan.trials if _passes(t, choice.only)]
    if choice.only and not trials:
        raise SelectionError(_no_match(plan, choice.only))
    return trials


def parse_only(text: str) -> dict[str, str]:
    """Read ``dataset=letter,method=FTUNE-S``.

    Parameters
    ----------
    text : str

    Returns
    -------
    dict of str to str

    Raises
    ------
    SelectionError
        If a part has no equals sign.
    """
    found = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals or not key.strip():
            raise SelectionError(
                f"--only {text!r}: expected LABEL=VALUE,... such as dataset=letter,method=K"
            )
        found[key.strip()] = value.strip()
    return found


def _texts(trial: Trial) -> dict[str, str]:
    labels = {k: str(v) for k, v in trial.labels.items() if v is not None}
    return {**labels, "split": str(trial.split + 1)}


def _passes(trial: Trial, only: Sequence[Mapping[str, str]]) -> bool:
    if not only:
        return True
    labels = _texts(trial)
    return any(all(labels.get(k) == v for k, v in match.items()) for match in only)


def _names(trial: Trial) -> set[str]:
    labels = (trial.labels.get(k) for k in LABELS)
    return {str(v) for v in labels if v is not None} | {ALL, trial.experiment}


def _forced(trial: Trial, force: Sequence[str]) -> bool:
    return bool(force) and not _names(trial).isdisjoint(force)


def _check_names(plan: Plan, force: Sequence[str]) -> None:
    if not force:
        return
    known = sorted({name for trial in plan.trials for name in _names(trial)})
    for name in force:
        if name in plan.left_out or (plan.left_out and not known):
            raise SelectionError(f"--force {name}: {_without_data(plan)}")
        if name not in known:
            raise SelectionError(f"--force {name}: nothing of that name{suggestion(name, known)}")


def _no_match(plan: Plan, only: Sequence[Mapping[str, str]]) -> str:
    """Say which label or value is unknown, or that the combination does not occur."""
    asked = {match.get("dataset") for match in only}
    if plan.left_out and (not plan.trials or not asked.isdisjoint(plan.left_out)):
        return f"--only leaves no trial: {_without_data(plan)}"
    known: dict[str, dict[str, None]] = {}
    for trial in plan.trials:
        for key, value in _texts(trial).items():
            known.setdefault(key, {})[value] = None
    for match in only:
        for key, value in match.items():
            if key not in known:
                return f"--only {key}={value}: no label {key!r}{suggestion(key, known)}"
            if value not in known[key]:
                return f"--only {key}={value}: no such value{suggestion(value, known[key])}"
    return f"{plan.experiment.name}: --only leaves no trial"


def _without_data(plan: Plan) -> str:
    labels = ", ".join(plan.left_out)
    return (
        f"{plan.experiment.name} goes without {labels}, not found; --data-dir or KERNLEARN_DATA "
        "names the folder that holds data"
    )
