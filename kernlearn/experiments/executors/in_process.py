"""One trial after the other, in this process."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernlearn.experiments.execution import execute
from kernlearn.experiments.executors.base import OnStart, Results
from kernlearn.experiments.plan import Trial


@dataclass(frozen=True)
class InProcess:
    """Carry out trials here: the least overhead, no limits.

    Parameters
    ----------
    data_dir : Path, optional
        Where data is looked for first.
    """

    data_dir: Path | None = None
    slots: int = 1

    def describe(self) -> dict[str, Any]:
        """Return the executor's name."""
        return {"executor": "in-process"}

    def crowded(self, threads: int) -> str:
        """Return nothing: there is one trial at a time."""
        return ""

    def close(self) -> None:
        """Do nothing: nothing was started."""

    def run(self, trials: Iterable[Trial], on_start: OnStart = lambda trial: None) -> Results:
        """Yield every trial with its result."""
        for trial in trials:
            on_start(trial)
            yield trial, execute(trial, self.data_dir)
