"""What every benchmark shares: a row of the table, and the least time of some runs."""

import gc
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, Self

from kernlearn.memory import c_library


@dataclass(frozen=True)
class Row:
    """One comparison.

    Attributes
    ----------
    what : str
        ``ours / other`` or ``other / ours``, as the ratio is taken.
    seconds : float
        Ours.
    ratio : float
        Or another figure, where ``what`` says so.
    at_least, at_most : float or None
        The target of the ratio, if there is one.
    """

    what: str
    seconds: float
    ratio: float
    at_least: float | None = None
    at_most: float | None = None

    @property
    def target(self) -> str:
        """The target as shown."""
        if self.at_least is not None:
            return f">= {self.at_least:g}"
        return "" if self.at_most is None else f"<= {self.at_most:g}"

    @property
    def met(self) -> bool:
        """Whether the target is met; without one it is."""
        if self.at_least is not None:
            return self.ratio >= self.at_least
        return self.at_most is None or self.ratio <= self.at_most


def least_seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Return the least time of some runs; one before them warms up."""
    work()
    return min(once(work) for _ in range(repeats))


def least_in_turns(*works: Callable[[], object], repeats: int = 10) -> list[float]:
    """Return the least time of each of some works, which run in turns under the same load."""
    for work in works:
        work()
    return [min(times) for times in zip(*(map(once, works) for _ in range(repeats)), strict=True)]


def least_cpu_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """Return the least processor time of some runs on one thread; one before them warms up.

    For figures that are no ratios: other work on the machine does not count.
    """
    work()
    return min(_cpu_once(work) for _ in range(repeats))


def _cpu_once(work: Callable[[], object]) -> float:
    start = process_time()
    work()
    return process_time() - start


def once(work: Callable[[], object]) -> float:
    """Return the seconds of one run."""
    start = perf_counter()
    work()
    return perf_counter() - start


def seconds_in_fresh_process(setup: str, statement: str, repeats: int = 3) -> float:
    """Return the median time of a statement that runs once in a process of its own.

    Memory that a process has never touched is part of what a single call costs, and repeated
    calls hide it.
    """
    code = (
        f"{setup}\nfrom time import perf_counter\nstart = perf_counter()\n{statement}\n"
        "print(perf_counter() - start)"
    )
    times = sorted(
        float(
            subprocess.run(
                [sys.executable, "-c", code], capture_output=True, text=True, check=True
            ).stdout
        )
        for _ in range(repeats)
    )
    return times[repeats // 2]


def greatest_memory(pid: int) -> int:
    """Return the greatest memory of a process that the system has kept, 0 if it has not.

    It is that of the program which runs now: ``ru_maxrss`` may be that of the process which
    started it.
    """
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


class PeakMemory:
    """Measure by how much the resident memory of this process, and its children, has grown.

    ``grown`` is the greatest value within the block less that at its beginning, in MB (10^6
    bytes). What was freed before is given back first, so that it does not hide what the block
    needs. Of several processes the growths are added, though they need not be greatest at the same
    time.

    Raises
    ------
    OSError
        If the system does not keep the greatest value, as Linux does.
    """

    grown = 0.0

    def __enter__(self) -> Self:
        import psutil

        gc.collect()
        library: Any = c_library()
        if hasattr(library, "malloc_trim"):
            library.malloc_trim(0)
        own = psutil.Process()
        processes = [own, *own.children(recursive=True)]
        self._before = {process.pid: process.memory_info().rss for process in processes}
        for pid in self._before:
            Path(f"/proc/{pid}/clear_refs").write_text("5")  # the greatest is that of now
        return self

    def __exit__(self, *_: object) -> None:
        growths = (greatest_memory(pid) - before for pid, before in self._before.items())
        self.grown = sum(max(0, growth) for growth in growths) / 1e6
