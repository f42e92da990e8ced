"""Signals that stop a command: each raises KeyboardInterrupt, at a moment when nothing is lost."""

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, ClassVar

#: Ctrl-C, the end of a service or a job, and the end of the terminal.
SIGNALS = [getattr(signal, n) for n in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, n)]

# Seconds in which further signals do not disturb what the first one has begun: a terminal that is
# closed, and managers of services and jobs, send several.
_REST = 5.0


class Interrupts:
    """Within :meth:`caught`, signals raise KeyboardInterrupt and are remembered.

    A signal during a callback from C code into Python is lost, since the exception cannot pass
    through C. It is raised again at the end of the next :meth:`held`.

    Attributes
    ----------
    asked : bool
        Whether there was a signal.
    """

    _active: ClassVar["Interrupts | None"] = None

    def __init__(self) -> None:
        self.asked = False
        self._held = False
        self._raised = float("-inf")
        self._report_unraisable = sys.unraisablehook

    @classmethod
    @contextmanager
    def caught(cls) -> Iterator["Interrupts"]:
        """Catch signals in a block; a block within another one is part of it.

        A signal that was ignored before, as SIGHUP is under ``nohup``, stays ignored.
        """
        # only the main thread may set handlers
        if threading.current_thread() is not threading.main_thread():
            yield cls()
        elif cls._active is not None:
            yield cls._active
        else:
            interrupts, report, before = cls(), sys.unraisablehook, dict[int, Any]()
            try:
                cls._active = interrupts
                sys.unraisablehook = interrupts._unraisable
                for number in SIGNALS:
                    # None is a handler that is not Python's
                    if signal.getsignal(number) not in (signal.SIG_IGN, None):
                        before[number] = signal.signal(number, interrupts._on_signal)
                yield interrupts
            finally:
                for number, handler in before.items():
                    signal.signal(number, handler)
                sys.unraisablehook = report
                cls._active = None

    def _unraisable(self, lost: Any) -> None:
        # `held` raises a lost KeyboardInterrupt again
        if not (self.asked and lost.exc_type is KeyboardInterrupt):
            self._report_unraisable(lost)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.asked = True
        now = time.monotonic()
        if not self._held and now - self._raised > _REST:
            self._raised = now
            raise KeyboardInterrupt

    @contextmanager
    def held(self) -> Iterator[None]:
        """Delay signals to the end of a block, so that a finished trial is written."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        if self.asked:
            self._raised = time.monotonic()
            raise KeyboardInterrupt
