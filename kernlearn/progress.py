"""Progress of comparisons: who makes them tells how many, whoever listens shows it."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from kernlearn.extras import needed_by

_listener: ContextVar[Callable[[int], None] | None] = ContextVar("listener", default=None)


def advance(n: int) -> None:
    """Tell whoever listens that n more comparisons have been made."""
    if (listener := _listener.get()) is not None:
        listener(n)


@contextmanager
def listening(listener: Callable[[int], None]) -> Iterator[None]:
    """Let a function be told of comparisons, in this thread."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


class Bar:
    """A bar on the standard error; a count where the total is not known.

    Where that is no terminal, a line is written at the end.

    Parameters
    ----------
    name : str
    total : int or None
    transient : bool
        Whether the bar disappears at the end.
    """

    def __init__(self, name: str, total: int | None, *, transient: bool = False) -> None:
        with needed_by("a bar of progress"):
            from rich import progress
            from rich.console import Console

        done: Any = progress.MofNCompleteColumn()
        columns: tuple[Any, ...] = (
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            done,
            progress.TextColumn("comparisons"),
            progress.TimeElapsedColumn(),
        )
        if total is not None:
            columns += (progress.TimeRemainingColumn(),)
        self._bar = progress.Progress(
            *columns, console=Console(file=sys.stderr), transient=transient
        )
        self._task = self._bar.add_task(name, total=total)
        self._bar.start()

    def advance(self, n: int) -> None:
        """Show that n more have been made."""
        self._bar.advance(self._task, n)

    def close(self) -> None:
        """End the display."""
        self._bar.stop()
