"""What the C libraries print, caught instead of shown.

LIBLINEAR and LIBSVM report non-convergence in no other way than by printing, through one
function pointer a process.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PRINT_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_char_p)


class PrintHook:
    """The print hook of one library, shared by all threads that train with it.

    Parameters
    ----------
    install : callable
        The library's function that sets the hook; a null pointer gives its own default back.
    """

    def __init__(self, install: Callable[[Any], None]) -> None:
        self._install = install
        # Kept here: the library holds the bare pointer for longer than one call.
        self._callback = PRINT_FUNCTION(self._hear)
        self._lock = threading.Lock()
        self._n_users = 0
        self._thread = threading.local()

    @contextmanager
    def capture(self) -> Iterator[list[str]]:
        """Collect what this thread makes the library print, and keep it off the terminal.

        Yields
        ------
        list of str
            Grows as the library prints.
        """
        heard: list[str] = []
        self._thread.heard = heard
        with self._lock:
            self._n_users += 1
            self._install(self._callback)
        try:
            yield heard
        finally:
            self._thread.heard = None
            with self._lock:
                self._n_users -= 1
                if self._n_users == 0:
                    self._install(PRINT_FUNCTION())

    def _hear(self, text: bytes) -> None:
        heard = getattr(self._thread, "heard", None)
        if heard is not None:
            heard.append(text.decode("ascii", "replace"))
