"""Estimates of the seconds of trials: means of those done here, or in committed results."""

from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Any

from kernlearn.config.model import DEFAULT_PROFILE, LoadedExperiment
from kernlearn.config.spec import CellKey, Trial, cell_key
from kernlearn.datasets.resources import shipped
from kernlearn.engine.plan import Plan
from kernlearn.reports.summary_files import parse_details, parse_parameters
from kernlearn.store import Store

# Folders of committed results, by profile.
_FOLDERS = {DEFAULT_PROFILE: "measured", "quick": "baseline", "smoke": "smoke"}


class Estimates:
    """Estimates of the seconds of trials of one experiment.

    A trial takes as long as the trials of its cell did here, else in the committed results; else
    as the cells of its method on average, else as all cells.

    Parameters
    ----------
    finished : iterable of (labels, seconds)
        Trials that were carried out here.
    committed : mapping of key to float, optional
        Mean seconds of cells in the committed results.
    """

    def __init__(
        self,
        finished: Iterable[tuple[Mapping[str, Any], float]] = (),
        committed: Mapping[CellKey, float] | None = None,
    ) -> None:
        self._committed = dict(committed or {})
        self._done: dict[CellKey, list[float]] = {}
        self._means: dict[Any, float] = {}
        for labels, seconds in finished:
            self.add(labels, seconds)

    @classmethod
    def of(cls, plan: Plan, store: Store | None) -> "Estimates":
        """Return the estimates for a plan, from a store and the committed results."""
        one = plan.experiment
        rows = {} if store is None else store.get(trial.key for trial in plan.trials)
        finished = [(row.labels, row.seconds) for row in rows.values() if row.done]
        return cls(finished, committed_seconds(one))

    def add(self, labels: Mapping[str, Any], seconds: float) -> None:
        """Count a finished trial."""
        self._done.setdefault(cell_key(labels), []).append(seconds)
        self._means.clear()

    def seconds(self, trial: Trial) -> float | None:
        """Return the expected seconds of a trial; None if nothing is known."""
        key = cell_key(trial.labels)
        if not self._means:
            self._fill()
        for known in (key, dict(key).get("method"), None):
            if known in self._means:
                return self._means[known]
        return None

    def total(self, trials: Iterable[Trial], slots: int = 1) -> float | None:
        """Return the expected seconds of trials, ``slots`` at a time; None if not known."""
        each = [self.seconds(trial) for trial in trials]
        known = [seconds for seconds in each if seconds is not None]
        if len(known) < len(each):
            return None
        return max(max(known), sum(known) / slots) if known else 0.0

    def _fill(self) -> None:
        """Compute the means of cells, of methods, and of all cells under the key None."""
        cells = {**self._committed, **{key: fmean(each) for key, each in self._done.items()}}
        groups: dict[Any, list[float]] = {}
        for key, seconds in cells.items():
            groups.setdefault(dict(key).get("method"), []).append(seconds)
            groups.setdefault(None, []).append(seconds)
        self._means = {**{name: fmean(each) for name, each in groups.items()}, **cells}


def committed_seconds(experiment: LoadedExperiment) -> dict[CellKey, float]:
    """Return the mean seconds of a trial of each cell of a shipped config, where committed."""
    folder = _FOLDERS.get(experiment.profile)
    if folder is None or experiment.path.parent != shipped("configs"):
        return {}
    place = shipped("reported").parent / folder / f"{experiment.name}.json"
    try:
        details = parse_details(place.read_text(encoding="utf-8"))
        return {cell_key(parse_parameters(k)): s for k, s in details["seconds"].items()}
    except (OSError, ValueError, KeyError):  # a wheel without them, or a file of the user
        return {}
