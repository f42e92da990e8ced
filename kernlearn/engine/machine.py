"""What a trial does to its process: time, memory, signals, and the row that it becomes."""

import ctypes
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from kernlearn.config.trial import Trial
from kernlearn.machine import describe_machine
from kernlearn.memory import c_library
from kernlearn.store import Row, utc_now

# With a smaller share of processor time in wall time, something else had the core.
_BUSY = 0.9
# Seconds below which the share says more about the clocks.
_TOO_SHORT = 0.05
# Parameters of the C library's `mallopt`.
_TRIM_THRESHOLD, _MMAP_MAX = -1, -4
# Ctrl-C, the end of a service or a job, and the end of the terminal.
_SIGNALS = [getattr(signal, n) for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n)]
# Seconds in which further signals are ignored.
_REST = 5.0
# Of Linux: the number of the option that names the signal for the end of the parent's thread.
_PR_SET_PDEATHSIG = 1


@dataclass
class Stopwatch:
    """Measure the wall and processor seconds of a ``with`` block."""

    wall: float = 0.0
    cpu: float = 0.0

    def __enter__(self) -> Self:
        self._cpu, self._wall = time.process_time(), time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall += time.perf_counter() - self._wall
        self.cpu += time.process_time() - self._cpu

    @property
    def disturbed(self) -> bool:
        """Whether the process waited for a core."""
        return self.wall > _TOO_SHORT and self.cpu < _BUSY * self.wall


class Start:
    """The beginning of a trial, which becomes a row when it ends."""

    def __init__(self, trial: Trial, n_together: int = 1) -> None:
        self.trial, self.started, self._clock = trial, utc_now(), time.monotonic()
        self._n_together = n_together

    def row(self, **fields: Any) -> Row:
        """Return the row of the trial, which ends now; of trials together each has its share."""
        one, seconds = self.trial, (time.monotonic() - self._clock) / self._n_together
        spec = {**one.spec.plain, "split": one.split}
        what = one.key, one.experiment, one.labels, spec, self.started, seconds
        return Row(*what, machine=describe_machine(), **fields)

    def failed(self, error: str, trace: str | None = None) -> Row:
        """Return the row of the trial, which failed; its error is one line."""
        return self.row(error=" ".join(error.split()), traceback=trace)


def starts(trials: Sequence[Trial]) -> list[Start]:
    """Return the beginnings of trials that run together."""
    return [Start(trial, len(trials)) for trial in trials]


def error_text(error: BaseException) -> str:
    """Return the name and the message of an error, whose text may be wrong itself."""
    try:
        text = str(error)
    except Exception:
        text = "its message cannot be shown"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def keep_freed_memory(most: int = -1) -> None:
    """Keep the memory that this process frees, to use it again, if the C library can.

    Of more than `most` bytes the rest goes back; of -1 nothing does. Memory that goes back to the
    system must be had from it again, which takes 0.1 to 4 seconds a gigabyte, most on virtual
    machines. The time of a fit would tell more of the machine than of the method.
    """
    library: Any = c_library()
    if hasattr(library, "mallopt") and hasattr(library, "mallinfo2"):
        library.mallopt(_MMAP_MAX, 0)
        library.mallopt(_TRIM_THRESHOLD, min(most, 2**31 - 1))


@contextmanager
def shielded() -> Iterator[None]:
    """Keep signals of the terminal from processes and threads that are started in the block.

    They go to all processes of a command, and the first of them answers for all. Python lets them
    through when it starts its tracker of semaphores, which so runs before.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGHUP))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent(parent: int) -> None:
    """Let the system kill this process when the thread that has started it ends, if it can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it has ended before
            os._exit(1)


class Interrupts:
    """Signals that stop a run: each raises KeyboardInterrupt, at a moment when nothing is lost."""

    _active: "ClassVar[Interrupts | None]" = None

    def __init__(self) -> None:
        self.asked = self._held = False
        self._raised = -math.inf

    @classmethod
    @contextmanager
    def caught(cls) -> "Iterator[Interrupts]":
        """Catch signals in a block, in the main thread; a block within another is part of it.

        A signal that was ignored before, as SIGHUP is under ``nohup``, stays ignored.
        """
        if threading.current_thread() is not threading.main_thread():
            yield cls()
        elif cls._active is not None:
            yield cls._active
        else:
            own, before = cls(), dict[int, Any]()
            try:
                cls._active = own
                for number in _SIGNALS:
                    if signal.getsignal(number) not in (signal.SIG_IGN, None):
                        before[number] = signal.signal(number, own._on_signal)
                yield own
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)
                cls._active = None

    @classmethod
    def have_come(cls) -> bool:
        """Whether a signal has stopped the run, and no method that raises the same."""
        return cls._active is not None and cls._active.asked

    def _on_signal(self, number: int, frame: Any) -> None:
        # closing a terminal sends several: they do not disturb what the first one has begun
        self.asked, now = True, time.monotonic()
        if not self._held and now - self._raised > _REST:
            self._raised = now
            raise KeyboardInterrupt

    @contextmanager
    def held(self) -> Iterator[None]:
        """Delay signals to the end of a block, so that a finished trial is written.

        One that was lost in a callback from C code counts then, too.
        """
        self._held = True
        try:
            yield
        finally:
            self._held = False
        if self.asked:
            self._raised = time.monotonic()
            raise KeyboardInterrupt
