"""What every executor does, and the limits that hold for a trial."""

from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from kernlearn.experiments.engine.spec import Trial
from kernlearn.experiments.store.results import Result

#: Called with a trial when it is handed to a process that is free for it.
OnStart = Callable[[Trial], None]

#: Trials with their results, as they end.
Results = Generator[tuple[Trial, Result], None, None]


@dataclass(frozen=True)
class Limits:
    """What a trial may take, and how often it is tried.

    Attributes
    ----------
    timeout : float or None
        Seconds of wall time.
    memory : int or None
        Bytes of resident memory of the process that the trial runs in, and of its children.
    retries : int
        How often a trial is tried again whose process died.
    """

    timeout: float | None = None
    memory: int | None = None
    retries: int = 2

    @property
    def any(self) -> bool:
        """Whether a process may have to be ended."""
        return self.timeout is not None or self.memory is not None


NO_LIMITS = Limits()


class Executor(Protocol):
    """Carries out trials.

    Attributes
    ----------
    slots : int
        Trials at a time.
    """

    @property
    def slots(self) -> int:
        """Trials at a time."""
        ...

    def crowded(self, threads: int) -> str:
        """Say why trials of so many threads each would share cores; empty if they would not."""
        ...

    def describe(self) -> dict[str, Any]:
        """Return what a reader of the numbers may ask about where they were measured."""
        ...

    def run(self, trials: Iterable[Trial], on_start: OnStart = lambda trial: None) -> Results:
        """Yield every trial with its result, in the order in which they end.

        A trial never raises: what goes wrong in it is its result. Closing the iterator ends
        what still runs.
        """
        ...

    def close(self) -> None:
        """End what was started for trials; there will be no more."""
        ...


def crowding(slots: int, threads: int, cores: int, where: str = "this machine") -> str:
    """Say that trials need more cores than there are, or nothing.

    Parameters
    ----------
    slots, threads : int
        Trials at a time, and threads of each.
    cores : int
        Cores that may be used.
    where : str
        The machine's name in the message.

    Returns
    -------
    str
    """
    needed = slots * threads
    # one trial at a time has its machine to itself, whatever its threads
    if slots <= 1 or needed <= cores:
        return ""
    each = "1 thread" if threads == 1 else f"{threads} threads"
    return (
        f"{slots} trials at a time with {each} each would share the "
        f"{cores} core{'s' if cores > 1 else ''} of {where}"
    )
