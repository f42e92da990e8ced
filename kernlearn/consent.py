"""What is asked before a Python file that a config names is executed: it may be refused."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

#: Gets the path of a config and the files that it names, and raises a PluginError to refuse them.
Ask = Callable[[str, Sequence[str]], None]

_asked: ContextVar[Ask | None] = ContextVar("asked", default=None)


@contextmanager
def asking(ask: Ask) -> Iterator[None]:
    """Within the block, ask before the files of a config are executed.

    Outside of such blocks nothing is asked: who loads a config in Python has read its plug-ins.

    Parameters
    ----------
    ask : callable
    """
    token = _asked.set(ask)
    try:
        yield
    finally:
        _asked.reset(token)


def ask_for(config: str, files: Sequence[str]) -> None:
    """Ask whether the files that a config names may be executed.

    Raises
    ------
    PluginError
        If not.
    """
    ask = _asked.get()
    if ask is not None and files:
        ask(config, files)
