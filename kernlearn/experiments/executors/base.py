"""The interface of executors, and the limits of a trial."""

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from kernlearn.experiments.engine.spec import Trial
from kernlearn.experiments.store.results import Result

#: Called with a trial when a process takes it up.
OnStart = Callable[[Trial], None]

#: Trials with their results, in the order in which they end.
Results = Generator[tuple[Trial, Result], None, None]


@dataclass(frozen=True)
class Limits:
    """Limits of a trial.

    Attributes
    ----------
    timeout : float or None
        Seconds of wall time.
    memory : int or None
        Bytes of resident memory of the trial's process and its children.
    retries : int
        How often to repeat a trial whose process died.
    """

    timeout: float | None = None
    memory: int | None = None
    retries: int = 2

    @property
    def any(self) -> bool:
        """Whether a process may have to be killed."""
        return self.timeout is not None or self.memory is not None


NO_LIMITS = Limits()


class Executor(Protocol):
    """Runs trials."""

    @property
    def slots(self) -> int:
        """Number of trials in parallel."""
        ...

    def crowded(self, threads: int) -> str:
        """Say why trials with so many threads each would share cores; empty if they do not."""
        ...

    def describe(self) -> dict[str, Any]:
        """Return what the environment of a run records of the executor."""
        ...

    def run(self, trials: Iterable[Trial], on_start: OnStart = lambda trial: None) -> Results:
        """Yield every trial with its result, in the order in which they end.

        An error in a trial is its result. Closing the iterator kills the trials that still run.
        """
        ...

    def close(self) -> None:
        """Release all processes; no more trials follow."""
        ...


def crowding(slots: int, threads: int, cores: int, where: str = "this machine") -> str:
    """Say that trials need more cores than there are, or return an empty text.

    Parameters
    ----------
    slots, threads : int
        Number of trials in parallel, and threads of each.
    cores : int
        Cores that can be used.
    where : str
        Name of the machine in the message.

    Returns
    -------
    str
    """
    # a single trial has the machine to itself, whatever its threads
    if slots <= 1 or slots * threads <= cores:
        return ""
    each = "1 thread" if threads == 1 else f"{threads} threads"
    return (
        f"{slots} trials at a time with {each} each would share the "
        f"{cores} core{'s' if cores > 1 else ''} of {where}"
    )
