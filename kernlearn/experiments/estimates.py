"""How long trials will take, from those that are finished; which of them come first."""

from collections.abc import Iterable, Sequence
from typing import Any

from kernlearn.experiments.config import TableSpec
from kernlearn.experiments.keys import canonical
from kernlearn.experiments.plan import Plan, Trial
from kernlearn.experiments.store import Store

_KIND = ("dataset", "kernel", "method")
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
    kind = tuple(labels.get(name) for name in _KIND)
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
