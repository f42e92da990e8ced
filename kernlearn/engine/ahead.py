"""Trials one after the other, whose parameters are chosen before on all cores."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from kernlearn.config.spec import Chosen, Trial
from kernlearn.engine.environment import usable_cores
from kernlearn.engine.local import InProcess, OnStart, Processes, Results
from kernlearn.store import Row

# Trials per core whose parameters are chosen before the first of them is measured: what a kill
# loses, against cores that wait for the last choice.
_AHEAD = 4
_LONG = 0.5  # seconds of a choice, above which other processes pay


def selects(trial: Trial) -> bool:
    """Whether a trial chooses parameters before it is measured."""
    spec = trial.spec
    return bool(spec.method.select) and not spec.protocol.select_by_mean


class OneByOne:
    """Measure trials one after the other in the current process, alone on the machine.

    Once a choice of parameters has taken long, those of the next trials are made before, in a
    process for each core; no process works while a trial is measured.

    Parameters
    ----------
    data_dir : Path, optional
        Folder to search for data first.
    """

    slots = 1

    def __init__(self, data_dir: Path | None = None) -> None:
        self._cores = usable_cores()
        self._measuring = InProcess(data_dir)
        self._choosing = Processes(self._cores, data_dir)

    def describe(self) -> dict[str, Any]:
        return {**self._measuring.describe(), "processes_that_select": self._cores}

    def crowded(self, threads: int) -> str:
        return ""

    def close(self) -> None:
        self._choosing.close()

    def run(self, trials: Iterable[Trial], on_start: OnStart = lambda trial: None) -> Results:
        rest, long = iter(trials), False
        while batch := list(islice(rest, _AHEAD * self._cores if long else 1)):
            choices = self._choose(batch) if long else {}
            for trial, result in self._measure(batch, choices, on_start):
                yield trial, result
                if selects(trial):
                    long = result.metrics.get("select_seconds", 0.0) > _LONG

    def _measure(self, batch: list[Trial], choices: dict[str, Row], on_start: OnStart) -> Results:
        for trial in batch:
            choice = choices.get(trial.key)
            if choice is None:
                yield from self._measuring.run([trial], on_start)
            elif not choice.done:
                on_start(trial)
                yield trial, choice
            else:
                seconds, score = map(choice.metrics.get, ("select_seconds", "selection_score"))
                found = Chosen(choice.info["selected"], seconds or 0.0, score)
                chosen = replace(trial, chosen=found)
                for _, result in self._measuring.run([chosen], on_start):
                    yield trial, self._whole(result, choice)

    def _choose(self, batch: list[Trial]) -> dict[str, Row]:
        """Choose the parameters of trials; the result of a failure is that of its trial."""
        asked = [replace(trial, only_selects=True) for trial in batch if selects(trial)]
        if len(asked) < 2:
            return {}
        return {trial.key: result for trial, result in self._choosing.run(asked)}

    def _whole(self, result: Row, choice: Row) -> Row:
        """Add the warnings of the choice to the measurement, and its share of the time."""
        both = Counter(choice.info["warnings"]) + Counter(result.info.get("warnings", {}))
        seconds = result.seconds + choice.seconds / self._cores
        return replace(result, seconds=seconds, info={**result.info, "warnings": dict(both)})
