"""Ctrl-C and SIGTERM stop a run, wherever they strike."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any


class Interrupts:
    """Within the block SIGINT and SIGTERM raise KeyboardInterrupt, and are remembered.

    A signal that strikes while C code calls back into Python is lost: the exception cannot
    pass through C. It is raised again at the next :meth:`check`.
    """

    def __init__(self) -> None:
        self._asked = False
        self._held = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "Interrupts":
        # only the main thread may set handlers; elsewhere the program that runs us decides
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                if signal.getsignal(number) is not signal.SIG_IGN:
                    self._before[number] = signal.signal(number, self._strike)
        self._report_unraisable = sys.unraisablehook
        sys.unraisablehook = self._unraisable
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        sys.unraisablehook = self._report_unraisable

    def _unraisable(self, lost: Any) -> None:
        # a lost KeyboardInterrupt is the case that `check` is for: nothing to report
        if not (self._asked and lost.exc_type is KeyboardInterrupt):
            self._report_unraisable(lost)

    def _strike(self, number: int, frame: FrameType | None) -> None:
        self._asked = True
        if not self._held:
            raise KeyboardInterrupt

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let a block end first: what is finished is written, then the signal strikes."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        self.check()

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal came and was lost or held."""
        if self._asked:
            raise KeyboardInterrupt
