"""Numba's compiler, with a cache that does without a writable folder."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache


class _Cache(FunctionCache):
    """A cache on disk; where this is full nothing is kept."""

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):
            super().save_overload(sig, data)


def compiled(**options: Any) -> Callable[[Any], Any]:
    """Compile a function when it is first called, and keep it on disk where that can be."""

    def compile_later(function: Any) -> Any:
        dispatcher = njit(**options)(function)
        with suppress(RuntimeError):  # no folder can be written
            dispatcher._cache = _Cache(function)
        return dispatcher

    return compile_later
