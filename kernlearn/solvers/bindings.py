"""The official bindings of LIBLINEAR and LIBSVM, loaded when they first train or predict.

To load one takes a third of a second, since each imports Numba.
"""

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

_loading = threading.Lock()


class PrintHook:
    """The print hook of one library: the output of a training goes to the thread that trains.

    The libraries report non-convergence only by printing, through one function pointer per
    process, which `install` sets.
    """

    def __init__(self, install: Callable[[Any], None]) -> None:
        self._install = install
        # Kept here: the library keeps the bare pointer for longer than one call.
        self._callback = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(self._record)
        self._thread = threading.local()

    @contextmanager
    def capture(self) -> Iterator[list[str]]:
        """Yield a list that collects what the library prints in this thread."""
        texts: list[str] = []
        self._thread.texts = texts
        self._install(self._callback)
        try:
            yield texts
        finally:
            self._thread.texts = None

    def _record(self, text: bytes) -> None:
        texts = getattr(self._thread, "texts", None)
        if texts is None:  # somebody else's training: printed, as without a hook
            print(text.decode("ascii", "replace"), end="")
        else:
            texts.append(text.decode("ascii", "replace"))


class Binding(NamedTuple):
    """A binding: its module, the compiled library, and the hook of what that prints."""

    module: Any
    library: Any
    hook: PrintHook


def official_binding(module: str, library: str, print_function: str) -> Binding | None:
    """Load a binding once; None if it is not installed, or cannot load its library.

    `library` is its name in the module, and `print_function` that of the library's function that
    takes another one to print with.
    """
    with _loading:  # one hook per library, whichever thread is first
        return _load(module, library, print_function)


@cache
def _load(module: str, library: str, print_function: str) -> Binding | None:
    try:
        loaded = import_module(module)
    except Exception:  # the bindings raise a bare Exception where their library is missing
        return None
    compiled = getattr(loaded, library)
    return Binding(loaded, compiled, PrintHook(getattr(compiled, print_function)))
