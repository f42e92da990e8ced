"""The greatest memory of a block of code."""

import gc
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from kernlearn import memory

# Seconds between two looks where the system does not keep the greatest value.
_LOOK = 0.01
_MB = 1e6


class PeakMemory:
    """Measure by how much the resident memory of this process, and its children, has grown.

    It is the greatest value within the block less that at its beginning, in MB (10^6 bytes). What
    was freed before is given back first, so that it does not hide what the block needs. Linux
    keeps the greatest value of each process, which is set back at the beginning; elsewhere memory
    is looked at every 10 ms. Of several processes the growths are added, though they need not be
    greatest at the same time.
    """

    def __init__(self) -> None:
        self.grown = 0.0
        self._before: dict[int, int] = {}
        self._peaks: dict[int, int] = {}
        self._watching: threading.Thread | None = None
        self._ended = threading.Event()

    def __enter__(self) -> "PeakMemory":
        gc.collect()
        memory.return_freed_memory(kept=True)
        processes = _processes()
        self._before = {process.pid: process.memory_info().rss for process in processes}
        self._peaks = dict(self._before)
        if not all(_reset_peak(pid) for pid in self._before):
            self._watching = threading.Thread(target=self._watch, args=(processes,), daemon=True)
            self._watching.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._watching is None:
            self._peaks = {pid: greatest_memory(pid) for pid in self._before}
        else:
            self._ended.set()
            self._watching.join()
        growths = (max(0, peak - self._before[pid]) for pid, peak in self._peaks.items())
        self.grown = sum(growths) / _MB

    def _watch(self, processes: list[Any]) -> None:
        import psutil

        while True:
            for process in processes:
                with suppress(psutil.Error):
                    now = process.memory_info().rss
                    self._peaks[process.pid] = max(self._peaks[process.pid], now)
            if self._ended.wait(_LOOK):
                return


def _processes() -> list[Any]:
    import psutil

    own = psutil.Process()
    return [own, *own.children(recursive=True)]


def _reset_peak(pid: int) -> bool:
    """Set the greatest memory of a process to its present one; tell whether the system can."""
    try:
        Path(f"/proc/{pid}/clear_refs").write_text("5")
    except OSError:
        return False
    return greatest_memory(pid) > 0


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
